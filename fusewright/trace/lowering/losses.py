"""Rules for the negative log-likelihood loss: taken whole, so that a target out of range raises eager's own error; and
for the operands of a binary cross-entropy, which is taken apart, and has to raise it, too."""

from __future__ import annotations

from typing import Any

import torch

from ...core.dtypes import DType, compute_type, i64, u8
from ...core.errors import Refusal
from ...graph.builder import Builder
from ...graph.ir import Value
from ...index.expr import IxLike
from ...run.checked import BETWEEN
from .common import compute, finish, like, position, size_value
from .registry import Context, lower

aten = torch.ops.aten

_NONE, _MEAN = 0, 1  # torch's numbers for the kinds of reduction; the third is a sum


def _target(b: Builder, x: Value, target: Value, ignore: IxLike) -> tuple[Value, Value]:
    """(class of each sample, 0 where it is to be ignored; mask of those that count)."""
    if x.rank > 1 and target.shape != (*x.shape[:1], *x.shape[2:]):
        raise Refusal("shape", f"cannot show that there is one target for each of {x.shape}")
    if target.dtype not in (i64, u8):
        raise Refusal("dtype", f"classes given as {target.dtype}")
    t = b.cast(target, i64)
    counts = b.ne(t, size_value(b, ignore, i64))
    # negative classes would be counted from the end: move them out of range
    far = b.where(b.lt(t, like(b, t, 0)), like(b, t, 1 << 62), t)
    return b.where(counts, far, like(b, t, 0)), counts


def _class_axis(x: Value) -> int:
    return 0 if x.rank == 1 else 1


def _weight(ctx: Context, weight: Value | None, at: Value, counts: Value, dtype: DType) -> Value:
    """The weight of every sample: of its class, and 0 where it is ignored."""
    b = ctx.b
    if weight is None:
        return b.cast(counts, dtype)
    found = b.cast(b.gather(weight, [at], at.shape, [("at", 0, tuple(range(at.rank)))]), dtype)
    return b.where(counts, found, like(b, found, 0))


@lower(aten.nll_loss_forward.default, aten.nll_loss2d_forward.default)
def _nll_loss(
    ctx: Context, x: Value, target: Value, weight: Value | None, reduction: int, ignore: IxLike
) -> tuple[Value, Value]:
    """(loss, sum of the weights)."""
    b = ctx.b
    axis = _class_axis(x)
    at, counts = _target(b, x, target, ignore)
    if x.rank == 1:
        at, counts = b.reshape(at, ()), b.reshape(counts, ())
    spec: list[Any] = [("dim", d if d < axis else d - 1) for d in range(x.rank)]
    spec[axis] = ("at", 0, tuple(range(at.rank)))
    picked = compute(ctx, b.gather(x, [at], at.shape, spec))
    w = _weight(ctx, weight, at, counts, picked.dtype)
    each = b.where(counts, b.mul(b.neg(picked), w), like(b, picked, 0))
    if reduction == _NONE and x.rank > 1:
        return finish(ctx, each), b.full((), 0, ctx.dtypes[1])
    total, weights = (b.reduce("sum", v, list(range(v.rank))) for v in (each, w))
    loss = b.div(total, weights) if reduction == _MEAN else total
    return finish(ctx, loss), finish(ctx, weights, 1)


@lower(aten.nll_loss_backward.default, aten.nll_loss2d_backward.default)
def _nll_loss_backward(
    ctx: Context,
    grad: Value,
    x: Value,
    target: Value,
    weight: Value | None,
    reduction: int,
    ignore: IxLike,
    total: Value,
) -> Value:
    """The gradient of each sample stands at its class; only the shape of `x` matters."""
    b, axis, dtype = ctx.b, _class_axis(x), compute_type(ctx.dtype)
    classes = x.shape[axis]
    at, counts = _target(b, x, target, ignore)
    g = b.cast(grad, dtype)
    g = b.neg(b.div(g, b.cast(total, dtype)) if reduction == _MEAN else g)
    if x.rank == 1:
        at, counts = (b.reshape(v, (1,)) for v in (at, counts))
    else:
        at, counts = (b.unsqueeze(v, axis) for v in (at, counts))
        if g.rank:
            g = b.unsqueeze(g, axis)
    here = b.and_(counts, b.eq(at, position(b, x.rank, axis, classes)))
    if weight is not None:
        along = b.reshape(b.cast(weight, dtype), [classes if d == axis else 1 for d in range(x.rank)])
        g = b.mul(along, g)
    return finish(ctx, b.expand(b.where(here, g, like(b, g, 0)), ctx.shape))


@lower(BETWEEN)
def _between_0_and_1(ctx: Context, x: Value, what: str) -> Value:
    """What is not between 0 and 1 is an index out of range, which kernels check."""
    b = ctx.b
    inside = b.and_(b.ge(x, like(b, x, 0)), b.le(x, like(b, x, 1)))
    at = b.where(inside, b.const(0, i64), b.const(2, i64))
    nothing = b.gather(b.full((2,), 0, i64), [at], at.shape, [("at", 0, tuple(range(at.rank)))])
    return b.where(b.eq(nothing, b.const(0, i64)), x, like(b, x, 0))
