"""Depthwise convolutions with few taps: some products and sums for each element, and no library call.

    y[b, c, t] = sum over k of w[c, k] x[b, c, t + k d - p]

with t, k, d and p in one, two or three dimensions, moves no more than an elementwise kernel does where the taps k are
few, as in state-space models and in each half of a separable filter, and fuses like one; so does the gradient of x.
How many are few depends on what libraries are good at (`most`). PyTorch's kernels add up in float32 and round once; so
do these. Terms beyond an end of x are left out, not multiplied by zero.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch._prims_common import suggest_memory_format
from torch.fx import Node
from torch.utils.checkpoint import CheckpointPolicy

from ..run import devices
from .layouts import relayout
from .rewriting import arguments, call_like

aten = torch.ops.aten

MANY = 32  # taps, at most, where libraries are slow: along one dimension, of few channels, in volumes
FLAT = 9  # on GPUs, where nothing is learned or channels are few
REST = 4  # else: libraries have tiles for the 3x3 of networks, which took less time in steps of training
ALONG_ROWS, BESIDE = 8, 5  # with channels as neighbours in memory, on CPUs: in rows, in images
CHANNELS = 16  # of those, at least: of fewer, vectors of a CPU are hardly filled

_WIDE = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

Places = tuple[int, ...]  # of a tap among the taps, or how far from a point it reads; a number for each dimension


def open_forward(n: Node) -> bool:
    """Replace a convolution, if it is one of these; whether it was."""
    x, w, bias, stride, pads, steps, transposed, _, groups = arguments(n)
    learned = any(u.target is aten.convolution_backward.default and arguments(u)[-1][1] for u in x.users)
    if not _suits(x, w, stride, transposed, groups, learned):
        return False
    sizes = n.meta["val"].shape[2:]
    with n.graph.inserting_before(n):
        last = _channels_last(x)
        wide = _turned(n, _wide(n, x), last)
        terms = [_moved(n, wide, _tap(n, w, k, last), at, sizes, last) for k, at in _taps(w, pads, steps)]
        if bias is not None:
            terms.append(_column(n, _wide(n, bias), len(sizes), last))
        out = _narrow(n, _sum(n, terms), n.meta["val"].dtype)
        if len(terms) > 1:  # which take longer to add up again than their sum to read
            out.meta["recompute"] = CheckpointPolicy.MUST_SAVE
        out = _back(n, out, last)
        return relayout(n, out) or relayout(n, _laid_out(n, out))


def open_backward(n: Node) -> bool:
    """Replace the gradients of a convolution, if it is one of these; whether they were. The weights' stays a library's
    on GPUs: a sum for each tap, of what has to be made of all first, took three times as long as PyTorch's kernel."""
    g, x, w, _, stride, pads, steps, transposed, _, groups, mask = arguments(n)
    if not _suits(x, w, stride, transposed, groups, mask[1]):
        return False
    taps, sizes = list(_taps(w, pads, steps)), x.meta["val"].shape[2:]
    found: dict[int, Node] = {}
    with n.graph.inserting_before(n):
        if mask[0]:
            last = _channels_last(x)
            wide = _turned(n, _wide(n, g), last)
            terms = [_moved(n, wide, _tap(n, w, k, last), _opposite(at), sizes, last) for k, at in taps]
            found[0] = _back(n, _narrow(n, _sum(n, terms), g.meta["val"].dtype), last)
        if mask[1] and devices.driver_for(x.meta["val"].device) is None:
            found[1] = _of_weights(n, g, x, w, [at for _, at in taps])
        if mask[2]:
            found[2] = call_like(n, aten.sum.dim_IntList, g, [0, *range(2, 2 + len(sizes))])
        for user in list(n.users):
            new = found.get(arguments(user)[1])
            if new is not None and not relayout(user, new):
                relayout(user, _laid_out(user, new))
    if not n.users:
        n.graph.erase_node(n)
        return True
    left = {arguments(user)[1] for user in n.users}
    n.args = (*n.args[:-1], [k in left for k in range(3)])
    n.meta["val"] = tuple(v if k in left else None for k, v in enumerate(n.meta["val"]))
    return True


def _of_weights(n: Node, g: Node, x: Node, w: Node, shifts: list[Places]) -> Node:
    """The gradient of the weights: for each tap the sum of g[b, c, t] x[b, c, t + shift]. All have `g`'s points."""
    last, sizes, shape = _channels_last(x), g.meta["val"].shape[2:], w.meta["val"].shape
    wide, other = _turned(n, _wide(n, g), last), _turned(n, _wide(n, x), last)
    summed = [0, *(range(1, len(shape) - 1) if last else range(2, len(shape)))]
    sums = []
    for at in shifts:
        inside = _inside(at, x.meta["val"].shape[2:], sizes)
        part = _part(n, wide, inside, last)
        term = call_like(n, aten.mul.Tensor, part, _part(n, other, _shifted(inside, at), last))
        sums.append(call_like(n, aten.sum.dim_IntList, _padded(n, term, inside, sizes, last), summed))
    columns = [call_like(n, aten.unsqueeze.default, t, -1) for t in sums]
    all_taps = call_like(n, aten.view.default, call_like(n, aten.cat.default, columns, 1), list(shape))
    return _narrow(n, all_taps, w.meta["val"].dtype)


def _suits(x: Any, w: Any, stride: list[int], transposed: bool, groups: int, learned: bool) -> bool:
    a, b = x.meta["val"], w.meta["val"]
    if a.dim() != b.dim() or a.dim() < 3 or transposed or any(s != 1 for s in stride) or b.shape[1] != 1:
        return False
    known = all(isinstance(s, int) and s > 0 for s in (*a.shape, *b.shape))
    if not known or not groups == a.shape[1] == b.shape[0] or math.prod(b.shape[2:]) > most(a, b.shape[2:], learned):
        return False
    return a.dtype in _FLOATS and a.dtype == b.dtype and not devices.unsupported(a.device)


def most(x: torch.Tensor, extents: Sequence[int], learned: bool) -> int:
    """Taps up to which these kernels are faster than a library's: with more, each element is read so often that tiles
    of it pay. `learned`: whether there is a gradient of the weights. (Measured forward and backward on an H200 and on
    two cores with AVX-512, beside cuDNN, PyTorch's own and oneDNN, which is slow on contiguous memory of few channels,
    and on volumes; cuDNN on kernels along one dimension.)
    """
    channels, in_one = x.shape[1], sum(e > 1 for e in extents) <= 1
    last = x.stride()[1] == 1 and channels > 1
    few = channels <= CHANNELS // 2
    if devices.driver_for(x.device) is not None:
        return MANY if channels == 1 or in_one else FLAT - last if few or not learned else REST
    if last:
        return ALONG_ROWS if x.dim() == 3 else BESIDE if channels >= CHANNELS else 0
    return MANY if in_one or few or x.dim() == 5 else REST


def _taps(w: Node, pads: Sequence[int], steps: Sequence[int]) -> Iterator[tuple[Places, Places]]:
    """Each tap, and how far from a point it reads."""
    extents = w.meta["val"].shape[2:]
    pads, steps = ([*t] * len(extents) if len(t) == 1 else t for t in (pads, steps))
    for k in itertools.product(*map(range, extents)):
        yield k, tuple(i * d - p for i, d, p in zip(k, steps, pads, strict=True))


def _opposite(at: Places) -> Places:
    return tuple(-s for s in at)


def _inside(at: Places, sizes: Sequence[int], out: Sequence[int]) -> list[tuple[int, int]]:
    """The positions t of `out`, from and to, for which t + at is one of `sizes`."""
    found = []
    for shift, size, points in zip(at, sizes, out, strict=True):
        first = min(max(0, -shift), points)
        found.append((first, max(first, min(points, size - shift))))
    return found


def _shifted(inside: list[tuple[int, int]], at: Places) -> list[tuple[int, int]]:
    return [(first + shift, end + shift) for (first, end), shift in zip(inside, at, strict=True)]


def _channels_last(x: Node) -> bool:
    """Whether to compute in (b, *t, c): the channels are neighbours in memory."""
    return bool(x.meta["val"].stride()[1] == 1)


def _turned(n: Node, x: Node, last: bool) -> Node:
    """(b, c, *t) as (b, *t, c) if so, for results that lie as the operand does, if what reads them can do so."""
    rank = x.meta["val"].dim()
    return call_like(n, aten.permute.default, x, [0, *range(2, rank), 1]) if last else x


def _back(n: Node, x: Node, last: bool) -> Node:
    rank = x.meta["val"].dim()
    return call_like(n, aten.permute.default, x, [0, rank - 1, *range(1, rank - 1)]) if last else x


def _moved(n: Node, x: Node, weight: Node, at: Places, out: Sequence[int], last: bool) -> Node:
    """`weight` times x[..., t + at], for t < out; zero beyond the ends of x."""
    first = 1 if last else 2
    inside = _inside(at, x.meta["val"].shape[first : first + len(at)], out)
    part = _part(n, x, _shifted(inside, at), last)
    return _padded(n, call_like(n, aten.mul.Tensor, part, weight), inside, out, last)


def _part(n: Node, x: Node, spans: list[tuple[int, int]], last: bool) -> Node:
    for dim, (first, end) in enumerate(spans, 1 if last else 2):
        if (first, end) != (0, x.meta["val"].shape[dim]):
            x = call_like(n, aten.slice.Tensor, x, dim, first, end)
    return x


def _padded(n: Node, x: Node, inside: list[tuple[int, int]], out: Sequence[int], last: bool) -> Node:
    widths = [(first, size - end) for (first, end), size in zip(inside, out, strict=True)]
    if not any(map(any, widths)):
        return x
    flat = [s for pair in reversed(widths) for s in pair]
    return call_like(n, aten.constant_pad_nd.default, x, [0, 0] * last + flat, 0.0)


def _tap(n: Node, w: Node, k: Places, last: bool) -> Node:
    """The weights of a tap, for all channels."""
    for i in (0, *k):
        w = call_like(n, aten.select.int, w, 1, i)
    return _column(n, _wide(n, w), len(k), last)


def _column(n: Node, x: Node, dims: int, last: bool) -> Node:
    """What channels have, next to the dimensions of t or before them."""
    for _ in range(0 if last else dims):
        x = call_like(n, aten.unsqueeze.default, x, -1)
    return x


def _wide(n: Node, x: Node) -> Node:
    dtype = _WIDE.get(x.meta["val"].dtype)
    return x if dtype is None else call_like(n, aten._to_copy.default, x, dtype=dtype)


def _narrow(n: Node, x: Node, dtype: torch.dtype) -> Node:
    return x if x.meta["val"].dtype is dtype else call_like(n, aten._to_copy.default, x, dtype=dtype)


def _sum(n: Node, terms: list[Node]) -> Node:
    out = terms[0]
    for term in terms[1:]:
        out = call_like(n, aten.add.Tensor, out, term)
    return out


def _laid_out(n: Node, x: Node) -> Node:
    """`x` as `n` lies in memory."""
    return call_like(n, aten.clone.default, x, memory_format=suggest_memory_format(n.meta["val"]))


__all__ = ["open_backward", "open_forward"]
