"""Attributes of modules and objects that a traced function reads: what a trace has built in.

    x * self.scale        F.dropout(x, self.p)        self.act(x)        x + self.config.eps

While a function is traced, its thread notes which of them it reads of modules among its arguments, and of objects of
classes written in Python that are found there, in globals or in closures. That they are still what they were is a
condition of the trace: calls where they are not have a trace of their own. What it assigns is noted, too.
"""

from __future__ import annotations

import abc
import enum
import functools
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from .attributes import MISSING
from .reach import foreign
from .signature import Node, Same
from .state import OF_MODULES
from .unchanged import Unchanged, plain

_HEAP = 1 << 9  # the flag of classes that are not built in
_read = object.__getattribute__


def of_users_class(t: type) -> bool:
    """Whether a class is a program's."""
    return bool(t.__flags__ & _HEAP) and not foreign(t.__module__)


def watchable(t: type) -> bool:
    """Whether attributes of a class's objects can be noted when they are read."""
    if type(t) not in (type, abc.ABCMeta) or not of_users_class(t):
        return False
    if issubclass(t, (torch.nn.Module, torch.Tensor, BaseException, enum.Enum, tuple)):
        return False
    return all(c is object or c in _patched or "__getattribute__" not in vars(c) for c in t.__mro__)


def own(x: Any) -> dict[str, Any]:
    """The attributes of an object itself."""
    try:
        found = _read(x, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}


def of_class(t: type, name: str) -> Any:
    """What a class has under a name, as it stands there."""
    return next((vars(c)[name] for c in t.__mro__ if name in vars(c)), MISSING)


def held(x: Any, name: str) -> Any:
    """What an object itself has under a name."""
    there = of_class(type(x), name)
    if isinstance(there, types.MemberDescriptorType):
        try:
            return there.__get__(x)
        except AttributeError:
            return MISSING
    return own(x).get(name, MISSING)


def put_back(x: Any, name: str, value: Any) -> None:
    """Have an object have `value` again, or nothing."""
    if value is MISSING:
        object.__delattr__(x, name)
    else:
        object.__setattr__(x, name, value)


class Reads:
    """What one function reads of modules and objects, at first the modules among its arguments.

    `found(value)`: whom to tell of values that are no plain ones. `modules`: ids of modules whose attributes count;
    `objects`: the same of objects, which are held while the function is traced.
    """

    def __init__(self, structure: Sequence[Node], found: Callable[[Any], None]):
        nodes = [n for top in structure for n in top.walk() if n.kind == "module"]
        self.modules = {id(same.get()) for n in nodes for _, same, *_ in n.data.modules}
        self.roots: dict[int, Any] = {}  # modules that are no arguments
        self.objects: dict[int, Any] = {}
        self.tell = found
        self.owners: dict[int, Callable[[], Any]] = {}  # of what has been read, in order
        self.read: dict[int, dict[str, Any]] = {}  # by owner: what an object itself had, or MISSING
        self.slots: dict[int, dict[str, Any]] = {}
        self.classes: dict[tuple[type, str], Any] = {}  # what its class had
        self.assigned: dict[tuple[int, str], tuple[Any, Any]] = {}  # -> object, what it had before

    def module(self, m: torch.nn.Module) -> None:
        """Note what is read of a module, of those in it, and whether they are training."""
        plain = vars(m).get("_plain")  # of a fused module
        for sub in (*m.modules(), *(plain.modules() if isinstance(plain, torch.nn.Module) else ())):
            if id(sub) not in self.modules:
                self.modules.add(id(sub))
                self.roots[id(sub)] = sub

    def object(self, x: Any) -> None:
        """Note what is read of an object."""
        if id(x) not in self.objects:
            self.objects[id(x)] = x
            _patch(type(x))

    def note(self, m: torch.nn.Module, name: str, value: Any) -> None:
        """The attribute `name` of a module has been read."""
        if id(m) not in self.modules or name in self.read.get(id(m), ()):
            return
        if name in OF_MODULES and (name != "training" or id(m) not in self.roots):
            return
        here = own(m).get(name, MISSING)
        if here is MISSING:
            if name in dir(type(m)):  # else it is a submodule, or what a parameter's dictionary has
                self.add(m, name, here)
                self.of_class(type(m), name)
        elif here is value and not isinstance(value, (torch.Tensor, torch.nn.Module)):
            self.add(m, name, here)

    def note_object(self, x: Any, name: str) -> None:
        """The attribute `name` of an object is read."""
        if id(x) not in self.objects:
            return
        if name == "__dict__":
            for n in list(own(x)):
                self.note_object(x, n)
        if name.startswith("__") or name in self.read.get(id(x), ()) or name in self.slots.get(id(x), ()):
            return
        there = of_class(type(x), name)
        if isinstance(there, types.MemberDescriptorType):
            try:
                value = there.__get__(x)
            except AttributeError:
                return
            self.slots.setdefault(id(x), {})[name] = value
            self.owners.setdefault(id(x), Same(x).get)
            self.tell(value)
        elif not isinstance(there, property):
            here = own(x).get(name, MISSING)
            if here is MISSING and isinstance(there, functools.cached_property):
                return
            self.add(x, name, here)
            if here is MISSING:
                self.of_class(type(x), name)

    def add(self, x: Any, name: str, value: Any) -> None:
        self.owners.setdefault(id(x), Same(x).get)
        self.read.setdefault(id(x), {})[name] = value
        if value is not MISSING:
            self.tell(value)

    def of_class(self, t: type, name: str) -> None:
        there = of_class(t, name)
        if (t, name) not in self.classes and (plain(there) or not hasattr(type(there), "__get__")):
            if there is not MISSING and not isinstance(there, torch.Tensor):
                self.classes[t, name] = there
                self.tell(there)

    def assign(self, x: Any, name: str) -> None:
        """The attribute `name` of an object is assigned or deleted."""
        if id(x) in self.objects and (id(x), name) not in self.assigned:
            self.note_object(x, name)  # a trace is for objects that have what is assigned
            self.assigned[id(x), name] = x, held(x, name)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note what this thread reads."""
        me = threading.get_ident()
        with _lock:
            if not _watching:
                torch.nn.Module.__getattribute__ = _noting  # type: ignore[assignment, method-assign]
            _watching.setdefault(me, []).append(self)
        try:
            for x in list(self.objects.values()):
                _patch(type(x))
            yield
        finally:
            with _lock:
                _watching[me].pop()
                if not _watching[me]:
                    del _watching[me]
                if not _watching:
                    del torch.nn.Module.__getattribute__
                    _restore()

    def conditions(self, out: Unchanged, value: Callable[[str, Any], None]) -> None:
        """Write that all is still what it was. `value(e, v)` does it for one value."""
        at: dict[int, str] = {}
        for k, (owner, get) in enumerate(self.owners.items()):
            if owner not in at:
                at[owner] = f"o{k}"
                out.lines.append(f"o{k} = {out.name(get)}()")
            if owner in self.read:
                out.lines.append(f"d = {at[owner]}.__dict__")
            for name, v in self.read.get(owner, {}).items():
                if v is MISSING:
                    out.lines.append(f"if {name!r} in d: return False")
                elif id(v) in self.objects and id(v) in self.owners and id(v) not in at:  # what it has is what counts
                    at[id(v)] = f"p{len(at)}"
                    out.lines.append(f"{at[id(v)]} = d[{name!r}]")
                    out.unless(f"type({at[id(v)]}) is {out.name(type(v))}")
                else:
                    value(f"d[{name!r}]", v)
            for name, v in self.slots.get(owner, {}).items():
                value(f"{at[owner]}.{name}", v)
        for (t, name), v in self.classes.items():
            value(f"{out.name(t)}.{name}", v)


_lock = threading.RLock()
_watching: dict[int, list[Reads]] = {}  # by thread
_patched: dict[type, dict[str, Any]] = {}  # what is in a class in place of its own


def _mine() -> Reads | None:
    found = _watching.get(threading.get_ident())
    return found[-1] if found else None


def _noting(m: torch.nn.Module, name: str) -> Any:
    value = _read(m, name)
    if not name.startswith("__") and (mine := _mine()) is not None:
        mine.note(m, name, value)
    return value


def _patch(t: type) -> None:
    """Have the objects of a class tell when their attributes are read, assigned and deleted."""
    with _lock:
        if not _watching or any(c in _patched for c in t.__mro__):
            return
        put: Any = t.__setattr__
        delete: Any = t.__delattr__

        def __getattribute__(x: Any, name: str) -> Any:
            if (mine := _mine()) is not None:
                mine.note_object(x, name)
            return _read(x, name)

        def __setattr__(x: Any, name: str, value: Any) -> None:
            if (mine := _mine()) is not None:
                mine.assign(x, name)
            put(x, name, value)

        def __delattr__(x: Any, name: str) -> None:
            if (mine := _mine()) is not None:
                mine.assign(x, name)
            delete(x, name)

        before: dict[str, Any] = {}
        for f in (__getattribute__, __setattr__, __delattr__):
            name = f.__name__
            before[name] = vars(t).get(name, MISSING)
            try:
                setattr(t, name, f)
            except (AttributeError, TypeError):
                del before[name]
        _patched[t] = before


def _restore() -> None:
    """Put back what classes had."""
    for t, before in _patched.items():
        for name, f in before.items():
            if f is MISSING:
                delattr(t, name)
            else:
                setattr(t, name, f)
    _patched.clear()


__all__ = ["MISSING", "Reads", "held", "of_users_class", "own", "put_back", "watchable"]
