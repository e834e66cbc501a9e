"""When a CPU schedule is legal for a fusion: what it must say for the one loop nest to compute the same.

The planner makes only legal schedules; those that people write are checked here before they are lowered. A schedule
that passes computes what the fusion means, however slowly.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from ..core.errors import Refusal
from ..fusion import scalar as sc
from ..fusion.collapse import as_one, continued, merged, parted
from ..fusion.ir import Fusion, Stage
from ..index.expr import ONE, Atom
from ..prims.table import ARG_MONOIDS
from .analysis import Analysis
from .cpu import Schedule, past
from .forms import Illegal, spelled
from .gpu_base import GpuSchedule
from .tall import main_phase, most_rows
from .turned import LARGEST, lined, tile, turned, turned_stores

LANES = (2, 4, 8, 16, 32)  # widths of vectors: whole registers, halves of them, or several at a time
ABREAST, STEPS = (2, 4, 8, 16), (2, 4, 8)  # vectors of rows, columns of single ones, at a time (0: one)
RUN = 64  # columns whose random numbers are drawn together: pieces of a vectorised axis start at multiples of it


def fail(s: Any, field: str, values: Sequence[Any], why: str, legal: str = "", which: int = 0) -> NoReturn:
    """Raise Illegal for the directive that gives `field` of `s` the first of `values` (its argument) and the others."""
    directive = spelled(type(s), field, tuple(values), which)
    raise Illegal(directive, str(values[0]) if values else "", why, legal, field)


def listed(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names)) or "none"


# --- axes: those of the fusion, or several of them as one ----------------------------------------


def conform(f: Fusion, s: Any) -> Fusion:
    """`f` with the axes that `s` names, and the fusions before and after it.

    `i0i1` stands for axes i0 and i1 walked as one, `i0q` and `i0r` for quotient and remainder of one that views take
    apart. Raises Illegal when there is no such axis.
    """
    if isinstance(s, Schedule):
        parts = []
        for when, fusions, schedules in (("before", f.before, s.before), ("after", f.after, s.after)):
            if len(fusions) != len(schedules):
                why = f"the kernel has {len(fusions)} fusions {when} the scatter, not {len(schedules)}"
                raise Illegal(when, "", why, field=when)
            parts.append([conform(g, x) for g, x in zip(fusions, schedules, strict=True)])
        if f.before or f.after:
            f = replace(f, before=parts[0], after=parts[1])
    if isinstance(s, Schedule) and any(_pieces(name, list(f.axes)) is None for name in (*s.rows, *s.cols)):
        f = parted(f) or f
    seen: set[str] = set()
    for field in ("rows", "cols"):
        for name in getattr(s, field):
            if name in seen:
                fail(s, field, [name], "the axis has two places in the nest", "one of them")
            seen.add(name)
            if all(a.name != name for a in f.axes):
                f = _as_one(f, s, field, name)
    missing = [a.name for a in f.axes if a.name not in seen]
    if missing:
        fail(s, "cols", [missing[0]], "this axis has no place in the nest", f"a bind for each of {listed(missing)}")
    return f


def _as_one(f: Fusion, s: Any, field: str, name: str) -> Fusion:
    atoms = _pieces(name, list(f.axes))
    if atoms is None:
        fail(s, field, [name], "the fusion has no such axis", listed(a.name for a in f.axes))
    f, order = merged(f, atoms)
    pointwise = all(x.kind == "store" for x in f.stages)
    if len(order) > 1 and isinstance(s, GpuSchedule) and s.mode == "tile" and pointwise:
        f, one = as_one(f, order)
        order = [one]
    if isinstance(s, Schedule) and pointwise:
        f, order = continued(f, order)
    if len(order) != 1:
        why = "these axes cannot be one: some access does not walk them together"
        fail(s, field, [name], why, listed(a.name for a in order))
    return f


def _pieces(name: str, axes: list[Atom]) -> list[Atom] | None:
    """The axes whose names make up `name`, in order."""
    if not name:
        return []
    for a in axes:
        if name.startswith(a.name):
            rest = _pieces(name[len(a.name) :], [x for x in axes if x is not a])
            if rest is not None:
                return [a, *rest]
    return None


# --- rows and columns ----------------------------------------------------------------------------


def nest_error(f: Fusion, rows: set[Atom], cols: set[Atom]) -> str:
    """Why these are no rows and columns for `f`, or ""."""
    scans = f.scans()
    for s in scans:
        if set(s.raxes) != cols or len(cols) != 1:
            return "the scanned axis must be the only column axis"
        if set(s.axes) != set(f.axes):
            return "a scan over part of the axes"
    reductions = f.reductions()
    try:
        Analysis(f, lambda e: 1).check(rows, cols)
    except Refusal as refusal:
        return refusal.detail
    for r in reductions:
        raxes, axes = set(r.raxes), set(r.axes)
        if scans and raxes & rows:
            return "a reduction over rows beside a scan"
        if r.monoid in ARG_MONOIDS and len(r.raxes) != 1:
            return "the position of an extreme along more than one axis"
        if not (raxes == cols and axes == rows) and axes and (axes != cols or raxes != rows):
            return "a reduction over rows that does not have all columns"
    if not reductions and not scans and any(set(s.axes) != set(f.axes) for s in f.stores()):
        return "stores of different extents in one elementwise kernel"
    return ""


def legal_nests(f: Fusion) -> str:
    """The ways to divide the axes into rows and columns, for messages."""
    out = []
    for n in range(len(f.axes) + 1):
        for rows in itertools.combinations(f.axes, n):
            cols = [a for a in f.axes if a not in rows]
            if not nest_error(f, set(rows), set(cols)):
                out.append(f"rows ({listed(a.name for a in rows)}) and columns ({listed(a.name for a in cols)})")
    return ", or ".join(out[:6])


def over_rows(f: Fusion, rows: Collection[Atom], cols: Collection[Atom]) -> list[Stage]:
    """The reductions that combine rows."""
    return [r for r in f.reductions() if set(r.raxes) != set(cols) or set(r.axes) != set(rows)]


def check_vector(s: Any, lanes: Sequence[int]) -> None:
    """`vector` is an axis of the nest, and `lanes` one of the widths; 1 without a vector axis."""
    if s.vector and s.vector not in (*s.rows, *s.cols):
        legal = listed((*s.rows, *s.cols))
        fail(s, "vector", [s.vector, s.lanes], "no loop of the nest is over this axis", legal)
    if s.vector and s.lanes not in lanes:
        directive = spelled(type(s), "vector", (s.vector, s.lanes))
        raise Illegal(directive, str(s.lanes), "not a width of vectors", listed(lanes), "vector")
    if not s.vector and s.lanes != 1:
        raise Illegal("lanes", str(s.lanes), "lanes without a vector axis", "1", "vector")


# --- the whole schedule --------------------------------------------------------------------------


def check(f: Fusion, s: Schedule, anywhere: Collection[str] = ()) -> Fusion:
    """`f` with the axes that `s` names, if `s` is legal for it.

    `anywhere`: buffers that may start at any address, which are not written past the caches. Raises Illegal.
    """
    f = conform(f, s)
    for g, x in (*zip(f.before, s.before, strict=True), *zip(f.after, s.after, strict=True)):
        check(g, x, anywhere)
    check_vector(s, LANES)
    by_name = {a.name: a for a in f.axes}
    rows, cols = [by_name[n] for n in s.rows], [by_name[n] for n in s.cols]
    v = by_name.get(s.vector)
    if v in cols and v is not cols[-1]:
        others = listed(n for n in s.cols if n != s.vector)
        fail(
            s, "vector", [s.vector, s.lanes], "a vectorised column axis is the innermost", f"order {others}, {s.vector}"
        )
    if f.scatters():
        _check_scatter(f, s, rows, cols, v)
    else:
        _check_nest(f, s, rows, cols, v)
    _check_blocks(s)
    if s.runs > (most := most_rows(f, s)):
        why = "rows do not follow one another in memory, or not all is to reduce them or to compute their points"
        fail(s, "runs", [s.runs], why, f"at most {most}" if most else "no such unroll")
    _check_split(f, s, rows, cols)
    _check_stream(*main_phase(f, s), anywhere)
    _check_turn(f, s, cols, v)
    return f


def _check_nest(f: Fusion, s: Schedule, rows: list[Atom], cols: list[Atom], v: Atom | None) -> None:
    if s.owner is not None:
        which = int(isinstance(s.owner, int))
        fail(s, "owner", [s.owner], "only the target of a scatter is divided", "no divide", which)
    why = nest_error(f, set(rows), set(cols))
    if why:
        field, name = ("rows", s.rows[0]) if s.rows else ("cols", s.cols[0] if s.cols else "")
        fail(s, field, [name] if name else [], why, legal_nests(f))
    if f.scans() and v is not None and v not in rows:
        fail(s, "vector", [s.vector, s.lanes], "points of a scan wait for each other", listed(s.rows))
    if v in rows and over_rows(f, rows, cols):
        why = "what is reduced over rows is not kept lane by lane"
        fail(s, "vector", [s.vector, s.lanes], why, f"a column axis: {listed(s.cols)}")


def _check_blocks(s: Schedule) -> None:
    for field, n, most in (("abreast", s.abreast, ABREAST), ("steps", s.steps, STEPS)):
        if n and (s.vector not in s.rows or s.scatters):
            fail(s, field, [n], "rows do not fill the lanes", "no such unroll")
        if n and n not in most:
            fail(s, field, [n], "not a number of vectors or columns at a time", listed((1, *most)))
    if s.shared and (s.vector not in s.cols or s.scatters or s.turn):
        why = "lanes are not along columns, the rows are scattered, or there are tiles"
        fail(s, "shared", [], why, "no such keep")


def _check_split(f: Fusion, s: Schedule, rows: list[Atom], cols: list[Atom]) -> None:
    random = any(e.kind == "random" for e in sc.walk([x.body for x in f.stages]))
    seen: set[str] = set()
    for name, n in s.split:
        if name not in s.cols or name in seen:
            why = "cut already" if name in seen else "only column axes are cut"
            fail(s, "split", [name, n], why, listed(c for c in s.cols if c not in seen))
        seen.add(name)
        step = RUN if random and name == s.vector else 1
        if n < 1 or n % step:
            directive = spelled(Schedule, "split", (name, n))
            legal = "any number from 1 on" if step == 1 else f"multiples of {RUN}, as random numbers are drawn"
            raise Illegal(directive, str(n), "not a length of pieces", legal, "split")
    if not s.split:
        return
    why = ""
    if f.scatters() or f.scans():
        why = "a scan or scatter visits whole rows"
    elif any(set(r.raxes) == set(cols) and r.axes for r in f.reductions()):
        why = "a reduction needs the whole row"
    elif any(r.monoid in ARG_MONOIDS for r in f.reductions()):
        why = "the position of an extreme is found within a row"
    elif any(c.stages for c, _ in f.checks):
        why = "an index depends on a reduction of the row"
    elif rows and any(set(x.axes) == set(rows) for x in f.stores()):
        why = "every piece would store the result of the row"
    elif f.reductions() and any(x.body.stages and set(x.axes) == set(f.axes) for x in f.stores()):
        why = "a stored value waits for a reduction of the row"
    if why:
        fail(s, "split", list(s.split[0]), why, "no split")


def _check_stream(f: Fusion, s: Schedule, anywhere: Collection[str]) -> None:
    inside = s.vector in (s.rows if s.abreast else s.cols)
    whole = {x.buffer: x for x in f.stores() if set(x.axes) == set(f.axes)} if inside else {}
    alone = lined(f, next(a for a in f.axes if a.name == s.vector)) if s.turn and whole else None
    legal = [b for b, x in whole.items() if b not in anywhere and (x is alone or (past(x, s) and not f.scatters()))]
    for b in sorted(s.stream):
        if b not in legal:
            why = "its vectors are no whole cache lines" if b in whole else "not stored vector by vector"
            fail(
                s,
                "stream",
                [b],
                "it may start anywhere in memory" if b in anywhere else why,
                listed(legal) if legal else "no such hint",
            )


def _check_turn(f: Fusion, s: Schedule, cols: list[Atom], v: Atom | None) -> None:
    if not s.turn:
        return
    pieces = dict(s.split)
    why, legal = "", "no stage_in"
    if v is not None and v not in cols:
        if [s.turn] != list(s.cols):
            why = "not the only column axis of rows that fill the lanes"
            legal = listed(s.cols[:1] if len(cols) == 1 else ())
        elif pieces or s.abreast:
            why = "rows that fill the lanes pass through scratch whole, one vector of them at a time"
        elif not turned(f, cols[0], v, s.lanes, rows=True) and not turned_stores(f, cols[0], v, rows=True):
            why = "nothing lies side by side along this axis only"
    elif any(x.kind != "store" for x in f.stages):
        why = "only elementwise kernels have tiles"
    elif len(cols) < 2 or v is not cols[-1]:
        why = "a tile is two column axes, of which the inner one is vectorised"
    elif s.turn != s.cols[-2]:
        why, legal = "not the axis around the vectorised one", s.cols[-2]
    elif not {s.turn, s.vector} <= pieces.keys():
        why, legal = "a tile needs ends along both of its axes", f"split {s.turn} and {s.vector}"
    elif pieces[s.turn] * pieces[s.vector] > LARGEST:
        why, legal = "the tile is too large for scratch", f"at most {LARGEST} points"
    elif tile(f, cols[-2], cols[-1], 1, lanes=s.lanes) is None:
        why = "nothing lies side by side along this axis only"
    if why:
        fail(s, "turn", [s.turn], why, legal)


def _check_scatter(f: Fusion, s: Schedule, rows: list[Atom], cols: list[Atom], v: Atom | None) -> None:
    (st,) = f.scatters()
    t = st.target
    assert t is not None
    inside = {a for r in f.reductions() for a in r.raxes}
    if inside and inside != set(cols):
        fail(s, "rows", s.rows[:1], "columns are what is reduced", f"columns {listed(sorted(a.name for a in inside))}")
    tied = [a for a in (*rows, *cols) if a not in t.free and a in st.axes]
    steps = [a for a in _source_order(f, st) if a in tied]
    if tied != steps:
        why = "points that meet must be combined in the order of the source"
        fail(s, "rows", [tied[0].name], why, f"loops in the order {listed(a.name for a in steps)}")
    if v is not None and v in st.axes and not contiguous(st, v):
        why = "lanes would meet, or are not neighbours in the target"
        fail(s, "vector", [v.name, s.lanes], why, listed(a.name for a in f.axes if contiguous(st, a)))
    if v in rows:
        fail(s, "vector", [s.vector, s.lanes], "rows of a scatter are visited one by one", listed(s.cols[-1:]))
    if f.axes and not cols:
        fail(s, "rows", s.rows[-1:], "the innermost loop is over columns", f"columns {s.rows[-1]}")
    axes = [a.name for a in (*rows[:1], *(() if inside else cols[-1:])) if a in t.free]
    owners = [*axes, *(f"coordinate {k}" for k in range(len(t.places)))]
    owner = f"coordinate {s.owner}" if isinstance(s.owner, int) else s.owner
    if owner is None and inside:
        raise Illegal("divide", "", "rows are reduced by several threads", listed(owners), "owner")
    if owner is not None and owner not in owners:
        which = int(isinstance(s.owner, int))
        why = "no coordinate of the target that threads can divide"
        fail(s, "owner", [s.owner], why, listed(owners), which)


def contiguous(st: Stage, a: Atom) -> bool:
    """Whether consecutive points along `a` go to consecutive elements of a scatter's target."""
    t = st.target
    assert t is not None and st.offset is not None
    return a in t.free and st.offset.coefficient(a) is ONE and not any(a in p.axes for p, _ in t.places)


def _source_order(f: Fusion, st: Stage) -> list[Atom]:
    """The axes that number the source's points, the largest step first: a product of more extents is larger."""
    t = st.target
    assert t is not None

    def step(a: Atom) -> tuple[int, int]:
        c = t.order.coefficient(a)
        if c is None or not c.terms:
            return (0, 0)
        return max(len(m) for m, _ in c.terms), max(abs(k) for _, k in c.terms)

    return sorted((a for a in f.axes), key=step, reverse=True)
