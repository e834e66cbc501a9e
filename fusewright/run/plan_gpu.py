"""The part of a plan that launches a GPU kernel: outputs, a look-up by sizes and alignment, one call.

A result that the graph only uses in another shape (the sum that is the gradient of a bias) is allocated in that
shape, which spares a call of torch. A large one takes over the memory of an input that dies in the launch, if nobody
but the graph has ever seen that (`reuse.over_private`): the gradient of logits that of the logits.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import torch

from ..index.expr import ONE
from ..index.layout import product
from . import handles, inplace, internals, native, plan_eager, views
from .chance import Chance
from .launch import number, watched

_VIEWS = (torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default)
OVERWRITTEN = 1 << 20  # bytes of an output from which on it is worth finding out whether it may overwrite an input

if TYPE_CHECKING:
    from torch.fx import Node

    from ..fusion.build import Built
    from .gpu import GpuGroup
    from .plan import GroupPlan, _Writer
    from .prepared import Calls


def launch(w: _Writer, g: GroupPlan, group: GpuGroup) -> None:
    """Append the launch of `g` to the plan that `w` writes.

    The kernel for new sizes may turn out not to compile; the group then runs through torch, in a function of its own.
    """
    assert g.built is not None
    fusion, sources = g.built.fusion, g.built.sources
    nodes = {name: w.traced.node_of[v] for name, v in sources.items()}
    inputs = [nodes[b.name] for b in fusion.buffers if not b.output]
    for n in inputs:
        w.node(n)
    k = len(w.keep)
    w.keep.append(group)
    outs = [nodes[b.name] for b in fusion.buffers if b.output]
    into = {nodes[name].name: w.into[v].name for name, v in sources.items() if v in w.into}
    seen_as = {} if g.watch is not None else {n: v for n in outs if n.name not in into and (v := _only_view(w, n))}
    lines = [f"{n.name} = {into.get(n.name) or _allocate(w, seen_as.get(n, n))}" for n in outs]
    fresh = {} if g.watch is not None else {n: seen_as.get(n, n) for n in outs if n.name not in into}
    found = {n: _overwriting(w, g, n, shaped, inputs) for n, shaped in fresh.items()}
    chances = [Chance(outs.index(n), n.name, *c) for n, c in found.items() if c is not None]
    w.emitted.update(outs)
    w.trusted.update(outs)
    w.computed.update(sources[b.name] for b in fusion.buffers if b.output)
    w.mark_computed(g)
    for s in group.symbols:
        w.need_symbol(s)
    names = [n.name for n in outs]
    eager = f"{', '.join(names)}{',' if len(names) == 1 else ''} = {plan_eager.call(w, g, names)}"
    eager += "".join(f"; {t}.copy_({n}); {n} = {t}" for n, t in into.items())
    eager += "".join(f"; {n.name} = {w.call(v)}" for n, v in seen_as.items())
    lines += _native(w, g, group, nodes, k, eager) or _python(w, g, group, nodes, k, eager)
    lines.extend(f"_bump({t})" for t in into.values())
    lines.extend(f"{v.name} = {n.name}" for n, v in seen_as.items())
    w.emitted.update(seen_as.values())
    w.trusted.update(seen_as.values())
    reads = {*fusion.hosts, *into.values(), *(n.name for n in inputs if n.op != "get_attr")}
    reads |= {a.name for u in g.group.units for a in plan_eager.outside(w, g, u)}
    reads |= {a.name for v in seen_as.values() for a in v.all_input_nodes if a not in seen_as and a.op != "get_attr"}
    w.add(lines, reads, {*names, *(v.name for v in seen_as.values())}, chances)


def _aligned(built: Built) -> list[bool]:
    """For each buffer whether its alignment matters; not of what is read element by element."""
    alone = {b.name for b in built.fusion.buffers if b.numel is ONE} | set(built.windows)
    return [b.name not in alone for b in built.fusion.buffers]


def _native(w: _Writer, g: GroupPlan, group: GpuGroup, nodes: dict[str, Node], k: int, eager: str) -> list[str]:
    """The lines of a launch by machine code; none where Python launches.

    In a plan that is saved they are the same: what they call is made when it is loaded.
    """
    calls = native.calls_of(group) if w.native and g.watch is None else None
    if g.watch is not None or (calls is None and w.native):
        return []
    assert g.built is not None
    fusion = g.built.fusion
    device = nodes[fusion.buffers[0].name].meta["val"].device
    here = w.gpus == {device} or device.type == "cpu"
    room = _room(w, calls) if here and group.takes_scratch() else None
    aligned, hosts = _aligned(g.built), [number(h, dtype.kind) for h, dtype in fusion.hosts.items()]
    if calls is not None:
        w.scope[f"_l{k}"] = native.site(group, calls, aligned, len(hosts), here, room)
        whole = handles.functions() is not None
    else:
        w.scope[f"_g{k}"] = group
        w.scope[f"_l{k}"] = native.Described(group, aligned, len(hosts), here, room is not None)
        whole = True
    pointers = [w.pointer(g.built, b, nodes[b.name]) for b in fusion.buffers]
    if whole:  # the tensors themselves, where they begin at what the kernel sees
        pointers = [p.removesuffix(".data_ptr()") for p in pointers]
    memory = ["R[1]", "R[2]"] if room is not None else []
    return [f"if _l{k}({', '.join([*pointers, *group.symbols, *hosts, *memory])}): {eager}"]


def _room(w: _Writer, calls: Calls | None) -> native.Room | None:
    """The scratch memory of the plan, `R`; None where only one group takes any."""
    if "_room" not in w.scope:
        if sum(g.gpu is not None and g.gpu.takes_scratch() for g in w.plan.groups) < 2:
            return None
        w.scope["_room"] = native.Room(calls)
        w.add(["R = _room()"], set(), set())
    room: native.Room = w.scope["_room"]
    return room


def _python(w: _Writer, g: GroupPlan, group: GpuGroup, nodes: dict[str, Node], k: int, eager: str) -> list[str]:
    """The lines of a launch by Python, or by who looks on."""
    assert g.built is not None
    fusion = g.built.fusion
    w.scope[f"_g{k}"], w.scope[f"_m{k}"] = group, group.memo
    pointers = [f"p{j}" for j in range(len(fusion.buffers))]
    lines = [f"{p} = {w.pointer(g.built, b, nodes[b.name])}" for p, b in zip(pointers, fusion.buffers, strict=True)]
    aligned = [p for p, counts in zip(pointers, _aligned(g.built), strict=True) if counts]
    key = ", ".join([*group.symbols, f"({' | '.join(aligned)}) & 15" if aligned else "0"])
    lines.append(f"try: L = _m{k}[{key},]")
    lines.append(f"except KeyError: L = _g{k}.make({key})")
    hosts = "".join(f"{number(h, dtype.kind)}, " for h, dtype in fusion.hosts.items())
    call = f"L({', '.join(pointers)}{f', hosts=({hosts})' if hosts else ''})"
    if g.watch is not None:
        w.scope[f"_w{k}"] = g.watch
        kernel = f"lambda *p: L(*p, hosts=({hosts}))" if hosts else "L"
        tensors = [w.seen(g.built, b, nodes[b.name]) for b in fusion.buffers]
        call = watched(f"_w{k}", kernel, pointers, tensors, [*group.symbols, *fusion.hosts])
    return [*lines, f"if L is None: {eager}", f"else: {call}"]


def _only_view(w: _Writer, n: Node) -> Node | None:
    """The view that is the only use of a kernel's result, if memory of that layout can be the result's."""
    v = next(iter(n.users), None)
    if v is None or len(n.users) > 1 or v.target not in _VIEWS or v not in w.unit_of:
        return None
    return v if w.dense(n) and w.dense(v) else None


def _overwriting(
    w: _Writer, g: GroupPlan, out: Node, shaped: Node, inputs: list[Node]
) -> tuple[list[str], str, str] | None:
    """(inputs whose memory an output may take over, source before and after the one that dies); None if there are none.

    Results of this graph's own kernels and of torch's operators, and what only a backward pass is given (`private`).
    Elements lie in the same order in both; the output is laid out as `shaped`.
    """
    assert g.built is not None
    val = shaped.meta["val"]
    numel = product(w.symbols.shape(val.shape))
    small = numel.as_int() is not None and numel.as_int() * val.dtype.itemsize < OVERWRITTEN
    if not w.overwrite or small or not w.dense(out) or not w.dense(shaped):
        return None
    sources = g.built.sources
    name = next(name for name, v in sources.items() if w.traced.node_of[v] is out)
    nodes = [w.traced.node_of[sources[n]] for n in inplace.consumed(g.built.fusion, name)]
    kept = {*w.into.values(), *w.results}
    found = [
        n.name
        for n in nodes
        if n not in kept
        and inputs.count(n) == 1
        and n.meta["val"].device == val.device
        and w.dense(n)
        and product(w.symbols.shape(n.meta["val"].shape)) is numel
        and (n.meta.get("private") or w.traced.values.get(n) in w.computed or _new(n))
        and _read_here(w, n)
    ]
    return (found, "_over_private(", f", {_allocator(w, val.device)}, {w.layout(shaped)})") if found else None


def _read_here(w: _Writer, n: Node) -> bool:
    """Whether only kernels and torch's own operators read it: another library's may still do so on another stream."""
    stack = [n]
    while stack:
        for u in stack.pop().users:
            kind = w.traced.graph.units[w.unit_of[u]].kind if u in w.unit_of else ""
            if kind == "view" or u.target is operator.getitem:
                stack.append(u)
            elif kind != "fused" and getattr(u.target, "namespace", "") not in ("aten", "prims", "fusewright"):
                return False
    return True


def _new(n: Node) -> bool:
    """Whether that is a new tensor of one of torch's own operators."""
    op, val = n.target, n.meta["val"]
    if not isinstance(op, torch._ops.OpOverload) or op.namespace != "aten" or op.is_view or op._schema.is_mutable:
        return False
    operands = (a.meta.get("val") for a in n.all_input_nodes)
    return not any(views.same_storage(a, val) for a in operands if isinstance(a, torch.Tensor))


def _allocate(w: _Writer, n: Node) -> str:
    """Source of the call that allocates an output."""
    device: torch.device = n.meta["val"].device
    if device.type == "cpu":
        how = w.allocation(n)
        return f"{how}()" if how else f"_empty({w.layout(n)})"
    return f"{_allocator(w, device)}({w.layout(n)})"


def _allocator(w: _Writer, device: torch.device) -> str:
    """Name of the function that allocates on a device."""
    if device.type == "cpu":  # an emulated GPU
        return "_empty"
    here = w.gpus == {device}
    name = "_empty_cuda" if here else f"_empty_cuda{device.index}"
    w.scope.setdefault(name, internals.empty_on(device, here))
    return name
