"""An ATen FX graph (functional, as AOTAutograd makes it) becomes a Graph.

Every call_function node is a unit: "host" (sizes and other Python numbers), "view", "fused" (its rule gave
equations) or "torch" (opaque, with the reason).
"""

from __future__ import annotations

import operator
import os
import platform
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import GraphModule, Node

from ..core.dtypes import DType
from ..core.errors import Refusal
from ..core.lazy import lazy_import
from ..core.switches import disables_operator, names_of
from ..graph.builder import Builder
from ..graph.ir import Graph, Shape, Unit, Value
from ..index.expr import ONE, ZERO, Ix
from ..run import devices
from ..run.written import Mutable
from .effects import ordering
from .executors import NO_EXECUTORS, Order
from .lowering import FLOAT8, RULES, UNWRITTEN, VIEWS, Context, HostFloat, Rule
from .lowering.common import number
from .types import FROM_TORCH, Symbols

if TYPE_CHECKING:
    from . import claims
else:  # where executors are registered
    claims = lazy_import("fusewright.trace.claims")

EXPLAINED = "fusewright_explained"  # the function around the user's in `fusewright.explain`: no line of theirs
_OF_LAYOUT = frozenset(("sym_size", "sym_stride", "sym_numel", "sym_storage_offset"))  # operators that read no element
_TORCH = os.path.join(os.path.dirname(torch.__file__), "")


@dataclass(slots=True)
class Traced:
    """A Graph with its way back to the FX graph it came from.

    `nodes[i]` is the FX node of unit i; `values[node]` the value (or tuple, for several results) of a node that
    makes tensors; `outputs` the FX output arguments; `notes`: what executors say that have not claimed an operation.
    """

    graph: Graph
    module: GraphModule
    symbols: Symbols
    nodes: list[Node] = field(default_factory=list)
    values: dict[Node, Any] = field(default_factory=dict)
    node_of: dict[Value, Node] = field(default_factory=dict)
    outputs: list[Any] = field(default_factory=list)
    after: dict[int, list[int]] = field(default_factory=dict)
    notes: dict[Node, list[str]] = field(default_factory=dict)

    def strides(self, v: Value) -> Shape:
        """Strides in elements of a value that lives in memory, as traced."""
        node = self.node_of[v]
        return self.symbols.shape(node.meta["val"].stride())


def _filled() -> bool:
    """Whether torch writes NaN, or the largest integer, into memory that nobody has written to."""
    return torch.are_deterministic_algorithms_enabled() and torch._C._get_deterministic_fill_uninitialized_memory()


def unsupported(t: Any, float8: bool = True) -> str:
    """Why a (fake) tensor cannot enter a kernel, or "". `float8`: the kernel converts or moves, which is all that there
    is for 8-bit floats."""
    if t.layout is not torch.strided:
        return f"layout {t.layout}"
    if why := devices.unsupported(t.device):
        return why
    if t.dtype not in FROM_TORCH or (FROM_TORCH[t.dtype].is_float8 and not float8):
        return f"dtype {t.dtype}"
    if t.is_neg() or t.is_conj():
        return "lazy conjugate or negative"
    return ""


@cache
def contracts(device: str) -> bool:
    """Whether eager's kernels on a kind of device have fused multiply-adds: all but those for x86 CPUs without AVX2."""
    x86 = device == "cpu" and platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")
    return not x86 or torch.backends.cpu.get_cpu_capability().startswith("AVX")


def translate(
    gm: GraphModule,
    exact_rounding: bool = False,
    rng: str = "philox",
    disable: tuple[str, ...] = (),
    fma: bool = True,
    order: Order = NO_EXECUTORS,
) -> Traced:
    """Translate `gm`, whose nodes carry fake tensors in `meta["val"]`.

    `disable`: operators and primitives to leave to torch, as the option has them. `fma`: whether products join sums
    unrounded where eager's kernels do that. `order`: executors, which may change nodes of `gm`.
    """
    graph = Graph()
    out = Traced(graph, gm, Symbols())
    _Translator(out, exact_rounding, rng, disable, fma, order).run()
    out.after = ordering(out.nodes)
    return out


class _Translator:
    def __init__(self, out: Traced, exact_rounding: bool, rng: str, disable: tuple[str, ...], fma: bool, order: Order):
        self.out = out
        self.b = Builder(out.graph)
        self.exact_rounding = exact_rounding
        self.rng = rng
        self.fma = fma
        self.order = order
        self.disable = disable
        self.without = names_of(disable, "prim")

    def run(self) -> None:
        for node in self.out.module.graph.nodes:
            if node.op == "placeholder":
                self.bind(node, self.fresh(node, graph_input=True))
            elif node.op == "get_attr":
                self.bind(node, self.fresh(node, graph_input=True))
            elif node.op == "call_function":
                self.call(node)
            elif node.op == "output":
                args = node.args[0]
                self.out.outputs = list(args) if isinstance(args, (list, tuple)) else [args]
                self.out.graph.outputs = [
                    v
                    for a in self.out.outputs
                    if isinstance(v := self.out.values.get(a), Value)  # type: ignore[call-overload]
                ]

    def bind(self, node: Node, value: Any) -> None:
        self.out.values[node] = value
        if isinstance(value, Value):
            self.out.node_of.setdefault(value, node)

    def fresh(self, node: Node, graph_input: bool = False) -> Any:
        """Values for tensors Fusewright did not compute; None where a kernel cannot use them."""

        def one(t: Any) -> Any:
            if not isinstance(t, torch.Tensor) or unsupported(t):
                return None
            make = self.b.input if graph_input else self.b.value
            return make(FROM_TORCH[t.dtype], self.out.symbols.shape(t.shape))

        val = node.meta.get("val")
        if isinstance(val, (list, tuple)):
            return tuple(one(t) for t in val)
        return one(val)

    def call(self, node: Node) -> None:
        target = node.target
        unit = Unit(len(self.out.nodes), node.name, str(target), user_line(node), "torch")
        val = node.meta.get("val")
        if target is operator.getitem:
            self.item(node, unit, val)
        elif val is not None and not isinstance(val, (torch.Tensor, list, tuple)):
            unit.kind = "host"
            self.bind(node, None)
            if getattr(target, "_opname", "") not in _OF_LAYOUT:
                unit.reads = self.operands(node)
        else:
            self.lower(node, unit, val)
        self.out.nodes.append(node)
        self.out.graph.units.append(unit)

    def item(self, node: Node, unit: Unit, val: Any) -> None:
        """One of an operator's results."""
        of = node.args[0]
        source = self.out.values.get(of)  # type: ignore[arg-type]
        if isinstance(val, (list, tuple)) or of.meta.get("val") is None:  # type: ignore[union-attr]
            # results within a result: a checkpoint's operators that draw have the generator's state besides their own
            fresh = self.fresh(node)
            self.bind(node, fresh)
            unit.reason = "an item of results within a result"
            unit.results = tuple(v for v in (fresh if isinstance(fresh, tuple) else (fresh,)) if v is not None)
            return
        item = source[int(node.args[1])] if isinstance(source, tuple) else None  # type: ignore[arg-type]
        self.bind(node, item)
        if item is not None:
            self.out.node_of[item] = node
        unit.kind = "item"

    def lower(self, node: Node, unit: Unit, val: Any) -> None:
        vals = tuple(val) if isinstance(val, (list, tuple)) else (val,)
        try:
            if self.order.ahead:
                self.claim(node, True)
            rule = RULES.get(node.target)
            if not self.order.kernels:
                raise Refusal("option", "executor kernels is left out")
            if isinstance(node.target, Mutable):
                raise Refusal("mutation", f"{node.target} {node.target.why}")
            if rule is None:
                raise Refusal("operator", f"{node.target} has no lowering rule")
            if node.target in UNWRITTEN and (_filled() or not all(n.target in RULES for n in node.users)):
                raise Refusal("memory", "what is in it is not ours to say")
            if self.disable and (entry := disables_operator(self.disable, str(node.target))):
                raise Refusal("option", f"{entry} is disabled")
            if node.meta.get("unbacked_bindings"):
                raise Refusal("size", "a size that is known when it has run")
            float8 = node.target in VIEWS or node.target in FLOAT8
            for n in node.all_input_nodes:
                self.check(n, float8)
            for t in vals:
                if isinstance(t, torch.Tensor) and (why := unsupported(t, float8)):
                    raise Refusal("unsupported", f"result has {why}")
            unit.device = self.device(node, vals)
            dtypes: tuple[DType, ...] = tuple(FROM_TORCH[t.dtype] for t in vals if isinstance(t, torch.Tensor))
            shapes: tuple[Shape, ...] = tuple(
                self.out.symbols.shape(t.shape) for t in vals if isinstance(t, torch.Tensor)
            )
            with self.b.transaction(unit.index):
                kind = unit.device.partition(":")[0]
                fma = self.fma and contracts(kind)
                positive = self.out.symbols.positive
                ctx = Context(self.b, dtypes, shapes, self.exact_rounding, self.rng, fma, kind, positive)
                got = self.apply(node, rule, ctx, self.argument(node.args), self.argument(node.kwargs))
                if shapes and all(ZERO in s for s in shapes):
                    got = self.nothing(got)
                got = self.verify(node, got, vals)
                if self.without:
                    self.needs_disabled()
            unit.kind = "view" if node.target in VIEWS else "fused"
            self.bind(node, got)
        except Refusal as r:
            unit.kind, unit.reason = "torch", r.detail if r.code == "executor" else str(r)
            if self.order.behind and r.code != "executor":
                unit.reason = self.claimed(node, False) or unit.reason
            self.bind(node, self.fresh(node))
        result = self.out.values[node]
        unit.results = tuple(v for v in (result if isinstance(result, tuple) else (result,)) if v is not None)
        unit.reads = self.operands(node)

    def operands(self, node: Node) -> tuple[Value, ...]:
        """The tensors that a node reads."""
        found = (self.out.values.get(n) for n in node.all_input_nodes)
        return tuple(v for x in found for v in (x if isinstance(x, tuple) else (x,)) if isinstance(v, Value))

    def claim(self, node: Node, ahead: bool) -> None:
        """Raises Refusal if an executor claims a node's operator."""
        said = self.claimed(node, ahead)
        if said:
            raise Refusal("executor", said)

    def claimed(self, node: Node, ahead: bool) -> str:
        """What the executor says that claims a node's operator, which it gets; "" if none does."""
        said, notes = claims.claim_operator(node, self.order, ahead, self.out.symbols, user_line(node))
        if notes:
            self.out.notes.setdefault(node, []).extend(notes)
        return said

    def device(self, node: Node, vals: tuple[Any, ...]) -> str:
        """The one device of a node's operands and results."""
        operands = [n.meta.get("val") for n in node.all_input_nodes]
        tensors = [t for v in (*operands, *vals) for t in (v if isinstance(v, (list, tuple)) else (v,))]
        found = {str(t.device) for t in tensors if isinstance(t, torch.Tensor)}
        if len(found) > 1:
            raise Refusal("device", f"tensors on {' and '.join(sorted(found))}")
        return found.pop() if found else "cpu"

    def tensors(self, target: Any, ctx: Context, args: list[Any]) -> list[Any]:
        """An operator's arguments, where numbers are all the tensors that it is given: with tensors in their places."""
        if any(isinstance(a, (Value, list)) for a in args):
            return args
        wanted = [str(a.type) == "Tensor" for a in target._schema.arguments]
        kinds = {bool: torch.bool, int: torch.int64, Ix: torch.int64}
        return [
            ctx.operand(a, FROM_TORCH[kinds.get(type(a), torch.float64)]) if number(a) and tensor else a
            for a, tensor in zip(args, wanted, strict=False)
        ]

    def apply(self, node: Node, rule: Rule, ctx: Context, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The rule's result. Where it needs a number (an order, a dimension) and the program has a symbol: Refusal."""
        if args and number(args[0]):
            args = self.tensors(node.target, ctx, args)
        given = (*args, *kwargs.values())
        try:
            got = rule(ctx, *args, **kwargs)
        except TypeError as e:
            if any(isinstance(a, (Ix, HostFloat)) for a in given):
                raise Refusal("symbolic", f"a symbol where the rule needs a number ({e})") from e
            raise
        if any(isinstance(a, HostFloat) for a in given):
            if any(isinstance(p, HostFloat) for e in self.b.unit_eqns() for p in e.params):
                raise Refusal("symbolic", "a symbol where the rule needs a number")
        return got

    def needs_disabled(self) -> None:
        """Raises Refusal if the unit has a primitive that is disabled."""
        for e in self.b.unit_eqns():
            name = e.params[0] if e.op == "map" else e.op
            if name in self.without:
                raise Refusal("option", f"prim:{name} is disabled")

    def nothing(self, got: Any) -> Any:
        """Empty results need no equations but a fill; a bad index into something empty must still raise, though."""
        eqns = self.b.unit_eqns()
        if any(e.op in ("gather", "scatter") for e in eqns):
            raise Refusal("index", "indices to check, but no elements")
        del self.b.graph.eqns[len(self.b.graph.eqns) - len(eqns) :]
        self.b.forget()
        fresh = tuple(v and self.b.full(v.shape, 0, v.dtype) for v in (got if isinstance(got, tuple) else (got,)))
        return fresh if isinstance(got, tuple) else fresh[0]

    def check(self, n: Node, float8: bool) -> None:
        val = n.meta.get("val")
        for t in val if isinstance(val, (list, tuple)) else (val,):
            if isinstance(t, torch.Tensor) and (why := unsupported(t, float8)):
                raise Refusal("unsupported", f"operand {n.name} has {why}")
            if isinstance(t, torch.SymBool):
                raise Refusal("unsupported", f"operand {n.name} is a symbolic {type(t).__name__}")

    def argument(self, a: Any) -> Any:
        if isinstance(a, Node):
            val = a.meta.get("val")
            if isinstance(val, torch.Tensor):
                return self.out.values[a]
            if isinstance(val, (int, torch.SymInt)):
                e = self.out.symbols.ix(val)
                known = e.as_int()
                return e if known is None else known
            if isinstance(val, (list, tuple)):
                return self.out.values[a]
            return HostFloat(a.name) if isinstance(val, torch.SymFloat) else val
        if isinstance(a, (list, tuple)):
            return [self.argument(x) for x in a]
        if isinstance(a, dict):
            return {k: self.argument(x) for k, x in a.items()}
        return a

    def verify(self, node: Node, got: Any, vals: tuple[Any, ...]) -> Any:
        """Dtype and shape of every result are the traced ones."""
        values = got if isinstance(got, tuple) else (got,)
        if len(values) != len(vals):
            raise Refusal("rule", f"{node.target}: {len(values)} results for {len(vals)}")
        for v, t in zip(values, vals, strict=True):
            if v is None or t is None:
                continue
            want = (FROM_TORCH[t.dtype], self.out.symbols.shape(t.shape))
            if (v.dtype, v.shape) != want:
                raise Refusal("rule", f"{node.target}: got {v}, the traced result is {want[0]}{list(want[1])}")
        fresh = tuple(v if v is None else self.own(v) for v in values)
        return fresh if isinstance(got, tuple) else fresh[0]

    def own(self, v: Value) -> Value:
        """A rule may return its operand (x * 1, a cast to the same type): give the unit a value of its own."""
        if v not in {e.out for e in self.b.unit_eqns()}:
            identity = tuple((ZERO, ((k, ONE),)) for k in range(v.rank))
            return self.b.emit("affine", (v,), (identity,), v.dtype, v.shape)
        return v


def user_line(node: Node) -> str:
    """`file:line (source)` of the user's code behind a node: the innermost line that is neither torch's nor generated.
    Where there is none, the module's path and class, `layers.0.norm1 (LayerNorm)`, or else torch's line. The node's
    name where nothing is known."""
    lines = [s.strip() for s in (node.meta.get("stack_trace") or "").splitlines() if s.strip()]
    torchs = ""
    for k in range(len(lines) - 1, -1, -1):
        if lines[k].startswith("File ") and not lines[k].endswith(f", in {EXPLAINED}"):
            code = lines[k + 1] if k + 1 < len(lines) else ""
            head = lines[k].split(", in ")[0].replace('File "', "").replace('", line ', ":")
            line = f"{head} ({code})" if code else head
            if not head.startswith((_TORCH, "<eval_with_key>")):
                return line
            torchs = torchs or line
    modules = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if isinstance(modules, dict) and modules:
        path, kind = list(modules.values())[-1][:2]
        path = re.sub(r"^[LG]\['\w+'\]\.?", "", path)  # the variable in which Dynamo found the outermost module
        name = str(getattr(kind, "__name__", kind)).rpartition(".")[2]
        return f"{path} ({name})" if path else name
    return torchs or node.name
