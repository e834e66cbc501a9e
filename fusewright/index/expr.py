"""Quasi-affine integer expressions: sizes, strides and element offsets.

Grammar
    ix    ::= coeff * atom * ... + ... + coeff          a polynomial with integer coefficients
    atom  ::= Sym name                                  a size known when the kernel is launched, >= 1
            | Axis name < extent                        a loop variable, 0 <= axis < extent
            | FloorDiv(ix, ix)                          rounds towards minus infinity; the divisor is >= 1
            | Value expr                                an integer loaded at run time (a gather's index)

Semantics: mathematical integers, no overflow (64-bit when emitted). There is no Mod atom: `p mod d` is
`p - d * (p // d)`, so that `(p // d) * d + p mod d` cancels to `p` by itself.

Sizes are taken to be >= 1 when expressions are simplified: a kernel whose iteration space is empty loads
nothing, so what its offsets simplify to does not matter.

Expressions are interned as long as they are in use: equal means identical (`is`).
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import gcd
from typing import Any, Union
from weakref import WeakValueDictionary

from .meaning import Meaning
from .monomial import divided, multiplied, rank

_lock = threading.Lock()
_atoms: WeakValueDictionary[Any, Atom] = WeakValueDictionary()
_polys: WeakValueDictionary[Any, Ix] = WeakValueDictionary()
_serials = itertools.count()


class Atom:
    """A leaf of an index expression; interned."""

    __slots__ = ("__weakref__", "_top", "aux", "extent", "kind", "name", "num", "order", "serial")
    kind: str  # "sym" | "axis" | "div" | "value"
    name: str
    extent: Ix | None  # axis, value: exclusive upper bound
    num: Ix | None  # div: dividend
    aux: Any  # div: divisor; value: the scalar expression
    serial: int
    order: tuple[str, str, int]  # terms are sorted by this: the same in every process for symbols and axes
    _top: Ix | None  # what `_atom_upper` found, once it has

    def __repr__(self) -> str:
        if self.kind == "div":
            return f"({self.num} // {self.aux})"
        return self.name

    @property
    def ix(self) -> Ix:
        return _interned((((self,), 1),))


def _atom(key: Any, kind: str, name: str, extent: Ix | None, num: Ix | None, aux: Any) -> Atom:
    found = _atoms.get(key)
    if found is not None:
        return found
    with _lock:
        found = _atoms.get(key)
        if found is None:
            found = Atom()
            found.kind, found.name, found.extent, found.num, found.aux = kind, name, extent, num, aux
            found.serial = next(_serials)
            found.order = (kind, name if kind in ("sym", "axis") else "", found.serial)
            _atoms[key] = found
    return found


IxLike = Union["Ix", int]


class Ix(Meaning):
    """An interned polynomial over atoms. `terms` maps a monomial (sorted atoms) to its coefficient."""

    __slots__ = ("__weakref__", "_hash", "_nonnegative", "_quotients", "_upper", "terms")
    terms: tuple[tuple[tuple[Atom, ...], int], ...]
    _hash: int
    # What `nonnegative`, `upper` and `floordiv` found, once they have. They call each other on the parts of nested
    # divisions, several times at each level: the time is exponential in the depth if nothing is kept.
    _nonnegative: bool
    _upper: Ix | None
    _quotients: dict[Ix, Ix]

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, int) and self.as_int() == other)

    # --- arithmetic ---
    def __add__(self, other: IxLike) -> Ix:
        other = ix(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        acc = dict(self.terms)
        for m, c in other.terms:
            acc[m] = acc.get(m, 0) + c
        return _poly(acc)

    __radd__ = __add__

    def __neg__(self) -> Ix:
        return _poly({m: -c for m, c in self.terms})

    def __sub__(self, other: IxLike) -> Ix:
        other = ix(other)
        if not other.terms:
            return self
        acc = dict(self.terms)
        for m, c in other.terms:
            acc[m] = acc.get(m, 0) - c
        return _poly(acc)

    def __rsub__(self, other: IxLike) -> Ix:
        return ix(other) - self

    def __mul__(self, other: IxLike) -> Ix:
        other = ix(other)
        if other is ONE:
            return self
        if self is ONE:
            return other
        if len(self.terms) == 1 == len(other.terms):
            ((m1, c1),), ((m2, c2),) = self.terms, other.terms
            return _interned(((multiplied(m1, m2), c1 * c2),))
        acc: dict[tuple[Atom, ...], int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in other.terms:
                m = multiplied(m1, m2)
                acc[m] = acc.get(m, 0) + c1 * c2
        return _poly(acc)

    __rmul__ = __mul__

    def __floordiv__(self, other: IxLike) -> Ix:
        return floordiv(self, ix(other))

    def __mod__(self, other: IxLike) -> Ix:
        return mod(self, ix(other))

    # --- inspection ---
    def coefficient(self, axis: Atom, within: bool = False) -> Ix | None:
        """The coefficient of `axis` if the expression is affine in it, else None. within: quotients do not change."""
        acc: dict[tuple[Atom, ...], int] = {}
        for m, c in self.terms:
            n = 0
            for a in m:
                if a is axis:
                    n += 1
                elif a.kind == "div" and not within and axis in a.ix.atoms():
                    return None
                elif a.kind in ("div", "value") and axis in a.ix.looked_up():
                    return None
            if n > 1:
                return None
            if n == 1:
                rest = tuple(a for a in m if a is not axis)
                if any(a.kind == "axis" for a in rest):
                    return None
                acc[rest] = acc.get(rest, 0) + c
        return _poly(acc)

    def without(self, axis: Atom) -> Ix:
        """The terms that do not mention `axis` at top level."""
        return _poly({m: c for m, c in self.terms if axis not in m})

    def subst(self, env: Mapping[Atom, Ix], value: Callable[[Atom], Atom] | None = None) -> Ix:
        """Replace atoms; `value` rewrites run-time value atoms."""
        return self._subst(env, value, {})

    def _subst(self, env: Mapping[Atom, Ix], value: Callable[[Atom], Atom] | None, divided: dict[Atom, Ix]) -> Ix:
        """`divided`: what quotients have become; expressions of nested divisions have the same ones many times."""
        atoms = self.atoms()
        if atoms.isdisjoint(env) and (value is None or all(a.kind != "value" for a in atoms)):
            return self
        acc: dict[tuple[Atom, ...], int] = {}
        for m, c in self.terms:
            kept: list[Atom] = []
            moved = ONE
            for a in m:
                if a in env:
                    moved = moved * env[a]
                elif a.kind == "div":
                    if a not in divided:
                        assert a.num is not None
                        divided[a] = floordiv(a.num._subst(env, value, divided), a.aux._subst(env, value, divided))
                    moved = moved * divided[a]
                elif a.kind == "value" and value is not None:
                    moved = moved * value(a).ix
                else:
                    kept.append(a)
            rest = tuple(kept)
            for m2, c2 in moved.terms:
                new = multiplied(rest, m2)
                acc[new] = acc.get(new, 0) + c * c2
        return _poly(acc)


def _poly(acc: Mapping[tuple[Atom, ...], int]) -> Ix:
    kept = [t for t in acc.items() if t[1]]
    if len(kept) > 1:
        kept.sort(key=_term_rank)
    return _interned(tuple(kept))


def _term_rank(t: tuple[tuple[Atom, ...], int]) -> tuple[int, tuple[tuple[str, str, int], ...]]:
    return rank(t[0])


def _interned(terms: tuple[tuple[tuple[Atom, ...], int], ...]) -> Ix:
    """The sum of terms: none is zero, and they are in the order of `rank`."""
    found = _polys.get(terms)
    if found is not None:
        return found
    with _lock:
        found = _polys.get(terms)
        if found is None:
            found = Ix()
            found.terms = terms
            found._hash = hash(terms)
            _polys[terms] = found
    return found


def ix(v: IxLike) -> Ix:
    """Coerce an int."""
    return v if isinstance(v, Ix) else _number(int(v))


@lru_cache(1 << 12)
def _number(n: int) -> Ix:
    return _poly({(): n})


ZERO = _poly({})
ONE = _poly({(): 1})


def sym(name: str) -> Ix:
    """A size symbol: a positive integer known at launch."""
    return _atom(("sym", name), "sym", name, None, None, None).ix


def axis(name: str, extent: IxLike) -> Ix:
    """A loop variable in [0, extent)."""
    e = ix(extent)
    return _atom(("axis", name, e), "axis", name, e, None, None).ix


def value(expr: Any, extent: IxLike) -> Ix:
    """An integer computed at run time, in [0, extent). `expr` is an interned scalar expression."""
    return _atom(("value", expr), "value", f"@{expr}", ix(extent), None, expr).ix


# --- division -------------------------------------------------------------------------------------


def _divide_terms(p: Ix, dm: tuple[Atom, ...], dc: int) -> tuple[Ix, Ix]:
    """(q, r): the terms of `p` that dc * dm divides, divided, and the others."""
    q: dict[tuple[Atom, ...], int] = {}
    r: dict[tuple[Atom, ...], int] = {}
    for m, c in p.terms:
        got = divided(m, c, dm, dc)
        if got is None:
            r[m] = c
        else:
            q[got[0]] = got[1]
    return _poly(q), _poly(r)


def floordiv(p: Ix, d: Ix) -> Ix:
    """`p // d` for d >= 1. Rules, each with its side condition:

    p // 1 = p;  const // const folds;
    (d*q + r) // d = q + r // d             if r >= 0 can be shown (always true, but targets divide unsigned numbers)
    r // d = 0                              if 0 <= r < d can be shown from the bounds of r
    (p // a) // b = p // (a*b)              always, for a, b >= 1
    (k*q + r) // (k*m) = q // m             if 0 <= r < k can be shown
    """
    if d is ONE:
        return p
    pi, di = p.as_int(), d.as_int()
    if di is not None and di <= 0:
        raise ValueError(f"division by {di}: the divisor of an index expression must be >= 1")
    if pi is not None and di is not None:
        return ix(pi // di)
    if not p.terms:
        return ZERO
    if p is d:
        return ONE
    if not hasattr(p, "_quotients"):
        p._quotients = {}
    known = p._quotients
    if d not in known:
        known[d] = _floordiv(p, d)
    return known[d]


def _floordiv(p: Ix, d: Ix) -> Ix:
    q: dict[tuple[Atom, ...], int] = {}
    r: dict[tuple[Atom, ...], int] = {}
    if len(d.terms) == 1:
        ((dm, dc),) = d.terms
        for m, c in p.terms:
            got = divided(m, c, dm, dc)
            if got is not None:
                q[got[0]] = q.get(got[0], 0) + got[1]
            elif not dm and abs(c) >= dc and all(a.kind != "div" for a in m):
                # 1030*i // 1024: split the coefficient so that the remainder stays small and positive
                q[m] = q.get(m, 0) + c // dc
                if c % dc:
                    r[m] = c % dc
            else:
                r[m] = c
    else:
        # a many-term divisor, (i*(n+2) + j) // (n+2): divide by the leading term; all or nothing
        quotient, left = _long_division(p, d)
        if not left.terms or within(left, d):
            return quotient
        r = dict(p.terms)
    rest = _poly(r)
    quot = _poly(q)
    if rest.terms and not nonnegative(rest):
        # (n - 1 - i) // n: one divisor, or all that the sizes contribute, stays in the dividend
        sizes = _poly({m: c for m, c in quot.terms if all(a.kind == "sym" for a in m)})
        for step in (ONE, sizes, quot):
            if nonnegative(rest + d * step):
                rest, quot = rest + d * step, quot - step
                break
        else:
            rest, quot = p, ZERO
    if not rest.terms or within(rest, d):
        return quot
    if len(rest.terms) == 1 and rest.terms[0][1] == 1 and len(rest.terms[0][0]) == 1:
        a = rest.terms[0][0][0]
        if a.kind == "div":
            assert a.num is not None
            return quot + floordiv(a.num, a.aux * d)
    for k in _common_factors(rest, d):
        whole, small = _divide_terms(rest, *k)
        if within(small, _poly({k[0]: k[1]})):
            return quot + floordiv(whole, _divide_terms(d, *k)[0])
    return quot + _atom(("div", rest, d), "div", "", None, rest, d).ix


def _common_factors(p: Ix, d: Ix) -> list[tuple[tuple[Atom, ...], int]]:
    """What a term of `p` and the only term of `d` have in common, as terms, without 1."""
    if len(d.terms) != 1:
        return []
    ((dm, dc),) = d.terms
    found = []
    for m, c in p.terms:
        rest = list(dm)
        common = tuple(a for a in m if a in rest and not rest.remove(a))  # type: ignore[func-returns-value]
        k = (common, gcd(c, dc))
        if k != ((), 1) and k not in found:
            found.append(k)
    return found


def _long_division(p: Ix, d: Ix) -> tuple[Ix, Ix]:
    """(q, r) with p = q*d + r, by the leading term of d, as far as a few steps go."""
    q, rest = ZERO, p
    dm, dc = d.terms[0]
    for _ in range(8):
        for m, c in rest.terms:
            got = divided(m, c, dm, dc)
            if got is not None:
                step = _poly({got[0]: got[1]})
                q = q + step
                rest = rest - step * d
                break
        else:
            break
    return q, rest


def mod(p: Ix, d: Ix) -> Ix:
    """`p mod d`, as `p - d * (p // d)`."""
    return p - d * floordiv(p, d)


def _remainder(p: Ix) -> tuple[Ix, Ix] | None:
    """(top, rest) if p = k * (q mod d) + rest with k >= 0, so that rest <= p <= top + rest; `top` is free of axes."""
    for a in {a: None for m, c in p.terms if c < 0 for a in m if a.kind == "div"}:
        assert a.num is not None
        factor = _poly({tuple(x for x in m if x is not a): -c for m, c in p.terms if m.count(a) == 1})
        k, left = _long_division(factor, a.aux)
        if left.terms or any(c < 0 or not all(map(_atom_nonnegative, m)) for m, c in k.terms):
            continue
        top, rest = k * (a.aux - 1), p - k * (a.num - a.aux * a.ix)
        if len(rest.terms) < len(p.terms) and not top.axes():
            return top, rest
    return None


def upper(p: Ix) -> Ix | None:
    """An inclusive upper bound free of axes, or None when none is evident."""
    if not hasattr(p, "_upper"):
        p._upper = _upper(p)
    return p._upper


def _upper(p: Ix) -> Ix | None:
    if (parts := _remainder(p)) is not None and (top := upper(parts[1])) is not None:
        return parts[0] + top
    out = ZERO
    for m, c in p.terms:
        b = _poly({(): c})
        if not all(_atom_nonnegative(a) for a in m):
            return None
        for a in m:
            if a.kind == "sym":
                b = b * a.ix
            elif c < 0:
                b = ZERO
                break
            elif (top := _atom_upper(a)) is None:
                return None
            else:
                b = b * top
        out = out + b
    return out


def _atom_upper(a: Atom) -> Ix | None:
    if a.kind in ("axis", "value"):
        assert a.extent is not None
        return a.extent - 1
    if not hasattr(a, "_top"):
        assert a.num is not None
        top = upper(a.num)
        a._top = None if top is None else floordiv(top, a.aux)
    return a._top


def _atom_nonnegative(a: Atom) -> bool:
    """Sizes, axes and run-time values are >= 0; a quotient is if its dividend is."""
    return a.num is None or nonnegative(a.num)


def nonnegative(p: Ix) -> bool:
    """Whether p >= 0 can be shown from: sizes >= 1, extents, remainders of divisions."""
    if not hasattr(p, "_nonnegative"):
        p._nonnegative = _nonnegative(p)
    return p._nonnegative


def _nonnegative(p: Ix) -> bool:
    if (parts := _remainder(p)) is not None and nonnegative(parts[1]):
        return True
    # Lower bound: a negative term is bounded below by its atoms' upper bounds.
    low = ZERO
    for m, c in p.terms:
        b = _poly({(): c})
        if not all(_atom_nonnegative(a) for a in m):
            return False
        for a in m:
            if a.kind == "sym":
                b = b * a.ix
            elif c > 0:
                b = ZERO
                break
            elif (top := _atom_upper(a)) is None:
                return False
            else:
                b = b * top
        low = low + b
    return _positive_sizes(low)


def _positive_sizes(p: Ix) -> bool:
    """p >= 0 for all sizes >= 1: substitute size = 1 + t and look for negative coefficients."""
    if all(c >= 0 for _, c in p.terms):
        return True
    syms = {a for m, _ in p.terms for a in m}
    if any(a.kind != "sym" for a in syms) or len(syms) > 6:
        return False
    shifted = p.subst({a: a.ix + 1 for a in syms})
    return all(c >= 0 for _, c in shifted.terms)


def within(p: Ix, bound: Ix) -> bool:
    """Whether 0 <= p < bound can be shown."""
    top = upper(p) if nonnegative(p) else None
    return top is not None and nonnegative(bound - 1 - top)
