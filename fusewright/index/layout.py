"""Positions in tensors: row-major strides, linear positions and multi-indices.

What is asked for again with each operation that may join a group, for which the group is built anew, is remembered.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from .expr import ONE, ZERO, Ix, IxLike, floordiv, mod


def product(xs: Iterable[IxLike | None]) -> Ix:
    """The product of extents (none of which may be None)."""
    out = ONE
    for x in xs:
        assert x is not None
        out = out * x
    return out


@lru_cache(maxsize=8192)
def numel(shape: tuple[Ix, ...]) -> Ix:
    """How many elements a tensor has."""
    return product(shape)


@lru_cache(maxsize=8192)
def row_major(shape: tuple[Ix, ...]) -> tuple[Ix, ...]:
    """Strides in elements of a contiguous tensor."""
    out = [ONE] * len(shape)
    for k in range(len(shape) - 2, -1, -1):
        out[k] = out[k + 1] * shape[k + 1]
    return tuple(out)


@lru_cache(maxsize=8192)
def linear(index: tuple[Ix, ...], strides: tuple[Ix, ...]) -> Ix:
    """Where a multi-index lies, in elements."""
    out = ZERO
    for i, s in zip(index, strides, strict=True):
        out = out + i * s
    return out


def flatten(index: tuple[Ix, ...], shape: tuple[Ix, ...]) -> Ix:
    """The row-major linear position of a multi-index."""
    return linear(index, row_major(shape))


def unflatten(flat: Ix, shape: tuple[Ix, ...]) -> tuple[Ix, ...]:
    """The multi-index of a row-major linear position. Where an extent is 0 there is none, and any will do."""
    if any(n is ZERO for n in shape):
        return (ZERO,) * len(shape)
    out = []
    for n, s in zip(shape, row_major(shape), strict=True):
        out.append(ZERO if n is ONE else mod(floordiv(flat, s), n))
    return tuple(out)


@lru_cache(maxsize=8192)
def reshaped(index: tuple[Ix, ...], old: tuple[Ix, ...], new: tuple[Ix, ...]) -> tuple[Ix, ...]:
    """The multi-index, in a tensor of shape `new`, of the same elements in row-major order."""
    return unflatten(flatten(index, old), new)
