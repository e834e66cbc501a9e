"""A compiled program inside `torch.compile`: one operator, in a function that Dynamo inlines in the place of the call.

    def forward(self, x, mask):                        # generated: structure is taken apart and put together here
        _o = getattr(torch.ops.fusewright, _operator('7'))('7', self._inside.held, x, mask)
        return _o[0], _o[1]

The operator takes the leaves of the arguments, and the program's memory: what is written is an argument that is
written, and where other weights come in (a graph that assigns them before), the kernels, which know their own, raise.
It is named after the program's interface, and told the program by number, so that graphs may be cached on disk.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import threading
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..core.errors import RuntimeFault, UserError
from .convention import Convention, Result, Spec, to_data
from .entry import entry, keep_apart, nested
from .launch import restride, returned
from .verifier import Verifier, tensor_error

# Names of builtins in generated code, whose parameters have the user's names.
_BUILTINS = {f"_{f.__name__}": f for f in (dict, getattr, int, len, list, set, tuple, type)}
_FILE = "fusewright program"  # of generated code; Dynamo leaves that of other names alone
_lib = torch.library.Library("fusewright", "FRAGMENT")
_lock = threading.Lock()
_known: set[str] = set()
_serial = itertools.count()
_programs: weakref.WeakValueDictionary[str, Inside] = weakref.WeakValueDictionary()


class Inside:
    """A program as graphs see it. `why`: it cannot be part of one, or "". `held`: parameters and buffers by name."""

    def __init__(self, c: Convention, run: Any, state: Mapping[str, torch.Tensor], held: Mapping[str, torch.Tensor]):
        self.c, self.run, self.state = c, run, state
        self.written = [state[name] for name in c.state]
        self.held = [t for name, t in held.items() if name not in c.state]
        self.returned = {r.data: state[r.data] for r in c.results if r.kind == "state"}
        self.key = str(next(_serial))
        self.why = (
            "" if c.outputs is not None else "the sizes of its results are not known, or one is a view of another"
        )
        self.call: Any = None
        _programs[self.key] = self

    def forward(self) -> Any:
        """The function that stands for the call in a trace."""
        scope: dict[str, Any] = {
            "torch": torch,
            "_operator": _OPERATOR,
            "_unflatten": pytree.tree_unflatten,
            **_BUILTINS,
        }
        exec(compile(_BREAK if self.why else _Writer(self, scope).write(), _FILE, "exec"), scope)
        return scope["forward"]

    def real(self, held: list[torch.Tensor], given: list[Any]) -> Any:
        """The operator on real tensors."""
        if any(t.data_ptr() != mine.data_ptr() for t, mine in zip(held, self.held, strict=True)):
            raise RuntimeFault(
                "a compiled program is called in a graph that assigns its parameters before: write into them outside"
            )
        if self.call is None:  # flat: the leaves in, the plan's outputs out
            c = self.c
            outputs = c.outputs or []
            flat = replace(
                c,
                names=[a.name for a in c.arguments],
                takes=Spec("tuple", None, (Spec("tuple", None, (Spec("leaf"),) * len(c.arguments)), Spec("dict", []))),
                gives=Spec("tuple", None, (Spec("leaf"),) * len(outputs)),
                results=[Result("output", k) for k in range(len(outputs))],
            )
            self.call, _ = entry(flat, self.run, self.state)
        n = len(self.written)
        own = list(zip(given[:n], self.written, strict=True))
        for t, mine in own:
            if t.data_ptr() != mine.data_ptr():
                mine.detach().copy_(t)
        leaves = iter(given[n:])
        args = tuple(a.value if a.kind == "value" else next(leaves) for a in self.c.arguments)
        out = self.call(args, {})
        for t, mine in own:
            if t.data_ptr() != mine.data_ptr():
                t.copy_(mine.detach())
        env = _sizes(self.c, args)
        return returned([restride(t, s[1]) for t, s in zip(_tensors(out), _layouts(self.c, env), strict=True)])


_SYMBOLIC_MATH = SimpleNamespace(**{n: getattr(torch, f"_sym_{n}", f) for n, f in vars(math).items()})


def _tensors(results: Any) -> list[torch.Tensor]:
    return [t for t in results if isinstance(t, torch.Tensor)]


def _sizes(c: Convention, leaves: Any) -> dict[str, Any]:
    """The size symbols, symbolic ones too."""
    env: dict[str, Any] = {"math": _SYMBOLIC_MATH, "float": torch.sym_float}
    for s in c.symbols:
        x = leaves[s.argument]
        env[s.name] = eval(s.source, {"n": x if s.dim is None else x.shape[s.dim]})
    return env


def _layouts(c: Convention, env: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...], Any]]:
    """(shape, strides, output) of each output that is a tensor."""
    value = lambda n: n if isinstance(n, int) else eval(n, dict(env))
    for o in c.outputs or ():
        if o.dtype:
            yield tuple(map(value, o.shape)), tuple(map(value, o.strides)), o


def _register(c: Convention) -> str:
    """The name of the operator for programs that are called like this; made if it is new."""
    text = json.dumps(to_data(c), sort_keys=True)
    name = f"program_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    with _lock:
        if name not in _known:
            _lib.define(name + _schema(c), tags=(torch.Tag.pt2_compliant_tag, torch.Tag.nondeterministic_seeded))
            op = getattr(torch.ops.fusewright, name).default
            _lib.impl(name, _real, "CompositeExplicitAutograd")
            _lib.impl(name, _Below(op), "Autograd")
            torch.library.register_fake(f"fusewright::{name}", _Fake(c), lib=_lib)
            _known.add(name)
    return name


def _schema(c: Convention) -> str:
    takes = ["str key", "Tensor[] held", *(f"Tensor(s{k}!) s{k}" for k in range(len(c.state)))]
    for k, a in enumerate(c.arguments):
        if a.kind == "tensor":
            takes.append(f"Tensor(a{k}!) a{k}" if a.mutated else f"Tensor a{k}")
        elif a.kind == "int":
            takes.append(f"SymInt a{k}")
    fresh = sum(bool(o.dtype) for o in c.outputs or ())
    gives = "Tensor" if fresh == 1 else f"({', '.join(['Tensor'] * fresh)})"
    return f"({', '.join(takes)}) -> {gives}"


def _real(key: str, held: list[torch.Tensor], *given: Any) -> Any:
    program = _programs.get(key)
    if program is None:
        raise RuntimeFault("a graph calls a compiled program that no longer exists: keep it for as long as the graph")
    return program.real(held, list(given))


class _Below:
    """A program records no gradients: what it gives requires none."""

    def __init__(self, op: Any):
        self.op = op

    def __call__(self, *args: Any) -> Any:
        with torch._C._AutoDispatchBelowAutograd():
            return self.op(*args)


class _Fake:
    """Shapes and strides of the results."""

    def __init__(self, c: Convention):
        self.c = c

    def __call__(self, key: str, held: list[torch.Tensor], *given: Any) -> Any:
        leaves = iter(given[len(self.c.state) :])
        args = [a.value if a.kind == "value" else next(leaves) for a in self.c.arguments]
        for a, x in zip(self.c.arguments, args, strict=True):
            if why := tensor_error(a, x):
                raise UserError(f"argument {a.name} {why}")
        # asked here, of what Dynamo has: AOTAutograd hands over copies of what is written, which are always apart
        written = [x for a, x in zip(self.c.arguments, args, strict=True) if a.mutated]
        keep_apart(written, [x for x in args if isinstance(x, torch.Tensor)])
        layouts = _layouts(self.c, _sizes(self.c, args))
        return returned(
            [torch.empty_strided(n, s, dtype=getattr(torch, o.dtype), device=o.device) for n, s, o in layouts]
        )


class _Writer:
    """Writes the function that Dynamo inlines."""

    def __init__(self, inside: Inside, scope: dict[str, Any]):
        self.inside, self.c, self.scope = inside, inside.c, scope
        self.call = Verifier(self.c).call()
        self.lines: list[str] = []
        self.leaves: list[str] = []

    def constant(self, value: Any) -> str:
        name = f"_c{len(self.scope)}"
        self.scope[name] = value
        return name

    def unless(self, condition: str) -> None:
        self.lines.append(f"if not ({condition}): raise TypeError({f'the program takes {self.call}'!r})")

    def is_value(self, name: str, value: Any) -> str:
        """The condition that something is just this value (`verifier.is_value`), as Dynamo can evaluate it."""
        if value is None or isinstance(value, bool):
            return f"{name} is {value}"
        kind = f"_type({name}) is {self.constant(type(value))}"
        if value != value:
            return f"{kind} and {name} != {name}"
        same = f"{kind} and {name} == {self.constant(value)}"
        if type(value) is float and value == 0:
            self.scope["math"] = math
            same += f" and math.copysign(1.0, {name}) == {math.copysign(1.0, value)}"
        return same

    def write(self) -> str:
        c = self.c
        positional, keyword = c.takes.parts
        keys = list(keyword.data or ())
        names = [n if n.isidentifier() and n not in keys else f"_p{k}" for k, n in enumerate(c.names)]
        head = ["self", *names, *(["*", *keys] if keys else [])]
        for k, (s, name) in enumerate(zip((*positional.parts, *keyword.parts), (*names, *keys), strict=True)):
            self.lines.append(f"_a{k} = {name}")  # symbols have names, too
            self.take(s, f"_a{k}")
        given = []
        for a, name in zip(c.arguments, self.leaves, strict=True):
            if a.kind == "value":
                self.unless(self.is_value(name, a.value))
                continue
            if a.kind == "int":
                self.unless(f"_type({name}) is _int")
            given.append(name)
        own = [f"self._inside.written[{k}]" for k in range(len(c.state))]
        operator = f"_getattr(torch.ops.fusewright, _operator({self.inside.key!r}))"
        call = f"{operator}({', '.join([repr(self.inside.key), 'self._inside.held', *own, *given])})"
        fresh = [k for k, o in enumerate(c.outputs or ()) if o.dtype]
        self.lines.append(f"_o = {call}")
        self.outputs = {k: "_o" if len(fresh) == 1 else f"_o[{j}]" for j, k in enumerate(fresh)}
        self.symbols()
        self.lines.append(f"return {nested(c.gives, map(self.result, c.results), self.constant)}")
        return "\n".join([f"def forward({', '.join(head)}):", *(f"    {s}" for s in self.lines), ""])

    def symbols(self) -> None:
        """The size symbols, for outputs that are numbers."""
        numbers = {k: o.shape[0] for k, o in enumerate(self.c.outputs or ()) if not o.dtype}
        if numbers:
            self.scope["math"] = math
            for s in self.c.symbols:
                leaf = self.leaves[s.argument]
                self.lines += [f"n = {leaf if s.dim is None else f'{leaf}.shape[{s.dim}]'}", f"{s.name} = {s.source}"]
        self.outputs.update({k: f"({n})" for k, n in numbers.items()})

    def take(self, s: Spec, value: str) -> None:
        if s.kind == "leaf":
            self.leaves.append(value)
            return
        inner = [f"_t{len(self.lines)}_{k}" for k in range(len(s.parts))]
        if s.kind == "dict":
            keys = ", ".join(map(repr, s.data))
            self.unless(f"_type({value}) is _dict and _set({value}) == {{{keys}}}" if s.data else f"{value} == {{}}")
            parts = ", ".join(f"{value}[{k!r}]" for k in s.data)
        elif s.kind == "other":
            self.scope["_flatten"] = pytree.tree_flatten
            parts = f"*_flatten({value}, is_leaf=lambda x: x is not {value})[0]"
        else:
            self.unless(f"_type({value}) is _{s.kind} and _len({value}) == {len(s.parts)}")
            parts = f"*{value}"
        if inner:
            self.lines.append(f"{', '.join(inner)}, = ({parts},)")
        for p, name in zip(s.parts, inner, strict=True):
            self.take(p, name)

    def result(self, r: Result) -> str:
        if r.kind == "output":
            return self.outputs[r.data]
        if r.kind == "argument":
            return self.leaves[r.data]
        return f"self._inside.returned[{r.data!r}]" if r.kind == "state" else self.constant(r.data)


_BREAK = """
def forward(self, *args, **kwargs):
    torch._dynamo.graph_break(
        msg=f"a compiled program cannot be part of a graph: {self._inside.why}. Call it in a function under "
        "torch.compiler.disable"
    )
    return self._aside(args, kwargs)
"""
_SMALL = "def operator(key):\n    return _register(_programs[key].c)\n"
_FORWARD = "def forward(self, *args, **kwargs):\n    return self._graphed(self, *args, **kwargs)\n"


def _made(source: str, name: str) -> Any:
    scope: dict[str, Any] = {"_register": _register, "_programs": _programs}
    exec(compile(source, _FILE, "exec"), scope)
    return scope[name]


_OPERATOR = _made(_SMALL, "operator")
_OPERATOR._dynamo_marked_constant = True  # Dynamo calls it: operators are registered when they are first asked for


def forward() -> Any:
    """`Program.forward` as Dynamo sees it."""
    return _made(_FORWARD, "forward")


__all__ = ["Inside", "forward"]
