"""Nodes of a traced graph that are other names for a tensor."""

from __future__ import annotations

import torch
from torch.fx import GraphModule

_DETACH = torch.ops.aten.detach.default


def drop_detached(gm: GraphModule) -> None:
    """Let readers of `detach(x)` read `x`, in place: in a functional graph they are the same.

    Autograd's formulas detach what they save (relu, exp, softmax, ...), and each would be a call of torch when the
    result crosses from the forward to the backward pass. A `detach` that the graph returns stays.
    """
    changed = False
    for n in list(gm.graph.nodes):
        if n.op != "call_function" or n.target is not _DETACH:
            continue
        source = n.args[0]
        n.replace_all_uses_with(source, delete_user_cb=lambda user: user.op != "output")
        if not n.users:
            gm.graph.erase_node(n)
        changed = True
    if changed:
        gm.recompile()
