"""Short rows that follow each other in memory, of any length: blocks read many of them as one run.

A row of 13 elements is no multiple of a vector, nor does it fill a sector, so that threads side by side along rows, or
each at a row of its own, read memory in small pieces, again and again. A block of such a schedule has `row_threads`
rows at a time, and several times as many in all (`rounds`, known when it is launched): what is read of them is one run
of memory, which the block's threads copy to shared memory in whole vectors before they work on rows, wherever those
begin; what they store for every column goes the same way back. There are so many rows at a time that runs start at
multiples of 16 bytes, whatever a row's length is.

The tensors that pass through shared memory are the schedule's `runs`; others, as a weight, are read where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ..fusion.ir import Fusion
from ..index.expr import Atom, Ix
from .device import Gpu
from .gpu_along import Along
from .gpu_base import ACCESS, WARP, GpuSchedule, Hint, Settled, accesses, begin, loads, widest
from .gpu_fit import HALF, holds
from .quotients import multiple

RUN = 8 << 10  # bytes of a run of the widest elements
ROOM = 32 << 10  # bytes of all runs of a block, in and out
ROWS = 16  # rows of a block at a time, at least: that many make a multiple of 16 bytes
FEW = 128  # rows for each multiprocessor, at least: of fewer, threads that share a row keep more of the GPU busy
WHOLE = (2, 3, 5)  # whole vectors of a row that is held and stored, for which a thread of its own is better, too
WAVES = 8  # blocks for each multiprocessor, at least, before a block takes more rows


def begins(f: Fusion, axes: Sequence[Atom]) -> dict[str, set[Ix]]:
    """Where in a buffer its accesses begin that take memory in the order of `axes`, on no condition."""
    out: dict[str, set[Ix]] = {}
    plain = [e.data[:2] for e in loads(f) if not e.args]
    for name, offset in [*plain, *((s.buffer, s.offset) for s in f.stores() if s.offset is not None)]:
        at = begin(offset, axes)
        if at is not None:
            out.setdefault(name, set()).add(at)
    return out


def found(f: Fusion, axes: Sequence[Atom], hint: Hint, alignment: Callable[[str], int]) -> frozenset[str]:
    """The buffers that can pass through shared memory as runs, in the order of rows and columns."""
    sizes = {b.name: b.dtype.itemsize for b in f.buffers}
    return frozenset(
        name
        for name, at in begins(f, axes).items()
        if len(at) == 1
        and alignment(name) % ACCESS == 0
        and multiple(next(iter(at)), max(1, ACCESS // sizes[name]), hint)
    )


def room(f: Fusion, runs: Iterable[str]) -> int:
    """Elements of a run of a block."""
    sizes = {b.name: b.dtype.itemsize for b in f.buffers if b.name in set(runs)}
    read = {name for name, _, _ in accesses(f, stores=False)}
    stored = {s.buffer for s in f.stores()}
    point = sum(n for name, n in sizes.items() for of in (read, stored) if name in of)
    return min(RUN // max(sizes.values()), 1 << (ROOM // point).bit_length() - 1)


def rounds(s: GpuSchedule, rows: int, columns: int, elements: int, gpu: Gpu) -> int:
    """How many times `row_threads` rows a block has."""
    most = elements // (s.row_threads * columns)
    return max(1, min(most, rows // (s.row_threads * gpu.sms * WAVES)))


class Runs(Along):
    """Kernels of short rows."""

    def runs(self, f: Fusion, rows: list[Atom], cols: list[Atom], passes: int) -> Settled | None:
        """Rows through shared memory, where vectors along them would be narrow; None where they would not be."""
        count = self.size(rows)
        if not rows or not cols or count < FEW * self.gpu.sms:
            return None
        every = [(b, o, d, cols[-1]) for b, o, d in accesses(f)]
        large = [w for w in self.large(every) if w[1].axes() & set(cols)]
        v, columns = cols[-1], self.size(cols)
        most = lanes = widest(d for _, _, d, _ in large)
        while self.size([v]) % lanes:
            lanes //= 2
        scan = any(s.kind == "scan" for s in f.stages)
        held = passes > 1 and not scan
        if lanes == most and not (held and columns // lanes in WHOLE):
            return None
        names = found(f, [*rows, *cols], self.hint, self.alignment)
        if not large or any(b not in names or begin(o, [*rows, *cols]) is None for b, o, _, _ in large):
            return None
        if lanes == most and not any(s.buffer in names for s in f.stores()):
            return None
        words = lanes * self._words(f, set(cols))[0]
        elements = room(f, names)
        rt, ct = HALF, 1
        while rt * columns > elements or (held and not holds(HALF, -(-columns // (lanes * ct)), words)):
            rt, ct = rt // 2, 1 if scan else ct * 2
            if rt < (WARP if scan else ROWS):
                return None
        if held and ct > 1 and 2 * lanes == most:  # wide enough where they are
            return None
        axes = tuple(a.name for a in rows), tuple(a.name for a in cols)
        vectors = -(-columns // lanes)
        steps = -(-vectors // ct)
        family = "scan" if scan else "inner persistent" if held else "inner reduction"
        aligned = self.aligned(self.walks(f, v, None), {v: lanes})
        s = GpuSchedule(*axes, v.name, lanes, family, "persistent" if held else "loop", rt, ct, aligned=aligned)
        s = replace(s, steps=steps if held else 1 << (max(1, min(4, vectors // ct)).bit_length() - 1), runs=names)
        return f, s, {"rounds": rounds(s, count, columns, elements, self.gpu)}
