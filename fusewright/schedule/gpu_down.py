"""Schedules of rows that are neighbours in memory, as in a reduction over the middle: threads side by side along rows,
each taking some of the columns. The modes: see `gpu.py`."""

from __future__ import annotations

from dataclasses import replace

from ..fusion.ir import Fusion
from ..fusion.online import online
from ..index.expr import Atom
from .gpu_along import passes_of, read_for_point
from .gpu_base import (
    ACCESS,
    DEAR,
    FLIGHT,
    LINE,
    PIECES,
    SECTOR,
    WARP,
    WORD,
    GpuSchedule,
    Settled,
    accesses,
    arithmetic,
    draws,
    finds_positions,
    power_up,
)
from .gpu_fit import CLUSTERS, EACH_ROW, HALF, STEPS, THREADS, WORDS, holds
from .gpu_runs import Runs
from .quotients import multiple

EACH = 8  # columns of a thread, at least, where it costs much to combine what threads have found, or each reads little
LITTLE = 4  # bytes of a vector up to which that is little
BRIEF = 384  # columns up to which half as many threads share those whose moments are combined, which is dear
FEW_COLUMNS = 16  # that two threads hold, and a quarter of them one
LONG = 64  # columns from which on half a warp has rows side by side, and more threads share a column
MANY = 96  # columns of which many threads of a large block have several each
SOON = 1 << 22  # bytes that are read while parts of columns are combined
IN_TURN = 16  # columns that a thread has in turn, of whole columns that are read so soon
TURNS = 64  # of a thread, at most, rather than that columns are cut
PART = 8  # bytes of a vector from which on blocks that hold rows have no more of them than a line of the caches has
BRIEFLY = 8  # columns of a thread up to which it may have twice the registers, rather than twice the blocks share them
HELD = 56, 48, 64  # registers of a thread for values: in blocks of half the threads, of all, of all with half a line
FLYING, STAYING = 56, 46  # words of a thread on their way; with half of those, words that it keeps
BROAD = 4 * WARP  # vectors of rows side by side in a block, at most


class Down(Runs):
    """Kernels whose threads are side by side along rows."""

    def down(self, f: Fusion, rows: list[Atom], cols: list[Atom], unit: Atom, passes: int) -> Settled:
        lanes, aligned = self._lanes(f, unit, exact=True)
        nc, side = self.size(cols), self._neighbours(f, rows, cols)
        names = tuple(a.name for a in rows), tuple(a.name for a in cols)
        sizes = {d.itemsize for _, o, d in accesses(f, stores=False) if unit in o.axes()} or {ACCESS}
        smallest = min(sizes - {1} or sizes)  # masks are little beside what they are for

        def based(lanes: int, most: int = WARP) -> tuple[GpuSchedule, int]:
            """A loop with such vectors, at most so many of rows in a block, and tiles of rows."""
            vectors = self.size(rows) // lanes
            rt = self._side_by_side(power_up(side // lanes, most), lanes * smallest, vectors)
            ct = max(1, THREADS // rt)
            if 2 * nc <= ct:  # rows of several stretches, rather than threads without a column
                ct = power_up(nc, ct)
                rt = power_up(vectors, THREADS // ct)
            little = passes == 1 and lanes * smallest <= LITTLE and vectors >= 2 * PIECES * WARP * self.gpu.sms
            if finds_positions(f.reductions()) or little:  # what threads have found is dear to combine
                ct = max(1, min(ct, power_up(nc // EACH + 1, 2 * ct) // 2))
            if little and ct * rt < HALF:
                rt = self._side_by_side(power_up(side // lanes, HALF // ct), lanes * smallest, vectors)
            together = aligned if lanes > 1 else frozenset[str]()
            s = GpuSchedule(*names, unit.name, lanes, "outer reduction", "loop", rt, ct, 4, aligned=together)
            return replace(s, family="outer persistent" if passes > 1 else s.family), -(-vectors // rt)

        base, tiles = based(lanes)
        if (brief := self._few_columns(f, base, rows, cols, side, lanes * smallest)) is not None:
            return f, brief, {}
        ct = base.col_threads
        running = online(f, set(cols))
        moments = any(o.kind == "moments" for o in running.values()) and passes_of(f, set(cols), running) == 1
        if passes > 1:
            lines = lanes * smallest >= PART and lanes * smallest * base.row_threads >= LINE
            tries = (lanes, min(lanes, 4)) if moments and lines and tiles >= self.gpu.sms else ()
            known = (self._held_moments(f, based(n)[0], rows, cols, n * smallest) for n in tries)
            held = next((s for s in known if s is not None), None)
            held = held or self._held_rows(f, base, rows, cols, unit, side, lanes * smallest, moments)
            if held is not None:
                return f, held, {}
        if moments and nc >= BRIEF and lanes * smallest >= PART:
            slim = self._slim(base, self.size(rows) // lanes, lanes * smallest)
            if slim is not None:
                return f, replace(slim, steps=self._in_turn(f, set(cols), slim, nc, bool(running))), {}
        once = passes == 1 or (moments and lanes * smallest <= LITTLE)
        few = self.gpu.sms * (PIECES // 2 if once else 1)  # so few blocks do not keep memory busy
        if tiles < few and nc >= 4 * ct:
            if passes == 1 and not running:
                whole = self._in_large_blocks(f, base, rows, cols, smallest)
                if whole is None:
                    whole = self._soon(f, based(min(lanes, max(1, WORD // smallest)))[0], rows, cols, smallest)
                if whole is None and lanes * smallest > 2 * LITTLE:
                    whole = self._in_pairs(f, based(2)[0], rows, cols)
                if whole is not None:
                    return f, whole, {}
            point = read_for_point(f, set(cols))
            several = lanes * point > ACCESS and len(f.reductions()) > 1
            narrow = lanes == 8 and (passes > 1 or several or running)  # these take registers
            longer = lanes == 8 and (4 if narrow else 8) * point <= ACCESS  # 16-bit elements wait longer; of one tensor
            longer &= not running or point == smallest  # what is combined on the fly takes registers
            longer |= bool(running) and lanes * point <= LITTLE
            few_lanes, steps = self._unspilled(f, set(cols), unit, 4 if narrow else lanes, 8 if longer else 4)
            if few_lanes < lanes:
                base, tiles = based(few_lanes)
                ct = base.col_threads
            if passes == 1 and not running and LITTLE <= lanes * smallest <= 2 * LITTLE:
                base, ct = replace(base, col_threads=max(1, ct // 2)), max(1, ct // 2)  # fewer rows of it at once
            if passes == 1 and not running and (wide := self._as_wide(f, base, side)) is not None:
                base, ct, tiles, steps = wide, wide.col_threads, self.size(rows) // wide.row_threads, 8
            splits = min(self.gpu.sms * PIECES // tiles, -(-nc // (4 * ct)), 1024)
            if splits > 1:
                steps = min(steps, 8 if nc >= 16 * ct * splits else 4)
                s = replace(base, family=base.family + ", split", mode="split", steps=steps, finish=True)
                return f, replace(s, once=self._once(f, s, splits)), {"splits": splits}
        if (passes == 1 or moments) and (singles := self._singles(f, base, rows, cols, side, bool(running))):
            return f, singles, {}
        if passes == 1 and nc >= LONG:
            across = None if running else self._across_lines(f, base, rows, cols, unit, side, smallest)
            if across is not None:
                base = across
            elif WARP // 2 * lanes * smallest >= LINE:
                base, _ = based(lanes, WARP // 2)  # more threads along columns, of fewer rows side by side
        if moments and nc <= BRIEF:
            base = replace(base, col_threads=max(1, ct // 2))
        if passes > 1 and not moments and lanes * smallest < PART and self.size(rows) // lanes >= 2 * WARP:
            return f, replace(base, row_threads=2 * WARP, col_threads=2 * THREADS // WARP), {}  # whole lines, or nearly
        return f, replace(base, steps=self._in_turn(f, set(cols), base, nc, bool(running))), {}

    def _as_wide(self, f: Fusion, s: GpuSchedule, side: int) -> GpuSchedule | None:
        """Blocks as wide as so few rows that are side by side, read element by element, where tiles as wide as a power
        of two would leave threads without one, or have parts of two stretches. None: tiles do nearly, or a thread
        computes much.

        (Sums of 3 to 49 columns, 16 to 200 MB: 1.1 to 1.17 times as fast on an H200.)
        """
        n = s.row_threads
        if s.lanes > 1 or not 2 < side <= 2 * WARP or self._dear(f) or finds_positions(f.reductions()):
            return None
        if 8 * side >= 7 * n * -(-side // n):
            return None
        return replace(s, row_threads=side, col_threads=(THREADS if side >= 8 else HALF) // side)

    def _neighbours(self, f: Fusion, rows: list[Atom], cols: list[Atom]) -> int:
        """Points of neighbouring rows, of which the last axis has unit stride, that lie side by side in all that is
        read at every point."""
        reads = {o for _, o, _ in accesses(f, stores=False) if o.axes() >= {*rows, *cols}}
        n = self.size(rows[-1:])
        for a in reversed(rows[:-1]):
            if not reads or any((c := o.coefficient(a)) is None or self.hint(c) != n for o in reads):
                break
            n *= self.size([a])
        return n

    def _singles(
        self, f: Fusion, base: GpuSchedule, rows: list[Atom], cols: list[Atom], side: int, running: bool
    ) -> GpuSchedule | None:
        """The largest blocks, and wide ones, for rows read element by element, which do not begin with lines of the
        caches: the parts at both ends of what a block reads of a row are what its neighbours want. None: rows are read
        in vectors, are short or few, or a thread computes much. `running`: as for `_in_turn`."""
        n, nc = 4 * WARP, self.size(cols)
        if base.lanes > 1 or side < WARP or nc <= FEW_COLUMNS or finds_positions(f.reductions()):
            return None
        if 8 * -(-self.size(rows) // n) < 7 * self.gpu.sms or self._dear(f):
            return None
        s = replace(base, row_threads=n, col_threads=1024 // n if nc >= LONG else 512 // n)
        most = 4 if running else max(1, min(8, FLIGHT // 2 // max(1, read_for_point(f, set(cols)))))
        return replace(s, steps=min(most, self._in_turn(f, set(cols), s, nc, running)))

    def _across_lines(
        self, f: Fusion, base: GpuSchedule, rows: list[Atom], cols: list[Atom], unit: Atom, side: int, smallest: int
    ) -> GpuSchedule | None:
        """Large blocks, for narrow vectors of rows that do not begin with lines of the caches: of what a warp reads of
        a column, parts of lines at both ends are what its neighbours want. None: they begin with lines, or are few."""
        n, lanes = 2 * WARP, base.lanes
        if lanes == 1 or lanes * smallest > 2 * LITTLE or self.size(cols) < MANY or finds_positions(f.reductions()):
            return None
        if side < WARP * lanes or self.size(rows) < n * lanes * self.gpu.sms:
            return None
        reads = [o for _, o, _ in accesses(f, stores=False) if unit in o.axes()]
        if all(multiple(o.without(unit), LINE // smallest, self.hint) for o in reads):
            return None
        return replace(base, row_threads=n, col_threads=1024 // n)

    def _within_sectors(
        self, f: Fusion, base: GpuSchedule, rows: list[Atom], cols: list[Atom], unit: Atom, side: int, size: int
    ) -> GpuSchedule | None:
        """Blocks wide in narrow vectors, or clusters of them, that hold rows which do not begin with sectors of memory:
        of narrow blocks much of what is read, in parts of sectors at both ends, is what their neighbours want, and what
        is written there is a part of a sector. None: rows begin with sectors, are few, or do not fit. (Of 23 shapes on
        an H200 these were 1.0 to 1.9 times as fast as blocks of one line.)"""
        nc, itemsize = self.size(cols), size // base.lanes
        if all(multiple(o.without(unit), SECTOR // itemsize, self.hint) for _, o, _ in accesses(f) if unit in o.axes()):
            return None
        words, clusters = self._words(f, set(cols))[0], self._clusters(f, set(cols))
        if size == ACCESS and words >= 2:  # of several tensors: whole accesses, in narrow blocks, rather than clusters
            clusters = (1,)
        for n, ct, c, lanes, most in _wide_ways(nc, itemsize, base.lanes):
            steps = -(-nc // (c * ct))
            many = side >= WARP * lanes and self.size(rows) * c >= n * lanes * self.gpu.sms
            fits = steps <= most and steps * lanes * words <= (WORDS if n * ct == 1024 else 2 * WORDS)
            if many and fits and c in clusters and (c == 1 or steps >= most // 2 - 1):  # fewer blocks would not hold it
                aligned = self.aligned(self.walks(f, unit, None), {unit: lanes})
                wide = replace(base, lanes=lanes, aligned=aligned, row_threads=n, col_threads=ct, cluster=c)
                return replace(wide, mode="persistent", steps=steps)
        return None

    def _few_columns(
        self, f: Fusion, s: GpuSchedule, rows: list[Atom], cols: list[Atom], side: int, size: int
    ) -> GpuSchedule | None:
        """Columns so short that a thread, or two, have all of one in registers: what many have of it takes longer to
        combine than to read. None: they are longer, too much is read of them, or rows are short or few."""
        nc, side = self.size(cols), side // s.lanes
        few = FEW_COLUMNS // 2 if size <= LITTLE else FEW_COLUMNS // 4
        ct = 1 if nc <= few and not finds_positions(f.reductions()) else 2
        # of threads that do little, large blocks: they begin no faster than small ones
        rt = power_up(side, 2 * WARP if size > LITTLE else HALF if size * nc >= ACCESS else THREADS)
        fits = holds(rt * ct, -(-nc // ct), s.lanes * self._words(f, set(cols))[0])
        if not fits or nc > FEW_COLUMNS or (size <= LITTLE and ct > 1) or side < WARP:
            return None
        if self.size(rows) // s.lanes < rt * self.gpu.sms:
            return None
        return replace(s, mode="persistent", row_threads=rt, col_threads=ct, steps=-(-nc // ct))

    def _held_moments(
        self, f: Fusion, s: GpuSchedule, rows: list[Atom], cols: list[Atom], size: int
    ) -> GpuSchedule | None:
        """Columns whose moments are combined, held by small blocks with few vectors (of so many bytes) of rows: two
        passes over registers take less than one that combines. None: they are too long, or rows too few."""
        nc, vectors = self.size(cols), self.size(rows) // s.lanes
        words = s.lanes * self._words(f, set(cols))[0]
        line = LINE // size
        ways = [(line, THREADS, HELD[2])]  # vectors of rows, threads, words of a thread
        if s.lanes > 4:
            ways = [(line, HALF, HELD[1])]
        elif size < ACCESS:
            ways += [(line // 2, THREADS, HELD[2])]
        if s.row_threads == WARP and size == ACCESS:
            ways = [(WARP, THREADS, HELD[1] if s.lanes > 4 else HELD[2]), *ways]
        for n, threads, most in ways:
            steps = -(-nc * n // threads)
            if steps <= STEPS and steps * words <= most and -(-vectors // n) >= self.gpu.sms:
                return replace(s, mode="persistent", row_threads=n, col_threads=threads // n, steps=steps)
        return None

    def _slim(self, s: GpuSchedule, vectors: int, size: int) -> GpuSchedule | None:
        """Blocks of so few vectors of rows that there are blocks for all processors. None: rows are too few."""
        n = s.row_threads
        if n < WARP:  # rows are short
            return replace(s, col_threads=HALF // n) if -(-vectors // n) >= self.gpu.sms else None
        while n * size > LINE and -(-vectors // n) < self.gpu.sms:
            n //= 2
        enough = 4 * -(-vectors // n) >= 3 * self.gpu.sms
        return replace(s, row_threads=n, col_threads=THREADS // n) if enough else None

    def _soon(
        self, f: Fusion, words: GpuSchedule, rows: list[Atom], cols: list[Atom], smallest: int
    ) -> GpuSchedule | None:
        """Blocks that take whole columns of words, where reading all of them takes less than to combine their parts.
        (Maxima of 2 to 4 MB take 0.3 to 1.8 us less on an H200.) None: it takes more, or blocks would be few."""
        nc = self.size(cols)
        much = self._dear(f) or len(f.reductions()) > 1 or words.lanes * read_for_point(f, set(cols)) > ACCESS
        if much or self.size(rows) * nc * smallest > SOON:
            return None
        for rt in (2 * WARP, WARP, WARP // 2):
            if 2 * (self.size(rows) // (words.lanes * rt)) >= self.gpu.sms:
                s = replace(words, row_threads=rt, col_threads=power_up(-(-nc // IN_TURN), 1024 // rt))
                return replace(s, steps=min(8, self._in_turn(f, set(cols), s, nc, False)))
        return None

    def _in_large_blocks(
        self, f: Fusion, base: GpuSchedule, rows: list[Atom], cols: list[Atom], smallest: int
    ) -> GpuSchedule | None:
        """The largest blocks, which take whole columns, where these make work for nearly all processors: to cut columns
        and to combine what is found takes longer than a few more turns. None: there are too few of them, columns are
        too long for that, or a thread reads or computes much of one, and two such blocks would not fit a processor."""
        wide = base.lanes * smallest > 2 * LITTLE or base.lanes * read_for_point(f, set(cols)) > ACCESS
        if self._dear(f) or wide or len(f.reductions()) > 1:
            return None
        vectors = self.size(rows) // base.lanes
        for n in (WARP, WARP // 2):
            if n <= base.row_threads and 8 * -(-vectors // n) >= 7 * self.gpu.sms:
                threads = 1024 // n
                short = self.size(cols) <= TURNS * threads
                return replace(base, row_threads=n, col_threads=threads, steps=2) if short else None
        return None

    def _in_pairs(self, f: Fusion, pairs: GpuSchedule, rows: list[Atom], cols: list[Atom]) -> GpuSchedule | None:
        """Blocks of 512 threads that take whole columns of pairs, where those make blocks for all processors, though
        wider vectors do not. None: they do not either, columns are too long, or a thread reads or computes much of one.
        """
        n, threads, nc = WARP, 512 // WARP, self.size(cols)
        much = self._dear(f) or len(f.reductions()) > 1 or pairs.lanes * read_for_point(f, set(cols)) > ACCESS
        tiles = self.size(rows) // (pairs.lanes * n)
        turns = TURNS if tiles <= 4 * self.gpu.sms else TURNS // 2  # blocks that begin late are to be short
        if much or nc > turns * threads or 3 * tiles < 4 * self.gpu.sms:
            return None
        s = replace(pairs, row_threads=n, col_threads=threads)
        return replace(s, steps=min(8, self._in_turn(f, set(cols), s, nc, False)))

    def _dear(self, f: Fusion) -> bool:
        return draws(f) or arithmetic(f) >= DEAR

    def _held_rows(
        self,
        f: Fusion,
        base: GpuSchedule,
        rows: list[Atom],
        cols: list[Atom],
        unit: Atom,
        side: int,
        size: int,
        moments: bool,
    ) -> GpuSchedule | None:
        """Rows that blocks hold, in vectors of so many bytes; None where they cannot. `moments`: one pass would do."""
        nc, lanes, vectors = self.size(cols), base.lanes, self.size(rows) // base.lanes
        words = lanes * self._words(f, set(cols))[0]
        clusters = self._clusters(f, set(cols))
        rt, ct = base.row_threads, base.col_threads
        if lanes > 1 and side <= 2 * lanes:  # one or two vectors side by side
            few = power_up(-(-nc // EACH_ROW), THREADS)
            n, steps = 2 * WARP // few, -(-nc // few)
            if n > 0 and steps * words <= WORDS and -(-vectors // n) >= PIECES * self.gpu.sms:
                return replace(base, mode="persistent", row_threads=n, col_threads=few, steps=steps)
        broad = self._broad(side // lanes, lanes, size, vectors)
        if not moments and (size >= WORD or broad <= WARP):
            inside = self._within_sectors(f, base, rows, cols, unit, side, size)
            if inside is not None:
                return inside
        if size >= PART and not moments and side * size >= LINE * lanes:
            found = self._lines(LINE // size, vectors, clusters, nc, words)
            if found is not None:
                n, c, ct = found
                steps = -(-nc // (c * ct))
                return replace(base, mode="persistent", row_threads=n, col_threads=ct, steps=steps, cluster=c)
        ways: list[tuple[int, int, int]] = []  # vectors of rows, blocks that share them, threads of a row
        more = (1,) if moments else (1, 2, 4)  # one pass does it: rows that take many threads are not held
        narrow = self._spread(rt, size, vectors)
        if narrow < rt:
            ways += [(narrow, 1, k * HALF // narrow) for k in ((1, 2) if moments else (1, 2, 4))]
        for n in (broad, broad // 2):
            ways += [(n, 1, k * THREADS // n) for k in more if n > rt and n * k <= (4 if n == BROAD else 2) * BROAD]
        ways += [(rt, c, k * ct) for c in clusters for k in more]
        for n, c, wide in ways:
            if c > 1 and lanes > 4 and 2 * c * -(-vectors // n) < self.gpu.sms and nc >= 4 * ct:
                continue  # so few blocks: many that combine parts of columns read sooner
            steps = -(-nc // (c * wide))
            parts = wide * n == 1024 and n * size < LINE  # of lines, by so many threads: reading rows again is faster
            if wide * n <= 1024 and holds(wide * n, steps, words) and not parts:
                return replace(base, mode="persistent", row_threads=n, col_threads=wide, steps=steps, cluster=c)
        return None

    def _lines(
        self, line: int, vectors: int, clusters: tuple[int, ...], columns: int, words: float
    ) -> tuple[int, int, int] | None:
        """(vectors of rows of a block, blocks that share them, threads of a row) for blocks of few threads: rows of one
        line of the caches, of more where columns are few, of half a line where they are many; beyond, clusters of such
        blocks, whose threads have more registers rather than few columns each. None: there are few rows, or columns are
        too many. (Threads that hold as much in larger blocks, or less in blocks of 512, were slower by up to a half on
        an H200.)"""

        def fits(n: int, cluster: int, threads: int, most: float) -> bool:
            steps = -(-columns * n // (cluster * threads))
            return steps <= STEPS and steps * words <= most and -(-vectors // n) >= self.gpu.sms

        n = WARP
        while n >= line:
            if fits(n, 1, HALF, HELD[0]) and (n == line or vectors >= PIECES * n * self.gpu.sms):
                return n, 1, HALF // n
            n //= 2
        if fits(line, 1, THREADS, HELD[1]):
            return line, 1, THREADS // line
        half = max(1, line // 2)
        several = clusters[:3]
        for c in several:
            brief = -(-columns * half // (c * THREADS)) <= BRIEFLY and c < several[-1]  # of twice as many, half of that
            if fits(half, c, THREADS, (2 if brief else 1) * HELD[2]):
                return half, c, THREADS // half
        return None

    def _clusters(self, f: Fusion, cols: set[Atom]) -> tuple[int, ...]:
        """How many blocks may hold a row: several, if it would be read again otherwise."""
        again = passes_of(f, cols, online(f, cols)) > 1
        return CLUSTERS if again and self.gpu.clusters else (1,)

    def _unspilled(self, f: Fusion, cols: set[Atom], unit: Atom, lanes: int, steps: int) -> tuple[int, int]:
        """(lanes, vectors of a thread at a time): so many, at most, as do not spill registers."""
        loads = [(o.axes(), d.itemsize) for _, o, d in {(b, o, d) for b, o, d in accesses(f, stores=False)}]
        moving = sum(n / 4 for axes, n in loads if axes & cols and unit in axes)
        alone = sum(n / 4 for axes, n in loads if axes & cols and unit not in axes)
        staying = sum(n / 4 for axes, n in loads if not axes & cols and unit in axes) + len(f.reductions())

        def fits(lanes: int, steps: int) -> bool:
            moved = steps * (lanes * moving + alone)
            return moved <= FLYING and moved / 2 + lanes * staying <= STAYING

        widths = (lanes, 4) if lanes > 4 else (lanes,)
        found = ((n, k) for n in widths for k in (8, 4, 2) if k <= steps and fits(n, k))
        return next(found, (widths[-1], 1))

    def _in_turn(self, f: Fusion, cols: set[Atom], s: GpuSchedule, columns: int, running: bool) -> int:
        """Vectors of a thread at a time: more of narrow ones, and so many that a thread waits for memory as few times
        as can be (those that are left over come one by one). `running`: what is combined on the fly, which takes
        registers."""
        size = s.lanes * max(1, read_for_point(f, cols))
        most = FLIGHT if running and s.lanes < 8 and columns <= BRIEF else 2 * FLIGHT
        choices = [n for n in (1, 2, 4, 8, 16) if n <= 4 or n * size <= most]

        def waits(n: int) -> int:
            return columns // (s.col_threads * n) + -(-(columns % (s.col_threads * n)) // s.col_threads)

        return min(choices, key=waits)

    def _spread(self, rt: int, size: int, vectors: int) -> int:
        """Vectors (of so many bytes) of rows in a block that holds them. Where those make fewer blocks than there are
        processors: fewer, down to a sector, if that makes blocks for most."""
        n = rt
        while n * size > SECTOR and n > 1 and -(-vectors // n) < self.gpu.sms:
            n //= 2
        return rt if 2 * -(-vectors // n) < self.gpu.sms else n

    def _broad(self, most: int, lanes: int, size: int, vectors: int) -> int:
        """Vectors (of so many bytes) of rows in a block, at most so many, where a warp's are few bytes: so many that
        most lines that a block reads and writes are all its own, wherever they begin, and there are blocks for all."""
        n, most_bytes = WARP, (4 if size == 4 and lanes == 1 else 2) * LINE
        while n * size < most_bytes and n < BROAD and vectors >= 2 * n * self.gpu.sms * PIECES:
            n *= 2
        return self._side_by_side(power_up(most, n), size, vectors)

    def _side_by_side(self, most: int, size: int, vectors: int) -> int:
        """How many vectors (of so many bytes) of rows a block has, at most so many: as many as leave few threads
        without one, and lines of memory whole."""
        least = min(most, max(8, LINE // size))
        choices = [most >> k for k in range(most.bit_length()) if most >> k >= least]
        fewest = min(-(-vectors // n) * n for n in choices)
        return next(n for n in choices if 16 * -(-vectors // n) * n <= 17 * fewest)


def _wide_ways(columns: int, itemsize: int, lanes: int) -> list[tuple[int, int, int, int, int]]:
    """(vectors of rows of a block, threads of each, blocks of a cluster, elements of a vector, vectors of a thread at
    most) for blocks that hold so many columns, from the best one on. `lanes`: of the widest vectors there can be."""
    narrow, pairs = (min(lanes, max(1, k * WORD // itemsize)) for k in (1, 2))
    n, few = 2 * WARP, power_up(-(-columns // STEPS), THREADS)
    held = [(n, few, 1, pairs, STEPS)] if columns <= LONG else []
    if lanes * itemsize < WORD:
        return held + [(2 * n, 4, 1, 1, 2 * WORDS), (n, 16, 1, 1, 2 * WORDS)]
    if itemsize < WORD:
        return (held if pairs > narrow else [(n, min(8, 2 * few), 1, narrow, 20)]) + [
            (n, 8, c, narrow, most) for c, most in ((1, 20), (2, 24), (4, 24))
        ]
    single = (2 * n, max(2, min(8, few)), 1, 1, STEPS)
    if pairs > 1:
        held += [(n, 8, 1, pairs, STEPS), (WARP, 16, 1, pairs, 20), single, (n, 8, 4, 1, STEPS)]
        return held + [(WARP, 16, c, pairs, STEPS) for c in (4, 8)]
    return [single, (n, 16, 1, 1, 13), (n, 16, 2, 1, 15), (n, 8, 4, 1, 24), (n, 8, 8, 1, 24)]
