"""Arguments of scripted functions: whether a value is what a type says, and what TorchScript makes of others.

TorchScript takes integers for floats, tuples for lists, and more. What is common is converted here; the rest is left to
the scripted function itself, with its errors.
"""

from __future__ import annotations

from typing import Any

import torch

_PLAIN = {"int": int, "float": float, "bool": bool, "str": str, "complex": complex, "Device": torch.device}
UNKNOWN = object()  # there is no such conversion


def split_type(text: str) -> tuple[str, list[str]]:
    """The head and the parts of a type: "Dict[str, Tensor]" gives ("Dict", ["str", "Tensor"])."""
    head, _, rest = text.partition("[")
    if not rest:
        return head, []
    inner, parts, depth, start = rest[:-1], [], 0, 0
    for k, c in enumerate(inner):
        depth += (c == "[") - (c == "]")
        if c == "," and depth == 0:
            parts.append(inner[start:k].strip())
            start = k + 1
    return head, [*parts, inner[start:].strip()]


def test(kind: str, e: str) -> str:
    """Python source of a condition: the value of `e` is what the type `kind` says; "" if there is nothing to ask."""
    head, parts = split_type(kind)
    if head in _PLAIN:
        return f"type({e}) is {'_torch.device' if head == 'Device' else head}"
    if head == "Tensor":
        return f"isinstance({e}, _torch.Tensor)"
    if head == "Optional":
        inner = test(parts[0], e)
        return f"({e} is None or {inner})" if inner else ""
    if head in ("List", "Dict", "Tuple", "Union"):
        return f"_fits({kind!r}, {e})"
    return ""


def fits(kind: str, x: Any) -> bool:
    """Whether a value is what a type says; true for types that are not known here."""
    head, parts = split_type(kind)
    if head in _PLAIN:
        return type(x) is _PLAIN[head]
    if head == "Tensor":
        return isinstance(x, torch.Tensor)
    if head == "Optional":
        return x is None or fits(parts[0], x)
    if head == "Union":
        return any(fits(p, x) for p in parts)
    if head == "List":
        return type(x) is list and all(fits(parts[0], y) for y in x)
    if head == "Tuple":
        return isinstance(x, tuple) and len(x) == len(parts) and all(map(fits, parts, x))
    if head == "Dict":
        return type(x) is dict and all(fits(parts[0], k) and fits(parts[1], v) for k, v in x.items())
    return True


def convert(kind: str, x: Any) -> Any:
    """A value as what a type says, as TorchScript converts it; UNKNOWN if that is not known here."""
    if fits(kind, x):
        return x
    head, parts = split_type(kind)
    if head in ("float", "complex") and type(x) in (int, bool, float):
        try:
            return _PLAIN[head](x)
        except OverflowError:
            return UNKNOWN
    if head == "int" and type(x) is bool:
        return int(x)
    if head == "Optional":
        return convert(parts[0], x)
    if head == "List" and isinstance(x, (list, tuple)):
        out = [convert(parts[0], y) for y in x]
        return UNKNOWN if any(y is UNKNOWN for y in out) else out
    if head == "Tuple" and isinstance(x, tuple) and len(x) == len(parts):
        items = [convert(p, y) for p, y in zip(parts, x, strict=True)]
        return UNKNOWN if any(y is UNKNOWN for y in items) else tuple(items)
    return UNKNOWN


def copied(x: Any) -> Any:
    """A list or dictionary with all that it holds, copied: TorchScript changes its own, not the caller's."""
    if type(x) is list:
        return [copied(y) for y in x]
    if type(x) is dict:
        return {k: copied(v) for k, v in x.items()}
    return tuple(map(copied, x)) if type(x) is tuple else x


__all__ = ["UNKNOWN", "convert", "copied", "fits", "split_type", "test"]
