"""The loop nest of a scatter: which axes are rows, columns and lanes, and what the threads divide among them.

Points that meet in one element must be combined in their order, and by one thread. So the threads divide the *target*,
not the points: each visits the points whose target is its own.

- If the outermost or the innermost loop is over a coordinate of the target itself (a `free` axis: the batch of a
  scatter_add along rows, the channels of an embedding's gradient), each thread takes a range of that axis.
- Else, if there are lanes or reductions, each thread takes a range of a run-time coordinate, visits all indices, does
  the work of a row only if the index is in its range. That costs a load and a comparison for each row and thread.
- Else one thread does it all: to visit a point costs as much as to write it.

Nothing is atomic, and results do not depend on the number of threads. Free axes may be at any depth; the others keep
the source's order, which is eager's. Lanes lie along a free axis on which no run-time coordinate depends and along
which the target is contiguous; without one the nest is scalar.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..core.errors import Refusal
from ..fusion import scalar as sc
from ..fusion.collapse import collapse
from ..fusion.ir import Fusion, Stage, Target
from ..index.expr import ONE, Atom, Ix

OUTER_UNITS = 8  # steps of the outermost loop from which threads divide it
INNER_UNITS = 32  # the same for the innermost, in vectors or pairs: every thread reads all indices for its strip
PLACES = 64  # extent of a run-time coordinate from which threads divide it rather than one further in
SCALAR_COST = 64  # instructions for a point above which a nest without lanes is not worth what it saves


@dataclass(frozen=True, slots=True)
class Nest:
    """Axes outermost first. `owner`: the axis that threads divide, the number of the run-time coordinate, or None."""

    rows: tuple[str, ...]
    cols: tuple[str, ...]
    vector: str
    owner: str | int | None


def arrange(f: Fusion, hint: Callable[[Ix], int], lanes: int) -> tuple[Fusion, Nest]:
    """The nest of a fusion with one scatter, its axes merged where they can be. Raises Refusal when there is none."""
    (st,) = f.scatters()
    t = _target(st)
    if any(e.stages for e in (t.mask, *(p for p, _ in t.places))) or any(c.stages for c, _ in f.checks):
        raise Refusal("scatter", "an index is the result of a reduction")
    if any(s.kind not in ("reduce", "scatter") for s in f.stages):
        raise Refusal("scatter", "a scan feeds a scatter")
    cols = set(f.reductions()[0].raxes) if f.reductions() else set()
    for r in f.reductions():
        if set(r.raxes) != cols or set(r.axes) != set(f.axes) - cols:
            raise Refusal("scatter", "reductions over different axes feed a scatter")
    order = _in_order(f, st, hint)
    if cols:
        return _with_reductions(f, order, cols, hint)
    f, order = collapse(f, order)
    return _plain(f, order, hint, lanes)


def _target(st: Stage) -> Target:
    assert st.target is not None
    return st.target


def _in_order(f: Fusion, st: Stage, hint: Callable[[Ix], int]) -> list[Atom]:
    """Axes in the order in which the source's points are numbered; those that it does not have come last."""
    t = _target(st)
    steps: dict[Atom, tuple[int, int]] = {}
    for a in f.axes:
        c = t.order.coefficient(a)
        known = c is not None and bool(c.terms)
        if a in st.axes and a not in t.free and (c is None or not known or any(k < 0 for _, k in c.terms)):
            raise Refusal("scatter", "the source is not numbered along its loops")
        # symbols that are estimated to be 1 still multiply: the longer product is the larger step
        steps[a] = (abs(hint(c)), max(len(m) for m, _ in c.terms)) if c is not None and known else (0, 0)
    return sorted(f.axes, key=lambda a: steps[a], reverse=True)


def _contiguous(st: Stage, a: Atom) -> bool:
    """Whether consecutive points along `a` go to consecutive elements."""
    t = _target(st)
    assert st.offset is not None
    return a in t.free and st.offset.coefficient(a) is ONE and not any(a in p.axes for p, _ in t.places)


def _plain(f: Fusion, order: list[Atom], hint: Callable[[Ix], int], lanes: int) -> tuple[Fusion, Nest]:
    """No reductions: all loops in the source's order, except that lanes are innermost."""
    (st,) = f.scatters()
    t = _target(st)
    v = next((a for a in order if _contiguous(st, a)), None)
    if v is not None:
        order = [*(a for a in order if a is not v), v]
    elif sum(e.cost for e in sc.walk([st.body]) if e.axes) > SCALAR_COST:
        raise Refusal("scatter", "dear arithmetic feeds a scatter that has no lanes")
    owner: str | int | None = _coordinate(t, hint) if v is not None and t.places else None
    if order and order[0] in t.free and len(order) > 1 and hint(_extent(order[0])) >= OUTER_UNITS:
        owner = order[0].name
    elif order and order[-1] in t.free and hint(_extent(order[-1])) >= INNER_UNITS * (lanes if v is not None else 2):
        owner = order[-1].name
    names = tuple(a.name for a in order)
    return f, Nest(names[:-1], names[-1:], v.name if v is not None else "", owner)


def _with_reductions(f: Fusion, order: list[Atom], cols: set[Atom], hint: Callable[[Ix], int]) -> tuple[Fusion, Nest]:
    """Rows are reduced, then scattered whole: a row's place must not depend on its columns."""
    (st,) = f.scatters()
    rows = [a for a in order if a not in cols]
    if set(st.axes) not in (set(rows), set(f.axes)):
        raise Refusal("scatter", "the source spans part of the rows or columns of a reduction")
    f, row_order = collapse(f, rows)
    f, col_order = collapse(f, [a for a in order if a in cols])
    (st,) = f.scatters()
    t = _target(st)
    inside = set(col_order)
    if any(e.axes & inside for e in (t.mask, *(p for p, _ in t.places))):
        raise Refusal("scatter", "a reduction is scattered along the axis that it reduced")
    v = col_order[-1]
    if set(st.axes) & inside:
        v = next((a for a in col_order if _contiguous(st, a)), v)
        if not _contiguous(st, v) or not inside <= set(t.free):
            raise Refusal("scatter", "the rows of the target are not contiguous")
        col_order = [*(a for a in col_order if a is not v), v]
    owner: str | int = _coordinate(t, hint)
    if row_order and row_order[0] in t.free and hint(_extent(row_order[0])) >= OUTER_UNITS:
        owner = row_order[0].name
    elif not t.places:
        raise Refusal("scatter", "no coordinate of the target is known at run time only")
    return f, Nest(tuple(a.name for a in row_order), tuple(a.name for a in col_order), v.name, owner)


def _extent(a: Atom) -> Ix:
    assert a.extent is not None
    return a.extent


def _coordinate(t: Target, hint: Callable[[Ix], int]) -> int:
    """The run-time coordinate to divide: the outermost one with enough values, for threads to be apart in memory."""
    sizes = [hint(n) for _, n in t.places]
    large = [k for k, n in enumerate(sizes) if n >= PLACES]
    return large[0] if large else max(range(len(sizes)), key=lambda k: sizes[k], default=0)
