"""Every launch of every kernel: how often, how long, how many bytes; and names for PyTorch's profiler and NVTX.

A `Meter` is the watch of one kernel while a `Profile` is recorded: it measures each launch, on a CPU by the clock, on a
GPU by events that are read at the end. `ranges` is the watch that the option `profile` asks for: it puts each launch
in a range of `torch.profiler` (and of NVTX, on a GPU) whose name says kernel, computation and the user's line.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ..core.options import current
from ..run.internals import record_function
from ..run.plan import GroupPlan, Plan, Watch
from . import record
from .dynamo import Frame
from .traffic import moved_by, roof
from .units import short_line

LAUNCHES = 200_000  # launches that a trace holds, at most


class Profile(record.Recording):
    """A recording whose kernels are measured at every launch. `launches`: (kernel, start, seconds) for the trace, in
    seconds of `time.perf_counter()`; `dropped`: how many did not fit."""

    def __init__(self) -> None:
        super().__init__()
        self.meters: dict[str, Meter] = {}
        self.launches: list[tuple[str, float, float]] = []
        self.dropped = 0
        self.epoch = time.time() - time.perf_counter()  # from the one clock to the other


class Meter:
    """What a kernel's launches took. `seconds()` waits for the GPU, if there is one."""

    def __init__(self, p: GroupPlan, plan: Plan, profile: Profile):
        self.plan, self.profile = p, profile
        self.name = p.name
        self.hint = plan.traced.symbols.hint
        self.title = p.kernel.func.name if p.kernel is not None else ""
        self.where = next(iter(record.user_lines(plan.traced, p.group)), "")
        self.device = plan.traced.graph.units[p.group.units[0]].device
        self.calls = 0
        self.bytes = 0
        self.spent = 0.0
        self.pending: list[tuple[Any, Any]] = []
        self.known: dict[tuple[Any, ...], int] = {}

    def __call__(
        self, kernel: Callable[..., Any], arguments: tuple[Any, ...], tensors: tuple[torch.Tensor, ...], sizes: dict
    ) -> Any:
        gpu = tensors[0].device.type == "cuda"
        if gpu and torch.cuda.is_current_stream_capturing():  # into a CUDA graph: nothing runs now
            return kernel(*arguments)
        self.calls += 1
        key = tuple(sizes.values())
        moved = self.known.get(key)
        if moved is None:
            moved = self.known[key] = sum(moved_by(self.plan, sizes, self.hint))
        self.bytes += moved
        if gpu:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            start = time.perf_counter()
            result = kernel(*arguments)
            took = time.perf_counter() - start
            end.record()
            self.pending.append((begin, end))
        else:
            start = time.perf_counter()
            result = kernel(*arguments)
            took = time.perf_counter() - start
            self.spent += took
        launches = self.profile.launches
        if len(launches) < LAUNCHES:
            launches.append((self.name, start, took))
        else:
            self.profile.dropped += 1
        return result

    def seconds(self) -> float:
        for begin, end in self.pending:
            end.synchronize()
            self.spent += begin.elapsed_time(end) * 1e-3
        self.pending.clear()
        return self.spent


def metering(p: GroupPlan, plan: Plan) -> Watch | None:
    """A meter, if a profile is recorded."""
    profile = record.current()
    if not isinstance(profile, Profile):
        return None
    return profile.meters.setdefault(p.name, Meter(p, plan, profile))


def ranges(p: GroupPlan, plan: Plan) -> Watch | None:
    """A watch that names launches for profilers, if the option `profile` is on."""
    if not current().profile:
        return None
    where = short_line(next(iter(record.user_lines(plan.traced, p.group)), ""))
    assert p.kernel is not None
    name = " ".join(filter(None, (p.name, p.kernel.func.name, where)))

    def named(
        kernel: Callable[..., Any], arguments: tuple[Any, ...], tensors: tuple[torch.Tensor, ...], sizes: dict
    ) -> Any:
        nvtx = tensors[0].device.type == "cuda"
        if nvtx:
            torch.cuda.nvtx.range_push(name)
        try:
            with record_function(name):
                return kernel(*arguments)
        finally:
            if nvtx:
                torch.cuda.nvtx.range_pop()

    return named


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel of a profile. `share`: of the time of all kernels; `of_roof`: of a copy's bandwidth."""

    name: str
    title: str
    where: str
    calls: int
    seconds: float
    bytes: int
    share: float
    of_roof: float

    @property
    def per_call(self) -> float:
        return self.seconds / self.calls

    @property
    def bandwidth(self) -> float:
        return self.bytes / self.seconds if self.seconds else 0.0


def rows(profile: Profile) -> list[Row]:
    """The kernels that were launched, those that took longest first."""
    used = [m for m in profile.meters.values() if m.calls]
    total = sum(m.seconds() for m in used)
    out = []
    for m in used:
        t = m.seconds()
        floor = m.bytes / roof(m.device.partition(":")[0])
        share, of_roof = t / total if total else 0.0, floor / t if t else 0.0
        out.append(Row(m.name, m.title, m.where, m.calls, t, m.bytes, share, of_roof))
    return sorted(out, key=lambda r: -r.seconds)


def trace(profile: Profile, frames: list[Frame], path: str | os.PathLike[str]) -> None:
    """Write compile phases and launches as a Chrome trace (chrome://tracing, Perfetto). Raises OSError.

    Launches on a GPU are shown when the host made them.
    """
    events: list[dict[str, Any]] = []

    def add(track: int, name: str, start: float, seconds: float, **args: Any) -> None:
        event = {"ph": "X", "pid": 1, "tid": track, "name": name, "ts": start * 1e6, "dur": seconds * 1e6}
        events.append({**event, "args": args} if args else event)

    for k, what in enumerate(("Dynamo", "fusewright: compile", "fusewright: kernels")):
        events.append({"ph": "M", "pid": 1, "tid": k, "name": "thread_name", "args": {"name": what}})
    for f in frames:
        if f.started:
            add(0, f"{f.id} {f.name}", f.started - profile.epoch, f.seconds, where=f.where, recompiled=f.recompiled)
    for s in profile.spans:
        add(1, f"{s.stage} {s.group or s.graph}", s.start, s.end - s.start)
    for name, start, seconds in profile.launches:
        m = profile.meters[name]
        add(2, f"{name} {m.title}", start, seconds, where=m.where)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)
