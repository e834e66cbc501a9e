"""What the lowering rules share: computation types, rounding, numbers as operands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.dtypes import DType, bf16, compute_type, f16, f32, i64, rounded
from ...core.errors import Refusal
from ...graph.builder import Builder
from ...graph.ir import Value
from ...index.expr import ONE, Ix, IxLike, ix, nonnegative
from .registry import Context, HostFloat


def number(x: Any) -> bool:
    """Whether an argument is a Python number (or a symbolic one) rather than a tensor."""
    return isinstance(x, (bool, int, float, Ix, HostFloat))


_LARGEST = {f16: 65504.0, bf16: float.fromhex("0x1.fep127"), f32: float.fromhex("0x1.fffffep127")}


def in_range(x: Any, dtype: DType) -> None:
    """Refuse a number that `dtype` cannot hold: eager wraps, makes an infinity of it or raises, by the operator."""
    if not isinstance(x, (int, float)):
        return
    if (largest := _LARGEST.get(dtype)) is not None and abs(x) > largest and abs(x) != math.inf:
        raise Refusal("range", f"{x} does not fit {dtype}")
    if dtype.is_int:
        low = 0 if dtype.kind == "u" else -(1 << (8 * dtype.itemsize - 1))
        high = (1 << (8 * dtype.itemsize - (dtype.kind == "i"))) - 1
        if not math.isfinite(x) or not low <= int(x) <= high:
            raise Refusal("range", f"{x} does not fit {dtype}")


def stored(x: float, dtype: DType) -> float:
    """A number as `dtype` stores it."""
    with np.errstate(over="ignore"):
        if dtype is f16:
            return float(np.float16(x))
        return float(rounded(np.asarray(x, np.float32), dtype)) if compute_type(dtype) is f32 else x


def exact(ctx: Context, x: Any, dtype: DType) -> Value:
    """An operand of an operator that only selects values: a number is rounded to `dtype` at once, as eager does."""
    if isinstance(x, (bool, int, float)):
        in_range(x, dtype)
        if dtype.is_float:
            return ctx.b.const(stored(float(x), dtype), dtype)
    if isinstance(x, HostFloat):
        return ctx.b.cast(ctx.operand(x, compute_type(dtype)), dtype, round=True)
    return ctx.operand(x, dtype)


def compute(ctx: Context, x: Any, dtype: DType | None = None) -> Value:
    """An operand in the type that results of `dtype` (default: this result's) are computed in."""
    dtype = compute_type(dtype or ctx.dtype)
    in_range(x, dtype)
    return ctx.operand(x, dtype)


def finish(ctx: Context, v: Value, k: int = 0) -> Value:
    """A computed value as result `k`. It is rounded here only under precision="eager"."""
    return ctx.b.cast(v, ctx.dtypes[k], round=ctx.exact_rounding)


def multiply_add(ctx: Context, x: Value, y: Value, z: Value) -> Value:
    """x * y + z where eager's kernel computes both at once, so that its compiler has made one instruction of them."""
    fused = ctx.fma and x.dtype.is_float
    return ctx.b.fma(x, y, z) if fused else ctx.b.add(z, ctx.b.mul(x, y))


def like(b: Builder, x: Value, value: float) -> Value:
    """A constant of x's type."""
    return b.const(value, x.dtype)


def size_value(b: Builder, n: IxLike, dtype: DType) -> Value:
    """A size (an argument of the kernel, even when it is known) or a literal int, as a 0-d value of `dtype`."""
    return b.const(n, dtype) if isinstance(n, int) else b.cast(b.scalar(n, i64), dtype)


def wrap_index(index: IxLike, size: Ix) -> Ix:
    """A position counted from the front; Refusal when its sign cannot be known."""
    i = ix(index)
    if nonnegative(i):
        return i
    if not nonnegative(-i):
        raise Refusal("index", f"the sign of {i} is not known")
    return i + size


def position(b: Builder, rank: int, dim: int, extent: IxLike) -> Value:
    """The index along `dim`, broadcastable against tensors of `rank`."""
    return b.iota([extent if d == dim else ONE for d in range(rank)], dim)


def zeros(ctx: Context, k: int = 0) -> Value:
    """A result full of zeros."""
    return ctx.b.full(ctx.shapes[k], 0, ctx.dtypes[k])
