"""Special functions (exp, erf, pow, ...) as LLVM IR calls.

At the target's vector width they are SLEEF's, the very functions eager PyTorch calls, found in torch's library; or our
own (`llvm_math.py`), inlined, where those are at least as accurate; or, where neither is there, libm lane by lane.
"""

from __future__ import annotations

from dataclasses import replace

from . import llvm_math
from .llvm_rules import RULES, SLEEF, Op, rule
from .llvm_types import scalar, vector

# float32 functions of `llvm_math.py` that are at least as accurate as SLEEF's and several times faster, being inlined
INLINE = frozenset(("exp", "exp2", "expm1", "log1p", "erf", "tanh"))


@rule("logaddexp")
def _logaddexp(o: Op) -> None:
    """max(x, y) + log1p(exp(-|x - y|)), where infinities of one sign are at no distance from each other."""

    def apply(name: str, *a: str) -> str:
        part = replace(o, dst=o.w.fresh(), a=[*a], types=o.types[: len(a)])
        RULES[name](part)
        return part.dst

    x, y = o.a
    same = o.t(f"fcmp oeq {o.ty} {x}, {y}")
    gap = apply("neg", apply("abs", o.t(o.select(same, o.const(0.0), apply("sub", x, y)))))
    o.done(f"fadd {o.ty} {apply('max', x, y)}, {apply('log1p', apply('exp', gap))}")


class Special:
    """Writes calls of special functions; `bits`, `sleef`, `inline` are the target's (see `llvm.Target`)."""

    bits: int
    inline: bool
    sleef: frozenset[str]
    _defined: dict[str, str]

    def declare(self, text: str) -> None:
        raise NotImplementedError

    def special(self, o: Op, name: str) -> str:
        """A call of the vector function `name` on operands of any width."""
        d, lanes = o.types[0]
        elem = scalar(d)
        letter = "f" if d.name == "f32" else "d"
        width = self.bits // (8 * d.itemsize)
        symbol = f"Sleef_{name}{letter}{width}_{SLEEF[name]}"
        if symbol not in self.sleef or (self.inline and d.name == "f32" and name in INLINE):
            return self._stand_in(o, name, lanes)
        ty = vector(elem, width)
        self.declare(f"declare {ty} @{symbol}({', '.join([ty] * len(o.a))}) nounwind memory(none)")
        if lanes == width:
            return f"call {ty} @{symbol}({', '.join(f'{ty} {x}' for x in o.a)})"
        parts = []
        for k in range(0, lanes, width):
            pieces = [self._piece(o, x, elem, lanes, k, width) for x in o.a]
            parts.append(o.t(f"call {ty} @{symbol}({', '.join(f'{ty} {x}' for x in pieces)})"))
        return self._join(o, parts, elem, lanes, width)

    def _piece(self, o: Op, x: str, elem: str, lanes: int, start: int, width: int) -> str:
        if lanes == 1:
            ty = vector(elem, width)
            one = o.t(f"insertelement {ty} poison, {elem} {x}, i64 0")
            return o.t(f"shufflevector {ty} {one}, {ty} poison, <{width} x i32> zeroinitializer")
        ty = vector(elem, lanes)
        picks = ", ".join(f"i32 {min(start + k, lanes - 1)}" for k in range(width))
        return o.t(f"shufflevector {ty} {x}, {ty} poison, <{width} x i32> <{picks}>")

    def _join(self, o: Op, parts: list[str], elem: str, lanes: int, width: int) -> str:
        if lanes == 1:
            return f"extractelement {vector(elem, width)} {parts[0]}, i64 0"
        while len(parts) > 1:
            ty = vector(elem, width)
            picks = ", ".join(f"i32 {k}" for k in range(2 * width))
            parts = [
                o.t(f"shufflevector {ty} {a}, {ty} {b}, <{2 * width} x i32> <{picks}>")
                for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
            width *= 2
        if width == lanes:
            return f"bitcast {vector(elem, lanes)} {parts[0]} to {vector(elem, lanes)}"
        picks = ", ".join(f"i32 {k}" for k in range(lanes))
        return (
            f"shufflevector {vector(elem, width)} {parts[0]}, {vector(elem, width)} poison, <{lanes} x i32> <{picks}>"
        )

    def _stand_in(self, o: Op, name: str, lanes: int) -> str:
        d = o.types[0][0]
        if len(o.a) == 1 and (name, d) in llvm_math.AVAILABLE:
            fn = f"fw_{name}_{d.name}x{lanes}"
            if fn not in self._defined:
                self._defined[fn] = llvm_math.define(name, d, lanes, self.bits >= 256, self.bits == 512)
                for text in llvm_math.declarations(name, d, self.bits >= 256):
                    self.declare(text)
            return f"call {o.ty} @{fn}({o.ty} {o.a[0]})"
        return self._lane_by_lane(o, name, lanes)

    def _lane_by_lane(self, o: Op, name: str, lanes: int) -> str:
        """libm, one lane at a time: right everywhere, slow."""
        d = o.types[0][0]
        elem = scalar(d)
        fn = name + ("f" if d.name == "f32" else "")
        self.declare(f"declare {elem} @{fn}({', '.join([elem] * len(o.a))}) nounwind")
        if lanes == 1:
            return f"call {elem} @{fn}({', '.join(f'{elem} {x}' for x in o.a)})"
        acc = "poison"
        for k in range(lanes):
            xs = [o.t(f"extractelement {o.ty} {x}, i64 {k}") for x in o.a]
            r = o.t(f"call {elem} @{fn}({', '.join(f'{elem} {x}' for x in xs)})")
            text = f"insertelement {o.ty} {acc}, {elem} {r}, i64 {k}"
            if k == lanes - 1:
                return text
            acc = o.t(text)
        raise AssertionError
