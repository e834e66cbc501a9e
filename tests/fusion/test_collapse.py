"""Axes that are walked as one, where not every access walks through memory along them, and axes that are cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fusewright.core.dtypes import f32, i64
from fusewright.fusion.collapse import parted
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import IxLike, sym
from fusewright.loop.lower import lower
from fusewright.loop.text import dump
from fusewright.loop.verify import verify
from fusewright.schedule.cpu import Machine, plan
from fusewright.schedule.edit import on_cpu
from tests.kernels import LANES, Compiled, check, fusion_of, graph_of, hint, kernel

N, M = sym("n"), sym("m")
Program = Callable[[Builder, Value, IxLike], Value]


def rolled(b: Builder, x: Value, m: IxLike) -> Value:
    return b.mul(b.cat([b.slice(x, 0, N - 2, 1, 2), b.slice(x, 0, 0, 1, N - 2)], 0), b.const(2.0, f32))


def twice(b: Builder, x: Value, m: IxLike) -> Value:
    y = b.expand(b.reshape(x, (N, m, 1)), (N, m, 2))
    return b.mul(b.reshape(y, (N, m * 2)), b.const(3.0, f32))


def lower_rows(b: Builder, x: Value, m: IxLike) -> Value:
    return b.where(b.ge(b.iota((N, m), 0), b.const(3, i64)), x, b.const(1.0, f32))


PROGRAMS: dict[str, tuple[Program, bool]] = {
    "cat of rows": (lambda b, x, m: b.cat([x, b.neg(x), x], 0), True),
    "pad of rows": (lambda b, x, m: b.neg(b.pad(x, (2, 0), (1, 0), b.const(7.0, f32))), True),
    "roll": (rolled, True),
    "rows from a place on": (lower_rows, True),
    "each twice": (twice, False),
    "cat of columns": (lambda b, x, m: b.cat([x, b.neg(x)], 1), False),
    "a value for each column": (lambda b, x, m: b.mul(b.add(x, b.expand(b.input(f32, (m,)), (N, m))), x), False),
    "flip of columns": (lambda b, x, m: b.neg(b.flip(x, (1,))), False),
}


@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize("m", [0, 1, 3, 7, 40])
@pytest.mark.parametrize("name", PROGRAMS)
def test_narrow_tensors(name: str, m: int, lanes: int) -> None:
    """Conditions on rows become conditions on places; what each element gives twice lies beside itself."""
    program, one = PROGRAMS[name]
    for extent in (m, M) if m else (M,):
        graph = graph_of(lambda b, extent=extent: program(b, b.input(f32, (N, extent)), extent))
        compiled = kernel(graph, lanes=lanes)
        for n in (2, 5, 40):
            check(graph, {"n": n, "m": m}, compiled=compiled)
        if m > 1 and (extent is not M):
            assert len(compiled.schedule.rows + compiled.schedule.cols) == (1 if one else 2)


def test_no_columns() -> None:
    """There is nothing to divide by."""
    kernel(graph_of(lambda b: twice(b, b.input(f32, (N, 0)), 0)))


@pytest.mark.parametrize("cache", [1 << 62, 1])
@pytest.mark.parametrize("m", [3000, 1001])
def test_wide_rows(m: int, cache: int) -> None:
    """Conditions cut the loop, where vectors are written past the caches, too: whole ones from line to line."""
    graph = graph_of(lambda b: PROGRAMS["cat of rows"][0](b, b.input(f32, (N, 2, m)), 2))
    built = fusion_of(graph)
    built.fusion, schedule = plan(built.fusion, hint, Machine(LANES, cache))
    assert not schedule.rows and bool(schedule.stream) == (cache == 1)
    lowered = lower(built.fusion, schedule, "kernel")
    verify(lowered.func)
    for n in (0, 1, 5):
        check(graph, {"n": n}, compiled=Compiled(graph, built, schedule, lowered), stream=True)


@pytest.mark.parametrize("name", [n for n, (_, one) in PROGRAMS.items() if one])
def test_schedules_name_such_axes(name: str) -> None:
    """What the planner says can be said by hand, of the fusion as it was built."""
    graph = graph_of(lambda b: PROGRAMS[name][0](b, b.input(f32, (N, 7)), 7))
    built = fusion_of(graph)
    edit = on_cpu(built.fusion, hint, Machine(LANES, 1 << 62))
    again = edit.apply("\n".join(edit.directives()))
    assert again.schedule == edit.schedule and len(again.schedule.cols) == 1
    built.fusion = again.check()
    check(graph, {"n": 9}, compiled=Compiled(graph, built, again.schedule, lower(built.fusion, again.schedule, "k")))


def unshuffled(b: Builder) -> Value:
    """Every second pixel of every second row is a channel of its own."""
    x = b.reshape(b.input(f32, (N, 4, 2, 32, 2)), (N * 4, 2, 32, 2))
    return b.neg(b.reshape(b.permute(x, [1, 3, 0, 2]), (4, N * 4, 32)))


def shuffled(b: Builder) -> Value:
    x = b.reshape(b.input(f32, (4, N, 32)), (2, 2, N, 32))
    return b.neg(b.reshape(b.permute(x, [2, 0, 3, 1]), (N * 2, 64)))


def patches(b: Builder) -> Value:
    """Pixels of a patch and their channels follow one another, which lie apart in images."""
    x = b.reshape(b.input(f32, (3, N * 4, 64)), (3, N, 4, 4, 16))
    return b.neg(b.reshape(b.permute(x, [1, 3, 2, 4, 0]), (N, 4, 192)))


@pytest.mark.parametrize("program", [unshuffled, shuffled, patches])
def test_axes_that_views_take_apart_are_cut(program: Callable[[Builder], Value]) -> None:
    """No lane divides, and schedules name the parts."""
    graph = graph_of(program)
    built = fusion_of(graph)
    original = built.fusion
    assert parted(original) is not original
    compiled = kernel(graph)
    text = dump(compiled.kernel.func)
    assert "gather" not in text and "quotients" not in text
    for n in (1, 3, 7):
        check(graph, {"n": n}, compiled=compiled)
    edit = on_cpu(original, hint, Machine(LANES, 1 << 62))
    again = edit.apply("\n".join(edit.directives()))
    assert again.schedule == edit.schedule == compiled.schedule
    assert any(name.endswith(("q", "r")) for name in (*again.schedule.rows, *again.schedule.cols))
    f = again.check()
    check(
        graph,
        {"n": 5},
        compiled=Compiled(graph, replace(built, fusion=f), again.schedule, lower(f, again.schedule, "k")),
    )


def test_axes_that_no_view_takes_apart_evenly_are_whole() -> None:
    """Of rows of 33 a quotient by two has no half."""
    graph = graph_of(lambda b: b.neg(b.reshape(b.slice(b.input(f32, (N, 34)), 1, 0, 1, 33), (N * 3, 11))))
    for n in (1, 4):
        check(graph, {"n": n})
