"""One group on a GPU: schedules by size, kernels by schedule, and prepared launches.

A call looks up its sizes and the alignment of its tensors. What was seen before is a `Prepared` launch: all that
changes are pointers. New sizes run the scheduler; the kernel is the one at hand if the schedule is, which it usually
is.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from ..core.counters import count
from ..core.options import current, using
from ..emit.cuda import launches
from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..index.expr import Ix
from ..loop.gpu import lower_gpu
from ..loop.ir import Func, Imm
from ..loop.lower import Kernel
from ..loop.text import dump
from ..loop.verify import verify
from ..schedule.gpu import ACCESS, GpuSchedule, Hint, plan
from ..schedule.naming import kernel_name
from .code import code_for, generator_digest
from .devices import Driver

MEMO_LIMIT = 4096  # prepared launches remembered per group
ALIGN = 256  # bytes between scratch buffers
_CTYPES: dict[str, Any] = {
    "f64": ctypes.c_double,
    "f32": ctypes.c_float,
    "i64": ctypes.c_int64,
    "i32": ctypes.c_int32,
}

_lock = threading.Lock()
_kernels: dict[tuple[int, str], GpuKernel] = {}
_making: dict[tuple[int, str], threading.Lock] = {}


@dataclass(slots=True)
class GpuKernel:
    """A kernel on one device: a handle for each of its launches."""

    key: str
    func: Func
    handles: list[Any]
    origin: str  # "compiled", "disk", "external"
    seconds: float
    made: float = field(default_factory=time.perf_counter)  # when
    source: str = ""  # what it was made from, if people edited that


def key_of(func: Func, driver: Driver) -> str:
    """The key of a kernel: its Loop IR text, the device and the toolchain."""
    text = f"{dump(func)} {driver.versions()} {generator_digest('cuda*.py')}"
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def kernel_for(func: Func, driver: Driver) -> GpuKernel:
    """The compiled form of `func`; compiles at most once per content. Raises CompilerError or RuntimeFault."""
    key = key_of(func, driver)
    at = (id(driver), key)
    if not current().kernel_reuse:
        return _make(key, func, driver)
    found = _kernels.get(at)
    if found is None:
        with _lock:
            mine = _making.setdefault(at, threading.Lock())
        with mine:  # one lock for each kernel: different ones are compiled at the same time
            found = _kernels.get(at)
            if found is None:
                found = _kernels[at] = _make(key, func, driver)
                return found
    count("kernels_reused")
    return found


def _make(key: str, func: Func, driver: Driver) -> GpuKernel:
    start = time.perf_counter()

    def make() -> bytes:
        verify(func)
        return driver.compile(func)

    code, origin = code_for(key, len(func.bufs), make)
    return GpuKernel(key, func, driver.load(code, func), origin, time.perf_counter() - start)


def from_source(func: Func, text: str, driver: Driver) -> GpuKernel:
    """A kernel from CUDA C++ that somebody has edited, in place of what is generated for `func`; kept nowhere.

    Raises CompilerError or RuntimeFault.
    """
    start = time.perf_counter()
    handles = driver.load(driver.compile_text(text), func)
    key = f"external-{key_of(func, driver)}"
    return GpuKernel(key, func, handles, "external", time.perf_counter() - start, source=text)


class Prepared:
    """A kernel with all its arguments but the pointers and host scalars. Call it with those, in the fusion's order."""

    __slots__ = (
        *("args", "driver", "hosts", "keep", "launches", "lock"),
        *("offsets", "order", "pointers", "scratch_bytes", "scratches"),
    )

    def __init__(self, driver: Driver, kernel: Kernel, code: GpuKernel, numbers: list[int], hosts: list[str]):
        func = kernel.func
        by_name = dict(zip((r.name for r in func.sizes), numbers, strict=True))

        def number(a: Any) -> int:
            return int(a.value) if isinstance(a, Imm) else by_name[a.name]

        self.driver = driver
        self.lock = threading.Lock()
        scratch = [a for a in func.allocs if a.scope == "grid"]
        self.offsets: list[int] = []
        self.scratch_bytes = 0
        for a in scratch:
            self.offsets.append(self.scratch_bytes)
            self.scratch_bytes += -(-number(a.count) * a.buf.dtype.itemsize // ALIGN) * ALIGN
        self.pointers = (ctypes.c_uint64 * max(1, len(func.bufs)))()
        self.scratches = (ctypes.c_uint64 * max(1, len(scratch)))()
        sizes = [_CTYPES[r.dtype.name](n) for r, n in zip(func.sizes, numbers, strict=True)]
        self.hosts = [_CTYPES[r.dtype.name]() for r in func.hosts]
        self.order = [hosts.index(r.name) for r in func.hosts]
        addresses = [ctypes.addressof(self.pointers) + 8 * k for k in range(len(func.bufs))]
        addresses += [ctypes.addressof(c) for c in (*sizes, *self.hosts)]
        addresses += [ctypes.addressof(self.scratches) + 8 * k for k in range(len(scratch))]
        table = (ctypes.c_uint64 * max(1, len(addresses)))(*addresses)
        self.args = ctypes.addressof(table)
        self.keep = (sizes, table)
        self.launches = [
            (h, number(s.blocks), s.threads, s.shared)
            for h, s in zip(code.handles, launches(func), strict=True)
            if number(s.blocks) > 0
        ]

    def __call__(self, *pointers: int, hosts: tuple[float, ...] = ()) -> None:
        driver = self.driver
        stream = driver.enter()
        scratch: torch.Tensor | None = driver.scratch(self.scratch_bytes) if self.scratch_bytes else None
        with self.lock:  # the arguments are copied when a kernel is launched
            self.pointers[: len(pointers)] = pointers  # type: ignore[call-overload]
            if scratch is not None:
                base = scratch.data_ptr()
                self.scratches[:] = [base + n for n in self.offsets]
            for c, k in zip(self.hosts, self.order, strict=True):
                c.value = hosts[k]
            for handle, blocks, threads, shared in self.launches:
                driver.launch(handle, blocks, threads, shared, self.args, stream)


class GpuGroup:
    """How one group's fusion runs on a device.

    `symbols`: the size symbols it depends on. `memo[symbols..., alignment]` is a prepared launch, or None when the
    kernel for these sizes could not be made (`failed` has been told). `schedule`: the latest. `notes`: the operations,
    for people. `options`: in force while kernels are made. `allow(family)` raises Refusal for schedules that are not
    wanted, `made(schedule)` is told of every new kernel. `choose(hint, alignment)` gives what people have chosen in
    place of `gpu.plan`, or None; `compile` makes machine code of a kernel.
    """

    def __init__(self, fusion: Fusion, driver: Driver, failed: Callable[[Exception], None], notes: list[str]):
        self.fusion = fusion
        self.notes = notes
        self.driver = driver
        self.failed = failed
        self.memo: dict[Any, Prepared | None] = {}
        self.kernels: dict[GpuSchedule, tuple[Kernel, GpuKernel]] = {}
        self.lowered: dict[GpuSchedule, Kernel] = {}
        self.symbols = sorted(_symbols(fusion))
        self.schedule: GpuSchedule | None = None
        self.options = current()
        self.allow: Callable[[str], None] = lambda family: None
        self.made: Callable[[GpuSchedule], None] = lambda schedule: None
        self.choose: Callable[[Hint, int], tuple[Fusion, GpuSchedule, dict[str, int]] | None] | None = None
        self.compile: Callable[[Func, Driver], GpuKernel] = kernel_for

    def kernel(self, hint: Callable[[Ix], int], alignment: int = ACCESS) -> tuple[Kernel, GpuKernel, dict[str, int]]:
        """The kernel for sizes as `hint` says and buffers at multiples of `alignment` bytes, and its launch's sizes."""
        k, schedule, extra = self.lower(hint, alignment)
        self.schedule = schedule
        found = self.kernels.get(schedule)
        if found is None:
            found = self.kernels[schedule] = (k, self.compile(k.func, self.driver))
            self.made(schedule)
        return (*found, extra)

    def lower(self, hint: Callable[[Ix], int], alignment: int = ACCESS) -> tuple[Kernel, GpuSchedule, dict[str, int]]:
        """As `kernel`, without compiling: the Loop IR, its schedule, and the launch's sizes."""
        chosen = None if self.choose is None else self.choose(hint, alignment)
        f, schedule, extra = chosen or plan(self.fusion, hint, self.driver.gpu, lambda b: alignment)
        k = self.lowered.get(schedule)
        if k is None:
            self.allow(schedule.family)
            k = self.lowered[schedule] = lower_gpu(f, schedule, kernel_name(f, schedule.family))
            k.func.notes = self.notes
        return k, schedule, extra

    def make(self, *key: int) -> Prepared | None:
        """Prepare, and remember, the launch for a key of `memo`."""
        *values, low = key
        alignment = ACCESS
        while low % alignment:
            alignment //= 2
        env: dict[str, int] = dict(zip(self.symbols, values, strict=True))
        entry: Prepared | None = None
        try:
            with using(self.options):
                kernel, code, extra = self.kernel(_sizes(env), alignment)
            numbers = kernel.evaluate({**env, **extra})
            entry = Prepared(self.driver, kernel, code, numbers, list(self.fusion.hosts))
        except Exception as e:
            self.failed(e)
        if len(self.memo) >= MEMO_LIMIT:
            self.memo.clear()
        self.memo[key] = entry
        return entry


def _sizes(env: Mapping[str, int]) -> Callable[[Ix], int]:
    known: dict[Ix, int] = {}

    def size(e: Ix) -> int:
        n = known.get(e)
        if n is None:
            n = known[e] = int(e.evaluate(env))
        return n

    return size


def _symbols(f: Fusion) -> set[str]:
    """Size symbols that a fusion's extents, strides, offsets and numbers are made of."""
    every: list[Ix] = [n for b in f.buffers for n in (*b.shape, *b.strides)]
    every += [a.extent for a in f.axes if a.extent is not None]
    every += [s.offset for s in f.stages if s.offset is not None]
    for e in sc.walk([s.body for s in f.stages] + [c for c, _ in f.checks]):
        every.extend(e.indices())
    return {a.name for e in every for a in e.atoms() if a.kind == "sym"}
