"""Which units run in one kernel.

Greedy merging on the data-flow graph, kept acyclic: first producers into consumers, then siblings that read the same
large tensor. A merge is legal when `accepts` (the scheduler's opinion) says so; it saves memory traffic whenever it
is legal, because what was written and read back stays in registers. Every refusal is recorded with its reason.

Units that cost nothing to compute again (constants, indices, casts of something that exists anyway) join every group
that reads them rather than being stored once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..core.errors import Refusal
from .ir import Eqn, Graph, Shape, Unit, Value

MAX_UNITS = 96  # per group: bounds compile time and register pressure
SHARED_BYTES = 4096  # size of a tensor from which on it pays to merge groups that only read it both

Accepts = Callable[["Group"], None]
Seen = Callable[[str, list[list[int]], list[list[int]]], None]


@dataclass(slots=True, eq=False)
class Group:
    """Units that run together, in the order of the program.

    `outputs`: values others need; `eqns`: what computes them; `kernel`: whether it is ours to compile (a single opaque
    or host unit is a group too, so that the groups in order are the whole program).
    """

    units: list[int]
    outputs: list[Value] = field(default_factory=list)
    eqns: list[Eqn] = field(default_factory=list)
    order: int = 0
    kernel: bool = False


@dataclass(slots=True)
class Refused:
    """A merge that was declined: between which units, and why."""

    first: int
    second: int
    reason: str


@dataclass(slots=True)
class Grouping:
    """`apart`: groups, by their units, that turned out to have no schedule and run as single units, each with why."""

    groups: list[Group]
    refused: list[Refused]
    apart: list[tuple[list[int], str]] = field(default_factory=list)


_FREE_OPS = frozenset(("const", "scalar", "iota", "affine"))
_POINTWISE = frozenset(("map", "cast", "const", "scalar", "affine", "iota", "random"))


def group(
    graph: Graph,
    accepts: Accepts,
    after: dict[int, list[int]],
    hint: Callable[[Value], int],
    siblings: bool = True,
    seen: Seen | None = None,
) -> Grouping:
    """Partition the fused units of `graph`.

    `accepts(group)` raises Refusal when the units cannot be one kernel. `after[u]`: units that must run before unit u
    although no value says so (mutation, effects). `hint(value)`: its size in bytes, estimated. `siblings`: whether
    groups merge that only read the same tensor. `seen(name, before, after)` is told of each pass, "grouping" and
    "siblings": the units of all groups, in order.
    """
    return _Grouper(graph, accepts, after, hint).run(siblings, seen)


class _Grouper:
    def __init__(self, graph: Graph, accepts: Accepts, after: dict[int, list[int]], hint: Callable[[Value], int]):
        self.graph = graph
        self.accepts = accepts
        self.hint = hint
        self.refused: list[Refused] = []
        self.by_unit: dict[int, list[Eqn]] = {}
        for e in graph.eqns:
            self.by_unit.setdefault(e.unit, []).append(e)
        self.owner: dict[Value, int] = {}
        for u in graph.units:
            for v in u.results:
                self.owner[v] = u.index
        # what an effect must wait for is computed where it stands, not inlined into later readers
        pinned = {p for ps in after.values() for p in ps}
        self.free: set[int] = set()
        pinned |= self._wanted_in_memory()
        self.free = {u.index for u in graph.units if u.index not in pinned and self._is_free(u)}
        self.reads: dict[int, list[Value]] = {}
        self.preds: dict[int, set[int]] = {}
        for u in graph.units:
            if u.kind in ("view", "item") or u.index in self.free:
                continue
            roots = self._roots(u.reads)
            self.reads[u.index] = roots
            before = {self.owner[v] for v in roots if v in self.owner}
            before |= {p for p in after.get(u.index, ()) if p in self.reads}
            for p in after.get(u.index, ()):
                if p not in self.reads:
                    before |= {self.owner[v] for v in self._roots(graph.units[p].reads) if v in self.owner}
            self.preds[u.index] = before - {u.index}

    def _wanted_in_memory(self) -> set[int]:
        """Units whose result an opaque operation or the caller needs: those are stored anyway."""
        values = list(self.graph.outputs)
        for u in self.graph.units:
            if u.kind in ("torch", "host"):
                values.extend(u.reads)
        return {self.owner[v] for v in self._roots(values) if v in self.owner}

    def _is_free(self, u: Unit) -> bool:
        """A unit every reader may as well compute for itself."""
        if u.kind != "fused":
            return False
        eqns = self.by_unit.get(u.index, [])
        if all(e.op in _FREE_OPS for e in eqns):
            return True
        casts = [e for e in eqns if e.op == "cast"]
        return len(casts) == 1 and all(e.op in _FREE_OPS or e.op == "cast" for e in eqns) and self._widens(casts[0])

    def _widens(self, e: Eqn) -> bool:
        src, dst = e.inputs[0].dtype, e.out.dtype
        in_memory = e.inputs[0] not in self.owner or self.graph.units[self.owner[e.inputs[0]]].kind != "fused"
        return in_memory and (src.is_bool or (src.is_float and dst.is_float and dst.itemsize > src.itemsize))

    def _roots(self, values: Iterable[Value]) -> list[Value]:
        """What a read comes down to when views and free units are looked through."""
        out: dict[Value, None] = {}
        stack = list(values)[::-1]
        while stack:
            v = stack.pop()
            u = self.owner.get(v)
            if u is not None and (self.graph.units[u].kind == "view" or u in self.free):
                stack.extend(reversed(self.graph.units[u].reads))
            else:
                out[v] = None
        return list(out)

    # --- the group graph ---
    def run(self, siblings: bool, seen: Seen | None) -> Grouping:
        self.group_of: dict[int, Group] = {}
        self.slots: list[Group | None] = []  # topological order; merging leaves gaps
        for u in sorted(self.reads):
            g = Group([u], order=len(self.slots))
            self.group_of[u] = g
            self.slots.append(g)
        self.before: dict[Group, set[Group]] = {g: set() for g in self.group_of.values()}
        self.next: dict[Group, set[Group]] = {g: set() for g in self.group_of.values()}
        for u, ps in self.preds.items():
            for p in ps:
                a, b = self.group_of[p], self.group_of[u]
                self.before[b].add(a)
                self.next[a].add(b)
        self.readers: dict[Value, list[int]] = {}
        for u, vs in self.reads.items():
            for v in vs:
                self.readers.setdefault(v, []).append(u)
        self.exported = set(self._roots(self.graph.outputs)) | set(self.graph.outputs)
        for unit in self.graph.units:
            if unit.kind in ("torch", "host"):
                self.exported.update(unit.reads)
                self.exported.update(self._roots(unit.reads))
        passes = {"grouping": self._producers, **({"siblings": self._siblings} if siblings else {})}
        for name, merge in passes.items():
            before = self._units() if seen is not None else []
            merge()
            if seen is not None:
                seen(name, before, self._units())
        groups = [g for g in self.slots if g is not None]
        for g in groups:
            g.kernel = self._fused(g.units[0])
            if g.kernel:
                self.fill(g)
        return Grouping(groups, self.refused)

    def _fused(self, u: int) -> bool:
        return self.graph.units[u].kind == "fused"

    def _units(self) -> list[list[int]]:
        return [g.units for g in self.slots if g is not None]

    def _producers(self) -> None:
        """Groups that compute what another one reads."""
        for u in sorted(self.reads):
            if self._fused(u):
                for v in sorted(self.reads[u], key=lambda v: -self.hint(v)):
                    maker = self.owner.get(v)
                    if maker is not None and self._fused(maker):
                        self._try(self.group_of[maker], self.group_of[u])

    def _siblings(self) -> None:
        """Groups that read the same large tensor and do not depend on each other."""
        values = sorted(self.readers, key=lambda v: -self.hint(v))
        for v in values:
            if self.hint(v) < SHARED_BYTES:
                break
            gs = list(dict.fromkeys(self.group_of[u] for u in self.readers[v] if self._fused(u)))
            gs.sort(key=lambda g: g.order)
            for a, b in itertools.pairwise(gs):
                ga, gb = self.group_of[a.units[0]], self.group_of[b.units[0]]
                if ga is not gb:
                    self._try(*((ga, gb) if ga.order < gb.order else (gb, ga)))

    def _try(self, a: Group, b: Group) -> None:
        """Merge a (earlier) into b (later) if no path leads around and the scheduler agrees."""
        if a is b:
            return
        here, there = (self.graph.units[g.units[0]].device for g in (a, b))
        if here != there:
            self.refused.append(Refused(a.units[0], b.units[0], f"on different devices, {here} and {there}"))
            return
        if len(a.units) + len(b.units) > MAX_UNITS:
            self.refused.append(Refused(a.units[0], b.units[0], f"more than {MAX_UNITS} operations"))
            return
        reach = self._between(a, b)
        if reach is None:
            self.refused.append(Refused(a.units[0], b.units[0], "another operation lies between them"))
            return
        merged = Group(sorted(a.units + b.units))
        self.fill(merged)
        if not self._obvious(a, b):
            try:
                self.accepts(merged)
            except Refusal as r:
                self.refused.append(Refused(a.units[0], b.units[0], str(r)))
                return
        self._merge(a, b, merged, reach)

    def _obvious(self, a: Group, b: Group) -> bool:
        """Elementwise units of one shape always make one kernel."""
        shapes: set[Shape] = set()
        for g in (a, b):
            for u in g.units:
                for e in self.by_unit[u]:
                    if e.op not in _POINTWISE:
                        return False
                shapes.update(v.shape for v in self.graph.units[u].results)
        return len(shapes) == 1

    def _between(self, a: Group, b: Group) -> set[Group] | None:
        """Groups after `a` and before `b` in order that depend on `a`; None when one of them leads to `b`."""
        seen: set[Group] = set()
        stack = [g for g in self.next[a] if g is not b]
        while stack:
            g = stack.pop()
            if g is b:
                return None
            if g in seen or g.order > b.order:
                continue
            seen.add(g)
            stack.extend(self.next[g])
        return seen

    def _merge(self, a: Group, b: Group, merged: Group, after: set[Group]) -> None:
        lo, hi = a.order, b.order
        region = [g for g in self.slots[lo : hi + 1] if g is not None]
        first = [g for g in region if g is not a and g is not b and g not in after]
        last = [g for g in region if g in after]
        placed: list[Group | None] = [*first, merged, *last]
        self.slots[lo : hi + 1] = placed + [None] * (hi + 1 - lo - len(placed))
        for k, g in enumerate(placed):
            if g is not None:
                g.order = lo + k
        for u in merged.units:
            self.group_of[u] = merged
        before = (self.before.pop(a) | self.before.pop(b)) - {a, b}
        nxt = (self.next.pop(a) | self.next.pop(b)) - {a, b}
        self.before[merged], self.next[merged] = before, nxt
        for g in before:
            self.next[g] -= {a, b}
            self.next[g].add(merged)
        for g in nxt:
            self.before[g] -= {a, b}
            self.before[g].add(merged)

    def fill(self, g: Group) -> None:
        """Equations (with those of the free units they read) and outputs of a group."""
        mine = set(g.units)
        units = set(mine)
        stack = [v for u in g.units for v in self.graph.units[u].reads]
        while stack:
            v = stack.pop()
            u = self.owner.get(v)
            if u is not None and u not in units and (u in self.free or self.graph.units[u].kind == "view"):
                units.add(u)
                stack.extend(self.graph.units[u].reads)
        g.eqns = [e for u in sorted(units) for e in self.by_unit.get(u, ())]
        g.outputs = []
        for u in g.units:
            for v in self.graph.units[u].results:
                if v in self.exported or any(r not in mine for r in self.readers.get(v, ())):
                    g.outputs.append(v)
