"""Schedules of elementwise GPU kernels: tiles, and transposes through shared memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..core.dtypes import DType
from ..core.errors import Refusal
from ..fusion import scalar as sc
from ..fusion.collapse import as_one, collapse
from ..fusion.ir import Fusion
from ..index.expr import ONE, ZERO, Atom, Ix
from .gpu_anchor import Anchors, count, finds_places
from .gpu_base import (
    ACCESS,
    DEAR,
    FLIGHT,
    LINE,
    REUSE,
    SIDES,
    STAGE,
    WARP,
    WORD,
    GpuSchedule,
    Settled,
    accesses,
    arithmetic,
    begin,
    draws,
    power_up,
    widest,
)
from .gpu_fit import HALF, THREADS
from .quotients import multiple

WASTE = 16  # at most one of so many vectors of a row's tiles is beyond its end, if that can be
ABREAST = 2  # vectors of a thread at a time, at most, where rows follow each other in a tile as no width suits them
UNUSED = 8  # more than one of so many makes rows follow each other in a tile, or tiles narrower
AS_ONE = 64  # vectors of a row, at most, if rows are to be walked as one where a point takes much arithmetic besides
OTHERS = 4  # operands that are read lane by lane then, at most
SINGLES = 16  # elements of them that a thread asks for at a time, at most, beyond those of one vector
PIECEWISE = 4  # bytes of elements from which on what lies across vectors is best read by whole warps
BLOCKS = 4  # for each multiprocessor, at least, before a thread has several vectors at a time
POINTS = 8  # that a thread asks for at a time, at most, where they are no vectors, and less than 4 bytes each
BEGIN = 1 << 12  # bytes that memory moves, at most, while a block begins and ends
NEIGHBOURS = 8  # points side by side in memory, at least, for a transpose to pass through shared memory
NEAR = 1 << 16  # bytes that stay in a multiprocessor's own cache
PLACES = 4  # that a point is read at, at most, where a thread has several because they are found once for all of them
NARROW = 8  # threads of a row whose vectors are aligned, at least; twice as many where those have four vectors each
ROW = 1 << 19  # bytes of a row, at most, of which a multiprocessor's own cache holds much
STREWN = 2, 16  # points of a vector and of a thread, at most, that are read wherever they are in rows

Access = tuple[str, Ix]  # buffer, offset


class Tiles(Anchors):
    """Kernels without reductions."""

    def pointwise(self) -> Settled:
        if any(set(s.axes) != set(self.f.axes) for s in self.f.stores()):
            raise Refusal("schedule", "stores of different extents in one elementwise kernel")
        f, order = collapse(self.f, self.by_stride(self.f.axes))
        if not order:
            return f, GpuSchedule((), (), "", 1, "pointwise", "tile"), {}
        v = order[-1]
        across = self.across(f, order, v)
        if across is not None:
            f, order, v, across = self._lengthened(f, order, v, across)
            if self._staged(across, v):
                return self._transpose(f, order, v, across)
        if across is not None and self.size([v]) <= NEIGHBOURS and self.size([across]) >= WARP:
            return f, self._turned_little(f, order, v, across), {}
        lanes, aligned = self._lanes(f, v, exact=False)
        rows = order[:-1]
        flat = self._as_one(f, order, lanes)
        if flat is not None:
            return flat
        names = tuple(a.name for a in rows)
        base = GpuSchedule(names, (v.name,), v.name, lanes, "pointwise", "tile", aligned=aligned)
        moved = self.anchored(f, [v], v, lanes)
        if moved is not None:
            return self._anchored(f, rows, v, replace(base, lanes=moved[0], anchor=moved[1], aligned=moved[2]))
        vectors = -(-self.size([v]) // lanes)
        ct = power_up(vectors, HALF)
        rt = HALF // ct if rows else 1
        again, times = self._repeat(f, rows, v, lanes)
        if vectors > 2 * WARP and self._strewn(f, rows, v):
            return f, self._whole_rows(f, replace(base, lanes=min(lanes, STREWN[0])), rows, v, again, times), {}
        while times > 1 and self.size(rows) * vectors < times * HALF * self.gpu.sms * 4:
            times //= 2
        whole = bool(rows) and self.size([v]) % lanes == 0
        if again is not None and times > 1:
            others = [a for a in rows if a is not again]
            threads = self._for_blocks(f, v, lanes * times)
            narrow = _wasting_little(power_up(vectors, threads), 1, vectors)
            s = replace(base, repeat=again.name, repeats=times)
            if not (whole and _wastes(narrow, 1, vectors)):
                rt = min(threads // narrow, power_up(self.size(others or [again]), threads))
                return f, replace(s, row_threads=rt, col_threads=narrow), {}
            if others:
                return f, self._joined(s, [again, *others], v, threads, 1), {}
        flight, most = _ahead(f, v, lanes)
        steps = max(1, min(most, vectors // ct))
        few = steps < most and steps * flight < ACCESS  # bytes on their way to a thread
        size = min((d.itemsize for _, o, d in accesses(f) if v in o.axes()), default=WORD)
        large = any(o.all_axes() >= set(f.axes) for _, o, _ in accesses(f, stores=False))
        ragged = large and lanes * size == WORD and self.size([v]) * size % LINE > 0  # a warp's line would be in two
        if whole and (few or ragged or _wastes(_wasting_little(ct, 1, vectors), 1, vectors)):
            return f, self._joined(base, rows, v, HALF, self._busy(most, self.size(rows) * vectors)), {}
        steps = self._busy(steps, self.size(rows) * vectors, ct * rt)
        if rows:
            narrow = _wasting_little(ct, steps, vectors)
            if whole and narrow < ct:  # less of a row side by side: memory gives it more slowly
                return f, self._joined(base, rows, v, HALF, min(steps, ABREAST)), {}
            ct, rt = narrow, HALF // narrow
        return f, replace(base, row_threads=rt, col_threads=ct, steps=steps), {}

    def _as_one(self, f: Fusion, order: list[Atom], lanes: int) -> Settled | None:
        """Rows whose vectors would be narrow, but which follow each other in memory in all large operands, are walked
        as one: their vectors are whole, and lie across the ends of rows. What is read of others is read lane by lane,
        which costs instructions, but hardly traffic. None: they are not such rows."""
        every = {(b, o): d for b, o, d in accesses(f)}
        large = [k for k in every if k[1].all_axes() >= set(order)]
        most = widest(every[k] for k in large)
        if len(order) < 2 or not large or len(every) - len(large) > OTHERS or draws(f):
            return None
        point = sum(every[k].itemsize for k in large)
        while most * WORD > ACCESS and self._passes(every, large, order[-1], most) > point:
            most //= 2  # of elements that are no words
        if lanes >= most:
            return None
        if arithmetic(f) >= DEAR and self.size(order[-1:]) > AS_ONE * most:
            return None
        singly = (len(every) - len(large)) * most
        if lanes > 1 and singly >= sum(most * every[k].itemsize for k in large):  # an access, at least, for each byte
            return None
        for b, o in large:
            at = begin(o, order)
            if at is None or self.alignment(b) % ACCESS or not multiple(at, most, self.hint):
                return None
        read = {(b, o) for b, o, _ in accesses(f, stores=False)}
        flight = sum(most * every[k].itemsize for k in large if k in read)
        f, v = as_one(f, order)
        singles = most * sum(1 for k in every if k not in large and order[-1] in k[1].axes())
        steps = self._busy(min(_at_a_time(flight), max(1, SINGLES // max(singles, 1))), -(-self.size([v]) // most))
        aligned = frozenset(b for b, _ in large)
        s = GpuSchedule((), (v.name,), v.name, most, "pointwise", "tile", 1, HALF, steps, aligned=aligned)
        return f, s, {}

    def _passes(self, every: Mapping[Access, DType], large: list[Access], v: Atom, lanes: int) -> int:
        """Lines of the nearest cache that a warp reads for one point of each thread, of operands read lane by lane.
        While it reads one, memory moves somewhat more than a byte of each of these points."""
        others = [every[k].itemsize if v in k[1].axes() else 0 for k in every if k not in large]
        return sum(max(1, lanes * size * WARP // LINE) for size in others)

    def _strewn(self, f: Fusion, rows: list[Atom], v: Atom) -> bool:
        """Whether points of a row are read wherever an index says in a row of memory that caches can hold."""
        for _, o, d in accesses(f, stores=False):
            if v in o.all_axes() - o.axes():
                plain = o
                for a in o.atoms():
                    plain = plain.without(a) if a.kind == "value" else plain
                apart = [abs(self.hint(c)) for a in rows if (c := plain.coefficient(a)) is not None and c is not ZERO]
                if apart and min(apart) * d.itemsize <= ROW:
                    return True
        return False

    def _whole_rows(
        self, f: Fusion, s: GpuSchedule, rows: list[Atom], v: Atom, again: Atom | None, times: int
    ) -> GpuSchedule:
        """Tiles of whole rows, or as much of them as a large block can have: each sector of a row is read by one
        multiprocessor then, however often. Vectors are narrow, so that a warp's reads are near each other where the
        index is sorted. (Columns that an index picks, 1.3 to 2.7 times as fast on an H200 as with tiles of 128 threads
        of wide vectors.)"""
        much = len({(b, o) for b, o, _ in accesses(f, stores=False) if v in o.all_axes()}) > 2
        much |= arithmetic(f) >= DEAR  # which takes registers
        vectors, most = -(-self.size([v]) // s.lanes), max(1, STREWN[1] // s.lanes // (2 if much else 1))
        least = 1 if times > 1 and vectors <= 4 * THREADS else 2
        steps = max(least, min(most, power_up(-(-vectors // (4 * THREADS)), most)))
        ct = power_up(-(-vectors // steps), 4 * THREADS)
        times = max(1, min(times, most // 2 // steps))
        while ct > HALF and self.size(rows) * vectors < ct * steps * times * self.gpu.sms * 2:
            times, steps, ct = (times // 2, steps, ct) if times > 1 else (1, max(1, steps // 2), ct // 2)
        s = replace(s, row_threads=max(1, HALF // ct), col_threads=ct, steps=steps)
        return replace(s, repeat=again.name, repeats=times) if again is not None and times > 1 else s

    def _busy(self, steps: int, vectors: int, threads: int = HALF) -> int:
        """Vectors of a thread at a time, a power of two: not so many that processors have few blocks. (Kernels of 5 us
        take 6 to 14 % less on an H200 with four blocks of half the steps than with two.)"""
        while steps > 1 and vectors < steps * threads * self.gpu.sms * BLOCKS:
            steps //= 2
        return 1 << (steps.bit_length() - 1)

    def _for_blocks(self, f: Fusion, v: Atom, points: int) -> int:
        """Threads of a block, each with so many points, if that is enough traffic for the time a block takes to begin;
        more of them else."""
        each = points * sum(d.itemsize for _, o, d in accesses(f) if v in o.axes())
        threads = HALF
        while threads < 4 * HALF and threads * each < BEGIN:
            threads *= 2
        return threads

    def _joined(self, s: GpuSchedule, rows: list[Atom], v: Atom, threads: int, steps: int) -> GpuSchedule:
        """Tiles of several rows one after the other, where the vectors of one would leave many threads without any. Of
        as many axes as fill a block."""
        n = 1
        while n < len(rows) and self.size([*rows[-n:], v]) < s.lanes * threads * steps:
            n += 1
        names = tuple(a.name for a in rows)
        cols = (*names[-n:], v.name)
        return replace(s, rows=names[:-n], cols=cols, row_threads=1, col_threads=threads, steps=steps)

    def _anchored(self, f: Fusion, rows: list[Atom], v: Atom, s: GpuSchedule) -> Settled:
        """Tiles whose vectors are aligned row by row: few threads of which are beyond the end of a row, or, where
        addresses have to be waited for as well, several vectors for each thread."""
        vectors = count(self.size([v]), s.lanes)
        if vectors > 2 * WARP and self._strewn(f, rows, v):
            return f, self._whole_rows(f, s, rows, v, None, 1), {}
        steps = self._busy(_ahead(f, v, s.lanes, moved=True)[1], self.size(rows) * vectors)
        reads = [(b, d.itemsize) for b, o, d in accesses(f, stores=False) if v in o.axes()]
        if finds_places(f, v):
            ct = _wasting_little(power_up(-(-vectors // steps), HALF), steps, vectors)
        elif any(b not in s.aligned and size >= PIECEWISE for b, size in reads):
            steps, ct = _whole_warps(steps, vectors)
        else:
            steps, ct = _few_beyond(steps, vectors)
        rt = min(HALF // ct, power_up(self.size(rows), HALF)) if rows else 1
        return f, replace(s, row_threads=rt, col_threads=ct, steps=steps), {}

    def _repeat(self, f: Fusion, rows: list[Atom], v: Atom, lanes: int) -> tuple[Atom | None, int]:
        """(the row axis along which most of what a tile reads and writes stays the same, points of it for a thread).

        Not if that is half of it, at most, and the nearest cache holds it, or memory gives elements of four bytes at
        every point, which takes so long that there is time to read again. Rather a short one whose points are side by
        side in what is read across: a thread takes all of them.
        """
        turned = self.across(f, rows + [v], v)
        if turned is not None and 1 < self.size([turned]) <= NEIGHBOURS:
            return turned, self.size([turned])
        best: tuple[float, Atom | None, int] = (REUSE, None, 0)
        walks = {(b, o): d.itemsize for b, o, d in accesses(f) if v in o.axes()}
        loads = {(b, o): d.itemsize for b, o, d in accesses(f, stores=False) if v in o.axes()}
        total = sum(walks.values())
        wide = min(walks.values(), default=0) >= WORD and any(o.all_axes() >= {*rows, v} for _, o in loads)
        for a in rows:
            same = sum(n for (_, o), n in walks.items() if a not in o.all_axes())
            stay = sum(self.size([*o.all_axes()]) * n for (_, o), n in loads.items() if a not in o.all_axes())
            cheap = 2 * same <= total and (wide or stay <= NEAR)
            if total and same / total > best[0] and self.size([a]) > 1 and not cheap:
                other = sum(n for (_, o), n in loads.items() if a in o.all_axes())
                best = (same / total, a, other * lanes)
        _, axis, varying = best
        if axis is None:
            axis, varying = self._placed_alike(f, rows), sum(loads.values()) * lanes
        if axis is None:
            return None, 1
        few = 3 * FLIGHT // max(varying, 1)
        return axis, min(4, max(2, 1 << max(0, few.bit_length() - 1)), power_up(self.size([axis]), 4))

    def _placed_alike(self, f: Fusion, rows: list[Atom]) -> Atom | None:
        """The row axis along which most of what is computed stays the same, if that is much, as where an image is read
        at places that are the same in all channels."""
        every = sc.walk([s.body for s in f.stores()])
        if (
            sum(e.cost for e in every) < DEAR
            or len({e.data[:2] for e in every if e.kind == "load"}) > PLACES
            or draws(f)
        ):
            return None
        return self.alike(every, (a for a in rows if self.size([a]) > 1))

    def _transpose(self, f: Fusion, order: list[Atom], v: Atom, across: Atom) -> Settled:
        walks = self.walks(f, v, across)
        along = {a: [w for w in walks if w[3] is a] for a in (v, across)}
        width = {a: min(8, self._width(f, a, found, exact=True, strided=False)) for a, found in along.items()}
        lanes = width[v]
        rows = tuple(a.name for a in order if a is not v and a is not across) + (across.name,)
        side = self._side(across, v, min((d.itemsize for _, _, d, _ in walks), default=WORD))
        ct = side // lanes
        threads = THREADS
        if lanes < 8 and min(self.size([v]), self.size([across])) >= 2 * STAGE:
            threads *= 2  # that write little each
        rows_of = STAGE * STAGE // side
        rt = max(1, threads // ct, rows_of // (width[across] * ct))
        s = GpuSchedule(
            rows,
            (v.name,),
            v.name,
            lanes,
            "transpose",
            "staged",
            min(rt, rows_of),
            ct,
            1,
            across=across.name,
            turned=width[across],
            aligned=self.aligned(walks, width),
        )
        return f, s, {}

    def _lengthened(self, f: Fusion, order: list[Atom], v: Atom, across: Atom) -> tuple[Fusion, list[Atom], Atom, Atom]:
        """The shorter axis of a transpose, if it is short, as one with those that follow it in memory.

        What lies across it finds its place by quotients, once for a vector. ((9, 128, 8192) to (8192, 128, 9) float32:
        56 us on an H200 where a tile has 9 columns; a third of these columns, each written by a thread: 99 us; 15 us.)
        """
        size = max((d.itemsize for _, o, d in accesses(f) if v in o.axes()), default=WORD)
        while (n := self.size([short := min((v, across), key=lambda a: self.size([a]))])) < STAGE and n * size % LINE:
            offsets = [o for o in self.large_offsets(f) if short in o.axes() and o.coefficient(short) is ONE]
            others = [a for a in order if a is not v and a is not across]
            after = next(
                (a for a in others if offsets and all(o.coefficient(a) is short.extent for o in offsets)), None
            )
            if after is None:
                break
            f, one = as_one(f, [after, short])
            order = [one if a is short else a for a in order if a is not after]
            v, across = (one, across) if v is short else (v, one)
        return f, order, v, across

    def _staged(self, across: Atom, v: Atom) -> bool:
        """Whether a transpose passes through shared memory: not of so few points that they are near each other."""
        short, long = sorted((self.size([across]), self.size([v])))
        return short >= NEIGHBOURS and short * long >= STAGE * STAGE // 4

    def _turned_little(self, f: Fusion, order: list[Atom], v: Atom, across: Atom) -> GpuSchedule:
        """A thread writes all of a short run, and its neighbours read neighbours, which lie across."""
        lanes, aligned = self._lanes(f, v, exact=True)
        rows = [a for a in order if a is not v and a is not across] + [across]
        s = GpuSchedule(tuple(a.name for a in rows), (v.name,), v.name, lanes, "transpose", "tile", HALF, 1)
        return replace(s, steps=power_up(-(-self.size([v]) // lanes), NEIGHBOURS), aligned=aligned)

    def _side(self, across: Atom, v: Atom, itemsize: int) -> int:
        """Points along `v` of a tile of STAGE * STAGE points: a square, unless far fewer of other tiles would do, which
        take half a line of memory at least."""
        n, m = self.size([across]), self.size([v])
        least = [power_up(min(k, LINE // (2 * itemsize)), STAGE) for k in (n, m)]
        sides = [side for side in SIDES if STAGE * STAGE // side >= least[0] and side >= least[1]]
        counts = [-(-n * side // STAGE**2) * -(-m // side) for side in sides]
        return next(side for side, k in zip(sides, counts, strict=True) if 4 * k <= 5 * min(counts))


def _ahead(f: Fusion, v: Atom, lanes: int, moved: bool = False) -> tuple[int, int]:
    """(bytes that a thread reads for a vector, vectors that it should ask for at a time). Of the pieces of a cat a
    vector is one, unless rows are `moved`: then it may lie across two, and each is looked at on its own. What is the
    same for other points is near, if something is not."""
    loads = {e for e in sc.walk([s.body for s in f.stores()]) if e.kind == "load" and v in e.data[1].axes()}
    loads = {e for e in loads if e.data[1].all_axes() >= set(f.axes)} or loads
    always, maybe = ({e.data[:2]: lanes * e.data[2].itemsize for e in loads if bool(e.args) == m} for m in (0, 1))
    flight = sum(always.values()) + (sum if moved else max)((0, *maybe.values()))
    return flight, _at_a_time(flight, FLIGHT if moved else FLIGHT // 2, POINTS if lanes == 1 and flight < 4 else 4)


def _at_a_time(flight: int, most: int = FLIGHT // 2, few: int = 4) -> int:
    """Vectors a thread asks for at a time, at most `few`: it reads so many bytes for each, at most so many of all."""
    return max(1, min(few, most // max(flight, 1)))


def _few_beyond(most: int, vectors: int) -> tuple[int, int]:
    """(vectors of a thread, at most so many, threads of a row): the widest tile that is hardly beyond a row's end, or
    that is the least. Of the same width, two vectors of a thread were the fastest."""
    fewest = 2 * NARROW if vectors >= 8 * NARROW else NARROW
    threads = [1 << k for k in range(fewest.bit_length() - 1, HALF.bit_length())]
    choices = [(n, ct) for n in (2, 1, 4) if n <= most for ct in threads]
    choices.sort(key=lambda c: c[0] * c[1], reverse=True)
    least = min(choices, key=lambda c: -vectors % (c[0] * c[1]))
    return next((c for c in choices if not _wastes(c[1], c[0], vectors)), least)


def _whole_warps(most: int, vectors: int) -> tuple[int, int]:
    """(vectors of a thread, threads of a row) where neighbours share what lies across their vectors: whole warps read
    it with the least traffic. One vector each, or two if a warp has all of a row then."""
    ct = next((ct for ct in (HALF, HALF // 2) if -vectors % ct <= vectors // 2), WARP)
    return (min(most, 2) if WARP == ct < vectors <= 2 * ct else 1), ct


def _wastes(ct: int, steps: int, vectors: int) -> bool:
    """Whether many threads of a row are beyond its end in the last of its tiles."""
    return UNUSED * (-vectors % (ct * steps)) > vectors


def _wasting_little(ct: int, steps: int, vectors: int) -> int:
    """Threads of a row, at most `ct`, few of which are beyond its end in the last of its tiles."""
    while ct > WARP and WASTE * (-vectors % (ct * steps)) > vectors:
        ct //= 2
    return ct
