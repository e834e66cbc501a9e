"""Calls of a function whose wrapper sees which arguments are given: those that are not are left out.

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        kwargs.setdefault("scale", config.scale)        # raises where `scale` has come by position
        return f(*args, **kwargs)

A fused function takes all parameters of what is wrapped, with its defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any


def is_wrapper(fn: Callable[..., Any]) -> bool:
    """Whether the signature that `inspect` finds is that of another function."""
    return hasattr(getattr(fn, "__func__", fn), "__wrapped__")


def as_given(fn: Callable[..., Any], parameters: Sequence[inspect.Parameter]) -> Callable[..., Any]:
    """`fn` as a function of the values of all `parameters` by position. What has a default is handed on by name, and
    not at all if it is the default; by position only where more positional arguments follow, or it must be."""

    def call(*values: Any) -> Any:
        args: list[Any] = []
        named: dict[str, Any] = {}
        follow = any(p.kind is p.VAR_POSITIONAL and v for p, v in zip(parameters, values, strict=True))
        for p, v in zip(parameters, values, strict=True):
            optional = p.default is not p.empty and not (follow and p.kind is p.POSITIONAL_OR_KEYWORD)
            if p.kind is p.VAR_POSITIONAL:
                args.extend(v)
            elif p.kind is p.VAR_KEYWORD:
                named.update(v)
            elif p.kind is p.POSITIONAL_ONLY or (p.kind is p.POSITIONAL_OR_KEYWORD and not optional):
                args.append(v)
            elif v is not p.default:
                named[p.name] = v
        return fn(*args, **named)

    call.__wrapped__ = fn  # type: ignore[attr-defined]
    return call


__all__ = ["as_given", "is_wrapper"]
