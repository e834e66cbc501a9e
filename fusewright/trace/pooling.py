"""Average pooling in terms of elementwise operations, which join what is before and behind them.

A window's elements are strided slices of the (padded) operand, added up in the order of the window in the type that
eager's kernels add in. Where windows tile the operand, the gradient is an expanded view.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import product
from math import prod
from typing import Any

import torch
import torch.nn.functional as F
from torch._prims_common import suggest_memory_format

from ..run import devices

aten = torch.ops.aten

MOST = 25  # elements of a window: of more, an elementwise kernel reads each of them as often


def avg_pool2d(x: torch.Tensor, kernel_size: Sequence[int], *how: Any) -> Any:
    """aten.avg_pool2d. `x`: (..., H, W)."""
    return _avg_pool(2, x, kernel_size, *how)


def avg_pool3d(x: torch.Tensor, kernel_size: Sequence[int], *how: Any) -> Any:
    """aten.avg_pool3d. `x`: (..., D, H, W)."""
    return _avg_pool(3, x, kernel_size, *how)


def _avg_pool(
    rank: int,
    x: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    kernel, step, pad = _pairs(rank, kernel_size, stride, padding)
    size = [(n + 2 * p - k) // s + 1 for n, k, s, p in zip(x.shape[-rank:], kernel, step, pad, strict=True)]
    known = all(isinstance(n, int) and n > 0 for n in size)
    if not _suits(rank, x, kernel, pad, ceil_mode) or not known or divisor_override == 0:
        return NotImplemented
    wide = torch.promote_types(x.dtype, torch.float32)
    y = F.pad(x, [p for p in reversed(pad) for _ in range(2)]) if any(pad) else x
    parts = (part.to(wide) for _, part in elements(y, kernel, size, step))
    total = reduce(operator.add, parts)
    if count_include_pad or divisor_override or not any(pad):
        out = total / (divisor_override or prod(kernel))
    else:
        out = total / _counted(x, kernel, size, step, pad)
    return out.to(x.dtype).contiguous(memory_format=suggest_memory_format(x))


def _counted(
    x: torch.Tensor, kernel: Sequence[int], size: Sequence[int], step: Sequence[int], pad: Sequence[int]
) -> torch.Tensor:
    """How many elements of each window are none of the padding."""
    out = torch.ones((), device=x.device)
    for d, (k, m, s, p) in enumerate(zip(kernel, size, step, pad, strict=True)):
        first = torch.arange(m, device=x.device) * s - p
        inside = (first + k).clamp(max=x.shape[x.dim() - len(kernel) + d]) - first.clamp(min=0)
        out = out * inside.reshape(-1, *[1] * (len(kernel) - 1 - d))
    return out


def adaptive_avg_pool2d(x: torch.Tensor, output_size: Sequence[int]) -> Any:
    """aten._adaptive_avg_pool2d of windows of one size, side by side. `x`: (..., H, W)."""
    given = [*x.shape[-2:], *output_size]
    if not all(isinstance(n, int) and n > 0 for n in given) or any(
        n % m for n, m in zip(given[:2], given[2:], strict=True)
    ):
        return NotImplemented
    h, w = (n // m for n, m in zip(x.shape[-2:], output_size, strict=True))
    if h * w <= MOST or not x.is_contiguous():
        return avg_pool2d(x, [h, w])
    if not _suits(2, x, [h, w], [0, 0], False, most=h * w):
        return NotImplemented
    return x.reshape(*x.shape[:-2], output_size[0], h, output_size[1], w).mean((-3, -1))


def avg_pool2d_backward(
    grad: torch.Tensor,
    x: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    """aten.avg_pool2d_backward, of windows side by side or one apart. `grad`: (..., H', W'); the result: like `x`."""
    kernel, step, pad = _pairs(2, kernel_size, stride, padding)
    known = all(isinstance(n, int) and n > 0 for n in x.shape[-2:])
    if not _suits(2, x, kernel, pad, ceil_mode) or not known or divisor_override == 0:
        return NotImplemented
    if any(pad) and not count_include_pad:
        return NotImplemented
    wide = torch.promote_types(x.dtype, torch.float32)
    h, w = grad.shape[-2:]
    each = grad.to(wide) / (divisor_override or kernel[0] * kernel[1])
    if step == [1, 1] and kernel != [1, 1]:
        around = [(k - 1 - p, n + p - m) for k, p, n, m in zip(kernel, pad, x.shape[-2:], (h, w), strict=True)]
        each = F.pad(each, [n for pair in reversed(around) for n in pair])
        out = reduce(operator.add, (part for _, part in elements(each, kernel, x.shape[-2:], step)))
        return out.to(x.dtype).contiguous(memory_format=suggest_memory_format(x))
    if any(pad) or kernel != step:
        return NotImplemented
    each = each.to(x.dtype)
    whole = (*grad.shape[:-2], h, kernel[0], w, kernel[1])
    out = each.unsqueeze(-1).unsqueeze(-3).expand(whole).reshape(*grad.shape[:-2], h * kernel[0], w * kernel[1])
    rest = [n - m for n, m in zip(x.shape[-2:], out.shape[-2:], strict=True)]
    if any(rest):
        out = F.pad(out, (0, rest[1], 0, rest[0]))
    return out.contiguous(memory_format=suggest_memory_format(x))


def elements(
    x: torch.Tensor, kernel: Sequence[int], out: Sequence[int], stride: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], torch.Tensor]]:
    """Each place in a window along the last dimensions of `x`, in order, and what all windows have there."""
    for at in product(*map(range, kernel)):
        part = x
        for d, (a, n, s) in enumerate(zip(at, out, stride, strict=True), x.dim() - len(at)):
            part = aten.slice.Tensor(part, d, a, a + (n - 1) * s + 1, s)
        yield at, part


def _pairs(rank: int, *args: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Kernel, stride (the kernel's, if there is none) and padding, for each dimension."""
    kernel, stride, padding = (list(a) * (rank if len(a) == 1 else 1) for a in args)
    return kernel, stride or kernel, padding


def _suits(rank: int, x: torch.Tensor, kernel: list[int], pad: list[int], ceil_mode: bool, most: int = MOST) -> bool:
    """Whether windows are small, and in bounds as eager wants them."""
    if not x.is_floating_point() or x.dim() not in (rank + 1, rank + 2) or devices.unsupported(x.device):
        return False
    if any(2 * p > k for k, p in zip(kernel, pad, strict=True)) or min(kernel) < 1 or prod(kernel) > most:
        return False  # the operator stays whole, to raise eager's error
    return not ceil_mode


TABLE: dict[Any, Callable[..., Any]] = {
    aten.avg_pool2d.default: avg_pool2d,
    aten.avg_pool2d_backward.default: avg_pool2d_backward,
    aten.avg_pool3d.default: avg_pool3d,
    aten._adaptive_avg_pool2d.default: adaptive_avg_pool2d,
}

__all__ = ["TABLE", "elements"]
