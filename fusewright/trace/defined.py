"""A definition (`graph/defined.py`) as the trace that the pipeline compiles.

Every unit of the graph gets a node whose target runs its equations by torch (`equations.py`), so that all that works on
traced programs works here: fallbacks, checks, reports, schedules. The placeholders are

    sizes (one for each symbol), tensors, scalars                                 in the order of the arguments

A result that goes into an argument is a `copy_` at the end, which `run/inplace.py` makes unnecessary where it can.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch
import torch.fx as fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from ..core.dtypes import u32
from ..core.errors import Refusal
from ..core.options import Options
from ..core.switches import disables_operator, names_of
from ..graph.defined import Argument, Defined
from ..graph.ir import Eqn, Graph, Unit, Value
from ..graph.operations import SEEDS as SEEDS_UNIT
from ..graph.total import total
from ..index.expr import ONE, ZERO, Ix, nonnegative, sym
from ..index.layout import row_major
from ..run import devices
from ..run.overlaps import ASKED
from ..run.random_ops import SEEDS
from .effects import ordering
from .equations import Equations
from .executors import order
from .fx import Traced
from .signature import layout
from .types import TO_TORCH, Symbols

Strides = tuple[Ix, ...]
_COPY = torch.ops.aten.copy_.default
_LOCALS = re.compile(r"p\d+|x\d+|args|call|math|nt|threads|stream|torch|S|L")  # of generated code
_ROLES = ("tangents", "primals")  # names that say something about a placeholder


@dataclass(frozen=True, slots=True)
class Kinds:
    """Strides as far as a plan depends on them: of `order`, dimensions from the innermost out.

    `kinds[d]`: "dense" (the product of the extents further in), 0, 1, or "free".
    """

    order: tuple[int, ...]
    kinds: tuple[int | str, ...]


def kinds_of(t: torch.Tensor) -> Kinds | None:
    """What a plan depends on in a tensor's strides; None if it is contiguous."""
    if t.is_contiguous():
        return None
    found = layout(t, False)
    return Kinds(found.order, found.strides)


@dataclass(slots=True)
class Variant:
    """A definition for one kind of arguments.

    `strides`: of each tensor, by name; `free`: symbol -> (tensor, dimension) of strides that are not declared;
    `hints`: the sizes of the first call, by symbol; `numbers`: its scalars.
    """

    defined: Defined
    device: torch.device
    strides: dict[str, Strides]
    free: dict[str, tuple[str, int]]
    hints: dict[str, int]
    numbers: dict[str, Any] = field(default_factory=dict)


def strides_of(a: Argument, kinds: Kinds | None, taken: set[str]) -> tuple[Strides, dict[str, tuple[str, int]]]:
    """(strides of a tensor argument, new symbols for those that are free); names in `taken` are avoided."""
    assert a.value is not None
    free: dict[str, tuple[str, int]] = {}

    def fresh(d: int) -> Ix:
        name = f"{a.name}_stride{d}"
        while name in taken:
            name += "_"
        taken.add(name)
        free[name] = (a.name, d)
        return sym(name)

    shape = a.value.shape
    if a.layout is not None:
        return tuple(fresh(d) if s is None else s for d, s in enumerate(a.layout.of(shape))), free
    if kinds is None:
        return row_major(shape), free
    out: list[Ix] = [ZERO] * len(shape)
    expected = ONE
    for d in kinds.order:
        kind = kinds.kinds[d]
        out[d] = expected if kind == "dense" else fresh(d) if kind == "free" else ZERO + int(kind)
        if kind != 0:
            expected = out[d] * shape[d]
    return tuple(out), free


class _Sizes(ShapeEnv):
    """Size symbols with the definition's own names. Questions are answered for the hints; nothing is guarded."""

    def __init__(self, values: dict[str, int]):
        super().__init__()
        self.numbers = values

    def evaluate_expr(self, orig_expr: Any, *args: Any, **kwargs: Any) -> Any:
        e = sympy.sympify(orig_expr)
        return e.xreplace({s: sympy.Integer(self.numbers[s.name]) for s in e.free_symbols})

    def optimization_hint(self, expr: Any, fallback: Any = None, **_: Any) -> int:
        return int(self.evaluate_expr(expr))

    def size_hint(self, expr: Any, **_: Any) -> Any:  # type: ignore[override]
        return self.evaluate_expr(expr)


class _Module:
    """All that a trace needs of a GraphModule."""

    def __init__(self, graph: fx.Graph):
        self.graph = graph
        self.meta = {ASKED: True}  # by the generated code of a definition (`calling.py`)


def traced(v: Variant, options: Options) -> Traced:
    """The trace of a definition. Its placeholders are sizes (hints' order), tensors and scalars."""
    return _Builder(v, options).run()


class _Builder:
    def __init__(self, v: Variant, options: Options):
        self.v, self.options = v, options
        self.fx = fx.Graph()
        self.symbols = Symbols()
        # distinct numbers, so that no two sizes look equal; estimates are the hints
        self.env = _Sizes({s: 1009 + 2 * k for k, s in enumerate(v.hints)})
        self.symbols._hints.update(v.hints)
        self.mode = FakeTensorMode(shape_env=self.env)
        self.ints = {s: self.sym_int(s) for s in v.hints}
        self.out = Traced(Graph(), _Module(self.fx), self.symbols)  # type: ignore[arg-type]
        self.strides: dict[Value, Strides] = {}
        self.sizes: dict[str, fx.Node] = {}
        self.scalars: dict[str, fx.Node] = {}
        self.hosts: dict[str, str] = {}  # scalar -> what generated code calls it
        self.without = names_of(options.disable, "prim")
        self.unsupported = devices.unsupported(v.device)
        self.kernels = order(options).kernels

    # --- sizes and fake tensors ---
    def sym_int(self, name: str) -> torch.SymInt:
        s = sympy.Symbol(name, integer=True, positive=True)
        return torch.SymInt(SymNode(s, self.env, int, self.env.numbers[name]))

    def size(self, e: Ix) -> Any:
        """An expression as torch's; remembered, so that it comes back as it was."""
        out = e.evaluate(self.ints)
        if isinstance(out, torch.SymInt):
            self.symbols._memo[out.node.expr] = e
        return out

    def fake(self, v: Value, strides: Strides) -> torch.Tensor:
        dtype = torch.int64 if v.dtype is u32 else TO_TORCH[v.dtype]
        with self.mode:
            shape, steps = [self.size(n) for n in v.shape], [self.size(n) for n in strides]
            return torch.empty_strided(shape, steps, dtype=dtype, device=self.v.device)

    # --- nodes ---
    def name(self, wanted: str) -> str:
        if wanted.startswith(_ROLES):
            wanted = f"in_{wanted}"
        while wanted in self.v.hints or _LOCALS.fullmatch(wanted):
            wanted += "_"
        return wanted

    def placeholder(self, name: str, val: Any) -> fx.Node:
        name = self.name(name)
        node = self.fx.create_node("placeholder", name, (), {}, name=name)
        node.meta["val"] = val
        return node

    def bind(self, v: Value, node: fx.Node, strides: Strides) -> None:
        self.strides[v] = strides
        self.out.values[node] = v
        self.out.node_of[v] = node

    def call(self, unit: Unit, target: Any, args: tuple[Any, ...], val: Any) -> fx.Node:
        node = self.fx.create_node("call_function", target, args, {}, name=self.name(unit.name))
        node.meta["val"] = val
        unit.index = len(self.out.graph.units)
        self.out.graph.units.append(unit)
        self.out.nodes.append(node)
        return node

    # --- the graph ---
    def run(self) -> Traced:
        v, d = self.v, self.v.defined
        graph, self.new = total(d.graph)
        out = self.out.graph
        self.results = self.materialised(graph)
        for s in v.hints:
            self.sizes[s] = self.placeholder(f"size_{s}", self.ints[s])
        for a in d.tensors:
            value = self.of(a)
            node = self.placeholder(a.name, self.fake(value, v.strides[a.name]))
            self.bind(value, node, v.strides[a.name])
        for a in d.scalars:
            node = self.placeholder(a.name, v.numbers.get(a.name, 1))
            self.hosts[a.name] = node.name
            self.scalars[node.name] = node
        out.inputs = list(graph.inputs)
        own: dict[int, list[Eqn]] = {}
        for e in graph.eqns:
            own.setdefault(e.unit, []).append(e)
        for u in graph.units:
            self.unit(u, own.get(u.index, []))
        self.returns()
        self.out.after = ordering(self.out.nodes)
        return self.out

    def of(self, a: Argument) -> Value:
        """The value of a tensor argument in the graph that is compiled."""
        assert a.value is not None
        return self.new[a.value]

    def materialised(self, graph: Graph) -> dict[str, Value]:
        """The value of each result. `self.solid`: values that must not be views.

        A result that shares memory with an argument that is written would change with it.
        """
        d = self.v.defined
        makers = graph.producers()
        written = {self.of(d.argument(r.into)) for r in d.results if r.into}
        self.solid: set[Value] = set()
        self.copies: dict[Value, Value] = {}  # of what
        self.into: dict[Value, str] = {}
        found: dict[str, Value] = {}
        for r in d.results:
            value = root = self.new[r.value]
            while root in makers and makers[root].op in ("affine", "reshape"):
                root = makers[root].inputs[0]
            found[r.name] = value
            shared = value in graph.inputs or sum(self.new[o.value] is value for o in d.results) > 1
            if (root in written and value is root) or (r.layout is not None and shared):
                copy = found[r.name] = Value(self.fresh(graph), value.dtype, value.shape)
                self.copies[copy] = value
            elif root in written:
                self.solid.add(value)
        stored = [found[r.name] for r in d.results]
        for r in d.results:
            if stored.count(found[r.name]) == 1:
                if r.into:
                    self.into[found[r.name]] = r.into
                elif r.layout is not None:
                    self.solid.add(found[r.name])
        return found

    def fresh(self, graph: Graph) -> int:
        """An id that no value has."""
        values = [*graph.inputs, *(e.out for e in graph.eqns), *(v for u in graph.units for v in u.results)]
        return max((v.id for v in values), default=0) + 1 + len(self.copies) + len(self.out.graph.units)

    def unit(self, u: Unit, eqns: list[Eqn]) -> None:
        new = Unit(0, u.name, u.target, u.where, u.kind, u.reads, u.results, u.reason, str(self.v.device))
        if u.target == SEEDS_UNIT:
            (seeds,) = u.results
            strides = row_major(seeds.shape)
            count = seeds.shape[0].as_int()
            self.bind(seeds, self.call(new, SEEDS, (count, self.v.device), self.fake(seeds, strides)), strides)
            return
        self.equations(new, eqns)

    def equations(self, u: Unit, eqns: list[Eqn]) -> None:
        """A unit of equations as a node, of kind "view", "fused", or "torch" if no kernel may have it."""
        eqns = [self.named(e) for e in eqns]
        seen = None if u.results[0] in self.solid else self.view(u, eqns)
        strides = [self.layout(v) for v in u.results] if seen is None else [seen]
        f = Equations(u.name, eqns, u.reads, u.results, self.v.device, strides if seen is None else None)
        why = self.refused(u, eqns)
        u.kind, u.reason = ("view" if seen is not None else "torch" if why else "fused"), why
        index = len(self.out.graph.units)
        args = [self.out.node_of[v] for v in u.reads]
        args += [self.scalars[h] for h in f.hosts] + [self.sizes[s] for s in f.symbols]
        vals = [self.fake(v, s) for v, s in zip(u.results, strides, strict=True)]
        node = self.call(u, f, tuple(args), vals[0] if len(vals) == 1 else tuple(vals))
        if len(vals) == 1:
            self.bind(u.results[0], node, strides[0])
        else:
            self.out.values[node] = u.results
            for k, (v, s) in enumerate(zip(u.results, strides, strict=True)):
                item = Unit(0, f"{u.name}_{k}", "getitem", u.where, "item", device=u.device)
                self.bind(v, self.call(item, operator.getitem, (node, k), vals[k]), s)
        if u.kind != "torch":
            self.out.graph.eqns += [Eqn(e.op, e.inputs, e.params, e.out, index) for e in eqns]

    def named(self, e: Eqn) -> Eqn:
        if e.op != "scalar" or not isinstance(e.params[0], str):
            return e
        return Eqn(e.op, e.inputs, (self.hosts[e.params[0]],), e.out, e.unit)

    def layout(self, v: Value) -> Strides:
        """Strides of a result in memory of its own."""
        if v in self.into:
            return self.v.strides[self.into[v]]
        layouts = [r.layout for r in self.v.defined.results if self.results[r.name] is v and r.layout is not None]
        found = layouts[0].of(v.shape) if layouts else row_major(v.shape)
        assert None not in found
        return found  # type: ignore[return-value]

    def view(self, u: Unit, eqns: list[Eqn]) -> Strides | None:
        """The strides of a unit that only sees its operand in another way; None if it does not."""
        if len(eqns) != 1 or eqns[0].inputs != u.reads:
            return None
        (e,) = eqns
        strides = self.strides.get(e.inputs[0]) if e.inputs else None
        if e.op == "reshape" and strides is not None and strides == row_major(e.inputs[0].shape):
            return row_major(e.out.shape)
        if e.op != "affine" or strides is None:
            return None
        out = [ZERO] * e.out.rank
        for (_, terms), step in zip(e.params[0], strides, strict=True):
            for k, c in terms:
                if not nonnegative(c):
                    return None
                out[k] = out[k] + c * step
        return tuple(out)

    def refused(self, u: Unit, eqns: list[Eqn]) -> str:
        """Why torch has to run a unit, or ""."""
        if self.unsupported:
            return str(Refusal("unsupported", self.unsupported))
        if not self.kernels:
            return str(Refusal("option", "executor kernels is left out"))
        if entry := disables_operator(self.options.disable, u.target):
            return str(Refusal("option", f"{entry} is disabled"))
        for e in eqns:
            name = e.params[0] if e.op == "map" else e.op
            if name in self.without:
                return str(Refusal("option", f"prim:{name} is disabled"))
        return ""

    def returns(self) -> None:
        d = self.v.defined
        for copy, v in self.copies.items():
            identity = tuple((ZERO, ((k, ONE),)) for k in range(v.rank))
            u = Unit(0, f"copy_{copy.id}", "fusewright.copy", "", "fused", (v,), (copy,), device=str(self.v.device))
            self.solid.add(copy)
            self.equations(u, [Eqn("affine", (v,), (identity,), copy, 0)])
        outputs = []
        for r in d.results:
            value = self.results[r.name]
            node = self.out.node_of[value]
            if not r.into:
                outputs.append(node)
                continue
            target = self.of(d.argument(r.into))
            fresh = Value(self.fresh(self.out.graph), target.dtype, target.shape)
            u = Unit(0, f"into_{r.into}", "aten.copy_.default", "", "torch", (target, value), (fresh,))
            u.device = str(self.v.device)
            place = self.out.node_of[target]
            copied = self.call(u, _COPY, (place, node), place.meta["val"])
            self.bind(fresh, copied, self.strides[target])
        self.fx.output(outputs)
        self.out.outputs = outputs
        self.out.graph.outputs = [self.out.values[n] for n in outputs]
