"""Integer division by a tensor: on a GPU, where zero raises nothing, it is fused; on a CPU PyTorch runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
import torch

import fusewright
from fusewright.debug import record
from fusewright.trace import fx
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import SMALL, emulated_gpu

Binary = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
DIVISIONS: dict[str, Binary] = {
    "floor": lambda x, y: x // y,
    "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "remainder": lambda x, y: x % y,
    "fmod": torch.fmod,
}


def operands(dtype: torch.dtype) -> list[torch.Tensor]:
    g = torch.Generator().manual_seed(0)
    info = torch.iinfo(dtype)
    low = max(info.min, -1000)
    x, y = (torch.randint(low, min(info.max, 1000), (50, 33), generator=g).to(dtype) for _ in range(2))
    y[y == 0] = 7
    x[0, :2] = torch.tensor([info.max, info.min + 1], dtype=dtype)
    return [x, y]


def on_a_gpu(fn: Binary, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """`fn(x, y)` from one kernel of the emulated GPU."""
    context = fx.Context

    def on_gpu(*facts: Any) -> fx.Context:
        return replace(context(*facts), device="cuda")

    options = fusewright.options(fallback=False, disk_cache=False)
    with emulated_gpu(SMALL), options, mock.patch.object(fx, "Context", on_gpu), record.recording() as graphs:
        torch._dynamo.reset()
        got = torch.compile(fn, backend="fusewright")(x, y)
    assert len(graphs[0].groups) == 1 and not graphs[0].torch_units
    return got


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8], ids=str)
@pytest.mark.parametrize("name", DIVISIONS)
def test_on_a_gpu(name: str, dtype: torch.dtype) -> None:
    fn = lambda x, y: DIVISIONS[name](x, y) + 1
    x, y = operands(dtype)
    got = on_a_gpu(fn, x, y)
    assert torch.equal(got, fn(x, y)) and got.dtype is dtype


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
@pytest.mark.parametrize("name", DIVISIONS)
def test_by_zero_on_a_gpu(name: str) -> None:
    """As eager's kernels on an H200, which gave these numbers."""
    low = name == "floor"  # rounds the quotient of a negative number down once more
    narrow = torch.tensor([0, 5, 117, -1, -3], dtype=torch.int32)
    wide = torch.tensor([0, 5, 2**32 - 1, 2**32, 2**63 - 1, -1, -(2**40)])
    for x, want in [
        (narrow, [-1, -1, -1, -1 - low, -1 - low]),
        (wide, [2**32 - 1, 2**32 - 1, 2**32 - 1, -1, -1, -1 - low, -1 - low]),
        (narrow[:3].to(torch.uint8), [255] * 3),
    ]:
        got = on_a_gpu(lambda x, y: DIVISIONS[name](x, y) ^ 1, x, torch.zeros_like(x))
        assert torch.equal(got ^ 1, torch.tensor(want, dtype=x.dtype))


@pytest.mark.parametrize("name", ["floor", "trunc", "remainder", "fmod"])
def test_zero_raises_on_a_cpu(name: str) -> None:
    fn = lambda x, y: DIVISIONS[name](x, y) + 1
    x, y = operands(torch.int64)
    y[3, 3] = 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        fn(x, y)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.compile(fn, backend="fusewright")(x, y)
