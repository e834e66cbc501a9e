"""Schedules of rows whose columns are contiguous: threads side by side along a row. The modes: see `gpu.py`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ..core.errors import Refusal
from ..fusion.ir import Fusion, Stage
from ..fusion.online import Online, online
from ..index.expr import Atom
from . import gpu_interleave
from .gpu_anchor import count
from .gpu_base import (
    ACCESS,
    DEAR,
    PIECES,
    WARP,
    WORD,
    GpuSchedule,
    Settled,
    accesses,
    arithmetic,
    beside,
    finds_positions,
    power_up,
    resident_blocks,
)
from .gpu_fit import (
    ALONE,
    CHUNK,
    CLUSTERS,
    HALF,
    SHARE,
    THREADS,
    TOGETHER,
    Held,
    alone,
    by_columns,
    copies_rows,
    dear_values,
    each_row,
    holds,
    in_warp,
    narrowed,
    per_column,
    row_bytes,
    shares,
)
from .gpu_tile import Tiles

ARITHMETIC = 100  # additions for each word that is read of a row, from which on more threads do more than what is held
FILLED = 2 << 10  # bytes of rows of a block that leaves a number, at least
LEAVING = 8192  # numbers that blocks leave to be combined, at most, where each could have more rows
ASKED_OF_PART = 96  # words that a thread asks for at a time, at most, of a part of a row
LASTING = 24  # vectors of a thread, at least, of a large block that sums up a part of a tensor


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a fusion, and a schedule to begin with: a loop.

    `count`: how many; `columns`, `vectors`: of a row; `over`: what is reduced over rows; `passes`, `once`: how many
    times the columns are walked over, and if what can be is combined on the fly; `moments`: whether some of that are;
    `numbers`: how many neighbouring rows a block may have where they alternate in memory, the most first; `held`: how
    blocks hold rows, `together` of them.
    """

    f: Fusion
    base: GpuSchedule
    rows: tuple[Atom, ...]
    cols: frozenset[Atom]
    count: int
    columns: int
    vectors: int
    over: tuple[Stage, ...]
    passes: int
    once: int
    moments: bool
    numbers: tuple[int, ...]
    held: Held | None = None
    together: int = 1
    apart: bool = False  # each has blocks of its own, though something is reduced over rows

    @property
    def by_column(self) -> int:
        """How many sums of columns there are."""
        return sum(bool(r.axes) for r in self.over)


class Along(Tiles):
    """Kernels whose threads are side by side along rows."""

    def along(
        self, f: Fusion, rows: list[Atom], cols: list[Atom], unit: Atom | None, passes: int, over_rows: list[Stage]
    ) -> Settled:
        lanes, aligned = self._lanes(f, unit, exact=True) if unit is not None else (1, frozenset[str]())
        running = online(f, set(cols))
        once, moments = passes_of(f, set(cols), running), any(o.kind == "moments" for o in running.values())
        moved = self.anchored(f, cols, unit, lanes, again=once > 1 or moments) if unit is not None else None
        anchor = ""
        vectors = -(-self.size(cols) // lanes)
        if unit is not None and moved is not None:
            lanes, anchor, aligned = moved
            vectors = self.size([a for a in cols if a is not unit]) * count(self.size([unit]), lanes)
        numbers = [] if over_rows or anchor else gpu_interleave.several(f, self.hint, rows, cols, unit)
        base = GpuSchedule(
            tuple(a.name for a in rows),
            tuple(a.name for a in cols),
            unit.name if unit is not None else "",
            lanes,
            "inner reduction",
            "loop",
            aligned=aligned,
            anchor=anchor,
            interleaved=bool(numbers),
        )
        r = Rows(
            f,
            base,
            tuple(rows),
            frozenset(cols),
            count=self.size(rows),
            columns=self.size(cols),
            vectors=vectors,
            over=tuple(over_rows),
            passes=passes,
            once=once,
            moments=moments,
            numbers=tuple(numbers),
        )
        again = once > 1 or moments
        r = self._summed_up(r) if r.by_column or (over_rows and again) else self._shared(r)
        return self._chunks(r) or (self._held(r) if r.held is not None else self._walked(r))

    def _summed_up(self, r: Rows) -> Rows:
        """How blocks hold rows that are reduced, too: each its own ones, or resident ones many in turn."""
        if r.by_column:
            return self._beside_sums(r)
        lanes = r.base.lanes
        values, loads = (lanes * w for w in self._words(r.f, set(r.cols)))
        clusters: tuple[int, ...] = CLUSTERS if self.gpu.clusters else (1,)
        size = row_bytes(r.f, r.base) if r.rows and copies_rows(r.f, r.base) else 0
        found = each_row(self.gpu, clusters, r.vectors, values, loads, r.count, size)
        if found is None or (found.cluster > 1 and per_column(r.f, r.cols) * lanes > ARITHMETIC * loads):
            return replace(r, held=None)
        rows = max(1, 2 * THREADS // found.threads)  # of a block, at most
        if -(-r.count // rows) > 4 * LEAVING or 4 * loads * r.vectors * rows < FILLED:
            return self._beside_sums(r)
        return replace(r, held=self._with_values(r, found), apart=True)

    def _beside_sums(self, r: Rows) -> Rows:
        """How a resident block holds a row, beside what it has of results over rows."""
        lanes = r.base.lanes
        words = lanes * self._words(r.f, set(r.cols))[0]
        size = row_bytes(r.f, r.base) if r.rows and not r.base.anchor else 0
        found = by_columns(self.gpu, r.vectors, words, lanes * r.by_column, size)
        if found is None and r.by_column:
            raise Refusal("schedule", "columns too long to be summed beside a reduction of rows")
        base = r.base
        if found is not None and base.vector and not base.anchor:
            ring = size if r.by_column else 0
            found, narrow = narrowed(r.f, set(r.rows), set(r.cols), found, r.vectors, lanes, ring, r.count, self.gpu)
            base = replace(base, lanes=narrow)
        return replace(r, base=base, held=found)

    def _shared(self, r: Rows) -> Rows:
        """How blocks hold rows, where more than one pass wants them, alone or several together."""
        together = r.numbers[0] if r.numbers else 1
        if r.once == 1 and not r.moments:  # one pass does it, and nothing is kept
            return replace(r, together=together)
        lanes = r.base.lanes
        values, loads = (lanes * w for w in self._words(r.f, set(r.cols)))
        clusters: tuple[int, ...] = CLUSTERS if self.gpu.clusters else (1,)
        most = SHARE // 2 if len(r.cols) == 1 else 3 * SHARE // 4  # where points are takes arithmetic in each pass
        stored = any(set(s.axes) & r.cols for s in r.f.stores())
        if not stored:  # what is only read can be read past the caches then
            most = self.gpu.shared
        size = row_bytes(r.f, r.base) if r.rows and copies_rows(r.f, r.base) else 0

        def hold(n: int) -> Held | None:
            if r.base.anchor:
                found = in_warp(self.gpu, r.vectors, values, r.count, lanes)
                if found is not None:
                    return found
            rows = -(-r.count // n)
            found = shares(self.gpu, clusters, n * r.vectors, values, loads, rows, lanes, size, most, stored)
            return found and self._with_values(r, found)

        n, found = gpu_interleave.held(self.gpu, r.numbers or [1], r.count, (values, loads), hold)
        if r.once == 1 and found is not None:  # less arithmetic than combining moments, but one pass does that
            found = None if found.place == "shared" or alone(self.gpu, found, values, loads) else found
        return replace(r, held=found, together=n)

    @staticmethod
    def _with_values(r: Rows, held: Held) -> Held:
        """A row in shared memory; what is dear to compute again is in registers, if a thread has room for that.

        (A softmax of SiLU, 2048 rows of 16384 float32 numbers: 76 us on an H200, 132 where every pass computes it.)
        """
        dear = dear_values(r.f, set(r.cols)) if held.place == "shared" else 0
        return held._replace(keep="values") if dear and holds(held.threads, held.steps, r.base.lanes * dear) else held

    def _chunks(self, r: Rows) -> Settled | None:
        """Few long rows, cut over blocks; None where they are not few, or fill the device as they are held."""
        tiles = -(-r.count // r.together)
        enough = r.held is not None and r.held.cluster * tiles >= self.gpu.sms
        few = tiles * (1 if r.numbers and r.held is None else 2) < self.gpu.sms
        if r.over or not few or r.columns < CHUNK or enough:
            return None
        n = r.numbers[0] if r.numbers else 1
        # of few vectors, threads of large blocks would each have fewer than they ask for at a time
        large = not r.rows and r.vectors >= LASTING * 2 * THREADS * self.gpu.sms * PIECES
        threads = 2 * THREADS if large else THREADS
        splits = min(self.gpu.sms * PIECES // -(-r.count // n), -(-r.vectors * n // (2 * threads)), 1024)
        family = "full reduction" if not r.rows else "inner reduction, split"
        s = replace(r.base, family=family, mode="split", row_threads=n, col_threads=threads // n, finish=True)
        s = replace(s, steps=2 if self._much(r) else 4)
        return r.f, replace(s, once=self._once(r.f, s, splits)), {"splits": splits}

    def _much(self, r: Rows) -> bool:
        """Whether four vectors at a time would spill registers: so much is read for them, or computed of wide ones."""
        words = 4 * r.base.lanes * read_for_point(r.f, r.cols) // WORD
        return words > ASKED_OF_PART or (r.base.lanes > 4 and arithmetic(r.f) >= 2 * DEAR)

    def _held(self, r: Rows) -> Settled:
        """Rows that blocks hold."""
        assert r.held is not None
        cluster, ct, steps, keep, place, alone, ahead = r.held
        n = r.together
        if n > 1:
            ct = max(1, ct // n)
            steps = -(-r.vectors // (cluster * ct))
        if self._picked(r) and not r.over and r.vectors == 2:  # one of them can read as the other does
            ct, steps = 2, 1
        rt = max(n, 128 // ct)
        while r.apart and cluster == 1 and -(-r.count // rt) > LEAVING and rt * ct < 2 * THREADS:
            rt *= 2
        if r.by_column:  # few blocks, since each leaves sums of all columns
            narrow = r.vectors * r.base.lanes < r.columns
            rt = 2 * THREADS // ct if ct < THREADS or narrow or alone else 1
        rt = min(rt, power_up(r.count, 1024))
        family = "inner+outer reduction" if r.over else "inner persistent" if r.passes > 1 else "inner reduction"
        s = replace(r.base, family=family, mode="persistent", row_threads=rt, col_threads=ct, steps=steps)
        s = replace(s, keep=keep, keep_in=place, cluster=cluster, alone=alone, ahead=ahead)
        resident = r.over and not r.apart
        return self._resident(r.f, s, r.count, r.columns * r.by_column) if resident else (r.f, s, {})

    def _walked(self, r: Rows) -> Settled:
        """Rows that every pass reads."""
        numbers = r.numbers
        n = next((k for k in numbers if k * self.gpu.sms * 2 <= r.count), numbers[-1] if numbers else 1)
        few = -(-r.count // n) < self.gpu.sms * 2
        positions = finds_positions(r.f.reductions())
        if r.passes == 1 and not (r.over or few or numbers):
            found = self._positions(r) if positions else self._moved_sums(r) if r.base.anchor else None
            if found is not None:
                return found
        sums = r.passes == 1 and not (r.over or r.base.anchor or numbers or positions)
        # resident blocks are few: each has many rows; sums are cheap to combine, of threads that ask for little each
        share = self._lasting(r) if r.over and r.once == 1 else 1 if few else 2 if sums else 4
        if sums and not few and self._narrow(r) and r.vectors <= 3 * WARP:  # cheap, but more than reading so few bytes
            share = 4
        most = 2 * THREADS if sums and r.vectors < 8 * THREADS else 1024 if sums or r.once > 1 or few else THREADS
        ct = power_up(-(-r.vectors // share), most // n)
        rt = min(max(n, (THREADS if sums else 128) // ct), power_up(r.count, 1024))
        steps = max(1, min(2 if sums else 4, r.vectors // ct))
        if sums and not few and (found := self._picked_sums(r)) is not None:
            return found
        if sums and not few and ct < r.vectors < 2 * ct:  # its second round would be for a part of the threads
            thin = 4 * r.base.lanes * self._words(r.f, set(r.cols))[0] < ACCESS
            each = 4 if thin and r.vectors <= 4 * WARP else 3  # of a warp, which waits for no other
            found = self._at_once(r, self._rows_of(r, power_up(-(-r.vectors // each), 1024)))
            if found is not None:
                return found
        if numbers and r.once == 1 and r.moments and not r.over:
            rt, ct, steps = self._alternating(r) or (rt, ct, steps)
        s = replace(r.base, row_threads=rt, col_threads=ct, steps=1 << (steps.bit_length() - 1))
        return self._resident(r.f, s, r.count, 0) if r.over else (r.f, s, {})

    def _lasting(self, r: Rows) -> int:
        """Vectors of a row for each thread of a resident block, whose results over rows are combined at the end: many,
        unless that leaves processors with little to do. (Cross-entropy of 300 to 4000 rows of 1 to 8 kB takes two
        thirds of the time on an H200 that it takes with 32.)"""
        share = 32
        while share > 4 and r.count * r.vectors < share * self.gpu.sms * 2 * THREADS:
            share //= 2
        return share

    def _alternating(self, r: Rows) -> tuple[int, int, int] | None:
        """(rows of a block, threads of a row, vectors at a time) for moments of rows that alternate in memory, in
        narrow vectors: as few rows as fill sectors, fewer if that leaves processors without a block, and threads that
        ask for much. None: vectors are wide."""
        size = r.base.lanes * min(d.itemsize for _, o, d in accesses(r.f, stores=False) if o.axes() & r.cols)
        if size > ACCESS // 2:
            return None
        n = r.numbers[-1]
        while n > 1 and 4 * -(-r.count // n) < 3 * self.gpu.sms:
            n //= 2
        ct = power_up(r.vectors, THREADS // n)
        return n, ct, max(1, min(16 if size <= 2 else 8, r.vectors // ct))

    def _narrow(self, r: Rows) -> bool:
        """Whether rows are of elements of 16 bits or less."""
        sizes = [d.itemsize for _, o, d in accesses(r.f, stores=False) if o.axes() & r.cols]
        return 0 < max(sizes, default=0) <= 2

    def _picked(self, r: Rows) -> int:
        """How many reads there are of rows that an index picks."""
        picked = {(b, o) for b, o, _ in accesses(r.f, stores=False) if o.axes() & r.cols}
        return sum(bool((o.all_axes() - o.axes()) & set(r.rows)) for _, o in picked)

    def _picked_sums(self, r: Rows) -> Settled | None:
        """Sums of short rows that an index picks, of which each read of a warp finds a few wherever they are: the more
        of a row its threads read at a time, the fewer. Each asks for two vectors, or four, at once. None: others.

        (Products of two rows of 32 to 128 bytes, 1.3 to 1.6 times as fast on an H200 as with threads of four vectors.)
        """
        picked = self._picked(r)
        if not picked or not (2 if picked > 1 else 3) <= r.vectors <= WARP // 2:
            return None
        if picked > 1:
            share = 1 if r.vectors <= 4 else 2
        else:
            share = 2 if r.vectors <= 8 else 4
        return self._at_once(r, self._rows_of(r, power_up(-(-r.vectors // share), WARP)))

    def _positions(self, r: Rows) -> Settled | None:
        """Positions of extremes. What threads have found is dear to combine, so that few share a row, and each asks for
        all of its vectors at once. None: the row is too long.

        (16-bit rows take 1.0 to 1.6 times as long on an H200 where a thread looks at 17 vectors in turn, and up to 2.5
        times where there are a few thousand rows.)
        """
        ct = power_up(-(-r.vectors // (5 if self._narrow(r) else 6)), 1024)
        return None if ct > THREADS else self._at_once(r, self._rows_of(r, ct))

    def _moved_sums(self, r: Rows) -> Settled | None:
        """Sums and extremes of rows that are moved to where vectors are aligned: a thread asks for its few vectors at
        once, since what is left over by a loop would meet the partial ones. None: the row is too long."""
        ct = power_up(-(-r.vectors // (5 if self._narrow(r) else 3)), 1024)
        if ct > THREADS:
            return None
        return self._at_once(r, self._rows_of(r, ct))

    @staticmethod
    def _rows_of(r: Rows, ct: int) -> GpuSchedule:
        """Blocks of as many rows as half the threads of a block are for, `ct` for each."""
        return replace(r.base, row_threads=min(max(1, HALF // ct), power_up(r.count, 1024)), col_threads=ct)

    def _at_once(self, r: Rows, s: GpuSchedule) -> Settled | None:
        """Threads that ask for all their vectors of a row before they look at one, if they have registers for that."""
        steps = -(-r.vectors // s.col_threads)
        words = s.lanes * self._words(r.f, set(r.cols))[0]
        return (r.f, replace(s, mode="persistent", steps=steps), {}) if holds(s.threads, steps, words) else None

    def _resident(self, f: Fusion, s: GpuSchedule, rows: int, sums: int) -> Settled:
        """`sums`: how many sums of columns each block leaves, 0 if it leaves numbers only."""
        blocks = resident_blocks(s, -(-rows // s.row_threads), self.gpu.sms * beside(s))
        return f, replace(s, resident=True, finish=4 * max(1, sums) * blocks <= ALONE), {"blocks": blocks}

    def _words(self, f: Fusion, cols: set[Atom]) -> tuple[float, float]:
        """Registers per point of a row that later passes want kept, estimated: (with dear values, of loads only)."""
        whole = set(f.axes)
        loads = {(b, o): d for b, o, d in accesses(f, stores=False) if o.axes() == whole}
        words = sum(max(d.itemsize, 2) / 4 for d in loads.values())
        return max(words, dear_values(f, cols), 0.5), max(words, 0.5)

    def _once(self, f: Fusion, s: GpuSchedule, splits: int) -> bool:
        """Whether what chunks leave of the rows of a block is more than every block should read."""
        moments = online(f, {a for a in f.axes if a.name in s.cols})
        each = sum(3 if r.name in moments or finds_positions([r]) else 1 for r in f.reductions())
        rows = s.row_threads * (s.lanes if s.vector in s.rows else 1)
        return splits * rows * each * 4 > TOGETHER


def passes_of(f: Fusion, cols: set[Atom], running: Mapping[str, Online] | None = None) -> int:
    """How many times the columns of a row are walked over, when the reductions in `running` are combined on the fly."""
    level: dict[str, int] = {}
    most = 1
    for s in f.stages:
        operand = running[s.name].of if running and s.name in running else s.body
        n = max((level.get(name, 0) for name in operand.stages), default=0)
        if s.kind == "reduce":
            level[s.name] = n + 1 if set(s.raxes) == cols else n
            if {*s.axes, *s.raxes} & cols:
                most = max(most, n + 1)
        elif set(s.axes) & cols:
            most = max(most, n + 1)
    return most


def read_for_point(f: Fusion, cols: Collection[Atom]) -> int:
    """Bytes that are read for a point of a row."""
    return sum({(b, o): d.itemsize for b, o, d in accesses(f, stores=False) if o.axes() & set(cols)}.values())
