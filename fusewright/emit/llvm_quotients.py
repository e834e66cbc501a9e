"""Quotients of consecutive numbers by one divisor, as LLVM IR: one division for a vector.

With q = a // d and r = a % d, (a + l) // d is q + (r + l) // d. If d is at least the number of lanes, the second term
is whether l has reached d - r. If it is less, r + l is below twice the lanes, and its quotient the high half of a
product with the reciprocal in 16 bits, rounded up: exact, since what is added to r + l by rounding is below 2^-10 (see
"Division by invariant integers using multiplication", Granlund and Montgomery, 1994).

The first number may be negative (its lane is masked off, and later ones are not): q is rounded down, for ~a // d is ~q.
"""

from __future__ import annotations

from .llvm_types import vector


def define(name: str, lanes: int) -> str:
    """The function (a, d: i64) -> the quotients (a + l) // d of lanes l, rounded down; d is not 0."""
    ty, wide = vector("i32", lanes), vector("i64", lanes)
    ramp = "<" + ", ".join(f"i32 {k}" for k in range(lanes)) + ">"

    def splat(out: str, value: str, elem: str = "i32") -> list[str]:
        t = vector(elem, lanes)
        return [
            f"  %{out}.one = insertelement {t} poison, {elem} {value}, i64 0",
            f"  %{out} = shufflevector {t} %{out}.one, {t} poison, <{lanes} x i32> zeroinitializer",
        ]

    lines = [
        f"define internal {wide} @{name}(i64 %a, i64 %d) alwaysinline nounwind memory(none) {{",
        "  %sign = ashr i64 %a, 63",
        "  %above = xor i64 %a, %sign",
        "  %above.q = udiv i64 %above, %d",
        "  %q = xor i64 %above.q, %sign",
        "  %whole = mul i64 %q, %d",
        "  %r = sub i64 %a, %whole",
        "  %left = sub i64 %d, %r",
        f"  %far = icmp uge i64 %d, {lanes}",
        f"  %beyond = icmp uge i64 %left, {lanes}",
        f"  %until = select i1 %beyond, i64 {lanes}, i64 %left",
        "  %until.32 = trunc i64 %until to i32",
        *splat("ends", "%until.32"),
        f"  %over = icmp uge {ty} {ramp}, %ends",
        f"  %few = zext <{lanes} x i1> %over to {ty}",
        f"  %near = select i1 %far, i64 {lanes}, i64 %d",
        "  %near.32 = trunc i64 %near to i32",
        "  %down = udiv i32 65535, %near.32",
        "  %inverse = add i32 %down, 1",
        "  %r.32 = trunc i64 %r to i32",
        *splat("rests", "%r.32"),
        *splat("inverses", "%inverse"),
        f"  %numbers = add {ty} %rests, {ramp}",
        f"  %product = mul {ty} %numbers, %inverses",
        f"  %many = lshr {ty} %product, splat (i32 16)",
        f"  %steps = select i1 %far, {ty} %few, {ty} %many",
        f"  %steps.64 = zext {ty} %steps to {wide}",
        *splat("firsts", "%q", "i64"),
        f"  %out = add {wide} %firsts, %steps.64",
        f"  ret {wide} %out",
        "}",
    ]
    return "\n".join(lines)
