"""Losses and what they are made of, of 16-bit floats, as eager's kernels for CPUs round them, for precision="eager".

torch's decompositions compute in float32 and round the result. Of eager's kernels some do that, and others round after
every step, by type and by kernel; where they do, the steps are here, in 16 bits. A number that a kernel takes in its
operands' type is rounded to it: `x.new_full((), number)`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

aten = torch.ops.aten

Tensor = torch.Tensor
Decomposition = Callable[..., Any]

MEAN, SUM = 1, 2
LEAST = -100  # of the logarithms in a binary cross-entropy


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    return loss.mean() if reduction == MEAN else loss.sum() if reduction == SUM else loss


def _norm(x: Tensor, reduction: int, number: float = 1.0) -> Any:
    return number / x.numel() if reduction == MEAN else number


def _mse(x: Tensor, y: Tensor, reduction: int = MEAN) -> Tensor:
    d = x - y
    return _reduced(d * d, reduction)


def _mse_backward(grad: Tensor, x: Tensor, y: Tensor, reduction: int) -> Tensor:
    return x.new_full((), _norm(x, reduction, 2.0)) * (x - y) * grad


def _huber(x: Tensor, y: Tensor, reduction: int = MEAN, delta: float = 1.0) -> Any:
    if x.dtype is torch.float16:
        return NotImplemented
    z, d = (x - y).abs(), x.new_full((), delta)
    return _reduced(torch.where(z < d, 0.5 * z * z, d * (z - 0.5 * d)), reduction)


def _huber_backward(grad: Tensor, x: Tensor, y: Tensor, reduction: int, delta: float) -> Tensor:
    n, d, t = x.new_full((), _norm(x, reduction)), x.new_full((), delta), x - y
    return torch.where(t <= -d, -(n * d) * grad, torch.where(t >= d, n * d * grad, n * t * grad))


def _smooth_l1(x: Tensor, y: Tensor, reduction: int = MEAN, beta: float = 1.0) -> Any:
    if x.dtype is torch.bfloat16 or beta == 0:
        return NotImplemented
    z, b = (x - y).abs(), x.new_full((), beta)
    return _reduced(torch.where(z < b, 0.5 * z * z / b, z - 0.5 * b), reduction)


def _bce(x: Tensor, y: Tensor, weight: Tensor | None = None, reduction: int = MEAN) -> Tensor:
    least = x.new_full((), LEAST)
    loss = (y - 1) * torch.maximum(torch.log1p(-x), least) - y * torch.maximum(torch.log(x), least)
    return _reduced(loss if weight is None else loss * weight, reduction)


def _bce_backward(grad: Tensor, x: Tensor, y: Tensor, weight: Tensor | None = None, reduction: int = MEAN) -> Tensor:
    out = grad * (x - y) / torch.clamp((1 - x) * x, min=1e-12)
    out = out if weight is None else out * weight
    return out / x.numel() if reduction == MEAN else out


def _soft_margin(x: Tensor, y: Tensor, reduction: int = MEAN) -> Tensor:
    return _reduced(torch.log1p(torch.exp(-x * y)), reduction)


def _soft_margin_backward(grad: Tensor, x: Tensor, y: Tensor, reduction: int) -> Tensor:
    z = torch.exp(-y * x)
    return -_norm(x, reduction) * y * z / (z + 1) * grad


def _log_softmax(x: Tensor, dim: int, half_to_float: bool) -> Any:
    """Along the last dimension sums and their logarithms are rounded, along others nothing is but the result."""
    if half_to_float or dim not in (-1, x.dim() - 1) or x.numel() == 0:
        return NotImplemented
    wide = x.contiguous().to(torch.float32)
    shifted = wide - wide.amax(-1, keepdim=True)
    total = shifted.exp().sum(-1, keepdim=True).to(x.dtype).log()
    return (shifted - total.to(torch.float32)).to(x.dtype)


def _logsumexp(x: Tensor, dim: Any, keepdim: bool = False) -> Any:
    if x.numel() == 0 or x.dim() == 0:
        return NotImplemented
    most = x.amax(dim, keepdim=True)
    most = most.masked_fill(most.abs() == float("inf"), 0)
    out = (x - most).exp().sum(dim, keepdim=True).log() + most
    return out if keepdim else out.squeeze(dim)


def _xlogy(x: Tensor, y: Tensor) -> Tensor:
    some = torch.where(x == 0, x.new_zeros(()), x * y.log())
    return torch.where(y.isnan(), y, some)


def _bounds(x: Tensor, eps: float | None) -> tuple[Tensor, Tensor] | None:
    if eps is None or eps < 0:
        return None
    low = x.new_full((), eps)
    return low, 1 - low


def _logit(x: Tensor, eps: float | None = None) -> Tensor:
    if (bounds := _bounds(x, eps)) is not None:
        low, high = bounds
        x = torch.where(x < low, low, torch.where(x > high, high, x))
    return (x / (1 - x)).log()


def _logit_backward(grad: Tensor, x: Tensor, eps: float | None = None) -> Tensor:
    bounds = _bounds(x, eps)
    low, high = (0, 1) if bounds is None else bounds
    inside, slope = (x >= low) & (x <= high), grad / (x * (1 - x))
    return torch.where(inside, slope, x.new_full((), float("nan") if bounds is None else 0.0))


def _glu_backward(grad: Tensor, x: Tensor, dim: int) -> Any:
    if x.dim() == 0 or x.shape[dim] % 2:
        return NotImplemented
    a, b = x.chunk(2, dim)
    s = b.sigmoid()
    wide, g, v = (t.to(torch.float32) for t in (s, grad, a))
    return torch.cat([s * grad, ((1 - wide) * wide * g * v).to(x.dtype)], dim)


TABLE: dict[Any, Decomposition] = {
    aten.mse_loss.default: _mse,
    aten.mse_loss_backward.default: _mse_backward,
    aten.huber_loss.default: _huber,
    aten.huber_loss_backward.default: _huber_backward,
    aten.smooth_l1_loss.default: _smooth_l1,
    aten.binary_cross_entropy.default: _bce,
    aten.binary_cross_entropy_backward.default: _bce_backward,
    aten.soft_margin_loss.default: _soft_margin,
    aten.soft_margin_loss_backward.default: _soft_margin_backward,
    aten._log_softmax.default: _log_softmax,
    aten.logsumexp.default: _logsumexp,
    aten.xlogy.Tensor: _xlogy,
    aten.logit.default: _logit,
    aten.logit_backward.default: _logit_backward,
    aten.glu_backward.default: _glu_backward,
}


def _whole(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


def _else(rounding: Decomposition, how: Decomposition) -> Decomposition:
    """`rounding` for 16-bit floats on a CPU, all of one type; otherwise `how`."""

    @wraps(how)
    def take_apart(*args: Any, **kwargs: Any) -> Any:
        tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)]
        narrow = {t.dtype for t in tensors} in ({torch.float16}, {torch.bfloat16})
        out = rounding(*args, **kwargs) if narrow and tensors[0].device.type == "cpu" else NotImplemented
        return how(*args, **kwargs) if out is NotImplemented else out

    return take_apart


def rounding(table: dict[Any, Decomposition]) -> dict[Any, Decomposition]:
    """`table` with these in it."""
    return {**table, **{op: _else(how, table.get(op, _whole)) for op, how in TABLE.items()}}


__all__ = ["rounding"]
