"""Kernels in text, run in the emulation and compared with the interpreter."""

from __future__ import annotations

import numpy as np

from fusewright.build import nvrtc
from fusewright.core.dtypes import DType, numpy_type, rounded
from fusewright.emit.cuda import CudaTarget, emit_cuda
from fusewright.interp.loop import run as interpret
from fusewright.loop.ir import Func
from fusewright.loop.text import parse
from fusewright.loop.verify import verify

from .cuda import H100, run_emulated


def compiles(func: Func, *targets: CudaTarget) -> None:
    """The source compiles for real GPUs, if there is an NVRTC to try."""
    if nvrtc.available():
        for t in targets or (H100,):
            nvrtc.compile(emit_cuda(func, t), t.arch)


def execute(text: str, buffers: dict[str, np.ndarray], target: CudaTarget = H100, gpu: bool = True, **numbers) -> Func:
    """Run a kernel in the emulation, in place; `numbers`: sizes and hosts."""
    func = parse(text)
    verify(func)
    sizes = {r.name: numbers[r.name] for r in func.sizes}
    hosts = {r.name: numbers[r.name] for r in func.hosts}
    assert not run_emulated(func, buffers, sizes, hosts, target)
    if gpu:
        compiles(func, target)
    return func


def both(text: str, buffers: dict[str, np.ndarray], gpu: bool = True, **numbers) -> dict[str, np.ndarray]:
    """Run a kernel in the emulation and in the interpreter: every buffer ends up the same, bit for bit."""
    mine, theirs = ({n: a.copy() for n, a in buffers.items()} for _ in range(2))
    func = execute(text, mine, gpu=gpu, **numbers)
    sizes = {r.name: numbers[r.name] for r in func.sizes}
    assert not interpret(func, theirs, sizes, {r.name: numbers[r.name] for r in func.hosts})
    for n in buffers:
        np.testing.assert_array_equal(mine[n], theirs[n], err_msg=n)
    return mine


def stored_values(d: DType, n: int) -> np.ndarray:
    random = np.random.default_rng(n)
    if d.is_bool:
        return random.random(n) < 0.5
    if d.is_float:
        x = random.standard_normal(n).astype(np.float32)
        return rounded(x, d).astype(numpy_type(d))
    info = np.iinfo(numpy_type(d))
    return random.integers(info.min, info.max, n, numpy_type(d), endpoint=True)
