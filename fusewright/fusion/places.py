"""Where the elements of views are in what they view, and whether a position is inside a tensor."""

from __future__ import annotations

from ..core.dtypes import bool_, i64
from ..graph.ir import Eqn
from ..index import expr as index
from ..index.expr import ONE, ZERO, Atom, Ix, nonnegative
from ..index.layout import reshaped
from . import scalar as sc
from .scalar import Expr


def _affine(e: Eqn, idx: tuple[Ix, ...]) -> tuple[Ix, ...]:
    """Where a view's element is in what it views."""
    src = []
    for offset, coeffs in e.params[0]:
        j = offset
        for k, c in coeffs:
            j = j + idx[k] * c
        src.append(j)
    return tuple(src)


def _reshape(e: Eqn, idx: tuple[Ix, ...]) -> tuple[Ix, ...]:
    return reshaped(idx, e.out.shape, e.inputs[0].shape)


VIEWS = {"affine": _affine, "reshape": _reshape}


def in_range(j: Ix, n: Ix) -> Expr:
    """0 <= j < n, leaving out what is evident."""
    out = sc.const(True, bool_)
    if not nonnegative(j):
        out = sc.op("and", out, sc.op("ge", sc.index_value(j), sc.const(0, i64)))
    top = index.upper(j)
    if top is None or not nonnegative(n - 1 - top):
        out = sc.op("and", out, sc.op("lt", sc.index_value(j), sc.index_value(n)))
    return out


_NAME = "at"  # what names of coordinates begin with


def name_of(depth: int, d: int, n: Ix) -> Ix:
    """What a coordinate in [0, n) along dimension d is called while what is inside, so many deep, is evaluated."""
    return ZERO if n is ONE else index.axis(f"{_NAME}{depth}.{d}", n)


def is_name(a: Atom) -> bool:
    return a.name.startswith(_NAME)
