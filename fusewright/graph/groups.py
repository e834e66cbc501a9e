"""What grouping gives: units that run together, and merges that were declined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from .ir import Eqn, Value


@dataclass(slots=True, eq=False)
class Group:
    """Units that run together, in the order of the program.

    `outputs`: values others need; `eqns`: what computes them; `kernel`: whether it is ours to compile (a single opaque
    or host unit is a group too, so that the groups in order are the whole program); `again`: units of a group before
    it that it computes again; `parts`: the groups it is merged from, until the scheduler has agreed.
    """

    units: list[int]
    outputs: list[Value] = field(default_factory=list)
    eqns: list[Eqn] = field(default_factory=list)
    order: int = 0
    kernel: bool = False
    again: frozenset[int] = frozenset()
    parts: tuple[Group, ...] = ()


@dataclass(slots=True)
class Refused:
    """A merge that was declined: between which units, and why."""

    first: int
    second: int
    reason: str


@dataclass(slots=True)
class Grouping:
    """`apart`: groups, by their units, that turned out to have no schedule and run as single units, each with why."""

    groups: list[Group]
    refused: list[Refused]
    apart: list[tuple[list[int], str]] = field(default_factory=list)


Again = Literal["never", "moved", "always"]
Accepts = Callable[[Group], None]
Seen = Callable[[str, list[list[int]], list[list[int]]], None]
