"""What is wrong with the arguments of a compiled program, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..core.errors import UserError
from .convention import Argument, Convention, Spec, node_of

_PLAIN = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
_NODES = {"tuple": tuple, "list": list, "dict": dict}


class Verifier:
    """Says what is wrong with arguments. Raises UserError; returns if nothing is."""

    def __init__(self, c: Convention):
        self.c = c
        self.names = [s.name for s in c.symbols]

    def call(self) -> str:
        """The call as it was exported: f(x, {'a': d['a']}, scale=scale)."""
        leaves = iter(a.name for a in self.c.arguments)

        def show(s: Spec) -> str:
            if s.kind == "leaf":
                return next(leaves)
            parts = [show(p) for p in s.parts]
            if s.kind == "dict":
                return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(s.data, parts, strict=True)) + "}"
            return f"[{', '.join(parts)}]" if s.kind == "list" else f"({', '.join(parts)})"

        positional, keyword = self.c.takes.parts
        given = [show(p) for p in positional.parts]
        given += [f"{k}={show(p)}" for k, p in zip(keyword.data or (), keyword.parts, strict=True)]
        return f"({', '.join(given)})"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as they were exported, where some are given by name, or in another order."""
        positional, keyword = self.c.takes.parts
        names, keys = self.c.names, list(keyword.data or ())
        given = dict(kwargs)
        out = list(args)
        while len(out) < len(positional.parts) and names[len(out)] in given:
            out.append(given.pop(names[len(out)]))
        if len(out) != len(positional.parts) or set(given) != set(keys):
            said = [type(a).__name__ for a in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()]
            raise UserError(f"the program takes {self.call()}, and was called with ({', '.join(said)})")
        return tuple(out), {k: given[k] for k in keys}

    def structure(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise for arguments that are not nested as they were when the program was exported."""
        positional, keyword = self.c.takes.parts
        pairs = [*zip(self.c.names, positional.parts, args, strict=True)]
        pairs += [(k, s, kwargs[k]) for k, s in zip(keyword.data or (), keyword.parts, strict=True)]
        for name, s, value in pairs:
            why = _difference(s, value, name)
            if why:
                raise UserError(f"{why}; the program takes {self.call()}")
        raise UserError(f"the arguments are not nested as in {self.call()}")

    def __call__(self, leaves: Sequence[Any]) -> None:
        for a, x in zip(self.c.arguments, leaves, strict=True):
            why = _kind_error(a, x) or tensor_error(a, x)
            if why:
                raise UserError(f"argument {a.name} {why}")
        env: dict[str, int] = {}
        scope: dict[str, Any] = {"math": math}
        for s in self.c.symbols:
            x = leaves[s.argument]
            env[s.name] = int(eval(s.source, {"n": x if s.dim is None else x.shape[s.dim]}))
        place = {s.name: self.place(s.argument, s.dim) for s in self.c.symbols}
        for s in self.c.symbols:
            n = env[s.name]
            if (s.low is not None and n < s.low) or (s.high is not None and n > s.high):
                limits = f"{'-' if s.low is None else s.low} to {'any' if s.high is None else s.high}"
                if s.source == "n":
                    raise UserError(f"{place[s.name]} is {n}: the program was exported for {limits}")
                raise UserError(f"{place[s.name]} makes {s.name} {n}: the program was exported for {limits}")
        scope.update(env)
        for k, a in enumerate(self.c.arguments):
            for d, size in enumerate(a.shape):
                if not isinstance(size, int) and leaves[k].shape[d] != eval(size, dict(scope)):
                    known = ", ".join(f"{s} is {env[s]}, {place[s]}" for s in self.names if s in size)
                    have = leaves[k].shape[d]
                    raise UserError(f"{self.place(k, d)} is {have}: the program takes {size} there ({known})")
        for g in self.c.guards:
            if not eval(g, dict(scope)):
                known = ", ".join(f"{s} = {env[s]}, {place[s]}" for s in self.names if s in g)
                raise UserError(f"the program was exported for sizes with {g} (here {known})")

    def place(self, argument: int, dim: int | None) -> str:
        name = self.c.arguments[argument].name
        return name if dim is None else f"{name}.shape[{dim}]"


def _difference(s: Spec, value: Any, name: str) -> str:
    """How the structure of `value` differs from `s`, or ""."""
    if s.kind == "leaf":
        return ""
    if s.kind == "other":
        same = pytree.tree_structure(value, is_leaf=lambda x: x is not value) == node_of(s)
        return "" if same else f"argument {name} is a {type(value).__name__}, or other than it was"
    if type(value) is not _NODES[s.kind]:
        return f"argument {name} is a {type(value).__name__}, not a {s.kind}"
    if s.kind == "dict":
        if set(value) != set(s.data):
            return f"argument {name} has the keys {list(value)}, not {s.data}"
        items = [(f"{name}[{k!r}]", p, value[k]) for k, p in zip(s.data, s.parts, strict=True)]
    elif len(value) != len(s.parts):
        return f"argument {name} has {len(value)} items, not {len(s.parts)}"
    else:
        items = [(f"{name}[{k}]", p, v) for k, (p, v) in enumerate(zip(s.parts, value, strict=True))]
    return next((why for n, p, v in items if (why := _difference(p, v, n))), "")


def is_value(x: Any, value: Any) -> bool:
    """Whether `x` is just this plain value: another type or another sign of zero is another program."""
    return type(x) is type(value) and repr(x) == repr(value)


def _kind_error(a: Argument, x: Any) -> str:
    """Why `x` is no such thing as `a`, or ""."""
    if a.kind == "int":
        return "" if type(x) is int else f"is a {type(x).__name__}: the program takes an int"
    if a.kind == "value":
        return "" if is_value(x, a.value) else f"is {x!r}: the program was exported for {a.value!r} only"
    if not isinstance(x, torch.Tensor):
        return f"is a {type(x).__name__}: the program takes a tensor"
    return "" if type(x) in _PLAIN else f"is a {type(x).__name__}: the program takes plain tensors"


def tensor_error(a: Argument, x: Any) -> str:
    """What of a tensor is not as exported, for all sizes; or ""."""
    if a.kind != "tensor":
        return ""
    if x.layout is not torch.strided or x.is_quantized or x.is_neg() or x.is_conj() or x._is_zerotensor():
        return f"is a {x.layout} or lazy tensor: the program takes a plain one (call .clone() or .to_dense())"
    if str(x.dtype) != f"torch.{a.dtype}":
        return f"is of {str(x.dtype).removeprefix('torch.')}: the program takes {a.dtype}"
    if x.device != torch.device(a.device):
        return f"is on {x.device}: the program takes it on {a.device}"
    if x.dim() != len(a.shape):
        return f"has {x.dim()} dimensions: the program takes {len(a.shape)}"
    for d, (have, want) in enumerate(zip(x.shape, a.shape, strict=True)):
        if isinstance(want, int) and have != want:
            return f"has extent {have} in dimension {d}: the program takes {want} (export that dimension as dynamic)"
    return ""
