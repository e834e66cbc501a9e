"""Which devices kernels can run on, and the driver of each GPU.

A CPU has no driver: its kernels are functions (`kernels.py`). A GPU's driver compiles, loads and launches (`cuda.py`,
which is imported when the first tensor on one is seen).
Tests put another driver in a device's place (`use`): GPU schedules then run wherever that driver runs them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import torch

from ..core.errors import UserError
from ..core.lazy import lazy_import

if TYPE_CHECKING:
    from ..loop.ir import Func
    from ..schedule.device import Gpu
    from . import cuda, cuda_launch
    from .prepared import Launch
else:
    cuda = lazy_import("fusewright.run.cuda")
    cuda_launch = lazy_import("fusewright.run.cuda_launch")


class Launcher(Protocol):
    """What a GPU does for kernels that are compiled already. Handles are the driver's own.

    One with an attribute `native`, a `prepared.Calls`, is launched on by machine code; one with a function `follow`,
    like `launch`, starts with that what waits for the launch before it, and may begin before that has ended.
    """

    def restore(self, code: bytes, launches: Sequence[Launch]) -> list[Any]:
        """A handle for each launch of a kernel from its machine code, in order. Raises RuntimeFault."""

    def scratch(self, nbytes: int) -> torch.Tensor:
        """Uninitialised device memory, uint8, aligned to 256 bytes."""

    def counters(self, count: int, stream: int) -> torch.Tensor:
        """32-bit words on the device, so many or more, zero when a kernel on the stream begins; it leaves them so."""

    def enter(self) -> int:
        """Make the device current; returns the stream to launch on."""

    def launch(self, handle: Any, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        """Start a kernel; `args` is the address of an array of pointers to its parameters. Raises RuntimeFault."""


class Driver(Launcher, Protocol):
    """What a GPU does for kernels that are to be compiled for it."""

    gpu: Gpu

    def versions(self) -> str:
        """What, beside a kernel's text, determines its code."""

    def compile(self, func: Func) -> bytes:
        """The code of `func`, to be kept. Raises CompilerError."""

    def compile_text(self, text: str) -> bytes:
        """The code of CUDA C++ that somebody has edited. Raises CompilerError."""

    def load(self, code: bytes, func: Func) -> list[Any]:
        """A handle for each launch of `func`, in order. Raises RuntimeFault."""

    def can_time(self) -> bool:
        """Whether launches can be timed now: not while they are captured."""

    def times(self, runs: Sequence[Callable[[], None]], rounds: int) -> list[float]:
        """Median seconds that each of `runs` keeps the device busy, in turns, from a cold L2 cache."""


_lock = threading.Lock()
_drivers: dict[torch.device, Driver] = {}
_launchers: dict[torch.device, Launcher] = {}
_replaced: dict[str, Driver] = {}
_elsewhere: ContextVar[Mapping[str, Driver]] = ContextVar("fusewright_devices", default=MappingProxyType({}))


def driver_for(device: torch.device) -> Driver | None:
    """The driver of a GPU; None for the CPU. Raises UserError when the GPU cannot be used."""
    elsewhere = _elsewhere.get().get(device.type)
    if elsewhere is not None:
        return elsewhere
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
    if device.type == "cpu" or device.type in _replaced or device.type in _elsewhere.get():
        return ""
    if device.type != "cuda":
        return f"device {device.type}"
    return cuda.missing(device)


def launcher_for(device: torch.device) -> Launcher:
    """What loads and launches compiled kernels on a GPU. Raises UserError when there is no such GPU."""
    ready: Any = _replaced.get(device.type) or _drivers.get(device) or _launchers.get(device)
    if ready is None:
        if device.type != "cuda" or not torch.cuda.is_available():
            raise UserError(f"there is no device {device} here")
        if (device.index or 0) >= torch.cuda.device_count():
            raise UserError(f"there is no device {device} here, only {torch.cuda.device_count()} GPUs")
        if cuda_launch.cu is None:
            raise UserError(f"kernels cannot run on {device}: {cuda_launch.NO_BINDINGS}")
        with _lock:
            ready = _launchers.setdefault(device, cuda_launch.Launcher(device))
    return ready  # type: ignore[no-any-return]


@contextmanager
def compiling_for(drivers: Mapping[str, Driver]) -> Iterator[None]:
    """Compile with these drivers, by type of device, for a block (in this context only), whatever devices there are."""
    token = _elsewhere.set(drivers)
    try:
        yield
    finally:
        _elsewhere.reset(token)


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
