"""Rows of few points, and those of scans: lanes lie along rows, whose elements are at a distance from each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fusewright.core.dtypes import DType, bf16, bool_, f16, f32, f64, i8, i64
from fusewright.core.errors import CompilerError
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import ix, sym
from fusewright.interp.loop import run
from fusewright.loop.lower import lower
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from fusewright.schedule import legal
from fusewright.schedule.forms import Illegal
from tests.kernels import Compiled, check, graph_of, kernel, planned

N, M = sym("n"), sym("m")
Program = Callable[[Builder], "Value | list[Value]"]


def _sum(dtype: DType, cols: int) -> Program:
    return lambda b: b.reduce("sum", b.cast(b.input(dtype, (N, cols)), f32), [1])


def _extremes(dtype: DType, cols: int) -> Program:
    def program(b: Builder) -> list[Value]:
        x = b.input(dtype, (N, cols))
        return [b.reduce("argmax", x, [1]), b.reduce("min", x, [1])]

    return program


def _softmax(dtype: DType, cols: int) -> Program:
    def program(b: Builder) -> Value:
        x = b.input(dtype, (N, cols))
        e = b.exp(b.sub(x, b.reduce("max", x, [1], True)))
        return b.div(e, b.reduce("sum", e, [1], True))

    return program


def _norm(dtype: DType, cols: int) -> Program:
    """With a weight for each column, and statistics that are stored."""

    def program(b: Builder) -> list[Value]:
        x, w = b.cast(b.input(dtype, (N, cols)), f32), b.input(f32, (cols,))
        mean = b.mul(b.reduce("sum", x, [1], True), b.const(1 / cols, f32))
        d = b.sub(x, mean)
        var = b.reduce("sum", b.mul(d, d), [1], True)
        return [b.mul(b.mul(d, b.rsqrt(b.add(var, b.const(1e-3, f32)))), w), var]

    return program


PROGRAMS = {"sum": _sum, "extremes": _extremes, "softmax": _softmax, "norm": _norm}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dtype", [f32, bf16, f16], ids=str)
@pytest.mark.parametrize("lanes, cols", [(8, 5), (8, 31), (16, 3), (16, 9)])
def test_rows_in_lanes(name: str, dtype: DType, lanes: int, cols: int) -> None:
    g = graph_of(PROGRAMS[name](dtype, cols))
    c = kernel(g, lanes=lanes)
    assert c.schedule.vector in c.schedule.rows
    for n in (1, 7, 16, 37):
        for threads in (1, 3):
            check(g, {"n": n}, threads, compiled=c)


@pytest.mark.parametrize("dtype", [f64, i8, bool_, i64], ids=str)
def test_elements_of_other_widths(dtype: DType) -> None:
    def program(b: Builder) -> Value:
        x = b.input(dtype, (N, 6))
        return b.reduce("any" if dtype is bool_ else "sum", x, [1])

    c = kernel(graph_of(program), lanes=8)
    assert c.schedule.vector in c.schedule.rows
    for n in (3, 24, 29):
        check(c.graph, {"n": n}, compiled=c)


def test_what_several_passes_need_is_read_once() -> None:
    """Elements at a distance are dear to load: passes after the first find them side by side in scratch."""
    text = dump(kernel(graph_of(_norm(bf16, 5)), lanes=8).kernel.func)
    assert text.count("gather(in0") == 2  # of whole vectors, and of the last rows
    assert "store kept" in text


def test_rows_pass_through_scratch() -> None:
    """From eight points on: read and written in pieces, and found there by all passes."""
    short, long = (dump(kernel(graph_of(_norm(bf16, n)), lanes=8).kernel.func) for n in (7, 8))
    assert "turn " not in short and "gather" in short
    assert "gather" not in long and "store kept" not in long
    lines = [x.strip() for x in long.splitlines() if x.strip().startswith("turn ")]
    assert [x.split("[")[0] for x in lines] == ["turn rows0", "turn out2"] * 2  # and of the last rows


def test_what_a_condition_holds_up_is_kept() -> None:
    """Only what is there is turned: columns that are padded are read one by one, once."""

    def program(b: Builder) -> Value:
        x = b.pad(b.input(f32, (N, 9)), [0, 1], [0, 2], b.const(0.5, f32))
        return b.div(x, b.reduce("sum", x, [1], True))

    c = kernel(graph_of(program), lanes=8)
    text = dump(c.kernel.func)
    assert text.count("gather(in0") == 2 and "store kept" in text and "turn out1" in text
    for n in (3, 8, 30):
        check(c.graph, {"n": n}, compiled=c)


def test_elements_at_a_distance_have_scalar_addresses() -> None:
    text = dump(kernel(graph_of(_sum(f32, 5)), lanes=8).kernel.func)
    assert "i64x8 = mul(" not in text and "= iota(" in text


def test_rows_behind_other_rows() -> None:
    """Rows that are not side by side, of which the innermost axis fills the lanes."""

    def program(b: Builder) -> Value:
        return b.reduce("sum", b.input(f32, (3, N, 5)), [2])

    g = graph_of(program)
    (x,) = g.inputs
    strides = {x: (ix(1000), ix(7), ix(1)), g.outputs[0]: (ix(N), ix(1))}
    c = kernel(g, lanes=8, strides=strides)
    assert c.schedule.rows == ("i0", "i1") and c.schedule.vector == "i1"
    for n in (1, 20):
        check(g, {"n": n}, compiled=c)


def _vector(program: Program, lanes: int = 8) -> str:
    _, s = planned(graph_of(program), lanes)
    return "rows" if s.vector in s.rows else "columns" if s.vector else ""


def test_where_rows_fill_the_lanes() -> None:
    """`HINT` rows of so many points; not rows that are long, that are few, or that are summed up."""
    assert [_vector(_sum(f32, n)) for n in (31, 32)] == ["rows", "columns"]
    assert [_vector(_sum(bf16, n)) for n in (63, 64)] == ["rows", "columns"]
    assert [_vector(_softmax(f32, n)) for n in (63, 64)] == ["rows", "columns"]
    assert [_vector(_softmax(f64, n)) for n in (31, 32)] == ["rows", "columns"]
    assert [_vector(_norm(f16, n)) for n in (95, 96)] == ["rows", "columns"]
    assert [_vector(_sum(f32, n), 16) for n in (12, 13)] == ["rows", "columns"]
    assert _vector(lambda b: b.reduce("sum", b.input(f32, (5, 6)), [1])) == "columns"
    assert _vector(lambda b: b.reduce("sum", b.input(f32, (7, 6)), [1])) == "rows"

    def both(b: Builder) -> list[Value]:
        x = b.input(f32, (N, 6))
        return [b.reduce("sum", x, [0]), b.reduce("max", x, [1])]

    assert _vector(both) == "columns"


@pytest.mark.parametrize("dtype", [f32, bf16, i64], ids=str)
@pytest.mark.parametrize("cols", [5, 70])
def test_scans_of_rows(dtype: DType, cols: int) -> None:
    """Points of a scan wait for each other: rows fill the lanes, however long they are."""
    c = kernel(graph_of(lambda b: b.scan("sum", b.input(dtype, (N, cols)), 1)), lanes=8)
    assert c.schedule.vector in c.schedule.rows
    for n in (1, 8, 21):
        check(c.graph, {"n": n}, compiled=c)


@pytest.mark.parametrize("dtype", [f32, f64, bf16], ids=str)
@pytest.mark.parametrize("cols", [5, 70])
def test_scans_from_the_end(dtype: DType, cols: int) -> None:
    """What is read and written backwards passes through scratch, too, where there are whole pieces of rows."""

    def program(b: Builder) -> list[Value]:
        x, shift = b.input(dtype, (N, cols)), b.input(dtype, (N, 1))
        total = b.scan("sum", b.flip(x, [1]), 1)
        return [b.mul(b.flip(total, [1]), b.cast(shift, total.dtype)), total]

    c = kernel(graph_of(program), lanes=8)
    assert c.schedule.vector in c.schedule.rows, "not along the numbers that rows have once"
    assert bool(c.schedule.turn) == (cols == 70)
    for n in (1, 8, 21):
        check(c.graph, {"n": n}, compiled=c)


def test_few_rows_of_a_scan_go_one_by_one() -> None:
    assert _vector(lambda b: b.scan("sum", b.input(f32, (16, N)), 1)) == ""


STEPS = """
func steps(buf x: f32, buf y: f32 out, size n0) {
  v1: i64x4 = iota(1, n0)
  v2: f32x4 = gather(x, v1)
  store y[v1] = v2
}
"""


def test_steps_of_an_iota() -> None:
    func = parse(STEPS)
    verify(func)
    assert parse(dump(func)) == func
    x, y = np.arange(12, dtype=np.float32), np.zeros(12, np.float32)
    run(func, {"x": x, "y": y}, {"n0": 3})
    assert y.tolist() == [0, 1, 0, 0, 4, 0, 0, 7, 0, 0, 10, 0]
    with pytest.raises(CompilerError, match="the step"):
        verify(parse(STEPS.replace("iota(1, n0)", "iota(1, 2.0:f32)")))


@pytest.mark.parametrize("m", [1, 8, 64, 65, 200])
def test_rows_of_any_length(m: int) -> None:
    """What decides is an estimate; the kernel is right for all sizes."""

    def program(b: Builder) -> Value:
        x = b.input(f32, (N, M))
        return b.div(x, b.reduce("sum", b.mul(x, x), [1], True))

    g = graph_of(program)
    built, s = planned(g, 8)
    assert s.vector in s.cols
    s = replace(s, vector=s.rows[-1])
    c = Compiled(g, built, s, lower(built.fusion, s, "kernel"))
    verify(c.kernel.func)
    for n in (4, 17):
        check(g, {"n": n, "m": m}, compiled=c)


def test_when_rows_may_pass_through_scratch() -> None:
    built, s = planned(graph_of(_norm(bf16, 9)), 8)
    assert s.turn == s.cols[0] == "i1"
    assert legal.check(built.original, s).text() == built.fusion.text()
    with pytest.raises(Illegal, match="legal: i1"):
        legal.check(built.original, replace(s, turn="i0"))
    down = planned(graph_of(lambda b: b.sub(x := b.input(f32, (N, M)), b.reduce("sum", x, [0], True))), 8)
    assert down[1].vector in down[1].rows and not down[1].turn
    with pytest.raises(Illegal, match="nothing lies side by side"):
        legal.check(down[0].original, replace(down[1], turn=down[1].cols[0], abreast=0))
