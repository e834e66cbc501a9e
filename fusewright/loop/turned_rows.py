"""Rows in lanes that pass through scratch: what lies side by side along a row is turned, so that lanes read vectors.

    for lanes of rows:
      turn t[0] by lanes = x[...] by stride of columns, rows
      pass: for c: S(t[c * lanes])                    as if rows lay side by side
      turn y[...] by stride = u[0] by lanes of rows, columns
"""

from __future__ import annotations

from ..core.dtypes import compute_type
from ..fusion.ir import Fusion, Stage
from ..fusion.scalar import Expr
from ..index.expr import Atom
from ..schedule.cpu import Schedule
from ..schedule.turned import turned, turns
from .ir import Alloc, Arg, Buf, Store, Turn, imm
from .scope import Scope
from .turned import Turned


class TurnedRows(Turned):
    """The part of lowering that takes rows to scratch and back. `taken`, `left`: scratch of loads, and of stores."""

    def take(self, f: Fusion, schedule: Schedule) -> None:
        """Find out what of rows that fill the lanes passes through scratch, and declare it."""
        self.taken: dict[Expr, Buf] = {}
        self.left: dict[str, Buf] = {}
        if not (self.row_vector and schedule.turn):
            return
        (across,) = self.cols
        assert self.v is not None
        for e in turned(f, across, self.v):
            self.taken[e] = self._scratch(Buf(f"row{len(self.func.allocs)}", e.data[2]))
        for st in self.p.nest:
            if st.kind == "store" and st.offset is not None and turns(st.offset, across, self.v):
                self.left[st.name] = self._scratch(Buf(f"row{len(self.func.allocs)}", st.dtype))

    def _scratch(self, buf: Buf) -> Buf:
        self.func.allocs.append(Alloc(buf, self.params.get(self.columns() * self.width, "scratch count")))
        return buf

    def bring(self, s: Scope, n: Arg) -> None:
        """Turn what `n` rows have."""
        for e, buf in self.taken.items():
            name, offset, _ = e.data
            base, step, columns = self._place(s, name, offset)
            s.body.append(Turn(buf, imm(0), imm(self.width), self.bufs[name], base, step, columns, n))

    def leave(self, s: Scope, stages: list[Stage], n: Arg) -> None:
        """Turn what a pass has stored of `n` rows."""
        for st in stages:
            buf = self.left.get(st.name)
            if buf is not None:
                base, step, columns = self._place(s, st.buffer, st.offset)
                s.body.append(Turn(self.bufs[st.buffer], base, step, buf, imm(0), imm(self.width), n, columns))

    def _place(self, s: Scope, name: str, offset) -> tuple[Arg, Arg, Arg]:
        """Where rows begin, their distance, and their length."""
        (across,) = self.cols
        assert self.v is not None and across.extent is not None
        at = Scope(s, s.body)
        at.axes = {across: imm(0)}
        step = offset.coefficient(self.v)
        assert step is not None
        base = self.scalar_index(at, offset, name)
        return base, self.scalar_index(s, step, name), self.params.get(across.extent, ("extent", across.name))

    def _load(self, s: Scope, e: Expr, lanes: int) -> Arg:
        buf = self.taken.get(e)
        if buf is None:
            return super()._load(s, e, lanes)
        tail = self.tail(s)
        at = self.position(s)
        return self.let(s, "load", (at,) if tail is None else (at, tail), compute_type(buf.dtype), lanes, buf)

    def leaves(self, s: Scope, st: Stage) -> bool:
        """Store a value to scratch, if it goes there."""
        buf = self.left.get(st.name)
        if buf is None:
            return False
        s.body.append(Store(buf, self.position(s), self.splat(s, self.emit(s, st.body), self.width)))
        return True
