"""Functions of Python's math module, and others, of numbers that a trace does not know.

`math.sqrt` of a size converts it to a float, which takes its value. While something is traced the functions here stand
in their places: of a symbolic number they give a symbolic one, which the host computes in each call, and of anything
else they are what was there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import wraps
from types import BuiltinFunctionType
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode, handle_sym_dispatch
from torch.utils._sympy import functions as sympy_functions

_SYMBOLIC = (torch.SymInt, torch.SymFloat)


def _where(name: str, holds: Callable[[Any], Any], symbolic: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`symbolic`, if this holds, as a condition of the trace; else Python raises an error."""
    plain = getattr(math, name)

    def function(x: Any) -> Any:
        if type(x) not in _SYMBOLIC:
            return plain(x)
        if holds(x):
            return symbolic(x)
        plain(x.node.hint)
        return plain(float(x))

    return function


def _of_float(name: str) -> Callable[[Any], Any]:
    """A function that sympy has for torch, but symbolic numbers do not."""
    plain, opaque = getattr(math, name), getattr(sympy_functions, f"OpaqueUnaryFn_{name}")

    def function(x: Any) -> Any:
        if type(x) not in _SYMBOLIC:
            return plain(x)
        x = torch.sym_float(x)
        if get_proxy_mode():
            return handle_sym_dispatch(function, (x,), {})
        env = x.node.shape_env
        return env.create_symfloatnode(opaque(x.node.expr), hint=plain(x.node.hint))

    function.__name__ = function.__qualname__ = f"sym_{name}"
    return function


sym_exp, sym_log = _of_float("exp"), _of_float("log")
_natural = _where("log", lambda x: x > 0, sym_log)


def _log(x: Any, *base: Any) -> Any:
    return _natural(x) / _natural(*base) if base else _natural(x)


def _pow(x: Any, y: Any) -> Any:
    if x > 0:  # else `**` is another function
        return torch.sym_float(x) ** torch.sym_float(y)
    return math.pow(float(x), float(y))


_TORCHS = ("sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "asin", "acos", "atan", "log2")
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(torch, f"_sym_{name}") for name in _TORCHS if hasattr(torch, f"_sym_{name}")},
    "sqrt": torch.sym_sqrt,
    "exp": sym_exp,
    "log": _log,
    "pow": _pow,
    "fabs": lambda x: abs(torch.sym_float(x)),
    "degrees": lambda x: x * (180.0 / math.pi),
    "radians": lambda x: x * (math.pi / 180.0),
}


def _of_symbols(plain: Callable[..., Any], symbolic: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(plain)
    def function(*args: Any) -> Any:
        return (symbolic if any(type(x) in _SYMBOLIC for x in args) else plain)(*args)

    return function


_LARGEST = 709.0  # exp of this is finite
_DOMAINS: dict[str, Callable[[Any], Any]] = {
    "sqrt": lambda x: x >= 0,
    "log2": lambda x: x > 0,
    **dict.fromkeys(("asin", "acos"), lambda x: abs(x) <= 1),
    **dict.fromkeys(("sinh", "cosh"), lambda x: abs(x) < _LARGEST),
    "exp": lambda x: x < _LARGEST,
}
_FUNCTIONS |= {name: _where(name, holds, _FUNCTIONS[name]) for name, holds in _DOMAINS.items() if name in _FUNCTIONS}
_BY_PLAIN = {getattr(math, name): _of_symbols(getattr(math, name), f) for name, f in _FUNCTIONS.items()}


def _divmod(x: Any, y: Any) -> Any:
    return x // y, x % y


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """(owner, name, what stands there while something is traced)."""
    for plain, function in _BY_PLAIN.items():
        yield math, plain.__name__, function
    for t in _SYMBOLIC:
        yield t, "__divmod__", _divmod
        yield t, "__rdivmod__", lambda x, y: _divmod(y, x)
        yield t, "sqrt", torch.sym_sqrt  # NumPy's functions of other objects call their methods


def imported(names: dict[str, Any]) -> dict[str, Any]:
    """The functions to take for those of `math` that a module has imported by name, in its namespace `names`."""
    if names is vars(math):
        return {}
    functions = [(name, x) for name, x in list(names.items()) if type(x) is BuiltinFunctionType]
    return {name: _BY_PLAIN[x] for name, x in functions if x in _BY_PLAIN}


__all__ = ["imported", "replacements", "sym_exp", "sym_log"]
