"""Rare arguments."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import fusewright
from tests.support import counted, counters, random_tensor


@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
@pytest.mark.filterwarnings("ignore")
def test_nested_tensors(layout):
    fused = fusewright.fuse(lambda x: x * 2)
    x = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=layout)
    for mine, theirs in zip(fused(x).unbind(), x.unbind(), strict=True):
        assert torch.equal(mine, theirs * 2)


def test_lazy_modules():
    with pytest.raises(fusewright.UserError, match="LazyLinear are not made yet"):
        fusewright.fuse(nn.LazyLinear(3))
    m = nn.Sequential(nn.LazyLinear(3), nn.Tanh())
    fused, x, before = fusewright.fuse(m), random_tensor((2, 4)), counters()
    for _ in range(3):
        torch.testing.assert_close(fused(x), m(x))
    assert type(m[0]) is nn.Linear and counted(before)["fuse_traces"] == 1


@pytest.mark.parametrize(
    "values",
    [
        (2, 2.0, 1, 1.0, True, 0, 0.0, -0.0, False),
        (complex(1, 0.0), complex(1, -0.0), complex(0, float("nan")), complex(0, float("nan"))),
        (range(0, 3, 2), range(0, 4, 2)),
        ({1: 2.0}, {True: 2.0}, {"1": 2.0}),
        ({(1,): 2.0}, {(True,): 2.0}, {(1.0,): 2.0}),
        ({("a", 1): 2.0}, {("a", True): 2.0}, {"a": 2.0}),
    ],
    ids=["numbers", "complex", "ranges", "keys", "tuples", "pairs"],
)
def test_values_that_are_equal_and_not_the_same(values):
    """Each has a trace of its own, and a call that the generated code knows finds it."""

    @fusewright.fuse
    def f(x, v):
        text = str(isinstance(v, bool)) if isinstance(v, int) else repr(v)
        return x * 2 + sum(map(ord, text)), v if isinstance(v, (int, float, complex)) else 0

    x = random_tensor((3,))
    for _ in range(3):
        for v in values:
            (got, same), (want, again) = f(x, v), f.__wrapped__(x, v)
            assert torch.equal(got, want) and (type(same), repr(same)) == (type(again), repr(again))


@pytest.mark.parametrize("n", [2**62, 2**63 - 1, 2**63, 10**30, -(2**62), -(2**63), -(2**63) - 1])
def test_integers_that_a_trace_has_no_room_for(n):
    """Sums and products of sizes and integers have 64 bits in a kernel; errors are eager's."""

    def f(x, n):
        return x.expand(n, 2) + 1 if n < 10 else (x * 2 + n, n + 1, n * n)

    def outcome(g, *args):
        try:
            return repr(g(*args))
        except Exception as e:
            return type(e).__name__, str(e)[:40]

    fused, x = fusewright.fuse(f), torch.ones(2)
    fused(x, 12), fused(x, 13)
    assert outcome(fused, x, n) == outcome(f, x, n)
    fused, i = fusewright.fuse(lambda x, n: (x + n) * 2), torch.arange(3)
    fused(i, 5)
    assert outcome(fused, i, n) == outcome(fused.__wrapped__, i, n)
    if not 0 < n < 2**63:
        fused = fusewright.fuse(lambda x, n: x.expand(n, 2).sum(0) * 2)
        fused(x, 5)
        assert outcome(fused, x, n) == outcome(fused.__wrapped__, x, n)


def test_symbolic_traces_of_fx_see_the_plain_function():
    """Nothing of ours is tried, and so nothing fails that would be warned of."""
    f, net = fusewright.fuse(lambda x, y: torch.sin(x * 2 + y)), nn.Linear(3, 3)

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = fusewright.fuse(net)

        def forward(self, x):
            return self.inner(f(x, x[0]))

    x = random_tensor((3, 3))
    with fusewright.options(fallback=False):
        graph = torch.fx.symbolic_trace(Outer())
        torch.testing.assert_close(graph(x), net(torch.sin(x * 2 + x[0])))
    assert "sin" in graph.code


@pytest.mark.parametrize("size", [lambda t: t.shape[0], lambda t: t.numel(), lambda t: t.T.shape[1] * t.shape[0]])
def test_results_of_which_only_the_size_is_used(size):
    def fn(x, y):
        return torch.zeros(size(torch.cat([x * 2, torch.cat([y, x + 1])])), 2) + x.sum()

    fused = fusewright.fuse(fn)
    with fusewright.options(fallback=False):
        for n, m in ((3, 5), (4, 2)):
            x, y = random_tensor((n, 4)), random_tensor((m, 4))
            torch.testing.assert_close(fused(x, y), fn(x, y))
