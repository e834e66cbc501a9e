"""Rows whose length is no multiple of a vector: vectors that are aligned in memory, row by row.

Where row r of a tensor starts at element p(r), the vectors of its row are moved back by p(r) mod lanes: vector k has
the columns from k * lanes - p(r) mod lanes on. They are aligned whatever the row, as are those of every tensor whose
rows start at the same remainders; in return the first and the last vector of a row may be partial. What is read of
others lies across two aligned vectors. The tensor is the schedule's `anchor`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..core.dtypes import bool_
from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..index.expr import ONE, Atom, Ix
from .gpu_base import ACCESS, Vectors, Walk, accesses, widest
from .quotients import multiple

LONG = 16  # vectors of a row from which on it pays to treat two of them on their own


def count(extent: int, lanes: int) -> int:
    """Vectors that cover a row of so many columns, wherever it starts."""
    return -(-(extent + lanes - 1) // lanes)


def start(f: Fusion, v: Atom, buffer: str) -> Ix | None:
    """Where a row of a tensor starts, by its first access along `v`. None: it has none at a place known beforehand."""
    for name, offset, _ in accesses(f):
        if name == buffer and v in offset.axes():
            p = _start(offset, v)
            return None if p is None or any(a.kind == "value" for a in p.atoms()) else p
    return None


def _start(offset: Ix, v: Atom) -> Ix | None:
    return offset.without(v) if offset.coefficient(v) is ONE else None


def refusal(f: Fusion, cols: Iterable[Atom]) -> str:
    """Why no row of `f` can be moved, or "": what is addressed or held by the column must not meet others there."""
    if any(s.kind != "store" and s.kind != "reduce" for s in f.stages):
        return "a scan visits columns in order"
    if any(set(s.axes) & set(cols) and set(s.axes) != set(f.axes) for s in f.stages):
        return "a thread's columns differ from row to row, and sums of columns stay with a thread"
    if any(e.kind == "random" for e in sc.walk([s.body for s in f.stages])):
        return "random numbers are drawn four columns at a time"
    return ""


class Anchors(Vectors):
    """Finds what rows can be aligned by."""

    def anchored(self, f: Fusion, cols: list[Atom], v: Atom, lanes: int) -> tuple[int, str, frozenset[str]] | None:
        """(lanes, anchor, buffers whose vectors are aligned) if that makes vectors a lot wider than `lanes`."""
        large = self.large(self.walks(f, v, None))
        most = widest(d for _, _, d, _ in large)
        if 4 * lanes > most or self.size([v]) < LONG * most or refusal(f, cols):
            return None
        loads = [e for e in sc.walk([s.body for s in f.stages]) if e.kind == "load"]
        if any(e.args and (e.data[0], e.data[1]) == (b, o) for e in loads for b, o, _, _ in large):
            return None  # what is read on a condition is read lane by lane, beside the ends of a row
        stored = {s.buffer for s in f.stores()}
        best: tuple[int, str, frozenset[str]] | None = None
        for name, _, dtype, _ in large:
            held = frozenset[str]() if dtype is bool_ else self.held(f, v, name, most)
            if name not in held or any(w[0] in stored and w[0] not in held for w in large):
                continue  # a load may lie across two vectors, a store may not
            if best is None or len(held) > len(best[2]):
                best = most, name, held
        return best

    def held(self, f: Fusion, v: Atom, anchor: str, lanes: int) -> frozenset[str]:
        """The buffers whose vectors are aligned when those of `anchor` are made to be: none if they cannot be."""
        p = start(f, v, anchor)
        if p is None:
            return frozenset()
        found = [w for w in self.walks(f, v, None) if w[3] is v]
        bad = {w[0] for w in found if not self._meets(w, v, p, lanes)}
        return frozenset() if anchor in bad else frozenset(w[0] for w in found) - bad

    def _meets(self, w: Walk, v: Atom, p: Ix, lanes: int) -> bool:
        """Whether the rows of an access start at the same remainders as the anchor's."""
        name, offset, dtype, _ = w
        q = _start(offset, v)
        if q is None or self.alignment(name) % min(ACCESS, lanes * dtype.itemsize):
            return False
        return multiple(q - p, lanes, self.hint)
