"""Comparisons of uniform random numbers with constants, made on the integers that the numbers are made of.

A uniform number grows with its 32-bit word, so it is at least p exactly if the word is at least some integer: the
comparison has the same result for every word, and takes no conversion, product and comparison of floats.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..core.dtypes import f32
from ..fusion.scalar import Expr

WORDS = 1 << 32
_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def compared(e: Expr) -> tuple[Expr, str, int] | None:
    """(uniform number, comparison, bound) if `e` says how a number's word compares with the bound."""
    if e.kind != "op" or e.data not in _TURNED:
        return None
    how, (a, b) = e.data, e.args
    if a.kind == "const":
        how, a, b = _TURNED[how], b, a
    if a.kind != "random" or a.data[0] not in ("uniform", "curand_uniform") or a.dtype is not f32 or b.kind != "const":
        return None
    if b.data != b.data:
        return None
    first = _first(a.data[0], float(b.data), how in ("gt", "le"))
    if how in ("gt", "ge"):
        return (a, "ge", first) if first < WORDS else (a, "gt", WORDS - 1)
    return (a, "lt", first) if first < WORDS else (a, "le", WORDS - 1)


def value(kind: str, word: int) -> np.float32:
    """The number that is made of a word (`loop/emitter.py` emits this)."""
    if kind == "uniform":
        return np.float32(word >> 8) * np.float32(2.0**-24)
    return np.float32(np.uint32(word)) * np.float32(2.0**-32) + np.float32(2.0**-33)


@cache
def _first(kind: str, p: float, above: bool) -> int:
    """The first word whose number is at least `p`, or `above` it; WORDS if there is none."""
    lo, hi = 0, WORDS
    bound = np.float32(p)
    while lo < hi:
        middle = (lo + hi) // 2
        x = value(kind, middle)
        if x > bound if above else x >= bound:
            hi = middle
        else:
            lo = middle + 1
    return lo


__all__ = ["WORDS", "compared", "value"]
