"""The last launches of a scatter on a GPU: what the rows of the target collect, and what becomes of it.

See `schedule/gpu_scatter.py`. A group of `col_threads` threads has a row, each of them `steps` vectors of its columns.
A thread asks for the values of several points at once and combines them in their order.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.dtypes import compute_type
from ..fusion import scalar as sc
from ..fusion.collect import NAME
from ..index.expr import Ix, ix
from ..index.layout import product
from ..prims.table import MONOIDS
from ..schedule.gpu_scatter import FLIGHT, at_once
from .gpu_buckets import Buckets
from .gpu_sort import PIECE, RUN
from .ir import Arg, Imm, Let, Reg, Set, Store, Var
from .scope import Scope

MANY = 4 * FLIGHT  # bytes of pieces that a thread asks for at once in a launch that only combines them

Values = Callable[[Scope, Arg], list[Arg]]
Place = Callable[[Scope, Arg], Arg]
Group = Callable[[Scope, Arg, "list[Column]"], None]
Column = tuple[Arg, Arg | None]  # a vector of columns, and whether it exists; if not, it is the last one


class Collect(Buckets):
    """Schedules of mode "collect"."""

    def run(self) -> None:
        self.sort_points()
        self.sort_buckets()
        self.acc = compute_type(self.stage.dtype)
        if self.stage.monoid != "set":
            self.piece_count = self.count // PIECE
            self.run_count = self.piece_count // RUN
            self.pieces = self.memory("pieces", (self.piece_count + self.run_count) * self.columns(), self.acc)
            self.combine_pieces()
            self.combine_runs()
        self.collect_rows()

    # --- columns ---
    def column_tiles(self) -> Ix:
        n = self.s.col_threads * self.s.steps
        return (product(self.steps(a) for a in self.cols) + n - 1) // ix(n)

    def place_columns(self, s: Scope, part: Arg, col: Arg) -> list[Column]:
        """The vectors of columns of a thread, in part `part` of a row."""
        if not self.cols:
            return [(self.imm(0), None)]
        out: list[Column] = []
        count = self.col_steps()
        start = self.add(s, self.mul(s, part, self.imm(self.s.col_threads * self.s.steps)), col)
        for k in range(self.s.steps):
            step = self.add(s, start, self.imm(k * self.s.col_threads))
            last = self.add(s, count, self.imm(-1))
            out.append((self.prim(s, "min", step, last), self.prim(s, "lt", step, count)))
        return out

    def column(self, s: Scope, c: Column) -> Scope:
        y = Scope(s, s.body)
        self.place_col(y, c[0])
        return y

    def at_piece(self, s: Scope, piece: Arg, c: Column) -> Arg:
        """Where the result of a piece is, for a vector of columns."""
        width = self.params.get(self.columns(), "columns")
        return self.add(s, self.mul(s, piece, width), self.mul(s, c[0], self.imm(self.width)))

    @property
    def whole(self) -> str | None:
        return "aligned" if self.width > 1 else None

    # --- points ---
    def value(self, x: Scope, c: Column) -> Arg:
        """What a point gives to a vector of columns."""
        y = self.column(x, c)
        for e in self.checks_at(points=True, target=True):
            self.check(y, e)
        return self.splat(y, self.cast(y, self.emit(y, self.stage.body), self.acc), self.width)

    def combine(self, s: Scope, acc: Reg, value: Arg, there: Arg | None = None) -> None:
        """acc = acc combined with `value`, if that is `there`."""
        total = self.reg(self.acc, self.width)
        s.body.append(Let(total, MONOIDS[self.stage.monoid].combine, (acc, value)))
        self.own(s, total)
        s.body.append(Set(acc, total if there is None else self.prim(s, "where", there, total, acc)))

    def combine_all(self, s: Scope, lo: Arg, hi: Arg, times: int, values: Values, accs: list[Reg]) -> None:
        """Number lo .. hi of `values`, in order; `times` of them are asked for at once, the last one again if there are
        no more."""
        last = self.add(s, hi, self.imm(-1))

        def turn(c: Scope, k: Arg) -> None:
            found: list[tuple[Arg | None, list[Arg]]] = [(None, values(c, k))]
            for u in range(1, times):
                at = self.add(c, k, self.imm(u))
                found.append((self.prim(c, "lt", at, hi), values(c, self.prim(c, "min", at, last))))
            for there, each in found:
                for acc, value in zip(accs, each, strict=True):
                    self.combine(c, acc, value, there)

        self.each(s, lo, hi, times, turn)

    def combine_points(self, s: Scope, lo: Arg, hi: Arg, columns: list[Column], accs: list[Reg]) -> None:
        """The points lo .. hi of the sorted order."""
        loads = {e.data: e.data[2].itemsize for e in sc.walk([self.stage.body]) if e.kind == "load"}

        def values(c: Scope, k: Arg) -> list[Arg]:
            x = self.point(c, self.fetch(c, self.order, k))
            return [self.value(x, col) for col in columns]

        self.combine_all(s, lo, hi, at_once(sum(loads.values()) * self.width * len(columns)), values, accs)

    def accumulators(self, s: Scope, values: list[Arg]) -> list[Reg]:
        out = []
        for v in values:
            acc = self.reg(self.acc, self.width, "acc")
            s.body.append(Var(acc, v))
            self.own(s, acc)
            out.append(acc)
        return out

    def identity(self) -> Imm:
        return Imm(MONOIDS[self.stage.monoid].identity(self.acc), self.acc, self.width)

    # --- launches ---
    def threads_of(self, s: Scope, bid: Arg, tid: Arg) -> tuple[Arg, Arg, list[Column]]:
        """(which tile of rows, which row of it, the columns) a thread has."""
        row, col = self.place_thread(s, tid)
        tile, part = self.divmod(s, bid, self.params.divisor(self.column_tiles(), "column tiles"))
        return tile, row, self.place_columns(s, part, col)

    def in_groups(self, title: str, family: str, count: Ix, body: Group) -> None:
        """A launch of a group of threads for each of `count` numbers: `body(scope, number, columns)`."""
        rows = self.s.row_threads
        blocks = (count + rows - 1) // ix(rows) * self.column_tiles()
        s, bid, tid = self.launch(blocks, self.s.threads, title, family)
        tile, row, columns = self.threads_of(s, bid, tid)
        number = self.add(s, self.mul(s, tile, self.imm(rows)), row)
        exists = self.prim(s, "lt", number, self.params.get(count, (family, "count")))
        self.when(s, exists, lambda x: body(x, number, columns))

    def of_row(self, s: Scope, last: Arg, body: Callable[[Scope, Arg, Arg], None]) -> None:
        """`body(scope, a, z)`, if there is a point of number `last` in the order: its row has the points a .. z."""

        def known(x: Scope) -> None:
            y = self.point(x, self.fetch(x, self.order, last))
            key = self.key(y)
            body(y, self.fetch(y, self.start, key), self.fetch(y, self.start, self.add(y, key, self.imm(1))))

        total = self.fetch(s, self.start, self.params.get(self.target, "rows"))
        self.when(s, self.prim(s, "lt", last, total), known)

    def stretch(
        self, s: Scope, number: Arg, first: Arg, end: Arg, unit: Ix, body: Callable[[Scope, Arg, Arg], None]
    ) -> None:
        """`body(scope, lo, hi)` for the stretch of `unit` things among `first` .. `end`, laid end to end from `first`
        on, that begins among those from number * unit on, if one does: no other begins there."""
        size, but_one = self.params.get(unit, str(unit)), self.params.get(unit - 1, str(unit))
        lo = self.add(s, first, self.begins(s, self.mul(s, number, size), first, size, but_one))
        hi = self.add(s, lo, size)
        self.when(s, self.prim(s, "le", hi, end), lambda x: body(x, lo, hi))

    def last_of(self, s: Scope, number: Arg, unit: Ix) -> Arg:
        """The last of `unit` things from number * unit on."""
        begin = self.mul(s, number, self.params.get(unit, str(unit)))
        return self.add(s, begin, self.params.get(unit - 1, str(unit)))

    def stretches(self, s: Scope, first: Arg, end: Arg, unit: Ix) -> tuple[Arg, Arg]:
        """(the number of the first stretch of `unit` things among `first` .. `end`, how many there are)"""
        size = self.params.get(unit, str(unit))
        number = self.let(s, "udiv", (first, size), self.ix)
        return number, self.let(s, "udiv", (self.prim(s, "sub", end, first), size), self.ix)

    def leave_all(self, s: Scope, number: Arg, columns: list[Column], accs: list[Reg]) -> None:
        for col, acc in zip(columns, accs, strict=True):
            at, value = self.at_piece(s, number, col), self.freeze(s, acc)
            self.only(s, col[1]).append(Store(self.pieces, at, value, None, self.whole or ""))

    def combine_pieces(self) -> None:
        """The k-th piece of a row that begins at `a` is kept as number (a + k * piece) // piece: where it begins in the
        order, rounded down; no other begins there. The row at the end of a stretch of `piece` points is its row."""

        def group(s: Scope, number: Arg, columns: list[Column]) -> None:
            def combine(x: Scope, lo: Arg, hi: Arg) -> None:
                accs = self.accumulators(x, [self.identity() for _ in columns])
                self.combine_points(x, lo, hi, columns, accs)
                self.leave_all(x, number, columns, accs)

            last = self.last_of(s, number, PIECE)
            self.of_row(s, last, lambda x, a, z: self.stretch(x, number, a, z, PIECE, combine))

        self.in_groups("pieces of rows with many points", "pieces", self.piece_count, group)

    def combine_runs(self) -> None:
        """`run` pieces of a row are a run. It is kept behind all pieces, at its number by the same rule. The row at the
        end of a piece is its row."""

        def group(s: Scope, number: Arg, columns: list[Column]) -> None:
            def combine(x: Scope, lo: Arg, hi: Arg) -> None:
                accs = self.accumulators(x, [self.identity() for _ in columns])
                self.combine_kept(x, lo, hi, lambda c, k: k, columns, accs, MANY)
                behind = self.params.get(self.piece_count, "piece count")
                self.leave_all(x, self.add(x, number, behind), columns, accs)

            def of_pieces(x: Scope, a: Arg, z: Arg) -> None:
                first, count = self.stretches(x, a, z, PIECE)
                self.stretch(x, number, first, self.add(x, first, count), RUN, combine)

            self.of_row(s, self.last_of(s, self.last_of(s, number, RUN), PIECE), of_pieces)

        self.in_groups("runs of pieces of rows with very many", "runs", self.run_count, group)

    def combine_kept(
        self, s: Scope, lo: Arg, hi: Arg, place: Place, columns: list[Column], accs: list[Reg], flight: int = FLIGHT
    ) -> None:
        """The pieces, or runs of them, at `place(scope, k)` for k from lo to hi. `flight`: bytes that are asked for at
        once, at most."""

        def values(c: Scope, k: Arg) -> list[Arg]:
            number = place(c, k)
            at = [self.at_piece(c, number, col) for col in columns]
            return [self.let(c, "load", (a,), self.acc, self.width, self.pieces, self.whole) for a in at]

        times = at_once(self.acc.itemsize * self.width * len(columns), flight)
        self.combine_all(s, lo, hi, times, values, accs)

    def collect_rows(self) -> None:
        s, bid, tid = self.launch(self.row_tiles() * self.column_tiles(), self.s.threads, "rows", "rows")
        tile, row, columns = self.threads_of(s, bid, tid)
        number, valid = self.place_row(s, tile, row)
        a, z = self.fetch(s, self.start, number), self.fetch(s, self.start, self.add(s, number, self.imm(1)))
        begin = []
        for col in columns:
            y = self.column(s, col)
            value = self.splat(y, self.cast(y, self.emit(y, self.origin.base), self.acc), self.width)
            if self.origin.fresh:
                value = self.prim(y, "where", self.prim(s, "lt", a, z), self.identity(), value)
            begin.append(value)
        accs = self.accumulators(s, begin)
        if self.stage.monoid == "set":
            self.when(s, self.prim(s, "lt", a, z), lambda x: self.take_last(x, z, columns, accs))
        else:
            self.combine_row(s, a, z, columns, accs)
        for col, acc in zip(columns, accs, strict=True):
            y = self.column(s, col)
            y.stages[NAME] = self.own(y, self.freeze(y, acc))
            for e in self.checks_at(points=False, target=True):
                self.check(y, e)
            for st in self.f.stores():
                self.store(y, st, valid, col[1])

    def take_last(self, s: Scope, z: Arg, columns: list[Column], accs: list[Reg]) -> None:
        """The last point is the one that stays."""
        x = self.point(s, self.fetch(s, self.order, self.add(s, z, self.imm(-1))))
        for col, acc in zip(columns, accs, strict=True):
            s.body.append(Set(acc, self.value(x, col)))

    def combine_row(self, s: Scope, a: Arg, z: Arg, columns: list[Column], accs: list[Reg]) -> None:
        """The runs of a row, then its other pieces, then its other points."""
        first, pieces = self.stretches(s, a, z, PIECE)
        run, runs = self.stretches(s, first, self.add(s, first, pieces), RUN)
        run = self.add(s, run, self.params.get(self.piece_count, "piece count"))
        more = self.mul(s, runs, self.params.get(RUN - 1, "run"))  # pieces in runs, less the runs
        rest = self.add(s, first, more)

        def place(c: Scope, k: Arg) -> Arg:
            return self.add(c, k, self.prim(c, "where", self.prim(c, "lt", k, runs), run, rest))

        self.combine_kept(s, self.imm(0), self.prim(s, "sub", pieces, more), place, columns, accs)
        kept = self.mul(s, pieces, self.params.get(PIECE, "piece"))
        self.combine_points(s, self.add(s, a, kept), z, columns, accs)


__all__ = ["Collect"]
