"""Arguments that lie in the memory of one that is written: what nobody guards against from call to call.

Tensors that share a storage are apart where the memory from the first element of one to its last does not reach into
that of the other, as slices of one flat tensor of parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

ASKED = "fusewright_apart"  # in the meta of a module: whoever calls what is made of it asks whether arguments are apart


def private(written: tuple[torch.Tensor, ...], others: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """`others`, those that have elements in the memory of a tensor that is written in copies of their own."""
    owners = {t.untyped_storage()._cdata for t in written}
    shared = [k for k, t in enumerate(others) if t.untyped_storage()._cdata in owners]
    if not shared:
        return others
    spans = [s for s in map(_span, written) if s[1] < s[2]]
    out = list(others)
    for k in shared:
        owner, begin, end = _span(out[k])
        if begin < end and any(owner == o and begin < e and b < end for o, b, e in spans):
            t = out[k]
            out[k] = t.new_empty(0).set_(t.untyped_storage().clone(), t.storage_offset(), t.shape, t.stride())
    return tuple(out)


def apart(written: Sequence[torch.Tensor], tensors: Sequence[torch.Tensor]) -> bool:
    """Whether no tensor but itself lies in the memory of one that is written. `tensors`: all, those among them."""
    owners = [t.untyped_storage()._cdata for t in tensors]
    if len(set(owners)) == len(owners):
        return True
    changed = {id(t) for t in written}
    spans = sorted((*_span(t), id(t) in changed) for t in tensors)
    for here in (True, False):  # the furthest end so far, of those that are written, and of all
        last, end = None, 0
        for owner, begin, stop, mine in spans:
            if begin == stop:
                continue
            if owner == last and begin < end and (here or mine):
                return False
            if mine or not here:
                end = max(stop, end) if owner == last else stop
                last = owner
    return True


def _span(t: torch.Tensor) -> tuple[Any, Any, Any]:
    """A tensor's storage, and where in it its first byte is, and the one behind its last. Fake tensors have no more."""
    begin, size = t.storage_offset(), t.element_size()
    reach = 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True)) if t.numel() else 0
    return t.untyped_storage()._cdata, begin * size, (begin + reach) * size


__all__ = ["ASKED", "apart", "private"]
