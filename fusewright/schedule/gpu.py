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
| place | points one by one, each written, or added, where it goes (`gpu_scatter.py`) | scatters in any order |
| split | cut into `splits` chunks over blocks; every pass is a launch that combines what the last one left | few rows |

`resident`: only as many blocks as fit on the GPU run (in a loop more, `resident_blocks`), and each walks over many
rows: what is reduced over rows stays in registers until the end. Numbers for all rows are left by blocks, or clusters,
of a row each, too. What blocks leave to be combined is combined in a fixed order, by another launch or (`resident`,
`split`) by the block that is the last to be done (`finish`). Sizes chosen for a launch (`blocks`, `splits`) are
arguments of the kernel, not part of it.
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
from ..index.expr import ONE, Atom
from ..prims.table import ORDERED
from . import gpu_scatter
from .analysis import Analysis
from .device import Gpu
from .gpu_along import passes_of
from .gpu_base import (
    ACCESS,
    SECTOR,
    WARP,
    GpuSchedule,
    Hint,
    Settled,
    accesses,
    finds_positions,
    pieces,
    power_up,
    whole_scans,
)
from .gpu_caches import passing
from .gpu_down import Down
from .gpu_fit import CHUNK, HALF, THREADS
from .short import dear_scans

ASKED = 4  # vectors of a thread at a time, of a row that is cut over blocks and scanned


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


class _Planner(Down):
    def run(self) -> Settled:
        for s in self.f.stages:
            if s.kind not in ("store", "reduce", "scan"):
                raise Refusal("schedule", f"{s.kind} has no GPU schedule yet")
        reductions = self.f.reductions()
        if self.f.scans():
            f, schedule, launch = self.scanning()
        else:
            f, schedule, launch = self.reducing(reductions) if reductions else self.pointwise()
        schedule = self.facts(f, schedule)
        index = 32 if self._small(f) else 64
        return f, replace(schedule, index=index, stream=passing(f, schedule, self.gpu, self.hint)), launch

    # --- families ---
    def reducing(self, reductions: list[Stage]) -> Settled:
        cols = self.columns(reductions)
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
            return self.down(f, row_order, col_order, unit, passes)
        if unit in col_order and unit is not None:
            col_order = [a for a in col_order if a is not unit] + [unit]
        else:
            unit = None
        if not over_rows:
            row_order = self.side_by_side(f, row_order, unit)
        return self.along(f, row_order, col_order, unit, passes, over_rows)

    def side_by_side(self, f: Fusion, rows: list[Atom], unit: Atom | None) -> list[Atom]:
        """The rows in such an order that threads of neighbouring ones read neighbours of what is large and lies across
        the columns, if what lies along them fills sectors of memory in any order."""
        along = {(b, o): self.size([*o.all_axes()]) * d.itemsize for b, o, d in accesses(f)}
        most = max(along.values(), default=0)
        large = {k: n for k, n in along.items() if 4 * n >= most}
        across = dict.fromkeys(rows, 0)
        for (_, o), n in large.items():
            for a in rows if unit is None or o.coefficient(unit) is not ONE else ():
                across[a] += n if o.coefficient(a) is ONE else 0
        last = max(reversed(rows), key=across.__getitem__, default=None)
        if last is None or (unit is not None and self.size([unit]) < SECTOR):
            return rows
        return [a for a in rows if a is not last] + [last]

    def scanning(self) -> Settled:
        """Running totals: a thread walks along a row where neighbouring rows are neighbours in memory; else, or where
        there are few rows, threads share one."""
        (col,) = cols = self.scanned()
        f, rows = collapse(self.f, self.by_stride(tuple(a for a in self.f.axes if a not in cols)))
        unit = Analysis(f, self.hint).unit
        nr, nc = self.size(rows), self.size([col])
        short = self.runs(f, rows, [col], passes=1)
        if short is not None:
            return short
        lanes, aligned = self._lanes(f, unit, exact=True) if unit is not None else (1, frozenset[str]())
        ct, rt, steps = 1, THREADS, 2  # more would take more registers than they hide latency
        if unit is not None and unit in rows:
            rows = [a for a in rows if a is not unit] + [unit]
            while lanes > 1 and nr // lanes < self.gpu.sms * 1024:
                lanes //= 2
            if nr < self.gpu.sms * (64 if dear_scans(f) else 256) and nc > 64:  # of dear ones each thread does more
                rt, lanes = self._rows_shared(f, nr, unit), 1
                ct = THREADS // rt
                steps = min(8, max(1, 64 // ct))
            else:
                rt = max(WARP, power_up(nr // lanes // self.gpu.sms, THREADS))
                steps = 16 // lanes if lanes > 1 else 8
        else:
            vectors = -(-nc // lanes)
            # the more threads wait for each other, the longer each does; few rows need them to keep memory busy
            most = HALF if nr >= self.gpu.sms * 4 else THREADS if nr >= self.gpu.sms * 2 else 512
            if lanes == 1:
                most, steps = (WARP, 8) if nr >= self.gpu.sms * 64 else (min(most, HALF), 4)
            elif self.gpu.sms * 4 <= nr < self.gpu.sms * 16:
                steps = 8
            ct = min(most, 1 << vectors.bit_length() - 1)  # each has a vector at least, for a step takes all of them
            rt = max(1, HALF // ct) if rows else 1
            if not rows:
                ct = max(ct, WARP)
            if all(s.dtype.is_reduced for s in f.stores()):  # in float32: registers for more on its way
                steps = 8
            steps = power_up(-(-vectors // ct), steps)
        if unit is not col:
            steps = max(1, min(steps, nc // ct))
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
        return self._scanned_chunks(f, s, -(-nr // rt), -(-nc // lanes), nc * rt if unit in rows else nc) or (f, s, {})

    def _rows_shared(self, f: Fusion, count: int, unit: Atom) -> int:
        """How many of so many rows, neighbours in memory, a block has whose threads share them: fewer where these make
        work for all processors, but not often, down to two sectors of memory."""
        size = min((d.itemsize for _, o, d in accesses(f) if unit in o.axes()), default=4)
        rt = power_up(count, WARP)
        while self.gpu.sms <= -(-count // rt) < 3 * self.gpu.sms and rt * size > 2 * SECTOR:
            rt //= 2
        return rt

    def _scanned_chunks(self, f: Fusion, s: GpuSchedule, tiles: int, vectors: int, points: int) -> Settled | None:
        """Few long rows, cut over blocks: None where they are not. `points`: of the rows that a block has."""
        if tiles >= self.gpu.sms or points < CHUNK or s.col_threads == 1:
            return None
        if why := whole_scans(f):
            if any(x.monoid in ORDERED for x in f.scans()):
                return None
            raise Refusal("schedule", why)  # two kernels, each of which fills the processors, are faster
        ct = HALF // s.row_threads
        alone = s.lanes <= ASKED and sum(x.kind != "store" for x in f.stages) == 1
        steps = ASKED if alone else ASKED // 2  # others take registers, too
        splits = min(self.gpu.sms * pieces(f) // tiles, -(-vectors // (ct * steps)), 1024)
        s = replace(s, family="scan, split", mode="split", col_threads=ct, steps=steps, finish=True)
        return f, s, {"splits": max(1, splits)}
