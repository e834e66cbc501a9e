"""Rows whose columns are cut over blocks of a GPU: every pass is a launch that combines what the last one has left.

Where that is much for every block to read, a launch between the two combines it (`GpuSchedule.once`). What is stored
once for a row is combined by another launch, or by the last block of the row (`GpuSchedule.finish`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

from ..core.dtypes import compute_type, i64
from ..fusion.ir import Stage
from ..index.layout import product
from ..prims.table import ARG_MONOIDS, MONOIDS
from ..schedule.gpu_base import SECTOR, beside
from ..schedule.gpu_fit import THREADS
from .gpu_nest import SPLITS
from .gpu_outer import Outer
from .gpu_rows import Span, Where, words
from .ir import Alloc, Arg, Buf, Imm, Reg, Set, Stmt, Store, Var
from .scope import Scope


@dataclass(frozen=True, slots=True)
class Chunk:
    """A launch over chunks of rows: its scope `s`, the block and its thread, which tile of rows and which `part` of
    their columns it has (steps `span`); of a thread, its row (step, whether it exists) and its columns' first."""

    s: Scope
    bid: Reg
    tid: Reg
    tile: Arg
    part: Arg
    span: tuple[Arg, Arg]
    step: Arg
    valid: Arg | None
    col: Arg


class Split(Outer):
    """Schedules of mode "split"."""

    here: Chunk  # the chunk that a pass is over

    def split(self) -> None:
        lanes = self.row_lanes
        rows = product(self.steps(a) for a in self.rows) * lanes
        everyone = self.everyone()
        for st in self.p.inner:
            positions = st.monoid in ARG_MONOIDS
            self.grid_memory(st, i64 if positions else self.sum_type(st), everyone)
            for part in ("count", "mean") if self.is_moments(st) else ("best",) if positions else ():
                buf = self.partial[f"{st.name}.{part}"] = Buf(f"part_{st.name}_{part}", self.sum_type(st))
                self.func.allocs.append(Alloc(buf, everyone, "grid"))
        self.totals: dict[str, Buf] = {}
        last = max(self.p.work, default=0)
        for number in sorted(self.p.work):
            self.before_pass(number)
            self.split_pass(number)
            left = [st for st in self.p.work[number] if st in self.p.inner]
            if self.s.once and number < last:
                self.combine(left, everyone=self.params.get(rows, "rows"))
            elif self.p.row_stores and number == last and not self.last_stores(number):
                with self.narrow() if self.s.once else nullcontext():
                    s, bid, tid = self.launch(self.row_tiles(), self.s.threads, "results of rows", "rows", 1, 2)
                    self.store_rows(s, bid, tid)
        self.epilogue()

    def last_stores(self, number: int) -> bool:
        """Whether the last block of a row stores what there is once for it: not where combining that takes many."""
        left = any(st in self.p.inner for st in self.p.work[number])
        return self.s.finish and number == max(self.p.work) and not (self.s.once and left)

    @contextmanager
    def narrow(self) -> Iterator[None]:
        """The schedule of launches that only combine what chunks have left: they wait for memory and do little else, so
        there are many blocks, with as few rows as fill a sector."""
        whole = self.s
        lanes = self.row_lanes
        smallest = min((buf.dtype.itemsize for buf in self.partial.values()), default=4)
        rt = min(whole.row_threads, max(1, SECTOR // (lanes * smallest)))
        self.s = replace(whole, row_threads=rt, col_threads=THREADS // rt)
        yield
        self.s = whole

    def combine(self, stages: list[Stage], everyone: Arg) -> None:
        """Combine what all chunks have left of each row, for all blocks of the next pass."""
        if not stages:
            return
        lanes = self.row_lanes
        with self.narrow():
            s, bid, tid = self.launch(self.row_tiles(), self.s.threads, "combine what chunks have left", "sums", 1, 2)
            row, col = self.place_thread(s, tid)
            step, valid = self.place_row(s, bid, row)
            self.total_rows(s, {st.name for st in stages}, step, col)
            first = self.prim(s, "eq", col, self.imm(0)) if self.s.col_threads > 1 else None
            at = self.mul(s, step, self.imm(lanes))
            found = [st for st in self.p.inner if st.name in s.stages]
            for st in found:
                buf = self.totals[st.name] = Buf(f"total_{st.name}", compute_type(st.dtype))
                self.func.allocs.append(Alloc(buf, everyone, "grid"))
            stores: list[Stmt] = [
                Store(self.totals[st.name], at, self.splat(s, s.stages[st.name], lanes), None, "aligned" * (lanes > 1))
                for st in found
            ]
            self.only(s, first, valid).extend(stores)

    def store_rows(self, s: Scope, tile: Arg, tid: Arg) -> None:
        """Combine what the chunks of a tile of rows have left, and store what comes of it."""
        row, col = self.place_thread(s, tid)
        step, valid = self.place_row(s, tile, row)
        self.total_rows(s, {n for st in self.p.row_stores for n in st.body.stages}, step, col)
        first = self.prim(s, "eq", col, self.imm(0)) if self.s.col_threads > 1 else None
        for st in self.p.row_stores:
            self.store(s, st, first, valid)

    def is_moments(self, st: Stage) -> bool:
        return st.name in self.p.online and self.p.online[st.name].kind == "moments"

    def is_rescaled(self, st: Stage) -> bool:
        return st.name in self.p.online and self.p.online[st.name].kind == "rescaled"

    def everyone(self) -> Arg:
        """Rows (or vectors of them, lane by lane) of all chunks: how many numbers a stage leaves."""
        rows = product(self.steps(a) for a in self.rows) * self.row_lanes
        return self.params.get(SPLITS * rows, "rows of all splits")

    def left_at(self, s: Scope, part: Arg, step: Arg) -> Arg:
        """Where the result of a chunk of a row is."""
        return self.mul(s, self.add(s, self.mul(s, part, self.row_steps()), step), self.imm(self.row_lanes))

    def before_pass(self, number: int) -> None:
        """What other launches have to leave for a pass."""

    def chunk(self, what: str, number: int, used: set[str]) -> Chunk:
        """Begin a launch of a block for each chunk of a tile of rows, where what it needs of its rows (`used`: stages
        of passes before) is there, and the checks of pass `number` that rows have once have been made."""
        checks = [c for c, per_point, when in self.p.checks if not per_point and when == number]
        splits = self.params.get(SPLITS, "splits")
        together = beside(self.s)  # there are about so many
        s, bid, tid = self.launch(self.row_tiles() * SPLITS, self.s.threads, what, "split", 1, together)
        row, col = self.place_thread(s, tid)
        tile, part = self.divmod(s, bid, splits)
        step, valid = self.place_row(s, tile, row)
        self.total_rows(s, used | {n for c in checks for n in c.stages}, step, col)
        for c in checks:
            self.check(s, c)
        count = self.col_steps()
        chunk = self.params.get((product(self.steps(a) for a in self.cols) + SPLITS - 1) // SPLITS, "chunk")
        lo = self.prim(s, "min", self.mul(s, part, chunk), count)
        hi = self.prim(s, "min", self.add(s, lo, chunk), count)
        return Chunk(s, bid, tid, tile, part, (lo, hi), step, valid, col)

    def leave_parts(self, c: Chunk, values: Mapping[str, Arg]) -> None:
        """Leave what a chunk has of each row, for those that come after it."""
        s = c.s
        first = self.prim(s, "eq", c.col, self.imm(0)) if self.s.col_threads > 1 else None
        at = self.left_at(s, c.part, c.step)
        stores: list[Stmt] = []
        for name, value in values.items():
            value = self.cast(s, self.splat(s, value, self.row_lanes), self.partial[name].dtype)
            stores.append(self.leave(name, at, value))
        self.only(s, first, c.valid).extend(stores)

    def split_pass(self, number: int) -> None:
        stages = self.p.work[number]
        used = {n for st in stages for n in self.p.operand(st).stages}
        used |= {n for name in used & self.p.scans.keys() for n in self.p.scans[name].body.stages}
        c = self.here = self.chunk(f"pass {number} over the columns", number, used)
        s = c.s
        self.one_pass(s, number, c.col, c.valid, c.span)
        values: dict[str, Arg] = {}
        for st in stages:
            if st not in self.p.inner:
                continue
            values[st.name] = s.stages.get(st.name) or self.running[st.name][-1]
            if self.is_moments(st):
                values[f"{st.name}.count"], values[f"{st.name}.mean"], values[st.name] = self.running[st.name]
            elif st.monoid in ARG_MONOIDS:
                values[f"{st.name}.best"] = self.best[st.name]
        if values:
            self.leave_parts(c, values)
        if self.p.row_stores and self.last_stores(number):
            tiles = self.params.get(self.row_tiles(), "row tiles")
            x = self.last_block(s, c.bid, c.tid, c.tile, self.params.get(SPLITS, "splits"), tiles)
            self.store_rows(x, self.own(x, c.tile), c.tid)

    # --- what the chunks of a row have left ---
    def total_rows(self, s: Scope, used: set[str], step: Arg, col: Arg) -> None:
        """Combine the chunks' results of this row, for the stages in `used` and those they need."""
        needed = set(used)
        for name in used & self.p.online.keys():
            how = self.p.online[name]
            needed |= {how.lead} if how.about is None else how.about.stages
        lanes = self.row_lanes

        def where(c: Scope, t: Arg) -> Arg:
            return self.left_at(c, t, step)

        wanted = [st for st in self.p.inner if st.name in needed]
        for st in wanted:
            if st.name in self.totals:
                buf, at = self.totals[st.name], self.mul(s, step, self.imm(lanes))
                s.stages[st.name] = self.let(s, "load", (at,), buf.dtype, lanes, buf, "aligned" if lanes > 1 else None)
        wanted = [st for st in wanted if st.name not in self.totals]
        plain = [st for st in wanted if not (self.is_rescaled(st) or self.is_moments(st) or st.monoid in ARG_MONOIDS)]
        found = dict(zip(plain, self.add_parts(s, plain, lanes, self.chunks(col), where), strict=True))
        for st in wanted:
            if st in found:
                total = self.together(s, found[st], st.monoid)
            elif self.is_rescaled(st):
                total = self.total_rescaled(s, st, col, where)
            elif st.monoid in ARG_MONOIDS:
                total = self.total_position(s, st, col, where)
            else:
                total = self.total_moments(s, st, col, where)
            s.stages[st.name] = self.own(s, self.cast(s, total, compute_type(st.dtype)))

    def chunks(self, col: Arg) -> Span:
        """This thread's share of the chunks."""
        return col, self.params.get(SPLITS, "splits"), self.s.col_threads

    def together(self, s: Scope, acc: Reg, monoid: str) -> Arg:
        return self.over_threads(s, self.freeze(s, acc), monoid, self.s.col_threads, self.col_stride())

    def total_rescaled(self, s: Scope, st: Stage, col: Arg, where: Where) -> Arg:
        """Sum of part * exp(its maximum - the row's)."""
        lead = self.p.online[st.name].lead
        most = s.stages[lead]
        acc = self.total(s, st, most.lanes)

        def load(c: Scope, t: Arg) -> list[Arg]:
            at = where(c, t)
            return [self.part(c, name, at, acc.lanes) for name in (st.name, lead)]

        def use(c: Scope, values: list[Arg], there: Arg | None) -> None:
            got, top = values
            part = self.prim(c, "mul", got, self._rescale(c, st, top, most))
            c.body.append(Set(acc, self.prim(c, "add", acc, self.counted(c, part, there))))

        self.each_part(s, self.chunks(col), 2 * words(acc), load, use)
        return self.settled(s, most, self.together(s, acc, "sum"))

    def counted(self, s: Scope, part: Arg, there: Arg | None) -> Arg:
        """What a sum has of a part that is `there` or not."""
        return part if there is None else self.prim(s, "where", there, part, Imm(0.0, part.dtype, part.lanes))

    def total_position(self, s: Scope, st: Stage, col: Arg, where: Where) -> Arg:
        """The position that the first chunk with the best value has found. Each thread's chunks are in order."""
        lanes = self.row_lanes
        names = (f"{st.name}.best", st.name)
        best = self.reg(self.partial[names[0]].dtype, lanes, "best")
        at = self.reg(i64, lanes, "at")
        s.body += [Var(best, self.identity(st, best.dtype, lanes)), Var(at, Imm(0, i64, lanes))]

        def load(c: Scope, t: Arg) -> list[Arg]:
            place = where(c, t)
            return [self.part(c, name, place, lanes) for name in names]

        def use(c: Scope, values: list[Arg], there: Arg | None) -> None:
            better = self.better(c, MONOIDS[st.monoid].combine, values[0], self.freeze(c, best))
            if there is not None:
                better = self.prim(c, "and", better, there)
            for reg, value in zip((best, at), values, strict=True):
                c.body.append(Set(reg, self.prim(c, "where", better, value, reg)))

        self.each_part(s, self.chunks(col), words(best) + words(at), load, use)
        most = self.together(s, best, "max" if st.monoid == "argmax" else "min")
        here = self.where_best(s, self.freeze(s, best), self.freeze(s, at), most)
        return self.over_threads(s, here, "min", self.s.col_threads, self.col_stride())

    def total_moments(self, s: Scope, st: Stage, col: Arg, where: Where) -> Arg:
        """Chan's rule: the mean of all points first, then the second moment about it."""
        lanes = self.row_lanes
        count, weighted, second = (self.total(s, st, lanes) for _ in range(3))
        names = (f"{st.name}.count", f"{st.name}.mean", st.name)

        def load(c: Scope, t: Arg) -> list[Arg]:
            at = where(c, t)
            return [self.part(c, name, at, lanes) for name in names]

        def means(c: Scope, values: list[Arg], there: Arg | None) -> None:
            n, mean = self.counted(c, values[0], there), values[1]
            moved = self.prim(c, "mul", n, mean)
            # a chunk without points has no mean worth counting
            some = self.prim(c, "gt", n, Imm(0.0, n.dtype))
            moved = self.prim(c, "where", some, moved, Imm(0.0, n.dtype, lanes))
            c.body.append(Set(count, self.prim(c, "add", count, n)))
            c.body.append(Set(weighted, self.prim(c, "add", weighted, moved)))

        self.each_part(s, self.chunks(col), 3 * words(count), load, means)
        points, total = self.together(s, count, "sum"), self.together(s, weighted, "sum")
        average = self.prim(s, "div", total, self.prim(s, "max", points, self._one(points)))

        def moments(c: Scope, values: list[Arg], there: Arg | None) -> None:
            n, mean, m2 = values
            away = self.prim(c, "sub", mean, average)
            part = self.prim(c, "add", m2, self.square(c, away, n))
            c.body.append(Set(second, self.prim(c, "add", second, self.counted(c, part, there))))

        self.each_part(s, self.chunks(col), 3 * words(count), load, moments)
        return self.about(s, st, points, average, self.together(s, second, "sum"))
