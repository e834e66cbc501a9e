"""Transposes: lanes both ways, and threads of a block."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fusewright.core.dtypes import DType, bf16, bool_, f32, f64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.schedule.device import H200
from fusewright.schedule.forms import Illegal
from fusewright.schedule.legal_gpu import Sizes, settle
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.kernels import graph_of
from tests.kernels_gpu import check_gpu, gpu_kernel, hint_of

N, M = sym("n"), sym("m")


def turned(dtype: DType) -> object:
    def program(b: Builder) -> Value:
        return b.permute(b.input(dtype, (N, M)), [1, 0])

    return program


@pytest.mark.parametrize(
    ("dtype", "n", "m", "want"),  # want: lanes of what is written and of what is read, threads
    [
        (bf16, 16384, 8192, (8, 8, 256)),
        (bf16, 9999, 8192, (1, 8, 512)),
        (f32, 8191, 8192, (1, 4, 512)),
        (bf16, 8192, 9999, (8, 1, 256)),
        (bf16, 10007, 9973, (1, 1, 512)),
        (bf16, 10006, 9974, (2, 2, 512)),
        (f32, 8192, 8191, (4, 1, 512)),
        (bf16, 1777, 99, (1, 1, 256)),  # few tiles, which larger blocks would fill less
    ],
)
def test_threads_of_a_tile(dtype: DType, n: int, m: int, want: tuple[int, int, int]) -> None:
    s = gpu_kernel(graph_of(turned(dtype)), {"n": n, "m": m}, H200).schedule  # type: ignore[arg-type]
    assert s.mode == "staged" and (s.lanes, s.turned, s.threads) == want


@pytest.mark.parametrize(
    ("dtype", "n", "m", "side", "lanes"),  # side: of a tile, along what is written
    [
        (f32, 1 << 20, 16, 256, (4, 4)),
        (f32, 16, 1 << 20, 16, (4, 4)),
        (f32, 12, 1 << 20, 16, (4, 4)),
        (bf16, 1 << 20, 8, 512, (8, 8)),
        (bf16, 1 << 20, 24, 128, (8, 8)),  # tiles of 16 would do as well, but read a sector at a time
        (bf16, 24, 1 << 20, 32, (8, 8)),
        (f32, 1 << 20, 31, 128, (4, 1)),
        (f32, 1 << 20, 48, 256, (4, 4)),
        (f32, 1 << 20, 56, 64, (4, 4)),  # four times 16 is as many
        (f32, 1000, 100, 64, (4, 4)),
    ],
)
def test_tiles_are_as_long_as_the_other_axis_is_short(
    dtype: DType, n: int, m: int, side: int, lanes: tuple[int, int]
) -> None:
    c = gpu_kernel(graph_of(turned(dtype)), {"n": n, "m": m}, H200)  # type: ignore[arg-type]
    s = c.schedule
    assert (s.mode, s.col_threads * s.lanes, (s.lanes, s.turned)) == ("staged", side, lanes)
    for n_, m_ in {(min(n, 1400), min(m, 1400)), (min(n, 520), min(m, 520))}:
        check_gpu(c.graph, {"n": n_, "m": m_}, compiled=c)


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
@pytest.mark.parametrize("dtype", [f32, bf16, bool_, f64])
@pytest.mark.parametrize(("n", "m"), [(700, 8), (8, 700), (301, 12), (15, 517), (33, 600), (1030, 16), (9, 999)])
def test_oblong_tiles_emulated(dtype: DType, n: int, m: int) -> None:
    """Vectors along the longer side are whole in shared memory, neighbours across are lanes apart."""
    c = gpu_kernel(graph_of(turned(dtype)), {"n": n, "m": m}, H200)  # type: ignore[arg-type]
    assert c.schedule.mode == "staged"
    for machine in ({}, {"machine": run_emulated}):
        check_gpu(c.graph, {"n": n, "m": m}, compiled=c, **machine)


def test_what_crosses_many_short_rows_is_read_as_it_is() -> None:
    """No tile is full of what is less than a quarter of it."""

    def program(b: Builder) -> Value:
        return b.permute(b.input(f32, (sym("k"), N, M)), [0, 2, 1])

    for (k, n, m), mode in {(9000, 8, 16): "tile", (9000, 32, 16): "tile", (9000, 32, 32): "staged"}.items():
        c = gpu_kernel(graph_of(program), {"k": k, "n": n, "m": m}, H200)
        assert c.schedule.mode == mode
        check_gpu(c.graph, {"k": 3, "n": n, "m": m}, compiled=c)


@pytest.mark.parametrize(("dtype", "m", "threads"), [(bf16, 3, 512), (f32, 3, 256), (f32, 6, 128)])
def test_a_thread_reads_all_of_a_few_neighbours(dtype: DType, m: int, threads: int) -> None:
    """Blocks of as many threads as are worth to begin one."""
    c = gpu_kernel(graph_of(turned(dtype)), {"n": 1 << 20, "m": m}, H200)  # type: ignore[arg-type]
    s = c.schedule
    assert (s.mode, s.repeat, s.repeats, s.threads) == ("tile", s.rows[0], m, threads)
    check_gpu(c.graph, {"n": 1001, "m": m}, compiled=c)


@pytest.mark.parametrize(("n", "m"), [(199, 256), (256, 199), (133, 131), (134, 130), (1, 300), (0, 300)])
def test_values(n: int, m: int) -> None:
    for dtype in (bf16, f32):
        graph = graph_of(turned(dtype))  # type: ignore[arg-type]
        check_gpu(graph, {"n": n, "m": m}, gpu=H200)


@pytest.mark.parametrize(
    ("n", "m", "lanes", "legal", "wrong", "why"),
    [
        (512, 199, (8, 1), 8, 4, r"32 threads, 1 points each .* do not read 64 by 64 points; legal: 8 to 64"),
        # half of them would have nothing to read, and a loop over their turns no round
        (199, 512, (1, 8), 8, 16, r"1024 threads, 8 points each .*; legal: 1 to 8"),
    ],
)
def test_too_few_or_many_threads_are_refused(
    n: int, m: int, lanes: tuple[int, int], legal: int, wrong: int, why: str
) -> None:
    c = gpu_kernel(graph_of(turned(bf16)), {"n": n, "m": m}, H200)  # type: ignore[arg-type]
    assert (c.schedule.lanes, c.schedule.turned) == lanes
    sizes = Sizes(hint_of({"n": n, "m": m}), H200)
    settle(c.built.fusion, replace(c.schedule, row_threads=legal), sizes)
    with pytest.raises(Illegal, match=why):
        settle(c.built.fusion, replace(c.schedule, row_threads=wrong), sizes)


@pytest.mark.parametrize(
    ("shape", "dims", "axes"),  # axes: of the tiles' rows and columns, in order of what is written
    [
        ((3, 40, 64), (2, 1, 0), ["i0", "i1i2"]),
        ((64, 40, 3), (2, 1, 0), ["i1i0", "i2"]),
        ((9, 40, 64), (2, 1, 0), ["i0", "i1i2"]),
        ((5, 9, 7, 80), (3, 1, 0, 2), ["i0", "i1i2i3"]),
        ((2, 3, 37, 80), (0, 3, 2, 1), ["i0", "i1", "i2i3"]),
        ((3, 40, 64), (0, 2, 1), ["i0", "i1", "i2"]),  # nothing follows in memory
        ((32, 40, 64), (2, 1, 0), ["i1", "i0", "i2"]),  # whole lines
    ],
)
@pytest.mark.parametrize("dtype", [f32, bf16])
def test_short_axes_are_one_with_those_that_follow(
    shape: tuple[int, ...], dims: tuple[int, ...], axes: list[str], dtype: DType
) -> None:
    """A tile as wide as these axes alone would write, or read, small parts of lines."""

    def program(b: Builder) -> Value:
        x = b.permute(b.input(dtype, shape), list(dims))
        return b.add(x, b.expand(b.input(dtype, x.shape[-1:]), x.shape))

    if dtype is bf16 and shape[0] == 32:
        axes = ["i0", "i1i2"]  # half a line
    c = gpu_kernel(graph_of(program), {}, H200)
    assert c.schedule.mode == "staged" and [*c.schedule.rows, *c.schedule.cols] == axes
    check_gpu(c.graph, {}, compiled=c)
