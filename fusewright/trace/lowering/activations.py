"""Rules for activation functions and their derivatives, in the order of operations of eager's kernels.

The derivative at NaN of those with pieces is what eager's vector kernels give on CPUs, which is another than the scalar
code for a tensor's last elements gives there, and eager's kernels on GPUs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ...core.dtypes import f16
from ...graph.builder import Builder
from ...graph.ir import Value
from .common import compute, exact, finish, in_range, like
from .registry import Context, lower

aten = torch.ops.aten


def logistic(b: Builder, v: Value) -> Value:
    """1 / (1 + exp(-v))."""
    return b.reciprocal(b.add(like(b, v, 1), b.exp(b.neg(v))))


@lower(aten.relu.default, takes="fiu")
def _relu(ctx: Context, x: Value) -> Value:
    # of two equal operands max gives the second: relu(-0.0) is -0.0, as in eager
    return ctx.b.max(like(ctx.b, x, 0), x)


def _at_most(ctx: Context, x: Value, threshold: Any) -> Value:
    """Eager's kernels round the threshold to 16 bits on GPUs, not on CPUs."""
    if ctx.device != "cpu":
        threshold = exact(ctx, threshold, x.dtype)
    return ctx.b.le(compute(ctx, x, x.dtype), compute(ctx, threshold, x.dtype))


@lower(aten.threshold.default, takes="fiu")
def _threshold(ctx: Context, x: Value, threshold: Any, value: Any) -> Value:
    b, dropped = ctx.b, _at_most(ctx, x, threshold)
    if x.dtype.is_reduced:  # asked of 16 bits, so that it counts as a decision (`fusion/decisions.py`)
        dropped = b.ne(b.cast(dropped, x.dtype), like(b, x, 0))
    return b.where(dropped, exact(ctx, value, x.dtype), x)


@lower(aten.threshold_backward.default)
def _threshold_backward(ctx: Context, grad: Value, x: Value, threshold: Any) -> Value:
    return ctx.b.where(_at_most(ctx, x, threshold), like(ctx.b, grad, 0), grad)


@lower(aten.sigmoid.default)
def _sigmoid(ctx: Context, x: Value) -> Value:
    return finish(ctx, logistic(ctx.b, compute(ctx, x)))


@lower(aten.sigmoid_backward.default)
def _sigmoid_backward(ctx: Context, grad: Value, out: Value) -> Value:
    b = ctx.b
    if grad.dtype is f16 and ctx.device == "cpu":  # eager's kernel rounds every step, of bfloat16 the last one
        g, y = grad, out
    else:
        g, y = compute(ctx, grad), compute(ctx, out)
    return finish(ctx, b.mul(b.mul(g, b.sub(like(b, y, 1), y)), y))


@lower(aten.tanh_backward.default)
def _tanh_backward(ctx: Context, grad: Value, out: Value) -> Value:
    b, g, y = ctx.b, compute(ctx, grad), compute(ctx, out)
    return finish(ctx, b.mul(g, b.sub(like(b, y, 1), b.mul(y, y))))


@lower(aten.silu.default, takes="f")
def _silu(ctx: Context, x: Value) -> Value:
    b, v = ctx.b, compute(ctx, x)
    return finish(ctx, b.div(v, b.add(like(b, v, 1), b.exp(b.neg(v)))))


@lower(aten.silu_backward.default, takes="f")
def _silu_backward(ctx: Context, grad: Value, x: Value) -> Value:
    b, g, v = ctx.b, compute(ctx, grad), compute(ctx, x)
    one = like(b, v, 1)
    s = b.div(one, b.add(one, b.exp(b.neg(v))))
    return finish(ctx, b.mul(b.mul(g, s), b.add(one, b.mul(v, b.sub(one, s)))))


_GELU_TANH = math.sqrt(2) * (2 / math.sqrt(math.pi)) * 0.5


@lower(aten.gelu.default, takes="f")
def _gelu(ctx: Context, x: Value, *, approximate: str = "none") -> Value:
    b, v = ctx.b, compute(ctx, x)
    one, half = like(b, v, 1), like(b, v, 0.5)
    if approximate == "tanh":
        cube = b.mul(b.mul(v, v), v)
        inner = b.mul(like(b, v, _GELU_TANH), b.add(v, b.mul(like(b, v, 0.044715), cube)))
        return finish(ctx, b.mul(b.mul(half, v), b.add(one, b.tanh(inner))))
    return finish(ctx, b.mul(b.mul(v, half), b.add(one, b.erf(b.mul(v, like(b, v, math.sqrt(0.5)))))))


@lower(aten.gelu_backward.default, takes="f")
def _gelu_backward(ctx: Context, grad: Value, x: Value, *, approximate: str = "none") -> Value:
    b, g, v = ctx.b, compute(ctx, grad), compute(ctx, x)
    one, half = like(b, v, 1), like(b, v, 0.5)
    if approximate == "tanh":
        square = b.mul(v, v)
        cube = b.mul(square, v)
        inner = b.mul(like(b, v, _GELU_TANH), b.add(v, b.mul(like(b, v, 0.044715), cube)))
        t = b.tanh(inner)
        left = b.mul(half, v)
        d_left = b.mul(half, b.add(one, t))
        d_tanh = b.sub(one, b.mul(t, t))
        d_inner = b.mul(like(b, v, _GELU_TANH), b.add(one, b.mul(like(b, v, 3 * 0.044715), square)))
        return finish(ctx, b.mul(g, b.add(d_left, b.mul(b.mul(left, d_tanh), d_inner))))
    cdf = b.mul(half, b.add(one, b.erf(b.mul(v, like(b, v, math.sqrt(0.5))))))
    density = like(b, v, 2 / math.sqrt(math.pi) * math.sqrt(0.5) * 0.5)
    pdf = b.mul(density, b.exp(b.mul(b.mul(v, v), like(b, v, -0.5))))
    return finish(ctx, b.mul(g, b.add(cdf, b.mul(v, pdf))))


@lower(aten.leaky_relu.default)
def _leaky_relu(ctx: Context, x: Value, slope: Any = 0.01) -> Value:
    b, v = ctx.b, compute(ctx, x)
    return finish(ctx, b.where(b.gt(v, like(b, v, 0)), v, b.mul(v, compute(ctx, slope))))


@lower(aten.leaky_relu_backward.default)
def _leaky_relu_backward(ctx: Context, grad: Value, x: Value, slope: Any, is_result: bool) -> Value:
    b, g, v = ctx.b, compute(ctx, grad), compute(ctx, x)
    return finish(ctx, b.where(b.gt(v, like(b, v, 0)), g, b.mul(g, compute(ctx, slope))))


@lower(aten._prelu_kernel.default, takes="f")
def _prelu(ctx: Context, x: Value, weight: Value) -> Value:
    b, v = ctx.b, compute(ctx, x)
    return finish(ctx, b.where(b.gt(v, like(b, v, 0)), v, b.mul(compute(ctx, weight), v)))


@lower(aten._prelu_kernel_backward.default)
def _prelu_backward(ctx: Context, grad: Value, x: Value, weight: Value) -> tuple[Value, Value]:
    b, g, v = ctx.b, compute(ctx, grad), compute(ctx, x)
    positive = b.gt(v, like(b, v, 0))
    d_x = b.where(positive, g, b.mul(compute(ctx, weight), g))
    d_weight = b.where(positive, like(b, v, 0), b.mul(v, g))
    return finish(ctx, d_x), finish(ctx, d_weight, 1)


@lower(aten.elu.default, takes="f")
def _elu(ctx: Context, x: Value, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Value:
    b, v = ctx.b, compute(ctx, x)
    in_range(alpha, v.dtype)
    negative = b.mul(b.expm1(b.mul(v, compute(ctx, input_scale))), like(b, v, float(alpha) * float(scale)))
    return finish(ctx, b.where(b.lt(v, like(b, v, 0)), negative, b.mul(v, compute(ctx, scale))))


@lower(aten.celu.default, takes="f")
def _celu(ctx: Context, x: Value, alpha: Any = 1) -> Value:
    return _elu(ctx, x, alpha, 1, 1 / float(alpha))


@lower(aten.elu_backward.default)
def _elu_backward(
    ctx: Context, grad: Value, alpha: Any, scale: Any, input_scale: Any, is_result: bool, x: Value
) -> Value:
    b, g, v = ctx.b, compute(ctx, grad), compute(ctx, x)
    in_range(alpha, v.dtype)
    coefficient, inner = like(b, v, float(alpha) * float(scale)), compute(ctx, input_scale)
    if is_result:
        negative = b.mul(b.mul(g, inner), b.add(v, coefficient))
    else:
        negative = b.mul(b.mul(b.mul(g, inner), coefficient), b.exp(b.mul(v, inner)))
    positive, zero = b.mul(g, compute(ctx, scale)), like(b, v, 0)
    if ctx.device == "cpu":  # NaN, see the top
        return finish(ctx, b.where(b.gt(v, zero), positive, negative))
    return finish(ctx, b.where(b.le(v, zero), negative, positive))


@lower(aten.hardtanh.default)
def _hardtanh(ctx: Context, x: Value, low: Any = -1, high: Any = 1) -> Value:
    b = ctx.b
    return b.min(exact(ctx, high, x.dtype), b.max(exact(ctx, low, x.dtype), x))


@lower(aten.relu6.default)
def _relu6(ctx: Context, x: Value) -> Value:
    return _hardtanh(ctx, x, 0, 6)


@lower(aten.hardtanh_backward.default)
def _hardtanh_backward(ctx: Context, grad: Value, x: Value, low: Any, high: Any) -> Value:
    b, zero = ctx.b, like(ctx.b, grad, 0)
    v, least, most = (compute(ctx, a, x.dtype) for a in (x, low, high))
    if ctx.device == "cpu":  # NaN, see the top
        return b.where(b.and_(b.gt(v, least), b.lt(v, most)), grad, zero)
    return b.where(b.or_(b.le(v, least), b.ge(v, most)), zero, grad)


def _ramp(b: Builder, v: Value) -> Value:
    """min(max(v + 3, 0), 6)."""
    return b.min(b.max(b.add(v, like(b, v, 3)), like(b, v, 0)), like(b, v, 6))


@lower(aten.hardswish.default, takes="f")
def _hardswish(ctx: Context, x: Value) -> Value:
    b, v = ctx.b, compute(ctx, x)
    return finish(ctx, b.div(b.mul(v, _ramp(b, v)), like(b, v, 6)))


@lower(aten.hardswish_backward.default)
def _hardswish_backward(ctx: Context, grad: Value, x: Value) -> Value:
    b, g, v = ctx.b, compute(ctx, grad), compute(ctx, x)
    three = like(b, v, 3)
    middle = b.mul(g, b.add(b.div(v, three), like(b, v, 0.5)))
    # NaN, see the top
    out = b.where(b.ge(v, three), g, middle) if ctx.device == "cpu" else b.where(b.lt(v, three), middle, g)
    return finish(ctx, b.where(b.le(v, like(b, v, -3)), like(b, v, 0), out))


@lower(aten.hardsigmoid.default, takes="f")
def _hardsigmoid(ctx: Context, x: Value) -> Value:
    b, v = ctx.b, compute(ctx, x)
    return finish(ctx, b.div(_ramp(b, v), like(b, v, 6)))


_SIXTH = float(np.float32(1 / 6))  # eager's constant is a float32, whatever the operands


@lower(aten.hardsigmoid_backward.default)
def _hardsigmoid_backward(ctx: Context, grad: Value, x: Value) -> Value:
    b, g, v = ctx.b, compute(ctx, grad), compute(ctx, x)
    inside = b.and_(b.gt(v, like(b, v, -3)), b.lt(v, like(b, v, 3)))
    return finish(ctx, b.where(inside, b.mul(g, like(b, g, _SIXTH)), like(b, g, 0)))


@lower(aten.softplus.default, takes="f")
def _softplus(ctx: Context, x: Value, beta: Any = 1, threshold: Any = 20) -> Value:
    b, v = ctx.b, compute(ctx, x)
    scaled, slope = b.mul(v, compute(ctx, beta)), compute(ctx, beta)
    return finish(ctx, b.where(b.gt(scaled, compute(ctx, threshold)), v, b.div(b.log1p(b.exp(scaled)), slope)))


@lower(aten.softplus_backward.default)
def _softplus_backward(ctx: Context, grad: Value, x: Value, beta: Any, threshold: Any) -> Value:
    b, g, v = ctx.b, compute(ctx, grad), compute(ctx, x)
    scaled = b.mul(v, compute(ctx, beta))
    z = b.exp(scaled)
    some = b.div(b.mul(g, z), b.add(z, like(b, z, 1)))
    return finish(ctx, b.where(b.gt(scaled, compute(ctx, threshold)), g, some))


@lower(aten.mish.default, takes="f")
def _mish(ctx: Context, x: Value) -> Value:
    b, v = ctx.b, compute(ctx, x)
    return finish(ctx, b.mul(v, b.tanh(b.log1p(b.exp(v)))))


@lower(aten.mish_backward.default)
def _mish_backward(ctx: Context, grad: Value, x: Value) -> Value:
    b, g, v = ctx.b, compute(ctx, grad), compute(ctx, x)
    one = like(b, v, 1)
    s = b.div(one, b.add(one, b.exp(b.neg(v))))
    t = b.tanh(b.log1p(b.exp(v)))
    return finish(ctx, b.mul(g, b.add(t, b.mul(b.mul(v, s), b.sub(one, b.mul(t, t))))))


@lower(aten.log_sigmoid_forward.default)
def _log_sigmoid(ctx: Context, x: Value) -> tuple[Value, Value]:
    """The second result is eager's buffer, exp(-|x|); on other devices than the CPU it is empty."""
    b, v = ctx.b, compute(ctx, x)
    z = b.exp(b.neg(b.abs(v)))
    buffer = finish(ctx, z, 1) if ctx.shapes[1] == x.shape else b.full(ctx.shapes[1], 0, ctx.dtypes[1])
    return finish(ctx, b.sub(b.min(v, like(b, v, 0)), b.log1p(z))), buffer


@lower(aten.log_sigmoid_backward.default)
def _log_sigmoid_backward(ctx: Context, grad: Value, x: Value, buffer: Value) -> Value:
    b, g, v = ctx.b, compute(ctx, grad), compute(ctx, x)
    z = compute(ctx, buffer) if buffer.shape == x.shape else b.exp(b.neg(b.abs(v)))
    one = like(b, v, 1)
    negative = b.lt(v, like(b, v, 0))
    ratio = b.div(z, b.add(one, z))
    slope = b.where(negative, b.sub(one, ratio), ratio)
    return finish(ctx, b.mul(slope, g))


@lower(aten.hardshrink.default)
def _hardshrink(ctx: Context, x: Value, bound: Any = 0.5) -> Value:
    b = ctx.b
    inside = b.and_(b.ge(x, exact(ctx, -bound, x.dtype)), b.le(x, exact(ctx, bound, x.dtype)))
    return b.where(inside, like(b, x, 0), x)


@lower(aten.hardshrink_backward.default, aten.softshrink_backward.default)
def _shrink_backward(ctx: Context, grad: Value, x: Value, bound: Any) -> Value:
    b, zero = ctx.b, like(ctx.b, grad, 0)
    low, high = exact(ctx, -bound, x.dtype), exact(ctx, bound, x.dtype)
    if ctx.device == "cpu":  # NaN, see the top
        return b.where(b.or_(b.lt(x, low), b.gt(x, high)), grad, zero)
    return b.where(b.and_(b.ge(x, low), b.le(x, high)), zero, grad)


@lower(aten.softshrink.default)
def _softshrink(ctx: Context, x: Value, bound: Any = 0.5) -> Value:
    b, v = ctx.b, compute(ctx, x)
    k = compute(ctx, bound)
    inside = b.where(b.isnan(v), v, like(b, v, 0))
    inner = b.where(b.lt(v, b.neg(k)), b.add(v, k), inside)
    return finish(ctx, b.where(b.gt(v, k), b.sub(v, k), inner))
