"""Sizes as Python source: arithmetic of ints and floats, builtins, and functions of `math`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from torch.utils._sympy.printers import PythonPrinter

from ..core.errors import Refusal

# What conditions on sizes are made of, beside sizes.
_WORDS = {w: w for w in ("and", "else", "if", "not", "or", "False", "True")}
_WORDS |= {w: f"_{w}" for w in ("abs", "float", "math", "max", "min", "round")}
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


class SizePrinter(PythonPrinter):
    """torch's printer is for symbolic numbers, too, which need torch's functions; here they are all known."""

    def _print_ToFloat(self, expr: Any) -> str:
        return f"float({self._print(expr.args[0])})"

    def _print_TruncToFloat(self, expr: Any) -> str:
        return f"float(math.trunc({self._print(expr.args[0])}))"

    def _helper_sqrt(self, expr: Any) -> str:
        return f"math.sqrt({self._print(expr)})"

    def _print_OpaqueUnaryFn_exp(self, expr: Any) -> str:
        return f"math.exp({self._print(expr.args[0])})"

    def _print_OpaqueUnaryFn_log(self, expr: Any) -> str:
        return f"math.log({self._print(expr.args[0])})"

    def _print_HostFunctionBase(self, expr: Any) -> str:
        return f"math.{expr.of}({', '.join(map(self._print, expr.args))})"

    def _print_OpaqueUnaryFn_asinh(self, expr: Any) -> str:
        return f"math.asinh({self._print(expr.args[0])})"


_printer = SizePrinter()


def source(e: Any) -> str:
    """Python source of a sympy expression of sizes."""
    out: str = _printer.doprint(e)
    return out


def conditions(guards: Iterable[Any], names: dict[str, str]) -> list[str]:
    """Python conditions that symbols, by these names, are as guards say.

    Builtins and `math` get names of their own (`_max`): parameters of the function may be called like them.
    Raises Refusal for what Python cannot say.
    """
    out = []
    for g in guards:
        text = source(g)
        for word in _NAME.findall(text):
            if word not in names and word not in _WORDS:
                raise Refusal("size", f"no call could check {text}, because of {word}")
        text = _NAME.sub(lambda m: names.get(m[0]) or _WORDS[m[0]], text)
        out.append(f"({text})" if re.search(r"\b(or|and|if)\b", text) else text)  # they will be joined by `and`
    return list(dict.fromkeys(t for t in out if t != "True"))


__all__ = ["conditions", "source"]
