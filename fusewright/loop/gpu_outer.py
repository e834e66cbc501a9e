"""Results of many rows in a GPU kernel: each block's own part, then all of them together.

That is done in another launch, or by the block that is the last to leave its part (`GpuSchedule.finish`).
"""

from __future__ import annotations

from ..core.dtypes import bool_, compute_type, i32
from ..fusion.ir import Stage
from ..index.expr import Ix, ix
from ..index.layout import product
from ..schedule.gpu_base import ACCESS, LINE, SECTOR, power_up
from ..schedule.gpu_fit import THREADS
from .gpu_nest import BLOCKS
from .gpu_rows import ALL, BESIDE, Rows
from .ir import Alloc, Arg, Buf, For, If, Let, Reg, Set, Stmt, Store, Var
from .scope import Scope

TILES = 256  # blocks that combine column sums, from which on they take more columns than a sector of memory has


class Outer(Rows):
    """What is reduced over rows."""

    def parts(self) -> Ix:
        """How many blocks leave a part."""
        return BLOCKS if self.s.resident else self.row_tiles() * self.s.cluster

    def leaves(self) -> bool:
        """Whether blocks leave anything."""
        return bool(self.p.outer_scalar or self.p.full or self.p.outer_vec)

    # --- results of many rows: each thread's own part ---
    def declare(self, s: Scope) -> None:
        """Accumulators that live through all rows of a block, and memory for what blocks leave."""
        self.thread_acc = {}
        self.held: dict[str, Buf] = {}
        if not self.leaves():
            return
        blocks = self.params.get(self.parts(), "blocks")
        for st in [*self.p.outer_scalar, *self.p.full]:
            dtype = self.sum_type(st)
            lanes = self.width if st in self.p.full and not self.row_vector and not self.in_parts(st) else 1
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
        total = self.real(x, self.joined(x, st, acc, acc.lanes), acc)
        self.only(x, valid).append(Set(acc, total))

    def publish(self, s: Scope, bid: Arg, tid: Arg, row: Arg, col: Arg) -> None:
        """Leave the block's results for the next launch, if it has any."""
        if not self.leaves():
            return
        threads = self.s.threads
        first = self.prim(s, "eq", tid, self.imm(0))
        for st in [*self.p.outer_scalar, *self.p.full]:
            value = self.over_lanes(s, self.freeze(s, self.thread_acc[st.name]), st.monoid)
            value = self.over_threads(s, value, st.monoid, threads, 1)
            self.only(s, first).append(self.leave(st.name, bid, value))
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
            self.only(c, here).append(self.leave(st.name, where, value))
        s.body.append(For(var, self.imm(0), self.imm(self.s.steps), self.imm(1), inside, True))

    # --- results of many rows: all parts ---
    def epilogue(self) -> None:
        """Combine what the blocks have left, in launches of their own."""
        scalar, vector = self.finals()
        if scalar:
            s, _, tid = self.launch(ix(1), THREADS, "combine what the blocks have left", "one", 1, 2)
            self.store_scalars(s, tid, THREADS, scalar, ALL)
        if vector:
            self.combine_columns(vector)

    def finals(self) -> tuple[list[Stage], list[Stage]]:
        """The stores that need what all rows give: those of single elements, and those of columns."""
        found = self.p.epilogue
        return [st for st in found if not st.axes], [st for st in found if st.axes]

    def store_scalars(self, s: Scope, tid: Arg, threads: int, stores: list[Stage], room: int = BESIDE) -> None:
        self.total_all(s, tid, threads, room)
        first = self.prim(s, "eq", tid, self.imm(0))
        for st in stores:
            self.store(s, st, first)

    def total_all(self, s: Scope, tid: Arg, threads: int, room: int = BESIDE) -> None:
        stages = [*self.p.outer_scalar, *self.p.full]
        if not stages:
            return
        span = (tid, self.params.get(self.parts(), "blocks"), threads)
        totals = self.add_parts(s, stages, 1, span, lambda c, t: t, room)
        for st, acc in zip(stages, totals, strict=True):
            total = self.over_threads(s, self.freeze(s, acc), st.monoid, threads, 1)
            s.stages[st.name] = self.own(s, self.cast(s, total, compute_type(st.dtype)))

    def last_block(self, s: Scope, bid: Arg, tid: Arg, counter: Arg, count: Arg, counters: Arg) -> Scope:
        """Where the block goes on that is the last of `count` to leave its part, in one of so many `counters`."""
        buf = Buf("counters", i32)
        self.func.allocs.append(Alloc(buf, counters, "counters"))
        last = self.reg(bool_, 1, "last")
        body: list[Stmt] = []
        s.body += [Let(last, "last", (counter, count), buf), If(last, body)]
        x = Scope(None, body)  # nothing of what a block has computed of its part is of use to it
        self.own(x, bid)
        self.own(x, tid)
        return x

    def finish_here(self, s: Scope, bid: Arg, tid: Arg) -> None:
        """`epilogue`, by the last block."""
        scalar, vector = self.finals()
        x = self.last_block(s, bid, tid, self.imm(0), self.params.get(BLOCKS, "blocks"), self.imm(1))
        if scalar:
            self.store_scalars(x, tid, self.s.threads, scalar)
        if not vector:
            return
        tx = power_up(self.s.col_threads * self.s.steps, self.s.threads)
        share, column = self.divide(x, tid, tx)
        if not scalar and self.wants_scalars(vector):
            self.total_all(x, tid, self.s.threads)
        columns = self.params.get(self.columns(), "columns")
        first = self.reg(self.ix, prefix="c")
        inside: list[Stmt] = []
        c = Scope(x, inside)
        self.own(c, first)
        self.columns_at(c, self.add(c, first, column), share, (tx, self.s.threads // tx), vector, columns)
        x.body.append(For(first, self.imm(0), self.col_steps(), self.imm(tx), inside))

    def wants_scalars(self, stores: list[Stage]) -> bool:
        used = {n for st in stores for n in st.body.stages}
        return bool(used & {st.name for st in [*self.p.outer_scalar, *self.p.full]})

    def combine_columns(self, stores: list[Stage]) -> None:
        """One thread per vector of columns and share of the blocks.

        This waits for memory and does little else. So there are many blocks, and whoever can asks for all it needs at
        once: tiles are as narrow as a sector of memory, but where there are many columns, and a thread's vector is one
        access.
        """
        whole = self.width
        columns = self.params.get(self.columns(), "columns")
        sizes = [self.partial[st.name].dtype.itemsize for st in self.p.outer_vec] or [4]  # of parts, if there are any
        self.width = max(1, min(whole, ACCESS // max(sizes)))
        vectors = self.s.col_threads * self.s.steps * whole // self.width  # so many at most
        tx = max(1, SECTOR // (self.width * min(sizes)))
        while 2 * tx * self.width * min(sizes) <= LINE and vectors // (2 * tx) >= TILES:
            tx *= 2
        tiles = (product(self.steps(a) for a in self.cols) + tx - 1) // ix(tx)
        s, bid, tid = self.launch(tiles, THREADS, "combine the blocks' column results", "columns", 1, 2)
        share, x = self.divide(s, tid, tx)
        if self.wants_scalars(stores):
            self.total_all(s, tid, THREADS, ALL)
        step = self.add(s, self.mul(s, bid, self.imm(tx)), x)
        self.columns_at(s, step, share, (tx, THREADS // tx), stores, columns, ALL)
        self.width = whole

    def columns_at(
        self,
        s: Scope,
        step: Arg,
        share: Arg,
        threads: tuple[int, int],
        stores: list[Stage],
        columns: Arg,
        room: int = BESIDE,
    ) -> None:
        """Store the columns at `step`; `threads`: side by side along columns, and for shares of the parts."""
        tx, ty = threads
        ncol = self.col_steps()
        here = self.prim(s, "lt", step, ncol)
        step = self.prim(s, "min", step, self.add(s, ncol, self.imm(-1)))
        used = {n for st in stores for n in st.body.stages}
        at = self.mul(s, step, self.imm(self.width))
        self.place_col(s, step)
        stages = [st for st in self.p.outer_vec if st.name in used]
        totals: list[Reg] = []
        if stages:
            span = (share, self.params.get(BLOCKS, "blocks"), ty)
            totals = self.add_parts(
                s, stages, self.width, span, lambda c, t: self.add(c, self.mul(c, t, columns), at), room
            )
        for st, acc in zip(stages, totals, strict=True):
            total = self.over_threads(s, self.freeze(s, acc), st.monoid, ty, tx)
            s.stages[st.name] = self.own(s, self.cast(s, total, compute_type(st.dtype)))
        first = self.prim(s, "eq", share, self.imm(0))
        for st in stores:
            self.store(s, st, here, first)
