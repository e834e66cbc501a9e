"""What a value from outside leads to: other values that code can read by it."""

from __future__ import annotations

import enum
import functools
import gc
import itertools
import operator
import types
import weakref
from contextvars import ContextVar
from typing import Any

from .attributes import MISSING

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_EMPTY: tuple[Any, ...] = ([], (), {}, {}.values(), {}.items(), set(), "", b"", range(0), range(1 << 65))
_CONSUMED: set[Any] = {
    types.GeneratorType,
    *(type(iter(x)) for x in _EMPTY),
    *(enumerate, zip, map, filter, reversed, type(reversed([]))),
    *(x for x in vars(itertools).values() if isinstance(x, type)),
}


def leads(x: Any) -> list[Any]:
    """Values that `x`, something of Python itself, gives to those who use it."""
    if isinstance(x, types.MethodType):
        return [x.__self__, x.__func__]
    if isinstance(x, (functools.partial, functools.partialmethod)):
        return [x.func, *x.args, *x.keywords.values()]
    if isinstance(x, types.FunctionType):
        return [*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    if isinstance(x, (staticmethod, classmethod)):
        return [x.__func__]
    if isinstance(x, property):
        return [x.fget]
    if isinstance(x, functools.cached_property):
        return [x.func]
    if isinstance(x, weakref.ref):
        return [x()]
    if isinstance(x, ContextVar):
        return [seen(x)]
    if isinstance(x, enum.Enum):
        return [x._value_]
    return []


def seen(x: ContextVar[Any]) -> Any:
    """What a context variable gives; `MISSING` if nothing."""
    try:
        return x.get()
    except LookupError:
        return MISSING


def hidden(x: Any) -> list[Any]:
    """Containers in `x` that are no attributes, or change without it: what they hold counts wherever `x` does."""
    if isinstance(x, (functools.partial, functools.partialmethod)):
        return [x.keywords, *_containers(x.args)]
    if isinstance(x, types.FunctionType):
        return _containers(leads(x))
    if isinstance(x, enum.Enum):
        return _containers([x._value_])
    if type(x) is types.MappingProxyType or type(x) in _VIEWS:
        return [y for y in gc.get_referents(x) if isinstance(y, dict)]
    return []


def _containers(values: Any) -> list[Any]:
    return [v for v in values if isinstance(v, (list, dict, set))]


def texts(x: Any) -> list[str]:
    """Names of attributes that `x` looks up."""
    if type(x) is operator.attrgetter:
        return [part for name in x.__reduce__()[1] for part in name.split(".")]
    return []


def consumed(x: Any) -> bool:
    """Whether `x` is an iterator that gives each item once: a trace would take one, for many calls."""
    return type(x) in _CONSUMED


__all__ = ["consumed", "hidden", "leads", "seen", "texts"]
