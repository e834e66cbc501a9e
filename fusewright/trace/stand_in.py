"""Tracing tensors in place of a module's parameters and buffers, for the thread that traces and for no other.

The module that is traced is the live one. A copy of its tree would not do: programs hold modules in lists, closures,
hooks and bound methods, too, which lead to the live one. Nor would a lock: a module may be called without us. So each
dictionary of parameters or buffers gets a stand-in while a trace runs, which answers the thread that traces with the
trace's tensors, and all others with what the module has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ..core.errors import Refusal
from .signature import Node

_READ = ("__contains__", "__getitem__", "__iter__", "__len__", "__reversed__", "__eq__", "__ne__", "__or__", "__ror__")
_MORE = ("copy", "get", "items", "keys", "values")
_WRITE = ("__delitem__", "__setitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update")


class StandIn(dict[str, Any]):
    """What stands in for the dictionary `own`, with `traced` for the thread that makes it."""

    __slots__ = ("own", "thread", "traced")

    def __init__(self, own: dict[str, Any], traced: dict[str, Any]):
        super().__init__(own)  # for what reads dictionaries without asking them
        self.own, self.traced, self.thread = own, traced, threading.get_ident()

    @property
    def now(self) -> dict[str, Any]:
        """The dictionary that this thread sees."""
        return self.traced if threading.get_ident() == self.thread else self.own

    def __repr__(self) -> str:
        return repr(self.now)

    def __reduce_ex__(self, protocol: Any) -> Any:  # copies are those of the dictionary
        return type(self.own), (dict(self.now),)


def _delegated(name: str) -> Callable[..., Any]:
    def method(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.now, name)(*args, **kwargs)

    return method


for _name in (*_READ, *_MORE, *_WRITE):
    setattr(StandIn, _name, _delegated(_name))


@contextmanager
def standing_in(node: Node, value: torch.nn.Module, leaves: list[Any]) -> Iterator[Callable[[], None]]:
    """Put leaves in place of the parameters and buffers of a module. Yields a check, which raises Refusal if one has
    been assigned since."""
    state = node.data
    mine = [leaves[c.data] for c in node.children]
    places = [(*slot, k) for k, slot in enumerate(state.slots)] + [s for s in state.shared if s[1] != "_modules"]
    kinds = ("_parameters", "_buffers")
    given: dict[tuple[tuple[str, ...], str], dict[str, Any]] = {
        (m[0], kind): {} for m in state.modules for kind in kinds
    }
    for path, kind, name, k in places:
        given[path, kind][name] = mine[k]
    stand_ins: list[tuple[str, StandIn, dict[str, Any]]] = []  # with the path, and what it begins with
    placed: list[tuple[dict[str, Any], str, StandIn]] = []

    def unchanged() -> None:
        for path, s, before in stand_ins:
            for name in {**before, **s.traced}:
                if before.get(name, s) is not s.traced.get(name, s):
                    raise Refusal("module", f"{path}{name} is assigned in forward: write into it instead")

    try:
        for (path, kind), tensors in given.items():
            m: Any = value.get_submodule(".".join(path))
            own = vars(m)[kind]
            traced = {**own, **tensors}
            s = StandIn(own, traced)
            stand_ins.append(("".join(f"{p}." for p in path), s, dict(traced)))
            while isinstance(m, torch.nn.Module) and vars(m).get(kind) is own:
                vars(m)[kind] = s
                placed.append((vars(m), kind, s))
                m = vars(m).get("_plain")  # a fused module shares its dictionaries with the one that it runs
        yield unchanged
    finally:
        for attributes, kind, s in placed:
            if attributes.get(kind) is s:
                attributes[kind] = s.own


__all__ = ["StandIn", "standing_in"]
