"""Decompositions whose results lie in memory as those of eager's kernels do, where their pieces have another order.

Eager's kernels for norms and losses allocate their result by a rule of their own; the pieces of a decomposition follow
their operands. A result that would lie otherwise is copied in the decomposition's last step, which fuses: its kernel
stores it where it belongs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch._prims_common import suggest_memory_format

aten = torch.ops.aten

Decomposition = Callable[..., Any]


def _of_format(out: torch.Tensor, memory_format: torch.memory_format) -> torch.Tensor:
    if out.is_contiguous(memory_format=memory_format):
        return out
    return out.clone(memory_format=memory_format)


def _contiguous(out: torch.Tensor) -> torch.Tensor:
    return _of_format(out, torch.contiguous_format)


def _like(out: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """`out`, of the shape of `x`, in the order of memory that `empty_like(x)` has."""
    wanted = torch.empty_like(x, dtype=out.dtype).stride()
    if out.stride() == wanted:
        return out
    order = sorted(range(x.dim()), key=lambda k: wanted[k], reverse=True)
    back = sorted(range(x.dim()), key=order.__getitem__)
    return out.permute(order).clone(memory_format=torch.contiguous_format).permute(back)


def batch_norm(how: Decomposition) -> Decomposition:
    """On a CPU eager's result is contiguous, or channels-last if the input is more or less that."""

    @wraps(how)
    def take_apart(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        out = how(x, *args, **kwargs)
        if x.device.type != "cpu" or out is NotImplemented:
            return out
        return (_of_format(out[0], suggest_memory_format(x)), *out[1:])

    return take_apart


def batch_norm_backward(how: Decomposition) -> Decomposition:
    """As `batch_norm`, of the gradient of the input, if it is wanted."""

    @wraps(how)
    def take_apart(grad: torch.Tensor, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        out = how(grad, x, *args, **kwargs)
        if x.device.type != "cpu" or out is NotImplemented or out[0] is None:
            return out
        return (_of_format(out[0], suggest_memory_format(x)), *out[1:])

    return take_apart


def loss_backward(how: Decomposition) -> Decomposition:
    """Eager's gradients of losses of two tensors are contiguous."""

    @wraps(how)
    def take_apart(*args: Any, **kwargs: Any) -> Any:
        out = how(*args, **kwargs)
        return out if out is NotImplemented else _contiguous(out)

    return take_apart


def glu_backward(how: Decomposition) -> Decomposition:
    """Eager's gradient is contiguous on a CPU."""

    @wraps(how)
    def take_apart(grad: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        out = how(grad, *args, **kwargs)
        return out if out is NotImplemented or grad.device.type != "cpu" else _contiguous(out)

    return take_apart


def cross_entropy_of_two(how: Decomposition) -> Decomposition:
    """Eager's binary cross-entropy lies as its input does, whatever the target."""

    @wraps(how)
    def take_apart(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        out = how(x, *args, **kwargs)
        return out if out is NotImplemented or out.shape != x.shape else _like(out, x)

    return take_apart


def cross_entropy_of_two_backward(how: Decomposition) -> Decomposition:
    """So does its gradient."""

    @wraps(how)
    def take_apart(grad: torch.Tensor, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        out = how(grad, x, *args, **kwargs)
        return out if out is NotImplemented else _like(out, x)

    return take_apart


def dropout_backward(grad: torch.Tensor, mask: torch.Tensor, scale: float) -> torch.Tensor:
    """As eager's kernels: the mask first, then the scale, which is not rounded to 16 bits.

    A CPU's follow the gradient in memory, a GPU's are contiguous, or channels-last.
    """
    out = grad * mask * scale
    if grad.device.type == "cpu":
        return out
    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(grad.dim())
    if last is not None and not grad.is_contiguous() and grad.is_contiguous(memory_format=last):
        return out.clone(memory_format=last)
    return out.clone(memory_format=torch.contiguous_format)


WRAPPERS: dict[Any, Callable[[Decomposition], Decomposition]] = {
    aten.native_batch_norm: batch_norm,
    aten._native_batch_norm_legit: batch_norm,
    aten._native_batch_norm_legit_functional: batch_norm,
    aten._native_batch_norm_legit_no_training: batch_norm,
    aten._batch_norm_with_update: batch_norm,
    aten._batch_norm_with_update_functional: batch_norm,
    aten._batch_norm_no_update: batch_norm,
    aten.native_batch_norm_backward: batch_norm_backward,
    aten.batch_norm_backward: batch_norm_backward,
    aten.glu_backward: glu_backward,
    aten.mse_loss_backward: loss_backward,
    aten.smooth_l1_loss_backward: loss_backward,
    aten.huber_loss_backward: loss_backward,
    aten.binary_cross_entropy: cross_entropy_of_two,
    aten.binary_cross_entropy_backward: cross_entropy_of_two_backward,
}


def as_eager(table: dict[Any, Decomposition]) -> dict[Any, Decomposition]:
    """`table` with results where eager has them."""
    return {op: WRAPPERS.get(getattr(op, "overloadpacket", None), lambda how: how)(how) for op, how in table.items()}


__all__ = ["as_eager", "dropout_backward"]
