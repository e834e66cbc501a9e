"""Remainders and rounded-down quotients of floats, as LLVM IR: vectors of small quotients, libm's `fmod` for others.

Of q = a / b, rounded to nearest, the whole part t is the quotient's, or one further from zero where rounding has taken
q to an integer. What it leaves, m = a - t b, is exact with one rounding (it is a multiple of the smaller unit of a and
b, and no larger than b), and has not the sign of a if t is too large. So no digit is lost, and `fmod` is the same
number as libm's. From 2^20 (2^48 in float64) on, where t would not be eager's quotient to the last digit, and for b
infinite, what is called is libm, lane by lane.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..core.dtypes import DType
from .llvm_types import literal, mangle, scalar, splat, vector

SMALL = {"f32": 2.0**20, "f64": 2.0**48}  # quotients up to here are found in vectors


class _Text:
    def __init__(self, d: DType, lanes: int):
        self.d, self.lanes = d, lanes
        self.ty, self.mask = vector(scalar(d), lanes), vector("i1", lanes)
        self.lines: list[str] = []

    def put(self, text: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def number(self, v: float) -> str:
        return splat(scalar(self.d), literal(v, self.d), self.lanes)

    def op(self, name: str, *args: str) -> str:
        return self.put(f"{name} {self.ty} {', '.join(args)}")

    def intrinsic(self, name: str, *args: str) -> str:
        given = ", ".join(f"{self.ty} {x}" for x in args)
        return self.put(f"call {self.ty} @llvm.{name}.{mangle(scalar(self.d), self.lanes)}({given})")

    def logic(self, name: str, x: str, y: str) -> str:
        return self.put(f"{name} {self.mask} {x}, {y}")

    def select(self, m: str, x: str, y: str) -> str:
        return self.put(f"select {self.mask} {m}, {self.ty} {x}, {self.ty} {y}")

    def against(self, m: str, x: str) -> str:
        """m != 0 and sign(m) != sign(x)"""
        zero = self.number(0.0)
        differ = self.logic("xor", self.op("fcmp olt", m, zero), self.op("fcmp olt", x, zero))
        return self.logic("and", differ, self.op("fcmp une", m, zero))


Near = Callable[[_Text, str], str]
Far = Callable[[_Text], str]


def fmod(name: str, d: DType, lanes: int, fused: bool) -> str:
    """The function (a, b) -> fmod(a, b). `fused`: there are fused multiply-adds; without, it is all libm's."""
    return _function(name, d, lanes, fused, _left, lambda t: t.op("frem", "%a", "%b"))


def remainder(name: str, d: DType, lanes: int, fused: bool) -> str:
    """The function (a, b) -> the remainder that has the sign of b, eager's `remainder`."""

    def moved(t: _Text, m: str) -> str:
        return t.select(t.against(m, "%b"), t.op("fadd", m, "%b"), m)

    near = lambda t, q: moved(t, _left(t, q))
    return _function(name, d, lanes, fused, near, lambda t: moved(t, t.op("frem", "%a", "%b")))


def floordiv(name: str, d: DType, lanes: int, fused: bool) -> str:
    """The function (a, b) -> eager's a // b (`c10::div_floor_floating`)."""

    def near(t: _Text, q: str) -> str:
        whole, m, beyond = _whole(t, q)
        whole = t.select(beyond, t.op("fsub", whole, t.intrinsic("copysign", t.number(1.0), q)), whole)
        zero = t.number(0.0)
        opposite = t.logic("xor", t.op("fcmp olt", "%a", zero), t.op("fcmp olt", "%b", zero))
        down = t.logic("and", opposite, t.op("fcmp une", m, zero))  # what is left has the sign of a
        return t.select(down, t.op("fsub", whole, t.number(1.0)), whole)

    def far(t: _Text) -> str:
        m = t.op("frem", "%a", "%b")
        q = t.op("fdiv", t.op("fsub", "%a", m), "%b")
        q = t.select(t.against(m, "%b"), t.op("fsub", q, t.number(1.0)), q)
        down = t.intrinsic("floor", q)
        up = t.op("fcmp ogt", t.op("fsub", q, down), t.number(0.5))
        down = t.select(up, t.op("fadd", down, t.number(1.0)), down)
        exact = t.op("fdiv", "%a", "%b")
        zero = t.intrinsic("copysign", t.number(0.0), exact)
        down = t.select(t.op("fcmp oeq", q, t.number(0.0)), zero, down)
        return t.select(t.op("fcmp oeq", "%b", t.number(0.0)), exact, down)

    return _function(name, d, lanes, fused, near, far)


def _left(t: _Text, q: str) -> str:
    """fmod(a, b), of a quotient"""
    _, m, beyond = _whole(t, q)
    back = t.op("fadd", m, t.intrinsic("copysign", t.intrinsic("fabs", "%b"), "%a"))
    return t.intrinsic("copysign", t.select(beyond, back, m), "%a")


def _whole(t: _Text, q: str) -> tuple[str, str, str]:
    """(whole part of a quotient, what it leaves, whether it is one too far from zero)"""
    whole = t.intrinsic("trunc", q)
    m = t.intrinsic("fma", t.op("fneg", whole), "%b", "%a")
    return whole, m, t.against(m, "%a")


def _function(name: str, d: DType, lanes: int, fused: bool, near: Near, far: Far) -> str:
    t = _Text(d, lanes)
    given = f"({t.ty} %a, {t.ty} %b)"
    out = far(t)
    body = [*t.lines, f"  ret {t.ty} {out}", "}"]
    if not fused:
        return "\n".join([f"define internal {t.ty} @{name}{given} alwaysinline nounwind memory(none) {{", *body])
    rest = [f"define internal {t.ty} @{name}_far{given} noinline cold nounwind memory(none) {{", *body]
    t = _Text(d, lanes)
    q = t.op("fdiv", "%a", "%b")
    small = t.op("fcmp olt", t.intrinsic("fabs", q), t.number(SMALL[d.name]))
    ok = t.logic("and", small, t.op("fcmp olt", t.intrinsic("fabs", "%b"), t.number(math.inf)))
    if lanes > 1:
        ok = t.put(f"call i1 @llvm.vector.reduce.and.v{lanes}i1({t.mask} {ok})")
    t.lines += [f"  br i1 {ok}, label %near, label %far", "far:"]
    t.lines += [f"  %r = call {t.ty} @{name}_far{given}", f"  ret {t.ty} %r", "near:"]
    out = near(t, q)
    head = f"define internal {t.ty} @{name}{given} alwaysinline nounwind memory(none) {{"
    return "\n".join([*rest, "", head, "entry:", *t.lines, f"  ret {t.ty} {out}", "}"])
