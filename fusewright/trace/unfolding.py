"""Windows of images as columns, and columns as images, in terms of views and one copy.

`im2col` reads windows, which are a view of the (padded) operand. `col2im` adds up the elements that windows share.
Where windows lie side by side it only moves them, and is taken apart on GPUs; it is left to PyTorch otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from ..run import devices

aten = torch.ops.aten


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
    return y.reshape(*x.shape[: at - 1], x.shape[at - 1] * kernel[0] * kernel[1], y.shape[-2] * y.shape[-1])


def col2im(
    x: torch.Tensor,
    size: Sequence[int],
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Any:
    """aten.col2im of windows side by side. `x`: ([N], C * window, windows); the result: ([N], C, H, W)."""
    if devices.driver_for(x.device) is None or any(padding) or list(kernel) != list(stride):
        return NotImplemented
    if not _suits(x, (kernel, dilation, padding, stride), 2):
        return NotImplemented
    across = [n // k for n, k in zip(size, kernel, strict=True)]
    known = all(isinstance(n, int) for n in (*size, *x.shape[-2:]))
    if not known or any(d != 1 for d in dilation) or [n * k for n, k in zip(across, kernel, strict=True)] != list(size):
        return NotImplemented
    channels, rest = divmod(x.shape[-2], kernel[0] * kernel[1])
    if rest or x.shape[-1] != across[0] * across[1]:
        return NotImplemented  # the operator stays whole, to raise eager's error
    y = x.reshape(*x.shape[:-2], channels, *kernel, *across)
    at = y.dim() - 4
    return y.permute(*range(at), at + 2, at, at + 3, at + 1).reshape(*x.shape[:-2], channels, *size)


def _suits(x: torch.Tensor, pairs: Sequence[Sequence[int]], rank: int) -> bool:
    """Whether it is a tensor of eager's ranks with something in it, and arguments that it takes."""
    kernel, dilation, padding, stride = pairs
    positive = all(isinstance(n, int) and n > 0 for n in (*kernel, *dilation, *stride))
    some = all(not isinstance(n, int) or n > 0 for n in x.shape)
    return x.dim() in (rank, rank + 1) and positive and some and min(padding) >= 0 and all(len(p) == 2 for p in pairs)


TABLE: dict[Any, Callable[..., Any]] = {aten.im2col.default: im2col, aten.col2im.default: col2im}

__all__ = ["TABLE"]
