"""Values of tensors that a traced function makes of constants: what they decide is the same in every call.

    reduce_axis = torch.arange(2, x.dim()).tolist()      if bool((torch.tensor([sigma]) > 0).all()):

A trace has tensors without values, and a program that asks for one (`item`, `tolist`, `bool`) cannot be traced. Small
tensors that come of no argument, size or random number are computed beside the trace, so that their values can be told.
They are forgotten when they are written to with what is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils.weak import WeakIdKeyDictionary

SMALL = 4096  # elements
_aten = torch.ops.aten
_LIFTED = (_aten.lift_fresh.default, _aten.lift_fresh_copy.default)
_ASKED, _SIZED = torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape
_UNSET = re.compile("(new_)?empty|resize|set_")  # operators whose results have elements that nobody has written
_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
_MASKS = (torch.bool, torch.uint8)


class KnownValues(TorchDispatchMode):
    """Answers for the values of what a program makes of constants while it is traced."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()
        self.values = WeakIdKeyDictionary()  # of a tensor in the trace

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):
            self.forget(_tensors((args, kwargs)))
            return func(*args, **kwargs)
        if func in _LIFTED and type(args[0]) is torch.Tensor:
            real = _apart(lambda: args[0].detach().clone()) if args[0].numel() <= SMALL else None
            return self.note(func(*args, **kwargs), real)
        given = _tensors((args, kwargs))
        told = all(x in self.values for x in given) and _repeats(func, args, kwargs)
        if told and _ASKED in func.tags:
            return self.compute(func, args, kwargs)
        if told and _SIZED in func.tags:
            real = self.compute(func, args, kwargs)
            return self.note(pytree.tree_map(_constant, real), real)
        if func is _aten.index.Tensor:
            args = (args[0], [place for i in args[1] for place in self.places(i)])
        out = func(*args, **kwargs)
        if told and all(x.numel() <= SMALL for x in _tensors(out)):
            try:
                return self.note(out, self.compute(func, args, kwargs))
            except Exception:  # a device that is not here, or what fails in each call, too
                pass
        if func._schema.is_mutable:
            self.forget(given)
        return out

    def compute(self, func: Any, args: Any, kwargs: Any) -> Any:
        """What `func` gives, with values in place of the tensors."""
        args, kwargs = pytree.tree_map_only(torch.Tensor, lambda x: self.values[x], (args, kwargs))
        return _apart(lambda: func(*args, **kwargs))

    def note(self, out: Any, real: Any) -> Any:
        """`out`, whose values are these from now on."""
        for x, value in zip(_tensors(out), _tensors(real), strict=real is not None):
            self.values[x] = value
        return out

    def forget(self, tensors: Iterable[torch.Tensor]) -> None:
        """Forget the values of these, and of what shares memory with them."""
        gone = set(map(_memory, tensors))
        for x in [x for x in self.values if _memory(x) in gone]:
            del self.values[x]

    def places(self, index: Any) -> list[Any]:
        """An index; if it is a mask that is known, those that it selects along each of its dimensions."""
        real = self.values.get(index) if isinstance(index, torch.Tensor) else None
        if real is None or real.dtype not in _MASKS:
            return [index]
        return [_constant(i) for i in _apart(lambda: real.nonzero(as_tuple=True))]


def listed(x: torch.Tensor) -> Any:
    """`x.tolist()`, which asks for one number after the other."""
    return [listed(part) for part in x.unbind()] if x.dim() else x.item()


def _repeats(func: Any, args: Any, kwargs: Any) -> bool:
    """Whether an operator gives the same in every call, of the same tensors."""
    if func.namespace not in ("aten", "prims") or _UNSET.match(func.__name__):
        return False
    if torch.Tag.nondeterministic_seeded in func.tags:
        return False
    return not any(
        type(x) in _SYMBOLIC or (isinstance(x, torch.device) and x.type == "meta")
        for x in pytree.tree_leaves((args, kwargs))
    )


def _tensors(x: Any) -> list[torch.Tensor]:
    return [t for t in pytree.tree_leaves(x) if isinstance(t, torch.Tensor)]


def _memory(x: torch.Tensor) -> int:
    with torch._C.DisableTorchFunction():  # the program may not ask for it
        return x.untyped_storage()._cdata


def _apart(compute: Any) -> Any:
    """What this gives outside of the trace."""
    with _disable_current_modes():
        return compute()


def _constant(real: torch.Tensor) -> torch.Tensor:
    """A tensor of the trace with these values."""
    return torch.tensor(_apart(real.tolist), dtype=real.dtype, device=real.device).reshape(real.shape)


__all__ = ["KnownValues", "listed"]
