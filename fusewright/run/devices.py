"""Which devices kernels can run on, and the driver of each GPU.

A CPU has no driver: its kernels are functions (`kernels.py`). A GPU's driver compiles, loads and launches (`cuda.py`).
Tests put another driver in a device's place (`use`): GPU schedules then run wherever that driver runs them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch

from ..loop.ir import Func
from ..schedule.device import Gpu
from . import cuda


class Driver(Protocol):
    """What a GPU does for its kernels. Handles are the driver's own."""

    gpu: Gpu

    def versions(self) -> str:
        """What, beside a kernel's text, determines its code."""

    def compile(self, func: Func) -> bytes:
        """The code of `func`, to be kept. Raises CompilerError."""

    def compile_text(self, text: str) -> bytes:
        """The code of CUDA C++ that somebody has edited. Raises CompilerError."""

    def load(self, code: bytes, func: Func) -> list[Any]:
        """A handle for each launch of `func`, in order. Raises RuntimeFault."""

    def scratch(self, nbytes: int) -> torch.Tensor:
        """Uninitialised device memory, uint8, aligned to 256 bytes."""

    def enter(self) -> int:
        """Make the device current; returns the stream to launch on."""

    def can_time(self) -> bool:
        """Whether launches can be timed now: not while they are captured."""

    def times(self, runs: Sequence[Callable[[], None]], rounds: int) -> list[float]:
        """Median seconds that each of `runs` keeps the device busy, in turns, from a cold L2 cache."""

    def launch(self, handle: Any, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        """Start a kernel; `args` is the address of an array of pointers to its parameters. Raises RuntimeFault."""


_lock = threading.Lock()
_drivers: dict[torch.device, Driver] = {}
_replaced: dict[str, Driver] = {}


def driver_for(device: torch.device) -> Driver | None:
    """The driver of a GPU; None for the CPU. Raises UserError when the GPU cannot be used."""
    if device.type in _replaced:
        return _replaced[device.type]
    if device.type == "cpu":
        return None
    found = _drivers.get(device)
    if found is None:
        with _lock:
            found = _drivers.get(device) or cuda.Driver(device)
            _drivers[device] = found
    return found


def unsupported(device: torch.device) -> str:
    """Why tensors on `device` cannot enter a kernel, or ""."""
    if device.type == "cpu" or device.type in _replaced:
        return ""
    if device.type != "cuda":
        return f"device {device.type}"
    return cuda.missing(device)


@contextmanager
def use(device_type: str, driver: Driver) -> Iterator[None]:
    """Let `driver` run the kernels for all tensors of a device type. For tests; not thread-safe."""
    before = _replaced.get(device_type)
    _replaced[device_type] = driver
    try:
        yield
    finally:
        if before is None:
            del _replaced[device_type]
        else:
            _replaced[device_type] = before
