"""Rows in lanes that pass through scratch: what lies side by side along a row is turned, so that lanes read vectors.

for lanes of rows:
  turn t[0] by lanes = x[...] by stride of columns, rows
  pass: for c: u[c * lanes] = S(t[c * lanes])             as if rows lay side by side
  turn y[...] by stride = u[0] by lanes of rows, columns

Scratch is in the order of memory: a row that is walked backwards, as by a total from the end, is walked so there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core.dtypes import DType
from ..fusion.ir import Fusion, Stage
from ..index.expr import Ix
from ..schedule.cpu import Schedule
from ..schedule.turned import beside, goes_back, turned, turned_stores
from .ir import Alloc, Arg, Buf, Turn, imm
from .scope import Scope
from .turned import Turned


class TurnedRows(Turned):
    """The part of lowering that takes rows to scratch and back, if the schedule says so."""

    def tiled(self, f: Fusion, schedule: Schedule) -> None:
        self.back: set[Buf] = set()
        super().tiled(f, replace(schedule, turn="") if self.row_vector else schedule)
        if self.row_vector and schedule.turn:
            (across,) = self.cols
            assert self.v is not None
            for e in turned(f, across, self.v, self.width, rows=True):
                self.filled[e] = self._lines(e.data[2], e.data[1])
            for st in turned_stores(f, across, self.v, rows=True):
                assert st.offset is not None
                self.drained[st.name] = st, self._lines(st.dtype, st.offset)

    def _lines(self, dtype: DType, offset: Ix) -> Buf:
        """Scratch for as many rows as there are lanes, which are at `offset` in memory."""
        buf = Buf(f"rows{len(self.func.allocs)}", dtype)
        if goes_back(offset, self.cols[0]):
            self.back.add(buf)
        self.func.allocs.append(Alloc(buf, self.params.get(self.columns() * self.width, "scratch count")))
        return buf

    def rows_in(self, s: Scope, count: Arg) -> None:
        """Turn what `count` rows have in memory."""
        for e, buf in self.filled.items():
            base, step, columns = self._line(s, e.data[0], e.data[1])
            s.body.append(Turn(buf, imm(0), imm(self.width), self.bufs[e.data[0]], base, step, columns, count))

    def rows_out(self, s: Scope, stages: Sequence[Stage], count: Arg) -> None:
        """Turn what a pass has stored of `count` rows."""
        for st in stages:
            if st.name in self.drained:
                assert st.offset is not None and self.v is not None
                base, step, columns = self._line(s, st.buffer, st.offset)
                of = self.drained[st.name][1]
                few = beside(st, self.cols[0], self.v)
                if few:
                    step = columns = imm(few)
                s.body.append(Turn(self.bufs[st.buffer], base, step, of, imm(0), imm(self.width), count, columns))

    def _line(self, s: Scope, name: str, offset: Ix) -> tuple[Arg, Arg, Arg]:
        """Where rows begin in memory, how far apart they are, and their length."""
        (across,) = self.cols
        assert self.v is not None and across.extent is not None
        at = Scope(s, s.body)
        columns = self.params.get(across.extent, ("extent", across.name))
        at.axes = {across: self.prim(s, "sub", columns, imm(1)) if goes_back(offset, across) else imm(0)}
        step = offset.coefficient(self.v)
        assert step is not None
        base = self.scalar_index(at, offset, name)
        return base, self.scalar_index(s, step, name), columns

    def _place(self, s: Scope, buf: Buf) -> Arg:
        if not self.row_vector:
            return super()._place(s, buf)
        if buf not in self.back:
            return self.position(s)
        (across,) = self.cols
        assert across.extent is not None
        at, _ = self.index(s, across.extent - 1 - across.ix, "scratch")
        return self.mul(s, at, imm(self.width))
