"""Rules for tensors made from nothing: constants and index ramps."""

from __future__ import annotations

from typing import Any

import torch

from ...core.errors import Refusal
from ...graph.ir import Value
from ...index.expr import Ix
from .common import exact, number, position, size_value
from .registry import Context, HostFloat, lower

aten = torch.ops.aten


def _filled(ctx: Context, value: Any) -> Value:
    if not number(value):
        raise Refusal("argument", f"cannot fill with a {type(value).__name__}")
    if ctx.dtype.is_bool and not isinstance(value, (Ix, HostFloat)):
        value = bool(value)
    return ctx.b.full(ctx.shape, exact(ctx, value, ctx.dtype), ctx.dtype)


@lower(aten.full.default)
def _full(ctx: Context, size: Any, value: Any, **_: Any) -> Value:
    return _filled(ctx, value)


@lower(aten.full_like.default, aten.fill.Scalar)
def _full_like(ctx: Context, x: Value, value: Any, **_: Any) -> Value:
    return _filled(ctx, value)


@lower(aten.fill.Tensor)
def _fill(ctx: Context, x: Value, value: Value) -> Value:
    return ctx.b.expand(ctx.b.cast(value, x.dtype, round=x.dtype.is_reduced), x.shape)


@lower(aten.new_full.default)
def _new_full(ctx: Context, x: Value, size: Any, value: Any, **_: Any) -> Value:
    return _filled(ctx, value)


@lower(aten.scalar_tensor.default)
def _scalar_tensor(ctx: Context, value: Any, **_: Any) -> Value:
    return _filled(ctx, value)


@lower(aten.zeros.default, aten.zeros_like.default, aten.new_zeros.default)
def _zeros(ctx: Context, *_: Any, **__: Any) -> Value:
    return _filled(ctx, 0)


# Tensors that nobody has written: what is in them is anything, so zeros. Where such a tensor is returned, or written
# outside of our kernels, it stays torch's.
UNWRITTEN = (
    *(aten.empty.memory_format, aten.empty_like.default, aten.new_empty.default),
    *(aten.empty_strided.default, aten.new_empty_strided.default, aten.empty_permuted.default),
)
lower(*UNWRITTEN)(_zeros)


@lower(aten.ones.default, aten.ones_like.default, aten.new_ones.default)
def _ones(ctx: Context, *_: Any, **__: Any) -> Value:
    return _filled(ctx, 1)


@lower(aten.arange.start_step)
def _arange_step(ctx: Context, start: Any, end: Any, step: Any = 1, **_: Any) -> Value:
    """Only whole steps: eager adds fractional ones in an order of its own."""
    b = ctx.b
    for v in (start, step):
        if isinstance(v, float) and (not v.is_integer() or abs(v) >= 1 << 24):
            raise Refusal("argument", "arange with a fractional start or step")
    if ctx.dtype.is_bool:
        raise Refusal("dtype", "arange of booleans")
    index = b.iota(ctx.shape, 0)
    if step != 1:
        index = b.mul(index, size_value(b, step if isinstance(step, Ix) else int(step), index.dtype))
    if start != 0:
        index = b.add(index, size_value(b, start if isinstance(start, Ix) else int(start), index.dtype))
    return b.cast(index, ctx.dtype, round=ctx.dtype.is_reduced)


@lower(aten.arange.default)
def _arange(ctx: Context, end: Any, **_: Any) -> Value:
    return _arange_step(ctx, 0, end)


@lower(aten.arange.start)
def _arange_start(ctx: Context, start: Any, end: Any, **_: Any) -> Value:
    return _arange_step(ctx, start, end)


@lower(torch.ops.prims.iota.default)
def _iota(ctx: Context, length: Any, *, start: Any, step: Any, **_: Any) -> Value:
    return _arange_step(ctx, start, None, step)


@lower(aten.eye.default, aten.eye.m)
def _eye(ctx: Context, n: Any, m: Any = None, **_: Any) -> Value:
    b = ctx.b
    rows, cols = ctx.shape
    return b.cast(b.eq(position(b, 2, 0, rows), position(b, 2, 1, cols)), ctx.dtype)
