"""Whether a traced function stops gradients somewhere, which its graphs do not say.

A graph has operations, and a backward graph what has become of their gradients. That a value was detached, computed
without recording, or by a `torch.autograd.Function` with a formula of its own, matters when the backward pass itself is
differentiated: there, such a value is a constant, or has that formula. So it is noticed while the function is traced.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.fx import GraphModule, Node

_aten = torch.ops.aten
_T: Any = torch.Tensor
_grad_enabled = torch.is_grad_enabled  # torch's own: to ask by name is noted while there are traces (`questions.py`)
_GRADIENTS = {torch.autograd.grad: "computes gradients", torch.autograd.backward: "computes gradients"}
_CALLS = {_T.backward: "computes gradients", _T.register_hook: "registers a hook", _T.requires_grad_: "makes a leaf"}


class Cuts:
    """Takes note of what stops gradients or changes them. `why`: the first such thing, or ""."""

    def __init__(self) -> None:
        self.why = ""

    def note(self, why: str) -> None:
        self.why = self.why or f"it {why}"

    def call(self, func: Any, args: Any) -> None:
        """Look at a call of torch, before it is made, while gradients are to be recorded."""
        if func is torch._C._set_grad_enabled:
            if not args[0]:
                self.note("computes something without gradients")
        elif not _grad_enabled():
            self.note("computes something without gradients")
        elif func in _GRADIENTS or func in _CALLS:
            self.note(_GRADIENTS.get(func) or _CALLS[func])

    def history(self, outputs: Iterable[Any]) -> None:
        """Look at what autograd has recorded for the results."""
        seen: set[Any] = set()
        stack = [x.grad_fn for x in outputs if isinstance(x, torch.Tensor)]
        while stack:
            n = stack.pop()
            if n is None or n in seen:
                continue
            seen.add(n)
            if isinstance(n, torch.autograd.function.BackwardCFunction) or "CppNode" in n.name():
                self.note("has a formula of its own for gradients")
            stack += [m for m, _ in n.next_functions]

    def joint(self, gm: GraphModule, outputs: int) -> None:
        """Look for detached values that results depend on; autograd's own are for the backward pass only.

        `gm`: forward and backward pass as one graph, whose first `outputs` results are those of the forward pass.
        """
        results = next(n for n in reversed(gm.graph.nodes) if n.op == "output").args[0]
        stack = [n for n in results[:outputs] if isinstance(n, Node)]  # type: ignore[index, union-attr]
        seen = set(stack)
        while stack:
            n = stack.pop()
            if n.target in (_aten.detach.default, _aten.alias.default):
                self.note("detaches something")
            more = [a for a in n.all_input_nodes if a not in seen]
            seen.update(more)
            stack += more


__all__ = ["Cuts"]
