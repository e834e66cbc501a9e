"""Masks of loads, without the conditions that have nothing to do with where a load reads.

What is inside a pad or a piece of a cat is read under the condition that the position is inside. An operand that is
broadcast along the padded dimension, as a row's maximum is, is read at places that do not depend on it: wherever the
condition holds for one position, it is read anyway. Without it the load belongs to the row, and is done once for it.
"""

from __future__ import annotations

from dataclasses import replace

from ..index.expr import Ix
from . import scalar as sc
from .ir import Fusion
from .scalar import Expr


def trim_masks(f: Fusion) -> None:
    """Let the loads of a fusion ask for no more than they need."""
    memo = sc.transformed([*(s.body for s in f.stages), *(must for must, _ in f.checks)], _trimmed)
    f.stages = [replace(s, body=memo[s.body]) for s in f.stages]
    f.checks = [(memo[must], axes) for must, axes in f.checks]


def _trimmed(e: Expr) -> Expr:
    if e.kind != "load" or not e.args:
        return e
    buffer, offset, dtype = e.data
    return sc.load(buffer, offset, dtype, _needed(e.args[0], offset))


def _needed(mask: Expr, offset: Ix) -> Expr | None:
    if mask.kind == "op" and mask.data == "and":
        parts = [p for a in mask.args if (p := _needed(a, offset)) is not None]
        return None if not parts else parts[0] if len(parts) == 1 else sc.op("and", *parts)
    where = offset.axes().union(*(a.aux.axes for a in offset.atoms() if a.kind == "value"))
    return None if mask.axes and not mask.axes & where else mask


__all__ = ["trim_masks"]
