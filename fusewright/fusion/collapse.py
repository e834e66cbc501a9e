"""Merge neighbouring axes that every access walks through as if they were one."""

from __future__ import annotations

from dataclasses import replace

from ..index.expr import ZERO, Atom, Ix, axis
from . import scalar as sc
from .ir import Fusion, Stage
from .scalar import Expr


def collapse(f: Fusion, order: list[Atom]) -> tuple[Fusion, list[Atom]]:
    """Merge adjacent axes of `order` (outermost first) where that is legal; returns the fusion and the new order.

    (a, b) merge into one axis of extent |a|*|b| when every index expression has coefficient(a) =
    coefficient(b) * |b|, and every stage has both axes in the same role.
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


def mergeable(f: Fusion, a: Atom, b: Atom) -> bool:
    for s in f.stages:
        if s.kind == "scan" and (a in s.raxes or b in s.raxes):
            return False
        if (a in s.axes) != (b in s.axes) or (a in s.raxes) != (b in s.raxes):
            return False
    assert b.extent is not None
    for i in _indices(f):
        if not ({a, b} & i.axes()):
            continue
        ca, cb = i.coefficient(a), i.coefficient(b)
        if ca is None or cb is None or ca is not cb * b.extent:
            return False
    return all((a in e.data[1]) == (b in e.data[1]) for e in sc.walk(_roots(f)) if e.kind == "stage")


def substitute(f: Fusion, env: dict[Atom, Ix]) -> Fusion:
    """Replace axes by expressions over (other) axes in every stage."""
    memo: dict[Expr, Expr] = {}

    def axes(old: tuple[Atom, ...]) -> tuple[Atom, ...]:
        out: list[Atom] = []
        for a in old:
            new = sorted(env[a].axes(), key=lambda x: x.order) if a in env else [a]
            out.extend(n for n in new if n not in out)
        return tuple(out)

    def offset(i: Ix | None) -> Ix | None:
        if i is None:
            return None
        e = sc.rewrite(sc.index_value(i), env, memo)
        return e.data if e.kind == "index" else _as_index(e)

    def stage(s: Stage) -> Stage:
        body = sc.rewrite(s.body, env, memo)
        return replace(s, axes=axes(s.axes), raxes=axes(s.raxes), body=body, offset=offset(s.offset))

    return Fusion(
        axes(f.axes),
        f.buffers,
        [stage(s) for s in f.stages],
        [(sc.rewrite(c, env, memo), axes(x)) for c, x in f.checks],
        f.hosts,
    )


def _as_index(e: Expr) -> Ix:
    from_const = e.data if e.kind == "const" else None
    if from_const is None:
        raise AssertionError("an offset became a run-time value")
    return ZERO + from_const


def _roots(f: Fusion) -> list[Expr]:
    return [s.body for s in f.stages] + [c for c, _ in f.checks]


def _indices(f: Fusion) -> set[Ix]:
    out = {i for e in sc.walk(_roots(f)) for i in e.indices()}
    out |= {s.offset for s in f.stages if s.offset is not None}
    return out
