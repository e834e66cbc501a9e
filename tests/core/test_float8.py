"""8-bit floats: bits as PyTorch converts them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from fusewright.core import float8
from fusewright.core.dtypes import f8e4m3, f8e4m3s, f8e5m2, rounded
from fusewright.trace.types import FROM_TORCH

TYPES = (torch.float8_e4m3fn, torch.float8_e5m2)


def numbers() -> np.ndarray:
    """All float32 that are bfloat16, numbers of all sizes, and those halfway between two of few bits."""
    rng = np.random.default_rng(0)
    halfway = np.arange(1 << 12, dtype=np.uint32) << np.uint32(19)
    words = [np.arange(1 << 16, dtype=np.uint32) << np.uint32(16), rng.integers(0, 1 << 32, 1 << 18, np.uint32)]
    words += [halfway, halfway + np.uint32(1), halfway - np.uint32(1)]
    return np.concatenate(words).view(np.float32)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_bits_are_torchs(dtype: torch.dtype) -> None:
    x = numbers()
    want = torch.from_numpy(x).to(dtype).view(torch.uint8).numpy()
    np.testing.assert_array_equal(float8.encode(x, FROM_TORCH[dtype].name), want)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_numbers_are_torchs(dtype: torch.dtype) -> None:
    byte = np.arange(256, dtype=np.uint8)
    want = torch.from_numpy(byte).view(dtype).float().numpy()
    np.testing.assert_array_equal(float8.decode(byte, FROM_TORCH[dtype].name), want)


def test_what_is_too_large_is_none_or_the_largest() -> None:
    x = np.array([448, 464, np.nextafter(np.float32(464), np.float32(500)), 480, 1e30, np.inf, -np.inf], np.float32)
    assert float8.encode(x, "f8e4m3").tolist() == [0x7E, 0x7E, 0x7F, 0x7F, 0x7F, 0x7F, 0xFF]
    assert float8.encode(x, "f8e4m3s").tolist() == [0x7E] * 6 + [0xFE]
    assert float8.encode(np.float32([np.nan]), "f8e4m3s") == 0x7F
    assert rounded(np.float32([61439, 61440]), f8e5m2).tolist() == [57344, np.inf]


@pytest.mark.parametrize("within", ["torch.device('meta')", "FakeTensorMode()", "torch.inference_mode()"])
def test_imported_wherever(within: str) -> None:
    """What PyTorch's conversions do is found out on import, which may come late."""
    lines = "import torch; from torch._subclasses.fake_tensor import FakeTensorMode"
    lines += f"\nwith {within}: from fusewright.trace.types import FROM_TORCH as found"
    lines += "\nprint(found[torch.float8_e4m3fn])"
    done = subprocess.run([sys.executable, "-c", lines], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == str(FROM_TORCH[torch.float8_e4m3fn])


@pytest.mark.parametrize("d", [f8e4m3, f8e4m3s, f8e5m2], ids=str)
def test_numbers_of_the_type_stay(d) -> None:
    byte = np.arange(256, dtype=np.uint8)
    x = float8.decode(byte, d.name)
    np.testing.assert_array_equal(float8.encode(x, d.name)[~np.isnan(x)], byte[~np.isnan(x)])
