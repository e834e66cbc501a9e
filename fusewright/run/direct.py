"""Operators that a plan calls by a shorter way: the same work, without what `OpOverload.__call__` costs.

PyTorch's own bindings parse their arguments in C++ and take half the time; ours skip the dispatcher, which has nothing
to add, because plans run below autograd on plain tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_aten = torch.ops.aten

# Operator -> what is called in its place, with the same positional arguments.
CALLS: dict[Any, Callable[..., Any]] = {
    _aten.view.default: torch.Tensor.view,
    _aten.permute.default: torch.Tensor.permute,
    _aten.t.default: torch.Tensor.t,
    _aten.transpose.int: torch.Tensor.transpose,
    _aten.mm.default: torch.mm,
    _aten.bmm.default: torch.bmm,
    _aten.addmm.default: torch.addmm,
    _aten.select.int: torch.Tensor.select,
    _aten.diagonal.default: torch.Tensor.diagonal,
    _aten.copy_.default: torch.Tensor.copy_,
    _aten.index_copy_.default: torch.Tensor.index_copy_,
}

# Operators whose result torch defines as contiguous, on every device: nothing has to check it.
CONTIGUOUS = frozenset((_aten.mm.default, _aten.bmm.default, _aten.addmm.default))


def call(target: Any, kwargs: Any) -> Any:
    """What a plan calls for an operator."""
    return target if kwargs else CALLS.get(target, target)
