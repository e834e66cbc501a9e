"""Tiles of elementwise kernels: threads of a row, and what each has at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fusewright.core.dtypes import DType, bf16, f32, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import ONE, sym
from fusewright.schedule.device import H200
from tests.kernels import graph_of, random_inputs
from tests.kernels_gpu import check_gpu, gpu_kernel

K, N, M = sym("k"), sym("n"), sym("m")


def reversed_rows(dtype: DType) -> object:
    def program(b: Builder) -> Value:
        x = b.flip(b.input(dtype, (N, M)), [1])
        return b.add(x, x)

    return program


@pytest.mark.parametrize(
    ("dtype", "m", "want"),  # want: rows of a block, threads of each, vectors of those
    [
        (f32, 135, (4, 32, 2)),  # a warp has all of a row
        (f32, 333, (4, 32, 1)),
        (f32, 501, (1, 128, 1)),
        (f32, 2049, (1, 128, 1)),
        (bf16, 333, (16, 8, 2)),  # narrow elements: rows of fewer threads, none of which is beyond the end
    ],
)
def test_what_lies_across_vectors_is_read_by_whole_warps(dtype: DType, m: int, want: tuple[int, int, int]) -> None:
    graph = graph_of(reversed_rows(dtype))
    c = gpu_kernel(graph, {"n": 60000, "m": m}, H200)
    assert c.schedule.anchor and (c.schedule.row_threads, c.schedule.col_threads, c.schedule.steps) == want
    check_gpu(graph, {"n": 3, "m": m - 2}, compiled=c)


def strided(dtype: DType) -> object:
    def program(b: Builder) -> Value:
        x = b.slice(b.input(dtype, (N, M * 3)), 1, 1, 3, M)
        return b.add(x, x)

    return program


def table(dtype: DType) -> object:
    def program(b: Builder) -> Value:
        t, at = b.input(dtype, (sym("words"), M)), b.input(i64, (N,))
        x = b.gather(t, [at], (N, M), [("at", 0, (0,)), ("dim", 1)])
        return b.add(x, x)

    return program


@pytest.mark.parametrize(("program", "dtype", "want"), [(strided, bf16, 8), (table, bf16, 8), (strided, f32, 4)])
def test_single_points_that_a_thread_asks_for(program: object, dtype: DType, want: int) -> None:
    """More of narrow ones, of which each is little."""
    graph = graph_of(program(dtype))
    c = gpu_kernel(graph, {"n": 100000, "m": 333 if program is strided else 7, "words": 500}, H200)
    assert (c.schedule.lanes, c.schedule.steps) == (1, want)
    sizes = {"n": 5, "m": 331, "words": 4}
    inputs = [x % 4 if x.dtype == np.int64 else x for x in random_inputs(graph, sizes)]
    check_gpu(graph, sizes, inputs, compiled=c)


def scaled(dtype: DType) -> Callable[[Builder], Value]:
    """Of a picture, with a table for each of its points."""

    def program(b: Builder) -> Value:
        x, w = b.cast(b.input(dtype, (K, N, M)), f32), b.cast(b.input(dtype, (N, M)), f32)
        return b.cast(b.mul(x, w), dtype)

    return program


def outer_sum(b: Builder) -> Value:
    """Of two matrices with the same columns."""
    x, y = b.input(f32, (K, ONE, M)), b.input(f32, (N, M))
    return b.add(x, y)


@pytest.mark.parametrize(
    ("program", "n", "repeated"),
    [
        (scaled(bf16), 1000, True),
        (scaled(bf16), 20, False),  # which the nearest cache holds
        (scaled(f32), 1000, False),  # memory takes longer
        (outer_sum, 1000, True),  # but gives nothing here
    ],
)
def test_points_that_share_what_they_read(program: Callable[[Builder], Value], n: int, repeated: bool) -> None:
    graph = graph_of(program)
    kernel = gpu_kernel(graph, {"k": 64, "n": n, "m": 1024}, H200)
    assert bool(kernel.schedule.repeat) == repeated
    check_gpu(graph, {"k": 5, "n": 3, "m": 64}, compiled=kernel)


@pytest.mark.parametrize(("dtype", "one"), [(bf16, False), (f32, True)])
def test_outer_sums_of_rows_that_are_no_multiple_of_a_vector(dtype: DType, one: bool) -> None:
    """Both operands would be read lane by lane if such rows were walked as one: of 16-bit elements an access for each
    byte that is stored (8x66x66x254 takes 10.5 us row by row on an H200, 21.9 as one; of float32 14.2 and 13.2)."""

    def program(b: Builder) -> Value:
        x, y = b.input(dtype, (K, 1, N, M)), b.input(dtype, (K, N, 1, M))
        shape = (K, N, N, M)
        return b.add(b.expand(x, shape), b.expand(y, shape))

    sizes = {"k": 2, "n": 5, "m": 34}
    assert (len(check_gpu(graph_of(program), sizes).schedule.rows) == 0) == one


def joined(dtype: DType, parts: int) -> Callable[[Builder], Value]:
    def program(b: Builder) -> Value:
        x = [b.input(dtype, (N, M)) for _ in range(parts)]
        return b.neg(b.cat(x, 1) if parts > 1 else b.mul(x[0], b.expand(b.input(dtype, (M,)), (N, M))))

    return program


@pytest.mark.parametrize(
    ("dtype", "parts", "m", "rows"),  # rows: axes that tiles do not take together
    [
        (bf16, 3, 1536, 0),  # 576 vectors: no multiple of a block's threads, or of twice as many
        (bf16, 1, 1152, 0),
        (f32, 1, 576, 0),
        (bf16, 2, 1024, 1),  # a row is two tiles, and nothing is beyond its end
        (f32, 1, 512, 1),
        (bf16, 3, 1501, 1),  # no whole vectors
    ],
)
def test_rows_that_no_width_of_a_tile_suits_follow_each_other(dtype: DType, parts: int, m: int, rows: int) -> None:
    """Not narrow tiles of several rows: on an H200 3x29127x1536 float16 took 139 us so, and takes 130."""
    graph = graph_of(joined(dtype, parts))
    s = gpu_kernel(graph, {"n": 30000, "m": m}, H200).schedule
    assert len(s.rows) == rows and (rows or (s.row_threads, s.col_threads) == (1, 128))
    check_gpu(graph, {"n": 5, "m": m}, compiled=gpu_kernel(graph, {"n": 30000, "m": m}, H200))


@pytest.mark.parametrize(("tables", "steps"), [(1, 2), (0, 2), (2, 2)])
def test_tables_that_all_rows_read_are_near(tables: int, steps: int) -> None:
    """A thread asks for as many vectors at a time as without them."""

    def program(b: Builder) -> Value:
        x = b.neg(b.input(bf16, (N, M)))
        for _ in range(tables):
            x = b.mul(x, b.expand(b.input(bf16, (M,)), (N, M)))
        return x

    graph = graph_of(program)
    c = gpu_kernel(graph, {"n": 16384, "m": 4096}, H200)
    assert c.schedule.steps == steps
    check_gpu(graph, {"n": 3, "m": 4096}, compiled=c)


def side_by_side(dtype: DType, parts: int) -> Callable[[Builder], Value]:
    """Pieces of a `cat`, the last one wider by what `M` of them is."""

    def program(b: Builder) -> Value:
        return b.neg(b.cat([b.input(dtype, (K, M)) for _ in range(parts - 1)] + [b.input(dtype, (K, N))], 1))

    return program


@pytest.mark.parametrize(
    ("dtype", "m", "n", "lanes", "moved"),
    [
        (f32, 69, 69, 1, False),  # 400,000 rows on an H200: 0.93 of the copy speed, moved 0.74
        (f32, 258, 257, 1, False),  # 0.93, 0.88
        (f32, 500, 501, 4, True),  # as fast
        (bf16, 318, 318, 2, False),  # 0.73, 0.67
        (bf16, 101, 100, 1, False),  # short rows are not moved
        (bf16, 501, 501, 8, True),  # 16-bit elements one by one: 0.67, moved 0.77
        (bf16, 1252, 1254, 8, True),  # 0.74, 0.78
    ],
)
def test_short_pieces_are_read_in_words(dtype: DType, m: int, n: int, lanes: int, moved: bool) -> None:
    graph = graph_of(side_by_side(dtype, 2))
    kernel = gpu_kernel(graph, {"k": 40000, "m": m, "n": n}, H200)
    assert (kernel.schedule.lanes, bool(kernel.schedule.anchor)) == (lanes, moved)
    check_gpu(graph, {"k": 8, "m": 16 + m % 8, "n": 16 + n % 8}, compiled=kernel)


@pytest.mark.parametrize(
    ("dtype", "vectors", "lanes", "steps"),  # 40,000x1002 on an H200, share of the copy speed
    [
        (bf16, 1, 8, 2),  # 0.88
        (bf16, 2, 4, 2),  # 0.88; vectors of eight, two at a time: 0.72
        (f32, 2, 4, 2),
    ],
)
def test_operands_that_are_read_lane_by_lane_make_narrower_vectors(
    dtype: DType, vectors: int, lanes: int, steps: int
) -> None:
    def program(b: Builder) -> Value:
        x = b.input(dtype, (K, M))
        for _ in range(vectors):
            x = b.mul(x, b.expand(b.input(dtype, (M,)), (K, M)))
        return x

    graph = graph_of(program)
    kernel = gpu_kernel(graph, {"k": 40000, "m": 1002 if dtype is bf16 else 1001}, H200)
    assert (kernel.schedule.lanes, kernel.schedule.steps) == (lanes, steps)
    check_gpu(graph, {"k": 8, "m": 18}, compiled=kernel)


def mirrored(dtype: DType) -> object:
    """Rows of planes at places that are the same in every plane: the neighbours of one are mirrored at both ends."""

    def program(b: Builder) -> Value:
        x = b.input(dtype, (K, 60))
        at = b.abs(b.sub(b.iota((64,), 0), b.const(2, i64)))
        at = b.sub(b.const(59, i64), b.abs(b.sub(b.const(59, i64), at)))
        y = b.gather(x, [at], (K, 64), [("dim", 0), ("at", 0, (1,))])
        w = b.cast(b.mul(b.sub(at, b.iota((64,), 0)), b.add(at, b.const(3, i64))), dtype)
        return b.mul(y, b.div(b.exp(b.neg(w)), b.add(b.mul(w, w), b.const(1.0, dtype))))

    return program


def test_places_are_found_once_for_several_rows() -> None:
    graph = graph_of(mirrored(f32))
    c = gpu_kernel(graph, {"k": 600_000}, H200)
    assert (c.schedule.repeat, c.schedule.repeats) == ("i0", 4)
    check_gpu(graph, {"k": 7}, compiled=c)


@pytest.mark.parametrize(
    ("dtype", "m", "lanes", "steps"),
    [(bf16, 4, 4, 1), (f32, 4, 4, 1), (f32, 6, 2, 4), (bf16, 3, 1, 4), (bf16, 7, 1, 8)],
)
def test_short_runs_that_are_written_are_threads_whose_neighbours_read_neighbours(
    dtype: DType, m: int, lanes: int, steps: int
) -> None:
    """A thread has all of a run: (n, m, k) as (n, k, m)."""
    graph = graph_of(lambda b: b.neg(b.permute(b.input(dtype, (N, m, K)), [0, 2, 1])))
    c = gpu_kernel(graph, {"k": 256, "n": 1500}, H200)
    s = c.schedule
    assert s.mode == "tile" and s.rows[-1] == "i1" and (s.row_threads, s.col_threads) == (128, 1)
    assert (s.lanes, s.steps) == (lanes, steps)
    check_gpu(graph, {"k": 33, "n": 5}, compiled=c)
