"""The primitive table: every scalar operation, once, with its rules.

A primitive is a name with complete rules: arity, type rule, accepted kinds, NumPy meaning (here); LLVM and
CUDA text (`emit/`, one entry per name in each target's table; a test fails on any gap).

Semantics common to all
- Operands have the same type unless the rule says otherwise; conversions are explicit `cast`s.
- Integer arithmetic wraps. Integer division by zero is never lowered for a CPU (it raises in PyTorch there).
- Floating-point operations are IEEE, round to nearest even, never contracted across primitives; `fma` is asked for.
- `fast_*` are a function but for a small relative error, so that a target may use what its hardware has: 2^-21;
  2^-18 of `fast_log`, `fast_log1p` and `fast_expm1` near their zeros; 2^-17, or 2e-9, of `fast_erfc`. `fast_exp2` and
  `fast_reciprocal` may take 0 for float32 numbers below 2^-126. `fusion/relax.py` says where these stand for the
  function; programs do not have them. On a target without such hardware they are the function. `far_div` and
  `far_reciprocal` are the function rounded to nearest (subnormal results, and those of numbers below
  2^-100, may be a unit off), of divisors that are at least 2^-100 in absolute value.
- `max`/`min` propagate NaN (torch.maximum); `fmax`/`fmin` prefer the number. `lastmax`/`lastmin` are `max`/`min`, and
  of two equal numbers the second, which tells 0.0 from -0.0.
- `remainder` and `floordiv` round towards minus infinity, `fmod` and `truncdiv` towards zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.dtypes import DType, bool_, f32, f64


@dataclass(frozen=True, slots=True)
class Prim:
    """A scalar primitive.

    `arity`; `result`: "same" (as the operands) or "bool"; `kinds`: the operand kinds accepted (see `DType.kind`);
    `cost`: instructions per vector, roughly, used to decide between recomputing and keeping a value;
    `numpy`: the meaning, on arrays of the operands' NumPy type.
    """

    name: str
    arity: int
    result: str
    kinds: str
    cost: int
    numpy: Callable[..., Any]

    def result_type(self, operands: tuple[DType, ...]) -> DType:
        """The result's type. Raises TypeError when the operands break the type rule."""
        if len(operands) != self.arity:
            raise TypeError(f"{self.name} takes {self.arity} operands, got {len(operands)}")
        if self.name == "where":
            cond, a, b = operands
            if not cond.is_bool or a is not b:
                raise TypeError(f"where takes (bool, T, T), got ({cond}, {a}, {b})")
            return a
        first = operands[0]
        if any(o is not first for o in operands):
            raise TypeError(f"{self.name} takes operands of one type, got {', '.join(map(str, operands))}")
        if first.kind not in self.kinds:
            raise TypeError(f"{self.name} does not take {first}")
        return bool_ if self.result == "bool" else first


def _vec(f: Callable[[float], float]) -> Callable[[Any], Any]:
    def safe(v: float) -> float:
        try:
            return f(v)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return lambda x: np.vectorize(safe, otypes=[np.float64])(np.asarray(x, np.float64)).astype(np.asarray(x).dtype)


def _lgamma(v: float) -> float:
    if v == -math.inf or (v <= 0 and v == math.floor(v)):
        return math.inf
    return math.lgamma(v)


def _fmax(a: Any, b: Any) -> Any:
    return np.fmax(a, b)


def _trunc_div(a: Any, b: Any) -> Any:
    q = np.abs(a.astype(object)) // np.abs(b.astype(object))
    return np.where((a < 0) != (b < 0), -q, q).astype(a.dtype)


def _remainder(a: Any, b: Any) -> Any:
    """torch.remainder: the sign of the divisor."""
    if np.issubdtype(np.asarray(a).dtype, np.floating):
        m = np.fmod(a, b)
        return np.where((m != 0) & ((b < 0) != (m < 0)), m + b, m).astype(a.dtype)
    return np.remainder(a, b)


def _floordiv(a: Any, b: Any) -> Any:
    """torch.floor_divide on floats follows Python's divmod (c10::div_floor_floating)."""
    if not np.issubdtype(np.asarray(a).dtype, np.floating):
        return np.floor_divide(a, b)
    m = np.fmod(a, b)
    d = (a - m) / b
    d = np.where((m != 0) & ((b < 0) != (m < 0)), d - 1, d)
    f = np.floor(d)
    f = np.where(d - f > 0.5, f + 1, f)
    f = np.where(d == 0, np.copysign(0, a / b), f)
    return np.where(b == 0, a / b, f).astype(a.dtype)


def _fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once (float32), or nearly so (float64)."""
    a, b, c = np.broadcast_arrays(a, b, c)
    x, y, z = (np.asarray(v, np.float64) for v in (a, b, c))
    p = x * y
    s = p + z
    with np.errstate(all="ignore"):
        d = s - p
        rest = (p - (s - d)) + (z - d)  # what the addition has lost
    if a.dtype != np.float32:
        return s.astype(a.dtype)
    # to odd, so that the second rounding cannot undo the first
    inexact = np.isfinite(s) & (rest != 0) & (s.view(np.int64) & 1 == 0)
    return np.where(inexact, np.nextafter(s, np.where(rest > 0, np.inf, -np.inf)), s).astype(np.float32)


def _last_max(a: Any, b: Any) -> Any:
    return np.where((a > b) | (a != a), a, b)


def _last_min(a: Any, b: Any) -> Any:
    return np.where((a < b) | (a != a), a, b)


def _sign(a: Any) -> Any:
    """torch.sign: NaN gives 0 in (0 < x) - (x < 0)."""
    return ((a > 0).astype(a.dtype) - (a < 0).astype(a.dtype)).astype(a.dtype)


_ROWS: list[tuple[str, int, str, str, int, Callable[..., Any]]] = [
    # name, arity, result, kinds, cost, meaning
    ("add", 2, "same", "fiu", 1, np.add),
    ("sub", 2, "same", "fiu", 1, np.subtract),
    ("mul", 2, "same", "fiu", 1, np.multiply),
    ("div", 2, "same", "f", 6, np.divide),
    ("floordiv", 2, "same", "fiu", 12, _floordiv),
    ("truncdiv", 2, "same", "iu", 12, _trunc_div),
    ("remainder", 2, "same", "fiu", 12, _remainder),
    ("fmod", 2, "same", "fiu", 12, np.fmod),
    ("pow", 2, "same", "f", 60, np.power),
    ("atan2", 2, "same", "f", 50, np.arctan2),
    ("hypot", 2, "same", "f", 30, np.hypot),
    ("copysign", 2, "same", "f", 2, np.copysign),
    ("max", 2, "same", "fiub", 2, np.maximum),
    ("min", 2, "same", "fiub", 2, np.minimum),
    ("fmax", 2, "same", "f", 2, _fmax),
    ("fmin", 2, "same", "f", 2, np.fmin),
    ("lastmax", 2, "same", "fiub", 2, _last_max),
    ("lastmin", 2, "same", "fiub", 2, _last_min),
    ("logaddexp", 2, "same", "f", 55, np.logaddexp),
    ("and", 2, "same", "iub", 1, np.bitwise_and),
    ("or", 2, "same", "iub", 1, np.bitwise_or),
    ("xor", 2, "same", "iub", 1, np.bitwise_xor),
    ("shl", 2, "same", "iu", 1, np.left_shift),
    ("shr", 2, "same", "iu", 1, np.right_shift),
    ("eq", 2, "bool", "fiub", 1, np.equal),
    ("ne", 2, "bool", "fiub", 1, np.not_equal),
    ("lt", 2, "bool", "fiub", 1, np.less),
    ("le", 2, "bool", "fiub", 1, np.less_equal),
    ("gt", 2, "bool", "fiub", 1, np.greater),
    ("ge", 2, "bool", "fiub", 1, np.greater_equal),
    ("where", 3, "same", "fiub", 1, np.where),
    ("neg", 1, "same", "fiu", 1, np.negative),
    ("abs", 1, "same", "fiu", 1, np.abs),
    ("sign", 1, "same", "fiu", 3, _sign),
    ("not", 1, "same", "iub", 1, np.invert),
    ("floor", 1, "same", "f", 1, np.floor),
    ("ceil", 1, "same", "f", 1, np.ceil),
    ("trunc", 1, "same", "f", 1, np.trunc),
    ("round", 1, "same", "f", 1, np.rint),
    ("isnan", 1, "bool", "f", 1, np.isnan),
    ("signbit", 1, "bool", "fi", 1, np.signbit),
    ("sqrt", 1, "same", "f", 8, np.sqrt),
    ("rsqrt", 1, "same", "f", 14, lambda x: np.divide(x.dtype.type(1), np.sqrt(x))),
    ("reciprocal", 1, "same", "f", 6, lambda x: np.divide(x.dtype.type(1), x)),
    ("exp", 1, "same", "f", 20, np.exp),
    ("exp2", 1, "same", "f", 20, np.exp2),
    ("expm1", 1, "same", "f", 30, np.expm1),
    ("log", 1, "same", "f", 25, np.log),
    ("log2", 1, "same", "f", 25, np.log2),
    ("log10", 1, "same", "f", 25, np.log10),
    ("log1p", 1, "same", "f", 30, np.log1p),
    ("sin", 1, "same", "f", 40, np.sin),
    ("cos", 1, "same", "f", 40, np.cos),
    ("tan", 1, "same", "f", 50, np.tan),
    ("asin", 1, "same", "f", 40, np.arcsin),
    ("acos", 1, "same", "f", 40, np.arccos),
    ("atan", 1, "same", "f", 40, np.arctan),
    ("sinh", 1, "same", "f", 40, np.sinh),
    ("cosh", 1, "same", "f", 40, np.cosh),
    ("tanh", 1, "same", "f", 40, np.tanh),
    ("asinh", 1, "same", "f", 50, np.arcsinh),
    ("acosh", 1, "same", "f", 50, np.arccosh),
    ("atanh", 1, "same", "f", 50, np.arctanh),
    ("erf", 1, "same", "f", 50, _vec(math.erf)),
    ("erfc", 1, "same", "f", 60, _vec(math.erfc)),
    ("lgamma", 1, "same", "f", 80, _vec(_lgamma)),
    ("fma", 3, "same", "f", 1, _fma),
    # no dearer than what they stand for, so that no more is kept in registers than the scheduler allowed for
    ("fast_exp2", 1, "same", "f", 19, np.exp2),
    ("fast_reciprocal", 1, "same", "f", 5, lambda x: np.divide(x.dtype.type(1), x)),
    ("fast_div", 2, "same", "f", 6, np.divide),
    ("far_reciprocal", 1, "same", "f", 6, lambda x: np.divide(x.dtype.type(1), x)),
    ("far_div", 2, "same", "f", 6, np.divide),
    ("fast_sqrt", 1, "same", "f", 8, np.sqrt),
    ("fast_erfc", 1, "same", "f", 50, _vec(math.erfc)),
    ("fast_expm1", 1, "same", "f", 30, np.expm1),
    ("fast_log", 1, "same", "f", 25, np.log),
    ("fast_log1p", 1, "same", "f", 30, np.log1p),
]

PRIMS: dict[str, Prim] = {row[0]: Prim(*row) for row in _ROWS}


# --- monoids ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Monoid:
    """An associative combination with an identity, used by reductions and scans.

    `combine` names the primitive that joins two partial results; `identity(dtype)` is its neutral element;
    `kinds` are the accepted operand kinds. `argmax`/`argmin` combine (value, position) pairs: the larger
    (smaller) value wins, NaN wins over numbers, the lower position wins among equals. Partial results of those in
    ORDERED are joined in the order of the positions.
    """

    name: str
    combine: str
    kinds: str
    identity: Callable[[DType], Any]
    numpy: Callable[..., Any]


def lowest(d: DType) -> Any:
    """The identity of max: -inf, the smallest integer, or False."""
    if d.is_float:
        return -math.inf
    if d.is_bool:
        return False
    return 0 if d.kind == "u" else -(1 << (8 * d.itemsize - 1))


def highest(d: DType) -> Any:
    """The identity of min: inf, the largest integer, or True."""
    if d.is_float:
        return math.inf
    if d.is_bool:
        return True
    return (1 << (8 * d.itemsize - (0 if d.kind == "u" else 1))) - 1


def partial_type(monoid: str, d: DType) -> DType:
    """What partial results of a reduction of values of type `d` are kept in on a CPU: sums of float32 in float64."""
    return f64 if monoid == "sum" and d is f32 else d


MONOIDS: dict[str, Monoid] = {
    m.name: m
    for m in (
        Monoid("sum", "add", "fiu", lambda d: 0, np.add),
        Monoid("prod", "mul", "fiu", lambda d: 1, np.multiply),
        Monoid("max", "max", "fiub", lowest, np.maximum),
        Monoid("min", "min", "fiub", highest, np.minimum),
        Monoid("any", "or", "b", lambda d: False, np.logical_or),
        Monoid("all", "and", "b", lambda d: True, np.logical_and),
        Monoid("lastmax", "lastmax", "fiub", lowest, _last_max),
        Monoid("lastmin", "lastmin", "fiub", highest, _last_min),
        Monoid("logaddexp", "logaddexp", "f", lambda d: -math.inf, np.logaddexp),
        Monoid("argmax", "gt", "fiub", lowest, np.argmax),
        Monoid("argmin", "lt", "fiub", highest, np.argmin),
    )
}

ARG_MONOIDS = ("argmax", "argmin")
ORDERED = ("lastmax", "lastmin")
# How GPUs combine what threads store to the same element, and the types for which they can (none: any).
MEETS = {"set": (), "sum": ("f32", "f64", "i32", "i64"), "max": ("i32", "i64"), "min": ("i32", "i64")}
SCANNED = (*ORDERED, "logaddexp")  # of scans, not of reductions

# Primitives that are not continuous: a last digit of an operand can change all of their result.
STEPWISE = frozenset("eq ne lt le gt ge floor ceil trunc round floordiv remainder fmod sign signbit".split())

# Of streams that are ours (prims/philox.py), and those of PyTorch's CUDA kernels (prims/curand.py).
RANDOM_KINDS = ("uniform", "normal", "bits", "curand_uniform", "curand_normal")


def can_meet(how: str, dtype: DType) -> bool:
    """Whether GPUs combine so what threads store to the same element of this type."""
    return how in MEETS and (not MEETS[how] or dtype.name in MEETS[how])
