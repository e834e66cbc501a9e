"""Kernels in which lanes of a CPU gather what lies apart, although rows lie side by side in memory.

Lanes go along rows that lie side by side (softmax over the channels of images: sixteen pixels at a time), unless
something is reduced over rows as well: then a row is a scalar, and its points, which lie apart, are the lanes. As two
kernels, of which the second reduces over rows, both go along memory. (Cross-entropy of 16x32x64x64 float32: 4.6 ms as
one kernel, 0.9 as two.)

So they do along short rows (`short.py`), unless something is reduced over rows as well. (Mean entropy of two million
distributions over three: 72 ms as one kernel, 5 as two.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..fusion.ir import Fusion
from ..index.expr import Ix
from ..index.layout import product
from .analysis import Analysis, side_by_side
from .short import short_rows

if TYPE_CHECKING:
    from .cpu import Schedule

THIN = 512  # rows from which on they take longer than another kernel


def gathers(f: Fusion, s: Schedule, hint: Callable[[Ix], int]) -> bool:
    """Whether lanes of a schedule gather, and would not if reductions over rows were another kernel's."""
    of = Analysis(f, hint)
    unit = of.unit
    if unit is None or unit.name not in s.rows or s.vector not in s.cols:
        return False
    rows = {a for a in f.axes if a.name in s.rows}
    if not any(set(r.raxes) & rows for r in f.reductions()):
        return False
    offsets = of.large_offsets(f)
    for a in f.axes:
        offsets = offsets if a in rows else [o.without(a) for o in offsets]
    return any(side_by_side(o, unit, hint) >= s.lanes for o in offsets)


def spread_thin(f: Fusion, s: Schedule, hint: Callable[[Ix], int]) -> bool:
    """Whether rows are so short that lanes would go along them, if reductions over rows were another kernel's."""
    rows = [a for a in f.axes if a.name in s.rows]
    cols = [a for a in f.axes if a.name in s.cols]
    over = [r for r in f.reductions() if set(r.raxes) & {*rows}]
    inner = [r for r in f.reductions() if r not in over]
    if not over or not inner or s.vector not in s.cols:
        return False
    count = product(a.extent for a in rows)
    if not count.atoms() and hint(count) < THIN:  # of sizes that change, others may be larger
        return False
    names = {r.name for r in over}
    rest = replace(f, stages=[x for x in f.stages if x not in over and not names & set(x.body.stages)])
    rows.sort(key=lambda a: s.rows.index(a.name))
    return short_rows(rest, rows, cols, hint, s.lanes, bool(Analysis(f, hint).row_used(inner)))
