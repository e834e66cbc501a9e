"""Where conditions on positions change their truth: those that `cat`, `pad`, slices and triangles leave."""

from __future__ import annotations

from ..index.expr import ONE, Atom, Ix
from . import scalar as sc
from .scalar import Expr, on_positions


def change(e: Expr, v: Atom) -> tuple[Ix, bool] | None:
    """(n, below): a condition on positions holds where v < n, if `below`, else where v >= n. None: it does not change
    once along `v`, at a place that does not depend on it."""
    if not on_positions(e):
        return None
    a, b = sc.sides(e)
    d, less = a - b, e.data in ("lt", "le")
    rest = d.without(v)
    if any(v in x.ix.axes() or (x.kind == "value" and v in x.aux.axes) for x in rest.atoms()):
        return None
    if d.coefficient(v) is ONE:  # v + rest < 0, <= 0, > 0, >= 0
        return -rest + int(e.data in ("le", "gt")), less
    if (-d).coefficient(v) is ONE:  # rest - v < 0, <= 0, > 0, >= 0
        return rest + int(e.data in ("lt", "ge")), not less
    return None
