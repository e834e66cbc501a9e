"""Rules for operators that only move elements: views, and the copies that are index maps."""

from __future__ import annotations

from typing import Any

import torch

from ...core.dtypes import i64
from ...core.errors import Refusal
from ...graph.builder import Builder
from ...graph.ir import Value
from ...index.expr import ONE, ZERO, Ix, ix, nonnegative
from .common import exact, like, position, size_value, wrap_index, zeros
from .registry import Context, Rule, lower

aten = torch.ops.aten
PARTS = 16  # tensors that a kernel joins: of 32 it takes three times as long as PyTorch's copies, of 128 up to fifteen
BESIDE = 128  # of single elements beside each other, which PyTorch copies one by one


# --- aliases ---------------------------------------------------------------------------------------


@lower(aten.view.default, aten.reshape.default, aten._unsafe_view.default, aten._reshape_alias.default, view=True)
def _view(ctx: Context, x: Value, size: Any, stride: Any = None) -> Value:
    return ctx.b.reshape(x, ctx.shape)


@lower(aten.alias.default, aten.detach.default, aten.lift_fresh.default, view=True)
def _alias(ctx: Context, x: Value) -> Value:
    return x


@lower(aten.expand.default, view=True)
def _expand(ctx: Context, x: Value, size: Any, *, implicit: bool = False) -> Value:
    return ctx.b.expand(x, ctx.shape)


@lower(aten.expand_copy.default)
def _expand_copy(ctx: Context, x: Value, size: Any, *, implicit: bool = False) -> Value:
    return ctx.b.expand(x, ctx.shape)


@lower(aten.permute.default, view=True)
def _permute(ctx: Context, x: Value, dims: Any) -> Value:
    return ctx.b.permute(x, [ctx.dim(d, x.rank) for d in dims])


@lower(aten.transpose.int, view=True)
def _transpose(ctx: Context, x: Value, p: int, q: int) -> Value:
    if x.rank == 0:
        return x
    perm = list(range(x.rank))
    p, q = ctx.dim(p, x.rank), ctx.dim(q, x.rank)
    perm[p], perm[q] = perm[q], perm[p]
    return ctx.b.permute(x, perm)


@lower(aten.t.default, view=True)
def _t(ctx: Context, x: Value) -> Value:
    return _transpose(ctx, x, 0, 1) if x.rank == 2 else x


@lower(aten.unsqueeze.default, view=True)
def _unsqueeze(ctx: Context, x: Value, dim: int) -> Value:
    return ctx.b.unsqueeze(x, ctx.dim(dim, x.rank + 1))


@lower(aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims, view=True)
def _squeeze(ctx: Context, x: Value, dim: Any = None) -> Value:
    if x.rank == 0:
        return x
    dims = range(x.rank) if dim is None else [ctx.dim(d, x.rank) for d in ([dim] if isinstance(dim, int) else dim)]
    return ctx.b.squeeze(x, [d for d in dims if x.shape[d] is ONE])


@lower(aten.select.int, view=True)
def _select(ctx: Context, x: Value, dim: int, index: Any) -> Value:
    dim = ctx.dim(dim, x.rank)
    return ctx.b.select(x, dim, wrap_index(index, x.shape[dim]))


def slice_start(start: Any, size: Ix, length: Ix) -> Ix:
    """Where a slice of `length` elements begins; Python's rules for None, negative and too large starts."""
    if start is None or length is ZERO:
        return ZERO
    begin = ix(start)
    known, extent = begin.as_int(), size.as_int()
    if known is not None and extent is not None:
        return ix(min(max(known + extent if known < 0 else known, 0), extent))
    if nonnegative(begin):
        return begin  # the slice is not empty, so it begins inside
    if nonnegative(-begin):
        behind = size + begin
        if nonnegative(behind) or length is -begin:
            return behind
    raise Refusal("index", f"the start {start} of a slice of {size} elements is not known")


@lower(aten.slice.Tensor, view=True)
def _slice(ctx: Context, x: Value, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1) -> Value:
    dim = ctx.dim(dim, x.rank)
    length = ctx.shape[dim]
    return ctx.b.slice(x, dim, slice_start(start, x.shape[dim], length), step, length)


@lower(aten.diagonal.default, view=True)
def _diagonal(ctx: Context, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    p, q = ctx.dim(dim1, x.rank), ctx.dim(dim2, x.rank)
    last = len(ctx.shape) - 1
    spec: list[Any] = []
    n = 0
    for d in range(x.rank):
        if d == p:
            spec.append((max(-offset, 0), [(last, 1)]))
        elif d == q:
            spec.append((max(offset, 0), [(last, 1)]))
        else:
            spec.append((0, [(n, 1)]))
            n += 1
    return ctx.b.affine(x, ctx.shape, spec)


@lower(aten.unfold.default, view=True)
def _unfold(ctx: Context, x: Value, dim: int, size: int, step: int) -> Value:
    if x.rank == 0:
        return ctx.b.reshape(x, ctx.shape)
    dim = ctx.dim(dim, x.rank)
    spec: list[Any] = [(0, [(d, 1)]) for d in range(x.rank)]
    spec[dim] = (0, [(dim, step), (x.rank, 1)])
    return ctx.b.affine(x, ctx.shape, spec)


def _split_rule() -> Rule:
    def rule(ctx: Context, x: Value, sizes: Any, dim: int = 0) -> tuple[Value, ...]:
        dim = ctx.dim(dim, x.rank)
        out, start = [], ZERO
        for shape in ctx.shapes:
            out.append(ctx.b.slice(x, dim, start, 1, shape[dim]))
            start = start + shape[dim]
        return tuple(out)

    return rule


lower(aten.split.Tensor, aten.split_with_sizes.default, view=True)(_split_rule())
lower(aten.split_with_sizes_copy.default, aten.unsafe_split.Tensor, aten.unsafe_split_with_sizes.default)(_split_rule())


@lower(aten.unbind.int, view=True)
def _unbind(ctx: Context, x: Value, dim: int = 0) -> tuple[Value, ...]:
    dim = ctx.dim(dim, x.rank)
    return tuple(ctx.b.select(x, dim, k) for k in range(len(ctx.shapes)))


@lower(aten.as_strided.default, view=True)
def _as_strided(ctx: Context, x: Value, size: Any, stride: Any, offset: Any = None) -> Value:
    """Only what changes nothing: a contiguous tensor seen as itself. (Strides of x are not known here.)"""
    if x.shape == ctx.shape and all(s is ONE for s in x.shape):
        return x
    raise Refusal("view", "as_strided addresses storage, not elements")


# --- joining and padding ---------------------------------------------------------------------------


def _joined(b: Builder, parts: list[Value], dim: int) -> Value:
    """`parts` side by side. A kernel asks at each point whose it is; of too many PyTorch's copies are faster."""
    beside = dim == parts[0].rank - 1 and all(p.shape[dim] is ONE for p in parts)
    most = BESIDE if beside else PARTS
    if len(parts) > most:
        raise Refusal("pieces", f"{len(parts)} tensors, of which a kernel would join {most}")
    return b.cat(parts, dim)


@lower(aten.cat.default)
def _cat(ctx: Context, tensors: Any, dim: int = 0) -> Value:
    rank = len(ctx.shape)
    # a 1-d tensor without elements may be joined with anything
    parts = [t for t in tensors if t.rank == rank and not (rank > 1 and t.shape == (ZERO,))]
    if rank == 1:
        parts = [t for t in parts if t.shape[0] is not ZERO] or parts[:1]
    return _joined(ctx.b, [ctx.b.cast(t, ctx.dtype) for t in parts], ctx.dim(dim, rank))


@lower(aten.stack.default)
def _stack(ctx: Context, tensors: Any, dim: int = 0) -> Value:
    b, dim = ctx.b, ctx.dim(dim, len(ctx.shape))
    return _joined(b, [b.unsqueeze(b.cast(t, ctx.dtype), dim) for t in tensors], dim)


def pad_or_crop(b: Builder, x: Value, lo: list[Any], hi: list[Any], fill: Value) -> Value:
    """Pad, where negative amounts cut off instead."""
    for d in range(x.rank):
        cut_lo, cut_hi = (max(-v, 0) if isinstance(v, int) else 0 for v in (lo[d], hi[d]))
        if cut_lo or cut_hi:
            x = b.slice(x, d, cut_lo, 1, x.shape[d] - cut_lo - cut_hi)
    for v in (*lo, *hi):
        if isinstance(v, Ix) and not nonnegative(v):
            raise Refusal("index", f"the sign of the padding {v} is not known")
    keep = [[max(v, 0) if isinstance(v, int) else v for v in side] for side in (lo, hi)]
    return b.pad(x, keep[0], keep[1], fill)


@lower(aten.constant_pad_nd.default)
def _constant_pad(ctx: Context, x: Value, pad: Any, value: Any = 0) -> Value:
    lo: list[Any] = [0] * x.rank
    hi: list[Any] = [0] * x.rank
    for k in range(len(pad) // 2):
        lo[x.rank - 1 - k], hi[x.rank - 1 - k] = pad[2 * k], pad[2 * k + 1]
    return pad_or_crop(ctx.b, x, lo, hi, exact(ctx, value, x.dtype))


def _remapped(ctx: Context, x: Value, pad: Any, reflect: bool) -> Value:
    """Padding from the tensor itself: gather at positions computed from the index."""
    b = ctx.b
    indices: list[Value] = []
    spec: list[Any] = [("dim", d) for d in range(x.rank)]
    for k in range(len(pad) // 2):
        d = x.rank - 1 - k
        if not isinstance(pad[2 * k], int):
            raise Refusal("index", "symbolic padding")
        i = b.sub(b.iota([ctx.shape[d]], 0), b.const(pad[2 * k], i64))
        last = size_value(b, x.shape[d] - 1, i.dtype)
        if reflect:
            i = b.sub(last, b.abs(b.sub(last, b.abs(i))))
        else:
            i = b.min(b.max(i, like(b, i, 0)), last)
        spec[d] = ("at", len(indices), (d,))
        indices.append(i)
    return b.gather(x, indices, ctx.shape, spec)


@lower(aten.reflection_pad1d.default, aten.reflection_pad2d.default, aten.reflection_pad3d.default)
def _reflection_pad(ctx: Context, x: Value, pad: Any) -> Value:
    return _remapped(ctx, x, pad, True)


@lower(aten.replication_pad1d.default, aten.replication_pad2d.default, aten.replication_pad3d.default)
def _replication_pad(ctx: Context, x: Value, pad: Any) -> Value:
    return _remapped(ctx, x, pad, False)


# --- rearranging copies ----------------------------------------------------------------------------


@lower(aten.flip.default)
def _flip(ctx: Context, x: Value, dims: Any) -> Value:
    return ctx.b.flip(x, [ctx.dim(d, x.rank) for d in dims]) if x.rank else x


@lower(aten.roll.default)
def _roll(ctx: Context, x: Value, shifts: Any, dims: Any = ()) -> Value:
    b = ctx.b
    if not dims:
        flat = b.reshape(x, (x.numel,))
        return b.reshape(rolled(b, flat, shifts[0], 0), x.shape)
    for shift, d in zip(shifts, dims, strict=True):
        x = rolled(b, x, shift, ctx.dim(d, x.rank))
    return x


def rolled(b: Builder, x: Value, shift: Any, dim: int) -> Value:
    """`x` moved `shift` places along `dim`, what leaves at the end coming in at the beginning."""
    n = x.shape[dim].as_int()
    if n is None or not isinstance(shift, int):
        raise Refusal("index", "roll by or of a symbolic amount")
    cut = shift % n if n else 0
    if not cut:
        return x
    return b.cat([b.slice(x, dim, n - cut, 1, cut), b.slice(x, dim, 0, 1, n - cut)], dim)


@lower(aten.repeat.default)
def _repeat(ctx: Context, x: Value, repeats: Any) -> Value:
    b = ctx.b
    lead = len(repeats) - x.rank
    split: list[Any] = []
    wide: list[Any] = []
    for k, r in enumerate(repeats):
        n = x.shape[k - lead] if k >= lead else ONE
        split += [ONE, n]
        wide += [r, n]
    return b.reshape(b.expand(b.reshape(x, split), wide), ctx.shape)


@lower(aten.pixel_shuffle.default)
def _pixel_shuffle(ctx: Context, x: Value, r: int) -> Value:
    *lead, _, h, w = x.shape
    n = len(lead)
    c = ctx.shape[n]
    parts = ctx.b.reshape(x, (*lead, c, r, r, h, w))
    return ctx.b.reshape(ctx.b.permute(parts, [*range(n), n, n + 3, n + 1, n + 4, n + 2]), ctx.shape)


@lower(aten.pixel_unshuffle.default)
def _pixel_unshuffle(ctx: Context, x: Value, r: int) -> Value:
    *lead, c, _, _ = x.shape
    n = len(lead)
    h, w = ctx.shape[n + 1 :]
    parts = ctx.b.reshape(x, (*lead, c, h, r, w, r))
    return ctx.b.reshape(ctx.b.permute(parts, [*range(n), n, n + 2, n + 4, n + 1, n + 3]), ctx.shape)


@lower(aten.channel_shuffle.default, aten.native_channel_shuffle.default)
def _channel_shuffle(ctx: Context, x: Value, groups: int) -> Value:
    n, c, *rest = x.shape
    parts = ctx.b.reshape(x, (n, groups, c // groups, *rest))
    return ctx.b.reshape(ctx.b.permute(parts, [0, 2, 1, *range(3, parts.rank)]), ctx.shape)


# --- triangles and diagonals -----------------------------------------------------------------------


def _triangle(lower_part: bool) -> Rule:
    def rule(ctx: Context, x: Value, diagonal: Any = 0) -> Value:
        b = ctx.b
        row, col = (position(b, x.rank, d, x.shape[d]) for d in (x.rank - 2, x.rank - 1))
        edge = b.add(row, size_value(b, diagonal, row.dtype))
        keep = b.le(col, edge) if lower_part else b.ge(col, edge)
        return b.where(keep, x, like(b, x, 0))

    return rule


lower(aten.tril.default)(_triangle(True))
lower(aten.triu.default)(_triangle(False))


def on_diagonal(ctx: Context, source: Value, shape: Any, offset: int, dim1: int, dim2: int) -> tuple[Value, Value]:
    """(mask of the diagonal, `source` spread so that each diagonal element sees its own)."""
    b, rank = ctx.b, len(shape)
    p, q = ctx.dim(dim1, rank), ctx.dim(dim2, rank)
    first, second = (position(b, rank, d, shape[d]) for d in (p, q))
    mask = b.eq(b.add(first, b.const(offset, first.dtype)), second)
    along = p if offset >= 0 else q  # the dim whose index is the position on the diagonal
    n = source.shape[-1]
    extra = shape[along] - n
    if not nonnegative(extra):
        raise Refusal("shape", "a diagonal of unknown length")
    source = b.pad(source, [0] * source.rank, [0] * (source.rank - 1) + [extra], like(b, source, 0))
    others = [d for d in range(rank) if d not in (p, q)]
    spec = [(0, [(d, 1)]) for d in others] + [(0, [(along, 1)])]
    return mask, b.affine(source, shape, spec)


@lower(aten.diagonal_backward.default)
def _diagonal_backward(ctx: Context, grad: Value, sizes: Any, offset: int, dim1: int, dim2: int) -> Value:
    mask, spread = on_diagonal(ctx, grad, ctx.shape, offset, dim1, dim2)
    return ctx.b.expand(ctx.b.where(mask, spread, like(ctx.b, grad, 0)), ctx.shape)


@lower(aten.diag_embed.default)
def _diag_embed(ctx: Context, x: Value, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Value:
    return _diagonal_backward(ctx, x, None, offset, dim1, dim2)


@lower(aten.diagonal_scatter.default)
def _diagonal_scatter(ctx: Context, x: Value, src: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    mask, spread = on_diagonal(ctx, ctx.b.cast(src, x.dtype), ctx.shape, offset, dim1, dim2)
    return ctx.b.where(mask, spread, x)


# --- writing into a part ---------------------------------------------------------------------------


def placed(ctx: Context, x: Value, shape: Any, dim: int, start: Ix, step: int) -> Value:
    """x at start, start + step, ... along `dim` of a tensor of zeros."""
    b = ctx.b
    zero = like(b, x, 0)
    if step != 1:  # follow every element by step - 1 zeros
        wide = b.unsqueeze(x, dim + 1)
        wide = b.pad(wide, [0] * wide.rank, [step - 1 if d == dim + 1 else 0 for d in range(wide.rank)], zero)
        x = b.reshape(wide, [s * step if d == dim else s for d, s in enumerate(x.shape)])
    rest = shape[dim] - start - x.shape[dim]
    known = rest.as_int()
    lo: list[Any] = [start if d == dim else 0 for d in range(x.rank)]
    hi: list[Any] = [(rest if known is None else known) if d == dim else 0 for d in range(x.rank)]
    return pad_or_crop(b, x, lo, hi, zero)


@lower(aten.slice_backward.default)
def _slice_backward(ctx: Context, grad: Value, sizes: Any, dim: int, start: Any, end: Any, step: int) -> Value:
    dim = ctx.dim(dim, grad.rank)
    if grad.shape[dim] is ZERO:
        return zeros(ctx)
    return placed(ctx, grad, ctx.shape, dim, slice_start(start, ctx.shape[dim], grad.shape[dim]), step)


@lower(aten.select_backward.default)
def _select_backward(ctx: Context, grad: Value, sizes: Any, dim: int, index: Any) -> Value:
    dim = ctx.dim(dim, grad.rank + 1)
    return placed(ctx, ctx.b.unsqueeze(grad, dim), ctx.shape, dim, wrap_index(index, ctx.shape[dim]), 1)


@lower(aten.slice_scatter.default)
def _slice_scatter(
    ctx: Context, x: Value, src: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Value:
    b, dim = ctx.b, ctx.dim(dim, x.rank)
    src = b.cast(src, x.dtype)
    n, length = x.shape[dim], src.shape[dim]
    if length is ZERO:
        return x
    begin = slice_start(start, n, length)
    if step == 1:
        after = begin + length
        parts = [b.slice(x, dim, 0, 1, begin), src, b.slice(x, dim, after, 1, n - after)]
        return b.cat([p for p in parts if p.shape[dim] is not ZERO], dim)
    where = b.sub(position(b, x.rank, dim, n), size_value(b, begin, i64))
    hit = b.eq(b.remainder(where, b.const(step, where.dtype)), b.const(0, where.dtype))
    inside = b.and_(b.ge(where, b.const(0, where.dtype)), b.lt(where, size_value(b, length * step, where.dtype)))
    return b.where(b.and_(hit, inside), placed(ctx, src, x.shape, dim, begin, step), x)


@lower(aten.select_scatter.default)
def _select_scatter(ctx: Context, x: Value, src: Value, dim: int, index: Any) -> Value:
    b, dim = ctx.b, ctx.dim(dim, x.rank)
    i = size_value(b, index, i64)  # a symbol may stand for a negative number: its sign is looked at when it is known
    at = b.where(b.lt(i, like(b, i, 0)), b.add(i, size_value(b, x.shape[dim], i64)), i)
    here = b.eq(position(b, x.rank, dim, x.shape[dim]), at)
    return b.where(here, b.unsqueeze(b.cast(src, x.dtype), dim), x)
