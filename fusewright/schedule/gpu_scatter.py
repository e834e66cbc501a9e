"""GPU schedules of scatters: the points are sorted by where they go, then every element collects its own.

A row of the target is all of its elements that the same points go to: those that differ along axes of the source which
are coordinates of the target and nothing else (the columns). The launches:

1. A block sorts a tile of TILE points by *bucket*, which is `bucket` consecutive rows, and notes where each begins.
2. A block gathers a bucket's points from all tiles and sorts them by row: then the points of a row lie side by side,
   in their order. Of many points (`crowds`) that are not only set two launches more do that for crowded buckets, of
   more than `crowd` points: blocks share a bucket, one launch counts, one sorts.
3. Rows with many points are cut into pieces of `piece` of them, each combined by itself.
4. So are, of many points, rows with many pieces, into runs of `run` of those.
5. A group of threads takes a row (or a part of its columns): it starts from what is there before, combines the
   runs, pieces and points in order, and computes and stores what the kernel makes of the result.

Only integers are sorted, a few bytes for each point; every value is read once, and computed where it is read. Nothing
is atomic, and results are the same from run to run; those of a row with fewer than `piece` points are those of a serial
sum, bit for bit. What depends on sizes (`bucket`, `piece`, how many digits there are to sort by) is an argument of the
kernel, so that new sizes need no new code.

Where the order of points does not matter (`decide`) they are not sorted but left *apart* (mode "place"): one launch
stores what elements start from, another one combines every point's value with what is there, atomically.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import fields, replace
from math import prod

from ..core.errors import Refusal
from ..fusion.collapse import collapse
from ..fusion.ir import Fusion, Stage
from ..index.expr import Atom
from ..prims.table import can_meet
from .device import Gpu
from .forms import Illegal
from .gpu_base import ACCESS, INDEX_LIMIT, WARP, GpuSchedule, Hint, Settled, Vectors, power_up, reach
from .legal import fail

SORTERS = 512  # threads of a block that sorts
ITEMS = 7  # points of a thread in a tile; odd, for neighbouring threads to use different banks of shared memory
TILE = SORTERS * ITEMS
SLOT_BITS = TILE.bit_length()  # of a point's number in its tile
BUCKETS = (252, 508, 1020)  # how many buckets at most, for few points and for many: they are sorted by 8 to 10 bits
FEW_ROWS = 512  # of a bucket, at most, where there are 508
FEW = 32  # points of a bucket, at least, where that leaves more than one
MOST_ROWS = 1 << (30 - SLOT_BITS)  # of a bucket: row and number of a point have to fit into 32 bits
MOST_POINTS = (1 << 31) - 2 * TILE  # their numbers have 32 bits
LAUNCH = ("bucket", "bucket_passes", "row_passes", "tile_bits", "piece", "run", "crowds", "crowd")  # symbols of its own
RUNS, CROWDED = 4 * TILE, 32 * TILE  # points from which launches for runs, and for crowded buckets, are worth it
PIECES = (5, 6, 8)  # binary logarithms of the least and the most points of a piece, of wide rows and of narrow ones
MOST_RUN = 64  # pieces of a run
FLIGHT = 128  # bytes of values that a thread should have on their way at once
ACCUMULATORS = 32  # 32-bit registers of a thread for what it combines
COLLECTORS = 128  # threads of a block that collects: several rows, some of which take longer
COLLECT = 1024  # ... at most
STEPS = 4  # vectors of columns of a thread, at most
WIDE = 16  # columns from which on a row keeps threads busy side by side
SMALL = 4 << 20  # bytes that a kernel has to move to be worth several launches
SORTED = ("index_put", "embedding_dense_backward")  # operators that eager sorts for (index_put where it accumulates)
MEET = 1 << 12  # single elements that meet in one, from which on atomics wait for each other longer than sorting takes
MANY = 1 << 20  # points, or rows of the target, that several launches are worth, or do not mind
LEAST = 4  # rows of the target for each point, at most, where all of it has to be copied for points that are apart
SPARSE = 16  # rows of the target for each point, up to which looking at all of them takes less than eager's sorting


def collected(f: Fusion) -> Stage | None:
    """The collect stage of a fusion, if it has one."""
    return next((s for s in f.stages if s.kind == "collect"), None)


def decide(f: Fusion, hint: Hint, operators: Collection[str] = (), always: bool = False) -> None:
    """Who runs a scatter is decided here, and how: whether `f` sorts its points, or leaves them `apart`.

    Raises Refusal where PyTorch's own kernels are taken to be as fast, unless `always`. `operators`: those that the
    scatter is of. Eager sorts for some (SORTED), in some ten launches. For others it adds floats with atomics, which is
    slow where rows are wide and where many meet, and gives other digits in every run. So do points of ours that are
    apart: that is for what is set, for integers, and for single floats of which eager has no order either.
    `benchmarks/scatters.py` measures what is decided here.
    """
    st = collected(f)
    if st is None:
        return
    assert st.origin is not None
    sizes = _Sizes(f, st, hint)
    names = {o.removeprefix("aten.").removeprefix("_unsafe_").split(".")[0] for o in operators}
    sorts = st.monoid != "set" and not names.isdisjoint(SORTED)
    loose = st.monoid == "set" or not st.dtype.is_float or (st.monoid == "sum" and not (sorts or sizes.slow))
    legal = orderless(f, st)
    if loose and legal:
        leave_apart(f)
    if always:
        return
    if loose and not legal:
        raise Refusal("scatter", "PyTorch scatters this in one launch, and what becomes of it is computed in another")
    if sizes.moved < SMALL and not sorts:
        raise Refusal("scatter", "a scatter too small to be worth more launches than one")
    if loose and st.origin.base.kind == "load" and LEAST * sizes.points < sizes.rows:
        raise Refusal("scatter", "few points for a target that would be copied, and may be changed where it is")
    if not loose:
        sizes.worth_sorting(sorts)


def leave_apart(f: Fusion) -> None:
    """From now on the points of `f` are not to be sorted, see above."""
    for k, s in enumerate(f.stages):
        if s.origin is not None:
            f.stages[k] = replace(s, origin=replace(s.origin, apart=True))


class _Sizes:
    """Of a scatter: bytes it moves, elements of a row, rows, points."""

    def __init__(self, f: Fusion, st: Stage, hint: Hint):
        assert st.origin is not None
        self.moved = sum(hint(b.numel) * b.dtype.itemsize for b in f.buffers)
        self.width = _count((a for a in st.axes if a not in st.origin.rows), hint)
        self.rows, self.points = _count(st.origin.rows, hint), _count(st.raxes, hint)
        few = self.rows <= BUCKETS[-1] and self.points >= MANY
        self.crowded = st.monoid in ("sum", "prod") and few and self.points >= MEET * self.rows

    @property
    def slow(self) -> bool:
        """Whether atomics are slower than sorting."""
        return self.width >= WIDE or self.crowded

    def worth_sorting(self, sorts: bool) -> None:
        """Raises Refusal unless the points are worth sorting; `sorts`: eager does so, too."""
        if self.width >= WIDE:
            return
        if not (sorts or self.crowded):
            raise Refusal("scatter", "PyTorch scatters single elements in one launch")
        if self.points > BUCKETS[-1] * TILE and self.rows > BUCKETS[-1]:
            raise Refusal("scatter", "single elements, more than are sorted at once")
        if self.rows > max(SPARSE * self.points, MANY):
            raise Refusal("scatter", "single elements, few for a target of so many")


def orderless(f: Fusion, st: Stage) -> bool:
    """Whether points may be combined one by one, in any order, with what is stored of their elements."""
    assert st.origin is not None
    alone = [s.body.kind for s in f.stages if s is not st] == ["stage"]
    return alone and not st.origin.fresh and can_meet(st.monoid, st.dtype)


def _count(axes: Iterable[Atom], hint: Hint) -> int:
    return prod(hint(a.extent) for a in axes if a.extent is not None)


def plan(f: Fusion, hint: Hint, gpu: Gpu, alignment: Callable[[str], int] = lambda buffer: ACCESS) -> Settled:
    """As `gpu.plan`, for a fusion that collects. Sizes of the launch: see above. Raises Refusal."""
    st = collected(f)
    assert st is not None and st.origin is not None
    f, rows = collapse(f, list(st.origin.rows))
    f, points = collapse(f, list(st.raxes))
    planner = _Planner(f, hint, gpu, alignment)
    cols = [a for a in f.axes if a not in rows and a not in points]
    f, cols = collapse(f, planner.by_stride(tuple(cols)))
    return _Planner(f, hint, gpu, alignment).nest(rows, cols, points)


def settle(f: Fusion, s: GpuSchedule, hint: Hint, gpu: Gpu, alignment: Callable[[str], int]) -> Settled:
    """As `plan`, with the threads and steps of `s`, in which all else is as `plan` says. Raises Illegal."""
    f, best, launch = plan(f, hint, gpu, alignment)
    for field, most in (("row_threads", COLLECT if s.rows else 1), ("col_threads", COLLECT), ("steps", 2 * STEPS)):
        n = getattr(s, field)
        if not 1 <= n <= most or (n & (n - 1) and field != "steps"):
            fail(s, field, [n], "not a number for a scatter", f"{'powers of two ' * (field != 'steps')}up to {most}")
    if s.threads > COLLECT:
        fail(s, "col_threads", [s.col_threads], f"a block would have {s.threads} threads", f"{COLLECT} together")
    same = replace(best, row_threads=s.row_threads, col_threads=s.col_threads, steps=s.steps, family=s.family)
    for name in (x.name for x in fields(s)):
        if getattr(s, name) != getattr(same, name):
            legal = "; ".join(d for d in same.directives() if d not in s.directives())
            raise Illegal(f"mode({best.mode})", "", f"of a scatter '{name}' is not to be chosen", legal, name)
    return f, same, launch


class _Planner(Vectors):
    def __init__(self, f: Fusion, hint: Hint, gpu: Gpu, alignment: Callable[[str], int]):
        """What a row starts from is read, too: as a stage of its own the analysis sees it."""
        self.plain = f
        st = collected(f)
        assert st is not None and st.origin is not None
        start = Stage("start", "", st.axes, (), "", st.origin.base, st.dtype)
        super().__init__(replace(f, stages=[*f.stages, start]), hint, gpu, alignment)
        self.st = st

    def nest(self, rows: list[Atom], cols: list[Atom], points: list[Atom]) -> Settled:
        unit = self.unit
        lanes, aligned = 1, frozenset[str]()
        assert self.st.origin is not None
        apart = self.st.origin.apart
        if unit is not None and unit in cols:
            cols = [a for a in cols if a is not unit] + [unit]
            if not apart or self.st.monoid == "set":  # a warp's atomics are as few as the sectors that each touches
                lanes, aligned = self._lanes(self.f, unit, exact=True)
        else:
            unit = None
        vectors = -(-self.size(cols) // lanes)
        # threads side by side along a row where that is contiguous, else along neighbouring rows
        ct = power_up(vectors, WARP) if unit is not None else 1
        most = max(1, min(STEPS, ACCUMULATORS // (lanes * max(1, self.st.dtype.itemsize // 4))))
        steps = -(-vectors // ct)
        steps = -(-steps // -(-steps // most))  # parts of a row that are as large as each other
        s = GpuSchedule(
            tuple(a.name for a in rows),
            tuple(a.name for a in cols),
            unit.name if unit is not None else "",
            lanes,
            "scatter",
            "place" if apart else "collect",
            COLLECTORS // ct if rows else 1,
            ct,
            steps,
            index=32 if self._fits32(rows, cols, points) else 64,
            aligned=aligned,
        )
        return self.plain, s, {} if apart else self.launch(rows, cols, points)

    def launch(self, rows: list[Atom], cols: list[Atom], points: list[Atom]) -> dict[str, int]:
        """Sizes of the launch. Raises Refusal for more than can be sorted."""
        n, d = self.size(points), self.size(rows)
        if n > MOST_POINTS:
            raise Refusal("scatter", f"more than {MOST_POINTS} points")
        buckets = power_up(n // FEW, self._buckets(n, d))
        bucket = power_up(-(-d // buckets), MOST_ROWS)
        if d // bucket > buckets:
            raise Refusal("scatter", f"a target of more than {buckets * MOST_ROWS} rows")
        count = d // bucket + 1
        low, wide, narrow = PIECES
        piece = 1 << max(low, min(wide if self.size(cols) >= WIDE else narrow, n.bit_length() // 2 - 2))
        return {
            "bucket": bucket,
            "bucket_passes": (count.bit_length() + 1) // 2,
            "row_passes": bucket.bit_length() // 2,
            "tile_bits": (-(-n // TILE)).bit_length(),
            "piece": piece,
            "run": max(16, power_up(n >> 12, MOST_RUN)) if n > RUNS else max(1, n),
            "crowds": int(n > CROWDED and 2 * bucket <= TILE),  # memory for more rows would be more than for the points
            "crowd": TILE if n <= count * TILE else 2 * n // count,  # where all have many, none waits for one
        }

    def _buckets(self, n: int, d: int) -> int:
        """How many buckets at most, for so many points and rows: blocks that sort one should be full, but few have to
        sort more than a block can at once, nor have so many rows to look for that this takes longer."""
        few, some, many = BUCKETS
        if 2 * n <= few * TILE:
            return few
        rows = power_up(-(-d // some), MOST_ROWS)
        return some if rows <= FEW_ROWS and 5 * n <= 4 * (d // rows + 1) * TILE else many

    def _fits32(self, rows: list[Atom], cols: list[Atom], points: list[Atom]) -> bool:
        """Whether 32-bit indices cannot overflow."""
        n, d, w = self.size(points), self.size(rows), self.size(cols)
        reached = [reach(b, self.hint) for b in self.f.buffers]
        return max([*reached, 2 * d, 2 * n, (n >> PIECES[0]) * 17 // 16 * w, d * w], default=0) < INDEX_LIMIT


def at_once(size: int, flight: int = FLIGHT) -> int:
    """How many values of `size` bytes a thread asks for before it combines the first, `flight` bytes at most."""
    return max(1, min(8, flight // max(size, 1)))


__all__ = ["FLIGHT", "LAUNCH", "SLOT_BITS", "TILE", "at_once", "collected", "decide", "orderless", "plan", "settle"]
