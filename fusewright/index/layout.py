"""Positions in tensors: row-major strides, linear positions and multi-indices.

What is asked for again with each operation that may join a group, for which the group is built anew, is remembered.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from .expr import ONE, ZERO, Atom, Ix, IxLike, axis, floordiv, mod


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


def bijective(index: tuple[Ix, ...], shape: tuple[Ix, ...]) -> bool:
    """Whether a multi-index, over all points of its axes, is seen to be each element of a tensor once.

    Either each dim is an axis, or the row-major position is a number in mixed radix, of which the axes, or what they
    are taken apart into, are the digits. False says only that it is not seen.
    """
    if ZERO in shape:
        return True
    alone = [(i.as_axis(), n) for i, n in zip(index, shape, strict=True) if i is not ZERO or n is not ONE]
    if len({a for a, _ in alone}) == len(alone) and all(a is not None and a.extent is n for a, n in alone):
        return True
    points = product(a.extent for a in {a for i in index for a in i.axes()})
    return points is numel(shape) and _mixed_radix(flatten(_digits(index), shape), points)


def _digits(index: tuple[Ix, ...]) -> tuple[Ix, ...]:
    """The index over parts of the axes: quotients and remainders of an axis by a divisor of its extent become axes."""
    quotient = next((a for i in index for a in i.atoms() if a.kind == "div" and a.num.as_axis()), None)
    if quotient is None:
        return index
    whole, by = quotient.num.as_axis(), quotient.aux
    parts = floordiv(whole.extent, by)
    if parts * by is not whole.extent:
        return index
    digits = {whole: axis(f"{whole.name}q", parts) * by + axis(f"{whole.name}r", by)}
    return _digits(tuple(i.subst(digits) for i in index))  # which may be quotients again, of parts


def _mixed_radix(flat: Ix, count: Ix) -> bool:
    """Whether `flat`, over its axes, is each of 0 to `count - 1` once: each axis steps by how many the lesser count."""
    steps: dict[Atom, Ix] = {}
    rest = flat
    for a in flat.axes():
        by = flat.coefficient(a)
        if by is None:
            return False
        rest -= by * a.ix
        if all(c < 0 for _, c in by.terms):  # walked from its end
            by = -by
            rest -= by * (product((a.extent,)) - 1)
        steps[a] = by
    if rest is not ZERO:
        return False
    reached = ONE
    while steps:
        least = next((a for a, by in steps.items() if by is reached), None)
        if least is None:
            return False
        reached = product((reached, least.extent))
        del steps[least]
    return reached is count
