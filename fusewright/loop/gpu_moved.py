"""Rows moved back to where vectors are aligned (`schedule/gpu_anchor.py`): the partial vectors at their ends.

A point of such a walk has a mask, the lanes that are columns of the row, and says whether some are not (`partial`). All
lanes compute; loads and stores of those that are no columns are left out (whole vectors are one access, for the mask is
a `lanerange`), and their values join no reduction: that costs a branch, which only partial vectors take.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.dtypes import bool_, compute_type
from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage
from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix, ix
from ..prims.table import ARG_MONOIDS
from ..schedule import gpu_anchor
from ..schedule.gpu_base import GpuSchedule
from .accumulate import Accumulator
from .gpu_lanes import Lanes
from .ir import Arg, If, Imm, Let, Set, Stmt, Var
from .scope import Scope


class Moved(Lanes):
    """`start`: where a row of the schedule's anchor starts, in elements; None: rows stay where they are."""

    start: Ix | None = None

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
        over = self.prim(s, "gt", at, self.add(s, extent, self.imm(-self.width)))
        s.partial = self.prim(s, "or", self.prim(s, "lt", at, self.imm(0)), over)
        s.mask = self.columns_in(s, at)

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

    # --- what joins a reduction ---
    def real(self, x: Scope, value: Arg, other: Arg) -> Arg:
        """`value` in lanes that are columns of the row, else `other`."""
        edge = next((c for c in x.chain() if c.vector is not None), None)
        if edge is None or edge.partial is None or self.v is None or value.lanes == 1:
            return value
        dst = self.reg(value.dtype, value.lanes, "real")
        x.body.append(Var(dst, value))
        inside: list[Stmt] = []
        c = Scope(x, inside)
        mask = self.reg(bool_, value.lanes)
        inside.append(Let(mask, "lanerange", (edge.axes[self.v], self.columns_of_row())))
        inside.append(Set(dst, self.prim(c, "where", mask, dst, self.splat(c, other, value.lanes))))
        x.body.append(If(edge.partial, inside))
        return self.own(x, dst)

    def accumulate(self, s: Scope, st: Stage, acc: Accumulator) -> None:
        if self.start is None or st.monoid in ARG_MONOIDS:
            super().accumulate(s, st, acc)
        else:
            s.body.append(Set(acc[0], self.real(s, self.joined(s, st, acc[0], self.width), acc[0])))
