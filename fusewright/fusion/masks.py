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


def loosen(f: Fusion) -> None:
    """Let the loads of a fusion ask for no more than they need."""
    memo: dict[Expr, Expr] = {}
    f.stages = [replace(s, body=_rewritten(s.body, memo)) for s in f.stages]
    f.checks = [(_rewritten(must, memo), axes) for must, axes in f.checks]


def _rewritten(e: Expr, memo: dict[Expr, Expr]) -> Expr:
    for x in sc.walk([e]):  # operands first
        if x not in memo:
            args = tuple(memo[a] for a in x.args)
            if x.kind == "load" and args:
                mask = _needed(args[0], x.data[1])
                args = () if mask is None else (mask,)
            memo[x] = sc.rebuild(x, args, memo)
    return memo[e]


def _needed(mask: Expr, offset: Ix) -> Expr | None:
    if mask.kind == "op" and mask.data == "and":
        parts = [p for a in mask.args if (p := _needed(a, offset)) is not None]
        return None if not parts else parts[0] if len(parts) == 1 else sc.op("and", *parts)
    where = offset.axes().union(*(a.aux.axes for a in offset.atoms() if a.kind == "value"))
    return None if mask.axes and not mask.axes & where else mask


__all__ = ["loosen"]
