"""Gradients as autograd wants them: one tensor for each input that gets one."""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

CLONE_FROM = 1 << 18  # bytes: below this autograd's own copy costs less than another output


def separate(gm: GraphModule) -> None:
    """Return every large gradient once, in place: a second occurrence becomes a clone.

    Autograd keeps a gradient it is handed as `.grad` only if nothing else refers to it, and copies it otherwise. When
    one tensor is the gradient of two inputs (`x + y`), a second store in the kernel costs less than that copy.
    """
    output = next(n for n in reversed(gm.graph.nodes) if n.op == "output")
    results = output.args[0]
    if not isinstance(results, (list, tuple)):
        return
    seen: set[Node] = set()
    changed = list(results)
    for k, n in enumerate(results):
        if not isinstance(n, Node) or n.op != "call_function":
            continue
        if n in seen and _large(n):
            with gm.graph.inserting_before(output):
                copy = gm.graph.call_function(torch.ops.aten.clone.default, (n,))
                copy.meta = dict(n.meta)
            changed[k] = copy
        seen.add(n)
    if changed != list(results):
        output.args = (tuple(changed),)
        gm.recompile()


def _large(n: Node) -> bool:
    val = n.meta.get("val")
    if not isinstance(val, torch.Tensor) or val.device.type not in ("cpu", "cuda") or val.layout is not torch.strided:
        return False
    size = val.numel()
    return not isinstance(size, int) or size * val.element_size() >= CLONE_FROM
