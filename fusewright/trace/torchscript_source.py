"""Python source of a program's regions, and of the function that runs them.

Source of a region is for a trace, and for the calls that none can serve. The driver calls regions, runs in Python what
lies between them, and lets go of values after their last use, as TorchScript does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import torch

from .torchscript import Block, Const, Op, Var, literal
from .torchscript_regions import Piece, Region, Split
from .torchscript_rules import HELPERS

_ENDLESS = (1 << 63) - 1  # trips of a `while`
_CODES = {"ScalarType": "dtype", "Layout": "layout", "MemoryFormat": "memory_format"}


@dataclass(slots=True)
class Source:
    """Source text, the globals it needs, and the operation behind each line."""

    lines: list[str] = field(default_factory=list)
    scope: dict[str, Any] = field(default_factory=lambda: dict(HELPERS))
    ops: dict[int, Op] = field(default_factory=dict)  # line number, from 1

    def text(self) -> str:
        return "\n".join([*self.lines, ""])

    def called(self) -> set[str]:
        """What the lines call by name."""
        return {name for line in self.lines for name in re.findall(r"(?<![\w.])([a-z]+)\(", line)}


class Writer:
    """Writes blocks. `regions`: what each region's function is called in `source.scope`; `pieces` as in `Split`.

    Without `pieces`, everything is written as for a trace.
    """

    def __init__(
        self, source: Source, pieces: dict[Block, list[Piece]], regions: dict[Region, str], params: dict[Const, str]
    ):
        self.source, self.pieces, self.regions, self.params = source, pieces, regions, params
        self.named: dict[int, str] = {}
        self.indent = 1
        self.op: Op | None = None

    # --- text ---
    def line(self, text: str) -> None:
        self.source.lines.append("    " * self.indent + text)
        if self.op is not None:
            self.source.ops[len(self.source.lines)] = self.op

    def ref(self, value: Any, wanted: str) -> str:
        """The global name of a value."""
        name = self.named.get(id(value))
        if name is None:
            name = "_" + re.sub(r"\W", "_", wanted)
            while name in self.source.scope and self.source.scope[name] is not value:
                name += "_"
            self.named[id(value)] = name
            self.source.scope[name] = value
        return name

    def value(self, v: Var) -> str:
        if not isinstance(v, Const):
            return v.name
        if v in self.params:
            return self.params[v]
        text = literal(v.value)
        return self.ref(v.value, f"k_{v.name}") if text is None else text

    # --- blocks ---
    def block(self, b: Block, keep: frozenset[Var] = frozenset()) -> None:
        """The operations of a block. `keep`: values that are used after it."""
        pieces = self.pieces.get(b)
        if pieces is None:
            for op in b.ops:
                self.piece(op)
            return
        last = _last_uses(pieces)
        for k, p in enumerate(pieces):
            self.piece(p, keep | frozenset(v for v, at in last.items() if at > k))
            gone = [v.name for v in _defined(pieces) if last.get(v, -1) == k and v not in keep and _heavy(v)]
            if gone and not (isinstance(p, Op) and p.rule.kind == "raise"):
                self.line(f"del {', '.join(gone)}")

    def piece(self, p: Piece, keep: frozenset[Var] = frozenset()) -> None:
        if isinstance(p, Region):
            self.op = None
            for op in p.early:
                self.piece(op)
            self.op = None
            call = self.region_call(p)
            self.line(f"{', '.join(v.name for v in p.outputs)} = {call}" if p.outputs else call)
            for op in p.late:
                self.piece(op)
            return
        self.op = p
        kind = p.rule.kind
        if kind == "if":
            self.branches(p, keep)
        elif kind == "loop":
            self.loop(p, keep)
        elif kind == "with":
            text = p.data.format(name=self.value(p.inputs[0])) if p.inputs else p.data
            self.line(f"with {text}:")
            self.indent += 1
            if not p.blocks[0].ops:
                self.line("pass")
            self.block(p.blocks[0], keep)
            self.indent -= 1
        elif kind == "raise":
            message, cls = (self.value(v) for v in p.inputs)
            self.line(f"raise _failure({message}, {cls}, {self.ref(p.where, f'at_{p.where[1]}')})")
        else:
            self.statement(p)

    def region_call(self, r: Region) -> str:
        return f"{self.regions[r]}({', '.join(self.value(v) for v in r.inputs)})"

    def inner(self, b: Block, keep: frozenset[Var]) -> None:
        self.indent += 1
        self.block(b, keep | frozenset(b.results))
        self.indent -= 1

    def assign(self, targets: list[Var], values: list[Var]) -> None:
        """Hand values on, all at once."""
        pairs = [(t.name, self.value(v)) for t, v in zip(targets, values, strict=True) if t.name != self.value(v)]
        if pairs:
            self.line(f"{', '.join(t for t, _ in pairs)} = {', '.join(v for _, v in pairs)}")

    def branches(self, op: Op, keep: frozenset[Var]) -> None:
        condition = self.value(op.inputs[0])
        then, other = op.blocks
        if not then.ops and not op.outputs:
            condition, then, other = f"not {condition}", other, then
        for head, b in ((f"if {condition}:", then), ("else:", other)):
            if head == "else:" and not b.ops and not op.outputs:
                continue
            self.op = op
            self.line(head)
            before = len(self.source.lines)
            self.inner(b, keep)
            self.op = op
            self.indent += 1
            if not any(o.rule.kind == "raise" for o in b.ops):
                self.assign(op.outputs, b.results)
                self.drop(b, keep)
            if len(self.source.lines) == before:
                self.line("pass")
            self.indent -= 1

    def loop(self, op: Op, keep: frozenset[Var]) -> None:
        body = op.blocks[0]
        trips, begin = op.inputs[:2]
        index, carried = body.params[0], body.params[1:]
        self.assign(carried, op.inputs[2:])
        counted = isinstance(begin, Const) and begin.value is True and _constant_true(body.results[0])
        endless = isinstance(trips, Const) and trips.value == _ENDLESS
        going = f"{index.name}_on"
        if counted:
            self.line(f"for {index.name} in range({self.value(trips)}):")
        else:
            self.line(f"{index.name}, {going} = 0, {self.value(begin)}")
            self.line(f"while {going}:" if endless else f"while {going} and {index.name} < {self.value(trips)}:")
        before = len(self.source.lines)
        self.inner(body, keep | frozenset(carried))
        self.op = op
        self.indent += 1
        if not counted:
            self.line(f"{going} = {self.value(body.results[0])}")
            self.line(f"{index.name} += 1")
        self.assign(carried, body.results[1:])
        self.drop(body, keep)
        if len(self.source.lines) == before:
            self.line("pass")
        self.indent -= 1
        self.assign(op.outputs, carried)
        if heavy := [v.name for v in carried if _heavy(v)]:
            self.line(f"del {', '.join(heavy)}")

    def drop(self, b: Block, keep: frozenset[Var]) -> None:
        """Forget results of a block that have been handed on."""
        made = _defined(self.pieces.get(b, b.ops))  # type: ignore[arg-type]
        gone = [v.name for v in dict.fromkeys(b.results) if v in made and _heavy(v) and v not in keep]
        if gone:
            self.line(f"del {', '.join(gone)}")

    # --- operations ---
    def statement(self, op: Op) -> None:
        targets = [v.name for v in op.outputs] if any(v.used for v in op.outputs) else []
        kind, text = op.rule.kind, op.rule.text
        if kind == "change":
            call, _, same = text.partition(" -> ")
            expression = self.fill(call, op.inputs)
            if same and targets:
                self.line(expression)
                expression = self.value(op.inputs[0])
        elif op.data == "unpack":
            comma = "," if len(targets) == 1 else ""
            self.line(f"{', '.join(targets)}{comma} = {self.value(op.inputs[0])}" if targets else "pass")
            return
        else:
            expression = self.expression(op)
        self.line(f"{', '.join(targets)} = {expression}" if targets else expression)

    def expression(self, op: Op) -> str:
        if op.rule.text:
            text = self.fill(op.rule.text, op.inputs)
            return f"_wrap({text})" if op.rule.wraps and all(v.kind == "int" for v in op.outputs) else text
        if op.name in ("prim::GetAttr", "prim::SetAttr"):
            path, name = op.data
            holder = self.ref(_Holder(path), f"m_{'_'.join(path)}")
            value = "".join(f", {self.value(v)}" for v in op.inputs)
            return f"{holder}().{'setattr' if value else 'getattr'}({name!r}{value})"
        if isinstance(op.data, (str, tuple)) and op.rule.kind == "pure":
            return self.packed(op)
        if isinstance(op.data, tuple):
            run, taken = op.data
            args = ", ".join(self.value(op.inputs[k]) for k in taken)
            return f"{self.ref(run, '_'.join(('run', op.name, *(v.name for v in op.outputs))))}({args})"
        return self.called(op)

    def fill(self, text: str, operands: list[Var]) -> str:
        values = [self.value(v) for v in operands]
        head, all_of_them, tail = text.partition("{*}")
        return f"{head}{', '.join(values)}{tail}" if all_of_them else text.format(*values)

    def packed(self, op: Op) -> str:
        """A list, tuple or dictionary."""
        values = [self.value(v) for v in op.inputs]
        if op.data == "[]":
            return f"[{', '.join(values)}]"
        if op.data == "{}":
            return f"{{{', '.join(f'{k}: {v}' for k, v in zip(values[::2], values[1::2], strict=True))}}}"
        inner = f"({', '.join(values)}{',' if len(values) == 1 else ''})"
        if op.data == "()":
            return inner
        name, fields = op.data
        return f"_named({name!r}, {fields!r})({', '.join(values)})"

    def called(self, op: Op) -> str:
        """The call of an operator of the dispatcher, without arguments at their defaults."""
        arguments = list(op.data._schema.arguments)
        given = list(zip(arguments, op.inputs, strict=False))
        positional = [(a, v) for a, v in given if not a.kwarg_only]
        while positional and _default(*positional[-1]):
            positional.pop()
        parts = [self.argument(a, v) for a, v in positional]
        parts += [f"{a.name}={self.argument(a, v)}" for a, v in given if a.kwarg_only and not _default(a, v)]
        call = f"{self.ref(op.data, str(op.data))}({', '.join(parts)})"
        lists = len(op.outputs) == 1 and op.data._schema.returns[0].type.kind() == "ListType"
        return f"list({call})" if lists else call  # torch's own rules of some (`chunk`) give a tuple while tracing

    def argument(self, a: Any, v: Var) -> str:
        what = next((name for kind, name in _CODES.items() if kind in str(a.real_type)), None)
        text = self.value(v)
        if what is None or text == "None":
            return text
        if isinstance(v, Const) and isinstance(v.value, int):
            return str(HELPERS["_of_code"](what, v.value)).replace("torch.", "_torch.")
        return f"_of_code({what!r}, {text})"


@dataclass(frozen=True, slots=True)
class _Holder:
    """Stands for the function that gives the module at `path`; whoever runs the source puts that in its place."""

    path: tuple[str, ...]


def holders(source: Source) -> dict[str, tuple[str, ...]]:
    """Globals of `source` that are to become functions that give a module, with the module's path."""
    return {name: v.path for name, v in source.scope.items() if isinstance(v, _Holder)}


def write_region(r: Region, name: str) -> Source:
    """`def name(inputs): ...; return outputs`."""
    source = Source()
    params = {v: v.name for v in r.inputs if isinstance(v, Const)}
    source.lines.append(f"def {name}({', '.join(v.name for v in r.inputs)}):")
    w = Writer(source, {}, {}, params)
    for op in (*r.first, *r.ops):
        w.piece(op)
    w.op = None
    outputs = [v.name for v in r.outputs]
    w.line(_return(outputs))
    return source


def write_driver(
    split: Split, body: Block, head: list[str], regions: dict[Region, str], name: str, params: str
) -> Source:
    """`def name(params): head; the program`.

    `head`: lines; `regions`: globals that are the regions' functions. What is raised becomes what TorchScript raises.
    """
    source = Source()
    source.lines.append(f"def {name}({params}):")
    w = Writer(source, split.pieces, regions, {})
    for text in head:
        w.line(text)
    w.line("try:")
    w.indent = 2
    pieces = split.pieces.get(body)
    last = pieces[-1] if pieces else None
    if isinstance(last, Region) and last.outputs == body.results and not last.late:
        w.pieces = {**split.pieces, body: pieces[:-1]}  # type: ignore[index]
        w.block(body, frozenset(_used(last)))
        for op in last.early:
            w.piece(op)
        w.op = None
        w.line(f"return {w.region_call(last)}")
    else:
        w.block(body, frozenset(body.results))
        w.op = None
        w.line(_return([w.value(v) for v in body.results]))
    w.indent = 1
    w.line("except Exception as _e:")
    w.line("    raise _raised(_e)")
    return source


def _return(values: list[str]) -> str:
    together = ", ".join(values)
    return f"return {together or None}" if len(values) < 2 else f"return ({together})"


# --- uses --------------------------------------------------------------------------------------------


def _used(p: Piece) -> set[Var]:
    """Everything that a piece reads, in inner blocks too."""
    if isinstance(p, Region):
        return {*p.inputs, *(v for op in (*p.early, *p.late) for v in op.inputs)}
    return {v for op in p.walk() for v in (*op.inputs, *(x for b in op.blocks for x in b.results))}


def _defined(pieces: list[Piece]) -> list[Var]:
    out: list[Var] = []
    for p in pieces:
        if isinstance(p, Region):
            out += [*p.outputs, *(v for op in (*p.early, *p.late) for v in op.outputs)]
        else:
            out += p.defined()
    return out


def _last_uses(pieces: list[Piece]) -> dict[Var, int]:
    """Where each value is used last; where it is made, if nowhere."""
    last: dict[Var, int] = {}
    for k, p in enumerate(pieces):
        for v in (*_defined([p]), *_used(p)):
            last[v] = k
    return last


def _heavy(v: Var) -> bool:
    """Whether it is a name of memory that is worth freeing early."""
    return v.used and (v.kind == "tensor" or "Tensor" in v.type)


def _default(a: Any, v: Var) -> bool:
    if not isinstance(v, Const) or not a.has_default_value():
        return False
    return (
        type(v.value) is type(a.default_value) and not isinstance(v.value, torch.Tensor) and v.value == a.default_value
    )


def _constant_true(v: Var) -> bool:
    return isinstance(v, Const) and v.value is True


__all__ = ["Source", "holders", "write_driver", "write_region"]
