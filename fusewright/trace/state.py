"""What a function changes besides tensors: its trace runs once for many calls, so that such a change would be lost.

    self.steps += 1            an attribute of a module or an object among the arguments
    self.seen.append(x)        an item of a list, dictionary, set or deque among its attributes
    cache["k"] = k             or among the arguments

Changes are noticed after the function has run on its traced arguments, and undone: the plain function makes them.
"""

from __future__ import annotations

import types
from collections import OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..core.errors import Refusal
from .signature import Node, Same, is_record
from .sizes import NUMBERS, fixed

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_NOT_STATE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
_CONTAINERS = (list, dict, set, deque, OrderedDict, defaultdict)
_KINDS: tuple[Any, ...] = (OrderedDict, dict, list, set, deque, tuple, frozenset)
OF_MODULES = frozenset(vars(torch.nn.Module()))  # parameters, hooks, ...: traces see to them otherwise


@dataclass(frozen=True, slots=True)
class Change:
    """Something that a function has changed, and how to undo it.

    `kind`: "constant" if what is there now holds tensors that depend on nothing but constants (`kept.py`), "tensor" if
    it holds other ones, else "plain".
    """

    kind: str
    what: str
    undo: Callable[[], None]


def undo(changes: list[Change]) -> None:
    """Undo them all, the last one first, and forget them."""
    for c in reversed(changes):
        c.undo()
    changes.clear()


def refuse(changes: Sequence[Change]) -> None:
    """Raise Refusal if there are any."""
    if changes:
        raise Refusal("state", f"it {changes[0].what}, which a trace would not do again")


@contextmanager
def unchanged(structure: tuple[Node, ...], built: list[Any]) -> Iterator[None]:
    """Raise Refusal if what is run inside changes an object or a container of the arguments.

    `structure`: of the arguments; `built`: these as they are traced, with containers of their own.
    """
    found = list(_objects(structure))
    objects = [(x, dict(vars(x))) for x in found if type(x) not in _CONTAINERS]
    held = {id(c): (c, items(c)) for x in found for c in _held(x)}
    made = {id(c): (c, items(c), what) for x in built for c, what in _made(x)}
    changed: list[str] = []
    try:
        yield
    finally:
        for x, before in objects:
            now = vars(x)
            names = [n for n in {**before, **now} if n not in before or n not in now or not same(before[n], now[n])]
            for n in names:
                if n in before:
                    now[n] = before[n]
                else:
                    del now[n]
            changed += [f"assigns the attribute {n} of a {type(x).__name__}" for n in names]
        for c, was in held.values():
            if differ(c, was):
                restore(c, was)
                changed.append(f"changes a {type(c).__name__} that an argument holds")
        for c, was, what in made.values():
            if differ(c, was):
                if type(c) is set:  # the caller's own
                    restore(c, was)
                changed.append(f"changes a {what} that is an argument")
    if changed:
        raise Refusal("state", f"it {changed[0]}, which a trace would not do again")


def items(container: Any) -> list[Any]:
    """The items of a container; of a dictionary keys and values in turn.

    Methods that a derived class has of its own are not called: they may do anything, such as import what they give.
    """
    kind = _kind(container)
    if issubclass(kind, dict):
        return [x for item in kind.items(container) for x in item]
    return list(kind.__iter__(container))


def _kind(container: Any) -> Any:
    """Python's own class of a container."""
    return next((k for k in _KINDS if isinstance(container, k)), type(container))


def differ(container: Any, before: list[Any]) -> bool:
    """Whether the items are other ones than before."""
    now = items(container)
    return len(now) != len(before) or not all(map(same, before, now))


def restore(container: Any, before: list[Any]) -> None:
    """Put the items back."""
    kind = _kind(container)
    kind.clear(container)
    if issubclass(kind, dict):
        for key, value in zip(before[::2], before[1::2], strict=True):
            kind.__setitem__(container, key, value)
    else:
        (kind.update if issubclass(kind, set) else kind.extend)(container, before)


def number_keys(container: dict[Any, Any]) -> None:
    """Keys that are sizes, by which a program has put something there while it was traced, become the numbers."""
    now = items(container)
    keys = [_number(k) for k in now[::2]]
    if any(a is not b for a, b in zip(keys, now[::2], strict=True)):
        restore(container, [x for pair in zip(keys, now[1::2], strict=True) for x in pair])


def _number(key: Any) -> Any:
    if type(key) is tuple:
        parts = tuple(map(_number, key))
        return parts if any(a is not b for a, b in zip(parts, key, strict=True)) else key
    return key.node.hint if isinstance(key, NUMBERS) and fixed(key) else key


def same(a: Any, b: Any) -> bool:
    """Whether two values are one object, or equal plain ones."""
    return a is b or (type(a) is type(b) and isinstance(a, _PLAIN) and a == b)


def _objects(structure: tuple[Node, ...]) -> Iterator[Any]:
    """The objects that a function may assign attributes of, and containers that are traced as objects; each once."""
    nodes = [n for top in structure for n in top.walk()]
    found = [sub.get() for n in nodes if n.kind == "module" for _, sub, *_ in n.data.modules]
    found += [n.data.get() for n in nodes if n.kind == "object"]
    found += [n.data[1].get() for n in nodes if n.kind == "method"]
    for x in {id(x): x for x in found}.values():
        own = type(getattr(x, "__dict__", None)) is dict and not isinstance(x, _NOT_STATE)
        if own or type(x) in _CONTAINERS:
            yield x


def _held(x: Any) -> Iterator[Any]:
    """The containers in an object's attributes, and in those; or in a container, and that itself."""
    waiting, seen = [x], set[int]()
    if type(x) not in _CONTAINERS:
        left_out = OF_MODULES if isinstance(x, torch.nn.Module) else ()
        waiting = [v for n, v in vars(x).items() if n not in left_out]
    while waiting:
        c = waiting.pop()
        c = c.data if isinstance(c, (UserDict, UserList)) else c
        if isinstance(c, _CONTAINERS) and id(c) not in seen:
            seen.add(id(c))
            yield c
            waiting += items(c)


_MANY = 20_000  # objects that are looked at


def held_tensors(structure: tuple[Node, ...]) -> dict[int, tuple[Callable[[], Any], tuple[tuple[str, Any], ...]]]:
    """The tensors that objects among the arguments hold in attributes, in containers and in objects there, by `id`.

    With each a function that returns the object, and the way from there: names of attributes, keys and indices.
    """
    found: dict[int, tuple[Callable[[], Any], tuple[tuple[str, Any], ...]]] = {}
    seen: set[int] = set()
    for x in _objects(structure):
        get = Same(x).get
        waiting: list[tuple[Any, tuple[tuple[str, Any], ...]]] = [(x, ())] if type(x) not in _CONTAINERS else []
        while waiting and len(seen) < _MANY:
            y, way = waiting.pop()
            if isinstance(y, torch.Tensor):
                found.setdefault(id(y), (get, way))
            if id(y) in seen or isinstance(y, torch.Tensor):
                continue
            seen.add(id(y))
            waiting += [(z, (*way, step)) for z, step in _parts(y, not way)]
    return found


def _parts(x: Any, first: bool) -> Iterator[tuple[Any, tuple[str, Any]]]:
    """What an object or a container holds, with how; of modules only attributes, and only of the `first` one."""
    if isinstance(x, dict):
        yield from ((v, ("key", k)) for k, v in x.items())
    elif isinstance(x, (list, tuple, deque)):
        yield from ((v, ("index", k)) for k, v in enumerate(x))
    elif type(getattr(x, "__dict__", None)) is dict and not isinstance(x, _NOT_STATE):
        if first or not isinstance(x, torch.nn.Module):
            left_out = OF_MODULES if isinstance(x, torch.nn.Module) else ()
            yield from ((v, ("attribute", n)) for n, v in vars(x).items() if n not in left_out)


def _made(x: Any) -> Iterator[tuple[Any, str]]:
    """The containers in what is traced, with what each is."""
    what = type(x).__name__
    if type(x) in _CONTAINERS:
        yield x, what
    elif is_record(x) or (type(x) in pytree.SUPPORTED_NODES and type(getattr(x, "__dict__", None)) is dict):
        yield vars(x), what
    if isinstance(x, (tuple, *_CONTAINERS)) or is_record(x):
        for y in items(x) if isinstance(x, (tuple, *_CONTAINERS)) else list(vars(x).values()):
            yield from _made(y)


__all__ = [
    "OF_MODULES",
    "Change",
    "differ",
    "held_tensors",
    "items",
    "number_keys",
    "refuse",
    "restore",
    "same",
    "unchanged",
    "undo",
]
