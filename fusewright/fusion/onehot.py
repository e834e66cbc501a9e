"""Sums along an axis of what is zero but at one place of it, as in the gradient of a cross-entropy: that one value."""

from __future__ import annotations

from ..core.dtypes import i64
from ..index.expr import Atom
from . import scalar as sc
from .scalar import Expr


def picked(body: Expr, axis: Atom) -> Expr | None:
    """The sum along `axis` of `where(axis == t and ..., x, 0)`, with t, x and other conditions the same all along it.

    It is `where(0 <= t < extent and ..., x, 0)`. None when `body` is something else.

    Exact: what else is added is zero. A float adds one, as the sum does, which makes 0.0 of -0.0. Zeros that are
    rounded, or of another float type, are zeros.
    """
    if body.kind in ("round", "cast") and body.dtype.is_float and body.args[0].dtype.is_float:
        inner = picked(body.args[0], axis)
        if inner is None:
            return None
        return sc.rebuild(body, (inner,)) if body.kind == "round" else sc.cast(inner, body.dtype)
    if body.kind != "op" or body.data != "where":
        return None
    cond, x, other = body.args
    if other.kind != "const" or other.data != 0 or axis in x.axes or axis not in cond.axes:
        return None
    place, rest = None, []
    for c in sc.conjuncts(cond):
        if axis not in c.axes:
            rest.append(c)
        elif place is None:
            place = _place(c, axis)
            if place is None:
                return None
        else:
            return None
    assert place is not None and axis.extent is not None
    inside = sc.op("and", sc.op("ge", place, sc.const(0, i64)), sc.op("lt", place, sc.index_value(axis.extent)))
    for c in rest:
        inside = sc.op("and", c, inside)
    out = sc.op("where", inside, x, other)
    return sc.op("add", out, sc.const(0.0, x.dtype)) if x.dtype.is_float else out


def _place(c: Expr, axis: Atom) -> Expr | None:
    """t, if the condition is that the position along `axis` is t, an i64 that does not depend on it."""
    if c.kind != "op" or c.data != "eq":
        return None
    for here, t in (c.args, c.args[::-1]):
        if here.kind == "index" and here.data is axis.ix and axis not in t.axes and t.dtype is i64:
            return t
    return None
