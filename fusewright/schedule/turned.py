"""Tiles of a transpose on a CPU: what of a fusion is read across, and how much of it passes through scratch at a time."""

from __future__ import annotations

from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..fusion.scalar import Expr
from ..index.expr import ONE, Atom, Ix

RUN = 256  # bytes that a tile reads of each line: what processors fetch ahead, and fewer pages than single cache lines
ALONG = 128  # points of a tile along the vector axis; half as many where several tiles share the nearest cache
LARGEST = 1 << 16  # points that a tile may have
SHORT = 4  # points of an axis below which nothing is gained


def turned(f: Fusion, across: Atom, v: Atom) -> list[Expr]:
    """The loads that lie side by side along `across`, and not along `v`, at places that are known without reading."""
    out = []
    for e in sc.walk([s.body for s in f.stages]):
        if e.kind == "load" and not e.args and turns(e.data[1], across, v):
            out.append(e)
    return out


def turns(offset: Ix, across: Atom, v: Atom) -> bool:
    """Whether memory at `offset` lies side by side along `across` and strides along `v`."""
    if v not in offset.axes() or offset.coefficient(across) is not ONE:
        return False
    stride = offset.coefficient(v)
    if stride is None or stride is ONE or any(a.kind == "value" for a in offset.atoms()):
        return False
    return not stride.axes()


def tile(through: list[Expr]) -> tuple[int, int]:
    """Points of a tile across and along."""
    return RUN // max(e.data[2].itemsize for e in through), ALONG if len(through) == 1 else ALONG // 2
