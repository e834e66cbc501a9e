"""Windows of images as columns, and columns as images, in terms of views and elementwise operations.

`im2col` reads windows, which are a view of the (padded) operand. `col2im` adds up the elements that windows share: a
point of the image is the sum of what the few windows have there that hold it, in the order of PyTorch's kernels. Where
windows lie side by side there is one, and nothing is added.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from math import prod
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch.fx.experimental.symbolic_shapes import statically_known_true

from ..run import devices

aten = torch.ops.aten

MOST = 49  # windows that hold a point: of more, the program of a kernel that adds them up is long


def im2col(
    x: torch.Tensor, kernel: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> Any:
    """aten.im2col. `x`: ([N], C, H, W); the result: ([N], C * window, windows)."""
    if not _suits(x, (kernel, dilation, padding, stride), 3):
        return NotImplemented
    y = F.pad(x, (padding[1], padding[1], padding[0], padding[0])) if any(padding) else x
    for d, (k, gap, step) in enumerate(zip(kernel, dilation, stride, strict=True)):
        span = (k - 1) * gap + 1
        if y.shape[x.dim() - 2 + d] < span:
            return NotImplemented
        y = y.unfold(x.dim() - 2 + d, span, step)
        y = y[..., ::gap] if gap > 1 else y
    at = x.dim() - 2
    y = y.permute(*range(at), at + 2, at + 3, at, at + 1)
    return _own(y.reshape(*x.shape[: at - 1], x.shape[at - 1] * kernel[0] * kernel[1], y.shape[-2] * y.shape[-1]), x)


def col2im(
    x: torch.Tensor,
    size: Sequence[int],
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Any:
    """aten.col2im. `x`: ([N], C * window, windows); the result: ([N], C, H, W)."""
    if not x.is_floating_point() or devices.unsupported(x.device) or len(size) != 2:
        return NotImplemented
    if not _suits(x, (kernel, dilation, padding, stride), 2) or not few(kernel, dilation, stride):
        return NotImplemented
    if stride[-1] > 1 and devices.driver_for(x.device) is None:
        return NotImplemented  # lanes along a line would divide to find their windows, which takes longer
    across = [
        (n + 2 * pad - (k - 1) * gap - 1) // step + 1
        for n, k, gap, pad, step in zip(size, kernel, dilation, padding, stride, strict=True)
    ]
    fits = (x.shape[-2] % prod(kernel) == 0, x.shape[-1] == across[0] * across[1])
    some = all(not isinstance(n, int) or n > 0 for n in (*size, *across))
    if not some or not all(map(statically_known_true, fits)):
        return NotImplemented  # the operator stays whole, to raise eager's error
    y = x.reshape(*x.shape[:-2], x.shape[-2] // prod(kernel), *kernel, *across)
    if x.device.type == "cpu":  # where eager's kernel goes through the window, and rounds what it has to 16 bits
        return _own(fold(y, kernel, size, dilation, padding, stride), x)
    wide = y.to(torch.promote_types(x.dtype, torch.float32))
    return _own(fold(wide, kernel, size, dilation, padding, stride, windows=True).to(x.dtype), x)


def unfold_backward(grad: torch.Tensor, size: Sequence[int], dim: int, length: int, step: int) -> Any:
    """aten.unfold_backward: what elements of a tensor of `size` get of the windows along `dim` that hold them.

    `grad`: (..., windows, ..., length).
    """
    d = dim + len(size) if dim < 0 else dim
    if not size or not grad.is_floating_point() or devices.unsupported(grad.device):
        return NotImplemented
    if not all(isinstance(n, int) and n > 0 for n in (length, step)) or not few([length], [1], [step]):
        return NotImplemented
    if step > 1 and d == len(size) - 1 and devices.driver_for(grad.device) is None:
        return NotImplemented  # as above
    wide = grad.to(torch.promote_types(grad.dtype, torch.float32)).movedim(d, -1)
    out = fold(wide, [length], [size[d]], [1], [0], [step], windows=True).to(grad.dtype)
    return _own(out.movedim(-1, d).contiguous(), grad)


def _own(out: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """`out` as a tensor of its own, like eager's, also where nothing has moved and it is a view of `x`."""
    mine, given = (t.untyped_storage()._cdata for t in (out, x))
    return out.clone() if mine == given else out


def fold(
    x: torch.Tensor,
    kernel: Sequence[int],
    size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
    *,
    windows: bool = False,
    equal: bool = False,
    form: torch.memory_format = torch.contiguous_format,
) -> torch.Tensor:
    """The image whose windows these are, points of several being sums, in the order of a window's elements.

    `x`: (..., kernel, windows), or (..., windows) where all elements of a window are `equal`; the result: (..., size),
    in memory of that `form`. `windows`: in the order of the windows, which is the other way round.

    The image lies `padding` behind the beginning of blocks of `stride` points, each of which takes some neighbours of a
    window. Sums are (..., blocks, stride), in the order of the result's memory: they may be stored.
    """
    rank = len(size)
    lead, across = x.shape[: x.dim() - (1 if equal else 2) * rank], x.shape[-rank:]
    at = len(lead)
    taps = [_taps(k, gap, step) for k, gap, step in zip(kernel, dilation, stride, strict=True)]
    skipped = [pad // step for pad, step in zip(padding, stride, strict=True)]  # blocks in front of the image
    around = []
    for d, (n, m, pad, step) in enumerate(zip(size, across, padding, stride, strict=True)):
        beyond = (n - 1 + pad) // step + 1 - m
        if not isinstance(beyond, int):
            beyond = -(-((kernel[d] - 1) * dilation[d] - pad) // step)  # at most
        around.append((max(taps[d][-1].window - skipped[d], 0), max(beyond, 0)))
    blocks = [m + behind - skip for m, (_, behind), skip in zip(across, around, skipped, strict=True)]
    y = F.pad(x, [n for pair in reversed(around) for n in pair]) if any(map(any, around)) else x
    if equal:  # after padding, which may be stored
        y = y.reshape(*lead, *[1] * rank, *y.shape[at:]).expand(*lead, *kernel, *y.shape[at:])
    last = form is not torch.contiguous_format
    front = [0] if last else [*range(at)]
    y = y.permute(*front, *(d + k for d in range(at, at + rank) for k in (rank, 0)), *([1] if last else []))
    parts = []
    for each in product(*(reversed(own) if windows else own for own in taps)):
        part, more = y, [0, 0] if last else []
        for d, tap in reversed(list(enumerate(each))):
            block = len(front) + 2 * d
            part = _slice(part, block, around[d][0] + skipped[d] - tap.window, blocks[d])
            part = _slice(part, block + 1, tap.first, tap.size)
            more += [tap.before, stride[d] - tap.size - tap.before, 0, 0]
        parts.append(F.pad(part, more) if any(more) else part)
    out = reduce(operator.add, parts)
    points = [m * step for m, step in zip(blocks, stride, strict=True)]
    out = out.reshape(lead[0], *points, lead[1]).movedim(-1, 1) if last else out.reshape(*lead, *points)
    for d, (n, pad, step) in enumerate(zip(size, padding, stride, strict=True)):
        out = _slice(out, at + d, pad % step, n)
    return out.contiguous(memory_format=form)


def few(kernel: Sequence[int], dilation: Sequence[int], stride: Sequence[int], most: int = MOST) -> bool:
    """Whether few enough windows hold a point for `fold` to add them up."""
    return prod(len(_taps(*each)) for each in zip(kernel, dilation, stride, strict=True)) <= most


class _Tap(NamedTuple):
    """Along a dimension, what each block of points takes of one of the windows that hold some of it."""

    first: int  # of the elements in the window
    size: int
    before: int  # points of the block before those
    window: int  # before that which begins in the block


def _taps(kernel: int, gap: int, step: int) -> list[_Tap]:
    """In the order of the elements in the window. Each point of a block is in each tap at most once."""
    if gap == 1 or step == 1:  # a window's elements are neighbours in the block, or each is in a block of its own
        return [_Tap(k, min(step, kernel - k), 0, k * gap // step) for k in range(0, kernel, step)]
    return [_Tap(k, 1, k * gap % step, k * gap // step) for k in range(kernel)]


def _slice(x: torch.Tensor, d: int, first: Any, count: Any) -> torch.Tensor:
    if first == 0 and statically_known_true(x.shape[d] == count):
        return x
    return aten.slice.Tensor(x, d, first, first + count)


def _suits(x: torch.Tensor, pairs: Sequence[Sequence[int]], rank: int) -> bool:
    """Whether it is a tensor of eager's ranks with something in it, and arguments that it takes."""
    kernel, dilation, padding, stride = pairs
    positive = all(isinstance(n, int) and n > 0 for n in (*kernel, *dilation, *stride))
    some = all(not isinstance(n, int) or n > 0 for n in x.shape)
    return x.dim() in (rank, rank + 1) and positive and some and min(padding) >= 0 and all(len(p) == 2 for p in pairs)


TABLE: dict[Any, Callable[..., Any]] = {
    aten.im2col.default: im2col,
    aten.col2im.default: col2im,
    aten.unfold_backward.default: unfold_backward,
}

__all__ = ["TABLE", "few", "fold"]
