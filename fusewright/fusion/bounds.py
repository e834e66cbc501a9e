"""How large the values of a fusion can be: enough to know which of them have a normal reciprocal."""

from __future__ import annotations

import math

from .ir import Fusion
from .online import shifted
from .scalar import Expr

TOP = 3.5e38  # above the largest float32
COUNT = 2.0**64  # above any number of elements, and the root of any float32
FAR = 2.0**126
TINY = 2.0**-100  # of smaller numbers the reciprocal may be infinite
_NONNEGATIVE = ("exp", "exp2", "abs", "rsqrt", "fast_exp2")
_EVERYTHING = (-TOP, TOP)

Range = tuple[float, float]


class Bounds:
    """Ranges of float32 values of one fusion. A value is inside its range, an infinity beyond its end, or NaN."""

    def __init__(self, f: Fusion):
        self.stages = {s.name: s for s in f.stages if s.kind == "reduce"}
        self.memo: dict[Expr, Range] = {}

    def invertible(self, e: Expr) -> bool:
        """Whether `e` is 0, infinite, NaN, or between 2^-126 and 2^126 in absolute value."""
        low, high = self(e)
        away = low >= 1.0 / FAR or high <= -1.0 / FAR or integral(e)
        return away and -FAR <= low and high <= FAR

    def far(self, e: Expr) -> bool:
        """Whether `e` is certainly at least 2^-100 in absolute value, or NaN."""
        low, high = self(e)
        return low >= TINY or high <= -TINY

    def __call__(self, e: Expr) -> Range:
        found = self.memo.get(e)
        if found is None:
            self.memo[e] = _EVERYTHING  # of what is defined by itself nothing is known
            found = self.memo[e] = self._range(e)
        return found

    def _range(self, e: Expr) -> Range:
        if e.kind == "const":
            v = float(e.data)
            return (v, v) if math.isfinite(v) else _EVERYTHING
        if e.kind == "cast" and e.args[0].dtype.is_int:
            return (-COUNT, COUNT) if e.args[0].kind != "index" else (0.0, COUNT)
        if e.kind == "round":
            return (0.0, TOP) if self(e.args[0])[0] >= 0 else _EVERYTHING
        if e.kind == "stage":
            return self.stage(e)
        return self.op(e) if e.kind == "op" else _EVERYTHING

    def stage(self, e: Expr) -> Range:
        s = self.stages.get(e.data[0])
        if s is None:
            return _EVERYTHING
        if s.monoid in ("max", "min"):
            return self(s.body)
        if s.monoid != "sum":
            return _EVERYTHING
        found = shifted(s.body, self.stages)
        if found is not None and found[1].raxes == s.raxes and s.body.args[0].args[1].kind == "stage":
            return (1.0, COUNT)
        return (0.0, TOP) if self(s.body)[0] >= 0 else _EVERYTHING

    def op(self, e: Expr) -> Range:
        if e.data == "mul" and e.args[0] is e.args[1]:
            return (0.0, TOP)
        if e.data in _NONNEGATIVE:
            return (0.0, TOP)
        if e.data == "where":
            return _union(self(e.args[1]), self(e.args[2]))
        if e.data not in ("add", "sub", "mul", "div", "max", "min", "sqrt", "neg"):
            return _EVERYTHING
        ranges = [self(a) for a in e.args]
        low, high = ranges[0]
        if e.data == "sqrt":
            return (math.sqrt(max(low, 0.0)), COUNT)
        if e.data == "neg":
            return (-high, -low)
        low2, high2 = ranges[1]
        match e.data:
            case "add":
                return _inside(low + low2, high + high2)
            case "sub":
                return _inside(low - high2, high - low2)
            case "max":
                return (max(low, low2), max(high, high2))
            case "min":
                return (min(low, low2), min(high, high2))
        return (0.0, TOP) if low >= 0 and low2 >= 0 else _EVERYTHING


def integral(e: Expr) -> bool:
    """Whether `e` is a whole number, if it is finite."""
    if e.kind == "cast":
        return e.args[0].dtype.is_int or e.args[0].dtype.is_bool
    if e.kind == "const":
        return float(e.data).is_integer()
    return e.kind == "op" and e.data in ("add", "sub", "max", "min", "neg", "abs") and all(map(integral, e.args))


def _union(a: Range, b: Range) -> Range:
    return (min(a[0], b[0]), max(a[1], b[1]))


def _inside(low: float, high: float) -> Range:
    return (max(low, -TOP), min(high, TOP))
