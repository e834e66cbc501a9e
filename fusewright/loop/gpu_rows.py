"""Passes over the columns of a row in a GPU kernel, and the reductions a block completes."""

from __future__ import annotations

from collections.abc import Callable

from ..core.dtypes import DType, compute_type
from ..fusion.ir import Stage
from ..prims.table import ARG_MONOIDS, MONOIDS
from .accumulate import LAST
from .gpu_online import OnlineSums
from .ir import Alloc, Arg, Buf, For, Imm, Let, Reg, Set, Stmt, Store, Var
from .scope import Scope

Where = Callable[[Scope, Arg], Arg]


class Rows(OnlineSums):
    """One row (or several, side by side) at a time."""

    partial: dict[str, Buf]  # what blocks leave for the next launch, by stage

    def sum_type(self, st: Stage) -> DType:
        return compute_type(st.body.dtype)

    def peeled(self, st: Stage) -> bool:
        """Whether a sum of floats starts at -0, to which the first value of a pass that is written out is added by no
        instruction: x + -0 is x, whatever x is. At the end 0 is added: no sum is -0, as none is that starts at 0.
        """
        straight = self.s.mode == "persistent" and not self.rolled
        return straight and st.monoid == "sum" and not st.fused and self.sum_type(st).is_float

    def nothing(self, st: Stage) -> float | int | bool:
        return -0.0 if self.peeled(st) else super().nothing(st)

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
            self.persistent_walk(s, number, col, point)
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
            x.body.append(Store(self.keep[e], self.kept_at(x, e), value))

    # --- reductions within a block ---
    def combine_row(self, s: Scope, st: Stage, acc: tuple[Reg, ...]) -> Arg:
        """Combine the lanes and threads of a row."""
        across = self.width > 1 and not self.row_vector
        m = st.monoid
        if m not in ARG_MONOIDS:
            a = self.over_lanes(s, self.freeze(s, acc[0]), m)
            if self.peeled(st):
                a = self.prim(s, "add", a, Imm(0.0, a.dtype, a.lanes))
            return self.over_row_threads(s, a, m)
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

    def each_part(self, s: Scope, lo: Arg, hi: Arg, step: int, body: Callable[[Scope, Arg], None]) -> None:
        """A loop over the partial results lo, lo + step, ... below hi: `body(scope, t)`."""
        t = self.reg(self.ix, prefix="t")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, t)
        body(c, t)
        s.body.append(For(t, lo, hi, self.imm(step), inside))

    def add_parts(self, s: Scope, st: Stage, lanes: int, span: tuple[Arg, Arg, int], where: Where) -> Reg:
        """The partial results of `span` (lo, hi, step), combined; `where(scope, t)`: the place of the t-th."""
        acc = self.total(s, st, lanes)

        def body(c: Scope, t: Arg) -> None:
            buf = self.partial[st.name]
            got = self.let(c, "load", (where(c, t),), buf.dtype, lanes, buf)
            c.body.append(Set(acc, self.prim(c, MONOIDS[st.monoid].combine, acc, got)))

        self.each_part(s, *span, body)
        return acc

    def total(self, s: Scope, st: Stage, lanes: int) -> Reg:
        """A register for partial results, at the identity."""
        dtype = self.partial[st.name].dtype
        acc = self.reg(dtype, lanes, "total")
        s.body.append(Var(acc, self.identity(st, dtype, lanes)))
        return acc
