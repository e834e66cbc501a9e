"""What an index expression says: what occurs in it, its value for given numbers, and its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class Meaning:
    """Of a polynomial `terms`: monomials (of atoms, whose fields are `expr.Atom`'s) and their coefficients."""

    __slots__ = ("_atoms", "_axes")  # what the methods of these names found, once they have
    terms: tuple[tuple[tuple[Any, ...], int], ...]
    _atoms: frozenset[Any]
    _axes: frozenset[Any]

    def as_int(self) -> int | None:
        """The value when it is a constant, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    def as_axis(self) -> Any:
        """The axis when the expression is exactly one axis, else None."""
        if len(self.terms) == 1:
            (m, c) = self.terms[0]
            if c == 1 and len(m) == 1 and m[0].kind == "axis":
                return m[0]
        return None

    def atoms(self) -> frozenset[Any]:
        """All atoms, through FloorDiv (but not into run-time values)."""
        if not hasattr(self, "_atoms"):
            out: set[Any] = set()
            for m, _ in self.terms:
                for a in m:
                    if a not in out:
                        out.add(a)
                        if a.kind == "div":
                            out |= a.num.atoms() | a.aux.atoms()
            self._atoms = frozenset(out)
        return self._atoms

    def axes(self) -> frozenset[Any]:
        if not hasattr(self, "_axes"):
            self._axes = frozenset(a for a in self.atoms() if a.kind == "axis")
        return self._axes

    def looked_up(self) -> frozenset[Any]:
        """The axes on which run-time values in it depend."""
        return frozenset(x for a in self.atoms() if a.kind == "value" for x in a.aux.axes)

    def all_axes(self) -> frozenset[Any]:
        """Its axes, also those inside run-time values."""
        return self.axes() | self.looked_up()

    def evaluate(self, env: Mapping[str, Any]) -> Any:
        """The value under `env` (names of symbols and axes to integers or integer arrays)."""
        total: Any = 0
        for m, c in self.terms:
            t: Any = c
            for a in m:
                if a.kind == "div":
                    t = t * (a.num.evaluate(env) // a.aux.evaluate(env))
                else:
                    t = t * env[a.name]
            total = total + t
        return total

    def __repr__(self) -> str:
        return self.text()

    def text(self, atom: Callable[[Any], str] | None = None) -> str:
        """Source text, valid in Python and in the text formats."""
        if not self.terms:
            return "0"
        out = ""
        for m, c in self.terms:
            factors = [atom(a) if atom else _atom_text(a) for a in m]
            mag = abs(c)
            if mag != 1 or not factors:
                factors.insert(0, str(mag))
            body = " * ".join(factors)
            if not out:
                out = body if c > 0 else f"-{body}"
            else:
                out += f" + {body}" if c > 0 else f" - {body}"
        return out


def _atom_text(a: Any) -> str:
    if a.kind == "div":
        return f"(({a.num.text()}) // ({a.aux.text()}))"
    return a.name
