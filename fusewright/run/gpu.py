"""One group on a GPU: schedules by size, kernels by schedule, and prepared launches.

A call looks up its sizes and the alignment of its tensors. What was seen before is a `Prepared` launch: all that
changes are pointers. For new sizes there usually is a `Rule`, which says in microseconds whether the scheduler would
decide as it did before, and what the kernel's numbers are. Else the scheduler runs, and leaves another rule.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..build import nvrtc
from ..core.counters import count
from ..core.options import current, using
from ..emit.cuda import emit_cuda, launches
from ..emit.cuda_types import CudaTarget
from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..index.expr import Ix, sym
from ..index.traced import Trace, Traced, settled, source
from ..loop.gpu import lower_gpu, overlapped
from ..loop.ir import Arg, Func, Grid, Imm
from ..loop.lower import Kernel
from ..loop.text import dump
from ..loop.verify import verify
from ..schedule.gpu import plan
from ..schedule.gpu_base import ACCESS, GpuSchedule, Hint, Settled, reach
from ..schedule.naming import kernel_name
from .code import code_for, generator_digest
from .devices import Driver
from .prepared import Interface, Launch, Prepared

if TYPE_CHECKING:
    import torch

    from .specialize import StandIn

MEMO_LIMIT = 4096  # prepared launches remembered per group
RULES = 8  # remembered per group and alignment
SPILLED = 96  # bytes of a thread: as measured, resident blocks beside each other gain more than that costs

_lock = threading.Lock()
_kernels: WeakKeyDictionary[Driver, dict[str, GpuKernel]] = WeakKeyDictionary()
_making: WeakKeyDictionary[Driver, dict[str, threading.Lock]] = WeakKeyDictionary()


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
    code: bytes = b""  # the driver's
    takes: Interface = field(init=False)

    def __post_init__(self) -> None:
        self.takes = interface(self.func)
        if self.source:  # nobody knows that its launches wait for those before
            plain = tuple(replace(x, dependent=False) for x in self.takes.launches)
            self.takes = replace(self.takes, launches=plain)


Found = tuple[Kernel, GpuKernel, list[int]]  # a kernel, its code, and the size parameters of a launch


def interface(func: Func) -> Interface:
    """What a kernel takes, for those who launch it."""

    def number(a: Arg) -> int | str:
        return int(a.value) if isinstance(a, Imm) else a.name

    return Interface(
        len(func.bufs),
        tuple((r.name, r.dtype.name) for r in func.sizes),
        tuple((r.name, r.dtype.name) for r in func.hosts),
        tuple((number(a.count), a.buf.dtype.itemsize) for a in func.allocs if a.scope == "grid"),
        tuple(Launch(x.name, number(x.blocks), x.threads, x.shared, x.dependent) for x in launches(func)),
        next((number(a.count) for a in func.allocs if a.scope == "counters"), 0),
    )


def cubin_of(func: Func, target: CudaTarget, compile_text: Callable[[str], bytes]) -> bytes:
    """The machine code of a kernel, its registers bounded for `Grid.beside` unless that spills more than a few."""
    cubin = compile_text(emit_cuda(func, target))
    together = any(isinstance(g, Grid) and g.beside > 1 for g in func.body)
    if together and max(r.stack for r in nvrtc.report(cubin)) > SPILLED:
        cubin = compile_text(emit_cuda(func, target, bounded=False))
    return cubin


def key_of(func: Func, driver: Driver) -> str:
    """The key of a kernel: its Loop IR text, the device and the toolchain."""
    text = f"{dump(func)} {driver.versions()} {generator_digest('cuda*.py')}"
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def kernel_for(func: Func, driver: Driver) -> GpuKernel:
    """The compiled form of `func`; compiles at most once per content. Raises CompilerError or RuntimeFault."""
    key = key_of(func, driver)
    if not current().kernel_reuse:
        return _make(key, func, driver)
    with _lock:
        there = _kernels.setdefault(driver, {})
        found = there.get(key)
        mine = _making.setdefault(driver, {}).setdefault(key, threading.Lock())
    if found is None:
        with mine:  # one lock for each kernel: different ones are compiled at the same time
            found = there.get(key)
            if found is None:
                found = there[key] = _make(key, func, driver)
                return found
    count("kernels_reused")
    return found


def _make(key: str, func: Func, driver: Driver) -> GpuKernel:
    start = time.perf_counter()

    def make() -> bytes:
        verify(func)
        return driver.compile(func)

    code, origin = code_for(key, func, "sm_{}{}".format(*driver.gpu.capability), make)
    handles = driver.load(code, func)
    return GpuKernel(key, func, handles, origin, time.perf_counter() - start, code=code)


def from_source(func: Func, text: str, driver: Driver) -> GpuKernel:
    """A kernel from CUDA C++ that somebody has edited, in place of what is generated for `func`; kept nowhere.

    Raises CompilerError or RuntimeFault.
    """
    start = time.perf_counter()
    handles = driver.load(driver.compile_text(text), func)
    key = f"external-{key_of(func, driver)}"
    return GpuKernel(key, func, handles, "external", time.perf_counter() - start, source=text)


@dataclass(frozen=True, slots=True)
class Decision:
    """The schedule for the sizes `env` and buffers at multiples of `alignment` bytes, not lowered yet.

    `fusion`: with the axes that `schedule` names; `launch`: values of the kernel's own symbols; `rule`: for which sizes
    the scheduler decides the same, as lines of a function of them; None where people have chosen.
    """

    env: dict[str, int]
    alignment: int
    fusion: Fusion
    schedule: GpuSchedule
    launch: dict[str, int]
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Ahead:
    """What is being compiled for the first sizes: `kernel`, and perhaps one in which its size parameters, `numbers`,
    are numbers."""

    kernel: Kernel
    numbers: list[int]
    general: Future[GpuKernel]
    special: Future[Func] | None


class GpuGroup:
    """How one group's fusion runs on a device.

    `symbols`: the size symbols it depends on. `memo[symbols..., alignment]` is a prepared launch, or None when the
    kernel for these sizes could not be made (`failed` has been told). `schedule`: the latest. `notes`: the operations,
    for people. `options`: in force while kernels are made. `allow(family)` raises Refusal for schedules that are not
    wanted, `made(schedule)` is told of every new kernel. `choose(hint, alignment)` gives what people have chosen in
    place of `gpu.plan`, or None; `compile` makes machine code of a kernel; `meanwhile(group, key, decision)` gives
    what can be launched for new sizes without compiling, or None; `tune` what is called in place of a prepared launch,
    until it has found a better one. `hot(group, key, found, entry)` gives what is called in place of the launch `entry`
    of a general kernel (`found`: what `known` gives), until it is known whether one for these sizes only is faster;
    `special`: those that are, by key; `made_special(special)` is told of every one that is compiled. `ahead`: what
    others compile for the first launch. `stand_ins`: by alignment, the latest first; what `meanwhile` has found for
    other sizes and may do for these.
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
        self.latest: tuple[tuple[int, ...], Settled] | None = None  # what was planned last, for which sizes
        self.options = current()
        self.allow: Callable[[str], None] = lambda family: None
        self.made: Callable[[GpuSchedule], None] = lambda schedule: None
        self.choose: Callable[[Hint, int], Settled | None] | None = None
        self.compile: Callable[[Func, Driver], GpuKernel] = kernel_for
        self.meanwhile: Callable[[GpuGroup, tuple[int, ...], Decision], Any] | None = None
        self.hot: Callable[[GpuGroup, tuple[int, ...], Found, Prepared], Any] | None = None
        self.special: dict[tuple[int, ...], Any] = {}
        self.made_special: Callable[[Any], None] = lambda special: None
        self.ahead: Ahead | None = None
        self.stand_ins: dict[int, list[StandIn]] = {}
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
        f, schedule, extra = self.scheduled(hint, alignment)
        return self.lowering(f, schedule), schedule, extra

    def scheduled(self, hint: Callable[[Ix], int], alignment: int = ACCESS) -> Settled:
        """What people have chosen for these sizes, else what the scheduler says, of plain numbers."""
        if self.choose is not None and (chosen := self.choose(hint, alignment)) is not None:
            f, schedule, extra = chosen
            return f, plain(schedule), extra
        sizes = (alignment, *(hint(sym(s)) for s in self.symbols))
        seen = any(isinstance(n, Traced) for n in sizes)  # by somebody who wants to see how it is decided
        if not seen and self.latest is not None and self.latest[0] == sizes:
            return self.latest[1]  # groups that are alike ask one after the other
        f, schedule, extra = plan(self.fusion, hint, self.driver.gpu, lambda b: alignment)
        found = f, plain(schedule), extra
        if not seen:
            self.latest = sizes, found
        return found

    def lowering(self, f: Fusion, schedule: GpuSchedule) -> Kernel:
        """The Loop IR of a schedule, made once. Raises Refusal for a family that is not wanted."""
        k = self.lowered.get(schedule)
        if k is None:
            self.allow(schedule.family)
            k = self.lowered[schedule] = self._lower(f, schedule)
        return k

    def _lower(self, f: Fusion, schedule: GpuSchedule) -> Kernel:
        k = lower_gpu(f, schedule, kernel_name(f, schedule.family))
        if self.options.dependent_launch and self.driver.gpu.dependent_launches:
            overlapped(k.func)
        k.func.notes = self.notes
        return k

    def takes_scratch(self) -> bool:
        """Whether a kernel takes memory of its own on the device."""
        return any(a.scope == "grid" for k in self.lowered.values() for a in k.func.allocs)

    def prepared(self, kernel: Kernel, code: GpuKernel, numbers: list[int]) -> Prepared:
        """The launch of a kernel whose size parameters are `numbers`."""
        return Prepared(self.driver, code.takes, code.handles, numbers, list(self.fusion.hosts))

    def trial(self, settled: Settled, env: Mapping[str, int]) -> Prepared:
        """The launch of any legal schedule, of which nothing is remembered; from any thread.

        Raises CompilerError or RuntimeFault.
        """
        f, schedule, extra = settled
        with using(self.options):
            kernel = self._lower(f, schedule)
            code = self.compile(kernel.func, self.driver)
            return self.prepared(kernel, code, kernel.evaluate({**env, **extra}))

    def sizes_at(self, key: Sequence[int]) -> tuple[dict[str, int], int]:
        """(values of the symbols, alignment in bytes) that a key of `memo` stands for."""
        *values, low = key
        alignment = ACCESS
        while low % alignment:
            alignment //= 2
        return dict(zip(self.symbols, values, strict=True)), alignment

    def make(self, *key: int) -> Prepared | None:
        """Prepare, and remember, the launch for a key of `memo`."""
        env, alignment = self.sizes_at(key)
        entry: Any = None
        try:
            found = self.known(key[:-1], alignment)
            if found is None:
                entry = next((e for x in self.stand_ins.get(alignment, ()) if (e := x.launch(self, key))), None)
            if found is None and entry is None:
                decision = self.decide(env, alignment)
                if self.meanwhile is not None and self.tune is None:
                    entry = self.meanwhile(self, key, decision)
                if entry is None:
                    found = self.new(decision)
            if found is not None:
                entry = self.launched(key, found)
            if self.tune is not None and self.choose is None:
                entry = self.tune(self, key, entry, sizes_of(env), alignment)
        except Exception as e:
            self.failed(e)
        if len(self.memo) >= MEMO_LIMIT:
            self.memo.clear()
        self.memo[key] = entry
        return entry

    def launched(self, key: tuple[int, ...], found: Found) -> Any:
        """What is called for a key from now on, with this kernel."""
        entry = self.prepared(*found)
        tuned = self.tune is not None and self.choose is None
        return entry if self.hot is None or tuned else self.hot(self, key, found, entry)

    def known(self, values: Sequence[int], alignment: int) -> Found | None:
        """The kernel for sizes like others before, and its numbers."""
        for rule in self.rules.get(alignment, ()):
            numbers = rule.at(values)
            if numbers is not None:
                self.schedule = rule.schedule
                return rule.kernel, rule.code, numbers
        return None

    def decide(self, env: dict[str, int], alignment: int) -> Decision:
        """Find the schedule for sizes for which there is no rule."""
        with using(self.options):
            if self.choose is not None:
                return Decision(env, alignment, *self.scheduled(sizes_of(env), alignment))
            trace = Trace(self.symbols)
            f, schedule, extra = self.scheduled(traced(trace, env), alignment)
            lines = [*trace.lines, *(f"{name} = {source(n)}" for name, n in extra.items())]
            launch = {name: n.value if isinstance(n, Traced) else n for name, n in extra.items()}
            # Decisions may be kept for long, and many are the same: one text for them all, and none of the trace.
            return Decision(env, alignment, f, schedule, launch, sys.intern("\n".join(lines)))

    def new(self, d: Decision) -> Found:
        """The kernel that was decided on, and its numbers; leaves a rule for sizes like these."""
        with using(self.options):
            kernel, code = self.compiled(self.lowering(d.fusion, d.schedule), d.schedule)
            if d.rule is not None:
                rule = Rule(self.symbols, d.rule, kernel, code, d.schedule)
                self.rules[d.alignment] = [rule, *self.rules.get(d.alignment, ())][:RULES]
            return kernel, code, kernel.evaluate({**d.env, **d.launch})


class Rule:
    """For which sizes a kernel is the one to run, and its size parameters: `numbers(*sizes)`, None for other sizes.

    `text`: the rule of a `Decision`.
    """

    __slots__ = ("code", "kernel", "numbers", "schedule")

    def __init__(self, symbols: Sequence[str], text: str, kernel: Kernel, code: GpuKernel, schedule: GpuSchedule):
        self.kernel, self.code, self.schedule = kernel, code, schedule
        trace = Trace(symbols)
        trace.lines = text.splitlines()
        texts = [e.text() for e in kernel.sizes]
        self.numbers = trace.function([f"max({t}, 1)" if k in kernel.divisors else t for k, t in enumerate(texts)])

    def at(self, sizes: Sequence[int]) -> list[int] | None:
        """The size parameters for these sizes; None if they are others."""
        try:
            numbers = self.numbers(*sizes)
        except (ArithmeticError, ValueError):  # as the scheduler will
            return None
        return None if numbers is None else list(numbers)


def plain(s: GpuSchedule) -> GpuSchedule:
    """A schedule of plain numbers."""
    plain = {f.name: settled(getattr(s, f.name)) for f in fields(s)}
    return s if all(x is getattr(s, name) for name, x in plain.items()) else replace(s, **plain)


def traced(trace: Trace, env: Mapping[str, int]) -> Callable[[Ix], Any]:
    """Sizes that record what is done with them."""
    size = sizes_of(env)

    def traced(e: Ix) -> Any:
        n = e.as_int()
        return trace.number(e.text(), size(e)) if n is None else n

    return traced


def elsewhere(
    group: GpuGroup, pointers: Sequence[int], size: Hint, outputs: Iterable[int]
) -> tuple[list[torch.Tensor], list[int]]:
    """(memory, pointers): those of a call, with memory of their own for the buffers of these numbers."""
    group.driver.enter()
    memory, there = [], list(pointers)
    for k in outputs:
        b = group.fusion.buffers[k]
        memory.append(group.driver.scratch(max(1, 1 + reach(b, size)) * b.dtype.itemsize))
        there[k] = memory[-1].data_ptr()
    return memory, there


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
    every += [s.origin.key for s in f.stages if s.origin is not None]
    others = [e for s in f.stages for e in s.others()]
    for e in sc.walk([s.body for s in f.stages] + others + [c for c, _ in f.checks]):
        every.extend(e.indices())
    return {a.name for e in every for a in e.atoms() if a.kind == "sym"}
