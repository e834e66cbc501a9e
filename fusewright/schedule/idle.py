"""Kernels in which threads of a CPU have no row.

A row belongs to one thread where its points need a result of all of it. If rows are fewer than threads, or one more
than a multiple of them, and long, it is better to reduce first, where a row of one kernel may be cut among threads, and
to read everything again in another one, point by point. (`x - x.mean()` of 8 million elements on two threads: 4.1 ms
as one kernel, 2.4 as two.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..fusion.ir import Fusion
from ..index.expr import Ix
from ..index.layout import product
from .analysis import Analysis

if TYPE_CHECKING:
    from .cpu import Machine, Schedule

BUSY = 3, 4  # of the threads' time, so much or less
LONG = 1 << 20  # bytes of a row: a cache near the core does not have them for the second pass, and a call costs less


def idle(f: Fusion, s: Schedule, hint: Callable[[Ix], int], machine: Machine) -> bool:
    """Whether a fusion is better cut behind its reductions, because threads would wait for those that have a row."""
    if s.turn or s.scatters or not Analysis(f, hint).row_used(f.reductions()):
        return False
    size = lambda names: hint(product(a.extent for a in f.axes if a.name in names))
    all_rows, side = size(s.rows), size({s.vector} & {*s.rows})
    rows = all_rows // max(side, 1) * -(-side // s.lanes)  # or vectors of them
    turns = -(-rows // machine.threads)
    point = max((b.dtype.itemsize for b in f.buffers if hint(b.numel) >= all_rows * size(s.cols)), default=0)
    long = point * min(side, s.lanes) * size(s.cols) >= LONG
    return rows * BUSY[1] <= turns * machine.threads * BUSY[0] and long
