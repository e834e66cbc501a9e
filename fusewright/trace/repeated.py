"""Writing into a tensor whose elements are one in memory, as `expand` makes them.

Functionalization loses what is written: `x.expand(2, 3).zero_()` leaves something else than zeros in `x`, under every
backend; and what eager refuses to do (`add_`) passes. Such programs run as they are.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule

from . import kept

_OPERATORS = {
    operator.setitem,
    *(
        getattr(operator, f"i{name}")
        for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()
    ),
}
# What changes a tensor, and nothing in memory
_LOOKS = (
    "unsqueeze_ squeeze_ transpose_ t_ swapaxes_ swapdims_ as_strided_ detach_ requires_grad_ rename_ share_memory_"
)
_ONLY_LOOKS = frozenset([*_LOOKS.split(), "__set__"])
WHY = "it writes into a tensor whose elements share memory"


def writes(func: Any) -> bool:
    """Whether a method or operator writes into the memory of its first argument: `add_`, `__iadd__`, `__setitem__`."""
    return getattr(func, "__name__", "").partition(".")[0] not in _ONLY_LOOKS and kept.writes(func, {})


def repeated(x: Any) -> bool:
    """Whether elements of a tensor are one in memory."""
    if not isinstance(x, torch.Tensor) or x.layout is not torch.strided:
        return False
    with torch._C.DisableTorchFunction():
        sizes, strides = x.shape, x.stride()
    return any(type(s) is int and s == 0 and (type(n) is not int or n > 1) for n, s in zip(sizes, strides, strict=True))


def written(gm: GraphModule) -> bool:
    """Whether a graph of Dynamo's writes into such a tensor."""
    for n in gm.graph.nodes:
        if n.op == "call_method":
            here = writes(getattr(torch.Tensor, n.target, None))
        else:
            here = n.op == "call_function" and n.target in _OPERATORS
        if here and n.args and repeated(getattr(n.args[0], "meta", {}).get("example_value")):
            return True
    return False


__all__ = ["WHY", "repeated", "writes", "written"]
