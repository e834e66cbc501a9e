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
`keep_in`: a persistent row is held in registers, or what is read of it in shared memory, which copies fill that no
thread has to wait for: long rows leave registers free, so that other blocks run beside and compute meanwhile.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace

from ..core.errors import Refusal
from ..fusion.collapse import collapse
from ..fusion.ir import Fusion, Stage
from ..fusion.online import Online, online
from ..index.expr import Atom
from . import gpu_interleave, gpu_scatter
from .analysis import Analysis
from .device import Gpu
from .gpu_anchor import count
from .gpu_base import (
    ACCESS,
    LINE,
    PIECES,
    WARP,
    GpuSchedule,
    Hint,
    Settled,
    accesses,
    beside,
    finds_positions,
    power_up,
    resident_blocks,
)
from .gpu_fit import (
    ALONE,
    CHUNK,
    CLUSTERS,
    THREADS,
    TOGETHER,
    Held,
    by_columns,
    dear_values,
    holds,
    narrowed,
    row_bytes,
    shares,
)
from .gpu_tile import Tiles


def plan(f: Fusion, hint: Hint, gpu: Gpu, alignment: Callable[[str], int] = lambda buffer: ACCESS) -> Settled:
    """Choose a schedule: (the fusion with collapsed axes, its schedule, sizes of the launch).

    `hint` gives (or estimates) a size, `alignment` the bytes to which a buffer's address is aligned (at most 16). The
    sizes of the launch are values for the kernel's symbols "blocks" (resident) and "splits".
    Raises Refusal when no GPU nest can run the fusion.
    """
    if gpu_scatter.collected(f) is not None:
        return gpu_scatter.plan(f, hint, gpu, alignment)
    planner = _Planner(f, hint, gpu, alignment)
    return planner.run()


class _Planner(Tiles):
    def run(self) -> Settled:
        for s in self.f.stages:
            if s.kind not in ("store", "reduce", "scan"):
                raise Refusal("schedule", f"{s.kind} has no GPU schedule yet")
        reductions = self.f.reductions()
        if any(s.kind == "scan" for s in self.f.stages):
            f, schedule, launch = self.scanning()
        else:
            f, schedule, launch = self.reducing(reductions) if reductions else self.pointwise()
        index = 32 if self._small(f) else 64
        return f, replace(self.facts(f, schedule), index=index), launch

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
        passes = _passes(f, set(col_order))
        unit = facts.unit
        if unit is not None and unit in row_order and not over_rows:
            row_order = [a for a in row_order if a is not unit] + [unit]
            return self._down(f, row_order, col_order, unit, passes)
        if unit in col_order and unit is not None:
            col_order = [a for a in col_order if a is not unit] + [unit]
        else:
            unit = None
        return self._along(f, row_order, col_order, unit, passes, over_rows)

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

    def _along(
        self,
        f: Fusion,
        rows: list[Atom],
        cols: list[Atom],
        unit: Atom | None,
        passes: int,
        over_rows: list[Stage],
    ) -> Settled:
        """Rows whose columns are contiguous: threads side by side along a row."""
        lanes, aligned = self._lanes(f, unit, exact=True) if unit is not None else (1, frozenset[str]())
        nr, nc = self.size(rows), self.size(cols)
        by_column = [r for r in over_rows if r.axes]
        moved = self.anchored(f, cols, unit, lanes) if unit is not None else None
        anchor = ""
        vectors = -(-nc // lanes)
        if unit is not None and moved is not None:
            lanes, anchor, aligned = moved
            vectors = self.size([a for a in cols if a is not unit]) * count(self.size([unit]), lanes)
        base = GpuSchedule(
            tuple(a.name for a in rows),
            tuple(a.name for a in cols),
            unit.name if unit is not None else "",
            lanes,
            "inner reduction",
            "loop",
            aligned=aligned,
            anchor=anchor,
        )
        running = online(f, set(cols))
        once = _passes(f, set(cols), running)
        moments = any(o.kind == "moments" for o in running.values())
        numbers = [] if over_rows or anchor else gpu_interleave.several(f, self.hint, rows, cols, unit)
        base = replace(base, interleaved=bool(numbers))
        n = numbers[0] if numbers else 1  # neighbouring rows that a block has at least
        found = None
        if by_column or (over_rows and once > 1):
            words = lanes * self._words(f, set(cols))[0]
            found = by_columns(
                self.gpu, vectors, words, lanes * len(by_column), row_bytes(f, base) if rows and not anchor else 0
            )
            if found is None and by_column:
                raise Refusal("schedule", "columns too long to be summed beside a reduction of rows")
            if found is not None and unit is not None and not anchor:
                found, narrow = narrowed(f, set(rows), set(cols), found, lanes, self.gpu)
                base = replace(base, lanes=narrow)
        elif once > 1 or moments:  # else one pass does it, and nothing is kept
            values, loads = (lanes * w for w in self._words(f, set(cols)))
            clusters: tuple[int, ...] = CLUSTERS if self.gpu.clusters else (1,)
            if once == 1:  # moments of a row that is held take less arithmetic, but one pass is all that they need
                clusters = clusters[:2]
            size = 0 if not rows or anchor else row_bytes(f, base)

            def hold(n: int) -> Held | None:
                return shares(self.gpu, clusters, n * vectors, values, loads, -(-nr // n), lanes, size)

            n, found = gpu_interleave.held(self.gpu, numbers or [1], nr, (values, loads), hold)
        tiles = -(-nr // n)
        enough = found is not None and found.cluster * tiles >= self.gpu.sms
        few = tiles * (1 if numbers and found is None else 4) < self.gpu.sms
        whole = over_rows or finds_positions(f.reductions())
        if not whole and few and nc >= CHUNK and not enough:
            n = numbers[0] if numbers else 1
            threads = THREADS if rows else 2 * THREADS
            splits = min(self.gpu.sms * PIECES // -(-nr // n), -(-vectors * n // (2 * threads)), 1024)
            family = "full reduction" if not rows else "inner reduction, split"
            s = replace(base, family=family, mode="split", row_threads=n, col_threads=threads // n)
            s = replace(s, steps=4, finish=True)
            return f, replace(s, once=self._once(f, s, splits)), {"splits": splits}
        if found is not None:
            cluster, ct, steps, keep, place = found
            if n > 1:
                ct = max(1, ct // n)
                steps = -(-vectors // (cluster * ct))
            rt = max(n, 128 // ct)
            if by_column:  # few blocks, since each leaves sums of all columns
                rt = 2 * THREADS // ct if ct < THREADS or base.lanes < lanes else 1
            rt = min(rt, power_up(nr, 1024))
            family = "inner+outer reduction" if over_rows else "inner persistent" if passes > 1 else "inner reduction"
            s = replace(base, family=family, mode="persistent", row_threads=rt, col_threads=ct, steps=steps)
            s = replace(s, keep=keep, keep_in=place, cluster=cluster)
            return self._resident(f, s, nr, nc * len(by_column)) if over_rows else (f, s, {})
        passes = once
        n = next((k for k in numbers if k * self.gpu.sms * 2 <= nr), numbers[-1] if numbers else 1)
        few = -(-nr // n) < self.gpu.sms * 2
        share = 32 if over_rows and passes == 1 else 1 if few else 4  # resident blocks are few: each has many rows
        ct = power_up(-(-vectors // share), (1024 if passes > 1 or few else THREADS) // n)
        rt = min(max(n, 128 // ct), power_up(nr, 1024))
        steps = max(1, min(4, vectors // ct))
        s = replace(base, row_threads=rt, col_threads=ct, steps=1 << (steps.bit_length() - 1))
        return self._resident(f, s, nr, 0) if over_rows else (f, s, {})

    def _resident(self, f: Fusion, s: GpuSchedule, rows: int, sums: int) -> Settled:
        """`sums`: how many sums of columns each block leaves, 0 if it leaves numbers only."""
        blocks = resident_blocks(s, -(-rows // s.row_threads), self.gpu.sms * beside(s.threads))
        return f, replace(s, resident=True, finish=4 * max(1, sums) * blocks <= ALONE), {"blocks": blocks}

    def _clusters(self, f: Fusion, cols: set[Atom]) -> tuple[int, ...]:
        """How many blocks may hold a row: several, if it would be read again otherwise."""
        again = _passes(f, cols, online(f, cols)) > 1
        return CLUSTERS if again and self.gpu.clusters else (1,)

    def _words(self, f: Fusion, cols: set[Atom]) -> tuple[float, float]:
        """Registers per point of a row that later passes want kept, estimated: (with dear values, of loads only)."""
        whole = set(f.axes)
        loads = {(b, o): d for b, o, d in accesses(f, stores=False) if o.axes() == whole}
        words = sum(max(d.itemsize, 2) / 4 for d in loads.values())
        return max(words, dear_values(f, cols), 0.5), max(words, 0.5)

    def _down(self, f: Fusion, rows: list[Atom], cols: list[Atom], unit: Atom, passes: int) -> Settled:
        """Rows are neighbours in memory: threads side by side along them, each taking some of the columns."""
        lanes, aligned = self._lanes(f, unit, exact=True)
        nc = self.size(cols)
        names = tuple(a.name for a in rows), tuple(a.name for a in cols)
        smallest = min((d.itemsize for _, o, d in accesses(f, stores=False) if unit in o.axes()), default=ACCESS)

        def based(lanes: int) -> tuple[GpuSchedule, int]:
            """A loop with such vectors, and tiles of rows."""
            vectors = self.size(rows) // lanes
            rt = self._side_by_side(power_up(self.size([unit]) // lanes, 32), lanes * smallest, vectors)
            ct = max(1, THREADS // rt)
            s = GpuSchedule(*names, unit.name, lanes, "outer reduction", "loop", rt, ct, 4, aligned=aligned)
            return replace(s, family="outer persistent" if passes > 1 else s.family), -(-vectors // rt)

        base, tiles = based(lanes)
        rt, ct = base.row_threads, base.col_threads
        if passes > 1:
            words = lanes * self._words(f, set(cols))[0]
            for c, wide in itertools.product(self._clusters(f, set(cols)), (ct, 2 * ct, 4 * ct)):
                steps = -(-nc // (c * wide))
                if wide * rt <= 1024 and holds(wide * rt, steps, words):
                    return f, replace(base, mode="persistent", col_threads=wide, steps=steps, cluster=c), {}
        few = self.gpu.sms * (PIECES // 2 if passes == 1 else 1)  # so few blocks do not keep memory busy
        if tiles < few and nc >= 4 * ct and not finds_positions(f.reductions()):
            if lanes == 8 and (passes > 1 or online(f, set(cols))):  # these take registers
                base, tiles = based(4)
                ct = base.col_threads
            splits = min(self.gpu.sms * PIECES // tiles, -(-nc // (4 * ct)), 1024)
            if splits > 1:
                steps = 8 if lanes == 8 and nc >= 16 * ct * splits else 4  # 16-bit elements wait longer
                s = replace(base, family=base.family + ", split", mode="split", steps=steps, finish=True)
                return f, replace(s, once=self._once(f, s, splits)), {"splits": splits}
        steps = max(1, min(4, nc // ct))
        return f, replace(base, steps=1 << (steps.bit_length() - 1)), {}

    def _side_by_side(self, most: int, size: int, vectors: int) -> int:
        """How many vectors (of so many bytes) of rows a block has, at most so many: as many as leave few threads
        without one, and lines of memory whole."""
        least = min(most, max(8, LINE // size))
        choices = [most >> k for k in range(most.bit_length()) if most >> k >= least]
        fewest = min(-(-vectors // n) * n for n in choices)
        return next(n for n in choices if 16 * -(-vectors // n) * n <= 17 * fewest)

    def _once(self, f: Fusion, s: GpuSchedule, splits: int) -> bool:
        """Whether what chunks leave of the rows of a block is more than every block should read."""
        moments = online(f, {a for a in f.axes if a.name in s.cols})
        each = sum(3 if r.name in moments else 1 for r in f.reductions())
        rows = s.row_threads * (s.lanes if s.vector in s.rows else 1)
        return splits * rows * each * 4 > TOGETHER

    def scanning(self) -> Settled:
        """Running totals: a thread walks along a row where neighbouring rows are neighbours in memory; else, or where
        there are few rows, threads share one."""
        (col,) = cols = self.scanned()
        f, rows = collapse(self.f, self.by_stride(tuple(a for a in self.f.axes if a not in cols)))
        unit = Analysis(f, self.hint).unit
        nr, nc = self.size(rows), self.size([col])
        if nr == 1 and nc >= CHUNK:  # libraries scan one long row with all processors, a block has one
            raise Refusal("schedule", "a scan of one long row")
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


def _passes(f: Fusion, cols: set[Atom], running: Mapping[str, Online] | None = None) -> int:
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
