"""Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11) as LLVM IR.

Element e of a stream is one 32-bit word: block b = e // 64, lane l = e % 16, word = (e // 16) % 4, from the counter
(16*b + l, stream, 0). So 64 consecutive elements share sixteen counters, and a vector of sixteen consecutive
elements that starts at a multiple of sixteen needs a single word of each.
"""

from __future__ import annotations

from .llvm_types import vector

_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85


def _signed(n: int) -> int:
    n &= 0xFFFFFFFF
    return n - (1 << 32) if n >> 31 else n


def philox(name: str, lanes: int) -> str:
    """A function (i64 seed, i64 x lanes elements, i32 stream) -> i32 x lanes."""
    i32, i64 = vector("i32", lanes), vector("i64", lanes)
    lines: list[str] = []
    count = 0

    def t(text: str) -> str:
        nonlocal count
        count += 1
        lines.append(f"  %x{count} = {text}")
        return f"%x{count}"

    def splat(ty: str, n: int) -> str:
        return str(n) if lanes == 1 else f"splat ({ty} {n})"

    def broadcast(scalar: str) -> str:
        if lanes == 1:
            return scalar
        one = t(f"insertelement {i32} poison, i32 {scalar}, i64 0")
        return t(f"shufflevector {i32} {one}, {i32} poison, <{lanes} x i32> zeroinitializer")

    block = t(f"lshr {i64} %e, {splat('i64', 6)}")
    lane = t(f"and {i64} %e, {splat('i64', 15)}")
    shifted = t(f"shl {i64} {block}, {splat('i64', 4)}")
    counter = t(f"or {i64} {shifted}, {lane}")
    c0 = t(f"trunc {i64} {counter} to {i32}")
    high = t(f"lshr {i64} {counter}, {splat('i64', 32)}")
    c1 = t(f"trunc {i64} {high} to {i32}")
    c2 = broadcast("%stream")
    c3 = splat("i32", 0)
    k0 = t("trunc i64 %seed to i32")
    upper = t("lshr i64 %seed, 32")
    k1 = t(f"trunc i64 {upper} to i32")

    def mul(c: str, m: int) -> tuple[str, str]:
        wide = t(f"zext {i32} {c} to {i64}")
        prod = t(f"mul {i64} {wide}, {splat('i64', m)}")
        low = t(f"trunc {i64} {prod} to {i32}")
        top = t(f"lshr {i64} {prod}, {splat('i64', 32)}")
        return t(f"trunc {i64} {top} to {i32}"), low

    for r in range(10):
        if r:
            k0 = t(f"add i32 {k0}, {_signed(_W0)}")
            k1 = t(f"add i32 {k1}, {_signed(_W1)}")
        hi0, lo0 = mul(c0, _M0)
        hi1, lo1 = mul(c2, _M1)
        a = t(f"xor {i32} {hi1}, {c1}")
        b = t(f"xor {i32} {hi0}, {c3}")
        c0, c1, c2, c3 = t(f"xor {i32} {a}, {broadcast(k0)}"), lo1, t(f"xor {i32} {b}, {broadcast(k1)}"), lo0
    by16 = t(f"lshr {i64} %e, {splat('i64', 4)}")
    low = t(f"trunc {i64} {by16} to {i32}")
    word = t(f"and {i32} {low}, {splat('i32', 3)}")
    out = c0
    mask = vector("i1", lanes)
    for n, c in ((1, c1), (2, c2), (3, c3)):
        is_n = t(f"icmp eq {i32} {word}, {splat('i32', n)}")
        out = t(f"select {mask} {is_n}, {i32} {c}, {i32} {out}")
    body = "\n".join(lines)
    head = f"define internal {i32} @{name}(i64 %seed, {i64} %e, i32 %stream) alwaysinline nounwind memory(none)"
    return f"{head} {{\n{body}\n  ret {i32} {out}\n}}"
