"""Rows whose length is no multiple of a vector: vectors that are aligned in memory, row by row.

Where row r of a tensor starts at element p(r), the vectors of its row are moved back by p(r) mod lanes: vector k has
the columns from k * lanes - p(r) mod lanes on. They are aligned whatever the row, as are those of every tensor whose
rows start at the same remainders; in return the first and the last vector of a row may be partial. What is read of
others lies across two aligned vectors. The tensor is the schedule's `anchor`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from ..core.dtypes import bool_
from ..fusion import scalar as sc
from ..fusion.conditions import change
from ..fusion.ir import Fusion
from ..fusion.scalar import Expr
from ..index.expr import ONE, Atom, Ix, upper
from .gpu_base import ACCESS, WORD, Vectors, Walk, accesses, draws, widest
from .quotients import multiple

# Vectors of a row from which on it pays to treat two of them on their own (measured on an H200):
LONG = 96  # where threads meet them again
FEWEST = 3  # where it is summed up in one pass
SHORT = 16  # in an elementwise kernel that has to read where the row is
MANY = 32  # in others
APART = 192  # in those where a load lies across vectors, and what is not moved is read in words


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


def finds_places(f: Fusion, v: Atom) -> bool:
    """Whether a row along `v` is read at a place that has to be read itself: one of a table, say."""
    return any(v in o.axes() and any(a.kind == "value" for a in o.atoms()) for _, o, _ in accesses(f, stores=False))


def _start(offset: Ix, v: Atom) -> Ix | None:
    return offset.without(v) if offset.coefficient(v) is ONE else None


def last(offset: Ix) -> Ix | None:
    """The greatest of all offsets, which is one of them; None if that is not evident."""
    plain = all(c > 0 and all(a.kind in ("axis", "sym") for a in m) for m, c in offset.terms)
    return upper(offset) if plain else None


def bounds(e: Expr, v: Atom) -> tuple[list[Ix], list[Ix], list[Expr]] | None:
    """(lows, highs, others): a condition holds where each low <= v < each high, and all others, which do not depend on
    `v`, hold. None: that does not say it."""
    if v not in e.axes:
        return [], [], [e]
    if e.kind == "op" and e.data == "and" and e.dtype.is_bool:
        parts = [bounds(a, v) for a in e.args]
        found = [p for p in parts if p is not None]
        if len(found) < len(parts):
            return None
        lows, highs, others = zip(*found, strict=True)
        return list(chain(*lows)), list(chain(*highs)), list(chain(*others))
    edge = change(e, v)
    if edge is None or any(x.kind in ("div", "value") for x in edge[0].atoms()):
        return None
    return ([], [edge[0]], []) if edge[1] else ([edge[0]], [], [])


def refusal(f: Fusion, cols: Iterable[Atom]) -> str:
    """Why no row of `f` can be moved, or "": what is addressed or held by the column must not meet others there."""
    if any(s.kind != "store" and s.kind != "reduce" for s in f.stages):
        return "a scan visits columns in order"
    if any(set(s.axes) & set(cols) and set(s.axes) != set(f.axes) for s in f.stages):
        return "a thread's columns differ from row to row, and sums of columns stay with a thread"
    if draws(f):
        return "random numbers are drawn four columns at a time"
    return ""


class Anchors(Vectors):
    """Finds what rows can be aligned by."""

    def anchored(
        self, f: Fusion, cols: list[Atom], v: Atom, lanes: int, again: bool = False
    ) -> tuple[int, str, frozenset[str]] | None:
        """(lanes, anchor, buffers whose vectors are aligned) if that makes vectors a lot wider than `lanes`. `again`:
        whether threads meet the vectors of a row more than once."""
        least = LONG if again else FEWEST if f.reductions() else SHORT if finds_places(f, v) else MANY
        walks = self.walks(f, v, None)
        large = self.large(walks)
        most = widest(d for _, _, d, _ in large)
        if 4 * lanes > most or self.size([v]) < least * most or refusal(f, cols):
            return None
        if self._strided(f, v, walks):  # which is why vectors are narrow
            return None
        loads = [e for e in sc.walk([s.body for s in f.stages]) if e.kind == "load"]
        picked = {(w[0], w[1]) for w in large}
        if any(e.args and e.data[:2] in picked and bounds(e.args[0], v) is None for e in loads):
            return None  # it would be read lane by lane
        stored = {s.buffer for s in f.stores()}
        best: tuple[int, str, frozenset[str]] | None = None
        for name, _, dtype, _ in large:
            held = frozenset[str]() if dtype is bool_ else self.held(f, v, name, most)
            if name not in held or any(w[0] in stored and w[0] not in held for w in large):
                continue  # a load may lie across two vectors, a store may not
            if best is None or len(held) > len(best[2]):
                best = most, name, held
        if best is not None and least == MANY and self.size([v]) < APART * most:
            if any(w[0] not in best[2] for w in walks) and lanes * min(w[2].itemsize for w in large) >= WORD:
                return None
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
