"""Scatters in the loop nest: what a thread owns of the target, and the read-modify-write of a point.

Every thread visits the points in their order and writes only what it owns (`schedule/scatter.py`): a range of an axis,
which bounds a loop, or a range of a run-time coordinate, which is a condition. If nothing is divided the nest stands
outside the parallel regions.
"""

from __future__ import annotations

from ..core.dtypes import compute_type, i64
from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage
from ..index.expr import Atom, Ix, ix
from ..prims.table import MONOIDS
from ..schedule.cpu import Schedule
from .accumulate import Reductions
from .ir import Arg, If, Reg, Stmt, Store, imm
from .scope import Scope

RUN = 64  # columns whose random numbers are drawn at once, from a multiple of as many


class Scatters(Reductions):
    """The part of lowering that scatters, and that divides the work among threads.

    `owner`: the axis that threads divide instead of the rows, or None; `mine`: this thread's range of it, or of the
    run-time coordinate `place`; `serial`: whether one thread does it all; `by_row`: whether a row's condition is known
    before its columns are visited.
    """

    rows: list[Atom]

    def prepare(self, f: Fusion, schedule: Schedule) -> None:
        """Find out what `schedule` says of the scatter of `f`, if there is one."""
        self.stage = next(iter(f.scatters()), None)
        self.owner = next((a for a in f.axes if a.name == schedule.owner), None)
        self.place = schedule.owner if isinstance(schedule.owner, int) else None
        self.mine: tuple[Arg, Arg] = (imm(0), imm(0))
        self.serial = self.stage is not None and schedule.owner is None
        self.draws = any(e.kind == "random" for e in sc.walk([x.body for x in f.stages]))
        self.by_row = False
        if self.stage is not None and self.stage.target is not None:
            t = self.stage.target
            axes = {a for e in (t.mask, *(p for p, _ in t.places), *(c for c, _ in f.checks)) for a in e.axes}
            self.by_row = not axes & set(self.cols)

    def divide(self, s: Scope, tid: Reg, nth: Reg, rows: Ix) -> tuple[Arg, Arg]:
        """The rows that a thread visits."""
        total = self.params.get(rows, "rows")
        if self.serial:
            return imm(0), total
        if self.stage is None:
            return self._share(s, tid, nth, total)
        if self.owner is None:
            assert self.stage.target is not None and self.place is not None
            _, count = self.stage.target.places[self.place]
            self.mine = self._share(s, tid, nth, self.params.get(count, "target"))
            return imm(0), total
        assert self.owner.extent is not None
        extent = self.params.get(self.owner.extent, ("extent", self.owner.name))
        if self.owner not in self.rows:
            if self.owner is not self.v:
                self.mine = self._share(s, tid, nth, extent)
                return imm(0), total
            # whole vectors, and whole runs of the random numbers that are drawn for so many columns at once
            unit = RUN if self.draws else self.width
            units = self.params.get((self.owner.extent + unit - 1) // ix(unit), "vectors")
            lo, hi = (self.mul(s, a, imm(unit)) for a in self._share(s, tid, nth, units))
            self.mine = (lo, self.prim(s, "min", hi, extent))
            return imm(0), total
        # the outermost row axis: each of its values stands for as many rows as the other axes have
        lo, hi = self._share(s, tid, nth, extent)
        rest: Arg = imm(1)
        for a in self.rows[1:]:
            assert a.extent is not None
            rest = self.mul(s, rest, self.params.get(a.extent, ("extent", a.name)))
        return self.mul(s, lo, rest), self.mul(s, hi, rest)

    def _share(self, s: Scope, tid: Reg, nth: Reg, count: Arg) -> tuple[Arg, Arg]:
        """A thread's contiguous part of 0 .. count."""
        lo = self.let(s, "udiv", (self.mul(s, tid, count), nth), i64)
        hi = self.let(s, "udiv", (self.mul(s, self.add(s, tid, imm(1)), count), nth), i64)
        return lo, hi

    def guard(self, s: Scope) -> Arg:
        """Whether a point (or each of a vector of points) counts and is this thread's to write."""
        assert self.stage is not None and self.stage.target is not None
        t = self.stage.target
        ok = self.emit(s, t.mask)
        if self.place is not None:
            at = self.emit(s, t.places[self.place][0])
            ok = self.prim(s, "and", ok, self.prim(s, "ge", at, self.mine[0]))
            ok = self.prim(s, "and", ok, self.prim(s, "lt", at, self.mine[1]))
        return ok

    def scatter(self, s: Scope, st: Stage) -> None:
        """Write a point, or combine it with what is there; the lanes of a vector never meet."""
        if self.by_row:
            self._combine(s, st, None)
            return
        ok = self.guard(s)
        if ok.lanes > 1:
            self._combine(s, st, ok)
            return
        inside: list[Stmt] = []
        c = Scope(s, inside)
        c.axes = dict(next(x.axes for x in s.chain() if x.axes))  # what depends on the point is computed inside
        self._combine(c, st, None)
        s.body.append(If(ok, inside))

    def _combine(self, s: Scope, st: Stage, mask: Arg | None) -> None:
        assert st.offset is not None
        buf = self.bufs[st.buffer]
        lanes = self.width if self.v is not None and self.v in st.axes else 1
        value = self.splat(s, self.emit(s, st.body), lanes)
        base, contiguous = self.index(s, st.offset, st.buffer)
        assert contiguous or lanes == 1
        tail = self.tail(s) if lanes > 1 else None
        if tail is not None:
            mask = tail if mask is None else self.prim(s, "and", mask, tail)
        if st.monoid != "set":
            args = (base,) if mask is None else (base, mask)
            old = self.let(s, "load", args, compute_type(buf.dtype), lanes, buf)
            value = self.prim(s, MONOIDS[st.monoid].combine, old, value)
        s.body.append(Store(buf, base, value, mask))
