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
from functools import cache

from ..fusion.ir import Fusion
from ..index.expr import Atom, Ix
from .device import Gpu
from .gpu_along import Along
from .gpu_base import (
    ACCESS,
    WARP,
    GpuSchedule,
    Hint,
    Settled,
    accesses,
    begin,
    finds_positions,
    loads,
    power_up,
    widest,
)
from .gpu_fit import HALF, holds
from .quotients import multiple

RUN = 8 << 10  # bytes of a run of the widest elements
ROOM = 32 << 10  # bytes of all runs of a block, in and out
ROWS = 16  # rows of a block at a time, at least: of fewer, threads that share a row do as well where it is
SHARED = 100  # columns, for which half as many rows suffice if 16 threads or more share one
BANKS, WORD = 32, 4  # of shared memory, and the bytes of a word
ISSUE = 2  # what else a vector takes, in accesses to shared memory that wait for no other
SCANNED = 64  # bytes of a row that a thread scans at once, where threads share one, and half as much again at most
SCANS = 40 << 10  # bytes of all runs of a block that does
FEW = 128  # rows for each multiprocessor, at least: of fewer, threads that share a row keep more of the GPU busy
WHOLE = (2, 3, 5)  # whole vectors of a row that is held and stored, for which a thread of its own is better, too
POSITIONS = 64  # bytes of a row of which a position is found, from which threads do better that find it where it is
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


def whole_rows(f: Fusion, runs: Iterable[str]) -> int:
    """Rows, a multiple of which are a multiple of 16 bytes, however long one is."""
    return max((ACCESS // b.dtype.itemsize for b in f.buffers if b.name in set(runs)), default=1)


def room(f: Fusion, s: GpuSchedule) -> int:
    """Elements of a run of a block: a few thousand bytes' worth, or what its threads scan at once."""
    return max(_room(f, s.runs), at_once(s) if shared_scan(f, s) else 0)


def _room(f: Fusion, runs: Iterable[str]) -> int:
    sizes, point = _bytes(f, runs)
    return min(RUN // max(sizes.values()), 1 << (ROOM // point).bit_length() - 1)


def _bytes(f: Fusion, runs: Iterable[str]) -> tuple[dict[str, int], int]:
    """Bytes of an element of each buffer, and of all that are kept of a point: a buffer may be read and stored."""
    sizes = {b.name: b.dtype.itemsize for b in f.buffers if b.name in set(runs)}
    read = {name for name, _, _ in accesses(f, stores=False)}
    stored = {s.buffer for s in f.stores()}
    return sizes, sum(n for name, n in sizes.items() for of in (read, stored) if name in of)


def shared_scan(f: Fusion, s: GpuSchedule) -> bool:
    """Whether threads share rows that are scanned in shared memory: all columns at once."""
    return s.col_threads > 1 and bool(s.runs) and bool(f.scans())


def at_once(s: GpuSchedule) -> int:
    """Elements that a block's threads scan at once, in whole vectors of 16 bytes of any type."""
    return -(-s.threads * s.steps * s.lanes // ACCESS) * ACCESS


def scanned_bytes(f: Fusion, s: GpuSchedule) -> int:
    """Bytes of the runs of a block whose threads share rows that are scanned."""
    return at_once(s) * _bytes(f, s.runs)[1]


@cache
def meetings(columns: int, vector: int, size: int, threads: int) -> int:
    """How many words of one bank a warp asks for at once: `threads` side by side along each row, `vector` bytes each,
    of rows that follow each other, of elements of `size` bytes. Vectors wider than a word are read by a part of the
    warp at a time: the parts' numbers add up."""
    parts = max(1, vector // WORD)
    words: dict[tuple[int, int], set[int]] = {}
    for thread in range(WARP):
        row, column = divmod(thread, threads)
        at = row * columns * size + column * vector
        for word in range(at // WORD, (at + vector - 1) // WORD + 1):
            words.setdefault((thread * parts // WARP, word % BANKS), set()).add(word)
    return sum(max(len(w) for (of, _), w in words.items() if of == k) for k in range(parts))


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
        scan = bool(f.scans())
        held = passes > 1 and not scan
        if lanes == most and not (held and columns // lanes in WHOLE):
            return None
        names = found(f, [*rows, *cols], self.hint, self.alignment)
        if not large or any(b not in names or begin(o, [*rows, *cols]) is None for b, o, _, _ in large):
            return None
        if lanes == most and not any(s.buffer in names for s in f.stores()):
            return None
        if finds_positions(f.reductions()) and columns * ACCESS // most >= POSITIONS:
            return None
        words = lanes * self._words(f, set(cols))[0]
        if scan:
            return self.scanned_runs(f, rows, cols, lanes, names)
        elements, least = _room(f, names), whole_rows(f, names)
        rt, ct = HALF, 1
        while rt * columns > elements or (held and not holds(HALF, -(-columns // (lanes * ct)), words)):
            rt, ct = rt // 2, ct * 2
            if rt < max(least, ROWS):
                return None
        if held and ct > 1 and 2 * lanes == most:  # wide enough where they are
            return None
        if any(s.buffer in names for s in f.stores()):
            rt, ct = self.threads_of_rows(f, names, columns, lanes, rt, ct)
            if lanes == most and ct * lanes >= columns:  # threads side by side have a vector each as they are
                return None
        axes = tuple(a.name for a in rows), tuple(a.name for a in cols)
        vectors = -(-columns // lanes)
        steps = -(-vectors // ct) if held else 1 << (max(1, min(4, vectors // ct)).bit_length() - 1)
        family = "inner persistent" if held else "inner reduction"
        aligned = self.aligned(self.walks(f, v, None), {v: lanes})
        s = GpuSchedule(*axes, v.name, lanes, family, "persistent" if held else "loop", rt, ct, steps, aligned=aligned)
        return f, replace(s, runs=names), {"rounds": rounds(s, count, columns, elements, self.gpu)}

    def threads_of_rows(
        self, f: Fusion, names: frozenset[str], columns: int, lanes: int, rt: int, ct: int
    ) -> tuple[int, int]:
        """Rows at a time, and threads of each: `ct`, or as many more as meet in fewer banks of shared memory."""
        sizes, sums = _bytes(f, names)[0].values(), len(f.reductions())

        def cost(threads: int) -> float:
            waits = sum(meetings(columns, lanes * size, size, threads) for size in sizes) / len(sizes)
            return threads * (-(-columns // (lanes * threads)) * (waits + ISSUE) + sums * (threads.bit_length() - 1))

        best = min((ct << k for k in range((WARP // ct).bit_length())), key=cost)
        if best == ct:
            return rt, ct
        rows = ROWS if best < ROWS or columns < SHARED else ROWS // 2
        fits = max(rows, whole_rows(f, names)) * columns <= _room(f, names)
        return (max(HALF // best, rows, whole_rows(f, names)), best) if fits else (rt, ct)

    def scanned_runs(
        self, f: Fusion, rows: list[Atom], cols: list[Atom], lanes: int, names: frozenset[str]
    ) -> Settled | None:
        """Rows that are scanned: by a thread each, or by as many as have enough to do."""
        v, columns = cols[-1], self.size(cols)
        most = SCANNED // max(_bytes(f, names)[0].values())
        ct = power_up(-(-columns // most), WARP)
        vectors = -(-columns // lanes)
        # threads whose vectors begin an even number apart would wait for the same banks
        odd = lambda ct: -(-vectors // ct) | 1
        if 1 < ct < WARP and 10 * 2 * odd(2 * ct) < 9 * odd(ct):  # fewer vectors beyond the end of a row
            ct *= 2
        steps = odd(ct) if ct > 1 else 1 << (min(4, vectors).bit_length() - 1)
        if ct > 1 and 2 * (steps - 1) * lanes > 3 * most:
            return None
        axes = tuple(a.name for a in rows), tuple(a.name for a in cols)
        aligned = self.aligned(self.walks(f, v, None), {v: lanes})
        least = max(whole_rows(f, names), WARP // ct)
        rt = max(HALF // ct, least)
        s = GpuSchedule(*axes, v.name, lanes, "scan", "loop", rt, ct, steps, aligned=aligned, runs=names)
        while s.row_threads > least and s.row_threads * columns > _room(f, names):
            s = replace(s, row_threads=s.row_threads // 2)
        fits = s.row_threads * columns <= _room(f, names) if ct == 1 else scanned_bytes(f, s) <= SCANS
        return (f, s, {"rounds": rounds(s, self.size(rows), columns, room(f, s), self.gpu)}) if fits else None
