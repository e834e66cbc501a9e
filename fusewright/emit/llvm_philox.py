"""Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11) as LLVM IR.

The layout of streams is that of `prims/philox.py`: 64 columns that start at a multiple of 64 are the four words of
sixteen counters, so one evaluation on sixteen lanes serves four vectors.
"""

from __future__ import annotations

from .llvm_types import splat, vector

_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW, _HIGH = 0xFFFFFFFF, -(1 << 32)


def _signed(n: int) -> int:
    n &= 0xFFFFFFFF
    return n - (1 << 32) if n >> 31 else n


class _Text:
    def __init__(self, lanes: int):
        self.lanes = lanes
        self.i32, self.i64 = vector("i32", lanes), vector("i64", lanes)
        self.lines: list[str] = []
        self.count = 0

    def t(self, text: str) -> str:
        self.count += 1
        name = f"%x{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def const(self, ty: str, n: int) -> str:
        return splat(ty, n, self.lanes)

    def broadcast(self, scalar: str) -> str:
        if self.lanes == 1:
            return scalar
        one = self.t(f"insertelement {self.i32} poison, i32 {scalar}, i64 0")
        return self.t(f"shufflevector {self.i32} {one}, {self.i32} poison, <{self.lanes} x i32> zeroinitializer")

    def multiply(self, c: str, m: int) -> tuple[str, str]:
        """(high, low) 32 bits of c * m, lane by lane."""
        if self.lanes % 2:
            wide = self.t(f"zext {self.i32} {c} to {self.i64}")
            product = self.t(f"mul {self.i64} {wide}, {self.const('i64', m)}")
            top = self.t(f"lshr {self.i64} {product}, {self.const('i64', 32)}")
            return self.t(f"trunc {self.i64} {top} to {self.i32}"), self.t(f"trunc {self.i64} {product} to {self.i32}")
        # even and odd lanes are the halves of 64-bit lanes: two multiplications, no widening
        half = vector("i64", self.lanes // 2)

        def k(n: int) -> str:
            return f"splat (i64 {n})" if self.lanes > 2 else str(n)

        pair = self.t(f"bitcast {self.i32} {c} to {half}")
        even = self.t(f"mul {half} {self.t(f'and {half} {pair}, {k(_LOW)}')}, {k(m)}")
        odd = self.t(f"mul {half} {self.t(f'lshr {half} {pair}, {k(32)}')}, {k(m)}")
        low_even, low_odd = self.t(f"and {half} {even}, {k(_LOW)}"), self.t(f"shl {half} {odd}, {k(32)}")
        high_even, high_odd = self.t(f"lshr {half} {even}, {k(32)}"), self.t(f"and {half} {odd}, {k(_HIGH)}")
        high, low = self.t(f"or {half} {high_even}, {high_odd}"), self.t(f"or {half} {low_even}, {low_odd}")
        return self.t(f"bitcast {half} {high} to {self.i32}"), self.t(f"bitcast {half} {low} to {self.i32}")

    def rounds(self, c0: str, c1: str, c2: str, c3: str) -> tuple[str, str, str, str]:
        """Ten rounds, as a loop: unrolled they would be most of a kernel's code and compile time."""
        k0 = self.t("trunc i64 %seed to i32")
        upper = self.t("lshr i64 %seed, 32")
        k1 = self.t(f"trunc i64 {upper} to i32")
        self.lines += ["  br label %rounds", "rounds:"]
        at = len(self.lines)
        hi0, lo0 = self.multiply("%c0", _M0)
        hi1, lo1 = self.multiply("%c2", _M1)
        a, b = self.t(f"xor {self.i32} {hi1}, %c1"), self.t(f"xor {self.i32} {hi0}, %c3")
        n0 = self.t(f"xor {self.i32} {a}, {self.broadcast('%k0')}")
        n2 = self.t(f"xor {self.i32} {b}, {self.broadcast('%k1')}")
        next_k0, next_k1 = self.t(f"add i32 %k0, {_signed(_W0)}"), self.t(f"add i32 %k1, {_signed(_W1)}")
        next_n = self.t("add i32 %n, 1")
        more = self.t(f"icmp ult i32 {next_n}, 10")
        self.lines += [f"  br i1 {more}, label %rounds, label %done", "done:"]
        self.lines[at:at] = [
            f"  {name} = phi {ty} [ {first}, %entry ], [ {after}, %rounds ]"
            for name, ty, first, after in (
                ("%n", "i32", "0", next_n),
                ("%k0", "i32", k0, next_k0),
                ("%k1", "i32", k1, next_k1),
                ("%c0", self.i32, c0, n0),
                ("%c1", self.i32, c1, lo1),
                ("%c2", self.i32, c2, n2),
                ("%c3", self.i32, c3, lo0),
            )
        ]
        return n0, lo1, n2, lo0


def pointwise(name: str, lanes: int) -> str:
    """A function (i64 seed, i64 x lanes rows, i64 x lanes columns, i32 stream) -> i32 x lanes."""
    w = _Text(lanes)
    block = w.t(f"lshr {w.i64} %column, {w.const('i64', 6)}")
    shifted = w.t(f"shl {w.i64} {block}, {w.const('i64', 4)}")
    lane = w.t(f"and {w.i64} %column, {w.const('i64', 15)}")
    c0 = w.t(f"trunc {w.i64} {w.t(f'or {w.i64} {shifted}, {lane}')} to {w.i32}")
    c1 = w.t(f"trunc {w.i64} %row to {w.i32}")
    upper = w.t(f"lshr {w.i64} %row, {w.const('i64', 32)}")
    c2 = w.t(f"trunc {w.i64} {upper} to {w.i32}")
    words = w.rounds(c0, c1, c2, w.broadcast("%stream"))
    sixteenth = w.t(f"lshr {w.i64} %column, {w.const('i64', 4)}")
    number = w.t(f"trunc {w.i64} {sixteenth} to {w.i32}")
    word = w.t(f"and {w.i32} {number}, {w.const('i32', 3)}")
    out = words[0]
    for n in (1, 2, 3):
        is_n = w.t(f"icmp eq {w.i32} {word}, {w.const('i32', n)}")
        out = w.t(f"select {vector('i1', lanes)} {is_n}, {w.i32} {words[n]}, {w.i32} {out}")
    head = f"define internal {w.i32} @{name}(i64 %seed, {w.i64} %row, {w.i64} %column, i32 %stream)"
    return "\n".join([f"{head} noinline nounwind memory(none) {{", "entry:", *w.lines, f"  ret {w.i32} {out}", "}"])


def block(name: str, lanes: int) -> str:
    """A function (i64 seed, i64 row, i64 first counter, i32 stream) -> four words of `lanes` consecutive counters."""
    w = _Text(lanes)
    c0 = w.broadcast(w.t("trunc i64 %counter to i32"))
    if lanes > 1:
        ramp = ", ".join(f"i32 {k}" for k in range(lanes))
        c0 = w.t(f"add {w.i32} {c0}, <{ramp}>")
    c1 = w.broadcast(w.t("trunc i64 %row to i32"))
    upper = w.t("lshr i64 %row, 32")
    c2 = w.broadcast(w.t(f"trunc i64 {upper} to i32"))
    words = w.rounds(c0, c1, c2, w.broadcast("%stream"))
    result = f"{{ {w.i32}, {w.i32}, {w.i32}, {w.i32} }}"
    out = "poison"
    for n, c in enumerate(words):
        out = w.t(f"insertvalue {result} {out}, {w.i32} {c}, {n}")
    head = f"define internal {result} @{name}(i64 %seed, i64 %row, i64 %counter, i32 %stream)"
    return "\n".join(
        [f"{head} alwaysinline nounwind memory(none) {{", "entry:", *w.lines, f"  ret {result} {out}", "}"]
    )
