"""Calls of torch by a function that is traced."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

import torch
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.fx import traceback as fx_traceback
from torch.overrides import TorchFunctionMode

from ..core.errors import Refusal
from . import frames, questions, sizes
from .cuts import Cuts
from .kept import Kept
from .reach import unnoticed


class Lines(TorchFunctionMode):
    """Notes the user's line of each call of torch, or its module, for the nodes it is traced to.

    `values`: the arguments of the traced function; `leaves`: the tensors in their places; `ask`: whom to tell that what
    it does depends on the grad mode; `cuts`: of gradients, if there are any; `kept`: tensors that are no arguments;
    `outside`: the code of what runs the traced function.
    """

    def __init__(
        self,
        values: tuple[Any, ...],
        leaves: list[Any],
        ask: Callable[[], None],
        cuts: Cuts | None,
        kept: Kept,
        outside: CodeType,
    ):
        super().__init__()
        self.leaves, self.ask, self.cuts, self.kept = leaves, ask, cuts, kept
        modules = [v for v in values if isinstance(v, torch.nn.Module)]
        self.modules = {id(m): name for v in modules for name, m in v.named_modules()}
        self.calls, self.outside = False, outside  # whether modules are called

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        frames.note(fx_traceback.current_meta, sys._getframe(1), self.modules)
        self.calls = self.calls or frames.in_module(sys._getframe(1), self.outside)
        given = (*args, *kwargs.values()) if kwargs else args
        return unnoticed(self.kept.call, (func, args, kwargs or {}, self.run), given)

    def run(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The call itself."""
        questions.check(func, args, self.leaves)
        if self.cuts is not None:
            self.cuts.call(func, args)
        if func in questions.MARKS or kwargs.get("requires_grad"):
            self.ask()  # what is computed from a leaf of its own has a gradient in one mode, and none in the other
        result = sizes.CALLS.get(func, func)(*args, **kwargs)
        if kwargs.get("out") is not None:
            _check_strides(kwargs["out"])
        return result


def _check_strides(out: Any) -> None:
    """Raises Refusal for tensors written by `out=` whose strides what stands for them in the graph has not."""
    for t in out if isinstance(out, (list, tuple)) else (out,):
        if isinstance(t, FunctionalTensor):
            with torch._C.DisableTorchFunction():
                torch._sync(t)
                if torch._from_functional_tensor(t.elem).stride() != t.stride():
                    raise Refusal("mutation", "it writes by `out=` to a tensor of other strides than the result's")


__all__ = ["Lines"]
