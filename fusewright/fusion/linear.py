"""Sums that seem to wait for another reduction of their row, but need not: they are linear in what they wait for.

    sum (a + k b)  is  sum a + k sum b        k: what belongs to the row, and is computed of another of its reductions

The gradient of a normalization that is written out sums what it has just made of the sum before. With the rule all sums
of a row are ready after one pass, as where the formula of its gradient was worked out by hand: one barrier less, or one
walk over the row. The rule looks at what is computed, not at names.

It changes how errors add up: where `a` and `k b` cancel, that is after the summation and not before. So it is for sums
that `relax.py` may compute with small errors, those that end in 16 bits. Of what `k` belongs to, 2^-20 of each value is
summed, so that the sum of a million is finite where the values are, as those of `k b` may be.

For the same sums what belongs to the row divides once, and not each value, where that is a quotient already, which is
what the gradient of a quotient by a deviation is made of:

    sum (a ((b / k) / l))  is  (sum (a (b / k))) / l      where nothing else uses (b / k) / l

(Not of b / k: what makes large numbers small must do so before they are multiplied and summed.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..core.dtypes import f32
from ..index.expr import Atom
from . import scalar as sc
from .ir import Fusion, Stage
from .scalar import Expr

MOST = 3  # sums in place of one: each takes registers, and a part of every barrier
SCALE = 2.0**-20


@dataclass(frozen=True, slots=True)
class _Term:
    """`factor` (None: 1, negated if `minus`) times `of`; the factor belongs to the row, and `of` to a point of it."""

    of: Expr
    factor: Expr | None = None
    minus: bool = False


def waits(f: Fusion) -> bool:
    """Whether there are sums that wait for another reduction of their row."""
    rows = {s.name: s for s in f.reductions()}
    return all(s.kind in ("reduce", "store") for s in f.stages) and any(_before(s, rows) for s in rows.values())


def independent(f: Fusion, strict: set[Expr]) -> Fusion:
    """`f`, in which sums wait, with those taken apart so that rows are done in fewer passes; `f` where none is saved.

    `strict`: values that are to be computed as they are.
    """
    rows = {s.name: s for s in f.reductions()}
    values: dict[str, Expr] = {}  # what has become of sums
    stages: list[Stage] = []
    for s in f.stages:
        terms = None
        if s.kind == "reduce" and s.body not in strict and _before(s, rows):
            terms = _terms(s.body, frozenset(s.raxes))
        if terms is None:
            stages.append(s)
            continue
        parts = [_part(s, k, t) for k, t in enumerate(terms)]
        stages += parts
        values[s.name] = _total(parts, terms)
    if not values:
        return f
    out = _substituted(replace(f, stages=stages), values)
    return out if _depth(out) < _depth(f) else f


def divided_later(f: Fusion, strict: set[Expr]) -> Fusion:
    """`f`, in which sums are divided by what belongs to their row, in place of what they are sums of; `f` if none is.

    `strict`: as of `independent`.
    """
    roots = [*(s.body for s in f.stages), *(c for c, _ in f.checks)]
    uses = Counter([*roots, *(c for e in sc.walk(roots) for c in e.children())])
    values: dict[str, Expr] = {}
    stages: list[Stage] = []
    for s in f.stages:
        by: list[Expr] = []
        if s.kind == "reduce" and s.monoid == "sum" and s.dtype is f32 and s.body not in strict:
            body = _undivided(s.body, frozenset(s.raxes), uses, by)
            if by:
                x = sc.stage_value(s.name, s.dtype, frozenset(s.axes))
                for k in by:
                    x = sc.op("div", x, k)
                values[s.name] = x
                s = replace(s, body=body)
        stages.append(s)
    return _substituted(replace(f, stages=stages), values) if values else f


def _undivided(e: Expr, row: frozenset[Atom], uses: Counter[Expr], by: list[Expr]) -> Expr:
    """A product without what divides quotients in it, belongs to the row, and has no other use: that joins `by`."""

    def quotient(x: Expr) -> bool:
        return x.kind == "op" and x.data == "div" and not x.args[1].axes & row and x.args[1].kind != "const"

    x = sc.bare(e)
    if x.kind != "op" or x.dtype is not f32 or uses[e] > 1 or uses[x] > 1:
        return e
    match x.data:
        case "mul":
            return sc.op("mul", *(_undivided(a, row, uses, by) for a in x.args))
        case "neg":
            return sc.op("neg", _undivided(x.args[0], row, uses, by))
        case "div" if quotient(x) and quotient(sc.bare(x.args[0])):
            by.append(x.args[1])
            return _undivided(x.args[0], row, uses, by)
    return e


def _before(s: Stage, rows: dict[str, Stage]) -> bool:
    """Whether a stage is a sum that waits for another reduction of its row."""
    others = (rows[n] for n in s.body.stages if n in rows)
    same = any((r.axes, set(r.raxes)) == (s.axes, set(s.raxes)) for r in others)
    return same and s.monoid == "sum" and s.dtype is f32


def _terms(e: Expr, row: frozenset[Atom]) -> list[_Term] | None:
    """A value as a sum of few terms that wait for nothing, each value once; None if it is no such sum."""
    found = _linear(e, row)
    if found is None:
        return None
    merged: dict[Expr, _Term] = {}
    for t in found:
        merged[t.of] = _added(merged[t.of], t) if t.of in merged else t
    return list(merged.values()) if len(merged) <= MOST else None


def _linear(e: Expr, row: frozenset[Atom]) -> list[_Term] | None:
    e = sc.bare(e)
    if not e.axes & row or e.dtype is not f32:
        return None
    alone = None if e.stages else [_Term(e)]
    if e.kind != "op":
        return alone
    a, b = (*e.args, *e.args)[:2]
    match e.data:
        case "neg":
            return _each(_linear(a, row), lambda t: replace(t, minus=not t.minus))
        case "add" | "sub" if e.stages:
            left, right = _linear(a, row), _linear(b, row)
            right = _each(right, lambda t: replace(t, minus=not t.minus)) if e.data == "sub" else right
            return None if left is None or right is None else left + right
        case "mul" if not (a.axes & row and b.axes & row):
            k, x = (b, a) if a.axes & row else (a, b)
            return _each(_linear(x, row), lambda t: replace(t, factor=_product(t.factor, k)))
        case "div" if not b.axes & row:
            one = sc.const(1.0, f32)
            return _each(_linear(a, row), lambda t: replace(t, factor=sc.op("div", t.factor or one, b)))
    return alone


def _each(terms: list[_Term] | None, change: Callable[[_Term], _Term]) -> list[_Term] | None:
    return None if terms is None else [change(t) for t in terms]


def _product(factor: Expr | None, k: Expr) -> Expr:
    return k if factor is None else sc.op("mul", factor, k)


def _added(a: _Term, b: _Term) -> _Term:
    one = sc.const(1.0, f32)
    return replace(a, factor=sc.op("add" if a.minus == b.minus else "sub", a.factor or one, b.factor or one))


def _part(s: Stage, k: int, t: _Term) -> Stage:
    body = t.of if t.factor is None else sc.op("mul", t.of, sc.const(SCALE, f32))
    return replace(s, name=f"{s.name}_{k}", body=body)


def _total(parts: list[Stage], terms: list[_Term]) -> Expr:
    total: Expr | None = None
    for s, t in zip(parts, terms, strict=True):
        x = sc.stage_value(s.name, s.dtype, frozenset(s.axes))
        if t.factor is not None:
            x = sc.op("mul", sc.op("mul", t.factor, x), sc.const(1 / SCALE, f32))
        if total is None:
            total = sc.op("neg", x) if t.minus else x
        else:
            total = sc.op("sub" if t.minus else "add", total, x)
    assert total is not None
    return total


def _substituted(f: Fusion, values: dict[str, Expr]) -> Fusion:
    """`f` with expressions in the place of sums; those may have others in them that came before."""
    roots = [*values.values(), *(s.body for s in f.stages), *(c for c, _ in f.checks)]
    done: dict[str, Expr] = {}

    def change(e: Expr) -> Expr:
        return done.get(e.data[0], e) if e.kind == "stage" else e

    for name, value in values.items():
        done[name] = sc.transformed([value], change)[value]
    new = sc.transformed(roots, change)
    checks = [(new[c], axes) for c, axes in f.checks]
    return replace(f, stages=[replace(s, body=new[s.body]) for s in f.stages], checks=checks)


def _depth(f: Fusion) -> int:
    """The most reductions of a row that wait for each other, one after the other, and what then waits for them."""
    rows = {s.name: s for s in f.reductions()}
    level: dict[str, int] = {}
    for s in f.stages:
        waits = [n for n in s.body.stages if n in rows and set(rows[n].raxes) == set(s.raxes or rows[n].raxes)]
        level[s.name] = 1 + max((level[n] for n in waits), default=-1)
    return max(level.values(), default=0)


__all__ = ["divided_later", "independent", "waits"]
