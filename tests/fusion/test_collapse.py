"""Axes that are walked as one, where not every access walks through memory along them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusewright.core.dtypes import f32, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import IxLike, sym
from fusewright.loop.lower import lower
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
    "each twice": (twice, True),
    "cat of columns": (lambda b, x, m: b.cat([x, b.neg(x)], 1), False),
    "a value for each column": (lambda b, x, m: b.mul(b.add(x, b.expand(b.input(f32, (m,)), (N, m))), x), False),
    "flip of columns": (lambda b, x, m: b.neg(b.flip(x, (1,))), False),
}


@pytest.mark.parametrize("m", [0, 1, 3, 7, 40])
@pytest.mark.parametrize("name", PROGRAMS)
def test_narrow_tensors(name: str, m: int) -> None:
    """Conditions on rows become conditions on places, and quotients that count the same are one."""
    program, one = PROGRAMS[name]
    for extent in (m, M) if m else (M,):
        graph = graph_of(lambda b, extent=extent: program(b, b.input(f32, (N, extent)), extent))
        compiled = kernel(graph)
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
