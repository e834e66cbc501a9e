"""Where a group is cut in two: behind its reductions. The second part computes large values before those again.

That is for groups that are better off as two kernels although each has to read the inputs (`schedule/apart.py`). What
is behind the reductions may be two kernels as well, where large results of it are written along different axes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..core.errors import Refusal
from .groups import Group
from .ir import Eqn, Value

MOST = 64  # equations that are computed again, at most
AGAIN = frozenset(("map", "cast", "const", "scalar", "affine", "reshape", "iota"))


def cheap(eqns: Sequence[Eqn]) -> bool:
    """Whether they may be computed again."""
    return all(e.op in AGAIN for e in eqns)


class Cut(NamedTuple):
    """Units of the first and of the second group, and those of the first that the second computes again."""

    first: list[int]
    second: list[int]
    again: set[int]


def cut(
    units: Sequence[int],
    reads: Mapping[int, Sequence[Value]],
    results: Callable[[int], Sequence[Value]],
    eqns: Callable[[int], Sequence[Eqn]],
    bytes_of: Callable[[Value], int],
    stored: Callable[[Value], bool],
    between: bool = False,
    wide: bool = False,
) -> Cut | None:
    """The units of a group, in order, as two groups; None where there are no two, or where more would be kept or
    computed again than small values and cheap ones.

    The first has the reductions, what they are made of, and what is made of them and no larger. `reads`: what each
    unit reads, through views; `stored`: whether a value is stored anyway. `between`: the first has only those
    reductions that large values need, on the way to others; if there are none, those that others need. `wide`: the
    first has all that needs nothing reduced, too.
    """
    owner = {v: u for u in units for v in results(u)}
    needs = {u: [owner[v] for v in reads[u] if v in owner] for u in units}
    reducing = [u for u in units if any(e.op == "reduce" for e in eqns(u))]
    if not reducing or any(e.op == "scan" for u in units for e in eqns(u)):
        return None
    size = {u: max((bytes_of(v) for v in results(u)), default=0) for u in units}
    every = reducing
    if between:
        most = max(size[u] for u in reducing)
        ways = [[u for u in units if size[u] > most], reducing]
        early = [{p for u in way for p in _closure(needs[u], needs) if p in reducing} for way in ways]
        reducing = sorted(early[0] or early[1])
        if not reducing:
            return None
    large = max([*size.values(), *(bytes_of(v) for u in units for v in reads[u])]) // 16
    first = _closure(reducing, needs)
    after: set[int] = set()  # units with a reduction before them
    for u in units:
        if any(p in after or p in reducing for p in needs[u]):
            after.add(u)
    if wide:
        first.update(u for u in units if u not in after)
    most = max(size[u] for u in reducing)
    for u in units:
        if u in after and u not in every and size[u] <= most and all(p in first for p in needs[u]):
            first.add(u)
    second = [u for u in units if u not in first]
    if not second or (between and first.issuperset(every)):
        return None
    # what the second reads of the first: small values are in memory, large ones are computed again if they are not
    again: set[int] = set()
    stack = [p for u in second for p in needs[u]]
    while stack:
        u = stack.pop()
        if u in again or u not in first or size[u] < large or all(map(stored, results(u))):
            continue
        if not cheap(eqns(u)):
            return None
        again.add(u)
        stack.extend(needs[u])
    if sum(len(eqns(u)) for u in again) > MOST:
        return None
    return Cut([u for u in units if u in first], second, again)


def _closure(units: Sequence[int], needs: Mapping[int, Sequence[int]]) -> set[int]:
    """`units` and all that they need."""
    out: set[int] = set()
    stack = list(units)
    while stack:
        u = stack.pop()
        if u not in out:
            out.add(u)
            stack.extend(needs[u])
    return out


@dataclass(frozen=True)
class Cutter:
    """Cuts groups, and asks the scheduler.

    `reads` to `bytes_of` as for `cut`; `exported`: values that are stored anyway; `readers`: units that read a value;
    `fill` sets a group's equations and outputs; `accepts` and `better`: see `grouping.group`; `refuse` is told why a
    group is not cut: of which unit, and which one follows.
    """

    reads: Mapping[int, Sequence[Value]]
    results: Callable[[int], Sequence[Value]]
    eqns: Callable[[int], Sequence[Eqn]]
    bytes_of: Callable[[Value], int]
    exported: Collection[Value]
    readers: Mapping[Value, Sequence[int]]
    fill: Callable[[Group], None]
    accepts: Callable[[Group], None]
    refuse: Callable[[Group, Group, str], None]
    better: Callable[[Group, bool], bool]

    def parts(self, g: Group) -> list[Group]:
        """A group, cut where it is better off as several, in the order of the program."""
        for between in (False, True):
            if found := self._halves(g, between):
                return [*found[:1], *(p for part in found[1:] for p in self.parts(part))]
        return [g]

    def _halves(self, g: Group, between: bool) -> list[Group]:
        if len(g.units) == 1:
            return []
        tries = []
        units, stored = sorted({*g.again, *g.units}), self.exported.__contains__
        for wide in (False,) if between else (False, True):  # as much behind the reductions as can be, or as little
            found = cut(units, self.reads, self.results, self.eqns, self.bytes_of, stored, between, wide)
            if found is None:
                break
            own = [[u for u in part if u not in g.again] for part in found[:2]]
            first, second = (Group(x, again=g.again & {*y}) for x, y in zip(own, found[:2], strict=True))
            second.again |= found.again
            tries.append((first, second))
        results = [] if between else list(self._results(g))
        if not (tries or results) or not self.better(g, between):
            return []
        whole = ([first, second] for first, second in tries)
        divided = ([first, *rest] for first, second in tries for rest in self._in_two(second))
        found_apart = next((parts for parts in (*whole, *divided) if self._accepted(parts)), [])
        apart = (parts for parts in results if self._accepted(parts) and not self.better(parts[0], False))
        return found_apart or next(apart, [])

    def _results(self, g: Group) -> Iterator[list[Group]]:
        """A group that reduces as what is before one of its large results, and that: it reads what is stored then."""
        if not any(e.op == "reduce" for u in g.units for e in self.eqns(u)):
            return
        most = max(self.bytes_of(v) for u in g.units for v in (*self.reads[u], *self.results(u)))
        for u in g.units:
            made = self.results(u)
            large = all(v in self.exported and 4 * self.bytes_of(v) >= most for v in made)
            if large and cheap(self.eqns(u)):
                inside = {*g.units} - {u}
                if inside and not any(r in inside for v in made for r in self.readers.get(v, ())):
                    yield [Group(sorted(inside), again=g.again), Group([u])]

    def _accepted(self, parts: list[Group]) -> bool:
        """Fills the parts of a group, and asks about them."""
        mine = {u for g in parts for u in g.units}
        for g in parts:
            self.fill(g)
        for k, g in enumerate(parts):
            wanted = {v for h in parts[k + 1 :] for v in _read(h.eqns)}
            g.outputs = [
                v
                for u in g.units
                for v in self.results(u)
                if v in self.exported or v in wanted or any(r not in mine for r in self.readers.get(v, ()))
            ]
        try:
            for g in parts:
                self.accepts(g)
        except Refusal as r:
            self.refuse(parts[0], parts[1], f"not cut: {r}")
            return False
        return True

    def _in_two(self, g: Group) -> Iterator[list[Group]]:
        """A group that reduces nothing as two: the second has one of the results, and all that is for it alone."""
        inside = {*g.units, *g.again}
        if not all(cheap(self.eqns(u)) for u in inside):
            return
        owner = {v: u for u in inside for v in self.results(u)}
        self.fill(g)
        ends = {owner[v] for v in g.outputs}
        needs = {u: [owner[v] for v in self.reads[u] if v in owner] for u in inside}
        for end in sorted(ends, reverse=True) if len(ends) > 1 else ():
            kept = _closure(sorted(ends - {end}), needs)
            if end not in kept:  # what the others leave is read, not computed again
                needed = _closure([end], {u: [p for p in ps if p not in ends] for u, ps in needs.items()})
                own = (needed - kept).intersection(g.units)
                second = Group(sorted(own), again=frozenset(needed - own))
                yield [Group(sorted(kept.intersection(g.units)), again=g.again & kept), second]


def _read(eqns: Sequence[Eqn]) -> set[Value]:
    """What equations read of others."""
    return {v for e in eqns for v in e.inputs} - {e.out for e in eqns}


__all__ = ["MOST", "Cut", "Cutter", "cheap", "cut"]
