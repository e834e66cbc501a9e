"""What every GPU schedule has: its fields, and how wide vectors along an axis can be. The modes: see `gpu.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.dtypes import DType, bool_
from ..fusion import scalar as sc
from ..fusion.ir import Buffer, Fusion, Stage
from ..fusion.scalar import Expr, on_positions
from ..index.expr import ONE, ZERO, Atom, Ix, ix
from ..prims.table import ARG_MONOIDS, ORDERED
from .analysis import Analysis
from .device import Gpu
from .forms import axes, choice, flag, kept, name, names, number, render, some, staged, vector
from .quotients import multiple, steady, steady_in
from .windows import Windows, fewer, fit, loads, windows_of

ACCESS = 16  # bytes of the widest memory access
FLIGHT = 64  # bytes a thread should have on their way at once
DEAR = 32  # instructions per point from which on a value is rather kept than computed again: an exponential is less
REUSE = 0.2  # share of a tile's traffic that has to stay the same along an axis, for a thread to take several points
SECTOR = 32  # bytes that memory gives at once
LINE = 128  # bytes of a line of the caches
APART = 8  # bytes between what neighbouring threads read of strided elements, at most: beyond, sectors are read again
STAGE = 64  # side of a square tile that passes through shared memory; others have as many points
SIDES = (STAGE, *(side for k in (1, 2, 3) for side in (STAGE << k, STAGE >> k)))  # that tiles may have, squares first
WARP = 32  # threads of a warp
WORD = 4  # bytes of what a warp moves as a line
PIECES = 4  # blocks for each multiprocessor, among which few rows are divided: no more, or the last ones run alone
PARTS = (
    8192  # blocks of a loop, at most: each leaves a number of a result over rows, and so many are combined in no time
)
INDEX_LIMIT = (1 << 31) - (1 << 26)  # elements up to which 32-bit indices cannot overflow, masked lanes included


@dataclass(frozen=True, slots=True)
class GpuSchedule:
    """How a Fusion runs on a GPU. Axis names refer to the (collapsed) fusion it comes with.

    `rows`, `cols`: axes outermost first; `vector`, `lanes`: the vectorised axis and its width; `mode`, `resident`,
    `steps`, `row_threads`, `col_threads`: see above; `across`: the row axis of a staged tile, `turned`: lanes along
    that; `index`: bits of an index; `aligned`: buffers whose vectors all lie at multiples of their size (up to 16
    bytes); `permuted`: those of which lanes are taken out of aligned vectors (`windows.py`); `stream`: buffers whose
    lines leave the caches first (`gpu_caches.py`); `uniform`: conditions on positions (pieces of a cat, a border) never
    divide a vector; `steady`: nor do the boundaries of quotients of positions (a view that splits an axis): all lanes
    have the same; `whole`: lanes divide the columns of a tile: no vector is partial; `keep`: what a persistent
    row keeps for later passes, all dear "values" or only its "loads"; `keep_in`: where it keeps the latter, in
    "registers" or in "shared" memory; `ahead`: a resident block has room there for so many rows more, which are on
    their way while it works on one; `repeat`: the row axis of which a thread of a tile takes `repeats` points, so that
    what does not vary along it is read once for them; `finish`: the last block combines what blocks leave, and not
    another launch; `once`: what chunks of columns leave is combined by a launch before the next pass, and not by every
    block of that; `anchor`: vectors start where those of this buffer are aligned, in each row (`gpu_anchor.py`);
    `interleaved`: the neighbours of a thread have the rows beside its own, not the columns (`gpu_interleave.py`);
    `runs`: buffers of which a block's rows pass through shared memory as one run of memory (`gpu_runs.py`); `alone`:
    resident blocks have a multiprocessor each, and the registers that others would have.
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
    across: str = staged("stage_in({axis}, shared, {n})")
    turned: int = 1
    index: int = number("index({n})", 32)
    aligned: frozenset[str] = names("hint({buffer}, aligned)")
    permuted: frozenset[str] = names("hint({buffer}, permuted)")
    stream: frozenset[str] = names("hint({buffer}, streaming)")
    uniform: bool = flag("uniform(conditions)")
    steady: bool = flag("uniform(quotients)")
    whole: bool = flag("whole(vectors)")
    keep: str = kept("keep({what}, {where})", "values")
    keep_in: str = "registers"
    ahead: int = some("ahead(rows, {n})")
    repeat: str = name("reuse({axis}, registers)", "")
    repeats: int = number("unroll(rows, {n})", 1)
    finish: bool = flag("finish(block)")
    once: bool = flag("combine(launch)")
    anchor: str = name("align(rows, {buffer})", "")
    interleaved: bool = flag("interleave(rows)")
    runs: frozenset[str] = names("run({buffer}, shared)")
    alone: bool = flag("alone(blocks)")
    split: tuple[tuple[str, int], ...] = ()

    @property
    def threads(self) -> int:
        return self.row_threads * self.col_threads

    def directives(self) -> list[str]:
        """The schedule as directives, in text (`text.py` has the form that can be read back)."""
        return render(self)


Hint = Callable[[Ix], int]
Walk = tuple[str, Ix, DType, Atom]  # (buffer, offset, type, axis) of an access with unit stride along the axis
Settled = tuple[Fusion, GpuSchedule, dict[str, int]]  # with the axes that the schedule names; sizes of the launch


def power_up(n: int, limit: int) -> int:
    """The least power of two >= n, at most `limit`."""
    return limit if n >= limit else min(limit, 1 << max(0, n - 1).bit_length())


class Vectors(Analysis):
    """A fusion and the sizes of a call: what is contiguous, aligned, and on one side of a condition."""

    def __init__(self, f: Fusion, hint: Hint, gpu: Gpu, alignment: Callable[[str], int]):
        super().__init__(f, hint)
        self.gpu = gpu
        self.alignment = alignment

    def size(self, axes: list[Atom]) -> int:
        return max(1, math.prod(self.hint(a.extent) for a in axes if a.extent is not None))

    def _small(self, f: Fusion) -> bool:
        reached = [reach(b, self.hint) for b in f.buffers]
        return max([*reached, self.size(list(f.axes))], default=0) < INDEX_LIMIT

    def _uniform(self, f: Fusion, s: GpuSchedule) -> bool:
        """Whether there are conditions on positions, and a vector lies on one side of each."""
        v = next((a for a in f.axes if a.name == s.vector), None)
        if s.anchor:  # vectors start anywhere
            return False
        found = [e for e in sc.walk([x.body for x in f.stages]) if on_positions(e) and v in e.axes]
        return v is not None and s.lanes > 1 and bool(found) and all(self._one_side(e, v, s.lanes) for e in found)

    def _one_side(self, e: Expr, v: Atom, lanes: int) -> bool:
        """`v + rest < 0` or `v + rest >= 0`, where `rest` is a multiple of the lanes, as v is at a vector's start."""
        a, b = sc.sides(e)
        d = a - b
        c = d.coefficient(v, within=True)
        if not steady_in(d, v, lanes, self.hint):
            return False
        if c is ZERO:
            return True
        if c is None or c.as_int() not in (1, -1):
            return False
        strict = e.data in ("lt", "ge")
        if c.as_int() == -1:  # -v + rest < 0 is v - rest - 1 >= 0
            d, strict = -d, not strict
        rest = d.without(v) if strict else d.without(v) - 1
        return multiple(rest, lanes, self.hint)

    def _steady(self, f: Fusion, s: GpuSchedule) -> bool:
        """Whether there are quotients of positions, and all lanes of a vector have the same."""
        v = next((a for a in f.axes if a.name == s.vector), None)
        return v is not None and not s.anchor and steady(f, v, s.lanes, self.hint)

    def _permuted(self, f: Fusion, s: GpuSchedule) -> frozenset[str]:
        """The buffers of which lanes are taken out of whole vectors, all of those aligned."""
        if s.anchor or s.mode in ("collect", "place"):
            return frozenset()
        along = {s.vector: (s.lanes, s.steady, s.uniform), s.across: (s.turned, False, False)}
        fits: dict[str, bool] = {}
        for v in [a for a in f.axes if along.get(a.name, (1,))[0] > 1]:
            found: dict[str, list[Windows]] = {}
            for e in loads(f):
                w = windows_of(e, v, *along[v.name])
                if w is not None:
                    found.setdefault(e.data[0], []).append(w)
            for b, ways in found.items():
                fits[b] = fits.get(b, True) and fewer(ways) and all(self._inside(f, b, w) for w in ways)
        return frozenset(b for b, all_fit in fits.items() if all_fit)

    def _inside(self, f: Fusion, buffer: str, w: Windows) -> bool:
        """Whether windows are aligned, and all of their elements in the buffer."""
        return fit(w, next(b for b in f.buffers if b.name == buffer), self.alignment(buffer), self.hint)

    def _whole(self, f: Fusion, s: GpuSchedule) -> bool:
        """Whether no vector of a tile is partial."""
        v = next((a for a in f.axes if a.name == s.vector), None)
        if s.mode != "tile" or s.anchor or not s.cols:
            return False
        return s.lanes == 1 or (v is not None and v.extent is not None and self.hint(v.extent) % s.lanes == 0)

    def facts(self, f: Fusion, s: GpuSchedule) -> GpuSchedule:
        """`s` with what holds for these sizes, but for what is `aligned`."""
        s = replace(s, uniform=self._uniform(f, s), steady=self._steady(f, s), whole=self._whole(f, s))
        return replace(s, permuted=self._permuted(f, s))

    # --- vectors ---
    def _lanes(self, f: Fusion, v: Atom, exact: bool) -> tuple[int, frozenset[str]]:
        """(width of the vectors along `v`, buffers whose vectors are aligned).

        As wide as 16 bytes of the narrowest type that matters, but no wider than what keeps the large accesses aligned.
        exact: the width divides the extent of `v`.
        """
        walks = self.walks(f, v, None)
        lanes = self._width(f, v, walks, exact)
        return lanes, self.aligned(walks, {v: lanes})

    def _width(self, f: Fusion, v: Atom, walks: list[Walk], exact: bool, strided: bool = True) -> int:
        """The width of vectors along `v`, see above, of which `walks` are the accesses. `strided`: whether others, that
        stride along `v`, are of such vectors, too."""
        large = self.large(walks)
        lanes = widest(d for _, _, d, _ in large)
        extent = self.hint(v.extent) if v.extent is not None else 1
        while lanes > 1 and exact and extent % lanes:
            lanes //= 2
        while lanes > 1 and not exact and extent < lanes:
            lanes //= 2
        while lanes > 1 and not all(self._fits(*w, lanes) for w in large):
            lanes //= 2
        while strided and lanes > 1 and any(lanes * n > APART for n in self._strided(f, v, walks, lanes)):
            lanes //= 2
        return lanes

    def aligned(self, walks: list[Walk], lanes: Mapping[Atom, int]) -> frozenset[str]:
        """The buffers of these accesses all vectors of which are aligned, so many `lanes` along each axis."""
        vectors = [w for w in walks if lanes[w[3]] > 1]
        return frozenset(w[0] for w in vectors) - {w[0] for w in vectors if not self._fits(*w, lanes[w[3]])}

    def _strided(self, f: Fusion, v: Atom, walks: list[Walk], lanes: int = 1) -> list[int]:
        """Bytes between neighbours along `v` in large accesses that take some of the elements of a sector only, and
        lane by lane."""
        most = max((self.size([*o.all_axes()]) for _, o, _, _ in walks), default=0)
        out = []
        single = {s.kind for s in f.stages} & {"collect"} or lanes == 1
        read: dict[tuple[str, Ix], list[Expr]] = {}
        for e in loads(f):
            read.setdefault(e.data[:2], []).append(e)
        for b, o, d in accesses(f):
            c = o.coefficient(v, within=True) if v in o.axes() else None
            if c is not None and c is not ONE and 4 * self.size([*o.all_axes()]) >= most:
                n = abs(self.hint(c)) * d.itemsize
                found = read.get((b, o), [])
                taken = found and not single and all(self._taken(f, e, v, lanes) for e in found)
                if d.itemsize < n < SECTOR and not taken:
                    out.append(n)
        return out

    def _taken(self, f: Fusion, e: Expr, v: Atom, lanes: int) -> bool:
        """Whether the lanes of a load of something large can be taken out of two whole vectors, or one."""
        w = windows_of(e, v, lanes, steady=True, uniform=False)
        return w is not None and len(w.starts) <= 2 and fewer([w]) and self._inside(f, e.data[0], w)

    def large(self, walks: list[Walk]) -> list[Walk]:
        """Those that matter: as large as others, about."""
        traffic = {o: self.size([*o.all_axes()]) for _, o, _, _ in walks}
        most = max(traffic.values(), default=0)
        return [w for w in walks if 4 * traffic[w[1]] >= most]

    def walks(self, f: Fusion, v: Atom, other: Atom | None) -> list[Walk]:
        """(buffer, offset, type, axis) of the accesses with unit stride along `other`, or along `v`, there at least as
        far as no quotient changes, which is pairs or more."""
        out = []
        for b, o, d in accesses(f):
            if v in o.axes() and o.coefficient(v, within=True) is ONE and steady_in(o, v, 2, self.hint):
                out.append((b, o, d, v))
            if other is not None and other in o.axes() and o.coefficient(other) is ONE:
                out.append((b, o, d, other))
        return out

    def _fits(self, buffer: str, offset: Ix, dtype: DType, v: Atom, lanes: int) -> bool:
        """Whether vectors of this access, whose position along `v` is a multiple of `lanes`, are aligned."""
        if self.alignment(buffer) % min(ACCESS, lanes * dtype.itemsize):
            return False
        return multiple(offset.without(v), lanes, self.hint) and steady_in(offset, v, lanes, self.hint)


def widest(dtypes: Iterable[DType]) -> int:
    """Lanes of vectors of 16 bytes of the narrowest of these types."""
    itemsizes = [d.itemsize for d in dtypes if d is not bool_] or [4]
    return max(1, min(8, ACCESS // min(itemsizes), 2 * ACCESS // max(itemsizes)))


def pieces(f: Fusion) -> int:
    """Blocks for each multiprocessor, among which the columns of few rows are divided: those that scan are half as
    large."""
    return PIECES * (2 if f.scans() else 1)


def sides(s: GpuSchedule) -> tuple[int, int]:
    """Points of a staged tile along `across`, and along the vector axis."""
    v = s.col_threads * s.lanes
    return STAGE * STAGE // v, v


def beside(s: GpuSchedule) -> int:
    """Resident blocks for each multiprocessor. Their registers are bounded, so that all do fit."""
    return 1 if s.alone else max(1, 1024 // s.threads)


def resident_blocks(s: GpuSchedule, tiles: int, fit: int) -> int:
    """How many blocks share the rows of a resident kernel, if `fit` of them run at once.

    In a loop a block asks for no row while it works on another, and leaves few numbers, so that there may be more of
    them than fit: one that begins when another has ended goes to a multiprocessor that is ahead. With equal shares of
    few long rows all would wait for the slowest.
    """
    if s.mode == "loop":
        most = max(fit, PARTS)
        fit = -(-tiles // max(1, -(-tiles // most)))
    return max(1, min(tiles, fit))


def linear(axes: Sequence[Atom]) -> Ix:
    """The number of a point among all points of `axes`, outermost first."""
    out = ix(0)
    for a in axes:
        assert a.extent is not None
        out = out * a.extent + a.ix
    return out


def begin(offset: Ix, axes: Sequence[Atom]) -> Ix | None:
    """Where an access begins that takes memory in the order of `axes`, without gaps; None if this one does not."""
    rest = offset - linear(axes)
    return None if any(a.kind != "sym" for a in rest.atoms()) else rest


def draws(f: Fusion) -> bool:
    """Whether there are random numbers."""
    return any(e.kind == "random" for e in sc.walk([s.body for s in f.stages]))


def reach(b: Buffer, hint: Hint) -> int:
    """The distance from a buffer's first element to its last, in elements; negative if it has none."""
    return sum((hint(n) - 1) * abs(hint(s)) for n, s in zip(b.shape, b.strides, strict=True))


def finds_positions(stages: Iterable[Stage]) -> bool:
    """Whether one of these reductions gives the position of an extreme."""
    return any(r.monoid in ARG_MONOIDS for r in stages)


def whole_scans(f: Fusion) -> str:
    """Why rows that are scanned cannot be cut over blocks, or "": what chunks combine to is found in any order, and
    before any scan is."""
    scans = f.scans()
    if any(s.monoid in ORDERED for s in scans):
        return "the last of equal extremes is found in order"
    return "a scan of a scan" if any(s.body.stages & {x.name for x in scans} for s in scans) else ""


def arithmetic(f: Fusion) -> int:
    """Instructions that a point takes, of all stages."""
    return sum(e.cost for e in sc.walk([s.body for s in f.stages]))


def row_load(e: Expr, rows: Sequence[Atom], cols: Sequence[Atom]) -> bool:
    """Whether `e` is read from memory, for every row and column anew: what shared memory can hold of a row."""
    return e.kind == "load" and bool(e.axes & set(rows)) and e.axes >= set(cols)


def accesses(f: Fusion, stores: bool = True) -> list[tuple[str, Ix, DType]]:
    """(buffer, offset, stored type) of every load, and store."""
    out = [e.data for e in loads(f)]
    if stores:
        out += [(s.buffer, s.offset, s.dtype) for s in f.stores()]
    return out
