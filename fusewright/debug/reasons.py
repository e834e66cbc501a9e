"""Where each operation of a graph runs and why, and why kernels next to each other are not one.

Every operation and every boundary has a reason. A boundary is a pair of groups of which one reads what the other
writes, directly or with operations of torch in between; or which are neighbours among the readers of one tensor; or
which merely run one after the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import torch

from ..graph.grouping import SHARED_BYTES
from ..graph.ir import Unit, Value
from ..graph.text import equation
from ..run import inplace
from ..run.plan import GroupPlan
from .record import GraphRecord

UNKNOWN = "unknown"  # must not occur: the tests look for it
# Operators for which torch calls a tuned library: not to be fused by design, where others merely have no rule yet.
_LIBRARY = frozenset(
    (
        *("mm", "addmm", "bmm", "baddbmm", "addbmm", "mv", "addmv", "dot", "vdot", "_addmm_activation"),
        *(
            "convolution",
            "convolution_backward",
            "mkldnn_rnn_layer",
            "_cudnn_rnn",
            "_scaled_dot_product_flash_attention",
        ),
        *("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_efficient_attention"),
        *("_scaled_dot_product_flash_attention_for_cpu_backward", "_scaled_dot_product_flash_attention_backward"),
        *("_scaled_dot_product_efficient_attention_backward", "_scaled_dot_product_fused_attention_overrideable"),
        *("_scaled_dot_product_cudnn_attention", "_scaled_dot_product_cudnn_attention_backward", "_scaled_mm"),
    )
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the traced program.

    `place`: "kernel" (in `kernels[0]`), "inline" (computed again by each of `kernels`), "view", "torch", "host",
    "item", "dropped" (a copy that `kernels[0]` makes unnecessary), "unused". `reason`: why it is not in a kernel of its
    own ("" if it is), and what executors say that claim it or do not. `primitives`: its equations; `result`: types and
    shapes; `reads`: operations and inputs it reads.
    """

    index: int
    name: str
    target: str
    where: str
    place: str
    kernels: tuple[str, ...]
    reason: str
    primitives: tuple[str, ...]
    result: str
    reads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Boundary:
    """Two groups that are not one kernel. `kind`: "reads", "torch between", "shares an input", "in order"."""

    first: str
    second: str
    kind: str
    reason: str


class Reasons:
    """The reasons of one compiled graph."""

    def __init__(self, g: GraphRecord):
        assert g.traced is not None and g.grouping is not None and g.plan is not None
        self.record, self.traced, self.grouping = g, g.traced, g.grouping
        self.units: list[Unit] = g.traced.graph.units
        self.plans: list[GroupPlan] = g.plan.groups
        self.plan_of: dict[int, int] = {u: k for k, p in enumerate(self.plans) for u in p.group.units}
        self.group_of = {u: k for k, x in enumerate(g.grouping.groups) for u in x.units}
        self.owner: dict[Value, int] = {v: u.index for u in self.units for v in u.results}
        self.into, self.dropped = inplace.assign(self.plans, g.traced)
        self.in_place = g.plan.in_place
        self.inlined: dict[int, list[str]] = {}
        for p in self.plans:
            if p.ours:
                for u in dict.fromkeys(e.unit for e in p.group.eqns):
                    if u not in self.plan_of:
                        self.inlined.setdefault(u, []).append(p.name)

    # --- operations ---
    def operations(self) -> list[Operation]:
        eqns: dict[int, list[str]] = {}
        for e in self.traced.graph.eqns:
            eqns.setdefault(e.unit, []).append(equation(e).rpartition(" @")[0])
        out = []
        for u, node in zip(self.units, self.traced.nodes, strict=True):
            place, kernels, reason = self.placement(u)
            there = "in the memory of its operand, which nothing reads afterwards" if node in self.in_place else ""
            reason = "; ".join(filter(None, (reason, there, *self.traced.notes.get(node, ()))))  # what executors said
            reads = tuple(dict.fromkeys(n.name for n in node.all_input_nodes))
            prims = tuple(eqns.get(u.index, ()))
            out.append(
                Operation(
                    u.index,
                    u.name,
                    u.target,
                    line_of(u),
                    place,
                    kernels,
                    reason,
                    prims,
                    _result(node.meta.get("val")),
                    reads,
                )
            )
        return out

    def placement(self, u: Unit) -> tuple[str, tuple[str, ...], str]:
        """(place, kernels, reason) of an operation."""
        if u.kind == "host":
            return "host", (), "a size or another Python number: computed on the host"
        if u.kind == "item":
            return "item", (), "one result of an operation with several"
        inside = tuple(self.inlined.get(u.index, ()))
        if u.kind == "view":
            where = f"kernels read through it: {', '.join(inside)}" if inside else "a torch view, which moves nothing"
            return "view", inside, f"metadata only: {where}"
        if u.index in self.dropped:
            k = next(p.name for p in self.plans if p.ours and set(p.group.outputs) & self._copied(u))
            return "dropped", (k,), f"mutation: {k} writes into the input directly, and no copy runs"
        at = self.plan_of.get(u.index)
        if at is None:  # a free unit: no group holds it
            if inside:
                again = any(u.index in p.group.again for p in self.plans)
                why = "to compute it moves fewer bytes than to store it" if again else "costs nothing to compute"
                return "inline", inside, f"{why}: each reader does it for itself: {', '.join(inside)}"
            if not any(v in n.reads for n in self.units for v in u.results):
                return "unused", (), "unused: nothing reads its result"
            return "torch", (), "its readers run through torch, which computes it for them"
        p = self.plans[at]
        if p.ours:
            return "kernel", (p.name,), ""
        return self._torch(u, p.reason or u.reason)

    def _copied(self, u: Unit) -> set[Value]:
        """The value that a copy into an input copies."""
        return {v for v, target in self.into.items() if target is self.traced.nodes[u.index].args[0]}

    def _torch(self, u: Unit, reason: str) -> tuple[str, tuple[str, ...], str]:
        target = self.traced.nodes[u.index].target
        if reason == "unused":
            return "unused", (), "unused: nothing reads its result"
        if reason == "single operation":
            reason = "single operation: a kernel of ours would not be faster (option single_op_groups compiles it)"
        elif isinstance(target, torch._ops.OpOverload) and target._schema.is_mutable:
            reason = f"mutation: {u.target} writes into its operand, in the program's order"
        elif u.target == "fusewright.seeds.default":
            reason = "random numbers: the seeds come from torch's generator, at every call"
        elif reason.startswith("operator:"):
            library = u.target.split(".")[1] in _LIBRARY if u.target.startswith("aten.") else False
            reason = f"{u.target} is left to torch's libraries" if library else f"unsupported {reason}"
        return "torch", (), reason or UNKNOWN

    # --- boundaries ---
    def boundaries(self) -> list[Boundary]:
        declined: dict[tuple[int, int], dict[str, None]] = {}
        for r in self.grouping.refused:
            a, b = self.group_of.get(r.first, -1), self.group_of.get(r.second, -1)
            declined.setdefault((min(a, b), max(a, b)), {})[r.reason] = None
        pairs: dict[tuple[int, int], tuple[str, str]] = {}

        def note(a: int, b: int, kind: str, reason: str) -> None:
            pairs.setdefault((min(a, b), max(a, b)), (kind, reason))

        fused = [k for k, p in enumerate(self.plans) if self._fused(k)]
        reads = {k: self.roots(v for u in self.plans[k].group.units for v in self.units[u].reads) for k in fused}
        for b in fused:
            for a in self._makers(reads[b]):
                if a != b and self._fused(a):
                    note(a, b, "reads", self._why(a, b, declined))
        for b in fused:
            for t in self._makers(reads[b]):
                if self._fused(t):
                    continue
                for u in self.plans[t].group.units:
                    for a in self._makers(self.roots(self.units[u].reads)):
                        if a != b and self._fused(a):
                            note(a, b, "torch between", self._between(self.units[u]))
        readers: dict[Value, list[int]] = {}
        for k in fused:
            for v in reads[k]:
                if self._makers([v]) != [k]:
                    readers.setdefault(v, []).append(k)
        small: dict[tuple[int, int], str] = {}
        for v, ks in readers.items():
            for a, b in itertools.pairwise(ks):
                size = self.traced.symbols.hint(v.numel) * v.dtype.itemsize
                if size < SHARED_BYTES:
                    small[a, b] = f"all they have in common is a tensor of {size} bytes, which is not worth a merge"
                else:
                    note(a, b, "shares an input", self._why(a, b, declined, shared=True))
        for a, b in itertools.pairwise(k for k in fused if self.plans[k].ours):
            note(a, b, "in order", small.get((a, b), "no data in common"))
        return [
            Boundary(self.label(a), self.label(b), kind, reason)
            for (a, b), (kind, reason) in sorted(pairs.items())
            if self.plans[a].ours or self.plans[b].ours
        ]

    def _why(self, a: int, b: int, declined: dict[tuple[int, int], dict[str, None]], shared: bool = False) -> str:
        ga, gb = (self.group_of[self.plans[k].group.units[0]] for k in (a, b))
        if ga == gb:
            units = self.grouping.groups[ga].units
            found_apart = (f"their group has no schedule: {why}" for us, why in self.grouping.apart if us == units)
            return next(found_apart, self.plans[a].reason or UNKNOWN)
        if not self.record.options.grouping:
            return "grouping is disabled"
        found = declined.get((min(ga, gb), max(ga, gb)))
        if found:
            return "; ".join(found)
        if not shared:
            return UNKNOWN
        if not getattr(self.record.options, "siblings", True):
            return "the option siblings is off"
        return "they read the same tensor, but other readers were merged in between"

    def _between(self, u: Unit) -> str:
        why = self.placement(u)[2]
        if why.startswith("claimed by"):
            return f"{u.target} between them is {why}"
        return f"{u.target} between them runs through torch ({why})"

    def _fused(self, k: int) -> bool:
        return self.units[self.plans[k].group.units[0]].kind == "fused"

    def _makers(self, values: Iterable[Value]) -> list[int]:
        """Positions, in order, of the groups that compute `values`."""
        found = {self.plan_of.get(self.owner[v], -1) for v in values if v in self.owner}
        return sorted(found - {-1})

    def roots(self, values: Iterable[Value]) -> list[Value]:
        """What values come down to when views and what readers compute for themselves are looked through."""
        out: dict[Value, None] = {}
        seen: set[Value] = set()
        stack = list(values)[::-1]
        while stack:
            v = stack.pop()
            if v in seen:
                continue
            seen.add(v)
            u = self.owner.get(v)
            if u is not None and u not in self.plan_of:
                stack.extend(reversed(self.units[u].reads))
            else:
                out[v] = None
        return list(out)

    def label(self, k: int) -> str:
        """A kernel's name; of an operation that torch runs, its own."""
        p = self.plans[k]
        return p.name if p.ours else f"{self.record.name}.{self.units[p.group.units[0]].name}"


def line_of(u: Unit) -> str:
    """The user's line behind an operation, "" where the trace does not say (it may be a copy of torch's own)."""
    return "" if u.where == u.name else u.where


def _result(val: object) -> str:
    """ "f32[4, 8]" of a fake tensor, or of several."""
    if isinstance(val, (list, tuple)):
        return ", ".join(_result(v) for v in val)
    if isinstance(val, torch.Tensor):
        return f"{str(val.dtype).removeprefix('torch.')}[{', '.join(map(str, val.shape))}]"
    return "" if val is None else type(val).__name__
