"""Tiles of a transpose: memory that lies side by side along the other axis of a tile is turned into scratch first.

    for tile:
      turn t[0] by pitch = x[...] by stride of ...    what the tile reads across
      for a, v in the tile: S(t[a * pitch + v])       lanes along v, as everywhere

So whatever is computed, masked tails and stores past the caches included, is as in a kernel that reads along. A tile at the
end of an axis begins early enough to be whole blocks for `turn`: what is before it is turned again, and not used.
"""

from __future__ import annotations

from ..core.dtypes import compute_type
from ..fusion.ir import Fusion
from ..fusion.scalar import Expr
from ..index.expr import Atom, ix
from ..schedule.cpu import Schedule
from ..schedule.turned import turned
from .ir import Alloc, Arg, Buf, Turn, imm
from .scatter import Scatters
from .scope import Scope

PIECE = 16  # bytes that `turn` takes of a line at once, or 8 elements


class Turned(Scatters):
    """The part of lowering that reads tiles through scratch.

    `across`: the column axis along which they lie side by side, or None; `tiled`: the scratch of each load that does.
    """

    cols: list[Atom]
    chunk: dict[Atom, int]
    v: Atom | None

    def turn(self, f: Fusion, schedule: Schedule) -> None:
        """Find out what `schedule` says of tiles of `f`, and declare their scratch."""
        self.across = None if self.row_vector else next((a for a in self.cols if a.name == schedule.turn), None)
        self.tiled: dict[Expr, Buf] = {}
        self.origin: dict[Expr, Arg] = {}
        if self.across is None:
            return
        assert self.v is not None
        for k, e in enumerate(turned(f, self.across, self.v), len(self.func.allocs)):
            buf = self.tiled[e] = Buf(f"tile{k}", e.data[2])
            self.func.allocs.append(Alloc(buf, imm(self._room(self.across, buf) * self._room(self.v, buf))))

    def _room(self, a: Atom, buf: Buf) -> int:
        """Points of a tile along `a`, at most."""
        return max(self.chunk[a], _whole(buf))

    def tiles(self, s: Scope, rows: tuple[Arg, Arg], cols: tuple[Arg, Arg]) -> None:
        """Turn what the tile `rows` by `cols` reads."""
        assert self.across is not None and self.v is not None
        for e, buf in self.tiled.items():
            name, offset, _ = e.data
            least, pitch = imm(_whole(buf)), imm(self._room(self.v, buf))
            lo, n = [], []
            for first, end in (rows, cols):
                early = self.prim(s, "min", first, self.prim(s, "sub", end, least))
                lo.append(self.prim(s, "max", early, imm(0)))
                n.append(self.prim(s, "sub", end, lo[-1]))
            at = Scope(s, s.body)
            at.axes = {self.across: lo[0], self.v: lo[1]}
            base = self.scalar_index(at, offset, name)
            stride = offset.coefficient(self.v)
            assert stride is not None
            step = self.params.get(stride, (name, "turned"))
            s.body.append(Turn(buf, imm(0), pitch, self.bufs[name], base, step, n[0], n[1]))
            self.origin[e] = self.add(s, self.mul(s, lo[0], pitch), lo[1])

    def _load(self, s: Scope, e: Expr, lanes: int) -> Arg:
        buf = self.tiled.get(e)
        if buf is None:
            return super()._load(s, e, lanes)
        assert self.across is not None and self.v is not None
        place = self.across.ix * ix(self._room(self.v, buf)) + self.v.ix
        base, _ = self.index(s, place, buf.name)
        at = self.prim(s, "sub", base, self.origin[e])
        tail = self.tail(s)
        return self.let(s, "load", (at,) if tail is None else (at, tail), compute_type(buf.dtype), lanes, buf)


def _whole(buf: Buf) -> int:
    return max(PIECE // buf.dtype.itemsize, 8)
