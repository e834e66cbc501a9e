"""Short rows of a GPU kernel that pass through shared memory as one run of memory (`schedule/gpu_runs.py`).

A block copies what it reads of all its rows, waits, works on `row_threads` rows at a time, waits, and copies what it
stored of them. Copies are of whole vectors of 16 bytes, all of them asked for before one is waited for; the elements at
the very end of a tensor that are no whole vector are copied one by one.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.dtypes import compute_type
from ..fusion.ir import Fusion, Stage
from ..fusion.scalar import Expr
from ..index.expr import Ix, sym
from ..index.layout import product
from ..schedule import gpu_runs
from ..schedule.gpu_base import ACCESS, GpuSchedule, begin, linear, loads
from .gpu_moved import Moved
from .ir import Alloc, Arg, Barrier, Buf, For, If, Stmt, Store
from .scope import Scope

ROUNDS = sym("rounds")


class Runs(Moved):
    """`filled`, `drained`: for each buffer that passes through shared memory where it is there, read or stored; `room`:
    elements of those; `first`: where the row at hand begins in them."""

    first: Arg

    def __init__(self, f: Fusion, schedule: GpuSchedule, name: str):
        super().__init__(f, schedule, name)
        self.filled: dict[str, Buf] = {}
        self.drained: dict[str, Buf] = {}
        self.begins: dict[str, Ix] = {}
        if not schedule.runs:
            return
        self.room = gpu_runs.room(f, schedule)
        found = gpu_runs.begins(f, [*self.rows, *self.cols])
        self.begins = {b: next(iter(found[b])) for b in sorted(schedule.runs)}
        read = {e.data[0] for e in loads(f) if self.passes_through(e)}
        stored = {st.buffer for st in f.stores()}
        for where, what, names in ((self.filled, "run", read), (self.drained, "result", stored)):
            for b in self.begins:
                if b in names:
                    buf = where[b] = Buf(f"{what}_{b}", self.bufs[b].dtype)
                    self.func.allocs.append(Alloc(buf, self.imm(self.room), "block"))

    def passes_through(self, e: Expr) -> bool:
        """Whether what a load reads is in a run."""
        name, offset, _ = e.data
        return not e.args and name in self.begins and begin(offset, [*self.rows, *self.cols]) is not None

    # --- what is read and stored at a point ---
    def in_run(self, s: Scope) -> Arg:
        """Where in a run the column at hand is."""
        at, _ = self.index(s, linear(self.cols), "column")
        return self.add(s, self.first, at)

    def _load(self, s: Scope, e: Expr, lanes: int) -> Arg:
        name, _, dtype = e.data
        if not self.passes_through(e):
            return super()._load(s, e, lanes)
        mark = "aligned" if lanes > 1 else None
        return self.let(s, "load", (self.in_run(s),), compute_type(dtype), lanes, self.filled[name], mark)

    def store(self, s: Scope, st: Stage, *conditions: Arg | None) -> None:
        if st.buffer not in self.drained:
            super().store(s, st, *conditions)
            return
        value = self.emit(s, st.body)
        lanes = self.vector_of(s, frozenset(st.axes))
        mark = "aligned" * (lanes > 1)
        store = Store(self.drained[st.buffer], self.in_run(s), self.splat(s, value, lanes), None, mark)
        self.only(s, *conditions).append(store)

    # --- a block ---
    def all_rounds(self, row: Callable[[Scope, Arg, Arg | None], None]) -> None:
        """A kernel whose blocks have several rounds of rows: `row(scope, column, valid)` for a thread's row in each."""
        n = self.imm(self.s.row_threads)
        many = ROUNDS * self.s.row_threads
        count = product(a.extent for a in self.rows if a.extent is not None)
        s, bid, tid = self.launch((count + many - 1) // many, self.s.threads, self.s.family, "rows")
        place, col = self.place_thread(s, tid)
        most = self.params.get(many, "rows of a block")
        top = self.mul(s, bid, most)
        here = self.prim(s, "min", self.prim(s, "sub", self.row_steps(), top), most)
        columns = self.params.get(product(a.extent for a in self.cols if a.extent is not None), "columns of a row")
        start, elements = self.mul(s, top, columns), self.mul(s, here, columns)
        for b, buf in self.filled.items():
            self.move(s, tid, elements, (self.bufs[b], self.place_of(s, b, start)), (buf, self.imm(0)))
        s.body.append(Barrier("the rows are there"))
        turn = self.reg(self.ix, prefix="turn")
        inside: list[Stmt] = []
        x = Scope(s, inside)
        self.own(x, turn)
        tile = self.add(x, self.mul(s, bid, self.params.get(ROUNDS, "rounds")), turn)
        step, valid = self.place_row(x, tile, place)
        self.first = self.mul(x, self.prim(x, "sub", step, top), columns)
        row(x, col, valid)
        turns = self.let(s, "udiv", (self.add(s, here, self.imm(self.s.row_threads - 1)), n), self.ix)
        s.body.append(For(turn, self.imm(0), turns, self.imm(1), inside))
        if self.drained:
            s.body.append(Barrier("the results are there"))
        for b, buf in self.drained.items():
            self.move(s, tid, elements, (buf, self.imm(0)), (self.bufs[b], self.place_of(s, b, start)))

    def place_of(self, s: Scope, buffer: str, start: Arg) -> Arg:
        return self.add(s, start, self.scalar_index(s, self.begins[buffer], buffer))

    def move(self, s: Scope, tid: Arg, count: Arg, source: tuple[Buf, Arg], to: tuple[Buf, Arg]) -> None:
        """Copy so many elements, from a multiple of 16 bytes on to another, by all threads of a block."""
        dtype = source[0].dtype
        value, lanes = compute_type(dtype), max(1, ACCESS // dtype.itemsize)
        vectors = self.let(s, "udiv", (count, self.imm(lanes)), self.ix)
        inside: list[Stmt] = []
        x = Scope(s, inside)
        last = self.add(x, vectors, self.imm(-1))
        mark = "aligned" if lanes > 1 else None
        got = []
        for u in range(-(-self.room // (lanes * self.s.threads))):
            k = self.add(x, tid, self.imm(u * self.s.threads))
            at = self.mul(x, self.prim(x, "min", k, last), self.imm(lanes))
            read = self.let(x, "load", (self.add(x, source[1], at),), value, lanes, source[0], mark)
            got.append((self.prim(x, "lt", k, vectors), at, read))
        for there, at, read in got:
            put = Store(to[0], self.add(x, to[1], at), read, None, mark or "")
            self.only(x, there).append(put)
        s.body.append(If(self.prim(s, "gt", vectors, self.imm(0)), inside))
        if lanes == 1:
            return
        at = self.add(s, self.mul(s, vectors, self.imm(lanes)), tid)
        single: list[Stmt] = []
        x = Scope(s, single)
        one = self.let(x, "load", (self.add(x, source[1], at),), value, 1, source[0])
        single.append(Store(to[0], self.add(x, to[1], at), one))
        s.body.append(If(self.prim(s, "lt", at, count), single))
