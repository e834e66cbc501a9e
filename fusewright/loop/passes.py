"""What each pass over the columns of a row does: an analysis of a Fusion under a schedule."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import Protocol

from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage, expression
from ..fusion.online import Online
from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix
from ..schedule.cpu_blocks import in_all_rows
from ..schedule.short import apart
from ..schedule.turned import turns

KEEP_COST = 16  # instructions per vector above which a value used by two passes is kept rather than recomputed


class Nest(Protocol):
    """What an analysis needs of a schedule."""

    @property
    def rows(self) -> tuple[str, ...]: ...
    @property
    def cols(self) -> tuple[str, ...]: ...
    @property
    def vector(self) -> str: ...
    @property
    def lanes(self) -> int: ...
    @property
    def split(self) -> tuple[tuple[str, int], ...]: ...


class Passes:
    """The stages of a fusion by their place in the loop nest.

    `inner`: reductions over the columns of a row; `outer_vec`: over rows, one result per column; `outer_scalar`: over
    rows, of row values; `full`: over both. `nest`, `row_stores`, `epilogue`: stores at every point, once a row, and
    after all rows. `work[p]`: what pass p computes at every point; `keep_at[p]`: expressions it leaves in scratch for
    later passes; `kept`: all of those; `shared`: what is the same in all rows, if it is to be computed once. `apart`:
    whether lanes read at a distance from each other. `ahead`, `next_row`: see `_look_ahead`.

    `keep_cost`: instructions above which a value is kept (None: nothing is); `keep_loads`: what was read is kept, too
    (or only what lanes read at a distance from each other: `keep_strided`);
    `online`: reductions that do not wait for those they read.
    """

    def __init__(
        self,
        f: Fusion,
        schedule: Nest,
        keep_cost: int | None = KEEP_COST,
        keep_loads: bool = False,
        online: Mapping[str, Online] | None = None,
        shared: bool = False,
        keep_strided: bool = True,
    ):
        self.online = online or {}
        by_name = {a.name: a for a in f.axes}
        self.f = f
        self.rows = [by_name[n] for n in schedule.rows]
        self.cols = [by_name[n] for n in schedule.cols]
        self.v: Atom | None = by_name.get(schedule.vector)
        self.turn = bool(getattr(schedule, "turn", ""))
        self._classify(bool(schedule.split))
        self._order()
        loads = [e for e in sc.walk([s.body for s in f.stages]) if e.kind == "load"]
        self.apart = any(self.strided(e.data[1]) for e in loads)
        self.keep_at: dict[int, list[Expr]] = {}
        self.kept: list[Expr] = []
        bodies = [s.body for w in self.work.values() for s in w]
        self.shared = in_all_rows(bodies, self.cols, self.v, schedule.lanes) if shared else []
        if keep_cost is not None and "keep" not in f.without:
            self._keep(keep_cost, keep_loads, keep_strided)
        self._look_ahead()

    def _classify(self, split: bool) -> None:
        rows, cols = set(self.rows), set(self.cols)
        self.inner: list[Stage] = []
        self.outer_vec: list[Stage] = []
        self.outer_scalar: list[Stage] = []  # reduced over rows, defined at row level
        self.full: list[Stage] = []  # reduced over rows and columns
        outer: set[str] = set()
        for s in self.f.reductions():
            raxes, axes = set(s.raxes), set(s.axes)
            if raxes == cols and axes == rows and not split:
                self.inner.append(s)
                continue
            if raxes == rows and axes == cols and cols and rows:
                self.outer_vec.append(s)
            elif raxes == rows and not axes:
                self.outer_scalar.append(s)
            else:
                assert split or not axes, f"{s.name} has part of the columns"
                self.full.append(s)
            outer.add(s.name)
        self.scans = {s.name: s for s in self.f.scans()}
        self.nest: list[Stage] = []  # stores at every point
        self.row_stores: list[Stage] = []
        self.epilogue: list[Stage] = []
        everything = rows | cols
        for s in [*self.f.stores(), *self.f.scatters()]:
            axes = set(s.axes)
            once = split and not axes and bool(everything)
            if once or s.body.stages & outer or (axes != everything and axes != rows):
                self.epilogue.append(s)
            elif axes == everything and (cols or not rows):
                self.nest.append(s)
            else:
                self.row_stores.append(s)

    def _order(self) -> None:
        self.pass_of: dict[str, int] = {}

        def at(e: Expr) -> int:
            n = 0
            for name in e.stages:
                if name in self.scans:
                    n = max(n, self.pass_of[name])
                elif name in self.pass_of:
                    n = max(n, self.pass_of[name] + 1)
            return n

        for s in self.f.stages:
            if s in self.inner or s.kind == "scan":
                self.pass_of[s.name] = at(self.operand(s))
        self.work: dict[int, list[Stage]] = {}
        for s in [*self.inner, *self.outer_vec, *self.full, *self.nest]:
            self.work.setdefault(at(self.operand(s)), []).append(s)
        # a check runs in the first pass that has what it needs: per point, or per row just before that pass
        self.checks: list[tuple[Expr, bool, int]] = []
        for c, axes in self.f.checks:
            p = min((q for q in self.work if q >= at(c)), default=max(self.work, default=0) + 1)
            self.checks.append((c, bool(set(axes) & set(self.cols)), p))

    def point_checks(self, number: int, scanned: AbstractSet[str]) -> tuple[list[Expr], list[Expr]]:
        """The checks at every point of a pass: those that come before what is `scanned` there advances, and those of
        places that it computes, which come after."""
        here = [c for c, per_point, when in self.checks if per_point and when == number]
        return [c for c in here if not c.stages & scanned], [c for c in here if c.stages & scanned]

    def operand(self, s: Stage) -> Expr:
        """What a pass evaluates for a stage."""
        return self.online[s.name].of if s.name in self.online else s.body

    def _keep(self, keep_cost: int, keep_loads: bool, keep_strided: bool) -> None:
        """Per pass: expressions it must leave in scratch, and those later passes find there."""
        cols = set(self.cols)
        cost: dict[Expr, int] = {}

        def total(e: Expr) -> int:
            if e not in cost:
                for x in sc.walk([e]):
                    own = 1000 if x.kind == "stage" and x.data[0] in self.scans else x.cost
                    cost[x] = own + sum(cost[c] for c in x.children() if c.axes & cols)
            return cost[e]

        needs: dict[int, set[Expr]] = {}
        for p in sorted(self.work):
            roots = [s.body for s in self.work[p]]
            for q in sorted(needs):
                stack = list(roots)
                seen: set[Expr] = set()
                while stack:
                    e = stack.pop()
                    if e in seen or not e.axes & cols or e in self.shared:
                        continue
                    seen.add(e)
                    if e in self.kept:
                        continue
                    varies = self.v is None or self.v in e.axes
                    if e.kind == "load":
                        dear = bool(keep_loads and set(self.rows) & e.axes) or (keep_strided and self._dear(e))
                    else:
                        dear = total(e) >= keep_cost
                    if varies and e in needs[q] and dear:
                        self.kept.append(e)
                        self.keep_at.setdefault(q, []).append(e)
                        continue
                    stack.extend(e.children())
            needs[p] = {e for e in sc.walk(self.with_scans(roots)) if e.axes & cols}

    def strided(self, offset: Ix) -> bool:
        """Whether rows fill the lanes, and lie at a distance from each other there."""
        return self.v is not None and self.v in self.rows and apart(offset, self.v)

    def _dear(self, e: Expr) -> bool:
        """Whether a load is element by element."""
        if self.v is None or not self.strided(e.data[1]):
            return False
        return not (self.turn and not e.args and turns(e.data[1], self.cols[-1], self.v, rows=True))

    def _look_ahead(self) -> None:
        """`ahead`: the pass during which the next row is asked for; `next_row`: what of it (buffer, offset).

        With several passes a row's first pass waits for memory and the others find it in the cache: the busiest of
        those is the time to fetch the next row.
        """
        self.ahead = -1
        self.next_row: list[tuple[str, Ix]] = []
        later = sorted(self.work)[1:]
        if not later or not self.rows or self.v not in self.cols:
            return
        cols = set(self.cols)

        def busy(p: int) -> int:
            work = sc.walk([s.body for s in self.work[p]])
            return sum(e.cost for e in work if e.axes & cols and e not in self.kept)

        self.ahead = max(later, key=busy)
        row = self.rows[-1]
        first = min(self.work)
        seen: set[tuple[str, Ix]] = set()
        for e in sc.walk(self.with_scans([s.body for s in self.work[first]])):
            if e.kind == "load" and not e.args and self.v in e.axes:
                name, offset, _ = e.data
                step = offset.coefficient(row)
                if step is not None and step.terms and (name, offset) not in seen:
                    seen.add((name, offset))
                    self.next_row.append((name, offset + step))

    def text(self) -> str:
        """The walks over a row, for people: what each computes, finds in scratch, leaves there, and asks for ahead."""
        lanes = f"; lanes along {self.v.name}" if self.v is not None else ""
        lines = [f"rows ({_names(self.rows)}), columns ({_names(self.cols)}){lanes}"]
        for p in sorted(self.work):
            lines.append(f"walk {p}: {', '.join(map(self._what, self.work[p]))}")
            lines += [f"  keeps {expression(e)}" for e in self.keep_at.get(p, ())]
            if p == self.ahead:
                lines += [f"  asks for {name}[{offset}] of the next row" for name, offset in self.next_row]
        for when, stages in (
            ("after a row", [*self.outer_scalar, *self.row_stores]),
            ("after all rows", self.epilogue),
        ):
            if stages:
                lines.append(f"{when}: {', '.join(map(self._what, stages))}")
        return "\n".join(lines)

    def _what(self, s: Stage) -> str:
        how = self.online.get(s.name)
        return f"{s.kind} {s.buffer or s.name}{f' on the fly ({how.kind})' if how is not None else ''}"

    def with_scans(self, roots: list[Expr]) -> list[Expr]:
        """`roots` and the operands of the scans they read, which a pass has to compute with them."""
        return [*roots, *(st.body for st in self.scans_of(roots))]

    def scans_of(self, roots: list[Expr], found: Collection[Expr] = ()) -> list[Stage]:
        """The scans that `roots` read and those that these read, in order, but for what is `found` in scratch."""
        read = {n for r in roots for n in r.stages}
        out: list[Stage] = []
        for name, st in reversed(self.scans.items()):
            if name in read and sc.stage_value(name, st.dtype, frozenset(st.axes)) not in found:
                out.append(st)
                read |= st.body.stages
        return out[::-1]


def _names(axes: list[Atom]) -> str:
    return ", ".join(a.name for a in axes)
