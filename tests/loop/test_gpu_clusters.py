"""Rows that several blocks of a GPU share: schedules, and kernels interpreted and emulated."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME, f32
from fusewright.core.errors import CompilerError
from fusewright.emit.cuda import CudaTarget, emit_cuda
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.ir import Grid, Let, walk
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from fusewright.schedule.device import H200, Gpu
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.kernels import graph_of, random_inputs
from tests.kernels_gpu import GpuCompiled, check_gpu, gpu_kernel
from tests.loop.test_gpu_lowering import centred, moments, softmax16

N, M = sym("n"), sym("m")
FEW = Gpu((9, 0), 1, 1 << 20, 227 << 10)
BEFORE = Gpu((8, 0), 1, 1 << 20, 227 << 10)


def softmax32(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    e = b.exp(b.sub(x, b.reduce("max", x, [1], keepdim=True)))
    return b.div(e, b.reduce("sum", e, [1], keepdim=True))


def best_of_centred(b: Builder) -> list[Value]:
    """Where a row is furthest above its mean, and where below, and what is left of it."""
    x = b.input(f32, (N, M))
    y = b.sub(x, b.div(b.reduce("sum", x, [1], keepdim=True), b.cast(b.scalar(M, BY_NAME["i64"]), f32)))
    return [b.reduce("argmax", y, [1]), b.reduce("argmin", y, [1]), y]


def batch_norm(b: Builder) -> list[Value]:
    """Over all axes but the one in the middle."""
    x = b.input(f32, (4, N, M))
    size = b.cast(b.scalar(4 * M, BY_NAME["i64"]), f32)
    mean = b.div(b.reduce("sum", x, [0, 2], keepdim=True), size)
    d = b.sub(x, mean)
    scale = b.rsqrt(b.div(b.reduce("sum", b.mul(d, d), [0, 2], keepdim=True), size))
    return [b.mul(d, scale), b.reshape(mean, (N,))]


def counted(b: Builder) -> list[Value]:
    """Integers and truth values: what a row has above its smallest, and whether any of that is odd."""
    x = b.input(BY_NAME["i64"], (N, M))
    y = b.sub(x, b.reduce("min", x, [1], keepdim=True))
    odd = b.reduce("any", b.ne(b.remainder(y, b.const(2, BY_NAME["i64"])), b.const(0, BY_NAME["i64"])), [1])
    return [b.reduce("sum", y, [1]), odd, y]


def down(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    e = b.exp(b.sub(x, b.reduce("max", x, [0], keepdim=True)))
    return b.div(e, b.reduce("sum", e, [0], keepdim=True))


PROGRAMS = {
    "softmax16": (softmax16, {"n": 3, "m": 70000}),
    "softmax32": (softmax32, {"n": 2, "m": 40000}),
    "odd": (softmax32, {"n": 3, "m": 20001}),
    "argmax": (best_of_centred, {"n": 3, "m": 33333}),
    "batch_norm": (batch_norm, {"n": 3, "m": 8000}),
    "counted": (counted, {"n": 2, "m": 20000}),
    "down": (down, {"n": 3000, "m": 24}),
}


def kernel(name: str, gpu: Gpu = FEW) -> GpuCompiled:
    program, sizes = PROGRAMS[name]
    return gpu_kernel(graph_of(program), sizes, gpu)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str) -> None:
    program, sizes = PROGRAMS[name]
    compiled = check_gpu(graph_of(program), sizes, gpu=FEW)  # type: ignore[arg-type]
    s = compiled.schedule
    assert s.mode == "persistent" and s.cluster > 1
    (grid,) = compiled.kernel.func.body
    assert isinstance(grid, Grid) and grid.cluster == s.cluster
    assert sum(isinstance(x, Let) and x.op == "creduce" for x in walk(grid.body)) >= 2
    assert parse(dump(compiled.kernel.func)) == compiled.kernel.func


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_clusters_nothing_changes(name: str) -> None:
    program, sizes = PROGRAMS[name]
    compiled = check_gpu(graph_of(program), sizes, gpu=BEFORE)  # type: ignore[arg-type]
    assert compiled.schedule.cluster == 1
    assert "cluster" not in emit_cuda(compiled.kernel.func, CudaTarget(8, 0))


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
@pytest.mark.parametrize("name", PROGRAMS)
def test_emulated(name: str) -> None:
    compiled = kernel(name)
    check_gpu(compiled.graph, PROGRAMS[name][1], compiled=compiled, machine=run_emulated)


@pytest.mark.parametrize("cluster", [2, 4, 8])
@pytest.mark.parametrize(("rows", "threads"), [(1, 256), (4, 32), (8, 16), (128, 1)])
def test_any_cluster(cluster: int, rows: int, threads: int) -> None:
    """Every number of blocks and division of a block, with rows that the last blocks have nothing of."""
    compiled = gpu_kernel(graph_of(best_of_centred), {"n": 5, "m": 64}, FEW)
    steps = -(-70 // (threads * cluster))
    s = dataclasses.replace(
        compiled.schedule, mode="persistent", cluster=cluster, row_threads=rows, col_threads=threads, steps=steps
    )
    s = dataclasses.replace(s, lanes=1, aligned=frozenset())
    lowered = lower_gpu(compiled.built.fusion, s, "kernel")
    verify(lowered.func)
    again = dataclasses.replace(compiled, schedule=s, kernel=lowered)
    for m in (70, 1, 33):
        for machine in {} if COMPILER is None else {"machine": run_emulated}, {}:
            check_gpu(again.graph, {"n": 5, "m": m}, compiled=again, **machine)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(special: float) -> None:
    program, sizes = PROGRAMS["argmax"]
    graph = graph_of(program)  # type: ignore[arg-type]
    inputs = random_inputs(graph, sizes)
    inputs[0][0, 32000] = special
    inputs[0][1, :20000] = special
    inputs[0][2] = special
    check_gpu(graph, sizes, inputs, gpu=FEW)


def test_no_clusters_before_compute_capability_9() -> None:
    with pytest.raises(CompilerError, match="sm_80 has no clusters"):
        emit_cuda(kernel("softmax16").kernel.func, CudaTarget(8, 0))


# bytes of a row that one block, two, ... hold best, as measured
@pytest.mark.parametrize(
    ("m", "cluster"), [(4096, 1), (16384, 1), (32768, 2), (65536, 4), (131072, 8), (262144, 8), (1 << 20, 1)]
)
def test_rows_by_length(m: int, cluster: int) -> None:
    s = gpu_kernel(graph_of(softmax16), {"n": 2048, "m": m}, H200).schedule
    assert (s.cluster, s.mode) == (cluster, "loop" if m == 1 << 20 else "persistent")
    s = gpu_kernel(graph_of(softmax32), {"n": 2048, "m": m // 2}, H200).schedule
    assert s.cluster == cluster


@pytest.mark.parametrize(
    ("n", "m", "cluster", "mode"),
    [
        (2048, 16384, 1, "persistent"),
        (64, 16384, 2, "persistent"),  # 64 blocks leave half the processors idle
        (64, 4096, 1, "persistent"),  # too little to share
        (20, 131072, 8, "persistent"),
        (4, 131072, 1, "split"),  # too few even in clusters
    ],
)
def test_few_rows(n: int, m: int, cluster: int, mode: str) -> None:
    s = gpu_kernel(graph_of(softmax16), {"n": n, "m": m}, H200).schedule
    assert (s.cluster, s.mode) == (cluster, mode)


def test_what_is_read_once_has_a_cluster_where_registers_let_two_blocks_run() -> None:
    """Rows of several passes have one anyway; moments on the fly take one pass."""
    s = gpu_kernel(graph_of(moments), {"n": 2048, "m": 131072}, H200).schedule
    assert (s.cluster, s.mode, s.keep_in) == (8, "persistent", "registers")
    s = gpu_kernel(graph_of(moments), {"n": 1024, "m": 262144}, H200).schedule
    assert (s.cluster, s.mode) == (1, "loop")
    assert gpu_kernel(graph_of(centred), {"n": 2048, "m": 65536}, H200).schedule.cluster == 8
