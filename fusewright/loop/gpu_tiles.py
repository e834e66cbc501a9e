"""Elementwise GPU kernels: tiles of points, and transposes through shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from ..core.dtypes import DType, bool_
from ..fusion import scalar as sc
from ..fusion.scalar import Expr, on_positions
from ..index.expr import ONE, Atom, ix
from ..index.layout import product
from ..schedule.gpu_base import ACCESS, STAGE, sides
from ..schedule.gpu_runs import WORD
from .gpu_moved import Moved
from .ir import Alloc, Arg, Barrier, Buf, For, If, Stmt, Store
from .scope import Scope

ROOM = 48 << 10  # bytes of shared memory that tiles take at most: what else is turned is read across


class Tiles(Moved):
    """Kernels without reductions. `again`: the repeated axis; `turn`: which points of it the block has; `own_row`: its
    threads' rows, if those are rows of that axis, too."""

    again: Atom | None = None
    turn: Arg
    own_row: Arg | None = None

    def run(self) -> None:
        if self.s.mode == "staged":
            self.transpose()
        else:
            self.tiles()

    # --- plain tiles ---
    def tiles(self) -> None:
        """A block takes `row_threads` rows by `col_threads * steps` vectors; only the last vectors are checked.

        Vectors of several column axes follow each other, and are all whole. Where the repeated axis is the only one of
        the rows, a block has `row_threads * repeats` points of it, and a thread every `row_threads`-th of those.
        """
        n = self.s.col_threads * self.s.steps
        col_tiles = (product(self.steps(a) for a in self.cols) + n - 1) // ix(n)
        self.again = next((a for a in self.rows if a.name == self.s.repeat), None)
        self.rows = [a for a in self.rows if a is not self.again]
        count_again = ix(1)
        alone = self.again is not None and not self.rows and self.s.row_threads > 1
        if self.again is not None:
            assert self.again.extent is not None
            points = self.s.repeats * (self.s.row_threads if alone else 1)
            count_again = (self.again.extent + points - 1) // ix(points)
        s, bid, tid = self.launch(self.row_tiles() * count_again * col_tiles, self.s.threads, self.s.family, "tiles")
        row, col = self.place_thread(s, tid)
        self.own_row = row if alone else None
        if not self.cols:
            self.points([s], [self.prim(s, "eq", tid, self.imm(0)) if self.s.threads > 1 else None])
            return
        tile: Arg = bid
        across: Arg = self.imm(0)
        if self.rows or self.again is not None:
            count = self.params.divisor(col_tiles, "column tiles")
            across, tile = self.divmod(s, bid, count)
        if self.again is not None:
            across, self.turn = self.divmod(s, across, self.params.divisor(count_again, "repeated tiles"))
        _, valid = self.place_row(s, across, row)
        start = self.mul(s, tile, self.imm(n))
        first = self.add(s, start, col)
        if self.start is not None:
            self.moved_tile(s, first, valid)
            return
        if self.s.whole:
            self.whole_tile(s, first, valid)
            return
        (v,) = self.cols
        assert v.extent is not None
        extent = self.params.get(v.extent, ("extent", v.name))
        end = self.mul(s, self.add(s, start, self.imm(n)), self.imm(self.width))
        whole = self.prim(s, "le", end, extent)
        fast: list[Stmt] = []
        x = Scope(s, fast)
        scopes = []
        for u in range(self.s.steps):
            c = Scope(x, fast)
            self.place_col(c, self.add(x, first, self.imm(u * self.s.col_threads)))
            scopes.append(c)
        self.points(scopes, [valid] * len(scopes))
        slow: list[Stmt] = []
        self.edge(Scope(s, slow), first, extent, valid)
        s.body.append(If(whole, fast, slow))

    def moved_tile(self, s: Scope, first: Arg, valid: Arg | None) -> None:
        """The vectors of a thread in a row that was moved back; those beyond its end have no lanes."""
        inside: list[Stmt] = []
        x = Scope(s, inside)
        scopes = []
        for u in range(self.s.steps):
            c = Scope(x, inside)
            self.place_col(c, self.add(x, first, self.imm(u * self.s.col_threads)))
            scopes.append(c)
        self.ask_first(scopes, [st.body for st in self.f.stores()])
        self.points(scopes, [valid] * len(scopes))
        s.body.append(If(self.prim(s, "lt", first, self.col_steps()), inside))

    def whole_tile(self, s: Scope, first: Arg, valid: Arg | None) -> None:
        """The vectors of a thread, none of which is partial; those beyond the columns are the last one, not stored."""
        count = self.col_steps()
        last = self.add(s, count, self.imm(-1))
        scopes: list[Scope] = []
        exists: list[Arg | None] = []
        for u in range(self.s.steps):
            step = self.add(s, first, self.imm(u * self.s.col_threads))
            there = self.prim(s, "lt", step, count)
            c = Scope(s, s.body)
            self.place_col(c, self.prim(s, "min", step, last))
            scopes.append(c)
            exists.append(there if valid is None else self.prim(s, "and", there, valid))
        self.points(scopes, exists)

    def edge(self, s: Scope, first: Arg, extent: Arg, valid: Arg | None) -> None:
        """The tile at the end of the columns: vector by vector, with what exists of each."""
        var = self.reg(self.ix, prefix="k")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, var)
        step = self.add(c, first, self.mul(c, var, self.imm(self.s.col_threads)))
        at = self.mul(c, step, self.imm(self.width))
        body: list[Stmt] = []
        x = Scope(c, body)
        self.place_col(x, step)
        if self.width > 1:
            x.mask = self.let(x, "lanemask", (self.prim(x, "sub", extent, at),), bool_, self.width)
        self.points_in_turn(x, valid)
        inside.append(If(self.prim(c, "lt", at, extent), body))
        s.body.append(For(var, self.imm(0), self.imm(self.s.steps), self.imm(1), inside))

    def points_in_turn(self, p: Scope, valid: Arg | None) -> None:
        """The stores of a thread at the edge, one repeated point after the other."""
        if self.again is None:
            self.points([p], [valid])
            return
        var = self.reg(self.ix, prefix="u")
        inside: list[Stmt] = []
        c = Scope(p, inside)
        self.own(c, var)
        x, there = self.repeated(c, var)
        self.emit_points([x], [there if valid is None else self.prim(x, "and", there, valid)])
        p.body.append(For(var, self.imm(0), self.imm(self.s.repeats), self.imm(1), inside))

    def points(self, places: list[Scope], valids: list[Arg | None]) -> None:
        """The stores at some points (None: it exists), and those of the repeated axis at each."""
        scopes, exists = places, valids
        if self.again is not None:
            scopes, exists = [], []
            for p, valid in zip(places, valids, strict=True):
                for u in range(self.s.repeats):
                    x, there = self.repeated(p, self.imm(u))
                    scopes.append(x)
                    exists.append(there if valid is None else self.prim(x, "and", there, valid))
        self.emit_points(scopes, exists)

    def emit_points(self, scopes: list[Scope], exists: list[Arg | None]) -> None:
        """The stores at some points that exist: every value is computed before the first of them is stored."""
        stores = self.p.nest or self.f.stores()
        self.check_all(scopes, [c for c, _, _ in self.p.checks], exists)
        for x in scopes:
            for st in stores:
                self.emit(x, st.body)
        for x, condition in zip(scopes, exists, strict=True):
            for st in stores:
                self.store(x, st, condition)

    def repeated(self, p: Scope, u: Arg) -> tuple[Scope, Arg]:
        """The u-th point of a thread along the repeated axis, and whether it exists; if not, it is the last one."""
        assert self.again is not None and self.again.extent is not None
        x = Scope(p, p.body)
        at = self.add(p, self.mul(p, self.turn, self.imm(self.s.repeats)), u)
        if self.own_row is not None:
            at = self.add(p, self.mul(p, at, self.imm(self.s.row_threads)), self.own_row)
        end = self.params.get(self.again.extent, ("extent", self.again.name))
        x.axes[self.again] = self.own(x, self.prim(p, "min", at, self.add(p, end, self.imm(-1))))
        return x, self.prim(p, "lt", at, end)

    # --- transposes ---
    def transpose(self) -> None:
        """A block takes a tile of STAGE * STAGE points along `across` and the vector axis.

        What is contiguous along `across` is computed that way and left in shared memory, from where it is read across.
        """
        v = self.v
        a = next(x for x in self.rows if x.name == self.s.across)
        others = [x for x in self.rows if x is not a]
        assert v is not None and v.extent is not None and a.extent is not None
        self.sides = sides(self.s)
        count_a, count_v = ((ix(x) + n - 1) // ix(n) for x, n in zip((a.extent, v.extent), self.sides, strict=True))
        blocks = product(x.extent for x in others if x.extent is not None) * count_a * count_v
        s, bid, tid = self.launch(blocks, self.s.threads, "transpose", "tiles")
        rest, tile_v = self.divmod(s, bid, self.params.divisor(count_v, "tiles v"))
        rest, tile_a = self.divmod(s, rest, self.params.divisor(count_a, "tiles a"))
        for k in range(len(others) - 1, 0, -1):
            extent = others[k].extent
            assert extent is not None
            rest, at = self.divmod(s, rest, self.params.divisor(extent, ("row", k)))
            s.axes[others[k]] = self.own(s, at)
        if others:
            s.axes[others[0]] = self.own(s, rest)
        at_a, at_v = (self.mul(s, t, self.imm(n)) for t, n in zip((tile_a, tile_v), self.sides, strict=True))
        end_v = self.params.get(v.extent, ("extent", v.name))
        end_a = self.params.get(a.extent, ("extent", a.name))
        place = (at_a, at_v), (end_a, end_v)
        inside = [
            self.prim(s, "le", self.add(s, b, self.imm(n)), e) for b, e, n in zip(*place, self.sides, strict=True)
        ]
        whole = self.prim(s, "and", *inside)
        staged = self.crossing(a, v)
        tiles = [Buf(f"tile{k}", _stored(e)) for k, e in enumerate(staged)]
        for tile in tiles:
            self.func.allocs.append(Alloc(tile, self.imm(self.elements(tile.dtype)), "block"))

        needed = needs([st.body for st in self.f.stores()])

        def both_ways(emit: Callable[[Scope, bool], None]) -> None:
            fast, slow = Scope(s, []), Scope(s, [])
            emit(fast, True)
            emit(slow, False)
            s.body.append(If(whole, fast.body, slow.body))

        def stage(x: Scope, whole: bool) -> None:
            for e, tile in zip(staged, tiles, strict=True):
                self.stage_in(x, e, tile, a, v, tid, *place, whole, needed[e])

        if staged:
            both_ways(stage)
            s.body.append(Barrier("the tiles are complete"))
        held = dict(zip(staged, tiles, strict=True))
        both_ways(lambda x, whole: self.across_tile(x, held, a, v, tid, *place, whole))

    def crossing(self, a: Atom, v: Atom) -> list[Expr]:
        """What passes through shared memory: values that are made of what is contiguous along `a` and strided along
        `v`, and of what has not both axes. Of a value and what it is made of, whichever takes fewer bytes."""
        known: dict[Expr, tuple[bool, frozenset[Expr]]] = {}  # (can be computed along `a`, what of it to stage)
        order = sc.walk([st.body for st in self.f.stores()])
        for e in order:
            below = [known[x] for x in e.children()]
            turns = all(t for t, _ in below) and e.kind not in ("random", "stage")
            parts = frozenset[Expr]().union(*(staged for _, staged in below))
            if e.kind == "load" and {a, v} <= e.data[1].axes():
                crosses = e.data[1].coefficient(a) is ONE and e.data[1].coefficient(v) is not ONE
                turns = turns and crosses and len(e.children()) == len(e.args)
                parts = frozenset({e}) if turns else parts
            elif turns and (self.bytes_of([e]), 1) < (self.bytes_of(parts), len(parts)):
                parts = frozenset({e})
            known[e] = turns, parts
        wanted = frozenset[Expr]().union(*(known[st.body][1] for st in self.f.stores()))
        room, out = ROOM, []
        for e in order:
            if e in wanted and self.bytes_of([e]) <= room:
                room -= self.bytes_of([e])
                out.append(e)
        return out

    def stage_in(
        self,
        s: Scope,
        e: Expr,
        tile: Buf,
        a: Atom,
        v: Atom,
        tid: Arg,
        at: tuple[Arg, Arg],
        end: tuple[Arg, Arg],
        whole: bool,
        needed: frozenset[Expr],
    ) -> None:
        """Compute a tile in vectors along `a`, if one of its points may want it (`needed`: what has to hold for that);
        tile[v][a] = e. What is beyond the end is something else, and not used: without conditions all of a thread's
        loads are on their way at once."""
        lanes, (side_a, side_v) = self.s.turned, self.sides
        per_row = side_a // lanes
        stride = self.s.threads // per_row
        y, x = self.divide(s, tid, per_row)
        col = self.mul(s, x, self.imm(lanes))
        var = self.reg(self.ix, prefix="k")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, var)
        row = self.add(c, y, self.mul(c, var, self.imm(stride)))
        p = Scope(c, inside)
        p.axes[a], p.axes[v] = self.add(s, at[0], col), self.add(c, at[1], row)
        if not whole:
            p.axes[a] = self.prim(s, "min", p.axes[a], self.add(s, end[0], self.imm(-lanes)))
            p.axes[v] = self.prim(c, "min", p.axes[v], self.add(s, end[1], self.imm(-1)))
        self.own(s, p.axes[a])
        self.own(p, p.axes[v])
        p.vector, p.lanes = a, lanes
        with self.turned(a):
            value = self.splat(p, self.emit(p, e), lanes)
        index, mark = self.in_tile(p, tile.dtype, (col, row), lanes, True)
        inside.append(Store(tile, index, value, None, mark))
        rows = For(var, self.imm(0), self.imm(side_v // stride), self.imm(1), inside, whole)
        given = {x for c in e.args for x in sc.conjuncts(c)} if e.kind == "load" else set()
        corners = {a: at[0], v: at[1]}
        conditions = [x for x in sc.walk([st.body for st in self.f.stores()]) if x in needed or x in given]
        self.only(s, *(c for x in conditions for c in self.somewhere(s, x, corners))).append(rows)

    def somewhere(self, s: Scope, e: Expr, at: dict[Atom, Arg]) -> list[Arg]:
        """Whether a condition on positions holds anywhere in a tile, if that can be seen at one of its corners."""
        if not on_positions(e):
            return []
        left, right = sc.sides(e)
        slopes = {x: c.as_int() if (c := (left - right).coefficient(x)) is not None else None for x in at}
        if None in slopes.values():
            return []
        far = {x for x, n in slopes.items() if n and (n > 0) == (e.data in ("gt", "ge"))}
        corner, size = Scope(s, s.body), dict(zip(at, self.sides, strict=True))
        for x, begin in at.items():
            corner.axes[x] = self.own(corner, self.add(s, begin, self.imm(size[x] - 1)) if x in far else begin)
        return [self.emit(corner, e)]

    # --- tiles in shared memory ---
    def layout(self, dtype: DType) -> tuple[bool, int]:
        """(whether a tile's rows are along `across`, elements from one row to the next).

        Of a square all columns are in different banks; else rows are along the longer side, so that vectors along that
        are read and written at once, and neighbours across are few words apart.
        """
        a, v = self.sides
        if a == v:
            return True, STAGE + max(1, WORD // dtype.itemsize)
        return a > v, max(a, v) + ACCESS // dtype.itemsize

    def elements(self, dtype: DType) -> int:
        """Those of a tile."""
        along, pitch = self.layout(dtype)
        return pitch * self.sides[along]

    def bytes_of(self, values: Iterable[Expr]) -> int:
        """What the tiles of these values take."""
        return sum(self.elements(d) * d.itemsize for d in map(_stored, values))

    def in_tile(self, s: Scope, dtype: DType, at: tuple[Arg, Arg], lanes: int, across: bool) -> tuple[Arg, str]:
        """Where in a tile a vector is that begins at a place along (`across`, the vector axis), and its mark. The
        vector is along the former, or the latter: a number where lanes are side by side."""
        along, pitch = self.layout(dtype)
        col, row = at if along else at[::-1]
        first = self.add(s, self.mul(s, row, self.imm(pitch)), col)
        if lanes == 1:
            return first, ""
        if along == across:
            return first, "aligned" if self.sides[0] != self.sides[1] else ""
        apart = self.prim(s, "mul", self.let(s, "iota", (self.imm(0),), self.ix, lanes), self.imm(pitch))
        return self.prim(s, "add", self.splat(s, first, lanes), apart), ""

    @contextmanager
    def turned(self, a: Atom) -> Iterator[None]:
        """Vectors are along `a`: what the schedule knows of those along its own axis does not hold for them."""
        before = self.v, self.s, self.steady, self.width
        other = replace(self.s, uniform=False, steady=False)
        self.v, self.s, self.steady, self.width = a, other, False, self.s.turned
        try:
            yield
        finally:
            self.v, self.s, self.steady, self.width = before

    def across_tile(
        self,
        s: Scope,
        staged: dict[Expr, Buf],
        a: Atom,
        v: Atom,
        tid: Arg,
        at: tuple[Arg, Arg],
        end: tuple[Arg, Arg],
        whole: bool,
    ) -> None:
        """Compute the tile in vectors along `v`, and store what exists: beyond the end are the last ones once more, so
        that nothing read has to wait for a condition."""
        y, x = self.divide(s, tid, self.s.col_threads)
        col = self.mul(s, x, self.imm(self.width))
        var = self.reg(self.ix, prefix="k")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, var)
        row = self.add(c, y, self.mul(c, var, self.imm(self.s.row_threads)))
        here = None
        if not whole:
            left = [self.prim(s, "sub", e, x) for e, x in zip(end, at, strict=True)]
            here = self.prim(c, "and", self.prim(c, "lt", row, left[0]), self.prim(s, "lt", col, left[1]))
            row = self.own(c, self.prim(c, "min", row, self.add(s, left[0], self.imm(-1))))
            col = self.own(s, self.prim(s, "min", col, self.add(s, left[1], self.imm(-self.width))))
        p = Scope(c, inside)
        p.axes[a], p.axes[v] = self.own(p, self.add(p, at[0], row)), self.own(s, self.add(s, at[1], col))
        p.vector, p.lanes = v, self.width
        for e, tile in staged.items():
            index, mark = self.in_tile(p, tile.dtype, (row, col), self.width, False)
            op = "load" if index.lanes == 1 else "gather"
            p.memo[e] = self.let(p, op, (index,), e.dtype, self.width, tile, mark or None)
        self.points([p], [here])
        s.body.append(For(var, self.imm(0), self.imm(self.sides[0] // self.s.row_threads), self.imm(1), inside, whole))


def needs(bodies: list[Expr]) -> dict[Expr, frozenset[Expr]]:
    """Conditions that hold wherever some use of a value by these takes it, and not something else in its place."""
    known = dict.fromkeys(bodies, frozenset[Expr]())
    for x in reversed(sc.walk(bodies)):
        for child in x.children():
            own = known[x]
            if x.kind == "op" and x.data == "where" and child not in (x.args[0], x.args[2]):
                own |= frozenset(sc.conjuncts(x.args[0]))
            known[child] = known.get(child, own) & own
    return known


def _stored(e: Expr) -> DType:
    """The narrowest type that holds a value: what is read or rounded as 16 bits is f32 in registers only."""
    return e.data[2] if e.kind == "load" else e.data if e.kind == "round" else e.dtype
