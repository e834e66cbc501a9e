"""Rows that fill the lanes: several vectors of them at a time, then single vectors, and one of which lanes are missing.

A block of vectors is one vector as wide as all of them, which the target's compiler keeps in as many registers: each
point of it is loads of neighbouring memory and independent accumulators. Single vectors have less to do at a time, so
that they take several columns at once, in accumulators of their own.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.dtypes import bool_, i64
from ..index.expr import Atom
from .accumulate import Sums
from .ir import Arg, For, If, Reg, Stmt, imm
from .scatter import Scatters
from .scope import Scope


class RowBlocks(Scatters):
    """The part of lowering that visits rows in lanes.

    `abreast`: vectors of a block; `in_block`: whether one is being written; `there`: rows in the lanes.
    """

    abreast: int
    in_block = False
    there: Arg = imm(0)

    def row_block(self, s: Scope, start: Arg, body: Callable[[Scope], None]) -> None:
        """`body` for the rows from `start` on: a whole block, or what is left at the end."""
        assert self.v is not None and self.v.extent is not None
        extent = self.params.get(self.v.extent, ("extent", self.v.name))
        if self.abreast == 1:
            self._vector(s, start, extent, body)
            return
        one, block = self.width, self.width * self.abreast
        whole = self.prim(s, "le", self.add(s, start, imm(block)), extent)
        branches: list[list[Stmt]] = [[], []]
        self.width, self.in_block = block, True
        self.there = imm(block)
        body(self._lanes(s, branches[0], start))
        self.width, self.in_block = one, False
        var = self.reg(i64, prefix="row")
        inside: list[Stmt] = []
        x = Scope(s, inside)
        self.own(x, var)
        self._vector(x, var, extent, body)
        branches[1].append(For(var, start, extent, imm(one), inside))
        s.body.append(If(whole, *branches))

    def _vector(self, s: Scope, start: Arg, extent: Arg, body: Callable[[Scope], None]) -> None:
        """One vector of rows, of which some lanes may be missing."""
        whole = self.prim(s, "le", self.add(s, start, imm(self.width)), extent)
        branches: list[list[Stmt]] = [[], []]
        for masked, inside in enumerate(branches):
            c = self._lanes(s, inside, start)
            self.there = self.prim(c, "sub", extent, start) if masked else imm(self.width)
            if masked:
                c.mask = self.let(c, "lanemask", (self.there,), bool_, self.width)
            self.rows_in(c, self.there)
            body(c)
        s.body.append(If(whole, *branches))

    def rows_in(self, s: Scope, count: Arg) -> None:
        """What comes before the passes over `count` rows."""

    def _lanes(self, s: Scope, body: list[Stmt], start: Arg) -> Scope:
        """A scope whose lanes are the rows from `start` on."""
        assert self.v is not None
        c = Scope(s, body)
        c.vector, c.lanes = self.v, self.width
        c.axes[self.v] = start
        return c

    def several_columns(
        self,
        s: Scope,
        a: Atom,
        span: tuple[Arg, Arg],
        unroll: int,
        sums: Sums,
        body: Callable[[Scope, int], None],
    ) -> None:
        """The innermost loop over columns, so many at a time, then one by one."""
        lo, hi = span
        whole = self.mul(s, self.let(s, "udiv", (self.span(s, lo, hi), imm(unroll)), i64), imm(unroll))
        end = self.add(s, lo, whole)

        def together(c: Scope, var: Reg) -> None:
            for u in range(unroll):
                x = Scope(c, c.body)
                x.axes[a] = self.add(c, var, imm(u))
                body(x, u)

        def alone(c: Scope, var: Reg) -> None:
            c.axes[a] = var
            body(c, 0)

        self.blocks(s, lo, end, unroll, sums, together)
        self.in_blocks(s, end, hi, 1, imm(1), alone, None)
