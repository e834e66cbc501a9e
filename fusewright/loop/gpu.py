"""Fusion + GPU Schedule -> Loop IR: the launches of one kernel. The nest is described in `schedule/gpu.py`.

What rows leave to be combined (`resident` schedules), or chunks of columns (`split`), goes through device memory: the
next launch adds it up in a fixed order, so that results are the same from run to run.
"""

from __future__ import annotations

from ..core.dtypes import DType, bool_, compute_type
from ..fusion.ir import Fusion, Stage
from ..index.expr import ix
from ..index.layout import product
from ..prims.table import ARG_MONOIDS, MONOIDS
from ..schedule.gpu import THREADS, GpuSchedule
from .gpu_nest import BLOCKS, SPLITS, Nest
from .gpu_tiles import Tiles
from .ir import Alloc, Arg, Buf, For, Imm, Let, Reg, Set, Stmt, Store, Var
from .lower import Kernel
from .scope import Scope

COMBINE = (32, 8)  # threads along columns, and along partial results, where column sums are combined


def lower_gpu(f: Fusion, schedule: GpuSchedule, name: str) -> Kernel:
    """Lower a fusion whose axes are those the schedule names. The result's `func.target` is "cuda"."""
    kernel = Tiles(f, schedule, name) if schedule.mode in ("tile", "staged") else _Rows(f, schedule, name)
    kernel.run()
    func, params = kernel.func, kernel.params
    return Kernel(func, params.values, [h.name for h in func.hosts], frozenset(params.divisors))


class _Rows(Nest):
    """Kernels with reductions."""

    def run(self) -> None:
        self.partial = {}
        if self.s.mode == "split":
            self.split()
        else:
            self.whole_rows()

    partial: dict[str, Buf]  # what blocks leave for the next launch, by stage

    def sum_type(self, st: Stage) -> DType:
        return compute_type(st.body.dtype)

    # --- whole rows ---
    def whole_rows(self) -> None:
        s, bid, tid = self.launch(
            BLOCKS if self.s.resident else self.row_tiles(), self.s.threads, self.s.family, "rows"
        )
        row, col = self.place_thread(s, tid)
        if not self.s.resident:
            _, valid = self.place_row(s, bid, row)
            self.passes(s, col, valid)
            self.epilogue()
            return
        self.declare(s)
        tile = self.reg(self.ix, prefix="tile")
        inside: list[Stmt] = []
        x = Scope(s, inside)
        self.own(x, tile)
        _, valid = self.place_row(x, tile, row)
        self.passes(x, col, valid)
        tiles = self.params.get(self.row_tiles(), "row tiles")
        s.body.append(For(tile, bid, tiles, self.params.get(BLOCKS, "blocks"), inside))
        self.publish(s, bid, tid, row, col)
        self.epilogue()

    def passes(self, s: Scope, col: Arg, valid: Arg | None) -> None:
        """All passes over a row, then what is stored or counted once for it."""
        for p in [*sorted(self.p.work), max(self.p.work, default=0) + 1]:
            for c, per_point, when in self.p.checks:
                if not per_point and when == p:
                    self.check(s, c)
            if p in self.p.work:
                self.one_pass(s, p, col, valid, None)
        first = self.prim(s, "eq", col, self.imm(0)) if self.s.col_threads > 1 else None
        for st in self.p.outer_scalar:
            acc = self.thread_acc[st.name]
            value = self.cast(s, self.emit(s, st.body), acc.dtype)
            total = self.prim(s, MONOIDS[st.monoid].combine, acc, value)
            for condition in (first, valid):
                if condition is not None:
                    total = self.prim(s, "where", condition, total, acc)
            s.body.append(Set(acc, total))
        for st in self.p.row_stores:
            self.store(s, st, first, valid)

    def one_pass(self, s: Scope, number: int, col: Arg, valid: Arg | None, span: tuple[Arg, Arg] | None) -> None:
        """One pass over the columns (`span`: some of them), and the reductions it completes within the block."""
        stages = self.p.work[number]
        reduces = [st for st in stages if st.kind == "reduce" and st not in self.p.outer_vec]
        accs = {st.name: self.accumulator(s, st) for st in reduces if st not in self.p.full}

        def points(scopes: list[Scope]) -> None:
            for x in scopes:
                self.at_point(x, number)
                for st in stages:  # values first: all loads are on their way before the first store
                    self.emit(x, st.body)
            for x in scopes:
                for st in stages:
                    if st.kind == "store":
                        self.store(x, st, valid)
                    elif st in self.p.outer_vec:
                        self.accumulate_held(x, st, valid)
                    elif st in self.p.full:
                        self.accumulate_thread(x, st, valid)
                    else:
                        self.accumulate(x, st, accs[st.name])

        def point(x: Scope, k: Arg) -> None:
            self.k = k
            points([x])

        if self.s.mode == "persistent":
            self.persistent_walk(s, col, point)
        else:
            lo, hi = span or (self.imm(0), self.col_steps())
            self.serial_walk(s, lo, hi, col, points)
        for st in reduces:
            if st not in self.p.full:
                s.stages[st.name] = self.own(s, self.combine_row(s, st, accs[st.name]))

    def at_point(self, x: Scope, number: int) -> None:
        later = {e for q, es in self.p.keep_at.items() if q >= number for e in es}
        x.kept = {e: b for e, b in self.keep.items() if e not in later}
        for check, per_point, when in self.p.checks:
            if per_point and when == number:
                self.check(x, check)
        for e in self.p.keep_at.get(number, ()):
            value = self.splat(x, self.emit(x, e), self.width)
            x.body.append(Store(self.keep[e], self.kept_at(x), value))

    # --- reductions within a block ---
    def combine_row(self, s: Scope, st: Stage, acc: tuple[Reg, ...]) -> Arg:
        """Combine the lanes and threads of a row."""
        ct, stride = self.s.col_threads, self.col_stride()
        across = self.width > 1 and not self.row_vector
        m = st.monoid
        if m not in ARG_MONOIDS:
            return self.over_threads(s, self.over_lanes(s, self.freeze(s, acc[0]), m), m, ct, stride)
        pick = "max" if m == "argmax" else "min"
        value, pos = self.freeze(s, acc[0]), self.freeze(s, acc[1])
        best = self.over_threads(s, self.over_lanes(s, value, pick), pick, ct, stride)
        same = self.prim(s, "eq", value, best)
        if value.dtype.is_float:
            same = self.prim(s, "or", same, self.prim(s, "isnan", value))
        at = self.prim(s, "where", same, pos, Imm(LAST, pos.dtype))
        low = self.let(s, "hreduce", (at,), at.dtype, attr="min") if across else at
        return self.over_threads(s, low, "min", ct, stride)

    def over_lanes(self, s: Scope, a: Arg, monoid: str) -> Arg:
        if a.lanes == 1 or self.row_vector:
            return a
        return self.let(s, "hreduce", (a,), a.dtype, attr=monoid)

    def over_threads(self, s: Scope, a: Arg, monoid: str, group: int, stride: int) -> Arg:
        if group == 1:
            return a
        dst = self.reg(a.dtype, a.lanes, "sum" if monoid == "sum" else monoid)
        s.body.append(Let(dst, "treduce", (a,), None, (monoid, group, stride)))
        self.homes[dst.name] = s
        return dst

    # --- results of many rows: each thread's own part ---
    def declare(self, s: Scope) -> None:
        """Accumulators that live through all rows of a block, and memory for what blocks leave."""
        self.thread_acc: dict[str, Reg] = {}
        self.held: dict[str, Buf] = {}
        blocks = self.params.get(BLOCKS, "blocks")
        for st in [*self.p.outer_scalar, *self.p.full]:
            dtype = self.sum_type(st)
            lanes = self.width if st in self.p.full and not self.row_vector else 1
            acc = self.thread_acc[st.name] = self.reg(dtype, lanes, "total")
            s.body.append(Var(acc, self.identity(st, dtype, lanes)))
            self.grid_memory(st, dtype, blocks)
        n = self.s.steps * self.width
        for st in self.p.outer_vec:
            dtype = self.sum_type(st)
            buf = self.held[st.name] = Buf(f"held_{st.name}", dtype)
            self.func.allocs.append(Alloc(buf, self.imm(n), "register"))
            var = self.reg(self.ix, prefix="k")
            at = self.reg(self.ix, prefix="v")
            clear: list[Stmt] = [
                Let(at, "mul", (var, self.imm(self.width))),
                Store(buf, at, self.identity(st, dtype, self.width)),
            ]
            s.body.append(For(var, self.imm(0), self.imm(self.s.steps), self.imm(1), clear, True))
            everyone = self.params.get(BLOCKS * self.columns(), "columns of all blocks")
            self.grid_memory(st, dtype, everyone)

    def grid_memory(self, st: Stage, dtype: DType, count: Arg) -> None:
        buf = self.partial[st.name] = Buf(f"part_{st.name}", dtype)
        self.func.allocs.append(Alloc(buf, count, "grid"))

    def identity(self, st: Stage, dtype: DType, lanes: int) -> Imm:
        return Imm(MONOIDS[st.monoid].identity(dtype), dtype, lanes)

    def accumulate_held(self, x: Scope, st: Stage, valid: Arg | None) -> None:
        """Combine the value at this point into the column's accumulator."""
        buf = self.held[st.name]
        value = self.cast(x, self.splat(x, self.emit(x, st.body), self.width), buf.dtype)
        old = self.let(x, "load", (self.kept_at(x),), buf.dtype, self.width, buf)
        total, at = self.prim(x, MONOIDS[st.monoid].combine, old, value), self.kept_at(x)
        self.only(x, valid).append(Store(buf, at, total))

    def accumulate_thread(self, x: Scope, st: Stage, valid: Arg | None) -> None:
        """Combine the value at this point into the thread's part of a result over rows and columns."""
        acc = self.thread_acc[st.name]
        value = self.cast(x, self.splat(x, self.emit(x, st.body), acc.lanes), acc.dtype)
        total = self.prim(x, MONOIDS[st.monoid].combine, acc, value)
        self.only(x, valid).append(Set(acc, total))

    def publish(self, s: Scope, bid: Arg, tid: Arg, row: Arg, col: Arg) -> None:
        """Leave the block's results for the next launch."""
        threads = self.s.threads
        first = self.prim(s, "eq", tid, self.imm(0))
        for st in [*self.p.outer_scalar, *self.p.full]:
            value = self.over_lanes(s, self.freeze(s, self.thread_acc[st.name]), st.monoid)
            value = self.over_threads(s, value, st.monoid, threads, 1)
            self.only(s, first).append(Store(self.partial[st.name], bid, value))
        if not self.p.outer_vec:
            return
        var = self.reg(self.ix, prefix="k")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, var)
        self.k = var
        step = self.add(c, self.mul(c, var, self.imm(self.s.col_threads)), col)
        here: Arg = self.prim(c, "lt", step, self.col_steps())
        if self.s.row_threads > 1:
            here = self.prim(c, "and", here, self.prim(c, "eq", row, self.imm(0)))
        at = self.mul(c, step, self.imm(self.width))
        base = self.mul(c, bid, self.params.get(self.columns(), "columns"))
        for st in self.p.outer_vec:
            buf = self.held[st.name]
            value = self.let(c, "load", (self.kept_at(c),), buf.dtype, self.width, buf)
            value = self.over_threads(c, value, st.monoid, self.s.row_threads, self.row_stride())
            where = self.add(c, base, at)
            self.only(c, here).append(Store(self.partial[st.name], where, value))
        s.body.append(For(var, self.imm(0), self.imm(self.s.steps), self.imm(1), inside, True))

    # --- results of many rows: all parts ---
    def epilogue(self) -> None:
        scalar = [st for st in self.p.epilogue if not st.axes]
        vector = [st for st in self.p.epilogue if st.axes]
        if scalar:
            s, _, tid = self.launch(ix(1), THREADS, "combine what the blocks have left", "one")
            self.total_scalars_gpu(s, tid)
            first = self.prim(s, "eq", tid, self.imm(0))
            for st in scalar:
                self.store(s, st, first)
        if vector:
            self.combine_columns(vector)

    def total_scalars_gpu(self, s: Scope, tid: Arg) -> None:
        for st in [*self.p.outer_scalar, *self.p.full]:
            blocks = self.params.get(BLOCKS, "blocks")
            buf = self.partial[st.name]
            acc = self.reg(buf.dtype, prefix="total")
            s.body.append(Var(acc, self.identity(st, buf.dtype, 1)))
            self.add_parts(s, st, acc, tid, blocks, THREADS, lambda c, t, buf=buf: t)  # type: ignore[misc]
            total = self.over_threads(s, self.freeze(s, acc), st.monoid, THREADS, 1)
            s.stages[st.name] = self.own(s, self.cast(s, total, compute_type(st.dtype)))

    def add_parts(self, s: Scope, st: Stage, acc: Reg, lo: Arg, hi: Arg, step: int, where: object) -> None:
        """acc = acc combined with the partial results lo, lo + step, ... below hi; `where(scope, t)`: their place."""
        t = self.reg(self.ix, prefix="t")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, t)
        buf = self.partial[st.name]
        got = self.let(c, "load", (where(c, t),), buf.dtype, acc.lanes, buf)  # type: ignore[operator]
        inside.append(Set(acc, self.prim(c, MONOIDS[st.monoid].combine, acc, got)))
        s.body.append(For(t, lo, hi, self.imm(step), inside))

    def combine_columns(self, stores: list[Stage]) -> None:
        """One thread per vector of columns and share of the blocks."""
        tx, ty = COMBINE
        ncol = self.col_steps()
        tiles = (product(self.steps(a) for a in self.cols) + tx - 1) // ix(tx)
        s, bid, tid = self.launch(tiles, tx * ty, "combine the blocks' column results", "columns")
        share, x = self.divide(s, tid, tx)
        step = self.add(s, self.mul(s, bid, self.imm(tx)), x)
        here = self.prim(s, "lt", step, ncol)
        step = self.prim(s, "min", step, self.add(s, ncol, self.imm(-1)))
        used = {n for st in stores for n in st.body.stages}
        if used & {st.name for st in [*self.p.outer_scalar, *self.p.full]}:
            self.total_scalars_gpu(s, tid)
        columns = self.params.get(self.columns(), "columns")
        at = self.mul(s, step, self.imm(self.width))
        self.place_col(s, step)
        for st in self.p.outer_vec:
            if st.name not in used:
                continue
            buf = self.partial[st.name]
            acc = self.reg(buf.dtype, self.width, "total")
            s.body.append(Var(acc, self.identity(st, buf.dtype, self.width)))
            blocks = self.params.get(BLOCKS, "blocks")
            self.add_parts(s, st, acc, share, blocks, ty, lambda c, t: self.add(c, self.mul(c, t, columns), at))
            total = self.over_threads(s, self.freeze(s, acc), st.monoid, ty, tx)
            s.stages[st.name] = self.own(s, self.cast(s, total, compute_type(st.dtype)))
        first = self.prim(s, "eq", share, self.imm(0))
        for st in stores:
            self.store(s, st, here, first)

    # --- columns cut over blocks ---
    def split(self) -> None:
        lanes = self.width if self.row_vector else 1
        rows = product(self.steps(a) for a in self.rows) * lanes
        everyone = self.params.get(SPLITS * rows, "rows of all splits")
        for st in self.p.inner:
            self.grid_memory(st, self.sum_type(st), everyone)
        for number in sorted(self.p.work):
            self.split_pass(number)
        if self.p.row_stores:
            s, bid, tid = self.launch(self.row_tiles(), self.s.threads, "results of rows", "rows")
            row, col = self.place_thread(s, tid)
            step, valid = self.place_row(s, bid, row)
            self.total_rows(s, {n for st in self.p.row_stores for n in st.body.stages}, step, col)
            first = self.prim(s, "eq", col, self.imm(0)) if self.s.col_threads > 1 else None
            for st in self.p.row_stores:
                self.store(s, st, first, valid)
        self.epilogue()

    def split_pass(self, number: int) -> None:
        stages = self.p.work[number]
        splits = self.params.get(SPLITS, "splits")
        s, bid, tid = self.launch(self.row_tiles() * SPLITS, self.s.threads, f"pass {number} over the columns", "split")
        row, col = self.place_thread(s, tid)
        tile = self.let(s, "udiv", (bid, splits), self.ix)
        part = self.prim(s, "sub", bid, self.mul(s, tile, splits))
        step, valid = self.place_row(s, tile, row)
        checks = [c for c, per_point, when in self.p.checks if not per_point and when == number]
        used = {n for st in stages for n in st.body.stages} | {n for c in checks for n in c.stages}
        self.total_rows(s, used, step, col)
        for c in checks:
            self.check(s, c)
        count = self.col_steps()
        chunk = self.params.get((product(self.steps(a) for a in self.cols) + SPLITS - 1) // SPLITS, "chunk")
        lo = self.prim(s, "min", self.mul(s, part, chunk), count)
        hi = self.prim(s, "min", self.add(s, lo, chunk), count)
        self.one_pass(s, number, col, valid, (lo, hi))
        first = self.prim(s, "eq", col, self.imm(0)) if self.s.col_threads > 1 else None
        for st in stages:
            if st in self.p.inner:
                at = self.add(s, self.mul(s, part, self.row_steps()), step)
                if self.row_vector:
                    at = self.mul(s, at, self.imm(self.width))
                value = self.cast(s, s.stages[st.name], self.partial[st.name].dtype)
                self.only(s, first, valid).append(Store(self.partial[st.name], at, value))

    def total_rows(self, s: Scope, used: set[str], step: Arg, col: Arg) -> None:
        """Combine what the chunks of this row have left, for the stages in `used`."""
        lanes = self.width if self.row_vector else 1
        splits = self.params.get(SPLITS, "splits")
        for st in self.p.inner:
            if st.name not in used:
                continue
            buf = self.partial[st.name]
            acc = self.reg(buf.dtype, lanes, "total")
            s.body.append(Var(acc, self.identity(st, buf.dtype, lanes)))

            def where(c: Scope, t: Arg) -> Arg:
                return self.mul(c, self.add(c, self.mul(c, t, self.row_steps()), step), self.imm(lanes))

            self.add_parts(s, st, acc, col, splits, self.s.col_threads, where)
            total = self.over_threads(s, self.freeze(s, acc), st.monoid, self.s.col_threads, self.col_stride())
            s.stages[st.name] = self.own(s, self.cast(s, total, compute_type(st.dtype)))


LAST = (1 << 63) - 1

__all__ = ["Buf", "bool_", "lower_gpu"]
