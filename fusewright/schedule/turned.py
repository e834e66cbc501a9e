"""Tiles of a transpose on a CPU: what of a fusion lies across, and how much of it passes through scratch at a time."""

from __future__ import annotations

from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage
from ..fusion.scalar import Expr
from ..index.expr import ONE, Atom, Ix
from .quotients import divided

RUN = 256  # bytes that a tile reads of each line: what processors fetch ahead, and fewer pages than single cache lines
ALONG = 64  # points of a tile along the vector axis
WRITTEN = 8 << 10  # bytes of a tile that is written across: the nearest cache also holds what it is written to
LONGEST = 1024  # points of it where there are few across
LARGEST = 1 << 16  # points that a tile may have
LINES = 1024  # bytes that a tile writes of each line past the caches
FEW = 8  # points across for which there are instructions if they lie beside each other
WHOLE = 8  # points of a row that are whole pieces for `turn`
WIDE = 16  # lanes of vectors that have masks for every element
SHORT = 4  # points of an axis below which nothing is gained


def turned(f: Fusion, across: Atom, v: Atom, lanes: int = 1, rows: bool = False) -> list[Expr]:
    """The loads that lie side by side along `across`, and not along `v`, at places that are known without reading.
    Without those that vectors of so many lanes take apart. `rows`: see `turns`."""
    out = []
    for e in sc.walk([s.body for s in f.stages]):
        if e.kind == "load" and not e.args and turns(e.data[1], across, v, rows):
            if not _taken_apart(e.data[1], across, v, lanes):
                out.append(e)
    return out


def turned_stores(f: Fusion, across: Atom, v: Atom, rows: bool = False) -> list[Stage]:
    """The stores that do."""
    return [s for s in f.stores() if s.offset is not None and turns(s.offset, across, v, rows)]


def beside(st: Stage, across: Atom, v: Atom) -> int:
    """The points of a store along `across`, if they are a known few, and those of all points along `v` lie side by
    side; 0 if not."""
    assert st.offset is not None
    return known_few(across) if st.offset.coefficient(v) == across.extent and not goes_back(st.offset, across) else 0


def goes_back(offset: Ix, across: Atom) -> bool:
    """Whether memory is walked backwards along `across`, element by element, as by a total from the end."""
    step = offset.coefficient(across)
    return step is not None and step.as_int() == -1


def known_few(a: Atom) -> int:
    """The points along `a`, if they are a known few; 0 if not."""
    n = None if a.extent is None else a.extent.as_int()
    return n if n is not None and n <= FEW else 0


def _taken_apart(offset: Ix, across: Atom, v: Atom, lanes: int) -> bool:
    """Whether vectors of memory are read whole, for lanes along `v` so few elements apart that rows have no more."""
    step = offset.coefficient(v)
    near = step is not None and step.as_int() in range(2, FEW + 1)
    return lanes >= WIDE and near and 0 < known_few(across) < WHOLE


def turns(offset: Ix, across: Atom, v: Atom, rows: bool = False) -> bool:
    """Whether memory at `offset` lies side by side along `across` and strides along `v`. `rows`: in any direction, for
    rows that pass through scratch whole."""
    if v not in offset.axes() or not (offset.coefficient(across) is ONE or (rows and goes_back(offset, across))):
        return False
    stride = offset.coefficient(v)
    if stride is None or stride is ONE or any(a.kind == "value" for a in offset.atoms()):
        return False
    return not stride.axes()


def tile(f: Fusion, across: Atom, v: Atom, extent: int, past: bool = False, lanes: int = 1) -> tuple[int, int] | None:
    """Points of a tile across and along, if the axis across has `extent` and vectors so many `lanes`; None if nothing
    passes through one. `past`: whether it writes past the caches. (Of transposes of 128x30x561 and 64x31x1001 float32,
    tiles of a fourth of what they had: 761 us, 586, and 744, 563.)"""
    sizes = [e.data[2].itemsize for e in turned(f, across, v, lanes)]
    written = [s.dtype.itemsize for s in turned_stores(f, across, v)]
    sizes += written
    if not sizes:
        return None
    high, wide = RUN // max(sizes), ALONG
    if past:
        wide = min(max(wide, LINES // max(sizes)), LARGEST // high)
    points = min(wide * high, WRITTEN // max(sizes)) if written else wide * high
    least = min(high, 1 << max(extent - 1, 0).bit_length())
    return least, min(points // least, LONGEST)


def lined(f: Fusion, v: Atom) -> Stage | None:
    """The store of a tile that writes along `v` and nothing else, if vectors may begin anywhere: then they can begin
    where cache lines of it do."""
    stores = f.stores()
    if len(stores) != 1 or stores[0].offset is None or stores[0].offset.coefficient(v) is not ONE:
        return None
    drawn = any(e.kind == "random" for e in sc.walk([s.body for s in f.stages]))
    return None if drawn or divided(f, v) else stores[0]
