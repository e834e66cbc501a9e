"""Axes that views split: where all lanes of a vector have the same quotient, memory is read in whole vectors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusewright.core.dtypes import bf16, f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import IxLike, sym
from fusewright.loop.text import dump
from fusewright.schedule.quotients import multiple
from tests.kernels import check, graph_of, kernel
from tests.kernels_gpu import check_gpu

N, M = sym("n"), sym("m")


def heads(m: IxLike) -> Callable[[Builder], Value]:
    """Three tensors [2, 8, n, m] as one [2, n, 24 * m], plus a bias: a view splits its last axis."""

    def program(b: Builder) -> Value:
        parts = []
        for _ in range(3):
            x = b.reshape(b.permute(b.input(bf16, (2, 8, N, m)), (0, 2, 1, 3)), (2, N, m * 8))
            parts.append(b.neg(x))
        return b.add(b.cat(parts, 2), b.cast(b.input(f32, (m * 24,)), bf16))

    return program


def turned(m: IxLike) -> Callable[[Builder], Value]:
    """[n, 8 * m] -> cat(-x[..., m:], x[..., :m]) in each of four heads of 2 * m."""

    def program(b: Builder) -> Value:
        x = b.reshape(b.input(f32, (N, m * 8)), (N, 4, m * 2))
        low, high = b.slice(x, 2, 0, 1, m), b.slice(x, 2, m, 1, m)
        return b.reshape(b.cat([b.neg(high), low], 2), (N, m * 8))

    return program


def sums(m: IxLike) -> Callable[[Builder], list[Value]]:
    def program(b: Builder) -> list[Value]:
        y = heads(m)(b)
        return [y, b.reduce("sum", b.cast(y, f32), (0, 1))]

    return program


@pytest.mark.parametrize(
    ("m", "lanes", "steady"), [(64, 8, True), (8, 8, True), (20, 4, True), (6, 2, True), (3, 8, False), (7, 8, False)]
)
def test_gpu_vectors_are_as_wide_as_the_pieces_allow(m: int, lanes: int, steady: bool) -> None:
    compiled = check_gpu(graph_of(heads(M)), {"n": 24, "m": m})
    assert (compiled.schedule.lanes, compiled.schedule.steady) == (lanes, steady)
    assert ("gather(" in dump(compiled.kernel.func)) == (not steady)


@pytest.mark.every(4)
@pytest.mark.parametrize("program", [heads, sums])
@pytest.mark.parametrize(("m", "steady"), [(64, True), (16, True), (48, True), (20, False), (8, False), (3, False)])
def test_cpu_kernels_rely_on_constants(program: Callable[[IxLike], Callable], m: int, steady: bool) -> None:
    """The kernel serves all sizes of other axes, so only an extent that is part of the program can be relied on."""
    for n in (1, 7, 40):
        check(graph_of(program(m)), {"n": n})
    text = dump(kernel(graph_of(program(m))).kernel.func)
    assert ("gather(" in text) == (not steady)


@pytest.mark.parametrize("m", [1, 5, 16, 33])
def test_extents_that_are_sizes(m: int) -> None:
    for program in (heads, turned, sums):
        check(graph_of(program(M)), {"n": 9, "m": m})
        check_gpu(graph_of(program(M)), {"n": 9, "m": m})


def test_multiples() -> None:
    assert multiple(N * 16 + 32, 16) and not multiple(N * 8, 16)
    assert multiple(N * M + N * 3, 4, {N: 8, M: 57}.get) and not multiple(N * M + N * 3, 64, {N: 8, M: 57}.get)
    assert multiple(N * 8, 16, lambda e: 6) and not multiple(N * 8, 16, lambda e: 5)
