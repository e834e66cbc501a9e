"""Rows that an index picks out of a table: lanes go along them, and reads do not wait for each other's checks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

import fusewright
from fusewright.core.dtypes import DType, f16, f32, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import sym
from fusewright.loop.ir import Fail, If, Let, walk
from fusewright.schedule.cpu import Machine, plan
from fusewright.schedule.device import H200
from tests.kernels import check, fusion_of, graph_of, kernel, random_inputs
from tests.kernels_gpu import check_gpu, gpu_kernel

N, M, WORDS = sym("n"), sym("m"), sym("words")


def picked(b: Builder, dtype: DType = f32) -> Value:
    t, at = b.input(dtype, (WORDS, M)), b.input(i64, (N,))
    return b.gather(t, [at], (N, M), [("at", 0, (0,)), ("dim", 1)])


def given(graph: Graph, sizes: dict[str, int]) -> list[np.ndarray]:
    return [x % sizes["words"] if x.dtype == np.int64 else x for x in random_inputs(graph, sizes)]


def rows(b: Builder) -> Value:
    return b.reduce("sum", picked(b), [1])


def products(b: Builder) -> Value:
    return b.reduce("sum", b.mul(picked(b), picked(b)), [1])


def columns(b: Builder) -> Value:
    return b.reduce("sum", picked(b), [0])


@pytest.mark.parametrize("program", [rows, products, columns])
def test_lanes_go_along_rows(program: Callable[[Builder], Value]) -> None:
    """An index is read once for each row, the table's rows at each of their points: these are the traffic. Lanes went
    along the index, and each read 4 bytes of a row of its own."""
    graph = graph_of(program)
    large = {"n": 400_000, "m": 128, "words": 100_000}
    hint = lambda e: int(e.evaluate({**dict.fromkeys((a.name for a in e.atoms()), 64), **large}))
    f, s = plan(fusion_of(graph).fusion, hint, Machine(16, 1 << 62, 2))
    along = [a.name for a in f.axes if a.extent is M]
    assert [s.vector] == along
    small = {"n": 5, "m": 128, "words": 7}
    check(graph, small, inputs=given(graph, small))
    c = gpu_kernel(graph, large, H200)
    assert [c.schedule.vector] == along and c.schedule.lanes == 4
    check_gpu(graph, small, given(graph, small), compiled=gpu_kernel(graph, small))


def test_short_rows_lie_in_the_lanes() -> None:
    """Eight points of a row do not fill the lanes of a vector; eight rows do, wherever they are."""
    graph = graph_of(rows)
    hint = lambda e: int(e.evaluate({"n": 10_000, "m": 8, "words": 1000}))
    _, s = plan(fusion_of(graph).fusion, hint, Machine(16, 1 << 62, 2))
    assert s.vector in s.rows
    sizes = {"n": 37, "m": 8, "words": 9}
    check(graph, sizes, inputs=given(graph, sizes), compiled=kernel(graph, lanes=16))


def test_all_indices_of_a_thread_are_read_before_one_is_checked() -> None:
    """A check may end the kernel, so that no compiler reads ahead of it: four vectors took the time of four reads, one
    after the other."""
    graph = graph_of(lambda b: b.add((x := picked(b, f16)), x))
    c = gpu_kernel(graph, {"n": 444_444, "m": 90, "words": 97_024}, H200)
    assert c.schedule.steps == 4
    body = list(walk(c.kernel.func.body))
    checks = [k for k, s in enumerate(body) if isinstance(s, If) and any(isinstance(x, Fail) for x in s.orelse)]
    reads = [k for k, s in enumerate(body) if isinstance(s, Let) and s.op == "load"]
    assert len(checks) == 1 and sum(k < checks[0] for k in reads) == 4
    sizes = {"n": 7, "m": 90, "words": 5}
    check_gpu(graph, sizes, given(graph, sizes), compiled=c)


def softmax(b: Builder) -> Value:
    e = b.exp(picked(b))
    return b.div(e, b.reduce("sum", e, [1], keepdim=True))


def products_of_halves(b: Builder) -> Value:
    x, y = (b.cast(picked(b, f16), f32) for _ in range(2))
    return b.reduce("sum", b.mul(x, y), [1])


@pytest.mark.parametrize(
    ("program", "columns", "threads", "steps"),
    [
        (products, 8, 2, 1),
        (products, 16, 4, 1),
        (products, 32, 4, 2),
        (products, 64, 8, 2),
        (products_of_halves, 32, 4, 1),
        (products_of_halves, 128, 8, 2),
        (rows, 16, 2, 2),
        (rows, 64, 4, 4),
        (softmax, 8, 2, 1),
        (softmax, 16, 2, 2),
    ],
)
def test_threads_of_short_rows(program: Callable[[Builder], Value], columns: int, threads: int, steps: int) -> None:
    """A warp's read finds a few rows wherever they are, and more of each of them with more threads."""
    graph = graph_of(program)
    s = gpu_kernel(graph, {"n": 400_000, "m": columns, "words": 100_000}, H200).schedule
    assert (s.mode, s.row_threads, s.col_threads, s.steps) == ("persistent", 128 // threads, threads, steps)
    small = {"n": 45, "m": columns, "words": 7}
    check_gpu(graph, small, given(graph, small), compiled=gpu_kernel(graph, {**small, "n": 400_000}, H200))


def test_rows_of_two_vectors_and_long_ones_are_summed_as_others_are() -> None:
    for columns in (8, 128):
        sizes = {"n": 400_000, "m": columns, "words": 100_000}
        assert gpu_kernel(graph_of(rows), sizes, H200).schedule.mode == "loop"


def picked_columns(b: Builder, dtype: DType = f32) -> Value:
    t, at = b.input(dtype, (N, WORDS)), b.input(i64, (M,))
    return b.add(x := b.gather(t, [at], (N, M), [("dim", 0), ("at", 0, (1,))]), x)


def picked_halves(b: Builder) -> Value:
    return picked_columns(b, f16)


def dear_columns(b: Builder) -> Value:
    return b.mul(b.map("erf", x := picked_columns(b)), b.exp(x))


def taken_along(b: Builder) -> Value:
    t, at = b.input(f32, (N, WORDS)), b.input(i64, (N, M))
    return b.add(x := b.gather(t, [at], (N, M), [("dim", 0), ("at", 0, (0, 1))]), x)


@pytest.mark.parametrize(
    ("program", "rows", "width", "columns", "want"),  # want: threads of a row, vectors of each, rows of each
    [
        (picked_columns, 4096, 8192, 8192, (1024, 4, 1)),
        (picked_columns, 4096, 8192, 4096, (1024, 2, 2)),
        (picked_columns, 4096, 8192, 1024, (512, 1, 4)),
        (picked_columns, 512, 100_000, 50_000, (1024, 8, 1)),
        (dear_columns, 512, 100_000, 50_000, (1024, 4, 1)),  # half as many points, for which there are registers
        (picked_columns, 16, 100_000, 50_000, (256, 2, 1)),  # larger tiles would leave processors idle
        (picked_columns, 8192, 3001, 3001, (512, 2, 1)),  # vectors aligned row by row
        (picked_halves, 8192, 4096, 4096, (1024, 2, 2)),
        (taken_along, 4096, 8192, 4096, (1024, 2, 1)),
        (picked_columns, 4096, 8192, 40, (128, 1, 1)),  # few vectors, as others have them
        (picked_columns, 512, 1_000_000, 8192, (128, 1, 4)),  # rows that no cache near a processor holds
    ],
)
def test_tiles_of_what_is_picked_within_rows(
    program: Callable[[Builder], Value], rows: int, width: int, columns: int, want: tuple[int, int, int]
) -> None:
    """A sector of a row is read once, however many of its points are picked, if one block has all of these."""
    graph = graph_of(program)
    c = gpu_kernel(graph, {"n": rows, "m": columns, "words": width}, H200)
    assert (c.schedule.mode, c.schedule.col_threads, c.schedule.steps, c.schedule.repeats) == ("tile", *want)
    small = {"n": 5, "m": 320 + columns % 8, "words": 7}  # whole vectors, where those were
    check_gpu(graph, small, given(graph, small), compiled=c)


def test_what_is_dear_is_not_computed_for_every_row_that_is_picked() -> None:
    """A checked index is certain to be inside: what it picks counts at all of its places."""

    def dear(t: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return torch.erf(t.sin()).exp()[i] * 2

    t, i = torch.randn(100, 8), torch.randint(0, 100, (5000,))
    report = fusewright.explain(torch.compile(dear, backend="fusewright"), t, i)
    assert [len(g.kernels) for g in report.graphs] == [2]
    torch.testing.assert_close(torch.compile(dear, backend="fusewright")(t, i), dear(t, i))
