"""Rules for fake quantization: floats rounded to the integers of a quantized type, and back.

    q = round(x / scale) + zero point,    result = (clamp(q, low, high) - zero point) * scale

in float32, as PyTorch's kernels compute it, with 1 / scale rounded before. They convert q to a 64-bit integer, which
decides what becomes of NaN, and on a CPU of what does not fit. `mask`: whether q was in bounds, where gradients pass.
"""

from __future__ import annotations

from typing import Any

from ...core.dtypes import bool_, f32, i32
from ...core.errors import Refusal
from ...graph.ir import Value
from ...index.expr import ONE
from .common import like
from .registry import Context, lower

import torch  # isort: skip

aten = torch.ops.aten

_EXACT = 1 << 23  # integers that float32 has, with their sums


def _fake_quantized(
    ctx: Context, x: Value, scale: Value, zero: Value, low: int, high: int, saturates: bool = True
) -> tuple[Value, Value]:
    """`scale`, `zero`: float32, broadcastable against x. `saturates`: what no 64-bit integer holds is the nearest."""
    b = ctx.b
    if x.dtype.itemsize > 4:
        raise Refusal("dtype", f"fake quantization of {x.dtype}")
    if max(abs(low), abs(high)) > _EXACT:
        raise Refusal("range", f"integers from {low} to {high} are not all float32")
    v = b.cast(x, f32)
    inverse = b.div(like(b, scale, 1.0), scale)
    q = b.add(zero, b.round(b.mul(v, inverse)))
    if saturates:
        q = b.where(b.isnan(q), like(b, q, -(2.0**63) if ctx.device == "cpu" else 0.0), q)
    else:
        q = b.where(b.lt(b.abs(q), like(b, q, 2.0**63)), q, like(b, q, -(2.0**63)))
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
    return _fake_quantized(ctx, x, b.const(scale, f32), b.const(float(zero_point), f32), low, high)


@lower(aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default)
def _per_tensor_of_tensors(
    ctx: Context, x: Value, scale: Value, zero_point: Value, enabled: Value, low: int, high: int
) -> tuple[Value, Value]:
    b = ctx.b
    s, z, on = (_one(ctx, v) for v in (scale, zero_point, enabled))
    out, inside = _fake_quantized(ctx, x, b.cast(s, f32), b.cast(b.cast(z, i32), f32), low, high)
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
    return _fake_quantized(ctx, x, s, z, low, high, ctx.device != "cpu")


def _one(ctx: Context, x: Any) -> Value:
    """A parameter of one element, as a 0-d value."""
    if not isinstance(x, Value) or any(n != ONE for n in x.shape):
        raise Refusal("argument", "a parameter that is no tensor of one element")
    return ctx.b.reshape(x, ()) if x.rank else x
