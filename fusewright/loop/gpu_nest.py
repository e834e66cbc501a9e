"""Threads, rows and columns of a GPU kernel: where each thread is, and walks over the columns of its rows."""

from __future__ import annotations

from collections.abc import Callable

from ..core.dtypes import compute_type, i32, i64
from ..fusion.ir import Fusion, Stage
from ..fusion.online import Online, online
from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix, ix, sym
from ..index.layout import product
from ..schedule.gpu_base import DEAR, GpuSchedule, beside
from ..schedule.gpu_fit import room_for, row_bytes
from ..schedule.windows import one_for_all
from .accumulate import BLOCK, Reductions
from .borders import Borders
from .ir import Arg, Buf, Func, Grid, If, Let, Reg, Set, Stmt, Store, Var, zeros
from .passes import Passes
from .scope import Scope

BLOCKS, SPLITS = sym("blocks"), sym("splits")
KEEP = {"values": DEAR, "loads": 1 << 30}  # instructions per point from which on a value is kept in registers

Point = Callable[[Scope, Arg], None]


def running(f: Fusion, schedule: GpuSchedule) -> dict[str, Online]:
    """The reductions that are combined on the fly, by name: none where a row is held in registers, or scanned."""
    if schedule.mode == "persistent" or f.scans():
        return {}
    return online(f, {a for a in f.axes if a.name in schedule.cols})


def walks(f: Fusion, schedule: GpuSchedule) -> Passes:
    """What each walk over the columns of a row does."""
    held = schedule.mode == "persistent"
    return Passes(f, schedule, KEEP[schedule.keep] if held else None, held, running(f, schedule), False)


class Nest(Borders, Reductions):
    """One fusion under one schedule, being lowered.

    `width`: lanes of what varies along the vector axis; `row_vector`: that axis is a row axis; `meet`: how elements
    that several threads store to are combined.
    """

    meet = ""

    def __init__(self, f: Fusion, schedule: GpuSchedule, name: str):
        func = Func(name, target="cuda", index=i32 if schedule.index == 32 else i64)
        bufs = {b.name: Buf(b.name, b.dtype, b.output) for b in f.buffers}
        func.bufs = list(bufs.values())
        super().__init__(func, bufs)
        self.f = f
        self.s = schedule
        self.steady = schedule.steady
        self.p = walks(f, schedule)
        self.rows, self.cols, self.v = self.p.rows, self.p.cols, self.p.v
        self.width = schedule.lanes if self.v is not None else 1
        self.row_vector = self.v in self.rows
        self.rows_first = self.row_vector or schedule.interleaved  # threads of neighbouring rows are neighbours

    # --- sizes ---
    @property
    def row_lanes(self) -> int:
        """Lanes of what is one for each row."""
        return self.width if self.row_vector else 1

    def steps(self, a: Atom) -> Ix:
        """Steps that cover an axis: vectors along the vector axis, points along others."""
        assert a.extent is not None
        return (a.extent + self.width - 1) // ix(self.width) if a is self.v else a.extent

    def row_steps(self) -> Arg:
        return self.params.get(product(self.steps(a) for a in self.rows), "row steps")

    def col_steps(self) -> Arg:
        return self.params.get(product(self.steps(a) for a in self.cols), "column steps")

    def row_tiles(self) -> Ix:
        return (product(self.steps(a) for a in self.rows) + self.s.row_threads - 1) // ix(self.s.row_threads)

    # --- launches ---
    def launch(
        self, blocks: Ix, threads: int, what: str, role: str, cluster: int = 1, together: int = 0
    ) -> tuple[Scope, Reg, Reg]:
        """Begin a launch: its outermost scope, block number and thread number. `blocks`: in units of clusters.

        `together`: blocks that should fit a multiprocessor at once, where there are no more to run. Then their threads
        have the registers to ask for much at a time; a compiler that is told nothing saves registers instead, for
        blocks that do not come, and waits for each load in turn.
        """
        k = len(self.func.body)
        bid, tid = Reg(f"bid{k}", self.ix), Reg(f"tid{k}", self.ix)
        body: list[Stmt] = []
        s = Scope(None, body)
        self.own(s, bid)
        self.own(s, tid)
        count = self.params.get(blocks * cluster, ("blocks", role))
        together = together or (self.blocks_beside(threads) if k == 0 else 0)
        self.func.body.append(Grid(bid, count, tid, threads, body, what, cluster, together))
        return s, bid, tid

    def blocks_beside(self, threads: int) -> int:
        """How many blocks should fit a multiprocessor: as many as resident ones there are, unless those take turns.

        0 leaves it to the compiler.
        """
        if not self.s.resident or self.s.mode == "loop":
            return 0
        room = room_for(row_bytes(self.f, self.s)) if self.s.keep_in == "shared" else threads
        return max(1, min(room, beside(self.s)))

    def divide(self, s: Scope, a: Arg, n: int) -> tuple[Arg, Arg]:
        """(a // n, a % n) for a number n."""
        return (a, self.imm(0)) if n == 1 else self.divmod(s, a, self.imm(n))

    def divmod(self, s: Scope, a: Arg, n: Arg) -> tuple[Arg, Arg]:
        """(a // n, a % n)"""
        q = self.let(s, "udiv", (a, n), self.ix)
        return q, self.prim(s, "sub", a, self.mul(s, q, n))

    def place_thread(self, s: Scope, tid: Arg) -> tuple[Arg, Arg]:
        """(which of the block's rows, which of its columns) a thread has."""
        rt, ct = self.s.row_threads, self.s.col_threads
        if ct == 1:
            return tid, self.imm(0)
        if rt == 1:
            return self.imm(0), tid
        if self.rows_first:
            col, row = self.divide(s, tid, rt)
        else:
            row, col = self.divide(s, tid, ct)
        return row, col

    def row_stride(self) -> int:
        """Distance between threads of neighbouring rows; `col_stride`: of neighbouring columns."""
        return 1 if self.rows_first else self.s.col_threads

    def col_stride(self) -> int:
        return self.s.row_threads if self.rows_first else 1

    # --- positions ---
    def place(self, s: Scope, step: Arg, axes: list[Atom], role: str) -> None:
        """Define the axes at a linear step, the last axis fastest."""
        rest = step
        for k in range(len(axes) - 1, -1, -1):
            a = axes[k]
            at = rest
            if k:
                rest, at = self.divmod(s, rest, self.params.divisor(self.steps(a), (role, k)))
            if a is self.v:
                at = self.mul(s, at, self.imm(self.width))
                s.vector, s.lanes = a, self.width
            s.axes[a] = self.own(s, at)

    def place_row(self, s: Scope, tile: Arg, row: Arg) -> tuple[Arg, Arg | None]:
        """Define the row axes for row `row` of a tile: (row step, whether it exists; None if every row does).

        A thread whose row does not exist works on the last one, and stores nothing.
        """
        if not self.rows:
            return self.imm(0), None
        step = self.add(s, self.mul(s, tile, self.imm(self.s.row_threads)), row)
        valid = None
        if self.s.row_threads > 1:
            count = self.row_steps()
            valid = self.prim(s, "lt", step, count)
            step = self.prim(s, "min", step, self.add(s, count, self.imm(-1)))
        self.place(s, step, self.rows, "row")
        return step, valid

    def place_col(self, s: Scope, step: Arg) -> None:
        self.place(s, step, self.cols, "column")

    # --- walks over columns ---
    def serial_walk(
        self,
        s: Scope,
        lo: Arg,
        hi: Arg,
        col: Arg,
        points: Callable[[list[Scope]], None],
        back: bool = False,
        done: Callable[[Scope], None] | None = None,
    ) -> None:
        """Columns lo .. hi: `steps` vectors of a thread at a time, then single ones; `points(scopes)` for each time.

        `back`: from the last to the first. `done(scope)` is called whenever a thread has had about `BLOCK` vectors.
        """
        ct, n = self.s.col_threads, self.s.steps
        ends = self.add(s, self.add(s, lo, hi), self.imm(-1)) if back else None

        def place(x: Scope, step: Arg) -> None:
            self.place_col(x, step if ends is None else self.prim(x, "sub", ends, step))

        def several(c: Scope, var: Reg) -> None:
            at = self.add(c, var, col)
            scopes = []
            for u in range(n):
                x = Scope(c, c.body)
                place(x, self.add(c, at, self.imm(u * ct)))
                scopes.append(x)
            points(scopes)

        def single(c: Scope, var: Reg) -> None:
            step = self.add(c, var, col)
            body: list[Stmt] = []
            x = Scope(c, body)
            place(x, step)
            points([x])
            c.body.append(If(self.prim(c, "lt", step, hi), body))

        at_end = None if done is None else lambda b, *_: done(b)
        size = self.imm(max(1, BLOCK // n) * n * ct)
        start = lo
        if n > 1:
            length = self.span(s, lo, hi)
            whole = self.mul(s, self.let(s, "udiv", (length, self.imm(ct * n)), self.ix), self.imm(ct * n))
            end = self.add(s, lo, whole)
            self.in_blocks(s, lo, end, ct * n, size, several, at_end)
            start = end
        self.in_blocks(s, start, hi, ct, size, single, None if n > 1 else at_end)

    # --- statements at a point ---
    def only(self, s: Scope, *conditions: Arg | None) -> list[Stmt]:
        """The body that runs where all conditions hold; None always holds."""
        known = [c for c in conditions if c is not None]
        if not known:
            return s.body
        cond = known[0]
        for c in known[1:]:
            cond = self.prim(s, "and", cond, c)
        body: list[Stmt] = []
        s.body.append(If(cond, body))
        return body

    def store(self, s: Scope, st: Stage, *conditions: Arg | None) -> None:
        """Store a stage's value where all conditions hold."""
        assert st.offset is not None
        value = self.emit(s, st.body)
        base, contiguous = self.index(s, st.offset, st.buffer)
        buf = self.bufs[st.buffer]
        lanes = self.vector_of(s, frozenset(st.axes))
        tail = self.tail(s) if lanes > 1 else None
        if lanes > 1:
            value = self.splat(s, value, lanes)
            if not contiguous:
                base = self.splat(s, base, lanes)
        whole = tail is None or self.s.anchor
        hint = (self.mark(st.buffer, st.offset) or "") if contiguous and lanes > 1 and whole else ""
        self.only(s, *conditions).append(Store(buf, base, value, tail, hint, self.meet))

    def mark(self, buffer: str, offset: Ix) -> str | None:
        words = [w for w, names in (("aligned", self.s.aligned), ("stream", self.s.stream)) if buffer in names]
        return " ".join(words) if "aligned" in words else None

    def mark_single(self, buffer: str) -> str | None:
        return "stream" if self.s.lanes == 1 and buffer in self.s.stream else None

    def emit(self, s: Scope, e: Expr) -> Arg:
        """Conditions on positions are the same for all lanes of a vector, where the schedule says so."""
        if self.s.uniform and self.v is not None and self.v in e.axes and one_for_all(e, self.v):
            for c in s.chain():
                if e in c.memo:
                    return c.memo[e]
            home = self.level(s, e.axes, e.stages)
            if home.chain()[0].mask is None and self.tail(home) is None:
                args = tuple(self.at_first_lane(home, a) for a in e.args)
                out = home.memo[e] = self.prim(home, e.data, *args)
                return out
        return super().emit(s, e)

    def at_first_lane(self, s: Scope, e: Expr) -> Arg:
        if e.kind == "index":
            base, _ = self.index(s, e.data, "index")
            return self.as_number(s, base)
        return self.emit(s, e)

    def border_load(self, s: Scope, e: Expr, mask: Arg, base: Arg, lanes: int) -> Arg | None:
        if not self.between_borders(e.args[0]):
            return None
        ends = [self.condition_at(s, e.args[0], n) for n in (0, lanes - 1)]
        name, offset, _ = e.data
        buf = self.bufs[name]
        dtype = compute_type(buf.dtype)
        dst = self.reg(dtype, lanes, "maybe")
        got, some = self.reg(dtype, lanes), self.reg(dtype, lanes)
        whole: list[Stmt] = [Let(got, "load", (base,), buf, self.mark(name, offset)), Set(dst, got)]
        single: list[Stmt] = [Let(some, "load", (base, mask), buf), Set(dst, some)]
        s.body += [Var(dst, zeros(dtype, lanes)), If(self.prim(s, "and", *ends), whole, single)]
        return self.own(s, dst)

    def quads(self, column: Ix) -> bool:
        return self.v is not None and column.as_axis() is self.v
