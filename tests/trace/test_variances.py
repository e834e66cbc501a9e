"""Variances of 16-bit numbers on a CPU: in float32 where that is as good as eager's float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import fusewright
from tests.support import compiled, no_fallbacks

pytestmark = pytest.mark.usefixtures("fresh_dynamo")
HALVES = [torch.bfloat16, torch.float16]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("n", [2, 7, 1000, 8192, 65536, 65537])
@pytest.mark.parametrize("across", [False, True])
def test_equal_numbers_have_none(n: int, across: bool, dtype: torch.dtype) -> None:
    """Also of what is computed before, and rounded in the program."""
    fn = lambda x: ((x * 1.7).var(0 if across else 1), x.var(0 if across else 1))
    x = torch.tensor([1.0, -0.1, 3.3e-3, 2.9e4], dtype=dtype).expand(n, 4)
    x = x.contiguous() if across else x.t().contiguous()
    with no_fallbacks():
        for got in compiled(fn)(x):
            assert not got.any()


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("shape", [(300, 49), (40, 5000), (3, 60000)])
def test_random_numbers(shape: tuple[int, int], shift: float, dtype: torch.dtype) -> None:
    fn = lambda x: (x.var(1), x.var(0), torch.var_mean(x, 1)[0])
    x = (torch.randn(shape, generator=torch.Generator().manual_seed(0)) + shift).to(dtype)
    for got, want, exact in zip(compiled(fn)(x), fn(x), fn(x.double()), strict=True):
        mine, theirs = ((t.double() - exact).square().mean() for t in (got, want))
        assert mine <= 1.01 * theirs and (got != want).sum() <= max(1, got.numel() // 200)


@pytest.mark.parametrize("dtype", HALVES)
def test_every_rounding_of_eagers(dtype: torch.dtype) -> None:
    x = torch.randn(20000, 49, generator=torch.Generator().manual_seed(0)).to(dtype)
    with fusewright.options(precision="eager"):
        assert torch.equal(compiled(lambda x: x.var(1))(x), x.var(1))


@pytest.mark.parametrize(
    "fn",
    [lambda x: x.std(1), lambda x: torch.std_mean(x, 1)[0], lambda x: x.var(1), lambda x: x.var(1).sqrt()],
    ids=["std", "std_mean", "var", "root"],
)
def test_tiny_and_huge_numbers(fn: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.randn(4, 50, generator=torch.Generator().manual_seed(0))
    x = (x * torch.tensor([1e-25, 1e-15, 1e25, 1e15])[:, None]).bfloat16()
    x = torch.cat([x, torch.tensor([[float("nan")] * 50, [float("inf")] * 50]).bfloat16()])
    torch.testing.assert_close(compiled(fn)(x), fn(x), rtol=0, atol=0, equal_nan=True)
