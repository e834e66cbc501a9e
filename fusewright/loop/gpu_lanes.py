"""Lanes that are taken out of whole vectors by constants (`schedule/windows.py`), in place of one by one."""

from __future__ import annotations

from ..core.dtypes import compute_type
from ..fusion.scalar import Expr
from ..schedule.windows import Windows, constant_lanes, windows_of
from .gpu_nest import Nest
from .ir import Arg, Let, Set, Stmt, Var, zeros
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
            w = windows_of(e, self.v, lanes, self.steady, self.s.uniform)
            guards = [] if w is None else self.guards(s, e, lanes)
            if w is not None and all(g.lanes == 1 for g in guards):
                return self.permuted(s, e, w, lanes, guards)
        return super()._load(s, e, lanes)

    def guards(self, s: Scope, e: Expr, lanes: int) -> list[Arg]:
        """The conditions of a load that are not constants in each lane."""
        assert self.v is not None
        return [self.emit(s, a) for a in e.args if constant_lanes(a, self.v, lanes) is None]

    def permuted(self, s: Scope, e: Expr, w: Windows, lanes: int, guards: list[Arg]) -> Arg:
        dtype = compute_type(e.data[2])
        parts = self.windows(s, e, w, guards)
        if w.lanes == tuple(range(len(parts) * w.width)) and len(parts) == 1:
            return parts[0]
        order = w.lanes
        if -1 in order:  # it is 0 where nothing is read
            order = tuple(len(parts) * w.width if k < 0 else k for k in order)
            parts.append(zeros(dtype, w.width))
        if len(parts) == w.width == 1:
            return self.splat(s, parts[0], lanes)
        return self.let(s, "permute", tuple(parts), dtype, lanes, attr=order)

    def windows(self, s: Scope, e: Expr, w: Windows, guards: list[Arg]) -> list[Arg]:
        """Windows, or nothing where a condition is false. Loads that take lanes out of the same ones share them."""
        name, _, dtype = e.data
        keys = [("window", name, start, w.width, *guards) for start in w.starts]
        known = {key: c.memo[key] for c in reversed(s.chain()) for key in keys if key in c.memo}
        new = [(key, start) for key, start in zip(keys, w.starts, strict=True) if key not in known]
        mark = None if w.width == 1 else "aligned stream" if name in self.s.stream else "aligned"
        at = [self.scalar_index(s, start, name) for _, start in new]
        dtype = compute_type(dtype)
        got = [self.reg(dtype, w.width) for _ in new]
        loads: list[Stmt] = [Let(r, "load", (a,), self.bufs[name], mark) for r, a in zip(got, at, strict=True)]
        if guards and new:
            held = [self.reg(dtype, w.width, "maybe") for _ in new]
            sets = [Set(h, r) for h, r in zip(held, got, strict=True)]
            s.body += [Var(h, zeros(dtype, w.width)) for h in held]
            self.only(s, *guards).extend([*loads, *sets])
            got = held
        else:
            s.body += loads
        for (key, _), r in zip(new, got, strict=True):
            known[key] = s.memo[key] = self.own(s, r)
        return [known[key] for key in keys]
