"""Patterns of primitives become calls of executors, in a trace, before operations are grouped.

A match becomes one opaque unit. It must be made of whole units, of which nothing is read elsewhere but the pattern's
outputs, so that nothing is computed twice; its inputs must be tensors in memory, computed before the first reader of an
output. What stands in the way is the reason that reports give.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node
from torch.utils._pytree import tree_map

from ..graph.ir import Eqn, Unit, Value
from ..graph.patterns import Match, Pattern, congruent
from ..graph.symbolic import size
from ..run.claimed import Claimed, Picked
from .claims import ask, expected, meta
from .effects import ordering
from .executors import Executor, Order
from .fx import Traced

_FREE = frozenset(("const", "scalar", "iota", "affine", "cast"))  # may be computed a second time


def claim_patterns(traced: Traced, o: Order) -> None:
    """Let executors claim what their patterns match, in the order of the executors, then of the program."""
    for e in o.patterns():
        tried: set[Value] = set()
        while (found := next((m for m in e.what.find(traced.graph) if m.outputs[0] not in tried), None)) is not None:
            tried.add(found.outputs[0])
            _Claim(traced, e, found, o).run()


class _Claim:
    def __init__(self, traced: Traced, e: Executor, m: Match, o: Order):
        self.t, self.e, self.m, self.order = traced, e, m, o
        self.pattern: Pattern = e.what
        self.units = traced.graph.units

    def run(self) -> None:
        """Rewrite the trace, or leave a note with the first operation that is matched."""
        first = min(e.unit for e in self.m.eqns)
        units = (self.units[k] for k in sorted({e.unit for e in self.m.eqns}, reverse=True))
        where = next((u.where for u in units if u.where not in ("", u.name)), "")
        why = self.obstacle()
        if not why:
            claimed, why = ask(self.e, self.arguments(True), {}, where, self.order.fallback)
            if claimed:
                self.rewrite(where)
                return
        else:
            why = f"executor {self.e.name} declined: {why}"
        self.t.notes.setdefault(self.t.nodes[first], []).append(why)

    def arguments(self, as_metas: bool) -> list[Any]:
        """The executor's arguments: tensors as metas or as nodes, numbers, sizes."""
        out: list[Any] = []
        for a in self.pattern.defined.arguments:
            if a.kind == "tensor":
                node = self.t.node_of[self.m.inputs[a.name]]
                out.append(meta(node.meta["val"], self.t.symbols) if as_metas else node)
            elif a.kind == "scalar":
                n = self.m.numbers[a.name]
                varies = self.t.node_of[n] if isinstance(n, Value) else None
                out.append(n if varies is None else meta(varies.meta["val"], self.t.symbols) if as_metas else varies)
            else:
                out.append(size(self.m.sizes[a.name]))
        return out

    # --- whether it can be done ---
    def obstacle(self) -> str:
        """Why the match cannot be one call, or "". Fills `inside`: the units that go."""
        varying = [v for v in self.m.numbers.values() if isinstance(v, Value)]
        if any(self.t.node_of[v].meta["val"].device.type != "cpu" for v in varying):
            return "a number is a tensor on a GPU"
        for name, v in self.m.inputs.items():
            if v not in self.t.node_of:
                return f"{name} would be a value inside an operation, {v}"
            if why := self.layout(name, v):
                return why
        for a in self.pattern.defined.arguments:
            if a.kind == "size" and (a.name not in self.m.sizes or self.m.sizes[a.name].as_int() is None):
                return f"the size {a.name} is not a number"
        if any(v not in self.t.node_of for v in self.m.outputs):
            return "an output is a value inside an operation"
        producers = {v: u.index for u in self.units for v in u.results}
        readers: dict[Value, set[int]] = {}
        for u in self.units:
            for v in u.reads:
                readers.setdefault(v, set()).add(u.index)
        self.inside = self.whole_units(readers)
        outputs, returned = set(self.m.outputs), set(self.t.graph.outputs)
        matched = {e.out for e in self.m.eqns}
        for k in sorted(self.inside):
            for v in self.units[k].results:
                if v in outputs:
                    continue
                if v in returned or readers.get(v, set()) - self.inside:
                    return f"%{v.id}, the result of {self.units[k].target}, is read elsewhere"
                if v not in matched:
                    return f"{self.units[k].target} does more than the pattern"
        if not {producers[v] for v in self.m.outputs if v in producers} <= self.inside:
            return "an output is read through a view"
        inputs = [*self.m.inputs.values(), *varying]
        low = max((producers[v] + 1 for v in inputs if v in producers), default=0)
        position = {n: k for k, n in enumerate(self.t.nodes)}
        for n in (n for k in self.inside for n in self.t.nodes[k].all_input_nodes):  # sizes among them
            if n in position and position[n] not in self.inside:
                low = max(low, position[n] + 1)
        outside = {k for v in outputs for k in readers.get(v, set()) - self.inside}
        high = min(outside, default=len(self.units))
        if low > high:
            return "its inputs are computed after its outputs are read"
        self.place = max(low, min(high, max(self.inside) + 1))
        return ""

    def layout(self, name: str, v: Value) -> str:
        """Whether a tensor has the layout and the device that the pattern declares."""
        a = self.pattern.defined.argument(name)
        if a.device and self.t.node_of[v].meta["val"].device.type != a.device:
            return f"{name} is not on {a.device}"
        if a.layout is None:
            return ""
        wanted = a.layout.of(v.shape)
        have = self.t.strides(v)
        return (
            "" if all(w is None or w is h for w, h in zip(wanted, have, strict=True)) else f"{name} has other strides"
        )

    def whole_units(self, readers: dict[Value, set[int]]) -> set[int]:
        """Units that the match covers. Those that cost nothing may stay for other readers."""
        found = {e.unit for e in self.m.eqns}
        free = {
            k
            for k in found
            if all(e.op in _FREE for e in self.eqns(k)) and not set(self.units[k].results) & set(self.m.outputs)
        }
        inside = found - free
        settled = False
        while not settled:  # what only the rest reads goes with it
            more = {
                k
                for k in free - inside
                if not any(v in self.t.graph.outputs for v in self.units[k].results)
                and all(readers.get(v, set()) <= inside for v in self.units[k].results)
            }
            settled = not more
            inside |= more
        return inside

    def eqns(self, k: int) -> list[Eqn]:
        return [e for e in self.t.graph.eqns if e.unit == k]

    # --- doing it ---
    def rewrite(self, where: str) -> None:
        t = self.t
        gone = [t.nodes[k] for k in sorted(self.inside)]
        outs = [t.node_of[v] for v in self.m.outputs]
        one = congruent(t.graph)
        given = {one.get(v, v): t.node_of[v] for v in self.m.inputs.values()}
        known = {n: given[one.get(v, v)] for v, n in t.node_of.items() if one.get(v, v) in given}
        original, extra = _program(gone, outs, known)
        fixed = self.arguments(False)
        tensors = [a for a in fixed if isinstance(a, Node)]
        kinds = [a.kind for a in self.pattern.defined.arguments]
        pick = [(kind if isinstance(a, Node) else "", a) for kind, a in zip(kinds, fixed, strict=True)]
        pick = [(kind, tensors.index(a) if kind else a) for kind, a in pick]
        vals = [node.meta["val"] for node in outs]
        single = len(outs) == 1
        results, layouts, _ = expected(vals[0] if single else vals)
        original.skip = len(tensors)
        call, e = Picked(self.e.fn, pick), self.e
        target = Claimed(e.name, e.target, call, original, results, where, self.order.fallback, single, e.reference)
        before = (
            t.nodes[self.place]
            if self.place < len(t.nodes)
            else next(x for x in t.module.graph.nodes if x.op == "output")
        )
        graph = t.module.graph
        with graph.inserting_before(before):
            name = f"{self.e.name}_{self.pattern.name}"
            node = graph.create_node("call_function", target, (), {}, name=name)
            node.args = (layouts, *tensors, *extra)
            node.meta = {**outs[0].meta, "val": vals[0] if single else tuple(vals)}
            news = [node] if single else []
            for k, val in enumerate(vals if not single else ()):
                item = graph.create_node("call_function", operator.getitem, (node, k), {})
                item.meta = {**outs[k].meta, "val": val}
                news.append(item)
        for old, new in zip(outs, news, strict=True):
            old.replace_all_uses_with(new)
        for old in reversed(gone):
            graph.erase_node(old)
        gone += self.unread(set(gone))
        self.renumber(node, news, gone, where, single)

    def unread(self, gone: set[Node]) -> list[Node]:
        """Erase what only the match has read: it was computed twice."""
        more: list[Node] = []
        for k in range(len(self.units) - 1, -1, -1):
            n = self.t.nodes[k]
            if n not in gone and self.units[k].kind in ("fused", "view") and not n.users:
                self.t.module.graph.erase_node(n)
                self.inside.add(k)
                more.append(n)
        return more

    def renumber(self, node: Node, news: Sequence[Node], gone: Sequence[Node], where: str, single: bool) -> None:
        """Put the new unit in the place of those that are gone."""
        t = self.t
        device = self.units[min(self.inside)].device
        reads = tuple(dict.fromkeys(v for n in node.all_input_nodes if isinstance(v := t.values.get(n), Value)))
        why = f"claimed by executor {self.e.name}"
        unit = Unit(
            0, node.name, f"pattern {self.pattern.name}", where, "torch", reads, tuple(self.m.outputs), why, device
        )
        fresh: list[tuple[Unit, Node]] = [(unit, node)]
        if not single:
            fresh += [(Unit(0, x.name, "getitem", where, "item", device=device), x) for x in news]
        old = list(zip(self.units, t.nodes, strict=True))
        kept = [pair for k, pair in enumerate(old[: self.place]) if k not in self.inside]
        after = [pair for k, pair in enumerate(old) if k >= self.place and k not in self.inside]
        both = [*kept, *fresh, *after]
        number = {id(u): k for k, (u, _) in enumerate(both)}
        moved = {u.index: number.get(id(u)) for u, _ in old}
        eqns = [Eqn(e.op, e.inputs, e.params, e.out, k) for e in t.graph.eqns if (k := moved[e.unit]) is not None]
        for k, (u, _) in enumerate(both):
            u.index = k
        t.graph.units[:] = [u for u, _ in both]
        t.graph.eqns[:] = eqns
        t.nodes[:] = [n for _, n in both]
        for n in gone:
            t.values.pop(n, None)
            t.notes.pop(n, None)
        t.values[node] = self.m.outputs[0] if single else tuple(self.m.outputs)
        for v, n in zip(self.m.outputs, news, strict=True):
            t.values[n] = v
            t.node_of[v] = n
        (output,) = (n for n in t.module.graph.nodes if n.op == "output")
        args: Any = output.args[0]
        t.outputs = list(args) if isinstance(args, (list, tuple)) else [args]
        t.after = ordering(t.nodes)


class Replay:
    """What a match stands for, run by torch: a function of `skip` operands that it does not need and of `inputs`.

    `steps`: (node, target, args, kwargs) in order; `inputs`: nodes outside, and symbolic sizes by their expressions;
    `outs`: the nodes whose results it returns.
    """

    def __init__(self, steps: list[tuple[Node, Any, Any, Any]], inputs: list[Any], outs: list[Node]):
        self.steps, self.inputs, self.outs, self.skip = steps, inputs, outs, 0

    def __call__(self, *given: Any) -> Any:
        env = dict(zip(self.inputs, given[self.skip :], strict=True))

        def value(a: Any) -> Any:
            if isinstance(a, torch.SymInt):
                return env[str(a.node.expr)]
            return env[a] if isinstance(a, Node) else a

        for n, target, args, kwargs in self.steps:
            env[n] = target(*tree_map(value, args), **tree_map(value, kwargs))
        return env[self.outs[0]] if len(self.outs) == 1 else tuple(env[n] for n in self.outs)


def _program(nodes: Sequence[Node], outs: Sequence[Node], known: dict[Node, Node]) -> tuple[Replay, list[Any]]:
    """The nodes as a function of what they read from outside; and that.

    `known`: nodes outside that compute what another one does, which is read in their place.
    """
    inside = set(nodes)
    outer: dict[Any, Any] = {}

    def note(a: Any) -> Any:
        if isinstance(a, Node) and a not in inside:
            a = known.get(a, a)
            outer.setdefault(a, a)
        elif isinstance(a, torch.SymInt):
            outer.setdefault(str(a.node.expr), a)
        return a

    steps = [(n, n.target, tree_map(note, n.args), tree_map(note, n.kwargs)) for n in nodes]
    return Replay(steps, list(outer), list(outs)), list(outer.values())
