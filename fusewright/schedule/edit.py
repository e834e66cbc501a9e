"""Directives from Python: a schedule for one fusion, changed step by step, legal at every step.

    s = kernel.schedule.bind("i1", "vector", 8).split("i1", 4096)

An `Edit` is immutable; every directive gives a new one, or raises Illegal, which names the directive and its argument
and says what would be legal. Where one directive alone would leave no legal schedule (rows and columns change places),
`nest` and `apply` make several changes at once. Axes are those of the fusion, or several as one (`i0i1`).

In the equations below, `S` is the work for one point of the axes in scope, and loops are in pseudo-Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.errors import Refusal
from ..core.lexer import Cursor
from ..fusion.ir import Fusion
from ..fusion.structure import structure_hash
from . import cpu, gpu, legal, legal_gpu
from .cpu import AT_ONCE, Machine, Schedule
from .forms import Illegal, read, render, take
from .gpu_base import GpuSchedule, Hint
from .legal import listed
from .legal_gpu import Sizes
from .text import dump

EDITED = "edited "  # how the family of a schedule starts that people have changed: kernels' names tell


@dataclass(frozen=True, slots=True)
class Edit:
    """A legal schedule for `fusion` (as it was built, before axes were merged), whose structure hash is `key`.

    `sizes`: of a GPU schedule, the sizes for which it must be legal; `anywhere`: buffers that may start at any address.
    """

    fusion: Fusion
    schedule: Schedule | GpuSchedule
    key: str = ""
    sizes: Sizes | None = None
    anywhere: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.text().rstrip()

    def text(self) -> str:
        """The schedule as `text.parse` reads it, with the fusion as a comment."""
        return dump(self.schedule, self.key, self.fusion.text())

    def directives(self) -> list[str]:
        """The schedule as directives."""
        return self.schedule.directives()

    def check(self) -> Fusion:
        """The fusion with the schedule's axes. Raises Illegal when the schedule is not legal for it."""
        if isinstance(self.schedule, Schedule):
            return legal.check(self.fusion, self.schedule, self.anywhere)
        assert self.sizes is not None
        try:
            return legal_gpu.check(self.fusion, self.schedule, self.sizes)
        except Refusal as r:
            raise Illegal("schedule", "", r.detail or r.code) from None

    # --- changing it ---
    def changed(self, **fields: Any) -> Edit:
        """With other values of the schedule's fields. Raises Illegal."""
        if all(getattr(self.schedule, k) == v for k, v in fields.items()):
            return self
        family = fields.pop("family", EDITED + self.schedule.family.removeprefix(EDITED))
        s = replace(self.schedule, family=family, **fields)
        if isinstance(s, Schedule) and not fields.keys() & {"abreast", "steps", "shared"}:
            lanes = s.vector in s.rows
            s = replace(s, abreast=s.abreast * lanes, steps=s.steps * lanes, shared=s.shared and s.vector in s.cols)
        if isinstance(s, GpuSchedule):
            assert self.sizes is not None
            if fields.keys() & {"vector", "lanes", "across", "rows", "cols", "anchor"}:  # other vectors, other facts
                f = legal.conform(self.fusion, s)
                s = replace(
                    s,
                    aligned=fields.get("aligned", legal_gpu.aligned(f, s, self.sizes)),
                    uniform=fields.get("uniform", legal_gpu.uniform(f, s, self.sizes)),
                    steady=fields.get("steady", legal_gpu.steady(f, s, self.sizes)),
                    whole=fields.get("whole", legal_gpu.whole(f, s, self.sizes)),
                )
                s = replace(s, permuted=fields.get("permuted", legal_gpu.permuted(f, s, self.sizes)))
        out = replace(self, schedule=s)
        try:
            out.check()
        except Illegal as e:
            new = [d for d in render(s) if d not in render(self.schedule)]
            if e.directive in new or not new:
                raise
            # what is illegal is not what was changed, but what that left as it was
            raise Illegal(e.directive, e.argument, f"{e.why}, after {listed(new)}", e.legal, e.field) from None
        return out

    def apply(self, directives: str) -> Edit:
        """Several directives at once, as text: `apply("bind(i1, parallel) bind(i0, serial)")`.

        What they mention (the rows, say, or the buffers with a hint) is replaced as a whole; axes that no bind mentions
        keep their place. Raises Illegal, ParseError.
        """
        c = Cursor(directives)
        s = self.schedule
        state: dict[str, Any] = {}
        while c.token.kind != "end":
            take(type(s), state, read(c))
        fields = {k: frozenset(v) if isinstance(getattr(s, k), frozenset) else v for k, v in state.items()}
        if fields.keys() & {"rows", "cols", "vector"}:
            rows, cols = fields.get("rows"), fields.get("cols")
            rows = tuple(a for a in s.rows if a not in (cols or ())) if rows is None else rows
            cols = tuple(a for a in s.cols if a not in rows) if cols is None else cols
            v = fields.get("vector", s.vector)
            if v and v not in rows and (v not in cols or isinstance(s, Schedule)):
                cols = (*(a for a in cols if a != v), v)
            fields |= {"rows": rows, "cols": cols}
        return self.changed(**fields)

    def _axis(self, directive: str, axis: str) -> None:
        every = (*self.schedule.rows, *self.schedule.cols)
        if axis not in every:
            raise Illegal(directive, str(axis), "the nest has no such axis", listed(every))

    def _only(self, kind: type, directive: str) -> None:
        if type(self.schedule) is not kind:
            where = "GPU" if kind is GpuSchedule else "CPU"
            raise Illegal(directive, "", f"only {where} schedules have this directive")

    # --- both targets ---
    def bind(self, axis: str, to: str, n: int | None = None) -> Edit:
        """What runs an axis: `for i in range(extent): S`  becomes

        | to | after |
        | --- | --- |
        | "parallel" (CPU) | a row axis: `for i in this_thread's_range: S` |
        | "serial" (CPU) | a column axis: the loop, within every row |
        | "grid" (GPU) | a row axis: blocks; `n` rows to a block (as `threads(rows=n)`) |
        | "threads" (GPU) | a column axis: the threads of a block, `n` to a row (as `threads(columns=n)`) |
        | "vector" | `for i in range(0, extent, n): S[i : i + n]`, the rest masked; n = 1 is scalar code |

        Legal: rows and columns when every reduction combines either the columns of a row or all rows; nothing computed
        in a row may wait for what is reduced over rows. "vector" on a CPU: n is 2, 4, 8, 16 or 32; a column axis
        becomes the innermost; a row axis only if nothing is reduced over rows; a scanned axis never. "vector" on a GPU:
        n is 1, 2, 4 or 8 and, in kernels with reductions and in staged ones, divides the extent.
        """
        directive = f"bind({axis}, {to}{'' if n is None else f', {n}'})"
        self._axis(directive, axis)
        _count(directive, n)
        on_gpu = isinstance(self.schedule, GpuSchedule)
        roles = {"parallel": "rows", "ordered": "rows", "serial": "cols"}
        if on_gpu:
            roles = {"grid": "rows", "threads": "cols"}
        if to == "vector":
            return self._vector(axis, n)
        if to not in roles:
            raise Illegal(directive, str(to), "not what runs an axis", listed((*roles, "vector")))
        more: dict[str, Any] = {}
        if n is not None:
            if not on_gpu:
                raise Illegal(directive, str(n), "only vectors have a width on a CPU", f"bind({axis}, {to})")
            more["row_threads" if to == "grid" else "col_threads"] = n
        rows = [a for a in self.schedule.rows if a != axis]
        cols = [a for a in self.schedule.cols if a != axis]
        if axis in getattr(self.schedule, roles[to]):
            return self.changed(**more)
        if roles[to] == "rows":
            rows.append(axis)
        else:
            # beneath a vectorised column, which stays the innermost
            cols.insert(len(cols) - (cols[-1:] == [self.schedule.vector]), axis)
        return self.changed(rows=tuple(rows), cols=tuple(cols), **more)

    def _vector(self, axis: str, n: int | None) -> Edit:
        s = self.schedule
        if n == 1 and isinstance(s, Schedule):
            return self.changed(vector="", lanes=1)
        lanes = n or (s.lanes if s.lanes > 1 else 16 if isinstance(s, Schedule) else 4)
        cols = s.cols
        if axis in cols and isinstance(s, Schedule):
            cols = (*(a for a in cols if a != axis), axis)
        more: dict[str, Any] = {}
        if isinstance(s, GpuSchedule):
            more = {"anchor": ""} if lanes == 1 or axis != s.vector else {}
            if axis in s.rows:
                more["interleaved"] = False
        return self.changed(cols=cols, vector=axis, lanes=lanes, **more)

    def nest(self, rows: Sequence[str], cols: Sequence[str]) -> Edit:
        """The loops as a whole, outermost first: `for rows: for cols: S`.

        Legal: every axis once; rows and columns as for `bind`. A vectorised axis among the columns must be the last.
        """
        return self.changed(rows=tuple(rows), cols=tuple(cols))

    def reorder(self, *axes: str) -> Edit:
        """The order of the loops, outermost first: `for i: for j: S` becomes `for j: for i: S`.

        All axes are named; rows stay outside of columns, whatever their order here. Legal: always, but for a scatter's
        points that may meet, which keep the order of the source, and a vectorised column axis, which is the last.
        """
        every = (*self.schedule.rows, *self.schedule.cols)
        directive = f"reorder({', '.join(map(str, axes))})"
        if sorted(axes) != sorted(every):
            odd = next((a for a in axes if a not in every), next((a for a in every if a not in axes), ""))
            raise Illegal(directive, str(odd), "every axis is named once", listed(every))
        rows, cols = ([a for a in axes if a in part] for part in (self.schedule.rows, self.schedule.cols))
        return self.changed(rows=tuple(rows), cols=tuple(cols))

    def fuse(self, outer: str, inner: str) -> Edit:
        """Two neighbouring loops become one: `for i: for j: S[i, j]` becomes

            for ij in range(len(i) * len(j)): S[ij // len(j), ij % len(j)]

        The new axis is called by both names. Legal: both rows, or both columns, next to each other, and every access
        walks them as one (the stride of the outer is the stride of the inner times its extent).
        """
        directive = f"fuse({outer}, {inner})"
        for a in (outer, inner):
            self._axis(directive, a)
        s = self.schedule
        for role in ("rows", "cols"):
            axes = list(getattr(s, role))
            if outer in axes and axes[axes.index(outer) + 1 :][:1] == [inner]:
                at = axes.index(outer)
                axes[at : at + 2] = [outer + inner]
                more: dict[str, Any] = {"vector": outer + inner} if s.vector in (outer, inner) else {}
                split = tuple((a, n) for a, n in s.split if a not in (outer, inner))
                return self.changed(**{role: tuple(axes)}, **more, split=split)
        raise Illegal(directive, inner, f"not the loop just inside of {outer}", "neighbouring rows, or columns")

    def unfuse(self, axis: str) -> Edit:
        """The inverse of `fuse`: an axis of several becomes those of the fusion again. Legal: always."""
        directive = f"unfuse({axis})"
        self._axis(directive, axis)
        atoms = legal._pieces(axis, list(self.fusion.axes)) or []
        pieces = tuple(a.name for a in atoms)
        s = self.schedule
        fields: dict[str, Any] = {}
        for role in ("rows", "cols"):
            fields[role] = tuple(p for a in getattr(s, role) for p in (pieces if a == axis else (a,)))
        if s.vector == axis:
            fields["vector"] = pieces[-1]
        fields["split"] = tuple((pieces[-1] if a == axis else a, n) for a, n in s.split)
        return self.changed(**fields)

    def hint(self, buffer: str, what: str) -> Edit:
        """How a buffer is accessed. The result is the same either way.

        "streaming": past the caches, for what is used once. Legal on a CPU: an output stored at every point in vectors
        of cache lines, or of halves that follow each other; on a GPU: any buffer. "cached": not so. "aligned" (GPU):
        vectors as one access each. Legal: all of them lie at multiples of their size.
        """
        directive = f"hint({buffer}, {what})"
        s = self.schedule
        if what == "aligned" and isinstance(s, GpuSchedule):
            return self.changed(aligned=s.aligned | {buffer}, uniform=s.uniform)
        if what not in ("streaming", "cached"):
            raise Illegal(
                directive, str(what), "not a hint", "streaming, cached" + ", aligned" * isinstance(s, GpuSchedule)
            )
        names = [b.name for b in self.fusion.buffers]
        if buffer not in names:
            raise Illegal(directive, str(buffer), "the kernel has no such buffer", listed(names))
        return self.changed(stream=s.stream | {buffer} if what == "streaming" else s.stream - {buffer})

    # --- CPU ---
    def split(self, axis: str, n: int | None) -> Edit:
        """Cut a column axis into pieces of n points, which threads share like rows:

            for row in mine: for i in range(extent): S
        becomes
            for row, k in mine: for i in range(k * n, min(k * n + n, extent)): S

        n = None: no pieces. Legal: no reduction, scan or stored value needs all columns of a row; n >= 1 (multiples of
        64 where random numbers are drawn along the axis).
        """
        self._only(Schedule, f"split({axis}, {n})")
        self._axis(f"split({axis}, {n})", axis)
        _count(f"split({axis}, {n})", n)
        others = tuple((a, k) for a, k in self.schedule.split if a != axis)
        return self.changed(split=others if n is None else (*others, (axis, n)))

    def divide(self, target: str | int | None) -> Edit:
        """Of a scatter: what threads divide among them, an axis of the target or the number of a run-time coordinate:

            for point: target[at(point)] += S
        becomes, in every thread,
            for point: if at(point) in mine: target[at(point)] += S

        None: one thread does it all. Legal: the outermost or innermost axis, if it is a coordinate of the target
        itself; any run-time coordinate; None only without reductions.
        """
        self._only(Schedule, f"divide({target}, parallel)")
        return self.changed(owner=target)

    def part(self, when: str, k: int, directives: str) -> Edit:
        """Apply directives to the k-th fusion that runs "before" or "after" a scatter. Legal: as there."""
        self._only(Schedule, f"{when} {k}")
        parts = list(getattr(self.schedule, when, ())) if when in ("before", "after") else []
        if not 0 <= k < len(parts):
            raise Illegal(f"part({when}, {k})", str(k), "the kernel has no such part", listed(range(len(parts))))
        inner = Edit(getattr(self.fusion, when)[k], parts[k], self.key, None, self.anywhere).apply(directives)
        parts[k] = inner.schedule
        return self.changed(**{when: tuple(parts)})

    # --- GPU ---
    def mode(self, mode: str, **fields: int) -> Edit:
        """How the columns of a row are walked (`schedule/gpu.py` has the table of modes).

        `rows`, `columns` (threads), `unroll` and `cluster` may change with it: `mode("loop", columns=256, unroll=4)`.
        "persistent" implies that what later passes need is kept in registers: `for pass: for i: S(load(x[i]))` becomes
        `k[i] = load(x[i]); for pass: for i: S(k[i])`. Legal: "tile" and "staged" without reductions; "persistent",
        "loop" and "split" with them; "persistent" when threads * unroll * lanes cover a row and the values fit
        the registers; "split" when nothing is reduced over rows.
        """
        self._only(GpuSchedule, f"mode({mode})")
        known = {"rows": "row_threads", "columns": "col_threads", "unroll": "steps", "cluster": "cluster"}
        for name in fields:
            if name not in known:
                raise Illegal(f"mode({mode}, {name}=...)", name, "not changed with the mode", listed(known))
        own: dict[str, Any] = {} if mode == "tile" else {"repeat": "", "repeats": 1}
        s = self.schedule
        if mode != "tile":
            own["whole"] = False
        own["finish"] = mode == "split" or (isinstance(s, GpuSchedule) and s.resident and s.finish)
        if mode != "split":
            own["once"] = False
        if mode != "persistent":
            own |= {"keep_in": "registers", "ahead": 0, "alone": False}
        return self.changed(mode=mode, **own, **{known[k]: n for k, n in fields.items()})

    def threads(self, rows: int | None = None, columns: int | None = None) -> Edit:
        """Threads of a block: `rows` rows at a time, `columns` threads to a row:

            for i in row: S    becomes    for i in range(thread, len(row), columns): S

        Legal: powers of two ("split" beside rows: any), at most 1024 in all; 8 to 512 columns * lanes of a staged tile.
        """
        directive = f"threads({rows}, {columns})"
        self._only(GpuSchedule, directive)
        given = {"row_threads": rows, "col_threads": columns}
        for n in given.values():
            _count(directive, n)
        return self.changed(**{k: n for k, n in given.items() if n is not None})

    def unroll(self, n: int, what: str = "columns") -> Edit:
        """Several at a time: `for i: S(i)` becomes `for i step n: S(i); ...; S(i + n - 1)`.

        On a GPU: vectors of a thread. Legal: 1 to 64; persistent rows must be covered (`mode`). On a CPU: vectors of
        "rows", or columns of single such vectors. Legal: 1, 2, 4, 8 (rows: 16), where rows fill the lanes. "runs" of
        rows that are one, in a phase of their own (0: there is none). Legal: `most_rows` of `tall.py`."""
        _count(f"unroll({what}, {n})", n if (what, n) != ("runs", 0) else None)
        if isinstance(self.schedule, Schedule) and what in AT_ONCE:
            return self.changed(**{AT_ONCE[what]: n if n > 1 or what == "runs" else 0})
        self._only(GpuSchedule if what == "columns" else Schedule, f"unroll({what}, {n})")
        return self.changed(steps=n)

    def cluster(self, n: int) -> Edit:
        """Blocks that hold a row together: `k[i] for i in row` in one block becomes `k[i] for i in row's n-th part` in
        each of n, whose reductions are combined through distributed shared memory. Legal: 1; 2, 4 or 8 in mode
        "persistent", not resident, on GPUs from compute capability 9.0 on."""
        self._only(GpuSchedule, f"cluster({n})")
        _count(f"cluster({n})", n)
        return self.changed(cluster=n)

    def keep(self, what: str, where: str = "registers") -> Edit:
        """What a persistent row keeps between its passes: `a = f(x[i])` in two passes becomes `k[i] = f(x[i])` in the
        first and `k[i]` in the second ("values"), or only `k[i] = x[i]` ("loads").

        Where: in registers, or what is read in shared memory ("shared"), to which it is copied asynchronously. Legal:
        in registers; in shared memory where the row fits it and vectors are along the columns. On a CPU: "columns" in
        "scratch" (or ""), which is what is dear and the same in all rows, where lanes are along columns."""
        if (what, where) in (("columns", "scratch"), ("columns", "")) and isinstance(self.schedule, Schedule):
            return self.changed(shared=bool(where))
        self._only(GpuSchedule, f"keep({what}, {where})")
        return self.changed(keep=what, keep_in=where, **({} if where == "shared" else {"ahead": 0}))

    def ahead(self, n: int = 1) -> Edit:
        """A resident block asks for its next n rows while it works on one: `for row: { x = load(row); S(x) }` becomes
        `y = load(first); for row: { x = y; y = load(next); S(x) }` for one. Legal: 0 to 7, where rows are kept in
        shared memory and one more than n fit it; blocks that are not resident have one row."""
        self._only(GpuSchedule, f"ahead({n})")
        _count(f"ahead({n})", n if n != 0 else None)
        return self.changed(ahead=n)

    def reuse(self, axis: str, n: int, where: str = "registers") -> Edit:
        """A thread of a tile takes n points along a row axis: `x = a[i]; for j: S(x, j)` reads a[i] once for n of them.

        Legal: n from 1 to 8, on a row axis, in mode "tile", in registers.
        """
        directive = f"reuse({axis}, {where})"
        self._only(GpuSchedule, directive)
        _count(f"unroll(rows, {n})", n)
        if where != "registers":
            raise Illegal(directive, str(where), "values are kept nowhere else", "registers")
        return self.changed(repeat=axis if n > 1 else "", repeats=n, **({"anchor": ""} if n > 1 else {}))

    def stage_in(self, axis: str, where: str = "shared", lanes: int | None = None) -> Edit:
        """Pass what is contiguous along `axis` through a tile of shared memory:

            for i, j: y[i, j] = S(x[j, i])
        becomes
            for tile: { t[j, i] = x[j, i]; barrier; y[i, j] = S(t[j, i]) }
        Legal: no reductions; `axis` is a row axis, the vector axis the only column; the vector's lanes divide its
        extent, and `lanes` (as many, if None) that of `axis`, along which memory is read. On a CPU, where tiles are a
        "thread"'s own: `axis` is the column axis around the vectorised one, both split, or that of rows in lanes.
        """
        if where == "thread" and type(self.schedule) is Schedule:
            return self.changed(turn=axis)
        directive = f"stage_in({axis}, {where}, {(turned := self.schedule.lanes if lanes is None else lanes)})"
        self._only(GpuSchedule, directive)
        self._axis(directive, axis)
        if where != "shared":
            raise Illegal(directive, str(where), "tiles are in shared memory", "shared")
        ct = legal_gpu.STAGE // max(1, self.schedule.lanes)
        block = {"col_threads": ct, "row_threads": 256 // ct, "steps": 1, "repeat": "", "repeats": 1, "anchor": ""}
        return self.changed(across=axis, turned=turned, mode="staged", whole=False, **block)

    def align(self, what: str, buffer: str) -> Edit:
        """Vectors of a row start where those of a buffer are aligned; "" for `buffer`: at the row's first column.

            for k: S(x[row + lanes * k])    becomes    for k: S(x[row - row mod lanes + lanes * k])
        without what is no column of the row. Legal: vectors of the innermost columns, of a buffer whose columns are
        side by side; no sums of columns, scans, random numbers, staged or reused rows.
        """
        self._only(GpuSchedule, f"align({what}, {buffer})")
        if what != "rows":
            raise Illegal(f"align({what}, {buffer})", what, "only rows are moved", "rows")
        return self.changed(anchor=buffer)

    def interleave(self, on: bool = True) -> Edit:
        """Neighbouring threads of a block have neighbouring rows: thread t, of row t // columns and column t % columns,
        becomes that of row t % rows and column t // rows.

        Legal: in modes "persistent", "loop" and "split", without scans, where vectors are not along rows.
        """
        self._only(GpuSchedule, f"interleave({on})")
        return self.changed(interleaved=bool(on))

    def run(self, *buffers: str) -> Edit:
        """Rows of these buffers, of all a block has, pass through shared memory as one run: `for row: S(x[row, :])`
        becomes `t = x[rows, :]; barrier; for row in rows: S(t[row, :])`. None: no buffer's.

        Legal: in modes "persistent" and "loop", rows that follow each other in memory, a multiple of 16 in a block.
        """
        self._only(GpuSchedule, f"run({', '.join(buffers)})")
        return self.changed(runs=frozenset(buffers))

    def finish(self, on: bool = True) -> Edit:
        """The block that is the last to leave its part combines all parts, and not another launch. Legal: in mode
        "split", and with `resident`."""
        self._only(GpuSchedule, f"finish({on})")
        return self.changed(finish=bool(on))

    def combine(self, on: bool = True) -> Edit:
        """What chunks of columns leave is combined by a launch before the next pass, not by every block of that:
        `for block: t = sum(parts); S(t)` becomes `t = sum(parts); for block: S(t)`. Legal: in mode "split"."""
        self._only(GpuSchedule, f"combine({on})")
        return self.changed(once=bool(on))

    def resident(self, on: bool = True) -> Edit:
        """Only as many blocks as the GPU runs at once, each over many rows: `row = block` becomes
        `for row in range(block, rows, blocks)`. Legal: exactly when something is reduced over rows."""
        self._only(GpuSchedule, f"resident({on})")
        return self.changed(resident=True) if on else self.changed(resident=False, finish=False, alone=False)

    def alone(self, on: bool = True) -> Edit:
        """One block for each multiprocessor, whose threads have the registers that those of others would have. Legal:
        with `resident`, in mode "persistent"."""
        self._only(GpuSchedule, f"alone({on})")
        return self.changed(alone=bool(on))

    def index(self, bits: int) -> Edit:
        """The width of index arithmetic. Legal: 64; 32 while no position can exceed it."""
        self._only(GpuSchedule, f"index({bits})")
        return self.changed(index=bits)


def _count(directive: str, n: int | None) -> None:
    if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
        raise Illegal(directive, str(n), "not a positive whole number", "1 or more")


# --- where to begin ------------------------------------------------------------------------------


def on_cpu(f: Fusion, hint: Hint, machine: Machine, anywhere: frozenset[str] = frozenset()) -> Edit:
    """The heuristic's schedule for a fusion on a CPU. Raises Refusal when there is none."""
    s = cpu.plan(f, hint, machine)[1].streaming(lambda b: b not in anywhere)
    return Edit(f, s, structure_hash(f), None, anywhere)


def on_gpu(f: Fusion, sizes: Sizes) -> Edit:
    """The heuristic's schedule for a fusion and some sizes on a GPU. Raises Refusal when there is none."""
    s = gpu.plan(f, sizes.hint, sizes.gpu, sizes.alignment)[1]
    return Edit(f, s, structure_hash(f), sizes)
