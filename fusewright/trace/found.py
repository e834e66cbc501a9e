"""What one trace has found that makes another one better: it is made again with that (`capture.py`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import sympy
from torch.utils._sympy.functions import CleanDiv, FloorDiv, Mod, PythonMod

Divisors = dict[tuple[int, int], int]  # (leaf, dimension) -> what the size is a multiple of


@dataclass(slots=True)
class Known:
    """What earlier traces have found: what sizes are multiples of, modules that import functions of `math`, whether
    gradients are recorded in it although they are not where it is called, the states of generators before, if one
    has changed and it is to be watched who does that, and whether sizes are hashed."""

    divisors: Divisors = field(default_factory=dict)
    namespaces: list[dict[str, Any]] = field(default_factory=list)
    grad: bool = False
    states: list[Any] | None = None
    hashes: bool = False


class Retrace(Exception):
    """More is known now, so that another trace is better."""

    def __init__(self, known: Known):
        super().__init__("more is known")
        self.known = known


def multiples(tracer: Any) -> Divisors:
    """What is to be known of sizes in another trace, from the conditions of this one; empty if that is nothing new."""
    places = {
        str(n.node.expr): (k, d) for n, (k, what, d) in zip(tracer.sizes, tracer.symbols, strict=True) if what == "size"
    }
    found: Divisors = {}
    for g in tracer.env.guards:
        symbol, n = _multiple(g.expr)
        place = places.get(symbol)
        if place is not None and n > 1:
            found[place] = math.lcm(found.get(place, 1), n)
    more = dict(tracer.divisors)
    for (k, d), n in found.items():
        whole = n * more.get((k, d), 1)
        if tracer.described.leaves[k].shape[d] >= 2 * whole:  # else the symbol would stand for one number
            more[k, d] = whole
    return more if more != tracer.divisors else {}


def _multiple(e: Any) -> tuple[str, int]:
    """(symbol, number) of a condition that says that a symbol is a multiple of a number; else ("", 0)."""
    if isinstance(e, sympy.Eq):
        for a, b in ((e.lhs, e.rhs), (e.rhs, e.lhs)):
            if isinstance(a, (Mod, PythonMod)) and b == 0 and a.args[0].is_Symbol and a.args[1].is_Integer:
                return str(a.args[0]), int(a.args[1])
            if a.is_Symbol and b.is_Mul and len(b.args) == 2 and isinstance(b.args[1], (FloorDiv, CleanDiv)):
                n, quotient = b.args
                if n.is_Integer and quotient.args == (a, n):
                    return str(a), int(n)
    return "", 0


__all__ = ["Known", "Retrace", "multiples"]
