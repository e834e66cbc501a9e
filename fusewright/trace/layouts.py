"""Another layout for an intermediate result: what is computed from it keeps its shape, and follows in strides.

A rewrite may leave a tensor of the same elements in another order of memory than the operator it replaces. Strides are
part of what was traced, so that everything behind it is traced again, with nothing but strides changing. What the
program gets has the strides that it had.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._prims_common import make_contiguous_strides_for
from torch.fx import Node

from .rewriting import call_like, replace

aten = torch.ops.aten


def relayout(old: Node, new: Node) -> bool:
    """Replace `old` by `new`, which lies in another order; whether everything behind it can do with that."""
    if old.meta["val"].stride() == new.meta["val"].stride():
        return _replace(old, new, {}, [])
    changed: dict[Node, Any] = {old: new.meta["val"]}
    kept: list[tuple[Node, Node]] = []
    n = old.next
    while n.op != "root":
        operands = [a for a in n.all_input_nodes if a in changed]
        if operands and n.op == "output":
            kept = [(n, a) for a in operands]
        elif operands:
            value = _traced(n, changed)
            if value is None or _shapes(value) != _shapes(n.meta.get("val")):
                return False
            if _strides(value) != _strides(n.meta["val"]):
                changed[n] = value
        n = n.next
    if any(a.meta["val"].stride() != make_contiguous_strides_for(a.meta["val"].shape) for _, a in kept):
        return False  # a copy of them would have to be laid out by hand
    del changed[old]
    return _replace(old, new, changed, kept)


def _replace(old: Node, new: Node, changed: dict[Node, Any], kept: list[tuple[Node, Node]]) -> bool:
    for out, a in kept:
        with out.graph.inserting_before(out):
            source = new if a is old else a
            copy = call_like(source, aten.clone.default, source, memory_format=torch.contiguous_format)
            out.replace_input_with(a, copy)
    for n, value in changed.items():
        n.meta["val"] = value
        n.meta.pop("tensor_meta", None)
    replace(old, new)
    return True


def _traced(n: Node, changed: dict[Node, Any]) -> Any:
    """The result of a node for operands that have changed; None where it cannot be, or has effects."""
    target = n.target
    if n.op != "call_function" or (getattr(target, "_schema", None) is not None and target._schema.is_mutable):  # type: ignore[union-attr]
        return None
    args, kwargs = torch.fx.node.map_arg((n.args, n.kwargs), lambda a: changed.get(a, a.meta.get("val")))
    modes = [v.fake_mode for v in changed.values() if isinstance(v, torch._subclasses.FakeTensor)]
    try:
        with modes[0]:
            return target(*args, **kwargs)  # type: ignore[operator]
    except (RuntimeError, ValueError, TypeError):
        return None


def _tensors(value: Any) -> list[torch.Tensor]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return [v for v in values if isinstance(v, torch.Tensor)]


def _shapes(value: Any) -> list[Any]:
    return [(tuple(t.shape), t.dtype) for t in _tensors(value)]


def _strides(value: Any) -> list[Any]:
    return [t.stride() for t in _tensors(value)]


__all__ = ["relayout"]
