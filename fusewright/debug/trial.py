"""Other schedules and sources for a kernel of a report: try them, time them, pin them for the program.

    report = fusewright.explain(f, x)
    k = report.kernels[0]
    s = fusewright.schedule_of(k).bind("i1", "vector", 8)
    print(fusewright.try_schedule(k, s))        # right or not, and both times
    fusewright.pin(k, s)                        # from now on; fusewright.unpin(k) takes it back

A kernel is anything with the plan of a group and the graph that it is in: an entry of `Report.kernels`, or a pair of
`record.GraphRecord` and `record.GroupRecord`.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ..build.pins import Pin, pins
from ..core.errors import UserError
from ..core.lexer import ParseError
from ..core.options import using
from ..core.warn import warn
from ..fusion.ir import Fusion, Stage
from ..index.expr import Ix
from ..loop.gpu import lower_gpu
from ..loop.lower import Kernel, lower
from ..run import gpu, inplace, kernels, pool
from ..run.gpu import GpuKernel, Prepared
from ..run.kernels import CompiledKernel, size_table, target
from ..run.launch import last_level_cache, threads
from ..run.plan import GroupPlan
from ..schedule import edit, legal_gpu
from ..schedule.cpu import Machine, Schedule
from ..schedule.edit import EDITED, Edit
from ..schedule.gpu_base import GpuSchedule
from ..schedule.gpu_scatter import LAUNCH
from ..schedule.legal_gpu import Sizes
from ..schedule.naming import kernel_name
from ..schedule.text import Script, parse_one
from ..trace.types import TO_TORCH
from . import repro, sources
from .precision import FACTOR, PROBES, Deviation, Run, compare, in_float64
from .program import Program, of_group
from .record import GraphRecord, GroupRecord
from .steer import cpu_facts, gpu_facts

ROUNDS = 25  # samples of each kernel's time, taken in turns
SAMPLE = 200e-6  # seconds of a sample, at least: so many launches in a row
BUDGET = 2.0  # seconds of timing, about

Code = CompiledKernel | GpuKernel
Launch = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of another schedule (or source) for a kernel.

    `seconds`, `heuristic_seconds`: medians of a launch, measured in turns; `deviations`: results that rounding does not
    explain (none: it is right); `identical`: whether all results have the heuristic's bits; `coarser`: they are right
    only in view of how long its sums are, which round more than PyTorch's (one accumulator instead of many).
    """

    name: str
    what: str
    seconds: float
    heuristic_seconds: float
    deviations: tuple[Deviation, ...]
    identical: bool
    coarser: bool = False

    @property
    def right(self) -> bool:
        return not self.deviations

    @property
    def speedup(self) -> float:
        """How many times as fast as the heuristic's choice."""
        return self.heuristic_seconds / self.seconds

    def __str__(self) -> str:
        mine, base = self.seconds * 1e6, self.heuristic_seconds * 1e6
        how = "the same bits" if self.identical else "right" if self.right else "WRONG"
        how += ", but its sums round more than PyTorch's" if self.coarser else ""
        first = f"{self.name}: {mine:.1f} us, the heuristic's {base:.1f} us ({self.speedup:.2f}x); {how}"
        return "\n".join([first, *(f"  {d}" for d in self.deviations)])


@dataclass(frozen=True, slots=True)
class _Subject:
    """A kernel to try things on: its record, its graph's, and the facts that schedules depend on."""

    graph: GraphRecord
    group: GroupRecord

    @property
    def plan(self) -> GroupPlan:
        return self.group.plan

    @property
    def original(self) -> Fusion:
        assert self.plan.built is not None
        return self.plan.built.original

    def hint(self, e: Ix) -> int:
        assert self.graph.traced is not None
        return int(self.graph.traced.symbols.hint(e))

    def sizes(self) -> Sizes:
        assert self.plan.gpu is not None
        return Sizes(self.hint, self.plan.gpu.driver.gpu)

    def anywhere(self) -> frozenset[str]:
        """Buffers that may start at any address."""
        assert self.plan.built is not None
        copied, sources_ = inplace.copied(self.graph.traced), self.plan.built.sources
        return frozenset(b.name for b in self.original.buffers if sources_.get(b.name) in (None, *copied))

    def facts(self) -> str:
        gpu_ = self.plan.gpu
        return gpu_facts(gpu_.driver.gpu) if gpu_ is not None else cpu_facts(target())

    def heuristic(self) -> Edit:
        """What is chosen when nobody else chooses."""
        if self.plan.gpu is not None:
            return edit.on_gpu(self.original, self.sizes())
        streaming = self.graph.options.streaming
        cache = last_level_cache() if streaming else 1 << 62
        machine = Machine(target().bits // 32, cache, torch.get_num_threads())
        return edit.on_cpu(self.original, self.hint, machine, self.anywhere())


def _subject(kernel: Any) -> _Subject:
    if isinstance(kernel, tuple) and len(kernel) == 2:
        graph, group = kernel
    else:
        graph, group = getattr(kernel, "within", None), getattr(kernel, "record", None)
    if not isinstance(graph, GraphRecord) or not isinstance(group, GroupRecord):
        found = repr(kernel) if isinstance(kernel, (str, int)) else f"a {type(kernel).__name__}"
        raise UserError(f"a kernel of a report is wanted (report.kernels[0], report.kernel(name)), not {found}")
    return _Subject(graph, group)


# --- schedules -----------------------------------------------------------------------------------


def schedule_of(kernel: Any) -> Edit:
    """The schedule that a kernel runs with, to be changed by directives (`schedule/edit.py`)."""
    k = _subject(kernel)
    with using(k.graph.options):
        if k.plan.gpu is not None:
            s = k.plan.gpu.schedule
            assert s is not None
            return Edit(k.original, s, k.group.hash, k.sizes())
        assert k.plan.schedule is not None
        return Edit(k.original, k.plan.schedule, k.group.hash, None, k.anywhere())


def _edit_of(k: _Subject, schedule: Any) -> Edit:
    """A schedule in any form, checked. Raises Illegal, UserError."""
    base = k.heuristic()
    if isinstance(schedule, str):
        try:
            script = parse_one(schedule)
        except ParseError as e:
            raise UserError(f"the text of the schedule: {e} (print(kernel.schedule) shows one)") from e
        if script.key not in (k.group.hash, k.group.name):
            raise UserError(f"the schedule is for '{script.key}', the kernel is {k.group.name} ({k.group.hash})")
        script.check(k.original, base.sizes, base.anywhere)
        schedule = script.schedule
    elif isinstance(schedule, Script):
        schedule = schedule.schedule
    elif isinstance(schedule, Edit):
        if schedule.key != k.group.hash:
            raise UserError(f"the schedule is for the structure {schedule.key}, the kernel's is {k.group.hash}")
        schedule = schedule.schedule
    if type(schedule) is not type(base.schedule):
        raise UserError(f"a {type(base.schedule).__name__}, an Edit or a text is wanted, not {schedule!r}")
    out = replace(base, schedule=schedule)
    out.check()
    if replace(schedule, family=base.schedule.family) != base.schedule:
        family = EDITED + schedule.family.removeprefix(EDITED)
        out = replace(out, schedule=replace(schedule, family=family))
    return out


def try_schedule(kernel: Any, schedule: Any, inputs: Sequence[torch.Tensor] | None = None) -> Trial:
    """Compile a kernel under another schedule, check its results, and time both.

    `schedule`: an `Edit`, a schedule, or its text. `inputs`: tensors for the buffers that the kernel reads, in their
    order; random ones of the traced sizes without. Raises Illegal (a UserError that names directive and argument) when
    the schedule is not legal, UserError for a kernel or inputs that do not fit.
    """
    k = _subject(kernel)
    with using(k.graph.options):
        e = _edit_of(k, schedule)
        return _compared(k, _made(k, e), "schedule", inputs)


def try_source(kernel: Any, source: str | Path, inputs: Sequence[torch.Tensor] | None = None) -> Trial:
    """The same for an edited source: a path, or the text (`save_sources` writes the generated one).

    Raises UserError when its functions are not those of the kernel, CompilerError with the compiler's messages when it
    does not compile.
    """
    k = _subject(kernel)
    if not isinstance(source, (str, Path)):
        raise UserError(f"a path or the text of a source is wanted, not {source!r}")
    text = source
    if isinstance(source, Path) or "\n" not in str(source):
        try:
            text = Path(source).expanduser().read_text(encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot read {source}: {error.strerror or error}") from error
    with using(k.graph.options):
        f, lowered, extra = _lowered(k, schedule_of(kernel))
        code: Code
        if k.plan.gpu is None:
            code = sources.cpu_kernel(lowered.func, str(text))
        else:
            code = sources.gpu_kernel(lowered.func, str(text), k.plan.gpu.driver)
        return _compared(k, (f, lowered, code, extra), "source", inputs)


Made = tuple[Fusion, Kernel, Code, dict[str, int]]


def _lowered(k: _Subject, e: Edit) -> tuple[Fusion, Kernel, dict[str, int]]:
    name = kernel_name(k.original, e.schedule.family)
    if isinstance(e.schedule, GpuSchedule):
        assert e.sizes is not None and k.plan.gpu is not None
        f, s, extra = legal_gpu.settle(k.original, e.schedule, e.sizes)
        out = lower_gpu(f, s, name)
        out.func.notes = k.plan.gpu.notes
        return f, out, extra
    f = e.check()
    assert isinstance(e.schedule, Schedule)
    return f, lower(f, e.schedule, name, k.graph.options.prefetch), {}


def _made(k: _Subject, e: Edit) -> Made:
    f, lowered, extra = _lowered(k, e)
    if k.plan.gpu is not None:
        return f, lowered, gpu.kernel_for(lowered.func, k.plan.gpu.driver), extra
    return f, lowered, kernels.kernel_for(lowered.func), extra


# --- running and timing --------------------------------------------------------------------------


def _compared(k: _Subject, other: Made, what: str, inputs: Sequence[torch.Tensor] | None) -> Trial:
    assert k.graph.traced is not None and k.plan.built is not None
    program = of_group(k.plan.built, k.graph.traced, k.plan.group)
    env = _environment(k)
    given = _inputs(k, program, inputs, env)
    mine = _Run(k, other, given, env)
    base = _Run(k, _made(k, k.heuristic()), given, env)
    for r in (mine, base):
        r.outputs_cleared()
        if r.launch():
            raise UserError("an index among the inputs is out of range: give the kernel's own inputs")
    _settled(given)
    identical = all(_same_bits(a, b) for a, b in zip(mine.outputs, base.outputs, strict=True))
    deviations: tuple[Deviation, ...] = ()
    coarser = False
    if not identical:
        exact = k.graph.options.precision == "eager"
        deviations = tuple(compare(mine.outputs, lambda ts: program.run(ts, env), given, exact))
        longest = max((math.prod(k.hint(a.extent) for a in r.raxes if a.extent) for r in _sums(k.original)), default=0)
        if deviations and longest and _sums_explain(mine.outputs, lambda ts: program.run(ts, env), given, longest):
            deviations, coarser = (), True
    seconds, heuristic = _in_turns(mine.launch, base.launch, given)
    return Trial(k.group.name, what, seconds, heuristic, deviations, identical, coarser)


def _sums(f: Fusion) -> list[Stage]:
    parts = (*f.before, f, *f.after)
    return [s for g in parts for s in g.stages if s.kind in ("reduce", "scan")]


def _sums_explain(outputs: Sequence[torch.Tensor], run: Run, inputs: Sequence[torch.Tensor], longest: int) -> bool:
    """Whether results are explained by sums of so many terms one after the other; errors grow with the square root.

    As rule 3 of `precision.py`, with results disturbed by that much instead of by one rounding.
    """
    floats = [t.dtype for t in (*inputs, *outputs) if t.dtype.is_floating_point]
    eps = max((min(torch.finfo(d).eps, torch.finfo(torch.float32).eps) for d in floats), default=0.0)
    try:
        precise = in_float64(run, inputs)
        probes = [in_float64(run, inputs, FACTOR * eps * math.sqrt(longest), 1000 * n) for n in range(PROBES)]
    except Exception:  # an operator that has no float64: nothing to go by
        return False
    for n, (f, p) in enumerate(zip(outputs, precise, strict=True)):
        others = [probe[n] for probe in probes]
        if not f.dtype.is_floating_point:
            ok = torch.stack([f == o for o in (p, *others)]).any(0)
        else:
            off = torch.stack([(o - p).abs() for o in others]).nan_to_num(0.0, 0.0, 0.0).amax(0)
            ok = (f.double() - p).abs() <= FACTOR * (off + torch.finfo(f.dtype).eps * p.abs())
            ok |= ~f.isfinite() & torch.stack([(f == o) | (f.isnan() & o.isnan()) for o in (p, *others)]).any(0)
        if not bool(ok.all()):
            return False
    return True


def _environment(k: _Subject) -> dict[str, int]:
    """Values of all symbols of a kernel: as they were while tracing."""
    f = k.original
    assert k.plan.kernel is not None
    every = [n for b in (*f.buffers, *f.scratch) for n in (*b.shape, *b.strides)] + k.plan.kernel.sizes
    every += [a.extent for a in f.axes if a.extent is not None]
    symbols = {a for e in every for a in e.atoms() if a.kind == "sym"}
    return {a.name: k.hint(a.ix) for a in symbols if a.name not in ("threads", "blocks", "splits", "rounds", *LAUNCH)}


def _inputs(
    k: _Subject, program: Program, inputs: Sequence[torch.Tensor] | None, env: dict[str, int]
) -> list[torch.Tensor]:
    """Tensors for the buffers that are read: those given, if they fit, else random ones."""
    read = [b for b in k.original.buffers if not b.output]
    layouts = [(_numbers(b.shape, env), _numbers(b.strides, env), TO_TORCH[b.dtype]) for b in read]
    if inputs is None:
        out = []
        for n, (shape, strides, dtype) in enumerate(layouts):
            node = program.inputs[n]
            bound = program.bounds.get(node)
            kind = str(dtype).removeprefix("torch.")
            low = None if bound is None else 0
            out.append(repro.tensor(shape, strides, kind, str(node.meta["val"].device), n, low, bound))
        return out
    if len(inputs) != len(read):
        raise UserError(f"the kernel reads {len(read)} tensors ({', '.join(b.name for b in read)}), not {len(inputs)}")
    for b, t, (shape, strides, dtype) in zip(read, inputs, layouts, strict=True):
        if tuple(t.shape) != shape or t.dtype is not dtype or (t.numel() and t.stride() != strides):
            have = f"{t.dtype} {tuple(t.shape)} with strides {t.stride()}"
            raise UserError(f"{b.name} is {dtype} {shape} with strides {strides}, not {have}")
    return [t.detach() for t in inputs]


def _numbers(xs: Sequence[Ix], env: dict[str, int]) -> tuple[int, ...]:
    return tuple(int(x.evaluate(env)) for x in xs)


class _Run:
    """A kernel with tensors of its own for its outputs. `launch()` is true when an index was out of range."""

    def __init__(self, k: _Subject, made: Made, inputs: list[torch.Tensor], env: dict[str, int]):
        f, lowered, code, extra = made
        self.outputs: list[torch.Tensor] = []
        pointers = []
        rest = iter(inputs)
        assert k.graph.traced is not None
        device = torch.device(k.graph.traced.graph.units[k.group.units[0]].device)
        for b in f.buffers:
            t = next(rest) if not b.output else self._output(b, env, device)
            pointers.append(t.data_ptr())
        seen = {n.name: n.meta.get("val") for n in k.graph.traced.module.graph.nodes if n.op == "placeholder"}
        hosts = [(float if r.dtype.is_float else int)(seen[r.name]) for r in lowered.func.hosts]
        if isinstance(code, GpuKernel):
            assert k.plan.gpu is not None
            numbers = lowered.evaluate({**env, **extra})
            run = Prepared(k.plan.gpu.driver, code.takes, code.handles, numbers, list(lowered.hosts))
            self.keep: Any = run
            self.launch: Launch = lambda: run(*pointers, hosts=tuple(hosts))
            return
        table = size_table(lowered, f)
        sizes, nbytes = table.make(threads(), *(env[s] for s in table.symbols))
        self.keep = (table, inputs)
        fn = code.fn
        self.launch = lambda: fn(*pointers, sizes, *hosts, pool.scratch(nbytes) if lowered.func.allocs else 0)

    def _output(self, b: Any, env: dict[str, int], device: torch.device) -> torch.Tensor:
        shape, strides = _numbers(b.shape, env), _numbers(b.strides, env)
        t = torch.empty_strided(shape, strides, dtype=TO_TORCH[b.dtype], device=device)
        self.outputs.append(t)
        return t

    def outputs_cleared(self) -> None:
        """Fill the outputs with a value that no kernel writes by accident everywhere."""
        for t in self.outputs:
            t.fill_(1)


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.is_floating_point():
        return bool(torch.equal(a.isnan(), b.isnan()) and torch.equal(a.nan_to_num(), b.nan_to_num()))
    return torch.equal(a, b)


def _settled(tensors: Sequence[torch.Tensor]) -> None:
    """Wait for the GPU, if there is one."""
    if any(t.device.type == "cuda" for t in tensors):
        torch.cuda.synchronize()


def _in_turns(a: Launch, b: Launch, tensors: Sequence[torch.Tensor]) -> tuple[float, float]:
    """Median seconds of a launch of either, measured alternately, so that what else the machine does hits both."""

    def once(f: Launch, n: int) -> float:
        _settled(tensors)
        began = time.perf_counter()
        for _ in range(n):
            f()
        _settled(tensors)
        return (time.perf_counter() - began) / n

    repeats, rounds = [], ROUNDS
    for f in (a, b):
        f()
        took = max(once(f, 1), 1e-7)
        repeats.append(max(1, int(SAMPLE / took)))
        rounds = max(3, min(rounds, int(BUDGET / 2 / (took * repeats[-1]))))
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for f, n, into in zip((a, b), repeats, times, strict=True):
            into.append(once(f, n))
    return statistics.median(times[0]), statistics.median(times[1])


# --- pins ----------------------------------------------------------------------------------------


def pin(kernel: Any, schedule: Any) -> Pin:
    """Use a schedule for a kernel from now on, in this and in later processes on this machine.

    It is kept in the folder `schedules` of the disk cache's directory, under the structure hash of the kernel's fusion
    and the facts of the target, and looked up when a group is compiled: what is compiled already stays as it is
    (`torch.compiler.reset()` starts over). Raises Illegal, UserError as `try_schedule`.
    """
    k = _subject(kernel)
    with using(k.graph.options):
        e = _edit_of(k, schedule)
        meta = {"hash": k.group.hash, "group": k.group.name, "family": e.schedule.family, "lines": k.group.lines[:4]}
        meta["target"] = k.facts()
        out = pins().put(k.group.hash, k.facts(), e.text(), meta)
    if not out.path.exists():
        warn(f"the schedule for {k.group.name} is pinned for this process only: {out.path} could not be written")
    return out


def unpin(kernel: Any = None) -> int:
    """Forget the schedule that was pinned for a kernel (or its structure hash; all without one); how many went."""
    if kernel is None:
        return pins().remove()
    if isinstance(kernel, str):
        return pins().remove(kernel)
    k = _subject(kernel)
    with using(k.graph.options):
        return pins().remove(k.group.hash, k.facts())


__all__ = ["Trial", "pin", "schedule_of", "try_schedule", "try_source", "unpin"]
