"""Which GPU kernels read past the L2 cache, and how many threads share the rows of a sum, or moments of columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from fusewright.core.dtypes import DType, bf16, f32, i64
from fusewright.emit.cuda import CudaTarget, emit_cuda
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import sym
from fusewright.loop.ir import Let, walk
from fusewright.schedule.device import A100, H200, Gpu
from fusewright.schedule.gpu_base import GpuSchedule
from tests.kernels import graph_of
from tests.kernels_gpu import check_gpu, gpu_kernel
from tests.loop.test_gpu_lowering import column_moments

Program = Callable[[Builder], Value]
N, M = sym("n"), sym("m")
SIZES = {"n": 4096, "m": 8192}


def sums(b: Builder) -> Value:
    return b.reduce("sum", b.cast(b.input(bf16, (N, M)), f32), (1,))


def largest(b: Builder) -> Value:
    return b.reduce("max", b.input(f32, (N, M)), (1,))


def sums_of_columns(b: Builder) -> Value:
    return b.reduce("sum", b.cast(b.input(bf16, (N, M)), f32), (0,))


def weighted(b: Builder) -> Value:
    """A second operand, which every row reads again."""
    return b.reduce("sum", b.mul(b.cast(b.input(bf16, (N, M)), f32), b.input(f32, (M,))), (1,))


def softmax(b: Builder, dtype: DType = bf16, dim: int = 1) -> Value:
    x = b.cast(b.input(dtype, (N, M)), f32)
    e = b.exp(b.sub(x, b.reduce("max", x, (dim,), keepdim=True)))
    return b.cast(b.div(e, b.reduce("sum", e, (dim,), keepdim=True)), dtype)


softmax_down = partial(softmax, dim=0)


def doubled(b: Builder) -> Value:
    return b.mul(b.input(bf16, (N, M)), b.const(2.0, bf16))


def schedule(program: Program, n: int, m: int, gpu: Gpu = H200) -> GpuSchedule:
    return gpu_kernel(graph_of(program), {"n": n, "m": m}, gpu).schedule


def test_sums_of_more_than_the_cache_holds_pass_by_it() -> None:
    for program in (sums, sums_of_columns, weighted):
        assert schedule(program, 4096, 8192).stream == {"in0"}, program


def test_of_less_or_much_more_they_do_not() -> None:
    assert schedule(sums, 1400, 8192).stream == frozenset(), "23 MB: the next kernel may find them in the cache"
    assert schedule(sums, 1500, 8192).stream == {"in0"}, "25 MB, three eighths of what it holds"
    assert schedule(sums, 12_000, 8192).stream == {"in0"}
    assert schedule(sums, 16_000, 8192).stream == frozenset(), "262 MB: nothing of what was in the cache is left"
    assert schedule(sums, 1000, 8192, gpu=A100).stream == {"in0"}, "a smaller cache"


def test_what_is_written_as_well_or_read_twice_does_not() -> None:
    for program in (softmax, doubled):
        assert schedule(program, 4096, 8192).stream == frozenset(), program
    assert schedule(sums, 4096, 8191).stream <= schedule(sums, 4096, 8191).aligned, "only aligned vectors have marks"


def test_single_elements_are_marked_where_threads_are_side_by_side() -> None:
    whole = gpu_kernel(graph_of(sums_of_columns), {"n": 4000, "m": 16901}, H200)
    assert (whole.schedule.mode, whole.schedule.lanes, whole.schedule.stream) == ("loop", 1, {"in0"})
    func = whole.kernel.func
    marks = [s.attr for s in walk(func.body) if isinstance(s, Let) and s.op == "load" and s.buf is func.bufs[0]]
    assert set(marks) == {"stream"} and "__ldcs(in0 + " in emit_cuda(func, CudaTarget(9, 0))
    check_gpu(whole.graph, {"n": 131, "m": 77}, compiled=whole)
    cut = schedule(sums_of_columns, 100_003, 777)
    assert (cut.mode, cut.lanes, cut.stream) == ("split", 1, frozenset())


@pytest.mark.parametrize("program", [sums, sums_of_columns, weighted])
def test_results(program: Program) -> None:
    """The kernels for large tensors, on small ones."""
    graph = graph_of(program)
    kernel = gpu_kernel(graph, SIZES, H200)
    assert kernel.schedule.stream
    for n, m in ((5, 8192), (3, 1024), (70, 8)):
        check_gpu(graph, {"n": n, "m": m}, compiled=kernel)


WIDE = [(4096, (1, 256)), (8192, (1, 512)), (10_000, (1, 512)), (32768, (1, 1024))]


@pytest.mark.parametrize(("columns", "threads"), [(128, (64, 4)), (520, (8, 32)), (1024, (4, 64)), *WIDE])
def test_threads_that_share_a_row(columns: int, threads: tuple[int, int]) -> None:
    """Two vectors of a row for each thread (four, where that leaves less than a warp), up to 512 of them, or 1024 that
    all have two."""
    s = schedule(sums, 40_000_000 // columns, columns)
    assert (s.row_threads, s.col_threads) == threads and s.mode == "loop"


@pytest.mark.parametrize(
    ("columns", "threads"), [(1000, (2, 64, 2)), (1500, (1, 128, 3)), (3000, (1, 128, 3)), (5000, (1, 256, 3))]
)
def test_rows_whose_second_round_would_be_for_a_part_of_the_threads(
    columns: int, threads: tuple[int, int, int]
) -> None:
    """A thread asks for all of its vectors, three at most, at once."""
    kernel = gpu_kernel(graph_of(sums), {"n": 40_000_000 // columns, "m": columns}, H200)
    s = kernel.schedule
    assert s.mode == "persistent" and (s.row_threads, s.col_threads, s.steps) == threads
    for m in (columns, columns - 8, 16):
        check_gpu(kernel.graph, {"n": 5, "m": m}, compiled=kernel)


@pytest.mark.parametrize(
    ("columns", "lanes", "threads"),
    [(218, 2, (4, 32, 4)), (190, 2, (4, 32, 3)), (250, 2, (4, 32, 4)), (500, 4, (2, 64, 2))],
)
def test_a_warp_has_rows_of_narrow_vectors(columns: int, lanes: int, threads: tuple[int, int, int]) -> None:
    kernel = gpu_kernel(graph_of(largest), {"n": 40_000_000 // columns, "m": columns}, H200)
    s = kernel.schedule
    assert s.lanes == lanes and (s.row_threads, s.col_threads, s.steps) == threads
    for m in (columns, columns - 4, 8):
        check_gpu(kernel.graph, {"n": 5, "m": m}, compiled=kernel)


@pytest.mark.parametrize(("columns", "threads"), [(8192, 8), (5002, 4), (777, 8)])
def test_few_rows_at_once_of_columns_in_vectors_of_four_bytes(columns: int, threads: int) -> None:
    kernel = gpu_kernel(graph_of(sums_of_columns), {"n": 12_000, "m": columns}, H200)
    s = kernel.schedule
    assert (s.mode, s.col_threads) == ("split", threads)
    check_gpu(kernel.graph, {"n": 60, "m": columns}, compiled=kernel)


@pytest.mark.parametrize(
    ("dtype", "columns", "expected"),
    [
        (bf16, 26, ("loop", 128, 1, 4)),  # short: a thread for each, of rows that are copied to shared memory
        (bf16, 40, ("persistent", 128, 1, 5)),
        (bf16, 50, ("persistent", 64, 2, 4)),
        (bf16, 72, ("persistent", 64, 2, 5)),
        (bf16, 520, ("persistent", 8, 16, 5)),
        (bf16, 777, ("persistent", 4, 32, 4)),
        (bf16, 8192, ("persistent", 1, 256, 4)),
        (bf16, 64_000, ("loop", 1, 256, 4)),
        (f32, 13, ("loop", 128, 1, 4)),
        (f32, 26, ("persistent", 32, 4, 4)),
        (f32, 60, ("persistent", 32, 4, 4)),
        (f32, 500, ("persistent", 4, 32, 4)),
        (f32, 5000, ("persistent", 1, 256, 5)),
        (f32, 9001, ("loop", 1, 256, 4)),
    ],
)
def test_threads_that_find_a_position(dtype: DType, columns: int, expected: tuple[str, int, int, int]) -> None:
    """Those are dear to combine: few threads, which ask for five vectors of 8 elements each, or six of 4."""
    graph = graph_of(lambda b: b.reduce("argmax", b.cast(b.input(dtype, (N, M)), f32), (1,)))
    kernel = gpu_kernel(graph, {"n": 40_000_000 // columns, "m": columns}, H200)
    s = kernel.schedule
    assert (s.mode, s.row_threads, s.col_threads, s.steps) == expected
    assert bool(s.runs) == (columns in (13, 26) and s.mode == "loop")
    for m in (columns, columns - 8):
        check_gpu(graph, {"n": 3, "m": m}, compiled=kernel)


def check_moved(graph: Graph, columns: int, threads: tuple[int, int, int]) -> None:
    """Rows that are moved and held by so many threads: rows of a block, threads of each, vectors of each of those."""
    kernel = gpu_kernel(graph, {"n": 40_000_000 // columns, "m": columns}, H200)
    s = kernel.schedule
    assert s.anchor and s.mode == "persistent" and (s.row_threads, s.col_threads, s.steps) == threads
    for m in (columns, columns - 7, 1):
        check_gpu(graph, {"n": 9, "m": m}, compiled=kernel)


@pytest.mark.parametrize(("dtype", "columns", "threads"), [(f32, 235, (4, 32, 2)), (bf16, 777, (4, 32, 4))])
def test_sums_of_moved_rows(dtype: DType, columns: int, threads: tuple[int, int, int]) -> None:
    """A thread asks for all its vectors at once."""
    graph = graph_of(lambda b: b.reduce("max", b.cast(b.input(dtype, (N, M)), f32), (1,)))
    check_moved(graph, columns, threads)


@pytest.mark.parametrize(
    ("dtype", "columns", "threads"), [(f32, 425, (4, 32, 4)), (f32, 1501, (1, 128, 3)), (bf16, 777, (8, 16, 7))]
)
def test_held_rows_that_are_moved(dtype: DType, columns: int, threads: tuple[int, int, int]) -> None:
    """A warp has them, or half of one, if it can: all its threads wait for partial vectors."""
    graph = graph_of(partial(softmax, dtype=dtype))
    check_moved(graph, columns, threads)


@pytest.mark.parametrize(
    ("columns", "rows", "expected"),
    [
        (32, 1_200_000, (32, 4, 8, 1)),
        (64, 500_000, (16, 8, 8, 1)),
        (128, 120_000, (8, 16, 8, 1)),
        (256, 120_000, (8, 32, 8, 1)),
        (900, 24_000, (4, 64, 15, 1)),
        (1500, 32_000, (4, 64, 12, 2)),
        (333, 81_823, (32, 16, 11, 2)),
    ],
)
def test_rows_side_by_side(columns: int, rows: int, expected: tuple[int, int, int, int]) -> None:
    """Held by blocks of few threads, that have a line of the caches of rows, or half of one."""
    graph = graph_of(softmax_down)
    kernel = gpu_kernel(graph, {"n": columns, "m": rows}, H200)
    s = kernel.schedule
    assert s.mode == "persistent" and (s.row_threads, s.col_threads, s.steps, s.cluster) == expected
    for n in (columns, columns - 5, 1):
        check_gpu(graph, {"n": n, "m": 24 if s.lanes > 1 else 23}, compiled=kernel)


@pytest.mark.parametrize(
    ("dtype", "columns", "rows", "expected"),
    [
        (f32, 64, 64 * 1024, ("persistent", 4, 32, 8)),
        (f32, 256, 64 * 1024, ("persistent", 4, 8, 32)),
        (f32, 500, 64 * 1024, ("persistent", 4, 8, 32)),
        (f32, 2000, 64 * 1024, ("loop", 4, 32, 8)),
        (f32, 2000, 8 * 1024, ("loop", 4, 8, 32)),  # fewer rows side by side, so that there are blocks for all
        (f32, 4000, 2 * 1024, ("split", 4, 32, 8)),
        (bf16, 90, 128 * 1024, ("persistent", 8, 32, 8)),
        (bf16, 128, 128 * 1024, ("persistent", 8, 8, 16)),
        (bf16, 256, 128 * 1024, ("persistent", 4, 16, 16)),  # eight elements in a vector would take all registers
        (bf16, 500, 128 * 1024, ("persistent", 4, 8, 32)),
        (bf16, 1000, 32 * 1024, ("loop", 8, 16, 16)),
    ],
)
def test_moments_of_columns(dtype: DType, columns: int, rows: int, expected: tuple[str, int, int, int]) -> None:
    """Held where few threads can hold them; else one pass combines them."""
    graph = graph_of(lambda b: column_moments(b, dtype))
    compiled = gpu_kernel(graph, {"n": columns, "m": rows}, H200)
    s, mode = compiled.schedule, expected[0]
    assert (s.mode, s.lanes, s.row_threads, s.col_threads) == expected
    for n in (columns, columns - 5, 1) + (2 * columns + 3,) * (mode == "loop"):  # blocks hold no more than was planned
        check_gpu(graph, {"n": n, "m": 8}, compiled=compiled)


@pytest.mark.parametrize(("columns", "threads"), [(64, (128, 4)), (100, (128, 8)), (128, (128, 8)), (200, (64, 16))])
def test_narrow_rows_side_by_side(columns: int, threads: tuple[int, int]) -> None:
    """Elements of two bytes one by one: as many of a row of memory as large blocks can hold."""
    graph = graph_of(softmax_down)
    kernel = gpu_kernel(graph, {"n": columns, "m": 1_000_001}, H200)
    s = kernel.schedule
    assert (s.mode, s.lanes, s.row_threads, s.col_threads) == ("persistent", 1, *threads)
    for n in (columns, columns - 5, 1):
        check_gpu(graph, {"n": n, "m": 130}, compiled=kernel)


@pytest.mark.parametrize(
    ("dtype", "columns", "rows", "expected"),
    [
        (bf16, 256, 45 * 1024, ("loop", 2, 32, 16)),
        (f32, 197, 32 * 768, ("loop", 2, 32, 16)),
        (bf16, 1000, 24 * 512, ("loop", 2, 32, 16)),
        (bf16, 1000, 48 * 1024, ("split", 8, 32, 8)),  # more blocks than run at once, each of them long
        (bf16, 4000, 24 * 512, ("split", 8, 32, 8)),
        (bf16, 256, 2 * 1024, ("split", 8, 32, 8)),
        (bf16, 256, 128 * 1024, ("loop", 8, 16, 16)),
    ],
)
def test_columns_in_pairs_rather_than_cut(
    dtype: DType, columns: int, rows: int, expected: tuple[str, int, int, int]
) -> None:
    """Where whole vectors make few blocks, and pairs make enough of them."""
    graph = graph_of(lambda b: b.reduce("sum", b.cast(b.input(dtype, (N, M)), f32), (0,)))
    compiled = gpu_kernel(graph, {"n": columns, "m": rows}, H200)
    s = compiled.schedule
    assert (s.mode, s.lanes, s.row_threads, s.col_threads) == expected
    for n in (columns, columns - 5, 1):
        check_gpu(graph, {"n": n, "m": 72}, compiled=compiled)


def moments_over(dtype: DType) -> Callable[[Builder], list[Value]]:
    """Variances of rows, and the sum of them."""

    def program(b: Builder) -> list[Value]:
        x = b.cast(b.input(dtype, (N, M)), f32)
        size = b.cast(b.scalar(M, i64), f32)
        off = b.sub(x, b.div(b.reduce("sum", x, [1], keepdim=True), size))
        var = b.reduce("sum", b.mul(off, off), [1])
        return [var, b.reduce("sum", var, [0])]

    return program


@pytest.mark.parametrize("dtype", [f32, bf16], ids=str)
@pytest.mark.parametrize(
    ("n", "m", "small"),
    [(1536, 16384, (70, 200)), (300, 16384, (3, 700)), (3000, 40000, (9, 2000)), (50257, 1024, (301, 33))],
)
def test_what_is_reduced_over_rows_of_moments(n: int, m: int, small: tuple[int, int], dtype: DType) -> None:
    """Rows have blocks of their own, or clusters of them: these are not resident, and run together to their end."""
    graph = graph_of(moments_over(dtype))
    s = gpu_kernel(graph, {"n": n, "m": m}, H200).schedule
    assert s.mode == "persistent" and not s.resident
    few = gpu_kernel(graph, dict(zip("nm", small, strict=True)), Gpu((9, 0), 1, 1 << 20, 227 << 10))
    check_gpu(graph, dict(zip("nm", small, strict=True)), compiled=few)


@pytest.mark.parametrize(
    ("dtype", "tensors", "dear", "steps"), [(f32, 1, 0, 4), (f32, 7, 0, 2), (bf16, 2, 8, 2), (f32, 2, 8, 4)]
)
def test_parts_of_rows_of_which_a_thread_reads_much(dtype: DType, tensors: int, dear: int, steps: int) -> None:
    """Four vectors at a time would spill registers. (Seven float32 tensors, 10 M elements: 34 us on an H200, 30 with
    two; the gradient of GELU, summed up, of 16 bits: 35 us, 29.)"""

    def program(b: Builder) -> Value:
        every = [b.cast(b.input(dtype, (N, M)), f32) for _ in range(tensors)]
        x = every[0]
        for y in every[1:]:
            x = b.mul(x, y)
        for _ in range(dear):
            x = b.tanh(x)
        return b.reduce("sum", x, [0, 1])

    c = gpu_kernel(graph_of(program), {"n": 3000, "m": 4096}, H200)
    assert (c.schedule.mode, c.schedule.steps) == ("split", steps)
    check_gpu(c.graph, {"n": 9, "m": 96}, compiled=c)
