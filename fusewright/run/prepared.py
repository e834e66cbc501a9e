"""A GPU kernel with its sizes: all that is left to a call are pointers. Knows nothing of Loop IR."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from ..core.options import current

if TYPE_CHECKING:
    from .devices import Launcher

ALIGN = 256  # bytes between scratch buffers
_FORMATS = {name: struct.Struct(form) for name, form in (("f64", "d"), ("f32", "f"), ("i64", "q"), ("i32", "i"))}


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel: its function, blocks, threads of a block, and bytes of dynamic shared memory.

    `blocks`: a number, or the name of a size parameter; of none nothing is launched. `dependent`: it waits for the
    launch before it, and may begin before that has ended.
    """

    name: str
    blocks: int | str
    threads: int
    shared: int
    dependent: bool = False


@dataclass(frozen=True, slots=True)
class Interface:
    """What a kernel takes, in the order of its parameters, and its launches.

    `buffers`: how many; `sizes`, `hosts`: (name, element type) of each; `scratch`: (elements, bytes of one) of each
    buffer in device memory, where elements are a number or the name of a size parameter; `counters`: how many 32-bit
    words it wants that are zero and that it leaves so (0: it takes no such pointer), in the same way.
    """

    buffers: int
    sizes: tuple[tuple[str, str], ...]
    hosts: tuple[tuple[str, str], ...]
    scratch: tuple[tuple[int | str, int], ...]
    launches: tuple[Launch, ...]
    counters: int | str = 0


@dataclass(frozen=True, slots=True)
class Calls:
    """What native code calls to launch on a device.

    `launch`: the address of `cuLaunchKernel`; `number`: the address that a handle is; `index`: the device, of which
    `stream(index)` is the stream's address; `device()`: the current device's number; `empty(size, stride, dtype)`: a
    tensor on that; `capturing()`: whether launches are recorded, and not made; `follow`: the address of
    `cuLaunchKernelEx`, 0 if there is none.
    """

    launch: int
    number: Callable[[Any], int]
    index: int
    device: Callable[[], int]
    stream: Callable[[int], int]
    empty: Callable[[Any, Any, torch.dtype], torch.Tensor]
    capturing: Callable[[], bool] = bool
    follow: int = 0


class Prepared:
    """A kernel with all its arguments but the pointers and host scalars. Call it with those, in the fusion's order.

    `sizes`: the kernel's size parameters by name; `launches`: (handle, blocks, threads, bytes of shared memory, whether
    it may begin before the one before it has ended); `follow`: makes those that may; `values`: the arguments, of 8
    bytes each; `pointers`, `scratches`: which of them; `offsets`: of the pieces of scratch memory; `hosts`: (element
    type, place in bytes, which one of a call's) of each host scalar; `counted`: words of counters, whose address is
    argument number `counters`. `native.py` has machine code launch the same.
    """

    __slots__ = (
        *("args", "counted", "counters", "driver", "follow", "hosts", "keep", "launches", "lock"),
        *("offsets", "pointers", "scratch_bytes", "scratches", "sizes", "values"),
    )

    def __init__(
        self, driver: Launcher, takes: Interface, handles: Sequence[Any], numbers: Sequence[int], hosts: Sequence[str]
    ):
        """`handles`: the driver's, one for each launch; `numbers`: the sizes; `hosts`: names of what a call gives."""
        self.sizes = by_name = dict(zip((name for name, _ in takes.sizes), numbers, strict=True))

        def number(n: int | str) -> int:
            return n if isinstance(n, int) else by_name[n]

        self.driver = driver
        self.lock = threading.Lock()
        self.offsets: list[int] = []
        self.scratch_bytes = 0
        for count, itemsize in takes.scratch:
            self.offsets.append(self.scratch_bytes)
            self.scratch_bytes += -(-number(count) * itemsize // ALIGN) * ALIGN
        self.counted = number(takes.counters)  # words of counters
        # All arguments, 8 bytes each: pointers, sizes, host scalars, scratch memory, counters; then their addresses.
        at = [0, takes.buffers, len(takes.sizes), len(takes.hosts), len(takes.scratch), int(takes.counters != 0)]
        first, host, last, self.counters, end = (sum(at[: k + 1]) for k in range(1, 6))
        self.values = (ctypes.c_uint64 * max(1, end))()
        where = ctypes.addressof(self.values)
        table = (ctypes.c_uint64 * max(1, end))(*range(where, where + 8 * end, 8))
        for k, ((_, dtype), n) in enumerate(zip(takes.sizes, numbers, strict=True), first):
            _FORMATS[dtype].pack_into(self.values, 8 * k, n)
        self.pointers = slice(0, first)
        self.scratches = slice(last, self.counters)
        self.hosts = [(dtype, 8 * k, hosts.index(name)) for k, (name, dtype) in enumerate(takes.hosts, host)]
        self.args = ctypes.addressof(table)
        self.keep = table
        follow = getattr(driver, "follow", None) if current().dependent_launch else None
        self.follow: Callable[..., None] = follow or driver.launch
        self.launches: list[tuple[Any, int, int, int, bool]] = []
        for h, s in zip(handles, takes.launches, strict=True):
            if (blocks := number(s.blocks)) > 0:
                # behind this kernel's own launches: who knows what others let begin
                dependent = s.dependent and bool(self.launches) and follow is not None
                self.launches.append((h, blocks, s.threads, s.shared, dependent))

    def __call__(self, *pointers: int, hosts: tuple[float, ...] = ()) -> None:
        self.run(pointers, hosts)

    def run(self, pointers: Sequence[int], hosts: Sequence[float] = (), first: int = 0, base: int = 0) -> None:
        """The launches from number `first` on; those before it have used scratch memory at the address `base`."""
        driver = self.driver
        stream = driver.enter()
        values = self.values
        counters: torch.Tensor | None = driver.counters(self.counted, stream) if self.counted else None
        scratch: torch.Tensor | None = None
        if self.scratch_bytes and not base:
            scratch = driver.scratch(self.scratch_bytes)  # alive until all is launched
            base = scratch.data_ptr()
        with self.lock:  # the arguments are copied when a kernel is launched
            values[self.pointers] = pointers  # type: ignore[call-overload]
            if base:
                values[self.scratches] = [base + n for n in self.offsets]
            if counters is not None:
                values[self.counters] = counters.data_ptr()
            for dtype, at, k in self.hosts:
                _FORMATS[dtype].pack_into(values, at, hosts[k])
            for handle, blocks, threads, shared, dependent in self.launches[first:] if first else self.launches:
                (self.follow if dependent else driver.launch)(handle, blocks, threads, shared, self.args, stream)
