"""Attributes of modules and objects that a traced function reads: what a trace has built in.

    x * self.scale        F.dropout(x, self.p)        self.act(x)        x + self.config.eps

While a function is traced, its thread notes which of them it reads of modules among its arguments, and of objects of
classes written in Python that are found there, in globals or in closures (`watching.py`). That they are still what
they were is a condition of the trace: calls where they are not have a trace of their own. So is what it assigns.

Of each object is written down what it had itself under the name, or that it had nothing: then what counts is what its
class has.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from .attributes import MISSING
from .signature import Node, Same
from .state import OF_MODULES
from .unchanged import Unchanged
from .watching import watch, watching

_read = object.__getattribute__
_KINDS = ("_parameters", "_buffers", "_modules")
# Methods by which `copy` and `pickle` read all attributes.
_WHOLE = ("__dict__", "__reduce_ex__", "__reduce__", "__getstate__", "__copy__", "__deepcopy__")


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
    return _slot(there, x) if isinstance(there, types.MemberDescriptorType) else own(x).get(name, MISSING)


def _slot(member: types.MemberDescriptorType, x: Any) -> Any:
    try:
        return member.__get__(x)
    except AttributeError:
        return MISSING


def put_back(x: Any, name: str, value: Any) -> None:
    """Have an object have `value` again, or nothing."""
    if value is MISSING:
        object.__delattr__(x, name)
    else:
        object.__setattr__(x, name, value)


class Reads:
    """What one function reads of modules and objects, at first the modules among its arguments.

    `found(value)`: whom to tell of values; `of_class(t, name)`: of an attribute that an object has from its class.
    `modules`: ids of modules whose attributes count; `objects`: the same of objects, which are held while the function
    is traced.
    """

    def __init__(self, structure: Sequence[Node], found: Callable[[Any], None], of_class: Callable[[type, str], None]):
        nodes = [n for top in structure for n in top.walk() if n.kind == "module"]
        self.given = [m for n in nodes for _, same, *_ in n.data.modules if (m := same.get()) is not None]
        self.modules = set(map(id, self.given))
        self.roots: dict[int, Any] = {}  # modules that are no arguments
        self.objects: dict[int, Any] = {}
        self.found, self.of_class = found, of_class
        self.owners: dict[int, Callable[[], Any]] = {}  # of what has been read, in order
        self.read: dict[int, dict[str, Any]] = {}  # by owner: what an object itself had, or MISSING
        self.slots: dict[int, dict[str, Any]] = {}
        self.whole: dict[int, int] = {}  # of whom all attributes have been read -> their number
        self.assigned: dict[tuple[int, str], tuple[Any, Any]] = {}  # -> object, what it had before

    def module(self, m: torch.nn.Module) -> None:
        """Note what is read of a module, of those in it, and whether they are training."""
        plain = vars(m).get("_plain")  # of a fused module
        for sub in (*m.modules(), *(plain.modules() if isinstance(plain, torch.nn.Module) else ())):
            if id(sub) not in self.modules:
                self.modules.add(id(sub))
                self.roots[id(sub)] = sub
                self.found(type(sub))

    def object(self, x: Any) -> None:
        """Note what is read of an object."""
        if id(x) not in self.objects:
            self.objects[id(x)] = x
            watch(type(x))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note what this thread reads."""
        with watching(self):
            for x in list(self.objects.values()):
                watch(type(x))
            yield

    # --- what is read ---
    def note_module(self, m: torch.nn.Module, name: str, value: Any) -> None:
        """The attribute `name` of a module has been read, and is `value`."""
        if id(m) not in self.modules or name in self.read.get(id(m), ()):
            return
        if name == "__dict__":
            self.note_all(m, [n for n in own(m) if n not in OF_MODULES])
        elif name not in OF_MODULES or (name == "training" and id(m) in self.roots):
            here = own(m).get(name, MISSING)
            there = of_class(type(m), name)
            if isinstance(there, types.MemberDescriptorType):
                self.note_slot(m, name, there)
            elif here is MISSING and there is MISSING and any(name in own(m).get(kind, ()) for kind in _KINDS):
                return  # the signature has it
            elif not isinstance(here, torch.nn.Module):
                self.add(m, name, here)
                if here is not value:
                    self.of_class(type(m), name)

    def note_object(self, x: Any, name: str) -> None:
        """The attribute `name` of an object is read."""
        if id(x) not in self.objects:
            return
        if name in _WHOLE:
            self.note_all(x, list(own(x)))
        if name.startswith("__") or name in self.read.get(id(x), ()) or name in self.slots.get(id(x), ()):
            return
        there = of_class(type(x), name)
        if isinstance(there, types.MemberDescriptorType):
            self.note_slot(x, name, there)
            return
        here = own(x).get(name, MISSING)
        if here is MISSING and isinstance(there, functools.cached_property):
            self.of_class(type(x), name)  # it is about to be there
            return
        if not isinstance(there, property):
            self.add(x, name, here)
        if here is MISSING or hasattr(type(there), "__set__"):
            self.of_class(type(x), name)

    def note_slot(self, x: Any, name: str, member: types.MemberDescriptorType) -> None:
        value = _slot(member, x)
        self.slots.setdefault(id(x), {})[name] = value
        self.owners.setdefault(id(x), Same(x).get)
        if value is not MISSING:
            self.found(value)

    def note_all(self, x: Any, names: Sequence[str]) -> None:
        """All attributes that an object itself has are read."""
        if id(x) not in self.whole:
            self.owners.setdefault(id(x), Same(x).get)
            self.whole[id(x)] = len(own(x))
            for n in names:
                self.add(x, n, own(x).get(n, MISSING))

    def add(self, x: Any, name: str, value: Any) -> None:
        self.owners.setdefault(id(x), Same(x).get)
        if name not in self.read.setdefault(id(x), {}):
            self.read[id(x)][name] = value
            if value is not MISSING:
                self.found(value)

    def assign(self, x: Any, name: str) -> None:
        """The attribute `name` of an object is assigned or deleted."""
        if id(x) in self.objects and (id(x), name) not in self.assigned:
            self.note_object(x, name)  # a trace is for objects that have what is assigned
            self.assigned[id(x), name] = x, held(x, name)

    # --- what is written down ---
    def conditions(self, out: Unchanged, value: Callable[[Unchanged, str, Any], None]) -> None:
        """Write that all is still what it was. `value` writes it for one expression."""
        at: dict[int, str] = {}
        for k, (owner, get) in enumerate(self.owners.items()):
            if owner not in at:
                at[owner] = f"o{k}"
                out.lines.append(f"o{k} = {out.name(get)}()")
                out.lines.append(f"if type(o{k}) is not {out.name(type(get()))}: return False")
            read = self.read.get(owner, {})
            if read or owner in self.whole:
                out.lines.append(f"d = {at[owner]}.__dict__")
            if owner in self.whole:
                out.unless(f"len(d) == {self.whole[owner]}")
            for name, v in read.items():
                if v is MISSING:
                    out.lines.append(f"if {name!r} in d: return False")
                elif id(v) in self.objects and id(v) in self.owners and id(v) not in at:  # what it has is what counts
                    at[id(v)] = f"p{len(at)}"
                    out.lines.append(f"{at[id(v)]} = d[{name!r}]")
                    out.unless(f"type({at[id(v)]}) is {out.name(type(v))}")
                else:
                    value(out, f"d[{name!r}]", v)
            for name, v in self.slots.get(owner, {}).items():
                if v is MISSING:
                    out.unless(f"getattr({at[owner]}, {name!r}, M) is M")
                else:
                    value(out, f"{at[owner]}.{name}", v)


__all__ = ["Reads", "held", "of_class", "own", "put_back"]
