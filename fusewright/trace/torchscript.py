"""A TorchScript program as operations over Python values, in blocks.

    torchscript_read.py      makes one of a graph
    torchscript_rules.py     how each operator is written in Python, and whether a trace can follow it
    torchscript_regions.py   which operations become fused functions, and why the others do not
    torchscript_source.py    Python source of those functions and of what runs them
    torchscript_types.py     what TorchScript makes of its arguments

There are no modules: a parameter, a buffer or any other attribute is known by its path from the method's own module.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .torchscript_rules import Rule


@dataclass(eq=False, slots=True)
class Var:
    """A value: `name` is a Python identifier, unique in its program; `type` is TorchScript's, as it is written; `used`
    whether anything reads it.

    `kind`: "tensor", "int", "float", "bool", "number" (any of them), "str", "none", "list", "dict", "tuple", "other";
    that of an Optional is that of what it may hold.
    """

    name: str
    type: str
    kind: str
    used: bool = True


@dataclass(eq=False, slots=True)
class Const(Var):
    """A value that is known."""

    value: Any = None


@dataclass(eq=False, slots=True)
class Block:
    """Operations in order, with the values that whoever runs the block hands in and takes out."""

    params: list[Var] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    results: list[Var] = field(default_factory=list)

    def walk(self) -> Iterator[Op]:
        """Every operation, those of inner blocks after the one that holds them."""
        for op in self.ops:
            yield from op.walk()


@dataclass(eq=False, slots=True)
class Op:
    """An operation. `rule.kind` is one of `torchscript_rules.py` or of these:

    "call"       an operator of the dispatcher: `data`
    "make"       a list, tuple, dictionary (`data`: "[]", "()", "{}" or the named tuple's fields)
    "unpack"     a list or tuple
    "read"       an attribute: `data` is (path, name)
    "assign"     likewise; its new value is the operand
    "if"         operand: the condition; blocks: then, else, with as many results as the operation
    "loop"       operands: the most trips, whether to begin, the carried values; its block takes the trip's number and
                 the carried values, and gives whether to go on and their new values
    "with"       `data` is an expression of the context; what the block defines stays visible
    "raise"      operands: the message and the qualified name of the exception's class
    "host"       with `data`: one node that the interpreter runs, as (scripted function, numbers of its operands)
    """

    rule: Rule
    name: str
    inputs: list[Var]
    outputs: list[Var]
    blocks: list[Block] = field(default_factory=list)
    where: tuple[str, int, str] = ("", 0, "")  # file, line, source
    data: Any = None

    def walk(self) -> Iterator[Op]:
        yield self
        for b in self.blocks:
            yield from b.walk()

    def defined(self) -> list[Var]:
        """The values that later operations of the same block may use."""
        if self.rule.kind == "with":
            return [v for op in self.blocks[0].ops for v in op.defined()]
        return self.outputs

    def __repr__(self) -> str:
        return f"{self.name} at {self.where[0]}:{self.where[1]}"


@dataclass(eq=False, slots=True)
class Program:
    """A function: `attributes` are read before it begins, (path, name) -> value."""

    title: str
    body: Block
    attributes: dict[tuple[tuple[str, ...], str], Var]
    defaults: dict[str, Any]
    names: dict[str, str]  # of the parameters, as callers know them -> in the program


def prune(body: Block) -> None:
    """Drop operations whose results nobody uses, and note which values are used."""
    users: Counter[Var] = Counter(v for op in body.walk() for v in op.inputs)
    users.update(v for op in body.walk() for b in op.blocks for v in b.results)
    users.update(body.results)

    def visit(block: Block) -> None:
        for op in reversed(block.ops):
            for inner in op.blocks:
                visit(inner)
            if _droppable(op) and not any(users[v] for v in op.outputs):
                users.subtract(op.inputs)
                block.ops.remove(op)
            for v in op.outputs:
                v.used = users[v] > 0

    visit(body)


def _droppable(op: Op) -> bool:
    if op.rule.kind == "tensor":
        return not op.data._schema.is_mutable if op.data is not None else op.name.startswith("prim::NumToTensor")
    return op.rule.kind in ("pure", "static", "size") and op.name != "aten::_unwrap_optional"


def literal(value: Any) -> str | None:
    """A constant as Python source; None if it has to be named."""
    if value is None or type(value) in (bool, int, str):  # members of an enumeration may be strings, too
        return repr(value)
    if type(value) is float:
        return repr(value) if math.isfinite(value) else None
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        parts = [literal(x) for x in value]
        if any(p is None for p in parts):
            return None
        inner = ", ".join(p for p in parts if p is not None)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(parts) == 1 else ''})"
    return None


__all__ = ["Block", "Const", "Op", "Program", "Var", "literal", "prune"]
