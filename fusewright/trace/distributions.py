"""Draws from other distributions in terms of `aten.rand`, `aten.randn` and `aten.randint` of 32 bits, which are ours.

Taken apart are draws whose parameters are numbers that eager accepts, in types that it draws in float32: all others
stay PyTorch's, with its errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

aten = torch.ops.aten

WORD = 1 << 32  # a draw of `aten.randint.low(0, WORD)` as int64 is 32 bits of a stream
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def _uniform(x: torch.Tensor) -> torch.Tensor:
    return aten.rand.default(x.shape, dtype=torch.float32, device=x.device)


def _ours(x: torch.Tensor, generator: Any) -> bool:
    return generator is None and x.dtype in _FLOATS and x.is_contiguous()


def uniform(x: torch.Tensor, low: float = 0.0, high: float = 1.0, *, generator: Any = None) -> Any:
    """In [low, high), which rounding could reach where `low` is not 0."""
    if not _ours(x, generator) or not low <= high or not math.isfinite(high - low):
        return NotImplemented
    drawn = _uniform(x)
    if low == 0:
        return (drawn if high == 1 else drawn * high).to(x.dtype)
    out = (drawn * (high - low) + low).to(x.dtype)
    return torch.where(out >= high, low, out)


def exponential(x: torch.Tensor, rate: float = 1.0, *, generator: Any = None) -> Any:
    """-ln(u) / rate of u in (0, 1]; never 0, as in PyTorch's CUDA kernel: programs take the logarithm of it."""
    if not _ours(x, generator) or not 0 < rate < math.inf:
        return NotImplemented
    u = 1.0 - _uniform(x)
    half = torch.finfo(torch.float32).eps / 2
    return (torch.where(u >= 1.0 - half, -half, torch.log(u)) * (-1.0 / rate)).to(x.dtype)


def geometric(x: torch.Tensor, p: float, *, generator: Any = None) -> Any:
    """The number of the first success: ceil(ln(u) / ln(1 - p))."""
    if not _ours(x, generator) or not 0 < p < 1:
        return NotImplemented
    u = 1.0 - _uniform(x)
    return torch.ceil(torch.log(u) / math.log1p(-p)).clamp(min=1).to(x.dtype)


def cauchy(x: torch.Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Any:
    """median + sigma * tan(pi * (u - 1/2))."""
    if not _ours(x, generator) or not 0 < sigma < math.inf or not math.isfinite(median):
        return NotImplemented
    u = _uniform(x)
    return (torch.tan((u - 0.5) * math.pi) * sigma + median).to(x.dtype)


def _moved(x: torch.Tensor, mean: Any, std: Any) -> torch.Tensor:
    drawn = aten.randn.default(x.shape, dtype=torch.float32, device=x.device)
    return drawn * std + mean


def normal(x: torch.Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
    if not _ours(x, generator) or not 0 <= std < math.inf:
        return NotImplemented
    return _moved(x, mean, std).to(x.dtype)


def log_normal(x: torch.Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Any:
    if not _ours(x, generator) or not 0 < std < math.inf:
        return NotImplemented
    return torch.exp(_moved(x, mean, std)).to(x.dtype)


def normal_around(mean: torch.Tensor, std: float = 1.0, *, generator: Any = None) -> Any:
    """`torch.normal` around a tensor. (Of deviations in a tensor eager looks at the least one.)"""
    return normal(mean, 0.0, std, generator=generator) + mean if _ours(mean, generator) and std >= 0 else NotImplemented


def _integers(low: int, high: int, size: Sequence[Any], dtype: torch.dtype, device: torch.device) -> Any:
    """Integers in [low, high), of 32 bits each: the upper half of their product with the number of integers.

    Lemire, "Fast random integer generation in an interval" (2019), without its rejections: an integer's probability is
    off by a share of (high - low) / 2^32 at most, as with the remainder that eager takes.
    """
    known = isinstance(low, int) and isinstance(high, int)
    if not known or not 0 < high - low < 1 << 31 or dtype in (torch.bool, torch.float64) or dtype.is_complex:
        return NotImplemented
    if not dtype.is_floating_point and not torch.iinfo(dtype).min <= low <= high - 1 <= torch.iinfo(dtype).max:
        return NotImplemented
    if dtype.is_floating_point and max(abs(low), abs(high)) > 2 / torch.finfo(dtype).eps:
        return NotImplemented
    bits = aten.randint.low(0, WORD, size, dtype=torch.int64, device=device)
    drawn = (bits * (high - low)) >> 32
    return (drawn + low if low else drawn).to(dtype)


def _randint(low: int, high: int, size: Sequence[Any], **how: Any) -> Any:
    if how.get("generator") is not None or how.get("layout") not in (None, torch.strided) or (low, high) == (0, WORD):
        return NotImplemented
    dtype = how.get("dtype") or torch.int64
    return _integers(low, high, size, dtype, how.get("device") or torch.get_default_device())


def _randint_like(x: torch.Tensor, low: int, high: int, *, memory_format: Any = None, **how: Any) -> Any:
    if memory_format not in (None, torch.preserve_format, torch.contiguous_format) or not x.is_contiguous():
        return NotImplemented
    return _randint(low, high, x.shape, **{"dtype": x.dtype, "device": x.device, **_given(how)})


def _given(how: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in how.items() if v is not None}


def _random(x: torch.Tensor, low: int, high: int | None, *, generator: Any = None) -> Any:
    """`x.random_(low, high)`; without `high` the range is that of the type."""
    return NotImplemented if high is None else _randint_like(x, low, high, generator=generator)


def rrelu(
    x: torch.Tensor,
    noise: torch.Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    """A leaky ReLU, in training with random slopes, which are its second result (1 where they do not count)."""
    if not training:
        return torch.nn.functional.leaky_relu(x, (lower + upper) / 2), noise.clone()
    if not _ours(x, generator) or not lower <= upper:
        return NotImplemented
    slopes = torch.where(x <= 0, uniform(x, lower, upper), 1.0)
    return x * slopes, slopes


DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {
    aten.uniform.default: uniform,
    aten.exponential.default: exponential,
    aten.geometric.default: geometric,
    aten.cauchy.default: cauchy,
    aten.normal_functional.default: normal,
    aten.log_normal.default: log_normal,
    aten.normal.Tensor_float: normal_around,
    aten.randint.default: lambda high, size, **how: _randint(0, high, size, **how),
    aten.randint.low: _randint,
    aten.randint_like.default: lambda x, high, **how: _randint_like(x, 0, high, **how),
    aten.randint_like.low_dtype: _randint_like,
    aten.random.to: lambda x, high, **how: _random(x, 0, high, **how),
    getattr(aten.random, "from"): _random,
    aten.rrelu_with_noise_functional.default: rrelu,
}
