"""Several vectors of rows at a time (`loop/row_blocks.py`): blocks, what is left of the rows, columns together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fusewright.core.dtypes import bf16, f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.loop.ir import Let, walk
from fusewright.loop.lower import lower
from fusewright.loop.verify import verify
from fusewright.schedule import legal
from tests.kernels import Compiled, check, fusion_of, graph_of, planned

B, N, M = sym("b"), sym("n"), sym("m")
LANES = 4


def sums(b: Builder) -> Value:
    return b.reduce("sum", b.input(f32, (B, N, M)), [1])


def extremes(b: Builder) -> list[Value]:
    x = b.input(bf16, (B, N, M))
    return [b.reduce("max", x, [1]), b.reduce("argmax", x, [1])]


def variance(b: Builder) -> Value:
    x = b.input(f32, (B, N, M))
    rest = b.sub(x, b.mul(b.reduce("sum", x, [1], keepdim=True), b.const(0.25, f32)))
    return b.reduce("sum", b.mul(rest, rest), [1])


def softmax(b: Builder) -> Value:
    x = b.input(f32, (B, N, M))
    e = b.exp(b.sub(x, b.reduce("max", x, [1], keepdim=True)))
    return b.div(e, b.reduce("sum", e, [1], keepdim=True))


def totals(b: Builder) -> Value:
    return b.scan("sum", b.input(f32, (B, N, M)), 1)


def over_two_axes(b: Builder) -> Value:
    """The columns are two loops: every other point of the first axis is left out."""
    return b.reduce("sum", b.slice(b.input(f32, (2 * B, N, M)), 0, 0, 2, B), [0, 1])


def program(fn: Callable[[Builder], Value | list[Value]], abreast: int, steps: int) -> Compiled:
    graph = graph_of(fn)
    built = fusion_of(graph)
    _, s = planned(graph, LANES)
    rows = tuple(a.name for a in built.fusion.axes if a.extent is M or (fn is not over_two_axes and a.extent is B))
    cols = tuple(a.name for a in built.fusion.axes if a.name not in rows)
    s = replace(s, rows=rows, cols=cols, vector=rows[-1], lanes=LANES, split=(), abreast=abreast, steps=steps)
    built.fusion = legal.check(built.fusion, s)
    kernel = lower(built.fusion, s, "kernel")
    verify(kernel.func)
    return Compiled(graph, built, s, kernel)


@pytest.mark.every(3)
@pytest.mark.parametrize("steps", [0, 4])
@pytest.mark.parametrize("abreast", [0, 2, 4])
@pytest.mark.parametrize("fn", [sums, extremes, variance, softmax, totals])
def test_any_extent(fn: Callable[[Builder], Value | list[Value]], abreast: int, steps: int) -> None:
    c = program(fn, abreast, steps)
    for m in (1, 3, 4, 7, 8, 16, 31, 33):
        check(c.graph, {"b": 2, "n": 5, "m": m}, compiled=c)
    for n in (1, 4, 130, 300):
        check(c.graph, {"b": 1, "n": n, "m": 21}, compiled=c, threads=3)
    check(c.graph, {"b": 0, "n": 5, "m": 9}, compiled=c)


def test_a_block_reads_neighbouring_memory_at_once() -> None:
    """Beside the block there are single vectors only: code does not grow with the number of vectors."""
    wide = lambda c: [s for s in walk(c.kernel.func.body) if isinstance(s, Let) and s.op == "load"]
    one, many = wide(program(sums, 0, 0)), wide(program(sums, 8, 0))
    assert [s.dst.lanes for s in one] == [LANES, LANES]
    assert [s.dst.lanes for s in many] == [8 * LANES, LANES, LANES]


def test_single_vectors_have_several_sums() -> None:
    loads = [s.dst.lanes for s in walk(program(sums, 2, 4).kernel.func.body) if isinstance(s, Let) and s.op == "load"]
    assert loads == [2 * LANES, *[LANES] * 10]  # four columns and one, twice: with all lanes, and with some


@pytest.mark.parametrize("steps", [0, 2, 4])
def test_columns_of_two_axes(steps: int) -> None:
    c = program(over_two_axes, 2, steps)
    assert len(c.schedule.cols) == 2
    for n in (1, 3, 4, 9, 70):
        check(c.graph, {"b": 40, "n": n, "m": 13}, compiled=c)
