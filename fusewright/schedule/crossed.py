"""Rows that are read along one axis and written along another.

A tile turns them where nothing is reduced; rows of a reduction have none, and one of both accesses takes single
elements of lines, on a GPU and on a CPU. (Softmax of columns of 1000x4096 bfloat16, written as rows, on two threads:
7.7 ms as one kernel, 2.8 as two.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.dtypes import DType
from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..index.expr import Atom, Ix
from ..index.layout import product
from .analysis import Analysis, side_by_side
from .windows import loads

if TYPE_CHECKING:
    from .cpu import Schedule

LEAST = 1 << 16  # bytes of a tensor from which on a CPU takes longer for such lines than for another kernel, mostly
APART = 1 << 19  # from which on two kernels read a tensor twice in less time, on a CPU (1.7 times as fast at 512 KB)
SIDE = 16  # neighbouring points along each of the axes: with fewer, no tile is turned


def bytes_of(o: Ix, dtype: DType, hint: Callable[[Ix], int]) -> int:
    """What is at the places `o`."""
    return hint(product(a.extent for a in o.axes())) * dtype.itemsize


def sides(o: Ix, hint: Callable[[Ix], int]) -> set[Atom]:
    """The axes along which enough points are neighbours in memory for a tile to be turned."""
    return {a for a in o.axes() if side_by_side(o, a, hint) >= SIDE}


def crossed(f: Fusion, hint: Callable[[Ix], int], least: int) -> bool:
    """Whether rows are read along one axis and written along another, in tensors so large that it matters (of `least`
    bytes)."""
    read = [(o, d) for _, o, d in (e.data for e in loads(f))]
    written = [(s.offset, s.dtype) for s in f.stores() if s.offset is not None]
    size = {o: bytes_of(o, d, hint) for o, d in (*read, *written)}
    most = max(size.values(), default=0)
    if most < least:
        return False
    along = {o: sides(o, hint) for o, n in size.items() if 4 * n >= most}
    reads, writes = ([along[o] for o, _ in found if along.get(o)] for found in (read, written))
    return any(not r & w for r in reads for w in writes)


def written_across(f: Fusion, hint: Callable[[Ix], int], least: int = APART) -> bool:
    """Whether a result (of `least` bytes) that needs nothing reduced is written along another axis than what is reduced
    is read along: two kernels, of which one turns tiles, read that twice. (The sum of all columns of 96x16384 bfloat16,
    and a product of them transposed: 31 us as one kernel on an H200.)"""
    read = [(e.data[1], e.data[2]) for e in sc.walk([s.body for s in f.reductions()]) if e.kind == "load"]
    written = [(s.offset, s.dtype) for s in f.stores() if s.offset is not None and not s.body.stages]

    def large(found: list[tuple[Ix, DType]]) -> list[set[Atom]]:
        return [along for o, d in found if bytes_of(o, d, hint) >= least and (along := sides(o, hint))]

    writes = large(written)
    return any(not r & w for r in (large(read) if writes else ()) for w in writes)


def cut_behind(f: Fusion, s: Schedule, hint: Callable[[Ix], int]) -> bool:
    """Whether that is so on a CPU, where rows want what is reduced of them: a fusion is better cut behind that."""
    if s.turn or s.scatters or not Analysis(f, hint).row_used(f.reductions()):
        return False
    return crossed(f, hint, LEAST)
