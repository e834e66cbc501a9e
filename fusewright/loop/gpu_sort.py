"""How a block sorts, and the first launch of a scatter on a GPU: its points by bucket, tile by tile.

See `schedule/gpu_scatter.py`. A block sorts in shared memory, two bits at a time: a thread counts how many of its items
have which digit (four counts in one 64-bit number), and one `tscan` says where its first item of each digit goes. An
item is a digit and a number of its own, and what is first stays first among equals.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.dtypes import DType, bool_, i32, i64
from ..fusion.ir import Fusion
from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix, sym
from ..index.layout import product
from ..schedule.gpu_base import GpuSchedule
from ..schedule.gpu_scatter import ITEMS, SLOT_BITS, SORTERS, TILE, collected
from .gpu_nest import Nest
from .ir import Alloc, Arg, Barrier, Buf, Fail, For, If, Imm, Let, Reg, Set, Stmt, Store, Var
from .scope import Scope

BUCKET, PIECE, RUN = sym("bucket"), sym("piece"), sym("run")
CROWDS, CROWD = sym("crowds"), sym("crowd")
BUCKET_PASSES, ROW_PASSES, TILE_BITS = sym("bucket_passes"), sym("row_passes"), sym("tile_bits")
SLOTS = 1 << SLOT_BITS
NOTHING = (1 << 31) - 1  # an item that is none: larger than any

Body = Callable[[Scope, Arg], None]


class Sort(Nest):
    """`order`: the points, sorted; `start`: where the points of each row begin in it, with one more at the end."""

    def __init__(self, f: Fusion, schedule: GpuSchedule, name: str):
        super().__init__(f, schedule, name)
        st = collected(f)
        assert st is not None and st.origin is not None
        self.stage, self.origin = st, st.origin
        self.points: list[Atom] = list(st.raxes)
        self.count = product(a.extent for a in self.points)
        self.target = product(a.extent for a in self.rows)
        self.tile_count: Ix = (self.count + TILE - 1) // TILE
        self.bucket_count: Ix = self.target // BUCKET + 1

    def memory(self, name: str, count: Ix, dtype: DType = i32) -> Buf:
        """Device memory of the kernel's own."""
        buf = Buf(name, dtype)
        self.func.allocs.append(Alloc(buf, self.params.get(count, ("memory", name)), "grid"))
        return buf

    def shared(self, name: str) -> Buf:
        """A number for each item of a block."""
        buf = Buf(name, i32)
        self.func.allocs.append(Alloc(buf, self.imm(TILE), "block"))
        return buf

    # --- small things ---
    def fetch(self, s: Scope, buf: Buf, at: Arg, mask: Arg | None = None) -> Arg:
        """An integer in memory as an index; 0 where the mask is false."""
        got = self.let(s, "load", (at,) if mask is None else (at, mask), i32, 1, buf)
        return got if self.ix is i32 else self.let(s, "cast", (got,), self.ix)

    def put(self, s: Scope, buf: Buf, at: Arg, value: Arg) -> None:
        s.body.append(Store(buf, at, self.narrow(s, value)))

    def narrow(self, s: Scope, value: Arg) -> Arg:
        if isinstance(value, Imm):
            return Imm(value.value, i32)
        return value if value.dtype is i32 else self.let(s, "cast", (value,), i32)

    def each(self, s: Scope, lo: Arg, hi: Arg, step: int, body: Body, unroll: bool = False) -> None:
        """A loop: `body(scope, variable)`."""
        var = self.reg(self.ix, prefix="k")
        inside: list[Stmt] = []
        c = Scope(s, inside)
        self.own(c, var)
        body(c, var)
        s.body.append(For(var, lo, hi, self.imm(step), inside, unroll))

    def registers(self, s: Scope, body: Body) -> None:
        """`body(scope, k)` for the ITEMS registers of `held`."""
        self.each(s, self.imm(0), self.imm(ITEMS), 1, body, True)

    def item(self, s: Scope, k: Arg, tid: Arg) -> Arg:
        """The number of a thread's k-th item in its tile; they lie SORTERS apart."""
        return self.add(s, self.mul(s, k, self.imm(SORTERS)), tid)

    def items(self, s: Scope, tid: Arg, body: Body) -> None:
        """`body(scope, number)` for a thread's items of a tile."""
        self.registers(s, lambda c, k: body(c, self.item(c, k, tid)))

    def when(self, s: Scope, condition: Arg, body: Callable[[Scope], None]) -> None:
        inside: list[Stmt] = []
        body(Scope(s, inside))
        s.body.append(If(condition, inside))

    def variable(self, s: Scope, init: Arg) -> Reg:
        var = self.reg(init.dtype, init.lanes, "var")
        s.body.append(Var(var, init))
        return self.owned(s, var)

    def owned(self, s: Scope, reg: Reg) -> Reg:
        self.own(s, reg)
        return reg

    def scan(self, s: Scope, value: Arg) -> tuple[Arg, Arg]:
        """(what comes before this thread's value in the block, the sum of all)"""
        dst = self.reg(value.dtype, 2, "scan")
        s.body.append(Let(dst, "tscan", (value,), None, ("sum", SORTERS, 1)))
        self.own(s, dst)
        before, every = (self.let(s, "lane", (dst,), value.dtype, 1, attr=k) for k in (0, 1))
        return before, every

    def total(self, s: Scope, value: Arg) -> Arg:
        """The sum over the block: the same in all threads, which bounds around barriers have to be."""
        dst = self.reg(value.dtype, 1, "total")
        s.body.append(Let(dst, "treduce", (self.freeze(s, value),), None, ("sum", SORTERS, 1)))
        return self.own(s, dst)

    def slot(self, s: Scope, item: Arg) -> tuple[Arg, Arg]:
        """(the digit of an item, its number)"""
        number = self.prim(s, "and", item, self.imm(SLOTS - 1))
        return self.let(s, "udiv", (item, self.imm(SLOTS)), self.ix), number

    def point(self, s: Scope, at: Arg) -> Scope:
        """The place of a point, by its number."""
        x = Scope(s, s.body)
        self.place(x, at, self.points, "point")
        return x

    def key(self, x: Scope) -> Arg:
        """The row that a point that counts goes to."""
        return self.scalar_index(x, self.origin.key, "key")

    def begins(self, s: Scope, at: Arg, first: Arg, size: Arg, but_one: Arg) -> Arg:
        """Of stretches of `size` (`but_one`: less one) that are laid end to end from `first` on, how far behind `first`
        the first one begins that does so at `at` or after it."""
        behind = self.prim(s, "max", self.prim(s, "sub", at, first), self.imm(0))
        return self.mul(s, self.let(s, "udiv", (self.add(s, behind, but_one), size), self.ix), size)

    # --- sorting in a block ---
    def sort(self, s: Scope, items: Buf, held: Buf, tid: Arg, passes: Ix) -> None:
        """Sort the block's items by their digits; `passes`: of two bits each. They are complete before and after."""

        def one(c: Scope, k: Arg) -> None:
            shift = self.narrow(c, self.add(c, self.mul(c, k, self.imm(2)), self.imm(SLOT_BITS)))
            first = self.mul(c, tid, self.imm(ITEMS))
            counts = self.variable(c, Imm(0, i64))

            def field(x: Scope, e: Arg) -> Arg:
                """Where in `counts` the digit of an item is counted."""
                digit = self.prim(x, "and", self.prim(x, "shr", e, shift), Imm(3, i32))
                return self.let(x, "cast", (self.prim(x, "mul", digit, Imm(16, i32)),), i64)

            def count(x: Scope, j: Arg) -> None:
                e = self.let(x, "load", (self.add(x, first, j),), i32, 1, items)
                x.body.append(Store(held, j, e))
                one_more = self.prim(x, "shl", Imm(1, i64), field(x, e))
                x.body.append(Set(counts, self.prim(x, "add", counts, one_more)))

            self.registers(c, count)
            before, every = self.scan(c, self.freeze(c, counts))
            place = before
            for bits in (16, 32, 48):  # items with a larger digit come after all that have a smaller one
                place = self.prim(c, "add", place, self.prim(c, "shl", every, Imm(bits, i64)))
            where = self.variable(c, place)

            def move(x: Scope, j: Arg) -> None:
                e = self.let(x, "load", (j,), i32, 1, held)
                at = field(x, e)
                to = self.prim(x, "and", self.prim(x, "shr", where, at), Imm(0xFFFF, i64))
                x.body.append(Store(items, to if self.ix is i64 else self.let(x, "cast", (to,), self.ix), e))
                x.body.append(Set(where, self.prim(x, "add", where, self.prim(x, "shl", Imm(1, i64), at))))

            self.registers(c, move)
            c.body.append(Barrier("the items are sorted by two more bits"))

        self.each(s, self.imm(0), self.params.get(passes, "passes"), 1, one)

    def bound(self, s: Scope, items: Buf, digit: Arg) -> Arg:
        """How many of the block's sorted items have a smaller digit."""
        target = self.narrow(s, self.mul(s, digit, self.imm(SLOTS)))
        at = self.variable(s, self.imm(0))

        def halve(c: Scope, k: Arg) -> None:
            after = self.prim(c, "add", at, self.prim(c, "shr", self.imm(SLOTS // 2), k))
            there = self.prim(c, "le", after, self.imm(TILE))
            got = self.let(c, "load", (self.add(c, after, self.imm(-1)), there), i32, 1, items)
            less = self.prim(c, "and", there, self.prim(c, "lt", got, target))
            c.body.append(Set(at, self.prim(c, "where", less, after, at)))

        self.each(s, self.imm(0), self.imm(SLOT_BITS), 1, halve)
        return self.freeze(s, at)

    # --- launches ---
    def sort_points(self) -> None:
        """Points by bucket, then by row."""
        self.order = self.memory("order", self.count)
        self.start = self.memory("start", self.target + 1)
        self.first = self.memory("first", (self.bucket_count + 1) * self.tile_count)
        self.tiles = self.memory("tiles", self.tile_count * TILE)
        self.before = self.memory("before", self.bucket_count * self.tile_count)
        self.numbers, self.others = self.shared("items"), self.shared("others")
        self.held = Buf("held", i32)
        self.func.allocs.append(Alloc(self.held, self.imm(ITEMS), "register"))
        self.by_bucket()

    def by_bucket(self) -> None:
        s, bid, tid = self.launch(self.tile_count, SORTERS, "points by bucket, tile by tile", "tiles")
        items, low = self.numbers, self.others
        start = self.mul(s, bid, self.imm(TILE))
        count = self.params.get(self.count, "points")
        bucket = self.params.divisor(BUCKET, "bucket")
        none = self.params.get(self.bucket_count, "buckets")
        checks = self.checks_at(points=True, target=False)
        every = self.variable(s, Imm(True, bool_))  # decided behind all points, whose indices are read at once

        def read(c: Scope, slot: Arg) -> None:
            at = self.add(c, start, slot)
            exists = self.prim(c, "lt", at, count)
            x = self.point(c, self.prim(c, "min", at, self.add(c, count, self.imm(-1))))
            for e in checks:
                x.body.append(Set(every, self.prim(x, "and", every, self.fine(x, e, None))))
            counts = self.prim(x, "and", exists, self.emit(x, self.origin.mask))
            which, rest = self.variable(x, none), self.variable(x, self.imm(0))

            def belongs(y: Scope) -> None:
                z = Scope(y, y.body)
                z.axes = dict(x.axes)  # what depends on the point is computed here, where its row is known to exist
                quotient, remainder = self.divmod(z, self.key(z), bucket)
                y.body += [Set(which, quotient), Set(rest, remainder)]

            self.when(x, counts, belongs)
            self.put(x, items, slot, self.add(x, self.mul(x, which, self.imm(SLOTS)), slot))
            self.put(x, low, slot, rest)

        self.items(s, tid, read)
        if checks:
            s.body.append(If(self.freeze(s, every), [], [Fail()]))
        s.body.append(Barrier("the tile's points are there"))
        self.sort(s, items, self.held, tid, BUCKET_PASSES)

        def write(c: Scope, at: Arg) -> None:
            _, slot = self.slot(c, self.fetch(c, items, at))
            row = self.fetch(c, low, slot)
            item = self.add(c, self.mul(c, row, self.imm(SLOTS)), slot)
            self.put(c, self.tiles, self.add(c, start, at), item)

        self.items(s, tid, write)
        tiles = self.params.get(self.tile_count, "tile count")

        def begins(c: Scope, b: Arg) -> None:
            at = self.add(c, self.mul(c, b, tiles), bid)
            self.put(c, self.first, at, self.bound(c, items, b))

        self.each(s, tid, self.params.get(self.bucket_count + 1, "buckets and end"), SORTERS, begins)

    def checks_at(self, points: bool, target: bool) -> list[Expr]:
        """The checks that depend on points, on elements of the target, or both; on neither: with the points."""
        mine = set(self.points)
        out = []
        for c, _ in self.f.checks:
            on_points, on_target = bool(c.axes & mine), bool(c.axes - mine)
            if (on_points or not on_target, on_target) == (points, target):
                out.append(c)
        return out


__all__ = ["CROWD", "CROWDS", "PIECE", "ROW_PASSES", "RUN", "TILE_BITS", "Sort"]
