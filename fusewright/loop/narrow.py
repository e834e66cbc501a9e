"""Vectors of narrow elements of which a condition takes a part.

Processors without masks for 16-bit and narrower elements (x86 before AVX-512, whose vectors have 16 lanes here) load
such a vector element by element, each behind a branch. But where a `cat` or `pad` ends most vectors are whole, or
nothing of them is wanted, and one branch tells.
"""

from __future__ import annotations

from ..core.dtypes import bool_, compute_type
from ..fusion.scalar import Expr
from ..index.expr import Ix
from ..schedule.turned import WIDE
from .borders import Borders
from .ir import Arg, If, Let, Set, Stmt, Var, zeros
from .scatter import Scatters
from .scope import Scope

NARROW = 2  # bytes of elements without masks


class Narrow(Borders, Scatters):
    """The part of lowering that loads them."""

    def _has_masks(self, buffer: str, lanes: int) -> bool:
        return self.bufs[buffer].dtype.itemsize > NARROW or lanes >= WIDE

    def whole_load(self, s: Scope, buffer: str, offset: Ix, mask: Arg, base: Arg, lanes: int) -> Arg | None:
        return None if self._has_masks(buffer, lanes) else super().whole_load(s, buffer, offset, mask, base, lanes)

    def border_load(self, s: Scope, e: Expr, mask: Arg, base: Arg, lanes: int) -> Arg | None:
        if self._has_masks(e.data[0], lanes) or not self.between_borders(e.args[0]):
            return None
        ends = [self.condition_at(s, e.args[0], n) for n in (0, lanes - 1)]
        buf = self.bufs[e.data[0]]
        dtype = compute_type(buf.dtype)
        dst = self.reg(dtype, lanes, "maybe")
        got, some, any_ = self.reg(dtype, lanes), self.reg(dtype, lanes), self.reg(bool_)
        whole: list[Stmt] = [Let(got, "load", (base,), buf), Set(dst, got)]
        single: list[Stmt] = [Let(some, "load", (base, mask), buf), Set(dst, some)]
        part: list[Stmt] = [Let(any_, "hreduce", (mask,), attr="any"), If(any_, single)]
        s.body += [Var(dst, zeros(dtype, lanes)), If(self.prim(s, "and", *ends), whole, part)]
        return self.own(s, dst)
