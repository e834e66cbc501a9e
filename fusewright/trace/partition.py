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
from torch.utils.checkpoint import CheckpointPolicy

_EQUALITY = (torch.ops.aten.eq.Tensor, torch.ops.aten.ne.Tensor)
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


def keep_compared(joint: GraphModule) -> None:
    """Have what is made of 16-bit values, and compared with a result made of it (`y == y.amax()`), not computed again.

    Gradients of extremes do that. With other roundings in between, nothing might be equal: a gradient of 0 / 0.
    """
    for op in _EQUALITY:
        for n in joint.graph.find_nodes(op="call_function", target=op):
            a, b = n.args
            if not isinstance(a, Node) or not isinstance(b, Node):
                continue
            for m in _meeting(a, _above(b)) | _meeting(b, _above(a)):
                if m.op == "call_function" and "recompute" not in m.meta and any(map(_is_reduced, _above(m))):
                    m.meta["recompute"] = CheckpointPolicy.MUST_SAVE


def _above(n: Node) -> set[Node]:
    """A node and all that it is made of."""
    found: set[Node] = set()
    stack = [n]
    while stack:
        n = stack.pop()
        if n not in found:
            found.add(n)
            stack.extend(n.all_input_nodes)
    return found


def _meeting(n: Node, others: set[Node]) -> set[Node]:
    """The first of `others` on each way up from `n`."""
    found, seen, stack = set[Node](), set[Node](), [n]
    while stack:
        n = stack.pop()
        if n in others:
            found.add(n)
        elif n not in seen:
            seen.add(n)
            stack.extend(n.all_input_nodes)
    return found


def _is_reduced(n: Node) -> bool:
    """Whether a kernel may compute a node with more digits than it has."""
    val = n.meta.get("val") if n.op == "call_function" else None
    return isinstance(val, torch.Tensor) and val.dtype in (torch.bfloat16, torch.float16)


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
