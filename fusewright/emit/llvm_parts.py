"""Parts of vectors as LLVM IR, for targets that have no masked accesses of such elements, or slow ones.

The lanes that exist are the first n. LLVM would test the mask lane by lane where there is no instruction for it (16-bit
elements without AVX-512), and masked stores of AVX2 take tens of micro-operations on some CPUs. The functions here are
for any n, and are inlined.
"""

from __future__ import annotations

from .llvm_types import vector

NOTHING = "@fw_nothing = internal constant i64 0"


def loads(elem: str, lanes: int, bits: int) -> bool:
    """Whether `load` is for such vectors: 16-bit elements, and registers with masked loads of pairs of them."""
    return bits == 256 and elem in ("i16", "half") and lanes == 8


def stores(lanes: int, bits: int) -> bool:
    """Whether `store` is for such vectors."""
    return bits < 512 and lanes in (4, 8, 16)


def _ramp(elem: str, values: range) -> str:
    return "<" + ", ".join(f"{elem} {k}" for k in values) + ">"


def load(name: str, elem: str, lanes: int) -> str:
    """`(ptr, n)` -> the first n elements, then zeros: pairs by a masked load, and the last one by itself.

    It needs `NOTHING`, `llvm.smin.i64`, and the masked load of half as many i32.
    """
    ty, pairs = vector(elem, lanes), vector("i32", lanes // 2)
    whole = vector("i16", lanes)
    lines = [
        f"%m = call i64 @llvm.smin.i64(i64 %n, i64 {lanes})",
        "%count = trunc i64 %m to i32",
        f"%c.0 = insertelement {pairs} poison, i32 %count, i64 0",
        f"%c = shufflevector {pairs} %c.0, {pairs} poison, <{lanes // 2} x i32> zeroinitializer",
        f"%both = icmp slt {pairs} {_ramp('i32', range(1, lanes, 2))}, %c",
        f"%two = call {pairs} @llvm.masked.load.v{lanes // 2}i32.p0(ptr %p, i32 2, <{lanes // 2} x i1> %both,"
        f" {pairs} zeroinitializer)",
        f"%x = bitcast {pairs} %two to {whole}",
        "%k = sub i64 %m, 1",
        "%some = icmp sge i64 %k, 0",
        "%at = getelementptr i16, ptr %p, i64 %k",
        "%safe = select i1 %some, ptr %at, ptr @fw_nothing",
        "%one = load i16, ptr %safe, align 2",
        f"%o.0 = insertelement {whole} poison, i16 %one, i64 0",
        f"%o = shufflevector {whole} %o.0, {whole} poison, <{lanes} x i32> zeroinitializer",
        "%last = trunc i64 %k to i16",
        f"%l.0 = insertelement {whole} poison, i16 %last, i64 0",
        f"%l = shufflevector {whole} %l.0, {whole} poison, <{lanes} x i32> zeroinitializer",
        f"%here = icmp eq {whole} {_ramp('i16', range(lanes))}, %l",
        f"%y = select <{lanes} x i1> %here, {whole} %o, {whole} %x",
        f"%r = bitcast {whole} %y to {ty}",
        f"ret {ty} %r",
    ]
    head = f"define internal {ty} @{name}(ptr %p, i64 %n) alwaysinline nounwind {{"
    return "\n".join([head, *(f"  {x}" for x in lines), "}"])


def store(name: str, elem: str, lanes: int, align: int) -> str:
    """`(vector, ptr, n)`: the first n elements, in pieces of halved sizes."""
    ty = vector(elem, lanes)
    lines = [
        f"define internal void @{name}({ty} %x, ptr %p, i64 %n) alwaysinline nounwind {{",
        "entry:",
        f"  %all = icmp sge i64 %n, {lanes}",
        "  br i1 %all, label %whole, label %part",
        "whole:",
        f"  store {ty} %x, ptr %p, align {align}",
        "  ret void",
        "part:",
        "  %any = icmp sgt i64 %n, 0",
        f"  br i1 %any, label %of.{lanes // 2}, label %done",
    ]
    x, p, before = "%x", "%p", "part"
    k = lanes // 2
    while k:
        ty, half = vector(elem, 2 * k), vector(elem, k)
        joined = f"of.{k // 2}" if k > 1 else "done"
        lines.append(f"of.{k}:")
        if before != "part":
            lines.append(f"  {x} = phi {ty} [ %lo.{2 * k}, %of.{2 * k} ], [ %hi.{2 * k}, %has.{2 * k} ]")
            start = "%p" if 4 * k == lanes else f"%p.{2 * k}"
            lines.append(f"  {p} = phi ptr [ {start}, %of.{2 * k} ], [ %q.{2 * k}, %has.{2 * k} ]")
        if k > 1:
            lo, hi = (", ".join(f"i32 {j}" for j in range(a, a + k)) for a in (0, k))
            lines.append(f"  %lo.{k} = shufflevector {ty} {x}, {ty} poison, <{k} x i32> <{lo}>")
            lines.append(f"  %hi.{k} = shufflevector {ty} {x}, {ty} poison, <{k} x i32> <{hi}>")
        else:
            lines.append(f"  %lo.{k} = extractelement {ty} {x}, i64 0")
        lines += [
            f"  %bit.{k} = and i64 %n, {k}",
            f"  %b.{k} = icmp ne i64 %bit.{k}, 0",
            f"  br i1 %b.{k}, label %has.{k}, label %{joined}",
            f"has.{k}:",
            f"  store {half} %lo.{k}, ptr {p}, align {align}",
        ]
        if k > 1:
            lines.append(f"  %q.{k} = getelementptr {elem}, ptr {p}, i64 {k}")
        lines.append(f"  br label %{joined}")
        before, k = f"of.{k}", k // 2
        x, p = f"%x.{k}", f"%p.{k}"
    return "\n".join([*lines, "done:", "  ret void", "}"])
