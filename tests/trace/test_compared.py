"""What is compared with a result made of it, in gradients of extremes, and what is above it in a graph."""

from __future__ import annotations

import torch

from tests.support import no_fallbacks


def test_paths_that_double_at_every_step() -> None:
    """Of 40 steps that read the one before three times there are 3^40 paths: each node is looked at once."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        for _ in range(40):
            x = x - 0.1 * x * x
        return x - x.amax(-1, keepdim=True)

    x = torch.rand(4, 8, generator=torch.Generator().manual_seed(0)).requires_grad_()
    with no_fallbacks():
        got = torch.compile(fn, backend="fusewright")(x)
    (mine,) = torch.autograd.grad(got.square().sum(), x)
    (theirs,) = torch.autograd.grad(fn(x).square().sum(), x)
    torch.testing.assert_close(mine, theirs)
