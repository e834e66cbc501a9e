"""What must hold of sizes so that a graph reads and writes where its tensors are.

Traced programs obey these rules because torch has traced them. A definition is written by hand: what cannot be proved
for all sizes is checked when sizes are known. Of empty tensors nothing is read, so the rules are for calls in which no
extent is 0 (`extents` says which expressions must be positive).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..index.expr import ZERO, Ix, nonnegative
from .ir import Eqn, Graph, Value


@dataclass(frozen=True, slots=True)
class Requirement:
    """`slack` >= 0. `what` is said of it otherwise: "%5 = affine ... reads outside dimension 0 of %2"; `unit`."""

    slack: Ix
    what: str
    unit: int


def extents(graph: Graph) -> list[Ix]:
    """The distinct extents of all values that are not numbers, symbols first."""
    found: dict[Ix, None] = {}
    for v in (*graph.inputs, *(v for u in graph.units for v in u.results), *(e.out for e in graph.eqns)):
        found.update(dict.fromkeys(n for n in v.shape if n.as_int() is None or n is ZERO))
    return sorted(found, key=lambda n: len(n.text()))


def requirements(graph: Graph) -> list[Requirement]:
    """What must be checked: rules that hold for all sizes of at least 1 are left out."""
    out: dict[Ix, Requirement] = {}
    for e in graph.eqns:
        for slack, what in _rules(e):
            if not nonnegative(slack) and slack not in out:
                out[slack] = Requirement(slack, f"{what} of %{e.inputs[0].id}", e.unit)
    return list(out.values())


def _rules(e: Eqn) -> Iterator[tuple[Ix, str]]:
    if e.op == "affine":
        yield from _affine(e.params[0], e.inputs[0], e.out)
    elif e.op == "pad":
        for d, (lo, n, m) in enumerate(zip(e.params[0], e.inputs[0].shape, e.out.shape, strict=True)):
            yield lo, f"it pads by less than nothing before dimension {d}"
            yield m - n - lo, f"it pads by less than nothing after dimension {d}"
    elif e.op == "random":
        kind, index = e.params
        last = 4 * index + 3 if kind.startswith("curand") else index
        yield e.inputs[0].shape[0] - 1 - last, f"it takes seed {last}"
    elif e.op == "scatter":
        base, src = e.inputs[:2]
        for d, s in enumerate(e.params[2]):
            if s[0] == "dim":
                yield base.shape[d] - src.shape[s[1]], f"it scatters outside dimension {d}"


def _affine(spec: Any, x: Value, out: Value) -> Iterator[tuple[Ix, str]]:
    """The least and the largest index into each dimension. A factor of unknown sign may be either: both ends count."""
    for d, (offset, terms) in enumerate(spec):
        low = high = offset
        for k, c in terms:
            reach = c * (out.shape[k] - 1)
            if nonnegative(c):
                high = high + reach
            elif nonnegative(-c):
                low = low + reach
            else:  # one of the two is 0 or less: their difference is at most the sum of both bounds
                low, high = low + _least(reach), high + _most(reach)
        yield low, f"it reads before dimension {d}"
        yield x.shape[d] - 1 - high, f"it reads behind dimension {d}"


def _least(e: Ix) -> Ix:
    """A lower bound: the terms with negative coefficients (sizes are at least 0)."""
    out = ZERO
    for m, c in e.terms:
        if c < 0:
            out = out + _term(m, c)
    return out


def _most(e: Ix) -> Ix:
    return -_least(-e)


def _term(m: Any, c: int) -> Ix:
    out = ZERO + c
    for a in m:
        out = out * a.ix
    return out
