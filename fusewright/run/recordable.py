"""What a plan must be like to be recorded as a CUDA graph, and what its graphs depend on, read off the traced program.

A recorded graph repeats what the device did, and nothing that the host did: a plan whose host looks at results, draws
random numbers of its own, or calls code that might, is not recorded. A saved program has all of this in its file.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Node

from . import pool
from .restricted import expression
from .written import Part

if TYPE_CHECKING:
    from .plan import Plan

FEW = 4  # launches and calls of torch below which recording cannot save anything
OURS = frozenset(("aten", "prims", "fusewright"))  # namespaces of operators whose host code is known
_UNSAFE = tuple(
    (getattr(torch.Tag, name), why)
    for name, why in (
        ("data_dependent_output", "is read by the host"),
        ("dynamic_output_shape", "has a size that depends on values"),
        ("cudagraph_unsafe", "is marked as unsafe for CUDA graphs"),
    )
    if hasattr(torch.Tag, name)
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a plan that can be recorded.

    `tensors`: positions of its tensor arguments; `constants`: tensors that its code holds. Both together, in this
    order, are its *operands*. `written`: operands that it writes into; `unread`: operands whose values do not matter;
    `unset`: results whose values do not matter; `key`: sources, in terms of `args`, of what the sizes and layouts of a
    call depend on; `draws`: whether it draws random numbers.
    """

    device: torch.device
    tensors: tuple[int, ...]
    constants: tuple[torch.Tensor, ...]
    written: tuple[int, ...]
    unread: frozenset[int]
    unset: frozenset[int]
    key: tuple[str, ...]
    draws: bool


def facts(plan: Plan) -> Facts | str:
    """The facts of a plan, or why it cannot be recorded here."""
    return unable() or of(plan)


def unable() -> str:
    """Why no plan can be recorded here, or ""."""
    if pool.POOL._free_mark is None:
        return "this version of Python or torch does not tell how often memory is referred to"
    return ""


def of(plan: Plan) -> Facts | str:
    """The facts of a plan, or why it can be recorded nowhere."""
    module = plan.traced.module
    nodes = list(module.graph.nodes)
    inputs = [n for n in nodes if n.op == "placeholder"]
    held = [n for n in nodes if n.op == "get_attr"]
    outside = list(_outside(plan))
    called = [n for n, kind in outside if kind not in ("host", "item", "view")]
    calls = sum(g.ours for g in plan.groups) + len(called)
    if calls < FEW:
        return f"launches of kernels and calls of torch are {calls}: nothing to gain"
    devices = {t.device: n for n in nodes for t in _tensors(n.meta.get("val"))}
    if len(devices) != 1:
        return "it has tensors on several devices: " + ", ".join(sorted(f"{n.name} on {d}" for d, n in devices.items()))
    for n, kind in outside:
        if why := _why_not(n, kind in ("host", "item")):
            return f"{n.target} {why}"
    constants = tuple(operator.attrgetter(n.target)(module) for n in held)
    if not all(isinstance(c, torch.Tensor) for c in constants):
        return "its code holds something other than tensors"
    if odd := [n.name for n in inputs if not isinstance(n.meta.get("val"), _TAKEN)]:
        return f"its argument {odd[0]} is neither a tensor nor a number"
    tensors = tuple(k for k, n in enumerate(inputs) if isinstance(n.meta.get("val"), torch.Tensor))
    order = {n: k for k, n in enumerate([*(inputs[k] for k in tensors), *held])}
    written = {order[r] for n in nodes for a in _written(n) if (r := _root(a)) in order}
    draws = any(torch.Tag.nondeterministic_seeded in getattr(n.target, "tags", ()) for n in called)
    unread = frozenset(k for n, k in order.items() if n.users and all(_no_seed(n, u) for u in n.users))
    unset = frozenset(k for k, n in enumerate(plan.traced.outputs) if isinstance(n, Node) and _attention(n))
    device = next(iter(devices))
    return Facts(device, tensors, constants, tuple(sorted(written)), unread, unset, _key(inputs), draws)


def to_data(plan: Plan) -> Any:
    """The facts of a plan for a file, with the names of constants in its source; or why it cannot be recorded."""
    found = of(plan)
    if isinstance(found, str):
        return found
    return {
        "device": str(found.device),
        "tensors": list(found.tensors),
        "constants": [n.name for n in plan.traced.module.graph.nodes if n.op == "get_attr"],
        "written": list(found.written),
        "unread": sorted(found.unread),
        "unset": sorted(found.unset),
        "key": list(found.key),
        "draws": found.draws,
    }


def from_data(data: Any, scope: Mapping[str, Any]) -> Facts | str:
    """The inverse of `to_data`, or why nothing can be recorded here; `scope`: of the plan's source.

    Raises KeyError, TypeError or ValueError for other data.
    """
    if isinstance(data, str):
        return unable() or data
    for source in data["key"]:
        expression(source, ["args"])
    return unable() or Facts(
        torch.device(data["device"]),
        tuple(map(int, data["tensors"])),
        tuple(scope[name] for name in data["constants"]),
        tuple(map(int, data["written"])),
        frozenset(map(int, data["unread"])),
        frozenset(map(int, data["unset"])),
        tuple(data["key"]),
        bool(data["draws"]),
    )


_TAKEN = (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool, int, float, bool, type(None))


def watched(plan: Plan) -> bool:
    """Whether somebody looks at the plan's kernels one by one."""
    return any(g.watch is not None for g in plan.groups)


def _outside(plan: Plan) -> Iterator[tuple[Node, str]]:
    """The nodes that no kernel of ours computes, with the kind of their unit."""
    inside = {u for g in plan.groups if g.ours for u in g.group.units}
    for unit, n in zip(plan.traced.graph.units, plan.traced.nodes, strict=True):
        if unit.index not in inside:
            yield n, unit.kind


def _tensors(val: Any) -> Iterator[torch.Tensor]:
    if isinstance(val, torch.Tensor):
        yield val
    elif isinstance(val, (list, tuple)):
        for v in val:
            yield from _tensors(v)


def _operator(n: Node) -> bool:
    return isinstance(n.target, torch._ops.OpOverload)


def _why_not(n: Node, number: bool) -> str:
    """Why an operation that torch or the host runs cannot be recorded, or "". `number`: its result is no tensor."""
    target: Any = n.target
    if not _operator(n):
        fine = number or isinstance(target, Part)
        return "" if fine else "is not an operator of PyTorch's: its code may do things on the host"
    if target.namespace not in OURS:
        return "is an operator of another library: its code may do things on the host"
    if str(target) == "fusewright.eager_states.default":
        return "takes eager's random state, which the host keeps"
    if n.kwargs.get("generator") is not None:
        return "draws from a generator of its own"
    if "attention" in target.name() and _arguments(n).get("dropout_p"):
        return "draws random numbers: its backward pass finds the seed only if it is recorded, too"
    return next((why for tag, why in _UNSAFE if tag in target.tags), "")


def _no_seed(n: Node, user: Node) -> bool:
    """Whether `user` is the backward pass of an attention without dropout, and `n` the seed that it does not need.

    PyTorch has such seeds on the CPU, though they are traced as if they were not.
    """
    if not _operator(user) or "scaled_dot_product" not in str(user.target):
        return False
    given = _arguments(user)
    return given.get("dropout_p") == 0.0 and all(k.startswith("philox_") for k, a in given.items() if a is n)


def _attention(n: Node) -> bool:
    """Whether `n` is one of the results of an attention. Those that are on the CPU are seeds that nobody needs: those
    that matter are not there while a graph is recorded."""
    source = n.args[0] if n.target is operator.getitem else None
    return isinstance(source, Node) and "scaled_dot_product" in str(source.target)


def _arguments(n: Node) -> dict[str, Any]:
    """The arguments of an operator by name."""
    return {**dict(zip((a.name for a in n.target._schema.arguments), n.args)), **n.kwargs}  # type: ignore[union-attr]  # noqa: B905


def _written(n: Node) -> Iterator[Node]:
    """What an operation writes into."""
    if not _operator(n) or not n.target._schema.is_mutable:  # type: ignore[union-attr]
        return
    given = _arguments(n)
    for a in n.target._schema.arguments:  # type: ignore[union-attr]
        if a.alias_info is not None and a.alias_info.is_write:
            value = given.get(a.name)
            yield from (v for v in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(v, Node))


def _root(n: Node) -> Node:
    """The tensor whose memory a chain of views and writes is in."""
    while n.op == "call_function" and n.args and isinstance(n.args[0], Node):
        target = n.target
        if target is not operator.getitem and not (_operator(n) and (target.is_view or target._schema.is_mutable)):  # type: ignore[union-attr]
            break
        n = n.args[0]
    return n


def _key(inputs: list[Node]) -> tuple[str, ...]:
    """What to compare of a call's arguments: all else follows from these, or has been checked by who calls.

    A gradient may come in any layout.
    """
    out: list[str] = []
    known: set[Any] = set()

    def number(s: Any, source: str) -> None:
        if isinstance(s, torch.SymInt):
            expr = s.node.expr
            if expr in known or (not expr.is_Symbol and expr.free_symbols <= known):
                return
            known.add(expr)
            out.append(source)

    for k, n in enumerate(inputs):
        val = n.meta.get("val")
        if isinstance(val, torch.SymInt):
            number(val, f"args[{k}]")
        elif not isinstance(val, torch.Tensor):
            out.append(f"args[{k}]")
        else:
            for d, s in enumerate(val.shape):
                number(s, f"args[{k}].size({d})")
            for d, s in enumerate(val.stride()):
                number(s, f"args[{k}].stride({d})")
            if n.name.startswith("tangents"):
                out.append(f"args[{k}].stride()")
    return tuple(out)
