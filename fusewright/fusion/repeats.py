"""What a fusion computes more often than there are elements: values read at several places, as by a stencil.

Where a value is read at another place than its own (a view shifts, flips, unfolds or gathers it), it is computed
there as well. That saves memory traffic, and pays as long as the arithmetic is little.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass

from ..graph.ir import Value
from ..index.expr import Atom, Ix
from ..index.layout import product
from . import scalar as sc
from .scalar import Expr

DEAR = 32  # instructions per point of the loops: about what takes as long as storing a value and reading it back

Memo = Mapping[tuple[Value, tuple[Ix, ...], Expr | None], Expr]


Divided = tuple[Value, Ix, tuple[Ix, ...]]  # a value, where it would lie in memory, positions that it reads at


@dataclass(frozen=True, slots=True)
class Repeat:
    """`value` takes `cost` instructions per element; `places`: how many points each of the places it is read at has."""

    value: Value
    cost: int
    places: tuple[Ix, ...]


def repeats(memo: Memo, stored: Iterable[Value], certain: Container[Expr | None] = (None,)) -> tuple[Repeat, ...]:
    """The values, of those in `stored`, that were evaluated at more points than they have. `memo`: by (value, place,
    mask). What is read under a mask, as the pieces of a cat are, counts as computed once, but where that is `certain`
    to hold."""
    wanted = set(stored)
    found: dict[Value, dict[tuple[Ix, ...], Expr]] = {}
    for (v, at, mask), e in memo.items():
        holds = mask in certain or (mask is not None and mask.kind == "const" and mask.data)
        if v in wanted and e.args and e.kind != "load" and holds:
            found.setdefault(v, {})[at] = e
    out = []
    for v, places in found.items():
        points = tuple(product(a.extent for a in e.axes) for e in places.values())
        if len(points) > 1 or points[0] != v.numel:
            cost = max(sum(x.cost for x in sc.walk([e])) for e in places.values())
            out.append(Repeat(v, cost, points))
    return tuple(out)


def divided(memo: Memo, place: Callable[[Value, tuple[Ix, ...]], Ix], results: Iterable[Value]) -> list[Divided]:
    """The values, of those in `results`, that are computed at quotients of positions, of operands at such positions.

    `place(value, at)`: where an element lies in memory, if the value is stored; `results`: what has a place in memory.
    """
    wanted = set(results)
    out: list[Divided] = []
    for (v, at, _), e in memo.items():
        if v in wanted and e.args and e.kind != "load" and any(map(_has_quotient, at)):
            reads = {i for x in sc.walk([e]) for i in x.indices() if _has_quotient(i)}
            if reads:
                out.append((v, place(v, at), tuple(reads)))
    return out


def _has_quotient(i: Ix) -> bool:
    return any(a.kind == "div" for a in i.atoms())


def too_dear(found: Iterable[Repeat], axes: Iterable[Atom], hint: Callable[[Ix], int]) -> Repeat | None:
    """A value that had better be stored than computed so often; `axes` are those of the fusion."""
    points = max(hint(product(a.extent for a in axes)), 1)
    for r in found:
        again = sum(hint(n) for n in r.places) - hint(r.value.numel)
        if again * r.cost > DEAR * points:
            return r
    return None
