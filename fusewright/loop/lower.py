"""Fusion + CPU Schedule -> Loop IR.

The loop nest is the one described in `schedule/cpu.py`: a parallel loop over rows whose body makes one or more
passes over the columns, then a combine step for what was reduced over the rows. A value that several passes need and
that is dear to compute is kept in per-thread scratch by the first pass that computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..core.dtypes import DType, bool_, compute_type, f32, f64, i64
from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage
from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix, flatten, ix, product, sym
from ..prims.table import ARG_MONOIDS, MONOIDS
from ..schedule.cpu import Schedule
from .ir import Alloc, Arg, Buf, Fail, For, Func, If, Imm, Let, Parallel, Reg, Set, Stmt, Store, Var, imm
from .scope import Emitter, Scope

KEEP_COST = 16  # instructions per vector above which a value used by two passes is kept rather than recomputed
CHUNK = 8192  # elements of a split column axis that one row of work covers


@dataclass(slots=True)
class Kernel:
    """A lowered kernel.

    `sizes[k]` is the value of size parameter k: an index expression over the program's size symbols and two of the
    launch: `threads` (how many run it) and `stream` (1 to bypass the caches when storing).
    """

    func: Func
    sizes: list[Ix]
    hosts: list[str]


THREADS, STREAM = sym("threads"), sym("stream")


def lower(f: Fusion, schedule: Schedule, name: str) -> Kernel:
    """Lower a fusion whose axes are those the schedule names."""
    return _Lower(f, schedule, name).run()


class _Lower(Emitter):
    def __init__(self, f: Fusion, schedule: Schedule, name: str):
        func = Func(name)
        bufs = {b.name: Buf(b.name, b.dtype, b.output) for b in f.buffers}
        func.bufs = list(bufs.values())
        super().__init__(func, bufs)
        self.params.get(THREADS, "threads")  # always the first size parameter
        self.f = f
        self.schedule = schedule
        by_name = {a.name: a for a in f.axes}
        self.rows = [by_name[n] for n in schedule.rows]
        self.cols = [by_name[n] for n in schedule.cols]
        self.v = by_name.get(schedule.vector)
        self.width = schedule.lanes if self.v is not None else 1
        self.row_vector = self.v in self.rows
        self._classify()
        self._assign_passes()
        self._choose_kept()

    # --- analysis ---
    def _classify(self) -> None:
        rows, cols = set(self.rows), set(self.cols)
        self.inner: list[Stage] = []
        self.outer_vec: list[Stage] = []
        self.outer_scalar: list[Stage] = []  # reduced over rows, defined at row level
        self.full: list[Stage] = []  # reduced over rows and columns
        outer: set[str] = set()
        for s in self.f.reductions():
            raxes, axes = set(s.raxes), set(s.axes)
            if raxes == cols and axes == rows and not self.schedule.split:
                self.inner.append(s)
                continue
            if raxes == rows and axes == cols and cols and rows:
                self.outer_vec.append(s)
            elif raxes == rows and not axes:
                self.outer_scalar.append(s)
            else:
                self.full.append(s)
            outer.add(s.name)
        self.scans = {s.name: s for s in self.f.stages if s.kind == "scan"}
        self.nest: list[Stage] = []  # stores at every point
        self.row_stores: list[Stage] = []
        self.epilogue: list[Stage] = []
        everything = rows | cols
        for s in self.f.stores():
            axes = set(s.axes)
            if s.body.stages & outer or (axes != everything and axes != rows):
                self.epilogue.append(s)
            elif axes == everything and (cols or not rows):
                self.nest.append(s)
            else:
                self.row_stores.append(s)

    def _assign_passes(self) -> None:
        self.pass_of: dict[str, int] = {}

        def at(e: Expr) -> int:
            n = 0
            for name in e.stages:
                if name in self.scans:
                    n = max(n, self.pass_of[name])
                elif name in self.pass_of:
                    n = max(n, self.pass_of[name] + 1)
            return n

        for s in self.f.stages:
            if s in self.inner or s.kind == "scan":
                self.pass_of[s.name] = at(s.body)
        self.work: dict[int, list[Stage]] = {}
        for s in [*self.inner, *self.outer_vec, *self.full, *self.nest]:
            self.work.setdefault(at(s.body), []).append(s)
        # a check runs in the first pass that has what it needs: per point, or per row just before that pass
        self.checks: list[tuple[Expr, bool, int]] = []
        for c, axes in self.f.checks:
            p = min((q for q in self.work if q >= at(c)), default=max(self.work, default=0) + 1)
            self.checks.append((c, bool(set(axes) & set(self.cols)), p))

    def _choose_kept(self) -> None:
        """Per pass: expressions it must leave in scratch, and those later passes find there."""
        cols = set(self.cols)
        cost: dict[Expr, int] = {}

        def total(e: Expr) -> int:
            if e not in cost:
                own = 1000 if e.kind == "stage" and e.data[0] in self.scans else e.cost
                cost[e] = own + sum(total(c) for c in e.children() if c.axes & cols)
            return cost[e]

        self.keep_at: dict[int, list[Expr]] = {}
        self.kept: dict[Expr, Buf] = {}
        needs: dict[int, set[Expr]] = {}
        for p in sorted(self.work):
            roots = [s.body for s in self.work[p]]
            for q in sorted(needs):
                stack = list(roots)
                seen: set[Expr] = set()
                while stack:
                    e = stack.pop()
                    if e in seen or not e.axes & cols:
                        continue
                    seen.add(e)
                    if e in self.kept:
                        continue
                    varies = self.v is None or self.v in e.axes
                    if varies and e in needs[q] and e.kind != "load" and total(e) >= KEEP_COST:
                        buf = Buf(f"kept{len(self.kept)}", e.dtype)
                        self.kept[e] = buf
                        self.keep_at.setdefault(q, []).append(e)
                        continue
                    stack.extend(e.children())
            needs[p] = {e for e in sc.walk(self._with_scans(roots)) if e.axes & cols}
        if self.kept:
            count = product(a.extent for a in self.cols) * (self.width if self.row_vector else 1)
            for buf in self.kept.values():
                self.func.allocs.append(Alloc(buf, self.params.get(count, "scratch count")))

    def _with_scans(self, roots: list[Expr]) -> list[Expr]:
        out = list(roots)
        for name in {n for r in roots for n in r.stages}:
            if name in self.scans:
                out.append(self.scans[name].body)
        return out

    # --- the function ---
    def run(self) -> Kernel:
        threads = self.params.get(THREADS, "threads")
        body: list[Stmt] = []
        region = Scope(None, body)
        tid, nth = Reg("tid", i64), Reg("nth", i64)
        self.tid = tid
        n = product(self._row_extent(a) for a in self.rows)
        if self.schedule.split:
            n = n * self._chunks()
        self._declare_partials(region, tid)
        total = self.params.get(n, "rows")
        lo = self.let(region, "udiv", (self.mul(region, tid, total), nth), i64)
        hi = self.let(region, "udiv", (self.mul(region, self.add(region, tid, imm(1)), total), nth), i64)
        r = Reg("row", i64)
        inside: list[Stmt] = []
        row = Scope(region, inside)
        self.own(row, r)
        self._row(row, r)
        body.append(For(r, lo, hi, imm(1), inside))
        self._publish_partials(region, tid)
        self.func.body.append(Parallel(tid, nth, body))
        if self.outer_vec or self.outer_scalar or self.full or self.epilogue:
            self._epilogue(threads)
        return Kernel(self.func, self.params.values, [h.name for h in self.func.hosts])

    def _row_extent(self, a: Atom) -> Ix:
        assert a.extent is not None
        return (a.extent + self.width - 1) // ix(self.width) if a is self.v else a.extent

    def _chunks(self) -> Ix:
        last = self.cols[-1].extent
        assert last is not None
        return (last + CHUNK - 1) // ix(CHUNK)

    # --- one row of work ---
    def _row(self, s: Scope, r: Reg) -> None:
        rest: Arg = r
        self.chunk: Arg | None = None
        parts: list[tuple[Atom | None, Ix]] = [(a, self._row_extent(a)) for a in self.rows]
        if self.schedule.split:
            parts.append((None, self._chunks()))
        for k in range(len(parts) - 1, -1, -1):
            a, n = parts[k]
            if k == 0:
                at = rest
            else:
                count = self.params.get(n, ("extent", k))
                if isinstance(count, Imm):  # 1, or 0 when there are no rows at all
                    count = imm(1)
                q = self.let(s, "udiv", (rest, count), i64)
                at = self.prim(s, "sub", rest, self.mul(s, q, count))
                rest = q
            if a is None:
                self.chunk = at
            elif a is self.v:
                self.block = self.mul(s, at, imm(self.width))
            else:
                s.axes[a] = self.own(s, at)
        if not self.row_vector:
            self._passes(s)
            return
        # rows fill the lanes: a full block, or the last one with some lanes masked off
        assert self.v is not None and self.v.extent is not None
        end = self.add(s, self.block, imm(self.width))
        extent = self.params.get(self.v.extent, ("extent", self.v.name))
        whole = self.prim(s, "le", end, extent)
        then: list[Stmt] = []
        orelse: list[Stmt] = []
        for body, masked in ((then, False), (orelse, True)):
            c = Scope(s, body)
            c.vector, c.lanes = self.v, self.width
            c.axes[self.v] = self.block
            if masked:
                left = self.prim(c, "sub", extent, self.block)
                c.mask = self.let(c, "lanemask", (left,), bool_, self.width)
            self._passes(c)
        s.body.append(If(whole, then, orelse))

    def _passes(self, s: Scope) -> None:
        for p in [*sorted(self.work), max(self.work, default=0) + 1]:
            for c, per_point, when in self.checks:
                if not per_point and when == p:
                    self._check(s, c)
            if p in self.work:
                self._pass(s, p)
        for st in self.outer_scalar:
            acc, dtype = self.thread_acc[st.name]
            value = self._as(s, self.emit(s, st.body), dtype)
            s.body.append(Set(acc, self.prim(s, MONOIDS[st.monoid].combine, acc, value)))
        for st in self.row_stores:
            self._store(s, st, "")

    def _check(self, s: Scope, c: Expr) -> None:
        ok = self.emit(s, c)
        tail = next((x.mask for x in s.chain() if x.vector is not None), None)
        if ok.lanes > 1:
            if tail is not None:
                ok = self.prim(s, "or", ok, self.prim(s, "not", tail))
            ok = self.let(s, "hreduce", (ok,), bool_, attr="all")
        s.body.append(If(ok, [], [Fail()]))

    def _pass(self, s: Scope, p: int) -> None:
        stages = self.work[p]
        reduces = [st for st in stages if st.kind == "reduce" and st not in self.outer_vec]
        unroll = self._unroll(stages)
        accs = {(st.name, u): self._accumulator(s, st) for st in reduces for u in range(unroll)}
        scans: dict[str, tuple[Reg, DType]] = {}
        for st in self.f.stages:
            if st.name in self.scans and any(st.name in x.body.stages for x in stages):
                dtype = f64 if st.dtype is f32 and st.monoid in ("sum", "prod") else compute_type(st.dtype)
                acc = self.reg(dtype, self.width, "scan")
                s.body.append(Var(acc, Imm(MONOIDS[st.monoid].identity(dtype), dtype, self.width)))
                scans[st.name] = (acc, dtype)
        streaming = [
            st for st in stages if st.kind == "store" and self.v in self.cols and st.offset.coefficient(self.v) == 1  # type: ignore[union-attr,arg-type]
        ]
        if streaming and p == max(self.work) and not reduces:
            cond = self.prim(s.chain()[-1], "ne", self.params.get(STREAM, "stream"), imm(0))
            then: list[Stmt] = []
            orelse: list[Stmt] = []
            for body, hint in ((then, "stream"), (orelse, "")):
                self._loops(Scope(s, body), 0, p, stages, accs, scans, unroll, hint)
            s.body.append(If(cond, then, orelse))
        else:
            self._loops(s, 0, p, stages, accs, scans, unroll, "")
        for st in reduces:
            self._finish(s, st, [accs[st.name, u] for u in range(unroll)])

    def _unroll(self, stages: list[Stage]) -> int:
        """Vectors per iteration: enough independent work to hide latencies, without bloating the code.

        A random draw yields 64 columns at once, so its loop takes 64 columns an iteration.
        """
        if self.row_vector or self.width == 1 or any(n in self.scans for st in stages for n in st.body.stages):
            return 1
        work = [e for e in sc.walk([st.body for st in stages]) if e.axes & set(self.cols) and e not in self.kept]
        if any(e.kind == "random" for e in work) and self.width <= 16:
            return 64 // self.width
        cost = sum(e.cost for e in work)
        return 4 if cost <= 24 else 2 if cost <= 80 else 1

    def _loops(
        self,
        s: Scope,
        depth: int,
        p: int,
        stages: list[Stage],
        accs: dict[tuple[str, int], tuple[Reg, ...]],
        scans: dict[str, tuple[Reg, DType]],
        unroll: int,
        hint: str,
    ) -> None:
        """The loops over column axes from `depth` on."""
        if depth == len(self.cols):
            self._point(s, p, stages, accs, scans, 0, hint)
            return
        a = self.cols[depth]
        assert a.extent is not None
        last = depth == len(self.cols) - 1
        lo, hi = self._range(s, a, last)
        if a is not self.v:
            var = self.reg(i64, prefix="c")
            inside: list[Stmt] = []
            c = Scope(s, inside)
            c.axes[a] = self.own(c, var)
            self._loops(c, depth + 1, p, stages, accs, scans, unroll, hint)
            s.body.append(For(var, lo, hi, imm(1), inside))
            return

        def at(c: Scope, base: Arg, mask: Arg | None, u: int, hint: str, run: Arg | None = None) -> None:
            point = Scope(c, c.body)
            point.vector, point.lanes, point.mask = a, self.width, mask
            if run is not None and self.width * unroll == 64:
                point.run = (a, run, u * self.width)
            point.axes[a] = base
            self._point(point, p, stages, accs, scans, u, hint)

        start = lo
        if unroll > 1:
            start = self._vector_loop(s, lo, hi, unroll, lambda c, b, u, v: at(c, b, None, u, hint, v))
        start = self._vector_loop(s, start, hi, 1, lambda c, b, u, v: at(c, b, None, u, hint))
        left = self.prim(s, "sub", hi, start)
        tail: list[Stmt] = []
        c = Scope(s, tail)
        mask = self.let(c, "lanemask", (left,), bool_, self.width)
        at(c, start, mask, 0, "")
        s.body.append(If(self.prim(s, "lt", start, hi), tail))

    def _range(self, s: Scope, a: Atom, last: bool) -> tuple[Arg, Arg]:
        assert a.extent is not None
        extent = self.params.get(a.extent, ("extent", a.name))
        if not (self.schedule.split and last):
            return imm(0), extent
        assert self.chunk is not None
        lo = self.mul(s, self.chunk, imm(CHUNK))
        return lo, self.prim(s, "min", self.add(s, lo, imm(CHUNK)), extent)

    def _vector_loop(self, s: Scope, lo: Arg, hi: Arg, unroll: int, body: Callable[[Scope, Arg, int, Reg], None]) -> Arg:
        """Whole vectors, `unroll` at a time; returns where they end."""
        step = self.width * unroll
        span = self.prim(s, "sub", hi, lo)
        whole = self.mul(s, self.let(s, "udiv", (span, imm(step)), i64), imm(step))
        end = self.add(s, lo, whole)
        var = self.reg(i64, prefix="c")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, var)
        for u in range(unroll):
            body(c, self.add(c, var, imm(u * self.width)), u, var)
        s.body.append(For(var, lo, end, imm(step), inside))
        return end

    # --- one point (or vector) of a pass ---
    def _point(
        self,
        s: Scope,
        p: int,
        stages: list[Stage],
        accs: dict[tuple[str, int], tuple[Reg, ...]],
        scans: dict[str, tuple[Reg, DType]],
        u: int,
        hint: str,
    ) -> None:
        tail = next((c.mask for c in s.chain() if c.vector is not None), None)
        s.kept = {e: (b, imm(0)) for e, b in self.kept.items() if not any(e in self.keep_at.get(q, ()) for q in self.work if q >= p)}
        for name, (acc, dtype) in scans.items():
            st = self.scans[name]
            here = sc.stage_value(name, st.dtype, frozenset(st.axes))
            if here in s.kept:
                continue
            value = self._as(s, self.splat(s, self.emit(s, st.body), self.width), dtype)
            total = self.prim(s, MONOIDS[st.monoid].combine, acc, value)
            s.body.append(Set(acc, total))
            s.stages[name] = self._as(s, total, compute_type(st.dtype))
        for check, per_point, when in self.checks:
            if per_point and when == p:
                self._check(s, check)
        for e in self.keep_at.get(p, ()):
            value = self.splat(s, self.emit(s, e), self.width)
            s.body.append(Store(self.kept[e], self._scratch_index(s), value, tail))
        for st in stages:  # all values before the first store: an output may be the memory of an input
            if st.kind == "store":
                self.emit(s, st.body)
        for st in stages:
            if st.kind == "store":
                self._store(s, st, hint)
            elif st in self.outer_vec:
                self._accumulate_column(s, st, tail)
            else:
                self._accumulate(s, st, accs[st.name, u], tail)

    def keep_load(self, s: Scope, e: Expr, buf: Buf) -> Arg:
        tail = next((c.mask for c in s.chain() if c.vector is not None), None)
        args = (self._scratch_index(s),) if tail is None or self.row_vector else (self._scratch_index(s), tail)
        return self.let(s, "load", args, e.dtype, self.width, buf)

    def _scratch_index(self, s: Scope) -> Arg:
        lin = flatten(tuple(a.ix for a in self.cols), tuple(a.extent for a in self.cols))  # type: ignore[misc]
        base, _ = self.index(s, lin, "scratch")
        return self.mul(s, base, imm(self.width)) if self.row_vector else base

    def _store(self, s: Scope, st: Stage, hint: str) -> None:
        assert st.offset is not None
        varies = self.v is not None and self.v in st.axes and self.width > 1
        value = self.emit(s, st.body)
        base, contiguous = self.index(s, st.offset, st.buffer)
        buf = self.bufs[st.buffer]
        if not varies:
            s.body.append(Store(buf, base, value))
            return
        tail = next((c.mask for c in s.chain() if c.vector is not None), None)
        value = self.splat(s, value, self.width)
        if not contiguous:
            base = self.splat(s, base, self.width)
        s.body.append(Store(buf, base, value, tail, hint if contiguous and tail is None else ""))

    # --- reductions over columns ---
    def _accumulator(self, s: Scope, st: Stage) -> tuple[Reg, ...]:
        dtype = compute_type(st.body.dtype)
        m = MONOIDS[st.monoid]
        acc = self.reg(dtype, self.width, "acc")
        s.body.append(Var(acc, Imm(m.identity(dtype), dtype, self.width)))
        if st.monoid not in ARG_MONOIDS:
            return (acc,)
        pos = self.reg(i64, self.width, "pos")
        s.body.append(Var(pos, Imm((1 << 63) - 1, i64, self.width)))
        return (acc, pos)

    def _accumulate(self, s: Scope, st: Stage, acc: tuple[Reg, ...], tail: Arg | None) -> None:
        m = MONOIDS[st.monoid]
        value = self.splat(s, self.emit(s, st.body), self.width)
        mask = tail if not self.row_vector else None
        if st.monoid not in ARG_MONOIDS:
            total = self.prim(s, m.combine, acc[0], value)
            if mask is not None:
                total = self.prim(s, "where", mask, total, acc[0])
            s.body.append(Set(acc[0], total))
            return
        (a,) = st.raxes
        base, contiguous = self.index(s, a.ix, "position")
        at = self.let(s, "iota", (base,), i64, self.width) if contiguous and self.width > 1 else self.splat(s, base, self.width)
        lower = self.prim(s, "lt", at, acc[1])
        better = self.prim(s, m.combine, value, acc[0])
        tie = self.prim(s, "and", self.prim(s, "eq", value, acc[0]), lower)
        better = self.prim(s, "or", better, tie)
        if value.dtype.is_float:
            nan, had = self.prim(s, "isnan", value), self.prim(s, "isnan", acc[0])
            better = self.prim(s, "and", better, self.prim(s, "not", had))
            fresh = self.prim(s, "or", self.prim(s, "not", had), lower)
            better = self.prim(s, "or", better, self.prim(s, "and", nan, fresh))
        if mask is not None:
            better = self.prim(s, "and", better, mask)
        s.body.append(Set(acc[0], self.prim(s, "where", better, value, acc[0])))
        s.body.append(Set(acc[1], self.prim(s, "where", better, at, acc[1])))

    def _finish(self, s: Scope, st: Stage, accs: list[tuple[Reg, ...]]) -> None:
        """Combine unrolled accumulators and lanes into the stage's value at row level."""
        m = MONOIDS[st.monoid]
        across = self.width > 1 and not self.row_vector
        if st.monoid in ARG_MONOIDS:
            s.stages[st.name] = self.own(s, self._finish_arg(s, st, accs, across))
            return
        total: Arg = accs[0][0]
        for a in accs[1:]:
            total = self.prim(s, m.combine, total, a[0])
        if across:
            total = self.let(s, "hreduce", (total,), total.dtype, attr=st.monoid)
        if st in self.full:
            acc, dtype = self.thread_acc[st.name]
            s.body.append(Set(acc, self.prim(s, m.combine, acc, self._as(s, total, dtype))))
        else:
            # the accumulator is a mutable register: what is read from here on is its final value
            s.stages[st.name] = self.own(s, self._freeze(s, total))

    def _finish_arg(self, s: Scope, st: Stage, accs: list[tuple[Reg, ...]], across: bool) -> Arg:
        pick = "max" if st.monoid == "argmax" else "min"
        best: Arg = accs[0][0]
        for a in accs[1:]:
            best = self.prim(s, pick, best, a[0])
        if across:
            best = self.let(s, "hreduce", (best,), best.dtype, attr=pick)
        out: Arg | None = None
        for value, pos in accs:
            same = self.prim(s, "eq", value, best)
            if value.dtype.is_float:
                same = self.prim(s, "or", same, self.prim(s, "isnan", value))
            at = self.prim(s, "where", same, pos, Imm((1 << 63) - 1, i64))
            out = at if out is None else self.prim(s, "min", out, at)
        assert out is not None
        return self.let(s, "hreduce", (out,), i64, attr="min") if across else out

    def _freeze(self, s: Scope, a: Arg) -> Arg:
        dst = self.reg(a.dtype, a.lanes)
        s.body.append(Let(dst, "where", (Imm(True, bool_, a.lanes), a, a)))
        return dst

    def _as(self, s: Scope, a: Arg, dtype: DType) -> Arg:
        return a if a.dtype is dtype else self.let(s, "cast", (a,), dtype, a.lanes)

    # --- reductions over rows ---
    def _columns(self) -> Ix:
        return product(a.extent for a in self.cols)

    def _declare_partials(self, s: Scope, tid: Reg) -> None:
        self.thread_acc: dict[str, tuple[Reg, DType]] = {}
        self.partial: dict[str, Buf] = {}
        threads = self.params.get(THREADS, "threads")
        for st in [*self.outer_scalar, *self.full]:
            if st.monoid in ARG_MONOIDS:
                raise NotImplementedError("argmax over rows")
            dtype = compute_type(st.body.dtype)
            if dtype is f32 and st.monoid == "sum":
                dtype = f64
            acc = self.reg(dtype, prefix="total")
            s.body.append(Var(acc, Imm(MONOIDS[st.monoid].identity(dtype), dtype)))
            self.thread_acc[st.name] = (acc, dtype)
            buf = Buf(f"part_{st.name}", dtype)
            self.partial[st.name] = buf
            self.func.allocs.append(Alloc(buf, threads, "shared"))
        for st in self.outer_vec:
            dtype = compute_type(st.body.dtype)
            buf = Buf(f"part_{st.name}", dtype)
            self.partial[st.name] = buf
            columns = self.params.get(self._columns(), "columns")
            count = self.params.get(self._columns() * THREADS, "columns of all threads")
            self.func.allocs.append(Alloc(buf, count, "shared"))
            base = self.mul(s, tid, columns)
            var = self.reg(i64, prefix="c")
            fill = Store(buf, var, Imm(MONOIDS[st.monoid].identity(dtype), dtype))
            s.body.append(For(var, base, self.add(s, base, columns), imm(1), [fill]))

    def _publish_partials(self, s: Scope, tid: Reg) -> None:
        for st in [*self.outer_scalar, *self.full]:
            acc, _ = self.thread_acc[st.name]
            s.body.append(Store(self.partial[st.name], tid, acc))

    def _accumulate_column(self, s: Scope, st: Stage, tail: Arg | None) -> None:
        buf = self.partial[st.name]
        region = s.chain()[-1]
        base = self.mul(region, self.tid, self.params.get(self._columns(), "columns"))
        at = self.add(s, base, self._scratch_index(s))
        value = self._as(s, self.splat(s, self.emit(s, st.body), self.width), buf.dtype)
        mask = () if tail is None else (tail,)
        old = self.let(s, "load", (at, *mask), buf.dtype, self.width, buf)
        s.body.append(Store(buf, at, self.prim(s, MONOIDS[st.monoid].combine, old, value), tail))

    def _epilogue(self, threads: Arg) -> None:
        """Combine the threads' partial results and store what depends on them."""
        scalar = [st for st in self.epilogue if not st.axes]
        vector = [st for st in self.epilogue if st.axes]
        if scalar:
            s = Scope(None, self.func.body)
            self._total_scalars(s, threads)
            for st in scalar:
                self._store(s, st, "")
        if not vector:
            return
        tid, nth = Reg("tid2", i64), Reg("nth2", i64)
        body: list[Stmt] = []
        region = Scope(None, body)
        used = {n for st in vector for n in st.body.stages}
        if used & {st.name for st in [*self.outer_scalar, *self.full]}:
            self._total_scalars(region, threads)
        first = self.cols[0]
        assert first.extent is not None
        step = self.width if first is self.v and not self.row_vector else 1
        blocks = self.params.get((first.extent + step - 1) // ix(step), "column blocks")
        extent = self.params.get(first.extent, ("extent", first.name))
        lo = self.mul(region, self.let(region, "udiv", (self.mul(region, tid, blocks), nth), i64), imm(step))
        last = self.let(region, "udiv", (self.mul(region, self.add(region, tid, imm(1)), blocks), nth), i64)
        hi = self.prim(region, "min", self.mul(region, last, imm(step)), extent)
        self._epilogue_loops(region, 0, vector, threads, (lo, hi))
        self.func.body.append(Parallel(tid, nth, body))

    def _epilogue_loops(self, s: Scope, depth: int, stores: list[Stage], threads: Arg, span: tuple[Arg, Arg]) -> None:
        if depth == len(self.cols):
            self._epilogue_point(s, stores, threads)
            return
        a = self.cols[depth]
        assert a.extent is not None
        lo, hi = span if depth == 0 else (imm(0), self.params.get(a.extent, ("extent", a.name)))
        if a is not self.v:
            var = self.reg(i64, prefix="c")
            inside: list[Stmt] = []
            c = Scope(s, inside)
            c.axes[a] = self.own(c, var)
            self._epilogue_loops(c, depth + 1, stores, threads, span)
            s.body.append(For(var, lo, hi, imm(1), inside))
            return

        def at(c: Scope, base: Arg, mask: Arg | None) -> None:
            point = Scope(c, c.body)
            point.vector, point.lanes, point.mask = a, self.width, mask
            point.axes[a] = base
            self._epilogue_point(point, stores, threads)

        end = self._vector_loop(s, lo, hi, 1, lambda c, b, u, v: at(c, b, None))
        tail: list[Stmt] = []
        c = Scope(s, tail)
        mask = self.let(c, "lanemask", (self.prim(c, "sub", hi, end),), bool_, self.width)
        at(c, end, mask)
        s.body.append(If(self.prim(s, "lt", end, hi), tail))

    def _epilogue_point(self, s: Scope, stores: list[Stage], threads: Arg) -> None:
        used = {n for st in stores for n in st.body.stages}
        for st in self.outer_vec:
            if st.name in used:
                at = self._scratch_index(s)
                s.stages[st.name] = self.own(s, self._total(s, st, threads, at, self.params.get(self._columns(), "columns"), self.width))
        for st in stores:
            self._store(s, st, "")

    def _total_scalars(self, s: Scope, threads: Arg) -> None:
        for st in [*self.outer_scalar, *self.full]:
            s.stages[st.name] = self.own(s, self._total(s, st, threads, imm(0), imm(1), 1))

    def _total(self, s: Scope, st: Stage, threads: Arg, at: Arg, stride: Arg, lanes: int) -> Arg:
        """Sum of every thread's partial result at `at`, in thread order (deterministic)."""
        buf = self.partial[st.name]
        tail = next((c.mask for c in s.chain() if c.vector is not None), None)
        acc = self.reg(buf.dtype, lanes, "total")
        s.body.append(Var(acc, Imm(MONOIDS[st.monoid].identity(buf.dtype), buf.dtype, lanes)))
        t = self.reg(i64, prefix="t")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, t)
        where = self.add(c, self.mul(c, t, stride), at)
        mask = () if tail is None or lanes == 1 else (tail,)
        got = self.let(c, "load", (where, *mask), buf.dtype, lanes, buf)
        inside.append(Set(acc, self.prim(c, MONOIDS[st.monoid].combine, acc, got)))
        s.body.append(For(t, imm(0), threads, imm(1), inside))
        return self._as(s, self._freeze(s, acc), compute_type(st.dtype))
