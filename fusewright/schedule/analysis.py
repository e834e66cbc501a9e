"""What schedulers of any target ask of a Fusion: unit strides, orders of axes, places in a nest of rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from ..core.errors import Refusal
from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage
from ..index.expr import ONE, Atom, Ix
from ..index.layout import product
from ..prims.table import ARG_MONOIDS

LARGE = 16  # one of so many bytes of the largest access of a kernel, at least, has a large one


class Analysis:
    """Facts of a fusion. `hint` estimates a size."""

    def __init__(self, f: Fusion, hint: Callable[[Ix], int]):
        self.f = f
        self.hint = hint

    @cached_property
    def unit(self) -> Atom | None:
        """The axis with unit stride in the most bytes of memory traffic."""
        weight: dict[Atom, int] = {}
        for e in sc.walk([s.body for s in self.f.stages]):
            if e.kind == "load":
                self._vote(e.data[1], e.data[2].itemsize, weight)
        for s in self.f.stores():
            assert s.offset is not None
            self._vote(s.offset, s.dtype.itemsize + 1, weight)
        return max(weight, key=lambda a: weight[a], default=None)

    def _vote(self, offset: Ix, size: int, weight: dict[Atom, int]) -> None:
        n = self.hint(product(a.extent for a in offset.all_axes()))
        for a in offset.axes():
            if offset.coefficient(a, within=True) is ONE:
                weight[a] = weight.get(a, 0) + n * size

    def row_used(self, reductions: list[Stage]) -> list[Stage]:
        """Reductions whose result is read while iterating over the axes they reduced."""
        out = []
        for r in reductions:
            for s in self.f.stages:
                if r.name in s.body.stages and set(r.raxes) & (set(s.axes) | set(s.raxes)):
                    out.append(r)
                    break
        return out

    def columns(self, reductions: list[Stage]) -> set[Atom]:
        """The axes to be columns of a GPU's rows. Raises Refusal when there is no nest for the reductions."""
        inner = self.row_used(reductions)
        if inner:
            cols = set(inner[0].raxes)
            if any(set(r.raxes) != cols for r in inner):
                raise Refusal("schedule", "reductions over different axes feed each other")
            return cols
        for r in reductions:
            if r.monoid in ARG_MONOIDS:
                return set(r.raxes)
        if len({frozenset(r.raxes) for r in reductions}) == 1:
            return set(reductions[0].raxes)
        with_unit = [r for r in reductions if self.unit in r.raxes]
        main = min(with_unit or reductions, key=lambda r: len(r.raxes))
        return set(main.raxes)

    def scanned(self) -> set[Atom]:
        """The axis along which all scans go. Raises Refusal when there is no nest for them."""
        scans = self.f.scans()
        cols = set(scans[0].raxes)
        if any(set(s.raxes) != cols for s in scans) or len(cols) != 1:
            raise Refusal("schedule", "scans along different axes")
        if any(set(s.axes) != set(self.f.axes) for s in scans):
            raise Refusal("schedule", "a scan over part of the axes")
        rows = set(self.f.axes) - cols
        self.check(rows, cols)
        if any(set(r.raxes) & rows for r in self.f.reductions()):
            raise Refusal("schedule", "a reduction over rows beside a scan")
        return cols

    def check(self, rows: set[Atom], cols: set[Atom]) -> None:
        """Every stage has a place in the nest, and nothing read in a row waits for a reduction over rows."""
        full = rows | cols
        outer: set[str] = set()
        for s in self.f.stages:
            axes, raxes = set(s.axes), set(s.raxes)
            reads_outer = bool(s.body.stages & outer)
            if s.kind == "reduce":
                if reads_outer:
                    raise Refusal("schedule", "a reduction needs a result that was reduced over rows")
                if raxes == cols and axes == rows:
                    continue
                if s.monoid in ARG_MONOIDS:
                    raise Refusal("schedule", "the position of an extreme over rows")
                if raxes == rows and rows and axes in (cols, set()):
                    outer.add(s.name)
                elif raxes == full and not axes:
                    outer.add(s.name)
                else:
                    raise Refusal("schedule", "a reduction over part of the rows or columns")
            elif s.kind == "store":
                if reads_outer and axes & rows:
                    raise Refusal("schedule", "rows need a result that was reduced over rows")
                if axes not in (full, rows, cols, set()):
                    raise Refusal("schedule", "a stored value spans part of the rows or columns")
        if any(c.stages & outer for c, _ in self.f.checks):
            raise Refusal("schedule", "an index depends on a result that was reduced over rows")

    def across(self, f: Fusion, order: list[Atom], v: Atom) -> Atom | None:
        """The axis that some large access walks side by side while it strides along `v`."""
        for o in self.large_offsets(f):
            if v in o.axes() and o.coefficient(v, within=True) is not ONE:
                for a in order:
                    if a is not v and o.coefficient(a) is ONE:
                        return a
        return None

    def large_offsets(self, f: Fusion) -> list[Ix]:
        """The offsets of large accesses."""
        offsets = [(e.data[1], e.data[2]) for e in sc.walk([s.body for s in f.stages]) if e.kind == "load"]
        offsets += [(s.offset, s.dtype) for s in f.stores() if s.offset is not None]
        size = {(o, d): self.hint(product(a.extent for a in o.all_axes())) * d.itemsize for o, d in offsets}
        most = max(size.values(), default=0)
        return [o for o, d in offsets if LARGE * size[o, d] >= most]

    def alike(self, every: list[sc.Expr], axes: Iterable[Atom]) -> Atom | None:
        """Of some axes the one for which most of what is computed stays the same, if that is half of it or more."""
        same = {a: sum(e.cost for e in every if a not in e.axes) for a in axes}
        best = max(same, key=lambda a: same[a], default=None)
        return best if best is not None and 2 * same[best] >= sum(e.cost for e in every) else None

    def by_stride(self, axes: tuple[Atom, ...]) -> list[Atom]:
        """Outermost first: by stride in the largest store or load that has these axes."""
        best: Ix | None = None
        size = -1
        offsets = [(s.offset, 1) for s in self.f.stores()]
        offsets += [(e.data[1], 0) for e in sc.walk([s.body for s in self.f.stages]) if e.kind == "load"]
        for o, bonus in offsets:
            assert o is not None
            have = [a for a in axes if a in o.axes()]
            n = len(have) * 4 + bonus
            if n > size:
                best, size = o, n
        if best is None:
            return list(axes)
        offset = best

        def stride(a: Atom) -> int:
            c = offset.coefficient(a)
            if c is None or not c.terms:
                return 1 << 60 if c is not None else 0
            return abs(self.hint(c))

        return sorted(axes, key=lambda a: -stride(a))


def side_by_side(o: Ix, a: Atom, hint: Callable[[Ix], int]) -> int:
    """Points that are neighbours in memory from the axis `a` on, 0 if its own are not."""
    if a.extent is None or o.coefficient(a, within=True) is not ONE:
        return 0
    n = hint(a.extent)
    strides = {hint(c): b for b in o.axes() - {a} if (c := o.coefficient(b)) is not None}
    while n in strides:
        b = strides.pop(n)
        n *= hint(b.extent) if b.extent is not None else 1
    return n
