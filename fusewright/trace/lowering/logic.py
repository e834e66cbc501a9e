"""Rules for comparisons, logic, bit operations, selections and casts: what neither rounds nor computes."""

from __future__ import annotations

from typing import Any

import torch

from ...core.errors import Refusal
from ...graph.ir import Value
from .common import exact
from .registry import Context, Rule, lower, truth

aten = torch.ops.aten
prims = torch.ops.prims

# --- comparisons, logic, bits ----------------------------------------------------------------------


def _compare(prim: str) -> Rule:
    def rule(ctx: Context, x: Any, y: Any) -> Value:
        common = ctx.promote(x, y)
        return ctx.b.map(prim, exact(ctx, x, common), exact(ctx, y, common))

    return rule


for _name in "eq ne lt le gt ge".split():
    lower(getattr(aten, _name).Tensor, getattr(aten, _name).Scalar)(_compare(_name))


def _logical(prim: str) -> Rule:
    def rule(ctx: Context, x: Value, y: Value) -> Value:
        return ctx.b.map(prim, truth(ctx, x), truth(ctx, y))

    return rule


for _name in "and or xor".split():
    lower(getattr(aten, f"logical_{_name}").default)(_logical(_name))


@lower(aten.logical_not.default)
def _logical_not(ctx: Context, x: Value) -> Value:
    return ctx.b.not_(truth(ctx, x))


def _bitwise(prim: str) -> Rule:
    def rule(ctx: Context, x: Any, y: Any) -> Value:
        if ctx.dtype.is_float:
            raise Refusal("dtype", "bits of floats")
        return ctx.b.map(prim, exact(ctx, x, ctx.dtype), exact(ctx, y, ctx.dtype))

    return rule


for _name in "and or xor".split():
    _op = getattr(aten, f"bitwise_{_name}")
    lower(_op.Tensor, _op.Scalar, _op.Scalar_Tensor)(_bitwise(_name))
    _op = getattr(aten, f"__{_name}__")
    lower(_op.Tensor, _op.Scalar)(_bitwise(_name))


@lower(aten.bitwise_not.default)
def _bitwise_not(ctx: Context, x: Value) -> Value:
    return ctx.b.not_(x)


def _shift(prim: str) -> Rule:
    def rule(ctx: Context, x: Any, n: Any) -> Value:
        if not ctx.dtype.is_int:
            raise Refusal("dtype", "shifts of what is no integer")
        return ctx.b.map(prim, exact(ctx, x, ctx.dtype), exact(ctx, n, ctx.dtype))

    return rule


for _name, _prim in (("left", "shl"), ("right", "shr")):
    _op = getattr(aten, f"bitwise_{_name}_shift")
    lower(_op.Tensor, _op.Tensor_Scalar, _op.Scalar_Tensor)(_shift(_prim))
    _op = getattr(aten, f"__{_name[0]}shift__")
    lower(_op.Tensor, _op.Scalar)(_shift(_prim))


# --- selections and bounds -------------------------------------------------------------------------


@lower(aten.where.self)
def _where(ctx: Context, cond: Value, x: Any, y: Any) -> Value:
    return ctx.b.where(truth(ctx, cond), exact(ctx, x, ctx.dtype), exact(ctx, y, ctx.dtype))


@lower(aten.masked_fill.Scalar, aten.masked_fill.Tensor)
def _masked_fill(ctx: Context, x: Value, mask: Value, value: Any) -> Value:
    return ctx.b.where(truth(ctx, mask), exact(ctx, value, ctx.dtype), x)


@lower(aten.clamp.default, aten.clamp.Tensor)
def _clamp(ctx: Context, x: Value, low: Any = None, high: Any = None) -> Value:
    b, v = ctx.b, ctx.b.cast(x, ctx.dtype)
    if v.dtype.is_bool:
        raise Refusal("dtype", "eager does not clamp booleans")
    # a NaN bound makes the whole result NaN, and max/min propagate it; of two equal operands (zeros of either sign)
    # they give the second, as eager's clamp does: of a number as bound that is x, of a tensor the bound
    for bound, pick in ((low, b.max), (high, b.min)):
        if bound is not None:
            limit = exact(ctx, bound, ctx.dtype)
            v = pick(v, limit) if isinstance(bound, Value) else pick(limit, v)
    return v


@lower(aten.clamp_min.default, aten.clamp_min.Tensor)
def _clamp_min(ctx: Context, x: Value, low: Any) -> Value:
    return _clamp(ctx, x, low, None)


@lower(aten.clamp_max.default, aten.clamp_max.Tensor)
def _clamp_max(ctx: Context, x: Value, high: Any) -> Value:
    return _clamp(ctx, x, None, high)


# --- casts -----------------------------------------------------------------------------------------


@lower(aten._to_copy.default)
def _to_copy(ctx: Context, x: Value, **_: Any) -> Value:
    return ctx.b.cast(x, ctx.dtype, round=ctx.dtype.is_reduced)


@lower(prims.convert_element_type.default)
def _convert(ctx: Context, x: Value, dtype: torch.dtype) -> Value:
    return ctx.b.cast(x, ctx.dtype, round=ctx.dtype.is_reduced)
