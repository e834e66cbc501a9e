"""What a traced function reads from outside: globals, closures, and attributes of what is found there.

    EPS = 1e-5        def f(x): return x + EPS + config.eps + Settings.eps + cfg.eps

A trace has it built in, so that it is a condition of the trace: calls where it is another one have a trace of their
own. The code that runs while the function is traced tells which names count (`reach.py`); attributes of objects are
noted when they are read (`reads.py`), those of modules, classes, functions and namespaces are the names that the code
has in common with them. Left out are tensors (`kept.py`), and modules of torch, NumPy and Python themselves.

What the function assigns there, or puts into containers, a trace would not do again. It is undone, and the plain
function runs; only tensors that depend on nothing but constants stay where they have been put (`kept.py`).
"""

from __future__ import annotations

import abc
import builtins
import dis
import functools
import sys
import types
from collections import UserDict, UserList
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from . import classes
from .attributes import MISSING
from .failures import PACKAGE
from .kept import Kept
from .numbers import replaced
from .reach import called, foreign, of_users
from .reads import Reads, held, of_users_class, own, put_back, watchable
from .signature import Node
from .state import Change, differ, items, refuse, restore, same, undo
from .unchanged import CONTAINERS, PLAIN, Unchanged

_MANY = 1000  # items of a container that are looked into
_DEPTH = 6
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)


class _Names:
    """The names in code."""

    def __init__(self, code: types.CodeType):
        self.loaded, self.stored, self.attributes = set[str](), set[str](), set[str]()
        self.put, self.modules, cells = set[str](), set[str](), set[str]()
        for i in dis.get_instructions(code):
            if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                self.loaded.add(i.argval)
            elif i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                self.stored.add(i.argval)
            elif i.opname in ("STORE_ATTR", "DELETE_ATTR"):
                self.put.add(i.argval)
            elif i.opname in ("STORE_DEREF", "DELETE_DEREF"):
                cells.add(i.argval)
            elif i.opname == "IMPORT_NAME":
                self.modules.add(i.argval)
            elif i.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
                self.attributes.add(i.argval)
        self.cells = cells & set(code.co_freevars)
        if self.loaded & {"getattr", "hasattr"}:
            self.attributes |= {c for c in code.co_consts if type(c) is str}


class _Space:
    """Names with values: the globals of a module, or attributes of a module, a class, a function or a namespace.

    `now`: the dictionary of them; `before`: what it was; `code`: of what uses globals, else None: all code counts.
    """

    def __init__(self, owner: Any, now: Any, what: str):
        self.owner, self.now, self.what = owner, now, what
        self.before = dict(now)
        self.code: list[_Names] | None = [] if what == "the global" else None

    def put(self, name: str, value: Any) -> None:
        """Put a value back."""
        if self.what == "the global":
            if value is MISSING:
                del self.now[name]
            else:
                self.now[name] = value
        elif value is MISSING:
            delattr(self.owner, name)
        else:
            setattr(self.owner, name, value)


class Outside:
    """What one function reads from outside.

    `structure`: of its arguments; `functions`: that it may call (`reach.reached`); `kept`: what is known of tensors
    that it keeps.
    """

    def __init__(
        self,
        structure: Sequence[Node],
        functions: Sequence[types.FunctionType],
        kept: Kept,
    ):
        self.reads = Reads(structure, self.find)
        self.functions, self.kept = functions, kept
        self.known: dict[int, Any] = {}  # what has been looked at: held, so that an `id` stays its own
        self.spaces: dict[int, _Space] = {}
        self.cells: dict[int, tuple[Any, str, Any]] = {}  # -> cell, name, what was in it
        self.containers: dict[int, tuple[Any, list[Any]]] = {}
        self.inner: set[int] = set()  # containers in containers
        self.code: dict[int, tuple[types.CodeType, _Names]] = {}
        self.stored: set[int | tuple[int, str]] = set()  # what stays as the function leaves it
        self.cells_of: dict[int, list[types.FunctionType]] = {}
        for f in functions:
            self.cells_of.setdefault(id(f.__code__), []).append(f)
        for n in (n for top in structure for n in top.walk()):
            if n.kind in ("object", "method"):
                self.find(n.data.get() if n.kind == "object" else n.data[1].get())
            elif n.kind == "value" and isinstance(n.data[1], type):
                self.find(n.data[1])

    # --- while the function runs ---
    def begin(self, code: types.CodeType, names: dict[str, Any]) -> None:
        """Code of a function begins to run, for the first time; `names`: its globals."""
        if id(code) in self.code:
            return
        mine = _Names(code)
        self.code[id(code)] = code, mine
        space = self.spaces.get(id(names))
        if space is None or space.code is None:
            space = self.spaces[id(names)] = _Space(None, names, "the global")
        assert space.code is not None
        space.code.append(mine)
        for name in mine.loaded:
            self.find(space.before.get(name))
        for module in mine.modules:
            self.find(sys.modules.get(module) or sys.modules.get(f"{names.get('__package__')}.{module}"))
        for f in self.cells_of.get(id(code), ()):
            for name, cell in zip(code.co_freevars, f.__closure__ or (), strict=True):
                if id(cell) not in self.cells:
                    self.cells[id(cell)] = cell, name, _contents(cell)
                    self.find(_contents(cell))
        for s in list(self.spaces.values()):
            if s.code is None:
                self.enter(s, mine.attributes)

    def enter(self, s: _Space, names: set[str]) -> None:
        for name in names & s.before.keys():
            self.find(s.before[name])

    def find(self, x: Any, depth: int = 0) -> None:
        """Look at something that has been found outside."""
        t = type(x)
        if t in PLAIN or isinstance(x, torch.Tensor) or id(x) in self.known or depth > _DEPTH:
            return
        self.known[id(x)] = x
        if isinstance(x, torch.nn.Module):
            self.reads.module(x)
        elif t is types.MethodType:
            self.find(x.__self__, depth + 1)
        elif t is functools.partial:
            for y in (x.func, *x.args, *x.keywords.values()):
                self.find(y, depth + 1)
        elif isinstance(x, types.ModuleType):
            if not foreign(x.__name__):
                self.space(x, vars(x), "the attribute")
        elif isinstance(x, type):
            if t in (type, abc.ABCMeta) and of_users_class(x):
                for c in x.__mro__:
                    if of_users_class(c):
                        self.known[id(c)] = c
                        self.space(c, vars(c), "the attribute")
        elif t is types.FunctionType:
            if vars(x) and of_users(x.__code__, x.__globals__):
                self.space(x, vars(x), "the attribute")
        elif isinstance(x, (*CONTAINERS, tuple, frozenset)):
            if isinstance(x, CONTAINERS):
                self.containers[id(x)] = x, items(x)
            for y in items(x)[:_MANY]:
                self.find(y, depth + 1)
                if isinstance(y, CONTAINERS):
                    self.inner.add(id(y))
            if watchable(t):
                self.reads.object(x)
        elif watchable(t):
            self.reads.object(x)
        elif t in (UserDict, UserList):
            self.find(x.data, depth + 1)
            self.inner.add(id(x.data))
        elif own(x) and (t.__module__ in ("types", "argparse") or of_users_class(t)):
            self.space(x, own(x), "the attribute")

    def space(self, owner: Any, names: Any, what: str) -> None:
        s = self.spaces.setdefault(id(owner), _Space(owner, names, what))
        for _, mine in list(self.code.values()):
            self.enter(s, mine.attributes)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note what this thread reads. Raises Refusal for what a trace would not do again, which is undone.

        If tensors are kept that are to be arguments, it may have been a first call that sets things up: that is left
        for another attempt to tell. So are tensors that are no constants: it may be an error that they are used again.
        """
        failed = True
        try:
            with self.reads.watched(), called(self.begin, self.functions):
                yield
            failed = False
        finally:
            found = list(self.changes())
            if any(c.kind == "constant" for c in found):
                self.kept.changes += [c for c in found if c.kind != "constant"]
            elif failed:
                undo(found)
            else:
                self.kept.changes += found
        plain = [c for c in found if c.kind == "plain"]
        if plain and all(c.kind != "constant" for c in found):
            undo(self.kept.changes)
            refuse(plain)

    # --- after it has run ---
    def changes(self) -> Iterator[Change]:
        """What the function has changed."""
        put = {n for _, mine in self.code.values() for n in mine.put}
        for key, s in self.spaces.items():
            for name in put if s.code is None else {n for mine in s.code for n in mine.stored}:
                before, now = s.before.get(name, MISSING), s.now.get(name, MISSING)
                if not same(before, now):
                    what = f"assigns {s.what} {name}" + (f" of {_title(s.owner)}" if s.code is None else "")
                    yield self.change((key, name), now, what, functools.partial(s.put, name, before))
        nonlocals = {n for _, mine in self.code.values() for n in mine.cells}
        for key, (cell, name, before) in self.cells.items():
            now = _contents(cell)
            if name in nonlocals and not same(before, now):
                yield self.change(key, now, f"assigns the nonlocal {name}", functools.partial(_fill, cell, before))
        for (key, name), (x, before) in self.reads.assigned.items():
            now = held(x, name)
            if not same(before, now):
                what = f"assigns the attribute {name} of a {type(x).__name__}"
                yield self.change((key, name), now, what, functools.partial(put_back, x, name, before))
        for key, (c, was) in self.containers.items():
            if differ(c, was):
                new = [x for x in items(c) if not any(x is y for y in was)]
                what = f"changes a {type(c).__name__} that is none of its arguments"
                yield self.change(key, new, what, functools.partial(restore, c, was))

    def change(self, key: int | tuple[int, str], now: Any, what: str, back: Callable[[], None]) -> Change:
        found = list(_tensors(now))
        kind = "plain" if not found else "constant" if all(map(self.kept.constant, found)) else "tensor"
        self.stored.add(key)
        return Change(kind, what, back)

    def unchanged(self) -> Callable[[], bool] | None:
        """A function that says whether all that the function reads still is what it was; None if it reads nothing."""
        out = Unchanged()
        attributes = {n for _, mine in self.code.values() for n in mine.attributes | mine.put}
        for key, s in self.spaces.items():
            at = out.name(s.now) if not isinstance(s.owner, type) else out.name(s.owner)
            names = attributes if s.code is None else {n for mine in s.code for n in mine.loaded | mine.stored}
            for name in sorted(names):
                if (key, name) in self.stored or name.startswith("__"):
                    continue
                value = s.before.get(name, MISSING)
                if isinstance(s.owner, type):
                    if value is not MISSING and getattr(s.owner, name, MISSING) is value:
                        self.value(out, f"{at}.{name}", value)
                elif value is not MISSING:
                    self.value(out, f"{at}[{name!r}]", value)
                elif s.code is not None and not hasattr(builtins, name):
                    out.lines.append(f"if {name!r} in {at}: return False")
        for key, (cell, _, value) in self.cells.items():
            if key not in self.stored and value is not MISSING:
                self.value(out, f"{out.name(cell)}.cell_contents", value)
        self.reads.conditions(out, functools.partial(self.value, out))
        for key in self.inner:
            self.value(out, out.name(self.known[key]), self.known[key])
        self.close()
        return out.build()

    def value(self, out: Unchanged, e: str, v: Any) -> None:
        """Write that the expression `e` still is `v`."""
        if isinstance(v, torch.Tensor) or replaced(v) or id(v) in self.stored:
            return
        if isinstance(v, types.ModuleType) and foreign(v.__name__):
            return
        if type(v).__module__ == classes.__name__:  # it stands for `type`
            return
        if isinstance(v, types.FunctionType) and v.__code__.co_filename.startswith(PACKAGE):
            return
        if isinstance(v, (*CONTAINERS, tuple, frozenset)):
            before = self.containers[id(v)][1] if id(v) in self.containers else items(v)
            if any(True for _ in _tensors(before)):
                return
            out.value(e, v, before if isinstance(v, CONTAINERS) else None)
        else:
            out.value(e, v)

    def close(self) -> None:
        """Forget all."""
        self.__dict__.clear()


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return MISSING


def _fill(cell: Any, value: Any) -> None:
    if value is MISSING:
        del cell.cell_contents
    else:
        cell.cell_contents = value


def _title(owner: Any) -> str:
    return str(getattr(owner, "__name__", None) or f"a {type(owner).__name__}")


def _tensors(x: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """The tensors that something holds, as far as containers and attributes lead to them."""
    if isinstance(x, torch.Tensor):
        yield x
    elif type(x) in PLAIN or isinstance(x, (type, torch.nn.Module, *_FUNCTIONS)) or depth > _DEPTH:
        return
    else:
        inside = items(x) if isinstance(x, (*CONTAINERS, tuple, frozenset)) else []
        for y in (*inside[:_MANY], *own(x).values()):
            yield from _tensors(y, depth + 1)


__all__ = ["Outside"]
