"""Tall tensors: runs of rows as if they were one long row, and several runs at a time.

A row of three columns is a part of a vector, and what has been combined down the columns is read and written for each;
a row of a hundred ends with one. Here so many neighbouring rows are taken as one that it has many whole vectors. What
each column has of its own, as a bias is, is looked up once by each thread, for every place in a run, and kept. Where
columns are reduced, runs (or rows, where they are wide, or apart in memory) are combined four at a time before they
join what is in memory. Rows that are left are a second phase of the kernel, which combines what a reduction has left at
each place, too. There may be several such tensors beside each other (the channels of images, whose pixels are rows):
then a run is one of each.

Two million elements on two threads, ms: the largest down two float32 columns 20, 0.22 now, down 72 columns 0.56, 0.20;
sums down three columns 2.9, 0.22, down 201 0.44, 0.19; `x * w + b` of two bfloat16 columns 1.9, 0.43, of 20 0.44, 0.26.
Sums of 40,000 rows of 512 float32 5.5, 3.4, bfloat16 3.2, 2.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from ..core.dtypes import compute_type, i64
from ..fusion import scalar as sc
from ..fusion.collapse import substitute
from ..fusion.ir import Buffer, Fusion, Stage
from ..fusion.scalar import Expr
from ..index.expr import ONE, ZERO, Atom, Ix, axis
from ..index.layout import row_major
from ..prims.table import ARG_MONOIDS, MONOIDS, partial_type

if TYPE_CHECKING:
    from .cpu import Schedule

WHOLE = 4  # vectors that a loop takes at a time: rows of them, or of a multiple, are stored as they are
NARROW = 16  # vectors of a row from which on what is at its end does not matter
RUN = 2048  # points of a run, at most: partial results are in the cache nearest to a core
PARTIAL = 1 << 16  # results of a thread, at most, where there are several tensors
RUNS = 64  # of a tensor, at least
TOGETHER = ((12, 4), (40, 2))  # runs that are combined at a time, by the instructions for a point
LEAST = 1 << 15  # bytes of the tensor, from which on another phase pays
ANY = 1 << 30  # rows


def rows_as_one(f: Fusion, s: Schedule, hint: Callable[[Ix], int]) -> int:
    """How many rows of `f` to take as one, in a phase of their own; 0 if that is not legal, or does not pay."""
    most, found = most_rows(f, s), f.reductions()
    if not most:
        return 0
    a, others, v = _axes(f, s)
    assert a.extent is not None and v.extent is not None
    points, width, many = hint(a.extent), hint(v.extent), 1
    beside = max(1, prod(hint(o.extent) for o in others if o.extent is not None))
    if points < RUNS or points * beside * width * max((b.dtype.itemsize for b in f.buffers), default=0) < LEAST:
        return 0
    run = min(RUN, PARTIAL // beside)
    while 2 * many <= most and 2 * many * width <= run and 2 * many * RUNS <= points:
        many *= 2
    if found:
        return many if many > 1 or _together(found) > 1 else 0
    ends = width % (WHOLE * s.lanes) and width < NARROW * s.lanes and many * width >= WHOLE * s.lanes
    return many if ends and many > 1 else 0


def most_rows(f: Fusion, s: Schedule) -> int:
    """How many rows of `f` may be one: any number, if they follow one another in memory, column by column; one, which
    is taken together with others, if all is to reduce columns; none (0) if more is done than that, or to compute as
    many points."""
    found = f.reductions()
    if f.before or f.after or f.checks or any(x.kind not in ("reduce", "store") for x in f.stages):
        return 0
    if len(s.rows) != 1 or not s.cols or s.vector != s.cols[-1] or s.turn or (found and s.split):
        return 0
    a, others, v = _axes(f, s)
    if others and not found:
        return 0
    if any(r.raxes != (a,) or set(r.axes) != {*others, v} or r.monoid in ARG_MONOIDS or r.body.stages for r in found):
        return 0
    if any((a in x.axes) == bool(found) or not (found or _flat(x.offset, a, v)) for x in f.stores()):
        return 0
    read = [e for e in sc.walk([x.body for x in f.stages if a in (*x.axes, *x.raxes)]) if a in e.axes]
    if any(e.kind == "random" for e in read):
        return 0
    places = [e for e in read if e.kind in ("load", "index")]
    if all(e.kind == "load" and not e.args and _flat(e.data[1], a, v) for e in places):
        return ANY
    return 1 if found else 0


def _flat(o: Ix | None, a: Atom, v: Atom) -> bool:
    """Whether an offset walks through rows and columns as if they were one."""
    if o is None or any(x.kind in ("div", "value") for x in o.atoms()):
        return False
    return o.coefficient(v) is ONE and o.coefficient(a) is v.extent


def _axes(f: Fusion, s: Schedule) -> tuple[Atom, tuple[Atom, ...], Atom]:
    """That of the rows, those of tensors beside each other, that of the columns."""
    named = {a.name: a for a in f.axes}
    *others, v = (named[c] for c in s.cols)
    return named[s.rows[0]], tuple(others), v


def phases(f: Fusion, s: Schedule) -> tuple[Fusion, Schedule]:
    """The two phases of a kernel that takes `s.runs` rows as one."""
    a, others, v = _axes(f, s)
    outer = s.cols[:-1]
    first = replace(
        s, rows=("run",), cols=(*outer, "place"), vector="place", split=(), runs=0, abreast=0, steps=0, shared=True
    )
    second = replace(first, vector=v.name, shared=False, stream=frozenset(), before=(first,))
    if found := f.reductions():
        return _combined(f, found, a, others, v, s.runs), replace(second, rows=(*outer, v.name), cols=("left",))
    return _behind(f, a, v, s.runs), replace(second, rows=("left",), cols=(v.name,))


def main_phase(f: Fusion, s: Schedule) -> tuple[Fusion, Schedule]:
    """The phase of a kernel that does most of its work."""
    if not s.runs:
        return f, s
    g, t = phases(f, s)
    return g.before[0], t.before[0]


def _behind(f: Fusion, a: Atom, v: Atom, many: int) -> Fusion:
    """The points of the rows behind the last run, after those of runs."""
    assert a.extent is not None
    done = a.extent // many * many
    left = _axis("left", a.extent - done)
    return replace(substitute(f, {a: left.ix + done}), axes=(left, v), before=[substitute(f, _in_runs(a, v, many))])


def _combined(f: Fusion, found: list[Stage], a: Atom, others: tuple[Atom, ...], v: Atom, many: int) -> Fusion:
    """The reduction of what runs leave and of the rows behind the last one, after that of runs."""
    assert a.extent is not None and v.extent is not None
    width, together = v.extent, _together(found)
    done = a.extent // (many * together) * (many * together)
    shape = (*(o.extent for o in others if o.extent is not None), width * many)
    partial: dict[str, Buffer] = {}
    for r in found:
        dtype = partial_type(r.monoid, compute_type(r.dtype))
        partial[r.name] = Buffer(f"partial_{r.name}", dtype, shape, row_major(shape), False)
    left = _axis("left", a.extent - done + many)  # partial results, then the rows
    is_partial = sc.op("lt", sc.index_value(left.ix), sc.const(many, i64))
    is_row = sc.op("ge", sc.index_value(left.ix), sc.const(many, i64))
    rows = _moved(f, found, {a: left.ix + done - many})

    def only_rows(e: Expr) -> Expr:
        if e.kind != "load" or left not in e.axes:
            return e
        name, offset, dtype = e.data
        return sc.load(name, offset, dtype, sc.op("and", e.args[0], is_row) if e.args else is_row)

    def combined(r: Stage) -> Stage:
        body, buffer = rows[r.name].body, partial[r.name]
        part = sc.load(buffer.name, _offset(buffer, others) + left.ix * width + v.ix, buffer.dtype, is_partial)
        row = sc.cast(sc.transformed([body], only_rows)[body], part.dtype)
        return replace(r, raxes=(left,), body=sc.op("where", is_partial, part, row), dtype=buffer.dtype, fused=False)

    def read(e: Expr) -> Expr:
        return sc.cast(sc.stage_value(e.data[0], partial[e.data[0]].dtype, e.axes), e.dtype) if e.kind == "stage" else e

    results = sc.transformed([s.body for s in f.stores()], read)
    stages = [combined(s) if s.kind == "reduce" else replace(s, body=results[s.body]) for s in f.stages]
    before = [_over_runs(f, found, a, others, v, many, together, partial)]
    return replace(f, axes=(*others, v, left), stages=stages, scratch=[*f.scratch, *partial.values()], before=before)


def _together(found: list[Stage]) -> int:
    """How many runs to combine before they join what is in memory, which takes as much as to read one of them."""
    cost = sum(e.cost for e in sc.walk([r.body for r in found]))
    return next((n for most, n in TOGETHER if cost <= most), 1)


def _offset(partial: Buffer, others: tuple[Atom, ...]) -> Ix:
    """Where what is left of one of the tensors beside each other begins."""
    return sum((o.ix * n for o, n in zip(others, partial.strides, strict=False)), ZERO)


def _over_runs(
    f: Fusion,
    found: list[Stage],
    a: Atom,
    others: tuple[Atom, ...],
    v: Atom,
    many: int,
    together: int,
    partial: dict[str, Buffer],
) -> Fusion:
    """The reduction of runs, place by place."""
    parts = [_moved(f, found, _in_runs(a, v, many, together, k)) for k in range(together)]
    run, place = (next(iter(i.axes())) for i in _run_and_place(a, v, many, together))
    stages: list[Stage] = []
    for r in found:
        b, name, combine = partial[r.name], f"{r.name}_runs", MONOIDS[r.monoid].combine
        bodies = [p[r.name].body for p in parts]
        while len(bodies) > 1:
            bodies = [sc.op(combine, *bodies[k : k + 2]) for k in range(0, len(bodies), 2)]
        axes, at = (*others, place), _offset(b, others) + place.ix
        value = sc.stage_value(name, b.dtype, frozenset(axes))
        fused = r.fused and together == 1
        stages.append(replace(r, name=name, axes=axes, raxes=(run,), body=bodies[0], dtype=b.dtype, fused=fused))
        stages.append(Stage("store", f"keep_{r.name}", axes, (), "", value, b.dtype, b.name, at))
    return Fusion((run, *others, place), f.buffers, stages, hosts=f.hosts, exact=f.exact, without=f.without)


def _run_and_place(a: Atom, v: Atom, many: int, together: int) -> tuple[Ix, Ix]:
    assert a.extent is not None and v.extent is not None
    return axis("run", a.extent // (many * together)), axis("place", v.extent * many)


def _in_runs(a: Atom, v: Atom, many: int, together: int = 1, k: int = 0) -> dict[Atom, Ix]:
    """Row and column at a place of the k-th of so many runs."""
    assert v.extent is not None
    run, place = _run_and_place(a, v, many, together)
    row = place // v.extent
    return {a: (run * together + k) * many + row, v: place - row * v.extent}


def _moved(f: Fusion, found: list[Stage], to: dict[Atom, Ix]) -> dict[str, Stage]:
    """The reductions, their operands at other places."""
    return {s.name: s for s in substitute(replace(f, stages=found), to).stages}


def _axis(name: str, extent: Ix) -> Atom:
    return axis(name, extent).terms[0][0][0]
