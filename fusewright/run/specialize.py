"""New sizes run at once, on a kernel that is there; sizes that come again get the kernel that is best for them.

A GPU kernel takes its sizes as arguments, so one that was made for other sizes usually is right for new ones, and if
it is of the same kind not much slower than the best. With the option `specialize="hot"` such a kernel is launched until
the same sizes have been seen a few times; the one that the scheduler wants for them is then compiled in the background
and takes over when it is ready. "never" stays with what is there, "always" compiles before the first launch. Whether
that is followed by a kernel that is for these sizes only is decided in `hot.py`.
"""

from __future__ import annotations

import contextvars
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch

from ..core.errors import FusewrightError
from ..core.log import LOG
from ..core.options import using
from ..index.traced import Trace, source
from ..schedule.gpu_base import GpuSchedule
from ..schedule.legal_gpu import Sizes, settle
from .gpu import RULES, Decision, GpuGroup, Prepared, Rule, plain, traced

FEW = 1 << 16  # points of a tensor that any kernel is fast enough for
HOT = 4  # launches with the same sizes after which they deserve a kernel of their own

_lock = threading.Lock()
_workers: list[ThreadPoolExecutor] = []


def begin(group: GpuGroup, key: tuple[int, ...], decision: Decision) -> Any:
    """A launch for new sizes that needs no compilation, or None: then the kernel decided on is to be had at once.

    For which sizes the same would be found is left with the group as a `StandIn`.
    """
    how = group.options.specialize
    if how == "always" or decision.rule is None or not group.kernels:
        return None
    wanted = decision.schedule
    if wanted in group.kernels:
        return None
    trace = Trace(group.symbols)
    hint = traced(trace, decision.env)
    sizes = Sizes(hint, group.driver.gpu, lambda buffer: decision.alignment)
    points = math.prod(max(1, hint(a.extent)) for a in group.fusion.axes if a.extent is not None)
    for s in reversed(list(group.kernels)):
        extra = _fitting(group, s, sizes) if _alike(s, wanted, points) else None
        if extra is not None:
            lines = [decision.rule, *trace.lines, *(f"{name} = {source(n)}" for name, n in extra.items())]
            found = StandIn(Rule(group.symbols, "\n".join(lines), *group.kernels[s], s), decision)
            others = group.stand_ins.get(decision.alignment, ())
            group.stand_ins[decision.alignment] = [found, *others][:RULES]
            return found.launch(group, key)
    return None


def _alike(s: GpuSchedule, wanted: GpuSchedule, points: int) -> bool:
    """Whether a schedule is not much worse than the one wanted: as parallel, with sums about as long.

    Of what is less parallel a sum is not only slow, but its rounding errors are larger: a block that adds up 16 million
    elements is off by forty times as much as the kernel that is wanted for them. For few points it only has to be of
    the same mode: the launch takes longer than the kernel.
    """
    same = (s.mode, s.vector, s.resident) == (wanted.mode, wanted.vector, wanted.resident)
    if points > FEW:
        same = same and s.lanes == wanted.lanes
    return same and 2 * s.col_threads >= wanted.col_threads and 2 * s.threads >= wanted.threads


def _fitting(group: GpuGroup, s: GpuSchedule, sizes: Sizes) -> dict[str, Any] | None:
    """The sizes of a launch of a schedule's kernel for other sizes than it was made for; None where it is not legal."""
    try:
        _, same, extra = settle(group.fusion, s, sizes)
    except FusewrightError:
        return None
    return extra if plain(same) == s else None


@dataclass(frozen=True, slots=True)
class StandIn:
    """A kernel that is launched for the sizes of `rule` until the one of `decision`, which they all want, is there."""

    rule: Rule
    decision: Decision

    def launch(self, group: GpuGroup, key: tuple[int, ...]) -> Any:
        """The launch for a key of the group's memo; None if it is not of these sizes, or there must be no stand-in."""
        numbers = self.rule.at(key[:-1])
        if numbers is None or torch.are_deterministic_algorithms_enabled():
            return None
        entry = group.prepared(self.rule.kernel, self.rule.code, numbers)
        return entry if group.options.specialize == "never" else Meanwhile(group, key, self.decision, entry)


class Meanwhile:
    """Launches a kernel that was there until the one decided on is compiled."""

    __slots__ = ("calls", "decision", "entry", "group", "key")

    def __init__(self, group: GpuGroup, key: tuple[int, ...], decision: Decision, entry: Prepared):
        self.group, self.key, self.decision, self.entry = group, key, decision, entry
        self.calls = 0

    def __call__(self, *pointers: int, hosts: tuple[float, ...] = ()) -> None:
        self.entry(*pointers, hosts=hosts)
        self.calls += 1
        if self.calls == HOT:
            self.specialize()

    @property
    def waiting(self) -> bool:
        """Whether the better kernel is being made."""
        return self.calls >= HOT

    def specialize(self) -> None:
        """Have the kernel decided on compiled in the background."""
        try:
            with using(self.group.options):
                self.group.lowering(self.decision.fusion, self.decision.schedule)
                worker().submit(contextvars.copy_context().run, self.adopt)
        except Exception as e:  # what is there works
            self.failed(e)

    def adopt(self) -> None:
        group, sizes, alignment = self.group, self.key[:-1], self.decision.alignment
        try:
            found = group.known(sizes, alignment)
            if found is None:  # other sizes may have decided the same
                group.new(self.decision)
                found = group.known(sizes, alignment)
            if found is not None:
                group.memo[self.key] = group.launched(self.key, found)
        except Exception as e:
            self.failed(e)

    def failed(self, e: Exception) -> None:
        LOG.info("no kernel for hot sizes %s: %s", self.decision.env, e)


def worker() -> ThreadPoolExecutor:
    """The thread that compiles in the background."""
    with _lock:
        if not _workers:
            _workers.append(ThreadPoolExecutor(1, "fusewright-specialize"))
        return _workers[0]


__all__ = ["HOT", "Meanwhile", "StandIn", "begin", "worker"]
