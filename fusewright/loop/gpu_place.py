"""Scatters on a GPU whose points may be combined in any order: they are not sorted.

See `schedule/gpu_scatter.py`. One launch stores what the elements of the target start from; in the next a group of
`col_threads` threads has a point, each of them `steps` vectors of columns, and writes its value where it belongs, or
combines it with what is there, atomically. Threads have several rows, or points, so that all are asked for at once.
"""

from __future__ import annotations

from ..core.dtypes import compute_type
from ..fusion import scalar as sc
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

    def several(self, count: Ix, what: str, role: str) -> tuple[Scope, list[Arg], Arg, list[Column]]:
        """A launch: (its scope, the tiles of a thread, which row of them it has, its columns)."""
        blocks = (count + EACH - 1) // ix(EACH) * self.column_tiles()
        s, bid, tid = self.launch(blocks, self.s.threads, what, role)
        tile, row, columns = self.threads_of(s, bid, tid)
        first = self.mul(s, tile, self.imm(EACH))
        return s, [self.add(s, first, self.imm(k)) for k in range(EACH)], row, columns

    def store_base(self) -> None:
        """What the rows start from."""
        s, tiles, row, columns = self.several(self.row_tiles(), "what rows start from", "rows")
        found: list[tuple[Scope, Arg | None, Arg | None]] = []
        for tile in tiles:
            c = Scope(s, s.body)
            _, valid = self.place_row(c, tile, row)
            for col in columns:
                y = self.column(c, col)
                base = self.cast(y, self.emit(y, self.origin.base), self.acc)
                y.stages[NAME] = self.own(y, self.splat(y, base, self.width))
                found.append((y, valid, col[1]))
        self.stored(found)

    def place_points(self) -> None:
        """What the points add to that. Where they go is asked for at once, then the values of those that are right."""
        rows = self.s.row_threads
        number = (self.count + rows - 1) // ix(rows)
        s, tiles, row, columns = self.several(number, "points, in any order", "points")
        count = self.params.get(self.count, "points")
        places: list[tuple[Scope, Arg]] = []
        for tile in tiles:
            at = self.add(s, self.mul(s, tile, self.imm(rows)), row)
            x = self.point(s, self.prim(s, "min", at, self.add(s, count, self.imm(-1))))
            for e in sc.walk([a.aux for a in self.origin.key.atoms() if a.kind == "value"]):
                self.emit(x, e)
            exists = self.prim(x, "lt", at, count)
            places.append((x, self.prim(x, "and", exists, self.emit(x, self.origin.mask))))
        self.check_all([x for x, _ in places], self.checks_at(points=True, target=False), [None] * len(places))
        found = [(x, counts, col, self.value(x, col)) for x, counts in places for col in columns]
        for x, counts, col, value in found:
            self.when(x, counts, lambda y, x=x, col=col, value=value: self.placed(y, x, col, value))  # type: ignore[misc]

    def placed(self, s: Scope, x: Scope, col: Column, value: Arg) -> None:
        """The value of a point for a vector of columns, stored where it is known to have a row."""
        z = Scope(s, s.body)
        z.axes = dict(x.axes)
        self.place(z, self.key(z), self.rows, "row")
        y = self.column(z, col)
        y.stages[NAME] = self.own(y, value)
        for e in self.checks_at(points=False, target=True):
            self.check(y, e)
        self.stored([(y, col[1], None)])

    def stored(self, found: list[tuple[Scope, Arg | None, Arg | None]]) -> None:
        """The stores at some places, where both conditions hold."""
        for y, *conditions in found:
            for st in self.f.stores():
                self.store(y, st, *conditions)


__all__ = ["Place"]
