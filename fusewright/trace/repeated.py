"""Writing into a tensor whose elements are one in memory, as `expand` makes them.

Functionalization loses what is written: `x.expand(2, 3).zero_()` leaves something else than zeros in `x`, under every
backend; and what eager refuses to do (`add_`) passes. Such programs run as they are.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule

_OPERATORS = {
    operator.setitem,
    *(
        getattr(operator, f"i{name}")
        for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()
    ),
}
# Methods that change what a tensor is, and nothing in memory
_VIEWS = (
    "unsqueeze_ squeeze_ transpose_ t_ swapaxes_ swapdims_ as_strided_ detach_ requires_grad_ rename_ share_memory_"
)


def _writing(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__") and name not in _VIEWS.split()


def writes(func: Any) -> bool:
    """Whether a method of tensors writes into its tensor: `add_`, `__iadd__`, `__setitem__`."""
    name = getattr(func, "__name__", "")
    if name.endswith("__"):
        return name == "__setitem__" or (name.startswith("__i") and hasattr(torch.Tensor, f"__{name[3:]}"))
    return _writing(name)


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
            here = _writing(n.target)
        else:
            here = n.op == "call_function" and n.target in _OPERATORS
        if here and n.args and repeated(getattr(n.args[0], "meta", {}).get("example_value")):
            return True
    return False


__all__ = ["repeated", "writes", "written"]
