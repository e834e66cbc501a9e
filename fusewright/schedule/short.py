"""Rows in the lanes of vectors, where each has few points or its points wait for each other.

A row of five points takes a masked vector, a combination of its lanes, and all that is around a row: 25 ns, whatever
is computed. Eight such rows at a time take five vectors whose elements come from eight places each. An element so loaded
takes about what sixteen take side by side, so that this pays for short rows only.
"""

from __future__ import annotations

from collections.abc import Callable

from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..index.expr import Atom, Ix
from ..index.layout import product

import os
SHORT = int(os.environ.get("SHORT","32"))  # points of a row from which lanes go along it: four vectors of eight, an iteration of a loop
NARROW = 16  # the same for vectors of sixteen, whose masks cost nothing
BLOCKS = 8  # vectors of rows of a scan, at least: threads share them
FULL = 3, 4  # of the lanes, so many have a row


def short(f: Fusion, rows: list[Atom], cols: list[Atom], hint: Callable[[Ix], int], lanes: int) -> bool:
    """Whether the innermost of `rows` fills vectors better than the columns of a row that is reduced."""
    points = hint(product(a.extent for a in cols))
    return points < (SHORT if lanes <= 8 else NARROW) and fills(f, rows, hint, lanes)


def scanned(f: Fusion, rows: list[Atom], hint: Callable[[Ix], int], lanes: int) -> bool:
    """Whether the innermost of `rows` fills vectors of a scan, whose points go one by one otherwise."""
    return hint(product(a.extent for a in rows)) >= BLOCKS * lanes and fills(f, rows, hint, lanes)


def fills(f: Fusion, rows: list[Atom], hint: Callable[[Ix], int], lanes: int) -> bool:
    """Whether vectors along the innermost of `rows` have most of their lanes, at equal distances in memory."""
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
    return all(o is not None and o.coefficient(v) is not None for o in offsets)
