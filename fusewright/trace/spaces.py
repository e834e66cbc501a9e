"""Names with values: the globals of a module, and attributes of modules, classes, functions and namespaces.

Nobody is told when these are read. Of each, those names count that the code which runs has in it; their values are
looked at before that code runs, so that they are conditions of the trace, and so that what it assigns is noticed.
"""

from __future__ import annotations

import builtins
import threading
import types
from collections.abc import Callable
from typing import Any

from .attributes import MISSING
from .names import Names
from .unchanged import Unchanged

Value = Callable[[Unchanged, str, Any], None]  # writes that an expression still is a value


class Space:
    """Names with values, as they were when it was made.

    `names`: the dictionary of them; `before`: what it was; `code`: the code that counts.
    """

    def __init__(self, owner: Any, names: Any, code: list[Names]):
        self.owner, self.names, self.code = owner, names, code
        self.before: dict[str, Any] = dict(names)

    def used(self) -> set[str]:
        """The names among `before` that code uses."""
        return {n for code in self.code for n in code.among(self.before)}

    def absent(self) -> set[str]:
        """The names that code uses and that are not there."""
        return {n for code in self.code for n in (code.attributes | code.texts)} - self.before.keys()

    def assigned(self) -> set[str]:
        """The names that code assigns."""
        return {n for code in self.code for n in code.put}

    def of(self) -> str:
        """What it belongs to, for messages."""
        return f" of {getattr(self.owner, '__name__', None) or f'a {type(self.owner).__name__}'}"

    what = "the attribute"

    def put(self, name: str, value: Any) -> None:
        """Put a value back."""
        if value is MISSING:
            delattr(self.owner, name)
        else:
            setattr(self.owner, name, value)

    def at(self, out: Unchanged) -> str:
        """The dictionary, as an expression."""
        return out.name(self.names)

    def conditions(self, out: Unchanged, value: Value, left_out: Callable[[str], bool]) -> None:
        """Write that names have the values that they had, but those `left_out`."""
        at = self.at(out)
        for name in sorted(self.used()):
            if not left_out(name) and not name.startswith("__"):
                value(out, f"{at}[{name!r}]", self.before[name])
        absent = {n for n in self.absent() if not left_out(n) and not n.startswith("__")}
        if absent:
            out.absent(at, absent, len(self.before))


class Attributes(Space):
    """The attributes of a Python module or of a function: one that is not there is an error, but where code asks."""

    def absent(self) -> set[str]:
        return super().absent() if any(code.asks or "AttributeError" in code.loaded for code in self.code) else set()


class Globals(Space):
    """The globals of a module, for the code of its functions."""

    what = "the global"

    def used(self) -> set[str]:
        return {n for code in self.code for n in code.globals_among(self.before)}

    def absent(self) -> set[str]:
        return {n for code in self.code for n in code.loaded | code.stored} - self.before.keys()

    def assigned(self) -> set[str]:
        return {n for code in self.code for n in code.stored}

    def of(self) -> str:
        return ""

    def put(self, name: str, value: Any) -> None:
        if value is MISSING:
            del self.names[name]
        else:
            self.names[name] = value

    def conditions(self, out: Unchanged, value: Value, left_out: Callable[[str], bool]) -> None:
        at = self.at(out)
        for name in sorted(self.used() | self.absent()):
            if left_out(name) or name.startswith("__"):
                continue
            if name in self.before:
                value(out, f"{at}[{name!r}]", self.before[name])
            elif not hasattr(builtins, name):
                out.lines.append(f"if {name!r} in {at}: return False")


class OfThread(Space):
    """The attributes of a `threading.local`: each thread's own."""

    def __init__(self, owner: threading.local, code: list[Names]):
        super().__init__(owner, vars(owner), code)

    def at(self, out: Unchanged) -> str:
        return f"{out.name(self.owner)}.__dict__"


class OfClass(Space):
    """What a class itself has. `read`: names that were read of its objects, whatever the code says."""

    def __init__(self, owner: type, code: list[Names], begun: Callable[[types.CodeType], bool], extra: int):
        super().__init__(owner, vars(owner), code)
        self.begun, self.count = begun, len(self.before) - extra
        self.read = set[str]()

    def used(self) -> set[str]:
        run = {n for n, x in self.before.items() if isinstance(x, types.FunctionType) and self.begun(x.__code__)}
        return super().used() | (self.read & self.before.keys()) | run

    def absent(self) -> set[str]:
        return super().absent() | (self.read - self.before.keys())

    def conditions(self, out: Unchanged, value: Value, left_out: Callable[[str], bool]) -> None:
        used = sorted(n for n in self.used() if not left_out(n) and n not in _PATCHED)
        absent = {n for n in self.absent() if not left_out(n) and not n.startswith("__")}
        if not used and not absent:
            return
        out.lines.append(f"c = {out.name(self.owner)}.__dict__")
        for name in used:
            x = self.before[name]
            if isinstance(x, _DESCRIPTORS):
                out.lines.append(f"if c[{name!r}] is not {out.name(x)}: return False")
            elif not name.startswith("__"):
                value(out, f"c[{name!r}]", x)
        if absent:
            out.absent("c", absent, self.count)


_PATCHED = ("__getattribute__", "__setattr__", "__delattr__")  # are others while reads are noted (`reads.py`)
_DESCRIPTORS = (types.FunctionType, property, staticmethod, classmethod, types.MemberDescriptorType)


__all__ = ["Attributes", "Globals", "OfClass", "OfThread", "Space"]
