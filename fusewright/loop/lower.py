"""Fusion + CPU Schedule -> Loop IR.

The loop nest is the one described in `schedule/cpu.py`: a parallel loop over rows whose body makes one or more
passes over the columns (`passes.py`), then a combine step for what was reduced over the rows (`accumulate.py`). A
value that several passes need and that is dear to compute is kept in per-thread scratch by the first pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..core.dtypes import bool_, compute_type, f32, f64, i64
from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage
from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix, ix
from ..index.layout import product
from ..prims.table import MONOIDS
from ..schedule.cpu import Schedule, past
from ..schedule.quotients import multiple, steady
from ..schedule.tall import phases
from .accumulate import BLOCK_ROWS, THREADS, Accumulator, Sums
from .ir import Alloc, Arg, Buf, For, Func, If, Imm, Parallel, Prefetch, Reg, Set, Stmt, Store, Var, imm
from .passes import Passes
from .rows import Rows
from .scope import Params, Scope
from .segments import segments


@dataclass(slots=True)
class Kernel:
    """A lowered kernel.

    `sizes[k]` is the value of size parameter k: an index expression over the program's size symbols and `threads`, how
    many run the launch; those in `divisors` are taken as at least 1.
    """

    func: Func
    sizes: list[Ix]
    hosts: list[str]
    divisors: frozenset[int]

    def evaluate(self, env: Mapping[str, int]) -> list[int]:
        """The size parameters under `env`."""
        values = [int(e.evaluate(env)) for e in self.sizes]
        return [max(v, 1) if k in self.divisors else v for k, v in enumerate(values)]


def lower(f: Fusion, schedule: Schedule, name: str, prefetch: bool = True) -> Kernel:
    """Lower a fusion whose axes are those the schedule names. `prefetch`: ask for the next row ahead of time."""
    func = Func(name)
    func.bufs = [Buf(b.name, b.dtype, b.output) for b in f.buffers]
    bufs = {b.name: b for b in func.bufs}
    if schedule.runs:
        f, schedule = phases(f, schedule)
    params = Params(func)
    params.get(THREADS, "threads")  # always the first size parameter
    for b in f.scratch:
        bufs[b.name] = Buf(b.name, b.dtype)
        func.allocs.append(Alloc(bufs[b.name], params.get(b.numel, ("scratch", b.name)), "shared"))
    nests = [*zip(f.before, schedule.before, strict=True), (f, schedule), *zip(f.after, schedule.after, strict=True)]
    named = 0
    for k, (g, s) in enumerate(nests):
        params.phase = k
        phase = _Lower(g, s, func, bufs, params, prefetch)
        phase.counter = named
        phase.run()
        named = phase.counter
    return Kernel(func, params.values, [h.name for h in func.hosts], frozenset(params.divisors))


@dataclass(slots=True)
class _Pass:
    """One pass being emitted."""

    number: int
    stages: list[Stage]
    unroll: int
    accs: dict[tuple[str, int], Accumulator]
    scans: dict[str, Reg]
    sums: Sums


class _Lower(Rows):
    """Lowers one phase of a kernel: appends its regions to `func`."""

    def __init__(self, f: Fusion, schedule: Schedule, func: Func, bufs: dict[str, Buf], params: Params, prefetch: bool):
        super().__init__(func, bufs, params)
        self.prefetch = prefetch
        self.p = Passes(f, schedule, shared=schedule.shared)
        self.rows, self.cols, self.v = self.p.rows, self.p.cols, self.p.v
        self.width = schedule.lanes if self.v is not None else 1
        self.row_vector = self.v in self.rows
        self.abreast, self.steps = max(schedule.abreast, 1), max(schedule.steps, 1)
        self.chunk = {a: n for a in self.cols for name, n in schedule.split if a.name == name}
        whole = self.v is not None and all(n % self.width == 0 for n in self.chunk.values()) and not schedule.scatters
        self.steady = whole and self.v is not None and steady(f, self.v, self.width * self.abreast)
        self.prepare(f, schedule)
        self.tiled(f, schedule)
        stores = [x for x in f.stores() if x.buffer in schedule.stream]
        self.stream = {x.buffer: "stream" if x is self.line else past(x, schedule) for x in stores}
        self.kept = {e: Buf(f"kept{k}", e.dtype) for k, e in enumerate(self.p.kept, len(func.allocs))}
        if self.kept:
            count = self.columns() * (self.width * self.abreast if self.row_vector else 1)
            for buf in self.kept.values():
                func.allocs.append(Alloc(buf, self.params.get(count, "scratch count")))
        self.shared = {e: Buf(f"shared{k}", e.dtype) for k, e in enumerate(self.p.shared, len(func.allocs))}
        for buf in self.shared.values():
            func.allocs.append(Alloc(buf, self.params.get(self.columns(), "columns")))

    # --- the function ---
    def run(self) -> None:
        body: list[Stmt] = []
        region = Scope(None, body)
        tid, nth = Reg("tid", i64), Reg("nth", i64)
        self.declare_partials(region, tid, nth)
        parts, nested = self.parts()
        lo, hi = self.divide(region, tid, nth, product(n for _, n in parts))
        if self.shared:
            self._share_columns(region)
        r = self.reg(i64, prefix="row") if self.serial else Reg("row", i64)
        if nested:
            self.nest(region, r, lo, hi, parts, self._passes)
        else:
            inside: list[Stmt] = []
            row = Scope(region, inside)
            self.own(row, r)
            if self.block:
                done = self.prim(row, "sub", r, lo)
                phase = self.prim(row, "and", done, imm(BLOCK_ROWS - 1))
                self.flush_blocks(row, self.prim(row, "eq", phase, imm(0)))
            self.numbered(row, r, parts, self._guarded if self.by_row else self._passes)
            body.append(For(r, lo, hi, imm(1), inside))
        self.publish_partials(region)
        if self.serial:
            self.func.body.extend(body)
            return
        self.func.body.append(Parallel(tid, nth, body))
        self._epilogue()

    def _guarded(self, s: Scope) -> None:
        """The passes of a row that is scattered whole, if it is to be and its place is this thread's."""
        checks, self.p.checks = self.p.checks, []
        for c, _, _ in checks:
            self.check(s, c)
        ok = self.guard(s)
        inside: list[Stmt] = []
        row = Scope(s, inside)
        row.axes = dict(s.axes)  # what depends on the row is computed inside
        self._passes(row)
        s.body.append(If(ok, inside))

    def _passes(self, s: Scope) -> None:
        for p in [*sorted(self.p.work), max(self.p.work, default=0) + 1]:
            for c, per_point, when in self.p.checks:
                if not per_point and when == p:
                    self.check(s, c)
            if p in self.p.work:
                self._pass(s, p)
        for st in self.p.outer_scalar:
            acc = self.thread_acc[st.name]
            value = self.cast(s, self.emit(s, st.body), acc.dtype)
            s.body.append(Set(acc, self.prim(s, MONOIDS[st.monoid].combine, acc, value)))
        for st in self.p.row_stores:
            self._write(s, st)

    # --- one pass over the columns ---
    def _pass(self, s: Scope, number: int) -> None:
        stages = self.p.work[number]
        reduces = [st for st in stages if st.kind == "reduce" and st not in self.p.outer_vec]
        unroll = self._unroll(stages)
        count = {st.name: max(unroll, self.turns(st) if self.row_vector else 1) for st in reduces}
        accs = {(st.name, u): self.accumulator(s, st) for st in reduces for u in range(count[st.name])}
        added = {st.name for st in reduces if st.monoid == "sum"}
        sums = self.sums(s, [acc[0] for (name, _), acc in accs.items() if name in added])
        p = _Pass(number, stages, unroll, accs, self._scan_registers(s, number, stages), sums)
        self._loops(s, 0, p)
        if self.row_vector:
            self.rows_out(s, stages, self.there)
        self.add_blocks(s, sums)
        for st in reduces:
            self.finish(s, st, [accs[st.name, u] for u in range(count[st.name])])

    def _scan_registers(self, s: Scope, number: int, stages: list[Stage]) -> dict[str, Reg]:
        """Running totals of the scans this pass reads; f32 sums and products run in f64, as eager's do."""
        out: dict[str, Reg] = {}
        for st in self.p.scans_of([x.body for x in stages], self._kept_before(number)):
            dtype = f64 if st.dtype is f32 and st.monoid in ("sum", "prod") else compute_type(st.dtype)
            acc = out[st.name] = self.reg(dtype, self.width, "scan")
            s.body.append(Var(acc, Imm(MONOIDS[st.monoid].identity(dtype), dtype, self.width)))
        return out

    def _unroll(self, stages: list[Stage]) -> int:
        """Vectors per iteration: enough independent work to hide latencies, without bloating the code.

        A random draw yields 64 columns at once, so its loop takes 64 columns an iteration.
        """
        scanned = any(n in self.p.scans for st in stages for n in st.body.stages)
        if self.width == 1 or scanned:
            return 1
        if self.row_vector and (self.in_block or self.p.apart or not any(st.kind == "reduce" for st in stages)):
            return 1  # there are chains enough, or none
        work = [e for e in sc.walk([st.body for st in stages]) if e.axes & set(self.cols) and e not in self.kept]
        if any(e.kind == "random" for e in work) and self.width <= 16 and not self.row_vector:
            return 64 // self.width
        cost = sum(e.cost for e in work)
        most = 4 if cost <= 24 else 2 if cost <= 80 else 1
        return min(most, self.steps) if self.row_vector else most

    def _loops(self, s: Scope, depth: int, p: _Pass) -> None:
        """The loops over column axes from `depth` on."""
        if depth == len(self.cols):
            self._point(s, p, 0)
            return
        a = self.cols[depth]
        lo, hi = self._range(s, a)
        if a is self.across:
            tile = (lo, hi), self._range(s, self.cols[depth + 1])
            self.turn_in(s, *tile)
        if a is not self.v:

            def inside(c: Scope, var: Reg) -> None:
                c.axes[a] = var
                self._loops(c, depth + 1, p)

            innermost, around = depth + 1 == len(self.cols), depth + 2 == len(self.cols)
            if around and p.sums.left is not None:
                inner = self.cols[depth + 1]
                step = self.width * p.unroll if inner is self.v else p.unroll if self.row_vector else 1
                self.runs(s, (lo, hi), self._range(s, inner), step, p.sums, inside)
            elif innermost and p.unroll > 1:
                self.several_columns(s, a, (lo, hi), p.unroll, p.sums, lambda x, u: self._point(x, p, u))
            else:
                self.blocks(s, lo, hi, 1, p.sums if innermost else Sums(), inside)
            if a is self.across:
                self.turn_out(s, *tile)
            return
        # the vectorised axis is the innermost
        for start, stop, q in self._segments(s, lo, hi, p):
            self._vectors(s, start, stop, q)

    def _vectors(self, s: Scope, lo: Arg, hi: Arg, p: _Pass) -> None:
        lo = self.to_line(s, lo, hi, lambda stop, n: self._tail(s, lo, stop, n, lambda x: self._point(x, p, 0)))
        end = self._vector_loop(s, lo, hi, p.unroll, lambda x, u: self._point(x, p, u), p.sums)
        self.in_part = self.line is not None and self.line.dtype.itemsize * self.width < 64
        self._tail(s, end, hi, p.unroll, lambda x: self._point(x, p, 0))
        self.in_part = False

    def _segments(self, s: Scope, lo: Arg, hi: Arg, p: _Pass) -> list[tuple[Arg, Arg, _Pass]]:
        """The vector axis in parts in which conditions on the position are known, if nothing is reduced, drawn or kept
        along it. Where vectors begin at multiples of their width, parts have to: one in which a condition changes is a
        part of its own."""
        assert self.v is not None
        drawn = any(e.kind == "random" for e in sc.walk([st.body for st in p.stages]))
        if drawn or p.scans or self.kept or any(st.kind != "store" for st in p.stages):
            return [(lo, hi, p)]
        aligned = self.steady or bool(self.stream)
        out: list[tuple[Arg, Arg, _Pass]] = []
        start, width = lo, imm(self.width)
        for end, stages in segments(p.stages, self.v):
            q = p if end is None and not out else replace(p, stages=stages, unroll=self._unroll(stages))
            if end is None:
                out.append((start, hi, q))
                break
            stop = self.prim(s, "max", self.prim(s, "min", self.scalar_index(s, end, "segment"), hi), start)
            if aligned and not multiple(end, self.width):
                vectors = self.let(s, "udiv", (self.span(s, start, stop), width), i64)
                begin = self.add(s, start, self.mul(s, vectors, width))
                stop = self.prim(s, "min", self.add(s, begin, width), hi)
                out += [(start, begin, q), (begin, stop, replace(p, unroll=1))]
            else:
                out.append((start, stop, q))
            start = stop
        return out

    def _range(self, s: Scope, a: Atom) -> tuple[Arg, Arg]:
        assert a.extent is not None
        if a is self.owner:
            return self.mine
        extent = self.params.get(a.extent, ("extent", a.name))
        if a not in self.chunk:
            return imm(0), extent
        size = imm(self.chunk[a])
        s = self.outermost(s, self.at_chunk[a])
        lo = self.mul(s, self.at_chunk[a], size)
        return lo, self.prim(s, "min", self.add(s, lo, size), extent)

    def _vector_loop(
        self, s: Scope, lo: Arg, hi: Arg, unroll: int, body: Callable[[Scope, int], None], sums: Sums | None = None
    ) -> Arg:
        """Whole vectors along the vector axis, `unroll` at a time; returns where they end."""
        v, step = self.v, self.width * unroll
        assert v is not None
        h = self.outermost(s, lo, hi)
        whole = self.mul(h, self.let(h, "udiv", (self.span(h, lo, hi), imm(step)), i64), imm(step))
        end = self.add(h, lo, whole)

        def inside(c: Scope, var: Reg) -> None:
            for u in range(unroll):
                x = Scope(c, c.body)
                x.vector, x.lanes = v, self.width
                x.axes[v] = self.add(c, var, imm(u * self.width))
                if step == 64:
                    x.run = (v, var, u * self.width)
                body(x, u)

        self.blocks(s, lo, end, step, sums or Sums(), inside)
        return end

    def _tail(self, s: Scope, start: Arg, hi: Arg, vectors: int, body: Callable[[Scope], None]) -> None:
        """What is left of the vector axis, at most `vectors` vectors: whole ones, then one with a mask, which costs as
        much as several."""
        assert self.v is not None
        if vectors > 1:
            start = self._vector_loop(s, start, hi, 1, lambda x, u: body(x))
        inside: list[Stmt] = []
        x = Scope(Scope(s, inside), inside)
        x.vector, x.lanes = self.v, self.width
        x.axes[self.v] = start
        h = self.outermost(s, start, hi)
        x.mask = self.let(h, "lanemask", (self.prim(h, "sub", hi, start),), bool_, self.width)
        body(x)
        s.body.append(If(self.prim(h, "lt", start, hi), inside))

    # --- one point, or vector of points, of a pass ---
    def _point(self, s: Scope, p: _Pass, u: int) -> None:
        s.kept = self._kept_before(p.number) | self.shared
        before, after = self.p.point_checks(p.number, p.scans.keys())
        for c in before:
            self.check(s, c)
        self._advance_scans(s, p)
        for c in after:
            self.check(s, c)
        for e in self.p.keep_at.get(p.number, ()):
            value = self.splat(s, self.emit(s, e), self.width)
            s.body.append(Store(self.kept[e], self.position(s), value, self._scratch_mask(s)))
        if p.number == self.p.ahead and s.mask is None:
            self._look_ahead(s)
        for st in p.stages:  # all values before the first store: an output may be the memory of an input
            if st.kind == "store":
                self.emit(s, st.body)
        for st in p.stages:
            if st.kind in ("store", "scatter"):
                self._write(s, st)
            elif st in self.p.outer_vec:
                self.accumulate_column(s, st)
            else:
                self.accumulate(s, st, p.accs[st.name, u])
                if (st.name, 1) in p.accs and p.unroll == 1:
                    self.take_turns(s, [p.accs[st.name, k] for k in range(self.turns(st))])

    def _kept_before(self, number: int) -> dict[Expr, Buf]:
        """What the passes before this one have left in scratch."""
        later = {e for q, es in self.p.keep_at.items() if q >= number for e in es}
        return {e: b for e, b in self.kept.items() if e not in later}

    def _look_ahead(self, s: Scope) -> None:
        """Ask for what the next row's first pass will read: it waits for memory, this pass for arithmetic."""
        for name, offset in self.p.next_row if self.prefetch else ():
            base, contiguous = self.index(s, offset, name)
            if contiguous:
                s.body.append(Prefetch(self.bufs[name], base))

    def _advance_scans(self, s: Scope, p: _Pass) -> None:
        for name, acc in p.scans.items():
            st = self.p.scans[name]
            value = self.cast(s, self.splat(s, self.emit(s, st.body), self.width), acc.dtype)
            total = self.prim(s, MONOIDS[st.monoid].combine, acc, value)
            s.body.append(Set(acc, total))
            s.stages[name] = self.cast(s, total, compute_type(st.dtype))

    def keep_load(self, s: Scope, e: Expr, buf: Buf) -> Arg:
        """A value that an earlier pass left in scratch."""
        mask = self._scratch_mask(s)
        args = (self.position(s),) if mask is None else (self.position(s), mask)
        return self.let(s, "load", args, e.dtype, self.width, buf)

    def _scratch_mask(self, s: Scope) -> Arg | None:
        """Lanes of scratch in use: all of them when rows fill the lanes."""
        return None if self.row_vector else self.tail(s)

    def _write(self, s: Scope, st: Stage) -> None:
        if st.kind == "scatter":
            self.scatter(s, st)
        else:
            self._store(s, st)

    def _store(self, s: Scope, st: Stage) -> None:
        assert st.offset is not None
        value = self.emit(s, st.body)
        if st.name in self.drained:
            self.drain(s, st, self.splat(s, value, self.width))
            return
        base, contiguous = self.index(s, st.offset, st.buffer)
        buf = self.bufs[st.buffer]
        if self.v is None or self.v not in st.axes or self.width == 1:
            s.body.append(Store(buf, base, value))
            return
        value = self.splat(s, value, self.width)
        if not contiguous:
            base = self.splat(s, base, self.width)
        tail = self.tail(s)
        whole = contiguous and tail is None and not self.in_part
        s.body.append(Store(buf, base, value, tail, self.stream.get(st.buffer, "") if whole else ""))

    # --- after all rows ---
    def _epilogue(self) -> None:
        """Combine the threads' partial results and store what depends on them."""
        scalar = [st for st in self.p.epilogue if not st.axes]
        vector = [st for st in self.p.epilogue if st.axes]
        if scalar:
            s = Scope(None, self.func.body)
            self.total_scalars(s)
            for st in scalar:
                self._store(s, st)
        if not vector:
            return
        tid, nth = Reg("tid2", i64), Reg("nth2", i64)
        body: list[Stmt] = []
        region = Scope(None, body)
        used = {n for st in vector for n in st.body.stages}
        if used & {st.name for st in [*self.p.outer_scalar, *self.p.full]}:
            self.total_scalars(region)
        first = self.cols[0]
        assert first.extent is not None
        step = self.width if first is self.v else 1
        blocks = self.params.get((first.extent + step - 1) // ix(step), "column blocks")
        extent = self.params.get(first.extent, ("extent", first.name))
        lo = self.mul(region, self.let(region, "udiv", (self.mul(region, tid, blocks), nth), i64), imm(step))
        last = self.let(region, "udiv", (self.mul(region, self.add(region, tid, imm(1)), blocks), nth), i64)
        hi = self.prim(region, "min", self.mul(region, last, imm(step)), extent)

        def point(x: Scope) -> None:
            self.total_columns(x, used)
            for st in vector:
                self._store(x, st)

        self._every_column(region, 0, point, (lo, hi))
        self.func.body.append(Parallel(tid, nth, body))

    def _share_columns(self, s: Scope) -> None:
        """Leave in scratch what all rows share."""

        def point(x: Scope) -> None:
            for e, buf in self.shared.items():
                x.body.append(Store(buf, self.position(x), self.splat(x, self.emit(x, e), self.width), self.tail(x)))

        self._every_column(s, 0, point)

    def _every_column(
        self, s: Scope, depth: int, point: Callable[[Scope], None], span: tuple[Arg, Arg] | None = None
    ) -> None:
        """`point` at every column, in vectors; `span`: of the first column axis."""
        if depth == len(self.cols):
            point(s)
            return
        a = self.cols[depth]
        assert a.extent is not None
        lo, hi = span or (imm(0), self.params.get(a.extent, ("extent", a.name)))
        if a is not self.v:
            var = self.reg(i64, prefix="c")
            inside: list[Stmt] = []
            c = Scope(s, inside)
            c.axes[a] = self.own(c, var)
            self._every_column(c, depth + 1, point)
            s.body.append(For(var, lo, hi, imm(1), inside))
            return
        end = self._vector_loop(s, lo, hi, 1, lambda x, u: point(x))
        self._tail(s, end, hi, 1, point)
