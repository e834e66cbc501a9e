"""CPU schedules: which axes are rows, which are columns, what is vectorised.

Every CPU kernel has one shape of loop nest, of which the usual families are special cases:

    parallel over rows (contiguous ranges of the row axes, one range per thread)
      pass 0..n: loops over the column axes; a pass computes the reductions the next one needs
    combine: what was reduced over rows, from every thread's partial result

`vector` is the axis whose consecutive points fill vector lanes: a column axis (softmax along a contiguous row), or
a row axis (softmax down a column: sixteen columns at a time). In a kernel that scatters, threads do not divide the
rows but the target (`schedule/scatter.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..core.dtypes import CACHE_LINE
from ..core.errors import Refusal
from ..fusion import scalar as sc
from ..fusion.collapse import collapse, continued, parted
from ..fusion.ir import Fusion, Stage
from ..index.expr import ONE, Atom, Ix
from ..index.layout import product
from ..prims.table import ARG_MONOIDS
from .analysis import Analysis
from .cpu_blocks import in_blocks, sharing
from .forms import axes, flag, name, names, owner, render, sizes, some, vector
from .quotients import divides, multiple
from .scatter import arrange
from .short import fills, rows_through, scanned_rows, short_rows
from .tall import main_phase, rows_as_one
from .turned import SHORT, WIDE, goes_back, known_few, lined, tile, turned_stores

CHUNK = 8192  # points of a column axis that one row of work covers, when rows may be cut
LONG = 1 << 16  # the same where there are rows enough for all threads: pieces of all rows come one after the other
TILE = (16, 256)  # the same for the two axes of a transpose: what is read across stays in the first-level cache
BESIDE = 256  # rows of few points of a tile: a first-level cache has all that they read and write
ALIKE = 8  # points that a vector has one after the other, at most, where most is computed for all of them
DEAR = 100  # what is computed of a point then, at least
MATRIX = 8, 56  # points of an axis of a matrix that has a lane, and of all of it, at most
MATRIX_OF_WIDE = 7, 25  # the same of elements of eight bytes
MANY = 8  # vectors of such matrices, at least
PAIR = 2  # points of a row that is looked up which lanes take one by one
NEVER = 1 << 62  # bytes of a cache past which nothing is written
OWN = 8 << 20  # bytes of caches that a thread has, where vectors are so wide
SHARE = 32 << 20  # bytes of the last-level cache that a thread has, at most
FED = 4  # vectors of rows for each thread from which on they are enough
AT_ONCE = {"rows": "abreast", "columns": "steps", "runs": "runs"}  # what `unroll` is of
ACCUMULATE_LIMIT = 1 << 16  # columns whose partial sums a thread keeps beside it (they should stay in L2)


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a Fusion runs on a CPU. Axis names refer to the (collapsed) fusion it comes with.

    `rows`, `cols`: axes outermost first; `vector`: the vectorised axis ("" for scalar code); `lanes`: its width;
    `split`: column axes that are cut into chunks of so many points; the chunks join the rows, so no reduction may
    need a whole row; `stream`: outputs written past the caches;
    `turn`: the axis of tiles, or the column axis of rows in lanes, along which memory lies side by side that is read or
    written across, which passes through scratch ("" for none: lanes gather and scatter);
    `family`: the name of this kind of kernel, for people; `owner`: of a scatter, the axis or the run-time coordinate of
    the target that threads divide (None: one thread does it); `abreast`: vectors of rows at a time, where rows fill the
    lanes (0: one), `steps`: columns at a time of single ones that reduce (0: one); `shared`: what is dear and the
    same in all rows is computed once by each thread, and kept; `runs`: how many rows are taken as one, in a phase of
    their own (0: there is none; `tall.py`); `before`, `after`: of the fusions around it.
    """

    rows: tuple[str, ...] = field(
        metadata=axes("bind({axis}, parallel)", "bind({axis}, ordered)", pick=lambda s: int(s.scatters))
    )
    cols: tuple[str, ...] = field(
        metadata=axes("bind({axis}, serial)", keep=lambda a, s: not (a == s.vector == s.cols[-1]))
    )
    vector: str = field(metadata=vector("bind({axis}, vector, {n})"))
    lanes: int
    split: tuple[tuple[str, int], ...] = field(metadata=sizes("split({axis}, {n})"))
    family: str
    stream: frozenset[str] = names("hint({buffer}, streaming)")
    owner: str | int | None = owner("divide({axis}, parallel)", "divide(coordinate {n}, parallel)")
    turn: str = name("stage_in({axis}, thread)", "")
    before: tuple[Schedule, ...] = ()
    after: tuple[Schedule, ...] = ()
    abreast: int = some("unroll(rows, {n})")
    steps: int = some("unroll(columns, {n})")
    shared: bool = flag("keep(columns, scratch)")
    runs: int = some("unroll(runs, {n})")

    @property
    def scatters(self) -> bool:
        """Whether this is a scatter's nest, in which every thread visits all rows in order."""
        return self.family.endswith("scatter")

    def streaming(self, keep: Callable[[str], bool]) -> Schedule:
        """Without the streaming stores to outputs that `keep` does not want."""
        parts = [tuple(s.streaming(keep) for s in part) for part in (self.before, self.after)]
        return replace(self, stream=frozenset(filter(keep, self.stream)), before=parts[0], after=parts[1])

    def directives(self) -> list[str]:
        """The schedule as directives, in text (`text.py` has the form that can be read back)."""
        return [
            *(f"before: {d}" for s in self.before for d in s.directives()),
            *render(self),
            *(f"after: {d}" for s in self.after for d in s.directives()),
        ]


@dataclass(frozen=True, slots=True)
class Machine:
    """What schedules depend on: vector `lanes` of 32-bit elements, bytes of the last-level `cache`, `threads`."""

    lanes: int
    cache: int
    threads: int = 1

    @property
    def share(self) -> int:
        """Bytes of the last-level cache that its threads have: those of servers are shared by tens of cores, of which
        a virtual machine may have two and see the whole."""
        return self._at_most(SHARE)

    @property
    def own(self) -> int:
        """Bytes of caches that are near enough to its threads for tiles of a transpose: those of servers have a last
        level that is large, shared by many, and far."""
        return self._at_most(OWN) if self.lanes >= WIDE else self.cache

    def _at_most(self, each: int) -> int:
        """Bytes of the last-level cache, so many for each thread at most."""
        return self.cache if self.cache >= NEVER else min(self.cache, each * self.threads)


def plan(f: Fusion, hint: Callable[[Ix], int], machine: Machine) -> tuple[Fusion, Schedule]:
    """Choose a schedule. `hint` estimates a size.

    Raises Refusal when no CPU loop nest can run the fusion in one kernel.
    """
    if f.scatters():
        return _scatter(f, hint, machine)
    whole = f
    f, schedule = _Planner(f, hint, machine).run()
    if all(s.kind == "store" for s in f.stages) and divides(whole, schedule) is not None:
        f, schedule = _parted(whole, hint, machine) or (f, schedule)
    runs = rows_as_one(f, schedule, hint)
    if runs:
        schedule = replace(schedule, runs=runs)
        return f, replace(schedule, stream=_streamed(*main_phase(f, schedule), hint, machine))
    schedule = sharing(f, in_blocks(f, schedule, hint, machine), hint, machine)
    return f, replace(schedule, stream=_streamed(f, schedule, hint, machine))


def _parted(f: Fusion, hint: Callable[[Ix], int], machine: Machine) -> tuple[Fusion, Schedule] | None:
    """An elementwise fusion with its axes cut so that no lanes divide, and its schedule, if that has whole vectors."""
    cut = parted(f)
    if cut is None:
        return None
    g, schedule = _Planner(cut, hint, machine).run()
    v = next((a for a in g.axes if a.name == schedule.vector), None)
    full = v is not None and v.extent is not None and hint(v.extent) >= machine.lanes
    return (g, schedule) if full and divides(cut, schedule) is None else None


def _scatter(f: Fusion, hint: Callable[[Ix], int], machine: Machine) -> tuple[Fusion, Schedule]:
    before, after = ([plan(g, hint, machine) for g in part] for part in (f.before, f.after))
    f, nest = arrange(f, hint, machine.lanes)
    f = replace(f, before=[g for g, _ in before], after=[g for g, _ in after])
    lanes = machine.lanes if nest.vector else 1
    schedule = Schedule(nest.rows, nest.cols, nest.vector, lanes, (), "scatter", owner=nest.owner)
    return f, replace(schedule, before=tuple(s for _, s in before), after=tuple(s for _, s in after))


def _streamed(f: Fusion, schedule: Schedule, hint: Callable[[Ix], int], machine: Machine) -> frozenset[str]:
    """Outputs to write past the caches: a traffic too large to be read back from them, in lines of memory. (A mean over
    the middle of 32x512x784 float32, taken off: 7.0 and 2.5 ms.)"""
    if schedule.vector not in (schedule.rows if schedule.abreast else schedule.cols):
        return frozenset()
    v = next(a for a in f.axes if a.name == schedule.vector)
    alone = lined_past(f, v, hint, machine) if schedule.turn else None
    if alone is None and traffic(f, hint) < machine.share:
        return frozenset()
    found = set()
    for s in f.stores():
        if set(s.axes) != set(f.axes) or not (s is alone or past(s, schedule)):
            continue
        assert s.offset is not None
        if s is alone or multiple(s.offset.without(v), CACHE_LINE // s.dtype.itemsize, hint):
            found.add(s.buffer)
    return frozenset(found)


def traffic(f: Fusion, hint: Callable[[Ix], int]) -> int:
    """Bytes of all that a fusion reads or writes."""
    return sum(hint(b.numel) * b.dtype.itemsize for b in f.buffers)


def lined_past(f: Fusion, v: Atom, hint: Callable[[Ix], int], machine: Machine) -> Stage | None:
    """The store whose tiles, turned along `v`, are written past the caches in whole lines."""
    return lined(f, v) if machine.lanes >= WIDE and traffic(f, hint) >= machine.own else None


def past(s: Stage, schedule: Schedule) -> str:
    """How vectors of a store can go past the caches, as a hint of Loop IR: "stream" where they are lines of memory,
    or halves that follow each other, whatever the sizes; "unaligned stream" where addresses tell; "": not at all."""
    assert s.offset is not None
    need, of = CACHE_LINE // s.dtype.itemsize, s.offset
    v = next((a for a in of.axes() if a.name == schedule.vector), None)
    together = schedule.lanes * (schedule.abreast or 2)  # loops take several vectors one after the other
    if v is None or of.coefficient(v) is not ONE or together % need or 2 * schedule.lanes % need:
        return ""
    if any(a.kind not in ("axis", "sym") for a in of.atoms()):
        return ""
    known = multiple(of.without(v), need) and not dict(schedule.split).get(v.name, 0) % need
    return "stream" if known else "unaligned stream"


class _Planner(Analysis):
    def __init__(self, f: Fusion, hint: Callable[[Ix], int], machine: Machine):
        super().__init__(f, hint)
        self.machine = machine
        self.lanes = machine.lanes

    def run(self) -> tuple[Fusion, Schedule]:
        f = self.f
        reductions = f.reductions()
        scans = f.scans()
        if scans:
            return self._scan(scans)
        if not reductions:
            return self._pointwise()
        inner = self.row_used(reductions)
        if inner:
            cols = set(inner[0].raxes)
            if any(set(r.raxes) != cols for r in inner):
                raise Refusal("schedule", "reductions over different axes feed each other")
        else:
            cols = self._free_choice(reductions)
        return self._rows(cols)

    def _free_choice(self, reductions: list[Stage]) -> set[Atom]:
        """Column axes when no reduction's result is needed within its row."""
        main = max(reductions, key=lambda r: self.hint(product(a.extent for a in (*r.axes, *r.raxes))))
        for r in reductions:
            if r.monoid in ARG_MONOIDS:  # positions are found within a row only
                return set(r.raxes)
        reduced, rest = set(main.raxes), set(main.axes)
        if self.unit in reduced or not rest:
            return reduced
        if self.unit in rest and all(set(r.raxes) == reduced for r in reductions) and self._rows_feed(rest):
            return reduced
        domain = set(self.f.axes)
        if reduced == domain - rest and self.hint(product(a.extent for a in rest)) <= ACCUMULATE_LIMIT:
            return rest
        return reduced

    def _rows_feed(self, rest: set[Atom]) -> bool:
        """Whether rows that are kept, with lanes along memory, are better than partial results of them in each thread:
        there are several runs of them, which a walk over rows would visit in turn, and enough for all threads."""
        f, order = collapse(self.f, self.by_stride(tuple(a for a in self.f.axes if a in rest)))
        unit = Analysis(f, self.hint).unit
        if unit is None or unit not in order:
            return False
        others = self.hint(product(a.extent for a in order if a is not unit))
        vectors = (self.hint(product([unit.extent])) + self.lanes - 1) // self.lanes
        return others > 1 and others * vectors >= FED * self.machine.threads

    # --- families ---
    def _pointwise(self) -> tuple[Fusion, Schedule]:
        stores = self.f.stores()
        if any(set(s.axes) != set(self.f.axes) for s in stores):
            raise Refusal("schedule", "stores of different extents in one elementwise kernel")
        order = self.by_stride(self.f.axes)
        f, order = collapse(self.f, order)
        if not order:
            return f, Schedule((), (), "", 1, (), "pointwise")
        f, order = continued(f, order)
        v = order[-1]
        across = self.across(f, order, v)
        few = self._computed_alike(f, order) if across is None else None
        if few is not None:
            others = tuple(a.name for a in order if a is not few)
            return f, Schedule(others, (few.name,), v.name, self.lanes, (), "pointwise")
        across = across or self._interleaved(f, order)
        beside = None if across else self._beside(f, order)
        across = across or beside
        names = [a.name for a in order]
        if across is None:
            many = self.hint(product(a.extent for a in order[:-1])) >= FED * self.machine.threads
            chunk = ((v.name, LONG if order[:-1] and many else CHUNK),)
            return f, Schedule(tuple(names[:-1]), (v.name,), v.name, self.lanes, chunk, "pointwise")
        if (small := self._small_matrices(f, order, across)) is not None:
            return f, small
        rows = tuple(n for n in names if n not in (across.name, v.name))
        if self.extent(v) < min(2 * self.lanes, self.extent(across)):  # few lanes, or many loops of few vectors
            v, across = across, v
        short = self.extent(across) < SHORT and not turned_stores(f, across, v)
        past = lined_past(f, v, self.hint, self.machine) is not None
        through = None if short else tile(f, across, v, self.extent(across), past, self.lanes)
        turn = across.name if through else ""
        high, wide = through or TILE
        wide = min(wide, BESIDE) if beside else wide
        split = ((across.name, high), (v.name, wide))
        return f, Schedule(rows, (across.name, v.name), v.name, self.lanes, split, "transpose", turn=turn)

    def _small_matrices(self, f: Fusion, order: list[Atom], across: Atom) -> Schedule | None:
        """Lanes for matrices that are small, and transposed: each of them gathers what its points are made of.

        (Of 320000x2x3 float32, one thread: 1.3 ms, where each matrix is a tile of its own 5.5.)
        """
        if self.machine.lanes < WIDE:
            return None
        sizes = [e.data[2].itemsize for e in sc.walk([s.body for s in f.stages]) if e.kind == "load"]
        most, points = MATRIX if max((*sizes, *(s.dtype.itemsize for s in f.stores()))) <= 4 else MATRIX_OF_WIDE
        inner: list[Atom] = []
        for a in reversed(order):
            n = None if a.extent is None else a.extent.as_int()
            if n is None or n > most or n * math.prod(map(self.extent, inner)) > points:
                break
            inner.insert(0, a)
        rows = order[: len(order) - len(inner)]
        if across not in inner or not rows or self.extent(rows[-1]) < MANY * self.lanes:
            return None
        if not fills(f, rows, self.hint, self.lanes):
            return None
        outer, matrix = (tuple(a.name for a in axes) for axes in (rows, inner))
        return Schedule(outer, matrix, rows[-1].name, self.lanes, (), "transpose")

    def _computed_alike(self, f: Fusion, order: list[Atom]) -> Atom | None:
        """The axis of a few points that most of what is computed is the same for, if that is dear: lanes go along the
        innermost, and each vector of it has all of those points (channels of an image in another color space)."""
        every = sc.walk([s.body for s in f.stores()])
        cost = sum(e.cost for e in every)
        if cost < DEAR or any(e.kind == "random" for e in every) or self.extent(order[-1]) < self.lanes:
            return None
        return self.alike(every, (a for a in order[:-1] if 1 < self.extent(a) <= ALIKE))

    def _interleaved(self, f: Fusion, order: list[Atom]) -> Atom | None:
        """The axis that takes lanes if the innermost is that of a few values side by side, made of much else."""
        if len(order) < 2 or self.extent(order[-1]) > SHORT or self.extent(order[-2]) < self.lanes:
            return None
        loads = [e.data[1] for e in sc.walk([s.body for s in f.stages]) if e.kind == "load"]
        found = any(order[-1] in o.axes() and any(a.kind == "value" for a in o.atoms()) for o in loads)
        if found and self.lanes >= WIDE and self.extent(order[-1]) > PAIR:
            return None  # parts of vectors take less than elements one by one
        without = [o for o in self.large_offsets(f) if order[-1] not in o.axes()]
        return order[-2] if without and turned_stores(f, order[-1], order[-2]) else None

    def _beside(self, f: Fusion, order: list[Atom]) -> Atom | None:
        """The axis that takes lanes if rows of few points lie side by side, and what they are made of lies apart."""
        if len(order) < 2 or self.machine.lanes < WIDE:
            return None
        few, v = order[-1], order[-2]
        if not known_few(few) or not fills(f, order[:-1], self.hint, self.lanes) or not turned_stores(f, few, v):
            return None
        for e in sc.walk([s.body for s in f.stages]):
            if e.kind != "load" or v not in e.data[1].axes():
                continue
            of = e.data[1]
            elsewhere = of.coefficient(few) is not ONE or of.coefficient(v) != few.extent
            if any(few in a.axes for a in e.args) or (few in of.axes() and elsewhere):
                return v
        return None

    def extent(self, a: Atom) -> int:
        assert a.extent is not None
        return self.hint(a.extent)

    def _rows(self, cols: set[Atom]) -> tuple[Fusion, Schedule]:
        rows = set(self.f.axes) - cols
        self.check(rows, cols)
        row_order = self.by_stride(tuple(a for a in self.f.axes if a in rows))
        col_order = self.by_stride(tuple(a for a in self.f.axes if a in cols))
        f, row_order = collapse(self.f, row_order)
        f, col_order = collapse(f, col_order)
        unit = Analysis(f, self.hint).unit
        row_reduced = any(set(r.raxes) & set(row_order) for r in f.reductions())
        split = not row_order and len(col_order) >= 1 and not self.row_used(self.f.reductions())
        if any(r.monoid in ARG_MONOIDS for r in self.f.reductions()) or any(c.stages for c, _ in self.f.checks):
            split = False
        vector, turn = col_order[-1], ""
        family = "inner reduction"
        again = bool(self.row_used(f.reductions()))
        if unit in row_order and unit is not None and not row_reduced:
            vector = unit
            family = "outer reduction" if not self.row_used(self.f.reductions()) else "outer persistent"
            row_order = [a for a in row_order if a is not unit] + [unit]
        elif not row_reduced and short_rows(f, row_order, col_order, self.hint, self.lanes, again):
            vector = row_order[-1]
            turn = rows_through(f, vector, col_order, self.hint, self.lanes)
            if self.row_used(f.reductions()):
                family = "inner persistent"
        elif unit in col_order and unit is not None:
            col_order = [a for a in col_order if a is not unit] + [unit]
            vector = unit
            if row_reduced:
                both = any(set(r.raxes) == set(col_order) for r in f.reductions())
                family = "inner+outer reduction" if both else "outer reduction"
            elif self.row_used(f.reductions()):
                family = "inner persistent"
        if split:
            family = "full reduction"
        return f, Schedule(
            tuple(a.name for a in row_order),
            tuple(a.name for a in col_order),
            vector.name,
            self.lanes,
            ((col_order[-1].name, CHUNK),) if split else (),
            family,
            turn=turn,
        )

    def _scan(self, scans: list[Stage]) -> tuple[Fusion, Schedule]:
        cols = self.scanned()
        rows = set(self.f.axes) - cols
        row_order = self.by_stride(tuple(a for a in self.f.axes if a in rows))
        f, row_order = collapse(self.f, row_order)
        unit = Analysis(f, self.hint).unit
        (col,) = cols
        vector = turn = ""
        back = any(goes_back(o, col) for o in self.large_offsets(f))  # then rows lie side by side along what is scanned
        if unit in row_order and unit is not None and not back:
            row_order = [a for a in row_order if a is not unit] + [unit]
            vector = unit.name
        elif scanned_rows(f, row_order, self.hint, self.lanes):
            vector = row_order[-1].name
            turn = rows_through(f, row_order[-1], [col], self.hint, self.lanes)
        return f, Schedule(
            tuple(a.name for a in row_order), (col.name,), vector, self.lanes if vector else 1, (), "scan", turn=turn
        )
