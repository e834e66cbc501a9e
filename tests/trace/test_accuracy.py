"""Sums of many numbers of one sign in float32: their errors do not grow with their count."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.support import compiled

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

PROGRAMS: dict[str, Callable[[torch.Tensor, int], torch.Tensor]] = {
    "squares": lambda x, dim: (x * x).sum(dim) + 1,
    "variance": lambda x, dim: x.var(dim) + 1,
    "centred": lambda x, dim: ((x - x.mean(dim, keepdim=True)) ** 2).mean(dim) + 1,
    "both": lambda x, dim: (x * x).sum(dim) + (x * x).sum(1 - dim).max(),
}


@pytest.mark.parametrize(
    ("n", "m", "dim"), [(2, 500_003, 1), (60_001, 33, 0), (50_000, 7, 0), (3, 70, 1), (64, 129, 0)]
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_many_numbers_of_one_sign(name: str, n: int, m: int, dim: int) -> None:
    """One after the other, 60,000 of them lose 2e-5 of their sum."""
    fn = PROGRAMS[name]
    x = torch.randn(n, m, generator=torch.Generator().manual_seed(1))
    got, want, exact = compiled(fn)(x, dim), fn(x, dim), fn(x.double(), dim)
    error, eager = (((t.double() - exact).abs() / exact.abs()).max().item() for t in (got, want))
    assert error <= max(2 * eager, 4e-7)


def test_infinities_and_nans_pass_through() -> None:
    x = torch.ones(4, 20_000)
    x[0, 5], x[1, 7], x[2, 3], x[2, 19_999] = torch.inf, torch.nan, torch.inf, -torch.inf
    got = compiled(lambda x: x.sum(1) * 2)(x)
    assert got[0] == torch.inf and got[1:3].isnan().all() and got[3] == 40_000
    big = torch.full((2, 20_000), 3e38)
    assert compiled(lambda x: x.sum(1) * 2)(big).isposinf().all(), "as in eager, though the sum in float64 is finite"


@pytest.mark.parametrize("correction", [0, 1])
def test_moments_far_off_zero(correction: int) -> None:
    """Also as norms ask for theirs: a mean in float32 is off by more than a hundredth of these deviations."""
    x = 1e4 + torch.randn(5, 3000, generator=torch.Generator().manual_seed(1)) * 1e-2

    def fn(x: torch.Tensor) -> torch.Tensor:
        return torch.var_mean(x, 1, correction=correction, keepdim=True)[0] + 0

    assert torch.allclose(compiled(fn)(x).double(), fn(x.double()), rtol=1e-6, atol=0)
