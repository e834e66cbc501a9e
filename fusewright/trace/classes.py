"""`type(x)` in a function that is traced: what it would be outside of the trace.

    type(x) is torch.Tensor, type(p) is torch.nn.Parameter, type(x.shape[0]) is int

Nobody is asked: `type` is no function that could be replaced. While a function is traced, modules whose code uses the
name get a global of that name, which answers for traced tensors and symbolic numbers in the thread that traces, and is
the builtin otherwise. These modules are found by looking through the function, what it calls by name, and the methods
of objects among its arguments.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .failures import PACKAGE, TORCH

_MANY = 4000  # functions that are looked at


def stand_in(of: Callable[[Any], type]) -> type:
    """What stands for `type`; `of(x)` is what it says of an object."""

    class Meta(type):
        def __call__(cls, *args: Any, **options: Any) -> Any:
            if cls is not Type:
                return super().__call__(*args, **options)
            return of(*args) if len(args) == 1 and not options else type(*args, **options)

        def __instancecheck__(cls, x: Any) -> bool:
            return isinstance(x, type) if cls is Type else super().__instancecheck__(x)

        def __subclasscheck__(cls, x: Any) -> bool:
            return issubclass(x, type) if cls is Type else super().__subclasscheck__(x)

        def __eq__(cls, other: object) -> bool:
            return other is cls or (cls is Type and other is type)

        def __hash__(cls) -> int:
            return hash(type) if cls is Type else super().__hash__()

    Type = Meta("type", (type,), {"__module__": "builtins"})
    return Type


def namespaces(fn: Callable[..., Any], values: Iterable[Any]) -> list[dict[str, Any]]:
    """The globals of modules whose code may ask for a `type` when `fn(*values)` runs."""
    found: dict[int, dict[str, Any]] = {}
    seen: set[int] = set()
    waiting: list[Any] = [fn, *(f for v in values for f in _methods(v))]
    while waiting and len(seen) < _MANY:
        f = waiting.pop()
        while isinstance(f, (functools.partial, types.MethodType)):
            f = f.func if isinstance(f, functools.partial) else f.__func__
        if hasattr(f, "__wrapped__"):
            waiting.append(f.__wrapped__)
        if (
            not isinstance(f, types.FunctionType)
            or id(f) in seen
            or f.__code__.co_filename.startswith((TORCH, PACKAGE))
        ):
            continue
        seen.add(id(f))
        names = {n for code in _codes(f.__code__) for n in code.co_names}
        if "type" in names and "type" not in f.__globals__:
            found[id(f.__globals__)] = f.__globals__
        for cell in f.__closure__ or ():
            try:
                waiting.append(cell.cell_contents)
            except ValueError:  # it is empty
                continue
        called = [f.__globals__[n] for n in names if n in f.__globals__]
        waiting += called
        for x in called:
            if isinstance(x, types.ModuleType) and not x.__name__.startswith("torch"):
                waiting += [vars(x)[n] for n in names if n in vars(x)]
            elif isinstance(x, type):
                waiting += _functions(x)
    return list(found.values())


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from _codes(c)


def _functions(t: type) -> list[Any]:
    """The functions in a class, and in its bases."""
    out: list[Any] = []
    for c in t.__mro__:
        if not c.__module__.startswith(("torch.", "builtins")):
            for f in vars(c).values():
                f = f.fget if isinstance(f, property) else getattr(f, "__func__", f)
                out.append(f)
    return out


def _methods(x: Any, depth: int = 0) -> Iterator[Any]:
    """The functions that an argument brings."""
    if isinstance(x, (list, tuple, dict)):
        if depth < 4:
            for y in x.values() if isinstance(x, dict) else x:
                yield from _methods(y, depth + 1)
    elif hasattr(x, "named_modules"):
        for t in {type(m) for m in x.modules()}:
            yield from _functions(t)
        yield from (m.forward for m in x.modules() if "forward" in vars(m))
    else:
        yield x
        yield from _functions(type(x))


__all__ = ["namespaces", "stand_in"]
