"""On a GPU: large values are computed again of numbers for their rows, which are stored in their place."""

from __future__ import annotations

import pytest
import torch

import fusewright
from fusewright.debug import record
from fusewright.graph import grouping, rematerialize
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import SMALL, emulated_gpu

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)


def spread_of_shares(x: torch.Tensor) -> torch.Tensor:
    return x.softmax(-1).var(1)


@pytest.mark.parametrize("cached", [0, 1 << 30])
def test_shares_of_short_rows(cached: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 16: of a value that no cache holds, twice an eighth of it is less than the value, written and read."""
    monkeypatch.setattr(rematerialize, "LEAST", 1)
    monkeypatch.setattr(grouping, "LEAST", 1)
    monkeypatch.setattr(rematerialize, "CACHED", cached)
    torch._dynamo.reset()
    x = torch.randn(20, 70, 16, generator=torch.Generator().manual_seed(0))
    with emulated_gpu(SMALL), record.recording() as graphs, fusewright.options(fallback=False, disk_cache=False):
        got = torch.compile(spread_of_shares, backend="fusewright")(x)
    exact = spread_of_shares(x.double())
    off, eager = ((t.double() - exact).abs().max() for t in (got, spread_of_shares(x)))
    assert off <= 2 * eager + 1e-7 * exact.max()
    first, last = graphs[0].groups
    assert [len(g.plan.group.outputs) for g in (first, last)] == [1 if cached else 2, 1]
