"""The Python of plans, checked before it is run: it can name nothing but what it is given.

A plan calls what its scope holds by name, and a few methods of tensors; sizes are arithmetic. So the names in its code,
globals and attributes alike, are all of a list, and none of them leads anywhere else. A text that does not pass is no
plan. (The machine code beside it is another matter: who runs that trusts the file.)
"""

from __future__ import annotations

import dis
from collections.abc import Iterable
from types import CodeType

_BUILTINS = ("KeyError", "abs", "bool", "float", "int", "len", "max", "min", "round", "slice")
_METHODS = (
    *("bit_length", "clear", "copy_", "data_ptr", "dim", "is_contiguous", "make", "numel", "shape", "size", "stride"),
)
_MATH = tuple("acos asin asinh atan ceil cos cosh exp floor inf log log2 nan pow sin sinh sqrt tan tanh trunc".split())
_ATTRIBUTES = frozenset((*_METHODS, *_MATH))


class Unsafe(ValueError):
    """A text is not of the language."""


def function(source: str, given: Iterable[str], filename: str) -> CodeType:
    """The code of `source`, which defines functions that use no names but `given`. Raises Unsafe."""
    code = _compile(source, filename, "exec")
    inside = [c for c in code.co_consts if isinstance(c, CodeType)]
    mine = {c.co_name for c in inside}
    if set(code.co_names) != mine or any("CALL" in i.opname for i in dis.get_instructions(code)):
        raise Unsafe("more than functions")
    for c in inside:
        _check(c, {*given, *mine, *_BUILTINS})
    return code


def expression(source: str, given: Iterable[str]) -> CodeType:
    """The code of an expression that uses no names but `given`. Raises Unsafe."""
    code = _compile(source, "<size>", "eval")
    _check(code, {*given, *_BUILTINS})
    return code


def _compile(source: str, filename: str, mode: str) -> CodeType:
    try:
        code: CodeType = compile(source, filename, mode, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError) as e:
        raise Unsafe(f"not Python: {e}") from e
    return code


def _check(code: CodeType, names: set[str]) -> None:
    for name in code.co_names:
        if name.startswith("__") or (name not in names and name not in _ATTRIBUTES):
            raise Unsafe(f"the name {name}")
    for c in code.co_consts:
        if isinstance(c, CodeType):
            raise Unsafe("a function in a function")


__all__ = ["Unsafe", "expression", "function"]
