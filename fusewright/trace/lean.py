"""Compiled graphs under one autograd node of our own, where AOTAutograd's runtime has nothing to do.

That runtime replays aliases and mutations, unwraps subclasses, and builds its node from general parts; it costs several
times what our node does (`run/node.py`). It is needed unless a graph's results are all new tensors and nothing that
autograd could see is mutated.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch._functorch import config as functorch_config
from torch._functorch._aot_autograd.schemas import OutputType
from torch.autograd import forward_ad
from torch.fx import GraphModule
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ..run import own_thread, second
from ..run.internals import has_tangent
from ..run.node import NodeShape, make_node
from . import frames
from .absent import absent
from .aot_node import allow_absent, backward_of_now, noting_nodes
from .functorch import gradients_like_results, no_random_state, writes_to_scalars_stay
from .written_views import check_addresses


def is_lean(meta: Any) -> bool:
    """Whether a graph's results are all new tensors, and nothing needs AOTAutograd's runtime. `meta`: its metadata."""
    return not (
        meta.num_mutated_inp_runtime_indices
        or meta.mutated_graph_handled_indices_seen_by_autograd
        or meta.aliased_out_indices
        or meta.num_intermediate_bases
        or meta.tokens
        or meta.num_backward_tokens
        or meta.is_rng_op_functionalized
        or getattr(meta, "num_graphsafe_rng_states", 0)
        or getattr(meta, "num_opaque_objects_saved_for_bw", 0)
        or meta.indices_of_inputs_that_requires_grad_with_mutations_in_bw
        or meta.grad_enabled_mutation is not None
    )


def below_autograd(run: Callable[[list[Any]], list[Any]], meta: Any) -> Callable[[list[Any]], list[Any]]:
    """`run`, the plan of a graph whose results need no gradients; autograd records nothing of it.

    That is for graphs with inputs that require gradients: a `detach` or a `no_grad` of the program is no operation of a
    graph, or has been dropped from it.
    """
    if not any(i.requires_grad for i in meta.input_info):
        return run

    def quiet(args: list[Any]) -> list[Any]:
        if not torch.is_grad_enabled():
            return run(args)
        torch._C._set_grad_enabled(False)
        try:
            return run(args)
        finally:
            torch._C._set_grad_enabled(True)

    return quiet


def without_autocast(run: Callable[[list[Any]], list[Any]]) -> Callable[[list[Any]], list[Any]]:
    """`run`, a plan that AOTAutograd's node calls whatever autocast says then; torch's operators keep their types."""
    run = backward_of_now(run)

    def quiet(args: list[Any]) -> list[Any]:
        if not torch._C._is_any_autocast_enabled():
            return run(args)
        with torch._C._DisableAutocast():
            return run(args)

    quiet._boxed_call = True  # type: ignore[attr-defined]
    return quiet


def without_history(
    run: Callable[[list[Any]], list[Any]], gm: GraphModule, meta: Any
) -> Callable[[list[Any]], list[Any]]:
    """`run`, the forward plan of `gm` for AOTAutograd's node, whose results without gradients are no views to autograd.

    Plans make views the shortest way, and a view of a result that requires a gradient requires one, too; `detach(x)`
    beside another view of `x` does not.
    """
    results: Any = gm.graph.output_node().args[0]
    first = meta.num_mutated_inp_runtime_indices
    alone = [k for k, o in enumerate(meta.output_info, first) if not o.requires_grad and o.base_idx is None]
    fixed = [k for k in alone if _is_view(results[k])]
    pieces = [(first + k, j) for k, j in pieces_of(gm, meta)]
    if not (fixed or pieces) or meta.tokens or is_lean(meta):
        return run

    def apart(args: list[Any]) -> list[Any]:
        whole = [args[j] for _, j in pieces]
        out = list(run(args))
        for k in fixed:
            out[k] = out[k].detach()
        for (k, _), t in zip(pieces, whole, strict=True):
            out[k] = t.as_strided(out[k].shape, out[k].stride(), out[k].storage_offset())
        return out

    apart._boxed_call = True  # type: ignore[attr-defined]
    return apart


def pieces_of(forward: GraphModule, meta: Any) -> tuple[tuple[int, int], ...]:
    """(result, argument) for results that are pieces of an argument, as `split` and `unbind` give them.

    AOTAutograd replays no views where all results that share memory are such; it has them as a node's own results, and
    autograd is to see that they are views: a write to one, or to the argument, is an error where it would be missed.
    """
    takes = [n for n in forward.graph.nodes if n.op == "placeholder"]
    results: Any = forward.graph.output_node().args[0]
    found = []
    for k, o in enumerate(meta.output_info):
        n = results[meta.num_mutated_inp_runtime_indices + k]
        if not o.requires_grad or o.output_type is not OutputType.non_alias:
            continue
        while n.op == "call_function" and (n.target is operator.getitem or _views(n)):
            n = n.args[0]
        if n in takes:
            found.append((k, takes.index(n)))
    return tuple(found)


def node_shape(forward: GraphModule, backward: GraphModule, meta: Any, tensors: Sequence[bool]) -> NodeShape | None:
    """What the node of a traced forward and backward pass hands around; None if the graphs are not as expected.

    `tensors`: which of the flat inputs are tensors.
    """
    results = forward.graph.output_node().args[0]
    outputs = len(meta.output_info)
    saved = results[outputs:]  # type: ignore[index, arg-type]
    tangents = tuple(k for k, o in enumerate(meta.output_info) if _has_tangent(o))
    takes = [n for n in backward.graph.nodes if n.op == "placeholder"]
    if len(takes) != len(saved) + len(tangents):  # type: ignore[arg-type]
        return None
    fixed = tuple(
        k for k, o in enumerate(meta.output_info) if not o.requires_grad and issubclass(o.raw_type, torch.Tensor)
    )
    seen = {k for k in fixed if _is_view(results[k])}  # type: ignore[index]
    views = tuple(sorted(seen.union(meta.unsafe_view_out_indices)))
    kinds = tuple(map(_kind, saved))  # type: ignore[arg-type]
    given: Any = results[:outputs]  # type: ignore[index]
    own = own_thread.wanted(n.meta["val"].device for n in given if _is_tensor(n))
    return NodeShape(
        tuple(tensors),
        outputs,
        kinds,
        views,
        fixed,
        tangents,
        _curved(forward, saved, meta),
        own,
        pieces_of(forward, meta),
    )


def curved_at_all(forward: GraphModule | None, meta: Any) -> bool:
    """Whether the gradients of a graph depend on an input that requires one: what is saved does."""
    results: Any = None if forward is None else forward.graph.output_node().args[0]
    return results is None or _curved(forward, results[meta.num_forward :], meta, given=True)  # type: ignore[arg-type]


def _curved(forward: GraphModule, saved: Any, meta: Any, given: bool = False) -> bool:
    """Whether a saved tensor was computed from an input that requires a gradient, or is one, if `given`."""
    takes = [n for n in forward.graph.nodes if n.op == "placeholder"]
    if len(takes) != len(meta.input_info):
        return True
    reached = {n for n, i in zip(takes, meta.input_info, strict=True) if i.requires_grad}
    for n in forward.graph.nodes:
        val = n.meta.get("val")
        parts = val if isinstance(val, (list, tuple)) else [val]
        real = any(isinstance(t, torch.Tensor) and (t.is_floating_point() or t.is_complex()) for t in parts)
        if real and any(a in reached for a in n.all_input_nodes):
            reached.add(n)
    return any(n in reached and (given or n.op != "placeholder") for n in saved)


def _has_tangent(o: Any) -> bool:
    """Whether the backward pass takes the gradient of an output; torch 2.11 does not tell that from requiring one."""
    return bool(getattr(o, "requires_grad_for_backward", o.requires_grad))


def _is_tensor(n: Any) -> bool:
    """Whether an argument or result of a graph, which may be a constant, is a node of a tensor."""
    return hasattr(n, "meta") and isinstance(n.meta.get("val"), torch.Tensor)


def _is_view(n: Any) -> bool:
    return _is_tensor(n) and _kind(n) == "view"


def _kind(n: Any) -> str:
    """What a saved value is, for `NodeShape.saved`."""
    if not isinstance(n.meta["val"], torch.Tensor):
        return "number"
    return "view" if _views(n) else "tensor"


def _views(n: Any) -> bool:
    """Whether an operation gives views of its operand."""
    return n.op == "call_function" and isinstance(n.target, torch._ops.OpOverload) and n.target.is_view


@contextmanager
def aot_settings() -> Iterator[None]:
    """Settings of AOTAutograd for our node: compile the backward pass now; do not free what a retained graph needs;
    take gradients to lie as the results do; keep no state of random generators."""
    changes = {"force_non_lazy_backward_lowering": True, "donated_buffer": False}
    patch = functorch_config.patch({k: v for k, v in changes.items() if hasattr(functorch_config, k)})
    with patch, gradients_like_results(), no_random_state(), writes_to_scalars_stay(), noting_nodes():
        yield


def nothing_donated(meta: Any) -> Any:
    """`meta`, AOTAutograd's description of a graph, which says that its backward pass frees nothing that was saved.

    AOTAutograd takes it to free something if nothing is said, and then refuses to keep the graph.
    """
    if getattr(meta, "bw_donated_idxs", ()) is None:
        meta.bw_donated_idxs = []
    return meta


class Parts:
    """What AOTAutograd had compiled of one graph: each compiler says so (`keep`). `addressed`: as `addresses` says."""

    def __init__(self, addressed: bool) -> None:
        self.meta: Any = None
        self.addressed = addressed
        self.compiled: dict[str, tuple[Callable[[list[Any]], list[Any]], GraphModule]] = {}
        self.compilers: dict[str, Callable[..., Any]] = {}

    def keep(self, kind: str, compiler: Callable[..., Any]) -> Callable[..., Any]:
        """`compiler`, remembering what it was given and made: `kind` is "forward", "backward" or "inference"."""

        def kept(gm: GraphModule, inputs: Sequence[Any]) -> Any:
            context = torch._guards.TracingContext.try_get()
            if kind != "backward" and context is not None:
                self.meta = nothing_donated(context.fw_metadata)
                if self.addressed:
                    check_addresses(gm, self.meta)
            made = compiler(gm, inputs)
            if kind == "forward" and context is not None:
                made = without_history(made, gm, self.meta)
            self.compiled[kind], self.compilers[kind] = (made, gm), compiler
            return made if kind != "backward" else without_autocast(made)

        return kept

    def callable(self, whole: Callable[..., Any], inputs: Sequence[Any], name: str) -> Callable[..., Any]:
        """What runs the graph: a function of its inputs, like AOTAutograd's own (`whole`), which it may be."""
        if self.meta is not None and "backward" in self.compiled:
            curved = curved_at_all(self.compiled.get("forward", (None, None))[1], self.meta)
            allow_absent(self.meta, self.compiled["backward"][1], self.compilers["backward"], curved)
        if self.meta is None or not is_lean(self.meta) or torch._C._is_any_autocast_enabled():
            return whole
        if any(isinstance(x, torch.Tensor) and is_traceable_wrapper_subclass(x) for x in inputs):
            return whole
        forward, graph = self.compiled.get("inference") or self.compiled.get("forward") or (None, None)
        takes = [] if graph is None else [n for n in graph.graph.nodes if n.op == "placeholder"]
        if forward is None or len(takes) != len(inputs):
            return whole
        tensors = [_is_tensor(n) for n in takes]
        args = [f"a{k}" for k in range(len(inputs))]
        scope: dict[str, Any] = {"_whole": whole, "_transforms": _transforms, "_ad": forward_ad}
        if "inference" in self.compiled:
            scope["_run"] = below_autograd(forward, self.meta)
            call = f"_run([{', '.join(args)}])"
        else:
            backward, backward_graph = self.compiled.get("backward", (None, None))
            shape = None if backward_graph is None else node_shape(graph, backward_graph, self.meta, tensors)  # type: ignore[arg-type]
            if shape is None or not torch.is_grad_enabled():  # an `enable_grad` of the program is within a `no_grad`
                return whole
            partials = absent(backward_graph, len(shape.tangents), self.compilers["backward"])  # type: ignore[arg-type]
            again = second.twice(None, "under torch.compile", shape.curved)
            scope["_run"] = make_node(forward, backward, shape, name, again, partials)  # type: ignore[arg-type]
            call = _node_call("_run", args, shape)
        lines = [
            f"def call({', '.join(args)}):",
            f"    if _transforms() or _ad._current_level >= 0: return _whole({', '.join(args)})",
        ]
        dims = {k: o.dynamic_dims for k, o in enumerate(self.meta.output_info) if o.dynamic_dims}
        if dims:  # what Dynamo goes by when it traces a reader of the result
            scope.update({"_mark": _mark, "_dims": dims})
            lines += [f"    out = {call}", "    _mark(out, _dims)", "    return out"]
        else:
            lines.append(f"    return {call}")
        exec(compile("\n".join(lines), frames.name(f"{name} graph"), "exec"), scope)
        made: Callable[..., Any] = scope["call"]
        return made


def with_tangents(whole: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """`whole`, AOTAutograd's callable, where no argument has a tangent; `plain` where one has. AOTAutograd's graphs are
    below forward-mode differentiation: results would have none."""

    def run(*args: Any) -> Any:
        if forward_ad._current_level >= 0 and any(isinstance(x, torch.Tensor) and has_tangent(x) for x in args):
            return plain(*args)
        return whole(*args)

    return run


def tried_first(whole: Callable[..., Any], run: Callable[..., Any]) -> Callable[..., Any]:
    """`run`, but the first call is AOTAutograd's callable's where that call is to be with tensors without data.

    So Dynamo finds out what comes out of a piece of a program that it cuts where `DistributedDataParallel` exchanges
    gradients (`DDPOptimizer`); AOTAutograd's callable answers that call from what it knows.
    """
    context = torch._guards.TracingContext.try_get()
    if context is None or not context.fakify_first_call:
        return run
    calls = iter((whole,))

    def piece(*args: Any) -> Any:
        return next(calls, run)(*args)

    return piece


_transforms: Callable[[], bool] = torch._C._are_functorch_transforms_active


def _node_call(run: str, args: Sequence[str], shape: NodeShape) -> str:
    """Source of the call of a node; a tuple of its results."""
    pairs = list(zip(args, shape.tensors, strict=True))
    numbers, tensors = ([a for a, is_tensor in pairs if is_tensor is want] for want in (False, True))
    integers = "".join(f"{n}, " for n in numbers)
    call = f"{run}({', '.join([f'({integers})', *tensors])})"
    return f"({call},)" if shape.outputs == 1 else call


def _mark(outputs: Sequence[Any], dims: dict[int, set[int]]) -> None:
    """Say which dimensions of results are of sizes that vary, as AOTAutograd does."""
    for k, d in dims.items():
        t = outputs[k]
        known = getattr(t, "_dynamo_weak_dynamic_indices", None)
        t._dynamo_weak_dynamic_indices = set(d) if known is None else known | d
