"""Running totals along the columns of a row, in a GPU kernel.

A thread that has a row for itself walks along it. Threads that share one take neighbouring vectors: each adds up its
own lanes, a `tscan` says what comes before them, and what the row had before is carried from one stretch of columns to
the next. Of a row in shared memory (`gpu_runs.py`), which can be read in any order, a thread takes vectors that follow
each other, all it has: they are added up before one `tscan`, and nothing is carried. All threads take part in that, so
those past the end of the row look at its last column, and add nothing.

Of few long rows, whose columns are cut over blocks (`gpu_split.py`), a launch leaves what each chunk combines to. A
block of the next one combines what the chunks before its own have left, in a fixed order, and carries that on.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.dtypes import DType, compute_type, f32, f64
from ..fusion import scalar as sc
from ..fusion.ir import Stage
from ..prims.table import MONOIDS
from ..schedule.gpu_runs import shared_scan
from .gpu_split import Split
from .ir import Arg, For, If, Let, Reg, Set, Stmt, Var
from .scope import Scope

Points = Callable[[list[tuple[Scope, Arg | None]]], None]  # points, and whether each exists (None: yes)


class Scans(Split):
    """Passes that read a scan."""

    def one_pass(self, s: Scope, number: int, col: Arg, valid: Arg | None, span: tuple[Arg, Arg] | None) -> None:
        stages = self.p.work[number]
        scans = self.p.scans_of([st.body for st in stages])
        if not scans:
            super().one_pass(s, number, col, valid, span)
            return
        scanned = {st.name for st in scans}
        lo, hi = span or (self.imm(0), self.col_steps())
        accs = {st.name: self.accumulator(s, st) for st in stages if st.kind == "reduce"}
        chunked = shared_scan(self.f, self.s)
        before, after = self.p.point_checks(number, scanned)
        carried = {} if chunked else {st.name: self.carry(s, st) for st in scans}

        def points(found: list[tuple[Scope, Arg | None]]) -> None:
            self.at_points([x for x, _ in found], number, before)
            for x, _ in found:  # all loads are on their way before threads wait for each other
                for st in scans:
                    if not st.body.stages & scanned:
                        self.emit(x, st.body)
                for e in sc.walk([st.body for st in [*scans, *stages]]):
                    if e.kind == "load" and not e.stages & scanned:
                        self.emit(x, e)
            if chunked:
                for st in scans:
                    self.scan_chunk(found, st)
            else:
                for x, here in found:
                    for st in scans:
                        self.advance_scan(x, st, carried[st.name], here)
            for x, here in found:
                for c in after:
                    self.check(x, c, here)
                for st in stages:
                    self.emit(x, st.body)
            for x, here in found:
                inside: list[Stmt] = []
                at = x if here is None else Scope(x, inside)
                for st in stages:
                    if st.kind == "store":
                        self.store(at, st, valid)
                    else:
                        self.accumulate(at, st, accs[st.name])
                if here is not None:
                    x.body.append(If(here, inside))

        if self.s.col_threads == 1:
            self.serial_walk(s, lo, hi, col, lambda scopes: points([(x, None) for x in scopes]))
        elif chunked:
            self.chunk_walk(s, col, points)
        else:
            self.shared_walk(s, lo, hi, col, points)
        self.combine_rows(s, [st for st in stages if st.name in accs], accs)

    def shared_walk(self, s: Scope, lo: Arg, hi: Arg, col: Arg, points: Points) -> None:
        """Columns lo .. hi, `steps` vectors of each thread at a time; the threads go through it together."""
        ct, n = self.s.col_threads, self.s.steps
        var = self.reg(self.ix, prefix="c")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, var)
        points(self.those_there(s, c, self.add(c, var, col), ct, hi))
        s.body.append(For(var, lo, hi, self.imm(ct * n), inside))

    def chunk_walk(self, s: Scope, col: Arg, points: Points) -> None:
        """All columns at once, if there are any: `steps` vectors of each thread, which follow each other."""
        inside: list[Stmt] = []
        c = Scope(s, inside)
        points(self.those_there(s, c, self.mul(s, col, self.imm(self.s.steps)), 1, self.col_steps()))
        s.body.append(If(self.prim(s, "lt", self.imm(0), self.col_steps()), inside))

    def those_there(self, s: Scope, c: Scope, first: Arg, apart: int, count: Arg) -> list[tuple[Scope, Arg | None]]:
        """`steps` points from the step `first` on, and whether they exist, of so many: those that do not are the last
        one."""
        last = self.add(s, count, self.imm(-1))
        found: list[tuple[Scope, Arg | None]] = []
        for u in range(self.s.steps):
            step = self.add(c, first, self.imm(u * apart))
            x = Scope(c, c.body)
            self.place_col(x, self.prim(c, "min", step, last))
            found.append((x, self.prim(c, "lt", step, count)))
        return found

    # --- rows that are cut over blocks ---
    def before_pass(self, number: int) -> None:
        """What each chunk combines to, of the scans that no pass has read yet."""
        stages = {n for st in self.p.work[number] for n in st.body.stages}
        scans = [st for st in self.p.scans.values() if st.name in stages and st.name not in self.partial]
        if not scans:
            return
        everyone = self.everyone()
        for st in scans:
            self.grid_memory(st, self.scan_type(st), everyone)
        c = self.chunk("what the chunks combine to", number, {n for st in scans for n in st.body.stages})
        checks, _ = self.p.point_checks(number, {st.name for st in scans})
        totals = {st.name: (self.total(c.s, st, self.width),) for st in scans}

        def points(scopes: list[Scope]) -> None:
            self.at_points(scopes, number, checks)
            for x in scopes:
                for st in scans:
                    self.emit(x, st.body)
            for x in scopes:
                for st in scans:
                    self.accumulate(x, st, totals[st.name])

        self.serial_walk(c.s, *c.span, c.col, points, back=True)  # the next pass begins with what is in the L2 cache
        self.combine_rows(c.s, scans, totals)
        self.leave_parts(c, {st.name: c.s.stages[st.name] for st in scans})

    def before_chunk(self, s: Scope, st: Stage) -> Arg:
        """What the chunks before this one combine to."""
        c = self.here
        span = c.col, c.part, self.s.col_threads
        (total,) = self.add_parts(s, [st], self.row_lanes, span, lambda x, t: self.left_at(x, t, c.step))
        return self.together(s, total, st.monoid)

    # --- one scan ---
    def stretch_type(self, st: Stage) -> DType:
        """That of totals within a stretch of columns which threads share: few of them follow each other, the rest is
        combined as a tree."""
        return compute_type(st.dtype) if st.relaxed else self.scan_type(st)

    def scan_type(self, st: Stage) -> DType:
        """As on a CPU, where eager does the same: sums and products of f32 are accumulated in f64."""
        dtype = compute_type(st.dtype)
        return f64 if dtype is f32 and st.monoid in ("sum", "prod") else dtype

    def carry(self, s: Scope, st: Stage) -> Reg:
        """What the columns so far combine to."""
        dtype, lanes = self.scan_type(st), self.row_lanes
        before = self.before_chunk(s, st) if self.s.mode == "split" else self.identity(st, dtype, lanes)
        r = self.reg(dtype, lanes, "carry")
        s.body.append(Var(r, before))
        return r

    def lane_totals(self, x: Scope, st: Stage, dtype: DType, here: Arg | None) -> tuple[Arg, Arg]:
        """What is scanned at a point, combined lane by lane, and all lanes."""
        value = self.cast(x, self.splat(x, self.emit(x, st.body), self.width), dtype)
        if here is not None:
            value = self.prim(x, "where", here, value, self.identity(st, dtype, self.width))
        if self.width == 1 or self.row_vector:
            return value, value
        value = self.let(x, "hscan", (value,), dtype, self.width, attr=st.monoid)
        return value, self.let(x, "lane", (value,), dtype, attr=self.width - 1)

    def across(self, x: Scope, st: Stage, mine: Arg, dtype: DType) -> tuple[Arg, Arg]:
        """What the threads of a row before this one have, and all of them."""
        both = self.reg(dtype, 2, "scan")
        x.body.append(Let(both, "tscan", (mine,), None, (st.monoid, self.s.col_threads, self.col_stride())))
        self.own(x, both)
        return self.let(x, "lane", (both,), dtype, attr=0), self.let(x, "lane", (both,), dtype, attr=1)

    def advance_scan(self, x: Scope, st: Stage, carry: Reg, here: Arg | None) -> None:
        """The scan's value at a point (for each lane), which stages may then read."""
        join, shared = MONOIDS[st.monoid].combine, self.s.col_threads > 1
        dtype = self.stretch_type(st) if shared else carry.dtype
        value, mine = self.lane_totals(x, st, dtype, here)
        before = self.cast(x, carry, dtype)
        if shared:
            earlier, mine = self.across(x, st, mine, dtype)
            before = self.prim(x, join, before, earlier)
        total = self.prim(x, join, before, value)
        after = total if mine is value else self.prim(x, join, carry, self.cast(x, mine, carry.dtype))
        x.body.append(Set(carry, after))
        x.stages[st.name] = self.own(x, self.cast(x, total, compute_type(st.dtype)))

    def scan_chunk(self, found: list[tuple[Scope, Arg | None]], st: Stage) -> None:
        """The scan's value at all points of a thread, which follow each other."""
        join, dtype = MONOIDS[st.monoid].combine, self.stretch_type(st)
        values, mine = [], None
        for x, here in found:
            value, all_lanes = self.lane_totals(x, st, dtype, here)
            values.append(value if mine is None else self.prim(x, join, mine, value))
            mine = all_lanes if mine is None else self.prim(x, join, mine, all_lanes)
        x = found[-1][0]
        assert mine is not None
        before, _ = self.across(x, st, mine, dtype)
        for (x, _), value in zip(found, values, strict=True):
            total = self.prim(x, join, before, value)
            x.stages[st.name] = self.own(x, self.cast(x, total, compute_type(st.dtype)))
