"""What a function changes besides tensors: its trace runs once for many calls, so that such a change would be lost.

    self.steps += 1            an attribute of a module or an object among the arguments
    cache["k"] = k             an item of a list or dictionary among them

Changes are noticed after the function has run on its traced arguments, and undone: the plain function makes them.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ..core.errors import Refusal
from .signature import Node

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_NOT_STATE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)


@contextmanager
def unchanged(structure: tuple[Node, ...], values: tuple[Any, ...], built: list[Any]) -> Iterator[None]:
    """Raise Refusal if what is run inside changes an object or a container of the arguments.

    `values`: the arguments as they were given; `built`: as they are traced, with containers of their own.
    """
    objects = [(x, dict(vars(x))) for x in _objects(structure, values)]
    containers = [(c, list(c.items()) if isinstance(c, dict) else list(c)) for c in _containers(built)]
    changed: list[str] = []
    try:
        yield
    finally:
        for x, before in objects:
            now = vars(x)
            names = [n for n in {**before, **now} if n not in before or n not in now or not _same(before[n], now[n])]
            for n in names:
                if n in before:
                    now[n] = before[n]
                else:
                    del now[n]
            changed += [f"assigns the attribute {n} of a {type(x).__name__}" for n in names]
    for c, old in containers:
        new = list(c.items()) if isinstance(c, dict) else list(c)
        parts = [
            (a, b) for p, q in zip(old, new, strict=False) for a, b in zip(_parts(c, p), _parts(c, q), strict=True)
        ]
        if len(old) != len(new) or any(a is not b for a, b in parts):
            changed.append(f"changes a {type(c).__name__} that is an argument")
    if changed:
        raise Refusal("state", f"it {changed[0]}, which a trace would not do again")


def _parts(container: Any, item: Any) -> tuple[Any, ...]:
    return item if isinstance(container, dict) else (item,)


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, _PLAIN) and a == b)


def _objects(structure: tuple[Node, ...], values: tuple[Any, ...]) -> Iterator[Any]:
    """The objects that a function may assign attributes of, each once."""
    seen: set[int] = set()
    for top, value in zip(structure, values, strict=True):
        found = list(value.modules()) if isinstance(value, torch.nn.Module) else []
        found += [n.data.get() for n in top.walk() if n.kind == "object"]
        found += [n.data[1].get() for n in top.walk() if n.kind == "method"]
        for x in found:
            own = getattr(x, "__dict__", None)
            if type(own) is dict and not isinstance(x, _NOT_STATE) and id(x) not in seen:
                seen.add(id(x))
                yield x


def _containers(x: Any) -> Iterator[Any]:
    """The lists and dictionaries in what is traced."""
    if type(x) in (list, dict):
        yield x
    if isinstance(x, (list, tuple, dict)):
        for y in x.values() if isinstance(x, dict) else x:
            yield from _containers(y)


__all__ = ["unchanged"]
