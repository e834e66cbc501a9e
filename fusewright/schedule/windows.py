"""Lanes whose elements lie at constant distances from where a vector starts: what views by steps, pairs, repetitions
and flips leave behind.

With v = lanes * k + l, the offset `2 * (v // 2) + 1` is, for 8 lanes, `8 * k` plus 1, 1, 3, 3, 5, 5, 7 and 7. So the
lanes of every vector are at the same places of a *window*: elements side by side, as many as a power of two, from a
multiple of that on. Windows, a few at most, are read whole, and lanes are taken out of them, those of several loads
out of the same ones: the taps of a convolution, whose weights of a channel lie side by side. Likewise a condition on
positions may be a constant in each lane: `v - 2 * (v // 2) < 1` is true in even ones.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from ..fusion import scalar as sc
from ..fusion.ir import Buffer, Fusion
from ..fusion.scalar import Expr, on_positions
from ..index.expr import ONE, ZERO, Atom, Ix, axis, ix
from .quotients import Size, multiple

MOST = 4  # windows that are read for a vector
BYTES = 16  # of a window, at most: one access
_HOLDS: dict[str, Callable[[int, int], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}


class Windows(NamedTuple):
    """`width`: elements of a window; `starts`: where each begins, with v at the start of a vector; `lanes`: where each
    lane is in the windows, one behind the other, -1 where it reads nothing; `base`: what must be a multiple of `width`
    (in terms of the vector's number), so that all windows start at one."""

    width: int
    starts: tuple[Ix, ...]
    lanes: tuple[int, ...]
    base: Ix


def one_for_all(e: Expr, v: Atom | None) -> bool:
    """Whether all lanes along `v` agree on a condition, given that they do on positions."""
    if v not in e.axes:
        return True
    if e.kind == "op" and e.data in ("and", "or", "not") and e.dtype.is_bool:
        return all(one_for_all(a, v) for a in e.args)
    return on_positions(e)


def windows_of(e: Expr, v: Atom, lanes: int, steady: bool, uniform: bool) -> Windows | None:
    """The windows of a load; None if lanes are read one by one, or side by side as they are, or are all the same.

    A condition may be constant in each lane or the same in all of them; `uniform`: those on positions are.
    """
    _, offset, dtype = e.data
    if lanes == 1 or v not in offset.axes() or offset.coefficient(v, within=steady) in (ONE, ZERO):
        return None
    on = (True,) * lanes
    for a in e.args:
        some = constant_lanes(a, v, lanes)
        if some is None and not (one_for_all(a, v) if uniform else v not in a.axes):
            return None
        on = on if some is None else tuple(map(operator.and_, on, some))
    return windows(offset, v, lanes, dtype.itemsize, on)


def windows(offset: Ix, v: Atom, lanes: int, itemsize: int, on: tuple[bool, ...]) -> Windows | None:
    """The fewest windows that hold the elements of the lanes that are `on`, and of those the narrowest; the widest,
    which other loads may share, where each lane has its own."""
    found = _lanes(offset, v, lanes)
    if found is None or not any(on):
        return None
    first, start, places = found
    read = {p for p, x in zip(places, on, strict=True) if x}
    constant = next((c for m, c in first.terms if not m), 0)
    widths = [1 << n for n in range(max(1, BYTES // itemsize).bit_length())]
    count = {w: len({(p + constant % w) // w for p in read}) for w in widths}
    width = widths[-1] if 1 < min(count.values()) == len(read) else min(widths, key=count.__getitem__)
    rest = constant % width
    blocks = sorted({(p + rest) // width for p in read})
    if len(blocks) > MOST:
        return None
    at = [blocks.index((p + rest) // width) * width + (p + rest) % width if p in read else -1 for p in places]
    at = [n if x else -1 for n, x in zip(at, on, strict=True)]
    return Windows(width, tuple(start - rest + b * width for b in blocks), tuple(at), first - rest)


def constant_lanes(e: Expr, v: Atom, lanes: int) -> tuple[bool, ...] | None:
    """In which lanes of a vector a condition on positions holds, if that is the same for all vectors."""
    if e.kind != "op" or v not in e.axes or not e.dtype.is_bool:
        return None
    if e.data in ("and", "or", "not"):
        parts = [constant_lanes(a, v, lanes) for a in e.args]
        known = [p for p in parts if p is not None]
        if len(known) < len(parts):
            return None
        join = {"and": all, "or": any, "not": lambda x: not x[0]}[e.data]
        return tuple(join(x) for x in zip(*known, strict=True))
    if e.data not in _HOLDS or not all(a.kind == "index" or (a.kind == "const" and a.dtype.is_int) for a in e.args):
        return None
    a, b = sc.sides(e)
    found = _lanes(a - b, v, lanes)
    n = None if found is None else found[0].as_int()
    return None if found is None or n is None else tuple(_HOLDS[e.data](n + p, 0) for p in found[2])


def fewer(found: Iterable[Windows]) -> bool:
    """Whether these windows of one buffer, each read once, are fewer accesses than the lanes one by one."""
    ways = list(found)
    blocks = {(start, w.width) for w in ways for start in w.starts}
    return all(len(w.starts) == 1 for w in ways) or len(blocks) < sum(k >= 0 for w in ways for k in w.lanes)


def fit(w: Windows, b: Buffer, address: int, size: Size = None) -> bool:
    """Whether all windows are at multiples of their size in a buffer whose address is one of `address`, and inside it:
    each holds an element of it, so that one that is beyond its end is cut by it."""
    if address % (w.width * b.dtype.itemsize) or not multiple(w.base, w.width, size):
        return False
    return multiple(b.last + 1, w.width, size)


def loads(f: Fusion) -> list[Expr]:
    return [e for e in sc.walk([s.body for s in f.stages]) if e.kind == "load"]


@lru_cache(4096)  # groups are planned again with every operation that joins them
def _lanes(p: Ix, v: Atom, lanes: int) -> tuple[Ix, Ix, list[int]] | None:
    """What `p` is in the first lane of the k-th vector, in terms of k and in terms of v, and what each lane adds to it.
    None if that differs from vector to vector."""
    assert v.extent is not None
    if v in p.looked_up():
        return None
    k = axis(f"{v.name}/{lanes}", (v.extent + lanes - 1) // ix(lanes))
    first = p.subst({v: k * lanes})
    places = []
    for n in range(lanes):
        more = (p.subst({v: k * lanes + n}) - first).as_int()
        if more is None:
            return None
        places.append(more)
    return first, _in_terms_of(v, first, k, lanes) or p, places


def _in_terms_of(v: Atom, p: Ix, k: Ix, lanes: int) -> Ix | None:
    """`p` with v / lanes for k, if that leaves no quotient."""
    number = k.as_axis()
    out = ZERO
    for m, c in p.terms:
        term = ix(c)
        if m.count(number) == 1 and c % lanes == 0:
            term = ix(c // lanes) * v.ix
            m = tuple(a for a in m if a is not number)
        for a in m:
            if a is number or number in a.ix.axes():
                return None
            term = term * a.ix
        out = out + term
    return out


__all__ = ["Windows", "constant_lanes", "fewer", "fit", "loads", "one_for_all", "windows", "windows_of"]
