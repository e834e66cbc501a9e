"""Views of an argument that a program writes to, as AOTAutograd hands them out: by where a trace saw them.

In a trace an argument that has been written is a new tensor, which has another place in its storage, and may have other
strides. Where sizes vary, AOTAutograd places a result that is a view of it by strides and offset of the same view of
the new tensor. That is right for arguments that are contiguous and begin where their storage does; for others the
program runs as it is. So it does where it addresses the storage of such an argument (`as_strided`; `fill_diagonal_`,
but that of a matrix is written through a view).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._functorch import config as functorch_config
from torch._functorch.aot_autograd import OutputType
from torch.fx import Graph, GraphModule, Node

from ..core.errors import Refusal

_aten = torch.ops.aten
_SCATTER = _aten.as_strided_scatter.default
_PLACED = {_aten.as_strided.default, _aten.as_strided_copy.default, _SCATTER}
_NONE = Graph()


def addresses(gm: GraphModule) -> bool:
    """Whether a program, as Dynamo traced it, addresses storage. AOTAutograd does where arguments share theirs."""
    names = {getattr(n.target, "__name__", n.target) for m in gm.modules() for n in getattr(m, "graph", _NONE).nodes}
    return any(str(name).startswith(("as_strided", "fill_diagonal_")) for name in names)


def open_diagonals(gm: GraphModule) -> None:
    """`fill_diagonal_` of matrices, in a program as Dynamo traced it, by a view: eager's own addresses storage."""
    for m in gm.modules():
        if not isinstance(m, GraphModule):
            continue
        graph: Graph = m.graph
        found = graph.find_nodes(op="call_method", target="fill_diagonal_")
        for n in found:
            x, value, wrap = (*n.args, *(n.kwargs[k] for k in ("fill_value", "wrap") if k in n.kwargs), False)[:3]
            like = x.meta.get("example_value")
            if wrap or not isinstance(like, torch.Tensor) or like.dim() != 2:
                continue
            with graph.inserting_before(n):
                line = graph.call_method("diagonal", (x,))
                for made in (line, graph.call_method("fill_", (line, value))):
                    made.meta = {k: n.meta[k] for k in ("stack_trace", "source_fn_stack") if k in n.meta}
            n.replace_all_uses_with(x)
            graph.erase_node(n)
        if found:
            m.recompile()


def check_addresses(gm: GraphModule, meta: Any) -> None:
    """Raise Refusal for a functional graph that addresses the storage of what stands for a written argument."""
    if not any(i.mutates_data for i in meta.input_info):
        return
    placed = [n for n in gm.graph.nodes if n.target in _PLACED]
    if not placed:
        return
    written = _written(gm, meta)
    for n in placed:
        if (n if n.target is _SCATTER else _start(n)) in written:
            raise Refusal("mutation", "it addresses the storage of an argument that it writes to")


def _written(gm: GraphModule, meta: Any) -> set[Node]:
    """The values of arguments once they have been written: operations that write take the value before first."""
    takes = {n for n in gm.graph.nodes if n.op == "placeholder"}
    results: Any = gm.graph.output_node().args[0]
    left = [n.args[1] for n in gm.graph.nodes if n.target is _aten.copy_.default and n.args[0] in takes]
    left += results[: meta.num_mutated_inp_runtime_indices]
    found: set[Node] = set()
    while left:
        n = left.pop()
        if not isinstance(n, Node) or n in found or n.op == "placeholder":
            continue
        found.add(n)
        if isinstance(n.target, torch._ops.OpOverload):
            left += n.args[: 2 if "_scatter" in n.target.name() else 1]
    return found


def _start(n: Node) -> Node:
    """The tensor that a chain of views begins with."""
    while isinstance(n.target, torch._ops.OpOverload) and (n.target.is_view or n.target in _PLACED):
        n = n.args[0]  # type: ignore[assignment]
    return n


def seen_again(meta: Any) -> tuple[int, ...]:
    """The inputs that are written and that results are views of, which AOTAutograd places by a trace's strides."""
    found = set()
    for o in meta.output_info:
        if o.output_type is OutputType.alias_of_input and meta.input_info[o.base_idx].mutates_data:
            views = getattr(o.view_meta_sequence, "sequence", ())
            replayed = functorch_config.view_replay_for_aliased_outputs and views
            if not replayed or any(v.has_symbolic_inputs for v in views):
                found.add(o.base_idx)
    return tuple(sorted(found))


def from_the_start(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether each is contiguous and begins where its storage does."""
    return all(t.storage_offset() == 0 and t.is_contiguous() for t in tensors)


def where_it_holds(whole: Callable[..., Any], meta: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
    """`whole`, AOTAutograd's callable, for arguments that it can place views of; `plain` for others."""
    bases = () if meta is None else seen_again(meta)
    if not bases:
        return whole

    def chosen(*args: Any) -> Any:
        return (whole if from_the_start([args[k] for k in bases]) else plain)(*args)

    return chosen


__all__ = ["addresses", "check_addresses", "from_the_start", "seen_again", "where_it_holds"]
