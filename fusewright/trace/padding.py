"""Matrix products of odd extents on GPUs: computed with extents that are multiples of 16 bytes.

Products are fast on GPUs where rows start at multiples of 16 bytes and extents are such multiples; logits over a
vocabulary of 50,257 words take seven times as long as over 50,264. So

    a @ b    becomes    (pad(a) @ pad(b))[:m, :n]

with zeros, before the graph is cut into forward and backward pass. Padding joins the kernel that computes an operand,
slices are views, and what is left to do is a copy of a weight. A result that the program gets is copied out of the
wider one, which costs little where a kernel reads it anyway: strides stay as they were. A product that needs a copy
is done before others that wait for the same operand: results of those are not in memory beside the copy, then.

Products of 16-bit numbers are padded, and of float32 where PyTorch may compute in TF32 (2.7 times as long, otherwise).
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..run import devices
from .lowering import RULES, VIEWS
from .rewriting import arguments, call_like, replace

aten = torch.ops.aten

ROW = 16  # bytes
LAUNCH = 5e-6  # seconds that another kernel costs
BANDWIDTH = 2e12  # bytes per second, and operations per second, of a large GPU: only their ratio and order matter
COMPUTE = {torch.float16: 4e14, torch.bfloat16: 4e14, torch.float32: 2e14}  # float32: as TF32
SLOWER = 1.0  # of the time of a product in padded extents is lost at odd ones, at least
# Products, and where their matrices are.
_MATRICES: dict[Any, tuple[int, int]] = {aten.mm.default: (0, 1), aten.addmm.default: (1, 2)}


def pad_products(gm: GraphModule) -> None:
    """Pad the products of a functional graph that are worth it, in place. Extents that vary stay as they are."""
    changed = False
    for n in list(gm.graph.nodes):
        if n.op == "call_function" and n.target in _MATRICES and not n.kwargs:
            changed |= _padded(n)
    if changed:
        gm.graph.eliminate_dead_code()
        for n in list(gm.graph.nodes):
            if n.target is aten.sum.dim_IntList:
                _sum_of_padded(n)
        gm.graph.lint()
        gm.recompile()


def _padded(n: Node) -> bool:
    """Pad one product, if it is worth it; whether it was."""
    a, b = (n.args[k] for k in _MATRICES[n.target])
    bias = n.args[0] if n.target is aten.addmm.default else None
    assert isinstance(a, Node) and isinstance(b, Node)
    out, x = n.meta["val"], a.meta["val"]
    if not isinstance(bias, Node | None) or not _suits(out) or (bias is not None and bias.meta["val"].dim() != 1):
        return False
    step = ROW // out.dtype.itemsize
    turned = x.stride(0) == 1 and x.stride(1) != 1
    more = [_missing(out.shape[0], step) if turned else 0, _missing(x.shape[1], step), _missing(out.shape[1], step)]
    m, k, rest = more
    copied = [t for t, extra in ((a, m or k), (b, k or rest)) if extra and not is_ours(t)]
    if not any(more) or not _worth(a, b, copied):
        return False
    before = n.prev
    with n.graph.inserting_before(n):
        a, b = _pad(n, a, (m, k)), _pad(n, b, (k, rest))
        wide = call_like(n, n.target, *([] if bias is None else [_pad(n, bias, (rest,))]), a, b)
        part = wide
        for d, (extra, size) in enumerate(zip((m, rest), out.shape, strict=True)):
            if extra:
                part = call_like(n, aten.slice.Tensor, part, d, 0, size)
        if part.meta["val"].stride() != out.stride() and _seen(n):
            part = call_like(n, aten.clone.default, part, memory_format=torch.contiguous_format)
    replace(n, part)
    if copied:
        _hurry(before.next, part)
    return True


def _hurry(first: Node, last: Node) -> None:
    """Move nodes from one to another, and views that they read, before other products and what those alone need."""
    nodes = [first]
    while nodes[-1] is not last:
        nodes.append(nodes[-1].next)
    read = {i for x in nodes for i in x.all_input_nodes}
    place = nodes[0].prev
    while place.target in (*_MATRICES, *VIEWS, aten.constant_pad_nd.default):
        if place in read:
            if place.target not in VIEWS:
                break
            nodes.insert(0, place)
            read.update(place.all_input_nodes)
        place = place.prev
    for x in reversed(nodes):
        place.append(x)


def _sum_of_padded(n: Node) -> None:
    """Let the sum of a product's operand, as for the gradient of a bias, read the padded one: a kernel that adds up
    what it computes for the product writes it once. What is added up are other dimensions than those padded."""
    x, dims, *rest = arguments(n)
    val = x.meta["val"]
    for p in x.users:
        if p.target is not aten.constant_pad_nd.default or not is_ours(x) or p.args[2] != 0.0:
            continue
        more = list(arguments(p)[1]) + [0] * (2 * val.dim() - len(arguments(p)[1]))
        padded = [d for d in range(val.dim()) if any(more[2 * (val.dim() - 1 - d) :][:2])]
        over = {d % val.dim() for d in dims or ()}
        if not over or over & set(padded) or any(more[::2]) or any(m < 0 for m in more):
            continue
        with n.graph.inserting_after(p):
            out = call_like(n, n.target, p, dims, *rest, **n.kwargs)
        for d in padded:
            at = d if rest and rest[0] else d - sum(k < d for k in over)
            with n.graph.inserting_after(out):
                out = call_like(n, aten.slice.Tensor, out, at, 0, val.shape[d])
        if out.meta["val"].stride() != n.meta["val"].stride() and _seen(n):
            with n.graph.inserting_after(out):
                out = call_like(n, aten.clone.default, out, memory_format=torch.contiguous_format)
        replace(n, out)
        return


def _suits(out: Any) -> bool:
    """Whether a product is on a GPU and of 16-bit numbers, or of float32 as TF32: others do not mind."""
    if not isinstance(out, torch.Tensor) or out.dtype not in COMPUTE or out.dim() != 2:
        return False
    if out.dtype is torch.float32 and torch.backends.cuda.matmul.fp32_precision != "tf32":
        return False
    return out.is_contiguous() and devices.driver_for(out.device) is not None


def _missing(n: Any, step: int) -> int:
    """How much an extent lacks to the next multiple; 0 for one that varies."""
    return -n % step if isinstance(n, int) else 0


def _worth(a: Node, b: Node, copied: list[Node]) -> bool:
    """Whether copies of the operands that must be copied cost less than is gained."""
    x, y = a.meta["val"], b.meta["val"]
    m, k, n = (_hint(s) for s in (*x.shape, y.shape[1]))
    size = x.dtype.itemsize
    product = max(2 * m * k * n / COMPUTE[x.dtype], (m * k + k * n + m * n) * size / BANDWIDTH)
    return SLOWER * product > sum(LAUNCH + 2 * _hint(t.meta["val"].numel()) * size / BANDWIDTH for t in copied)


def _hint(n: Any) -> int:
    """An extent, or what it was when the program was traced, without a guard."""
    return n if isinstance(n, int) else n.node.hint or 1


def is_ours(n: Node) -> bool:
    """Whether a tensor comes out of a kernel of ours, seen through views."""
    while n.target in VIEWS and n.all_input_nodes:
        n = n.all_input_nodes[0]
    return n.op == "call_function" and n.target in RULES


def _pad(n: Node, x: Node, more: tuple[int, ...]) -> Node:
    """`x`, for the product `n`, with so many zeros at the end of each dimension; a transposed matrix stays one."""
    if not any(more):
        return x
    val = x.meta["val"]
    if len(more) == 2 and val.stride(0) == 1 and val.stride(1) != 1:
        return call_like(n, aten.t.default, _pad(n, _transposed(n, x), more[::-1]))
    return call_like(n, aten.constant_pad_nd.default, x, [p for m in reversed(more) for p in (0, m)], 0.0)


def _transposed(n: Node, x: Node) -> Node:
    if x.target is aten.t.default or (x.target is aten.permute.default and list(x.args[1]) == [1, 0]):  # type: ignore[call-overload, arg-type]
        return x.args[0]  # type: ignore[return-value]
    return call_like(n, aten.t.default, x)


def _seen(n: Node) -> bool:
    """Whether the program gets a tensor, or a view of it."""
    return any(u.op == "output" or (u.target in VIEWS and _seen(u)) for u in n.users)
