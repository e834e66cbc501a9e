"""Scatters on a GPU whose points may be combined in any order: they are not sorted.

See `schedule/gpu_scatter.py`. One launch stores what the elements of the target start from; in the next a group of
`col_threads` threads has a point, each of them `steps` vectors of columns, and writes its value where it belongs, or
combines it with what is there, atomically. Threads have several rows, or points, so that all are asked for at once.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.dtypes import compute_type
from ..fusion.collect import NAME
from ..index.expr import Ix, ix
from .gpu_collect import Collect, Column
from .ir import Arg
from .scope import Scope

EACH = 4  # rows, or points, of a thread


class Place(Collect):
    """Schedules of mode "place"."""

    def run(self) -> None:
        self.acc = compute_type(self.stage.dtype)
        self.store_base()
        self.meet = self.stage.monoid
        self.place_points()

    def several(self, count: Ix, what: str, role: str, one: Callable[[Scope, Arg, Arg, list[Column]], None]) -> None:
        """A launch: `one(scope, tile, row, columns)` for the tiles of a thread; `count`: how many tiles there are."""
        blocks = (count + EACH - 1) // ix(EACH) * self.column_tiles()
        s, bid, tid = self.launch(blocks, self.s.threads, what, role)
        tile, row, columns = self.threads_of(s, bid, tid)
        for k in range(EACH):
            c = Scope(s, s.body)
            one(c, self.add(c, self.mul(c, tile, self.imm(EACH)), self.imm(k)), row, columns)

    def store_base(self) -> None:
        """What the rows start from."""

        def one(c: Scope, tile: Arg, row: Arg, columns: list[Column]) -> None:
            _, valid = self.place_row(c, tile, row)
            for col in columns:
                y = self.column(c, col)
                base = self.splat(y, self.cast(y, self.emit(y, self.origin.base), self.acc), self.width)
                y.stages[NAME] = self.own(y, base)
                for st in self.f.stores():
                    self.store(y, st, valid, col[1])

        self.several(self.row_tiles(), "what rows start from", "rows", one)

    def place_points(self) -> None:
        """What the points add to that."""
        rows = self.s.row_threads
        count = self.params.get(self.count, "points")

        def one(c: Scope, tile: Arg, row: Arg, columns: list[Column]) -> None:
            at = self.add(c, self.mul(c, tile, self.imm(rows)), row)
            exists = self.prim(c, "lt", at, count)
            x = self.point(c, self.prim(c, "min", at, self.add(c, count, self.imm(-1))))
            for e in self.checks_at(points=True, target=False):
                self.check(x, e)
            counts = self.prim(x, "and", exists, self.emit(x, self.origin.mask))

            def belongs(y: Scope) -> None:
                z = Scope(y, y.body)
                z.axes = dict(x.axes)  # what depends on the point is computed here, where its row is known to exist
                self.place(z, self.key(z), self.rows, "row")
                for col in columns:
                    self.placed(z, col)

            self.when(x, counts, belongs)

        self.several((self.count + rows - 1) // ix(rows), "points", "points", one)

    def placed(self, z: Scope, col: Column) -> None:
        """The value of a point for a vector of columns."""
        y = self.column(z, col)
        y.stages[NAME] = self.own(y, self.value(y, col))
        for e in self.checks_at(points=False, target=True):
            self.check(y, e)
        for st in self.f.stores():
            self.store(y, st, col[1])


__all__ = ["Place"]
