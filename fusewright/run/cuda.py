"""NVIDIA GPUs through the CUDA driver: facts, loading, launching, on PyTorch's own contexts, streams and memory.

`cuda-bindings` is an optional dependency (extra `cuda`): without it, without NVRTC, or on a GPU or driver that is too
old, operations on CUDA tensors are left to PyTorch, with one warning that says what is missing.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch

from ..build import nvrtc
from ..core.errors import UserError
from ..core.options import current
from ..core.warn import warn
from ..emit.cuda_types import CudaTarget
from ..loop.ir import Func
from ..schedule.device import Gpu
from .cuda_launch import NO_BINDINGS, STATIC_SHARED, Launcher, beside_recording, cu
from .gpu import cubin_of, interface

OLDEST = (7, 0)  # compute capability
QUEUED = 200_000  # cycles, a tenth of a millisecond


@cache
def missing(device: torch.device) -> str:
    """Why kernels cannot run on a CUDA device, or "". Warns once."""
    why = _missing(device)
    if why:
        warn(f"Fusewright leaves operations on {device} to PyTorch: {why}")
    return why


def _missing(device: torch.device) -> str:
    if cu is None:
        return NO_BINDINGS
    if not torch.cuda.is_available():
        return "PyTorch finds no CUDA device"
    try:
        if torch.version.cuda:
            nvrtc.prefer(int(torch.version.cuda.split(".")[0]))
        version, oldest = nvrtc.version(), nvrtc.OLDEST
        if version < oldest:
            return f"NVRTC {_dotted(version)} is too old; install nvidia-cuda-nvrtc >= {_dotted(oldest)}"
        gpu = facts(device)
        if gpu.capability < OLDEST:
            return f"its compute capability is {_dotted(gpu.capability)}; {_dotted(OLDEST)} is needed"
        arch = CudaTarget(*gpu.capability).arch
        if arch not in nvrtc.architectures():
            return f"NVRTC {_dotted(version)} does not compile for {arch}"
    except UserError as e:
        return str(e)
    return ""


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


@cache
def facts(device: torch.device) -> Gpu:
    """What schedules need to know of a device."""
    p = torch.cuda.get_device_properties(device)
    shared = getattr(p, "shared_memory_per_block_optin", STATIC_SHARED)
    threads = getattr(p, "max_threads_per_multi_processor", 2048)
    registers = getattr(p, "regs_per_multiprocessor", 65536)
    return Gpu((p.major, p.minor), p.multi_processor_count, p.L2_cache_size, shared, threads, registers)


class Driver(Launcher):
    """A CUDA device that kernels are compiled for; see `devices.Driver`."""

    def __init__(self, device: torch.device):
        super().__init__(device)
        self.gpu = facts(device)
        self.target = CudaTarget(*self.gpu.capability)

    def versions(self) -> str:
        lines = f" {nvrtc.LINEINFO}" if current().lineinfo else ""
        return f"{self.target.arch} {nvrtc.versions()}{lines}"

    def compile(self, func: Func) -> bytes:
        return cubin_of(func, self.target, self.compile_text)

    def compile_text(self, text: str) -> bytes:
        cubin, _ = nvrtc.compile(text, self.target.arch, current().lineinfo)
        return cubin

    def load(self, code: bytes, func: Func) -> list[Any]:
        return self.restore(code, interface(func).launches)

    def can_time(self) -> bool:
        return not torch.cuda.is_current_stream_capturing()

    def times(self, runs: Sequence[Callable[[], None]], rounds: int) -> list[float]:
        flush = torch.empty(2 * self.gpu.l2, dtype=torch.uint8, device=self.device)
        found: list[list[float]] = [[] for _ in runs]
        with beside_recording():
            for r in runs:
                r()
            for _ in range(rounds):
                marks = []
                runs[-1]()  # the first one after a pause takes longer
                for r in runs:
                    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                    flush.zero_()
                    torch.cuda._sleep(QUEUED)  # the host has queued the launch before the device comes to it
                    begin.record()
                    r()
                    end.record()
                    marks.append((begin, end))
                marks[-1][1].synchronize()
                for into, (begin, end) in zip(found, marks, strict=True):
                    into.append(begin.elapsed_time(end) * 1e-3)
        return [statistics.median(t) for t in found]
