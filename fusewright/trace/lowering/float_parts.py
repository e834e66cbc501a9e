"""Rules for the parts of floats: signs, exponents and units in the last place, by arithmetic that is exact."""

from __future__ import annotations

import math

import torch

from ...core.dtypes import bf16, compute_type, f16, f32, f64
from ...core.errors import Refusal
from ...graph.ir import Value
from ..types import FROM_TORCH, TO_TORCH
from .common import compute, exact, finish, like
from .registry import Context, lower

aten = torch.ops.aten


@lower(aten.angle.default, takes="fiub")
def _angle(ctx: Context, x: Value) -> Value:
    b, v = ctx.b, compute(ctx, x)
    out = b.where(b.lt(v, like(b, v, 0)), like(b, v, math.pi), like(b, v, 0))
    return finish(ctx, b.where(b.isnan(v), v, out))


# below which a float is scaled up first, by what; a power that brings those from the other end to it
_RANGES = {f32: (-60, 100, 64), f64: (-500, 600, 512)}


@lower(aten.frexp.Tensor, takes="f")
def _frexp(ctx: Context, x: Value) -> tuple[Value, Value]:
    """By powers of two that halve the range of what is left, each exact."""
    b, v = ctx.b, compute(ctx, x)
    size = m = b.abs(v)
    zero = exponent = like(b, v, 0)

    def scale(where: Value, by: int) -> None:
        nonlocal m, exponent
        m = b.where(where, b.mul(m, like(b, v, 2.0**by)), m)
        exponent = b.where(where, b.sub(exponent, like(b, v, by)), exponent)

    lowest, up, most = _RANGES[v.dtype]
    scale(b.lt(m, like(b, v, 2.0**lowest)), up)
    scale(b.ge(m, like(b, v, 2.0**most)), -most)
    scale(b.lt(m, like(b, v, 1)), most)
    by = most // 2
    while by:
        scale(b.ge(m, like(b, v, 2.0**by)), -by)
        by //= 2
    finite = b.and_(b.gt(size, zero), b.lt(size, like(b, v, math.inf)))
    mantissa = b.copysign(b.mul(m, like(b, v, 0.5)), v)
    exponent = b.where(finite, b.add(exponent, like(b, v, 1)), zero)
    return finish(ctx, b.where(finite, mantissa, v)), b.cast(exponent, ctx.dtypes[1])


def _power_of_two(ctx: Context, y: Value) -> Value:
    """2 ** y as a tensor of its own, which 16-bit numbers round."""
    kept = y.dtype if y.dtype.is_float else FROM_TORCH[torch.get_default_dtype()]
    p = ctx.b.exp2(ctx.operand(y, compute_type(kept)))
    return compute(ctx, ctx.b.cast(p, kept, round=kept.is_reduced))


@lower(aten.ldexp.Tensor)
def _ldexp(ctx: Context, x: Value, y: Value) -> Value:
    """x 2^y. Of a float and an integer the power itself may be out of range: it has parts, and the last one is as large
    as can be, so that what the others round is zero in the end."""
    b, v = ctx.b, compute(ctx, x)
    if x.dtype.is_float and y.dtype.is_bool:
        raise Refusal("dtype", "eager has no floats times two to the power of booleans")
    if not (x.dtype.is_float and y.dtype.kind in "iu"):
        return finish(ctx, b.mul(v, _power_of_two(ctx, y)))
    most = 1022 if v.dtype is f64 else 126
    left, parts = b.cast(y, v.dtype), []
    for _ in range(3):
        parts.append(b.max(b.min(left, like(b, v, most)), like(b, v, -most)))
        left = b.sub(left, parts[-1])
    for part in reversed(parts):
        v = b.mul(v, b.exp2(part))
    return finish(ctx, v)


# Of a type: half the distance from 1 to its successor, the least number, and the power of two that scales small ones
_NEXT = {f64: (-53, -1074, 512), f32: (-24, -149, 64), bf16: (-8, -133, 0), f16: (-11, -24, 0)}


@lower(aten.nextafter.default, takes="f")
def _nextafter(ctx: Context, x: Value, y: Value) -> Value:
    """A number and a little more than half a unit in its last place, rounded: after S. M. Rump, P. Zimmermann, S. Boldo
    and G. Melquiond, "Computing predecessor and successor in rounding to nearest", BIT Numerical Mathematics 49 (2009).
    """
    b, dtype = ctx.b, ctx.dtype
    v, to = (b.cast(exact(ctx, a, dtype), compute_type(dtype)) for a in (x, y))
    half, least, scale = _NEXT[dtype]
    size, zero, inf = b.abs(v), like(b, v, 0), like(b, v, math.inf)
    away = b.eq(b.gt(to, v), b.gt(v, zero))
    sign = b.where(away, like(b, v, 1), like(b, v, -1))
    unit = b.mul(sign, like(b, v, 2.0**half * (1 + 2.0 ** (half + 1))))
    out = b.add(size, b.mul(unit, size))
    if scale:
        up = b.mul(size, like(b, v, 2.0**scale))
        down = b.mul(b.add(up, b.mul(unit, up)), like(b, v, 2.0**-scale))
        out = b.where(b.lt(size, like(b, v, 2.0**-scale)), down, out)
    subnormal = b.lt(size, like(b, v, 2.0 ** (least - half)))
    out = b.where(subnormal, b.add(size, b.mul(sign, like(b, v, 2.0**least))), out)
    out = b.where(b.eq(size, inf), like(b, v, torch.finfo(TO_TORCH[dtype]).max), out)
    out = b.where(b.eq(v, zero), b.copysign(like(b, v, 2.0**least), to), b.copysign(out, v))
    out = b.where(b.eq(v, to), to, b.where(b.or_(b.isnan(v), b.isnan(to)), b.add(v, to), out))
    return b.cast(out, dtype, round=dtype.is_reduced)
