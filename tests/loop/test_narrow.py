"""Vectors of narrow elements that a condition takes a part of: one branch where all or none of them are wanted."""

from __future__ import annotations

import pytest

from fusewright.core.dtypes import DType, bf16, f16, f32, i8
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.loop.ir import If, Let, Set, walk
from tests.kernels import Compiled, check, graph_of, kernel

N, M = sym("n"), sym("m")


def _branches(c: Compiled) -> list[If]:
    """Branches around the load of a vector."""
    found = [s for s in walk(c.kernel.func.body) if isinstance(s, If) and len(s.then) == 2]
    return [s for s in found if isinstance(s.then[0], Let) and s.then[0].op == "load" and isinstance(s.then[1], Set)]


def joined(dtype: DType, dim: int, b: Builder) -> Value:
    """What ends along the vector, or from one row to the next. (A loop that only stores would be cut there.)"""
    x, y = b.input(dtype, (N, M)), b.input(dtype, (N, M))
    return b.reduce("max", b.add(b.cat([x, y], dim), b.cat([y, x], dim)), [1])


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", [bf16, f16, i8, f32], ids=str)
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_what_a_cat_joins(lanes: int, dtype: DType, dim: int) -> None:
    graph = graph_of(lambda b: joined(dtype, dim, b))
    c = kernel(graph, lanes=lanes)
    assert bool(_branches(c)) == (lanes < 16 and dtype is not f32)
    for n, m in [(3, 5), (1, 1), (4, 32), (2, 71), (0, 4), (3, 8), (9, 1)]:
        check(graph, {"n": n, "m": m}, 2, compiled=c)


def test_a_vector_may_hold_all_of_a_row() -> None:
    """Neither end of the vector is wanted, what is between them is."""

    def program(b: Builder) -> Value:
        x, y = b.input(f16, (N, 3)), b.input(f16, (N, 2))
        return b.reduce("max", b.cat([y, x, y, b.input(f16, (N, M))], 1), [1])

    graph = graph_of(program)
    c = kernel(graph, lanes=8)
    assert _branches(c)
    for n, m in [(3, 5), (1, 1), (4, 32), (2, 71)]:
        check(graph, {"n": n, "m": m}, 2, compiled=c)
