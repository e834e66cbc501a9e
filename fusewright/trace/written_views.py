"""Views of an argument that a program writes to, as AOTAutograd hands them out: by where a trace saw them.

In a trace an argument that has been written is a new tensor, which has another place in its storage, and may have other
strides. Where sizes vary, AOTAutograd places a result that is a view of it by the strides and the offset of the same view of
the new tensor. That is right for arguments that are contiguous and begin where their storage does; for others the program
runs as it is. So it does for what addresses storage itself (`as_strided`, `fill_diagonal_`) if arguments are written,
and where both elements and strides of an argument change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._functorch import config as functorch_config
from torch._functorch.aot_autograd import OutputType
from torch.fx import GraphModule, Node

from ..core.errors import Refusal

_aten = torch.ops.aten
_PLACED = {_aten.as_strided.default, _aten.as_strided_copy.default}


def check_addresses(gm: GraphModule, meta: Any) -> None:
    """Raise Refusal for a graph that addresses the storage of what stands for a written argument."""
    if not any(i.mutates_data for i in meta.input_info):
        return
    for n in gm.graph.nodes:
        scattered = n.target is _aten.as_strided_scatter.default
        if scattered or (n.target in _PLACED and _start(n).op != "placeholder"):
            raise Refusal("mutation", "it addresses the storage of an argument that it writes to")


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


__all__ = ["check_addresses", "from_the_start", "seen_again", "where_it_holds"]
