"""Expressions far deeper than functions may call themselves: emitted from the bottom up, on CPUs and GPUs."""

from __future__ import annotations

import sys

import pytest

from fusewright.core.dtypes import f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from tests.kernels import check, graph_of
from tests.kernels_gpu import check_gpu

N, M = sym("n"), sym("m")
DEEP = 2 * sys.getrecursionlimit()


def chain(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    y = x
    for k in range(DEEP // 2):
        y = b.mul(b.add(y, x), b.const(0.5 if k % 3 else 0.25, f32))
    return y


def reduced(b: Builder) -> Value:
    """A deep expression of what a row has once, in the second pass over it."""
    y = chain(b)
    return b.sub(y, b.reduce("max", y, (1,), keepdim=True))


@pytest.mark.parametrize("program", [chain, reduced])
def test_values(program: object) -> None:
    graph = graph_of(program)  # type: ignore[arg-type]
    check(graph, {"n": 3, "m": 37})
    check_gpu(graph, {"n": 3, "m": 37})


def test_a_deep_expression_under_a_condition() -> None:
    def program(b: Builder) -> Value:
        return b.cat([chain(b), chain(b)], 1)

    check(graph_of(program), {"n": 3, "m": 37})
