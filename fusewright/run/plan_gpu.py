"""The part of a plan that launches a GPU kernel: outputs, a look-up by sizes and alignment, one call.

A result that the graph only uses in another shape (the sum that is the gradient of a bias) is allocated in that
shape, which spares a call of torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from . import internals
from .launch import number, watched

_VIEWS = (torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default)

if TYPE_CHECKING:
    from torch.fx import Node

    from .gpu import GpuGroup
    from .plan import GroupPlan, _Writer


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
    w.scope[f"_g{k}"], w.scope[f"_m{k}"] = group, group.memo
    w.keep.append(group)
    outs = [nodes[b.name] for b in fusion.buffers if b.output]
    into = {nodes[name].name: w.into[v].name for name, v in sources.items() if v in w.into}
    seen_as = {} if g.watch is not None else {n: v for n in outs if n.name not in into and (v := _only_view(w, n))}
    lines = [f"{n.name} = {into.get(n.name) or _allocate(w, seen_as.get(n, n))}" for n in outs]
    w.emitted.update(outs)
    w.computed.update(sources[b.name] for b in fusion.buffers if b.output)
    w.mark_computed(g)
    for s in group.symbols:
        w.need_symbol(s)
    pointers = [f"p{j}" for j in range(len(fusion.buffers))]
    lines += [f"{p} = {nodes[b.name].name}.data_ptr()" for p, b in zip(pointers, fusion.buffers, strict=True)]
    key = ", ".join([*group.symbols, f"({' | '.join(pointers)}) & 15"])
    lines.append(f"try: L = _m{k}[{key},]")
    lines.append(f"except KeyError: L = _g{k}.make({key})")
    hosts = "".join(f"{number(h, dtype.kind)}, " for h, dtype in fusion.hosts.items())
    call = f"L({', '.join(pointers)}{f', hosts=({hosts})' if hosts else ''})"
    if g.watch is not None:
        w.scope[f"_w{k}"] = g.watch
        kernel = f"lambda *p: L(*p, hosts=({hosts}))" if hosts else "L"
        tensors = [nodes[b.name].name for b in fusion.buffers]
        call = watched(f"_w{k}", kernel, pointers, tensors, [*group.symbols, *fusion.hosts])
    names = [n.name for n in outs]
    eager = f"{', '.join(names)}{',' if len(names) == 1 else ''} = {w.eager(g, names)}"
    eager += "".join(f"; {t}.copy_({n}); {n} = {t}" for n, t in into.items())
    eager += "".join(f"; {n.name} = {w.call(v)}" for n, v in seen_as.items())
    lines.append(f"if L is None: {eager}")
    lines.append(f"else: {call}")
    lines.extend(f"_bump({t})" for t in into.values())
    lines.extend(f"{v.name} = {n.name}" for n, v in seen_as.items())
    w.emitted.update(seen_as.values())
    reads = {*fusion.hosts, *into.values(), *(n.name for n in inputs if n.op != "get_attr")}
    reads |= {a.name for u in g.group.units for a in w.outside(g, u)}
    reads |= {a.name for v in seen_as.values() for a in v.all_input_nodes if a not in seen_as and a.op != "get_attr"}
    w.add(lines, reads, {*names, *(v.name for v in seen_as.values())})


def _only_view(w: _Writer, n: Node) -> Node | None:
    """The view that is the only use of a kernel's result, if memory of that layout can be the result's."""
    v = next(iter(n.users), None)
    if v is None or len(n.users) > 1 or v.target not in _VIEWS or v not in w.unit_of:
        return None
    return v if w.dense(n) and w.dense(v) else None


def _allocate(w: _Writer, n: Node) -> str:
    """Source of the call that allocates an output."""
    device: torch.device = n.meta["val"].device
    if device.type == "cpu":
        how = w.allocation(n)
        return f"{how}()" if how else f"_empty({w.layout(n)})"
    here = w.gpus == {device}
    name = "_empty_cuda" if here else f"_empty_cuda{device.index}"
    w.scope.setdefault(name, internals.empty_on(device, here))
    return f"{name}({w.layout(n)})"
