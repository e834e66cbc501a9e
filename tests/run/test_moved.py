"""On a CPU, what only one other kernel reads of large values is computed by that one."""

from __future__ import annotations

import pytest
import torch

import fusewright
from fusewright.debug import record


def spread(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean(0)).square().mean()


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("on", [True, False])
def test_squares_are_not_stored(dynamic: bool, on: bool) -> None:
    torch._dynamo.reset()
    x = torch.randn(20_000, 64, generator=torch.Generator().manual_seed(0)).bfloat16()
    with record.recording() as graphs, fusewright.options(fallback=False, rematerialize=on):
        got = torch.compile(spread, backend="fusewright", dynamic=dynamic)(x)
    exact = spread(x.double())
    eps = torch.finfo(x.dtype).eps
    assert abs(got.double() - exact) <= 2 * abs(spread(x).double() - exact) + eps * exact
    ranks = [max(v.rank for v in g.plan.group.outputs) for g in graphs[0].groups]
    assert ranks == ([1, 0] if on else [2, 0])
