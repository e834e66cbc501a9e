"""Where quotients of positions, which views that split an axis leave behind, are the same for all lanes of a vector.

With v at the start of a vector, a multiple of its lanes, `(c * v + rest) // d` does not change within the vector when
c * lanes divides both d and `rest`. `size` gives what a symbol stands for; without it only the constants of the program
count, and what is found holds for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..index.expr import Atom, Ix

if TYPE_CHECKING:
    from .cpu import Schedule

Size = Callable[[Ix], int] | None


def steady(f: Fusion, v: Atom, lanes: int, size: Size = None) -> bool:
    """Whether there are quotients that depend on `v`, and none changes within a vector of so many lanes."""
    found = divided(f, v)
    return lanes > 1 and bool(found) and all(steady_in(i, v, lanes, size) for i in found)


def divided(f: Fusion, v: Atom) -> list[Ix]:
    """The positions in which there are quotients that depend on `v`."""
    return [i for i in _positions(f) if any(a.kind == "div" and v in a.ix.all_axes() for a in i.atoms())]


def steady_in(p: Ix, v: Atom, lanes: int, size: Size = None) -> bool:
    """Whether no quotient in `p` changes within a vector."""
    for a in p.atoms():
        if a.kind != "div" or v not in a.ix.all_axes():
            continue
        if v in a.ix.looked_up():
            return False
        assert a.num is not None
        c = a.num.coefficient(v, within=True)
        n = None if c is None else size(c) if size is not None else c.as_int()
        if n is None or n < 0 or v in a.aux.axes():
            return False
        step = n * lanes
        if step and not (multiple(a.aux, step, size) and multiple(a.num.without(v), step, size)):
            return False
    return True


def divides(f: Fusion, s: Schedule) -> Atom | None:
    """The axis with lanes along it, if they have quotients of their own. `f`: before its axes were merged (there is no
    quotient of axes that every access walks as one; of others that are one axis, the innermost is asked for)."""
    v = next((a for a in f.axes if s.vector.endswith(a.name)), None)
    if v is None or s.lanes == 1 or all(steady_in(p, v, s.lanes) for p in _positions(f)):
        return None
    return v


def spared(v: Atom, lanes: int, at: Ix, positions: Iterable[Ix]) -> bool:
    """Whether lanes along `v` differ in a quotient of one of these positions, but in none of `at`."""
    return steady_in(at, v, lanes) and not all(steady_in(p, v, lanes) for p in positions)


def multiple(p: Ix, n: int, size: Size = None) -> bool:
    """Whether `p` is a multiple of n at every position, as far as constants and sizes tell."""
    steps: dict[tuple[Atom, ...], int] = {}  # of what varies: i * (m + 3) moves by the sum of two terms
    for m, c in p.terms:
        varies, step = m, c
        if size is not None:
            varies = tuple(a for a in m if a.kind != "sym")
            for a in m:
                step *= size(a.ix) if a.kind == "sym" else 1
        steps[varies] = steps.get(varies, 0) + step
    return all(step % n == 0 for step in steps.values())


def _positions(f: Fusion) -> list[Ix]:
    """Every offset, and every number that is computed from positions."""
    out = [s.offset for s in f.stores() if s.offset is not None]
    for e in sc.walk([*(s.body for s in f.stages), *(c for c, _ in f.checks)]):
        out += e.indices()
    return out
