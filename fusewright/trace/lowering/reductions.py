"""Rules for reductions and prefix scans.

16-bit floats are accumulated in float32. Means and variances take two passes (mean, then squared deviations).
"""

from __future__ import annotations

import math
from typing import Any

import torch

from ...core.dtypes import DType, bf16, bool_, compute_type, f16, f32, f64, i64
from ...core.errors import Refusal
from ...graph.builder import Builder
from ...graph.ir import Value
from ...index.expr import ONE, Ix
from ...index.layout import product
from ..decompositions import is_of_norm
from .common import compute, finish, like, position, size_value, zeros
from .registry import Context, Rule, lower, truth

aten = torch.ops.aten


def axes_of(ctx: Context, dim: Any, rank: int) -> list[int]:
    """Axes counted from the front; a 0-d tensor has none, whatever was asked."""
    return [] if rank == 0 else ctx.dims(dim, rank)


def count(x: Value, axes: list[int]) -> Ix:
    """How many elements each result combines."""
    return product(x.shape[d] for d in axes)


def accumulate(ctx: Context, x: Value, k: int = 0) -> Value:
    """x in the type that result `k` is accumulated in."""
    dtype = ctx.dtypes[k]
    if dtype.is_bool:
        raise Refusal("dtype", "sums and products of booleans")
    if x.dtype.is_float and dtype.is_int:
        x = ctx.b.cast(x, dtype)
    return ctx.b.cast(x, compute_type(dtype))


def mean_of(b: Builder, x: Value, axes: list[int], keepdim: bool) -> Value:
    return b.div(b.reduce("sum", x, axes, keepdim), size_value(b, count(x, axes), x.dtype))


# --- sums, products, means -------------------------------------------------------------------------


@lower(aten.sum.dim_IntList)
def _sum(ctx: Context, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    return finish(ctx, ctx.b.reduce("sum", accumulate(ctx, x), axes_of(ctx, dim, x.rank), keepdim))


@lower(aten.sum.default)
def _sum_all(ctx: Context, x: Value, *, dtype: Any = None) -> Value:
    return _sum(ctx, x)


@lower(aten.nansum.default)
def _nansum(ctx: Context, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    if x.dtype.is_float:
        x = ctx.b.where(ctx.b.isnan(x), like(ctx.b, x, 0), x)
    return _sum(ctx, x, dim, keepdim)


@lower(aten.prod.dim_int)
def _prod(ctx: Context, x: Value, dim: Any, keepdim: bool = False, *, dtype: Any = None) -> Value:
    return finish(ctx, ctx.b.reduce("prod", accumulate(ctx, x), axes_of(ctx, dim, x.rank), keepdim))


@lower(aten.prod.default)
def _prod_all(ctx: Context, x: Value, *, dtype: Any = None) -> Value:
    return _prod(ctx, x, None)


@lower(aten.mean.dim)
def _mean(ctx: Context, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    return finish(ctx, mean_of(ctx.b, accumulate(ctx, x), axes_of(ctx, dim, x.rank), keepdim))


@lower(aten.mean.default)
def _mean_all(ctx: Context, x: Value, *, dtype: Any = None) -> Value:
    return _mean(ctx, x)


@lower(aten.count_nonzero.dim_IntList)
def _count_nonzero(ctx: Context, x: Value, dim: Any) -> Value:
    return ctx.b.reduce("sum", ctx.b.cast(truth(ctx, x), i64), axes_of(ctx, dim, x.rank))


@lower(aten.count_nonzero.default)
def _count_nonzero_dim(ctx: Context, x: Value, dim: int | None = None) -> Value:
    return _count_nonzero(ctx, x, dim)


# --- extremes --------------------------------------------------------------------------------------


def nonempty(ctx: Context, x: Value, axes: list[int]) -> None:
    """Eager raises where there is nothing to reduce: extents that may be 0 are left to it."""
    if not all(ctx.positive(x.shape[d]) for d in axes):
        raise Refusal("shape", "there may be nothing to reduce")


def _extreme(monoid: str) -> Rule:
    """Tracing sees to it that there is something to reduce."""

    def rule(ctx: Context, x: Value, dim: Any = None, keepdim: bool = False) -> Value:
        return ctx.b.reduce(monoid, x, axes_of(ctx, dim, x.rank), keepdim)

    return rule


lower(aten.amax.default)(_extreme("max"))
lower(aten.amin.default)(_extreme("min"))


def _extreme_of_all(monoid: str) -> Rule:
    def rule(ctx: Context, x: Value) -> Value:
        axes = list(range(x.rank))
        nonempty(ctx, x, axes)
        return ctx.b.reduce(monoid, x, axes)

    return rule


lower(aten.max.default)(_extreme_of_all("max"))
lower(aten.min.default)(_extreme_of_all("min"))


@lower(aten.aminmax.default)
def _aminmax(ctx: Context, x: Value, *, dim: Any = None, keepdim: bool = False) -> tuple[Value, Value]:
    axes = axes_of(ctx, dim, x.rank)
    low, high = (ctx.b.reduce(m, x, axes, keepdim) for m in ("min", "max"))
    return (low, high) if dim is not None or not keepdim else (ctx.b.reshape(low, ()), ctx.b.reshape(high, ()))


def _arg(ctx: Context, monoid: str, x: Value, dim: int | None, keepdim: bool, shape: Any) -> Value:
    b = ctx.b
    if (x.numel if dim is None or x.rank == 0 else x.shape[ctx.dim(dim, x.rank)]) is ONE:
        return b.full(shape, 0, i64)
    if dim is None or x.rank == 0:
        flat = b.reduce(monoid, b.reshape(x, (x.numel,)), [0])
        return b.reshape(flat, shape)
    return b.reduce(monoid, x, axes_of(ctx, dim, x.rank), keepdim)


def _extreme_with_index(monoid: str) -> Rule:
    def rule(ctx: Context, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
        axes = axes_of(ctx, dim, x.rank)
        nonempty(ctx, x, axes)
        values = ctx.b.reduce(monoid, x, axes, keepdim)
        return values, _arg(ctx, f"arg{monoid}", x, dim, keepdim, ctx.shapes[1])

    return rule


lower(aten.max.dim)(_extreme_with_index("max"))
lower(aten.min.dim)(_extreme_with_index("min"))


def _arg_extreme(monoid: str) -> Rule:
    def rule(ctx: Context, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
        return _arg(ctx, monoid, x, dim, keepdim, ctx.shape)

    return rule


lower(aten.argmax.default, takes="fiu")(_arg_extreme("argmax"))
lower(aten.argmin.default, takes="fiu")(_arg_extreme("argmin"))


def _logical(monoid: str) -> Rule:
    def rule(ctx: Context, x: Value, dim: Any = None, keepdim: bool = False) -> Value:
        if isinstance(dim, list) and not dim:  # an empty list reduces nothing in any.dims
            return ctx.b.cast(truth(ctx, x), ctx.dtype)
        return ctx.b.cast(ctx.b.reduce(monoid, truth(ctx, x), axes_of(ctx, dim, x.rank), keepdim), ctx.dtype)

    return rule


lower(aten.any.default, aten.any.dim, aten.any.dims)(_logical("any"))
lower(aten.all.default, aten.all.dim, aten.all.dims)(_logical("all"))


# --- moments ---------------------------------------------------------------------------------------


EXACT = {bf16: 1 << 16, f16: 1 << 13}  # so many equal numbers of a type add up to a float32, exactly


def variance(
    ctx: Context, x: Value, dim: Any, correction: Any, keepdim: bool, wide: bool = True, root: bool = False
) -> tuple[Value, Value]:
    """(variance, mean) in the computation type; if `wide`, on CPUs in float64, as eager's kernels.

    In float32 a rounded mean is off by more than the deviations if these are small, and the square of a deviation
    underflows or overflows where its root, a standard deviation, is an ordinary number. The mean of so few 16-bit
    numbers that are equal is that number, though, and rounding to 16 bits hides the rest, mostly: not under
    precision="eager". `root`: whether the root is wanted.
    """
    b = ctx.b
    v, axes = compute(ctx, x, x.dtype), axes_of(ctx, dim, x.rank)
    if wide and ctx.device == "cpu":
        points = product(x.shape[d] for d in axes).as_int()
        few = points is not None and points <= EXACT.get(x.dtype, 0)
        if few and not (root or ctx.exact_rounding):
            v = b.cast(b.cast(v, x.dtype, round=True), f32)
        else:
            v = b.cast(v, f64)
    mean = mean_of(b, v, axes, True)
    deviation = b.sub(v, mean)
    total = b.reduce("sum", b.mul(deviation, deviation), axes, keepdim)
    n = count(v, axes)
    correction = 1 if correction is None else correction
    divisor = b.sub(size_value(b, n, v.dtype), b.const(correction, v.dtype))
    divisor = b.max(divisor, like(b, v, 0))
    return b.div(total, divisor), mean if keepdim else b.squeeze(mean, axes)


@lower(aten.var.correction, takes="f")
def _var(ctx: Context, x: Value, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Value:
    return finish(ctx, variance(ctx, x, dim, correction, keepdim)[0])


@lower(aten.std.correction, takes="f")
def _std(ctx: Context, x: Value, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Value:
    return finish(ctx, ctx.b.sqrt(variance(ctx, x, dim, correction, keepdim, root=True)[0]))


@lower(aten.var_mean.correction, takes="f")
def _var_mean(
    ctx: Context, x: Value, dim: Any = None, *, correction: Any = None, keepdim: bool = False
) -> tuple[Value, Value]:
    norm = is_of_norm(correction)
    var, mean = variance(ctx, x, dim, 0 if norm else correction, keepdim, wide=not norm)
    return finish(ctx, var), finish(ctx, mean, 1)


@lower(aten.std_mean.correction, takes="f")
def _std_mean(
    ctx: Context, x: Value, dim: Any = None, *, correction: Any = None, keepdim: bool = False
) -> tuple[Value, Value]:
    var, mean = variance(ctx, x, dim, correction, keepdim, root=True)
    return finish(ctx, ctx.b.sqrt(var)), finish(ctx, mean, 1)


# --- norms and log-sum-exp -------------------------------------------------------------------------


def _magnitude_to(b: Builder, v: Value, order: float) -> Value:
    """|v| to a power: products, which are exact to a rounding or two, where those are few."""
    if order not in (3, 4):
        return b.pow(b.abs(v), like(b, v, order))
    square = b.mul(v, v)
    return b.mul(square, b.abs(v) if order == 3 else square)


@lower(aten.linalg_vector_norm.default)
def _vector_norm(
    ctx: Context, x: Value, order: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Value:
    b = ctx.b
    v, axes = accumulate(ctx, x), axes_of(ctx, dim, x.rank)
    order = float(order)
    if order == 2:
        out = b.sqrt(b.reduce("sum", b.mul(v, v), axes, keepdim))
    elif order == 1:
        out = b.reduce("sum", b.abs(v), axes, keepdim)
    elif order == 0:
        out = b.reduce("sum", b.cast(truth(ctx, v), v.dtype), axes, keepdim)
    elif math.isinf(order):
        out = b.reduce("max" if order > 0 else "min", b.abs(v), axes, keepdim)
    else:
        out = b.pow(b.reduce("sum", _magnitude_to(b, v, order), axes, keepdim), like(b, v, 1 / order))
    return finish(ctx, out)


@lower(aten.norm.Scalar)
def _norm(ctx: Context, x: Value, order: Any = 2) -> Value:
    return _vector_norm(ctx, x, 2 if order is None else order)


@lower(aten.norm.ScalarOpt_dim, aten.norm.ScalarOpt_dim_dtype)
def _norm_dim(ctx: Context, x: Value, order: Any, dim: Any, keepdim: bool = False, *, dtype: Any = None) -> Value:
    return _vector_norm(ctx, x, 2 if order is None else order, dim, keepdim)


@lower(aten.norm.ScalarOpt_dtype)
def _norm_dtype(ctx: Context, x: Value, order: Any, *, dtype: Any = None) -> Value:
    return _vector_norm(ctx, x, 2 if order is None else order)


@lower(aten.logsumexp.default)
def _logsumexp(ctx: Context, x: Value, dim: Any, keepdim: bool = False) -> Value:
    b = ctx.b
    v, axes = compute(ctx, x), axes_of(ctx, dim, x.rank)
    if count(v, axes).as_int() == 0:
        raise Refusal("shape", "nothing to reduce")
    top = b.reduce("max", v, axes, True)
    top = b.where(b.eq(b.abs(top), like(b, v, math.inf)), like(b, v, 0), top)
    total = b.log(b.reduce("sum", b.exp(b.sub(v, top)), axes, True))
    out = b.add(total, top)
    return finish(ctx, out if keepdim else b.squeeze(out, axes))


# --- softmax, layer norm: derivatives --------------------------------------------------------------


@lower(aten._softmax_backward_data.default)
def _softmax_backward(ctx: Context, grad: Value, out: Value, dim: int, dtype: Any) -> Value:
    b, g, y = ctx.b, compute(ctx, grad), compute(ctx, out)
    total = b.reduce("sum", b.mul(g, y), axes_of(ctx, dim, g.rank), True)
    return finish(ctx, b.mul(b.sub(g, total), y))


@lower(aten._log_softmax_backward_data.default)
def _log_softmax_backward(ctx: Context, grad: Value, out: Value, dim: int, dtype: Any) -> Value:
    b, g, y = ctx.b, compute(ctx, grad), compute(ctx, out)
    total = b.reduce("sum", g, axes_of(ctx, dim, g.rank), True)
    return finish(ctx, b.sub(g, b.mul(b.exp(y), total)))


@lower(aten.native_layer_norm_backward.default)
def _layer_norm_backward(
    ctx: Context,
    grad: Value,
    x: Value,
    normalized: Any,
    mean: Value,
    rstd: Value,
    weight: Value | None,
    bias: Value | None,
    mask: list[bool],
) -> tuple[Value | None, Value | None, Value | None]:
    b = ctx.b
    work = compute_type(x.dtype)
    g, v, m, r = (b.cast(t, work) for t in (grad, x, mean, rstd))
    lead = list(range(x.rank - len(normalized)))
    inner = list(range(len(lead), x.rank))
    if m.rank != x.rank:
        raise Refusal("shape", "statistics of another rank")
    hat = b.mul(b.sub(v, m), r)
    made = iter(range(3))
    d_x = d_weight = d_bias = None
    if mask[0]:
        scaled = g if weight is None else b.mul(g, b.cast(weight, work))
        along = mean_of(b, scaled, inner, True)
        across = mean_of(b, b.mul(scaled, hat), inner, True)
        d_x = finish(ctx, b.mul(r, b.sub(b.sub(scaled, along), b.mul(hat, across))), next(made))
    if mask[1] and weight is not None:
        d_weight = finish(ctx, b.reduce("sum", b.mul(g, hat), lead), next(made))
    if mask[2] and bias is not None:
        d_bias = finish(ctx, b.reduce("sum", g, lead), next(made))
    return d_x, d_weight, d_bias


# --- scans -----------------------------------------------------------------------------------------


def _scan_type(dtype: DType) -> DType:
    """Eager's CPU kernels accumulate scans of float32 in float64."""
    return f64 if dtype is f32 else compute_type(dtype)


def _scan(monoid: str) -> Rule:
    def rule(ctx: Context, x: Value, dim: int, *, dtype: Any = None) -> Value:
        b = ctx.b
        if ctx.dtype is bool_:
            raise Refusal("dtype", "scans of booleans")
        v = b.cast(b.cast(x, ctx.dtype), _scan_type(ctx.dtype))
        return finish(ctx, v if x.rank == 0 else b.scan(monoid, v, ctx.dim(dim, x.rank)))

    return rule


lower(aten.cumsum.default)(_scan("sum"))
lower(aten.cumprod.default)(_scan("prod"))


@lower(aten.logcumsumexp.default, takes="f")
def _logcumsumexp(ctx: Context, x: Value, dim: int) -> Value:
    b = ctx.b
    v = b.cast(x, _scan_type(ctx.dtype) if ctx.device == "cpu" else compute_type(ctx.dtype))  # as eager, of either
    return finish(ctx, v if x.rank == 0 else b.scan("logaddexp", v, ctx.dim(dim, x.rank)))


def _extreme_so_far(monoid: str) -> Rule:
    """An extreme's position is that of the last element that is equal to it; each NaN counts as such."""

    def rule(ctx: Context, x: Value, dim: int) -> tuple[Value, Value]:
        b = ctx.b
        d = ctx.dim(dim, max(1, x.rank))
        if x.rank == 0 or x.shape[d] is ONE:
            return x, zeros(ctx, 1)
        values = finish(ctx, b.scan(monoid, compute(ctx, x), d))
        here = b.eq(x, values)
        if x.dtype.is_float:
            here = b.or_(here, b.isnan(x))
        place = b.where(here, position(b, x.rank, d, x.shape[d]), b.const(0, i64))
        return values, b.scan("max", place, d)

    return rule


lower(aten.cummax.default)(_extreme_so_far("lastmax"))
lower(aten.cummin.default)(_extreme_so_far("lastmin"))
