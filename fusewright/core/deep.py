"""For functions that call themselves with what is below something: programs may be deeper than Python's stack.

Such a function remembers its values and has a `Ladder`, which counts how deep it is. From `RUNG` levels on it first
calls itself for the `rungs` of what is below, so that no call goes much deeper than that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

RUNG = 48  # levels

T = TypeVar("T", bound=Hashable)


def rungs(root: T, below: Callable[[T], Iterable[T]]) -> list[T]:
    """What is below `root` that divides it into pieces of at most `RUNG` levels, lowest first."""
    out: list[T] = []
    level: dict[T, int] = {}
    stack: list[tuple[T, tuple[T, ...] | None]] = [(root, None)]
    while stack:
        x, parts = stack.pop()
        if x in level:
            continue
        if parts is None:
            parts = tuple(below(x))
            stack.append((x, parts))
            stack.extend((p, None) for p in reversed(parts) if p not in level)
            continue
        level[x] = 1 + max((level[p] for p in parts), default=0)
        if x is not root and any(level[p] // RUNG < level[x] // RUNG for p in parts):
            out.append(x)
    return out


class Ladder:
    """How deep a function has called itself: it enters this around what it computes."""

    def __init__(self) -> None:
        self.level = 0

    def __enter__(self) -> None:
        self.level += 1

    def __exit__(self, *_: object) -> None:
        self.level -= 1

    def climb(self, root: T, below: Callable[[T], Iterable[T]], call: Callable[[T], object]) -> None:
        """Where calls are deep, call for the rungs below `root`, lowest first. `below`: of what is not known yet."""
        if self.level >= RUNG:
            level, self.level = self.level, 0
            for rung in rungs(root, below):
                call(rung)
            self.level = level
