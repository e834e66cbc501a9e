"""Two reductions along the same axis, of which one has fewer other axes: no kernel has partial results of both."""

from __future__ import annotations

import pytest
import torch

import fusewright
from tests.emulate.driver import emulated_gpu
from tests.support import no_fallbacks


@pytest.mark.parametrize(("n", "m", "k"), [(2, 15, 2), (3, 15, 2), (1, 15, 4), (5, 3, 7), (7, 200, 2)])
@pytest.mark.parametrize("how", ["sum", "amax"])
@pytest.mark.parametrize("where", ["cpu", "gpu"])
def test_a_result_of_columns_beside_one_of_more_columns(n: int, m: int, k: int, how: str, where: str) -> None:
    def f(c: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        return getattr(c - s[:, None], how)(1) + getattr(c, how)(0)

    torch._dynamo.reset()
    gen = torch.Generator().manual_seed(0)
    c, s = torch.randn(n, m, generator=gen), torch.randn(k, m, generator=gen)
    with no_fallbacks():
        if where == "cpu":
            got = torch.compile(f, backend="fusewright")(c, s)
        else:
            with emulated_gpu(), fusewright.options(single_op_groups=True):
                got = torch.compile(f, backend="fusewright")(c, s)
    torch.testing.assert_close(got, f(c, s))


def test_logarithms_of_beta_densities() -> None:
    def f(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.distributions.Beta(a, b, validate_args=False).log_prob(x)

    torch._dynamo.reset()
    gen = torch.Generator().manual_seed(0)
    a, b, x = (torch.rand(shape, generator=gen) * 0.8 + 0.1 for shape in ((15,), (15,), (2, 15)))
    torch.testing.assert_close(torch.compile(f, backend="fusewright")(a, b, x), f(a, b, x))
