"""Which units run in one kernel.

Greedy merging on the data-flow graph, kept acyclic: first producers into consumers, then those that no one consumer
could take into all of theirs at once (nothing of them need be stored then), then siblings that read the same large
tensor. A merge is legal when `accepts` (the scheduler's opinion) says so; it saves memory traffic whenever it is legal,
because what was written and read back stays in registers. Every refusal is recorded with its reason. Where an
elementwise operation continues what a group computes, `accepts` is asked once the group has grown (`elementwise.py`).
On GPUs, small groups of the same shapes merge although they have no data in common (`horizontal.py`).

Units that cost nothing to compute again (constants, indices, casts of something that exists anyway) join every group
that reads them rather than being stored once. On GPUs others do, where that moves fewer bytes (`rematerialize.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial

from ..core.errors import Refusal
from .cutting import Cutter
from .elementwise import Elementwise
from .groups import Accepts, Again, Group, Grouping, Refused, Seen
from .horizontal import LEAST as HORIZONTAL_LEAST
from .horizontal import MOST as HORIZONTAL_MOST
from .horizontal import alike
from .ir import Eqn, Graph, Unit, Value
from .rematerialize import LEAST, Program

MAX_UNITS = 96  # per group: bounds compile time and register pressure
SHARED_BYTES = 4096  # size of a tensor from which on it pays to merge groups that only read it both

_FREE_OPS = frozenset(("const", "scalar", "iota", "affine"))


def group(
    graph: Graph,
    accepts: Accepts,
    after: dict[int, list[int]],
    hint: Callable[[Value], int],
    siblings: bool = True,
    seen: Seen | None = None,
    better_cut: Callable[[Group, bool], bool] | None = None,
    again: Again = "never",
    horizontal: bool = False,
) -> Grouping:
    """Partition the fused units of `graph`.

    `accepts(group)` raises Refusal when the units cannot be one kernel. `after[u]`: units that must run before unit u
    although no value says so (mutation, effects). `hint(value)`: its size in bytes, estimated. `siblings`: whether
    groups merge that only read the same tensor. `better_cut(group, between)`: whether a group is better off as two,
    if it can be cut behind its reductions, or between them. `again`: whether groups compute values of others again
    where that moves fewer bytes, "always" or if those do not compute them then ("moved"). `horizontal`: whether small
    groups merge that have nothing in common but their shapes. `seen(name, before, after)` is told of each pass,
    "grouping", "siblings", "horizontal", "cutting" and "rematerialize": the units of all groups, in order.
    """
    grouper = _Grouper(graph, accepts, after, hint)
    passes: dict[str, Callable[[], None]] = {"grouping": grouper._producers}
    if siblings:
        passes["siblings"] = grouper._siblings
    if horizontal:
        passes["horizontal"] = grouper._horizontal
    if better_cut is not None:
        passes["cutting"] = partial(grouper._cut, better_cut)
    if again != "never":
        passes["rematerialize"] = partial(grouper._rematerialize, again == "moved")
    return grouper.run(passes, seen)


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
        self.fixed = {p for ps in after.values() for p in ps}
        self.free: set[int] = set()
        pinned = self.fixed | self._wanted_in_memory()
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
        seen: dict[Value, bool] = {}  # whether it is one; there may be exponentially many ways to it
        stack = list(values)[::-1]
        while stack:
            if (v := stack.pop()) not in seen:
                u = self.owner.get(v)
                seen[v] = u is None or not (self.graph.units[u].kind == "view" or u in self.free)
                if u is not None and not seen[v]:
                    stack.extend(reversed(self.graph.units[u].reads))
        return [v for v, root in seen.items() if root]

    # --- the group graph ---
    def _start(self) -> None:
        """Every unit a group of its own."""
        self.refused = []
        self.unproven: dict[Group, None] = {}  # groups that `accepts` was not asked about
        self.group_of: dict[int, Group] = {}
        self.shared: set[int] = set()  # first units of groups that were refused because others read them too
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

    def run(self, passes: dict[str, Callable[[], None]], seen: Seen | None) -> Grouping:
        self.careful: set[int] = set()  # units for which `accepts` is asked at every step
        self.elementwise = Elementwise(self.graph, self.by_unit, self.owner, self.reads, self._roots)
        self._start()
        self.readers: dict[Value, list[int]] = {}
        for u, vs in self.reads.items():
            for v in vs:
                self.readers.setdefault(v, []).append(u)
        self.exported = set(self._roots(self.graph.outputs)) | set(self.graph.outputs)
        for unit in self.graph.units:
            if unit.kind in ("torch", "host"):
                self.exported.update(unit.reads)
                self.exported.update(self._roots(unit.reads))
        for name, merge in passes.items():
            before = self._units() if seen is not None else []
            merge()
            if seen is not None:
                seen(name, before, self._units())
        groups = [g for g in self.slots if g is not None]
        for g in groups:
            g.kernel = self._fused(g.units[0])
            if g.kernel and not g.eqns:
                self.fill(g)
        apart = [r for r in self.refused if self.group_of[r.first] is not self.group_of[r.second]]
        return Grouping(groups, apart)

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
        self._together()
        wrong = [g for g in self.unproven if not self._accepted(g)]
        if wrong:
            self.careful.update(u for g in wrong for u in g.units)
            self._start()
            self._producers()

    def _accepted(self, g: Group) -> bool:
        try:
            self.accepts(g)
        except Refusal:
            return False
        return True

    def _together(self) -> None:
        """Groups that were refused because others read them too, with all of their readers at once.

        Such a group is stored when it is merged with some of its readers, and inlined when it is merged with all.
        """
        for a in sorted({self.group_of[u] for u in self.shared}, key=lambda g: -g.order):
            values = [v for u in a.units for v in self.graph.units[u].results]
            users = {self.group_of[r] for v in values for r in self.readers.get(v, ())} - {a}
            fused = all(self._fused(g.units[0]) for g in users)
            if users and fused and not any(v in self.exported for v in values):
                self._try(a, *sorted(users, key=lambda g: g.order))

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

    def _horizontal(self) -> None:
        """Small groups that do the same to tensors of the same shapes, and do not depend on each other."""
        found: dict[Hashable, list[Group]] = {}
        for g in self.slots:
            if g is None or not self._fused(g.units[0]):
                continue
            if not g.eqns:
                self.fill(g)
            key = alike(g.eqns, g.outputs, self.hint)
            if key is not None:
                found.setdefault((self.graph.units[g.units[0]].device, key), []).append(g)
        for groups in found.values():
            while len(groups) >= HORIZONTAL_LEAST:
                together: list[Group] = []
                for g in sorted(groups, key=lambda g: g.order):
                    if len(together) < HORIZONTAL_MOST and self._between((*together, g)) is not None:
                        together.append(g)
                groups = [g for g in groups if g not in together]
                if len(together) >= HORIZONTAL_LEAST:
                    self._try(*together)

    def _cut(self, better: Callable[[Group, bool], bool]) -> None:
        """Groups that are better off as several; nothing is merged after it."""
        cutter = Cutter(
            self.reads,
            lambda u: self.graph.units[u].results,
            lambda u: self.by_unit[u],
            self.hint,
            self.exported,
            self.readers,
            self.fill,
            self.accepts,
            self._refuse,
            better,
        )
        slots: list[Group | None] = []
        for g in self.slots:
            parts = [] if g is None or not self._fused(g.units[0]) else cutter.parts(g)
            slots.extend(parts or [g])
            for part in parts:
                for u in part.units:
                    self.group_of[u] = part
        for k, g in enumerate(slots):
            if g is not None:
                g.order = k
        self.slots = slots

    def _rematerialize(self, moved: bool) -> None:
        """Large values that all their readers compute again, only one of them if `moved`; the last pass."""
        groups = [g for g in self.slots if g is not None and self._fused(g.units[0])]
        for g in groups:
            if not g.eqns:
                self.fill(g)
        known = Program(self.owner, self.reads, self.readers, lambda u: self.by_unit[u], self.hint, self.fixed)
        for a in groups:
            for v in sorted(a.outputs, key=lambda v: -self.hint(v)):
                if v in self.exported or self.hint(v) < LEAST:
                    continue
                found = known.made_of(v, {*a.units, *a.again}, set(a.outputs) - {v})
                if found is None or not found[0]:
                    continue
                need, small = found
                if any(self.owner[x] not in a.units for x in small):  # computed again there
                    continue
                users = [g for g in groups if g is not a and v in known.read((*g.units, *g.again))]
                if moved and len(users) > 1:
                    continue
                more = small.difference(a.outputs)
                if known.gain(v, need, more, ((*g.units, *g.again) for g in users), a.units) > 0:
                    self._again(a, v, need, small, users, moved)
        self.slots = [g if g is None or g.units else None for g in self.slots]

    def _again(
        self, a: Group, v: Value, need: set[int], small: set[Value], users: Sequence[Group], moved: bool
    ) -> None:
        """Let `users` compute `v`, which `a` stores, by the units `need`, of `small` values which `a` stores then, if
        the scheduler agrees; `moved`: and if `a` computes none of these units then."""
        kept = [x for x in a.outputs if x is not v]
        left = Group(a.units, kept + sorted(small - {*kept}, key=lambda x: x.id), order=a.order, again=a.again)
        parts = [left, *(Group(g.units, g.outputs, order=g.order, again=g.again | need) for g in users)]
        wanted = set(left.outputs)
        left.units = []
        for u in reversed(a.units):
            if any(x in wanted for x in self.graph.units[u].results):
                left.units.insert(0, u)
                wanted.update(self.reads[u])
        if moved and need & {*left.units, *left.again}:
            return
        for part in parts:
            part.eqns = self._eqns(part)
        try:
            for part in parts if left.units else parts[1:]:
                self.accepts(part)
        except Refusal as r:
            self._refuse(a, users[0], f"not computed again: {r}")
            return
        for old, new in zip((a, *users), parts, strict=True):
            old.units, old.outputs, old.eqns, old.again = new.units, new.outputs, new.eqns, new.again

    def _try(self, *groups: Group) -> None:
        """Merge groups, which are in order, if no path between them leads around and the scheduler agrees."""
        a, b = groups[0], groups[-1]
        if a is b:
            return
        devices = dict.fromkeys(self.graph.units[g.units[0]].device for g in groups)
        if len(devices) > 1:
            self._refuse(a, b, f"on different devices, {' and '.join(map(str, devices))}")
            return
        if sum(len(g.units) for g in groups) > MAX_UNITS:
            self._refuse(a, b, f"more than {MAX_UNITS} operations")
            return
        reach = self._between(groups)
        if reach is None:
            self._refuse(a, b, "another operation lies between them")
            self.shared.add(a.units[0])
            return
        merged = Group(sorted(u for g in groups for u in g.units), parts=self._proven(groups))
        self.fill(merged)
        sure = self.elementwise.alike(merged.units)
        if not sure and not self._likely(groups):
            try:
                self.accepts(merged)
            except Refusal as r:
                self._refuse(a, b, str(r))
                if any(self.owner[v] in a.units for v in merged.outputs):
                    self.shared.add(a.units[0])
                return
            sure = True
        merged.parts = () if sure else merged.parts
        self._merge(groups, merged, reach)
        for g in groups:
            self.unproven.pop(g, None)
        if not sure:
            self.unproven[merged] = None

    def _proven(self, groups: Sequence[Group]) -> tuple[Group, ...]:
        """The groups that the scheduler has agreed to which these are made of."""
        parts = tuple(p for g in groups for p in g.parts or (g,))
        for g in parts:
            if not g.eqns:
                self.fill(g)
        return parts

    def _likely(self, groups: Sequence[Group]) -> bool:
        """Whether to ask later: of so many steps of a group that grows, most would be accepted."""
        a, b = groups[0], groups[-1]
        known = all(self.careful.isdisjoint(g.units) for g in groups)
        return known and len(groups) == 2 and self.elementwise.joins(a.units, b.units)

    def _refuse(self, a: Group, b: Group, reason: str) -> None:
        self.refused.append(Refused(a.units[0], b.units[0], reason))

    def _between(self, groups: Sequence[Group]) -> set[Group] | None:
        """Groups up to the last of `groups` that depend on one of them; None when one of these leads to one of them."""
        seen: set[Group] = set()
        stack = [n for g in groups for n in self.next[g] if n not in groups]
        while stack:
            g = stack.pop()
            if g in groups:
                return None
            if g in seen or g.order > groups[-1].order:
                continue
            seen.add(g)
            stack.extend(self.next[g])
        return seen

    def _merge(self, groups: Sequence[Group], merged: Group, after: set[Group]) -> None:
        lo, hi = groups[0].order, groups[-1].order
        region = [g for g in self.slots[lo : hi + 1] if g is not None]
        first = [g for g in region if g not in groups and g not in after]
        last = [g for g in region if g in after]
        placed: list[Group | None] = [*first, merged, *last]
        self.slots[lo : hi + 1] = placed + [None] * (hi + 1 - lo - len(placed))
        for k, g in enumerate(placed):
            if g is not None:
                g.order = lo + k
        for u in merged.units:
            self.group_of[u] = merged
        old = set(groups)
        before = set().union(*(self.before.pop(g) for g in groups)) - old
        nxt = set().union(*(self.next.pop(g) for g in groups)) - old
        self.before[merged], self.next[merged] = before, nxt
        for g in before:
            self.next[g] -= old
            self.next[g].add(merged)
        for g in nxt:
            self.before[g] -= old
            self.before[g].add(merged)

    def fill(self, g: Group) -> None:
        """Equations and outputs of a group."""
        mine = set(g.units)
        g.eqns = self._eqns(g)
        g.outputs = []
        for u in g.units:
            for v in self.graph.units[u].results:
                if v in self.exported or any(r not in mine for r in self.readers.get(v, ())):
                    g.outputs.append(v)

    def _eqns(self, g: Group) -> list[Eqn]:
        """Its equations, with those of units that are free, or computed again."""
        units = set(g.units)
        stack = [v for u in g.units for v in self.graph.units[u].reads]
        while stack:
            v = stack.pop()
            u = self.owner.get(v)
            if (
                u is not None
                and u not in units
                and (u in self.free or u in g.again or self.graph.units[u].kind == "view")
            ):
                units.add(u)
                stack.extend(self.graph.units[u].reads)
        return [e for u in sorted(units) for e in self.by_unit.get(u, ())]
