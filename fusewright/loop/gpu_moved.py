"""Rows moved back to where vectors are aligned (`schedule/gpu_anchor.py`): the partial vectors at their ends.

A point of such a walk has a mask, the lanes that are columns of the row, and says whether some are not (`partial`). All
lanes compute; loads and stores of those that are no columns are left out (whole vectors are one access, for the mask is
a `lanerange`), and their values join no reduction: that costs a branch, which only partial vectors take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core.dtypes import bool_, compute_type
from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage
from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix, ix
from ..prims.table import ARG_MONOIDS
from ..schedule import gpu_anchor
from ..schedule.gpu_base import GpuSchedule
from .accumulate import BLOCK, Accumulator
from .gpu_lanes import Lanes
from .ir import Arg, If, Imm, Let, Reg, Set, Stmt, Var
from .scope import Scope

WHOLE = Imm(False, bool_)  # `partial` where all lanes are known to be columns
BESIDE = 3  # vectors at either end of a row: they may be partial, or beside one that is, or beyond the row


class Moved(Lanes):
    """`start`: where a row of the schedule's anchor starts, in elements; None: rows stay where they are."""

    start: Ix | None = None
    inside = False  # whether only vectors are visited that are whole, as are those beside them

    def __init__(self, f: Fusion, schedule: GpuSchedule, name: str):
        super().__init__(f, schedule, name)
        if schedule.anchor:
            assert self.v is not None
            self.start = gpu_anchor.start(f, self.v, schedule.anchor)
            assert self.start is not None, f"rows of {schedule.anchor} have no start"

    def steps(self, a: Atom) -> Ix:
        if self.start is None or a is not self.v:
            return super().steps(a)
        assert a.extent is not None
        return (a.extent + 2 * (self.width - 1)) // ix(self.width)

    def place_col(self, s: Scope, step: Arg) -> None:
        super().place_col(s, step)
        if self.start is None:
            return
        v, extent = self.v, self.columns_of_row()
        assert v is not None
        p = self.scalar_index(s, self.start, "start of a row")
        by = self.imm(self.width - 1)
        back = Imm(p.value & by.value, p.dtype) if isinstance(p, Imm) else self.prim(self._home_of(s, p), "and", p, by)
        at = s.axes[v] = self.own(s, self.prim(s, "sub", s.axes[v], back))
        if self.inside:
            s.partial = WHOLE
            return
        over = self.prim(s, "gt", at, self.add(s, extent, self.imm(-self.width)))
        s.partial = self.prim(s, "or", self.prim(s, "lt", at, self.imm(0)), over)
        s.mask = self.columns_in(s, at)

    def serial_walk(
        self,
        s: Scope,
        lo: Arg,
        hi: Arg,
        col: Arg,
        points: Callable[[list[Scope]], None],
        back: bool = False,
        done: Callable[[Scope], None] | None = None,
    ) -> None:
        """Most vectors are inside of their row: these come first, and nothing is asked about them. Then those at both
        ends, as many at a time."""
        ordered = any(st.monoid in ARG_MONOIDS for st in self.f.reductions())  # of equals, the first one counts
        if self.start is None or len(self.cols) > 1 or ordered:
            super().serial_walk(s, lo, hi, col, points, back, done)
            return
        ct, turn = self.s.col_threads, self.s.col_threads * self.s.steps
        ends = self.add(s, self.add(s, lo, hi), self.imm(-1)) if back else None
        beyond = self.col_steps()

        def place(c: Scope, step: Arg, there: Arg | None = None) -> Scope:
            x = Scope(c, c.body)
            at = step if ends is None else self.prim(x, "sub", ends, step)
            self.place_col(x, at if there is None else self.prim(x, "where", there, at, beyond))
            return x

        def whole(c: Scope, var: Reg) -> None:
            at = self.add(c, var, col)
            self.inside = True
            points([place(c, self.add(c, at, self.imm(u * ct))) for u in range(self.s.steps)])
            self.inside = False

        begin = self.add(s, lo, self.imm(BESIDE))
        inner = self.prim(s, "max", self.prim(s, "sub", self.add(s, hi, self.imm(-BESIDE)), begin), self.imm(0))
        turns = self.let(s, "udiv", (inner, self.imm(turn)), self.ix)
        end = self.add(s, begin, self.mul(s, turns, self.imm(turn)))
        size = self.imm(max(1, BLOCK // self.s.steps) * turn)
        self.in_blocks(s, begin, end, turn, size, whole, None if done is None else lambda b, *_: done(b))
        gap = self.prim(s, "sub", end, begin)  # between those at the two ends

        one_by_one = any(o.kind == "moments" for o in self.p.online.values())  # partial vectors join those so
        several = 1 if one_by_one else self.s.steps

        def left(c: Scope, var: Reg) -> None:
            body: list[Stmt] = []
            some = Scope(c, body)
            scopes, exist = [], []
            for u in range(several):
                step = self.add(c, self.add(c, var, self.imm(u * ct)), col)
                step = self.prim(c, "where", self.prim(c, "lt", step, begin), step, self.add(c, step, gap))
                exist.append(self.prim(c, "lt", step, hi))
                scopes.append(place(some, step, exist[u] if u else None))
            points(scopes)
            c.body.append(If(exist[0], body))

        self.in_blocks(s, lo, self.prim(s, "sub", hi, gap), several * ct, size, left, None)

    def columns_of_row(self) -> Arg:
        assert self.v is not None and self.v.extent is not None
        return self.params.get(self.v.extent, ("extent", self.v.name))

    def columns_in(self, s: Scope, at: Arg) -> Arg:
        """Which lanes of the vector at `at` are columns of the row."""
        return self.let(s, "lanerange", (at, self.columns_of_row()), bool_, self.width)

    def quads(self, column: Ix) -> bool:
        return self.start is None and super().quads(column)

    # --- the order of loads: one that lies across two vectors waits for both ---
    def in_turn(self, loads: Sequence[Expr]) -> list[Sequence[Expr]]:
        first = [e for e in loads if self.start is None or self.mark(*e.data[:2])]
        return [g for g in (first, [e for e in loads if e not in first]) if g]

    def ask_first(self, scopes: Sequence[Scope], roots: list[Expr]) -> None:
        """Read the aligned vectors of some points before anything waits for one."""
        if self.start is None:
            return
        loads = [e for e in sc.walk(roots) if e.kind == "load" and not e.args and self.v in e.data[1].axes()]
        held, others = ([e for e in loads if bool(self.mark(*e.data[:2])) == m] for m in (True, False))
        for x in scopes if others else ():
            for e in held:
                self.emit(x, e)

    def part_load(self, s: Scope, e: Expr, base: Arg, lanes: int) -> Arg | None:
        """The condition bounds the columns, as the ends of the row do: what is left is a range of lanes, too."""
        assert self.v is not None
        found = gpu_anchor.bounds(e.args[0], self.v)
        if found is None:
            return None
        low: Arg = self.imm(0)
        high = self.columns_of_row()
        for p in found[0]:
            low = self.prim(s, "max", low, self.scalar_index(s, p, "bound"))
        for p in found[1]:
            high = self.prim(s, "min", high, self.scalar_index(s, p, "bound"))
        count = self.prim(s, "sub", high, low)
        for c in found[2]:
            count = self.prim(s, "where", self.emit(s, c), count, self.imm(0))
        at = next(c.axes[self.v] for c in s.chain() if self.v in c.axes)
        mask = self.let(s, "lanerange", (self.prim(s, "sub", at, low), count), bool_, lanes)
        name, offset, dtype = e.data
        mark = self.mark(name, offset) or "across"
        return self.let(s, "load", (base, mask), compute_type(dtype), lanes, self.bufs[name], mark)

    def reach(self, offset: Ix) -> list[Arg]:
        """What is beside a row, in a vector with some of its columns, may be read along with these: it takes as long as
        one element, and nothing is done with it."""
        last = gpu_anchor.last(offset)
        return [] if last is None else [self.params.get(last, "last element")]

    # --- what joins a reduction ---
    def real(self, x: Scope, value: Arg, other: Arg) -> Arg:
        """`value` in lanes that are columns of the row, else `other`."""
        edge = next((c for c in x.chain() if c.vector is not None), None)
        if edge is None or edge.partial in (None, WHOLE) or self.v is None or value.lanes == 1:
            return value
        assert edge.partial is not None
        dst = self.reg(value.dtype, value.lanes, "real")
        x.body.append(Var(dst, value))
        inside: list[Stmt] = []
        c = Scope(x, inside)
        mask = self.reg(bool_, value.lanes)
        inside.append(Let(mask, "lanerange", (edge.axes[self.v], self.columns_of_row())))
        inside.append(Set(dst, self.prim(c, "where", mask, dst, self.splat(c, other, value.lanes))))
        x.body.append(If(edge.partial, inside))
        return self.own(x, dst)

    def accumulate(self, s: Scope, st: Stage, acc: Accumulator, back: bool = False) -> None:
        if self.start is None or st.monoid in ARG_MONOIDS:
            super().accumulate(s, st, acc, back)
        else:
            s.body.append(Set(acc[0], self.real(s, self.joined(s, st, acc[0], self.width), acc[0])))
