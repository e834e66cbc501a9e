"""Vectors of which a condition on positions takes a part: where the ends of `cat` and `pad` are."""

from __future__ import annotations

from ..core.dtypes import compute_type
from ..fusion import scalar as sc
from ..fusion.scalar import Expr, on_positions
from ..index.expr import Atom, Ix
from .emitter import Emitter
from .ir import Arg, If, Let, Set, Var, zeros
from .scope import Scope


class Borders(Emitter):
    """Loads of whole vectors or of nothing, and conditions at the ends of a vector."""

    v: Atom | None

    def whole_load(self, s: Scope, buffer: str, offset: Ix, mask: Arg, base: Arg, lanes: int) -> Arg | None:
        buf = self.bufs[buffer]
        dtype = compute_type(buf.dtype)
        dst = self.reg(dtype, lanes, "maybe")
        got = self.reg(dtype, lanes)
        load = Let(got, "load", (base,), buf, self.mark(buffer, offset))
        s.body += [Var(dst, zeros(dtype, lanes)), If(mask, [load, Set(dst, got)])]
        return self.own(s, dst)

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
