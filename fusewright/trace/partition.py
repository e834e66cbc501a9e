"""What the min-cut partitioner may compute again in the backward pass, and what of its cut others see and write.

It asks a function of its own module for the lists of such operators; there is no public way to add to them. A torch
without that function partitions by its own lists: more is saved for the backward pass, and results are the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch._functorch import partitioners
from torch.fx import GraphModule, Node

_operator_lists: Callable[[], Any] | None = getattr(partitioners, "get_default_op_list", None)
_lock = threading.Lock()


@cache
def _lists_with(operators: frozenset[Any]) -> Any:
    assert _operator_lists is not None
    lists = _operator_lists()
    for name in ("recomputable_ops", "fusible_ops"):
        getattr(lists, name, set()).update(operators)
    return lists


@contextmanager
def recomputing(operators: frozenset[Any]) -> Iterator[None]:
    """While open, the min-cut partitioner takes `operators` (overload packets) for fusible and cheap to compute again.

    The partitioner asks a function of its module for its lists. Every thread sees that function replaced, so one
    waits for another.
    """
    if _operator_lists is None:
        yield
        return
    with _lock:
        partitioners.get_default_op_list = lambda: _lists_with(operators)
        try:
            yield
        finally:
            partitioners.get_default_op_list = _operator_lists


def copy_written(forward: GraphModule, backward: GraphModule, outputs: int) -> None:
    """Save copies of what shares memory with an input that the forward pass writes; the results follow its `outputs`.

    The partitioner takes an input for what the forward pass was given, whenever the backward pass reads it. But it is
    written at the end of the forward pass, or behind it by AOTAutograd (`desc` of the results says so), which autograd
    would notice.
    """
    graph = forward.graph
    output = graph.output_node()
    writes = graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default)
    behind = {d.mutated_input for d in output.meta.get("desc", ()) if hasattr(d, "mutated_input")}
    takes = [n for n in graph.find_nodes(op="placeholder") if n.meta.get("desc") in behind]
    written = {_memory(n) for n in (*takes, *(w.args[0] for w in writes))} - {0}
    if not written:
        return
    read = {n.name: n for n in backward.graph.find_nodes(op="placeholder")}
    results: list[Any] = list(output.args[0])  # type: ignore[arg-type]
    for k, n in enumerate(results[outputs:], outputs):
        if _memory(n) in written:
            with graph.inserting_before(writes[0] if writes else output):
                results[k] = copy = graph.call_function(torch.ops.aten.clone.default, (n,))
            copy.meta = {**n.meta, "val": n.meta["val"].clone(), "unseen": True}
            read[n.name].meta |= {"val": copy.meta["val"], "private": True}
            for meta in (copy.meta, read[n.name].meta):
                meta.pop("tensor_meta", None)
    output.args = (tuple(results),)
    forward.recompile()


def mark_private(forward: GraphModule, backward: GraphModule, outputs: int) -> None:
    """Mark what is saved for the backward pass and shares no memory with inputs or `outputs` of the forward pass.

    `meta["private"]` of the backward pass's argument: its memory is free once it has been read for the last time.
    `meta["unseen"]` of the forward pass's result: nobody else has that memory, which others that are saved may be on.
    """
    results = list(next(n for n in reversed(forward.graph.nodes) if n.op == "output").args[0])  # type: ignore[arg-type]
    seen = {_memory(n) for n in results[:outputs]}
    seen |= {_memory(n) for n in forward.graph.nodes if n.op in ("placeholder", "get_attr")}
    saved = [n for n in results[outputs:] if isinstance(n, Node)]
    shared = [_memory(n) for n in saved]
    for n, at in zip(saved, shared, strict=True):
        if at and at not in seen:
            n.meta["unseen"] = True
    private = {n.name for n, at in zip(saved, shared, strict=True) if at and at not in seen and shared.count(at) == 1}
    for n in backward.graph.nodes:
        if n.op == "placeholder" and n.name in private:
            n.meta["private"] = True


def _memory(n: Any) -> int:
    """The storage that a tensor was traced with; 0 if that is no tensor, or not a strided one."""
    val = n.meta.get("val") if isinstance(n, Node) else None
    return val.untyped_storage()._cdata if isinstance(val, torch.Tensor) and val.layout is torch.strided else 0
