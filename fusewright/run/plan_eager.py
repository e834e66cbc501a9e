"""The part of a plan that runs a group through torch: a function beside the plan, called where a kernel cannot run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.fx import Node

    from .plan import GroupPlan, _Writer


def outside(w: _Writer, g: GroupPlan, u: int) -> list[Node]:
    """Nodes that the eager form of unit `u` needs from outside the group, through views."""
    mine = {w.traced.nodes[x] for x in g.group.units}
    out: list[Node] = []
    stack = list(w.traced.nodes[u].all_input_nodes)
    while stack:
        n = stack.pop()
        if n in mine:
            continue
        unit = w.unit_of.get(n)
        if unit is not None and n not in w.emitted:
            stack.extend(n.all_input_nodes)
        elif n.op != "get_attr" and n not in out:
            out.append(n)
    return out


def call(w: _Writer, g: GroupPlan, outs: list[str]) -> str:
    """A call of a function that runs the group's operations through torch (which raises eager's own error)."""
    for u in g.group.units:
        for n in outside(w, g, u):
            w.node(n)
    outer = w.actions, w.emitted, w.bound, w.trusted, w.counted
    arguments = sorted({n.name for u in g.group.units for n in outside(w, g, u)})
    symbols = sorted(w.bound)
    w.actions = []
    mine = {w.traced.nodes[u] for u in g.group.units}  # what torch has computed of it already may be gone
    w.emitted = w.emitted - mine - {n for n in w.traced.nodes if n.name in outs}
    w.bound, w.trusted, w.counted = set(w.bound), w.trusted - mine, set()
    for u in g.group.units:
        w.node(w.traced.nodes[u])
    for n in w.traced.nodes:
        if n.name in outs:
            w.node(n)
    body = [s for a in w.actions for s in a.lines]
    w.actions, w.emitted, w.bound, w.trusted, w.counted = outer
    name = f"_eager{len(w.functions)}"
    result = f"return {', '.join(outs)}{',' if len(outs) == 1 else ''}"
    w.functions.append(
        "\n".join([f"def {name}({', '.join([*arguments, *symbols])}):", *(f"    {s}" for s in [*body, result])])
    )
    return f"{name}({', '.join([*arguments, *symbols])})"
