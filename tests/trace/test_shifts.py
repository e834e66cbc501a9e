"""Shifts by tensors: counts of any size and sign, mixed types, and numbers that are packed in others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.support import compiled, counted, counters, is_ours, no_fallbacks

INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)


def _as_eager(fn: Callable, *args: Any) -> None:
    before = counters()
    with no_fallbacks():
        got = compiled(fn, fullgraph=True)(*args)
    for g, w in zip(got, fn(*args), strict=True):
        assert g.dtype == w.dtype and torch.equal(g, w)
    assert not is_ours() or counted(before)["opaque_calls"] == 0


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_counts_outside_the_type(dtype: torch.dtype) -> None:
    g = torch.Generator().manual_seed(1)
    info = torch.iinfo(dtype)
    x = torch.randint(info.min, info.max, (37, 41), dtype=dtype, generator=g)
    n = torch.randint(max(-3, info.min), info.bits + 4, (37, 41), dtype=dtype, generator=g)
    _as_eager(lambda x, n: ((x + 1) << n, (x + 1) >> n, (x << 3) >> n[:1], torch.bitwise_left_shift(3, n) + 1), x, n)
    _as_eager(lambda x, n: (((x + 1) >> n.long()) & 15, n.long() << (x & 7), (x + 1) >> n[0, 0]), x, n)
    for count in (0, info.bits - 1, info.bits, 70, -1):
        _as_eager(lambda x, count=count: ((x + 1) << count, (x + 1) >> count), x)


def test_four_bits_of_each_eight_in_one_number() -> None:
    g = torch.Generator().manual_seed(1)
    packed = torch.randint(-(2**31), 2**31 - 1, (16, 8), dtype=torch.int32, generator=g)
    scale, zero = torch.rand(64, generator=g), torch.rand(16, 1, generator=g)

    def unpacked(packed: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor) -> tuple[torch.Tensor]:
        digits = (packed[:, :, None] >> torch.arange(0, 32, 4)) & 15
        return ((digits.float().flatten(1) - zero) * scale,)

    _as_eager(unpacked, packed, scale, zero)
