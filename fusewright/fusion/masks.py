"""Masks of loads, without the conditions that have nothing to do with where a load reads.

What is inside a pad or a piece of a cat is read under the condition that the position is inside. An operand that is
broadcast along the padded dimension, as a row's maximum is, is read at places that do not depend on it: wherever the
condition holds for one position, it is read anyway. Without it the load belongs to the row, and is done once for it.

A slice of a wider matrix, as the part of a matrix product that is no padding, is read under the condition that the
position is in it. What lies behind is there all the same: a few columns more are read, and whole vectors of them, which
wait for nothing. No value that is read under a condition is used where that does not hold (`build.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..index.expr import ONE, Ix
from . import scalar as sc
from .ir import Buffer, Fusion
from .scalar import Expr

FEW = 31  # positions of an axis for which a condition is false


def trim_masks(f: Fusion) -> None:
    """Let the loads of a fusion ask for no more than they need."""
    buffers = {b.name: b for b in f.buffers}
    bodies = [*(s.body for s in f.stages), *(must for must, _ in f.checks)]
    memo = sc.transformed(bodies, lambda e: _trimmed(e, buffers.get(e.data[0]) if e.kind == "load" else None))
    f.stages = [replace(s, body=memo[s.body]) for s in f.stages]
    f.checks = [(memo[must], axes) for must, axes in f.checks]


def _trimmed(e: Expr, buffer: Buffer | None) -> Expr:
    if buffer is None or not e.args:
        return e
    name, offset, dtype = e.data
    mask = _needed(e.args[0], offset)
    if mask is not None and _inside(offset, buffer):
        mask = _without(mask, _nearly_everywhere)
    return sc.load(name, offset, dtype, mask)


def _needed(mask: Expr, offset: Ix) -> Expr | None:
    where = offset.axes().union(*(a.aux.axes for a in offset.atoms() if a.kind == "value"))
    return _without(mask, lambda part: bool(part.axes) and not part.axes & where)


def _without(mask: Expr, idle: Callable[[Expr], bool]) -> Expr | None:
    """What is left of a condition if some of what it consists of is left out; None if nothing is."""
    if mask.kind == "op" and mask.data == "and":
        parts = [p for a in mask.args if (p := _without(a, idle)) is not None]
        return None if not parts else parts[0] if len(parts) == 1 else sc.op("and", *parts)
    return None if idle(mask) else mask


def _nearly_everywhere(e: Expr) -> bool:
    """Whether a condition on a position is that it is not one of the first few, or of the last."""
    if e.kind != "op" or e.data not in ("lt", "ge") or any(x.kind not in ("index", "const") for x in e.args):
        return False
    position, bound = sc.sides(e)
    axes = list(position.axes())
    if len(axes) != 1 or axes[0].extent is None or position.coefficient(axes[0]) is not ONE or bound.axes():
        return False
    begin = bound - position.without(axes[0])
    n = (begin if e.data == "ge" else axes[0].extent - begin).as_int()
    return n is not None and n <= FEW


def _inside(offset: Ix, b: Buffer) -> bool:
    """Whether every position is one of an element of the buffer, or of what lies between two."""
    if any(a.kind in ("div", "value") for a in offset.atoms()):
        return False
    first, last = offset, offset
    for a in offset.axes():
        step = offset.coefficient(a)
        if step is None or a.extent is None or any(c < 0 for _, c in step.terms):
            return False
        first, last = first.without(a), last.without(a) + step * (a.extent - 1)
    low, room = first.as_int(), (b.last - last).as_int()
    return low is not None and low >= 0 and room is not None and room >= 0


__all__ = ["trim_masks"]
