"""Passes over the columns of a row in a GPU kernel, and the reductions a block completes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..core.dtypes import DType, f32
from ..fusion.ir import Stage
from ..fusion.scalar import Expr
from ..prims.table import ARG_MONOIDS, MONOIDS
from .gpu_online import OnlineSums
from .ir import Alloc, Arg, Buf, For, Imm, Let, Reg, Set, Stmt, Store, Var
from .scope import Scope

Where = Callable[[Scope, Arg], Arg]
Span = tuple[Arg, Arg, int]
Use = Callable[[Scope, list[Arg], Arg | None], None]

ALL = 64  # 32-bit words of partial results that a thread asks for at a time, in a launch that only combines them
BESIDE = 32  # in one that does more
PAIRED = 4  # lanes of which a thread has two sums each, at most


def words(r: Reg) -> int:
    """The 32-bit registers that it takes."""
    return r.lanes * max(r.dtype.itemsize // 4, 1)


class Rows(OnlineSums):
    """One row (or several, side by side) at a time."""

    partial: dict[str, Buf]  # what blocks leave for the next launch, by stage
    thread_acc: dict[str, Reg]  # what a thread has of results over rows and columns

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
        blocked = [st for st in [*plain, *self.p.full] if st in reduces and self.in_parts(st)]
        parts = {st.name: self.accumulator(s, st)[0] for st in blocked}
        checks, _ = self.p.point_checks(number, frozenset())
        back = self.s.mode != "persistent" and number % 2 == 1  # what was read last is in the L2 cache still
        accs = {st.name: (self.whole(s, st),) if st in blocked else self.accumulator(s, st) for st in plain}

        def points(scopes: list[Scope]) -> None:
            if self.s.mode != "persistent":
                self.ask_first(scopes, [self.p.operand(st) for st in stages])
            self.at_points(scopes, number, checks)
            for x in scopes:
                for st in stages:  # values first: all loads are on their way before the first store
                    for e in self.factors(st):
                        self.emit(x, e)
            for x in scopes:
                for st in stages:
                    if st.kind == "store":
                        self.store(x, st, valid)
                    elif st in self.p.outer_vec:
                        self.accumulate_held(x, st, valid)
                    elif st.name in parts:
                        self.accumulate(x, st, (parts[st.name],), back)
                    elif st in self.p.full:
                        self.accumulate_thread(x, st, valid)
                    elif st.name in accs:
                        self.accumulate(x, st, accs[st.name], back)
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
            joining = (lambda b: self.join(b, blocked, parts, accs, valid, True)) if blocked else None
            self.serial_walk(s, lo, hi, col, points, back, joining)
        self.join(s, blocked, parts, accs, valid, False)
        self.combine_rows(s, plain, accs)
        self.running: dict[str, tuple[Arg, ...]] = {}
        for st in stages:
            if st.name in running:
                self.finish_running(s, st, running[st.name])

    # --- sums of many points: errors of float32 pile up within a block of them only ---
    def in_parts(self, st: Stage) -> bool:
        """Whether a thread adds up blocks of points before these join a sum: where nothing rounds it to 16 bits."""
        if (self.row_vector and self.width > PAIRED) or (self.p.online and self.s.index == 64):
            return False  # registers are needed otherwise
        several = not self.row_vector if st in self.p.full else self.s.mode != "persistent"
        return several and st.monoid == "sum" and self.sum_type(st) is f32 and not st.relaxed

    def whole(self, s: Scope, st: Stage) -> Reg:
        """The sum that blocks join: a single number, if lanes are columns."""
        acc = self.reg(f32, self.row_lanes, "sum")
        s.body.append(Var(acc, Imm(0.0, f32, acc.lanes)))
        return acc

    def join(
        self,
        s: Scope,
        stages: Sequence[Stage],
        parts: Mapping[str, Reg],
        accs: Mapping[str, tuple[Reg, ...]],
        valid: Arg | None,
        again: bool,
    ) -> None:
        """The end of a block: it joins the row's sum, or the thread's part of one over rows and columns.

        `again`: there is another block.
        """
        for st in stages:
            part = self.over_lanes(s, self.freeze(s, parts[st.name]), "sum")
            full = st in self.p.full
            acc = self.thread_acc[st.name] if full else accs[st.name][0]
            total = self.prim(s, "add", acc, part)
            self.only(s, valid if full else None).append(Set(acc, total))
            if again:
                s.body.append(Set(parts[st.name], Imm(0.0, f32, self.width)))

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

    def at_points(self, scopes: Sequence[Scope], number: int, checks: Sequence[Expr]) -> None:
        """What comes before the stages of a pass at some points, `checks` among it."""
        fetched = set(self.loads_of(number))
        later = {e for q, es in self.p.keep_at.items() if q >= number for e in es}
        for x in scopes:
            x.kept = {e: b for e, b in self.keep.items() if e in fetched or (e in self.p.kept and e not in later)}
        self.check_all(scopes, checks, [None] * len(scopes))
        for x in scopes:
            for e in self.p.keep_at.get(number, ()):
                if e in fetched:
                    continue
                value = self.splat(x, self.emit(x, e), self.width)
                x.body.append(Store(self.keep[e], self.kept_at(x, e), value))

    # --- reductions within a block ---
    def combine_rows(self, s: Scope, stages: list[Stage], accs: Mapping[str, tuple[Reg, ...]]) -> None:
        """Combine what the lanes and threads of a row have: what is alike together, with one barrier."""
        self.best: dict[str, Arg] = {}  # the extremes whose positions are asked for
        parts: dict[str, Arg] = {}
        for st in stages:
            if st.monoid not in ARG_MONOIDS:
                a = self.over_lanes(s, self.freeze(s, accs[st.name][0]), st.monoid)
                if self.peeled(st):
                    a = self.prim(s, "add", a, Imm(0.0, a.dtype, a.lanes))
                parts[st.name] = a
        for st in stages:
            if st.name in parts:
                value = self.over_row_threads(s, parts[st.name], st.monoid)
            else:
                value = self.as_number(s, self.position_in_row(s, st, accs[st.name]))
            s.stages[st.name] = self.own(s, value)

    def position_in_row(self, s: Scope, st: Stage, acc: tuple[Reg, ...]) -> Arg:
        """Where in the row the extreme of the lanes and threads is; it goes to `best`."""
        across = self.width > 1 and not self.row_vector
        pick = "max" if st.monoid == "argmax" else "min"
        best = self.over_row_threads(s, self.over_lanes(s, self.freeze(s, acc[0]), pick), pick)
        self.best[st.name] = best
        at = self.where_best(s, self.freeze(s, acc[0]), self.places(s, acc, across), best)
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
        self, s: Scope, span: Span, size: int, load: Callable[[Scope, Arg], list[Arg]], use: Use, room: int = BESIDE
    ) -> None:
        """A loop over the partial results lo, lo + step, ... below hi, in order; `span`: (lo, hi, step).

        `load(scope, t)` reads the t-th, in so many registers (`size`); `use(scope, values, there)` takes what was
        read. Several are on their way at a time, in `room` registers. Those past the end are the last one again, and
        not `there` (None: it is).
        """
        lo, hi, step = span
        batch = max(1, min(room // size, room // 8))
        last = self.add(s, hi, self.imm(-1))
        t = self.reg(self.ix, prefix="t")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, t)
        read: list[tuple[list[Arg], Arg | None]] = []
        for k in range(batch):
            at: Arg = t
            there: Arg | None = None
            if k:
                later = self.add(c, t, self.imm(k * step))
                there = self.prim(c, "lt", later, hi)
                at = self.prim(c, "min", later, last)
            read.append((load(c, at), there))
        for values, there in read:
            use(c, values, there)
        s.body.append(For(t, lo, hi, self.imm(batch * step), inside))

    def add_parts(
        self, s: Scope, stages: Sequence[Stage], lanes: int, span: Span, where: Where, room: int = BESIDE
    ) -> list[Reg]:
        """The partial results of `span` of each stage, combined; `where(scope, t)`: the place of the t-th."""
        totals = [self.total(s, st, lanes) for st in stages]

        def load(c: Scope, t: Arg) -> list[Arg]:
            at = where(c, t)
            return [self.part(c, st.name, at, lanes) for st in stages]

        def use(c: Scope, values: list[Arg], there: Arg | None) -> None:
            for st, acc, got in zip(stages, totals, values, strict=True):
                if there is not None:
                    got = self.prim(c, "where", there, got, self.identity(st, acc.dtype, lanes))
                c.body.append(Set(acc, self.prim(c, MONOIDS[st.monoid].combine, acc, got)))

        if stages:
            self.each_part(s, span, sum(map(words, totals)), load, use, room)
        return totals

    def part(self, s: Scope, name: str, at: Arg, lanes: int) -> Arg:
        """What a block has left for `lanes` results, at a multiple of those."""
        buf = self.partial[name]
        return self.let(s, "load", (at,), buf.dtype, lanes, buf, "aligned" if lanes > 1 else None)

    def leave(self, name: str, at: Arg, value: Arg) -> Store:
        """The inverse of `part`."""
        return Store(self.partial[name], at, value, None, "aligned" if value.lanes > 1 else "")

    def total(self, s: Scope, st: Stage, lanes: int) -> Reg:
        """A register for partial results, at the identity."""
        dtype = self.partial[st.name].dtype
        acc = self.reg(dtype, lanes, "total")
        s.body.append(Var(acc, self.identity(st, dtype, lanes)))
        return acc
