"""Large values that each kernel which reads them computes again, where that moves fewer bytes than storing them.

Two kernels that cannot be one (the second needs what the first reduces) often have much in common: the gradient of a
normalization is made of the same elementwise values as the sums it needs. What the first would write and the second
read may cost more memory traffic than what it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..prims.table import PRIMS
from .cutting import MOST, cheap
from .ir import Eqn, Value

SMALL = 64  # one of so many bytes of a value, at most, has what is stored for computing it again
CACHED = 25 << 20  # bytes of a value that is read from the L2 cache of an H200 after it was stored, more or less
SMALL_OF_LARGE = 12  # `SMALL` for larger values
BALANCE = 8  # instructions in the time in which memory moves a byte, on an H200
LEAST = 1 << 20  # bytes of a value from which on it is worth the time to look


@dataclass(frozen=True)
class Program:
    """What is known of the units. `reads`: the stored values that each comes down to; `readers`: the units that read a
    value; `fixed`: units that have to run where they stand."""

    owner: Mapping[Value, int]
    reads: Mapping[int, Sequence[Value]]
    readers: Mapping[Value, Sequence[int]]
    eqns: Callable[[int], Sequence[Eqn]]
    bytes_of: Callable[[Value], int]
    fixed: Collection[int]

    def made_of(
        self, v: Value, inside: Collection[int], stored: Collection[Value]
    ) -> tuple[set[int], set[Value]] | None:
        """The units of `inside` that compute `v` from values of others, from what is `stored`, and from small values
        that have to be stored for it; and those. None if it cannot be computed at another place, or not cheaply.

        Small values made of what is reduced are stored, too: others would compute them for each point of a row.
        (Numbers for rows of 14 to 49, for values of 34 to 179 MB: 0.86 to 0.9 of the time on an H200; of programs with
        values of 7 and 25 MB, which the cache holds, 1.1 to 1.3 times.)"""
        out: set[int] = set()
        small: set[Value] = set()
        share = SMALL if self.bytes_of(v) < CACHED else SMALL_OF_LARGE
        behind = self._behind(inside)
        stack = [v]
        while stack:
            r = stack.pop()
            u = self.owner[r]
            if u in out:
                continue
            little = share * self.bytes_of(r) <= self.bytes_of(v)
            if u in self.fixed or not cheap(self.eqns(u)) or (little and u in behind):
                if not little:
                    return None
                small.add(r)
                continue
            out.add(u)
            stack += [r for r in self.reads[u] if r not in stored and self.owner.get(r) in inside]
        return (out, small) if sum(len(self.eqns(u)) for u in out) <= MOST else None

    def _behind(self, inside: Collection[int]) -> set[int]:
        """The units of `inside` that need what another one of them reduces, or finds otherwise."""
        out: set[int] = set()
        dear = {u for u in inside if not cheap(self.eqns(u))}
        for u in sorted(inside):
            if any(p in dear or p in out for r in self.reads[u] if (p := self.owner.get(r)) is not None):
                out.add(u)
        return out

    def read(self, units: Iterable[int]) -> set[Value]:
        """What units that run together read from memory."""
        inside = set(units)
        return {r for u in inside for r in self.reads[u] if self.owner.get(r) not in inside}

    def gain(
        self,
        v: Value,
        need: set[int],
        more: Iterable[Value],
        users: Iterable[Collection[int]],
        maker: Collection[int],
    ) -> int:
        """Bytes that are not moved if `users`, groups by all of their units, compute `v` instead of reading it, and
        `more` is stored for that; less those that move while they compute it, but for one of them, if `maker`, which
        stores it, has no other use of it.
        """
        saved = self.bytes_of(v) - sum(map(self.bytes_of, more))
        work = 0 if any(r in maker for r in self.readers.get(v, ())) else -self.instructions(need)
        for units in users:
            before = self.read(units)
            after = self.read({*units, *need})
            saved += sum(map(self.bytes_of, before - after)) - sum(map(self.bytes_of, after - before))
            work += self.instructions(need.difference(units))
        return saved - max(0, work) // BALANCE

    def instructions(self, units: Iterable[int]) -> int:
        """What units take, roughly."""
        maps = (e for u in units for e in self.eqns(u) if e.op == "map")
        return sum(self.bytes_of(e.out) // e.out.dtype.itemsize * PRIMS[e.params[0]].cost for e in maps)


__all__ = ["LEAST", "Program"]
