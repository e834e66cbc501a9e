"""What a fusion computes more often than there are elements: values read at several places, as by a stencil.

Where a value is read at another place than its own (a view shifts, flips, unfolds or gathers it), it is computed
there as well. That saves memory traffic, and pays as long as the arithmetic is little.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..graph.ir import Value
from ..index.expr import Atom, Ix
from ..index.layout import product
from . import scalar as sc
from .ir import Stage
from .places import is_name
from .scalar import Expr

DEAR = 32  # instructions per point of the loops: about what takes as long as storing a value and reading it back
LAUNCH = 1.2e8  # instructions that a GPU does while another kernel is launched
FEW = 12  # instructions of an element that take no longer than reading what it is multiplied with
SMALL = 16  # rows, at least, in which a value is the same that is stored so as not to be computed for each

Memo = Mapping[tuple[Value, tuple[Ix, ...], Expr | None], Expr]


Divided = tuple[Value, Ix, tuple[Ix, ...]]  # a value, where it would lie in memory, positions that it reads at


@dataclass(frozen=True, slots=True)
class Repeat:
    """`value` takes `cost` instructions per element, beside what it takes to find the place; `bare` without those that
    compare positions, and without one access to memory. `places`: how many points each of the places it is read at
    has, the least of these; `axes`: along which they differ."""

    value: Value
    cost: int
    bare: int
    places: tuple[tuple[Ix, ...], ...]
    axes: frozenset[Atom]


def repeats(memo: Memo, stored: Iterable[Value], certain: Container[Expr | None] = (None,)) -> tuple[Repeat, ...]:
    """The values, of those in `stored`, that were evaluated at more points than they have. `memo`: by (value, place,
    mask). What is read under a mask that is not `certain` to hold, as the pieces of a cat and the windows of padded
    images are, is computed at the places that it may be read at, which have names (`places.name_of`), for each of the
    masks. Dear ones are among them in any case: rows may all compute them."""
    wanted = set(stored)
    found: dict[Value, dict[tuple[tuple[Ix, ...], Expr | None], tuple[Expr, Expr | None]]] = {}
    for (v, at, mask), e in memo.items():
        if v in wanted and e.args and e.kind != "load":
            found.setdefault(v, {})[at, None if mask in certain else mask] = e, mask
    out = []
    everywhere: dict[frozenset[Atom], Ix] = {}  # most are computed along the same axes

    def points_of(e: Expr, at: tuple[Ix, ...], mask: Expr | None) -> tuple[Ix, ...]:
        if mask is not None:
            return _points(e, at)
        n = everywhere.get(e.axes)
        if n is None:
            n = everywhere[e.axes] = product(a.extent for a in e.axes)
        return (n,)

    for v, places in found.items():
        points = tuple(points_of(e, at, unsure) for (at, unsure), (e, _) in places.items())
        cost, bare = max(_cost(e, at, mask) for (at, _), (e, mask) in places.items())
        if len(points) > 1 or points[0] != (v.numel,) or cost > FEW:
            out.append(Repeat(v, cost, bare, points, frozenset(a for e, _ in places.values() for a in e.axes)))
    return tuple(out)


def _points(e: Expr, at: tuple[Ix, ...]) -> tuple[Ix, ...]:
    """At how many points a value is computed that may be `e` at a place, the least of these: those of the place, which
    is a piece of a cat, or those that read it, which are fewer where a window moves by more than one."""
    there = {a for i in at for a in i.axes()}
    return product(a.extent for a in e.axes & there), product(a.extent for a in e.axes if not is_name(a))


def _cost(e: Expr, at: tuple[Ix, ...], mask: Expr | None) -> tuple[int, int]:
    """`Repeat.cost` and `Repeat.bare` of a value that is `e` at a place."""
    places = [a.aux for i in at for a in i.atoms() if a.kind == "value"]
    if mask is not None or places:
        known = {*sc.walk(places if mask is None else [*places, mask])}
        return _total([x for x in sc.walk([e]) if x not in known])
    if e.total is None:
        e.total = _total(sc.walk([e]))
    return e.total


def _total(own: Sequence[Expr]) -> tuple[int, int]:
    """`Repeat.cost` and `Repeat.bare` of all of these."""
    light: set[Expr] = set()
    for x in own:  # operands come first
        if sc.on_positions(x):
            light |= {x, *x.args}
        elif x.kind == "op" and x.data in ("and", "or") and light.issuperset(x.args):
            light.add(x)
    read = max((x.cost for x in own if x.kind == "load"), default=0)
    return sum(x.cost for x in own), sum(x.cost for x in own if x not in light) - read


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


def columns(axes: Sequence[Atom], stages: Iterable[Stage]) -> frozenset[Atom]:
    """The axes along which a GPU's threads are likely to be: those that are combined at every point, or the last."""
    everywhere = [s for s in stages if len(s.axes) + len(s.raxes) == len(axes)]
    combined = frozenset(s.raxes[-1] for s in everywhere if s.kind == "reduce")
    return combined or frozenset(s.axes[-1] for s in everywhere if s.kind == "store" and s.axes)


def times(r: Repeat, axes: Iterable[Atom], hint: Callable[[Ix], int]) -> float:
    """How often an element of a value that is too dear would be computed."""
    size = max(hint(r.value.numel), 1)
    read = sum(min(map(hint, n)) for n in r.places) / size
    return read if read > 1 else hint(product(a.extent for a in axes)) / size


def too_dear(
    found: Iterable[Repeat], axes: Iterable[Atom], hint: Callable[[Ix], int], columns: Container[Atom] | None = None
) -> Repeat | None:
    """A value that had better be stored than computed so often.

    `axes` are those of the fusion. `columns`: those along which a GPU's threads are, if it runs on one: what varies
    along one of them and is the same in other rows (a vector that a matrix is multiplied with) is computed for each
    row, unless it is an integer, which is most likely a place. There a position is compared with bounds once for all
    that a thread reads in that row or column, and what is stored has to be read, too.
    """
    points = max(hint(product(a.extent for a in axes)), 1)
    for r in found:
        size = hint(r.value.numel)
        again = sum(min(map(hint, n)) for n in r.places) - size
        if columns is None:
            if again * r.cost > DEAR * points:
                return r
            continue
        if again * r.bare > DEAR * max(points, size):
            return r
        small = r.value.dtype.is_float and r.cost > FEW and size * SMALL <= points and (points - size) * r.cost > LAUNCH
        if small and any(a in columns for a in r.axes):
            return r
    return None
