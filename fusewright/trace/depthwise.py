"""Depthwise convolutions along one dimension: a few products and sums for each element, and no library call.

    y[b, c, t] = sum over k of w[c, k] x[b, c, t + k d - p]

with few taps k, as in state-space models, moves no more than an elementwise kernel does, and fuses like one; so does
the gradient of x. PyTorch's kernels add up in float32 and round once; so do these. Terms beyond an end of x are left
out, not multiplied by zero.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from ..run import devices
from .layouts import relayout
from .rewriting import arguments, call_like

aten = torch.ops.aten

TAPS = 8  # at most: with more, each element is read so often that a library's tiles pay

_WIDE = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def open_forward(n: Node) -> bool:
    """Replace a convolution, if it is one of these; whether it was."""
    x, w, bias, stride, (pad, *_), (step, *_), transposed, _, groups = arguments(n)
    if not _suits(x, w, stride, transposed, groups):
        return False
    size, taps = n.meta["val"].shape[2], w.meta["val"].shape[2]
    with n.graph.inserting_before(n):
        at = _along(x)
        wide = _turned(n, _wide(n, x), at)
        terms = [_moved(n, wide, _tap(n, w, k, at), k * step - pad, size, at) for k in range(taps)]
        if bias is not None:
            terms.append(_column(n, _wide(n, bias), at))
        out = _turned(n, _narrow(n, _sum(n, terms), n.meta["val"].dtype), at)
        return relayout(n, out) or relayout(n, _contiguous(n, out))


def open_backward(n: Node) -> bool:
    """Replace the gradients of a convolution, if it is one of these; whether they were. The weights' stays a library's
    on GPUs: a sum for each tap, of what has to be made of all first, took three times as long as PyTorch's kernel."""
    g, x, w, _, stride, (pad, *_), (step, *_), transposed, _, groups, mask = arguments(n)
    if not _suits(x, w, stride, transposed, groups):
        return False
    size, taps = x.meta["val"].shape[2], w.meta["val"].shape[2]
    found: dict[int, Node] = {}
    with n.graph.inserting_before(n):
        if mask[0]:
            at = _along(x)
            wide = _turned(n, _wide(n, g), at)
            terms = [_moved(n, wide, _tap(n, w, k, at), pad - k * step, size, at) for k in range(taps)]
            found[0] = _turned(n, _narrow(n, _sum(n, terms), g.meta["val"].dtype), at)
        if mask[1] and devices.driver_for(x.meta["val"].device) is None:
            found[1] = _of_weights(n, g, x, w, [k * step - pad for k in range(taps)])
        if mask[2]:
            found[2] = call_like(n, aten.sum.dim_IntList, g, [0, 2])
        for user in list(n.users):
            new = found.get(arguments(user)[1])
            if new is not None and not relayout(user, new):
                relayout(user, _contiguous(n, new))
    if not n.users:
        n.graph.erase_node(n)
        return True
    left = {arguments(user)[1] for user in n.users}
    n.args = (*n.args[:-1], [k in left for k in range(3)])
    n.meta["val"] = tuple(v if k in left else None for k, v in enumerate(n.meta["val"]))
    return True


def _of_weights(n: Node, g: Node, x: Node, w: Node, shifts: list[int]) -> Node:
    """The gradient of the weights: for each tap the sum of g[b, c, t] x[b, c, t + shift]. All have `g`'s points."""
    at = _along(x)
    wide, other, out = _turned(n, _wide(n, g), at), _turned(n, _wide(n, x), at), g.meta["val"].shape[2]
    sums = []
    for shift in shifts:
        first, last = _inside(shift, x.meta["val"].shape[2], out)
        part = call_like(n, aten.slice.Tensor, wide, at, first, last)
        term = call_like(
            n, aten.mul.Tensor, part, call_like(n, aten.slice.Tensor, other, at, first + shift, last + shift)
        )
        sums.append(call_like(n, aten.sum.dim_IntList, _padded(n, term, first, out - last, at), [0, at]))
    columns = [call_like(n, aten.unsqueeze.default, call_like(n, aten.unsqueeze.default, t, -1), -1) for t in sums]
    return _narrow(n, call_like(n, aten.cat.default, columns, 2), w.meta["val"].dtype)


def _suits(x: Any, w: Any, stride: list[int], transposed: bool, groups: int) -> bool:
    a, b = x.meta["val"], w.meta["val"]
    if a.dim() != 3 or b.dim() != 3 or transposed or stride != [1] or b.shape[1] != 1:
        return False
    known = all(isinstance(s, int) and s > 0 for s in (*a.shape, *b.shape))
    if not known or not groups == a.shape[1] == b.shape[0] or groups == 1 or b.shape[2] > TAPS:
        return False
    return a.dtype in _FLOATS and a.dtype == b.dtype and not devices.unsupported(a.device)


def _inside(shift: int, size: int, out: int) -> tuple[int, int]:
    """The positions t of `out` for which t + shift is one of `size`."""
    first = min(max(0, -shift), out)
    return first, max(first, min(out, size - shift))


def _along(x: Node) -> int:
    """The dimension along which to convolve: 2, or 1 of (b, t, c), if the channels are neighbours in memory."""
    return 1 if x.meta["val"].stride()[1] == 1 else 2


def _turned(n: Node, x: Node, at: int) -> Node:
    """(b, c, t) with t at that dimension, and back. Results lie as the operand does, if what reads them can do so."""
    return x if at == 2 else call_like(n, aten.permute.default, x, [0, 2, 1])


def _moved(n: Node, x: Node, weight: Node, shift: int, out: int, at: int) -> Node:
    """`weight` times x[..., t + shift], for t < out; zero beyond the ends of x."""
    first, last = _inside(shift, x.meta["val"].shape[at], out)
    part = call_like(n, aten.slice.Tensor, x, at, first + shift, last + shift)
    return _padded(n, call_like(n, aten.mul.Tensor, part, weight), first, out - last, at)


def _padded(n: Node, x: Node, before: int, after: int, at: int) -> Node:
    if not before and not after:
        return x
    return call_like(n, aten.constant_pad_nd.default, x, [0, 0] * (2 - at) + [before, after], 0.0)


def _tap(n: Node, w: Node, k: int, at: int) -> Node:
    """The weights of a tap, for all channels."""
    return _column(n, _wide(n, call_like(n, aten.select.int, call_like(n, aten.select.int, w, 2, k), 1, 0)), at)


def _column(n: Node, x: Node, at: int) -> Node:
    """What channels have, next to t or before it."""
    return x if at == 1 else call_like(n, aten.unsqueeze.default, x, -1)


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


def _contiguous(n: Node, x: Node) -> Node:
    return call_like(n, aten.clone.default, x, memory_format=torch.contiguous_format)


__all__ = ["open_backward", "open_forward"]
