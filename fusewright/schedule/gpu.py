"""GPU schedules: how rows and columns of a fusion are spread over blocks and threads.

As on a CPU every kernel is a nest of rows and columns (`schedule/cpu.py`): reductions combine the columns of a row. A
block of `row_threads * col_threads` threads works on `row_threads` rows (or vectors of rows) at a time; the
`col_threads` threads of a row share its columns. `vector` is the axis whose `lanes` consecutive points a thread takes
at once; the threads that differ along it are neighbours, so that a warp's accesses are contiguous.

| mode | columns | for |
| --- | --- | --- |
| tile | cut into tiles of `col_threads * steps` vectors, one per block | elementwise |
| staged | the same, and what is contiguous along `across` passes through a tile of shared memory | transposes |
| persistent | all in one block, `steps` vectors per thread, values needed again kept (`keep_in`) | softmax, norms |
| loop | all in one block, `steps` vectors at a time; later passes read memory again | sums, long rows, scans |
| collect | points sorted by the row of a scatter's target that they go to (`gpu_scatter.py`) | scatters |
| split | cut into `splits` chunks over blocks; every pass is a launch that combines what the last one left | few rows |

`resident`: only as many blocks as fit on the GPU run (in a loop more, `resident_blocks`), and each walks over many
rows: what is reduced over rows stays in registers until the end. What blocks leave to be combined (`resident`, `split`)
is combined in a fixed order, by another launch or by the block that is the last to be done (`finish`). Sizes chosen for
a launch (`blocks`, `splits`) are arguments of the kernel, not part of it.
`cluster`: so many blocks hold a row together (persistent, not resident) and combine their results through distributed
shared memory; the c-th block's thread of column t has the vectors (k * cluster + c) * col_threads + t, k < steps.
`interleaved`: the t-th thread of a block has its row t % row_threads, so that neighbouring threads have neighbouring
rows: where short runs of them alternate in memory (`gpu_interleave.py`).
`runs`: short rows of these buffers, as many as a block has, pass through shared memory as one run (`gpu_runs.py`); how
many times it has `row_threads` of them (`rounds`) is a size of the launch, too.
`keep_in`: a persistent row is held in registers, or what is read of it in shared memory, which copies fill that no
thread has to wait for: long rows leave registers free, so that other blocks run beside and compute meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..core.errors import Refusal
from ..fusion.collapse import collapse
from ..fusion.ir import Fusion, Stage
from ..fusion.online import online
from ..index.expr import Atom
from . import gpu_scatter
from .analysis import Analysis
from .device import Gpu
from .gpu_along import passes_of
from .gpu_base import (
    ACCESS,
    FLIGHT,
    LINE,
    PIECES,
    SECTOR,
    WARP,
    GpuSchedule,
    Hint,
    Settled,
    accesses,
    finds_positions,
    power_up,
)
from .gpu_caches import passing
from .gpu_fit import CHUNK, CLUSTERS, HALF, THREADS, holds
from .gpu_runs import Runs

EACH = 8  # columns of a thread, at least, where it costs much to combine what threads have found
BRIEF = 512  # columns up to which half as many threads share those whose moments are combined, which is dear
LONG = 64  # columns from which on half a warp has rows side by side, and more threads share a column


def plan(f: Fusion, hint: Hint, gpu: Gpu, alignment: Callable[[str], int] = lambda buffer: ACCESS) -> Settled:
    """Choose a schedule: (the fusion with collapsed axes, its schedule, sizes of the launch).

    `hint` gives (or estimates) a size, `alignment` the bytes to which a buffer's address is aligned (at most 16). The
    sizes of the launch are values for the kernel's symbols "blocks" (resident), "splits" and "rounds" (runs).
    Raises Refusal when no GPU nest can run the fusion.
    """
    if gpu_scatter.collected(f) is not None:
        return gpu_scatter.plan(f, hint, gpu, alignment)
    planner = _Planner(f, hint, gpu, alignment)
    return planner.run()


class _Planner(Runs):
    def run(self) -> Settled:
        for s in self.f.stages:
            if s.kind not in ("store", "reduce", "scan"):
                raise Refusal("schedule", f"{s.kind} has no GPU schedule yet")
        reductions = self.f.reductions()
        if any(s.kind == "scan" for s in self.f.stages):
            f, schedule, launch = self.scanning()
        else:
            f, schedule, launch = self.reducing(reductions) if reductions else self.pointwise()
        schedule = self.facts(f, schedule)
        index = 32 if self._small(f) else 64
        return f, replace(schedule, index=index, stream=passing(f, schedule, self.gpu, self.hint)), launch

    # --- families ---
    def reducing(self, reductions: list[Stage]) -> Settled:
        inner = self.row_used(reductions)
        if inner:
            cols = set(inner[0].raxes)
            if any(set(r.raxes) != cols for r in inner):
                raise Refusal("schedule", "reductions over different axes feed each other")
        else:
            cols = self._columns(reductions)
        rows = set(self.f.axes) - cols
        self.check(rows, cols)
        f, row_order = collapse(self.f, self.by_stride(tuple(a for a in self.f.axes if a in rows)))
        f, col_order = collapse(f, self.by_stride(tuple(a for a in f.axes if a in cols)))
        facts = Analysis(f, self.hint)
        over_rows = [r for r in f.reductions() if set(r.raxes) != set(col_order) or set(r.axes) != set(row_order)]
        if finds_positions(over_rows):
            raise Refusal("schedule", "the position of an extreme over rows")
        passes = passes_of(f, set(col_order))
        unit = facts.unit
        short = None if over_rows else self.runs(f, row_order, col_order, passes)
        if short is not None:
            return short
        if unit is not None and unit in row_order and not over_rows:
            row_order = [a for a in row_order if a is not unit] + [unit]
            return self._down(f, row_order, col_order, unit, passes)
        if unit in col_order and unit is not None:
            col_order = [a for a in col_order if a is not unit] + [unit]
        else:
            unit = None
        return self.along(f, row_order, col_order, unit, passes, over_rows)

    def _columns(self, reductions: list[Stage]) -> set[Atom]:
        """The axes to be columns when no reduction's result is needed within its row."""
        for r in reductions:
            if finds_positions([r]):
                return set(r.raxes)
        if len({frozenset(r.raxes) for r in reductions}) == 1:
            return set(reductions[0].raxes)
        with_unit = [r for r in reductions if self.unit in r.raxes]
        main = min(with_unit or reductions, key=lambda r: len(r.raxes))
        return set(main.raxes)

    def _clusters(self, f: Fusion, cols: set[Atom]) -> tuple[int, ...]:
        """How many blocks may hold a row: several, if it would be read again otherwise."""
        again = passes_of(f, cols, online(f, cols)) > 1
        return CLUSTERS if again and self.gpu.clusters else (1,)

    def _down(self, f: Fusion, rows: list[Atom], cols: list[Atom], unit: Atom, passes: int) -> Settled:
        """Rows are neighbours in memory: threads side by side along them, each taking some of the columns."""
        lanes, aligned = self._lanes(f, unit, exact=True)
        nc = self.size(cols)
        names = tuple(a.name for a in rows), tuple(a.name for a in cols)
        smallest = min((d.itemsize for _, o, d in accesses(f, stores=False) if unit in o.axes()), default=ACCESS)

        def based(lanes: int, most: int = WARP) -> tuple[GpuSchedule, int]:
            """A loop with such vectors, at most so many of rows in a block, and tiles of rows."""
            vectors = self.size(rows) // lanes
            rt = self._side_by_side(power_up(self.size([unit]) // lanes, most), lanes * smallest, vectors)
            ct = max(1, THREADS // rt)
            if finds_positions(f.reductions()):  # what threads have found is dear to combine
                ct = max(1, min(ct, power_up(nc // EACH + 1, 2 * ct) // 2))
            s = GpuSchedule(*names, unit.name, lanes, "outer reduction", "loop", rt, ct, 4, aligned=aligned)
            return replace(s, family="outer persistent" if passes > 1 else s.family), -(-vectors // rt)

        base, tiles = based(lanes)
        rt, ct = base.row_threads, base.col_threads
        running = online(f, set(cols))
        moments = any(o.kind == "moments" for o in running.values()) and passes_of(f, set(cols), running) == 1
        if passes > 1:
            words = lanes * self._words(f, set(cols))[0]
            more = (1,) if moments else (1, 2, 4)  # one pass does it: rows that take many threads are not held
            ways = [(rt, c, k * ct) for c in self._clusters(f, set(cols)) for k in more]
            size, vectors = lanes * smallest, self.size(rows) // lanes
            narrow = self._spread(rt, size, vectors)
            if narrow < rt:
                ways = [(narrow, 1, HALF // narrow), (narrow, 1, THREADS // narrow), *ways]
            broad = self._broad(self.size([unit]) // lanes, size, vectors)
            ways = [(n, 1, k * THREADS // n) for n in (broad, broad // 2) if n > rt for k in more] + ways
            for n, c, wide in ways:
                steps = -(-nc // (c * wide))
                if wide * n <= 1024 and holds(wide * n, steps, words):
                    s = replace(base, mode="persistent", row_threads=n, col_threads=wide, steps=steps, cluster=c)
                    return f, s, {}
        few = self.gpu.sms * (PIECES // 2 if passes == 1 else 1)  # so few blocks do not keep memory busy
        if tiles < few and nc >= 4 * ct and not finds_positions(f.reductions()):
            loads = {(b, o): d.itemsize for b, o, d in accesses(f, stores=False) if o.axes() & set(cols)}
            point = sum(loads.values())
            several = lanes * point > ACCESS and len(f.reductions()) > 1
            if lanes == 8 and (passes > 1 or several or running):  # these take registers
                base, tiles = based(4)
                ct = base.col_threads
            splits = min(self.gpu.sms * PIECES // tiles, -(-nc // (4 * ct)), 1024)
            if splits > 1:
                longer = lanes == 8 and base.lanes * point <= ACCESS  # 16-bit elements wait longer; of one tensor
                steps = 8 if longer and nc >= 16 * ct * splits else 4
                s = replace(base, family=base.family + ", split", mode="split", steps=steps, finish=True)
                return f, replace(s, once=self._once(f, s, splits)), {"splits": splits}
        if passes == 1 and nc >= LONG and WARP // 2 * lanes * smallest >= LINE:
            base, _ = based(lanes, WARP // 2)  # more threads along columns, of fewer rows side by side
        if moments and nc <= BRIEF:
            base = replace(base, col_threads=max(1, ct // 2))
        return f, replace(base, steps=self._in_turn(f, set(cols), base, nc, bool(running))), {}

    def _in_turn(self, f: Fusion, cols: set[Atom], s: GpuSchedule, columns: int, running: bool) -> int:
        """Vectors of a thread at a time: more of narrow ones, and so many that a thread waits for memory as few times
        as can be (those that are left over come one by one). `running`: what is combined on the fly, which takes
        registers."""
        loads = {(b, o): d.itemsize for b, o, d in accesses(f, stores=False) if o.axes() & cols}
        size = s.lanes * max(1, sum(loads.values()))
        most = FLIGHT if running and (s.lanes == 8 or columns <= BRIEF) else 2 * FLIGHT
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

    def _broad(self, most: int, size: int, vectors: int) -> int:
        """Vectors (of so many bytes) of rows in a block, at most so many, where a warp's are few bytes: so many that
        most lines that a block reads and writes are all its own, wherever they begin, and there are blocks for all."""
        n = WARP
        while n * size < 2 * LINE and vectors >= 2 * n * self.gpu.sms * PIECES:
            n *= 2
        return self._side_by_side(power_up(most, n), size, vectors)

    def _side_by_side(self, most: int, size: int, vectors: int) -> int:
        """How many vectors (of so many bytes) of rows a block has, at most so many: as many as leave few threads
        without one, and lines of memory whole."""
        least = min(most, max(8, LINE // size))
        choices = [most >> k for k in range(most.bit_length()) if most >> k >= least]
        fewest = min(-(-vectors // n) * n for n in choices)
        return next(n for n in choices if 16 * -(-vectors // n) * n <= 17 * fewest)

    def scanning(self) -> Settled:
        """Running totals: a thread walks along a row where neighbouring rows are neighbours in memory; else, or where
        there are few rows, threads share one."""
        (col,) = cols = self.scanned()
        f, rows = collapse(self.f, self.by_stride(tuple(a for a in self.f.axes if a not in cols)))
        unit = Analysis(f, self.hint).unit
        nr, nc = self.size(rows), self.size([col])
        if nr == 1 and nc >= CHUNK:  # libraries scan one long row with all processors, a block has one
            raise Refusal("schedule", "a scan of one long row")
        short = self.runs(f, rows, [col], passes=1)
        if short is not None:
            return short
        lanes, aligned = self._lanes(f, unit, exact=True) if unit is not None else (1, frozenset[str]())
        ct, rt, steps = 1, THREADS, 2  # more would take more registers than they hide latency
        if unit is not None and unit in rows:
            rows = [a for a in rows if a is not unit] + [unit]
            while lanes > 1 and nr // lanes < self.gpu.sms * 1024:
                lanes //= 2
            if nr < self.gpu.sms * 64 and nc > 64:
                rt = power_up(nr, 32)
                ct, lanes = THREADS // rt, 1
            else:
                rt = max(WARP, power_up(nr // lanes // self.gpu.sms, THREADS))
                steps = 16 // lanes if lanes > 1 else 8
        else:
            vectors = -(-nc // lanes)
            ct = power_up(vectors, WARP if nr >= self.gpu.sms * 64 else THREADS if nr >= self.gpu.sms * 2 else 512)
            rt = max(1, 128 // ct) if rows else 1
            if not rows:
                ct = max(ct, WARP)
        steps = max(1, min(steps, nc // lanes // ct if unit is col else nc // ct))
        s = GpuSchedule(
            tuple(a.name for a in rows),
            (col.name,),
            unit.name if unit is not None else "",
            lanes,
            "scan",
            "loop",
            rt,
            ct,
            1 << (steps.bit_length() - 1),
            aligned=aligned if lanes > 1 else frozenset(),
        )
        return f, s, {}
