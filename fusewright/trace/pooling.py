"""Average pooling in terms of elementwise operations, which join what is before and behind them.

A window's elements are strided slices of the (padded) operand, added up in the order of the window in the type that
eager's kernels add in. The gradient adds up what the few windows give that hold an element; where they lie side by side
it is an expanded view.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import product
from math import prod
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch._prims_common import suggest_memory_format

from ..run import devices
from .unfolding import few, fold

aten = torch.ops.aten

LANES = 16  # of float32, at most
MOST = 27  # elements of a window: of more, an elementwise kernel reads each of them as often


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
    w = _windows(rank, x, kernel_size, stride, padding, ceil_mode)
    if w is None or prod(w.kernel) > MOST or divisor_override == 0:
        return NotImplemented
    return _averages(x, w, _divisor(x, w, count_include_pad, divisor_override))


def _averages(x: torch.Tensor, w: Windows, *divisors: Any) -> torch.Tensor:
    """The sums of windows over the divisors."""
    wide = torch.promote_types(x.dtype, torch.float32)
    around = [(p, max(p, b)) for p, b in zip(w.pad, w.beyond, strict=True)]
    y = F.pad(x, [n for pair in reversed(around) for n in pair]) if any(map(any, around)) else x
    total = reduce(operator.add, (part.to(wide) for _, part in elements(y, w.kernel, w.out, w.stride)))
    return reduce(operator.truediv, divisors, total).to(x.dtype).contiguous(memory_format=_format(x, w))


def avg_pool2d_backward(grad: torch.Tensor, x: torch.Tensor, kernel_size: Sequence[int], *how: Any) -> Any:
    """aten.avg_pool2d_backward. `grad`: (..., H', W'); the result: like `x`."""
    return _avg_pool_backward(2, grad, x, kernel_size, *how)


def avg_pool3d_backward(grad: torch.Tensor, x: torch.Tensor, kernel_size: Sequence[int], *how: Any) -> Any:
    """aten.avg_pool3d_backward. `grad`: (..., D', H', W'); the result: like `x`."""
    return _avg_pool_backward(3, grad, x, kernel_size, *how)


def _avg_pool_backward(
    rank: int,
    grad: torch.Tensor,
    x: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    w = _windows(rank, x, kernel_size, stride, padding, ceil_mode)
    if w is None or divisor_override == 0:
        return NotImplemented
    return _given_back(grad, x, w, _divisor(x, w, count_include_pad, divisor_override))


def _given_back(grad: torch.Tensor, x: torch.Tensor, w: Windows, *divisors: Any) -> Any:
    """What the elements of windows get of `grad`, which is that of their sums over the divisors."""
    if not few(w.kernel, w.ones, w.stride) or grad.shape != (*x.shape[: x.dim() - len(w.size)], *w.out):
        return NotImplemented
    if devices.driver_for(x.device) is None and not _found_by_lanes(w, _format(x, w)):
        return NotImplemented
    each = reduce(operator.truediv, divisors, grad.to(torch.promote_types(x.dtype, torch.float32)))
    form = _format(x, w)
    return fold(each, w.kernel, w.size, w.ones, w.pad, w.stride, windows=True, equal=True, form=form).to(x.dtype)


def _found_by_lanes(w: Windows, form: torch.memory_format) -> bool:
    """Whether lanes of a CPU find the windows that hold them in less time than eager's kernel goes point by point."""
    if form is not torch.contiguous_format:
        return max(w.stride) == 1 or few(w.kernel, w.ones, w.stride, 4)
    if w.stride[-1] <= (2 if w.kernel[-1] <= w.stride[-1] else 1):
        return True
    even = w.kernel == w.stride and not any(w.pad)
    return even and (prod(w.kernel) <= MOST or w.stride[-1] % LANES == 0)


def _format(x: torch.Tensor, w: Windows) -> torch.memory_format:
    """Where eager has the results of pooling `x`, and its gradient: of volumes they are contiguous."""
    return suggest_memory_format(x) if len(w.size) == 2 else torch.contiguous_format


def _divisor(x: torch.Tensor, w: Windows, with_padding: bool, override: int | None) -> Any:
    """What the sum of a window is divided by: a number, or one for each window."""
    if override is not None:
        return override
    some = any(w.pad) and not with_padding
    if not some and all(b <= p for b, p in zip(w.beyond, w.pad, strict=True)):
        return prod(w.kernel)
    out = torch.ones((), device=x.device)
    for d, (n, m, k, s, p) in enumerate(zip(w.size, w.out, w.kernel, w.stride, w.pad, strict=True)):
        first = torch.arange(m, device=x.device) * s - p
        inside = (first + k).clamp(max=n if some else n + p) - (first.clamp(min=0) if some else first)
        out = out * inside.reshape(-1, *[1] * (len(w.kernel) - 1 - d))
    return out


def adaptive_avg_pool2d(x: torch.Tensor, output_size: Sequence[int]) -> Any:
    """aten._adaptive_avg_pool2d of windows of one size, side by side. `x`: (..., H, W)."""
    return _adaptive_avg_pool(2, x, output_size)


def adaptive_avg_pool3d(x: torch.Tensor, output_size: Sequence[int]) -> Any:
    """aten._adaptive_avg_pool3d of windows of one size, side by side. `x`: (..., D, H, W)."""
    return _adaptive_avg_pool(3, x, output_size)


def _adaptive_avg_pool(rank: int, x: torch.Tensor, output_size: Sequence[int]) -> Any:
    w = _even(rank, x, output_size)
    if w is None:
        return NotImplemented
    if prod(w.kernel) <= MOST:
        return _averages(x, w, *_in_turn(x, w))
    if not x.is_contiguous():
        return NotImplemented
    split = [n for pair in zip(w.out, w.kernel, strict=True) for n in pair]
    return x.reshape(*x.shape[:-rank], *split).mean(tuple(range(-2 * rank + 1, 0, 2)))


def adaptive_avg_pool2d_backward(grad: torch.Tensor, x: torch.Tensor) -> Any:
    """aten._adaptive_avg_pool2d_backward of windows of one size. `grad`: (..., H', W'); the result: like `x`."""
    return _adaptive_avg_pool_backward(2, grad, x)


def adaptive_avg_pool3d_backward(grad: torch.Tensor, x: torch.Tensor) -> Any:
    """aten._adaptive_avg_pool3d_backward of windows of one size. `grad`: (..., D', H', W'); the result: like `x`."""
    return _adaptive_avg_pool_backward(3, grad, x)


def _adaptive_avg_pool_backward(rank: int, grad: torch.Tensor, x: torch.Tensor) -> Any:
    w = _even(rank, x, grad.shape[-rank:])
    return NotImplemented if w is None else _given_back(grad, x, w, *_in_turn(grad, w))


def _in_turn(x: torch.Tensor, w: Windows) -> tuple[int, ...]:
    """What eager's kernels divide by: the extents of a window, or where they have lanes along channels its size."""
    return w.kernel if _format(x, w) is torch.contiguous_format else (prod(w.kernel),)


def _even(rank: int, x: torch.Tensor, output_size: Sequence[int]) -> Windows | None:
    """The windows of an adaptive pooling, if all are of one size."""
    size = x.shape[-rank:]
    known = all(isinstance(n, int) and n > 0 for n in (*size, *output_size)) and len(size) == len(output_size)
    if not known or any(n % m for n, m in zip(size, output_size, strict=True)):
        return None
    return _windows(rank, x, [n // m for n, m in zip(size, output_size, strict=True)])


def elements(
    x: torch.Tensor, kernel: Sequence[int], out: Sequence[int], stride: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], torch.Tensor]]:
    """Each place in a window along the last dimensions of `x`, in order, and what all windows have there."""
    for at in product(*map(range, kernel)):
        part = x
        for d, (a, n, s) in enumerate(zip(at, out, stride, strict=True), x.dim() - len(at)):
            part = aten.slice.Tensor(part, d, a, a + (n - 1) * s + 1, s)
        yield at, part


class Windows(NamedTuple):
    """A pooling: for each of its dimensions, extents of operand and result, window, stride and padding."""

    size: tuple[int, ...]
    out: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]

    @property
    def beyond(self) -> list[int]:
        """How far the last window reaches over the end of the operand."""
        return [(m - 1) * s + k - n - p for n, m, k, s, p in zip(*self, strict=True)]

    @property
    def ones(self) -> tuple[int, ...]:
        return (1,) * len(self.size)


def _windows(
    rank: int,
    x: torch.Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
) -> Windows | None:
    """What a pooling does; None where it stays whole, to raise eager's error, or because sizes vary."""
    size = tuple(x.shape[-rank:])
    kernel, step, pad = (tuple(a) * (rank if len(a) == 1 else 1) for a in (kernel_size, stride or kernel_size, padding))
    if not x.is_floating_point() or x.dim() not in (rank + 1, rank + 2) or devices.unsupported(x.device):
        return None
    if any(2 * p > k for k, p in zip(kernel, pad, strict=True)) or min(*kernel, *step) < 1 or min(pad) < 0:
        return None
    if not all(isinstance(n, int) and n > 0 for n in size):
        return None
    out = []
    for n, k, s, p in zip(size, kernel, step, pad, strict=True):
        m = (n + 2 * p - k + (s - 1 if ceil_mode else 0)) // s + 1
        out.append(m - 1 if ceil_mode and (m - 1) * s >= n + p else m)  # the last begins in front of the end
    return Windows(size, tuple(out), kernel, step, pad) if min(out) > 0 else None


TABLE: dict[Any, Callable[..., Any]] = {
    aten.avg_pool2d.default: avg_pool2d,
    aten.avg_pool2d_backward.default: avg_pool2d_backward,
    aten.avg_pool3d.default: avg_pool3d,
    aten.avg_pool3d_backward.default: avg_pool3d_backward,
    aten._adaptive_avg_pool2d.default: adaptive_avg_pool2d,
    aten._adaptive_avg_pool2d_backward.default: adaptive_avg_pool2d_backward,
    aten._adaptive_avg_pool3d.default: adaptive_avg_pool3d,
    aten._adaptive_avg_pool3d_backward.default: adaptive_avg_pool3d_backward,
}

__all__ = ["TABLE", "Windows", "elements"]
