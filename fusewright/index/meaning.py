"""What an index expression says: its value for given numbers, and its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class Meaning:
    """Of a polynomial `terms`: monomials (of atoms, whose fields are `expr.Atom`'s) and their coefficients."""

    __slots__ = ()
    terms: tuple[tuple[tuple[Any, ...], int], ...]

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
