"""The first lanes of a vector, read and written where the CPU has no masks for it, or slow ones.

AVX2 has masked accesses of 4- and 8-byte elements only (LLVM makes a branch for every lane of others), and AMD's masked
stores take as long as dozens of plain ones. A number of lanes is a sum of powers of two, each of them a plain access of
so many elements behind a branch, which goes the same way for all rows of a length.
"""

from __future__ import annotations

from .llvm_types import vector


def _shuffle(lanes: int, elem: str, a: str, b: str, picks: list[int]) -> str:
    ty = f"<{lanes} x {elem}>"
    mask = ", ".join("i32 poison" if k < 0 else f"i32 {k}" for k in picks)
    return f"shufflevector {ty} {a}, {ty} {b}, <{len(picks)} x i32> <{mask}>"


def _powers(lanes: int) -> list[int]:
    return [1 << k for k in range((lanes - 1).bit_length() - 1, -1, -1)]


def _head(lines: list[str], lanes: int) -> None:
    """Where all lanes, none, or a part of them are asked for."""
    lines += [
        "entry:",
        f"  %whole = icmp sge i64 %n, {lanes}",
        "  br i1 %whole, label %all, label %some",
        "some:",
        "  %none = icmp sle i64 %n, 0",
        "  br i1 %none, label %end, label %part",
    ]


def store(name: str, elem: str, lanes: int) -> str:
    """A function (ptr p, vector v, i64 n): the first n lanes of v to p."""
    ty = vector(elem, lanes)
    lines = [f"define internal void @{name}(ptr %p, {ty} %v, i64 %n) nounwind {{"]
    _head(lines, lanes)
    lines += ["all:", f"  store {ty} %v, ptr %p, align 1", "  br label %end", "part:", "  br label %try.0"]
    at, value = "%p", "%v"
    for j, k in enumerate(_powers(lanes)):
        last = k == 1
        lines += [
            f"try.{j}:",
            f"  %has.{j} = and i64 %n, {k}",
            f"  %go.{j} = icmp ne i64 %has.{j}, 0",
            f"  br i1 %go.{j}, label %do.{j}, label %next.{j}",
            f"do.{j}:",
            f"  %first.{j} = {_shuffle(lanes, elem, value, 'poison', list(range(k)))}",
            f"  store <{k} x {elem}> %first.{j}, ptr {at}, align 1",
            f"  %moved.{j} = getelementptr {elem}, ptr {at}, i64 {k}",
            f"  %rest.{j} = {_shuffle(lanes, elem, value, 'poison', [*range(k, lanes), *[-1] * k])}",
            f"  br label %next.{j}",
            f"next.{j}:",
        ]
        if not last:
            lines += [
                f"  %at.{j} = phi ptr [ {at}, %try.{j} ], [ %moved.{j}, %do.{j} ]",
                f"  %left.{j} = phi {ty} [ {value}, %try.{j} ], [ %rest.{j}, %do.{j} ]",
            ]
            at, value = f"%at.{j}", f"%left.{j}"
        lines.append(f"  br label %{'end' if last else f'try.{j + 1}'}")
    return "\n".join([*lines, "end:", "  ret void", "}"])


def store_bytes(name: str, elem: str, size: int, lanes: int) -> str:
    """As `store`, of a vector of 8 or 16 bytes, whose first and last bytes are stored as integers that may overlap."""
    ty, wide = vector(elem, lanes), 8 * lanes * size
    lines = [f"define internal void @{name}(ptr %p, {ty} %v, i64 %n) alwaysinline nounwind {{"]
    _head(lines, lanes)
    lines += [f"all:\n  store {ty} %v, ptr %p, align 1\n  br label %end"]
    lines += ["part:", f"  %bytes = mul i64 %n, {size}"]
    if wide == 128:
        lines += [f"  %both = bitcast {ty} %v to <2 x i64>", "  %low = extractelement <2 x i64> %both, i32 0"]
        lines += ["  %high = extractelement <2 x i64> %both, i32 1"]
    else:
        lines += [f"  %low = bitcast {ty} %v to i64"]
    lines += _sizes(size, wide)
    for b in _steps(size, wide):
        lines += [f"from.{b}:", f"  %first.{b} = trunc i64 %low to i{8 * b}" if b < 8 else ""]
        lines += [f"  store i{8 * b} {f'%first.{b}' if b < 8 else '%low'}, ptr %p, align 1"]
        lines += [f"  %over.{b} = sub i64 %bytes, {b}", f"  %shift.{b} = shl i64 %over.{b}, 3"]
        if b == 8:
            lines += [f"  %last.{b} = call i64 @llvm.fshr.i64(i64 %high, i64 %low, i64 %shift.{b})"]
        else:
            lines += [f"  %moved.{b} = lshr i64 %low, %shift.{b}", f"  %last.{b} = trunc i64 %moved.{b} to i{8 * b}"]
        lines += [f"  %to.{b} = getelementptr i8, ptr %p, i64 %over.{b}"]
        lines += [f"  store i{8 * b} %last.{b}, ptr %to.{b}, align 1", "  br label %end"]
    return "\n".join([*filter(None, lines), "end:", "  ret void", "}"])


def load_bytes(name: str, elem: str, size: int, lanes: int) -> str:
    """A function (ptr p, i64 n) -> vector of 8 or 16 bytes: the first n lanes from p, zeros behind them; from integers
    that may overlap."""
    ty, wide = vector(elem, lanes), 8 * lanes * size
    whole = f"i{wide}"
    lines = [f"define internal {ty} @{name}(ptr %p, i64 %n) alwaysinline nounwind {{"]
    _head(lines, lanes)
    lines += [f"all:\n  %every = load {whole}, ptr %p, align 1\n  br label %end"]
    lines += ["part:", f"  %bytes = mul i64 %n, {size}", *_sizes(size, wide)]
    phis = ["[ %every, %all ]", "[ 0, %some ]"]
    for b in _steps(size, wide):
        lines += [f"from.{b}:", f"  %first.{b} = load i{8 * b}, ptr %p, align 1"]
        lines += [f"  %over.{b} = sub i64 %bytes, {b}", f"  %at.{b} = getelementptr i8, ptr %p, i64 %over.{b}"]
        lines += [f"  %last.{b} = load i{8 * b}, ptr %at.{b}, align 1"]
        lines += [f"  %bits.{b} = shl i64 %over.{b}, 3"]
        if b == 8:  # what is beyond the first 8 bytes; none of it, where the last are the first
            lines += [f"  %back.{b} = sub i64 56, %bits.{b}", f"  %some.{b} = lshr i64 %last.{b}, %back.{b}"]
            lines += [
                f"  %high.{b} = lshr i64 %some.{b}, 8",
                f"  %two.{b} = insertelement <2 x i64> poison, i64 %first.{b}, i32 0",
            ]
            lines += [f"  %four.{b} = insertelement <2 x i64> %two.{b}, i64 %high.{b}, i32 1"]
            lines += [f"  %got.{b} = bitcast <2 x i64> %four.{b} to i128"]
        else:
            lines += [f"  %low.{b} = zext i{8 * b} %first.{b} to i64", f"  %end.{b} = zext i{8 * b} %last.{b} to i64"]
            lines += [f"  %up.{b} = shl i64 %end.{b}, %bits.{b}", f"  %both.{b} = or i64 %low.{b}, %up.{b}"]
            lines += [f"  %got.{b} = {f'zext i64 %both.{b} to i128' if wide == 128 else f'add i64 %both.{b}, 0'}"]
        lines += ["  br label %end"]
        phis.append(f"[ %got.{b}, %from.{b} ]")
    lines += ["end:", f"  %out = phi {whole} {', '.join(phis)}", f"  %lanes = bitcast {whole} %out to {ty}"]
    return "\n".join([*lines, f"  ret {ty} %lanes", "}"])


def _steps(size: int, wide: int) -> list[int]:
    """Bytes of an integer at the beginning, and of one at the end, which cover from so many to twice as many bytes."""
    return [b for b in (8, 4, 2, 1) if size <= b < wide // 8]


def _sizes(size: int, wide: int) -> list[str]:
    """Branches to the step that covers all bytes."""
    steps, out = _steps(size, wide), list[str]()
    if len(steps) == 1:
        return [f"  br label %from.{steps[0]}"]
    for k, b in enumerate(steps[:-1]):
        other = f"below.{b}" if k + 2 < len(steps) else f"from.{steps[-1]}"
        out += [f"  %is.{b} = icmp uge i64 %bytes, {b}", f"  br i1 %is.{b}, label %from.{b}, label %{other}"]
        if k + 2 < len(steps):
            out.append(f"below.{b}:")
    return out
