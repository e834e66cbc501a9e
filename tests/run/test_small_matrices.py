"""On a CPU, many small matrices that are transposed have a lane each."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import fusewright


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.bool], ids=str)
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (7, 8), (8, 8), (4, 2, 3), (2, 3, 16)], ids=str)
def test_turned(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """In sizes that fill vectors and do not; what is straight beside what is turned."""

    def fn(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x ^ w if dtype is torch.bool else x * w + x
        return y, y.transpose(-1, -2).contiguous()

    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="fusewright", dynamic=True)
    g = torch.Generator().manual_seed(0)
    with fusewright.options(fallback=False, single_op_groups=True):
        for n in (1, 15, 128, 333, 5000):
            x = torch.randint(-9, 9, (n, *shape), generator=g).to(dtype)
            w = torch.randint(-9, 9, shape, generator=g).to(dtype)
            for mine, theirs in zip(compiled(x, w), fn(x, w), strict=True):
                assert torch.equal(mine, theirs) and mine.stride() == theirs.stride()


def test_of_strided_and_picked() -> None:
    """Every other matrix, one matrix for all, and those that an index picks."""

    def fn(x: torch.Tensor, one: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        return F.gelu(x[::2] * one + x[at]).transpose(1, 2).contiguous()

    g = torch.Generator().manual_seed(1)
    x, one = torch.randn(600, 3, 4, generator=g), torch.randn(1, 3, 4, generator=g)
    at = torch.randint(0, 600, (300,), generator=g)
    with fusewright.options(fallback=False):
        got = torch.compile(fn, backend="fusewright", dynamic=False)(x, one, at)
    torch.testing.assert_close(got, fn(x, one, at), rtol=1e-5, atol=1e-6)
