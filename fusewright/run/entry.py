"""From a program's arguments to its plan and back: generated Python that checks, launches and puts the result together.

    def call(args, kwargs):                                             # of a program exported with x: float32[s77, 64]
        if len(args) != 1 or kwargs: args, kwargs = _bind(args, kwargs)
        _t1, = args
        _odd = not (_check(_t1))
        if _odd: _verify((_t1,))
        s77, _, = _t1.shape
        if not (0 <= s77 <= 512): _verify((_t1,))
        _i0 = _t1 if _t1.is_contiguous() else _restride(_t1, (64, 1))
        _o = _quietly([s77, _i0]) if _odd else _run([s77, _i0])
        return _o[0]

`_check` is torch's own C++ check of tensors, which also notices autograd, autocast and transforms. What it and the
other conditions refuse is looked at again by `_verify` (`verifier.py`), which raises an error that names the argument,
or finds that only the state of the thread is unusual: the plan then runs without autograd and autocast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..core.errors import UserError
from .convention import Convention, Result, Spec, node_of
from .internals import tensor_check
from .launch import restride
from .overlaps import apart
from .restricted import Unsafe, expression
from .verifier import Verifier, is_value


def entry(
    c: Convention, run: Callable[[list[Any]], list[Any]], state: Mapping[str, torch.Tensor]
) -> tuple[Callable[[tuple[Any, ...], dict[str, Any]], Any], str]:
    """(a function of positional and keyword arguments, its source). `run`: the boxed plan; `state`: tensors by name.

    Raises ValueError if `c` holds what is not the size of anything.
    """
    w = _Writer(c, run, state)
    source = w.write()
    exec(compile(source, "<fusewright call>", "exec"), w.scope)
    return w.scope["call"], source


class _Writer:
    def __init__(self, c: Convention, run: Callable[[list[Any]], list[Any]], state: Mapping[str, torch.Tensor]):
        self.c = c
        check_expressions(c)
        self.verify = Verifier(c)
        self.scope: dict[str, Any] = {
            "math": math,  # the printed form of a size may use it
            "_run": run,
            "_quietly": _quietly(run),
            "_bind": self.verify.bind,
            "_wrong": self.verify.structure,
            "_verify": self.verify,
            "_is_value": is_value,
            "_apart": keep_apart,
            "_restride": restride,
            "_copy_back": _copy_back,
            "_flatten": _flatten,
            "_unflatten": pytree.tree_unflatten,
        }
        self.state = state
        self.lines: list[str] = []
        self.names: list[str] = []  # of the leaves' variables
        self.fresh = 0

    def constant(self, value: Any) -> str:
        name = f"_c{len(self.scope)}"
        self.scope[name] = value
        return name

    def local(self) -> str:
        self.fresh += 1
        return f"_t{self.fresh}"

    def write(self) -> str:
        c = self.c
        positional, keyword = c.takes.parts
        keys = self.constant(set(keyword.data or ()))
        wrong = f"len(args) != {len(positional.parts)} or " + (
            f"kwargs.keys() != {keys}" if keyword.parts else "kwargs"
        )
        self.lines.append(f"if {wrong}: args, kwargs = _bind(args, kwargs)")
        self.take(positional, "args")
        self.take(keyword, "kwargs")
        leaves = f"({''.join(f'{n}, ' for n in self.names)})"
        self.checks(leaves)
        self.sizes(leaves)
        given = self.tensors()
        symbols = [s.name for s in c.symbols]
        held = [self.constant(self.state[name].detach()) for name in c.state]
        boxed = f"[{', '.join([*symbols, *held, *given])}]"
        self.lines.append(f"_o = _quietly({boxed}) if _odd else _run({boxed})")
        for (k, wanted), name in zip(c.passed, given, strict=True):
            if wanted and c.arguments[k].mutated:
                self.lines.append(f"if {name} is not {self.names[k]}: _copy_back({self.names[k]}, {name})")
        self.lines.append(f"return {nested(c.gives, map(self.result, c.results), self.constant)}")
        return "\n".join(["def call(args, kwargs):", *(f"    {s}" for s in self.lines), ""])

    # --- structure ---
    def take(self, s: Spec, value: str) -> None:
        """Find the leaves of `value`."""
        if s.kind == "leaf":
            self.names.append(value)
            return
        if s.kind == "other":
            parts = f"_flatten({value}, {self.constant(node_of(s))}, args, kwargs, _wrong)"
        elif s.kind == "dict":
            if value != "kwargs":
                keys = self.constant(set(s.data))
                self.lines.append(f"if type({value}) is not dict or {value}.keys() != {keys}: _wrong(args, kwargs)")
            parts = ", ".join(f"{value}[{k!r}]" for k in s.data) + ","
        else:
            if value != "args":
                self.lines.append(
                    f"if type({value}) is not {s.kind} or len({value}) != {len(s.parts)}: _wrong(args, kwargs)"
                )
            parts = value
        if s.parts:
            inner = [self.local() for _ in s.parts]
            self.lines.append(f"{', '.join(inner)}, = {parts}")
            for p, name in zip(s.parts, inner, strict=True):
                self.take(p, name)

    def result(self, r: Result) -> str:
        if r.kind == "output":
            return f"_o[{int(r.data)}]"
        if r.kind == "argument":
            return self.names[r.data]
        return self.constant(self.state[r.data] if r.kind == "state" else r.data)

    # --- conditions ---
    def checks(self, leaves: str) -> None:
        examples, sizes, tensors, conditions = [], [], [], []
        for a, name in zip(self.c.arguments, self.names, strict=True):
            if a.kind == "tensor":
                known = [n if isinstance(n, int) else None for n in a.shape]
                t = torch.empty((), dtype=getattr(torch, a.dtype), device=a.device)
                examples.append(t.expand([2 if n is None else n for n in known]))
                sizes.append(known)
                tensors.append(name)
            elif a.kind == "int":
                conditions.append(f"type({name}) is int")
            elif a.value is None or isinstance(a.value, bool):
                conditions.append(f"{name} is {a.value}")
            else:
                v = self.constant(a.value)
                same = f"type({name}) is type({v}) and {name} == {v}"
                signed = isinstance(a.value, complex) or (isinstance(a.value, float) and not a.value)
                conditions.append(f"_is_value({name}, {v})" if signed else same)
        if tensors:
            conditions.insert(0, f"{self.constant(tensor_check(examples, sizes))}({', '.join(tensors)})")
        else:
            conditions.insert(0, f"{self.constant(_ordinary)}()")
        self.lines += [f"_odd = not ({' and '.join(conditions)})", f"if _odd: _verify({leaves})"]

    def sizes(self, leaves: str) -> None:
        """Bind the symbols and check all sizes that depend on them."""
        c = self.c
        where = {(s.argument, s.dim): s for s in c.symbols}
        later: list[str] = []
        conditions: list[str] = []
        for k, (a, name) in enumerate(zip(c.arguments, self.names, strict=True)):
            targets = []
            for d, n in enumerate(a.shape):
                s = where.get((k, d))
                if s is not None and s.source == "n":
                    targets.append(s.name)
                elif isinstance(n, int):
                    targets.append("_")
                else:
                    targets.append(self.local())
                    conditions.append(f"{targets[-1]} == {n}")
                    if s is not None:
                        later += [f"n = {targets[-1]}", f"{s.name} = {s.source}"]
            if any(t != "_" for t in targets):
                self.lines.append(f"{', '.join(targets)}, = {name}.shape")
            s = where.get((k, None))
            if s is not None:
                self.lines += [f"n = {name}", f"{s.name} = {s.source}"]
        self.lines += later
        for s in c.symbols:
            if s.low is not None or s.high is not None:
                low, high = ("" if s.low is None else f"{s.low} <= "), ("" if s.high is None else f" <= {s.high}")
                conditions.append(f"{low}{s.name}{high}")
        conditions += [f"({g})" for g in c.guards]
        if conditions:
            self.lines.append(f"if not ({' and '.join(conditions)}): _verify({leaves})")

    def tensors(self) -> list[str]:
        """Bind what the plan is given; returns the names."""
        c = self.c
        mutated = [n for a, n in zip(c.arguments, self.names, strict=True) if a.mutated]
        if mutated:
            every = [n for a, n in zip(c.arguments, self.names, strict=True) if a.kind == "tensor"]
            self.lines.append(f"_apart(({', '.join(mutated)},), ({', '.join(every)},))")
        out = []
        for k, wanted in c.passed:
            a, name = c.arguments[k], self.names[k]
            if not wanted:
                out.append(name)
                continue
            out.append(f"_i{k}")
            strides = f"({''.join(f'{n}, ' for n in a.strides)})"
            fits = f"{name}.is_contiguous()" if a.contiguous else f"{name}.stride() == {strides}"
            self.lines.append(f"_i{k} = {name} if {fits} else _restride({name}, {strides})")
        return out


def nested(s: Spec, leaves: Iterator[str], constant: Callable[[Any], str]) -> str:
    """Source of a result: `leaves` are those of its leaves, and `constant` names a value in the code's scope."""
    if s.kind == "leaf":
        leaf = next(leaves, None)
        if leaf is None:
            raise ValueError("there are fewer results than places for them")
        return leaf
    inner = [nested(p, leaves, constant) for p in s.parts]
    if s.kind == "dict":
        return "{" + ", ".join(f"{k!r}: {x}" for k, x in zip(s.data, inner, strict=True)) + "}"
    if s.kind == "other":
        return f"_unflatten([{', '.join(inner)}], {constant(node_of(s))})"
    return f"[{', '.join(inner)}]" if s.kind == "list" else f"({''.join(f'{x}, ' for x in inner)})"


def check_expressions(c: Convention) -> None:
    """Raises ValueError unless all sizes of a convention are expressions of its symbols, and nothing else."""
    names = [s.name for s in c.symbols]
    for name in names:
        if not name.isidentifier() or name.startswith("_") or name in ("args", "kwargs", "n", "call"):
            raise Unsafe(f"{name} as the name of a symbol")
    for s in c.symbols:
        expression(s.source, ["n"])
    layouts: list[Any] = [*c.arguments, *(c.outputs or ())]
    for n in [n for a in layouts for n in (*a.shape, *a.strides)] + c.guards:
        if not isinstance(n, int):
            expression(n, [*names, "math"])


def _ordinary() -> bool:
    """Whether this thread runs operations as they are."""
    return not torch._C._is_any_autocast_enabled()


def _quietly(run: Callable[[list[Any]], list[Any]]) -> Callable[[list[Any]], list[Any]]:
    """`run` without autograd and autocast, which have been in effect when the program was exported, or not at all."""

    def quietly(args: list[Any]) -> list[Any]:
        if torch._C._functorch.peek_interpreter_stack() is not None:
            raise UserError("a compiled program cannot be transformed by torch.func: call the model instead")
        with torch.no_grad(), torch._C._DisableAutocast():
            return run([x.detach() if isinstance(x, torch.Tensor) and x.requires_grad else x for x in args])

    return quietly


def _copy_back(into: torch.Tensor, x: torch.Tensor) -> None:
    with torch.no_grad():
        into.copy_(x)


def keep_apart(written: Sequence[torch.Tensor], tensors: Sequence[torch.Tensor]) -> None:
    """Raises UserError if another argument lies in the memory of one that is written."""
    if not apart(written, tensors):
        raise UserError(
            "an argument that the program writes into shares memory with another argument: copy one of them"
        )


def _flatten(value: Any, spec: Any, args: Any, kwargs: Any, wrong: Callable[[Any, Any], None]) -> list[Any]:
    """What is in a node of a type that only pytree knows."""
    parts, found = pytree.tree_flatten(value, is_leaf=lambda x: x is not value)
    if found != spec:
        wrong(args, kwargs)
    return list(parts)
