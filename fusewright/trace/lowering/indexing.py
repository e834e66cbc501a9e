"""Rules for loads at computed positions.

PyTorch raises on a negative index in `gather`, `index_select` and `embedding`, but counts it from the end in
`x[index]` and `take`; the gather primitive does the latter, so the former move negative indices out of range.
"""

from __future__ import annotations

from typing import Any

import torch

from ...core.dtypes import i64
from ...core.errors import Refusal
from ...graph.builder import broadcast
from ...graph.ir import Value
from ...index.expr import ONE
from ...prims.table import MONOIDS
from .common import exact, like, position
from .registry import Context, lower

aten = torch.ops.aten


def index_of(ctx: Context, index: Value) -> Value:
    """An index as i64."""
    if not index.dtype.is_int or index.dtype.kind == "u":
        raise Refusal("index", f"indexing by {index.dtype}")
    return ctx.b.cast(index, i64)


def positive_index(ctx: Context, index: Value) -> Value:
    """An index of an operator that rejects negative ones."""
    b, i = ctx.b, index_of(ctx, index)
    return b.where(b.lt(i, like(b, i, 0)), like(b, i, (1 << 62)), i)


@lower(aten.gather.default)
def _gather(ctx: Context, x: Value, dim: int, index: Value, *, sparse_grad: bool = False) -> Value:
    if x.rank == 0 or index.rank != x.rank:
        raise Refusal("index", "gather with a 0-d operand")
    dim = ctx.dim(dim, x.rank)
    for d, n in enumerate(ctx.shape):  # an index may be smaller than x along the other dims
        if d != dim and x.shape[d] is not n:
            x = ctx.b.slice(x, d, 0, 1, n)
    spec: list[Any] = [("dim", d) for d in range(x.rank)]
    spec[dim] = ("at", 0, tuple(range(x.rank)))
    return ctx.b.gather(x, [positive_index(ctx, index)], ctx.shape, spec)


@lower(aten.index_select.default)
def _index_select(ctx: Context, x: Value, dim: int, index: Value) -> Value:
    if x.rank == 0:
        raise Refusal("index", "index_select of a 0-d operand")
    dim = ctx.dim(dim, x.rank)
    i = positive_index(ctx, index)
    spec: list[Any] = [("dim", d) for d in range(x.rank)]
    spec[dim] = ("at", 0, (dim,))
    return ctx.b.gather(x, [ctx.b.reshape(i, (ctx.shape[dim],))], ctx.shape, spec)


@lower(aten.embedding.default)
def _embedding(
    ctx: Context,
    weight: Value,
    index: Value,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Value:
    spec = [("at", 0, tuple(range(index.rank))), ("dim", index.rank)]
    return ctx.b.gather(weight, [positive_index(ctx, index)], ctx.shape, spec)


@lower(aten.take.default)
def _take(ctx: Context, x: Value, index: Value) -> Value:
    flat = ctx.b.reshape(x, (x.numel,))
    return ctx.b.gather(flat, [index_of(ctx, index)], ctx.shape, [("at", 0, tuple(range(index.rank)))])


@lower(aten.index.Tensor, aten._unsafe_index.Tensor)
def _advanced(ctx: Context, x: Value, indices: Any) -> Value:
    """NumPy's rule: indexed dims become the broadcast index's dims, in place if adjacent and in front otherwise."""
    b = ctx.b
    at = [d for d, i in enumerate(indices) if i is not None]
    if not at:
        return x
    if x.rank == 0:
        raise Refusal("index", "indexing a 0-d operand")
    tensors = [index_of(ctx, indices[d]) for d in at]
    common = broadcast(*(t.shape for t in tensors))
    adjacent = at == list(range(at[0], at[0] + len(at)))
    first = at[0] if adjacent else 0
    inner = tuple(range(first, first + len(common)))
    spec: list[Any] = []
    operands: list[Value] = []
    kept = 0
    for d in range(x.rank):
        if d in at:
            t = tensors[at.index(d)]
            # a dim of extent 1 stands still: the operand is read without it
            lead = len(common) - t.rank
            live = [k for k in range(t.rank) if t.shape[k] is not ONE or common[lead + k] is ONE]
            t = b.squeeze(t, [k for k in range(t.rank) if k not in live])
            spec.append(("at", len(operands), tuple(inner[lead + k] for k in live)))
            operands.append(t)
        else:
            spec.append(("dim", kept if kept < first else kept + len(common)))
            kept += 1
    return b.gather(x, operands, ctx.shape, spec)


def single_write(ctx: Context, x: Value, dim: int, index: Value, source: Any, how: str = "set") -> Value | None:
    """A scatter with one write per line along `dim` as a comparison with the index; None for any other scatter.

    `how`: what becomes of the element, "set" or a monoid.
    """
    b = ctx.b
    dim = ctx.dim(dim, x.rank)
    lines = tuple(ONE if d == dim else n for d, n in enumerate(x.shape))
    if x.rank == 0 or index.shape != lines:
        return None
    if isinstance(source, Value):
        if source.shape != lines:
            return None
        value = b.cast(source, x.dtype)
    else:
        value = exact(ctx, source, x.dtype)
    # read out of the positions there are, which checks it
    places = b.iota([x.shape[dim]], 0)
    at = b.gather(places, [positive_index(ctx, index)], index.shape, [("at", 0, tuple(range(x.rank)))])
    hit = b.eq(position(b, x.rank, dim, x.shape[dim]), at)
    if how != "set":
        value = b.map(MONOIDS[how].combine, x, value)
    return b.where(hit, value, x)
