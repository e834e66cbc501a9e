"""What is the same in all rows, and dear, is computed once by each thread (`keep(columns, scratch)`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fusewright.core.dtypes import bf16, f32, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import Ix, sym
from fusewright.loop.ir import For, Let, walk
from fusewright.loop.lower import lower
from fusewright.loop.verify import verify
from fusewright.schedule.cpu import Machine, Schedule, plan
from tests.kernels import Compiled, check, fusion_of, graph_of, random_inputs

N, M = sym("n"), sym("m")


def scaled(b: Builder) -> Value:
    """The scale is a square root and a quotient of each column."""
    x, w = b.input(f32, (N, M)), b.input(f32, (M,))
    c = b.cast(b.input(bf16, (M,)), f32)
    return b.add(b.mul(x, b.reciprocal(b.sqrt(b.add(b.mul(w, w), b.const(1.0, f32))))), c)


def normalized(b: Builder) -> Value:
    x, w = b.input(f32, (N, M)), b.input(f32, (M,))
    e = b.mul(x, b.exp(b.reciprocal(b.add(b.mul(w, w), b.const(1.0, f32)))))
    return b.div(e, b.reduce("sum", b.mul(e, e), [1], keepdim=True))


def gathered(b: Builder) -> Value:
    """An index is checked at every point: what goes by it stays there."""
    x, table, at = b.input(f32, (N, M)), b.input(f32, (24,)), b.input(i64, (M,))
    return b.mul(x, b.exp(b.exp(b.gather(table, [at], (M,), [("at", 0, (0,))]))))


def _planned(program, n: int = 1000, m: int = 128, **fields: object) -> tuple[Compiled, Schedule]:
    graph = graph_of(program)
    built = fusion_of(graph)

    def hint(e: Ix) -> int:
        return int(e.evaluate({"n": n, "m": m}))

    built.fusion, s = plan(built.fusion, hint, Machine(8, 1 << 62, 2))
    s = replace(s, **fields)
    kernel = lower(built.fusion, s, "kernel")
    verify(kernel.func)
    return Compiled(graph, built, s, kernel), s


@pytest.mark.parametrize("program", [scaled, normalized])
def test_once_in_each_thread(program) -> None:
    c, s = _planned(program)
    assert s.shared and "keep(columns, scratch)" in s.directives()
    (region,) = [x for x in c.kernel.func.body if hasattr(x, "tid")]
    rows = next(x for x in region.body if isinstance(x, For) and x.var.name == "row")
    dear = {"sqrt", "exp", "reciprocal"}
    assert not dear & {x.op for x in walk(rows.body) if isinstance(x, Let)}
    assert dear & {x.op for x in walk(region.body) if isinstance(x, Let)}
    for n, m in ((0, 5), (1, 1), (3, 8), (7, 33), (40, 70)):
        check(c.graph, {"n": n, "m": m}, compiled=c, threads=3)


def test_pieces_of_columns() -> None:
    """Where columns are cut, a thread still has all of them."""
    c, _ = _planned(scaled)
    c, _ = _planned(scaled, split=((c.schedule.cols[-1], 16),))
    for m in (5, 16, 50):
        check(c.graph, {"n": 6, "m": m}, compiled=c, threads=2)


def test_where_it_does_not_pay() -> None:
    assert not _planned(scaled, n=10)[1].shared, "few rows"
    assert not _planned(scaled, m=1 << 20)[1].shared, "columns that leave the cache"
    assert not _planned(lambda b: b.add(b.input(f32, (N, M)), b.input(f32, (M,))))[1].shared, "nothing dear"


def test_an_index_found_at_run_time() -> None:
    c, s = _planned(gathered)
    assert not s.shared
    sizes = {"n": 4, "m": 9}
    inputs = random_inputs(c.graph, sizes)
    inputs[2] = np.arange(9) * 2
    check(c.graph, sizes, compiled=c, inputs=inputs)
