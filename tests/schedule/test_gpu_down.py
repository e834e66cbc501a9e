"""Reductions over the middle of narrow vectors: how many threads share a column, and which rows are cut."""

from __future__ import annotations

import pytest

from fusewright.core.dtypes import DType, bf16, bool_, f32, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.interp.loop import run as run_loop
from fusewright.schedule import gpu_down
from fusewright.schedule.device import H200, Gpu
from fusewright.schedule.gpu_base import GpuSchedule
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.kernels import graph_of
from tests.kernels_gpu import check_gpu, gpu_kernel

K, N, M = sym("k"), sym("n"), sym("m")
FEW = Gpu((8, 0), 1, 1 << 20, 4 << 10)  # for which little is much


def largest(b: Builder) -> Value:
    return b.reduce("max", b.input(f32, (K, N, M)), [1])


def narrow(b: Builder) -> Value:
    return b.reduce("sum", b.cast(b.input(bf16, (K, N, M)), f32), [1])


def moments(dtype: DType) -> object:
    def program(b: Builder) -> list[Value]:
        x = b.cast(b.input(dtype, (K, N, M)), f32)
        size = b.cast(b.scalar(N, i64), f32)
        mean = b.div(b.reduce("sum", x, [1], keepdim=True), size)
        off = b.sub(x, mean)
        return [b.reduce("sum", b.mul(off, off), [1]), mean]

    return program


def planned(program: object, k: int, n: int, m: int, gpu: Gpu = H200) -> GpuSchedule:
    return gpu_kernel(graph_of(program), {"k": k, "n": n, "m": m}, gpu).schedule  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("n", "m", "want"),
    [
        (32, 9709, (128, 4, 8)),  # four threads of a column, which each read eight elements
        (8, 9709, (128, 1, 8)),  # one, in blocks of as many threads
        (256, 9709, (128, 8, 8)),  # many columns
        (32, 9708, (32, 8, 4)),  # of four times the bytes
        (32, 101, (32, 8, 4)),  # few rows
    ],
)
def test_few_threads_share_what_is_little(n: int, m: int, want: tuple[int, int, int]) -> None:
    s = planned(largest, 108, n, m)
    assert (s.row_threads, s.col_threads, s.steps) == want


@pytest.mark.parametrize(
    ("program", "n", "m", "want"),
    [
        (narrow, 256, 1878, (64, 16)),  # of four bytes
        (largest, 256, 1878, (64, 16)),  # of eight
        (narrow, 256, 1856, (16, 16)),  # rows of whole lines
        (largest, 256, 1856, (16, 16)),
        (narrow, 80, 1878, (32, 8)),  # few columns
        (largest, 256, 1877, (128, 8)),  # of single elements
        (narrow, 256, 1877, (128, 8)),
        (narrow, 40, 1877, (128, 4)),  # few columns
        (narrow, 16, 1877, (64, 2)),  # so few that threads hold them
        (narrow, 256, 71, (32, 8)),  # few rows
        (moments(bf16), 1400, 1877, (128, 8)),
        (narrow, 256, 30, (16, 64)),  # few side by side
    ],
)
def test_large_blocks_read_rows_that_begin_within_lines(program: object, n: int, m: int, want: tuple[int, int]) -> None:
    s = planned(program, 128, n, m)
    assert s.mode == "loop" and (s.row_threads, s.col_threads) == want


@pytest.mark.parametrize(
    ("program", "k", "n", "m", "want"),
    [
        (largest, 128, 128, 40, ("loop", 1, 64, 8)),
        (narrow, 64, 256, 64, ("loop", 2, 16, 16)),  # blocks for half of the processors
        (largest, 16, 512, 128, ("loop", 1, 16, 32)),
        (largest, 16, 1024, 128, ("split", 4, 32, 8)),  # 8 MB
        (largest, 1, 1024, 1000, ("split", 4, 32, 8)),  # few blocks
    ],
)
def test_what_is_read_soon_is_not_cut(program: object, k: int, n: int, m: int, want: tuple[str, int, int, int]) -> None:
    s = planned(program, k, n, m)
    assert (s.mode, s.lanes, s.row_threads, s.col_threads) == want


def test_values_of_what_is_read_soon() -> None:
    c = check_gpu(graph_of(largest), {"k": 3, "n": 40, "m": 35}, gpu=Gpu((9, 0), 4, 1 << 20, 227 << 10))
    assert (c.schedule.mode, c.schedule.lanes) == ("loop", 1)


@pytest.mark.parametrize("program", [narrow, largest])
def test_values_of_large_blocks(program: object) -> None:
    small = Gpu((9, 0), 1, 1 << 20, 227 << 10)
    c = check_gpu(graph_of(program), {"k": 3, "n": 97, "m": 70}, gpu=small)  # type: ignore[arg-type]
    assert (c.schedule.row_threads, c.schedule.col_threads) == (64, 16)


@pytest.mark.parametrize(
    ("n", "m", "want"),
    [
        (4, 9708, ("persistent", 64, 1, 4)),
        (5, 9708, ("persistent", 64, 2, 3)),
        (16, 9708, ("persistent", 64, 2, 8)),
        (9, 136, ("persistent", 64, 2, 5)),
        (9, 100, ("loop", 32, 8, 1)),  # rows shorter than a warp's vectors
        (17, 9708, ("loop", 32, 8, 2)),
    ],
)
def test_threads_hold_short_columns(n: int, m: int, want: tuple[str, int, int, int]) -> None:
    s = planned(largest, 3000 if m < 1000 else 108, n, m)
    assert (s.mode, s.row_threads, s.col_threads, s.steps) == want


@pytest.mark.parametrize("dtype", [f32, bf16], ids=str)
@pytest.mark.parametrize(("n", "m"), [(1, 264), (3, 1000), (7, 264), (16, 272)])
def test_values_of_short_columns(dtype: DType, n: int, m: int) -> None:
    c = check_gpu(graph_of(moments(dtype)), {"k": 9, "n": n, "m": m}, gpu=FEW)  # type: ignore[arg-type]
    assert c.schedule.mode == "persistent" and c.schedule.col_threads <= 2


def normalized(dtype: DType) -> object:
    def program(b: Builder) -> Value:
        x = b.cast(b.input(dtype, (K, N, M)), f32)
        return b.cast(b.div(x, b.reduce("sum", b.mul(x, x), [1], keepdim=True)), dtype)

    return program


def gradient(b: Builder) -> Value:
    x, g = b.input(f32, (K, N, M)), b.input(f32, (K, N, M))
    return b.mul(b.sub(g, b.reduce("sum", b.mul(g, x), [1], keepdim=True)), x)


F, H = normalized(f32), normalized(bf16)


@pytest.mark.parametrize(
    ("dtype", "n", "m", "want"),
    [
        (bf16, 3773, 352, "split"),  # clusters would be three, of eight blocks
        (bf16, 1568, 1024, "split"),
        (bf16, 1568, 8192, "persistent"),  # clusters enough
        (f32, 784, 512, "persistent"),  # vectors of four make more of them
    ],
)
def test_few_clusters_hold_no_columns(dtype: DType, n: int, m: int, want: str) -> None:
    assert planned(normalized(dtype), 1, n, m).mode == want


@pytest.mark.parametrize(
    ("program", "n", "m", "want"),  # rows of a block, threads of each, columns of a thread, lanes, blocks of a cluster
    [
        (F, 48, 6494, (64, 4, 12, 2, 1)),  # few columns: pairs, in small blocks
        (F, 128, 6494, (64, 8, 16, 2, 1)),
        (F, 128, 6500, (64, 8, 16, 2, 1)),  # vectors of 16 bytes are aligned, sectors are not
        (F, 128, 6504, (8, 16, 8, 4, 1)),  # sectors are
        (F, 200, 6494, (32, 16, 13, 2, 1)),
        (F, 400, 6494, (64, 8, 13, 1, 4)),
        (F, 700, 6494, (32, 16, 11, 2, 4)),  # too many for a block
        (F, 2000, 6494, (32, 16, 16, 2, 8)),
        (F, 4000, 6494, (32, 32, 16, 2, 8)),  # and for clusters of such blocks: large ones
        (F, 48, 6495, (128, 4, 12, 1, 1)),  # single elements
        (F, 128, 6495, (128, 8, 16, 1, 1)),
        (F, 200, 6495, (64, 16, 13, 1, 1)),
        (F, 215, 6495, (64, 16, 7, 1, 2)),
        (F, 50, 50, (8, 32, 2, 2, 1)),  # short rows, and few
        (F, 384, 479, (64, 16, 12, 1, 2)),
        (F, 700, 6495, (64, 8, 22, 1, 4)),
        (F, 1500, 6495, (64, 8, 24, 1, 8)),
        (H, 32, 6492, (64, 2, 16, 4, 1)),
        (H, 128, 6492, (64, 8, 16, 2, 1)),
        (H, 128, 6494, (64, 8, 16, 2, 1)),
        (H, 128, 6495, (128, 8, 16, 1, 1)),
        (H, 165, 6494, (64, 8, 11, 2, 2)),
        (H, 300, 6494, (64, 8, 19, 2, 2)),
        (H, 600, 6494, (64, 8, 19, 2, 4)),
        (gradient, 700, 6494, (32, 16, 11, 2, 4)),
        (gradient, 700, 6500, (4, 64, 6, 4, 2)),  # of two tensors: whole accesses
    ],
)
def test_held_rows_that_begin_within_sectors(program: object, n: int, m: int, want: tuple[int, ...]) -> None:
    s = planned(program, 64, n, m)
    assert s.mode == "persistent" and (s.row_threads, s.col_threads, s.steps, s.lanes, s.cluster) == want


@pytest.mark.parametrize(
    ("program", "k", "n", "m", "want"),  # want: rows and columns of a block's threads, vectors at a time
    [
        (narrow, 1, 524288, 17, (17, 15, 8)),
        (largest, 1, 200000, 49, (49, 5, 8)),
        (largest, 64, 65536, 3, (3, 42, 8)),
        (narrow, 8, 65536, 33, (33, 7, 8)),
        (narrow, 1, 131072, 31, (32, 8, 4)),  # a warp is hardly wider
        (narrow, 1, 131072, 129, (32, 8, 4)),  # wide rows
    ],
)
def test_blocks_as_wide_as_narrow_rows(program: object, k: int, n: int, m: int, want: tuple[int, int, int]) -> None:
    """Sums of 17 columns of 524288 rows of bfloat16: 17 us on an H200 where warps are 15 threads too wide, 15 us."""
    s = planned(program, k, n, m)
    assert s.mode == "split" and (s.row_threads, s.col_threads, s.steps) == want


@pytest.mark.parametrize(
    "machine", [run_loop, pytest.param(run_emulated, marks=pytest.mark.skipif(not COMPILER, reason=MISSING))]
)
@pytest.mark.parametrize(
    ("k", "n", "m"), [(1, 3001, 17), (2, 1500, 49), (3, 5000, 3), (1, 4000, 5), (2, 2000, 33), (1, 401, 17)]
)
def test_values_of_blocks_as_wide_as_narrow_rows(
    machine: object, k: int, n: int, m: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_down, "SOON", 0)
    for program in (largest, narrow):
        c = check_gpu(graph_of(program), {"k": k, "n": n, "m": m}, gpu=H200, machine=machine)  # type: ignore[arg-type]
        assert (c.schedule.mode, c.schedule.row_threads) == ("split", m)


def of_three(b: Builder) -> Value:
    x, g, w = (b.input(f32, (K, N, M)) for _ in range(3))
    return b.mul(b.mul(b.sub(g, b.reduce("sum", b.mul(g, x), [1], keepdim=True)), x), w)


@pytest.mark.parametrize(
    ("n", "want"),  # columns of a thread, blocks of a cluster
    [(320, (5, 1)), (512, (8, 1)), (768, (6, 2)), (1000, (8, 2)), (1200, (5, 4))],
)
def test_threads_have_more_than_a_few_columns_rather_than_clusters_more_blocks(n: int, want: tuple[int, int]) -> None:
    """768 columns of 2 x 8192 rows of three 16-bit tensors, on an H200: 80 us with three of a thread and four blocks,
    51 with six and two."""
    s = planned(of_three, 4, n, 4096)
    assert (s.row_threads, s.col_threads, s.steps, s.cluster) == (4, 64, *want)


@pytest.mark.parametrize("n", [70, 110, 150])
def test_values_of_three_held(n: int) -> None:
    check_gpu(graph_of(of_three), {"k": 2, "n": n, "m": 64}, gpu=Gpu((9, 0), 1, 1 << 20, 227 << 10))


@pytest.mark.parametrize(
    ("program", "n", "m", "want"),
    [
        (F, 97, 134, (64, 8, 2, 1)),
        (F, 270, 70, (32, 16, 2, 1)),
        (F, 330, 70, (64, 8, 1, 4)),
        (F, 520, 70, (32, 16, 2, 4)),
        (F, 97, 131, (128, 8, 1, 1)),
        (F, 230, 67, (64, 16, 1, 2)),
        (F, 500, 67, (64, 8, 1, 4)),
        (H, 97, 134, (64, 8, 2, 1)),
        (H, 170, 134, (64, 8, 2, 2)),
    ],
)
def test_values_of_held_rows_that_begin_within_sectors(program: object, n: int, m: int, want: tuple[int, ...]) -> None:
    small = Gpu((9, 0), 1, 1 << 20, 227 << 10)
    c = check_gpu(graph_of(program), {"k": 2, "n": n, "m": m}, gpu=small)  # type: ignore[arg-type]
    s = c.schedule
    assert (s.row_threads, s.col_threads, s.lanes, s.cluster) == want


def test_few_columns_of_short_stretches_leave_no_threads_without_one() -> None:
    """Rows of two, three columns: threads are side by side along the rows of several stretches."""
    s = planned(largest, 128 * 4096, 3, 2)
    assert (s.row_threads, s.col_threads) == (64, 4)
    check_gpu(graph_of(largest), {"k": 70, "n": 3, "m": 2})


def test_rows_of_narrow_vectors_are_cut_where_blocks_are_few() -> None:
    """One pass combines their moments, of which a thread asks for few bytes at a time."""
    for dtype, m in ((f32, 400), (bf16, 800)):
        narrow, wide = planned(moments(dtype), 64, 2040, 71), planned(moments(dtype), 64, 2040, m)
        assert (narrow.mode, narrow.lanes, narrow.steps) == ("split", 1, 8)
        assert wide.mode == "loop" and wide.lanes > 1


def total(dtype: DType) -> object:
    def program(b: Builder) -> Value:
        return b.reduce("sum", b.cast(b.input(dtype, (K, N, M)), f32), [1])

    return program


@pytest.mark.parametrize(
    ("dtype", "sizes", "want"),
    [
        (f32, (8, 1000, 1001), ("loop", 32, 32, 2)),
        (f32, (3, 3000, 1234), ("loop", 16, 64, 2)),
        (bf16, (16, 999, 500), ("loop", 16, 64, 2)),
        (f32, (16, 999, 500), ("split", 32, 8, 4)),  # a thread reads 16 bytes at a time
        (f32, (2, 4000, 3001), ("split", 32, 4, 4)),  # long columns
        (f32, (1, 3000, 1234), ("split", 32, 4, 4)),  # few
    ],
)
def test_columns_that_large_blocks_take_whole(
    dtype: DType, sizes: tuple[int, int, int], want: tuple[str, int, int, int]
) -> None:
    """Rather than pieces of them that have to be combined, where that makes work for nearly all processors."""
    graph = graph_of(total(dtype))
    c = gpu_kernel(graph, dict(zip("knm", sizes, strict=True)), H200)
    s = c.schedule
    assert (s.mode, s.row_threads, s.col_threads, s.steps) == want
    if s.mode == "loop":
        check_gpu(graph, {"k": 2, "n": 150, "m": 32 + s.lanes}, compiled=c)


@pytest.mark.parametrize(("n", "m"), [(8, 301), (32, 67), (41, 67)])
def test_values(n: int, m: int) -> None:
    sizes = {"k": 9, "n": n, "m": m}
    c = gpu_kernel(graph_of(largest), sizes, FEW)  # type: ignore[arg-type]
    assert c.schedule.col_threads < 8
    check_gpu(c.graph, sizes, compiled=c)


def beside_a_column(b: Builder) -> Value:
    """Rows of two axes, which something that has one of them keeps apart."""
    x = b.reduce("sum", b.input(f32, (K, N, M)), [0])
    return b.add(x, b.input(f32, (N, 1)))


@pytest.mark.parametrize(("n", "m", "want"), [(768, 2, 32), (768, 8, 32), (9, 2, 16), (100, 64, 32)])
def test_rows_of_several_axes_are_side_by_side(n: int, m: int, want: int) -> None:
    graph = graph_of(beside_a_column)
    c = gpu_kernel(graph, {"k": 5000, "n": n, "m": m}, H200)
    assert len(c.schedule.rows) == 2 and c.schedule.row_threads == want
    check_gpu(graph, {"k": 9, "n": 7, "m": m}, compiled=c)


def softmax(dtype: DType) -> object:
    def program(b: Builder) -> Value:
        x = b.cast(b.input(dtype, (K, N, M)), f32)
        e = b.exp(b.sub(x, b.reduce("max", x, [1], keepdim=True)))
        return b.cast(b.div(e, b.reduce("sum", e, [1], keepdim=True)), dtype)

    return program


@pytest.mark.parametrize(
    ("dtype", "k", "n", "m", "want"),
    [
        (bf16, 8192, 256, 4, (1, 64, 4)),
        (bf16, 8192, 250, 8, (1, 64, 4)),
        (f32, 16384, 64, 4, (4, 16, 4)),
        (f32, 32768, 64, 8, (4, 16, 4)),  # two vectors side by side
        (f32, 65536, 21, 2, (8, 8, 3)),
        (f32, 512, 128, 4, (2, 128, 1)),  # few rows
        (bf16, 2048, 1024, 16, (2, 128, 8)),  # long columns
        (f32, 4096, 300, 3, (4, 64, 5)),  # no vectors
    ],
)
def test_few_threads_share_columns_of_one_vector(
    dtype: DType, k: int, n: int, m: int, want: tuple[int, int, int]
) -> None:
    graph = graph_of(softmax(dtype))
    c = gpu_kernel(graph, {"k": k, "n": n, "m": m}, H200)
    s = c.schedule
    assert s.mode == "persistent" and (s.row_threads, s.col_threads, s.steps) == want
    if n <= 64:
        check_gpu(graph, {"k": 5, "n": n, "m": m}, compiled=c)


def masked(dtype: DType) -> object:
    def program(b: Builder) -> Value:
        x, keep = b.input(dtype, (K, N, M)), b.input(bool_, (K, N, M))
        x = b.where(keep, b.cast(x, f32), b.const(-1e9, f32))
        e = b.exp(b.sub(x, b.reduce("max", x, [1], keepdim=True)))
        return b.cast(b.div(e, b.reduce("sum", e, [1], keepdim=True)), dtype)

    return program


@pytest.mark.parametrize(
    ("dtype", "k", "n", "m", "want"),
    [
        (f32, 64, 512, 256, (4, 64, 1)),  # as without a mask
        (f32, 1, 1024, 8192, (4, 64, 2)),
        (bf16, 64, 512, 256, (4, 64, 1)),
    ],
)
def test_masks_do_not_say_how_wide_blocks_are(dtype: DType, k: int, n: int, m: int, want: tuple[int, int, int]) -> None:
    s = planned(masked(dtype), k, n, m)
    assert s.mode == "persistent" and (s.row_threads, s.col_threads, s.cluster) == want
