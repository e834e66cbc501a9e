"""Custom operators and Triton kernels that write into what they are given.

AOTAutograd makes functions of them (`auto_functionalized_v2`, `triton_kernel_wrapper_functional`), which copy what is
written before and return the copies. A copy is not needed where nothing else has the operand's memory: a new tensor
that nobody else reads (the output that a kernel's caller allocates), or an argument that the result is copied into at
the end (a cache of keys and values). There the call writes in place, as the program said.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch._higher_order_ops.auto_functionalize import auto_functionalized_v2
from torch._higher_order_ops.triton_kernel_wrap import triton_kernel_wrapper_functional
from torch.fx import Graph, Node

from ..run.inplace import arguments_written
from ..run.mutable import Kernel, Operator
from ..run.views import new
from ..run.written import MEMORY

_FUNCTIONS = frozenset((auto_functionalized_v2, triton_kernel_wrapper_functional))


def has_mutable(graph: Graph) -> bool:
    """Whether a graph has such calls."""
    return any(n.target in _FUNCTIONS for n in graph.nodes if n.op == "call_function")


def open_mutable(graph: Graph, inplace: bool) -> None:
    """Let such calls be those of `run/mutable.py`, in place. `inplace`: without the copies that are not needed."""
    calls = [n for n in graph.nodes if n.op == "call_function" and n.target in _FUNCTIONS]
    operands = {n: _operands(n) for n in calls}
    arrives = _arguments_written(graph, operands) if inplace else {}
    for n in calls:
        written = operands[n]
        own = frozenset(
            k for k, a in written.items() if inplace and _once(a, n) and ((n, k) in arrives or _own(a, operands))
        )
        for k in own:
            if (source := arrives.get((n, k))) is not None:
                source.meta[MEMORY] = written[k]
        if n.target is auto_functionalized_v2:
            (op,) = n.args
            n.args, n.target = (), Operator(op, len(written), own)
        else:
            names = tuple(n.meta["val"])
            for item in list(n.users):
                item.args = (n, names.index(item.args[1]))
            n.meta["val"] = tuple(n.meta["val"].values())
            n.target = Kernel(n.kwargs["kernel_idx"], n.kwargs["constant_args_idx"], names, own)  # type: ignore[arg-type]
            n.kwargs = {k: a for k, a in n.kwargs.items() if k != "tensors_to_clone"}


def _operands(n: Node) -> dict[Any, Any]:
    """What a call copies and writes into."""
    if n.target is auto_functionalized_v2:
        return dict(enumerate(n.kwargs.get("_all_bases") or ()))  # type: ignore[arg-type]
    given: Any = n.kwargs["kwargs"]
    return {k: given[k] for k in n.meta["val"]}


def _written(item: Any, operands: Mapping[Node, Mapping[Any, Any]]) -> tuple[Node, Any] | None:
    """The call, and the index or name of the operand there, of which `item` is the memory after that call."""
    if not isinstance(item, Node) or item.target is not operator.getitem or item.args[0] not in operands:
        return None
    n, at = item.args
    assert isinstance(n, Node)
    if n.target is auto_functionalized_v2:
        at = int(at) - (len(n.meta["val"]) - len(operands[n]))  # type: ignore[arg-type]
    return (n, at) if at in operands[n] else None


def _arguments_written(graph: Graph, operands: Mapping[Node, Mapping[Any, Any]]) -> dict[tuple[Node, Any], Node | None]:
    """Calls, with an operand, that may write into an argument: what it becomes is copied there at the end, the value.

    Or through several calls (None), each of which is the only one to read what the one before wrote.
    """
    found: dict[tuple[Node, Any], Node | None] = {}
    for copy, x, source in arguments_written(graph):
        at = _written(source, operands)
        while at is not None and (before := operands[at[0]][at[1]]) is not x:
            at = _written(before, operands) if isinstance(before, Node) and len(before.users) == 1 else None
        if at is not None and set(x.users) == {at[0], copy}:
            found[at] = source if source.args[0] is at[0] else None
    return found


def _once(a: Any, n: Node) -> bool:
    """Whether `n` is given `a` once."""
    seen: list[Node] = []
    torch.fx.node.map_arg((n.args, n.kwargs), seen.append)
    return isinstance(a, Node) and seen.count(a) == 1


def _own(a: Node, operands: Mapping[Node, Any]) -> bool:
    """Whether only one node reads `a`, which an operation of PyTorch's or such a call made in new memory."""
    return len(a.users) == 1 and (new(a) or (a.target is operator.getitem and a.args[0] in operands))


__all__ = ["has_mutable", "open_mutable"]
