"""Tiles of a transpose on a CPU: what of a fusion lies across, and how much of it passes through scratch at a time."""

from __future__ import annotations

from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage
from ..fusion.scalar import Expr
from ..index.expr import ONE, Atom, Ix
from .quotients import divided

RUN = 256  # bytes that a tile reads of each line: what processors fetch ahead, and fewer pages than single cache lines
ALONG = 128  # points of a tile along the vector axis; half as many where several tiles share the nearest cache
LONGEST = 1024  # points of it where there are few across
LARGEST = 1 << 16  # points that a tile may have
LINES = 1024  # bytes that a tile writes of each line past the caches
SHORT = 4  # points of an axis below which nothing is gained


def turned(f: Fusion, across: Atom, v: Atom) -> list[Expr]:
    """The loads that lie side by side along `across`, and not along `v`, at places that are known without reading."""
    out = []
    for e in sc.walk([s.body for s in f.stages]):
        if e.kind == "load" and not e.args and turns(e.data[1], across, v):
            out.append(e)
    return out


def turned_stores(f: Fusion, across: Atom, v: Atom) -> list[Stage]:
    """The stores that do."""
    return [s for s in f.stores() if s.offset is not None and turns(s.offset, across, v)]


def turns(offset: Ix, across: Atom, v: Atom) -> bool:
    """Whether memory at `offset` lies side by side along `across` and strides along `v`."""
    if v not in offset.axes() or offset.coefficient(across) is not ONE:
        return False
    stride = offset.coefficient(v)
    if stride is None or stride is ONE or any(a.kind == "value" for a in offset.atoms()):
        return False
    return not stride.axes()


def tile(f: Fusion, across: Atom, v: Atom, extent: int, past: bool = False) -> tuple[int, int] | None:
    """Points of a tile across and along, if the axis across has `extent`; None if nothing passes through one. `past`:
    whether it writes past the caches."""
    sizes = [e.data[2].itemsize for e in turned(f, across, v)]
    sizes += [s.dtype.itemsize for s in turned_stores(f, across, v)]
    if not sizes:
        return None
    high, wide = RUN // max(sizes), ALONG if len(sizes) == 1 else ALONG // 2
    if past:
        wide = min(max(wide, LINES // max(sizes)), LARGEST // high)
    least = min(high, 1 << max(extent - 1, 0).bit_length())
    return least, min(wide * high // least, LONGEST)


def lined(f: Fusion, v: Atom) -> Stage | None:
    """The store of a tile that writes along `v` and nothing else, if vectors may begin anywhere: then they can begin
    where cache lines of it do."""
    stores = f.stores()
    if len(stores) != 1 or stores[0].offset is None or stores[0].offset.coefficient(v) is not ONE:
        return None
    drawn = any(e.kind == "random" for e in sc.walk([s.body for s in f.stages]))
    return None if drawn or divided(f, v) else stores[0]
