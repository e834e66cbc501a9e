"""The loops around a row of work: threads share its row axes and the pieces of its columns.

A thread's share is a range of all of them, numbered through. It is walked by a loop for each axis, so that what is the
same for many rows (where they begin, how many whole vectors a piece has) is computed outside:

    for a in lo / n .. (hi + n - 1) / n:
      for b in max(lo - a * n, 0) .. min(hi - a * n, n):

Pieces are outermost, as what changes least: nearly all rows are one piece. Tiles of a transpose are innermost, unless
the lines of which they have parts are those of the next row, too. Where rows have to be counted, one loop goes over the
numbers, and what they stand for is found by division.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.dtypes import i64
from ..index.expr import Atom, Ix, ix
from ..index.layout import product
from .ir import Arg, For, Reg, Stmt, imm
from .row_blocks import RowBlocks
from .scope import Scope
from .turned_rows import TurnedRows

Parts = list[tuple[Atom, Ix]]  # axes, outermost first, and how many iterations each has
Body = Callable[[Scope], None]


class Rows(TurnedRows, RowBlocks):
    """The part of lowering that visits rows. `at_chunk`: the number of the piece of a column axis that is cut."""

    at_chunk: dict[Atom, Arg]
    rows: list[Atom]

    def parts(self) -> tuple[Parts, bool]:
        """What threads share, and whether each has a loop of its own."""
        self.at_chunk = {}
        rows, pieces = [(a, self._steps(a)) for a in self.rows], [(a, self._chunks(a)) for a in self.chunk]
        nested = not (self.serial or self.block or self.by_row) and len(rows) + len(pieces) > 1
        first = self.across is None or self.lines_of_several(self.rows[-1:])
        return (pieces + rows if nested and first else rows + pieces), nested

    def _steps(self, a: Atom) -> Ix:
        """Iterations of a row axis: its extent, or the blocks of vectors that cover it."""
        assert a.extent is not None
        step = self.width * self.abreast
        return (a.extent + step - 1) // ix(step) if a is self.v else a.extent

    def _chunks(self, a: Atom) -> Ix:
        assert a.extent is not None
        return (a.extent + self.chunk[a] - 1) // ix(self.chunk[a])

    def nest(self, s: Scope, r: Reg, lo: Arg, hi: Arg, parts: Parts, body: Body, start: Arg | None = None) -> None:
        """Loops over `parts`, whose iterations `lo` to `hi` are to be made; `r`: the variable of the first."""
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, r)
        (a, _), *inner = parts
        start = self._at(c, a, r) or start
        if not inner:
            self._row(c, start, body)
            s.body.append(For(r, lo, hi, imm(1), inside))
            return
        n = self.params.divisor(product(n for _, n in inner), ("steps", len(inner)))
        before = self.mul(c, r, n)
        first = self.prim(c, "max", self.prim(c, "sub", lo, before), imm(0))
        last = self.prim(c, "min", self.prim(c, "sub", hi, before), n)
        self.nest(c, self.reg(i64, prefix="row"), first, last, inner, body, start)
        end = self.let(s, "udiv", (self.prim(s, "sub", self.add(s, hi, n), imm(1)), n), i64)
        s.body.append(For(r, self.let(s, "udiv", (lo, n), i64), end, imm(1), inside))

    def numbered(self, s: Scope, r: Reg, parts: Parts, body: Body) -> None:
        """Row number `r`."""
        rest: Arg = r
        start: Arg | None = None
        for k in range(len(parts) - 1, -1, -1):
            a, n = parts[k]
            at = rest
            if k:
                count = self.params.divisor(n, ("steps", k))
                q = self.let(s, "udiv", (rest, count), i64)
                at = self.prim(s, "sub", rest, self.mul(s, q, count))
                rest = q
            start = self._at(s, a, at) or start
        self._row(s, start, body)

    def _at(self, s: Scope, a: Atom, at: Arg) -> Arg | None:
        """Note where a loop is; where vectors of rows begin, if it is over these."""
        if a in self.chunk:
            self.at_chunk[a] = at
        elif a is self.v:
            return self.mul(s, at, imm(self.width * self.abreast))
        else:
            s.axes[a] = self.own(s, at)
        return None

    def _row(self, s: Scope, start: Arg | None, body: Body) -> None:
        if self.row_vector and not self.by_row:
            self.row_block(s, start or imm(0), body)
        else:
            body(s)
