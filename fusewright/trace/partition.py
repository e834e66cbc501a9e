"""What the min-cut partitioner may compute again in the backward pass, and what of its cut others see and write.

It asks a function of its own module for the lists of such operators; there is no public way to add to them. A torch
without that function partitions by its own lists: more is saved for the backward pass, and results are the same.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch._functorch import config, partitioners
from torch.fx import GraphModule, Node
from torch.utils.checkpoint import CheckpointPolicy

from .lowering import RULES

_EQUALITY = (torch.ops.aten.eq.Tensor, torch.ops.aten.ne.Tensor)
# What is the same, digit by digit, however it is computed
_ARITHMETIC = "add sub mul div neg abs relu square clamp clamp_min clamp_max maximum minimum where masked_fill"
_COPIES = "_to_copy clone cat stack constant_pad_nd full full_like zeros_like ones_like scalar_tensor lift_fresh_copy"
_EXACT = {getattr(torch.ops.aten, name) for name in (*_ARITHMETIC.split(), *_COPIES.split())}
_EXACT.add(torch.ops.prims.convert_element_type)
_operator_lists: Callable[[], Any] | None = getattr(partitioners, "get_default_op_list", None)
_joined: Callable[[Any], Any] | None = getattr(partitioners, "fx_graph_cse", None)
_lock = threading.Lock()


@cache
def _lists_with(operators: frozenset[Any]) -> Any:
    assert _operator_lists is not None
    lists = _operator_lists()
    getattr(lists, "recomputable_ops", set()).update(operators)
    getattr(lists, "fusible_ops", set()).update(operators | _fused())
    return lists


def _fused() -> frozenset[Any]:
    """Operators that read what a kernel of ours computes as it goes: those with rules."""
    return frozenset(packet for op in RULES if (packet := getattr(op, "overloadpacket", None)) is not None)


@contextmanager
def recomputing(operators: frozenset[Any]) -> Iterator[None]:
    """While open, the min-cut partitioner takes `operators` (overload packets) for cheap to compute again, and these
    and all that have rules for fusible: what they read need not be in memory.

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


def keep_compared(joint: GraphModule, operators: frozenset[Any]) -> None:
    """Have what is compared with a result made of it (`y == y.amax()`) not computed again, as gradients of extremes do.

    With other roundings in between, or by another function (torch's in one pass, a kernel's in the other) nothing might
    be equal: a gradient of 0 / 0. `operators`: what the partitioner may compute again besides what torch lists.
    """
    if not any(len(n.all_input_nodes) == 2 for n in joint.graph.nodes if n.target in _EQUALITY):
        return
    if _joined is not None and config.cse:  # as the partitioner does first: of two nodes that are alike one is left
        joint.graph = _joined(joint.graph)
    lists = _operator_lists() if _operator_lists is not None else None
    again = operators | getattr(lists, "recomputable_ops", frozenset())
    for op in _EQUALITY:
        for n in joint.graph.find_nodes(op="call_function", target=op):
            a, b = n.args
            if not isinstance(a, Node) or not isinstance(b, Node):
                continue
            for m in _meeting(a, _above(b)) | _meeting(b, _above(a)):
                if m.op == "call_function" and "recompute" not in m.meta and _varies(m, again):
                    m.meta["recompute"] = CheckpointPolicy.MUST_SAVE


def separate_results(forward: GraphModule, count: int) -> None:
    """Copy the second of two results that the program computed twice and that became one (`x.sort()[0], x.sort()[0]`).

    The partitioner joins equal nodes unless both are results; what takes one of several results of an operator, it
    joins with the operator.
    """
    output = next(iter(forward.graph.find_nodes(op="output")))
    results: list[Any] = list(output.args[0])
    first: dict[Any, Node] = {}
    for k, n in enumerate(results[:count]):
        if isinstance(n, Node) and n.target is operator.getitem and first.setdefault(n.args, n) is not n:
            with forward.graph.inserting_before(output):
                results[k] = forward.graph.call_function(torch.ops.aten.clone.default, (n,))
            results[k].meta = dict(n.meta)
    if results != list(output.args[0]):
        output.args = (tuple(results),)
        forward.recompile()


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


def _varies(n: Node, again: frozenset[Any]) -> bool:
    """Whether a node may have other digits when it is computed again, where `again` are the operators that may be."""
    stack, seen = [n], set[Node]()
    while stack:
        n = stack.pop()
        if n.op != "call_function" or n in seen:
            continue
        seen.add(n)
        val, packet = n.meta.get("val"), getattr(n.target, "overloadpacket", n.target)
        if isinstance(val, torch.Tensor) and val.is_floating_point():
            if val.dtype in (torch.bfloat16, torch.float16):
                return True
            if packet not in _EXACT and not getattr(n.target, "is_view", False):
                if packet in again:
                    return True
                continue  # the partitioner saves it
        stack.extend(n.all_input_nodes)
    return False


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
