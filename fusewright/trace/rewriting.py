"""What rewrites of an FX graph share: nodes as a program's own tracing would have made them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx


def arguments(n: Node) -> tuple[Any, ...]:
    """The positional arguments of a node, of which its operator says what they are."""
    return n.args


def call_like(like: Node, target: Any, *args: Any, **kwargs: Any) -> Node:
    """A new node at the same line of the program."""
    node = like.graph.call_function(target, args, kwargs)
    values = torch.fx.node.map_arg((args, kwargs), lambda a: a.meta["val"])
    with next(a.meta["val"] for a in node.all_input_nodes).fake_mode:
        node.meta = {**like.meta, "val": target(*values[0], **values[1])}
    node.meta.pop("tensor_meta", None)
    return node


def inline(like: Node, fn: Callable[..., Sequence[torch.Tensor]], *args: Any) -> tuple[Node, ...]:
    """The results of `fn`, a plain function of tensors, of what the nodes `args` hold: nodes where the graph inserts.

    Their line of the program is that of `like`.
    """
    values = [a.meta["val"] for a in args]
    with values[0].fake_mode:
        traced = make_fx(fn)(*values)
    new = dict(zip(traced.graph.find_nodes(op="placeholder"), args, strict=True))
    for n in traced.graph.nodes:
        if n.op == "output":
            return tuple(new[r] for r in n.args[0])
        if n.op != "placeholder":
            new[n] = like.graph.node_copy(n, new.__getitem__)
            new[n].meta = {**like.meta, "val": n.meta["val"]}
            new[n].meta.pop("tensor_meta", None)
    raise AssertionError("a graph without an output")


def replace(old: Node, new: Node) -> None:
    """Let what reads `old` read `new`."""
    old.replace_all_uses_with(new)
    old.graph.erase_node(old)


def tidy(gm: GraphModule) -> None:
    """After rewrites: what was tried in vain is dead code."""
    gm.graph.eliminate_dead_code()
    gm.graph.lint()
    gm.recompile()


__all__ = ["arguments", "call_like", "inline", "replace", "tidy"]
