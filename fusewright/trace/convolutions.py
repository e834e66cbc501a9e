"""Convolutions on GPUs: what PyTorch does around the library's kernel is left to kernels of ours.

cuDNN's convolutions take no bias and, with a channels-last operand, nothing but channels-last tensors. PyTorch adds the
bias with another kernel, sums the gradient up for the bias's, and copies operands of another layout, each time anew.
Before the graph is cut into forward and backward pass

    conv(x, w, bias)          becomes    conv(x, w) + bias
    conv_backward(g, ...)     becomes    conv_backward(g, ...) without the bias's gradient, and g.sum((0, 2, 3))

and an operand that comes out of one of our kernels, and would be copied, is written in channels-last memory by it
instead. What the convolution computes, and the strides of its results, stay as they were. Grouped convolutions
may be computed by PyTorch's own kernels, which round once with the bias in it: they stay whole, or become elementwise
as a whole (`depthwise.py`).
"""

from __future__ import annotations

from typing import Any

import torch
from torch._prims_common import suggest_memory_format
from torch.fx import GraphModule, Node

from ..run import devices
from . import depthwise
from .padding import is_ours
from .rewriting import arguments, call_like, replace, tidy

aten = torch.ops.aten

_FLOATS = (torch.float16, torch.bfloat16, torch.float32)
_LAST = torch.channels_last


def open_convolutions(gm: GraphModule) -> None:
    """Rewrite the convolutions of a functional graph in place."""
    copies: dict[Node, Node] = {}
    before = len(gm.graph.nodes)
    changed = False
    for n in list(gm.graph.nodes):
        if n.target is aten.convolution.default and not n.kwargs:
            changed |= depthwise.open_forward(n) or _forward(n, copies)
        elif n.target is aten.convolution_backward.default and not n.kwargs:
            changed |= depthwise.open_backward(n) or _backward(n, copies)
    if changed or len(gm.graph.nodes) != before:
        tidy(gm)


def _forward(n: Node, copies: dict[Node, Node]) -> bool:
    x, w, bias, *rest = arguments(n)
    if not _suits(x, w, rest[-1]):
        return False
    with n.graph.inserting_before(n):
        operand = _laid_out(n, x, x, w, copies)
        if bias is None and operand is x:
            return False
        out = call_like(n, n.target, operand, w, None, *rest)
        if bias is not None:
            for _ in range(n.meta["val"].dim() - 2):
                bias = call_like(n, aten.unsqueeze.default, bias, -1)
            out = call_like(n, aten.add.Tensor, out, bias)
    if _strides(out) != _strides(n):
        return False
    replace(n, out)
    return True


def _backward(n: Node, copies: dict[Node, Node]) -> bool:
    grad, x, w, sizes, *rest, groups, mask = arguments(n)
    if not _suits(x, w, groups):
        return False
    with n.graph.inserting_before(n):
        g, operand = (_laid_out(n, t, x, w, copies) for t in (grad, x))
        if g is grad and operand is x and not mask[2]:
            return False
        both = call_like(n, n.target, g, operand, w, sizes, *rest, groups, [*mask[:2], False])
        if any(m and _strides(both, k) != _strides(n, k) for k, m in enumerate(mask[:2])):
            return False
        total = None
        if mask[2]:
            over = [0, *range(2, grad.meta["val"].dim())]
            total = call_like(n, aten.sum.dim_IntList, g, over)
    for user in list(n.users):
        k = arguments(user)[1]
        if total is not None and k == 2:
            replace(user, total)
        else:
            user.args = (both, k)
    n.graph.erase_node(n)
    return True


def _suits(x: Any, w: Any, groups: Any) -> bool:
    """Whether a library's kernel is called for it, without a bias."""
    a, b = x.meta["val"], w.meta["val"]
    if groups != 1 or a.dtype not in _FLOATS or b.dtype != a.dtype or a.dim() != b.dim():
        return False
    return torch.backends.cudnn.enabled and devices.driver_for(a.device) is not None


def _laid_out(n: Node, t: Node, x: Node, w: Node, copies: dict[Node, Node]) -> Node:
    """`t`, an operand of the convolution `n` of `x` and `w`, in channels-last memory if it would be copied there."""
    val = t.meta["val"]
    known = all(isinstance(s, int) for s in (*val.shape, *val.stride()))
    if val.dim() != 4 or not known or not is_ours(t) or val.is_contiguous(memory_format=_LAST):
        return t
    if not any(_is_last(operand.meta["val"]) for operand in (x, w)):
        return t
    if t not in copies:
        copies[t] = call_like(n, aten.clone.default, t, memory_format=_LAST)
    return copies[t]


def _is_last(val: torch.Tensor) -> bool:
    known = all(isinstance(s, int) for s in (*val.shape, *val.stride()))
    return known and suggest_memory_format(val) == _LAST


def _strides(n: Node, k: int | None = None) -> Any:
    val = n.meta["val"] if k is None else n.meta["val"][k]
    return val.stride()
