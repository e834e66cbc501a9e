"""Backward passes of nodes that get no gradient for some of their results, as those that a loss does not depend on.

Autograd hands over None for such a result, and eager has None for whatever only these lead to: an optimizer leaves
such parameters alone. Nor do they add anything to other gradients, not even zero times infinity. So there is a backward
pass for each set of results whose gradients are there, which is made when it is first needed (`trace/absent.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch

Backward = Callable[[list[Any]], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Partial:
    """A backward pass of all arguments, zeros for gradients that are not there (None: the whole one does it); `lacks`:
    which results it has not."""

    backward: Backward | None
    lacks: frozenset[int]


Partials = Callable[[tuple[bool, ...]], Partial]  # of: which gradients are there


def filled(ctx: Any, grads: Sequence[Any], tangents: Sequence[int]) -> list[Any]:
    """The gradients of the results `tangents` of a node, zeros for those that are None."""
    return [_zeros(ctx._input_metadata[k]) if grads[k] is None else grads[k] for k in tangents]


def lacking(ctx: Any, grads: Sequence[Any], lacks: Collection[int], tensors: Sequence[bool]) -> list[Any]:
    """The gradients of a node's inputs, None for those that it `lacks`. `tensors`: which of the inputs are tensors.

    Eager would not call a hook of a parameter then. It cannot be kept from being called, and few can do with None: it
    gets zeros.
    """
    out, edges = list(grads), ctx.next_functions
    for k in lacks:
        out[k] = None
        if tensors[k]:
            leaf = getattr(edges[sum(tensors[:k])][0], "variable", None)
            if leaf is not None and (leaf._backward_hooks or leaf._post_accumulate_grad_hooks):
                out[k] = torch.zeros_like(leaf)
    return out


def _zeros(like: Any) -> torch.Tensor:
    return torch.zeros(like.shape, dtype=like.dtype, device=like.device)


__all__ = ["Backward", "Partial", "Partials", "filled", "lacking"]
