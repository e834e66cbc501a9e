"""What a traced backward pass computes if some of the gradients that it takes are not there: see `run/absent.py`.

A value that depends on none of those that are there is what autograd would not have computed. As the backward pass is
linear in its gradients such a value is zero, whatever it was multiplied with; where autograd would have added it to
another one, that one is what is left.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from ..run.absent import Partial, Partials

LIMIT = 16  # sets of gradients that get a backward pass of their own; for others the whole one takes zeros

_aten = torch.ops.aten
# Operators that are zero where all operands are that depend on gradients. So are the derivatives of operators.
_LINEAR = frozenset(
    (
        *(_aten.neg.default, _aten.mul.Tensor, _aten.mul.Scalar, _aten.div.Scalar),
        *(_aten.mm.default, _aten.bmm.default, _aten.clone.default, _aten._to_copy.default, _aten.alias.default),
        *(torch.ops.prims.convert_element_type.default, _aten.view.default, _aten._unsafe_view.default),
        *(_aten.reshape.default, _aten.permute.default, _aten.t.default, _aten.transpose.int, _aten.expand.default),
        *(_aten.unsqueeze.default, _aten.squeeze.default, _aten.squeeze.dim, _aten.squeeze.dims, _aten.slice.Tensor),
        *(_aten.select.int, _aten.split.Tensor, operator.getitem),
        *(_aten.split_with_sizes.default, _aten.unbind.int, _aten.flip.default, _aten.roll.default),
        *(_aten.sum.default, _aten.sum.dim_IntList, _aten.mean.default, _aten.mean.dim, _aten.cumsum.default),
        *(_aten.index_select.default, _aten.gather.default, _aten.index.Tensor, _aten.tril.default, _aten.triu.default),
        *(_aten.embedding_dense_backward.default, _aten.as_strided.default, _aten.diagonal.default),
    )
)
# Those that are zero where all operands are.
_SUMS = frozenset((_aten.add.Tensor, _aten.sub.Tensor, _aten.cat.default, _aten.stack.default))


class Absent:
    """The backward passes of a graph for each set of gradients, made when they are first asked for."""

    def __init__(self, gm: GraphModule, tangents: int, compiler: Callable[[GraphModule, Any], Any]):
        """`tangents`: how many gradients it takes, as its last arguments. `compiler`: one of AOTAutograd's."""
        self.gm, self.compiler = gm, compiler
        takes = [n for n in gm.graph.nodes if n.op == "placeholder"]
        self.bits = {n: 1 << k for k, n in enumerate(takes[len(takes) - tangents :])}
        self.made: dict[tuple[bool, ...], Partial] = {}

    def __call__(self, there: tuple[bool, ...]) -> Partial:
        found = self.made.get(there)
        if found is None:
            compiled = sum(p.backward is not None for p in self.made.values()) < LIMIT
            found = self.made[there] = self.make(sum(1 << k for k, t in enumerate(there) if t), compiled)
        return found

    def make(self, there: int, compiled: bool) -> Partial:
        """For the gradients whose bits are set; `compiled`: whether that is a backward pass of its own."""
        on = depends(self.gm.graph, self.bits)
        results: Any = self.gm.graph.output_node().args[0]
        gives = tuple(isinstance(r, Node) and (not on[r] or bool(on[r] & there)) for r in results)
        lacks = frozenset(k for k, r in enumerate(results) if isinstance(r, Node) and not gives[k])
        if not compiled:
            return Partial(None, lacks)
        graph, used = reduced(self.gm.graph, on, there, gives)
        module = GraphModule(self.gm, graph)
        module.meta = dict(self.gm.meta)
        backward = self.compiler(module, ())
        if all(used):
            return Partial(backward, lacks)
        kept = [k for k, u in enumerate(used) if u]

        def call(args: list[Any]) -> Sequence[Any]:
            args[:] = [args[k] for k in kept]  # the list stays the caller's: what is dropped is freed
            return backward(args)

        return Partial(call, lacks)


def absent(gm: GraphModule, tangents: int, compiler: Callable[[GraphModule, Any], Any]) -> Partials | None:
    """The backward passes of a graph for each set of `tangents` gradients; None where one is all there are."""
    return Absent(gm, tangents, compiler) if tangents > 1 else None


def depends(graph: Graph, bits: dict[Node, int]) -> dict[Node, int]:
    """For each node the gradients that it depends on, as bits. A write into a tensor counts for all who read it."""
    on: dict[Node, int] = {}
    for n in graph.nodes:
        on[n] = bits.get(n, 0)
        for a in n.all_input_nodes:
            on[n] |= on[a]
    return on


def reduced(graph: Graph, on: dict[Node, int], there: int, gives: Sequence[bool]) -> tuple[Graph, list[bool]]:
    """(a graph that computes those results that it `gives`, which of the arguments it still takes)."""
    new = Graph()
    copied: dict[Node, Node] = {}
    zero: set[Node] = set()

    def operand(a: Node) -> Node:
        if a not in zero or a.op == "placeholder" or not isinstance(a.meta.get("val"), torch.Tensor):
            return copied[a]
        made = new.call_function(_aten.zeros_like.default, (copied[a],))  # also where this is zero times infinity
        made.meta = dict(a.meta)
        return made

    for n in graph.nodes:
        if n.op == "output":
            given = [copied[r] if give else None for r, give in zip(n.args[0], gives, strict=True)]
            copied[n] = new.output(type(n.args[0])(given))
            copied[n].meta = dict(n.meta)
            continue
        is_zero = bool(on[n]) and not on[n] & there and (n.op == "placeholder" or _linear(n, zero, on))
        if is_zero:
            zero.add(n)
            copied[n] = new.node_copy(n, copied.__getitem__)
            continue
        left = _left(n, zero)
        copied[n] = copied[left] if left is not None else new.node_copy(n, operand)
    new.eliminate_dead_code()
    takes = [n for n in new.nodes if n.op == "placeholder"]
    used = [bool(n.users) or isinstance(n.meta.get("val"), torch.SymInt) for n in takes]  # shapes are made of sizes
    for n, u in zip(takes, used, strict=True):
        if not u:
            new.erase_node(n)
    new.lint()
    return new, used


def _linear(n: Node, zero: set[Node], on: dict[Node, int]) -> bool:
    """Whether a node is zero as all of its operands are that depend on gradients."""
    operands = [a for a in n.all_input_nodes if on[a]]
    if n.op != "call_function" or not all(a in zero for a in operands):
        return False
    if n.target in _LINEAR:
        return True
    if n.target in _SUMS:
        given: Any = n.args[0] if isinstance(n.args[0], (list, tuple)) else n.args[:2]
        return all(a in operands or _is_zero(a) for a in given)
    if n.target is _aten.div.Tensor:
        return operands == [n.args[0]]
    if n.target is _aten.where.self:
        return n.args[0] not in operands and all(a in operands or _is_zero(a) for a in n.args[1:])
    if n.target is _aten.constant_pad_nd.default:
        return not n.args[2:] or bool(n.args[2] == 0)
    return isinstance(n.target, torch._ops.OpOverload) and n.target.namespace == "aten" and "_backward" in str(n.target)


def _is_zero(a: Any) -> bool:
    """Whether an operand is made of zeros."""
    target: Any = getattr(a, "target", None)
    at = {_aten.full.default: 1, _aten.scalar_tensor.default: 0}.get(target)
    return target is _aten.zeros_like.default or (at is not None and bool(a.args[at] == 0))


def _left(n: Node, zero: set[Node]) -> Node | None:
    """The operand that a sum is, as the other one is zero."""
    if n.target is not _aten.add.Tensor or n.kwargs:
        return None
    a, b = n.args[:2]
    if not isinstance(a, Node) or not isinstance(b, Node) or (a in zero) == (b in zero):
        return None
    found = b if a in zero else a
    return found if _alike(n.meta.get("val"), found.meta.get("val")) else None


def _alike(a: Any, b: Any) -> bool:
    """Whether two values are tensors of the same type that lie in the same way."""
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor) or a.dtype != b.dtype or a.dim() != b.dim():
        return False
    pairs = zip((*a.shape, *a.stride()), (*b.shape, *b.stride()), strict=True)
    return all(statically_known_true(x == y) for x, y in pairs)


__all__ = ["Absent", "absent", "depends", "reduced"]
