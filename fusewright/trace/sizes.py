"""Sizes in a function that is traced: where it needs them as numbers, and calls of torch that take them.

A number that the trace does not know can be computed with, compared (which is a condition of the trace), and given to
torch. Where Python itself needs its value (`range`, `len`, `float`), one trace cannot serve all sizes.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import sympy
import torch
from sympy.logic.boolalg import Boolean
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from . import failures, floats, frames, numbers
from .failures import PACKAGE, TORCH, line_at
from .found import Conditions

# Frames between a number's use and the code that uses it.
_HERE = tuple(f"{PACKAGE}/trace/{name}.py" for name in ("capture", "kept", "lines", "numbers", "sizes"))
_BETWEEN = (
    *(f"{TORCH}/{part}" for part in ("fx/experimental", "utils/_sympy", "__init__.py", "fx/traceback")),
    *_HERE,
)

_VERSIONS = itertools.count(1)  # of environments


class Env(ShapeEnv):
    """Symbolic sizes; notices where the traced program itself, not torch, needs one as a number."""

    pinned: str = ""  # what to say of the first such line
    names: dict[str, str]
    namespaces: list[dict[str, Any]]  # of modules whose functions of `math` are replaced
    hashes: bool = False  # whether numbers have a hash, of their values, which are conditions of the trace then
    importing: dict[str, Any] | None = None  # another one: its code converts a number, maybe by such a function
    conditions: Conditions | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # torch keeps what all environments have found in one cache, until it meets another version: with versions of
        # its own, each throws out what was there, and with it the traces and functions that hang on it
        self._version_counter = next(_VERSIONS) << 32

    def evaluate_expr(self, orig_expr: Any, *args: Any, **kwargs: Any) -> Any:
        if self.conditions is not None:
            self.conditions.evaluated(orig_expr)
        known, guards = dict(self.replacements), len(self.guards)
        out = super().evaluate_expr(orig_expr, *args, **kwargs)
        if self.conditions is not None and len(self.guards) > guards:
            self.conditions.condition(self.guards[-1].expr)
        pinned = self.replacements != known
        if not self.pinned and (pinned or not isinstance(orig_expr, Boolean)):
            user, line = _user(sys._getframe(1))
            if user is not None and self._imports(user.f_globals):
                self.importing, self.pinned = user.f_globals, line
                raise Pinned(line)
            if line and pinned:
                fixed = [s for s in sympy.sympify(orig_expr).free_symbols if self.replacements.get(s, s).is_number]
                if fixed:
                    self.pinned = failures.pinned(line, sorted({self.names.get(str(s), str(s)) for s in fixed}))
                    raise Pinned(self.pinned)
        return out

    def _imports(self, names: dict[str, Any]) -> bool:
        return bool(numbers.imported(names)) and not any(names is known for known in self.namespaces)


class Pinned(Exception):
    """The program needs the value of a size or an integer argument."""


def _user(frame: FrameType | None) -> tuple[FrameType | None, str]:
    """The frame and line that converted a symbolic number with `int`, `range`, ...; (None, "") if an operator of torch
    did. A comparison is a condition of the trace: `==` with a number makes two traces, not one for each value."""
    converted = False
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_BETWEEN):
            break
        converted |= frame.f_code.co_name in ("__int__", "__index__", "__float__")
        frame = frame.f_back
    if frame is None or not converted or frame.f_code.co_filename.startswith((TORCH, PACKAGE, frames.FILE)):
        return None, ""  # operators, and generated code, may fix a size: that is a condition on the trace
    return frame, line_at(frame.f_code.co_filename, frame.f_lineno)


def _chunk(input: torch.Tensor, chunks: int, dim: int = 0) -> Any:
    """`torch.chunk`; where all are equally large, that is a condition of the trace, and their sizes say so."""
    if isinstance(input.size(dim), torch.SymInt) and chunks > 0 and input.size(dim) % chunks == 0:
        return torch.split(input, input.size(dim) // chunks, dim)
    return torch.chunk(input, chunks, dim)


NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)


def fixed(x: Any) -> bool:
    """Whether a symbolic number is one that the trace knows, by what has become a condition of it since."""
    return bool(x.node.expr.is_number or x.node.expr in (sympy.true, sympy.false))


def _selected(x: torch.Tensor, index: Any) -> tuple[torch.Tensor, Any]:
    """`x` and an index into it without symbolic integers: these are selected, as torch does with all integers first."""
    items = list(index) if type(index) is tuple else [index]
    if not any(type(i) is torch.SymInt for i in items):
        return x, index
    dims, dim = [], 0
    for k, i in enumerate(items):
        if i is Ellipsis:
            dim = x.dim() - sum(map(_dims, items[k + 1 :]))
        else:
            if type(i) is torch.SymInt:
                dims.append((dim, i))
            dim += _dims(i)
    for d, i in reversed(dims):
        x = x.select(d, i)
    return x, tuple(i for i in items if type(i) is not torch.SymInt)


def _dims(i: Any) -> int:
    """How many dimensions a part of an index takes."""
    if i is None or isinstance(i, bool):
        return 0
    return i.dim() if isinstance(i, torch.Tensor) and i.dtype in (torch.bool, torch.uint8) else 1


def _getitem(x: torch.Tensor, index: Any) -> Any:
    x, rest = _selected(x, index)
    return x if rest == () and index != () else x[rest]


def _setitem(x: torch.Tensor, index: Any, value: Any) -> None:
    x, rest = _selected(x, index)
    x[... if rest == () else rest] = value


def _tensor(data: Any, **options: Any) -> torch.Tensor:
    """`torch.tensor`, of symbolic numbers, too, one or a list of them."""
    wanted = options.get("dtype")
    if type(data) in NUMBERS:
        return torch.scalar_tensor(data, **{**options, "dtype": wanted or _dtype([data])})
    if isinstance(data, (list, tuple)) and any(type(n) in NUMBERS for n in data):
        if all(isinstance(n, (int, float, *NUMBERS)) for n in data) and not options.get("requires_grad"):
            options["dtype"] = wanted or _dtype(data)
            return torch.stack([torch.scalar_tensor(n, **options) for n in data])
    return torch.tensor(data, **options)


def _dtype(data: Any) -> torch.dtype:
    if any(isinstance(n, (float, torch.SymFloat)) for n in data):
        return torch.get_default_dtype()
    return torch.bool if all(isinstance(n, (bool, torch.SymBool)) for n in data) else torch.int64


# Functions of torch that convert symbolic numbers, or that lose what is known of them -> what is traced in their place.
CALLS: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys((torch.chunk, torch.Tensor.chunk, torch.ops.aten.chunk.default), _chunk),
    torch.Tensor.__getitem__: _getitem,
    torch.Tensor.__setitem__: _setitem,
    torch.tensor: _tensor,
    **floats.CALLS,
}

__all__ = ["CALLS", "NUMBERS", "Env", "Pinned", "fixed"]
