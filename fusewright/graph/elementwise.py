"""Merges of elementwise operations that need not be asked about, or not at once.

Every answer of the scheduler takes a fusion and a schedule, and a group grows by one operation at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from .ir import Eqn, Graph, Shape, Value

_EVERYWHERE = frozenset(("map", "cast", "const", "scalar"))
_POINTWISE = _EVERYWHERE | {"affine", "iota", "random"}


class Elementwise:
    """What is known of the units of a graph.

    `by_unit`: their equations; `reads`: what they read when views and free units are looked through, as `roots` says.
    """

    def __init__(
        self,
        graph: Graph,
        by_unit: Mapping[int, list[Eqn]],
        owner: Mapping[Value, int],
        reads: Mapping[int, list[Value]],
        roots: Callable[[Iterable[Value]], list[Value]],
    ):
        self.units = graph.units
        self.by_unit = by_unit
        self.owner = owner
        self.reads = reads
        self.roots = roots

    def alike(self, units: Collection[int]) -> bool:
        """Elementwise units of one shape always make one kernel, if none reads another's result at other places."""
        ops = {e.op for u in units for e in self.by_unit[u]}
        return ops <= _POINTWISE and len(self._shapes(units)) == 1 and not self._elsewhere(units, units)

    def joins(self, first: Collection[int], second: Collection[int]) -> bool:
        """Whether one of two groups that make a kernel each surely is no obstacle to the other: it is elementwise, of
        one shape, and where the second reads the first, both have elementwise units of that shape."""
        if self._elsewhere(first, second):
            return False
        shapes = [s for units in (first, second) if (s := self._shape(units)) is not None]
        return any(self._meet(first, second, s) for s in shapes)

    def _meet(self, first: Iterable[int], second: Iterable[int], shape: Shape) -> bool:
        made = {v for u in first if self._shape([u]) == shape for v in self.units[u].results}
        return any(v in made for u in second if self._shape([u]) == shape for v in self.units[u].reads)

    def _shape(self, units: Collection[int]) -> Shape | None:
        """The one shape of units that are elementwise; else None."""
        shapes = self._shapes(units)
        plain = all(e.op in _EVERYWHERE for u in units for e in self.by_unit[u])
        return shapes.pop() if plain and len(shapes) == 1 else None

    def _shapes(self, units: Iterable[int]) -> set[Shape]:
        return {v.shape for u in units for v in self.units[u].results}

    def _elsewhere(self, makers: Collection[int], readers: Iterable[int]) -> bool:
        """Whether `readers` look at results of `makers` through views."""
        for u in readers:
            views = [v for v in self.units[u].reads if self.owner.get(v) not in self.reads]
            if any(self.owner.get(v) in makers for v in self.roots(views)):
                return True
        return False


__all__ = ["Elementwise"]
