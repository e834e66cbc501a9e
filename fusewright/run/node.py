"""One autograd node for a compiled forward and backward pass.

The node is an old-style `torch.autograd.Function` (`forward(ctx, ...)`), written out for the exact number of inputs,
outputs and saved values: no loops and no unpacking of what is known. `apply` goes past the checks for functorch, which
the caller has done. The backward pass keeps nothing alive that the plan has done with: saved tensors are released
before it runs, unless the graph is retained, and incoming gradients where torch hands them over in a list (from 2.13).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.function import Function

from . import own_thread, steps
from .absent import Backward, Partials, filled, lacking

BOXED = hasattr(Function, "boxed_grads_call")
FEW = 16  # results up to which one after the other is the quickest way to take them from a list
_ASKED = ("setup_context", "clear_saved_tensors_on_access")
_apply = torch._C._FunctionBase.__dict__["apply"]  # Function.apply without its detour for torch.func


@dataclass(frozen=True, slots=True)
class NodeShape:
    """What a node hands around. The forward pass returns `outputs` results, then what the backward pass is given.

    `tensors`: which of the flat inputs are tensors. The others, integers, are one argument of the node, a tuple, in
    front of the tensors. `saved`: for each saved value in the order of the forward pass's results, whether it is a
    tensor ("tensor"), a view of an intermediate ("view") or a number ("number"). `views`: outputs that are views of
    intermediates. `fixed`: outputs without gradient. `tangents`: outputs whose gradients the backward pass takes.
    `curved`: whether a saved value was computed from an input that requires a gradient (and is none itself).
    `own_thread`: whether the thread that runs the forward pass is to run its backward passes itself (`own_thread.py`).
    `pieces`: (output, input) for outputs that autograd is to see as views of inputs.
    """

    tensors: tuple[bool, ...]
    outputs: int
    saved: tuple[str, ...]
    views: tuple[int, ...]
    fixed: tuple[int, ...]
    tangents: tuple[int, ...]
    curved: bool = True
    own_thread: bool = False
    pieces: tuple[tuple[int, int], ...] = ()


def source(shape: NodeShape) -> str:
    """Python source of the node's two functions."""
    args = [f"a{k}" for k, is_tensor in enumerate(shape.tensors) if is_tensor]
    first = shape.tensors.index(True) if args else len(shape.tensors)
    apart = all(shape.tensors[first:])  # integers first, then tensors
    integers = [k for k, is_tensor in enumerate(shape.tensors) if not is_tensor]
    flat = ["*n"] * bool(first) + args
    if not apart:
        flat = [f"a{k}" if is_tensor else f"n[{integers.index(k)}]" for k, is_tensor in enumerate(shape.tensors)]
    outs = [f"o{k}" for k in range(shape.outputs)]
    values = [f"v{k}" for k in range(len(shape.saved))]
    tensors = [v for v, kind in zip(values, shape.saved, strict=True) if kind != "number"]
    numbers = [v for v, kind in zip(values, shape.saved, strict=True) if kind == "number"]
    lines = [f"def forward({', '.join(['ctx', 'n', *args])}):"]
    lines += ["    if not here.decided: decide()"] * shape.own_thread
    lines.append(f"    {_unpack([*outs, *values])}compiled([{', '.join(flat)}])")
    # No views, which a node must not return, but with their version counters: a write must count for what is saved.
    lines += [f"    o{k} = o{k}.detach()" for k in shape.views]
    lines += [f"    o{k} = a{j}.as_strided(o{k}.shape, o{k}.stride(), o{k}.storage_offset())" for k, j in shape.pieces]
    lines += [
        f"    if {v}._is_view(): {v} = {v}.detach()"
        for v, kind in zip(values, shape.saved, strict=True)
        if kind == "view"
    ]
    if tensors:
        lines.append(f"    ctx.to_save = ({', '.join(tensors)},)")  # all that `save_for_backward` does
    if numbers:
        lines.append(f"    ctx.numbers = ({', '.join(numbers)},)")
    lines.append("    ctx.materialize_grads = False")
    if shape.fixed:
        lines.append(f"    ctx.mark_non_differentiable({', '.join(f'o{k}' for k in shape.fixed)})")
        lines.append("    ctx._materialize_non_diff_grads = False")
    lines.append(f"    return {outs[0] if len(outs) == 1 else '(' + ', '.join(outs) + ',)'}")
    parts = ["*ctx.numbers"] * bool(numbers) + ["*ctx.saved_tensors"] * bool(tensors)
    lines.append(f"def backward(ctx, {'g' if BOXED else '*g'}):")
    if shape.tangents:
        lines.append(f"    if {' or '.join(f'g[{k}] is None' for k in shape.tangents)}: return partly(ctx, g)")
    lines.append(f"    args = [{', '.join([*parts, *(f'g[{k}]' for k in shape.tangents)])}]")
    lines += ["    g.clear()"] * BOXED + ["    ctx.maybe_clear_saved_tensors()"]
    computed = "r = twice(compiled_backward, args, ctx) if grad_enabled() else compiled_backward(args)"
    lines.append("    try:")  # under autocast torch's operators would give other types than the plan goes by
    lines += ["        if autocast():", f"            with no_autocast(): {computed}", f"        else: {computed}"]
    lines += ["    except RuntimeError as e:", "        explain(e)", "        raise"]
    own = ", ".join(f"r[{k}]" for k, is_tensor in enumerate(shape.tensors) if is_tensor)
    own = f"*r[{first}:]" if apart and len(args) > FEW else own
    lines.append(f"    return (None, {own})")
    return "\n".join([*lines, ""])


def partly(
    shape: NodeShape, whole: Backward, twice: Callable[..., Any], partials: Partials | None
) -> Callable[..., Any]:
    """The backward pass of a node, of (the node, its gradients) some of which are None; `whole`: of all of them."""
    own = [k for k, is_tensor in enumerate(shape.tensors) if is_tensor]

    def call(ctx: Any, g: Any) -> tuple[Any, ...]:
        there = tuple(g[k] is not None for k in shape.tangents)
        if partials is None or not any(there):
            ctx.maybe_clear_saved_tensors()
            none = lacking(ctx, [None] * len(shape.tensors), own, shape.tensors)
            return (None, *(none[k] for k in own))
        found = partials(there)
        run = whole if found.backward is None else found.backward
        args = [*getattr(ctx, "numbers", ()), *ctx.saved_tensors, *filled(ctx, g, shape.tangents)]
        if BOXED:
            g.clear()
        ctx.maybe_clear_saved_tensors()
        try:
            with torch._C._DisableAutocast():
                r = twice(run, args, ctx) if torch.is_grad_enabled() else run(args)
        except RuntimeError as e:
            steps.explain(e)
            raise
        grads = lacking(ctx, r, found.lacks, shape.tensors)
        return (None, *(grads[k] for k in own))

    return call


def _unpack(names: Sequence[str]) -> str:
    return f"{', '.join(names)}, = " if names else ""


def make_node(
    forward: Callable[[list[Any]], list[Any]],
    backward: Callable[[list[Any]], list[Any]],
    shape: NodeShape,
    name: str,
    twice: Callable[..., Any],
    partials: Partials | None = None,
) -> Callable[..., Any]:
    """`apply` of a node that runs `forward` and `backward` (boxed, as plans are): takes the numbers, then tensors.

    `twice`: the backward pass under create_graph=True (`second.twice`); `partials`: where some gradients are not there.
    """
    scope: dict[str, Any] = {
        "compiled": forward,
        "compiled_backward": backward,
        "grad_enabled": torch.is_grad_enabled,
        "autocast": torch._C._is_any_autocast_enabled,
        "no_autocast": torch._C._DisableAutocast,
        "twice": twice,
        "explain": steps.explain,
        "here": own_thread.here,
        "decide": own_thread.decide,
        "partly": partly(shape, backward, twice, partials),
    }
    exec(compile(source(shape), f"<fusewright {name}>", "exec"), scope)
    backward_ = scope["backward"]
    functions: dict[str, Any] = {"forward": staticmethod(scope["forward"]), "backward": staticmethod(backward_)}
    # What `apply` asks the class for, by names that no cache of attributes knows: here, it is found at once.
    asked = {k: inspect.getattr_static(Function, k) for k in _ASKED if hasattr(Function, k)}
    node: Any = type(name, (Function,), {**asked, **functions, "boxed_grads_call": BOXED})
    each = (lambda ctx, *g: backward_(ctx, list(g))) if BOXED else backward_
    # What the engine calls. Function's own `apply` looks up `backward` among the ways to write one, every time.
    # `_forward_cls` is what compiled autograd calls, which hands over no lists.
    plain = type(name, (Function,), {**functions, "backward": staticmethod(each)})
    calls = {"apply": each, "apply_boxed": backward_, "_forward_cls": plain}
    node._backward_cls = type(f"{name}Backward", (node._backward_cls,), calls)
    apply: Callable[..., Any] = _apply.__get__(None, node)
    return apply
