"""A plan: the straight-line Python that runs one compiled graph.

The source is generated once per graph (`Plan.source` keeps it for people): arguments in, sizes looked up, outputs
allocated, kernels launched, opaque operations called, dead values dropped as soon as possible. Nothing in it depends on
the number of equations, only on the number of launches.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sympy
import torch
from torch.fx import Node

from ..core.counters import count
from ..core.lazy import lazy_import
from ..core.options import current
from ..fusion.build import Built
from ..fusion.ir import Buffer
from ..graph.groups import Group, Refused
from ..graph.ir import Value
from ..index.expr import Ix
from ..index.layout import product, row_major
from ..loop.lower import Kernel
from ..loop.overwrite import overwritable
from ..schedule.cpu import Schedule
from . import changed_copies, direct, inplace, internals, plan_eager, plan_head, pool, reuse, views
from .chance import Chance
from .kernels import CompiledKernel, size_table
from .launch import bump, number, restride, threads, watched
from .written import MEMORY

if TYPE_CHECKING:
    from . import cuda_graphs, plan_gpu
    from .gpu import GpuGroup
else:
    cuda_graphs = lazy_import("fusewright.run.cuda_graphs")
    plan_gpu = lazy_import("fusewright.run.plan_gpu")

POOLED = pool.THRESHOLD

# Called instead of a kernel, when somebody looks on: with the kernel, its arguments, the tensors of the fusion's
# buffers (in their order) and the size symbols by name. Must call kernel(*arguments) once and return what that does.
Watch = Callable[[Callable[..., Any], tuple[Any, ...], tuple[torch.Tensor, ...], dict[str, int]], Any]


@dataclass(slots=True)
class GroupPlan:
    """How one group runs: a compiled kernel, or (when `compiled` is None) its one unit through torch, and why.

    `name`: of a kernel's group, "<graph>.g<k>"; `watch`: runs the launch in the plan's place (see `Watch`); `chosen`:
    where the schedule is from, "" if the heuristic chose it.
    """

    group: Group
    built: Built | None
    kernel: Kernel | None
    compiled: CompiledKernel | None
    reason: str
    schedule: Schedule | None = None
    gpu: GpuGroup | None = None
    name: str = ""
    watch: Watch | None = None
    chosen: str = ""

    @property
    def ours(self) -> bool:
        """Whether a kernel of ours runs it."""
        return self.compiled is not None or self.gpu is not None


@dataclass(slots=True)
class Plan:
    """A compiled graph. `traced` is the trace layer's `Traced`; `in_place`: nodes that torch runs in the memory of an
    operand (`changed_copies.py`); `graphs`: how it runs from CUDA graphs, if it may."""

    traced: Any
    groups: list[GroupPlan]
    refused: list[Refused]
    name: str
    source: str = field(default="", init=False)
    in_place: set[Node] = field(default_factory=set, init=False)
    graphs: cuda_graphs.Graphs | cuda_graphs.Unrecorded | None = field(default=None, init=False)

    def callable(self) -> Callable[[list[Any]], list[Any]]:
        """The boxed function: takes a list of arguments, which it empties, and returns the list of outputs."""
        writer = _Writer(self)
        self.source = writer.write()
        scope = writer.scope
        exec(compile(self.source, f"<fusewright {self.name}>", "exec"), scope)
        fn: Callable[[list[Any]], list[Any]] = scope["call"]
        fn = internals.returning(fn) if len(writer.gpus) > 1 else fn
        fn = cuda_graphs.begin(self, fn) if current().cuda_graphs else fn
        fn._boxed_call = True  # type: ignore[union-attr]
        return fn


@dataclass(slots=True)
class _Action:
    lines: list[str]
    reads: set[str]
    writes: set[str]
    chances: list[Chance] = field(default_factory=list)
    node: Node | None = None  # that torch runs


class _Writer:
    """Writes the source of one plan. `native`: it is for this process; else to be saved."""

    def __init__(self, plan: Plan, native: bool = True):
        self.plan = plan
        self.native = native
        # whether small functions in machine code are worth making: kernels that take longer on a CPU than any call do
        self.quick = native and any(g.gpu is not None for g in plan.groups)
        self.traced = plan.traced
        self.symbols = plan.traced.symbols
        self.scope: dict[str, Any] = {
            "math": math,  # the printed form of a size may use these two
            "torch": torch,
            "_empty": pool._empty,
            "_spec": pool.spec,
            "_over": reuse.over,
            "_over_private": reuse.over_private,
            "_scratch": pool.scratch,
            "_threads": threads,
            "_restride": restride,
            "_bump": bump,
            "_view": internals.reinterpret,
            "_strided": internals.as_strided,
        }
        self.actions: list[_Action] = []
        self.functions: list[str] = []
        self.emitted: set[Node] = set()
        self.places: dict[Node, str] = {}  # variables that say where an argument is
        self.trusted: set[Node] = set()  # strides are as traced: arguments that were checked, what is checked here
        self.results = {a for a in self.traced.outputs if isinstance(a, Node)}
        self.bound: set[str] = set()
        self.terms: dict[Any, Any] = {}  # numbers made of symbols without a variable: the symbol that has one
        self.constants: dict[int, str] = {}
        self.keep: list[Any] = []
        self.computed: set[Value] = set()
        self.consumed = self._kernel_inputs()
        o = current()
        self.into, self.dropped = inplace.assign(plan.groups, plan.traced) if o.inplace else ({}, set())
        self.dropped |= inplace.there_already(plan.traced)
        self.inplace, self.overwrite, self.guards = o.inplace, o.overwrite, o.guards
        self.backward = any(n.name.startswith("tangents") for n in plan.traced.module.graph.nodes)
        self.unit_of = {n: k for k, n in enumerate(self.traced.nodes)}
        self.storages = views.storages(self)
        self.counted = views.counted(self)
        units = plan.traced.graph.units
        gpus = {torch.device(units[g.group.units[0]].device) for g in plan.groups if g.gpu is not None}
        self.gpus = {d for d in gpus if d.type == "cuda" and d.index is not None}

    def _kernel_inputs(self) -> set[Node]:
        out = set()
        for g in self.plan.groups:
            if g.built is not None:
                for b in g.built.fusion.buffers:
                    if not b.output:
                        out.add(self.traced.node_of[g.built.sources[b.name]])
        return out

    # --- the function ---
    def write(self) -> str:
        plan_head.write(self)
        if any(g.compiled for g in self.plan.groups):
            self.actions.append(_Action(["nt = _threads()"], set(), set()))
        for g in self.plan.groups:
            if g.gpu is not None:
                plan_gpu.launch(self, g, g.gpu)
            elif g.compiled is not None:
                self.launch(g)
            else:
                for u in g.group.units:
                    if u in self.dropped:
                        self.alias(self.traced.nodes[u])
                    else:
                        self.node(self.traced.nodes[u])
        result = ", ".join([self.argument(a) for a in self.traced.outputs])
        reads = {a.name for a in self.traced.outputs if isinstance(a, Node)}
        self.actions.append(_Action([f"return [{result}]"], reads, set()))
        return "\n".join([*self.functions, "def call(args):", *(f"    {s}" for s in self.lines()), ""])

    def lines(self) -> list[str]:
        """All lines, each value deleted after its last use."""
        last: dict[str, int] = {}
        for k, a in enumerate(self.actions):
            for v in a.reads | a.writes:
                last[v] = k
        if self.inplace:
            changed_copies.write_in_place(self, last)
        dead: dict[int, list[str]] = {}
        for v, k in last.items():
            dead.setdefault(k, []).append(v)
        out: list[str] = []
        for k, a in enumerate(self.actions):
            dying = set(dead.get(k, ()))
            for c in sorted(a.chances, key=lambda c: len(c.inputs)):
                found = next((n for n in c.inputs if n in dying), None)
                if found is not None:
                    dying.discard(found)
                    a.lines[c.at] = f"{c.out} = {c.before}[{found}]{c.after}"
            out.extend(a.lines)
            if k in dead and k != len(self.actions) - 1:
                out.append(f"del {', '.join(sorted(dead[k]))}")
        return out

    # --- sizes ---
    def bind(self, n: Node) -> None:
        """Give the size symbols that first appear in `n` their Python variables."""
        val = n.meta.get("val")
        for t, source in _parts(val, n.name):
            if isinstance(t, (torch.SymInt, torch.SymFloat)):
                self._bind(t, source, n)
            elif isinstance(t, torch.Tensor):
                for d, s in enumerate(t.shape):
                    if isinstance(s, torch.SymInt):
                        self._bind(s, f"{source}.size({d})", n)
                for d, s in enumerate(t.stride()):
                    if isinstance(s, torch.SymInt):
                        self._bind(s, f"{source}.stride({d})", n)

    def _bind(self, s: torch.SymInt | torch.SymFloat, source: str, n: Node) -> None:
        expr = s.node.expr
        name = str(expr)
        if not expr.is_Symbol:
            self._bind_term(expr, source, n)
            return
        if name in self.bound:
            return
        self.bound.add(name)
        if name != source:
            self.actions.append(_Action([f"{name} = {source}"], {n.name}, set()))

    def _bind_term(self, expr: Any, source: str, n: Node) -> None:
        """Name a number made of symbols without a variable, as floats that sizes are of are in a backward pass."""
        offset, term = expr.as_coeff_Add()
        if term in self.terms or all(s.is_integer or str(s) in self.bound for s in term.free_symbols):
            return
        name = f"_term{len(self.terms)}"
        self.terms[term] = sympy.Symbol(name, integer=term.is_integer)
        self.actions.append(_Action([f"{name} = {source} - {offset}"], {n.name}, set()))

    def size(self, e: Ix) -> str:
        """Python source of an index expression."""
        self.need(e)
        return e.text()

    def need(self, e: Ix) -> None:
        """Compute the symbols of `e` that torch's own symbols define."""
        for a in e.atoms():
            if a.kind == "sym":
                self.need_symbol(a.name)

    # --- torch calls ---
    def node(self, n: Node) -> None:
        """Run a node through torch, after whatever it needs that has no place of its own (views, sizes)."""
        if n in self.emitted or views.reinterpret(self, n):
            return
        known = self.symbols.known(n.meta.get("val"), self.bound)  # needs nothing, not even what it is the size of
        operands = [] if known else n.all_input_nodes
        for a in operands:
            self.node(a)
        for p in () if known else self.traced.after.get(self.unit_of.get(n, -1), ()):
            if self.traced.graph.units[p].kind == "fused" and not self.computed & set(
                self.traced.graph.units[p].results
            ):
                self.node(self.traced.nodes[p])
        self.emitted.add(n)
        reads = {a.name for a in operands if a.op != "get_attr"}
        called = None if known else n
        self.actions.append(_Action([f"{n.name} = {known or self.call(n)}"], reads, {n.name}, node=called))
        if self.traced.graph.units[self.unit_of[n]].kind == "torch":
            count("opaque_calls")
        self.bind(n)
        if n in self.consumed and isinstance(n.meta.get("val"), torch.Tensor):
            self.check_strides(n)

    def alias(self, n: Node) -> None:
        """The result of a copy that has become unnecessary is its target."""
        self.emitted.add(n)
        args: Any = n.args
        target, source = args[:2]
        if source.meta.get(MEMORY) is target:  # which counts as a write, as one by a kernel does
            reads = {target.name, self.argument(source)}
            self.actions.append(_Action([f"_bump({target.name})"], reads, set()))
        if n.users:
            self.actions.append(_Action([f"{n.name} = {target.name}"], {target.name}, {n.name}))

    def call(self, n: Node) -> str:
        if n.target is operator.getitem:
            return f"{self.argument(n.args[0])}[{self.argument(n.args[1])}]"
        args = [self.argument(a) for a in n.args]
        args += [f"{k}={self.argument(a)}" for k, a in n.kwargs.items()]
        return f"{self.constant(direct.call(n.target, n.kwargs), 'op')}({', '.join(args)})"

    def argument(self, a: Any) -> str:
        if isinstance(a, Node):
            self.node(a)
            return a.name
        if isinstance(a, (list, tuple)):
            items = [self.argument(x) for x in a]
            inner = ", ".join(items)
            return f"[{inner}]" if isinstance(a, list) else f"({inner}{',' if len(items) == 1 else ''})"
        if isinstance(a, dict):
            return "{" + ", ".join(f"{k!r}: {self.argument(v)}" for k, v in a.items()) + "}"
        if isinstance(a, slice):
            return f"slice({self.argument(a.start)}, {self.argument(a.stop)}, {self.argument(a.step)})"
        if a is None or isinstance(a, (bool, str)) or type(a) is int:
            return repr(a)
        if isinstance(a, torch.SymInt):
            return self.size(self.symbols.ix(a))
        return self.constant(a, "c")

    def constant(self, a: Any, prefix: str) -> str:
        name = self.constants.get(id(a))
        if name is None:
            name = f"_{prefix}{len(self.constants)}"
            self.constants[id(a)] = name
            self.keep.append(a)
            self.scope[name] = a
        return name

    def check_strides(self, n: Node) -> None:
        """A kernel was compiled for the traced strides: copy in the rare case that the real ones differ."""
        if self.traced.values.get(n) is None:
            return
        if not self.guards or n.target in direct.CONTIGUOUS:
            self.trusted.add(n)
        else:
            self.actions.append(_Action([self.stride_check(n)], {n.name}, {n.name}))

    def stride_check(self, n: Node) -> str:
        """The line that does, from which on the strides are known to be the traced ones."""
        self.trusted.add(n)
        strides = self.tuple(self.symbols.shape(n.meta["val"].stride()))
        differs = f"not {n.name}.is_contiguous()" if self.dense(n) else f"{n.name}.stride() != {strides}"
        again = f"; {self.places[n]} = {n.name}.data_ptr()" if n in self.places else ""
        return f"if {differs}: {n.name} = _restride({n.name}, {strides}){again}"

    def tuple(self, xs: tuple[Ix, ...]) -> str:
        items = [self.size(x) for x in xs]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"

    # --- kernels ---
    def launch(self, g: GroupPlan) -> None:
        assert g.built is not None and g.kernel is not None and g.compiled is not None and g.schedule is not None
        fusion, sources = g.built.fusion, g.built.sources
        nodes = {name: self.traced.node_of[v] for name, v in sources.items()}
        inputs = [nodes[b.name] for b in fusion.buffers if not b.output]
        for n in inputs:
            self.node(n)
        k = len(self.keep)
        table = size_table(g.kernel, fusion)
        self.scope[f"_t{k}"], self.scope[f"_k{k}"], self.scope[f"_m{k}"] = table, g.compiled.fn, table.memo
        self.keep.append(table)
        lines: list[str] = []
        chances: list[Chance] = []
        overwrites = overwritable(fusion, g.schedule) if self.overwrite else {}
        for b in fusion.buffers:
            if b.output:
                node = nodes[b.name]
                target = self.into.get(sources[b.name])
                how = self.allocation(node)
                if target is None and how:
                    over = [nodes[n] for n in overwrites.get(b.name, ())]
                    before = f"{self.small(node)}_over({how}, "
                    chances.append(Chance(len(lines), node.name, self.mortal(over, node, inputs), before, ")"))
                fresh = f"{self.small(node)}{how}()" if how else f"_empty({self.layout(node)})"
                lines.append(f"{node.name} = {target.name if target is not None else fresh}")
                self.emitted.add(node)
                self.trusted.add(node)
                self.computed.add(sources[b.name])
        self.mark_computed(g)
        symbols = table.symbols
        for s in symbols:
            self.need_symbol(s)
        key = f"(nt, {', '.join(symbols)})" if symbols else "nt"
        lines.append(f"try: S = _m{k}[{key}]")
        lines.append(f"except KeyError: S = _t{k}.make(nt{''.join(', ' + s for s in symbols)})")
        pointers = [self.pointer(g.built, b, nodes[b.name]) for b in fusion.buffers]
        scratch = "_scratch(S[1])" if g.kernel.func.allocs else "0"
        hosts = [number(r.name, r.dtype.kind) for r in g.kernel.func.hosts]
        arguments = [*pointers, "S[0]", *hosts, scratch]
        call = f"_k{k}({', '.join(arguments)})"
        if g.watch is not None:
            self.scope[f"_w{k}"] = g.watch
            tensors = [self.seen(g.built, b, nodes[b.name]) for b in fusion.buffers]
            call = watched(f"_w{k}", f"_k{k}", arguments, tensors, [*symbols, *g.kernel.hosts])
        outs = [nodes[b.name].name for b in fusion.buffers if b.output]
        if g.kernel.func.can_fail():
            lines.append(
                f"if {call}: {', '.join(outs)}{',' if len(outs) == 1 else ''} = {plan_eager.call(self, g, outs)}"
            )
        else:
            lines.append(call)
        lines.extend(f"_bump({self.into[v].name})" for v in sources.values() if v in self.into)
        reads = {*g.kernel.hosts, *(n.name for n in inputs if n.op != "get_attr")}
        reads |= {self.into[v].name for v in sources.values() if v in self.into}
        reads |= {
            a.name for u in (g.group.units if g.kernel.func.can_fail() else ()) for a in plan_eager.outside(self, g, u)
        }
        self.actions.append(_Action(lines, reads, set(outs), chances))

    def pointer(self, built: Built, b: Buffer, n: Node) -> str:
        """Source of the address at which a kernel finds a buffer."""
        start = built.windows.get(b.name, (0, 0))[0] * b.dtype.itemsize
        at = self.places.get(n) or f"{n.name}.data_ptr()"
        return f"{at} + {start}" if start else at

    def seen(self, built: Built, b: Buffer, n: Node) -> str:
        """Source of the tensor that a kernel has for a buffer."""
        if b.name not in built.windows:
            return n.name
        start, count = built.windows[b.name]
        return f"{n.name}[{start}:{start + count}]"

    def mortal(self, candidates: list[Node], out: Node, inputs: list[Node]) -> list[str]:
        """Those of a kernel's inputs laid out like its output `out` that may be free once the kernel has run.

        The kernels' own results come first, then what a backward pass is given: saved results, incoming gradients,
        inputs of the forward pass. The caller of any other graph holds the arguments.
        """
        order = ("", "tangents", "primals")
        rank = {
            n: 0 if n.op == "call_function" else 1 + max(k for k, p in enumerate(order) if n.name.startswith(p))
            for n in candidates
            if self.traced.values.get(n) in self.computed or (self.backward and n.op == "placeholder")
        }
        kept = set(self.into.values())
        alike = [n for n in rank if n not in kept and inputs.count(n) == 1 and self.layout(n) == self.layout(out)]
        return [n.name for n in sorted(alike, key=lambda n: rank[n])]

    def add(self, lines: list[str], reads: set[str], writes: set[str], chances: Sequence[Chance] = ()) -> None:
        """Append an action."""
        self.actions.append(_Action(lines, reads, writes, list(chances)))

    def need_symbol(self, name: str) -> None:
        if name in self.symbols.sources and name not in self.bound:
            self.bound.add(name)
            self.actions.append(_Action([f"{name} = {self.symbols.host_source(name, self.terms)}"], set(), set()))

    def mark_computed(self, g: GroupPlan) -> None:
        for u in g.group.units:
            self.computed.update(self.traced.graph.units[u].results)

    def allocation(self, n: Node) -> str:
        """Source of the `pool.Allocation` of an output with its traced size, strides and type; "" if it is small."""
        val = n.meta["val"]
        shape, strides = self.symbols.shape(val.shape), self.symbols.shape(val.stride())
        known = [x.as_int() for x in (*shape, *strides)]
        if None in known:
            return f"_spec({self.layout(n)})"
        size, stride = tuple(known[: len(shape)]), tuple(known[len(shape) :])
        if pool.storage_bytes(size, stride, val.dtype) < POOLED:  # type: ignore[arg-type]
            return ""
        return self.constant(pool.POOL.allocation(size, stride, val.dtype), "a")  # type: ignore[arg-type]

    def small(self, n: Node) -> str:
        """Source of `<fresh memory> if <the output is below the pool's threshold> else `, where sizes decide that."""
        val = n.meta["val"]
        numel = product(self.symbols.shape(val.shape))
        if numel.as_int() is not None or not self.dense(n):
            return ""
        return f"_empty({self.layout(n)}) if {self.size(numel)} < {POOLED // val.dtype.itemsize} else "

    def dense(self, n: Node) -> bool:
        """Whether a tensor is traced as contiguous, for all sizes."""
        val = n.meta["val"]
        return self.symbols.shape(val.stride()) == row_major(self.symbols.shape(val.shape))

    def layout(self, n: Node) -> str:
        """Source of a tensor's size, strides and type as traced, as `torch.empty_strided` takes them."""
        val = n.meta["val"]
        shape, strides = self.symbols.shape(val.shape), self.symbols.shape(val.stride())
        return f"{self.tuple(shape)}, {self.tuple(strides)}, {self.constant(val.dtype, 'c')}"


def _parts(val: Any, name: str) -> list[tuple[Any, str]]:
    if isinstance(val, (list, tuple)):
        return [(v, f"{name}[{k}]") for k, v in enumerate(val)]
    return [(val, name)]
