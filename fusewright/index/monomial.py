"""Monomials, products of atoms: tuples of them in order. An index expression is a sum of such, each times a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .expr import Atom


def order(a: Atom) -> tuple[str, str, int]:
    """What atoms of a product are sorted by."""
    return a.order


def multiplied(a: tuple[Atom, ...], b: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """The product of two."""
    return tuple(sorted(a + b, key=order)) if a and b else (a or b)


def term_key(t: tuple[tuple[Atom, ...], int]) -> tuple[int, tuple[tuple[str, str, int], ...]]:
    """What terms of a sum, (monomial, coefficient), are sorted by: those of most atoms first."""
    return (-len(t[0]), tuple(a.order for a in t[0]))


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
