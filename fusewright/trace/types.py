"""torch's types and sizes in Fusewright's terms."""

from __future__ import annotations

import math
from typing import Any

import sympy
import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._sympy.functions import CleanDiv, FloorDiv, Mod, PythonMod

from ..core import dtypes as dt
from ..core.dtypes import DType
from ..index.expr import ONE, Ix, floordiv, ix, mod, nonnegative, sym
from . import printing

FROM_TORCH: dict[torch.dtype, DType] = {
    torch.float64: dt.f64,
    torch.float32: dt.f32,
    torch.float16: dt.f16,
    torch.bfloat16: dt.bf16,
    torch.int64: dt.i64,
    torch.int32: dt.i32,
    torch.int16: dt.i16,
    torch.int8: dt.i8,
    torch.uint8: dt.u8,
    torch.bool: dt.bool_,
}
with _disable_current_modes():  # whoever imports this may be tracing
    # PyTorch's conversions to this type saturate in 2.13, and do not in 2.11
    _saturates = bool(torch.tensor(1e3, device="cpu").to(torch.float8_e4m3fn).float().isfinite())
FROM_TORCH |= {torch.float8_e4m3fn: dt.f8e4m3s if _saturates else dt.f8e4m3, torch.float8_e5m2: dt.f8e5m2}
TO_TORCH: dict[DType, torch.dtype] = {
    **{v: k for k, v in FROM_TORCH.items()},
    **dict.fromkeys((dt.f8e4m3, dt.f8e4m3s), torch.float8_e4m3fn),
}

UNKNOWN_SIZE = 64  # the estimate of a size that tracing knows nothing about


class Symbols:
    """Turns torch's symbolic sizes into index expressions and remembers how to compute each symbol.

    `sources[name]` is a sympy expression over torch's own symbols for every symbol that is not one of them: what the
    index grammar cannot express, and quotients of what may be negative, become symbols of their own. A symbol of the
    grammar is at least 1, as sizes are; an integer of the program is written as one that is, or as the difference of
    two: what tracing has found (its guards) bounds it, or nothing does.
    """

    def __init__(self) -> None:
        self.sources: dict[str, sympy.Expr] = {}
        self._memo: dict[Any, Ix] = {}
        self._opaque: dict[sympy.Expr, Ix] = {}
        self._hints: dict[str, int] = {}
        self._sympy: dict[str, sympy.Expr] = {}
        self._env: Any = None

    def ix(self, v: Any, size: bool = False) -> Ix:
        """An int, SymInt or sympy expression as an index expression. `size`: it is the extent of something."""
        if isinstance(v, int):
            return ix(int(v))
        if isinstance(v, torch.SymInt):
            node = v.node
            if node.constant is not None:
                return ix(int(node.constant))
            v = node.expr
            self._env = node.shape_env
        found = self._memo.get(v)
        if found is None:
            found = self._memo[v] = self._convert(v, size)
        return found

    def hint(self, e: Ix) -> int:
        """An estimate of an index expression: the sizes seen while tracing."""
        n = e.as_int()
        if n is not None:
            return n
        for a in e.atoms():
            if a.kind == "sym" and a.name not in self._hints:
                self._hints[a.name] = self._guess(a.name)
        return int(e.evaluate(self._hints))

    def _guess(self, name: str) -> int:
        e = self._sympy.get(name)
        if e is None or self._env is None:
            return UNKNOWN_SIZE
        try:
            if hasattr(self._env, "optimization_hint"):
                return int(self._env.optimization_hint(e, fallback=UNKNOWN_SIZE))
            return int(self._env.size_hint(e, allow_none=True) or UNKNOWN_SIZE)
        except Exception:  # an unbacked size may have no hint: any guess will do
            return UNKNOWN_SIZE

    def positive(self, e: Ix) -> bool:
        """Whether an extent is at least 1 in every call: one that depends on data, or a difference, may be 0."""
        names = [a.name for a in e.atoms() if a.kind == "sym"]
        return nonnegative(e - ONE) and all(self._positive_symbol(name) for name in names)

    def _positive_symbol(self, name: str) -> bool:
        known = self._sympy.get(name)
        return known is None or self._env is None or self._range(known)[0] >= 1

    def host_source(self, name: str, terms: dict[Any, sympy.Symbol] | None = None) -> str:
        """Python source that computes symbol `name` from torch's own symbols, and from `terms` of these."""
        return printing.source(self.sources[name].xreplace(terms or {}))

    def known(self, v: Any, bound: set[str]) -> str:
        """Python source of a symbolic integer that is made of symbols in `bound` only, else ""."""
        if not isinstance(v, torch.SymInt):
            return ""
        e = self.ix(v)
        return e.text() if all(a.kind != "sym" or a.name in bound for a in e.atoms()) else ""

    def shape(self, sizes: Any) -> tuple[Ix, ...]:
        return tuple(self.ix(s, size=True) for s in sizes)

    def _convert(self, e: Any, size: bool) -> Ix:
        if e.is_Integer:
            return ix(int(e))
        if e.is_Symbol and (e.is_nonnegative or self._range(e)[0] >= 1):
            self._sympy[str(e)] = e
            return sym(str(e))
        if e.is_Add:
            out = ix(0)
            for a in e.args:
                out = out + self.ix(a)
            return out
        if e.is_Mul and all(not (a.is_Number and not a.is_Integer) for a in e.args):
            out = ONE
            for a in e.args:
                out = out * self.ix(a)
            return out
        if e.is_Pow and e.args[1].is_Integer and 0 < int(e.args[1]) < 8:
            base, out = self.ix(e.args[0]), ONE
            for _ in range(int(e.args[1])):
                out = out * base
            return out
        if isinstance(e, (FloorDiv, CleanDiv)) and _positive(e):
            num, den = self.ix(e.args[0]), self.ix(e.args[1])
            if (den.as_int() or 1) >= 1:
                return floordiv(num, den)
        if isinstance(e, (Mod, PythonMod)) and _positive(e):
            num, den = self.ix(e.args[0]), self.ix(e.args[1])
            if (den.as_int() or 1) >= 1:
                return mod(num, den)
        found = self._opaque.get(e)
        if found is None:
            found = self._opaque[e] = self._symbol(e) if size else self._own(e)
        return found

    def _own(self, e: sympy.Expr) -> Ix:
        """`e` as a symbol of its own, or as the difference of two that are at least 1."""
        low, high = self._range(e)
        if low >= 1:
            return self._symbol(e)
        if low > -math.inf:
            return self._symbol(e - int(low) + 1) + int(low) - 1
        if high < math.inf:
            return ix(int(high) + 1) - self._symbol(int(high) + 1 - e)
        return self._symbol(sympy.Max(e, 0) + 1) - self._symbol(sympy.Max(-e, 0) + 1)

    def _symbol(self, e: sympy.Expr) -> Ix:
        name = f"x{len(self.sources)}"
        self.sources[name] = self._sympy[name] = e
        return sym(name)

    def _range(self, e: sympy.Expr) -> tuple[float, float]:
        """The bounds of `e` that tracing has found: nothing is known beyond them."""
        try:
            found = self._env.bound_sympy(e)
            return _number(found.lower, -math.inf), _number(found.upper, math.inf)
        except Exception:  # nothing is known of some functions, or of what has no environment
            return -math.inf, math.inf


def _number(bound: Any, otherwise: float) -> float:
    return int(bound) if bound.is_Integer else otherwise


def _positive(e: Any) -> bool:
    """Whether all symbols are sizes. An integer of the program may be negative, and targets divide unsigned numbers."""
    return all(s.is_nonnegative for s in e.free_symbols)
