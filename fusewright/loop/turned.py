"""Tiles of a transpose: memory that lies side by side along the other axis of a tile passes through scratch.

    for tile:
      turn t[0] by pitch = x[...] by stride of ...            what the tile reads across
      for a, v in the tile: u[a, v] = S(t[a * pitch + v])     lanes along v, as everywhere
      turn y[...] by stride = u[0] by pitch of ...            what it writes across

So whatever is computed, masked tails and stores past the caches included, is as in a kernel that reads along. A tile at
the end of an axis is read from where it is whole blocks for `turn`: what is before it is read again, and not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core.dtypes import CACHE_LINE, DType, compute_type
from ..fusion.ir import Fusion, Stage
from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix, ix
from ..schedule.cpu import Schedule
from ..schedule.turned import beside, lined, turned, turned_stores
from .ir import Alloc, Arg, Buf, Store, Turn, imm
from .scope import Scope
from .strided import Strided

Span = tuple[Arg, Arg]  # a range of an axis

MANY = 7500  # cache lines of which a core's own caches do not have many any more when the next row wants them
PIECE = 16  # bytes that `turn` takes of a line at once, or 8 elements


class Turned(Strided):
    """The part of lowering that reads and writes tiles through scratch.

    `across`: the column axis along which they lie side by side, or None; `filled`, `drained`: the scratch of each load
    and each store that does; `origin`: where in scratch its first point would be.
    """

    cols: list[Atom]
    chunk: dict[Atom, int]
    v: Atom | None

    def tiled(self, f: Fusion, schedule: Schedule) -> None:
        """Find out what `schedule` says of tiles of `f`, and declare their scratch."""
        self.across = next((a for a in self.cols if a.name == schedule.turn), None)
        self.filled: dict[Expr, Buf] = {}
        self.drained: dict[str, tuple[Stage, Buf]] = {}
        self.origin: dict[Buf, Arg] = {}
        self.line: Stage | None = None
        self.in_part = False
        if self.across is None:
            return
        assert self.v is not None
        if schedule.stream:
            self.line = lined(f, self.v)
        for e in turned(f, self.across, self.v, self.width):
            self.filled[e] = self._scratch(e.data[2])
        for st in turned_stores(f, self.across, self.v):
            self.drained[st.name] = st, self._scratch(st.dtype)

    def lines_of_several(self, rows: Sequence[Atom]) -> bool:
        """Whether what is turned of one of these rows lies in cache lines of what is of the next one, too, and in so
        many that a core's own caches would not have them any more.

        ((3, 250, 8000) float32 in reverse order, two threads: 6.1 and 3.3 ms with tiles of all rows in turn.)
        """
        many = None if self.v is None or self.v.extent is None else self.v.extent.as_int()
        if many is None or many < MANY:
            return False

        def near(a: Atom, offset: Ix, dtype: DType) -> bool:
            step = offset.coefficient(a)
            n = None if step is None else step.as_int()
            return n is not None and 0 < abs(n) * dtype.itemsize < CACHE_LINE

        places = [(e.data[1], e.data[2]) for e in self.filled]
        places += [(st.offset, st.dtype) for st, _ in self.drained.values() if st.offset is not None]
        return any(near(a, *place) for a in rows for place in places)

    def _scratch(self, dtype: DType) -> Buf:
        assert self.across is not None and self.v is not None
        buf = Buf(f"tile{len(self.func.allocs)}", dtype)
        self.func.allocs.append(Alloc(buf, imm(self._room(self.across, buf) * self._pitch(buf))))
        return buf

    def _room(self, a: Atom, buf: Buf) -> int:
        """Points of a tile along `a`, at most."""
        return max(self.chunk[a], _whole(buf))

    def _pitch(self, buf: Buf) -> int:
        """How far apart the lines of a tile are; long ones by a cache line more than they have, lest they meet in the
        same sets of a cache."""
        assert self.v is not None
        return self._room(self.v, buf) + (CACHE_LINE // buf.dtype.itemsize if self.line is not None else 0)

    def turn_in(self, s: Scope, rows: Span, cols: Span) -> None:
        """Turn what the tile `rows` by `cols` reads."""
        for e, buf in self.filled.items():
            spans = []
            for lo, hi in (rows, cols):
                early = self.prim(s, "min", lo, self.prim(s, "sub", hi, imm(_whole(buf))))
                spans.append((self.prim(s, "max", early, imm(0)), hi))
            base, step, count = self._external(s, e.data[0], e.data[1], *spans)
            pitch = self._begin(s, buf, *spans)
            s.body.append(Turn(buf, imm(0), pitch, self.bufs[e.data[0]], base, step, *count))
        for _, buf in self.drained.values():
            self._begin(s, buf, rows, cols)

    def to_line(self, s: Scope, lo: Arg, hi: Arg, points: Callable[[Arg, int], None]) -> Arg:
        """Where, from `lo` on, the first cache line begins of what a tile writes past the caches. `points` visits what
        is before it, of so many vectors."""
        if self.line is None:
            return lo
        assert self.v is not None and self.line.offset is not None
        at = Scope(s, s.body)
        at.axes = {self.v: lo}
        count = CACHE_LINE // self.line.dtype.itemsize
        behind = self.prim(s, "sub", imm(0), self.scalar_index(at, self.line.offset, self.line.buffer))
        start = self.prim(s, "min", self.add(s, lo, self.prim(s, "and", behind, imm(count - 1))), hi)
        self.in_part = True
        points(start, -(-count // self.width))
        self.in_part = False
        return start

    def turn_out(self, s: Scope, rows: Span, cols: Span) -> None:
        """Turn what the tile has written."""
        for st, buf in self.drained.values():
            assert st.offset is not None and self.across is not None and self.v is not None
            base, step, (high, wide) = self._external(s, st.buffer, st.offset, rows, cols)
            few = beside(st, self.across, self.v)
            if 0 < few <= self.chunk[self.across]:
                step = high = imm(few)
            pitch = imm(self._pitch(buf))
            s.body.append(Turn(self.bufs[st.buffer], base, step, buf, imm(0), pitch, wide, high))

    def _begin(self, s: Scope, buf: Buf, rows: Span, cols: Span) -> Arg:
        """Note where a tile begins in its scratch; returns how far apart its lines are there."""
        assert self.v is not None
        pitch = imm(self._pitch(buf))
        self.origin[buf] = self.add(s, self.mul(s, rows[0], pitch), cols[0])
        return pitch

    def _external(self, s: Scope, name: str, offset: Ix, rows: Span, cols: Span) -> tuple[Arg, Arg, tuple[Arg, Arg]]:
        """Where a tile begins in memory, how far apart its lines are there, and its extents."""
        assert self.across is not None and self.v is not None
        at = Scope(s, s.body)
        at.axes = {self.across: rows[0], self.v: cols[0]}
        base, stride = self.scalar_index(at, offset, name), offset.coefficient(self.v)
        assert stride is not None
        count = self.prim(s, "sub", rows[1], rows[0]), self.prim(s, "sub", cols[1], cols[0])
        return base, self.params.get(stride, (name, "turned")), count

    def _place(self, s: Scope, buf: Buf) -> Arg:
        """Where the lanes' points are in scratch."""
        assert self.across is not None and self.v is not None
        base, _ = self.index(s, self.across.ix * ix(self._pitch(buf)) + self.v.ix, buf.name)
        return self.prim(s, "sub", base, self.origin[buf])

    def _load(self, s: Scope, e: Expr, lanes: int) -> Arg:
        buf = self.filled.get(e)
        if buf is None:
            return super()._load(s, e, lanes)
        at, tail = self._place(s, buf), self.tail(s)
        return self.let(s, "load", (at,) if tail is None else (at, tail), compute_type(buf.dtype), lanes, buf)

    def drain(self, s: Scope, st: Stage, value: Arg) -> None:
        """Leave a vector of a store for when the tile is complete."""
        _, buf = self.drained[st.name]
        s.body.append(Store(buf, self._place(s, buf), value, self.tail(s)))


def _whole(buf: Buf) -> int:
    return max(PIECE // buf.dtype.itemsize, 8)
