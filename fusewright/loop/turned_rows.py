"""Rows in lanes that pass through scratch: what lies side by side along a row is turned, so that lanes read vectors.

for lanes of rows:
  turn t[0] by lanes = x[...] by stride of columns, rows
  pass: for c: u[c * lanes] = S(t[c * lanes])             as if rows lay side by side
  turn y[...] by stride = u[0] by lanes of rows, columns
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core.dtypes import DType
from ..fusion.ir import Fusion, Stage
from ..index.expr import Ix
from ..schedule.cpu import Schedule
from ..schedule.turned import beside, turned, turned_stores
from .ir import Alloc, Arg, Buf, Turn, imm
from .scope import Scope
from .turned import Turned


class TurnedRows(Turned):
    """The part of lowering that takes rows to scratch and back, if the schedule says so."""

    def tiled(self, f: Fusion, schedule: Schedule) -> None:
        super().tiled(f, replace(schedule, turn="") if self.row_vector else schedule)
        if self.row_vector and schedule.turn:
            (across,) = self.cols
            assert self.v is not None
            self.filled = {e: self._lines(e.data[2]) for e in turned(f, across, self.v, self.width)}
            self.drained = {st.name: (st, self._lines(st.dtype)) for st in turned_stores(f, across, self.v)}

    def _lines(self, dtype: DType) -> Buf:
        """Scratch for as many rows as there are lanes."""
        buf = Buf(f"rows{len(self.func.allocs)}", dtype)
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
        at.axes = {across: imm(0)}
        step = offset.coefficient(self.v)
        assert step is not None
        base = self.scalar_index(at, offset, name)
        return base, self.scalar_index(s, step, name), self.params.get(across.extent, ("extent", across.name))

    def _place(self, s: Scope, buf: Buf) -> Arg:
        return self.position(s) if self.row_vector else super()._place(s, buf)
