"""What a fusion computes more often than there are elements: values read at several places, as by a stencil.

Where a value is read at another place than its own (a view shifts, flips, unfolds or gathers it), it is computed
there as well. That saves memory traffic, and pays as long as the arithmetic is little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ..graph.ir import Value
from ..index.expr import Atom, Ix
from ..index.layout import product
from . import scalar as sc
from .scalar import Expr

DEAR = 32  # instructions per point of the loops: about what takes as long as storing a value and reading it back

Memo = Mapping[tuple[Value, tuple[Ix, ...], Expr | None], Expr]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`value` takes `cost` instructions per element; `places`: how many points each of the places it is read at has."""

    value: Value
    cost: int
    places: tuple[Ix, ...]


def repeats(memo: Memo, stored: Iterable[Value]) -> tuple[Repeat, ...]:
    """The values, of those in `stored`, that were evaluated at more points than they have. `memo`: by (value, place,
    mask). What is read under a mask, as the pieces of a cat are, counts as computed once."""
    wanted = set(stored)
    found: dict[Value, dict[tuple[Ix, ...], Expr]] = {}
    for (v, at, mask), e in memo.items():
        if v in wanted and e.args and mask is None:
            found.setdefault(v, {})[at] = e
    out = []
    for v, places in found.items():
        points = tuple(product(a.extent for a in e.axes) for e in places.values())
        if len(points) > 1 or points[0] != v.numel:
            cost = max(sum(x.cost for x in sc.walk([e])) for e in places.values())
            out.append(Repeat(v, cost, points))
    return tuple(out)


def too_dear(found: Iterable[Repeat], axes: Iterable[Atom], hint: Callable[[Ix], int]) -> Repeat | None:
    """A value that had better be stored than computed so often; `axes` are those of the fusion."""
    points = max(hint(product(a.extent for a in axes)), 1)
    for r in found:
        again = sum(hint(n) for n in r.places) - hint(r.value.numel)
        if again * r.cost > DEAR * points:
            return r
    return None
