"""Max pooling whose large windows lie side by side, as reductions over views: see `max_pooling`.

A second reduction finds where in its window the largest element is, in what has just been read. Elements have numbers
from 0 in the order of the window, and NaNs instead those from -1 downwards: the least number among the largest elements
and NaNs is that of the first of equal ones, or of the last NaN, as in PyTorch's kernels. In the backward pass each
element's number is compared with its window's, and nothing is scattered.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import torch

from ..run import devices
from .pooling import Windows

# On a CPU, at least:
WIDE = 6  # extent of windows along lines
CHANNELS = 8  # of channels-last memory
WINDOWS = 16  # of each channel there, for reductions to largest elements alone


def chosen(x: torch.Tensor, w: Windows, numbered: bool) -> Callable[..., tuple[torch.Tensor, ...]] | None:
    """`forward`, or `largest` if nothing reads numbers; None where PyTorch's kernels take less time.

    PyTorch's time over ours, of a ReLU and a pooling, forward and backward, on two threads of a Xeon: contiguous 1.1 to
    12, where windows are 5 to 2 wide 1.1 to 0.3; channels-last 0.9 to 4, of 7 to 3 channels 2.1 to 0.5. The largest
    alone: 1 to 30; of few windows of channels-last memory down to 0.1, but with numbers 2 to 7.
    """
    rank = len(w.size)
    if prod(w.kernel) > torch.iinfo(torch.int32).max:
        return None
    if devices.driver_for(x.device) is not None:
        return forward if numbered else largest
    lines, channels = x.stride(-1) == 1, x.shape[-rank - 1]
    if not numbered and (lines or x.numel() // (channels * prod(w.kernel)) >= WINDOWS):
        return largest
    if lines:
        return forward if w.kernel[-1] == 1 or w.kernel[-1] >= WIDE or w.out[-1] == 1 else None
    return forward if x.stride(-rank - 1) == 1 and channels >= CHANNELS else None


def largest(x: torch.Tensor, w: Windows, form: torch.memory_format) -> tuple[torch.Tensor]:
    """The largest element of each window; of zeros of both signs either one, as of `amax`."""
    return (placed(_split(x, w).amax(_inside(w)), form),)


def forward(x: torch.Tensor, w: Windows, form: torch.memory_format) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest element of each window, and its number."""
    y, inside = _split(x, w), _inside(w)
    top = y.amax(inside, keepdim=True)
    number = _numbers(w, x)
    candidates = torch.where(y.isnan(), ~number, torch.where(y == top, number, prod(w.kernel)))
    least = candidates.amin(inside)
    # As it is written makes the number part of the forward pass: what is not, cannot be marked to be saved.
    values = torch.where(least < 0, torch.nan, top.squeeze(inside))
    return placed(values, form), placed(least.to(_type(w)), form)


def backward(grad: torch.Tensor, least: torch.Tensor, w: Windows, form: torch.memory_format) -> torch.Tensor:
    """The gradient of the operand, from that of the result."""
    lead = grad.shape[: grad.dim() - len(w.size)]
    apart = [n for m in w.out for n in (m, 1)]
    each, number = grad.reshape(*lead, *apart), known(least).reshape(*lead, *apart)
    given = torch.where(number == _numbers(w, grad), each, 0.0)
    return placed(given.reshape(*lead, *w.size), form)


def _split(x: torch.Tensor, w: Windows) -> torch.Tensor:
    """A view with windows and their elements in dimensions of their own."""
    return x.view(*x.shape[: x.dim() - len(w.size)], *(n for pair in zip(w.out, w.kernel, strict=True) for n in pair))


def _inside(w: Windows) -> tuple[int, ...]:
    """The dimensions of elements of a window, in what `_split` makes."""
    return tuple(range(1 - 2 * len(w.size), 0, 2))


def _numbers(w: Windows, like: torch.Tensor) -> torch.Tensor:
    """Of the elements of a window, in what `_split` makes."""
    split = [n for k in w.kernel for n in (k, 1)][:-1]
    return torch.arange(prod(w.kernel), dtype=torch.int32, device=like.device).view(split)


def known(least: torch.Tensor) -> torch.Tensor:
    """The number in its window, whether NaN or not."""
    wide = least.to(torch.int32)
    return torch.where(wide < 0, ~wide, wide)


def _type(w: Windows) -> torch.dtype:
    """The smallest that holds the numbers."""
    return next(t for t in (torch.int8, torch.int16, torch.int32) if prod(w.kernel) - 1 <= torch.iinfo(t).max)


def placed(out: torch.Tensor, form: torch.memory_format) -> torch.Tensor:
    """`contiguous` would let strides of extents of one be."""
    return out.clone(memory_format=form)


__all__ = ["backward", "chosen", "forward", "known", "largest", "placed"]
