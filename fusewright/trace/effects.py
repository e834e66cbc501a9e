"""Order that no value expresses: mutation of inputs, random state and other effects."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

# An error of linear algebra is all that this operator is for: tracing keeps it. Torch knows that from 2.12 or 2.13 on.
torch.fx.node.has_side_effect(torch.ops.aten._linalg_check_errors.default)


def draws(node: Node) -> bool:
    """Whether the node is an operator that draws random numbers."""
    return isinstance(node.target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in node.target.tags


def effectful(node: Node) -> bool:
    """Whether running the node does more than compute its result."""
    target = node.target
    if getattr(target, "pure", False):  # `equations.py`
        return False
    if not isinstance(target, torch._ops.OpOverload):
        return not getattr(target, "__module__", "").startswith(("_operator", "math", "torch"))
    if draws(node):
        return True
    return target._schema.is_mutable or node.is_impure()


def ordering(nodes: list[Node]) -> dict[int, list[int]]:
    """For each node (by position): the earlier nodes that must have run before it although no tensor says so.

    Effectful nodes keep their order among themselves; a node that mutates its operands comes after all earlier
    readers of the same memory (reached through views), and before all later ones.
    """
    after: dict[int, list[int]] = {}
    readers: dict[Any, list[int]] = {}
    written: dict[Any, int] = {}
    last: int | None = None
    position = {n: k for k, n in enumerate(nodes)}
    for k, n in enumerate(nodes):
        bases = [_base(a) for a in n.all_input_nodes]
        deps = [written[b] for b in bases if b in written]
        # sizes and other Python numbers are not graph values: depend on them here
        deps += [position[a] for a in n.all_input_nodes if a in position and not _makes_tensors(a)]
        if effectful(n):
            if last is not None:
                deps.append(last)
            last = k
            for a in _mutated(n):
                base = _base(a)
                deps.extend(readers.get(base, ()))
                written[base] = k
        for b in bases:
            readers.setdefault(b, []).append(k)
        if deps:
            after[k] = sorted(set(deps) - {k})
    return after


def _mutated(n: Node) -> list[Node]:
    target = n.target
    if not isinstance(target, torch._ops.OpOverload):
        return n.all_input_nodes
    out: list[Node] = []
    for a, arg in zip(n.args, target._schema.arguments, strict=False):
        if arg.alias_info is not None and arg.alias_info.is_write:
            out.extend(x for x in (a if isinstance(a, (list, tuple)) else [a]) if isinstance(x, Node))
    return out


def _makes_tensors(n: Node) -> bool:
    val = n.meta.get("val")
    return isinstance(val, (torch.Tensor, list, tuple))


def _base(n: Node) -> Node:
    """The node whose memory `n` aliases, through views."""
    while n.op == "call_function" and getattr(n.target, "is_view", False) and n.args:
        first = n.args[0]
        if not isinstance(first, Node):
            break
        n = first
    return n
