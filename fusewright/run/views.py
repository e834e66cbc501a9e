"""Views in a plan: a chain of them is one, made from the tensor it starts at without passing torch's dispatcher.

The operands of an opaque operation are often views of views (a weight transposed twice, the pieces of a split seen as
heads). A plan knows where each lies in its base: the base itself where that is the same place, else one call. That
relies on the strides that were traced, which are checked for what torch computes. Such views have version counters of
their own; those that the outside gets to see together with their base do go through the dispatcher (`counted`).
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Node

from ..core.lazy import lazy_import
from ..index.expr import ONE, ZERO, nonnegative

if TYPE_CHECKING:
    from . import handles
    from .plan import _Writer
else:
    handles = lazy_import("fusewright.run.handles")


def reinterpret(w: _Writer, n: Node) -> bool:
    """Append the line that makes `n`, if it is a view that a place in its base describes; whether it is one."""
    val = _plain(n)
    if val is None or not _is_view(w, n):
        return False
    counted = n in w.counted
    base = n.all_input_nodes[0]
    while (counted or base not in w.emitted) and _is_view(w, base):
        base = base.all_input_nodes[0]
    root = None if base.meta.get("any_strides") else _plain(base)
    if root is None or root.dtype != val.dtype or not same_storage(root, val):
        return False
    ix, shape = w.symbols.ix, w.symbols.shape
    size, stride = shape(val.shape), shape(val.stride())
    start = ix(val.storage_offset()) - ix(root.storage_offset())
    whole = start is ZERO and size == shape(root.shape) and stride == shape(root.stride())
    if whole and n in w.results and not counted and not _alone(w, n, base):  # two results are two objects
        return False
    if counted and base.op != "call_function" and not _without_overlap(w, root):
        return False  # autograd would derive the place, and share the gradient out among elements on the same memory
    w.node(base)
    if base not in w.trusted and base.op != "get_attr" and w.traced.values.get(base) is None:
        return False  # nothing checks its strides
    if base not in w.trusted and base.op != "get_attr":
        w.check_strides(base)
    source = base.name
    if counted:
        source = f"_strided({base.name}, {w.tuple(size)}, {w.tuple(stride)}, {w.size(start)})"
    elif not whole:
        if w.quick:
            w.scope["_view"] = handles.view()
        source = f"_view({base.name}, {w.tuple(size)}, {w.tuple(stride)}, {w.size(start)})"
    w.emitted.add(n)
    w.trusted.add(n)
    w.add([f"{n.name} = {source}"], set() if base.op == "get_attr" else {base.name}, {n.name})
    w.bind(n)
    return True


def storages(w: _Writer) -> Counter[int]:
    """How many results are on each memory."""
    return Counter(_storage(n) for n in w.results if isinstance(n.meta.get("val"), torch.Tensor))


def counted(w: _Writer) -> set[Node]:
    """Views that lead to results on memory that is seen elsewhere, too, as that of an argument or of another result.

    A write there has to count as one into the result, so that autograd notices if that is saved. Nobody writes to what
    is saved for the backward pass alone (`partition.mark_private`).
    """
    results = [n for n in w.results if isinstance(n.meta.get("val"), torch.Tensor) and not n.meta.get("unseen")]
    on = Counter(_storage(n) for n in results)
    found: set[Node] = set()
    for n in results:
        chain = []
        while (base := _base(n)) is not None:
            chain.append(n)
            n = base
        if chain and (n.op != "call_function" or on[_storage(chain[0])] > 1):
            found.update(chain)
    return found


def _without_overlap(w: _Writer, t: torch.Tensor) -> bool:
    """Whether no two elements lie on the same memory, as those of an expanded tensor do, for all sizes and strides."""
    hint, shape = w.symbols.hint, w.symbols.shape
    dims = [(s, n) for s, n in zip(shape(t.stride()), shape(t.shape), strict=True) if n is not ONE]
    last = ZERO
    for s, n in sorted(dims, key=lambda d: hint(d[0])):
        if not nonnegative(s - last - 1):
            return False
        last += s * (n - 1)
    return True


def _alone(w: _Writer, n: Node, base: Node) -> bool:
    """Whether a result is the only one on the memory of `base`, which is a new tensor: that can be the result, then."""
    return base.op == "call_function" and _base(base) is None and w.storages[_storage(n)] == 1


def _base(n: Node) -> Node | None:
    """The operand on whose memory `n` is, if there is one."""
    val = n.meta["val"]
    vals = ((a, a.meta.get("val")) for a in n.all_input_nodes)
    return next((a for a, v in vals if isinstance(v, torch.Tensor) and same_storage(v, val)), None)


def _is_view(w: _Writer, n: Node) -> bool:
    """Whether `n` is a view of its one tensor operand, or one of several such."""
    unit = w.unit_of.get(n)
    if n.op != "call_function" or unit is None or not n.all_input_nodes:
        return False
    if n.target is operator.getitem:
        return _is_view(w, n.all_input_nodes[0])
    return w.traced.graph.units[unit].kind == "view"


def _plain(n: Node) -> torch.Tensor | None:
    """What was traced, if size, strides and offset say all of it. (A complex tensor may be conjugated.)"""
    val = n.meta.get("val")
    plain = isinstance(val, torch.Tensor) and val.layout is torch.strided and not val.is_complex()
    return val if plain else None


def _storage(n: Node) -> int:
    return memory(n.meta["val"])


def memory(t: torch.Tensor) -> int:
    """Which memory a traced tensor is on. What has another layout, as sparse tensors, is none's view and has none."""
    address: int = t.untyped_storage()._cdata if t.layout is torch.strided else id(t)
    return address


def same_storage(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether one was traced as a view of the other. (What looks like a view may copy, as a reshape does.)"""
    return memory(a) == memory(b)


def new(n: Any) -> bool:
    """Whether an operator of PyTorch's made a tensor that is nobody's view."""
    val = n.meta.get("val")
    if n.op != "call_function" or not isinstance(n.target, torch._ops.OpOverload) or not isinstance(val, torch.Tensor):
        return False
    given = [t for a in n.all_input_nodes if isinstance(t := a.meta.get("val"), torch.Tensor)]
    return not n.target._schema.is_mutable and not any(same_storage(t, val) for t in given)
