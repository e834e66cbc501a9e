"""What one trace has found that makes another one better: it is made again with that (`capture.py`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import sympy
from torch.utils._sympy.functions import CleanDiv, FloorDiv, Mod, PythonMod

VALUE = -1  # in place of a dimension: an integer argument
EARLY = 12  # traces that are ended before their time
Divisors = dict[tuple[int, int], int]  # (leaf, dimension) -> what the size is a multiple of
Numbers = dict[tuple[int, int], int]  # (leaf, dimension or `VALUE`) -> what the size or the argument is
_QUOTIENTS = (FloorDiv, CleanDiv, Mod, PythonMod)


@dataclass(slots=True)
class Known:
    """What earlier traces have found: what sizes are multiples of, which ones are to be numbers, modules that import
    functions of `math`, whether gradients are recorded in it although they are not where it is called, the states of
    generators before, if one has changed and it is to be watched who does that, and whether sizes are hashed.
    `early`: how many traces were ended by `Conditions`."""

    divisors: Divisors = field(default_factory=dict)
    numbers: Numbers = field(default_factory=dict)
    namespaces: list[dict[str, Any]] = field(default_factory=list)
    grad: bool = False
    states: list[Any] | None = None
    hashes: bool = False
    early: int = 0


class Retrace(Exception):
    """More is known now, so that another trace is better."""

    def __init__(self, known: Known):
        super().__init__("more is known")
        self.known = known


def multiples(tracer: Any) -> Divisors:
    """What is to be known of sizes in another trace, from the conditions of this one; empty if that is nothing new."""
    found = _least(tracer, (_multiple(g.expr) for g in tracer.env.guards))
    known = tracer.known.divisors
    more = {place: n * known.get(place, 1) for place, n in found.items()}
    more = {(k, d): n for (k, d), n in more.items() if tracer.described.leaves[k].shape[d] >= 2 * n}
    return {**known, **more} if more else {}  # others' symbols would stand for one number


def untangled(tracer: Any, e: Any) -> tuple[Divisors, Numbers]:
    """The same for an expression that divides by quotients, and what is to be a number in it.

    It has those where windows are taken of a picture that is padded to a whole number of them. Nothing cancels then,
    and each view nests more quotients, until a trace takes minutes. Sizes that are multiples of what they are divided
    by stay symbols; others, and integer arguments that are divided by, become numbers.
    """
    known, leaves = tracer.known, tracer.described.leaves
    divisors, numbers = dict(known.divisors), dict(known.numbers)
    for (k, d), n in _least(tracer, _divided(e)).items():
        whole = n * known.divisors.get((k, d), 1)
        if leaves[k].shape[d] % whole or leaves[k].shape[d] < 2 * whole:
            numbers[k, d] = leaves[k].shape[d]
        else:
            divisors[k, d] = whole
    dividing = {str(s) for q in e.atoms(*_QUOTIENTS) for s in q.args[1].free_symbols}
    numbers |= {(k, VALUE): leaves[k] for s, k in tracer.arguments.items() if s in dividing}
    if (divisors, numbers) == (known.divisors, known.numbers):
        symbols = {str(s) for s in e.free_symbols}
        numbers |= {(k, d): leaves[k].shape[d] for s, (k, d) in _places(tracer).items() if s in symbols}
    return divisors, numbers


def _places(tracer: Any) -> dict[str, tuple[int, int]]:
    """Symbols of sizes -> (leaf, dimension)."""
    pairs = zip(tracer.sizes, tracer.symbols, strict=True)
    return {str(n.node.expr): (k, d) for n, (k, what, d) in pairs if what == "size"}


def _least(tracer: Any, found: Iterable[tuple[str, int]]) -> Divisors:
    """The least common multiple for each size, of (symbol, number)."""
    places, out = _places(tracer), Divisors()
    for symbol, n in found:
        if symbol in places and n > 1:
            out[places[symbol]] = math.lcm(out.get(places[symbol], 1), n)
    return out


class Conditions:
    """Ends a trace where another one is better, for an expression that is evaluated or a condition that follows.

    The rest of it would be computed with larger expressions than need be, of more and more quotients. If the program
    catches `Retrace`, the whole trace is looked at (`multiples`).
    """

    def __init__(self, tracer: Any):
        self.tracer = tracer
        self.found: Known | None = None  # with which a trace was ended, whatever its exception has become since

    def evaluated(self, e: Any) -> None:
        if _tangled(e):
            self.end(*untangled(self.tracer, e))

    def condition(self, e: Any) -> None:
        if _multiple(e)[1] > 1:
            self.end(multiples(self.tracer), self.tracer.known.numbers)

    def end(self, divisors: Divisors, numbers: Numbers) -> None:
        known = self.tracer.known
        if known.early < EARLY and (divisors or known.divisors, numbers) != (known.divisors, known.numbers):
            self.found = replace(known, divisors=divisors or known.divisors, numbers=numbers, early=known.early + 1)
            raise Retrace(self.found)


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


@lru_cache(4096)
def _tangled(e: Any) -> bool:
    """Whether an expression has a quotient by a term of two others or more."""
    if not isinstance(e, sympy.Basic) or not e.has(FloorDiv):
        return False
    return any(len(q.args[1].atoms(*_QUOTIENTS)) > 1 for q in e.atoms(*_QUOTIENTS))


def _divided(e: Any) -> Iterator[tuple[str, int]]:
    """(symbol, number) of the quotients and remainders by numbers in an expression, of a symbol's multiple and more:
    those are whole, or always the same, if the symbol is a multiple of the number."""
    for q in e.atoms(*_QUOTIENTS):
        base, n = q.args
        if n.is_Integer and len(base.free_symbols) == 1:
            (s,) = base.free_symbols
            times = base.coeff(s)
            if times.is_Integer and (base - times * s).is_Integer:
                yield str(s), int(n) // math.gcd(int(n), int(times))


__all__ = ["VALUE", "Conditions", "Known", "Retrace", "multiples"]
