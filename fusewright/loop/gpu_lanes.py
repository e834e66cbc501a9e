"""Lanes that are taken out of whole vectors by constants (`schedule/windows.py`), in place of one by one."""

from __future__ import annotations

from ..core.dtypes import compute_type
from ..fusion.scalar import Expr
from ..index.expr import Ix
from ..schedule.windows import Windows, constant_lanes, windows_of
from .gpu_nest import Nest
from .ir import Arg, Imm
from .scope import Scope


class Lanes(Nest):
    """Kernels whose vectors start at multiples of their lanes, unless rows are moved."""

    def _emit(self, s: Scope, e: Expr, lanes: int) -> Arg:
        if e.kind == "op" and e.data == "where" and self.from_multiples(s, lanes):
            assert self.v is not None
            on = constant_lanes(e.args[0], self.v, lanes)
            if on is not None:
                both = [self.splat(s, self.emit(s, a), lanes) for a in e.args[1:]]
                if all(on) or not any(on):
                    return both[not on[0]]
                order = tuple(k if x else lanes + k for k, x in enumerate(on))
                return self.let(s, "permute", tuple(both), e.dtype, lanes, attr=order)
        return super()._emit(s, e, lanes)

    def from_multiples(self, s: Scope, lanes: int) -> bool:
        """Whether something in so many lanes is along the vector axis, from a multiple of them on."""
        at = next((c for c in s.chain() if c.vector is not None), None)
        return at is not None and lanes > 1 and lanes == at.lanes and at.vector is self.v and not self.s.anchor

    def _load(self, s: Scope, e: Expr, lanes: int) -> Arg:
        if e.data[0] in self.s.permuted and self.from_multiples(s, lanes) and self.tail(s) is None:
            assert self.v is not None
            w = windows_of(e, self.v, lanes, self.steady)
            if w is not None:
                return self.permuted(s, e, w, lanes)
        return super()._load(s, e, lanes)

    def permuted(self, s: Scope, e: Expr, w: Windows, lanes: int) -> Arg:
        dtype = compute_type(e.data[2])
        parts = [self.window(s, e, start, w.width) for start in w.starts]
        if w.lanes == tuple(range(len(parts) * w.width)) and len(parts) == 1:
            return parts[0]
        order = w.lanes
        if -1 in order:  # it is 0 where nothing is read
            nothing = False if dtype.is_bool else 0.0 if dtype.is_float else 0
            order = tuple(len(parts) * w.width if k < 0 else k for k in order)
            parts.append(Imm(nothing, dtype, w.width))
        if len(parts) == w.width == 1:
            return self.splat(s, parts[0], lanes)
        return self.let(s, "permute", tuple(parts), dtype, lanes, attr=order)

    def window(self, s: Scope, e: Expr, start: Ix, width: int) -> Arg:
        """A whole window; loads that take lanes out of the same one share it."""
        name, _, dtype = e.data
        key = ("window", name, start, width)
        for c in s.chain():
            if key in c.memo:
                return c.memo[key]
        mark = None if width == 1 else "aligned stream" if name in self.s.stream else "aligned"
        at = self.scalar_index(s, start, name)
        out = s.memo[key] = self.let(s, "load", (at,), compute_type(dtype), width, self.bufs[name], mark)
        return out
