"""Where a group is cut in two: behind its reductions. The second part computes large values before those again.

That is for groups that are better off as two kernels although each has to read the inputs (`schedule/apart.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from .ir import Eqn, Value

MOST = 64  # equations that are computed again, at most
AGAIN = frozenset(("map", "cast", "const", "scalar", "affine", "reshape", "iota"))


class Cut(NamedTuple):
    """Units of the first and of the second group, and those of the first that the second computes again."""

    first: list[int]
    second: list[int]
    again: set[int]


def cut(
    units: Sequence[int],
    reads: Mapping[int, Sequence[Value]],
    results: Callable[[int], Sequence[Value]],
    eqns: Callable[[int], Sequence[Eqn]],
    bytes_of: Callable[[Value], int],
    stored: Callable[[Value], bool],
    between: bool = False,
) -> Cut | None:
    """The units of a group, in order, as two groups; None where there are no two, or where more would be kept or
    computed again than small values and cheap ones.

    The first has the reductions, what they are made of, and what is made of them and no larger. `reads`: what each
    unit reads, through views; `stored`: whether a value is stored anyway. `between`: the first has only those
    reductions that large values need, on the way to others; if there are none, those that others need.
    """
    owner = {v: u for u in units for v in results(u)}
    needs = {u: [owner[v] for v in reads[u] if v in owner] for u in units}
    reducing = [u for u in units if any(e.op == "reduce" for e in eqns(u))]
    if not reducing or any(e.op == "scan" for u in units for e in eqns(u)):
        return None
    size = {u: max((bytes_of(v) for v in results(u)), default=0) for u in units}
    every = reducing
    if between:
        most = max(size[u] for u in reducing)
        ways = [[u for u in units if size[u] > most], reducing]
        early = [{p for u in way for p in _closure(needs[u], needs) if p in reducing} for way in ways]
        reducing = sorted(early[0] or early[1])
        if not reducing:
            return None
    large = max([*size.values(), *(bytes_of(v) for u in units for v in reads[u])]) // 16
    first = _closure(reducing, needs)
    after: set[int] = set()  # units with a reduction before them
    for u in units:
        if any(p in after or p in reducing for p in needs[u]):
            after.add(u)
    most = max(size[u] for u in reducing)
    for u in units:
        if u in after and u not in every and size[u] <= most and all(p in first for p in needs[u]):
            first.add(u)
    second = [u for u in units if u not in first]
    if not second or (between and first.issuperset(every)):
        return None
    # what the second reads of the first: small values are in memory, large ones are computed again if they are not
    again: set[int] = set()
    stack = [p for u in second for p in needs[u]]
    while stack:
        u = stack.pop()
        if u in again or u not in first or size[u] < large or all(map(stored, results(u))):
            continue
        if any(e.op not in AGAIN for e in eqns(u)):
            return None
        again.add(u)
        stack.extend(needs[u])
    if sum(len(eqns(u)) for u in again) > MOST:
        return None
    return Cut([u for u in units if u in first], second, again)


def _closure(units: Sequence[int], needs: Mapping[int, Sequence[int]]) -> set[int]:
    """`units` and all that they need."""
    out: set[int] = set()
    stack = list(units)
    while stack:
        u = stack.pop()
        if u not in out:
            out.add(u)
            stack.extend(needs[u])
    return out


__all__ = ["AGAIN", "MOST", "Cut", "cut"]
