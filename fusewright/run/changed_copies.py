"""Operations of torch's that return a changed copy of an operand, as `scatter` and `index_put` do, without the copy.

Torch computes them in two steps: it copies the operand, and does in the copy what the operator in place does. In a plan
the operand is often a tensor that the plan has made and that nothing reads afterwards: there the operator in place is
called, and the operand becomes the result. All that may be half written, if that raises, nobody else has seen.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Node

from ..index.layout import product
from . import direct
from .views import memory

if TYPE_CHECKING:
    from .plan import _Writer

# Names of operators that begin with such a copy. Others have a form in place as well, as `add` has, but write into new
# memory what they compute of the operand: there is nothing to save, and the library may take another way in place.
COPYING = frozenset(
    (
        *("scatter", "scatter_add", "scatter_reduce", "index_put", "_index_put_impl", "_unsafe_index_put", "put"),
        *("index_add", "index_copy", "index_fill", "index_reduce", "masked_fill", "masked_scatter"),
    )
)


@cache
def in_place(op: Any) -> Any:
    """The operator that does in its first operand what `op` does in a copy of it; None if there is none."""
    if not isinstance(op, torch._ops.OpOverload) or op.namespace != "aten":
        return None
    name = op._schema.name.removeprefix("aten::")
    packet = getattr(torch.ops.aten, f"{name.removeprefix('_unsafe_')}_", None) if name in COPYING else None
    if packet is None or op._overloadname not in packet.overloads():
        return None
    found = getattr(packet, op._overloadname)
    return found if _corresponds(op._schema, found._schema) else None


def _corresponds(pure: Any, mutable: Any) -> bool:
    """Whether two schemas have the same arguments, of which the second one writes into the first and gives it."""
    if [_about(a) for a in pure.arguments] != [_about(a) for a in mutable.arguments] or pure.is_mutable:
        return False
    writes = [a.alias_info is not None and a.alias_info.is_write for a in mutable.arguments]
    gives = [r.alias_info is not None and r.alias_info.is_write for r in mutable.returns]
    return writes == [True] + [False] * (len(writes) - 1) and gives == [True] and not _aliases(pure)


def _about(a: Any) -> tuple[Any, ...]:
    return a.name, str(a.type), a.kwarg_only, a.default_value if a.has_default_value() else None


def write_in_place(w: _Writer, last: Mapping[str, int]) -> None:
    """Let actions of the plan that `w` writes be in place where they may. `last`: the last one with a name, by name."""
    for k, action in enumerate(w.actions):
        n = action.node
        op = None if n is None else in_place(n.target)
        if n is None or op is None:
            continue
        root = _start(w, n)
        if root is None or any(last.get(m.name, -1) > k for m in _family(w, root)):
            continue
        called, _, arguments = action.lines[0].removeprefix(f"{n.name} = ").partition("(")
        instead = w.constant(direct.call(op, n.kwargs), "op")
        if _may_be_zero(w, root):
            instead = f"({called} if {n.args[0]}._is_zerotensor() else {instead})"
        action.lines[0] = f"{n.name} = {instead}({arguments}"
        w.plan.in_place.add(n)


def _start(w: _Writer, n: Node) -> Node | None:
    """The new tensor in whose memory the result of `n` can be: the first operand of `n`, or what that is a view of."""
    x: Any = n.args[0] if n.args else None
    root = x if isinstance(x, Node) else None
    while root is not None and (over := list(_over(w, root))):
        root = over[0] if len(over) == 1 else None
    if root is None or not _new(w, root) or not _covers(w, root, x, n):
        return None
    family = _family(w, root)
    others: list[Node] = []
    torch.fx.node.map_arg((n.args[1:], n.kwargs), others.append)
    if not family.isdisjoint(others) or not all(_known(w, u) for m in family for u in m.users):
        return None
    return root


def _family(w: _Writer, root: Node) -> set[Node]:
    """All nodes that are, or may be, in the memory of `root`."""
    family, waiting = {root}, [root]
    while waiting:
        m = waiting.pop()
        found = {u for u in m.users if u not in family and m in _over(w, u)}
        family |= found
        waiting.extend(found)
    return family


def _over(w: _Writer, n: Node) -> Iterator[Node]:
    """The operands of `n` in whose memory it is, or may be. (One of several results has all of them for an operand.)"""
    if n.op != "call_function":
        return
    mine = _memories(n)
    if n.target is operator.getitem:
        source = n.all_input_nodes[0]
        if len(mine) != 1 or _memories(source).count(mine[0]) > 1 or any(_over(w, source)):
            yield source
        return
    unit = w.unit_of.get(n)
    view = unit is not None and w.traced.graph.units[unit].kind == "view"
    schema = n.target._schema if isinstance(n.target, torch._ops.OpOverload) else None
    anywhere = view or (schema is not None and (schema.is_mutable or _aliases(schema)))
    for a in n.all_input_nodes:
        there = _memories(a)
        if there and (anywhere or not set(mine).isdisjoint(there)):
            yield a


def _aliases(schema: Any) -> bool:
    """Whether an operator says that a result may be in the memory of an operand."""
    return any(r.alias_info is not None for r in schema.returns)


def _memories(n: Node) -> list[int]:
    """Where a node's tensors were traced."""
    val = n.meta.get("val")
    vals = val if isinstance(val, (list, tuple)) else [val]
    return [memory(v) for v in vals if isinstance(v, torch.Tensor)]


def _new(w: _Writer, n: Node) -> bool:
    """Whether a kernel has made a tensor, which is nobody's view, in memory of its own, or an operator of torch's."""
    value = w.traced.values.get(n)
    if n.op != "call_function" or value in w.into or n.meta.get("any_strides"):
        return False
    return value in w.computed or _torchs(n.all_input_nodes[0] if n.target is operator.getitem else n)


def _torchs(n: Node) -> bool:
    return isinstance(n.target, torch._ops.OpOverload) and n.target.namespace == "aten"


def _covers(w: _Writer, root: Node, x: Node, n: Node) -> bool:
    """Whether `x` is laid out as `n`, without gaps then, and is all of the tensor `root`."""
    vals: list[Any] = [m.meta.get("val") for m in (root, x, n)]
    whole, old, result = vals
    for t in vals:
        if not isinstance(t, torch.Tensor) or type(t) is not type(result) or t.layout is not torch.strided:
            return False
        if t.dtype != result.dtype or t.device != result.device or t.is_quantized or t.is_conj() or t.is_neg():
            return False
    ix, shape = w.symbols.ix, w.symbols.shape
    if shape(old.shape) != shape(result.shape) or shape(old.stride()) != shape(result.stride()):
        return False
    if x is root:
        return True
    # what a program gets is not to look like a view, and not to keep more memory than it needs
    if n in w.results or product(shape(old.shape)) is not product(shape(whole.shape)):
        return False
    return ix(old.storage_offset()) is ix(whole.storage_offset())


def _known(w: _Writer, n: Node) -> bool:
    """Whether a reader has read its operands once it was called, and keeps none that its schema does not say."""
    if n.op == "output" or n.target is operator.getitem or _torchs(n):
        return True
    unit = w.unit_of.get(n)
    return any(g.ours and unit in g.group.units for g in w.plan.groups)


def _may_be_zero(w: _Writer, root: Node) -> bool:
    """Whether a new tensor may be one of the zeros without memory that torch has for gradients, as `mul` of such is."""
    if not w.backward or w.traced.values.get(root) in w.computed or not isinstance(root.target, torch._ops.OpOverload):
        return False
    return root.target.has_kernel_for_dispatch_key(torch._C.DispatchKey.ZeroTensor)


__all__ = ["COPYING", "in_place", "write_in_place"]
