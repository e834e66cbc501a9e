"""Vectors of which a condition on positions takes a part: where the ends of `cat` and `pad` are."""

from __future__ import annotations

from ..fusion import scalar as sc
from ..fusion.scalar import Expr, on_positions
from ..index.expr import Atom
from .ir import Arg
from .scope import Emitter, Scope


class Borders(Emitter):
    """Conditions at the ends of a vector."""

    v: Atom | None

    def between_borders(self, e: Expr) -> bool:
        """Whether a condition holds for all positions between two for which it holds: it bounds the vector axis."""
        if self.v not in e.axes:
            return True
        if e.kind == "op" and e.data == "and" and e.dtype.is_bool:
            return all(map(self.between_borders, e.args))
        if not on_positions(e) or self.v is None:
            return False
        a, b = sc.sides(e)
        c = (a - b).coefficient(self.v, within=self.steady)
        return c is not None and c.as_int() is not None

    def condition_at(self, s: Scope, e: Expr, lane: int) -> Arg:
        """A condition on positions, of one lane of a vector."""
        assert self.v is not None
        if self.v not in e.axes:
            return self.emit(s, e)
        if e.kind == "index":
            place = e.data if lane == 0 else e.data.subst({self.v: self.v.ix + lane})
            return self.as_number(s, self.scalar_index(s, place, "index"))
        return self.prim(s, e.data, *(self.condition_at(s, a, lane) for a in e.args))
