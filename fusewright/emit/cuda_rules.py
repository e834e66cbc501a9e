"""One CUDA C++ rule per primitive and lane-wise operation: `RULES[name](o)` is the expression of the result.

Functions are CUDA's own mathematical functions, which eager PyTorch's kernels call as well. Kernels are compiled with
`-fmad=false`: within a primitive CUDA's functions use fused multiply-adds of their own, between primitives nothing is
contracted, unless the IR says `fma`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.dtypes import DType
from ..core.errors import CompilerError
from ..prims.table import MONOIDS
from . import cuda_random
from .cuda_prelude import Prelude
from .cuda_types import unsigned_type, value_type


@dataclass(slots=True)
class Op:
    """One operation on scalars: the operands' texts (each a name or a literal) and types.

    `linear`: it computes an index, which does not overflow; other integers wrap. `lane`: the text of the lane's number.
    """

    prelude: Prelude
    a: Sequence[str]
    types: Sequence[DType]
    dtype: DType
    attr: Any = None
    linear: bool = False
    lane: str = "0"

    @property
    def operand(self) -> DType:
        """The operands' type (that of the last one for `where`)."""
        return self.types[-1]

    def math(self, name: str) -> str:
        """A call of one of CUDA's functions: `::expf(x)`, `::exp(x)`."""
        return f"::{name}{'f' if self.operand.name == 'f32' else ''}({', '.join(self.a)})"

    def call(self, name: str, typed: bool = False) -> str:
        """A call of a function of the prelude, for the operands' type if it is a template that cannot tell."""
        self.prelude.need(name)
        return f"{name}{f'<{value_type(self.operand)}>' if typed else ''}({', '.join(self.a)})"


Rule = Callable[[Op], str]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    def register(f: Rule) -> Rule:
        for n in names:
            RULES[n] = f
        return f

    return register


def expression(o: Op, name: str) -> str:
    """The expression of an operation. Raises CompilerError when there is no rule for it."""
    f = RULES.get(name)
    if f is None:
        raise CompilerError(f"no CUDA rule for {name}", "emit")
    return f(o)


def combine(prelude: Prelude, monoid: str, d: DType, x: str, y: str) -> str:
    """The expression that combines two partial results of a monoid, each a name."""
    return expression(Op(prelude, (x, y), (d, d), d), MONOIDS[monoid].combine)


# --- arithmetic ----------------------------------------------------------------------------------


def _wrapping(symbol: str) -> Rule:
    def text(o: Op) -> str:
        d = o.dtype
        x, y = o.a
        if d.kind == "i" and not (o.linear and d.itemsize >= 4):
            u = unsigned_type(d)
            return f"({value_type(d)})(({u}){x} {symbol} ({u}){y})"
        if d.name == "u8":
            return f"(unsigned char)({x} {symbol} {y})"
        return f"{x} {symbol} {y}"

    return text


RULES["add"] = _wrapping("+")
RULES["sub"] = _wrapping("-")
RULES["mul"] = _wrapping("*")
RULES["div"] = lambda o: f"{o.a[0]} / {o.a[1]}"
RULES["truncdiv"] = lambda o: o.call("fw_div", typed=True)
RULES["fmod"] = lambda o: o.math("fmod") if o.operand.is_float else o.call("fw_rem", typed=True)
RULES["pow"] = lambda o: o.math("pow")
RULES["udiv"] = lambda o: o.a[0] if o.a[1] in ("1", "1ll") else o.call("fw_udiv")


@rule("remainder")
def _remainder(o: Op) -> str:
    if o.operand.is_float:
        return o.call("fw_remainder", typed=True)
    return o.call("fw_rem" if o.operand.kind == "u" else "fw_remainder_int", typed=True)


@rule("floordiv")
def _floordiv(o: Op) -> str:
    if o.operand.is_float:
        return o.call("fw_floordiv")
    return o.call("fw_div" if o.operand.kind == "u" else "fw_floordiv_int", typed=True)


def _extremum(name: str, symbol: str, of_bool: str) -> Rule:
    def text(o: Op) -> str:
        x, y = o.a
        if o.operand.is_bool:
            return f"{x} {of_bool} {y}"
        if o.operand.is_float:
            o.prelude.need(f"{name}{'f' if o.operand.name == 'f32' else 'd'}")
            return f"{name}({x}, {y})"
        return f"{x} {symbol} {y} ? {x} : {y}"

    return text


RULES["max"] = _extremum("fw_max", ">", "||")
RULES["min"] = _extremum("fw_min", "<", "&&")


def _last(symbol: str, of_bool: str) -> Rule:
    """The first of two numbers only where it is beyond the second, or a NaN."""

    def text(o: Op) -> str:
        x, y = o.a
        if o.operand.is_bool:
            return f"{x} {of_bool} {y}"
        nan = f" || {_isnan(o)}" if o.operand.is_float else ""
        return f"{x} {symbol} {y}{nan} ? {x} : {y}"

    return text


RULES["lastmax"] = _last(">", "||")
RULES["lastmin"] = _last("<", "&&")
RULES["logaddexp"] = lambda o: o.call("fw_logaddexp")


def _bitwise(symbol: str, of_bool: str) -> Rule:
    def text(o: Op) -> str:
        x, y = o.a
        if o.operand.is_bool:
            return f"{x} {of_bool} {y}"
        return f"({value_type(o.dtype)})({x} {symbol} {y})" if o.dtype.itemsize < 4 else f"{x} {symbol} {y}"

    return text


RULES["and"] = _bitwise("&", "&&")
RULES["or"] = _bitwise("|", "||")
RULES["xor"] = _bitwise("^", "!=")


@rule("shl")
def _shl(o: Op) -> str:
    """Amounts outside [0, bits) give 0, as in PyTorch."""
    x, n = o.a
    d = o.operand
    wide = unsigned_type(d) if d.kind == "i" else "unsigned"
    shifted = f"({value_type(d)})(({wide}){x} << {n})"
    return shifted if _inside(o) is None else f"{_inside(o)} ? {shifted} : ({value_type(d)})0"


@rule("shr")
def _shr(o: Op) -> str:
    """Amounts outside [0, bits) give 0, or the sign of a signed number, as in PyTorch."""
    x, n = o.a
    d = o.operand
    if _inside(o) is None:
        return f"({value_type(d)})({x} >> {n})" if d.itemsize < 4 else f"{x} >> {n}"
    beyond = f"({x} >> {8 * d.itemsize - 1})" if d.kind == "i" else "0"
    return f"({value_type(d)})({_inside(o)} ? {x} >> {n} : {beyond})"


def _inside(o: Op) -> str | None:
    """The condition that the amount is in [0, bits); None if that is plain to see."""
    n, bits = o.a[1], 8 * o.operand.itemsize
    literal = n.rstrip("ul")
    if literal.isdigit() and int(literal) < bits:
        return None
    return f"({n} >= 0 && {n} < {bits})" if o.operand.kind == "i" else f"({n} < {bits})"


for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    RULES[_name] = lambda o, symbol=_symbol: f"{o.a[0]} {symbol} {o.a[1]}"  # type: ignore[misc]


@rule("isnan")
def _isnan(o: Op) -> str:
    """Not `x != x`, which NVRTC takes for false where it finds late that x is a NaN: `(c ? 0.0f : 0.0f) / 0.0f`."""
    number = o.operand.name == "f32"
    size = f"::{'fabsf' if number else 'fabs'}({o.a[0]})"
    return f"!({size} <= {o.prelude.need('fw_inff' if number else 'fw_inf')})"


@rule("eq")
def _eq(o: Op) -> str:
    return f"!({_isnan(o)})" if o.a[0] == o.a[1] and o.operand.is_float else f"{o.a[0]} == {o.a[1]}"


@rule("ne")
def _ne(o: Op) -> str:
    return _isnan(o) if o.a[0] == o.a[1] and o.operand.is_float else f"{o.a[0]} != {o.a[1]}"


RULES["where"] = lambda o: o.a[1] if o.a[0] == "true" else f"{o.a[0]} ? {o.a[1]} : {o.a[2]}"
RULES["reciprocal"] = lambda o: f"{'1.0f' if o.operand.name == 'f32' else '1.0'} / {o.a[0]}"
RULES["not"] = lambda o: f"!{o.a[0]}" if o.operand.is_bool else f"({value_type(o.dtype)})~{o.a[0]}"


@rule("neg")
def _neg(o: Op) -> str:
    d = o.dtype
    if d.kind == "i" and d.itemsize >= 4:
        return f"({value_type(d)})(0 - ({unsigned_type(d)}){o.a[0]})"
    return f"({value_type(d)})(-{o.a[0]})" if d.is_int else f"-{o.a[0]}"


@rule("abs")
def _abs(o: Op) -> str:
    if o.operand.is_float:
        return o.math("fabs")
    return o.a[0] if o.operand.kind == "u" else f"{o.a[0]} < 0 ? {_neg(o)} : {o.a[0]}"


@rule("sign")
def _sign(o: Op) -> str:
    """NaN gives 0."""
    x, t = o.a[0], value_type(o.dtype)
    return f"({t})({x} > 0)" if o.operand.kind == "u" else f"({t})(({x} > 0) - ({x} < 0))"


@rule("signbit")
def _signbit(o: Op) -> str:
    if o.operand.is_float:
        return f"{'__float_as_int' if o.operand.name == 'f32' else '__double_as_longlong'}({o.a[0]}) < 0"
    return f"{o.a[0]} < 0"


def _math(name: str) -> Rule:
    return lambda o: o.math(name)


for _name in (
    *("atan2", "hypot", "copysign", "fmax", "fmin", "floor", "ceil", "trunc", "sqrt", "rsqrt"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "fma"),
):
    RULES[_name] = _math(_name)


def _fast(form: str, name: str) -> Rule:
    """A function of the prelude for float32; float64 has no faster one."""
    return lambda o: o.call(f"fw_{form}_{name}") if o.operand.name == "f32" else RULES[name](o)


for _name in ("exp2", "reciprocal", "div", "sqrt", "erfc", "expm1", "log", "log1p"):
    RULES[f"fast_{_name}"] = _fast("fast", _name)
for _name in ("reciprocal", "div"):
    RULES[f"far_{_name}"] = _fast("far", _name)


# --- conversions and lanes ---------------------------------------------------------------------------


@rule("cast")
def _cast(o: Op) -> str:
    src, dst = o.operand, o.dtype
    x = o.a[0]
    if dst.is_bool:
        return x if src.is_bool else f"{x} != 0"
    if src.is_float and dst.name == "u8":  # as eager: through i64, keeping the low bits
        return f"(unsigned char)(long long){x}"
    return x if src is dst else f"({value_type(dst)}){x}"


@rule("round")
def _round(o: Op) -> str:
    """With a storage type: through that type and back. Without: to the nearest integer, ties to even."""
    if o.attr is None:
        return o.math("rint")
    d = o.attr.name
    if d == "bf16":
        return o.call("fw_round_bf16")
    return f"{o.prelude.need(f'fw_{d}_f32')}({o.prelude.need(f'fw_f32_{d}')}({o.a[0]}))"


RULES["splat"] = lambda o: o.a[0]
RULES["iota"] = lambda o: o.lane if o.a[0] in ("0", "0ll") else f"{o.a[0]} + {o.lane}"
RULES["lanerange"] = lambda o: f"{o.a[0]} + {o.lane} >= 0 && {o.a[0]} + {o.lane} < {o.a[1]}"
RULES["lanemask"] = lambda o: f"{o.lane} < {o.a[0]}"


# --- random numbers ------------------------------------------------------------------------------


@rule("philoxword")
def _philoxword(o: Op) -> str:
    return f"{o.prelude.need('fw_philox_word')}({', '.join(o.a)}, {o.attr or 0})"


@rule("curandword")
def _curandword(o: Op) -> str:
    return f"{cuda_random.need(o.prelude, 'fw_curand_word')}({', '.join(o.a)})"


@rule("curandnormal")
def _curandnormal(o: Op) -> str:
    return f"{cuda_random.need(o.prelude, 'fw_curand_normal')}({', '.join(o.a)})"


@rule("philox")
def _philox(o: Op) -> str:
    return f"{o.prelude.need('fw_philox_strided')}({', '.join(o.a)}, {o.attr or 0})"


@rule("philoxrun")
def _philoxrun(o: Op) -> str:
    stream, offset = divmod(o.attr, 64)
    seed, row, start = o.a
    return f"{o.prelude.need('fw_philox_strided')}({seed}, {row}, {start} + {offset} + {o.lane}, {stream})"
