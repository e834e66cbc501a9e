"""Merge neighbouring axes that every access walks through as if they were one, and cut those that views take apart."""

from __future__ import annotations

from dataclasses import replace

from ..index.expr import ZERO, Atom, Ix, axis, ix
from . import scalar as sc
from .conditions import change
from .ir import Fusion, Origin, Stage, Target
from .scalar import Expr

CUTS = 8  # of axes that views take apart, at most


def collapse(f: Fusion, order: list[Atom]) -> tuple[Fusion, list[Atom]]:
    """Merge adjacent axes of `order` (outermost first) where that is legal; returns the fusion and the new order.

    Leaves a fusion that is to do without as it is.
    """
    return (f, order) if "collapse" in f.without else merged(f, order)


def merged(f: Fusion, order: list[Atom]) -> tuple[Fusion, list[Atom]]:
    """Merge adjacent axes of `order` (outermost first) where that is legal; returns the fusion and the new order.

    (a, b) merge into one axis of extent |a|*|b| when every index expression has coefficient(a) =
    coefficient(b) * |b|, and every stage has both axes in the same role. Axes are those of `f` itself, not those of the
    fusions before and after it.
    """
    k = 0
    while k + 1 < len(order):
        a, b = order[k], order[k + 1]
        if mergeable(f, a, b):
            assert a.extent is not None and b.extent is not None
            merged = axis(f"{a.name}{b.name}", a.extent * b.extent)
            f = substitute(f, {a: ZERO, b: merged})
            order = [*order[:k], merged.terms[0][0][0], *order[k + 2 :]]
            k = max(k - 1, 0)
        else:
            k += 1
    return f, order


def as_one(f: Fusion, order: list[Atom]) -> tuple[Fusion, Atom]:
    """Walk several axes (outermost first) of an elementwise fusion as one, whatever its accesses do: where one of them
    does not walk through memory along it, positions are quotients and remainders."""
    extent, env, name = ix(1), dict[Atom, Ix](), "".join(a.name for a in order)
    for a in order:
        assert a.extent is not None
        extent = extent * a.extent
    one = axis(name, extent)
    inner, rest = ix(1), one
    for a in order[::-1]:
        assert a.extent is not None
        inner = inner * a.extent
        outer = one // inner if a is not order[0] else ZERO
        env[a] = rest - outer * a.extent
        rest = outer
    return substitute(f, env), one.terms[0][0][0]


def continued(f: Fusion, order: list[Atom]) -> tuple[Fusion, list[Atom]]:
    """Merge the innermost axes of an elementwise fusion where not every access walks through them as if they were one,
    but no position depends on where within the inner one a point is.

    A condition on the outer axis, as a `cat` along it leaves, becomes one on the place: a < n where a * |b| + b <
    n * |b|. Quotients may count the same: of (a, b) with |b| = 2 n, a * n + b // 2 is (a * |b| + b) // 2.
    """
    while len(order) > 1 and "collapse" not in f.without:
        found = _through(f, *order[-2:])
        if found is None:
            break
        f, order = found[0], [*order[:-2], found[1]]
    return f, order


def _through(f: Fusion, a: Atom, b: Atom) -> tuple[Fusion, Atom] | None:
    assert a.extent is not None and b.extent is not None
    if b.extent == 0:
        return None
    one = axis(f"{a.name}{b.name}", a.extent * b.extent)
    outer = one // b.extent
    to = {a: outer, b: one - outer * b.extent}
    inner = {x for x in outer.atoms() if x.kind == "div"}
    exprs = sc.walk(_roots(f))
    for i in [e.data[1] for e in exprs if e.kind == "load"]:  # most others fail here, at once
        if i.axes() & {a, b} and not any(x.kind == "value" for x in i.atoms()) and inner & _quotients(i.subst(to)):
            return None
    memo: dict[Expr, Expr] = {}
    for e in exprs:
        found = change(e, a) if a in e.axes and b not in e.axes else None
        if found is not None:
            n, below = found
            memo[e] = sc.op("lt" if below else "ge", sc.index_value(one), sc.index_value(n * b.extent))
    g = substitute(f, to, memo)
    return None if any(inner & _quotients(i) for i in _indices(g)) else (g, one.terms[0][0][0])


def parted(f: Fusion) -> Fusion | None:
    """Cut axes that views take apart, i = d * q + r, until no position is a quotient; None if some always is.

    In a pixel shuffle the column of the result is `2 * q + r`: what is read lies at q, in a channel that r tells.
    """
    if "collapse" in f.without:
        return None
    for _ in range(CUTS):
        found = {x for i in _indices(f) for x in _quotients(i)}
        if not found:
            return f
        cut = min(filter(None, map(_cut, found)), key=lambda c: (c[1], c[0].order), default=None)
        if cut is None:
            return None
        a, d = cut
        assert a.extent is not None
        f = substitute(f, {a: axis(f"{a.name}q", a.extent // d) * d + axis(f"{a.name}r", ix(d))})
    return None


def _cut(quotient: Atom) -> tuple[Atom, int] | None:
    """The axis of which something is the quotient by a number, and the number, if that divides its extent."""
    assert quotient.num is not None
    a, d = quotient.num.as_axis(), quotient.aux.as_int()
    if a is None or a.extent is None or d is None or a.extent // d * d is not a.extent:
        return None
    return a, d


def _quotients(i: Ix) -> set[Atom]:
    """The quotients of an index, and those inside of them."""
    out: set[Atom] = set()
    for x in i.atoms():
        if x.kind == "div":
            assert x.num is not None
            out |= {x} | _quotients(x.num) | _quotients(x.aux)
    return out


def mergeable(f: Fusion, a: Atom, b: Atom) -> bool:
    for s in f.stages:
        if s.kind == "scan" and (a in s.raxes or b in s.raxes):
            return False
        if (a in s.axes) != (b in s.axes) or (a in s.raxes) != (b in s.raxes):
            return False
        if s.target is not None and (a in s.target.free) != (b in s.target.free):
            return False
        if s.origin is not None and (a in s.origin.rows) != (b in s.origin.rows):
            return False
    assert b.extent is not None
    for i in _indices(f):
        if not ({a, b} & i.axes()):
            continue
        ca, cb = i.coefficient(a), i.coefficient(b)
        if ca is None or cb is None or ca is not cb * b.extent:
            return False
    return all((a in e.data[1]) == (b in e.data[1]) for e in sc.walk(_roots(f)) if e.kind == "stage")


def substitute(f: Fusion, env: dict[Atom, Ix], memo: dict[Expr, Expr] | None = None) -> Fusion:
    """Replace axes by expressions over (other) axes in every stage. `memo`: what becomes of some expressions."""
    memo = {} if memo is None else memo

    def axes(old: tuple[Atom, ...]) -> tuple[Atom, ...]:
        out: list[Atom] = []
        for a in old:
            new = sorted(env[a].axes(), key=lambda x: x.order) if a in env else [a]
            out.extend(n for n in new if n not in out)
        return tuple(out)

    def offset(i: Ix | None) -> Ix | None:
        return None if i is None else sc.rewrite_index(i, env, memo)

    def target(t: Target | None) -> Target | None:
        if t is None:
            return None
        places = tuple((sc.rewrite(e, env, memo), n) for e, n in t.places)
        return Target(places, sc.rewrite(t.mask, env, memo), axes(t.free), sc.rewrite_index(t.order, env, memo))

    def origin(o: Origin | None) -> Origin | None:
        if o is None:
            return None
        mask, base = (sc.rewrite(e, env, memo) for e in (o.mask, o.base))
        return replace(o, rows=axes(o.rows), key=sc.rewrite_index(o.key, env, memo), mask=mask, base=base)

    def stage(s: Stage) -> Stage:
        body = sc.rewrite(s.body, env, memo)
        moved = (axes(s.axes), axes(s.raxes), offset(s.offset), target(s.target))
        return replace(
            s, axes=moved[0], raxes=moved[1], body=body, offset=moved[2], target=moved[3], origin=origin(s.origin)
        )

    checks = [(sc.rewrite(c, env, memo), axes(x)) for c, x in f.checks]
    return replace(f, axes=axes(f.axes), stages=[stage(s) for s in f.stages], checks=checks)


def _roots(f: Fusion) -> list[Expr]:
    return [s.body for s in f.stages] + [e for s in f.stages for e in s.others()] + [c for c, _ in f.checks]


def _indices(f: Fusion) -> set[Ix]:
    out = {i for e in sc.walk(_roots(f)) for i in e.indices()}
    out |= {s.offset for s in f.stages if s.offset is not None}
    out |= {s.target.order for s in f.stages if s.target is not None}
    out |= {s.origin.key for s in f.stages if s.origin is not None}
    return out
