"""Reductions in the loop nest: accumulators in registers, partial results per thread, and their combination."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.dtypes import DType, bool_, compute_type, f32, f64, i32, i64
from ..fusion.ir import Stage
from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix, sym
from ..index.layout import flatten, product
from ..prims.table import ARG_MONOIDS, MONOIDS, partial_type
from .emitter import Emitter
from .ir import Alloc, Arg, Buf, Fail, For, If, Imm, Let, Reg, Set, Stmt, Store, Var, imm
from .passes import Passes
from .scope import Scope

THREADS = sym("threads")
BLOCK_ROWS = 64  # rows summed before their column sums join the thread's, in f64: errors do not pile up
BLOCK = 64  # points, or vectors of them, that an accumulator sums up before that joins a sum in f64
TURNS = 2  # accumulators of the sum of a short row
LAST = {i32: (1 << 31) - 1, i64: (1 << 63) - 1}

Accumulator = tuple[Reg, ...]


@dataclass(frozen=True, slots=True)
class Sums:
    """Accumulators of sums in f32, and what they had at the ends of blocks, in f64.

    `some`: whether there has been such an end (1 or 0); `left`: iterations of the innermost loop since the last one,
    where that runs several times (else None).
    """

    accs: tuple[Reg, ...] = ()
    totals: tuple[Reg, ...] = ()
    some: Reg | None = None
    left: Reg | None = None


class Reductions(Emitter):
    """The part of lowering that combines. `p` is the analysis; `width` the lanes; `row_vector`: rows fill the lanes."""

    p: Passes
    cols: list[Atom]
    v: Atom | None
    width: int
    row_vector: bool

    # --- small things ---
    def cast(self, s: Scope, a: Arg, dtype: DType) -> Arg:
        return a if a.dtype is dtype else self.let(s, "cast", (a,), dtype, a.lanes)

    def tail(self, s: Scope) -> Arg | None:
        """The mask of the vector loop around `s`, if it is a tail."""
        return next((c.mask for c in s.chain() if c.vector is not None), None)

    def freeze(self, s: Scope, a: Arg) -> Arg:
        """The value a mutable register has here."""
        dst = self.reg(a.dtype, a.lanes)
        s.body.append(Let(dst, "where", (Imm(True, bool_, a.lanes), a, a)))
        return dst

    def check(self, s: Scope, c: Expr, exists: Arg | None = None) -> None:
        """Report failure unless `c` is true, in every lane that exists; `exists`: whether the point does (None: yes).

        What does not is a copy of another point, which by then may have been overwritten by its own result.
        """
        s.body.append(If(self.fine(s, c, exists), [], [Fail()]))

    def check_all(self, scopes: Sequence[Scope], checks: Sequence[Expr], exists: Sequence[Arg | None]) -> None:
        """The checks of some points at once: nothing is read behind one that may fail before it has been decided, and
        what decides is on its way for all points."""
        found = [self.fine(x, c, there) for x, there in zip(scopes, exists, strict=True) for c in checks]
        if found:
            s = scopes[-1]
            every = functools.reduce(lambda a, b: self.prim(s, "and", a, b), found)
            s.body.append(If(every, [], [Fail()]))

    def fine(self, s: Scope, c: Expr, exists: Arg | None) -> Arg:
        """Whether `c` is true in every lane that exists."""
        ok = self.emit(s, c)
        if ok.lanes > 1:
            tail = self.tail(s)
            if tail is not None:
                ok = self.prim(s, "or", ok, self.prim(s, "not", tail))
            ok = self.let(s, "hreduce", (ok,), bool_, attr="all")
        return ok if exists is None else self.prim(s, "or", ok, self.prim(s, "not", exists))

    def columns(self) -> Ix:
        return product(a.extent for a in self.cols)

    def position(self, s: Scope) -> Arg:
        """The row-major position of the current point among the columns, in scratch memory."""
        lin = flatten(tuple(a.ix for a in self.cols), tuple(a.extent for a in self.cols))  # type: ignore[misc]
        base, _ = self.index(s, lin, "scratch")
        return self.mul(s, base, imm(self.width)) if self.row_vector else base

    def sum_type(self, st: Stage) -> DType:
        """What a reduction is accumulated in along a row."""
        return compute_type(st.body.dtype)

    def nothing(self, st: Stage) -> float | int | bool:
        """What an accumulator starts at."""
        return MONOIDS[st.monoid].identity(self.sum_type(st))

    # --- over the columns of a row ---
    def accumulator(self, s: Scope, st: Stage) -> Accumulator:
        """Registers that start at the identity: (value,), or (value, position of the vector) for argmax and argmin.

        Positions start at 0: if the best of all values is the identity, all of them are.
        """
        dtype = self.sum_type(st)
        acc = self.reg(dtype, self.width, "acc")
        s.body.append(Var(acc, Imm(self.nothing(st), dtype, self.width)))
        if st.monoid not in ARG_MONOIDS:
            return (acc,)
        pos = self.reg(self.ix, self.width, "pos")
        s.body.append(Var(pos, Imm(0, self.ix, self.width)))
        return (acc, pos)

    # --- sums of many points: errors of f32 pile up within a block only ---
    def sums(self, s: Scope, accs: list[Reg]) -> Sums:
        accs = [a for a in accs if a.dtype is f32]
        if not accs:
            return Sums()
        totals = [self.reg(f64, a.lanes, "total") for a in accs]
        s.body += [Var(r, Imm(0.0, f64, r.lanes)) for r in totals]
        numbers = [self.reg(i64, prefix=name) for name in ("some", "left")[: min(2, len(self.cols))]]
        s.body += [Var(r, imm(0)) for r in numbers]
        return Sums(tuple(accs), tuple(totals), *numbers)

    def blocks(self, s: Scope, lo: Arg, hi: Arg, step: int, sums: Sums, body: Callable[[Scope, Reg], None]) -> None:
        """An innermost loop over lo, lo + step, ... below hi, which is a multiple of steps away: after every `BLOCK`
        iterations accumulators join the totals and begin anew."""
        size = BLOCK * step

        def asking(c: Scope, var: Reg) -> None:
            body(c, var)
            phase = self.prim(c, "and", self.span(c, lo, var), imm(size - 1))
            c.body.append(If(self.prim(c, "eq", phase, imm(size - step)), self._join(c, sums)))

        def done(b: Scope, begin: Arg, end: Arg) -> None:
            length = self.prim(b, "sub", end, begin)
            b.body.append(If(self.prim(b, "eq", length, imm(size)), self._join(b, sums)))

        if sums.left is not None:  # short, as a rule: one loop takes less time than two
            self.in_blocks(s, lo, hi, step, imm(size), asking, None)
        else:
            self.in_blocks(s, lo, hi, step, imm(size), body, done if sums.accs else None)

    def runs(
        self,
        s: Scope,
        span: tuple[Arg, Arg],
        inner: tuple[Arg, Arg],
        step: int,
        sums: Sums,
        body: Callable[[Scope, Reg], None],
    ) -> None:
        """A loop over `span` whose body runs an innermost loop over `inner`, so many points at a time, and then single
        vectors of what is left. Of that there may be less than a block: so many runs make one."""
        left, points = sums.left, self.span(s, *inner)
        assert left is not None
        many = self.let(s, "udiv", (points, imm(step)), i64)
        rest: Arg = imm(0)
        if step > 1:
            rest = self.prim(s, "sub", points, self.mul(s, many, imm(step)))
            one = 1 if self.row_vector else self.width
            rest = self.let(s, "udiv", (self.add(s, rest, imm(one - 1)), imm(one)), i64) if one > 1 else rest
        each = self.add(s, self.prim(s, "and", many, imm(BLOCK - 1)), rest)
        size = self.let(s, "udiv", (imm(BLOCK), self.prim(s, "max", each, imm(1))), i64)

        def done(b: Scope, begin: Arg, end: Arg) -> None:
            length = self.prim(b, "sub", end, begin)
            b.body.append(Set(left, self.add(b, left, self.mul(b, length, each))))
            inside = self._join(b, sums)
            inside.append(Set(left, imm(0)))
            b.body.append(If(self.prim(b, "ge", left, imm(BLOCK)), inside))

        self.in_blocks(s, *span, 1, self.prim(s, "max", size, imm(1)), body, done)

    def in_blocks(
        self,
        s: Scope,
        lo: Arg,
        hi: Arg,
        step: int,
        size: Arg,
        body: Callable[[Scope, Reg], None],
        done: Callable[[Scope, Arg, Arg], None] | None,
    ) -> None:
        """A loop; with `done`, two of them: that is called behind the inner one, over `size` or less, with its ends."""
        var = self.reg(self.ix, prefix="c")
        inside: list[Stmt] = []
        if done is None:
            c = Scope(s, inside)
            self.own(c, var)
            body(c, var)
            s.body.append(For(var, lo, hi, self.imm(step), inside))
            return
        begin = self.reg(self.ix, prefix="b")
        block: list[Stmt] = []
        b = Scope(s, block)
        self.own(b, begin)
        end = self.prim(b, "min", self.add(b, begin, size), hi)
        c = Scope(b, inside)
        self.own(c, var)
        body(c, var)
        block.append(For(var, begin, end, self.imm(step), inside))
        done(b, begin, end)
        s.body.append(For(begin, lo, hi, size, block))

    def span(self, s: Scope, lo: Arg, hi: Arg) -> Arg:
        return hi if isinstance(lo, Imm) and lo.value == 0 else self.prim(s, "sub", hi, lo)

    def _join(self, s: Scope, sums: Sums) -> list[Stmt]:
        """The end of a block."""
        assert sums.some is not None
        inside: list[Stmt] = []
        c = Scope(s, inside)
        for acc, total in zip(sums.accs, sums.totals, strict=True):
            inside.append(Set(total, self.prim(c, "add", total, self.cast(c, acc, f64))))
            inside.append(Set(acc, Imm(MONOIDS["sum"].identity(f32), f32, acc.lanes)))
        inside.append(Set(sums.some, imm(1)))
        return inside

    def add_blocks(self, s: Scope, sums: Sums) -> None:
        """After all points: what blocks have left joins the accumulators."""
        if sums.some is None:
            return
        inside: list[Stmt] = []
        c = Scope(s, inside)
        for acc, total in zip(sums.accs, sums.totals, strict=True):
            both = self.prim(c, "add", total, self.cast(c, acc, f64))
            inside.append(Set(acc, self.cast(c, both, f32)))
        s.body.append(If(self.prim(s, "eq", sums.some, imm(1)), inside))

    def factors(self, st: Stage) -> tuple[Expr, ...]:
        """What a point computes for a stage: its operand, or the factors of a product that joins the sum unrounded."""
        e = self.p.operand(st)
        return e.args if st.fused and e is st.body and e not in self.p.kept else (e,)

    def joined(self, s: Scope, st: Stage, acc: Arg, lanes: int) -> Arg:
        """`acc` with the value at this point."""
        values = [self.splat(s, self.emit(s, e), lanes) for e in self.factors(st)]
        if len(values) == 2 and values[0].dtype is acc.dtype:
            return self.prim(s, "fma", *values, acc)
        value = values[0] if len(values) == 1 else self.prim(s, "mul", *values)
        return self.prim(s, MONOIDS[st.monoid].combine, acc, self.cast(s, value, acc.dtype))

    def accumulate(self, s: Scope, st: Stage, acc: Accumulator, back: bool = False) -> None:
        """Combine the value at this point into the accumulator; lanes of a tail that do not exist stay out. `back`: the
        columns are walked from the last to the first."""
        m = MONOIDS[st.monoid]
        mask = self.tail(s) if not self.row_vector else None
        if st.monoid not in ARG_MONOIDS:
            total = self.joined(s, st, acc[0], self.width)
            if mask is not None:
                total = self.prim(s, "where", mask, total, acc[0])
            s.body.append(Set(acc[0], total))
            return
        value = self.cast(s, self.splat(s, self.emit(s, st.body), self.width), acc[0].dtype)
        (a,) = st.raxes
        base, _ = self.index(s, a.ix, "position")
        better = self.better(s, m.combine, value, acc[0], back)
        if mask is not None:
            better = self.prim(s, "and", better, mask)
        s.body.append(Set(acc[0], self.prim(s, "where", better, value, acc[0])))
        s.body.append(Set(acc[1], self.prim(s, "where", better, self.splat(s, base, self.width), acc[1])))

    def better(self, s: Scope, beats: str, value: Arg, best: Arg, back: bool = False) -> Arg:
        """Whether a value replaces the best one: of equal values, and of NaN, which beats all, the first counts. Those
        before it have been seen, or those behind it, if the walk is `back`."""
        at_least = {"gt": "ge", "lt": "le"}[beats]
        if back:
            better = self.prim(s, at_least, value, best)
            return self.prim(s, "or", better, self.prim(s, "isnan", value)) if value.dtype.is_float else better
        if not value.dtype.is_float:
            return self.prim(s, beats, value, best)
        no_worse = self.prim(s, at_least, best, value)
        had = self.prim(s, "isnan", best)
        return self.prim(s, "and", self.prim(s, "not", no_worse), self.prim(s, "not", had))

    def places(self, s: Scope, acc: Accumulator, across: bool) -> Arg:
        """The positions that an accumulator has, of its lanes."""
        at = self.freeze(s, acc[1])
        if not across:
            return at
        return self.add(s, at, self.let(s, "iota", (Imm(0, self.ix),), self.ix, self.width))

    def turns(self, st: Stage) -> int:
        """Accumulators of a sum that take turns. Rows that are at a distance from each other are short, and a short
        sum is to be as exact as along a row, where every lane has its part."""
        return TURNS if self.p.apart and st.monoid == "sum" and self.sum_type(st) is f32 else 1

    def take_turns(self, s: Scope, accs: list[Accumulator]) -> None:
        """The accumulator that has just got a value becomes the last one."""
        values = [self.freeze(s, a) for (a,) in accs]
        for (a,), value in zip(accs, [*values[1:], values[0]], strict=True):
            s.body.append(Set(a, value))

    def finish(self, s: Scope, st: Stage, accs: list[Accumulator]) -> None:
        """Combine unrolled accumulators and lanes; the stage's value is then readable at row level."""
        m = MONOIDS[st.monoid]
        across = self.width > 1 and not self.row_vector
        if st.monoid in ARG_MONOIDS:
            s.stages[st.name] = self.own(s, self._finish_arg(s, st, accs, across))
            return
        total: Arg = accs[0][0]
        for a in accs[1:]:
            total = self.prim(s, m.combine, total, a[0])
        if across:
            total = self.let(s, "hreduce", (total,), total.dtype, attr=st.monoid)
        if st in self.p.full:
            acc = self.thread_acc[st.name]
            s.body.append(Set(acc, self.prim(s, m.combine, acc, self.cast(s, total, acc.dtype))))
        else:
            s.stages[st.name] = self.own(s, self.freeze(s, total))

    def _finish_arg(self, s: Scope, st: Stage, accs: list[Accumulator], across: bool) -> Arg:
        """The lowest position among the lanes that hold the best value."""
        pick = "max" if st.monoid == "argmax" else "min"
        best: Arg = accs[0][0]
        for a in accs[1:]:
            best = self.prim(s, pick, best, a[0])
        if across:
            best = self.let(s, "hreduce", (best,), best.dtype, attr=pick)
        out: Arg | None = None
        for acc in accs:
            at = self.where_best(s, self.freeze(s, acc[0]), self.places(s, acc, across), best)
            out = at if out is None else self.prim(s, "min", out, at)
        assert out is not None
        return self.as_number(s, self.let(s, "hreduce", (out,), out.dtype, attr="min") if across else out)

    def where_best(self, s: Scope, value: Arg, at: Arg, best: Arg) -> Arg:
        """The positions `at` of values that are the best one, which NaN is, if there is any; of others the last there
        is."""
        same = self.prim(s, "eq", value, best)
        if value.dtype.is_float:
            same = self.prim(s, "or", same, self.prim(s, "isnan", value))
        return self.prim(s, "where", same, at, Imm(LAST[at.dtype], at.dtype))

    # --- over rows: partial results per thread ---
    def declare_partials(self, s: Scope, tid: Reg, nth: Reg) -> None:
        """Memory and registers for what a thread has combined so far, set to the identity."""
        self.thread_acc: dict[str, Reg] = {}
        self.partial: dict[str, Buf] = {}
        self.block: dict[str, Buf] = {}
        self.tid = tid
        threads = self.func.threads
        if not (self.p.outer_scalar or self.p.full or self.p.outer_vec):
            return
        # the runtime may start fewer threads than were asked for: the last one stands in for those that are absent
        after = self.add(s, tid, imm(1))
        end = self.prim(s, "where", self.prim(s, "eq", after, nth), threads, after)
        for st in [*self.p.outer_scalar, *self.p.full]:
            if st.monoid in ARG_MONOIDS:
                raise NotImplementedError("argmax over rows")
            dtype = partial_type(st.monoid, compute_type(st.body.dtype))
            acc = self.reg(dtype, prefix="total")
            s.body.append(Var(acc, Imm(MONOIDS[st.monoid].identity(dtype), dtype)))
            self.thread_acc[st.name] = acc
            buf = self.partial[st.name] = Buf(f"part_{st.name}", dtype)
            self.func.allocs.append(Alloc(buf, threads, "shared"))
            self._fill(s, buf, tid, end, st)
        if not self.p.outer_vec:
            return
        columns = self.params.get(self.columns(), "columns")
        everyone = self.params.get(self.columns() * THREADS, "columns of all threads")
        base = self.mul(s, tid, columns)
        for st in self.p.outer_vec:
            dtype = compute_type(st.body.dtype)
            blocks = dtype.is_float and st.monoid == "sum"
            buf = self.partial[st.name] = Buf(f"part_{st.name}", partial_type(st.monoid, dtype))
            self.func.allocs.append(Alloc(buf, everyone, "shared"))
            self._fill(s, buf, base, self.mul(s, end, columns), st)
            if blocks:
                block = self.block[st.name] = Buf(f"block_{st.name}", dtype)
                self.func.allocs.append(Alloc(block, columns))
                self._fill(s, block, imm(0), columns, st)

    def _fill(self, s: Scope, buf: Buf, lo: Arg, hi: Arg, st: Stage) -> None:
        var = self.reg(i64, prefix="c")
        identity = Imm(MONOIDS[st.monoid].identity(buf.dtype), buf.dtype)
        s.body.append(For(var, lo, hi, imm(1), [Store(buf, var, identity)]))

    def accumulate_column(self, s: Scope, st: Stage) -> None:
        """Combine the value at this point into the column's partial result."""
        buf = self.block.get(st.name)
        at = self.position(s)
        if buf is None:
            buf = self.partial[st.name]
            at = self.add(s, self._mine(s), at)
        tail = self.tail(s)
        value = self.cast(s, self.splat(s, self.emit(s, st.body), self.width), buf.dtype)
        mask = () if tail is None else (tail,)
        old = self.let(s, "load", (at, *mask), buf.dtype, self.width, buf)
        s.body.append(Store(buf, at, self.prim(s, MONOIDS[st.monoid].combine, old, value), tail))

    def _mine(self, s: Scope) -> Arg:
        return self.mul(s.chain()[-1], self.tid, self.params.get(self.columns(), "columns"))

    def flush_blocks(self, s: Scope, now: Arg | None) -> None:
        """Add the block sums to the thread's partial sums and clear them (when `now`, or always)."""
        if not self.block:
            return
        columns = self.params.get(self.columns(), "columns")
        body: list[Stmt] = []
        c = Scope(s, body)

        def move(x: Scope, at: Arg, lanes: int) -> None:
            mine = self.add(x, self._mine(x), at)
            for name, block in self.block.items():
                total = self.partial[name]
                a = self.let(x, "load", (mine,), total.dtype, lanes, total)
                b = self.let(x, "load", (at,), block.dtype, lanes, block)
                x.body.append(Store(total, mine, self.prim(x, "add", a, self.cast(x, b, total.dtype))))
                x.body.append(Store(block, at, Imm(0.0, block.dtype, lanes)))

        whole = self.mul(c, self.let(c, "udiv", (columns, imm(self.width)), i64), imm(self.width))
        for lo, hi, lanes in ((imm(0), whole, self.width), (whole, columns, 1)):
            var = self.reg(i64, prefix="c")
            inside: list[Stmt] = []
            x = Scope(c, inside)
            self.own(x, var)
            move(x, var, lanes)
            body.append(For(var, lo, hi, imm(lanes), inside))
        if now is None:
            s.body.extend(body)
        else:
            s.body.append(If(now, body))

    def publish_partials(self, s: Scope) -> None:
        """Make the thread's results visible to the combine step."""
        self.flush_blocks(s, None)
        for st in [*self.p.outer_scalar, *self.p.full]:
            s.body.append(Store(self.partial[st.name], self.tid, self.thread_acc[st.name]))

    # --- combining the threads' results ---
    def total_scalars(self, s: Scope) -> None:
        for st in [*self.p.outer_scalar, *self.p.full]:
            s.stages[st.name] = self.own(s, self._total(s, st, imm(0), imm(1), 1))

    def total_columns(self, s: Scope, used: set[str]) -> None:
        for st in self.p.outer_vec:
            if st.name in used:
                columns = self.params.get(self.columns(), "columns")
                s.stages[st.name] = self.own(s, self._total(s, st, self.position(s), columns, self.width))

    def _total(self, s: Scope, st: Stage, at: Arg, stride: Arg, lanes: int) -> Arg:
        """Every thread's partial result at `at`, combined in thread order (so the result is deterministic)."""
        buf = self.partial[st.name]
        tail = self.tail(s)
        acc = self.reg(buf.dtype, lanes, "total")
        s.body.append(Var(acc, Imm(MONOIDS[st.monoid].identity(buf.dtype), buf.dtype, lanes)))
        t = self.reg(i64, prefix="t")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, t)
        where = self.add(c, self.mul(c, t, stride), at)
        mask = () if tail is None or lanes == 1 else (tail,)
        got = self.let(c, "load", (where, *mask), buf.dtype, lanes, buf)
        inside.append(Set(acc, self.prim(c, MONOIDS[st.monoid].combine, acc, got)))
        s.body.append(For(t, imm(0), self.func.threads, imm(1), inside))
        return self.cast(s, self.freeze(s, acc), compute_type(st.dtype))
