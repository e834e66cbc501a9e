"""A generated function that says whether values are still what they were when a function was traced.

    def same():
        try:
            if n0['ACT'] is not v0: return False
            x = n0['EPS']
            if x is not v1 and (type(x) is not t1 or repr(x) != s1): return False
            return True
        except Exception: return False

Plain values are compared by type and text, containers item by item, everything else by identity.
"""

from __future__ import annotations

import types
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy
import torch

from . import frames
from .attributes import MISSING
from .signature import Same
from .state import items

PLAIN = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, torch.Size)
CONTAINERS = (list, dict, set, deque)  # that may be changed; with classes derived from them
MEMORY = (numpy.ndarray, array, bytearray)  # numbers in memory
_SAME = (type(None), bool, types.FunctionType, types.BuiltinFunctionType, type, types.ModuleType)
_LARGE = 64  # items
_TEXT = 4096  # letters
_DEPTH = 8


def plain(x: Any) -> bool:
    """Whether `repr` tells all that a program can see of a value."""
    if type(x) in (list, tuple, set, frozenset):
        return all(map(plain, x))
    if type(x) is dict:
        return all(plain(k) and plain(v) for k, v in x.items())
    return type(x) in PLAIN or isinstance(x, (numpy.number, numpy.bool_))


def memory(x: Any) -> tuple[Any, ...]:
    """What a program can see of numbers in memory."""
    if isinstance(x, numpy.ndarray):
        return type(x), x.dtype, x.shape, x.tobytes()
    return type(x), getattr(x, "typecode", ""), bytes(x)


def _items(container: Any) -> list[Any]:
    """The items of a container; of a dictionary keys, then values."""
    if isinstance(container, dict):
        kind = OrderedDict if isinstance(container, OrderedDict) else dict  # which may be in another order
        return [*kind.keys(container), *kind.values(container)]
    return list(container) if type(container) in CONTAINERS else items(container)


class _Contents:
    """What a container holds. Objects that die with it are not held."""

    __slots__ = ("flat", "held", "ids", "kind", "text")

    def __init__(self, x: Any, before: list[Any]):
        self.kind = type(x)
        before = [*before[::2], *before[1::2]] if isinstance(x, dict) else before
        self.ids = list(map(id, before))
        strong = [i for i in before if type(i) in (*_SAME, *PLAIN)]
        self.held = [lambda: strong, *(Same(i).get for i in before if type(i) not in (*_SAME, *PLAIN))]
        self.flat = not any(isinstance(i, (*CONTAINERS, tuple)) for i in before)
        self.text = repr(x) if plain(x) and len(before) <= _LARGE else ""

    def of(self, x: Any) -> bool:
        """Whether `x` holds the same."""
        if type(x) is not self.kind:
            return False
        if self.flat or not self.text:
            if list(map(id, _items(x))) == self.ids and not any(get() is None for get in self.held):
                return True
        return bool(self.text) and repr(x) == self.text


def about(t: torch.Tensor) -> tuple[Any, ...]:
    """What a program can ask of a tensor besides its elements."""
    strides = t.stride() if t.layout is torch.strided else None
    bare = t.is_leaf and t.grad is None
    return type(t), t.dtype, t.device, t.layout, t.shape, strides, t.requires_grad, t.is_leaf, bare


def _pairs(container: Any) -> Iterable[tuple[Any, Any]]:
    """The items of a container with their keys or places."""
    if isinstance(container, dict):
        kind = OrderedDict if isinstance(container, OrderedDict) else dict
        return kind.items(container)
    return ((y, y) for y in container) if isinstance(container, (set, frozenset)) else enumerate(container)


class _Besides:
    """What a container holds besides tensors, whose elements are no conditions: these are arguments, or made real
    (`kept.py`). How many there are is one, but not of a dictionary, which may be a cache; there, which `keys` it has.

    `asked`: ids of tensors whose shape or the like counts; `before`: its items as they were, if the function has
    changed it: then those that it had and still has.
    """

    __slots__ = ("absent", "count", "every", "fixed", "kind", "parts", "present")

    def __init__(
        self,
        x: Any,
        keys: Collection[str] = (),
        asked: Collection[int] = (),
        before: list[tuple[Any, Any]] | None = None,
        depth: int = 0,
    ):
        self.kind, self.count, self.every = type(x), len(x), before is None
        self.fixed = not isinstance(x, dict)
        pairs = [(k, y) for k, y in _pairs(x) if not isinstance(y, torch.Tensor)]
        if before is not None:
            pairs = [(k, y) for k, y in pairs if any(k is a and y is b for a, b in before)]
        self.parts = [(k, self.part(y, keys, asked, depth)) for k, y in pairs]
        self.present = [(k, about(y) if id(y) in asked else None) for k, y in self.tensors(x, keys, asked)]
        self.absent = [] if self.fixed else [k for k in sorted(keys) if not dict.__contains__(x, k)]

    def tensors(self, x: Any, keys: Collection[str], asked: Collection[int]) -> list[tuple[Any, torch.Tensor]]:
        """The tensors that are asked for."""
        if not self.every or isinstance(x, (set, frozenset)):
            return []
        named = lambda k: not self.fixed and type(k) is str and k in keys
        return [(k, y) for k, y in _pairs(x) if isinstance(y, torch.Tensor) and (id(y) in asked or named(k))]

    @staticmethod
    def part(y: Any, keys: Collection[str], asked: Collection[int], depth: int) -> Callable[[Any], bool]:
        """A function that says whether an item is the same."""
        if plain(y) and len(text := repr(y)) <= _TEXT:
            return lambda x: x is y or (type(x) is type(y) and repr(x) == text)
        if isinstance(y, (*CONTAINERS, tuple, frozenset)) and depth < _DEPTH:
            return _Besides(y, keys, asked, None, depth + 1).of
        get = (lambda: y) if type(y) in (*_SAME, *PLAIN) else Same(y).get
        return lambda x: x is get()

    def of(self, x: Any) -> bool:
        """Whether `x` holds the same."""
        if type(x) is not self.kind:
            return False
        if not self.every:
            found = dict(_pairs(x))
            return all(same(found.get(k, MISSING)) for k, same in self.parts)
        if len(x) != self.count and (self.fixed or any(k in x for k in self.absent)):
            return False
        for k, known in self.present:
            y = x[k]  # raises if it is not there
            if not isinstance(y, torch.Tensor) or (known is not None and about(y) != known):
                return False
        if not self.parts and len(x) == self.count:
            return True
        there = [(k, y) for k, y in _pairs(x) if not isinstance(y, torch.Tensor)]
        if len(there) != len(self.parts):
            return False
        self.count = len(x)
        return all((a is b or a == b) and same(y) for (a, y), (b, same) in zip(there, self.parts, strict=True))


class _Absent:
    """Names that a dictionary does not have. It is looked into again where the number of its names is another one."""

    __slots__ = ("count", "names")

    def __init__(self, names: set[str], count: int):
        self.names, self.count = tuple(sorted(names)), count

    def there(self, names: Any) -> bool:
        """Whether `names` has one of them."""
        count = len(names)
        if any(n in names for n in self.names):
            return True
        self.count = count
        return False


class Unchanged:
    """Writes the function. `lines` are the body's; `scope` its globals."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {"M": MISSING, "read": object.__getattribute__}
        self.lines: list[str] = []
        self.names: dict[int, str] = {}

    def name(self, x: Any) -> str:
        """A global that is `x`."""
        if id(x) not in self.names:
            self.names[id(x)] = f"n{len(self.scope)}"
            self.scope[self.names[id(x)]] = x
        return self.names[id(x)]

    def unless(self, condition: str) -> None:
        """The values are other ones unless this holds."""
        self.lines.append(f"if not ({condition}): return False")

    def value(self, e: str, v: Any, before: list[Any] | None = None) -> None:
        """The expression `e` was `v`. `before`: the items of a container whose contents count."""
        if type(v) in _SAME:
            self.lines.append(f"if {e} is not {self.name(v)}: return False")
        elif before is not None:
            self.unless(f"{self.name(_Contents(v, before))}.of({e})")
        elif plain(v):
            self.lines.append(f"x = {e}")
            there = f"type(x) is not {self.name(type(v))} or repr(x) != {repr(v)!r}"
            self.lines.append(f"if x is not {self.name(v)} and ({there}): return False")
        elif type(v) is types.MethodType:
            self.lines.append(f"x = {e}")
            self.unless(f"type(x) is {self.name(types.MethodType)} and x == {self.name(v)}")
        else:
            self.lines.append(f"x = {self.name(Same(v).get)}()")
            self.lines.append(f"if {e} is not x or type(x) is not {self.name(type(v))}: return False")

    def besides(self, e: str, v: Any, *known: Any) -> None:
        """Write that the expression `e` holds what `v`, a container, does besides tensors. `known`: of `_Besides`."""
        b = _Besides(v, *known)
        if b.parts or b.every:
            self.unless(f"{self.name(b)}.of({e})")

    def about(self, e: str, t: torch.Tensor) -> None:
        """Write that the expression `e` is a tensor like `t`, whatever its elements."""
        self.unless(f"{self.name(about)}({e}) == {self.name(about(t))}")

    def memory(self, e: str, v: Any) -> None:
        """Write that the expression `e` has the numbers of `v`."""
        before = memory(v)
        self.unless(f"{self.name(memory)}({e}) == {self.name(before)}")

    def absent(self, at: str, names: set[str], count: int) -> None:
        """Write that a dictionary, which had `count` names, still has none of these."""
        a = self.name(_Absent(names, count))
        self.lines.append(f"if len({at}) != {a}.count and {a}.there({at}): return False")

    def build(self) -> Callable[[], bool] | None:
        """The function; None if there are no conditions."""
        if not self.lines:
            return None
        body = "".join(f"        {line}\n" for line in self.lines)
        text = f"def same():\n    try:\n{body}        return True\n    except Exception: return False\n"
        exec(compile(text, frames.name("unchanged"), "exec"), self.scope)
        same: Callable[[], bool] = self.scope["same"]
        return same


def both(one: Callable[[], bool] | None, other: Callable[[], bool] | None) -> Callable[[], bool] | None:
    """A function that says whether both do."""
    if one is None or other is None:
        return one or other
    return lambda: one() and other()


__all__ = ["CONTAINERS", "MEMORY", "PLAIN", "Unchanged", "both", "memory", "plain"]
