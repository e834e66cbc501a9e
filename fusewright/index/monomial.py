"""Monomials, products of atoms: tuples of them in order. An index expression is a sum of such, each times a number."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .expr import Atom


def order(a: Atom) -> tuple[str, str, int]:
    """What atoms of a product are sorted by."""
    return a.order


def multiplied(a: tuple[Atom, ...], b: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """The product of two."""
    return tuple(sorted(a + b, key=order)) if a and b else (a or b)


@lru_cache(1 << 14)
def rank(m: tuple[Atom, ...]) -> tuple[int, tuple[tuple[str, str, int], ...]]:
    """What the monomials of a sum are sorted by: those of most atoms first."""
    return (-len(m), tuple(a.order for a in m))


def divided(m: tuple[Atom, ...], c: int, dm: tuple[Atom, ...], dc: int) -> tuple[tuple[Atom, ...], int] | None:
    """The term (c m) / (dc dm); None where that is none."""
    if c % dc:
        return None
    rest = list(m)
    for a in dm:
        if a not in rest:
            return None
        rest.remove(a)
    return tuple(rest), c // dc
