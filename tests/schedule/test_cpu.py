"""Which loop nest a fusion gets on a CPU, and what has none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusewright.core.dtypes import DType, bf16, f16, f32, f64, i32, i64
from fusewright.core.errors import Refusal
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import ix, sym
from fusewright.schedule.cpu import Machine, plan
from tests.golden.cases import CASES
from tests.kernels import check, fusion_of, graph_of, kernel, planned

N, M = sym("n"), sym("m")


@pytest.mark.parametrize("name", CASES)
def test_family(name: str) -> None:
    _, s = planned(graph_of(CASES[name].program))
    assert s.family == CASES[name].family
    assert (s.vector in s.rows) == (CASES[name].vector_rows or (name == "cumulative" and s.vector != ""))


def _axes(*programs: Callable[[Builder], Value | list[Value]]) -> list[tuple[tuple[str, ...], tuple[str, ...], str]]:
    out = []
    for program in programs:
        _, s = planned(graph_of(program))
        out.append((s.rows, s.cols, s.vector))
    return out


def test_contiguous_axes_become_one() -> None:
    """An elementwise kernel over contiguous tensors is one-dimensional, whatever the rank."""

    def program(b: Builder) -> Value:
        x, y = b.input(f32, (N, 3, M)), b.input(f32, (N, 3, M))
        return b.add(x, y)

    built, s = planned(graph_of(program))
    (a,) = built.fusion.axes
    assert a.extent is 3 * N * M
    assert s.rows == () and s.cols == (a.name,) and s.vector == a.name


def test_a_broadcast_operand_keeps_its_axis() -> None:
    def program(b: Builder) -> Value:
        return b.add(b.input(f32, (N, 3, M)), b.input(f32, (M,)))

    built, s = planned(graph_of(program))
    assert [str(a.extent) for a in built.fusion.axes] == ["3 * n", "m"]
    assert len(s.rows) == 1 and len(s.cols) == 1


def test_the_axis_with_unit_stride_is_vectorised() -> None:
    """Summing over the first axis walks along the second; summing over the second walks along it too."""
    inner = lambda b: b.reduce("sum", b.input(f32, (N, M)), [1])
    outer = lambda b: b.reduce("sum", b.input(f32, (N, M)), [0])
    assert _axes(inner, outer)[0] == (("i0",), ("i1",), "i1")
    rows, cols, vector = _axes(inner, outer)[1]
    assert vector == "i1" and "i0" in (*rows, *cols)


def test_what_a_row_costs_decides_what_fills_wide_lanes() -> None:
    """Up to how many points sixteen lanes have a row each."""

    def sums(b: Builder, x: Value) -> Value:
        return b.reduce("sum", x, [1])

    def deviations(b: Builder, x: Value) -> Value:
        return sums(b, b.mul(c := b.sub(x, b.reduce("sum", x, [1], keepdim=True)), c))

    def logarithms(b: Builder, x: Value) -> Value:
        return b.log(sums(b, b.exp(x)))

    def most(program: Callable[[Builder, Value], Value], dtype: DType, through: DType) -> int:
        def of(m: int) -> bool:
            def built(b: Builder) -> Value:
                x = b.input(dtype, (1000, m))
                return program(b, x if dtype is through else b.cast(x, through))

            _, s = planned(graph_of(built), 16)
            return s.vector in s.rows

        return next(m for m in range(4, 300, 4) if not of(m))

    assert most(sums, f32, f32) == 16 and most(sums, bf16, f32) == 24
    assert most(deviations, f32, f32) == 40 and most(deviations, f32, f64) == 88
    assert most(logarithms, f32, f32) == 112


def test_no_rows_fill_no_lanes() -> None:
    def centred(b: Builder) -> Value:
        x = b.input(f32, (20,))
        return b.sub(x, b.reduce("sum", x, [0]))

    for lanes in (8, 16):
        _, s = planned(graph_of(centred), lanes)
        assert s.rows == () and s.vector in s.cols


def test_directives_are_text() -> None:
    _, s = planned(graph_of(CASES["softmax"].program))
    assert s.directives() == ["bind(i0, parallel)", "bind(i1, vector, 16)"]


def _two_ways(b: Builder) -> Value:
    """Row sums divided by column sums: the second needs the whole matrix before any row can be stored."""
    x = b.input(f32, (N, M))
    return b.div(b.div(x, b.reduce("sum", x, [1], True)), b.reduce("sum", x, [0], True))


def _chain(b: Builder) -> Value:
    """A reduction over columns of what was reduced over rows."""
    x = b.input(f32, (N, M))
    y = b.mul(x, b.reduce("max", x, [0], True))
    return b.reduce("sum", b.mul(y, y), [1])


def _two_scans(b: Builder) -> list[Value]:
    x = b.input(f32, (N, M))
    return [b.scan("sum", x, 0), b.scan("sum", x, 1)]


def _part(b: Builder) -> list[Value]:
    """Sums over the last axis and over the last two, both read inside the row."""
    x = b.input(f32, (N, M, 3))
    y = b.div(x, b.reduce("sum", x, [2], True))
    return [b.div(y, b.reduce("sum", x, [1, 2], True))]


REFUSED = {
    "rows wait for columns": (_two_ways, "reduc"),
    "scans both ways": (_two_scans, "scans along different axes"),
    "different axes": (_part, "reduc"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_have_reasons(name: str) -> None:
    program, detail = REFUSED[name]
    with pytest.raises(Refusal) as refused:
        kernel(graph_of(program))
    assert refused.value.code == "schedule" and detail in refused.value.detail


def test_a_reduction_over_columns_of_one_over_rows() -> None:
    """One nest: per column of x a pass for its maximum, then one that adds to the partial sums of the rows."""
    _, s = planned(graph_of(_chain))
    assert s.rows == ("i1",) and s.cols == ("i0",)
    check(graph_of(_chain), {"n": 5, "m": 37}, threads=3)


# ---- what does not work yet ------------------------------------------------------------------------------------


def _scan_of_scan(b: Builder) -> Value:
    return b.scan("max", b.scan("sum", b.input(f32, (M,)), 0), 0)


def _small_scan(b: Builder) -> list[Value]:
    """A scan over fewer axes than the other output has."""
    return [b.neg(b.input(i32, (N, M))), b.scan("max", b.input(f32, (1, M)), 1)]


def _expanded_scan(b: Builder) -> Value:
    x = b.scan("max", b.input(f64, (N, 1)), 0)
    return b.cast(b.affine(x, (N, N), [(0, [(0, 1)]), (0, [])]), f32)


@pytest.mark.parametrize("program", [_scan_of_scan, _small_scan, _expanded_scan])
def test_scans_that_are_not_alone(program: Callable[[Builder], Value | list[Value]]) -> None:
    try:
        check(graph_of(program), {"n": 5, "m": 7})
    except Refusal:
        pass


def test_a_scan_that_is_kept_for_a_second_pass() -> None:
    """Down the rows, sixteen columns at a time: the last block of columns is not full."""

    def program(b: Builder) -> Value:
        s = b.scan("sum", b.input(i32, (N, M)), 0)
        return b.sub(s, b.reduce("max", s, [0], True))

    check(graph_of(program), {"n": 3, "m": 7})


def test_a_number_beside_an_empty_reduction() -> None:
    """A 0-d result must be stored even when the other output sums nothing."""

    def program(b: Builder) -> list[Value]:
        x, y = b.input(f16, (3, N)), b.input(f16, ())
        return [b.add(y, b.const(2.0, f16)), b.reduce("sum", x, [0, 1])]

    check(graph_of(program), {"n": 5})
    check(graph_of(program), {"n": 0})


def test_padding_around_nothing() -> None:
    """The input is empty, the output is not: no division by an extent of 0."""

    def program(b: Builder) -> Value:
        x = b.reshape(b.neg(b.input(i64, (N, M))), (N * M,))
        return b.pad(x, [1], [2], b.const(7, i64))

    for n, m in ((2, 3), (0, 3), (2, 0), (0, 0)):
        check(graph_of(program), {"n": n, "m": m})


@pytest.mark.parametrize(
    ("megabytes", "threads", "past"), [(60, 2, False), (80, 2, True), (80, 4, False), (300, 32, True)]
)
def test_what_is_written_past_the_caches(megabytes: int, threads: int, past: bool) -> None:
    """More than the threads' share of a last-level cache of 256 MiB."""
    rows = megabytes * (1 << 20) // (2 * 4 * 1024)
    graph = graph_of(lambda b: b.add(b.input(f32, (rows, 1024)), b.const(1.0, f32)))
    _, s = plan(fusion_of(graph).fusion, lambda e: e.as_int() or 1, Machine(16, 256 << 20, threads))
    assert bool(s.stream) == past


@pytest.mark.parametrize(
    ("sizes", "dtype", "lane"),
    [((2, 3), f32, True), ((7, 8), bf16, True), ((8, 8), f32, False), ((3, 16), f32, False), ((8, 3), f64, False)],
)
def test_small_matrices_that_are_turned(sizes: tuple[int, int], dtype: DType, lane: bool) -> None:
    """Each has a lane, unless its rows fill vectors, or nearly so, or there are few of them."""
    p, q = sizes

    def turned(b: Builder) -> Value:
        x = b.cast(b.input(dtype, (N, ix(p), ix(q))), dtype if dtype is f64 else f32)
        return b.permute(b.cast(b.mul(x, x), dtype), (0, 2, 1))

    for n in (1000, 40):
        built = fusion_of(graph_of(turned))
        _, s = plan(built.fusion, lambda e, n=n: int(e.evaluate({"n": n})), Machine(16, 1 << 62))
        assert s.family == "transpose" and (s.vector in s.rows) == (lane and n == 1000), s
