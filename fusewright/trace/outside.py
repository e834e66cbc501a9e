"""What a traced function reads from outside: globals, closures, and attributes of what is found there.

    EPS = 1e-5        def f(x): return x + EPS + config.eps + Settings.eps + cfg.eps

A trace has it built in, so that it is a condition of the trace: calls where it is another one have a trace of their
own. There are four kinds of it:

    names         globals, and attributes of Python modules, classes, functions and namespaces: those that are in the
                  code which runs while the function is traced (`reach.py` tells, `names.py`, `spaces.py`)
    attributes    of modules and objects: those that are read then (`reads.py`)
    cells         of closures whose code runs, and the defaults of functions
    contents      of lists, dictionaries, sets and deques that are found in any of these

Whatever is found is looked at as soon as code that may use it begins to run (`Outside.find`), and what it leads to as
well (`leads.py`). Left out are tensors (`kept.py`), and modules of torch, NumPy and Python themselves.

What the function assigns there, or puts into containers, a trace would not do again. It is undone, and the plain
function runs; only tensors that depend on nothing but constants stay where they have been put (`kept.py`).
"""

from __future__ import annotations

import argparse
import copy
import functools
import sys
import threading
import types
from collections import ChainMap, UserDict, UserList, UserString
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch

from ..core.errors import Refusal
from . import classes, environment
from .attributes import MISSING
from .failures import PACKAGE
from .kept import Kept
from .leads import consumed, hidden, leads, seen, texts
from .names import Names
from .numbers import replaced
from .reach import called, foreign, of_users
from .reads import Reads, held, of_class, own, put_back
from .signature import Node
from .sizes import NUMBERS
from .spaces import Attributes, Globals, OfClass, OfThread, Space
from .state import Change, differ, items, number_keys, refuse, restore, same, undo
from .unchanged import CONTAINERS, MEMORY, PLAIN, Unchanged, memory
from .watching import added, built_in, of_users_class, plain_class, watchable

_MANY = 20_000  # items of a container that are looked into
_LARGE = 1 << 20  # bytes
_FEW = 64  # texts in a container that may be names
_DEPTH = 12
_NAMESPACES = (types.SimpleNamespace, argparse.Namespace)
_METHODS = (property, staticmethod, classmethod, functools.cached_property, functools.partialmethod)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)
# Classes written in Python whose objects are what their attributes are, whatever names code has.
_TRANSPARENT = (UserDict, UserList, UserString, ChainMap)


class Outside:
    """What one function reads from outside.

    `fn`: the function; `structure`: of its arguments; `functions`: that it may call (`reach.reached`); `kept`: what is
    known of tensors that it keeps.
    """

    def __init__(
        self, fn: Callable[..., Any], structure: Sequence[Node], functions: Sequence[types.FunctionType], kept: Kept
    ):
        self.reads = Reads(structure, self.find, self.read_of_class)
        self.functions, self.kept = functions, kept
        self.known: dict[int, Any] = {}  # what has been looked at: held, so that an `id` stays its own
        self.code: dict[int, tuple[types.CodeType, Names]] = {}  # that has begun to run
        self.every: list[Names] = []  # the same, for attributes
        self.globals: dict[int, Globals] = {}  # by their dictionary
        self.spaces: dict[int, Space] = {}  # by what has the attributes
        self.cells: dict[int, tuple[Any, str, Any]] = {}  # -> cell, name, what was in it
        self.with_code: dict[int, list[types.FunctionType]] = {}  # functions by their code
        self.defaults: dict[int, tuple[types.FunctionType, Any, Any]] = {}
        self.containers: dict[int, tuple[Any, list[Any]]] = {}  # -> container, what it held
        self.memory: dict[int, tuple[Any, Any]] = {}  # -> numbers in memory, a copy of them
        self.inner: set[int] = set()  # what of these count wherever what has them does
        self.variables: dict[int, tuple[ContextVar[Any], Any, Any]] = {}  # -> what is set, and what is seen
        self.imports: dict[str, Any] = {}  # modules by name
        self.variables_read: dict[str, str | None] = {}  # of the environment
        self.texts = set[str]()  # that are found: names of attributes, where code looks these up by a text
        self.getters = set[str]()  # names of attributes that `operator.attrgetter` looks up
        self.stored: set[int | tuple[int, str]] = set()  # what stays as the function leaves it
        self.refusal: Refusal | None = None
        root = getattr(fn, "__wrapped__", fn)  # what was fused: each call gives its defaults as arguments
        self.roots = {id(root), id(getattr(root, "__func__", None))}
        for f in (*functions, root):
            self.find(f)
        for m in self.reads.given:
            self.find(type(m))
            if of_class(type(m), "forward") is root:  # it is what was fused
                self.reads.note_module(m, "forward", root)
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
        mine = Names(code)
        self.code[id(code)] = code, mine
        self.every.append(mine)
        if id(names) not in self.globals:
            self.globals[id(names)] = Globals(None, names, [])
        here = self.globals[id(names)]
        here.code.append(mine)
        for name in mine.globals_among(here.before):
            self.find(here.before[name])
        for module in mine.modules:
            name = module if module in sys.modules else f"{names.get('__package__')}.{module}"
            self.find(sys.modules.get(name))
            if name in sys.modules and not foreign(name):
                self.imports[name] = sys.modules[name]
        for f in self.with_code.get(id(code), ()):
            self.enter_function(f)
        mine.attributes |= self.getters | (self.texts if mine.asks else set())
        for s in list(self.spaces.values()):
            self.enter(s, mine)

    def enter(self, s: Space, mine: Names) -> None:
        """Look at what code may read of a space."""
        for name in mine.among(s.before):
            self.find(s.before[name])

    def enter_function(self, f: types.FunctionType) -> None:
        """Look at what a function that runs has: cells and defaults."""
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            if id(cell) not in self.cells:
                self.cells[id(cell)] = cell, name, _contents(cell)
                self.find(_contents(cell))
        if id(f) not in self.roots and id(f) not in self.defaults:
            self.defaults[id(f)] = f, f.__defaults__, f.__kwdefaults__
            self.follow(f, 0)

    def read_environment(self, name: str) -> None:
        """A variable of the environment is read."""
        self.variables_read.setdefault(name, environment.value(name))

    # --- what is found ---
    def find(self, x: Any, depth: int = 0) -> None:
        """Look at something that has been found outside. Raises Refusal for what gives something else each time."""
        t = type(x)
        if t in PLAIN or isinstance(x, torch.Tensor) or id(x) in self.known or depth > _DEPTH:
            return
        self.known[id(x)] = x
        if isinstance(x, torch.nn.Module):
            self.reads.module(x)
        elif isinstance(x, types.ModuleType):
            if not foreign(x.__name__):
                self.space(Attributes(x, vars(x), self.every))
        elif isinstance(x, type):
            self.find_class(x)
        elif t is types.FunctionType:
            if of_users(x.__code__, x.__globals__):
                self.with_code.setdefault(id(x.__code__), []).append(x)
                if vars(x):
                    self.space(Attributes(x, vars(x), self.every))
                if id(x.__code__) in self.code:
                    self.enter_function(x)
        elif consumed(x):
            self.refusal = Refusal("state", f"it uses a {t.__name__} that is none of its own: each item is there once")
            raise self.refusal
        elif isinstance(x, MEMORY):
            if getattr(x, "nbytes", sys.getsizeof(x)) <= _LARGE:  # of a larger one only which it is
                self.memory[id(x)] = x, copy.copy(x)
        else:
            self.getters.update(texts(x))
            self.follow(x, depth)
            if isinstance(x, ContextVar):
                self.variables[id(x)] = x, x.get(MISSING), seen(x)
            self.find_object(x, t, depth)

    def follow(self, x: Any, depth: int) -> None:
        """Look at what something of Python itself leads to."""
        for y in leads(x):
            self.find(y, depth + 1)
        for y in hidden(x):
            self.find(y, depth + 1)
            self.inner.add(id(y))

    def find_class(self, t: type) -> None:
        if not plain_class(t) or not of_users_class(t):
            return
        self.find(type(t))
        for c in t.__mro__:
            if of_users_class(c) and id(c) not in self.spaces:
                self.known[id(c)] = c
                for x in list(vars(c).values()):
                    if isinstance(x, types.FunctionType):
                        self.find(x)
                    elif isinstance(x, _METHODS):
                        self.follow(x, 0)
                self.space(OfClass(c, self.every, self.begun, added(c)))

    def begun(self, code: types.CodeType) -> bool:
        """Whether code has run."""
        return id(code) in self.code

    def find_object(self, x: Any, t: type, depth: int) -> None:
        if isinstance(x, (*CONTAINERS, tuple, frozenset)):
            self.find_items(x, depth)
        if isinstance(x, threading.local):
            self.find(t)
            self.space(OfThread(x, self.every))
        elif watchable(t):
            self.find(t)
            self.reads.object(x)
        elif isinstance(x, _TRANSPARENT):
            self.reads.note_all(x, list(own(x)))
        elif isinstance(x, _NAMESPACES) or (own(x) and (t.__module__ == "functools" or of_users_class(t))):
            self.find(t)
            self.space(Space(x, own(x), self.every))

    def find_items(self, x: Any, depth: int) -> None:
        held = items(x)
        if isinstance(x, CONTAINERS):
            self.containers[id(x)] = x, held
        for y in [y for y in held if type(y) not in PLAIN][:_MANY]:
            self.find(y, depth + 1)
            if isinstance(y, (*CONTAINERS, *MEMORY)) and id(y) in self.known:
                self.inner.add(id(y))
        names = held[::2] if isinstance(x, dict) else held
        if len(names) <= _FEW:
            self.texts.update(y for y in names if type(y) is str)

    def space(self, s: Space) -> None:
        self.spaces[id(s.owner)] = s
        for mine in list(self.every):
            self.enter(s, mine)

    def read_of_class(self, t: type, name: str) -> None:
        """An object's attribute is read that is not its own: what classes have is looked for in their order."""
        for c in t.__mro__:
            there = vars(c).get(name, MISSING)
            if of_users_class(c):
                self.find(c)
            elif there is not MISSING and id(c) not in self.spaces and not built_in(c):
                self.space(OfClass(c, [], self.begun, added(c)))
            s = self.spaces.get(id(c))
            if isinstance(s, OfClass):
                s.read.add(name)
                self.find(s.before.get(name))
            if there is not MISSING:
                return

    # --- what it does there ---
    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note what this thread reads. Raises Refusal for what a trace would not do again, which is undone.

        If tensors are kept that are to be arguments, it may have been a first call that sets things up: that is left
        for another attempt to tell. So are tensors that are no constants: it may be an error that they are used again.
        """
        failed = True
        try:
            with self.reads.watched(), called(self.begin, self.read_environment, self.functions):
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
        only = [c for c in found if c.kind == "plain"]
        if only and all(c.kind != "constant" for c in found):
            undo(self.kept.changes)
            refuse(only)
        if self.refusal is not None:  # the function has caught it
            raise self.refusal

    def changes(self) -> Iterator[Change]:
        """What the function has changed."""
        for key, s in (*self.globals.items(), *self.spaces.items()):
            for name in s.assigned():
                before, now = s.before.get(name, MISSING), s.names.get(name, MISSING)
                if not same(before, now):
                    what = f"assigns {s.what} {name}{s.of()}"
                    yield self.change((key, name), now, what, functools.partial(s.put, name, before))
        nonlocals = {n for mine in self.every for n in mine.cells}
        for k, (cell, name, before) in self.cells.items():
            now = _contents(cell)
            if name in nonlocals and not same(before, now):
                yield self.change(k, now, f"assigns the nonlocal {name}", functools.partial(_fill, cell, before))
        for (k, name), (x, before) in self.reads.assigned.items():
            now = held(x, name)
            if not same(before, now):
                what = f"assigns the attribute {name} of a {type(x).__name__}"
                yield self.change((k, name), now, what, functools.partial(put_back, x, name, before))
        for k, (c, was) in self.containers.items():
            if differ(c, was):
                if isinstance(c, dict):
                    number_keys(c)
                new = [x for x in items(c) if not any(x is y for y in was)]
                what = f"changes a {type(c).__name__} that is none of its arguments"
                yield self.change(k, new, what, functools.partial(restore, c, was))
        for k, (x, copied) in self.memory.items():
            if memory(x) != memory(copied):
                what = f"changes a {type(x).__name__} that is none of its arguments"
                yield self.change(k, None, what, functools.partial(x.__setitem__, slice(None), copied))
        for k, (variable, before, value) in self.variables.items():
            now = variable.get(MISSING)
            if not same(before, now):
                back = (lambda: None) if value is MISSING else functools.partial(variable.set, value)
                yield self.change(k, now, f"sets the context variable {variable.name}", back)

    def change(self, key: int | tuple[int, str], now: Any, what: str, back: Callable[[], Any]) -> Change:
        found = list(_tensors(now))
        symbolic = any(isinstance(x, NUMBERS) for x in found)  # the plain function puts the number there
        kind = "plain" if not found or symbolic else "constant" if all(map(self.kept.constant, found)) else "tensor"
        self.stored.add(key)
        return Change(kind, what, back)

    # --- what a trace is for ---
    def unchanged(self) -> Callable[[], bool] | None:
        """A function that says whether all that the function reads still is what it was; None if it reads nothing."""
        out = Unchanged()
        for key, s in (*self.globals.items(), *self.spaces.items()):
            s.conditions(out, self.value, lambda name, key=key: (key, name) in self.stored)  # type: ignore[misc]
        for k, (cell, _, value) in self.cells.items():
            if k not in self.stored and value is not MISSING:
                self.value(out, f"{out.name(cell)}.cell_contents", value)
        for f, given, named in self.defaults.values():
            f_, code, args = out.name(f), out.name(f.__code__), out.name(given)
            out.lines.append(f"if {f_}.__code__ is not {code} or {f_}.__defaults__ is not {args}: return False")
            if named:
                self.value(out, f"{f_}.__kwdefaults__", named)
        self.reads.conditions(out, self.value)
        for k in self.inner & self.known.keys():
            self.value(out, out.name(self.known[k]), self.known[k])
        for k, (variable, value, _) in self.variables.items():
            if k not in self.stored:
                self.value(out, f"{out.name(variable)}.get(M)", value)
        for name, module in self.imports.items():
            out.lines.append(f"if {out.name(sys.modules)}.get({name!r}) is not {out.name(module)}: return False")
        environment.conditions(out, self.variables_read)
        self.close()
        return out.build()

    def value(self, out: Unchanged, e: str, v: Any) -> None:
        """Write that the expression `e` still is `v`."""
        if isinstance(v, torch.Tensor):
            if id(v) in self.kept.asked:
                out.about(e, v)
            return
        if replaced(v):
            return
        if id(v) in self.stored:
            if id(v) in self.containers:
                out.besides(e, v, (), (), self.was(v))
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
                return out.besides(e, v, self.literals(), self.kept.asked)
            out.value(e, v, before if isinstance(v, CONTAINERS) else None)
        elif id(v) in self.memory:
            out.memory(e, self.memory[id(v)][1])
        else:
            out.value(e, v)

    def literals(self) -> set[str]:
        """The texts in the code that has run."""
        return {text for mine in self.every for text in mine.literals}

    def was(self, c: Any) -> list[tuple[Any, Any]]:
        """The keys or places and the items that a container had when it was found."""
        before = self.containers[id(c)][1]
        if isinstance(c, dict):
            return list(zip(before[::2], before[1::2], strict=True))
        return [(y, y) for y in before] if isinstance(c, set) else list(enumerate(before))

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


def _tensors(x: Any) -> Iterator[Any]:
    """The tensors and symbolic numbers that something holds, as far as containers and attributes lead to them."""
    waiting, seen = [x], dict[int, Any]()
    while waiting and len(seen) < _MANY:
        y = waiting.pop()
        if isinstance(y, (torch.Tensor, *NUMBERS)):
            yield y
        elif type(y) not in PLAIN and not isinstance(y, (type, torch.nn.Module, *_FUNCTIONS)) and id(y) not in seen:
            seen[id(y)] = y
            waiting += items(y) if isinstance(y, (*CONTAINERS, tuple, frozenset)) else []
            waiting += own(y).values()


__all__ = ["Outside"]
