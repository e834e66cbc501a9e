"""Rules for stores at computed positions: what `gather`, indexing and embedding have as backward, and their kin.

Duplicate positions are combined in row-major order of the source, as eager's serial kernels do. Eager rejects negative
positions in most of these operators, but counts them from the end in `index_put` and `put`.
"""

from __future__ import annotations

from typing import Any

import torch

from ...core.dtypes import DType, i64
from ...core.errors import Refusal
from ...graph.builder import broadcast
from ...graph.ir import Value
from ...index.expr import ONE, ZERO, Ix
from ...index.layout import row_major
from ...prims.table import MONOIDS
from .common import compute, exact, like, size_value
from .indexing import index_of, positive_index, single_write
from .registry import Context, lower

aten = torch.ops.aten

_REDUCE = {"add": "sum", "sum": "sum", "multiply": "prod", "prod": "prod", "amax": "max", "amin": "min"}


def _how(dtype: DType, name: str) -> str:
    """The way to scatter that an operator's `reduce` stands for. For bool, sums are `or` and products `and`."""
    if name not in _REDUCE:
        raise Refusal("operator", f"scattering with '{name}'")
    how = _REDUCE[name]
    return {"sum": "max", "prod": "min"}.get(how, how) if dtype.is_bool else how


def _rounds_every_step(ctx: Context) -> None:
    """Eager adds 16-bit floats one by one in the tensor itself here; we round once, unless its bits are wanted."""
    if ctx.exact_rounding and ctx.dtype.is_reduced:
        raise Refusal("precision", "eager rounds after every addition")


def _same_type(x: Value, source: Value) -> None:
    if x.dtype is not source.dtype:
        raise Refusal("dtype", f"eager does not store {source.dtype} in {x.dtype} here")


def _scatter(
    ctx: Context,
    x: Value,
    src: Value,
    indices: list[Value],
    spec: list[Any],
    how: str,
    mask: Value | None = None,
) -> Value:
    """`x` with `src` scattered into it; nothing changes where the source is empty."""
    if ZERO in src.shape:
        return x
    return ctx.b.scatter(x, src, indices, spec, how, mask)


# --- one index for each element of the source, along one dim ------------------------------------------


def _along(ctx: Context, x: Value, dim: int, index: Value, source: Any, how: str, include_self: bool = True) -> Value:
    """scatter, scatter_add, scatter_reduce: position `dim` comes from `index`, which says which points there are."""
    b = ctx.b
    if x.rank == 0 or index.rank != x.rank:
        raise Refusal("index", "scatter with a 0-d operand")
    dim = ctx.dim(dim, x.rank)
    if isinstance(source, Value):
        for d, n in enumerate(index.shape):  # the source may be larger than the index
            if source.shape[d] is not n:
                source = b.slice(source, d, 0, 1, n)
        src = b.cast(source, x.dtype)
    else:
        src = b.expand(exact(ctx, source, x.dtype), index.shape)
    spec: list[Any] = [("dim", d) for d in range(x.rank)]
    spec[dim] = ("at", 0, tuple(range(x.rank)))
    at = positive_index(ctx, index)
    return _scatter(ctx, x if include_self else _cleared(ctx, x, src, at, spec, how), src, [at], spec, how)


def _cleared(ctx: Context, x: Value, src: Value, index: Value, spec: list[Any], how: str) -> Value:
    """`x` with the identity of `how` wherever something is going to be scattered."""
    identity = ctx.b.const(MONOIDS[how].identity(x.dtype), x.dtype)
    return _scatter(ctx, x, ctx.b.expand(identity, src.shape), [index], spec, "set")


@lower(aten.scatter.value, aten.scatter.src)
def _scatter_set(ctx: Context, x: Value, dim: int, index: Value, source: Any) -> Value:
    alone = single_write(ctx, x, dim, index, source)
    return _along(ctx, x, dim, index, source, "set") if alone is None else alone


@lower(aten.scatter_add.default)
def _scatter_add(ctx: Context, x: Value, dim: int, index: Value, source: Value) -> Value:
    """One index a line is what the gradient of picking one element of each is: of a log-probability, for one."""
    how = _how(x.dtype, "sum")
    alone = single_write(ctx, x, dim, index, source, how)
    return _along(ctx, x, dim, index, source, how) if alone is None else alone


@lower(aten.scatter.reduce, aten.scatter.value_reduce)
def _scatter_with(ctx: Context, x: Value, dim: int, index: Value, source: Any, *, reduce: str) -> Value:
    return _along(ctx, x, dim, index, source, _how(x.dtype, reduce))


@lower(aten.scatter_reduce.two)
def _scatter_reduce(
    ctx: Context, x: Value, dim: int, index: Value, source: Value, reduce: str, *, include_self: bool = True
) -> Value:
    return _along(ctx, x, dim, index, source, _how(x.dtype, reduce), include_self)


# --- one index for each slice along one dim -----------------------------------------------------------


def _slices(
    ctx: Context, x: Value, dim: int, index: Value, source: Value, how: str, include_self: bool = True
) -> Value:
    """index_add and its kin: slice k of `source` goes to slice index[k]."""
    if x.rank == 0 or source.rank != x.rank:
        raise Refusal("index", "slices of a 0-d operand")
    dim = ctx.dim(dim, x.rank)
    spec: list[Any] = [("dim", d) for d in range(x.rank)]
    spec[dim] = ("at", 0, (dim,))
    at, source = ctx.b.reshape(index, (source.shape[dim],)), ctx.b.cast(source, x.dtype)
    return _scatter(ctx, x if include_self else _cleared(ctx, x, source, at, spec, how), source, [at], spec, how)


@lower(aten.index_add.default)
def _index_add(ctx: Context, x: Value, dim: int, index: Value, source: Value, *, alpha: Any = 1) -> Value:
    _same_type(x, source)
    _rounds_every_step(ctx)
    b = ctx.b
    if alpha != 1:
        if x.dtype.is_bool:
            raise Refusal("dtype", "a scaled bool")
        source = b.mul(compute(ctx, source), compute(ctx, alpha))
    return _slices(ctx, x, dim, positive_index(ctx, index), source, _how(x.dtype, "sum"))


@lower(aten.index_reduce.default)
def _index_reduce(
    ctx: Context, x: Value, dim: int, index: Value, source: Value, reduce: str, *, include_self: bool = True
) -> Value:
    _same_type(x, source)
    _rounds_every_step(ctx)
    if x.dtype.is_bool and not include_self:
        raise Refusal("dtype", "eager has no such index_reduce of booleans")
    return _slices(ctx, x, dim, positive_index(ctx, index), source, _how(x.dtype, reduce), include_self)


@lower(aten.index_copy.default)
def _index_copy(ctx: Context, x: Value, dim: int, index: Value, source: Value) -> Value:
    _same_type(x, source)
    return _slices(ctx, x, dim, positive_index(ctx, index), source, "set")


@lower(aten.index_fill.int_Scalar, aten.index_fill.int_Tensor)
def _index_fill(ctx: Context, x: Value, dim: int, index: Value, value: Any) -> Value:
    """Negative positions count from the end here."""
    b = ctx.b
    if x.rank == 0:
        raise Refusal("index", "index_fill of a 0-d operand")
    dim = ctx.dim(dim, x.rank)
    fill = b.cast(value, x.dtype) if isinstance(value, Value) else exact(ctx, value, x.dtype)
    shape = tuple(index.numel if d == dim else n for d, n in enumerate(x.shape))
    return _slices(ctx, x, dim, index_of(ctx, index), b.expand(b.reshape(fill, ()), shape), "set")


# --- advanced indexing --------------------------------------------------------------------------------


@lower(aten.index_put.default, aten._unsafe_index_put.default)
def _index_put(ctx: Context, x: Value, indices: Any, values: Value, accumulate: bool = False) -> Value:
    """The counterpart of `index`: the points are those of x[indices], to which `values` is broadcast."""
    b = ctx.b
    _same_type(x, values)
    if accumulate:
        _rounds_every_step(ctx)
    at = [d for d, i in enumerate(indices) if i is not None]
    if not at or x.rank == 0:
        raise Refusal("index", "nothing is indexed")
    tensors = [index_of(ctx, indices[d]) for d in at]
    common = broadcast(*(t.shape for t in tensors))
    adjacent = at == list(range(at[0], at[0] + len(at)))
    first = at[0] if adjacent else 0
    kept = [n for d, n in enumerate(x.shape) if d not in at]
    shape = (*kept[:first], *common, *kept[first:])
    spec: list[Any] = []
    passed = 0
    for d in range(x.rank):
        if d in at:
            k = at.index(d)
            lead = first + len(common) - tensors[k].rank
            spec.append(("at", k, tuple(range(lead, lead + tensors[k].rank))))
        else:
            spec.append(("dim", passed if passed < first else passed + len(common)))
            passed += 1
    while values.rank > len(shape) and values.shape[0] is ONE:
        values = b.squeeze(values, [0])
    src = b.expand(b.cast(values, x.dtype), shape)
    return _scatter(ctx, x, src, tensors, spec, _how(x.dtype, "sum") if accumulate else "set")


@lower(aten.put.default)
def _put(ctx: Context, x: Value, index: Value, source: Value, accumulate: bool = False) -> Value:
    """The index is a position in row-major order: taken apart into one for each dim."""
    b = ctx.b
    _same_type(x, source)
    if x.rank == 0:
        raise Refusal("index", "put into a 0-d operand")
    if accumulate:
        _rounds_every_step(ctx)
    i = index_of(ctx, index)
    src = b.reshape(b.cast(source, x.dtype), i.shape)
    dims = tuple(range(i.rank))
    if x.rank == 1:
        indices = [i]
    else:
        far = b.where(b.lt(i, like(b, i, 0)), b.add(i, size_value(b, x.numel, i64)), i)
        far = b.where(b.lt(far, like(b, far, 0)), like(b, far, 1 << 62), far)
        indices = _digits(ctx, far, x.shape)
    spec = [("at", d, dims) for d in range(x.rank)]
    return _scatter(ctx, x, src, indices, spec, _how(x.dtype, "sum") if accumulate else "set")


def _digits(ctx: Context, flat: Value, shape: tuple[Ix, ...]) -> list[Value]:
    """The index along every dim of a row-major position; the first one is out of range if the position is."""
    b, out = ctx.b, []
    for step in row_major(shape):
        size = size_value(b, step, i64)
        digit = b.floordiv(flat, size) if step is not ONE else flat
        flat = b.sub(flat, b.mul(digit, size))
        out.append(digit)
    return out


@lower(aten.embedding_dense_backward.default)
def _embedding_backward(
    ctx: Context, grad: Value, index: Value, rows: Any, padding: Any, scale_grad_by_freq: bool
) -> Value:
    """Rows of the gradient by index. Eager leaves out indices that name no row, and those of the padding."""
    if scale_grad_by_freq:
        raise Refusal("operator", "gradients scaled by frequency")
    _rounds_every_step(ctx)
    b, i = ctx.b, index_of(ctx, index)
    counts = b.and_(b.ge(i, like(b, i, 0)), b.lt(i, size_value(b, ctx.shape[0], i64)))
    if not isinstance(padding, int) or padding >= 0:
        counts = b.and_(counts, b.ne(i, size_value(b, padding, i64)))
    grad = b.reshape(grad, (*i.shape, ctx.shape[1]))
    spec = [("at", 0, tuple(range(i.rank))), ("dim", i.rank)]
    zero = b.full(ctx.shape, 0, ctx.dtype)
    return _scatter(ctx, zero, b.cast(grad, ctx.dtype), [i], spec, "sum", b.unsqueeze(counts, i.rank))
