"""Results that depend on sizes, as functions of the sizes: recorded once, evaluated for other sizes in microseconds.

    trace = Trace(["n", "m"])
    n, m = trace.number("n", 40), trace.number("m", 64)
    rows, lanes = max(1, n // 8), 4 if m % 4 == 0 else 1           # whatever Python computes with the numbers
    rule = trace.function([source(rows), source(lanes)])
    rule(48, 32) == (6, 4);  rule(48, 33) is None                  # another branch would have been taken

A `Traced` is a number that writes down what is done with it. Arithmetic becomes lines of a program; wherever the
computation looks at a value (a comparison, a truth value, `int`, a hash) it becomes a condition. The function returns
None as soon as one of the conditions differs, so that a result is either what the computation would give or absent. A
`Traced` is no int: an operation that it does not know raises TypeError, rather than using the value unseen.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv},
    **{"%": operator.mod, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_, "|": operator.or_},
}


class Trace:
    """What has been done with the numbers of one computation. Not for several threads."""

    def __init__(self, names: Sequence[str]):
        self.names = list(names)
        self.lines: list[str] = []
        self.conditions: set[str] = set()
        self.made: dict[str, Traced] = {}

    def number(self, text: str, value: int) -> Traced:
        """A number: Python source over the names, and its value now."""
        found = self.made.get(text)
        if found is None:
            name = text if text.isidentifier() else f"_{len(self.made)}"
            if name != text:
                self.lines.append(f"{name} = {text}")
            found = self.made[text] = Traced(self, name, value)
        return found

    def require(self, condition: str) -> None:
        """The recorded computation is the same only where `condition` holds."""
        if condition not in self.conditions:
            self.conditions.add(condition)
            self.lines.append(f"if not ({condition}): return None")

    def function(self, result: Sequence[str]) -> Callable[..., tuple[Any, ...] | None]:
        """A function of values for the names: what the sources in `result` give as a tuple, or None.

        It may raise ArithmeticError or ValueError where the computation would.
        """
        lines = [*self.lines, f"return ({''.join(f'{x}, ' for x in result)})"]
        scope: dict[str, Any] = {}
        exec(f"def rule({', '.join(self.names)}):\n" + "\n".join(f"    {s}" for s in lines), scope)
        rule: Callable[..., tuple[Any, ...] | None] = scope["rule"]
        return rule


class Traced:
    """A number in a `Trace`."""

    __slots__ = ("name", "trace", "value")

    def __init__(self, trace: Trace, name: str, value: Any):
        self.trace, self.name, self.value = trace, name, value

    def __repr__(self) -> str:
        return f"{self.name}={self.value}"

    def fixed(self) -> Any:
        """The value; what was recorded holds for this one only."""
        self.trace.require(f"{self.name} == {self.value!r}")
        return self.value

    # --- values that Python looks at ---
    def __hash__(self) -> int:
        return hash(self.fixed())

    def __int__(self) -> int:
        return int(self.fixed())

    __index__ = __int__

    def __bool__(self) -> bool:
        self.trace.require(self.name if self.value else f"not {self.name}")
        return bool(self.value)

    def bit_length(self) -> int:
        n = int(self.value.bit_length())
        self.trace.require(f"{self.name}.bit_length() == {n}")
        return n

    # --- arithmetic ---
    def __neg__(self) -> Traced:
        return self.trace.number(f"-{self.name}", -self.value)

    def __abs__(self) -> Traced:
        return self.trace.number(f"abs({self.name})", abs(self.value))

    def __pos__(self) -> Traced:
        return self


def settled(x: Any) -> Any:
    """`x` with plain numbers in the place of `Traced` ones, in tuples too; recorded as conditions."""
    if isinstance(x, Traced):
        return x.fixed()
    return tuple(settled(y) for y in x) if type(x) is tuple else x


def source(x: Any) -> str:
    """Python source of a number, traced or plain."""
    return x.name if isinstance(x, Traced) else repr(x)


def _known(x: Any) -> bool:
    return isinstance(x, Traced) or type(x) in (int, float, bool)


def _binary(sign: str, fn: Callable[[Any, Any], Any], swapped: bool) -> Callable[[Traced, Any], Any]:
    def method(self: Traced, other: Any) -> Any:
        if not _known(other):
            return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        x, y = (t.value if isinstance(t, Traced) else t for t in (a, b))
        return self.trace.number(f"{source(a)} {sign} {source(b)}", fn(x, y))

    return method


def _compare(sign: str, negated: str, fn: Callable[[Any, Any], bool]) -> Callable[[Traced, Any], Any]:
    def method(self: Traced, other: Any) -> Any:
        if not _known(other):
            return NotImplemented
        holds = fn(self.value, other.value if isinstance(other, Traced) else other)
        self.trace.require(f"{self.name} {sign if holds else negated} {source(other)}")
        return holds

    return method


for _sign, _fn in _BINARY.items():
    _stem = _fn.__name__.strip("_")
    setattr(Traced, f"__{_stem}__", _binary(_sign, _fn, False))
    setattr(Traced, f"__r{_stem}__", _binary(_sign, _fn, True))
for _name, _sign, _negated in (
    *(("lt", "<", ">="), ("le", "<=", ">"), ("gt", ">", "<=")),
    *(("ge", ">=", "<"), ("eq", "==", "!="), ("ne", "!=", "==")),
):
    setattr(Traced, f"__{_name}__", _compare(_sign, _negated, getattr(operator, _name)))
