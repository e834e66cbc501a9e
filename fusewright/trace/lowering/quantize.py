"""Rules for fake quantization: floats rounded to the integers of a quantized type, and back.

    q = round(x / scale) + zero point,    result = (clamp(q, low, high) - zero point) * scale

in float32, as PyTorch's kernels compute it, with 1 / scale rounded before. They convert q to a 64-bit integer, which
decides what becomes of NaN and of what does not fit. The second result, where gradients pass: whether q was in bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...core.dtypes import bool_, f32, i32
from ...core.errors import Refusal
from ...graph.ir import Value
from ...index.expr import ONE
from .common import like
from .registry import Context, lower

aten = torch.ops.aten

_EXACT = 1 << 23  # integers that float32 has, with their sums
_BEYOND = 2.0**63


Whole = Callable[[Context, Value, Value], Value]


def _nearest(ctx: Context, scaled: Value, zero: Value) -> Value:
    """Converted after the sum: what no 64-bit integer holds is the nearest, NaN the least."""
    b = ctx.b
    q = b.add(zero, scaled)
    return b.where(b.isnan(q), like(b, q, -_BEYOND), q)


def _wrapped(ctx: Context, scaled: Value, zero: Value) -> Value:
    """For channels: on a CPU what no 64-bit integer holds is the least; on GPUs conversions come before the sum, which
    wraps around."""
    b = ctx.b
    q = b.add(zero, scaled)
    least, most, nothing = (like(b, q, v) for v in (-_BEYOND, _BEYOND, 0.0))
    if ctx.device == "cpu":
        return b.where(b.lt(b.abs(q), most), q, least)
    above = b.where(b.gt(zero, nothing), least, most)
    below = b.where(b.lt(zero, nothing), most, least)
    return b.where(b.ge(scaled, most), above, b.where(b.gt(scaled, least), q, below))


def _fake_quantized(
    ctx: Context, x: Value, scale: Value, zero: Value, low: int, high: int, whole: Whole
) -> tuple[Value, Value]:
    """`scale`, `zero`: float32, broadcastable against x. `whole` adds the zero point to what is rounded."""
    b = ctx.b
    if x.dtype.itemsize > 4:
        raise Refusal("dtype", f"fake quantization of {x.dtype}")
    if max(abs(low), abs(high)) > _EXACT:
        raise Refusal("range", f"integers from {low} to {high} are not all float32")
    scaled = b.round(b.mul(b.cast(x, f32), b.div(like(b, scale, 1.0), scale)))
    q = whole(ctx, scaled, zero)
    least, most = like(b, q, float(low)), like(b, q, float(high))
    inside = b.map("and", b.ge(q, least), b.le(q, most))
    out = b.mul(b.sub(b.min(b.max(q, least), most), zero), scale)
    return b.cast(b.expand(out, x.shape), ctx.dtypes[0]), b.expand(inside, x.shape)


@lower(aten.fake_quantize_per_tensor_affine_cachemask.default)
def _per_tensor(ctx: Context, x: Value, scale: float, zero_point: int, low: int, high: int) -> tuple[Value, Value]:
    if not isinstance(scale, float) or not isinstance(zero_point, int):
        raise Refusal("argument", "a scale or zero point that is no number")
    if not low <= high or not low <= zero_point <= high:
        raise Refusal("argument", "bounds that eager refuses")
    b = ctx.b
    return _fake_quantized(ctx, x, b.const(scale, f32), b.const(float(zero_point), f32), low, high, _nearest)


@lower(aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default)
def _per_tensor_of_tensors(
    ctx: Context, x: Value, scale: Value, zero_point: Value, enabled: Value, low: int, high: int
) -> tuple[Value, Value]:
    b = ctx.b
    s, z, on = (_one(ctx, v) for v in (scale, zero_point, enabled))
    out, inside = _fake_quantized(ctx, x, b.cast(s, f32), b.cast(b.cast(z, i32), f32), low, high, _nearest)
    on = b.cast(on, bool_)
    return b.where(b.expand(on, x.shape), out, x), b.map("or", inside, b.expand(b.map("not", on), x.shape))


@lower(aten.fake_quantize_per_channel_affine_cachemask.default)
def _per_channel(
    ctx: Context, x: Value, scale: Value, zero_point: Value, axis: int, low: int, high: int
) -> tuple[Value, Value]:
    if zero_point.dtype is not i32:
        raise Refusal("dtype", f"zero points of {zero_point.dtype}")
    b = ctx.b
    d = ctx.dim(axis, x.rank)
    spread = tuple(x.shape[d] if k == d else ONE for k in range(x.rank))
    s, z = (b.reshape(b.cast(v, f32), spread) for v in (scale, zero_point))
    return _fake_quantized(ctx, x, s, z, low, high, _wrapped)


def _one(ctx: Context, x: Any) -> Value:
    """A parameter of one element, as a 0-d value."""
    if not isinstance(x, Value) or any(n != ONE for n in x.shape):
        raise Refusal("argument", "a parameter that is no tensor of one element")
    return ctx.b.reshape(x, ()) if x.rank else x
