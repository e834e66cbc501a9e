"""Rows of few points that lie beside each other: vectors of memory are taken apart for them, and put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from fusewright.core.dtypes import DType, bf16, f16, f32, f64, i8
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.loop.ir import STEPS, If, Imm, Let, Turn, walk
from fusewright.loop.lower import lower
from fusewright.loop.verify import verify
from fusewright.schedule import legal
from fusewright.schedule.cpu import Machine, plan
from tests.kernels import Compiled, check, fusion_of, graph_of, hint, kernel, planned

N = sym("n")
Program = Callable[[Builder], "Value | Sequence[Value]"]
SIZES = (0, 1, 15, 16, 17, 64, 257, 300)


def halves(dtype: DType, cols: int) -> Program:
    return lambda b: b.neg(b.slice(b.input(dtype, (N, 2 * cols - 1)), 1, 0, 2, cols))


def flipped(dtype: DType, cols: int) -> Program:
    return lambda b: b.neg(b.flip(b.input(dtype, (N, cols)), [1]))


def joined(dtype: DType, cols: int) -> Program:
    """Of two inputs, each under a condition that all lanes share."""
    return lambda b: b.neg(b.cat([b.input(dtype, (N, cols - 1)), b.input(dtype, (N, 1))], 1))


def padded(dtype: DType, cols: int) -> Program:
    return lambda b: b.neg(b.pad(b.input(dtype, (N, cols - 1)), [0, 1], [0, 0], b.const(2, dtype)))


def differences(dtype: DType, cols: int) -> Program:
    def program(b: Builder) -> Value:
        x = b.input(dtype, (N, cols + 1))
        return b.sub(b.slice(x, 1, 1, 1, cols), b.slice(x, 1, 0, 1, cols))

    return program


def deep(dtype: DType, cols: int) -> Program:
    """Within rows of more than these columns, and with a dim around them."""
    return lambda b: b.neg(b.flip(b.slice(b.input(dtype, (3, N, cols + 2)), 2, 1, 1, cols), [2]))


ELEMENTWISE = {
    "halves": halves,
    "flipped": flipped,
    "joined": joined,
    "padded": padded,
    "differences": differences,
    "deep": deep,
}


@pytest.mark.every(5)
@pytest.mark.parametrize("dtype", [f32, bf16, f64, i8], ids=str)
@pytest.mark.parametrize("cols", [2, 3, 5, 7, 8])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_kernels(name: str, cols: int, dtype: DType) -> None:
    graph = graph_of(ELEMENTWISE[name](dtype, cols))
    c = kernel(graph, lanes=16)
    assert (c.schedule.family, c.schedule.lanes) == ("transpose", 16)
    of = {"halves": 2 * cols - 1, "joined": cols - 1, "padded": cols - 1, "differences": cols + 1, "deep": cols + 2}
    if of.get(name, cols) in STEPS:
        turns = [s for s in walk(c.kernel.func.body) if isinstance(s, Turn)]
        assert [t.into.name for t in turns] == [b.name for b in c.built.fusion.buffers if b.output]
        assert all(t.cols == Imm(cols, t.cols.dtype) for t in turns)
        ops = {s.op for s in walk(c.kernel.func.body) if isinstance(s, Let)}
        assert "strided" in ops and "gather" not in ops
    for n in SIZES:
        check(graph, {"n": n}, 2, compiled=c)


def test_a_condition_that_lanes_share_is_a_branch() -> None:
    c = kernel(graph_of(joined(f32, 4)), lanes=16)
    body = c.kernel.func.body
    strided = [s for s in walk(body) if isinstance(s, Let) and s.op == "strided"]
    inside = [s for x in walk(body) if isinstance(x, If) for s in x.then if isinstance(s, Let) and s.op == "strided"]
    assert {s.attr for s in strided} == {3} and {s.attr for s in inside} == {3}


def rows_before(b: Builder) -> Value:
    """Which rows there is something in: loops are cut where that changes."""
    return b.flip(b.pad(b.input(f32, (N, 3)), [1, 0], [2, 0], b.const(7, f32)), [1])


def elements_before(b: Builder) -> Value:
    """Rows that begin within rows: of one column they differ by lane."""
    x = b.pad(b.reshape(b.input(f32, (N, 4)), (4 * N,)), [1], [3], b.const(7, f32))
    return b.flip(b.reshape(x, (N + 1, 4)), [1])


@pytest.mark.parametrize(("program", "op"), [(rows_before, "strided"), (elements_before, "gather")])
def test_conditions_on_rows(program: Program, op: str) -> None:
    graph = graph_of(program)
    c = kernel(graph, lanes=16)
    assert c.schedule.turn
    assert {s.op for s in walk(c.kernel.func.body) if isinstance(s, Let)} & {"strided", "gather"} == {op}
    for n in SIZES:
        check(graph, {"n": n}, 2, compiled=c)


def test_what_lies_beside_stays_one_run_of_memory() -> None:
    """Lanes along rows and columns as one are as good, and need no shuffles."""
    _, s = planned(graph_of(lambda b: b.add(b.input(f32, (N, 3)), b.input(f32, (3,)))), lanes=16)
    assert s.family == "pointwise"


def test_where_lanes_are_few_or_sizes_unknown_nothing_changes() -> None:
    assert planned(graph_of(flipped(f32, 3)), lanes=8)[1].family == "pointwise"
    assert planned(graph_of(flipped(f32, 9)), lanes=16)[1].family == "pointwise"
    m = sym("m")
    c = kernel(graph_of(lambda b: b.neg(b.flip(b.input(f32, (N, m)), [1]))), lanes=16)
    assert not any(isinstance(s, Turn) and isinstance(s.cols, Imm) for s in walk(c.kernel.func.body))


def test_tiles_of_some_of_the_columns() -> None:
    """A schedule may cut them: what a tile has is not what a row has, then."""
    graph = graph_of(flipped(f32, 5))
    c = kernel(graph, lanes=16)
    cut = replace(c.schedule, split=((c.schedule.turn, 2), (c.schedule.vector, 64)))
    legal.check(c.built.fusion, cut)
    func = lower(c.built.fusion, cut, "k")
    verify(func.func)
    assert not any(isinstance(s, Turn) and isinstance(s.cols, Imm) for s in walk(func.func.body))
    for n in SIZES:
        check(graph, {"n": n}, 2, compiled=Compiled(graph, c.built, cut, func))


def _softmax(b: Builder, dtype: DType, cols: int) -> Value:
    x = b.cast(b.input(dtype, (N, cols)), f32)
    e = b.exp(b.sub(x, b.reduce("max", x, [1], True)))
    return b.cast(b.div(e, b.reduce("sum", e, [1], True)), dtype)


@pytest.mark.every(3)
@pytest.mark.parametrize("dtype", [f32, bf16, f16], ids=str)
@pytest.mark.parametrize("cols", [2, 3, 4, 6, 7])
def test_rows_in_lanes(cols: int, dtype: DType) -> None:
    """Results of a row pass through scratch, what it reads does not."""
    graph = graph_of(lambda b: _softmax(b, dtype, cols))
    c = kernel(graph, lanes=16)
    assert c.schedule.vector in c.schedule.rows and c.schedule.turn == c.schedule.cols[-1]
    turns = [s for s in walk(c.kernel.func.body) if isinstance(s, Turn)]
    assert turns and all(t.cols == t.pitch == Imm(cols, t.cols.dtype) for t in turns)
    for n in SIZES:
        check(graph, {"n": n}, 2, compiled=c)


def test_results_of_rows_need_no_scratch() -> None:
    c = kernel(graph_of(lambda b: b.reduce("sum", b.input(f32, (N, 5)), [1])), lanes=16)
    assert c.schedule.vector in c.schedule.rows and not c.schedule.turn
    assert {s.attr for s in walk(c.kernel.func.body) if isinstance(s, Let) and s.op == "strided"} == {5}


def test_tiles_stay_in_the_nearest_cache() -> None:
    built = fusion_of(graph_of(flipped(f32, 5)))
    f, s = plan(built.fusion, lambda e: e.as_int() or 1000 * hint(e), Machine(16, 1 << 25, 2))
    points = dict(s.split)
    assert 4 * points[s.turn] * points[s.vector] <= 1 << 13, "of 32 KB, with as much that is read"
    assert s.turn == f.axes[1].name
