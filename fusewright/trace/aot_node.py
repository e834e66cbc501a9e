"""AOTAutograd's own autograd node, taught about gradients that are not there.

That node (a class `CompiledFunction` for each graph) takes zeros in their place, and gives zeros where eager has None.
Ours runs the graph's compiled backward pass for those that are there instead (`absent.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._functorch._aot_autograd import runtime_wrappers
from torch._functorch._aot_autograd.schemas import OutputType
from torch.autograd.function import Function
from torch.fx import GraphModule

from ..run.absent import Backward, Partial, filled, lacking
from ..run.node import BOXED
from ..run.second import Root, leaves_of, raising
from .absent import absent
from .functorch import Replaced

TWICE = "it gives views of its arguments, or several of one result, or writes to arguments"
_OWN = (OutputType.non_alias, OutputType.unsafe_view_alias, OutputType.custom_function_view)


class _Here(threading.local):
    node: Any = None  # the class of the graph that this thread has compiled last
    partial: Partial | None = None  # the backward pass that it is running now, if that is not the whole one


here = _Here()


def _noted(plain: Callable[..., Any], wrapper: Any, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """torch's function makes the callable of a graph from its node's `apply`."""
    here.node = getattr(run, "__self__", None)
    return plain(wrapper, run, *args, **kwargs)


_wrapped = Replaced(runtime_wrappers.RuntimeWrapper, "post_compile", _noted)


@contextmanager
def noting_nodes() -> Iterator[None]:
    """Let the nodes that AOTAutograd makes be noted."""
    here.node = None
    with _wrapped.here():
        yield


def backward_of_now(run: Backward) -> Callable[[list[Any]], Any]:
    """`run`, the backward pass that a node of AOTAutograd calls, or the one for the gradients that are there."""

    def call(args: list[Any]) -> Any:
        partial = here.partial
        return run(args) if partial is None or partial.backward is None else partial.backward(args)

    return call


def allow_absent(
    meta: Any, graph: GraphModule | None, compiler: Callable[[GraphModule, Any], Any], curved: bool
) -> None:
    """Let the node that this thread has made last, of this backward graph and metadata, do without some gradients.

    Where its own are differentiated again, that raises; AOTAutograd's node gives zeros, without a word, if arguments
    are views. `curved`: whether they depend on arguments that require gradients.
    """
    node, here.node = here.node, None
    if graph is None or not (isinstance(node, type) and issubclass(node, Function)):
        return
    tangents = _tangents(meta)
    takes = [n.name for n in graph.graph.nodes if n.op == "placeholder"]
    named = [n for n in takes if n.startswith("tangents")]
    if not tangents or len(named) != len(tangents) or named != takes[-len(tangents) :]:
        return
    if meta.tokens or getattr(node, "maybe_subclass_metadata", None) is not None:
        return
    forward, backward, partials = node.forward, node.backward, absent(graph, len(tangents), compiler)
    boxed = BOXED and getattr(node, "boxed_grads_call", False)

    def forward_(ctx: Any, *args: Any) -> Any:
        out = forward(ctx, *args)
        ctx.materialize_grads = False
        ctx.tensors = [isinstance(a, torch.Tensor) for a in args]
        ctx.roots = []
        if curved and not torch._C._are_functorch_transforms_active():
            with torch.enable_grad():
                inner = [a for a in args if isinstance(a, torch.Tensor) and a.grad_fn is not None]
                ctx.roots = [Root.apply(a) for a in inner]
        return out

    def backward_(ctx: Any, *given: Any) -> Any:
        if not torch.is_grad_enabled() or torch._C._are_functorch_transforms_active():
            return once(ctx, *given)
        grads: Any = given[0] if boxed else given
        leaves = leaves_of(ctx) if curved else []
        roots = [t for t in (*grads, *ctx.roots, *leaves) if isinstance(t, torch.Tensor) and t.requires_grad]
        with torch.no_grad():
            found = once(ctx, *given)
        return raising(found, roots, TWICE) if roots else found

    def once(ctx: Any, *given: Any) -> Any:
        grads: Any = given[0] if boxed else given
        there = tuple(grads[k] is not None for k in tangents)
        if all(there):
            return backward(ctx, *given)
        if not any(there) or partials is None:
            ctx.maybe_clear_saved_tensors()
            none = [None] * len(ctx.tensors)
            return tuple(lacking(ctx, none, range(len(none)), ctx.tensors))
        full = list(grads)
        for k, g in zip(tangents, filled(ctx, grads, tangents), strict=True):
            full[k] = g
        here.partial = found = partials(there)
        if boxed:
            grads[:] = full
        try:
            out = backward(ctx, grads) if boxed else backward(ctx, *full)
        finally:
            here.partial = None
        return tuple(lacking(ctx, out, found.lacks, ctx.tensors))

    node.forward, node.backward = staticmethod(forward_), staticmethod(backward_)  # type: ignore[assignment]


def _tangents(meta: Any) -> tuple[int, ...]:
    """Which results of a node of AOTAutograd have gradients that its backward pass takes."""
    mutated = [meta.input_info[k] for k in meta.mutated_inp_runtime_indices]
    takes = [i.mutates_data and i.requires_grad for i in mutated]
    takes += [
        o.output_type in _OWN
        and issubclass(o.raw_type, torch.Tensor)
        and bool(getattr(o, "requires_grad_for_backward", o.requires_grad))
        for o in meta.output_info
    ]
    takes += [True] * meta.num_intermediate_bases
    return tuple(k for k, t in enumerate(takes) if t)


__all__ = ["allow_absent", "backward_of_now", "noting_nodes"]
