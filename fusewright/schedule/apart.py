"""Fusions that are faster as two kernels, of which the first reduces, although both read the inputs.

Rows that are read along one axis and written along another: a tile of shared memory turns them where nothing is
reduced; rows of a reduction have none, and one of both accesses takes single elements of lines. (Group norm of
channels-last memory, whose result is contiguous: 281 us as one kernel, see docs/measurements.md.)

Rows that no block holds, of more than the L2 cache holds: a second pass reads them again in any case, and goes through
memory in as many places as there are blocks, where an elementwise kernel goes straight. (Batch norm of channels-last
memory, 346 MB: 288 us as one kernel, 262 as two.)

Results over rows, besides those of rows: where rows are neighbours in memory (`summed_across`), or few and long
(`few_blocks`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from ..core.errors import Refusal
from ..fusion.ir import Fusion
from ..index.expr import Ix
from ..index.layout import product
from .analysis import Analysis
from .crossed import bytes_of, crossed, sides
from .device import Gpu
from .gpu import plan
from .gpu_base import WORD, accesses, beside, draws

MUCH = 2  # L2 caches: a second pass goes backwards, and finds what fills one of them
LEAST = 4 << 20  # bytes of a tensor from which on another launch costs less
OF_SECOND_PASS = 8  # bytes of a vector, at least: below, an elementwise kernel is faster, which takes rows as one
SCATTERED = 1 << 20  # and of what is read, or written, in single elements of sectors


def better_apart(f: Fusion, hint: Callable[[Ix], int], gpu: Gpu, between: bool = False) -> bool:
    """Whether a fusion should be cut behind its reductions, which are wanted for all points of their rows; or `between`
    them."""
    if between:
        return few_blocks(f, hint, gpu)
    return bool(Analysis(f, hint).row_used(f.reductions())) and (crossed(f, hint, LEAST) or read_again(f, hint, gpu))


def read_again(f: Fusion, hint: Callable[[Ix], int], gpu: Gpu) -> bool:
    """Whether a second pass over rows reads more again than the L2 cache can have: rows that blocks share, or those of
    all blocks that run at once."""
    size = _read(f, hint)
    if size < LEAST:
        return False
    s = plan(f, hint, gpu)[1]
    if s.mode in ("loop", "split") and not s.resident and s.vector in s.rows:
        sizes = [d.itemsize for _, o, d in accesses(f) if o.axes() == set(f.axes)]
        if s.lanes * min(sizes, default=WORD) < OF_SECOND_PASS:
            return True
    if size < MUCH * gpu.l2:
        return False
    if s.mode == "loop" and not s.resident:
        rows = hint(product(a.extent for a in f.axes if a.name in s.rows))
        at_once = gpu.sms * beside(s) * s.row_threads * (s.lanes if s.vector in s.rows else 1)
        return size * min(rows, at_once) >= MUCH * gpu.l2 * rows
    return s.mode == "split"


def _read(f: Fusion, hint: Callable[[Ix], int]) -> int:
    """Bytes of the tensors that are read at all points."""
    point = sum(d.itemsize for _, o, d in set(accesses(f, stores=False)) if o.axes() == set(f.axes))
    return point * hint(product(a.extent for a in f.axes))


def few_blocks(f: Fusion, hint: Callable[[Ix], int], gpu: Gpu) -> bool:
    """Whether rows are so few and long that their blocks leave most of the device idle, where each has whole ones, as
    what is reduced over rows asks for: reductions of the rows alone are cut over blocks, and so is the rest."""
    if _read(f, hint) < LEAST:
        return False
    s = plan(f, hint, gpu)[1]
    rows = hint(product(a.extent for a in f.axes if a.name in s.rows))
    return s.mode == "loop" and s.resident and 2 * rows < gpu.sms * s.row_threads


def at_odds(f: Fusion, hint: Callable[[Ix], int]) -> bool:
    """Whether two large results of an elementwise fusion are written along different axes: a tile of shared memory
    turns what is read, and one of them would be written in single elements. Two kernels read what they share twice."""
    if f.reductions():
        return False
    written = [(s.offset, s.dtype) for s in f.stores() if s.offset is not None]
    along = [sides(o, hint) for o, d in written if bytes_of(o, d, hint) >= LEAST]
    return any(x and y and not x & y for x, y in itertools.combinations(along, 2))


def share_little(f: Fusion) -> bool:
    """Whether reductions along different axes share no tensor of all axes, nor random numbers: both are made of
    vectors, which are soon read again, while a block that has rows and holds sums of columns has few registers left."""
    every = set(f.axes)
    ways = {frozenset(s.raxes) for s in f.reductions() if {*s.axes, *s.raxes} == every}
    if all(x <= y or y <= x for x, y in itertools.combinations(ways, 2)) or draws(f):
        return False
    return not any(o is not None and o.all_axes() >= every for _, o, _ in accesses(f))


def reads_across(f: Fusion, hint: Callable[[Ix], int]) -> bool:
    """Whether a fusion that reduces reads large tensors along different axes: some of them in single elements of lines,
    which a tile of shared memory turns where nothing is reduced."""
    if not f.reductions():
        return False
    size = {o: bytes_of(o, d, hint) for _, o, d in accesses(f, stores=False)}
    most = max(size.values(), default=0)
    along = [sides(o, hint) for o, n in size.items() if n >= max(LEAST, most // 4)]
    return any(x and y and not x & y for x, y in itertools.combinations(along, 2))


def summed_across(f: Fusion, hint: Callable[[Ix], int]) -> bool:
    """Whether something is reduced over rows that are neighbours in memory, besides the rows themselves.

    Blocks keep that in registers, with threads side by side along columns, which lie apart then: each reads single
    elements of a sector of memory. (Gradients of a layer norm over channels, 32x192x56x56 float32: 591 us so, 189
    apart.) Little is as well there; but small sizes of a dynamic program are followed by others.
    """
    reductions = f.reductions()
    if f.scans() or len(reductions) < 2:
        return False
    facts = Analysis(f, hint)
    try:
        cols = facts.columns(reductions)
    except Refusal:
        return False
    rows = set(f.axes) - cols
    if facts.unit not in rows or all(set(r.raxes) == cols and set(r.axes) == rows for r in reductions):
        return False
    return bool(product(a.extent for a in f.axes).atoms()) or _read(f, hint) >= SCATTERED


__all__ = ["SCATTERED", "at_odds", "better_apart", "reads_across", "share_little", "summed_across"]
