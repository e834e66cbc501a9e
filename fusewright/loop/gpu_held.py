"""Rows that the threads of a GPU kernel hold between passes, in registers or in shared memory, and how they get there.

In registers (`array`): loads of a pass come before its arithmetic, as many as may be on their way at once. In shared
memory each thread has scratch of its own, which asynchronous copies fill (`copy_row`): a whole row is on its way before
the first pass, in groups, and a pass waits for the group that it comes to. What is not of a row (a weight) is read into
registers in either case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage
from ..fusion.scalar import Expr
from ..schedule.gpu_base import GpuSchedule, row_load
from .gpu_nest import Point
from .gpu_runs import Runs
from .ir import Alloc, Arg, Buf, Commit, Copy, For, If, Reg, Stmt, Store, Var, Wait
from .scope import Scope

AHEAD = 64  # 32-bit words that a thread of a persistent row asks memory for before it waits for the first
BESIDE = 16  # such words of what is not of the row, which caches have: more threads run at once
STEADY = 24  # 32-bit words per thread of what is the same for all rows, at most, that are read only once
NEXT = 32  # words per thread of a row, at most, that are asked for while the row before is being worked on
ONCE = 8  # such words of what a row has once, as its mean
GROUPS = 4  # of copies of a row that a pass waits for one after the other
STRAIGHT = 8  # vectors of a row in shared memory up to which a pass is written out; of more it is a loop
ROLL = 4  # vectors of a round of such a loop


def at_places(e: Expr) -> bool:
    """Whether something in `e` is read at a place that memory gives."""
    return any(x.kind == "load" and any(a.kind == "value" for a in x.data[1].atoms()) for x in sc.walk([e]))


class Held(Runs):
    """`keep`: what threads hold, with its arrays; `early`: loads that come before the passes that want them; `ahead`:
    what is read of the next row into registers, while a resident block works on one; `once`: what it has once."""

    def __init__(self, f: Fusion, schedule: GpuSchedule, name: str):
        super().__init__(f, schedule, name)
        self.shared = schedule.keep_in == "shared"
        self.keep: dict[Expr, Buf] = {}
        self.ahead: dict[Expr, Buf] = {}
        self.once: dict[Expr, Buf] = {}
        self.early: set[Expr] = set()
        self._loads_of: dict[int, list[Expr]] = {}
        self.base: Arg = self.imm(0)  # the first vector of a round: vector k of it is vector base + k of the row
        self.half: Arg = self.imm(0)  # where the row begins in the scratch of shared memory
        self.waits: dict[int, list[tuple[int, int, int]]] = {}  # pass -> (lo, hi, groups that come later)
        inside = [e for e in self.p.kept if not self.in_shared(e)]
        self.rolled = self.shared and schedule.steps > STRAIGHT and not inside and not self.p.outer_vec
        for e in self.p.kept:
            self.array(e)

    turn: Reg  # where in shared memory the row is that comes next
    k: Arg  # the number of the vector a thread is at, in a round of a persistent walk
    number: Arg  # its number in the row

    # --- where a row is ---
    def in_shared(self, e: Expr) -> bool:
        return self.shared and row_load(e, self.rows, self.cols)

    def array(self, e: Expr) -> Buf:
        """The array of what a thread has of `e`."""
        buf = self.keep.get(e)
        if buf is None:
            buf = self.keep[e] = Buf(f"kept{len(self.keep)}", e.data[2] if e.kind == "load" else e.dtype)
            scope, steps = "register", ROLL if self.rolled else self.s.steps
            if self.in_shared(e):
                scope, steps = "own", self.s.steps * (1 + self.s.ahead)
            self.func.allocs.append(Alloc(buf, self.imm(steps * self.width), scope))
        return buf

    def kept_at(self, s: Scope, e: Expr | None = None) -> Arg:
        """Where in the array of `e` (registers, if None) the vector of this point is."""
        if e is None or not self.in_shared(e):
            return self.mul(s, self.k, self.imm(self.width))
        return self.add(s, self.half, self.mul(s, self.number, self.imm(self.width)))

    def keep_load(self, s: Scope, e: Expr, buf: Buf) -> Arg:
        """A value that an earlier pass left, or that was asked for."""
        return self.let(s, "load", (self.kept_at(s, e),), e.dtype, self.width, buf)

    # --- walks ---
    def persistent_walk(self, s: Scope, number: int, col: Arg, point: Point) -> None:
        """The columns a thread holds: `point(scope, k)` for its k-th vector (of those at hand, if not all are).

        Before that the loads of pass `number` are read into registers, of as many vectors as may be on their way at
        once, or waited for. `col`: the thread's number among those of its row, in all blocks of a cluster.
        """
        loads = [e for e in self.loads_of(number) if e not in self.early]
        n = self.s.steps
        words = self.load_words(loads)
        of_row = not self.shared and any(e.axes & set(self.rows) for e in loads)
        most = AHEAD if of_row else max(BESIDE, self.passing())
        chunk = max(1, min(n, most // words)) if words else n
        walks = (*(self.reader({e: self.array(e) for e in group}) for group in self.in_turn(loads)), point)
        for first, end, later in self.waits.get(number, [(0, n, -1)]):
            if later >= 0:
                s.body.append(Wait(later))
            if self.rolled:
                self.rounds(s, col, first, end, walks)
                continue
            for lo in range(first, end, chunk):
                for walk in walks:
                    self.held_steps(s, col, lo, min(end, lo + chunk), walk)

    def passing(self) -> int:
        """32-bit words of a row that a pass asks for at once and does not keep, at most: there is room for as many."""
        if self.shared:
            return 0
        rows, kept = set(self.rows), self.p.kept
        loads = ([e for e in self.loads_of(p) if e.axes & rows and e not in kept] for p in self.p.work)
        return max((min(AHEAD, self.s.steps * self.load_words(es)) for es in loads), default=0)

    def held_steps(self, s: Scope, col: Arg, lo: int, hi: int, point: Point) -> None:
        """`point(scope, k)` for the vectors lo <= k < hi of a thread (of a round), those that exist."""
        var = self.reg(self.ix, prefix="k")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, var)
        number = self.number = self.add(c, self.base, var)
        step = self.add(c, self.mul(c, number, self.imm(self.s.cluster * self.s.col_threads)), col)
        body: list[Stmt] = []
        x = Scope(c, body)
        self.place_col(x, step)
        point(x, var)
        inside.append(If(self.prim(c, "lt", step, self.col_steps()), body))
        s.body.append(For(var, self.imm(lo), self.imm(hi), self.imm(1), inside, True))

    def rounds(self, s: Scope, col: Arg, first: int, end: int, walks: Sequence[Point]) -> None:
        """The vectors first <= k < end of a thread in a loop over rounds of `ROLL`, and what is left of them."""
        whole = first + (end - first) // ROLL * ROLL
        if end - first < 2 * ROLL:
            whole = first
        if whole > first:
            var = self.reg(self.ix, prefix="base")
            inside: list[Stmt] = []
            c = Scope(s, inside)
            self.base = self.own(c, var)
            for walk in walks:
                self.held_steps(c, col, 0, ROLL, walk)
            s.body.append(For(var, self.imm(first), self.imm(whole), self.imm(ROLL), inside))
        for lo in range(whole, end, ROLL):
            self.base = self.imm(lo)
            for walk in walks:
                self.held_steps(s, col, 0, min(ROLL, end - lo), walk)
        self.base = self.imm(0)

    def load_words(self, loads: Iterable[Expr]) -> int:
        """32-bit words of a vector of each of these loads."""
        return sum(max(1, self.width * e.data[2].itemsize // 4) for e in loads)

    def reader(self, into: Mapping[Expr, Buf]) -> Point:
        """Reads loads at a point into the thread's arrays."""

        def point(x: Scope, k: Arg) -> None:
            self.k = k
            for e, buf in into.items():
                x.body.append(Store(buf, self.kept_at(x), self.splat(x, self.emit(x, e), self.width)))

        return point

    # --- loads of a row ---
    def loads_of(self, number: int) -> list[Expr]:
        """What pass `number` of a persistent row reads at every point, for certain, and finds nowhere: it is asked for
        before anything is computed, so that it is on its way together."""
        if self.s.mode != "persistent":
            return []
        found = self._loads_of.get(number)
        if found is None:
            here = {e for p, es in self.p.keep_at.items() if p < number for e in es}
            loads: list[Expr] = []
            stack = [self.p.operand(st) for st in self.p.work[number]]
            visited: set[Expr] = set()
            while stack:
                e = stack.pop()
                if e in visited or e in here:
                    continue
                visited.add(e)
                if e.kind == "load" and not e.args and self._plain(e):
                    loads.append(e)
                stack.extend(e.children())
            found = self._loads_of[number] = loads[::-1]
        return found

    def _plain(self, e: Expr) -> bool:
        """Whether a load is of a vector that differs from column to column, at a place that positions alone give."""
        varies = bool(e.axes & set(self.cols)) and (self.v is None or self.v in e.axes)
        return varies and not at_places(e)

    def fetch_steady(self, s: Scope, col: Arg) -> None:
        """Read what is the same for all rows of a resident block, once, if it is little."""
        if self.start is not None:  # each row has other columns in a thread
            return
        every = dict.fromkeys(e for p in sorted(self.p.work) for e in self.loads_of(p))
        loads = [e for e in every if not e.axes & set(self.rows)]
        if loads and not self.rolled and self.load_words(loads) * self.s.steps <= STEADY:
            self.held_steps(s, col, 0, self.s.steps, self.reader({e: self.array(e) for e in loads}))
            self.early |= set(loads)

    # --- asynchronous copies ---
    def copy_row(self, s: Scope, col: Arg) -> None:
        """Ask for all that is read of the row at hand and held in shared memory, in the order in which passes want it.

        `waits` says from then on what is to be waited for; a row that was asked for ahead has come when it is begun.
        """
        found: list[tuple[int, int, int]] = []
        asked: set[Expr] = set()
        n = self.s.steps
        for p in sorted(self.p.work):
            loads = [e for e in self.loads_of(p) if self.in_shared(e) and e not in asked]
            if not loads:
                continue
            unit = ROLL if self.rolled else 1
            cut = n if asked or self.s.ahead else -(-n // (GROUPS * unit)) * unit
            asked |= set(loads)
            for lo in range(0, n, cut):
                hi = min(n, lo + cut)
                into = {e: self.array(e) for e in loads}
                walks = (self.copier(into),) if self.start is None else (self.copier(into), self.part_copier(into))
                if self.rolled:
                    self.rounds(s, col, lo, hi, walks)
                else:
                    for walk in walks:
                        self.held_steps(s, col, lo, hi, walk)
                if not self.s.ahead:  # else the whole row is a group (`ask_ahead` of `gpu.py`)
                    s.body.append(Commit())
                found.append((p, lo, hi))
        self.early |= asked
        if not self.s.ahead:
            self.waits = {}
            for k, (p, lo, hi) in enumerate(found):
                self.waits.setdefault(p, []).append((lo, hi, len(found) - 1 - k))

    def copier(self, into: Mapping[Expr, Buf]) -> Point:
        """Begins to copy what loads read at a point to the thread's scratch, but for partial vectors."""

        def point(x: Scope, k: Arg) -> None:
            self.k = k
            for e, buf in into.items():
                name, offset, _ = e.data
                index, contiguous = self.index(x, offset, name)
                if contiguous or self.width == 1:
                    mark = (self.mark(name, offset) or "").replace(" stream", "") if self.width > 1 else ""
                    whole = None if x.partial is None else self.prim(x, "not", x.partial)
                    copy = Copy(buf, self.kept_at(x, e), self.bufs[name], index, self.width, mark)
                    self.only(x, whole).append(copy)
                else:
                    value = self.splat(x, self.emit(x, e), self.width)
                    x.body.append(Store(buf, self.kept_at(x, e), value))

        return point

    def part_copier(self, into: Mapping[Expr, Buf]) -> Point:
        """Reads partial vectors, and leaves them where the others are copied to."""

        def point(x: Scope, k: Arg) -> None:
            self.k = k
            assert x.partial is not None
            part: list[Stmt] = []
            c = Scope(x, part)
            for e, buf in into.items():
                part.append(Store(buf, self.kept_at(x, e), self._load(c, e, self.width)))
            x.body.append(If(x.partial, part))

        return point

    # --- the next row ---
    def look_ahead(self, s: Scope) -> None:
        """Give what the first pass of a resident block reads of its next row arrays of its own, if it is little."""
        if self.s.ahead:
            self.turn = self.reg(self.ix, prefix="half")
            s.body.append(Var(self.turn, self.imm(0)))
        for k, e in enumerate(self.loads_once()):
            once = self.once[e] = Buf(f"once{k}", e.data[2])
            self.func.allocs.append(Alloc(once, self.imm(1), "register"))
        loads = [e for e in self.loads_of(min(self.p.work)) if e not in self.early] if self.p.work else []
        if self.shared or self.load_words(loads) * self.s.steps > NEXT:
            return
        for k, e in enumerate(loads):
            buf = self.ahead[e] = Buf(f"next{k}", self.array(e).dtype)
            self.func.allocs.append(Alloc(buf, self.imm(self.s.steps * self.width), "register"))
        self.early |= set(loads)

    def once_of(self, stages: Iterable[Stage]) -> list[Expr]:
        """What `stages` read once for a row that a thread has, for certain, at places that positions alone give."""
        cols = {*self.cols, self.v} if self.row_vector else set(self.cols)
        loads = (e for e in sc.walk(list(map(self.p.operand, stages))) if e.kind == "load" and not e.args)
        return [e for e in loads if not e.axes & cols and not at_places(e)]

    def loads_once(self) -> list[Expr]:
        """What a resident block's row has once, if it is little."""
        words, found = 0, []
        for e in self.once_of([*self.in_passes(), *self.p.outer_scalar, *self.p.row_stores]):
            if e.axes:
                words += max(1, e.data[2].itemsize // 4)
                if words <= ONCE:
                    found.append(e)
        return found

    def in_passes(self) -> list[Stage]:
        """What passes compute, in order."""
        return [st for p in sorted(self.p.work) for st in self.p.work[p]]

    def fetch_row(self, s: Scope, tile: Arg, row: Arg, col: Arg) -> None:
        """Ask for what `look_ahead` found, of a row: while a resident block works on the row before."""
        if self.ahead or self.once:
            self.place_row(s, tile, row)
        for e, into in self.once.items():
            s.body.append(Store(into, self.imm(0), self._load(s, e, 1)))
        if self.ahead:
            self.held_steps(s, col, 0, self.s.steps, self.reader(self.ahead))

    def fetch_ahead(self, s: Scope, tile: Arg, row: Arg, col: Arg, place: Arg) -> None:
        """Ask for a row, to `place` in shared memory: while a resident block works on one of the rows before."""
        self.place_row(s, tile, row)
        here, self.half = self.half, place
        self.copy_row(s, col)
        self.half = here

    def turn_over(self, s: Scope, col: Arg) -> Arg:
        """The row that was asked for becomes the row to work on; returns where in shared memory the next one goes."""

        def move(x: Scope, k: Arg) -> None:
            self.k = k
            for e, buf in self.ahead.items():
                got = self.let(x, "load", (self.kept_at(x),), e.dtype, self.width, buf)
                x.body.append(Store(self.array(e), self.kept_at(x), got))

        for e, came in self.once.items():
            s.memo[e] = self.let(s, "load", (self.imm(0),), e.dtype, 1, came)
        if self.ahead:
            self.held_steps(s, col, 0, self.s.steps, move)
        if not self.s.ahead:
            return self.imm(0)
        s.body.append(Wait(self.s.ahead - 1))  # rows after this one may still be on their way
        self.half = self.own(s, self.freeze(s, self.turn))
        return self.next_to(s, self.half, back=True)

    def next_to(self, s: Scope, turn: Arg, back: bool) -> Arg:
        """The place in shared memory after `turn`, of the ring of places for rows, or before it."""
        size, last = self.imm(self.s.steps * self.width), self.imm(self.s.ahead * self.s.steps * self.width)
        if self.s.ahead == 1:  # either way
            return self.prim(s, "sub", size, turn)
        end, other = (self.imm(0), last) if back else (last, self.imm(0))
        step = self.prim(s, "sub", turn, size) if back else self.add(s, turn, size)
        return self.prim(s, "where", self.prim(s, "eq", turn, end), other, step)
