"""A plain function of tensors, traced into a graph that exists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import Node
from torch.fx.experimental.proxy_tensor import make_fx


def inline(like: Node, fn: Callable[..., Sequence[torch.Tensor]], *args: Any) -> tuple[Node, ...]:
    """The results of `fn` of what the nodes `args` hold, as nodes at the place where the graph inserts.

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


__all__ = ["inline"]
