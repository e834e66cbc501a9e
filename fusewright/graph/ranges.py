"""Between which numbers the elements of a value lie, as far as constants tell: enough to know that an index is inside a
tensor, and need not be checked.

Interval arithmetic (Moore, Interval Analysis, 1966) over the equations behind a value. Results of floating-point
operations are wider than rounding, here or by approximations of ours, can make them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ..core.dtypes import DType
from ..index.expr import Ix
from .ir import Eqn, Value

Range = tuple[float, float]  # both inside; of integers, they are ints

MOST = 1e30  # beyond, a float might be infinite
_SLACK = {2: 2.0**-6, 4: 2.0**-20, 8: 2.0**-48}  # relative, by bytes of a float: more than any operation is wrong by


def unknown(_: Value) -> Range | None:
    return None


class Ranges:
    """`ranges(v)`: a closed interval in which all elements of `v` lie, none of which is NaN; None if that is not known.

    `producers`: the equation behind any value of the graph. Integers of which nothing is known have the interval of
    their type.
    """

    def __init__(self, producers: Mapping[Value, Eqn]):
        self.producers = producers
        self.known: dict[Value, Range | None] = {}

    def __call__(self, v: Value) -> Range | None:
        stack = [v]
        while stack:  # deeper than Python's own stack may be
            x = stack[-1]
            e = self.producers.get(x)
            waits = [] if x in self.known or e is None else [i for i in e.inputs if i not in self.known]
            if waits:
                stack += waits
                continue
            if x not in self.known:
                self.known[x] = _whole(x.dtype) if e is None else self.of(e)
            stack.pop()
        return self.known[v]

    def of(self, e: Eqn) -> Range | None:
        """The range of an equation whose operands' are known."""
        own = _whole(e.out.dtype)
        given = [self.known[i] for i in e.inputs]
        match e.op:
            case "const":
                value = e.params[0]
                return _fit((value, value), e.out.dtype) if math.isfinite(value) else own
            case "scalar":
                n = e.params[0].as_int() if isinstance(e.params[0], Ix) else None
                return _fit((n, n), e.out.dtype) if n is not None else own
            case "iota":
                n = e.out.shape[e.params[0]].as_int()
                return (0, max(n - 1, 0)) if n is not None else own
            case "affine" | "reshape" | "gather":
                return given[0]
            case "cat" | "pad":
                return _union(given)
            case "cast":
                return _cast(given[0], e.inputs[0].dtype, e.out.dtype)
            case "map":
                return _fit(_map(e.params[0], given), e.out.dtype)
        return own


def _whole(d: DType) -> Range | None:
    if d.is_bool:
        return (0, 1)
    if not d.is_int:
        return None
    bits = 8 * d.itemsize
    return (0, 2**bits - 1) if d.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _union(ranges: list[Range | None]) -> Range | None:
    if not ranges or None in ranges:
        return None
    return min(r[0] for r in ranges if r), max(r[1] for r in ranges if r)


def _cast(r: Range | None, source: DType, to: DType) -> Range | None:
    own = _whole(to)
    if r is None:
        return own
    if to.is_float:
        return _fit(r, to)
    if to.is_bool or own is None:
        return own
    low, high = (math.trunc(r[0]), math.trunc(r[1])) if source.is_float else (int(r[0]), int(r[1]))
    return (low, high) if own[0] <= low and high <= own[1] else own


def _fit(r: Range | None, d: DType) -> Range | None:
    """A range as the type has it: of floats, with what rounding may add; of integers, all if it may wrap around."""
    own = _whole(d)
    if r is None or d.is_bool:
        return own
    if own is not None:
        return r if own[0] <= r[0] and r[1] <= own[1] else own
    slack = _SLACK.get(d.itemsize)
    most = MOST if d.itemsize > 2 else 6e4
    if slack is None or not (-most <= r[0] and r[1] <= most):
        return None
    return r[0] - slack * abs(r[0]), r[1] + slack * abs(r[1])


def _map(prim: str, given: list[Range | None]) -> Range | None:
    if prim == "where":
        return _union(given[1:])
    rule = _RULES.get(prim)
    if rule is None or any(r is None for r in given):
        return None
    return rule(*given)


def _products(a: Range, b: Range) -> Range:
    found = [x * y for x in a for y in b]
    return min(found), max(found)


def _quotients(a: Range, b: Range) -> Range | None:
    if b[0] <= 0 <= b[1]:
        return None
    found = [x / y for x in a for y in b]
    return min(found), max(found)


def _fused(a: Range, b: Range, c: Range) -> Range:
    p = _products(a, b)
    return p[0] + c[0], p[1] + c[1]


def _steps(f: Callable[[float], float]) -> Callable[[Range], Range]:
    return lambda a: (f(a[0]), f(a[1]))


_RULES: dict[str, Callable[..., Range | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _products,
    "div": _quotients,
    "fma": _fused,
    "neg": lambda a: (-a[1], -a[0]),
    "abs": lambda a: (max(0, a[0], -a[1]), max(a[1], -a[0])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "remainder": lambda a, b: (0, b[1]) if b[0] > 0 else None,
    "floor": _steps(math.floor),
    "ceil": _steps(math.ceil),
    "trunc": _steps(math.trunc),
}
