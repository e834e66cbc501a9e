"""Reductions over a middle axis, and channels-last norms: compiled, on any extent of the axis that is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests.support import no_fallbacks

PROGRAMS: dict[str, Callable[[torch.Tensor], Any]] = {
    "sum": lambda x: x.sum(1),
    "amax": lambda x: x.amax(1),
    "argmin": lambda x: x.argmin(1),
    "var_mean": lambda x: torch.var_mean(x, 1),
    "softmax": lambda x: x.softmax(1),
    "normalize": lambda x: x / x.norm(dim=1, keepdim=True),
    "cumsum": lambda x: x.cumsum(1) * 2,
}


def _same(got: Any, want: Any, dtype: torch.dtype) -> None:
    pairs = zip(got, want, strict=True) if isinstance(got, tuple) else [(got, want)]
    for a, b in pairs:
        tolerance = 1e-5 if dtype is torch.float32 else 2e-2
        torch.testing.assert_close(a.double(), b.double(), rtol=tolerance, atol=tolerance)


@pytest.mark.every(3)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_every_extent(name: str, dtype: torch.dtype) -> None:
    """One kernel serves all extents, whatever the first one made of it."""
    fn = PROGRAMS[name]
    with fusewright.options(single_op_groups=True), no_fallbacks():
        for first in (3, 51, 272):
            torch._dynamo.reset()
            compiled = torch.compile(fn, backend="fusewright", dynamic=True)
            for m in (first, 5, 8, 16, 31, 66, 131):
                x = torch.randn(4, 37, m).to(dtype)
                _same(compiled(x), fn(x), dtype)


def test_extremes_of_nan_and_zeros() -> None:
    x = torch.randn(6, 40, 51)
    x[0, 3, 7] = x[2, 0, 50] = x[5, 39, 32] = torch.nan
    x[1] = torch.tensor([0.0, -0.0])[torch.arange(40) % 2][:, None]
    fn = lambda x: (x.amax(1), x.amin(1))
    with fusewright.options(single_op_groups=True), no_fallbacks():
        got, want = torch.compile(fn, backend="fusewright")(x), fn(x)
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


@pytest.mark.every(2)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("channels", [4, 24, 67, 256])
def test_channels_last_norms(channels: int, dtype: torch.dtype) -> None:
    def fn(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.relu(F.batch_norm(x, None, None, w, b, True))

    x = torch.randn(5, channels, 6, 7).to(dtype).contiguous(memory_format=torch.channels_last)
    w, b = torch.randn(2, channels).to(dtype)
    with no_fallbacks():
        _same(torch.compile(fn, backend="fusewright")(x, w, b), fn(x, w, b), dtype)
