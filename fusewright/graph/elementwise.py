"""Merges of elementwise operations that need not be asked about, or not at once.

Every answer of the scheduler takes a fusion and a schedule, and a group grows by one operation at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

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

    def joins(self, first: Sequence[int], second: Sequence[int]) -> bool:
        """Whether one of two groups that make a kernel each surely is no obstacle to the other: it is elementwise, of
        one shape, and the other has elementwise units of that shape, too, where they meet."""
        return any(self._continues(a, b, first, second) for a, b in ((first, second), (second, first)))

    def _continues(self, one: Sequence[int], other: Sequence[int], first: Sequence[int], second: Sequence[int]) -> bool:
        shapes = self._shapes(one)
        if len(shapes) != 1 or any(e.op not in _EVERYWHERE for u in one for e in self.by_unit[u]):
            return False
        (shape,) = shapes
        made = {v for u in first if self._of(u, shape) for v in self.units[u].results}
        meet = [v for u in second if self._of(u, shape) for v in self.units[u].reads if v in made]
        return bool(meet) and not self._elsewhere(first, second) and any(self._of(u, shape) for u in other)

    def _of(self, unit: int, shape: Shape) -> bool:
        return all(e.op in _EVERYWHERE for e in self.by_unit[unit]) and self._shapes([unit]) == {shape}

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
