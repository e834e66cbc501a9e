"""Attributes of modules that a traced function reads: numbers, switches, functions, which a trace has built in.

    x * self.scale        F.dropout(x, self.p)        self.act(x)

While a function is traced, its thread notes which of them it reads of modules among its arguments. That they are still
what they were is a condition of the trace: calls where they are not have a trace of their own.
"""

from __future__ import annotations

import threading
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from . import frames
from .attributes import MISSING
from .signature import Node
from .state import OF_MODULES

_PLAIN = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, torch.Size)
_SAME = (type(None), bool, types.FunctionType, types.BuiltinFunctionType, type)  # told apart by what they are
_read = object.__getattribute__


def _plain(x: Any) -> bool:
    """Whether `repr` tells all that a program can see of a value."""
    if type(x) in (list, tuple, set, frozenset):
        return all(map(_plain, x))
    if type(x) is dict:
        return all(_plain(k) and _plain(v) for k, v in x.items())
    return type(x) in _PLAIN


class Reads:
    """What one function reads of the modules among its arguments, whose `structure` is given."""

    def __init__(self, structure: Sequence[Node]):
        nodes = [n for top in structure for n in top.walk() if n.kind == "module"]
        self.modules = {id(same.get()) for n in nodes for _, same, *_ in n.data.modules}
        self.found: dict[tuple[int, str], tuple[Any, Any, str]] = {}  # -> module, value there and then, its text

    def note(self, m: torch.nn.Module, name: str, value: Any) -> None:
        """The attribute `name` has been read."""
        if id(m) not in self.modules or name in OF_MODULES or (id(m), name) in self.found:
            return
        if type(value) in _SAME or _plain(value):
            own = _read(m, "__dict__").get(name, MISSING)
            if own is MISSING and name not in dir(type(m)):  # a submodule, or what a parameter's dictionary has
                return
            if own is MISSING or own is value:
                self.found[id(m), name] = (weakref.ref(m), own, "" if type(own) in _SAME else repr(own))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note what this thread reads."""
        me = threading.get_ident()
        with _lock:
            if not _watching:
                torch.nn.Module.__getattribute__ = _noting  # type: ignore[assignment, method-assign]
            _watching.setdefault(me, []).append(self)
        try:
            yield
        finally:
            with _lock:
                _watching[me].pop()
                if not _watching[me]:
                    del _watching[me]
                if not _watching:
                    del torch.nn.Module.__getattribute__

    def unchanged(self) -> Callable[[], bool] | None:
        """A function that says whether all attributes still are what they were; None if none has been read."""
        if not self.found:
            return None
        scope: dict[str, Any] = {"M": MISSING, "type": type, "repr": repr}
        lines: list[str] = []
        names: dict[int, str] = {}
        for k, ((module, name), (get, value, text)) in enumerate(self.found.items()):
            if module not in names:
                at = names[module] = f"d{len(names)}"
                scope[f"m{at}"] = get
                lines.append(f"{at} = m{at}().__dict__")
            scope |= {f"v{k}": value, f"s{k}": text, f"t{k}": type(value)}
            changed = f"x is not v{k}"
            if text and value is not MISSING:
                there = f"(type(x) is not t{k} or repr(x) != s{k})"
                changed = there if type(value) in (list, set, dict) else f"{changed} and {there}"
            lines += [f"x = {names[module]}.get({name!r}, M)", f"if {changed}: return False"]
        body = "".join(f"        {line}\n" for line in lines)
        text = f"def same():\n    try:\n{body}        return True\n    except AttributeError: return False\n"
        exec(compile(text, frames.name("reads"), "exec"), scope)
        same: Callable[[], bool] = scope["same"]
        return same


_lock = threading.Lock()
_watching: dict[int, list[Reads]] = {}  # by thread


def _noting(m: torch.nn.Module, name: str) -> Any:
    value = _read(m, name)
    mine = _watching.get(threading.get_ident())
    if mine and not name.startswith("__"):
        mine[-1].note(m, name, value)
    return value


def both(one: Callable[[], bool] | None, other: Callable[[], bool] | None) -> Callable[[], bool] | None:
    """A function that says whether both do."""
    if one is None or other is None:
        return one or other
    return lambda: one() and other()


__all__ = ["Reads", "both"]
