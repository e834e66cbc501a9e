"""Operators with a float argument that torch takes as a number, when it is given one that is computed from sizes.

    F.layer_norm(x, shape, eps=1 / x.shape[-1])     F.scaled_dot_product_attention(q, k, v, scale=q.shape[-1] ** -0.5)

torch's own would make the value a condition of the trace, so that each has a trace of its own. What stands here has the
formulas of eager's kernels, in operators that take such a float. Operators that are not here keep that condition.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
import torch.nn.functional as F

from ..core.errors import Refusal
from .numbers import value

_HALF = (torch.float16, torch.bfloat16)


def _wide(x: torch.Tensor) -> torch.Tensor:
    return x.float() if x.dtype in _HALF else x


def _plain(x: torch.Tensor, *others: torch.Tensor | None) -> bool:
    """Whether all are floats of one type, and there are some: else eager may raise an error."""
    return x.is_floating_point() and x.numel() != 0 and all(t is None or t.dtype is x.dtype for t in others)


def _of_last(x: torch.Tensor, shape: Any) -> list[int]:
    """The dimensions of a norm over the last ones, [] if they are of other sizes."""
    n = len(shape)
    return list(range(-n, 0)) if 0 < n <= x.dim() and tuple(x.shape[-n:]) == tuple(shape) else []


def _layer_norm(x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-5, *_: Any) -> Any:
    dims = _of_last(x, normalized_shape)
    if not dims or not _plain(x, weight, bias):
        return NotImplemented
    variance, mean = torch.var_mean(_wide(x), dims, correction=0, keepdim=True)
    out = (_wide(x) - mean) * torch.rsqrt(variance + eps)
    out = out if weight is None else out * weight
    return (out if bias is None else out + bias).to(x.dtype)


def _rms_norm(x: Any, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    dims = _of_last(x, normalized_shape)
    if not dims or not _plain(x, weight):
        return NotImplemented
    out = _wide(x) * torch.rsqrt(_wide(x).pow(2).mean(dims, keepdim=True) + eps)
    return (out if weight is None else out * weight).to(x.dtype)


def _group_norm(x: Any, num_groups: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-5, *_: Any) -> Any:
    if x.dim() < 2 or x.shape[1] % num_groups != 0 or not _plain(x, weight, bias):
        return NotImplemented
    grouped = _wide(x).reshape(x.shape[0], num_groups, -1)
    variance, mean = torch.var_mean(grouped, [2], correction=0, keepdim=True)
    out = ((grouped - mean) * torch.rsqrt(variance + eps)).reshape(x.shape)
    channels = (1, -1, *[1] * (x.dim() - 2))
    out = out if weight is None else out * weight.reshape(channels)
    return (out if bias is None else out + bias.reshape(channels)).to(x.dtype)


def _reduced(loss: torch.Tensor, reduction: str) -> Any:
    kinds: dict[str, Callable[[Any], Any]] = {"mean": torch.mean, "sum": torch.sum, "none": lambda t: t}
    return kinds[reduction](loss) if reduction in kinds else NotImplemented


def _compared(x: torch.Tensor, y: torch.Tensor) -> bool:
    return _plain(x, y) and x.shape == y.shape and x.dtype not in _HALF


def _positive(bound: Any) -> None:
    if not bound > 0:
        raise Refusal("value", "the bound of a loss is not positive, for which eager may raise an error")


def _smooth_l1_loss(
    x: Any, y: Any, size_average: Any = None, reduce: Any = None, reduction: Any = "mean", beta: Any = 1.0
) -> Any:
    if size_average is not None or reduce is not None or not _compared(x, y):
        return NotImplemented
    _positive(beta)
    z = (x - y).abs()
    return _reduced(torch.where(z < beta, 0.5 * z * z / beta, z - 0.5 * beta), reduction)


def _huber_loss(x: Any, y: Any, reduction: Any = "mean", delta: Any = 1.0, weight: Any = None) -> Any:
    if weight is not None or not _compared(x, y):
        return NotImplemented
    _positive(delta)
    z = (x - y).abs()
    return _reduced(torch.where(z < delta, 0.5 * z * z, delta * (z - 0.5 * delta)), reduction)


def _lerp(x: Any, y: Any, weight: Any) -> Any:
    if not isinstance(y, torch.Tensor) or not _plain(x, y) or x.dtype in _HALF:
        return NotImplemented
    return torch.lerp(x, y, torch.scalar_tensor(weight, dtype=x.dtype, device=x.device))


def _pad(x: Any, pad: Any, mode: Any = "constant", value: Any = None) -> Any:
    return torch.constant_pad_nd(x, list(pad), value) if mode == "constant" else NotImplemented


def _attention(query: Any, *args: Any, scale: Any = None, **options: Any) -> Any:
    """torch's own scale is one over the root of the size of a head. What another one is more than that is taken from
    the query, unless it would be rounded to 16 bits."""
    size = query.shape[-1]
    root = torch.sym_sqrt(size)
    alike = (torch.sym_float(size) ** -0.5, 1 / torch.sym_float(size) ** 0.5, 1 / root)
    known = [s.node.expr for s in alike if type(s) is torch.SymFloat]
    if scale.node.expr in known:
        return F.scaled_dot_product_attention(query, *args, **options)
    if query.dtype in _HALF:
        return NotImplemented
    return F.scaled_dot_product_attention(query * (scale * root), *args, **options)


def _pow(x: Any, exponent: Any) -> Any:
    """By the number's value where there is a gradient, which asks for it: torch cannot tell then."""
    needs = any(isinstance(t, torch.Tensor) and t.requires_grad for t in (x, exponent))
    return torch.pow(value(x), value(exponent)) if needs else NotImplemented


def _rpow(exponent: Any, x: Any) -> Any:
    return _pow(x, exponent)


def _where(plain: Callable[..., Any], ours: Callable[..., Any], kinds: Any = torch.SymFloat) -> Callable[..., Any]:
    """`plain`, or `ours` where it is given a symbolic number of these kinds and gives a result."""

    @wraps(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        if not any(isinstance(x, kinds) for x in (*args, *kwargs.values())):
            return plain(*args, **kwargs)
        try:
            out = ours(*args, **kwargs)
        except TypeError:  # called in another way
            out = NotImplemented
        return plain(*args, **kwargs) if out is NotImplemented else out

    return function


_OURS: dict[Any, Callable[..., Any]] = {
    F.layer_norm: _layer_norm,
    torch.layer_norm: _layer_norm,
    F.rms_norm: _rms_norm,
    torch.rms_norm: _rms_norm,
    F.group_norm: _group_norm,
    torch.group_norm: _group_norm,
    F.smooth_l1_loss: _smooth_l1_loss,
    F.huber_loss: _huber_loss,
    torch.lerp: _lerp,
    torch.Tensor.lerp: _lerp,
    F.pad: _pad,
    F.scaled_dot_product_attention: _attention,
}
_POWERS: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys((torch.pow, torch.Tensor.pow, torch.Tensor.__pow__), _pow),
    torch.Tensor.__rpow__: _rpow,
}
CALLS: dict[Any, Callable[..., Any]] = {
    **{plain: _where(plain, ours) for plain, ours in _OURS.items()},
    **{plain: _where(plain, ours, (torch.SymFloat, torch.SymInt)) for plain, ours in _POWERS.items()},
}

__all__ = ["CALLS"]
