"""GPU schedules: how rows and columns of a fusion are spread over blocks and threads.

As on a CPU every kernel is a nest of rows and columns (`schedule/cpu.py`): reductions combine the columns of a row. A
block of `row_threads * col_threads` threads works on `row_threads` rows (or vectors of rows) at a time; the
`col_threads` threads of a row share its columns. `vector` is the axis whose `lanes` consecutive points a thread takes
at once; the threads that differ along it are neighbours, so that a warp's accesses are contiguous.

| mode | columns | for |
| --- | --- | --- |
| tile | cut into tiles of `col_threads * steps` vectors, one per block | elementwise |
| staged | the same, and what is contiguous along `across` passes through a tile of shared memory | transposes |
| persistent | all in one block, `steps` vectors per thread, values needed again kept in registers | softmax, norms |
| loop | all in one block, `steps` vectors at a time; later passes read memory again | sums, long rows, scans |
| split | cut into `splits` chunks over blocks; every pass is a launch that combines what the last one left | few rows |

`resident`: only as many blocks as fit on the GPU run, and each walks over many rows: what is reduced over rows stays in
registers until the end. Sizes chosen for a launch (`blocks`, `splits`) are arguments of the kernel, not part of it.
`cluster`: so many blocks hold a row together (persistent, not resident) and combine their results through distributed
shared memory; the c-th block's thread of column t has the vectors (k * cluster + c) * col_threads + t, k < steps.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ..core.dtypes import DType, bool_
from ..core.errors import Refusal
from ..fusion import scalar as sc
from ..fusion.collapse import collapse
from ..fusion.ir import Buffer, Fusion, Stage
from ..fusion.online import Online, online
from ..fusion.scalar import Expr
from ..index.expr import ONE, Atom, Ix, ix
from ..prims.table import ARG_MONOIDS
from .analysis import Analysis
from .device import Gpu
from .forms import axes, choice, flag, name, names, number, render, vector, word
from .gpu_fit import CHUNK, CLUSTERS, STEPS, THREADS, WORDS, shares

ACCESS = 16  # bytes of the widest memory access
FLIGHT = 64  # bytes a thread should have on their way at once
DEAR = 16  # instructions per point from which on a value is rather kept than computed again
STAGE = 64  # side of a tile that passes through shared memory
WARP = 32  # threads of a warp
INDEX_LIMIT = (1 << 31) - (1 << 26)  # elements up to which 32-bit indices cannot overflow, masked lanes included


@dataclass(frozen=True, slots=True)
class GpuSchedule:
    """How a Fusion runs on a GPU. Axis names refer to the (collapsed) fusion it comes with.

    `rows`, `cols`: axes outermost first; `vector`, `lanes`: the vectorised axis and its width; `mode`, `resident`,
    `steps`, `row_threads`, `col_threads`: see above; `across`: the row axis of a staged tile; `index`: bits of an
    index; `aligned`: buffers whose vectors all lie at multiples of their size (up to 16 bytes); `stream`: buffers
    used once; `uniform`: conditions on positions (pieces of a cat, a border) never divide a vector; `keep`: what
    a persistent row keeps for later passes, all dear "values" or only its "loads".
    """

    rows: tuple[str, ...] = field(metadata=axes("bind({axis}, grid)"))
    cols: tuple[str, ...] = field(metadata=axes("bind({axis}, threads)"))
    vector: str = field(metadata=vector("bind({axis}, vector, {n})"))
    lanes: int
    family: str
    mode: str = field(metadata=choice("mode({mode})"))
    row_threads: int = number("threads(rows, {n})", 1)
    col_threads: int = number("threads(columns, {n})", 1)
    steps: int = number("unroll(columns, {n})", 1)
    resident: bool = flag("resident(grid)")
    cluster: int = number("cluster(columns, {n})", 1)
    across: str = name("stage_in({axis}, shared)", "")
    index: int = number("index({n})", 32)
    aligned: frozenset[str] = names("hint({buffer}, aligned)")
    stream: frozenset[str] = names("hint({buffer}, streaming)")
    uniform: bool = flag("uniform(conditions)")
    keep: str = word("keep({what}, registers)", "values")
    split: tuple[tuple[str, int], ...] = ()

    @property
    def threads(self) -> int:
        return self.row_threads * self.col_threads

    def directives(self) -> list[str]:
        """The schedule as directives, in text (`text.py` has the form that can be read back)."""
        return render(self)


Hint = Callable[[Ix], int]


def plan(
    f: Fusion, hint: Hint, gpu: Gpu, alignment: Callable[[str], int] = lambda buffer: ACCESS
) -> tuple[Fusion, GpuSchedule, dict[str, int]]:
    """Choose a schedule: (the fusion with collapsed axes, its schedule, sizes of the launch).

    `hint` gives (or estimates) a size, `alignment` the bytes to which a buffer's address is aligned (at most 16). The
    sizes of the launch are values for the kernel's symbols "blocks" (resident) and "splits".
    Raises Refusal when no GPU nest can run the fusion.
    """
    planner = _Planner(f, hint, gpu, alignment)
    return planner.run()


def _power(n: int, limit: int) -> int:
    """The least power of two >= n, at most `limit`."""
    return min(limit, 1 << max(0, n - 1).bit_length())


class _Planner(Analysis):
    def __init__(self, f: Fusion, hint: Hint, gpu: Gpu, alignment: Callable[[str], int]):
        super().__init__(f, hint)
        self.gpu = gpu
        self.alignment = alignment

    def run(self) -> tuple[Fusion, GpuSchedule, dict[str, int]]:
        for s in self.f.stages:
            if s.kind not in ("store", "reduce", "scan"):
                raise Refusal("schedule", f"{s.kind} has no GPU schedule yet")
        reductions = self.f.reductions()
        if any(s.kind == "scan" for s in self.f.stages):
            f, schedule, launch = self.scanning()
        else:
            f, schedule, launch = self.reducing(reductions) if reductions else self.pointwise()
        index = 32 if self._small(f) else 64
        uniform = self._uniform(f, schedule)
        return f, replace(schedule, index=index, stream=self._streamed(f, schedule), uniform=uniform), launch

    def size(self, axes: list[Atom]) -> int:
        return max(1, math.prod(self.hint(a.extent) for a in axes if a.extent is not None))

    def _small(self, f: Fusion) -> bool:
        reach = [sum((self.hint(n) - 1) * abs(self.hint(s)) for n, s in _dims(b)) for b in f.buffers]
        return max([*reach, self.size(list(f.axes))], default=0) < INDEX_LIMIT

    def _streamed(self, f: Fusion, s: GpuSchedule) -> frozenset[str]:
        """Buffers touched once, when all of them together do not fit the L2 cache."""
        if sum(self.hint(b.numel) * b.dtype.itemsize for b in f.buffers) < self.gpu.l2 or s.mode == "loop":
            return frozenset()
        whole = set(f.axes)
        return frozenset(b for b, o, _ in _accesses(f) if o.axes() == whole)

    def _uniform(self, f: Fusion, s: GpuSchedule) -> bool:
        """Whether there are conditions on positions, and a vector lies on one side of each."""
        v = next((a for a in f.axes if a.name == s.vector), None)
        found = [e for e in sc.walk([x.body for x in f.stages]) if on_positions(e) and v in e.axes]
        return v is not None and s.lanes > 1 and bool(found) and all(self._one_side(e, v, s.lanes) for e in found)

    def _one_side(self, e: Expr, v: Atom, lanes: int) -> bool:
        """`v + rest < 0` or `v + rest >= 0`, where `rest` is a multiple of the lanes, as v is at a vector's start."""
        a, b = (x.data if x.kind == "index" else ix(x.data) for x in e.args)
        d = a - b
        c = d.coefficient(v)
        if c is None or c.as_int() not in (1, -1):
            return False
        strict = e.data in ("lt", "ge")
        if c.as_int() == -1:  # -v + rest < 0 is v - rest - 1 >= 0
            d, strict = -d, not strict
        rest = d.without(v) if strict else d.without(v) - 1
        return self._multiple(rest, lanes)

    def _multiple(self, p: Ix, n: int) -> bool:
        """Whether every term is a multiple of n, as far as sizes tell."""
        for m, c in p.terms:
            step = c
            for a in m:
                if a.kind == "sym":
                    step *= self.hint(a.ix)
            if step % n:
                return False
        return True

    # --- families ---
    def pointwise(self) -> tuple[Fusion, GpuSchedule, dict[str, int]]:
        if any(set(s.axes) != set(self.f.axes) for s in self.f.stores()):
            raise Refusal("schedule", "stores of different extents in one elementwise kernel")
        f, order = collapse(self.f, self.by_stride(self.f.axes))
        if not order:
            return f, GpuSchedule((), (), "", 1, "pointwise", "tile"), {}
        v = order[-1]
        across = self.across(f, order, v)
        if across is not None and self.size([across]) >= 8 and self.size([v]) >= 8:
            return self._transpose(f, order, v, across)
        lanes, aligned = self._lanes(f, v, exact=False)
        rows = order[:-1]
        vectors = -(-self.size([v]) // lanes)
        ct = _power(vectors, THREADS)
        rt = THREADS // ct if rows else 1
        flight = sum(lanes * d.itemsize for _, o, d in _accesses(f, stores=False) if o.axes() >= {v})
        steps = max(1, min(4, FLIGHT // max(flight, 1), vectors // ct))
        while steps > 1 and self.size(rows) * vectors < steps * ct * rt * self.gpu.sms * 2:
            steps //= 2
        steps = 1 << (steps.bit_length() - 1)
        names = tuple(a.name for a in rows)
        s = GpuSchedule(names, (v.name,), v.name, lanes, "pointwise", "tile", rt, ct, steps, aligned=aligned)
        return f, s, {}

    def _transpose(
        self, f: Fusion, order: list[Atom], v: Atom, across: Atom
    ) -> tuple[Fusion, GpuSchedule, dict[str, int]]:
        lanes, aligned = self._lanes(f, v, exact=True, other=across)
        lanes = min(lanes, 8)
        rows = tuple(a.name for a in order if a is not v and a is not across) + (across.name,)
        ct = STAGE // lanes
        s = GpuSchedule(
            rows,
            (v.name,),
            v.name,
            lanes,
            "transpose",
            "staged",
            THREADS // ct,
            ct,
            1,
            across=across.name,
            aligned=aligned,
        )
        return f, s, {}

    def reducing(self, reductions: list[Stage]) -> tuple[Fusion, GpuSchedule, dict[str, int]]:
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
        if any(r.monoid in ARG_MONOIDS for r in over_rows):
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
            if r.monoid in ARG_MONOIDS:
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
    ) -> tuple[Fusion, GpuSchedule, dict[str, int]]:
        """Rows whose columns are contiguous: threads side by side along a row."""
        lanes, aligned = self._lanes(f, unit, exact=True) if unit is not None else (1, frozenset[str]())
        nr, nc = self.size(rows), self.size(cols)
        vectors = -(-nc // lanes)
        by_column = [r for r in over_rows if r.axes]
        base = GpuSchedule(
            tuple(a.name for a in rows),
            tuple(a.name for a in cols),
            unit.name if unit is not None else "",
            lanes,
            "inner reduction",
            "loop",
            aligned=aligned,
        )
        positions = any(r.monoid in ARG_MONOIDS for r in f.reductions())
        found = None
        if passes > 1 or by_column:
            values, loads = (lanes * (w + len(by_column)) for w in self._words(f, set(cols)))
            clusters = (1,) if over_rows else self._clusters(f, set(cols))
            found = shares(self.gpu, clusters, vectors, values, loads, nr, lanes)
        enough = found is not None and found[0] * nr >= self.gpu.sms
        if not over_rows and not positions and nr * 4 < self.gpu.sms and nc >= CHUNK and not enough:
            splits = min(-(-self.gpu.sms * 4 // nr), -(-vectors // (2 * THREADS)), 1024)
            family = "full reduction" if not rows else "inner reduction, split"
            return f, replace(base, family=family, mode="split", col_threads=THREADS, steps=4), {"splits": splits}
        if passes > 1 or by_column:
            if found is not None:
                cluster, ct, steps, keep = found
                rt = 1 if by_column and ct >= 128 else max(1, 128 // ct)
                rt = min(rt, _power(nr, 1024))
                family = (
                    "inner+outer reduction" if over_rows else "inner persistent" if passes > 1 else "inner reduction"
                )
                s = replace(base, family=family, mode="persistent", row_threads=rt, col_threads=ct, steps=steps)
                s = replace(s, keep=keep, cluster=cluster)
                return f, replace(s, resident=bool(over_rows)), self._resident(s, nr) if over_rows else {}
            if by_column:
                raise Refusal("schedule", "columns too long to be summed beside a reduction of rows")
            passes = _passes(f, set(cols), online(f, set(cols)))
        few = nr < self.gpu.sms * 2
        ct = _power(-(-vectors // (1 if few else 4)), 1024 if passes > 1 or few else THREADS)
        rt = min(max(1, 128 // ct), _power(nr, 1024))
        steps = max(1, min(4, vectors // ct))
        s = replace(base, row_threads=rt, col_threads=ct, steps=1 << (steps.bit_length() - 1))
        return f, replace(s, resident=bool(over_rows)), self._resident(s, nr) if over_rows else {}

    def _resident(self, s: GpuSchedule, rows: int) -> dict[str, int]:
        tiles = -(-rows // s.row_threads)
        return {"blocks": max(1, min(tiles, self.gpu.sms * max(1, 1024 // s.threads)))}

    def _clusters(self, f: Fusion, cols: set[Atom]) -> tuple[int, ...]:
        """How many blocks may hold a row: several, if it would be read again otherwise."""
        again = _passes(f, cols, online(f, cols)) > 1
        return CLUSTERS if again and self.gpu.clusters else (1,)

    def _words(self, f: Fusion, cols: set[Atom]) -> tuple[float, float]:
        """Registers per point of a row that later passes want kept, estimated: (with dear values, of loads only)."""
        whole = set(f.axes)
        loads = {(b, o): d for b, o, d in _accesses(f, stores=False) if o.axes() == whole}
        words = sum(max(d.itemsize, 2) / 4 for d in loads.values())
        return max(words, _shared(f, cols), 0.5), max(words, 0.5)

    def _down(
        self, f: Fusion, rows: list[Atom], cols: list[Atom], unit: Atom, passes: int
    ) -> tuple[Fusion, GpuSchedule, dict[str, int]]:
        """Rows are neighbours in memory: threads side by side along them, each taking some of the columns."""
        lanes, aligned = self._lanes(f, unit, exact=True)
        across = self.size([unit]) // lanes
        rt = _power(across, 32)
        ct = max(1, THREADS // rt)
        steps_rows = self.size(rows) // lanes
        tiles = -(-steps_rows // rt)
        nc = self.size(cols)
        names = tuple(a.name for a in rows), tuple(a.name for a in cols)
        base = GpuSchedule(*names, unit.name, lanes, "outer reduction", "loop", rt, ct, 4, aligned=aligned)
        if passes > 1:
            base = replace(base, family="outer persistent")
            words = lanes * self._words(f, set(cols))[0]
            for c, wide in itertools.product(self._clusters(f, set(cols)), (ct, 2 * ct, 4 * ct)):
                steps = -(-nc // (c * wide))
                if (
                    wide * rt <= 1024
                    and steps <= 2 * STEPS
                    and steps * words <= (WORDS if wide * rt == 1024 else 2 * WORDS)
                ):
                    return f, replace(base, mode="persistent", col_threads=wide, steps=steps, cluster=c), {}
        positions = any(r.monoid in ARG_MONOIDS for r in f.reductions())
        if tiles < self.gpu.sms and nc >= 4 * ct and not positions:
            splits = min(-(-self.gpu.sms * 4 // tiles), -(-nc // (4 * ct)), 1024)
            if splits > 1:
                return f, replace(base, family=base.family + ", split", mode="split"), {"splits": splits}
        steps = max(1, min(4, nc // ct))
        return f, replace(base, steps=1 << (steps.bit_length() - 1)), {}

    def scanning(self) -> tuple[Fusion, GpuSchedule, dict[str, int]]:
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
                rt = _power(nr, 32)
                ct, lanes = THREADS // rt, 1
            else:
                rt = max(WARP, _power(nr // lanes // self.gpu.sms, THREADS))
                steps = 16 // lanes if lanes > 1 else 8
        else:
            vectors = -(-nc // lanes)
            ct = _power(vectors, WARP if nr >= self.gpu.sms * 64 else THREADS if nr >= self.gpu.sms * 2 else 512)
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

    # --- vectors ---
    def _lanes(self, f: Fusion, v: Atom, exact: bool, other: Atom | None = None) -> tuple[int, frozenset[str]]:
        """(width of the vectors along `v`, buffers whose vectors are aligned).

        As wide as 16 bytes of the narrowest type that matters, but no wider than what keeps the large accesses aligned.
        exact: the width divides the extent of `v`. `other`: an axis along which memory is read in vectors, too.
        """
        along = [v] if other is None else [v, other]
        walks = [(b, o, d, a) for b, o, d in _accesses(f) for a in along if a in o.axes() and o.coefficient(a) is ONE]
        traffic = {o: self.size(list(o.axes())) for _, o, _, _ in walks}
        most = max(traffic.values(), default=0)
        large = [w for w in walks if 4 * traffic[w[1]] >= most]
        itemsizes = [d.itemsize for _, _, d, _ in large if d is not bool_] or [4]
        lanes = max(1, min(8, ACCESS // min(itemsizes), 2 * ACCESS // max(itemsizes)))
        extent = self.hint(v.extent) if v.extent is not None else 1
        while lanes > 1 and exact and extent % lanes:
            lanes //= 2
        while lanes > 1 and other is not None and other.extent is not None and self.hint(other.extent) % lanes:
            lanes //= 2
        while lanes > 1 and not exact and extent < lanes:
            lanes //= 2
        while lanes > 1 and not all(self._fits(*w, lanes) for w in large):
            lanes //= 2
        if lanes == 1:
            return 1, frozenset()
        bad = {w[0] for w in walks if not self._fits(*w, lanes)}
        return lanes, frozenset(w[0] for w in walks) - bad

    def _fits(self, buffer: str, offset: Ix, dtype: DType, v: Atom, lanes: int) -> bool:
        """Whether vectors of this access, whose position along `v` is a multiple of `lanes`, are aligned."""
        if self.alignment(buffer) % min(ACCESS, lanes * dtype.itemsize):
            return False
        return self._multiple(offset.without(v), lanes)


def on_positions(e: Expr) -> bool:
    """Whether an expression compares a position with another, or with a number."""
    if e.kind != "op" or e.data not in ("lt", "le", "gt", "ge"):
        return False
    return all(a.kind in ("index", "const") for a in e.args) and any(a.kind == "index" for a in e.args)


def _dims(b: Buffer) -> list[tuple[Ix, Ix]]:
    return list(zip(b.shape, b.strides, strict=True))


def _accesses(f: Fusion, stores: bool = True) -> list[tuple[str, Ix, DType]]:
    """(buffer, offset, stored type) of every load, and store."""
    out = [e.data for e in sc.walk([s.body for s in f.stages]) if e.kind == "load"]
    if stores:
        out += [(s.buffer, s.offset, s.dtype) for s in f.stores()]
    return out


def _shared(f: Fusion, cols: set[Atom]) -> int:
    """How many dear values of a point two passes want."""
    cost: dict[Expr, int] = {}
    by_level: dict[int, set[Expr]] = {}
    level: dict[str, int] = {}
    for s in f.stages:
        n = max((level.get(name, 0) for name in s.body.stages), default=0)
        if s.kind == "reduce":
            level[s.name] = n + 1 if set(s.raxes) == cols else n
        for e in sc.walk([s.body]):
            if e.axes & cols and e not in cost:
                cost[e] = e.cost + sum(cost.get(c, 0) for c in e.children())
        by_level.setdefault(n, set()).update(
            e for e in sc.walk([s.body]) if e.kind != "load" and cost.get(e, 0) >= DEAR
        )
    wanted = [e for e in cost if sum(e in found for found in by_level.values()) > 1]
    inside = {c for e in wanted for c in sc.walk(list(e.children()))}
    return sum(e not in inside for e in wanted)


def _passes(f: Fusion, cols: set[Atom], running: Mapping[str, Online] | None = None) -> int:
    """How many times the columns of a row are walked over, when the reductions in `running` are combined on the fly."""
    level: dict[str, int] = {}
    most = 1
    for s in f.stages:
        operand = running[s.name].of if running and s.name in running else s.body
        n = max((level.get(name, 0) for name in operand.stages), default=0)
        if s.kind == "reduce":
            level[s.name] = n + 1 if set(s.raxes) == cols else n
            most = max(most, n + 1)
        elif set(s.axes) & cols:
            most = max(most, n + 1)
    return most
