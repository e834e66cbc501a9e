"""Positions of extremes: the first of equal values, the first NaN, whichever way a row is walked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME, DType, bf16, bool_, f32, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import sym
from fusewright.loop.gpu import lower_gpu
from fusewright.schedule.device import H200
from fusewright.schedule.legal_gpu import Sizes, settle
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.kernels import check, graph_of, random_array
from tests.kernels_gpu import SMALL, GpuCompiled, check_gpu, gpu_kernel, hint_of

N, M = sym("n"), sym("m")
TYPES = (f32, bf16, BY_NAME["i8"], BY_NAME["u8"], bool_, i64)


def both(dtype: DType) -> Callable[[Builder], list[Value]]:
    """Where the extremes of rows of few different values are."""

    def program(b: Builder) -> list[Value]:
        x = b.input(dtype, (N, M))
        return [b.reduce("argmax", x, [1]), b.reduce("argmin", x, [1])]

    return program


def second_pass(b: Builder) -> list[Value]:
    """Read again, and from the end on a GPU that does not keep the row."""
    x = b.input(f32, (N, M))
    y = b.div(x, b.reduce("sum", b.abs(x), [1], keepdim=True))
    return [b.reduce("argmax", y, [1]), b.reduce("argmin", y, [1]), b.reduce("max", y, [1])]


def few_values(dtype: DType, n: int, m: int) -> np.ndarray:
    """Rows of equal values, of the type's lowest and highest, of NaN here and there, and of a few values."""
    rng = np.random.default_rng(n * m)
    x = random_array(dtype, (n, m), rng)
    if dtype.is_float:
        ends = (-np.inf, np.inf)
        x = np.round(x)
    elif dtype.is_bool:
        ends = (False, True)
    else:
        ends = (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
    x[0], x[-1] = ends
    if n > 4 and dtype.is_float:
        x[1, m // 2 :] = x[2, -1] = x[3] = np.nan
    if n > 5:
        x[4, : m - 1] = ends[0]
    return x


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("m", [1, 5, 16, 37, 300])
def test_first_of_equals(dtype: DType, m: int) -> None:
    graph = graph_of(both(dtype))
    for n in (2, 9):
        x = few_values(dtype, n, m)
        check(graph, {"n": n, "m": m}, inputs=[x])
        check_gpu(graph, {"n": n, "m": m}, [x])


def scheduled(graph: Graph, sizes: dict[str, int], mode: str) -> GpuCompiled:
    """The kernel whose rows are walked so."""
    c = gpu_kernel(graph, sizes)
    vectors = -(-sizes["m"] // c.schedule.lanes)
    steps = -(-vectors // c.schedule.col_threads) if mode == "persistent" else 2
    s = replace(c.schedule, mode=mode, steps=steps, runs=frozenset(), keep="values", cluster=1)
    f, s, c.launch = settle(c.built.fusion, s, Sizes(hint_of(sizes), SMALL, lambda b: 16))
    if mode == "split":
        c.launch = {"splits": min(3, vectors)}
    c.built.fusion, c.schedule, c.kernel = f, s, lower_gpu(f, s, "kernel")
    return c


@pytest.mark.parametrize("mode", ["loop", "persistent", "split"])
@pytest.mark.parametrize("m", [1, 37, 5000])
def test_second_pass(mode: str, m: int) -> None:
    graph, sizes = graph_of(second_pass), {"n": 7, "m": m}
    x = few_values(f32, 7, m)
    x[0], x[-1] = 0.5, -0.5
    check(graph, sizes, inputs=[x])
    check_gpu(graph, sizes, [x], compiled=scheduled(graph, sizes, mode))


@pytest.mark.parametrize("dtype", TYPES[::2], ids=str)
@pytest.mark.parametrize(("n", "m"), [(6, 150_000), (1, 70_001)])
def test_rows_cut_over_blocks(dtype: DType, n: int, m: int) -> None:
    """A few long rows: blocks of a row leave the best value that each has seen, and where it was."""
    graph, sizes = graph_of(both(dtype)), {"n": n, "m": m}
    c = gpu_kernel(graph, sizes, H200)
    assert c.schedule.mode == "split"
    x = few_values(dtype, n, m)
    check_gpu(graph, sizes, [x], compiled=c)
    if dtype.is_float:
        x[:, [m // 3, m - 1]] = np.inf
        check_gpu(graph, sizes, [x], compiled=c)


@pytest.mark.parametrize("dtype", TYPES[1::2], ids=str)
def test_columns_cut_over_blocks(dtype: DType) -> None:
    def down(b: Builder) -> list[Value]:
        x = b.input(dtype, (M, N))
        return [b.reduce("argmax", x, [0]), b.reduce("argmin", x, [0])]

    graph, sizes = graph_of(down), {"n": 24, "m": 9000}
    c = gpu_kernel(graph, sizes, H200)
    assert c.schedule.mode == "split"
    check_gpu(graph, sizes, [few_values(dtype, 24, 9000).T.copy()], compiled=c)


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_in_the_emulation() -> None:
    graph = graph_of(both(bf16))
    for n, m, gpu in ((9, 300, SMALL), (6, 9000, H200)):
        check_gpu(graph, {"n": n, "m": m}, [few_values(bf16, n, m)], machine=run_emulated, gpu=gpu)
