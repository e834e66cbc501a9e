"""A driver that runs GPU kernels on the CPU: whole programs on CPU tensors, with GPU schedules and emitted CUDA C++.

with emulated_gpu():
    torch.compile(f, backend="fusewright")(x)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch

import fusewright
from fusewright.loop.ir import Func
from fusewright.prims import philox
from fusewright.run import devices, random_ops
from fusewright.schedule.device import Gpu
from tests.emulate.cuda import EmulatedKernel, EmulationError

SMALL = Gpu((9, 0), 2, 1 << 20, 227 << 10)  # few processors: small sizes fill it


class EmulatedDriver:
    """See `fusewright.run.devices.Driver`."""

    def __init__(self, gpu: Gpu = SMALL):
        self.gpu = gpu
        self.launched = 0
        self._counters = torch.zeros(16, dtype=torch.int32)

    def versions(self) -> str:
        return "emulation"

    def compile(self, func: Func) -> bytes:
        return b"emulated"

    def compile_text(self, text: str) -> bytes:
        return text.encode()

    def load(self, code: bytes, func: Func) -> list[Any]:
        kernel = EmulatedKernel(func, source="" if code == b"emulated" else code.decode())
        kernel.library.emu_message.restype = ctypes.c_char_p
        return [(kernel, kernel.library[f"emu_launch_{k}"]) for k in range(len(kernel.launches))]

    def scratch(self, nbytes: int) -> torch.Tensor:
        return torch.full((nbytes,), 0xFF, dtype=torch.uint8)

    def counters(self, count: int, stream: int) -> torch.Tensor:
        if self._counters.numel() < count:
            self._counters = torch.zeros(count, dtype=torch.int32)
        assert not self._counters.any(), "a kernel has left its counters as they were"
        return self._counters

    def enter(self) -> int:
        return 0

    def can_time(self) -> bool:
        return False

    def times(self, runs: Sequence[Callable[[], None]], rounds: int) -> list[float]:
        raise NotImplementedError("emulated kernels are not timed")

    def launch(self, handle: Any, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        kernel, entry = handle
        self.launched += 1
        if entry(ctypes.c_void_p(args), ctypes.c_longlong(blocks)):
            raise EmulationError(kernel.library.emu_message().decode())
        if kernel.library.emu_take_failure():
            raise IndexError("an index was out of range on the device")


@contextmanager
def emulated_gpu(gpu: Gpu = SMALL) -> Iterator[EmulatedDriver]:
    """Kernels for CPU tensors are made for `gpu` and emulated."""
    driver = EmulatedDriver(gpu)
    torch._dynamo.reset()
    with devices.use("cpu", driver), fusewright.options(disk_cache=False):
        with mock.patch.object(random_ops, "layout_of", lambda device: philox.quads):
            yield driver
    torch._dynamo.reset()
