"""The graph of a scripted or traced function or method, read into a `Program`.

What it calls is inlined, and modules disappear: a value that is one is a path from the method's own module. Attributes
that the program does not assign are read once, before it begins. Sizes that a traced program computes with as 0-d
tensors are computed as integers, too, for a trace cannot look into tensors.
"""

from __future__ import annotations

import keyword
import re
from typing import Any

import torch

from ..core.errors import Refusal
from .torchscript import Block, Const, Op, Program, Var, prune
from .torchscript_rules import PYTHON, Rule, operator_rule, overload, rule_for, size_rule

_RULES = {kind: Rule(kind, "") for kind in ("make", "read", "if", "loop", "with")}
_RULES["unpack"] = Rule("pure", "{0}")
_RULES["make"] = Rule("pure", "")
_RULES["raise"] = Rule("raise", "")
_RULES["read"] = Rule("host", "", why="reads an attribute that the program assigns")
_RULES["assign"] = Rule("host", "", why="assigns an attribute")

_KINDS = {
    **{"TensorType": "tensor", "IntType": "int", "FloatType": "float", "BoolType": "bool", "NumberType": "number"},
    **{"StringType": "str", "NoneType": "none", "ListType": "list", "DictType": "dict", "TupleType": "tuple"},
}
_CONTEXTS = {
    "__torch__.torch.autograd.grad_mode.no_grad": "_torch.no_grad()",
    "__torch__.torch.autograd.profiler.record_function": "_torch.profiler.record_function({name})",
}
_UNSUPPORTED = ("Future", "Await", "RRef")
_FILE = re.compile(r'File "(.*)", line (\d+)')


def read(graph: Any, title: str, schema: Any, module: Any = None) -> Program:
    """The program of a `torch._C.Graph`, which stays as it is.

    `schema`: the function's. `module`: the `torch._C.ScriptModule` that is the first input of a method. Raises Refusal
    for what Python cannot stand in for: classes of the user's, futures, calls through interfaces.
    """
    graph = graph.copy()
    torch._C._jit_pass_inline_fork_wait(graph)
    torch._C._jit_pass_inline(graph)
    torch._C._jit_pass_erase_shape_information(graph)  # a trace's example sizes are no facts
    torch._C._jit_pass_peephole(graph, True)
    torch._C._jit_pass_constant_propagation(graph)
    torch._C._jit_pass_dce(graph)
    return _Reader(graph, title, module).program(schema)


def _kind_of(t: Any) -> str:
    """`Var.kind` of a type of TorchScript's."""
    k = t.kind()
    if k == "OptionalType":
        return _kind_of(t.getElementType())
    return _KINDS.get(k, "other")


class _Module:
    """A value that is a module: where it is, seen from the method's own."""

    def __init__(self, path: tuple[str, ...], target: Any):
        self.path, self.target = path, target


class _Context:
    """An object that `with` takes."""

    def __init__(self, text: str):
        self.text = text
        self.fields: dict[str, Var] = {}


class _Reader:
    def __init__(self, graph: Any, title: str, module: Any):
        self.graph, self.title, self.module = graph, title, module
        self.env: dict[int, Any] = {}  # unique number -> Var, _Module or _Context
        self.taken: set[str] = set()
        self.attributes: dict[tuple[tuple[str, ...], str], Var] = {}
        self.assigned = self._assigned()
        self.numbers: dict[Var, Var] = {}  # 0-d tensor -> the integer it is made of
        self.pending: list[Op] = []  # to come after the operation that is being read

    def program(self, schema: Any) -> Program:
        inputs = list(self.graph.inputs())
        names: dict[str, str] = {}
        defaults: dict[str, Any] = {}
        body = Block()
        arguments = list(schema.arguments)
        if self.module is not None:
            self.env[inputs[0].unique()] = _Module((), self.module)
            inputs, arguments = inputs[1:], arguments[1:]
        for v, a in zip(inputs, arguments, strict=True):
            var = self.fresh(v, a.name)
            names[a.name] = var.name
            if a.has_default_value():
                defaults[a.name] = a.default_value
            body.params.append(var)
        self.nodes(list(self.graph.nodes()), body)
        body.results = [self.var(v) for v in self.graph.outputs()]
        prune(body)
        return Program(self.title, body, self.attributes, defaults, names)

    def _assigned(self) -> set[str]:
        """Names of attributes that are assigned somewhere."""
        return {n.s("name") for n in self.graph.findAllNodes("prim::SetAttr", True)}

    # --- values ---
    def fresh(self, v: Any, name: str = "") -> Var:
        t = v.type()
        if any(t.annotation_str.startswith(u) for u in _UNSUPPORTED):
            raise Refusal("type", f"{t.annotation_str} is handled by TorchScript alone")
        var = Var(self.name(name or v.debugName()), t.annotation_str, _kind_of(t))
        self.env[v.unique()] = var
        return var

    def name(self, wanted: str) -> str:
        """A Python identifier that is like `wanted` and not yet taken."""
        base = re.sub(r"\W", "_", wanted.split(".")[0] if not wanted[0].isdigit() else f"v{wanted}").lstrip("_") or "v"
        base = f"v{base}" if base[0].isdigit() else f"{base}_" if keyword.iskeyword(base) or base in PYTHON else base
        out, k = base, 1
        while out in self.taken:
            out, k = f"{base}_{k}", k + 1
        self.taken.add(out)
        return out

    def var(self, v: Any) -> Var:
        found = self.env.get(v.unique())
        if isinstance(found, Var):
            return found
        raise Refusal("class", f"a value of type {v.type().annotation_str} is used as such")

    # --- nodes ---
    def nodes(self, nodes: list[Any], block: Block) -> None:
        k = 0
        while k < len(nodes):
            n = nodes[k]
            if n.kind() == "prim::Enter":
                k = self.context(nodes, k, block)
                continue
            op = self.node(n)
            if op is not None:
                block.ops.append(op)
            block.ops += self.pending
            self.pending.clear()
            k += 1

    def node(self, n: Any) -> Op | None:
        kind = n.kind()
        if kind == "prim::Constant":
            self.constant(n)
            return None
        if kind in ("prim::GetAttr", "prim::SetAttr"):
            return self.attribute(n, kind == "prim::SetAttr")
        if kind == "prim::CreateObject":
            t = n.output().type().annotation_str
            if t not in _CONTEXTS:
                raise Refusal("class", f"it makes a {t}")
            self.env[n.output().unique()] = _Context(_CONTEXTS[t])
            return None
        if kind in ("prim::CallMethod", "prim::CallFunction", "prim::fork", "prim::awaitable", "prim::Closure"):
            raise Refusal("call", f"{kind} cannot be inlined")
        if kind == "prim::ModuleContainerIndex":
            raise Refusal("call", "it chooses a module at run time")
        if kind == "prim::If":
            return self.branches(n)
        if kind == "prim::Loop":
            return self.loop(n)
        inputs = [self.var(v) for v in n.inputs()]
        if kind == "prim::RaiseException":
            return self.op("raise", n, inputs, [])
        if kind in _MAKERS or kind in ("prim::TupleUnpack", "prim::ListUnpack", "prim::TupleSlice"):
            return self.sequence(n, kind, inputs)
        return self.call(n, inputs)

    def op(
        self, rule: Rule | str, n: Any, inputs: list[Var], outputs: list[Var], data: Any = None, name: str = ""
    ) -> Op:
        found = _RULES[rule] if isinstance(rule, str) else rule
        return Op(found, name or n.kind(), inputs, outputs, [], _place(n), data)

    def constant(self, n: Any) -> None:
        v = n.output()
        if v.type().kind() == "FunctionType":
            return
        held = n.kindOf("value") if n.hasAttribute("value") else ""
        value = n.t("value") if held == "t" else v.toIValue()  # which would make a number of a 0-d tensor
        if value is None and v.type().kind() not in ("NoneType", "OptionalType"):
            if v.type().kind() != "TensorType" and "Optional" not in v.type().annotation_str:
                raise Refusal("type", f"a constant of type {v.type().annotation_str}")
        self.env[v.unique()] = Const(self.name("c"), v.type().annotation_str, _kind_of(v.type()), value=value)

    def attribute(self, n: Any, assign: bool) -> Op | None:
        inputs = list(n.inputs())
        owner, name = self.env.get(inputs[0].unique()), n.s("name")
        if isinstance(owner, _Context):
            if not assign:
                raise Refusal("class", f"it reads {name} of a context")
            owner.fields[name] = self.var(inputs[1])
            return None
        if not isinstance(owner, _Module):
            raise Refusal("class", f"an attribute of a {inputs[0].type().annotation_str}")
        if assign:
            return self.op("assign", n, [self.var(inputs[1])], [], (owner.path, name))
        v = n.output()
        if v.type().kind() in ("ClassType", "InterfaceType"):
            inner = owner.target.getattr(name)
            if isinstance(inner, torch._C.ScriptModule):
                if v.type().kind() == "InterfaceType":
                    raise Refusal("call", f"{name} is known by an interface only")
                self.env[v.unique()] = _Module((*owner.path, name), inner)
                return None
        if name in self.assigned:
            return self.op("read", n, [], [self.fresh(v, name)], (owner.path, name))
        key = (owner.path, name)
        if key in self.attributes:
            self.env[v.unique()] = self.attributes[key]
        else:
            self.attributes[key] = self.fresh(v, "_".join((*owner.path, name)))
        return None

    def sequence(self, n: Any, kind: str, inputs: list[Var]) -> Op:
        outputs = [self.fresh(v) for v in n.outputs()]
        if kind == "prim::TupleSlice":
            return self.op(Rule("pure", f"{{0}}[{n.i('beg')}:{n.i('end')}]"), n, inputs, outputs)
        if kind not in _MAKERS:
            return self.op("unpack", n, inputs, outputs, "unpack")
        data: Any = _MAKERS[kind]
        if kind == "prim::TupleConstruct":
            fields = re.match(r"NamedTuple\((.*)\)\Z", n.output().type().str())
            if fields and not n.output().type().annotation_str.startswith("Tuple["):  # an operator's: a tuple in Python
                named = [f.partition(" : ")[0].strip() for f in _split(fields[1])]
                data = (outputs[0].type.rpartition(".")[2], tuple(named))
        return self.op("make", n, inputs, outputs, data)

    def call(self, n: Any, inputs: list[Var]) -> Op | None:
        text = n.schema()
        schema = torch._C.parse_schema(text) if "->" in text else None
        rule = None if schema is None else rule_for(schema)
        target = None if schema is None or rule is not None else overload(schema)
        name = n.kind() if schema is None else f"{schema.name}.{schema.overload_name}".rstrip(".")
        for v in (*n.inputs(), *n.outputs()):
            t = v.type().annotation_str
            if v.type().kind() in ("ClassType", "InterfaceType") and not t.startswith("__torch__.torch.classes."):
                raise Refusal("class", f"{n.kind()} takes or gives a {t}")
        if name in ("aten::Int.Tensor", "aten::IntImplicit") and (number := self.number(inputs[0])) is not None:
            self.env[n.output().unique()] = number
            return None
        outputs = [self.fresh(v) for v in n.outputs()]
        self.sizes(n, schema, inputs, outputs)
        if rule is not None:
            return self.op(rule, n, inputs, outputs, name=name)
        if target is not None:
            return self.op(operator_rule(target), n, inputs, outputs, target, name)
        return self.op(Rule("host", "", why="is run by TorchScript"), n, inputs, outputs, _alone(n), name)

    # --- sizes as tensors ---
    def number(self, v: Var) -> Var | None:
        """The integer that a 0-d tensor is known to hold, or that a value is."""
        if isinstance(v, Const):
            x = v.value
            if isinstance(x, torch.Tensor) and not x.dim() and not x.is_floating_point() and not x.is_complex():
                return Const(self.name("c"), "int", "int", value=int(x))
            return v if type(x) is int else None
        return v if v.kind == "int" else self.numbers.get(v)

    def sizes(self, n: Any, schema: Any, inputs: list[Var], outputs: list[Var]) -> None:
        """Where an operator works on sizes as tensors, as in traced programs, do the same with the sizes."""
        if n.kind() == "prim::NumToTensor" and inputs[0].kind == "int":
            self.numbers[outputs[0]] = inputs[0]
        if schema is None or len(outputs) != 1 or not any(v in self.numbers for v in inputs):
            return
        operands = [
            v for v, a in zip(inputs, schema.arguments, strict=False) if a.name not in ("alpha", "rounding_mode")
        ]
        others = [v.value if isinstance(v, Const) else None for v in inputs[len(operands) :]]
        found = [self.number(v) for v in operands]
        rule = size_rule(schema, others)
        if rule is None or any(v is None for v in found):
            return
        out = Var(self.name("n"), "int", "int")
        self.numbers[outputs[0]] = out
        self.pending.append(self.op(rule, n, [v for v in found if v is not None], [out]))

    # --- control flow ---
    def branches(self, n: Any) -> Op:
        blocks = [self.block(b) for b in n.blocks()]
        op = self.op("if", n, [self.var(n.input())], [self.fresh(v) for v in n.outputs()])
        op.blocks = blocks
        return op

    def loop(self, n: Any) -> Op:
        inputs = [self.var(v) for v in n.inputs()]
        blocks = [self.block(b) for b in n.blocks()]
        op = self.op("loop", n, inputs, [self.fresh(v) for v in n.outputs()])
        op.blocks = blocks
        return op

    def block(self, b: Any) -> Block:
        out = Block([self.fresh(v) for v in b.inputs()])
        self.nodes(list(b.nodes()), out)
        out.results = [self.var(v) for v in b.outputs()]
        return out

    def context(self, nodes: list[Any], k: int, block: Block) -> int:
        """The operations from an Enter to its Exit, as one; returns the place behind it."""
        entered = nodes[k].input()
        held = self.env.get(entered.unique())
        if not isinstance(held, _Context):
            raise Refusal("class", f"`with` on a {entered.type().annotation_str}")
        exits = (j for j in range(k, len(nodes)) if nodes[j].kind() == "prim::Exit")
        end = next((j for j in exits if nodes[j].input().unique() == entered.unique()), None)
        if end is None:
            raise Refusal("class", "a context that is left elsewhere")
        op = self.op("with", nodes[k], list(held.fields.values()) if "{name}" in held.text else [], [], held.text)
        if "{name}" in held.text:
            op.inputs = [held.fields["name"]]
        inner = Block()
        self.nodes(nodes[k + 1 : end], inner)
        op.blocks = [inner]
        block.ops.append(op)
        return end + 1


_MAKERS = {"prim::ListConstruct": "[]", "prim::TupleConstruct": "()", "prim::DictConstruct": "{}"}


def _split(text: str) -> list[str]:
    """The parts of a list between its own commas."""
    out, depth, start = [], 0, 0
    for k, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            out.append(text[start:k])
            start = k + 1
    return [*out, text[start:]]


def _place(n: Any) -> tuple[str, int, str]:
    """File, line and source of a node."""
    text = n.sourceRange()
    found = _FILE.search(text)
    if found is None:
        return "", 0, ""
    lines = text.splitlines()
    marked = next((k for k, line in enumerate(lines) if line.rstrip().endswith("<--- HERE")), 0)
    return found[1], int(found[2]), lines[marked - 1].strip() if marked else ""


def _alone(n: Any) -> tuple[Any, list[int]]:
    """A scripted function of one node, and which of the node's inputs it takes (each value once)."""
    graph: Any = torch._C.Graph()
    inputs: dict[int, Any] = {}
    taken: list[int] = []
    for k, v in enumerate(n.inputs()):
        if v.unique() not in inputs:
            added = graph.addInput(f"a{len(inputs)}")
            added.setType(v.type())
            inputs[v.unique()] = added
            taken.append(k)
    clone = graph.createClone(n, lambda v: inputs[v.unique()])
    graph.insertNode(clone)
    results = list(clone.outputs())
    for v in results or [graph.insertConstant(None)]:
        graph.registerOutput(v)
    if len(results) > 1:
        graph.makeMultiOutputIntoTuple()
    return torch._C._create_function_from_graph("node", graph), taken


__all__ = ["read"]
