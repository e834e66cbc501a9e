"""Results of many rows in a GPU kernel: each block's own part, then all of them together in another launch."""

from __future__ import annotations

from ..core.dtypes import compute_type
from ..fusion.ir import Stage
from ..index.expr import ix
from ..index.layout import product
from ..schedule.gpu_fit import THREADS
from .gpu_nest import BLOCKS
from .gpu_rows import Rows
from .ir import Alloc, Arg, Buf, For, Let, Reg, Set, Stmt, Store, Var
from .scope import Scope

COMBINE = (8, 32)  # threads along columns, and along partial results, where column sums are combined


class Outer(Rows):
    """What is reduced over rows."""

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

    def accumulate_held(self, x: Scope, st: Stage, valid: Arg | None) -> None:
        """Combine the value at this point into the column's accumulator."""
        buf = self.held[st.name]
        old = self.let(x, "load", (self.kept_at(x),), buf.dtype, self.width, buf)
        total, at = self.joined(x, st, old, self.width), self.kept_at(x)
        self.only(x, valid).append(Store(buf, at, total))

    def accumulate_thread(self, x: Scope, st: Stage, valid: Arg | None) -> None:
        """Combine the value at this point into the thread's part of a result over rows and columns."""
        acc = self.thread_acc[st.name]
        total = self.joined(x, st, acc, acc.lanes)
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
            acc = self.add_parts(s, st, 1, (tid, blocks, THREADS), lambda c, t: t)
            total = self.over_threads(s, self.freeze(s, acc), st.monoid, THREADS, 1)
            s.stages[st.name] = self.own(s, self.cast(s, total, compute_type(st.dtype)))

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
            span = (share, self.params.get(BLOCKS, "blocks"), ty)
            acc = self.add_parts(s, st, self.width, span, lambda c, t: self.add(c, self.mul(c, t, columns), at))
            total = self.over_threads(s, self.freeze(s, acc), st.monoid, ty, tx)
            s.stages[st.name] = self.own(s, self.cast(s, total, compute_type(st.dtype)))
        first = self.prim(s, "eq", share, self.imm(0))
        for st in stores:
            self.store(s, st, here, first)
