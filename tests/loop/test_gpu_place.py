"""Scatters as GPU kernels that leave their points apart, and who runs which scatter."""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.core.dtypes import DType, i32, i64
from fusewright.core.errors import Refusal, VerifyError
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.interp.values import InterpError
from fusewright.loop.text import dump, parse
from fusewright.schedule import gpu_scatter
from fusewright.schedule.device import H200
from tests.emulate.cuda import COMPILER, run_emulated
from tests.kernels import graph_of
from tests.kernels_gpu import check_gpu, gpu_kernel, hint_of
from tests.loop.test_gpu_scatter import ROW, SIZES, M, N, V, inputs_of, of, random_values

ANY_ORDER = (
    *("rows sum", "rows set", "rows i32", "points", "batch", "columns", "middle", "masked", "masked_points"),
    *("two_indices", "ones", "smaller", "last", "random"),
)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", ANY_ORDER)
def test_points_in_any_order(name: str) -> None:
    graph = graph_of(random_values) if name == "random" else of(name)
    for n, m, v in [*SIZES, (300, 12, 70), (40, 3, 2000)]:
        sizes = {"n": n, "m": m, "v": v}
        c = gpu_kernel(graph, sizes, apart=True)
        assert c.schedule.mode == "place" and not c.launch
        c.kernel.func = parse(dump(c.kernel.func))
        inputs = inputs_of(graph, sizes, low=-v)
        if name == "rows set":  # which of several values stays, nobody knows
            inputs[-1][:] = np.random.default_rng(0).permutation(max(n, v))[:n] % max(v, 1) if n <= v else 0
            inputs[1][:] = 7 if n > v else inputs[1]
        check_gpu(graph, sizes, inputs, compiled=c)
        if COMPILER is not None and (n, m, v) == (300, 12, 70):
            check_gpu(graph, sizes, inputs, compiled=c, machine=run_emulated)


@pytest.mark.parametrize("how", ["max", "min"])
@pytest.mark.parametrize("dtype", [i32, i64], ids=str)
def test_extremes_in_any_order(how: str, dtype: DType) -> None:
    def program(b: Builder) -> Value:
        x, s, at = b.input(dtype, (V, M)), b.input(dtype, (N, M)), b.input(i64, (N,))
        return b.scatter(x, s, [at], ROW, how)

    graph, sizes = graph_of(program), {"n": 90, "m": 3, "v": 20}
    c, inputs = gpu_kernel(graph, sizes, apart=True), inputs_of(graph, sizes)
    check_gpu(graph, sizes, inputs, compiled=c, tolerance=0)
    if COMPILER is not None:
        check_gpu(graph, sizes, inputs, compiled=c, tolerance=0, machine=run_emulated)


def test_neighbouring_threads_add_to_neighbouring_elements() -> None:
    """So that an atomic instruction of a warp touches few sectors; what is set is written in vectors."""
    sizes = {"n": 90, "m": 64, "v": 20}
    for name, lanes, threads in (("rows sum", 1, 32), ("rows set", 4, 16)):
        s = gpu_kernel(of(name), sizes, apart=True).schedule
        assert (s.lanes, s.col_threads) == (lanes, threads)


def test_sums_of_16_bits_are_not_added_atomically() -> None:
    """Every addition would round."""
    with pytest.raises(VerifyError, match="threads cannot meet in bf16 with 'sum'"):
        gpu_kernel(of("rows bf16"), {"n": 9, "m": 8, "v": 5}, apart=True)


def test_threads_that_meet_are_told_apart_from_races() -> None:
    """Without the mark the interpreter reports what two points write to one element."""
    graph, sizes = of("points"), {"n": 40, "m": 1, "v": 2}
    c = gpu_kernel(graph, sizes, apart=True)
    text = dump(c.kernel.func)
    assert text.count("meet sum") > 0
    c.kernel.func = parse(text.replace(" {meet sum}", ""))
    with pytest.raises(InterpError, match="race"):
        check_gpu(graph, sizes, inputs_of(graph, sizes), compiled=c)


@pytest.mark.parametrize(
    ("name", "sizes", "operator", "way"),
    [
        ("rows sum", (65536, 768, 50257), "index_add", "sorted"),
        ("rows bf16", (1000000, 64, 100000), "index_add", "sorted"),
        ("rows max", (1000000, 64, 100000), "scatter_reduce.two", "sorted"),
        ("rows sum", (100, 64, 50), "index_add", "too small"),
        ("rows sum", (100, 64, 50), "index_put", "sorted"),
        ("rows sum", (1000000, 8, 100000), "index_add", "apart"),
        ("rows sum", (1000000, 8, 100000), "index_put", "sorted"),
        ("rows set", (65536, 768, 50257), "index_put", "apart"),
        ("rows set", (5000, 768, 50257), "index_put", "changed where it is"),
        ("rows set", (100, 64, 50), "index_put", "too small"),
        ("rows i32", (65536, 768, 50257), "scatter_add", "apart"),
        ("rows i32", (65536, 768, 50257), "index_put", "apart"),
        ("points", (1000000, 1, 1000000), "scatter_add", "apart"),
        ("points", (1000000, 1, 1000000), "_unsafe_index_put", "sorted"),
        ("points", (20000, 1, 5000), "index_put", "sorted"),
        ("points", (1 << 24, 1, 256), "scatter_add", "sorted"),
        ("points", (1 << 24, 1, 1000), "index_put", "sorted"),
        ("points", (1 << 24, 1, 1000000), "index_put", "more than are sorted at once"),
        ("points", (1 << 19, 1, 1 << 25), "index_put", "few for a target of so many"),
        ("on_top", (1000000, 8, 100000), "index_reduce", "single elements in one launch"),
        ("scaled", (1000000, 8, 100000), "index_add", "what becomes of it"),
        ("ones", (1000000, 1, 8000000), "scatter_add", "apart"),
    ],
)
def test_who_runs_it(name: str, sizes: tuple[int, int, int], operator: str, way: str) -> None:
    env = dict(zip("nmv", sizes, strict=True))
    fusion = gpu_kernel(of(name), env, H200).built.original
    operators = {f"aten.{operator}"}
    if way not in ("sorted", "apart"):
        with pytest.raises(Refusal, match=way):
            gpu_scatter.decide(fusion, hint_of(env), operators)
        return
    gpu_scatter.decide(fusion, hint_of(env), operators)
    (st,) = (s for s in fusion.stages if s.origin is not None)
    assert st.origin is not None and st.origin.apart == (way == "apart")
