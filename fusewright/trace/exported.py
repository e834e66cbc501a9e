"""A program of `torch.export` as a graph that can be compiled by itself, and how it is called.

`prepare` has torch make the program functional, with our decompositions, and then changes three things. Parameters,
constants and buffers that are only read become constants of the graph (`get_attr`), so that a call does not handle
them. What the program writes into becomes a `copy_` at the end, which a kernel may take over (`run/inplace.py`). And
results that are views of an argument are made of the argument itself, which a caller may have given other strides
than the kernels want.

The graph's placeholders are

    n0, ...           values of size symbols     in the order of `Convention.symbols`
    b0, ...           buffers that are written   `Convention.state`
    in0, in1_seen     tensors                    `Convention.passed`; "seen": as the caller gave it
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch.export import ExportedProgram, default_decompositions
from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    OutputKind,
    SymIntArgument,
    TensorArgument,
)
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from ..core.errors import CompilerError, UserError
from ..run.convention import Argument, Convention, Output, Result, Spec, Symbol, spec_of
from ..run.program import Held
from . import printing
from .fx import user_line

aten = torch.ops.aten

_HELD = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
_TAKEN = (*_HELD, InputKind.USER_INPUT, InputKind.TOKEN)  # tokens: the order of effects, which is that of the graph
_WRITES = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION)
_FACTS = (aten._assert_tensor_metadata.default,)  # what is checked of arguments anyway, and follows of all else
_EXTREMES = (
    *(aten.amax.default, aten.amin.default, aten.max.default, aten.min.default, aten.max.dim, aten.min.dim),
    *(aten.argmax.default, aten.argmin.default, aten.aminmax.default),
)
_WITH_EFFECTS = torch.ops.higher_order.with_effects
_BIG = 1 << 62  # limits beyond it are none


@dataclass(slots=True)
class Exported:
    """A program, ready to be compiled.

    `module`: ATen operations on fake tensors; `held`: its tensors by name, the unused ones, too; `weights`: names of
    those that are `get_attr` nodes, by the node's name; `sizes`: size symbols, as torch's symbolic integers.
    """

    module: GraphModule
    convention: Convention
    held: dict[str, Held]
    weights: dict[str, str]
    sizes: dict[str, Any]


def prepare(program: ExportedProgram, decompositions: dict[Any, Callable[..., Any]]) -> Exported:
    """Raises UserError for programs that cannot be compiled by themselves, saying why, and CompilerError."""
    for s in program.graph_signature.input_specs:
        if s.kind not in _TAKEN:
            raise UserError(f"the program takes a {s.kind.name.lower()} ({s.target or s.arg.name}), which is no tensor")
    for n in program.graph.nodes:
        if n.op == "call_function" and torch.Tag.inplace_view in getattr(n.target, "tags", ()):
            if isinstance(n.args[0], Node) and n.args[0].op == "placeholder":
                raise UserError(f"{user_line(n)} gives an argument another shape, which is not compiled ahead of time")
    varying = {n.name: _varying(n) for n in program.graph.nodes if n.op == "placeholder"}
    with _own_memory(program):
        functional = program.run_decompositions(_table(decompositions))
    for n in functional.graph.nodes:
        fixed = varying.get(n.name, set()) - _varying(n) if n.op == "placeholder" else set()
        if fixed:  # an operator's own code wants to know
            where = ", ".join(f"{n.name}.shape[{d}]" for d in sorted(fixed))
            raise CompilerError(f"torch fixes {where}, which is to vary, when it takes the program's operators apart")
    return _Preparation(functional, list(_extremes(program))).run()


def _varying(n: Node) -> set[int]:
    """Dimensions of an input whose extents are no numbers."""
    val = n.meta.get("val")
    shape = val.shape if isinstance(val, torch.Tensor) else ()
    return {d for d, s in enumerate(shape) if isinstance(s, torch.SymInt) and not s.node.expr.is_Integer}


def _table(ours: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """`ours`, and torch's own way to take operators apart that are nothing but others (`aten.linear`)."""
    composite = {
        op: how
        for op, how in default_decompositions().items()
        if torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "CompositeImplicitAutograd")
    }
    return {**composite, **ours}


def _extremes(program: ExportedProgram) -> Iterator[Any]:
    """Sizes of which there must be at least one: eager raises an error where there is no largest or smallest element.

    Asked of the program as it was written: a softmax has a maximum, too, and may be empty.
    """
    for n in program.graph.nodes:
        if n.op == "call_function" and n.target in _EXTREMES and isinstance(n.args[0], Node):
            shape = n.args[0].meta["val"].shape
            dims = n.kwargs.get("dim", n.args[1] if len(n.args) > 1 else None)
            some = [dims] if isinstance(dims, int) else list(dims or range(len(shape)))
            yield from (shape[d] for d in some if isinstance(shape[d], torch.SymInt))


@contextmanager
def _own_memory(program: ExportedProgram) -> Iterator[None]:
    """Let no input have elements that share memory, as an expanded example has: other arguments need not."""
    changed: list[tuple[Node, Any]] = []
    for n in program.graph.nodes:
        val = n.meta.get("val")
        if n.op == "placeholder" and isinstance(val, torch.Tensor) and 0 in val.stride():
            if any(s == 0 and n != 1 for n, s in zip(val.shape, val.stride(), strict=True)):
                with val.fake_mode:  # type: ignore[attr-defined]
                    changed.append((n, val))
                    n.meta["val"] = torch.empty(val.shape, dtype=val.dtype, device=val.device)
    try:
        yield
    finally:
        for n, val in changed:
            n.meta["val"] = val


class _Preparation:
    """Copies the graph of a functional program into one of the form above."""

    def __init__(self, program: ExportedProgram, positive: list[Any]):
        """`positive`: sizes that must not be 0."""
        self.program, self.positive = program, positive
        self.signature = program.graph_signature
        call = program.module_call_graph[0].signature
        assert call is not None
        self.takes, self.gives = spec_of(call.in_spec), spec_of(call.out_spec)
        count = len(self.takes.parts[0].parts)
        names = list(call.forward_arg_names or ())[:count]
        self.names = [*names, *(f"args[{k}]" for k in range(len(names), count))]
        nodes = program.graph_module.graph.nodes
        self.inputs = list(zip(self.signature.input_specs, (n for n in nodes if n.op == "placeholder"), strict=True))
        self.results = list(zip(self.signature.output_specs, next(iter(reversed(nodes))).args[0], strict=True))
        self.env: Any = next((e for _, n in self.inputs if (e := _shape_env(n.meta.get("val"))) is not None), None)
        self.symbols: dict[str, Symbol] = {}
        self.values: dict[str, Any] = {}  # symbol -> SymInt
        self.graph = Graph()
        self.new: dict[Node, Node] = {}  # of the program -> ours
        self.tensors: dict[Node, int] = {}  # arguments of the program -> leaf
        self.seen: dict[int, Node] = {}  # leaf -> the argument as it was given
        self.views: dict[Node, Node] = {}  # views in results, of these

    def run(self) -> Exported:
        held, arguments = self.held(), self.arguments()
        ordered = sorted(self.symbols.values(), key=lambda s: s.source != "n")  # what others follow from comes first
        symbols = {s.name: self.input(f"n{k}", self.values[s.name]) for k, s in enumerate(ordered)}
        written = {self.target(s): n for s, n in self.results if s.kind in _WRITES}
        state: dict[Node, str] = {}
        for s, n in self.inputs:
            if s.kind in _HELD and n in written:
                self.new[n] = self.input(f"b{len(state)}", n.meta["val"])
                state[n] = str(s.target)
        for n, k in self.tensors.items():
            self.new[n] = self.input(f"in{k}", n.meta["val"])
        self.aliases(written)
        root = torch.nn.Module()
        weights = self.weights(root, written)
        for n in self.program.graph_module.graph.nodes:
            if n.op == "placeholder" and isinstance(n.meta.get("val"), torch.SymInt):
                self.new[n] = symbols[str(n.meta["val"].node.expr)]
            elif n.op == "call_function" and n.target not in _FACTS:
                self.copy(n)
            elif n.op == "get_attr":
                at = next(iter(n.users), n)
                raise UserError(
                    f"{user_line(at)}: control flow on values cannot be compiled ahead of time ({at.target})"
                )
        results = self.finish(arguments, written, state)
        for n in list(self.graph.nodes):
            if n.op in ("placeholder", "get_attr") and not n.users and n not in symbols.values():
                self.graph.erase_node(n)
        self.graph.lint()
        kept = set(self.graph.nodes)
        c = Convention(self.names, self.takes, self.gives, arguments, results, ordered)
        c.state = [name for n, name in state.items() if self.new[n] in kept]
        c.passed = [(k, True) for n, k in self.tensors.items() if self.new[n] in kept]
        c.passed += [(k, False) for k, n in self.seen.items() if n in kept]
        c.guards = self.guards()
        c.outputs = self.outputs
        used = {n.name: name for n, name in weights.items() if n in kept}
        return Exported(GraphModule(root, self.graph), c, held, used, self.values)

    def copy(self, n: Node) -> None:
        """Copy an operation. Raises UserError for one that cannot be found by its name when the program is loaded."""
        target, first = n.target, n.args[0] if n.args else None
        if target is _WITH_EFFECTS:  # (token, operator, arguments...): the results are a token and the operator's
            args, kwargs = map_arg((n.args[2:], n.kwargs), lambda x: self.new[x])
            self.new[n] = self.graph.call_function(n.args[1], args, kwargs)  # type: ignore[arg-type]
            val = n.meta.get("val", (None,))[1:]
            self.new[n].meta = {**n.meta, "val": val[0] if len(val) == 1 else val or None}
        elif target is operator.getitem and isinstance(first, Node) and first.target is _WITH_EFFECTS:
            results = first.meta.get("val", ())
            if n.args[1] == 0:
                return  # the token
            made = self.new[first]
            if len(results) > 2:
                made = self.graph.call_function(operator.getitem, (made, n.args[1] - 1))  # type: ignore[operator]
                made.meta = dict(n.meta)
            self.new[n] = made
        elif isinstance(target, torch._ops.HigherOrderOperator):
            raise UserError(f"{user_line(n)} is a {target.name()}, which cannot be compiled ahead of time")
        else:
            self.new[n] = self.graph.node_copy(n, lambda x: self.new[x])

    def input(self, name: str, val: Any) -> Node:
        node = self.graph.placeholder(name)
        node.meta["val"] = val
        return node

    # --- what the program holds ---
    def held(self) -> dict[str, Held]:
        out: dict[str, Held] = {}
        parameters, temporary = set(self.signature.parameters), set(self.signature.non_persistent_buffers)
        for name, t in self.program.state_dict.items():
            is_parameter = name in parameters or isinstance(t, torch.nn.Parameter)
            out[name] = Held("parameter" if is_parameter else "buffer", t)
        for name, t in self.program.constants.items():
            if isinstance(t, torch.Tensor):
                out[name] = Held("temporary" if name in temporary else "constant", t)
        for name, h in out.items():
            if type(h.tensor) not in _PLAIN:
                raise UserError(f"{name} is a {type(h.tensor).__name__}: only plain tensors can be compiled")
            if h.tensor.layout is not torch.strided or h.tensor.is_quantized:
                raise UserError(f"{name} is a {h.tensor.layout} tensor: only strided ones can be compiled")
            if h.tensor.is_neg() or h.tensor.is_conj() or h.tensor._is_zerotensor():
                raise UserError(f"{name} is computed lazily (conjugate, negative, zeros): give the module its .clone()")
        return out

    def weights(self, root: torch.nn.Module, written: dict[Node, Node]) -> dict[Node, str]:
        """Constants of the graph, held by `root`: their names in the program."""
        out: dict[Node, str] = {}
        for s, n in self.inputs:
            if s.kind not in _HELD or n in written:
                continue
            t = self.program.state_dict.get(s.target)
            t = self.program.constants[s.target] if t is None else t
            name = f"w{len(out)}"
            setattr(root, name, t.detach())
            self.new[n] = self.graph.get_attr(name)
            self.new[n].meta["val"] = n.meta["val"]
            out[self.new[n]] = str(s.target)
        return out

    # --- arguments ---
    def arguments(self) -> list[Argument]:
        names = _leaf_names(self.takes, self.names)
        changed = {s.target for s, _ in self.results if s.kind is OutputKind.USER_INPUT_MUTATION}
        places: list[tuple[int, int | None, Any]] = []
        out: list[Argument] = []
        for s, n in self.inputs:
            if s.kind is not InputKind.USER_INPUT:
                continue
            k, name, val = len(out), names[len(out)], n.meta.get("val")
            if isinstance(s.arg, TensorArgument):
                self.tensors[n] = k
                shape, strides = tuple(map(_size, val.shape)), tuple(map(_size, val.stride()))
                dtype = str(val.dtype).removeprefix("torch.")
                written, dense = n.name in changed, bool(val.is_contiguous())
                out.append(Argument(name, "tensor", dtype, str(val.device), shape, strides, dense, written))
                places += [(k, d, v) for d, v in enumerate(val.shape) if isinstance(v, torch.SymInt)]
            elif isinstance(s.arg, SymIntArgument) and isinstance(val, torch.SymInt):
                out.append(Argument(name, "int", value=_size(val)))
                places.append((k, None, val))
            elif isinstance(s.arg, ConstantArgument):
                out.append(Argument(name, "value", value=s.arg.value))
            else:
                raise UserError(f"argument {name} is a {type(s.arg).__name__.removesuffix('Argument')}")
        self.bind(places)
        return out

    def bind(self, places: list[tuple[int, int | None, Any]]) -> None:
        """Find where the value of each size symbol can be read: `places` are (leaf, dimension, SymInt)."""
        for k, d, v in places:
            if v.node.expr.is_Symbol:
                self.found(v.node.expr, k, d, "n", v)
        for k, d, v in places:
            e = v.node.expr
            unknown = [s for s in e.free_symbols if str(s) not in self.symbols]
            if len(unknown) == 1 and e.is_polynomial(*unknown) and sympy.degree(e, unknown[0]) == 1:
                a, b = sympy.Poly(e, unknown[0]).all_coeffs()
                if a.is_Integer and b.is_Integer:
                    self.found(unknown[0], k, d, f"(n - {b}) // {a}", (v - int(b)) // int(a))
        missing = {str(s) for _, _, v in places for s in v.node.expr.free_symbols} - set(self.symbols)
        if missing:
            raise UserError(f"no argument has the size {', '.join(sorted(missing))} that the sizes are made of")

    def found(self, s: Any, argument: int, dim: int | None, source: str, value: Any) -> None:
        if str(s) in self.symbols:
            return
        limits = self.program.range_constraints.get(s)
        if limits is None and self.env is not None:
            limits = self.env.var_to_range.get(s)
        low, high = _limit(getattr(limits, "lower", None)), _limit(getattr(limits, "upper", None))
        if dim is not None and (low is None or low == 2):  # torch takes sizes to be neither 0 nor 1: they may be
            low = 0
        self.symbols[str(s)] = Symbol(str(s), argument, dim, source, low, high)
        self.values[str(s)] = value

    def guards(self) -> list[str]:
        """What torch assumed about sizes when the program was traced, but that they are neither 0 nor 1."""
        out: list[str] = []
        for g in getattr(self.env, "guards", ()):
            e = self.env.replace(g.expr)
            names = {str(s) for s in e.free_symbols}
            if e is not sympy.true and names <= set(self.symbols):
                sizes = [s for s in e.free_symbols if self.symbols[str(s)].dim is not None]
                if len(sizes) < len(names) or not _holds_from_two(e, sizes):
                    out.append(printing.source(e))
        for size in self.positive:
            if {str(s) for s in size.node.expr.free_symbols} <= set(self.symbols):
                out.append(f"{_size(size)} != 0")
        return list(dict.fromkeys(out))

    # --- results ---
    def target(self, s: Any) -> Node:
        """The input that an output is written into."""
        for mine, n in self.inputs:
            if s.target == (n.name if s.kind is OutputKind.USER_INPUT_MUTATION else mine.target):
                return n
        raise UserError(f"the program writes into {s.target}, which it does not take")

    def aliases(self, written: dict[Node, Node]) -> None:
        """Inputs for the arguments that results are views of."""
        into = {new: n for n, new in written.items()}
        for s, n in self.results:
            if s.kind is OutputKind.USER_OUTPUT and isinstance(n, Node) and n not in into:
                root = _base(n, into)
                root = into.get(root, root)
                if root is not n and root in self.tensors and self.tensors[root] not in self.seen:
                    k = self.tensors[root]
                    self.seen[k] = self.input(f"in{k}_seen", root.meta["val"])
                    self.seen[k].meta["any_strides"] = True

    def finish(self, arguments: list[Argument], written: dict[Node, Node], state: dict[Node, str]) -> list[Result]:
        """Write what is written, and return the results."""
        into = {new: n for n, new in written.items()}
        names = {n: str(s.target) for s, n in self.inputs if s.kind in _HELD}
        for n, new in written.items():
            self.graph.call_function(aten.copy_.default, (self.new[n], self.new[new])).meta["val"] = n.meta["val"]
        results: list[Result] = []
        outputs: list[Node] = []
        for s, x in self.results:
            if s.kind in _WRITES or s.kind is OutputKind.TOKEN:
                continue
            if s.kind is not OutputKind.USER_OUTPUT:
                raise UserError(f"the program returns a {s.kind.name.lower()}, not only results")
            if not isinstance(x, Node):
                results.append(Result("value", x))
                continue
            source = into.get(x, x)
            if source in self.tensors:
                results.append(Result("argument", self.tensors[source]))
            elif source in names:
                results.append(Result("state", names[source]))
            else:
                made = self.view(x, into) if _base(x, into) is not x else self.new[x]
                if made not in outputs:
                    outputs.append(made)
                results.append(Result("output", outputs.index(made)))
        self.graph.output(tuple(outputs))
        self.outputs = self.described(outputs)
        return results

    def described(self, outputs: list[Node]) -> list[Output] | None:
        """What the plan gives; None if some of it is a view, or of sizes that depend on values."""
        roots = [_base(n, {}) for n in outputs]
        owners = [r.args[0] if r.target is operator.getitem else r for r in roots]  # of the pieces of a split
        views = any(isinstance(o.target, torch._ops.OpOverload) and o.target.is_view for o in owners)  # type: ignore[union-attr]
        if views or any(r.op != "call_function" for r in roots) or len(set(roots)) < len(roots):
            return None
        out = []
        for val in (n.meta.get("val") for n in outputs):
            tensor = isinstance(val, torch.Tensor)
            if not tensor and type(val) not in (int, torch.SymInt):
                return None
            sizes = [*val.shape, *val.stride()] if tensor else [val]  # type: ignore[union-attr]
            symbolic = [v for v in sizes if isinstance(v, torch.SymInt)]
            if not {str(s) for v in symbolic for s in v.node.expr.free_symbols} <= set(self.symbols):
                return None
            numbers = tuple(map(_size, sizes))
            if tensor:
                rank = val.dim()  # type: ignore[union-attr]
                kind = str(val.dtype).removeprefix("torch."), str(val.device)  # type: ignore[union-attr]
                out.append(Output(*kind, numbers[:rank], numbers[rank:]))
            else:
                out.append(Output("", "", numbers))
        return out

    def view(self, n: Node, into: dict[Node, Node]) -> Node:
        """A view in a result, of the argument or buffer itself where it is a view of one (or of what it becomes)."""
        root = _base(n, into)
        argument = into.get(root, root)
        base = self.seen.get(self.tensors.get(argument, -1)) or (self.new[argument] if root in into else None)
        if base is None:
            return self.new[n]
        if n is root:
            return base
        if n not in self.views:
            first = n.args[0]
            assert isinstance(first, Node)
            of = self.view(first, into)
            made = self.views[n] = self.graph.node_copy(n, lambda x: of if x is first else self.new[x])
            made.meta["any_strides"] = True
            if made.target is aten.view.default:  # what was a reshape may have to copy
                made.target = aten.reshape.default
        return self.views[n]


_PLAIN = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)


def _base(n: Node, stop: dict[Node, Node]) -> Node:
    """The node whose memory `n` aliases, through views, up to those in `stop`."""
    while n not in stop and n.op == "call_function":
        made = n.args[0] if n.target is operator.getitem else n  # a piece of a split
        viewed = isinstance(made, Node) and isinstance(made.target, torch._ops.OpOverload) and made.target.is_view
        first = made.args[0] if viewed and made.args else None  # type: ignore[union-attr]
        if not isinstance(first, Node):
            break
        n = first
    return n


def _size(s: Any) -> int | str:
    """A size: a number, or Python source over symbols."""
    if isinstance(s, torch.SymInt):
        e = s.node.expr
        return int(e) if e.is_Integer else printing.source(e)
    return int(s)


def _limit(x: Any) -> int | None:
    """A limit of a range; None for one that is infinite."""
    try:
        n = int(x)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return None
    return n if abs(n) < _BIG else None


def _holds_from_two(e: Any, sizes: list[Any]) -> bool:
    """Whether a relation holds whenever the sizes are at least 2; False if that is not evident."""
    if not isinstance(e, sympy.core.relational.Relational):
        return False
    more = {s: 2 + sympy.Symbol(f"more_{s}", integer=True, nonnegative=True) for s in sizes}
    difference = sympy.expand((e.lhs - e.rhs).xreplace(more))
    shown = {
        sympy.Ne: difference.is_zero is False,
        sympy.Ge: difference.is_nonnegative,
        sympy.Gt: difference.is_positive,
        sympy.Le: difference.is_nonpositive,
        sympy.Lt: difference.is_negative,
    }
    return bool(shown.get(type(e), False))


def _shape_env(val: Any) -> Any:
    mode = getattr(val, "fake_mode", None)
    return getattr(mode, "shape_env", None)


def _leaf_names(takes: Spec, names: list[str]) -> list[str]:
    """What each leaf of the arguments is called."""

    def walk(s: Spec, name: str) -> Iterator[str]:
        if s.kind == "leaf":
            yield name
        for k, p in enumerate(s.parts):
            yield from walk(p, f"{name}[{s.data[k]!r}]" if s.kind == "dict" else f"{name}[{k}]")

    positional, keyword = takes.parts
    out = [leaf for p, name in zip(positional.parts, names, strict=True) for leaf in walk(p, name)]
    return out + [leaf for p, key in zip(keyword.parts, keyword.data or (), strict=True) for leaf in walk(p, key)]
