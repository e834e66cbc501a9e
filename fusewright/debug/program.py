"""A group as a small torch program: to run it unfused, in whatever precision, and to print it as Python.

The operations are those of the traced graph (ATen), from the tensors that the group's kernel reads to those it writes;
views and sizes in between are part of it. Sizes are numbers: a program is made for one set of them.
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch
from torch.fx import GraphModule, Node

from ..core.errors import CompilerError
from ..fusion.build import Built
from ..fusion.decisions import deciding
from ..graph.defined import Defined
from ..graph.groups import Group
from ..graph.ir import Eqn, Value
from ..trace.equations import Equations
from ..trace.fx import Traced, user_line
from ..trace.types import Symbols
from .extract import definition_of, numbers


@dataclass(slots=True)
class Program:
    """`body`: the operations in order, from `inputs` to `outputs`; `constants`: tensors that the graph holds itself.

    `unread`: tensors of which only sizes and types matter (`zeros_like`), which a kernel does not get.
    `bounds[node]`: an integer input is an index, and must be less than this (an estimate of a size). `rounded`:
    operations of `body` whose 16-bit results the kernel rounds, because something is decided by them. `definition`:
    (the same as a definition, source of its numbers) if there are operations that have no Python.
    """

    inputs: list[Node]
    outputs: list[Any]
    body: list[Node] = field(default_factory=list)
    constants: dict[Node, torch.Tensor] = field(default_factory=dict)
    unread: list[Node] = field(default_factory=list)
    bounds: dict[Node, int] = field(default_factory=dict)
    rounded: set[Node] = field(default_factory=set)
    definition: tuple[Defined, list[str]] | None = None

    @property
    def operators(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(n.target) for n in self.body))

    def run(self, tensors: Sequence[torch.Tensor], sizes: Mapping[str, int] | None = None) -> list[Any]:
        """The outputs, from tensors for `inputs` in their order. `sizes`: symbols by name, where they are known."""
        env = {**(sizes or {}), **self._bind(tensors)}
        values: dict[Node, Any] = {**self.constants, **dict(zip(self.inputs, tensors, strict=True))}

        for n in self.unread:
            val = n.meta["val"]
            shape, strides = ([size(s, env) for s in x] for x in (val.shape, val.stride()))
            device = tensors[0].device if tensors else val.device
            values[n] = torch.empty_strided(shape, strides, dtype=val.dtype, device=device).zero_()

        def value(a: Any) -> Any:
            if isinstance(a, Node):
                return values[a] if a in values else env[a.name] if a.name in env else size(a.meta["val"], env)
            return size(a, env) if isinstance(a, torch.SymInt) else _mapped(a, value)

        for n in self.body:
            values[n] = n.target(*value(n.args), **value(n.kwargs))  # type: ignore[operator]
            if n in self.rounded:  # a cast to its own type: what looks on knows that it is rounded here
                values[n] = torch.ops.aten._to_copy.default(values[n], dtype=n.meta["val"].dtype)
        return [value(a) for a in self.outputs]

    def _bind(self, tensors: Sequence[torch.Tensor]) -> dict[str, int]:
        """Symbols that the sizes and strides of the inputs give away."""
        env: dict[str, int] = {}
        for n, t in zip(self.inputs, tensors, strict=True):
            val = n.meta["val"]
            for s, number in (*zip(val.shape, t.shape, strict=True), *zip(val.stride(), t.stride(), strict=True)):
                if isinstance(s, torch.SymInt) and s.node.expr.is_Symbol:
                    env.setdefault(str(s.node.expr), int(number))
        return env

    def source(self, tensors: Sequence[torch.Tensor] | None = None, sizes: Mapping[str, int] | None = None) -> str:
        """A Python function `group` of the inputs and constants, sizes as numbers. Raises CompilerError."""
        env = {**(sizes or {}), **(self._bind(tensors) if tensors is not None else {})}
        known = {*self.inputs, *self.unread, *self.constants, *self.body}

        def text(a: Any) -> str:
            if isinstance(a, Node):
                return a.name if a in known else text(a.meta["val"])
            return str(size(a, env)) if isinstance(a, torch.SymInt) else literal(a, text)

        names = ", ".join(n.name for n in (*self.inputs, *self.unread, *self.constants))
        lines = [f"def group({names}):"]
        where = ""
        for n in self.body:
            line = user_line(n)
            if line != where and line != n.name:
                lines.append(f"    # {' '.join(line.split())}")
                where = line
            if callable_name(n.target) == "getitem":
                lines.append(f"    {n.name} = {text(n.args[0])}[{text(n.args[1])}]")
                continue
            args = [text(a) for a in n.args] + [f"{k}={text(a)}" for k, a in n.kwargs.items()]
            lines.append(f"    {n.name} = {callable_name(n.target)}({', '.join(args)})")
        lines.append(f"    return [{', '.join(map(text, self.outputs))}]")
        return "\n".join(lines) + "\n"


def of_group(built: Built, traced: Traced, group: Group) -> Program:
    """The program of a kernel: its inputs and outputs in the order of the fusion's buffers."""
    nodes = {b.name: traced.node_of[built.sources[b.name]] for b in built.fusion.buffers}
    inputs = [nodes[b.name] for b in built.fusion.buffers if not b.output]
    mine = {traced.nodes[u] for u in (*group.units, *(e.unit for e in group.eqns))}
    out = _collect(inputs, [nodes[b.name] for b in built.fusion.buffers if b.output], traced.module, mine)
    bounds = _bounds(group.eqns, traced)
    out.bounds = {n: bounds[v] for n in inputs if isinstance(v := traced.values.get(n), Value) and v in bounds}
    decides = deciding(sorted(group.eqns, key=lambda e: e.out.id), group.outputs)
    out.rounded = {n for n in out.body if isinstance(v := traced.values.get(n), Value) and v in decides}
    out.rounded = {n for n in out.rounded if n.meta["val"].dtype in (torch.float16, torch.bfloat16)}
    if any(isinstance(n.target, Equations) for n in out.body):
        with contextlib.suppress(CompilerError):  # then `source` says that there is no Python
            d = definition_of(built, traced, group)
            out.definition = d, numbers(d, traced)
    return out


def of_graph(gm: GraphModule) -> Program:
    """The program of a whole graph, as it was traced."""
    (output,) = (n for n in gm.graph.nodes if n.op == "output")
    results = [a for a in output.args[0] if isinstance(a, Node) and isinstance(a.meta.get("val"), torch.Tensor)]
    holders = [n for n in gm.graph.nodes if n.op == "placeholder" and isinstance(n.meta.get("val"), torch.Tensor)]
    return _collect(holders, results, gm)


def _collect(inputs: list[Node], outputs: list[Node], module: Any, mine: set[Node] | None = None) -> Program:
    """What lies between; in the order of the graph. `mine`: operations that may be part of it (None: all)."""
    out = Program(list(dict.fromkeys(inputs)), list(outputs))
    if len(out.inputs) != len(inputs):
        raise CompilerError("a kernel reads one tensor as two buffers", "program")
    seen = set(inputs)
    stack = [n for n in outputs if n not in seen]
    found: set[Node] = set()
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if n.op == "get_attr":
            out.constants[n] = _attribute(module, str(n.target))
        elif _is_tensor(n.meta.get("val")):
            ours = mine is None or n in mine or (n.target is operator.getitem and n.args[0] in mine)
            if n.op == "call_function" and ours:
                found.add(n)
                stack.extend(n.all_input_nodes)
            else:
                out.unread.append(n)
    out.body = [n for n in module.graph.nodes if n in found]
    return out


def _is_tensor(val: Any) -> bool:
    return isinstance(val, torch.Tensor) or (
        isinstance(val, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in val)
    )


def _attribute(module: Any, target: str) -> Any:
    for part in target.split("."):
        module = getattr(module, part)
    return module


def _bounds(eqns: Sequence[Eqn], traced: Traced) -> dict[Value, int]:
    """Integer values that an index is made of, with the least extent that such an index is for."""
    makers = {e.out: e for e in traced.graph.eqns}
    out: dict[Value, int] = {}
    for e in eqns:
        if e.op not in ("gather", "scatter"):
            continue
        spec = e.params[-1]
        first = 1 if e.op == "gather" else 3 if e.params[1] else 2
        for d, s in enumerate(spec):
            if s[0] != "at":
                continue
            extent = traced.symbols.hint(e.inputs[0].shape[d])
            stack, seen = [e.inputs[first + s[1]]], set()
            while stack:
                v = stack.pop()
                if v in seen or not (v.dtype.is_int or v.dtype.is_bool):
                    continue
                seen.add(v)
                if v.dtype.is_int:
                    out[v] = min(out.get(v, extent), extent)
                maker = makers.get(v)
                stack.extend(maker.inputs if maker is not None else ())
    return out


# --- sizes and literals ------------------------------------------------------------------------------


def size(s: Any, env: Mapping[str, int]) -> int:
    """A size as a number: by the symbols that are known, else as it was while tracing."""
    if not isinstance(s, torch.SymInt):
        return s  # type: ignore[no-any-return]
    expr = s.node.expr
    known = {x: sympy.Integer(env[str(x)]) for x in expr.free_symbols if str(x) in env}
    value = expr.xreplace(known)
    if value.is_Integer:
        return int(value)
    symbols = Symbols()
    return symbols.hint(symbols.ix(s))


def _mapped(a: Any, f: Callable[[Any], Any]) -> Any:
    """`a` with `f` applied to what is in its lists, tuples, dictionaries and slices."""
    if isinstance(a, slice):
        return slice(f(a.start), f(a.stop), f(a.step))
    if isinstance(a, (list, tuple)):
        return type(a)(f(x) for x in a)
    if isinstance(a, dict):
        return {k: f(x) for k, x in a.items()}
    return a


def literal(a: Any, text: Callable[[Any], str]) -> str:
    """Python source of an argument; `text` is for what it contains. Raises CompilerError for what has none."""
    if isinstance(a, slice):
        return f"slice({text(a.start)}, {text(a.stop)}, {text(a.step)})"
    if isinstance(a, (list, tuple)):
        inner = ", ".join(map(text, a))
        return f"[{inner}]" if isinstance(a, list) else f"({inner}{',' if len(a) == 1 else ''})"
    if isinstance(a, dict):
        return "{" + ", ".join(f"{k!r}: {text(x)}" for k, x in a.items()) + "}"
    if isinstance(a, float) and not math.isfinite(a):
        return f"float('{a}')"
    if a is None or isinstance(a, (bool, int, float, complex, str)):
        return repr(a)
    if isinstance(a, torch.device):
        return f"torch.device({str(a)!r})"
    if isinstance(a, (torch.dtype, torch.layout, torch.memory_format)):
        return str(a)
    raise CompilerError(f"a {type(a).__name__} cannot be written as Python", "repro")


def callable_name(target: Any) -> str:
    """How a node's target is written: "torch.ops.aten.add.Tensor". Raises CompilerError."""
    if isinstance(target, torch._ops.OpOverload):
        return f"torch.ops.{target}"
    if getattr(target, "__module__", "") == "_operator":
        return str(target.__name__)
    if isinstance(target, Equations):
        why = "an operation of a definition, which has no Python: print(definition) shows its text, validate() compares"
        raise CompilerError(f"{target.__name__} is {why}", "repro")
    raise CompilerError(f"{target} cannot be written as Python", "repro")
