"""Parts of the vector axis in which conditions on the position are known."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.core.dtypes import f32, i64
from fusewright.fusion import scalar as sc
from fusewright.fusion.ir import Stage
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import Ix, axis, sym
from fusewright.loop.segments import segments
from fusewright.loop.text import dump
from tests.kernels import graph_of, kernel

N, M, K = sym("n"), sym("m"), sym("k")
J = axis("j", N + M)


def store(body: sc.Expr) -> Stage:
    (j,) = J.axes()
    return Stage("store", "s", (j,), (), "", body, f32, "out", J)


def position(p: Ix) -> sc.Expr:
    return sc.index_value(p)


def test_ends_are_in_order_whatever_the_sizes() -> None:
    (j,) = J.axes()
    x, y = sc.load("x", J, f32, None), sc.load("y", J - N, f32, sc.op("ge", position(J - N), sc.const(0, i64)))
    inside = sc.op("lt", position(J), sc.index_value(N))
    parts = segments([store(sc.op("where", inside, x, y))], j)
    assert [end for end, _ in parts] == [N, None]
    assert [s[0].body for _, s in parts] == [x, sc.load("y", J - N, f32, None)]
    # which of two sizes is the larger is not known: only one of them can be an end
    other = sc.op("lt", position(J), sc.index_value(M))
    both = sc.op("where", inside, x, sc.op("where", other, sc.const(1.0, f32), sc.const(2.0, f32)))
    parts = segments([store(both)], j)
    assert [end for end, _ in parts] == [N, None]
    assert parts[1][1][0].body.args[0] is other


@pytest.mark.parametrize(
    "compare, sides, end, below",
    [
        ("lt", (J, N), N, True),
        ("le", (J, N), N + 1, True),
        ("gt", (J, N), N + 1, False),
        ("ge", (J, N), N, False),
        ("lt", (N, J), N + 1, False),
        ("le", (N, J), N, False),
        ("gt", (N, J), N, True),
        ("ge", (N, J), N + 1, True),
    ],
)
def test_where_a_comparison_changes(compare: str, sides: tuple[Ix, Ix], end: Ix, below: bool) -> None:
    (j,) = J.axes()
    one, two = sc.const(1.0, f32), sc.const(2.0, f32)
    condition = sc.op(compare, *(sc.index_value(p) for p in sides))
    (first, before), (last, behind) = segments([store(sc.op("where", condition, one, two))], j)
    assert (first, last) == (end, None)
    assert (before[0].body, behind[0].body) == ((one, two) if below else (two, one))


def test_a_load_that_nothing_reads_is_gone() -> None:
    (j,) = J.axes()
    masked = sc.load("x", J, f32, sc.op("lt", position(J), sc.index_value(K)))
    (_, before), (_, behind) = segments([store(masked)], j)
    assert before[0].body is sc.load("x", J, f32, None) and behind[0].body is sc.const(0.0, f32)


def pieces(b: Builder) -> Value:
    return b.max(b.cat([b.input(f32, (N, M)), b.input(f32, (N, K))], 1), b.const(0.0, f32))


def test_no_condition_is_left_in_a_kernel() -> None:
    text = dump(kernel(graph_of(pieces)).kernel.func)
    assert "where" not in text and " ge(" not in text


SHAPES = ((3, 0, 5), (4, 1, 0), (2, 7, 9), (5, 8, 16), (1, 33, 31), (3, 100, 1), (2, 40, 257))
PROGRAMS = {
    "cat": lambda x, y: torch.cat([x, y, x], 1) * 2,
    "pad": lambda x, y: F.pad(x, (1, 2), value=3.0) + F.pad(y, (2, x.shape[1] - y.shape[1] + 1)),
    "cut": lambda x, y: F.pad(torch.cat([x, y], 1), (-1, -1)).abs() if x.shape[1] + y.shape[1] > 2 else x,
    "rolled": lambda x, y: torch.cat([x[:, 1:], x[:, :1]], 1) - x,
    "below": lambda x, y: x.tril() + x.triu(1) * 2,
}


@pytest.mark.every(3)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.float64, torch.bool])
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers(name: str, dtype: torch.dtype) -> None:
    if dtype is torch.bool and name in ("cut", "rolled", "pad"):
        pytest.skip("no such operation on truth values")
    fused = fusewright.fuse(PROGRAMS[name])
    torch.manual_seed(0)
    for n, m, k in SHAPES:
        x, y = ((torch.randn(n, w) * 4).to(dtype) for w in (m, k))
        if name == "rolled" and not m:
            continue
        torch.testing.assert_close(fused(x, y), PROGRAMS[name](x, y), rtol=0, atol=0)
