"""Rows that are cut over blocks: what the chunks leave is combined once, and the next pass begins where one ended."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fusewright.build import nvrtc
from fusewright.core.dtypes import BY_NAME, DType, f16, f32
from fusewright.emit.cuda import emit_cuda
from fusewright.emit.cuda_types import CudaTarget
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.interp import gpu as machine
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.ir import Let, Stmt
from fusewright.loop.verify import verify
from fusewright.schedule.device import H200, Gpu
from fusewright.schedule.edit import Illegal, on_gpu
from fusewright.schedule.gpu_fit import TOGETHER
from fusewright.schedule.legal_gpu import Sizes
from tests.kernels import graph_of
from tests.kernels_gpu import GpuCompiled, check_gpu, gpu_kernel, hint_of
from tests.loop import test_gpu_lowering as programs
from tests.loop.test_gpu_combine import launches

N, M = sym("n"), sym("m")
bf16 = BY_NAME["bf16"]
SOME = Gpu((8, 0), 16, 1 << 20, 4 << 10)


def gradients(b: Builder) -> list[Value]:
    """Of a batch norm's weight and bias, behind an activation."""
    x, grad, out = (b.cast(b.input(bf16, (N, M)), f32) for _ in range(3))
    mean, scale = b.input(f32, (M,)), b.input(f32, (M,))
    grad = b.where(b.lt(b.const(0.0, f32), out), grad, b.const(0.0, f32))
    return [b.reduce("sum", grad, [0]), b.reduce("sum", b.mul(grad, b.mul(b.sub(x, mean), scale)), [0])]


def gelu_bias(b: Builder) -> Value:
    """The gradient of a bias in front of a GELU."""
    x, grad = (b.cast(b.input(f16, (N, M)), f32) for _ in range(2))
    y = b.add(x, b.input(f32, (M,)))
    cdf = b.mul(b.add(b.erf(b.mul(y, b.const(0.7071, f32))), b.const(1.0, f32)), b.const(0.5, f32))
    density = b.mul(b.exp(b.mul(b.mul(y, y), b.const(-0.5, f32))), b.const(0.3989, f32))
    return b.reduce("sum", b.mul(grad, b.add(cdf, b.mul(y, density))), [0])


@pytest.mark.skipif(not nvrtc.available(), reason="needs NVRTC")
@pytest.mark.parametrize("program", [gradients, gelu_bias])
def test_sums_of_several_tensors_hardly_spill(program: Callable[[Builder], Value | list[Value]]) -> None:
    """As much on its way in each thread as one tensor has, and no more sums than registers hold."""
    c = gpu_kernel(graph_of(program), {"n": 300_000, "m": 256}, H200)
    assert c.schedule.mode == "split" and c.schedule.steps == 4
    cubin, _ = nvrtc.compile(emit_cuda(c.kernel.func, CudaTarget(9, 0)), "sm_90")
    reports = nvrtc.report(cubin)
    assert len(reports) == 2 and max(r.stack for r in reports) <= 8  # 256 with vectors and steps as for one
    check_gpu(graph_of(program), {"n": 700, "m": 48}, gpu=SOME)


def batch_norm(dtype: DType = f32):
    """Of rows: columns are normalised; what the backward pass and the running statistics want is stored, too."""

    def program(b: Builder) -> list[Value]:
        x = b.cast(b.input(dtype, (N, M)), f32)
        w, bias, old = (b.input(f32, (M,)) for _ in range(3))
        size = b.cast(b.scalar(N, BY_NAME["i64"]), f32)
        mean = b.div(b.reduce("sum", x, [0], keepdim=True), size)
        d = b.sub(x, mean)
        variance = b.div(b.reduce("sum", b.mul(d, d), [0], keepdim=True), size)
        scale = b.rsqrt(b.add(variance, b.const(1e-5, f32)))
        y = b.add(b.mul(b.mul(d, scale), w), bias)
        running = b.add(b.mul(old, b.const(0.9, f32)), b.mul(b.reshape(mean, (M,)), b.const(0.1, f32)))
        return [b.cast(y, dtype), b.reshape(scale, (M,)), running]

    return program


def column_softmax(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    e = b.exp(b.sub(x, b.reduce("max", x, [0], keepdim=True)))
    return b.div(e, b.reduce("sum", e, [0], keepdim=True))


def column_sums(b: Builder) -> list[Value]:
    x = b.input(bf16, (N, M))
    return [b.reduce("sum", b.cast(x, f32), [0]), b.reduce("max", x, [0])]


def row_softmax(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    e = b.exp(b.sub(x, b.reduce("max", x, [1], keepdim=True)))
    return b.div(e, b.reduce("sum", e, [1], keepdim=True))


# name -> (program, sizes)
CASES = {
    "batch norm": (batch_norm(), (3000, 24)),
    "batch norm, 16 bits": (batch_norm(bf16), (3000, 24)),
    "batch norm, odd": (batch_norm(bf16), (2999, 7)),
    "softmax of columns": (column_softmax, (3000, 12)),
    "sums of columns": (column_sums, (3000, 16)),
    "moments": (programs.column_moments, (30001, 8)),
    "softmax of rows": (row_softmax, (2, 50000)),
    "one row": (row_softmax, (1, 40003)),
}


def made(name: str, **changes: object) -> tuple[GpuCompiled, dict[str, int]]:
    program, (n, m) = CASES[name]
    sizes = {"n": n, "m": m}
    c = gpu_kernel(graph_of(program), sizes, SOME)
    assert c.schedule.mode == "split"
    c.schedule = replace(c.schedule, **changes)  # type: ignore[arg-type]
    c.kernel = lower_gpu(c.built.fusion, c.schedule, "kernel")
    verify(c.kernel.func)
    return c, sizes


@pytest.mark.every(6)
@pytest.mark.parametrize(("once", "finish"), itertools.product((False, True), repeat=2))
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, once: bool, finish: bool) -> None:
    c, sizes = made(name, once=once, finish=finish)
    check_gpu(c.graph, sizes, compiled=c)


@pytest.mark.parametrize("name", ["batch norm", "softmax of columns", "one row"])
def test_no_block_of_the_next_pass_reads_parts(name: str) -> None:
    """Between two passes one launch reads what chunks have left; the second reads what that has made of it."""
    c, _ = made(name, once=True)
    first, combine, second = launches(c)
    assert "combine" in combine.what
    assert "part_" not in str(second.body) and "total_" in str(second.body)
    assert "part_" in str(combine.body) and "part_" in str(first.body)
    assert "part_" in str(launches(made(name, once=False)[0])[1].body)


def test_who_combines_is_many_blocks() -> None:
    """Of 192 channels, 8 floats (a sector) to each block."""
    sizes = {"n": 100_000, "m": 192}
    c = gpu_kernel(graph_of(batch_norm(bf16)), sizes, H200)
    assert c.schedule.once
    combine = launches(c)[1]
    numbers = dict(zip((r.name for r in c.kernel.func.sizes), c.kernel.evaluate({**sizes, **c.launch}), strict=True))
    assert numbers[combine.blocks.name] == 192 // 8  # type: ignore[union-attr]


def test_little_is_combined_by_every_block() -> None:
    """A launch costs more than to read a few parts."""
    c = gpu_kernel(graph_of(row_softmax), {"n": 2, "m": 1 << 22}, H200)
    assert c.schedule.mode == "split" and not c.schedule.once
    assert 2 * 4 * c.launch["splits"] < TOGETHER


def test_sums_of_one_pass_are_combined_by_many_blocks() -> None:
    """In place of the last block of each tile, which would read all parts of it alone."""
    few, many = (gpu_kernel(graph_of(column_sums), {"n": n, "m": 384}, H200) for n in (1000, 500_000))
    assert (few.schedule.once, many.schedule.once) == (False, True)
    assert [g.what for g in launches(many)][1:] == ["results of rows"]


@pytest.mark.parametrize(("name", "threads"), [("batch norm", 32), ("softmax of rows", 64)])
def test_the_next_pass_begins_where_one_ended(name: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read last is in the L2 cache still."""
    reads: list[list[int]] = []  # of each launch: where its first block reads the input, in order
    load, launch = machine._Machine.load, machine._Machine.launch

    def loading(m: machine._Machine, s: Let) -> np.ndarray:
        if s.buf is not None and s.buf.name == "in0" and m.blocks[0] == 0:
            reads[-1].append(int(m.here(m.value(s.args[0])).min()))
        return load(m, s)

    def launching(m: machine._Machine, s: Stmt) -> None:
        reads.append([])
        launch(m, s)

    monkeypatch.setattr(machine._Machine, "load", loading)
    monkeypatch.setattr(machine._Machine, "launch", launching)
    c, sizes = made(name, once=False, col_threads=threads, steps=1)
    check_gpu(c.graph, sizes, compiled=c)
    forward, back = reads[:2]
    assert len(forward) > 2 and forward == sorted(forward) and back == sorted(back, reverse=True)


def test_lanes_and_rows_of_blocks() -> None:
    """No thread without a vector where another number of them leaves none; moments in vectors of four."""
    for channels, rt in ((192, 16), (384, 32), (320, 16), (256, 32)):
        s = gpu_kernel(graph_of(batch_norm(bf16)), {"n": 100_000, "m": channels}, H200).schedule
        assert (s.lanes, s.row_threads) == (4, rt), channels
        assert channels % (s.lanes * s.row_threads) == 0
    s = gpu_kernel(graph_of(column_sums), {"n": 500_000, "m": 384}, H200).schedule
    assert (s.lanes, s.steps) == (8, 8)


def test_edits() -> None:
    sizes = Sizes(hint_of({"n": 100_000, "m": 192}), H200)  # type: ignore[arg-type]
    s = on_gpu(gpu_kernel(graph_of(batch_norm()), {"n": 100_000, "m": 192}, H200).built.fusion, sizes)
    assert "combine(launch)" in s.schedule.directives()
    assert "combine(launch)" not in s.combine(False).schedule.directives()
    loop = s.mode("loop")
    assert "combine(launch)" not in loop.schedule.directives()
    with pytest.raises(Illegal, match="no chunks of columns leave anything; legal: no combine"):
        loop.combine()
