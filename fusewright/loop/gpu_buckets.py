"""The launches of a scatter on a GPU that sort the points of each bucket, from all tiles, by row.

See `schedule/gpu_scatter.py`. A block has a bucket. If its points are more than a block can sort at once, it walks over
them twice, a chunk at a time: first it counts how many each row has, then it knows where each row begins. Of many
points two more launches do the two walks of crowded buckets, whose chunks blocks share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..core.dtypes import i32
from ..index.expr import Ix
from ..schedule.gpu_scatter import SORTERS, TILE
from .gpu_sort import BUCKET, CROWD, CROWDS, NOTHING, ROW_PASSES, SLOTS, TILE_BITS, Sort
from .ir import Arg, Barrier, Imm, Set, Store
from .scope import Scope

Row = Callable[[Scope, Arg, Arg], None]


@dataclass(frozen=True, slots=True)
class _Bucket:
    """What a block knows of its bucket.

    `tid`: the thread; `shares`: where the bucket's numbers of each tile are; `row`: its first row; `count`: of its
    points; `base`: of the points in the buckets before; `many`: whether it takes several chunks; `counted`: and a walk
    to count; `rows`: how many rows a bucket has; `room`: where its block has its part of `go_on`.
    """

    tid: Arg
    shares: Arg
    row: Arg
    count: Arg
    base: Arg
    many: Arg
    counted: Arg
    rows: Arg
    room: Arg


class Buckets(Sort):
    """`go_on`, for each row: where its next points go, less the number of the first of its items in this chunk."""

    b: _Bucket
    crowd_blocks: Ix  # that share the chunks of crowded buckets, at most

    def sort_buckets(self) -> None:
        """The points of each row side by side. Values that are set seldom crowd: two launches less to compile."""
        if self.stage.monoid == "set":
            self.go_on = self.memory("go_on", self.bucket_count * BUCKET)
            self.whole_buckets()
            return
        self.crowd_blocks = self.tile_count * CROWDS
        self.go_on = self.memory("go_on", (self.bucket_count + 2 * self.crowd_blocks) * BUCKET)
        self.bases = self.memory("bases", self.bucket_count)
        self.counts = self.memory("counts", self.bucket_count)
        self.crowd_counts = self.memory("crowd_counts", 2 * self.crowd_blocks * BUCKET)
        self.whole_buckets()
        self.crowded_chunks("crowded buckets, chunk by chunk: points of each row", "crowd counts", self.count_crowd)
        self.crowded_chunks("crowded buckets, chunk by chunk: points by row", "crowd", self.write_crowd)

    def whole_buckets(self) -> None:
        s, bid, tid = self.launch(self.bucket_count, SORTERS, "points by row, bucket by bucket", "buckets")
        tiles, rows = self.params.get(self.tile_count, "tile count"), self.params.get(BUCKET, "bucket")
        shares = self.mul(s, bid, tiles)
        count, base = self.add_shares(s, tid, tiles, shares)
        many = self.prim(s, "gt", count, self.imm(TILE))
        counted = self.prim(s, "and", many, self.prim(s, "gt", rows, self.imm(1)))
        row = self.mul(s, bid, rows)
        self.b = _Bucket(tid, shares, row, count, base, many, counted, rows, row)
        begin = self.prim(s, "where", counted, self.imm(0), self.imm(1))
        if self.stage.monoid != "set":
            begin = self.prim(s, "where", self.left_to_others(s, bid), self.imm(2), begin)
        self.each(s, begin, self.imm(2), 1, self.walk)

    def left_to_others(self, s: Scope, bid: Arg) -> Arg:
        """Whether the bucket is crowded; for the launches that are for such, what is known of it is noted."""
        b = self.b

        def note(c: Scope) -> None:
            self.put(c, self.bases, bid, b.base)
            self.put(c, self.counts, bid, b.count)

        self.when(s, self.prim(s, "eq", b.tid, self.imm(0)), note)
        shared = self.prim(s, "gt", self.params.get(CROWDS, "crowds"), self.imm(0))
        return self.prim(s, "and", shared, self.prim(s, "gt", b.count, self.params.get(CROWD, "crowd")))

    def add_shares(self, s: Scope, tid: Arg, tiles: Arg, shares: Arg) -> tuple[Arg, Arg]:
        """(how many points the bucket has, how many the buckets before have); `before`: in the tiles before each."""
        after = self.add(s, shares, tiles)
        points, smaller, total = (self.variable(s, self.imm(0)) for _ in range(3))

        def share(c: Scope, t0: Arg) -> None:
            t = self.add(c, t0, tid)
            here = self.prim(c, "lt", t, tiles)
            lo = self.fetch(c, self.first, self.add(c, shares, t), here)
            n = self.prim(c, "sub", self.fetch(c, self.first, self.add(c, after, t), here), lo)
            before, every = self.scan(c, n)
            place = self.add(c, shares, t)
            self.when(c, here, lambda x: self.put(x, self.before, place, self.add(x, total, before)))
            for var, more in ((total, every), (points, n), (smaller, lo)):
                c.body.append(Set(var, self.prim(c, "add", var, more)))

        self.each(s, self.imm(0), tiles, SORTERS, share)
        return self.total(s, points), self.total(s, smaller)

    def walk(self, c: Scope, number: Arg) -> None:
        """Over the bucket's points, a chunk at a time. Walk 0 counts; it is left out where it is not needed."""
        counts = self.prim(c, "eq", number, self.imm(0))
        writes = self.prim(c, "not", counts)
        self.when(c, counts, lambda x: self.each_row(x, lambda y, r, row: self.put(y, self.go_on, row, self.imm(0))))

        def chunk(x: Scope, start: Arg) -> None:
            self.sorted_chunk(x, start)
            self.when(x, counts, self.count_chunk)
            self.when(x, writes, lambda y: self.write_chunk(y, start))

        self.each(c, self.imm(0), self.prim(c, "max", self.b.count, self.imm(1)), TILE, chunk)
        self.when(c, counts, self.find_rows)

    def each_row(self, c: Scope, body: Row) -> None:
        """`body(scope, row of the bucket, row of the target)` for the rows that a thread keeps."""
        self.each(c, self.b.tid, self.b.rows, SORTERS, lambda x, r: body(x, r, self.add(x, self.b.row, r)))

    def begin_at(self, c: Scope, r: Arg, row: Arg, at: Arg) -> None:
        """The items of a row, of which the chunk's first is number `bound`, go to `at` and after."""
        self.put(c, self.go_on, row, self.prim(c, "sub", at, self.bound(c, self.numbers, r)))

    def end(self, c: Scope, r: Arg, row: Arg) -> None:
        """The next chunk's points of a row follow those of this one."""
        n = self.bound(c, self.numbers, self.add(c, r, self.imm(1)))
        self.put(c, self.go_on, row, self.add(c, self.fetch(c, self.go_on, row), n))

    def count_chunk(self, c: Scope) -> None:
        def count(x: Scope, r: Arg, row: Arg) -> None:
            self.begin_at(x, r, row, self.fetch(x, self.go_on, row))
            self.end(x, r, row)

        self.each_row(c, count)
        c.body.append(Barrier("the chunk is counted"))

    def find_rows(self, c: Scope) -> None:
        """Where each row begins, from how many points it has."""
        place = self.variable(c, self.b.base)

        def begin(x: Scope, r0: Arg) -> None:
            r = self.add(x, r0, self.b.tid)
            here = self.prim(x, "lt", r, self.b.rows)
            row = self.add(x, self.b.row, r)
            before, every = self.scan(x, self.fetch(x, self.go_on, row, here))
            self.when(x, here, lambda y: self.put(y, self.go_on, row, self.add(y, place, before)))
            x.body.append(Set(place, self.prim(x, "add", place, every)))

        self.each(c, self.imm(0), self.b.rows, SORTERS, begin)

    def write_chunk(self, c: Scope, start: Arg) -> None:
        b = self.b
        rows = self.params.get(self.target, "rows")
        again = self.prim(c, "gt", start, self.imm(0))
        known = self.prim(c, "or", b.counted, again)

        def begin(x: Scope, r: Arg, row: Arg) -> None:
            at = self.variable(x, self.add(x, b.base, self.bound(x, self.numbers, r)))
            self.when(x, known, lambda y: y.body.append(Set(at, self.fetch(y, self.go_on, row))))
            new = self.prim(x, "and", self.prim(x, "not", again), self.prim(x, "le", row, rows))
            self.when(x, new, lambda y: self.put(y, self.start, row, at))
            self.begin_at(x, r, row, at)

        self.each_row(c, begin)
        c.body.append(Barrier("where each row goes on is known"))
        self.write_items(c, start)

        def advance(x: Scope) -> None:
            x.body.append(Barrier("the chunk is written"))
            self.each_row(x, self.end)
            x.body.append(Barrier("the items may be replaced"))

        self.when(c, b.many, advance)

    def write_items(self, s: Scope, start: Arg) -> None:
        """The chunk's points, the first of which is number `start` of the bucket's, go where `go_on` says."""
        b = self.b

        def write(x: Scope, k: Arg) -> None:
            def there(y: Scope) -> None:
                r, slot = self.slot(y, self.fetch(y, self.numbers, k))
                at = self.add(y, self.fetch(y, self.go_on, self.add(y, b.room, r)), k)
                self.put(y, self.order, at, self.fetch(y, self.others, slot))

            self.when(x, self.prim(x, "lt", self.add(x, start, k), b.count), there)

        self.items(s, b.tid, write)

    # --- crowded buckets ---
    def crowded_chunks(self, title: str, family: str, body: Callable[[Scope, Arg], None]) -> None:
        """A launch in which blocks share the chunks of crowded buckets: `body(scope, the chunk's first point)`.

        A block has TILE places of the order, and the chunks that begin there: of those at most one is the first of its
        bucket, because that has more than `crowd` points, which are TILE at least, and at most one is another.
        """
        s, bid, tid = self.launch(self.crowd_blocks, SORTERS, title, family)
        buckets, rows = self.params.get(self.bucket_count, "buckets"), self.params.get(BUCKET, "bucket")
        window = self.mul(s, bid, self.imm(TILE))

        def chunk_of(c: Scope, base: Arg) -> Arg:
            """The first point of the bucket's first chunk that begins in the window, or after it."""
            return self.begins(c, window, base, self.imm(TILE), self.imm(TILE - 1))

        found = [self.variable(s, self.imm(0)) for _ in range(2)]  # a bucket's number and one, for both kinds of chunks

        def look(c: Scope, b: Arg) -> None:
            base, count = self.fetch(c, self.bases, b), self.fetch(c, self.counts, b)
            start = chunk_of(c, base)
            at = self.prim(c, "sub", self.add(c, base, start), window)
            here = self.prim(c, "and", self.prim(c, "lt", at, self.imm(TILE)), self.prim(c, "lt", start, count))
            here = self.prim(c, "and", here, self.prim(c, "gt", count, self.params.get(CROWD, "crowd")))
            first = self.prim(c, "eq", start, self.imm(0))
            for var, kind in ((found[0], first), (found[1], self.prim(c, "not", first))):
                mine = self.prim(c, "and", here, kind)
                c.body.append(Set(var, self.prim(c, "where", mine, self.add(c, b, self.imm(1)), var)))

        self.each(s, tid, buckets, SORTERS, look)
        numbers = [self.total(s, var) for var in found]

        def chunk(c: Scope, kind: Arg) -> None:
            number = self.prim(c, "where", self.prim(c, "eq", kind, self.imm(0)), *numbers)

            def there(x: Scope) -> None:
                bucket = self.add(x, number, self.imm(-1))
                base, count = self.fetch(x, self.bases, bucket), self.fetch(x, self.counts, bucket)
                shares = self.mul(x, bucket, self.params.get(self.tile_count, "tile count"))
                several = self.prim(x, "gt", rows, self.imm(1))
                room = self.mul(x, self.add(x, self.mul(x, bid, self.imm(2)), kind), rows)
                self.b = _Bucket(tid, shares, self.mul(x, bucket, rows), count, base, several, several, rows, room)
                body(x, chunk_of(x, base))

            self.when(c, self.prim(c, "gt", number, self.imm(0)), there)

        self.each(s, self.imm(0), self.imm(2), 1, chunk)

    def count_crowd(self, s: Scope, start: Arg) -> None:
        """How many points each row has in the chunk; of a bucket of one row that is known."""

        def one(c: Scope, r: Arg, row: Arg) -> None:
            before, after = (self.bound(c, self.numbers, x) for x in (r, self.add(c, r, self.imm(1))))
            self.put(c, self.crowd_counts, self.add(c, self.b.room, r), self.prim(c, "sub", after, before))

        def count(c: Scope) -> None:
            self.sorted_chunk(c, start)
            self.each_row(c, one)
            c.body.append(Barrier("the items may be replaced"))

        self.when(s, self.b.counted, count)

    def write_crowd(self, s: Scope, start: Arg) -> None:
        """The chunk's points of a row follow those of the chunks before, and those of the rows before."""
        b = self.b
        self.sorted_chunk(s, start)
        targets = self.params.get(self.target, "rows")
        first = self.let(s, "udiv", (b.base, self.imm(TILE)), self.ix)  # the block of the bucket's first chunk
        mine = self.let(s, "udiv", (start, self.imm(TILE)), self.ix)
        chunks = self.let(s, "udiv", (self.add(s, b.count, self.imm(TILE - 1)), self.imm(TILE)), self.ix)
        chunks = self.prim(s, "where", b.counted, chunks, self.imm(0))
        place = self.variable(s, b.base)

        def begin(c: Scope, r0: Arg) -> None:
            r = self.add(c, r0, b.tid)
            here = self.prim(c, "lt", r, b.rows)
            row = self.add(c, b.row, r)
            before = self.variable(c, self.prim(c, "where", b.counted, self.imm(0), start))
            every = self.variable(c, self.imm(0))

            def chunk(x: Scope, j: Arg) -> None:
                kind = self.prim(x, "min", j, self.imm(1))
                slot = self.add(x, self.mul(x, self.add(x, first, j), self.imm(2)), kind)
                n = self.fetch(x, self.crowd_counts, self.add(x, self.mul(x, slot, b.rows), r), here)
                x.body.append(Set(every, self.prim(x, "add", every, n)))
                earlier = self.prim(x, "where", self.prim(x, "lt", j, mine), n, self.imm(0))
                x.body.append(Set(before, self.prim(x, "add", before, earlier)))

            self.each(c, self.imm(0), chunks, 1, chunk)
            smaller, total = self.scan(c, self.freeze(c, every))
            at = self.add(c, place, smaller)

            def known(x: Scope) -> None:
                go_on = self.prim(x, "sub", self.add(x, at, before), self.bound(x, self.numbers, r))
                self.put(x, self.go_on, self.add(x, b.room, r), go_on)
                new = self.prim(x, "and", self.prim(x, "eq", start, self.imm(0)), self.prim(x, "le", row, targets))
                self.when(x, new, lambda y: self.put(y, self.start, row, at))

            self.when(c, here, known)
            c.body.append(Set(place, self.prim(c, "add", place, total)))

        self.each(s, self.imm(0), b.rows, SORTERS, begin)
        s.body.append(Barrier("where each row goes on is known"))
        self.write_items(s, start)
        s.body.append(Barrier("the items may be replaced"))

    def sorted_chunk(self, s: Scope, start: Arg) -> None:
        """The bucket's points from number `start` on, as many as a block can sort, by row."""
        self.gather_points(s, start)
        self.sort(s, self.numbers, self.held, self.b.tid, ROW_PASSES)

    def gather_points(self, s: Scope, c0: Arg) -> None:
        """The bucket's points from number `c0` on, as items with their rows; `others`: which points they are.

        A thread looks for the tiles of all its items at the same time, so that it waits once for each step.
        """
        b = self.b
        tiles, bits = self.params.get(self.tile_count, "tile count"), self.params.get(TILE_BITS, "tile bits")
        self.registers(s, lambda c, k: c.body.append(Store(self.held, k, Imm(0, i32))))

        def halve(c: Scope, q: Arg) -> None:
            """The last tile before which there are no more of the bucket's points than before the item."""
            step = self.prim(c, "shl", self.imm(1), self.prim(c, "sub", self.add(c, bits, self.imm(-1)), q))

            def item(x: Scope, k: Arg) -> None:
                at = self.add(x, c0, self.item(x, k, b.tid))
                t = self.fetch(x, self.held, k)
                other = self.add(x, t, step)
                exists = self.prim(x, "lt", other, tiles)
                before = self.fetch(x, self.before, self.add(x, b.shares, other), exists)
                on = self.prim(x, "and", exists, self.prim(x, "le", before, at))
                self.put(x, self.held, k, self.prim(x, "where", on, other, t))

            self.registers(c, item)

        self.each(s, self.imm(0), bits, 1, halve)

        def item(c: Scope, k: Arg) -> None:
            slot = self.item(c, k, b.tid)
            at = self.add(c, c0, slot)
            there = self.prim(c, "lt", at, b.count)
            t = self.fetch(c, self.held, k)
            place, start = self.add(c, b.shares, t), self.mul(c, t, self.imm(TILE))
            inside = self.prim(c, "sub", at, self.fetch(c, self.before, place, there))
            from_tile = self.add(c, start, self.add(c, self.fetch(c, self.first, place, there), inside))
            e = self.fetch(c, self.tiles, from_tile, there)
            number = self.prim(c, "and", e, self.imm(SLOTS - 1))
            found = self.add(c, self.prim(c, "sub", e, number), slot)
            self.put(c, self.numbers, slot, self.prim(c, "where", there, found, self.imm(NOTHING)))
            self.put(c, self.others, slot, self.add(c, start, number))

        self.registers(s, item)
        s.body.append(Barrier("the bucket's points are there"))


__all__ = ["Buckets"]
