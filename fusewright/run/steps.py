"""A functional graph run through torch, one operation after the other: for tensors that kernels cannot read.

A batch of gradients (`is_grads_batched=True`, `torch.func.vmap`) comes as tensors without memory. A backward plan asks
each gradient for its memory before it lets go of its arguments (`plan_head.py`); if there is none, nothing has happened
yet, and torch's operators do what the plan would have done, for the whole batch. A second derivative is computed from
such steps, too (`second.py`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NoReturn

import torch
from torch.fx import GraphModule, Node

from ..core.errors import Refusal

_aten = torch.ops.aten
# Operators that ask for memory to be laid out in a certain way, which is not said of any tensor here.
_LAID_OUT = frozenset(
    (
        *(_aten.as_strided.default, _aten.as_strided_copy.default, _aten.as_strided_scatter.default),
        *(_aten.set_.source_Tensor, _aten.resize_.default, _aten.view.dtype),
    )
)


def _convert(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x.to(dtype)


# Operator -> what does the same for tensors of any strides, and is known to autograd.
_INSTEAD: dict[Any, Callable[..., Any]] = {
    _aten.view.default: torch.reshape,
    _aten._unsafe_view.default: torch.reshape,
    torch.ops.prims.convert_element_type.default: _convert,
}


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of a node, by its number."""

    k: int


@dataclass(frozen=True, slots=True)
class Steps:
    """`takes` arguments are values 0, 1, ...; each of `calls` (function, args, kwargs, values that die) makes the next.

    `gives`: results, in terms of `Ref`s.
    """

    takes: int
    calls: tuple[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], tuple[int, ...]], ...]
    gives: tuple[Any, ...]

    def __call__(self, args: Sequence[Any]) -> list[Any]:
        values: list[Any] = list(args)
        assert len(values) == self.takes
        for call, given, named, dead in self.calls:
            values.append(call(*_filled(given, values), **_filled(named, values)))
            for k in dead:
                values[k] = None
        return list(_filled(self.gives, values))


def _filled(a: Any, values: list[Any]) -> Any:
    if isinstance(a, Ref):
        return values[a.k]
    if isinstance(a, (list, tuple)):
        return type(a)([_filled(x, values) for x in a])
    if isinstance(a, dict):
        return {k: _filled(x, values) for k, x in a.items()}
    if isinstance(a, slice):
        return slice(_filled(a.start, values), _filled(a.stop, values), _filled(a.step, values))
    return a


def steps_of(gm: GraphModule, instead: Mapping[Any, Callable[..., Any]] = MappingProxyType({})) -> Steps:
    """The steps of a graph. Raises Refusal for a graph that writes into arguments, or asks for strides."""
    nodes = [n for n in gm.graph.nodes if n.op != "output"]
    output = next(n for n in reversed(gm.graph.nodes) if n.op == "output")
    return steps(gm, [n for n in nodes if n.op == "placeholder"], nodes, output.args[0], instead=instead)


def steps(
    gm: GraphModule,
    takes: Sequence[Any],
    nodes: Sequence[Node],
    gives: Any,
    fixed: Mapping[Node, tuple[Callable[..., Any], Any, bool]] = MappingProxyType({}),
    instead: Mapping[Any, Callable[..., Any]] = MappingProxyType({}),
) -> Steps:
    """The steps that make `gives` of the values of `takes` (nodes, and others); `nodes`: in order, to be computed.

    `fixed`: for some of these (a function, one of `takes`, whether it takes a node's first operand and not its value):
    that function of both values takes the place of theirs. `instead`: what is called for some operators.
    """
    number: dict[Any, int] = {n: k for k, n in enumerate(takes)}
    made: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
    last: dict[int, int] = {}

    def refer(a: Any) -> Any:
        if isinstance(a, Node):
            if a not in number:  # a constant of the graph
                return operator.attrgetter(str(a.target))(gm)
            last[number[a]] = len(made)
            return Ref(number[a])
        if isinstance(a, (list, tuple)):
            return (list if isinstance(a, list) else tuple)(map(refer, a))
        if isinstance(a, dict):
            return {k: refer(x) for k, x in a.items()}
        if isinstance(a, slice):
            return slice(refer(a.start), refer(a.stop), refer(a.step))
        if isinstance(a, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            raise Refusal("symbolic", "a size that is no value of the graph")
        return a

    for n in nodes:
        if n in number or n.op in ("placeholder", "get_attr"):
            continue
        check(n)
        target: Any = n.target
        call: Any = instead.get(target) or _INSTEAD.get(target, target)
        f, value, operand = fixed.get(n, (None, None, False))
        if not operand:
            made.append((call, tuple(map(refer, n.args)), {k: refer(a) for k, a in n.kwargs.items()}))
        if f is not None:
            before = refer(n.args[0]) if operand else Ref(len(takes) + len(made) - 1)
            last[before.k] = last[number[value]] = len(made)
            made.append((f, (before, Ref(number[value])), {}))
        number[n] = len(takes) + len(made) - 1
    results = tuple(map(refer, gives))
    dead: dict[int, list[int]] = {}
    for k, at in last.items():
        dead.setdefault(at, []).append(k)
    calls = tuple((*m, tuple(dead.get(k, ()))) for k, m in enumerate(made))
    return Steps(len(takes), calls, results)


def check(n: Node) -> None:
    """Raises Refusal for a node that does not just compute values."""
    target: Any = n.target
    if isinstance(target, torch._ops.OpOverload):
        if target in _LAID_OUT:
            raise Refusal("strides", f"{target} depends on how memory is laid out")
        if target._schema.is_mutable:
            raise Refusal("mutation", f"{target} writes into an argument")
    elif isinstance(target, torch._ops.HigherOrderOperator) or n.op != "call_function":
        raise Refusal("operator", f"{target} is not an operator on tensors")


# --- a backward pass for gradients without memory ----------------------------------------------------------


def no_memory(e: BaseException) -> bool:
    """Whether an error says that a tensor has no memory to compute with."""
    return "Cannot access data pointer" in str(e) or "Cannot access storage of" in str(e)


def bare(*tensors: torch.Tensor) -> bool:
    """Whether any of them has no memory."""
    try:
        for t in tensors:
            t.data_ptr()
    except RuntimeError as e:
        if no_memory(e):
            return True
        raise
    return False


def instead(gm: GraphModule) -> Callable[[RuntimeError | None, list[Any]], list[Any]]:
    """What a backward plan calls, with its arguments, when a gradient has no memory: an error says so, or None."""
    try:
        made, why = steps_of(gm), ""
    except Refusal as r:
        made, why = None, r.detail

    def batched(e: RuntimeError | None, args: list[Any]) -> list[Any]:
        if e is not None and not no_memory(e):
            raise e
        if made is None:
            refuse(why, e)
        given = list(args)
        args.clear()
        return made(given)

    return batched


def explain(e: RuntimeError) -> None:
    """Raise what a failure of a backward pass means, if that is tensors without memory among what was saved."""
    if no_memory(e):
        refuse("what was saved for it is batched", e)


def refuse(why: str, e: RuntimeError | None) -> NoReturn:
    raise RuntimeError(
        "a fused function's backward pass cannot be batched here (vmap, is_grads_batched=True, vectorize=True): call "
        f"the plain function for that ({why})"
    ) from e


__all__ = ["Ref", "Steps", "bare", "check", "explain", "instead", "no_memory", "refuse", "steps", "steps_of"]
