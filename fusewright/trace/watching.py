"""Attributes that are read, assigned and deleted while a function is traced: whom it is told.

Python has no hook for it. While any thread traces, `torch.nn.Module` and the classes of objects that are found outside
have a `__getattribute__` of ours, which tells the reader of its own thread, and objects' classes a `__setattr__` and a
`__delattr__`. When the last of them is done, classes have back what they had.
"""

from __future__ import annotations

import enum
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch

from .attributes import MISSING
from .failures import PACKAGE, TORCH
from .reach import foreign

_HEAP = 1 << 9  # the flag of classes that are not built in
_STATE = ("torch.optim.", "torch.amp.", "torch.cuda.amp.", "torch.distributions.", "torch.utils.data.")
_read = object.__getattribute__


class Reader(Protocol):
    """What is told."""

    def note_module(self, m: torch.nn.Module, name: str, value: Any) -> None: ...
    def note_object(self, x: Any, name: str) -> None: ...
    def assign(self, x: Any, name: str) -> None: ...


def built_in(t: type) -> bool:
    """Whether a class is written in C: nobody can change it."""
    return not t.__flags__ & _HEAP


def of_users_class(t: type) -> bool:
    """Whether a class is a program's."""
    return not built_in(t) and not foreign(t.__module__)


def of_torchs_state(t: type) -> bool:
    """Whether a class is one of torch's whose objects hold settings and state of programs, as optimizers do."""
    return not built_in(t) and t.__module__.startswith(_STATE)


def plain_class(t: type) -> bool:
    """Whether attributes of a class are what its dictionary, and those of its bases, say."""
    return type(t).__getattribute__ is type.__getattribute__


def watchable(t: type) -> bool:
    """Whether attributes of a class's objects can be noted when they are read."""
    if not isinstance(t, type) or not plain_class(t) or not (of_users_class(t) or of_torchs_state(t)):
        return False
    if issubclass(t, (torch.nn.Module, torch.Tensor, BaseException, enum.Enum, tuple, type)):
        return False
    return all(c is object or c in _patched or "__getattribute__" not in vars(c) for c in t.__mro__)


@contextmanager
def watching(reader: Reader) -> Iterator[None]:
    """Tell `reader` what this thread reads of modules, and of objects of classes for which `watch` is called."""
    me = threading.get_ident()
    with _lock:
        if not _readers:
            torch.nn.Module.__getattribute__ = _of_module  # type: ignore[assignment, method-assign]
        _readers.setdefault(me, []).append(reader)
    try:
        yield
    finally:
        with _lock:
            _readers[me].pop()
            if not _readers[me]:
                del _readers[me]
            if not _readers:
                del torch.nn.Module.__getattribute__
                _restore()


_lock = threading.RLock()
_readers: dict[int, list[Reader]] = {}  # by thread
_patched: dict[type, dict[str, Any]] = {}  # what classes had in place of ours


def _mine() -> Reader | None:
    found = _readers.get(threading.get_ident())
    return found[-1] if found else None


def _of_module(m: torch.nn.Module, name: str) -> Any:
    """`__getattribute__` of modules. Torch itself looks into the dictionary of attributes, which is no reading."""
    try:
        value = _read(m, name)
    except AttributeError:
        if not name.startswith("__") and (mine := _mine()) is not None:
            mine.note_module(m, name, MISSING)
        raise
    if (not name.startswith("__") or (name == "__dict__" and _by_user())) and (mine := _mine()) is not None:
        mine.note_module(m, name, value)
    return value


def _by_user() -> bool:
    """Whether the caller's caller is code of neither torch nor this package."""
    return not sys._getframe(2).f_code.co_filename.startswith((TORCH, PACKAGE))


def watch(t: type) -> None:
    """Have the objects of a class tell when their attributes are read, assigned and deleted."""
    with _lock:
        if not _readers or any(c in _patched for c in t.__mro__):
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


def added(t: type) -> int:
    """How many names of ours a class has besides its own."""
    return sum(x is MISSING for x in _patched.get(t, {}).values())


def _restore() -> None:
    for t, before in _patched.items():
        for name, f in before.items():
            if f is MISSING:
                delattr(t, name)
            else:
                setattr(t, name, f)
    _patched.clear()


__all__ = ["added", "built_in", "of_users_class", "plain_class", "watch", "watchable", "watching"]
