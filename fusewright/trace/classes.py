"""`type(x)` in a function that is traced: what it would be outside of the trace.

    type(x) is torch.Tensor, type(p) is torch.nn.Parameter, type(x.shape[0]) is int

Nobody is asked: `type` is no function that could be replaced. While a function is traced, modules whose code uses the
name get a global of that name, which answers for traced tensors and symbolic numbers in the thread that traces, and is
the builtin otherwise. These modules are found by looking through the function, what it calls by name, and the methods
of objects among its arguments (`reach.py`).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

from .reach import names_of


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

        @property  # type: ignore[misc]
        def __dict__(cls) -> Any:  # type: ignore[override]
            """For `type.__dict__["__mro__"]`, of `inspect`."""
            return vars(type) if cls is Type else type.__dict__["__dict__"].__get__(cls)

    Type = Meta("type", (type,), {"__module__": "builtins"})
    return Type


def namespaces(functions: Iterable[types.FunctionType]) -> list[dict[str, Any]]:
    """The globals of modules whose code, in these functions, may ask for a `type`."""
    found: dict[int, dict[str, Any]] = {}
    for f in functions:
        if "type" in names_of(f) and "type" not in f.__globals__:
            found[id(f.__globals__)] = f.__globals__
    return list(found.values())


__all__ = ["namespaces", "stand_in"]
