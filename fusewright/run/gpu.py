"""One group on a GPU: schedules by size, kernels by schedule, and prepared launches.

A call looks up its sizes and the alignment of its tensors. What was seen before is a `Prepared` launch: all that
changes are pointers. For new sizes there usually is a `Rule`, which says in microseconds whether the scheduler would
decide as it did before, and what the kernel's numbers are. Else the scheduler runs, and leaves another rule.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import torch

from ..core.counters import count
from ..core.options import current, using
from ..emit.cuda import Launch, launches
from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..index.expr import Ix
from ..index.traced import Trace, Traced, settled, source
from ..loop.gpu import lower_gpu
from ..loop.ir import Func, Imm
from ..loop.lower import Kernel
from ..loop.text import dump
from ..loop.verify import verify
from ..schedule.gpu import plan
from ..schedule.gpu_base import ACCESS, GpuSchedule, Hint
from ..schedule.naming import kernel_name
from .code import code_for, generator_digest
from .devices import Driver

MEMO_LIMIT = 4096  # prepared launches remembered per group
RULES = 8  # remembered per group and alignment
ALIGN = 256  # bytes between scratch buffers
_FORMATS = {name: struct.Struct(form) for name, form in (("f64", "d"), ("f32", "f"), ("i64", "q"), ("i32", "i"))}

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
    launches: list[Launch] = field(init=False)

    def __post_init__(self) -> None:
        self.launches = launches(self.func)


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
        *("offsets", "pointers", "scratch_bytes", "scratches", "values"),
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
        # All arguments, 8 bytes each: pointers, sizes, host scalars, scratch memory; then their addresses.
        at = [0, len(func.bufs), len(func.sizes), len(func.hosts), len(scratch)]
        first, host, last, end = (sum(at[: k + 1]) for k in range(1, 5))
        self.values = (ctypes.c_uint64 * max(1, end))()
        where = ctypes.addressof(self.values)
        table = (ctypes.c_uint64 * max(1, end))(*range(where, where + 8 * end, 8))
        for k, (r, n) in enumerate(zip(func.sizes, numbers, strict=True), first):
            _FORMATS[r.dtype.name].pack_into(self.values, 8 * k, n)
        self.pointers = slice(0, first)
        self.scratches = slice(last, end)
        self.hosts = [
            (_FORMATS[r.dtype.name].pack_into, 8 * k, hosts.index(r.name)) for k, r in enumerate(func.hosts, host)
        ]
        self.args = ctypes.addressof(table)
        self.keep = table
        self.launches = [
            (h, number(s.blocks), s.threads, s.shared)
            for h, s in zip(code.handles, code.launches, strict=True)
            if number(s.blocks) > 0
        ]

    def __call__(self, *pointers: int, hosts: tuple[float, ...] = ()) -> None:
        driver = self.driver
        stream = driver.enter()
        values = self.values
        scratch: torch.Tensor | None = driver.scratch(self.scratch_bytes) if self.scratch_bytes else None
        with self.lock:  # the arguments are copied when a kernel is launched
            values[self.pointers] = pointers  # type: ignore[call-overload]
            if scratch is not None:
                base = scratch.data_ptr()
                values[self.scratches] = [base + n for n in self.offsets]
            if hosts:
                for pack, at, k in self.hosts:
                    pack(values, at, hosts[k])
            for handle, blocks, threads, shared in self.launches:
                driver.launch(handle, blocks, threads, shared, self.args, stream)


class GpuGroup:
    """How one group's fusion runs on a device.

    `symbols`: the size symbols it depends on. `memo[symbols..., alignment]` is a prepared launch, or None when the
    kernel for these sizes could not be made (`failed` has been told). `schedule`: the latest. `notes`: the operations,
    for people. `options`: in force while kernels are made. `allow(family)` raises Refusal for schedules that are not
    wanted, `made(schedule)` is told of every new kernel. `choose(hint, alignment)` gives what people have chosen in
    place of `gpu.plan`, or None; `compile` makes machine code of a kernel; `meanwhile` gives what can be
    launched for new sizes without compiling; `tune` what is called in place of a prepared launch, until it has found a
    better one.
    """

    def __init__(self, fusion: Fusion, driver: Driver, failed: Callable[[Exception], None], notes: list[str]):
        self.fusion = fusion
        self.notes = notes
        self.driver = driver
        self.failed = failed
        self.memo: dict[Any, Prepared | None] = {}
        self.rules: dict[int, list[Rule]] = {}  # by alignment, the latest first
        self.kernels: dict[GpuSchedule, tuple[Kernel, GpuKernel]] = {}
        self.lowered: dict[GpuSchedule, Kernel] = {}
        self.symbols = sorted(_symbols(fusion))
        self.schedule: GpuSchedule | None = None
        self.options = current()
        self.allow: Callable[[str], None] = lambda family: None
        self.made: Callable[[GpuSchedule], None] = lambda schedule: None
        self.choose: Callable[[Hint, int], tuple[Fusion, GpuSchedule, dict[str, int]] | None] | None = None
        self.compile: Callable[[Func, Driver], GpuKernel] = kernel_for
        self.meanwhile: Callable[[GpuGroup, tuple[int, ...], dict[str, int], int], Any] | None = None
        self.tune: Callable[[GpuGroup, tuple[int, ...], Prepared, Hint, int], Any] | None = None

    def kernel(self, hint: Callable[[Ix], int], alignment: int = ACCESS) -> tuple[Kernel, GpuKernel, dict[str, int]]:
        """The kernel for sizes as `hint` says and buffers at multiples of `alignment` bytes, and its launch's sizes."""
        k, schedule, extra = self.lower(hint, alignment)
        return (*self.compiled(k, schedule), extra)

    def compiled(self, k: Kernel, schedule: GpuSchedule) -> tuple[Kernel, GpuKernel]:
        """The kernel of a schedule, with its machine code."""
        self.schedule = schedule
        found = self.kernels.get(schedule)
        if found is None:
            found = self.kernels[schedule] = (k, self.compile(k.func, self.driver))
            self.made(schedule)
        return found

    def lower(self, hint: Callable[[Ix], int], alignment: int = ACCESS) -> tuple[Kernel, GpuSchedule, dict[str, int]]:
        """As `kernel`, without compiling: the Loop IR, its schedule, and the launch's sizes."""
        chosen = None if self.choose is None else self.choose(hint, alignment)
        f, schedule, extra = chosen or plan(self.fusion, hint, self.driver.gpu, lambda b: alignment)
        schedule = _settled(schedule)
        k = self.lowered.get(schedule)
        if k is None:
            self.allow(schedule.family)
            k = self.lowered[schedule] = lower_gpu(f, schedule, kernel_name(f, schedule.family))
            k.func.notes = self.notes
        return k, schedule, extra

    def wanted(self, hint: Callable[[Ix], int], alignment: int) -> GpuSchedule:
        """What the scheduler chooses for sizes, without lowering it."""
        _, schedule, _ = plan(self.fusion, hint, self.driver.gpu, lambda b: alignment)
        return _settled(schedule)

    def make(self, *key: int) -> Prepared | None:
        """Prepare, and remember, the launch for a key of `memo`."""
        *values, low = key
        alignment = ACCESS
        while low % alignment:
            alignment //= 2
        env: dict[str, int] = dict(zip(self.symbols, values, strict=True))
        entry: Any = None
        try:
            found = self.known(values, alignment)
            if found is None and self.meanwhile is not None and self.tune is None:
                entry = self.meanwhile(self, key, env, alignment)
            if entry is None:
                kernel, code, numbers = found or self.new(env, alignment)
                entry = Prepared(self.driver, kernel, code, numbers, list(self.fusion.hosts))
            if self.tune is not None and self.choose is None:
                entry = self.tune(self, key, entry, sizes_of(env), alignment)
        except Exception as e:
            self.failed(e)
        if len(self.memo) >= MEMO_LIMIT:
            self.memo.clear()
        self.memo[key] = entry
        return entry

    def known(self, values: list[int], alignment: int) -> tuple[Kernel, GpuKernel, list[int]] | None:
        """The kernel for sizes like others before, and its numbers."""
        for rule in self.rules.get(alignment, ()):
            try:
                numbers = rule.numbers(*values)
            except (ArithmeticError, ValueError):  # as the scheduler will
                continue
            if numbers is not None:
                self.schedule = rule.schedule
                return rule.kernel, rule.code, list(numbers)
        return None

    def new(self, env: dict[str, int], alignment: int) -> tuple[Kernel, GpuKernel, list[int]]:
        """The kernel for sizes for which there is no rule, and its numbers; leaves a rule for sizes like these."""
        with using(self.options):
            if self.choose is None:
                trace = Trace(self.symbols)
                k, schedule, extra = self.lower(_traced(trace, env), alignment)
                kernel, code = self.compiled(k, schedule)
                rule = Rule(trace, kernel, code, schedule, extra)
                self.rules[alignment] = [rule, *self.rules.get(alignment, ())][:RULES]
                extra = {name: n.value if isinstance(n, Traced) else n for name, n in extra.items()}
            else:
                kernel, code, extra = self.kernel(sizes_of(env), alignment)
            return kernel, code, kernel.evaluate({**env, **extra})


class Rule:
    """For which sizes a kernel is the one to run, and its size parameters: `numbers(*sizes)`, None for other sizes."""

    __slots__ = ("code", "kernel", "numbers", "schedule")

    def __init__(self, trace: Trace, kernel: Kernel, code: GpuKernel, schedule: GpuSchedule, extra: Mapping[str, Any]):
        self.kernel, self.code, self.schedule = kernel, code, schedule
        trace.lines += [f"{name} = {source(n)}" for name, n in extra.items()]
        texts = [e.text() for e in kernel.sizes]
        self.numbers = trace.function([f"max({t}, 1)" if k in kernel.divisors else t for k, t in enumerate(texts)])


def _settled(s: GpuSchedule) -> GpuSchedule:
    """A schedule of plain numbers."""
    plain = {f.name: settled(getattr(s, f.name)) for f in fields(s)}
    return s if all(x is getattr(s, name) for name, x in plain.items()) else replace(s, **plain)


def _traced(trace: Trace, env: Mapping[str, int]) -> Callable[[Ix], Any]:
    """Sizes that record what is done with them."""
    size = sizes_of(env)

    def traced(e: Ix) -> Any:
        n = e.as_int()
        return trace.number(e.text(), size(e)) if n is None else n

    return traced


def sizes_of(env: Mapping[str, int]) -> Callable[[Ix], int]:
    """Evaluates expressions with the values of symbols; each once."""
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
