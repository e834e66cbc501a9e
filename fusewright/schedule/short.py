"""Rows in the lanes of vectors, where each has few points or its points wait for each other.

A row of five points takes a masked vector, a combination of its lanes, and all that is around a row: 25 ns, whatever
is computed. Eight such rows at a time take five vectors, whose elements come from eight places each. From `WHOLE`
points on they pass through scratch, which takes about an instruction for each element.
"""

from __future__ import annotations

from collections.abc import Callable

from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..index.expr import ONE, Atom, Ix
from ..index.layout import product
from ..prims.table import MONOIDS, PRIMS
from .turned import WHOLE, WIDE, beside, known_few, turned, turned_stores

SHORT = 32  # points of a row from which lanes go along it: four vectors of eight, an iteration of a loop
NARROW = 64  # the same for 16-bit elements, whose masked vectors are loaded one by one
TWICE = 32  # so many more if it is walked more than once
# The same for vectors of sixteen lanes, which have masks, by an element's bytes: so many, less if rows are stored, more
# for each reduction. One of as many bytes or less counts once. (Measured on two threads of one core.)
MASKED = {2: (-16, 14, 40), 4: (-11, 22, 24), 8: (16, 16, 8)}
EXTREME = 0.7  # what a reduction that is no sum counts beside
DEAR = 20  # the cost from which on what a row has once is dear: it takes one lane of a vector
LONE = 4  # reductions that it counts for
LONG = 4096  # bytes of a row that is scanned from which it does not pass through scratch: as many as there are lanes
BLOCKS = 8  # vectors of rows of a scan, at least: threads share them
FULL = 3, 4  # of the lanes, so many have a row


def short_rows(
    f: Fusion, rows: list[Atom], cols: list[Atom], hint: Callable[[Ix], int], lanes: int, again: bool
) -> bool:
    """Whether the innermost of `rows` fills vectors better than the columns of a row that is reduced. `again`: whether
    a row is walked more than once."""
    if not rows:
        return False
    points = hint(product(a.extent for a in cols))
    size = max((e.data[2].itemsize for e in _strided(f, rows)), default=0)
    if lanes >= WIDE and len(cols) == 1 and 0 < known_few(cols[0]) < WHOLE:
        return fills(f, rows, hint, lanes)
    if lanes > 8:
        few, stored, more = MASKED[min(max(size, 2), 8)]
        back = any(st.offset is not None and {*st.axes} & {*cols} and apart(st.offset, rows[-1]) for st in f.stores())
        most = few - stored * back + int(more * _around(f, cols, max(4, size)))
    else:
        most = (NARROW if size <= 2 else SHORT) + (TWICE if again and size <= 4 else 0)
    return points < most and fills(f, rows, hint, lanes)


def dear_scans(f: Fusion) -> bool:
    """Whether running totals take long to combine, one after the other."""
    return any(PRIMS[MONOIDS[s.monoid].combine].cost >= DEAR for s in f.scans())


def scanned_rows(f: Fusion, rows: list[Atom], hint: Callable[[Ix], int], lanes: int) -> bool:
    """Whether the innermost of `rows` fills vectors of a scan, whose points go one by one otherwise."""
    least = lanes if dear_scans(f) else BLOCKS * lanes
    return hint(product(a.extent for a in rows)) >= least and fills(f, rows, hint, lanes)


def rows_through(f: Fusion, v: Atom, cols: list[Atom], hint: Callable[[Ix], int], lanes: int) -> str:
    """The column axis along which rows that fill the lanes pass through scratch, or ""."""
    if len(cols) != 1:
        return ""
    (a,) = cols
    assert a.extent is not None
    loads, stores = turned(f, a, v, lanes, rows=True), turned_stores(f, a, v, rows=True)
    if lanes >= WIDE and any(beside(st, a, v) for st in stores):
        return a.name
    size = max([*(e.data[2].itemsize for e in loads), *(s.dtype.itemsize for s in stores)], default=0)
    return a.name if size and hint(a.extent) >= WHOLE and hint(a.extent) * size <= LONG else ""


def fills(f: Fusion, rows: list[Atom], hint: Callable[[Ix], int], lanes: int) -> bool:
    """Whether vectors along the innermost of `rows` have most of their lanes, at equal distances in memory, or wherever
    an index says."""
    if not rows:
        return False
    v = rows[-1]
    assert v.extent is not None
    n = hint(v.extent)
    if n * FULL[1] < -(-n // lanes) * lanes * FULL[0]:
        return False
    offsets = [s.offset for s in f.stores()]
    for e in sc.walk([*(s.body for s in f.stages), *(c for c, _ in f.checks)]):
        if e.kind == "random":  # drawn for many columns at a time
            return False
        if e.kind in ("load", "index"):
            offsets.append(e.data[1] if e.kind == "load" else e.data)
    return all(o is not None and (o.coefficient(v) is not None or v in o.looked_up() - o.axes()) for o in offsets)


def _around(f: Fusion, cols: list[Atom], size: int) -> float:
    """What a row costs beside its points, in reductions of elements of `size` bytes: in lanes, many rows share it."""
    once = [e for e in sc.walk([s.body for s in f.stages]) if e.cost >= DEAR and not e.axes & {*cols} and e.stages]
    combined = sum(max(1, r.dtype.itemsize / size) + EXTREME * (r.monoid != "sum") for r in f.reductions())
    return combined + LONE * len(once)


def apart(offset: Ix, v: Atom) -> bool:
    """Whether neighbours along `v` lie at a distance from each other."""
    return v in offset.axes() and offset.coefficient(v) is not ONE


def _strided(f: Fusion, rows: list[Atom]) -> list[sc.Expr]:
    """The loads at a distance from each other in the lanes."""
    return [e for e in sc.walk([s.body for s in f.stages]) if e.kind == "load" and apart(e.data[1], rows[-1])]
