"""Sums of columns of many operands: threads ask for no more at a time than they have registers for."""

from __future__ import annotations

import pytest

from fusewright.build import nvrtc
from fusewright.core.dtypes import DType, bf16, f32
from fusewright.emit.cuda import CudaTarget, emit_cuda
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import ONE, sym
from tests.kernels import graph_of
from tests.kernels_gpu import H200, check_gpu, gpu_kernel

N, M = sym("n"), sym("m")
SIZES = {"n": 131072, "m": 256}
NEEDS_NVRTC = pytest.mark.skipif(not nvrtc.available(), reason="needs NVRTC")


def rows(b: Builder, dtype: DType) -> Value:
    return b.cast(b.input(dtype, (N, M)), f32)


def row(b: Builder) -> Value:
    return b.input(f32, (ONE, M))


def activation(b: Builder) -> list[Value]:
    """The gradients of a norm's weight and bias, behind an activation."""
    g, x = b.input(bf16, (N, M)), b.input(bf16, (N, M))
    y = b.cast(b.add(b.mul(b.cast(x, f32), row(b)), row(b)), bf16)
    s = b.reciprocal(b.add(b.const(1.0, bf16), b.exp(b.neg(y))))
    d = b.cast(b.mul(g, b.mul(s, b.add(b.const(1.0, bf16), b.mul(y, b.sub(b.const(1.0, bf16), s))))), f32)
    return [b.reduce("sum", b.mul(d, b.sub(b.cast(x, f32), row(b))), [0]), b.reduce("sum", d, [0])]


def several(b: Builder) -> list[Value]:
    """A sum of columns of what is added up, and stored, from seven tensors."""
    x = rows(b, bf16)
    for dtype in (bf16, bf16, bf16, f32, f32, f32):
        x = b.add(x, b.mul(rows(b, dtype), row(b)))
    return [b.cast(x, bf16), b.reduce("sum", x, [0])]


@NEEDS_NVRTC
@pytest.mark.parametrize("program", [activation, several])
def test_nothing_is_spilled(program: object) -> None:
    c = gpu_kernel(graph_of(program), SIZES, gpu=H200)
    assert c.schedule.mode == "split"
    cubin, _ = nvrtc.compile(emit_cuda(c.kernel.func, CudaTarget(9, 0)), "sm_90")
    assert [r.stack for r in nvrtc.report(cubin)] == [0] * len(nvrtc.report(cubin))


@NEEDS_NVRTC
def test_what_caches_have_takes_few_registers() -> None:
    """A norm's weight and bias are the same for all rows: a thread asks for a few vectors of them at a time, not for as
    many as it has of its row, so that more blocks run beside it (three at least, where two did)."""

    def norm(b: Builder) -> list[Value]:
        x, w, bias = rows(b, bf16), *(b.cast(b.input(bf16, (ONE, M)), f32) for _ in range(2))
        n = b.const(1 / 12288, f32)
        centred = b.sub(x, b.mul(b.reduce("sum", x, [1], keepdim=True), n))
        var = b.mul(b.reduce("sum", b.mul(centred, centred), [1], keepdim=True), n)
        return [b.cast(b.add(b.mul(b.mul(centred, b.rsqrt(var)), w), bias), bf16)]

    c = gpu_kernel(graph_of(norm), {"n": 6000, "m": 12288}, gpu=H200)
    assert (c.schedule.mode, c.schedule.keep_in, c.schedule.threads) == ("persistent", "registers", 256)
    cubin, _ = nvrtc.compile(emit_cuda(c.kernel.func, CudaTarget(9, 0)), "sm_90")
    (report,) = nvrtc.report(cubin)
    assert report.registers <= 80 and report.stack == 0


def test_how_much_is_asked_for_at_once() -> None:
    """Of one tensor of 16-bit numbers eight wide vectors; of seven tensors, a narrow one each."""

    def one(b: Builder) -> list[Value]:
        return [b.reduce("sum", rows(b, bf16), [0])]

    found = [gpu_kernel(graph_of(p), SIZES, gpu=H200).schedule for p in (one, several)]
    assert [(s.lanes, s.steps) for s in found] == [(8, 8), (4, 1)]


@pytest.mark.parametrize("program", [activation, several])
def test_values(program: object) -> None:
    check_gpu(graph_of(program), {"n": 70, "m": 24})
