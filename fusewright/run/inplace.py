"""Write a kernel's result straight into the input it is about to be copied to.

AOTAutograd expresses the mutation of an input as a final `copy_(input, new value)`. When the new value comes from one
of our kernels and nothing needs the old contents any more, the kernel's output buffer can be the input itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import Graph, Node

from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage
from ..graph.ir import Value
from ..loop.overwrite import overwritable
from .views import memory
from .written import MEMORY

COPY = torch.ops.aten.copy_.default


def copied(traced: Any) -> set[Value]:
    """Values that the graph copies into an input."""
    found = {traced.values.get(n.args[1]) for n in traced.nodes if n.target is COPY and isinstance(n.args[1], Node)}
    return {v for v in found if isinstance(v, Value)}


def assign(groups: list[Any], traced: Any) -> tuple[dict[Value, Node], set[int]]:
    """(stored value -> input node it is written to, units of the copies that became unnecessary).

    `groups` are the plan's groups in execution order (`GroupPlan`), `traced` the trace layer's `Traced`.
    """
    # where a unit is computed for the last time, if several groups do
    place = {u: k for k, g in enumerate(groups) for u in (*g.group.units, *g.group.again)}
    home = {v: k for k, g in enumerate(groups) if g.ours for v in g.group.outputs}
    returned = {traced.values.get(a) for a in traced.outputs if isinstance(a, Node)}
    into: dict[Value, Node] = {}
    dropped: set[int] = set()
    for u, node in enumerate(traced.nodes):
        if node.target is not COPY or u not in place or any(n.op != "output" for n in node.users):
            continue
        target, source = node.args[0], node.args[1]
        value = traced.values.get(source)
        if not isinstance(target, Node) or target.op != "placeholder" or not isinstance(value, Value):
            continue
        if value not in home or value in returned or value in into or target in into.values():
            continue
        if not _same_layout(target, source) or source is not traced.node_of.get(value):
            continue
        k = home[value]
        if _readers_are_before(target, node, k, place, traced) and _safe(groups[k], value, target, traced):
            into[value] = target
            dropped.add(u)
    return into, dropped


def arguments_written(graph: Graph) -> Iterator[tuple[Node, Node, Node]]:
    """(copy, argument, value): copies into arguments at the end of a graph, of what no result is in the memory of."""
    results: Any = graph.output_node().args[0]
    given = {memory(r.meta["val"]) for r in results if isinstance(r, Node) and isinstance(r.meta["val"], torch.Tensor)}
    for copy in graph.find_nodes(op="call_function", target=COPY):
        x, value = copy.args[:2]
        if x.op == "placeholder" and memory(value.meta["val"]) not in given:
            yield copy, x, value


def there_already(traced: Any) -> set[int]:
    """Units of copies into an input of what was written there in place (`written.py`)."""
    copies = {u: n.args for u, n in enumerate(traced.nodes) if n.target is COPY}
    return {u for u, (x, source, *_) in copies.items() if isinstance(source, Node) and source.meta.get(MEMORY) is x}


def _same_layout(a: Node, b: Node) -> bool:
    x, y = a.meta["val"], b.meta["val"]
    return x.dtype == y.dtype and x.device == y.device and x.shape == y.shape and x.stride() == y.stride()


def _readers_are_before(target: Node, copy: Node, k: int, place: dict[int, int], traced: Any) -> bool:
    """Every other reader of the input's old contents, also through views, runs before group `k` or in it."""
    unit = {n: u for u, n in enumerate(traced.nodes)}
    stack = [n for n in target.users if n is not copy]
    while stack:
        n = stack.pop()
        u = unit.get(n)
        if u is None or n is copy:
            return False  # the graph returns the input's alias, or copies it a second time
        if u in place:
            if place[u] > k:
                return False
        else:
            stack.extend(n.users)  # a view (or another value that its readers compute for themselves)
    return True


def _safe(plan: Any, value: Value, target: Node, traced: Any) -> bool:
    """The kernel reads the input only at the element it is about to write, and before writing it (or not at all)."""
    fusion: Fusion = plan.built.fusion
    old = traced.values.get(target)
    name = next((b.name for b in fusion.buffers if not b.output and plan.built.sources[b.name] is old), None)
    out = next(n for n, v in plan.built.sources.items() if v is value and n != name)
    if name is None or plan.schedule is None:
        return name is None or _in_any_order(fusion, out, name)
    return name in overwritable(fusion, plan.schedule).get(out, ())


def _in_any_order(f: Fusion, out: str, name: str) -> bool:
    """The same under any schedule that computes a point's values before it stores any (a GPU: schedules by size)."""
    store = next((s for s in f.stores() if s.buffer == out), None)
    if store is None or f.checks or f.before or f.after or any(_loads(s, name) for s in f.stages if s.kind != "store"):
        return False
    others = [s for s in f.stores() if s is not store and _loads(s, name)]
    if others and not _loads(store, name):
        return False  # the target's compiler, told that buffers do not overlap, might move the load behind the store
    if others and (any(s.axes != store.axes for s in others) or any(s.body.stages for s in f.stores())):
        return False
    return {o for s in [store, *others] for o in _loads(s, name)} <= {store.offset}


def consumed(f: Fusion, out: str) -> list[str]:
    """Inputs that nothing but the store of `out` reads, each element by the point that stores in its place: `out` may
    have their memory under any schedule, and whatever the target's compiler makes of buffers that do not overlap."""
    store = next((s for s in f.stores() if s.buffer == out), None)
    if store is None or store.offset is None or f.checks or f.before or f.after:
        return []
    if set(store.offset.axes()) != set(store.axes) or any(a.kind == "value" for a in store.offset.atoms()):
        return []
    loads = {b.name: _loads(store, b.name) for b in f.buffers if not b.output and b.dtype is store.dtype}
    others = [s for s in f.stages if s is not store]
    return [n for n, at in loads.items() if at == {store.offset} and not any(_loads(s, n) for s in others)]


def _loads(s: Stage, name: str) -> set[Any]:
    return {e.data[1] for e in sc.walk([s.body]) if e.kind == "load" and e.data[0] == name}
