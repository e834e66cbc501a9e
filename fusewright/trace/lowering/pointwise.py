"""Rules for elementwise arithmetic, comparisons, transcendental functions, casts and selections.

Numbers and 16-bit types: eager rounds the number in `x + 0.1` to x's type but keeps it in float32 for `x * 0.1`
(and a few others). Under precision="eager" we do exactly what eager does; otherwise numbers keep float32 precision,
except where rounding them changes the result wholesale (remainder, fmod, comparisons).
"""

from __future__ import annotations

import math
from typing import Any

import torch

from ...core.dtypes import bool_, compute_type, f16
from ...core.errors import Refusal
from ...graph.ir import Value
from ...index.expr import ONE, Ix, nonnegative
from ..types import TO_TORCH
from .common import compute, exact, finish, in_range, like, multiply_add, number
from .registry import Context, HostFloat, Rule, lower
from .views import rolled

aten = torch.ops.aten

# --- one operand -----------------------------------------------------------------------------------


def _float_unary(prim: str) -> Rule:
    def rule(ctx: Context, x: Value) -> Value:
        return finish(ctx, ctx.b.map(prim, compute(ctx, x)))

    return rule


for _name in (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh erf erfc lgamma"
).split():
    lower(getattr(aten, _name).default)(_float_unary(_name))


def _rounding(prim: str) -> Rule:
    def rule(ctx: Context, x: Value) -> Value:
        return ctx.b.map(prim, x) if x.dtype.is_float else x

    return rule


for _name in "floor ceil trunc round".split():
    lower(getattr(aten, _name).default, takes="fiu")(_rounding(_name))


@lower(aten.round.decimals)
def _round_decimals(ctx: Context, x: Value, *, decimals: int) -> Value:
    b = ctx.b
    if not x.dtype.is_float:
        raise Refusal("dtype", "round to decimals of an integer")
    v = compute(ctx, x)
    if decimals == 0:
        return finish(ctx, b.round(v))
    scale = like(b, v, 10.0 ** abs(decimals))
    if decimals < 0:
        return finish(ctx, b.mul(b.round(b.div(v, scale)), scale))
    return finish(ctx, b.div(b.round(b.mul(v, scale)), scale))


@lower(aten.neg.default)
def _neg(ctx: Context, x: Value) -> Value:
    return ctx.b.neg(x)


@lower(aten.abs.default, takes="fiu")
def _abs(ctx: Context, x: Value) -> Value:
    return x if x.dtype.kind == "u" else ctx.b.abs(x)


@lower(aten.sign.default, aten.sgn.default)
def _sign(ctx: Context, x: Value) -> Value:
    return x if x.dtype.is_bool else ctx.b.sign(x)


@lower(aten.signbit.default)
def _signbit(ctx: Context, x: Value) -> Value:
    if x.dtype.kind in "ub":
        return ctx.b.full(x.shape, False, bool_)
    return ctx.b.signbit(x)


@lower(aten.positive.default, aten.clone.default, aten.lift_fresh_copy.default, aten.lift.default)
def _identity(ctx: Context, x: Value, *, memory_format: Any = None) -> Value:
    return x


@lower(aten.alias_copy.default, aten.detach_copy.default, aten.view_copy.default)
def _copy(ctx: Context, x: Value, size: Any = None) -> Value:
    return ctx.b.reshape(x, ctx.shape)


@lower(aten.copy.default)
def _copy_into(ctx: Context, into: Value, source: Value, non_blocking: bool = False) -> Value:
    return ctx.b.expand(ctx.b.cast(source, into.dtype, round=into.dtype.is_reduced), into.shape)


@lower(aten.frac.default, takes="f")
def _frac(ctx: Context, x: Value) -> Value:
    v = compute(ctx, x)
    return finish(ctx, ctx.b.sub(v, ctx.b.trunc(v)))


@lower(aten.isnan.default)
def _isnan(ctx: Context, x: Value) -> Value:
    return ctx.b.isnan(x) if x.dtype.is_float else ctx.b.full(x.shape, False, bool_)


@lower(aten.isinf.default)
def _isinf(ctx: Context, x: Value) -> Value:
    if not x.dtype.is_float:
        return ctx.b.full(x.shape, False, bool_)
    return ctx.b.eq(ctx.b.abs(x), like(ctx.b, x, math.inf))


def _is_infinity(value: float) -> Rule:
    def rule(ctx: Context, x: Value) -> Value:
        if not x.dtype.is_float:
            return ctx.b.full(x.shape, False, bool_)
        return ctx.b.eq(x, like(ctx.b, x, value))

    return rule


lower(aten.isposinf.default)(_is_infinity(math.inf))
lower(aten.isneginf.default)(_is_infinity(-math.inf))


@lower(aten.deg2rad.default)
def _deg2rad(ctx: Context, x: Value) -> Value:
    v = compute(ctx, x)
    return finish(ctx, ctx.b.mul(v, like(ctx.b, v, math.pi / 180)))


@lower(aten.rad2deg.default)
def _rad2deg(ctx: Context, x: Value) -> Value:
    v = compute(ctx, x)
    return finish(ctx, ctx.b.mul(v, like(ctx.b, v, 180 / math.pi)))


@lower(aten.sinc.default)
def _sinc(ctx: Context, x: Value) -> Value:
    b, v = ctx.b, compute(ctx, x)
    t = b.mul(v, like(b, v, math.pi))
    return finish(ctx, b.where(b.eq(v, like(b, v, 0)), like(b, v, 1), b.div(b.sin(t), t)))


@lower(aten.special_entr.default)
def _entr(ctx: Context, x: Value) -> Value:
    b, v = ctx.b, compute(ctx, x)
    zero = like(b, v, 0)
    nonpositive = b.where(b.eq(v, zero), zero, like(b, v, -math.inf))
    some = b.where(b.gt(v, zero), b.mul(b.neg(v), b.log(v)), nonpositive)
    return finish(ctx, b.where(b.isnan(v), v, some))


@lower(aten.nan_to_num.default)
def _nan_to_num(
    ctx: Context, x: Value, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Value:
    b = ctx.b
    if not x.dtype.is_float:
        return x
    top = torch.finfo(TO_TORCH[x.dtype]).max
    high = like(b, x, top if posinf is None else posinf)
    low = like(b, x, -top if neginf is None else neginf)
    out = b.where(b.eq(x, like(b, x, math.inf)), high, b.where(b.eq(x, like(b, x, -math.inf)), low, x))
    return b.where(b.isnan(x), like(b, x, 0 if nan is None else nan), out)


@lower(aten.logit.default)
def _logit(ctx: Context, x: Value, eps: float | None = None) -> Value:
    b, v = ctx.b, compute(ctx, x)
    one = like(b, v, 1)
    if eps is not None and eps >= 0:
        v = b.where(b.lt(v, like(b, v, eps)), like(b, v, eps), v)
        v = b.where(b.gt(v, like(b, v, 1 - eps)), like(b, v, 1 - eps), v)
    return finish(ctx, b.log(b.div(v, b.sub(one, v))))


# --- arithmetic on two operands --------------------------------------------------------------------


def _rounded_number(ctx: Context, x: Any) -> Value:
    """A number that eager rounds to the 16-bit result type before computing."""
    if number(x) and not isinstance(x, Ix) and ctx.exact_rounding and ctx.dtype.is_reduced:
        return ctx.b.cast(exact(ctx, x, ctx.dtype), compute_type(ctx.dtype))
    return compute(ctx, x)


def _factor(ctx: Context, alpha: Any) -> Value:
    """`alpha`; eager's CPU kernels round it to the 16-bit type, those for GPUs do not."""
    return _rounded_number(ctx, alpha) if ctx.device == "cpu" else compute(ctx, alpha)


def _check_alpha(ctx: Context, alpha: Any) -> None:
    if isinstance(alpha, bool) and not ctx.dtype.is_bool:
        raise Refusal("argument", "eager takes no boolean alpha here")
    if isinstance(alpha, (float, HostFloat)) and not ctx.dtype.is_float:
        raise Refusal("argument", "eager takes no fractional alpha here")


@lower(aten.add.Tensor, aten.add.Scalar)
def _add(ctx: Context, x: Any, y: Any, alpha: Any = 1) -> Value:
    _check_alpha(ctx, alpha)
    if ctx.dtype.is_bool:
        if alpha != 1:
            raise Refusal("argument", "alpha on booleans")
        return ctx.b.or_(compute(ctx, x), compute(ctx, y))
    p, q = _rounded_number(ctx, x), _rounded_number(ctx, y)
    return finish(ctx, ctx.b.add(p, q) if alpha == 1 else multiply_add(ctx, q, _factor(ctx, alpha), p))


@lower(aten.sub.Tensor, aten.sub.Scalar)
def _sub(ctx: Context, x: Any, y: Any, alpha: Any = 1) -> Value:
    _check_alpha(ctx, alpha)
    if any(isinstance(v, bool) or (isinstance(v, Value) and v.dtype.is_bool) for v in (x, y)):
        raise Refusal("dtype", "eager does not subtract booleans")
    b, p, q = ctx.b, _rounded_number(ctx, x), _rounded_number(ctx, y)
    if alpha == 1:
        return finish(ctx, b.sub(p, q))
    factor = _factor(ctx, alpha)
    if not p.dtype.is_float:
        return finish(ctx, b.sub(p, b.mul(q, factor)))
    return finish(ctx, multiply_add(ctx, b.neg(q), factor, p))


@lower(aten.rsub.Tensor, aten.rsub.Scalar)
def _rsub(ctx: Context, x: Any, y: Any, alpha: Any = 1) -> Value:
    return _sub(ctx, y, x, alpha)


@lower(aten.mul.Tensor, aten.mul.Scalar)
def _mul(ctx: Context, x: Any, y: Any) -> Value:
    if ctx.dtype.is_bool:
        return ctx.b.and_(compute(ctx, x), compute(ctx, y))
    return finish(ctx, ctx.b.mul(compute(ctx, x), compute(ctx, y)))


def _check_divisor(ctx: Context, y: Any) -> None:
    """Integer division by zero raises in eager on a CPU: only a divisor known not to be zero is taken there. On a GPU
    it gives what the instructions give, which are the same."""
    if isinstance(y, Value) and ctx.device != "cpu":
        return
    if isinstance(y, Ix):
        if not nonnegative(y - 1):
            raise Refusal("division", "an integer divisor that may be zero")
    elif not isinstance(y, int) or y == 0:
        raise Refusal("division", "an integer divisor that may be zero")


def _integer_divide(ctx: Context, prim: str, x: Any, y: Any) -> Value:
    _check_divisor(ctx, y)
    v = compute(ctx, x)
    if v.dtype.is_bool:
        raise Refusal("dtype", "division of booleans")
    if y == -1 and v.dtype.kind == "i":  # the most negative integer divided by -1 traps on some machines
        return ctx.b.neg(v) if prim in ("floordiv", "truncdiv") else ctx.b.mul(v, like(ctx.b, v, 0))
    return ctx.b.map(prim, v, compute(ctx, y))


@lower(aten.div.Tensor, aten.div.Scalar, aten.true_divide.Tensor)
def _div(ctx: Context, x: Any, y: Any) -> Value:
    return finish(ctx, ctx.b.div(compute(ctx, x), compute(ctx, y)))


def _rounded(ctx: Context, x: Any) -> Value:
    """A tensor of another type, or a number, that eager rounds to the 16-bit result type before a step decides."""
    if ctx.dtype.is_reduced:
        x = ctx.b.cast(x, ctx.dtype, round=True) if isinstance(x, Value) else exact(ctx, x, ctx.dtype)
    return compute(ctx, x)


def _one_divisor(ctx: Context, y: Any) -> bool:
    """Whether there is one divisor for all elements, with which eager's kernels divide in float32."""
    return not isinstance(y, Value) or (ctx.device == "cpu" and y.numel is ONE)


def _divisor(ctx: Context, y: Any) -> Value:
    return compute(ctx, y) if _one_divisor(ctx, y) else _rounded(ctx, y)


@lower(aten.floor_divide.default, aten.floor_divide.Scalar)
def _floor_divide(ctx: Context, x: Any, y: Any) -> Value:
    if ctx.dtype.is_float:
        return finish(ctx, ctx.b.floordiv(_rounded(ctx, x), _divisor(ctx, y)))
    return _integer_divide(ctx, "floordiv", x, y)


@lower(aten.div.Tensor_mode, aten.div.Scalar_mode)
def _div_mode(ctx: Context, x: Any, y: Any, *, rounding_mode: str | None) -> Value:
    if rounding_mode is None:
        return _div(ctx, x, y)
    if rounding_mode == "floor":
        return _floor_divide(ctx, x, y)
    if ctx.dtype.is_float:
        q = ctx.b.div(_rounded(ctx, x), _divisor(ctx, y))
        if ctx.dtype.is_reduced and not _one_divisor(ctx, y):  # eager rounds this quotient before it truncates
            q = ctx.b.cast(ctx.b.cast(q, ctx.dtype, round=True), q.dtype)
        return finish(ctx, ctx.b.trunc(q))
    return _integer_divide(ctx, "truncdiv", x, y)


def _modulus(prim: str) -> Rule:
    def rule(ctx: Context, x: Any, y: Any) -> Value:
        if ctx.dtype.is_float:
            # rounding a number to 16 bits moves every result here: do as eager always
            a, m = (ctx.b.cast(exact(ctx, v, ctx.dtype), compute_type(ctx.dtype)) for v in (x, y))
            return finish(ctx, ctx.b.map(prim, a, m))
        return _integer_divide(ctx, prim, x, y)

    return rule


lower(aten.remainder.Tensor, aten.remainder.Scalar, aten.remainder.Scalar_Tensor)(_modulus("remainder"))
lower(aten.fmod.Tensor, aten.fmod.Scalar)(_modulus("fmod"))


def _radicand(ctx: Context, v: Value) -> Value:
    """What to take the root of for x ** 0.5. Of float16, eager calls pow on CPUs, to which -0 and -inf have no sign."""
    if ctx.dtype is not f16 or ctx.device != "cpu":
        return v
    b = ctx.b
    unsigned = b.or_(b.eq(v, like(b, v, 0)), b.eq(v, like(b, v, -math.inf)))
    return b.where(unsigned, b.abs(v), v)


@lower(aten.pow.Tensor_Scalar)
def _pow_scalar(ctx: Context, x: Value, n: Any) -> Value:
    """Exponents that eager's kernel treats specially are multiplications, roots and divisions."""
    b = ctx.b
    if isinstance(n, Ix):
        raise Refusal("argument", "a symbolic exponent")
    if ctx.dtype.is_bool:
        raise Refusal("dtype", "pow of booleans")
    v = compute(ctx, x)
    if n == 0:
        return b.full(ctx.shape, 1, ctx.dtype)
    if n == 1:
        return finish(ctx, v)
    if n == 2:
        return finish(ctx, b.mul(v, v))
    if n == 3:
        return finish(ctx, b.mul(b.mul(v, v), v))
    if ctx.dtype.is_float:
        if abs(n) == 0.5:
            return finish(ctx, b.map("sqrt" if n > 0 else "rsqrt", _radicand(ctx, v)))
        if n == -1:
            return finish(ctx, b.reciprocal(v))
        if n == -2:
            return finish(ctx, b.reciprocal(b.mul(v, v)))
        in_range(n, ctx.dtype)
        return finish(ctx, b.pow(v, _rounded_number(ctx, n)))
    if not 0 < n <= 64:
        raise Refusal("argument", f"integer power {n}")
    out, square, n = None, v, int(n)
    while n:  # integers wrap: any order of multiplication gives the same bits
        if n & 1:
            out = square if out is None else b.mul(out, square)
        n >>= 1
        if n:
            square = b.mul(square, square)
    assert out is not None
    return out


@lower(aten.pow.Tensor_Tensor, aten.pow.Scalar)
def _pow(ctx: Context, x: Any, y: Any) -> Value:
    if not ctx.dtype.is_float:
        raise Refusal("dtype", "pow of integers by a tensor")
    if x == 1 and not isinstance(x, Value):
        return ctx.b.full(ctx.shape, 1, ctx.dtype)
    return finish(ctx, ctx.b.pow(_rounded_number(ctx, x), _rounded_number(ctx, y)))


def _float_binary(prim: str) -> Rule:
    def rule(ctx: Context, x: Any, y: Any) -> Value:
        return finish(ctx, ctx.b.map(prim, _rounded_number(ctx, x), _rounded_number(ctx, y)))

    return rule


lower(aten.atan2.default)(_float_binary("atan2"))
lower(aten.hypot.default, takes="f")(_float_binary("hypot"))
lower(aten.copysign.Tensor, aten.copysign.Scalar)(_float_binary("copysign"))


def _select_binary(prim: str, on_integers: str) -> Rule:
    def rule(ctx: Context, x: Any, y: Any) -> Value:
        return ctx.b.map(
            prim if ctx.dtype.is_float else on_integers, exact(ctx, x, ctx.dtype), exact(ctx, y, ctx.dtype)
        )

    return rule


lower(aten.maximum.default)(_select_binary("max", "max"))
lower(aten.minimum.default)(_select_binary("min", "min"))
lower(aten.fmax.default)(_select_binary("fmax", "max"))
lower(aten.fmin.default)(_select_binary("fmin", "min"))


@lower(aten.xlogy.Tensor, aten.xlogy.Scalar_Self, aten.xlogy.Scalar_Other)
def _xlogy(ctx: Context, x: Any, y: Any) -> Value:
    b, p, q = ctx.b, _rounded_number(ctx, x), _rounded_number(ctx, y)
    some = b.where(b.eq(p, like(b, p, 0)), like(b, p, 0), b.mul(p, b.log(q)))
    return finish(ctx, b.where(b.isnan(q), q, some))


@lower(aten.special_xlog1py.default, aten.special_xlog1py.self_scalar, aten.special_xlog1py.other_scalar)
def _xlog1py(ctx: Context, x: Any, y: Any) -> Value:
    b, p, q = ctx.b, _rounded_number(ctx, x), _rounded_number(ctx, y)
    some = b.where(b.eq(p, like(b, p, 0)), like(b, p, 0), b.mul(p, b.log1p(q)))
    return finish(ctx, b.where(b.isnan(q), q, some))


def _logaddexp(base2: bool) -> Rule:
    def rule(ctx: Context, x: Value, y: Value) -> Value:
        b, p, q = ctx.b, compute(ctx, x), compute(ctx, y)
        same_infinity = b.and_(b.eq(b.abs(p), like(b, p, math.inf)), b.eq(p, q))
        gap = b.neg(b.abs(b.sub(p, q)))
        tail = b.log1p(b.exp2(gap) if base2 else b.exp(gap))
        if base2:
            tail = b.mul(tail, like(b, p, 1 / math.log(2)))
        return finish(ctx, b.where(same_infinity, p, b.add(b.max(p, q), tail)))

    return rule


lower(aten.logaddexp.default, takes="f")(_logaddexp(False))
lower(aten.logaddexp2.default, takes="f")(_logaddexp(True))


@lower(aten.heaviside.default)
def _heaviside(ctx: Context, x: Value, values: Value) -> Value:
    b, v, at_zero = ctx.b, x, values
    if x.dtype is not values.dtype:
        raise Refusal("dtype", "heaviside of two types")
    zero = like(b, v, 0)
    return b.where(b.eq(v, zero), at_zero, b.cast(b.gt(v, zero), ctx.dtype))


@lower(aten.addcmul.default, takes="fiu")
def _addcmul(ctx: Context, x: Value, p: Value, q: Value, *, value: Any = 1) -> Value:
    b, t = ctx.b, compute(ctx, p)
    if value != 1:
        t = b.mul(compute(ctx, value), t)
    return finish(ctx, multiply_add(ctx, t, compute(ctx, q), compute(ctx, x)))


@lower(aten.addcdiv.default)
def _addcdiv(ctx: Context, x: Value, p: Value, q: Value, *, value: Any = 1) -> Value:
    b, t = ctx.b, compute(ctx, p)
    if value != 1:
        t = b.mul(compute(ctx, value), t)
    return finish(ctx, b.add(compute(ctx, x), b.div(t, compute(ctx, q))))


@lower(aten.lerp.Tensor, aten.lerp.Scalar, takes="f")
def _lerp(ctx: Context, x: Value, end: Value, weight: Any) -> Value:
    """Counted from the nearer end, as eager does."""
    b = ctx.b
    p, q, w = compute(ctx, x), compute(ctx, end), compute(ctx, weight)
    near = b.lt(b.abs(w), like(b, w, 0.5))
    step = b.where(near, w, b.sub(w, like(b, w, 1)))
    return finish(ctx, multiply_add(ctx, step, b.sub(q, p), b.where(near, p, q)))


@lower(aten.linalg_cross.default, takes="fiu")
def _cross(ctx: Context, x: Value, y: Value, *, dim: int = -1) -> Value:
    b, shape = ctx.b, ctx.shape
    d = ctx.dim(dim, len(shape))
    (x1, x2), (y1, y2) = ([rolled(b, b.expand(compute(ctx, v), shape), -k, d) for k in (1, 2)] for v in (x, y))
    second = b.mul(x2, y1)
    if ctx.dtype.is_reduced and ctx.exact_rounding:  # eager's kernel rounds both products
        first, second = (compute(ctx, finish(ctx, v)) for v in (b.mul(x1, y2), second))
        return finish(ctx, b.sub(first, second))
    return finish(ctx, multiply_add(ctx, x1, y2, b.neg(second)))
