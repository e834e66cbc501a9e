"""Rungs divide what is below something into pieces of few levels."""

from __future__ import annotations

from fusewright.core.deep import RUNG, rungs


def test_rungs_are_near_each_other() -> None:
    below: dict[int, tuple[int, ...]] = {0: (), 1: (0,)}
    for k in range(2, 700):
        below[k] = (k - 1, k // 7 * 6, 1)
    found = rungs(699, below.__getitem__)
    assert found == sorted(found) and 699 not in found
    there: set[int] = set()
    for rung in [*found, 699]:
        assert _levels(rung, below, there) <= RUNG + 1
        there.add(rung)


def test_of_little_there_are_none() -> None:
    assert rungs(30, lambda k: range(k)) == []


def test_what_is_known_is_not_looked_at() -> None:
    assert rungs(10_000, lambda k: [k - 1] if k > 9_990 else []) == []


def _levels(top: int, below: dict[int, tuple[int, ...]], there: set[int]) -> int:
    """Levels from `top` down to those that are there."""
    best: dict[int, int] = {}
    for k in range(top + 1):
        best[k] = 0 if k in there else 1 + max((best[p] for p in below[k]), default=0)
    return best[top]
