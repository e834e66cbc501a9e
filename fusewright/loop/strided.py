"""Vectors of elements that lie a few elements apart: whole vectors of memory are read, and lanes taken out of them.

Gathers take an instruction or more for each lane, of 16-bit and narrower elements several. What is read lies between
the first and the last element, so that nothing outside of a tensor is. Parts of vectors are read so where processors
have masks for them, and gathered elsewhere.
"""

from __future__ import annotations

from ..core.dtypes import compute_type
from ..fusion.scalar import Expr
from ..schedule.turned import WIDE
from .ir import STEPS, Arg, If, Let, Set, Stmt, Var, zeros
from .narrow import Narrow
from .scope import Scope

NEAR = 4  # elements apart for which shorter vectors than those of sixteen lanes are read, too


class Strided(Narrow):
    """The part of lowering that reads such vectors."""

    def _load(self, s: Scope, e: Expr, lanes: int) -> Arg:
        at = next((c for c in s.chain() if c.vector is not None), None)
        if at is None or at.vector is None or lanes == 1 or (at.mask is not None and lanes < WIDE):
            return super()._load(s, e, lanes)
        name, offset, dtype = e.data
        step = offset.coefficient(at.vector, within=self.steady)
        n = None if step is None else step.as_int()
        if n is None or n not in STEPS or (n > NEAR and lanes < WIDE):
            return super()._load(s, e, lanes)
        on = [self.emit(s, a) for a in e.args]
        if any(m.lanes > 1 for m in on):
            return super()._load(s, e, lanes)
        base, buf, kind = self.scalar_index(s, offset, name), self.bufs[name], compute_type(dtype)
        args = (base,) if at.mask is None else (base, at.mask)
        if not on:
            return self.let(s, "strided", args, kind, lanes, buf, n)
        dst, got = self.reg(kind, lanes, "maybe"), self.reg(kind, lanes)
        some: list[Stmt] = [Let(got, "strided", args, buf, n), Set(dst, got)]
        s.body += [Var(dst, zeros(kind, lanes)), If(on[0], some)]
        return self.own(s, dst)
