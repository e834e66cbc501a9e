"""Passes over the columns of a row in a GPU kernel, and the reductions a block completes."""

from __future__ import annotations

from collections.abc import Callable

from ..core.dtypes import DType, compute_type
from ..fusion.ir import Stage
from ..fusion.scalar import Expr
from ..prims.table import ARG_MONOIDS, MONOIDS
from .accumulate import LAST
from .gpu_online import OnlineSums
from .ir import Alloc, Arg, Buf, For, If, Imm, Let, Reg, Set, Stmt, Store, Var
from .scope import Scope

STEADY = 24  # 32-bit words per thread of what is the same for all rows, at most, that are read only once
NEXT = 32  # words per thread of a row, at most, that are asked for while the row before is being worked on

PARTS = (4, 32)  # partial results that a thread asks for at once, and elements of them, at most

Where = Callable[[Scope, Arg], Arg]
Read = Callable[[Scope, Arg], tuple[Arg, ...]]
Span = tuple[Arg, Arg, int]  # lo, lo + step, ... below hi: (lo, hi, step)


class Rows(OnlineSums):
    """One row (or several, side by side) at a time."""

    partial: dict[str, Buf]  # what blocks leave for the next launch, by stage
    ahead: dict[Expr, Buf]  # what is read of the next row, while a resident block works on one
    early: set[Expr]  # loads that come before the passes that want them
    _loads_of: dict[int, list[Expr]]

    def sum_type(self, st: Stage) -> DType:
        return compute_type(st.body.dtype)

    def accumulate_held(self, x: Scope, st: Stage, valid: Arg | None) -> None:
        raise NotImplementedError

    def accumulate_thread(self, x: Scope, st: Stage, valid: Arg | None) -> None:
        raise NotImplementedError

    def one_pass(self, s: Scope, number: int, col: Arg, valid: Arg | None, span: tuple[Arg, Arg] | None) -> None:
        """One pass over the columns (`span`: some of them), and the reductions it completes within the block."""
        stages = self.p.work[number]
        reduces = [st for st in stages if st.kind == "reduce" and st not in self.p.outer_vec]
        running = {st.name: self.begin(s, st) for st in reduces if st.name in self.p.online}
        led = {self.p.online[name].lead for name in running}
        plain = [st for st in reduces if st not in self.p.full and st.name not in running and st.name not in led]
        accs = {st.name: self.accumulator(s, st) for st in plain}

        def points(scopes: list[Scope]) -> None:
            if self.s.mode != "persistent":
                self.ask_first(scopes, [self.p.operand(st) for st in stages])
            for x in scopes:
                self.at_point(x, number)
                for st in stages:  # values first: all loads are on their way before the first store
                    for e in self.factors(st):
                        self.emit(x, e)
            for x in scopes:
                for st in stages:
                    if st.kind == "store":
                        self.store(x, st, valid)
                    elif st in self.p.outer_vec:
                        self.accumulate_held(x, st, valid)
                    elif st in self.p.full:
                        self.accumulate_thread(x, st, valid)
                    elif st.name in accs:
                        self.accumulate(x, st, accs[st.name])
            for st in stages:
                if st.name in running:
                    self.advance(scopes, st, running[st.name])

        def point(x: Scope, k: Arg) -> None:
            self.k = k
            points([x])

        if self.s.mode == "persistent":
            self.persistent_walk(s, col, [e for e in self.loads_of(number) if e not in self.early], point)
        else:
            lo, hi = span or (self.imm(0), self.col_steps())
            self.serial_walk(s, lo, hi, col, points)
        for st in plain:
            s.stages[st.name] = self.own(s, self.combine_row(s, st, accs[st.name]))
        self.running: dict[str, tuple[Arg, ...]] = {}
        for st in stages:
            if st.name in running:
                self.finish_running(s, st, running[st.name])

    def finish_running(self, s: Scope, st: Stage, regs: tuple[Reg, ...]) -> None:
        """A stage that was combined on the fly; in `running`, what other chunks of its row are to be merged with."""
        how = self.p.online[st.name]
        if how.kind == "rescaled":
            most, total = self.running[st.name] = self.finish_rescaled(s, st, regs)
            s.stages[how.lead] = self.own(s, most)
            if self.s.mode != "split":
                s.stages[st.name] = self.own(s, self.settled(s, most, total))
            return
        parts = self.running[st.name] = self.finish_moments(s, regs)
        if self.s.mode != "split":
            s.stages[st.name] = self.own(s, self.about(s, st, *parts))

    def at_point(self, x: Scope, number: int) -> None:
        fetched = set(self.loads_of(number))
        later = {e for q, es in self.p.keep_at.items() if q >= number for e in es}
        x.kept = {e: b for e, b in self.keep.items() if e in fetched or (e in self.p.kept and e not in later)}
        for check, per_point, when in self.p.checks:
            if per_point and when == number:
                self.check(x, check)
        for e in self.p.keep_at.get(number, ()):
            if e in fetched:
                continue
            value = self.splat(x, self.emit(x, e), self.width)
            x.body.append(Store(self.keep[e], self.kept_at(x), value))

    # --- loads of a persistent row ---
    def loads_of(self, number: int) -> list[Expr]:
        """What pass `number` of a persistent row reads at every point, for certain, and finds nowhere: it is asked for
        before anything is computed, so that it is on its way together."""
        if self.s.mode != "persistent":
            return []
        found = self._loads_of.get(number)
        if found is None:
            here = {e for p, es in self.p.keep_at.items() if p < number for e in es}
            loads: list[Expr] = []
            stack = [self.p.operand(st) for st in self.p.work[number]]
            visited: set[Expr] = set()
            while stack:
                e = stack.pop()
                if e in visited or e in here:
                    continue
                visited.add(e)
                if e.kind == "load" and not e.args and self._plain(e):
                    loads.append(e)
                stack.extend(e.children())
            found = self._loads_of[number] = loads[::-1]
        return found

    def fetch_steady(self, s: Scope, col: Arg) -> None:
        """Read what is the same for all rows of a resident block, once, if it is little."""
        if self.start is not None:  # each row has other columns in a thread
            return
        every = dict.fromkeys(e for p in sorted(self.p.work) for e in self.loads_of(p))
        loads = [e for e in every if not e.axes & set(self.rows)]
        if loads and self.load_words(loads) * self.s.steps <= STEADY:
            self.held_steps(s, col, 0, self.s.steps, self.reader({e: self.array(e) for e in loads}))
            self.early |= set(loads)

    def look_ahead(self) -> None:
        """Give what the first pass of a resident block reads of its next row arrays of its own, if it is little."""
        loads = [e for e in self.loads_of(min(self.p.work)) if e not in self.early] if self.p.work else []
        if self.load_words(loads) * self.s.steps > NEXT:
            return
        for k, e in enumerate(loads):
            buf = self.ahead[e] = Buf(f"next{k}", self.array(e).dtype)
            self.func.allocs.append(Alloc(buf, self.imm(self.s.steps * self.width), "register"))
        self.early |= set(loads)

    def fetch_row(self, s: Scope, tile: Arg, row: Arg, col: Arg) -> None:
        """Ask for what `look_ahead` found, of a row: while a resident block works on the row before."""
        if self.ahead:
            self.place_row(s, tile, row)
            self.held_steps(s, col, 0, self.s.steps, self.reader(self.ahead))

    def turn_over(self, s: Scope, col: Arg) -> None:
        """The row that was asked for becomes the row to work on."""

        def move(x: Scope, k: Arg) -> None:
            self.k = k
            for e, buf in self.ahead.items():
                got = self.let(x, "load", (self.kept_at(x),), e.dtype, self.width, buf)
                x.body.append(Store(self.array(e), self.kept_at(x), got))

        if self.ahead:
            self.held_steps(s, col, 0, self.s.steps, move)

    def _plain(self, e: Expr) -> bool:
        """Whether a load is of a vector that differs from column to column, at a place that positions alone give."""
        varies = bool(e.axes & set(self.cols)) and (self.v is None or self.v in e.axes)
        return varies and all(a.kind != "value" for a in e.data[1].atoms())

    # --- reductions within a block ---
    def combine_row(self, s: Scope, st: Stage, acc: tuple[Reg, ...]) -> Arg:
        """Combine the lanes and threads of a row."""
        across = self.width > 1 and not self.row_vector
        m = st.monoid
        if m not in ARG_MONOIDS:
            return self.over_row_threads(s, self.over_lanes(s, self.freeze(s, acc[0]), m), m)
        pick = "max" if m == "argmax" else "min"
        value, pos = self.freeze(s, acc[0]), self.freeze(s, acc[1])
        best = self.over_row_threads(s, self.over_lanes(s, value, pick), pick)
        same = self.prim(s, "eq", value, best)
        if value.dtype.is_float:
            same = self.prim(s, "or", same, self.prim(s, "isnan", value))
        at = self.prim(s, "where", same, pos, Imm(LAST, pos.dtype))
        low = self.let(s, "hreduce", (at,), at.dtype, attr="min") if across else at
        return self.over_row_threads(s, low, "min")

    def over_lanes(self, s: Scope, a: Arg, monoid: str) -> Arg:
        if a.lanes == 1 or self.row_vector:
            return a
        return self.let(s, "hreduce", (a,), a.dtype, attr=monoid)

    def over_row_threads(self, s: Scope, a: Arg, monoid: str) -> Arg:
        """Combine all threads of a row, in all blocks of a cluster."""
        ct, stride = self.s.col_threads, self.col_stride()
        a = self.over_threads(s, a, monoid, ct, stride)
        return a if self.s.cluster == 1 else self.collective(s, "creduce", a, (monoid, ct, stride))

    def over_threads(self, s: Scope, a: Arg, monoid: str, group: int, stride: int) -> Arg:
        return a if group == 1 else self.collective(s, "treduce", a, (monoid, group, stride))

    def collective(self, s: Scope, op: str, a: Arg, how: tuple[str, int, int]) -> Arg:
        dst = self.reg(a.dtype, a.lanes, how[0])
        s.body.append(Let(dst, op, (a,), None, how))
        self.homes[dst.name] = s
        return dst

    # --- device memory between launches ---
    def grid_memory(self, st: Stage, dtype: DType, count: Arg) -> None:
        buf = self.partial[st.name] = Buf(f"part_{st.name}", dtype)
        self.func.allocs.append(Alloc(buf, count, "grid"))

    def identity(self, st: Stage, dtype: DType, lanes: int) -> Imm:
        return Imm(MONOIDS[st.monoid].identity(dtype), dtype, lanes)

    def each_part(
        self, s: Scope, span: Span, lanes: int, read: Read, add: Callable[[Scope, tuple[Arg, ...]], None]
    ) -> None:
        """A loop over the partial results of `span`: `add(scope, values)` of each, in order.

        `read(scope, t)` loads the values of the t-th, of so many lanes. A few are asked for before the first is waited
        for; one that does not exist is read as the last one, and not added.
        """
        lo, hi, step = span
        t = self.reg(self.ix, prefix="t")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, t)
        last = self.add(s, hi, self.imm(-1))
        at = [self.add(c, t, self.imm(k * step)) for k in range(max(1, min(PARTS[0], PARTS[1] // lanes)))]
        values = [read(c, t if k == 0 else self.prim(c, "min", a, last)) for k, a in enumerate(at)]
        for k, (a, v) in enumerate(zip(at, values, strict=True)):
            if k == 0:
                add(c, v)
                continue
            there: list[Stmt] = []
            add(Scope(c, there), v)
            inside.append(If(self.prim(c, "lt", a, hi), there))
        s.body.append(For(t, lo, hi, self.imm(step * len(at)), inside))

    def add_parts(self, s: Scope, st: Stage, lanes: int, span: Span, where: Where) -> Reg:
        """The partial results of `span`, combined; `where(scope, t)`: the place of the t-th."""
        acc = self.total(s, st, lanes)

        def read(c: Scope, t: Arg) -> tuple[Arg, ...]:
            buf = self.partial[st.name]
            return (self.let(c, "load", (where(c, t),), buf.dtype, lanes, buf),)

        def add(c: Scope, values: tuple[Arg, ...]) -> None:
            c.body.append(Set(acc, self.prim(c, MONOIDS[st.monoid].combine, acc, *values)))

        self.each_part(s, span, lanes, read, add)
        return acc

    def total(self, s: Scope, st: Stage, lanes: int) -> Reg:
        """A register for partial results, at the identity."""
        dtype = self.partial[st.name].dtype
        acc = self.reg(dtype, lanes, "total")
        s.body.append(Var(acc, self.identity(st, dtype, lanes)))
        return acc
