"""What the second derivative of a fused function is computed from: see `run/second.py`.

The backward pass is a function of what was saved and of gradients. Autograd knows where saved arguments come from, and
saved results, which are the node's own; a saved intermediate has to be computed again, from these. For that an argument
may be needed that is not saved. Where only the intermediate's value depends on it and not the derivative, as on a bias,
and autograd has it (it is a leaf), it can be done; else not. Nothing is saved for second derivatives alone: that would
cost memory in each call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch.fx import GraphModule, Node

from ..core.errors import Refusal
from ..run.node import NodeShape
from ..run.second import FROM_RESULT, Second, with_value
from ..run.steps import Steps, steps, steps_of
from ..run.views import memory

_aten = torch.ops.aten
# Operators that are linear in all operands, or whose operands are told apart below.
_LINEAR = frozenset(
    (
        *(_aten.add.Tensor, _aten.add.Scalar, _aten.sub.Tensor, _aten.sub.Scalar, _aten.neg.default),
        *(_aten.mul.Scalar, _aten.div.Scalar, _aten.clone.default, _aten._to_copy.default),
        *(_aten.view.default, _aten._unsafe_view.default, _aten.reshape.default, _aten.permute.default),
        *(_aten.t.default, _aten.transpose.int, _aten.expand.default, _aten.unsqueeze.default),
        *(_aten.squeeze.default, _aten.squeeze.dim, _aten.squeeze.dims, _aten.slice.Tensor, _aten.select.int),
        *(_aten.cat.default, _aten.split.Tensor, _aten.split_with_sizes.default, operator.getitem),
        *(_aten.sum.default, _aten.sum.dim_IntList, _aten.mean.default, _aten.mean.dim),
        *(_aten.embedding.default, _aten.index_select.default, _aten.gather.default, _aten.index.Tensor),
        *(_aten.flip.default, _aten.roll.default, _aten.cumsum.default, _aten.constant_pad_nd.default),
        torch.ops.prims.convert_element_type.default,
    )
)
_PRODUCTS = frozenset((_aten.mul.Tensor, _aten.mm.default, _aten.bmm.default))  # linear in either
# Linear in one operand, whatever the others are.
_ADDED = {_aten.addmm.default: 0, _aten.baddbmm.default: 0, _aten.convolution.default: 2}


LOST = "an argument that is needed for that is not saved"


@cache
def formulas() -> dict[Any, Callable[..., Any]]:
    """Operators that autograd cannot differentiate, as compositions that it can. Eager has these under create_graph."""
    names = ("silu_backward", "mish_backward", "native_group_norm_backward", "native_layer_norm_backward")
    found = ((op, decomposition_table.get(op)) for op in (getattr(_aten, name).default for name in names))
    return {op: f for op, f in found if f is not None}


def second_of(
    forward: GraphModule, backward: GraphModule, meta: Any, tensors: Sequence[bool], shape: NodeShape, cut: str
) -> tuple[Second | None, str]:
    """How a traced function is differentiated twice; or None, and why it is not.

    `tensors`: which of the flat inputs are tensors; `cut`: of `Captured`.
    """
    try:
        if cut:
            raise Refusal("cut", cut)
        return _Finder(forward, backward, meta, tensors, shape).find(), ""
    except Refusal as r:
        return None, r.detail


class _Finder:
    def __init__(self, forward: GraphModule, backward: GraphModule, meta: Any, tensors: Any, shape: NodeShape):
        self.module, self.backward_module, self.shape = forward, backward, shape
        self.takes = [n for n in forward.graph.nodes if n.op == "placeholder"]
        if len(self.takes) != len(meta.input_info):
            raise Refusal("graph", "its inputs are others than was traced")
        self.wanted = {n for n, i in zip(self.takes, meta.input_info, strict=True) if i.requires_grad}
        self.reached = reached(forward, self.wanted)
        self.place = {n: sum(tensors[:k]) for k, n in enumerate(self.takes)}  # among the tensors
        results: Any = next(n for n in reversed(forward.graph.nodes) if n.op == "output").args[0]
        saved = results[shape.outputs :]
        # the arguments of the backward pass: numbers, tensors, gradients
        ordered = [n for n, kind in zip(saved, shape.saved, strict=True) if kind == "number"]
        ordered += [n for n, kind in zip(saved, shape.saved, strict=True) if kind != "number"]
        self.args: list[Node] = ordered
        views = set(shape.views)  # results that are made anew
        given = [n for k, n in enumerate(results[: shape.outputs]) if k not in views]
        held = [n for n, kind in zip(saved, shape.saved, strict=True) if kind == "tensor"]
        self.outputs = {n for n in given if n in held}

    def find(self) -> Second:
        made = steps_of(self.backward_module, formulas())
        takes = [n for n in self.backward_module.graph.nodes if n.op == "placeholder"]
        for n in self.backward_module.graph.nodes:
            differentiable(n)
        known = [k for k, n in enumerate(self.args) if self.is_intermediate(n)]
        forward, sources = self.forward(known, takes) if known else (None, ())
        linked = [k for k, n in enumerate(self.args) if n in self.wanted or (n in self.outputs and n in self.reached)]
        on = depends(self.backward_module, takes)
        return Second(made, forward, tuple(sources), tuple(known), tuple(linked), on)

    def is_intermediate(self, n: Node) -> bool:
        """Whether a saved value has a history that autograd does not know."""
        return n in self.reached and n.op != "placeholder" and n not in self.outputs

    def forward(self, known: list[int], takes: list[Node]) -> tuple[Steps, list[tuple[Any, ...]]]:
        """The steps that make the arguments `known`, and of what."""
        number = {n: k for k, n in enumerate(self.args)}
        goals = [self.args[k] for k in known]
        needed: set[Node] = set()
        stack = list(goals)
        while stack:
            n = stack.pop()
            if n in needed or n.op == "get_attr" or (n in number and n not in goals):
                continue
            needed.add(n)
            stack += n.all_input_nodes
        for n in needed:
            differentiable(n)
            if isinstance(n.target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in n.target.tags:
                raise Refusal("random", "it draws random numbers that are not saved")
        missing = [n for n in self.takes if n in needed]
        viewed = {n: self.view_of(n) for n in missing if _is_tensor(n)}
        inner = [n for n in needed if n in self.reached and n not in goals and n not in viewed]
        turned = {n: found for n in inner if (found := self.turned(n))}
        own = self.by_result([n for n, k in viewed.items() if k is None], needed, {*goals, *turned})
        if any(n not in self.wanted for n in viewed):
            raise Refusal("argument", LOST)
        used = [n for n in number if n not in goals and any(user in needed for user in n.users)]
        sources: list[tuple[Any, ...]] = [("arg", number[n]) for n in used]
        sources += [("leaf", self.place[n], viewed[n]) if n in viewed else self.size(n, takes) for n in missing]
        fixed: dict[Node, tuple[Callable[..., Any], Any, bool]] = {}
        values: list[object] = []  # what was saved
        for n, (k, undo) in {**{self.args[k]: (k, ()) for k in known}, **turned}.items():
            sources.append(("arg", k))
            values.append(object())
            fixed[n] = (with_value(FROM_RESULT[n.target] if n in own else None, undo), values[-1], n in own)
        order = [n for n in self.module.graph.nodes if n in needed and n not in missing]
        return steps(self.module, [*used, *missing, *values], order, goals, fixed, formulas()), sources

    def turned(self, n: Node) -> tuple[int, tuple[Any, ...]] | None:
        """(an argument that is a view of `n` with other strides or shape, what undoes that), if there is one.

        At most one of the views may reshape, as the shape before that is known then.
        """
        number = {a: k for k, a in enumerate(self.args)}
        stack: list[tuple[Node, tuple[Any, ...]]] = [(n, ())]
        while stack:
            at, undo = stack.pop()
            if at in number and at is not n:
                return number[at], undo
            for user in at.users:
                step = undone(user)
                if step is not None and user.args[0] is at and not (step == "reshape" and "reshape" in undo):
                    stack.append((user, (step, *undo)))
        return None

    def view_of(self, n: Node) -> int | None:
        """The argument of the backward pass that is a view of an argument of the forward pass."""
        at = memory(n.meta["val"])
        return next((k for k, a in enumerate(self.args) if _is_tensor(a) and memory(a.meta["val"]) == at), None)

    def size(self, n: Node, takes: list[Node]) -> tuple[Any, ...]:
        """Where a size is to be found that is not saved itself."""
        wanted = str(getattr(n.meta["val"], "node", n.meta["val"]))
        for k, a in enumerate([*self.args, *takes[len(self.args) :]]):
            val = a.meta["val"]
            if not isinstance(val, torch.Tensor):
                if isinstance(val, torch.SymInt) and str(val.node) == wanted:
                    return "arg", k
                continue
            for d, s in enumerate(val.shape):
                if isinstance(s, torch.SymInt) and str(s.node) == wanted:
                    return "size", k, d
        raise Refusal("size", "a size that is needed for that is not saved")

    def by_result(self, missing: list[Node], needed: set[Node], known: set[Node]) -> set[Node]:
        """Those of `known` values whose derivative is to be computed from these, as an operand's value is lost.

        Raises Refusal if more is to be known of arguments that are not saved than that there are any.
        """
        lost, found = set(missing), set()
        for n in self.module.graph.nodes:
            operands = [a for a in n.all_input_nodes if a in lost]
            if n not in needed or not operands:
                continue
            if not self.passes(n, operands, lost):
                if n not in known or n.target not in FROM_RESULT:
                    raise Refusal("argument", LOST)
                found.add(n)
            if n not in known:
                lost.add(n)
        return found

    def passes(self, n: Node, operands: list[Node], lost: set[Node]) -> bool:
        """Whether the derivative of an operation does not depend on operands whose values are lost."""
        if n.target in _LINEAR:
            return True
        if n.target in _ADDED:
            at = _ADDED[n.target]  # type: ignore[index]
            return operands == [n.args[at]] and not any(a in lost for k, a in enumerate(n.args) if k != at)  # type: ignore[comparison-overlap]
        if n.target is _aten.pow.Tensor_Scalar and n.args[1] == 1:
            return True
        others = [a for a in n.all_input_nodes if a not in lost]
        if n.target is _aten.div.Tensor:
            return operands == [n.args[0]] and not any(a in self.reached for a in others)
        if n.target is _aten.where.self:
            return n.args[0] not in lost
        return n.target in _PRODUCTS and len(operands) == 1 and not any(a in self.reached for a in others)


def undone(n: Node) -> Any:
    """What undoes a view: "reshape", or an order of dimensions; None for other operators."""
    if n.op != "call_function" or n.target in (_aten.view.default, _aten._unsafe_view.default):
        return "reshape" if n.op == "call_function" else None
    if n.target not in (_aten.t.default, _aten.transpose.int, _aten.permute.default):
        return None
    rank = n.meta["val"].dim()
    order = list(range(rank))
    if n.target is _aten.permute.default:
        given: Any = n.args[1]
        return tuple(sorted(order, key=lambda d: given[d] % rank))
    a, b = n.args[1:3] if n.target is _aten.transpose.int else (0, rank - 1)  # type: ignore[misc]
    order[a], order[b] = order[b], order[a]  # type: ignore[index]
    return tuple(order)


def reached(gm: GraphModule, sources: set[Node]) -> set[Node]:
    """Nodes with real values that depend on `sources` by way of such nodes; these, too."""
    found = set(sources)
    for n in gm.graph.nodes:
        if _is_real(n.meta.get("val")) and any(a in found for a in n.all_input_nodes):
            found.add(n)
    return found


def depends(gm: GraphModule, takes: list[Node]) -> tuple[frozenset[int], ...]:
    """For each result of a graph the placeholders that its derivative may depend on."""
    on: dict[Node, frozenset[int]] = {n: frozenset((k,)) for k, n in enumerate(takes)}
    for n in gm.graph.nodes:
        if n not in on:
            real = _is_real(n.meta.get("val"))
            on[n] = frozenset().union(*(on[a] for a in n.all_input_nodes)) if real else frozenset()
    results: Any = next(n for n in reversed(gm.graph.nodes) if n.op == "output").args[0]
    return tuple(on[r] if isinstance(r, Node) else frozenset() for r in results)


def differentiable(n: Node) -> None:
    """Raises Refusal for an operator that autograd knows nothing of, where it may matter."""
    target: Any = n.target
    namespace = getattr(target, "namespace", "aten")
    if namespace == "prims" and target not in _LINEAR and any(_is_real(a.meta.get("val")) for a in n.all_input_nodes):
        raise Refusal("operator", f"{target} is not differentiable")


def _is_tensor(n: Node) -> bool:
    return isinstance(n.meta.get("val"), torch.Tensor)


def _is_real(val: Any) -> bool:
    parts = val if isinstance(val, (list, tuple)) else [val]
    return any(isinstance(t, torch.Tensor) and (t.is_floating_point() or t.is_complex()) for t in parts)


__all__ = ["reached", "second_of"]
