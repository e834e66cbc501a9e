"""Rows that are interleaved in memory: where the short run of columns of one row ends, that of the next one begins.

So are the groups of a group norm in channels-last memory: of each pixel a row has the few channels of its group, beside
those of the other groups. Threads of one row would read and write parts of sectors, or of cache lines, whose other
parts belong to blocks that come at other times. So a block takes several neighbouring rows, with the threads that
differ in the row side by side (`GpuSchedule.interleaved`): a warp's accesses are whole lines, a row has fewer threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..fusion.ir import Fusion
from ..index.expr import ONE, Atom, Ix
from .device import Gpu
from .gpu_base import LINE, SECTOR, WARP, Hint, accesses, power_up
from .gpu_fit import Held, alone


def several(f: Fusion, hint: Hint, rows: Sequence[Atom], cols: Sequence[Atom], unit: Atom | None) -> list[int]:
    """How many neighbouring rows a block should have at once, the best number first: at least so many that their runs
    fill sectors of memory. Empty where rows are not interleaved, in most of the traffic."""
    if not rows or unit not in cols or unit is None:
        return []
    votes: dict[int, int] = {}
    for _, o, d in accesses(f):
        if rows[-1] in o.axes() and len(o.axes() & set(cols)) > 1:
            apart = _apart(o, d.itemsize, hint, rows[-1], cols, unit)
            n = d.itemsize * math.prod(hint(a.extent) for a in o.axes() if a.extent is not None)
            votes[apart] = votes.get(apart, 0) + n
    apart = max(votes, key=lambda n: votes[n], default=0)
    if not apart or rows[-1].extent is None:
        return []
    n = min(power_up(-(-LINE // apart), WARP), power_up(hint(rows[-1].extent), WARP))
    return [n >> k for k in range(n.bit_length()) if n > 1 and (k == 0 or (n >> k) * apart >= SECTOR)]


def _apart(o: Ix, itemsize: int, hint: Hint, row: Atom, cols: Sequence[Atom], unit: Atom) -> int:
    """Bytes from a row to the next, if few and if those lie between its columns along `unit` and the others; else 0."""

    def stride(a: Atom) -> int:
        c = o.coefficient(a, within=True)
        return 0 if c is None else abs(hint(c))

    if unit.extent is None or o.coefficient(unit, within=True) is not ONE:
        return 0
    others = [stride(a) for a in cols if a is not unit and a in o.axes()]
    if not hint(unit.extent) <= stride(row) < min(others, default=0):
        return 0
    return itemsize * int(stride(row)) if itemsize * stride(row) < LINE else 0  # a number: the choice depends on it


def held(
    gpu: Gpu, numbers: Sequence[int], rows: int, words: tuple[float, float], hold: Callable[[int], Held | None]
) -> tuple[int, Held | None]:
    """(rows of a block, how it holds them, if it does): `hold(n)` says how blocks hold n rows together.

    The first of the numbers that leaves no processor idle, nor with one block only, which would wait for memory while
    nobody computes; else the last with which rows can be held. `words`: registers per vector, of values and of loads.
    """
    last: tuple[int, Held | None] = numbers[0], None
    for n in numbers:
        found = hold(n)
        if found is None:
            continue
        last = n, found
        if found.cluster * -(-rows // n) >= gpu.sms and not alone(gpu, found, *words):
            break
    return last


__all__ = ["held", "several"]
