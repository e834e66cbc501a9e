"""Functions of Python's math module, and others, of numbers that a trace does not know.

`math.sqrt` of a size converts it to a float, which takes its value. While something is traced the functions here stand
in their places: of a symbolic number they give a symbolic one, which the host computes in each call, and of anything
else they are what was there. Functions that have no such result (`math.gcd`, `math.hypot`) take the values of what
they are given, which are conditions of the trace then: each has a trace of its own. So do keys of dictionaries and the
arguments of `functools.lru_cache`, in a second attempt: programs may catch that symbolic numbers have no hash (einops).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from types import BuiltinFunctionType
from typing import Any

import sympy
import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode, handle_sym_dispatch
from torch.utils._sympy import functions as sympy_functions
from torch.utils._sympy.value_ranges import SymPyValueRangeAnalysis, ValueRanges

_SYMBOLIC = (torch.SymInt, torch.SymFloat)


def value(x: Any) -> Any:
    """What a symbolic number is in this call, as a condition of the trace; also in lists and tuples."""
    if type(x) in (list, tuple, torch.Size):
        return type(x)([value(y) for y in x])
    if type(x) is torch.SymInt:
        return x.node.guard_int("", 0)
    if type(x) is torch.SymBool:
        return x.node.guard_bool("", 0)
    return x.node.guard_float("", 0) if type(x) is torch.SymFloat else x


def with_plain_keys(x: Any) -> Any:
    """A result in which symbolic numbers that are keys of dictionaries are those whose hashes they have."""
    if type(x) in (list, tuple):
        return type(x)(map(with_plain_keys, x))
    return {value(k): with_plain_keys(v) for k, v in x.items()} if type(x) is dict else x


def _symbolic(x: Any) -> bool:
    return type(x) in _SYMBOLIC or (type(x) in (list, tuple) and any(map(_symbolic, x)))


_plain_hash = torch.SymInt.__hash__


def _hash(x: torch.SymInt) -> int:
    """The hash of its value, where a trace has been found to need it."""
    return hash(value(x)) if getattr(x.node.shape_env, "hashes", False) else _plain_hash(x)


def _comparison(name: str) -> Callable[..., Any]:
    """`==` or `!=`: torch's know nothing of an `IntEnum`, or another class of int, nor of complex numbers.

    They leave these to Python, which says that they are not the same object.
    """
    plain = getattr(torch.SymInt, name)

    def compared(x: torch.SymInt, y: Any) -> Any:
        if isinstance(y, int) and type(y) not in (int, bool) and getattr(type(y), name) is getattr(int, name):
            y = int(y)
        elif type(y) is complex and y.imag == 0:
            y = y.real
        return plain(x, y)

    return compared


_COMPARISONS = {name: _comparison(name) for name in ("__eq__", "__ne__")}


def unhashable(e: Exception) -> bool:
    """Whether a program has failed because it hashes a symbolic number."""
    return isinstance(e, TypeError) and "unhashable type" in str(e) and "SymInt" in str(e)


class HostFunctionBase(sympy.Function):  # type: ignore[misc]
    """A function of `math` that neither sympy nor torch reasons about; `of`: its name there.

    sympy looks for a printer of a base class if that is called so.
    """

    of = ""
    _torch_handler_name = "fusewright_host_function"

    @classmethod
    def eval(cls, *args: Any) -> Any:
        """Of numbers: a number, unless Python raises an error."""
        if not all(isinstance(x, (sympy.Integer, sympy.Float)) for x in args):
            return None
        try:
            return sympy.Float(getattr(math, cls.of)(*map(float, args)))
        except (ValueError, OverflowError):
            return None


# How torch finds bounds of expressions: nothing is known of these.
setattr(
    SymPyValueRangeAnalysis, HostFunctionBase._torch_handler_name, staticmethod(lambda *args: ValueRanges.unknown())
)


def _where(name: str, holds: Callable[..., Any], symbolic: Callable[..., Any]) -> Callable[..., Any]:
    """`symbolic`, if this holds, as a condition of the trace; else Python may raise an error."""
    plain = getattr(math, name)

    def function(*args: Any) -> Any:
        if not any(map(_symbolic, args)):
            return plain(*args)
        if holds(*args):
            return symbolic(*args)
        plain(*map(_hint, args))
        return plain(*map(value, args))

    return function


def _hint(x: Any) -> Any:
    return x.node.hint if type(x) in _SYMBOLIC else x


def _of_floats(name: str) -> Callable[..., Any]:
    """A function that symbolic numbers do not have."""
    plain, opaque = getattr(math, name), getattr(sympy_functions, f"OpaqueUnaryFn_{name}", None)
    if opaque is None:
        opaque = type(f"Host_{name}", (HostFunctionBase,), {"of": name})

    def function(*args: Any) -> Any:
        if not any(map(_symbolic, args)):
            return plain(*args)
        if get_proxy_mode():
            return handle_sym_dispatch(function, tuple(map(torch.sym_float, args)), {})
        env = next(x.node.shape_env for x in args if _symbolic(x))
        floats = [x.node.expr if _symbolic(x) else sympy.Float(x) for x in map(torch.sym_float, args)]
        return env.create_symfloatnode(opaque(*floats), hint=plain(*map(_hint, args)))

    function.__name__ = function.__qualname__ = f"sym_{name}"
    return function


sym_exp, sym_log = _of_floats("exp"), _of_floats("log")
_natural = _where("log", lambda x: x > 0, sym_log)


def _log(x: Any, *base: Any) -> Any:
    return _natural(x) / _natural(*base) if base else _natural(x)


def _pow(x: Any, y: Any) -> Any:
    if x > 0:  # else `**` is another function
        return torch.sym_float(x) ** torch.sym_float(y)
    return math.pow(float(x), float(y))


_TORCHS = ("sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "asin", "acos", "atan", "log2")
_HOSTS = (
    *("acosh", "asinh", "atanh", "cbrt", "erf", "erfc", "exp2", "expm1", "gamma", "lgamma", "log10", "log1p"),
    *("atan2", "copysign", "fmod", "hypot", "remainder"),
)
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _of_floats(name) for name in _HOSTS if hasattr(math, name)},
    **{name: getattr(torch, f"_sym_{name}") for name in _TORCHS if hasattr(torch, f"_sym_{name}")},
    "sqrt": torch.sym_sqrt,
    "exp": sym_exp,
    "log": _log,
    "pow": _pow,
    "fabs": lambda x: abs(torch.sym_float(x)),
    "degrees": lambda x: x * (180.0 / math.pi),
    "radians": lambda x: x * (math.pi / 180.0),
    "isqrt": lambda x: math.floor(torch.sym_sqrt(x)),
}


def _of_symbols(plain: Callable[..., Any], symbolic: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(plain)
    def function(*args: Any, **options: Any) -> Any:
        return (symbolic if any(map(_symbolic, args)) else plain)(*args, **options)

    return function


def _specialised(plain: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **options: plain(*map(value, args), **{k: value(x) for k, x in options.items()})


_LARGEST, _FACTORIAL = 709.0, 170.0  # exp and gamma of these are finite
_DOMAINS: dict[str, Callable[..., Any]] = {
    "sqrt": lambda x: x >= 0,
    "log2": lambda x: x > 0,
    **dict.fromkeys(("asin", "acos"), lambda x: abs(x) <= 1),
    **dict.fromkeys(("sinh", "cosh"), lambda x: abs(x) < _LARGEST),
    **dict.fromkeys(("exp", "expm1", "exp2"), lambda x: x < _LARGEST),
    **dict.fromkeys(("log10", "lgamma"), lambda x: x > 0),
    "log1p": lambda x: x > -1,
    "isqrt": lambda x: type(x) is torch.SymInt and bool(x >= 0) and x < 1 << 52,  # then the float is near enough
    "acosh": lambda x: x >= 1,
    "atanh": lambda x: abs(x) < 1,
    "gamma": lambda x: bool(x > 0) and x < _FACTORIAL,
    **dict.fromkeys(("fmod", "remainder"), lambda x, y: y != 0),
}
_FUNCTIONS |= {name: _where(name, holds, _FUNCTIONS[name]) for name, holds in _DOMAINS.items() if name in _FUNCTIONS}
_OF_NUMPY = ("exp", "expm1", "log", "log10", "log1p", "log2", "cbrt", "sin", "cos", "tan", "tanh", "cosh", "sinh")
_OF_NUMBERS = ("ceil", "floor", "prod", "trunc")  # ask symbolic numbers themselves
_FUNCTIONS |= {
    name: _specialised(plain)
    for name, plain in vars(math).items()
    if type(plain) is BuiltinFunctionType and name not in (*_FUNCTIONS, *_OF_NUMBERS) and name[0] != "_"
}
_BY_PLAIN = {getattr(math, name): _of_symbols(getattr(math, name), f) for name, f in _FUNCTIONS.items()}


def _divmod(x: Any, y: Any) -> Any:
    return x // y, x % y


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """(owner, name, what stands there while something is traced)."""
    for plain, function in _BY_PLAIN.items():
        yield math, plain.__name__, function
    yield torch.SymInt, "__hash__", _hash
    for name, function in _COMPARISONS.items():
        yield torch.SymInt, name, function
    for t in _SYMBOLIC:
        yield t, "__divmod__", _divmod
        yield t, "__rdivmod__", lambda x, y: _divmod(y, x)
        yield t, "sqrt", _FUNCTIONS["sqrt"]  # NumPy's functions of other objects call their methods
        for name in _OF_NUMPY:  # not all are Python's to the last bit
            yield t, name, lambda x, name=name: getattr(sys.modules["numpy"], name)(value(x))


def replaced(x: Any) -> bool:
    """Whether a program that has imported this function by name may have another one while something is traced."""
    return type(x) is BuiltinFunctionType and x in _BY_PLAIN


def imported(names: dict[str, Any]) -> dict[str, Any]:
    """The functions to take for those of `math` that a module has imported by name, in its namespace `names`."""
    if names is vars(math):
        return {}
    functions = [(name, x) for name, x in list(names.items()) if type(x) is BuiltinFunctionType]
    return {name: _BY_PLAIN[x] for name, x in functions if x in _BY_PLAIN}


__all__ = ["imported", "replaced", "replacements", "sym_exp", "sym_log", "unhashable", "value"]
