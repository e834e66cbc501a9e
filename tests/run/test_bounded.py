"""Registers of resident blocks are bounded, so that as many fit a multiprocessor as there are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fusewright.build import nvrtc
from fusewright.emit.cuda import emit_cuda
from fusewright.emit.cuda_types import CudaTarget
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.ir import Func, Grid
from fusewright.loop.text import dump, parse
from fusewright.run import gpu
from fusewright.run.gpu import cubin_of
from fusewright.schedule.device import H200
from fusewright.schedule.gpu_base import beside
from tests.golden.cases import CASES
from tests.kernels import graph_of
from tests.kernels_gpu import GpuCompiled, gpu_kernel

H100 = CudaTarget(9, 0)


def scheduled() -> GpuCompiled:
    """The gradient of a norm: columns are summed over the rows that a block has, which are few."""
    return gpu_kernel(graph_of(CASES["rms_norm_backward"].program), {"n": 4096, "m": 2048}, H200)


def resident() -> Func:
    c = scheduled()
    assert c.schedule.resident
    return c.kernel.func


def test_the_first_launch_says_how_many_blocks_are_beside_each_other() -> None:
    first, second = resident().body
    assert isinstance(first, Grid) and isinstance(second, Grid)
    assert first.beside == 1024 // first.threads > 1 and second.beside == 2  # which combines
    func = resident()
    assert parse(dump(func)).body[0].beside == first.beside  # type: ignore[union-attr]
    text = emit_cuda(func, H100)
    assert f"__launch_bounds__({first.threads}, {first.beside})" in text
    assert f"__launch_bounds__({first.threads})" in emit_cuda(func, H100, bounded=False)


@pytest.mark.skipif(not nvrtc.available(), reason="no NVRTC")
@pytest.mark.parametrize("spilled", [-1, 10_000])
def test_a_bound_that_spills_much_is_dropped(spilled: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "SPILLED", spilled)
    made: list[str] = []

    def compile_text(text: str) -> bytes:
        made.append(text)
        return nvrtc.compile(text, H100.arch)[0]

    func = resident()
    assert cubin_of(func, H100, compile_text)
    texts = [emit_cuda(func, H100), emit_cuda(func, H100, bounded=False)]
    assert made == (texts if spilled < 0 else texts[:1])


@pytest.mark.skipif(not nvrtc.available(), reason="no NVRTC")
def test_the_bound_is_kept() -> None:
    func = resident()
    first = func.body[0]
    assert isinstance(first, Grid)
    cubin = cubin_of(func, H100, lambda text: nvrtc.compile(text, H100.arch)[0])
    registers = max(r.registers for r in nvrtc.report(cubin) if r.name.endswith("_0"))
    assert registers * first.threads * first.beside <= 65536


@pytest.mark.parametrize("threads", [32, 128, 512, 1024])
def test_blocks_of_a_multiprocessor(threads: int) -> None:
    s = replace(scheduled().schedule, row_threads=1, col_threads=threads)
    assert threads * beside(s) == 1024 and beside(replace(s, alone=True)) == 1


def test_a_block_that_is_alone_has_all_registers() -> None:
    c = scheduled()
    func = lower_gpu(c.built.fusion, replace(c.schedule, alone=True), "kernel").func
    first = func.body[0]
    assert isinstance(first, Grid) and first.beside == 1
    # told nothing, a compiler saves registers for a second block, and may spill
    assert f"__launch_bounds__({first.threads}, 1) " in emit_cuda(func, H100)
