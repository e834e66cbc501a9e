"""What was compiled: a record of every graph and group, for reports, profiles, dumps and repro files.

    with record.recording() as graphs:      # a Recording: a list of GraphRecord, filled as graphs are compiled
        compiled(x)

Names. A graph is "<kind><serial>" ("forward0", "backward1", "inference2"); a group that is a kernel "<graph>.g<k>",
where k counts the graph's groups for which a kernel was tried, in the order they run. Its `hash` is that of the
algorithm's structure (`fusion/structure.py`): the same program in another process has the same one.

Nothing is kept unless somebody records. A backward pass may be compiled later and on another thread; it reports to
where its forward pass did (`backend.py` hands the recording over).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ..core.options import Options
from ..core.options import current as options_now
from ..graph.groups import Group, Grouping
from ..run.plan import GroupPlan, Plan
from ..trace.fx import Traced


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of compile time: `stage` of `graph` (and of its group, if `group` is not ""), in seconds of
    `time.perf_counter()`."""

    stage: str
    graph: str
    group: str
    start: float
    end: float


@dataclass(slots=True)
class GroupRecord:
    """One group that became a kernel.

    `units`: numbers of its traced operations; `lines`: the user's lines behind them, in order, each once; `seconds` by
    stage; `origin`: where the kernel came from: "compiled", "disk", "memory" (some earlier group had made it),
    "external" (an edited source).
    """

    name: str
    hash: str
    units: list[int]
    lines: list[str]
    plan: GroupPlan
    seconds: dict[str, float] = field(default_factory=dict)
    origin: str = "compiled"


@dataclass(slots=True)
class GraphRecord:
    """One compiled graph.

    `kind`: "forward", "backward", "inference", "definition", "export"; "plain" of what `fuse` has not compiled, for the
    reason `failure`, and whose name is the function's; `groups`: its kernels in the order they run; `torch_units`: the
    operations that torch runs, each with the reason; `seconds` by stage; `failure`: why the graph as a whole runs as
    traced (everything else is then empty); `options`: those it was compiled with.
    """

    name: str
    kind: str
    traced: Traced | None = None
    grouping: Grouping | None = None
    plan: Plan | None = None
    groups: list[GroupRecord] = field(default_factory=list)
    torch_units: dict[int, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failure: str = ""
    options: Options = field(default_factory=options_now)


class Recording(list[GraphRecord]):
    """Graphs in the order they were compiled.

    `spans`: every stage of every one, in the order they ended; `measure`: whether kernels are timed at their first
    launch, and `probes`, by name, what was seen of them (`debug/probe.py`).
    """

    def __init__(self, measure: bool = False) -> None:
        super().__init__()
        self.spans: list[Span] = []
        self.measure = measure
        self.probes: dict[str, Any] = {}


_recording: ContextVar[Recording | None] = ContextVar("fusewright_recording", default=None)


def current() -> Recording | None:
    """The recording that this thread (or task) reports to, or None."""
    return _recording.get()


@contextmanager
def using(recording: Recording | None) -> Iterator[Recording | None]:
    """Report to `recording`, or to nobody, for a block."""
    token = _recording.set(recording)
    try:
        yield recording
    finally:
        _recording.reset(token)


@contextmanager
def recording(measure: bool = False) -> Iterator[Recording]:
    """Record what is compiled in a block. Blocks nest; the innermost one gets it."""
    out = Recording(measure)
    with using(out):
        yield out


def stage(name: str, graph: str = "", group: str = "") -> AbstractContextManager[None]:
    """Time a stage of the pipeline for the recording, if there is one."""
    r = _recording.get()
    return nullcontext() if r is None else _timed(r, name, graph, group)


@contextmanager
def _timed(r: Recording, name: str, graph: str, group: str) -> Iterator[None]:
    began = time.perf_counter()
    try:
        yield
    finally:
        ended = time.perf_counter()
        r.spans.append(Span(name, graph, group, began, ended))
        for g in r:
            if g.name == graph and not group:  # a stage after the graph was recorded
                g.seconds[name] = g.seconds.get(name, 0.0) + ended - began


def finished(plan: Plan, grouping: Grouping) -> None:
    """Record a compiled graph. Called once per graph, whether somebody records or not."""
    r = _recording.get()
    if r is None:
        return
    traced: Traced = plan.traced
    out = GraphRecord(plan.name, kind_of(plan.name), traced, grouping, plan)
    seconds: dict[str, dict[str, float]] = {}
    began = time.perf_counter()
    for s in r.spans:
        if s.graph == plan.name:
            began = min(began, s.start)
            per = seconds.setdefault(s.group, {})
            per[s.stage] = per.get(s.stage, 0.0) + s.end - s.start
    out.seconds = seconds.get("", {})
    seen: set[int] = set()
    for p in plan.groups:
        if not p.ours:
            for u in p.group.units:
                out.torch_units[u] = p.reason or traced.graph.units[u].reason
            continue
        assert p.built is not None
        origin = _origin(p, began, seen)
        lines = user_lines(traced, p.group)
        out.groups.append(
            GroupRecord(p.name, p.built.hash, list(p.group.units), lines, p, seconds.get(p.name, {}), origin)
        )
    r.append(out)


def failed(name: str, why: str) -> None:
    """Record a graph that runs as traced because the pipeline failed on it."""
    r = _recording.get()
    if r is not None:
        r.append(GraphRecord(name, kind_of(name), failure=why))


def plain(title: str, why: str) -> None:
    """Record that a call of a fused function runs as plain PyTorch, once for each reason."""
    r = _recording.get()
    if r is not None and not any(g.kind == "plain" and (g.name, g.failure) == (title, why) for g in r):
        r.append(GraphRecord(title, "plain", failure=why))


def kind_of(name: str) -> str:
    """ "forward" of "forward0"."""
    return name.rstrip("0123456789")


def user_lines(traced: Traced, group: Group) -> list[str]:
    """The user's lines behind a group, in the program's order, each once."""
    units = [traced.graph.units[u] for u in group.units]
    return list(dict.fromkeys(u.where for u in units if u.where and u.where != u.name))


def _origin(p: GroupPlan, began: float, seen: set[int]) -> str:
    """Where a kernel came from. `seen`: kernels of the same graph so far."""
    code: Any = p.compiled if p.gpu is None else next(iter(p.gpu.kernels.values()))[1]
    known = (code.made < began or id(code) in seen) and code.origin != "external"
    seen.add(id(code))
    return "memory" if known else str(code.origin)


__all__: Sequence[str] = (
    *("GraphRecord", "GroupRecord", "Recording", "Span", "current", "failed", "finished", "kind_of", "plain"),
    *("recording", "stage", "user_lines", "using"),
)
