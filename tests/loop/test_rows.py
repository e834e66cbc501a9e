"""The loops around a row of work: threads have ranges of all rows and pieces, which a loop for each axis walks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fusewright.core.dtypes import bf16, f32, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.loop.ir import For, Let, Parallel, walk
from fusewright.loop.lower import lower
from fusewright.loop.verify import verify
from tests.kernels import Compiled, check, graph_of, planned

B, N, M = sym("b"), sym("n"), sym("m")


def broadcast(b: Builder) -> Value:
    """No two axes can be one."""
    return b.add(b.add(b.input(f32, (B, N, M)), b.input(f32, (B, 1, M))), b.input(f32, (N, 1)))


def softmax(b: Builder) -> Value:
    x = b.add(b.input(f32, (B, N, M)), b.input(f32, (B, 1, M)))
    e = b.exp(b.sub(x, b.reduce("max", x, [2], keepdim=True)))
    return b.div(e, b.reduce("sum", e, [2], keepdim=True))


def middle(b: Builder) -> Value:
    """Rows fill the lanes."""
    return b.reduce("sum", b.mul(b.input(f32, (B, N, M)), b.input(f32, (B, 1, 1))), [1])


def turned(b: Builder) -> Value:
    return b.permute(b.input(bf16, (B, N, M)), [0, 2, 1])


@pytest.mark.every(3)
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("program", [broadcast, softmax, middle, turned])
def test_shares_of_threads(program, threads: int) -> None:
    graph = graph_of(program)
    built, s = planned(graph)
    if s.split:  # pieces that are short enough to be several
        s = replace(s, split=tuple((a, 16) for a, _ in s.split))
    c = Compiled(graph, built, s, lower(built.fusion, s, "kernel"))
    verify(c.kernel.func)
    for b, n, m in ((3, 5, 7), (1, 1, 1), (2, 3, 40), (4, 1, 33), (0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 17, 20)):
        check(graph, {"b": b, "n": n, "m": m}, threads, compiled=c)


def test_what_rows_share_is_computed_around_them() -> None:
    """Neither a division nor the ends of loops over vectors are left in the loop over rows."""
    built, s = planned(graph_of(lambda b: b.add(b.input(f32, (N, M)), b.input(f32, (M,)))))
    (region,) = [x for x in lower(built.fusion, s, "kernel").func.body if isinstance(x, Parallel)]
    (pieces,) = [x for x in region.body if isinstance(x, For)]
    (rows,) = [x for x in pieces.body if isinstance(x, For)]
    ops = [x.op for x in walk(rows.body) if isinstance(x, Let) and (x.dst.dtype is i64 or x.op == "lanemask")]
    assert set(ops) <= {"mul", "add"}
