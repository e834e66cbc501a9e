"""Transposing a tile of memory as LLVM IR: blocks of it pass through vector registers.

A block is K elements that are side by side in the source of each of W lines, and leaves as K vectors of W. Pieces of
16 bytes are read, as many lines to a register as there are pieces in one: a register (c, l) holds piece c of lines l,
l + L, l + 2L, ..., where L is the number of elements in a piece. Pairs of registers are then interleaved within their
pieces, log2 L times, which is what processors have instructions for: every time the uppermost bit of an element's place
in the line goes to the number of the register, and a bit of the line's number to the place in the register.

The last block of a line, and the last line of blocks, begin so that they are whole: some elements are copied twice.
Tiles that are smaller than a block have smaller ones; those of a few lines, or of a few elements each, go element by
element, but for two lines that leave as pairs.
"""

from __future__ import annotations

from ..loop.ir import Imm, Turn
from .llvm_shuffles import merged
from .llvm_types import vector

WIDE = 32  # bytes of a register that are used: wider ones have no faster shuffles
PIECE = 16  # bytes within which processors interleave
MOST = 8  # lines that are put together by shuffles of two vectors at a time


def blocks(size: int, width: int) -> list[tuple[int, int]]:
    """(K, W) of blocks for elements of `size` bytes, the largest first."""
    piece = PIECE // size
    wide = min(max(width // size, piece), 16)
    high = min(piece, 8) if size <= 2 else wide
    square = [(n, n) for n in (8, 4, 2) if n < high or n == high < wide if 4 <= n * size <= PIECE]
    return [(high, wide), *square, (8, 1), (1, 8), (1, 1)]


def define(name: str, size: int, width: int) -> str:
    """A function (ptr to, i64 pitch, ptr of, i64 stride, i64 m, i64 n) that does what `turn` in Loop IR does."""
    w = _Text(size)
    w.pairs(max(width, PIECE) // size)
    shapes = blocks(size, width)
    for k, (high, wide) in enumerate(shapes):
        w.label(f"try{k}")
        fits = w.t(f"and i1 {w.t(f'icmp sge i64 %m, {high}')}, {w.t(f'icmp sge i64 %n, {wide}')}")
        other = f"try{k + 1}" if k + 1 < len(shapes) else "end"
        w.line(f"br i1 {fits}, label %blocks{k}, label %{other}")
        w.loops(f"blocks{k}", high, wide)
    w.label("end")
    w.line("ret void")
    head = f"define internal void @{name}(ptr noalias %to, i64 %pitch, ptr noalias %of, i64 %stride, i64 %m, i64 %n)"
    return "\n".join([f"{head} noinline nounwind {{", "entry:", *w.lines, "}"])


def lines_together(s: Turn, bits: int) -> tuple[int, int]:
    """The elements of the vectors of each line for `together`, and the number of lines, if there is a function for it
    where registers have so many bits; (0, 0) if there is none."""
    size, n = s.buf.dtype.itemsize, s.cols
    if not isinstance(n, Imm) or n != s.pitch or not 2 < n.value <= MOST or bits < 512:
        return 0, 0
    return bits // 8 // max(size, 4), n.value


def together(name: str, size: int, wide: int, n: int) -> str:
    """A function (ptr to, ptr of, i64 stride, i64 m) that turns n lines of m elements each, for a number n that is
    known, so that they lie in `to` without gaps: vectors of `wide` elements of each line leave as n vectors. What is
    shorter than one goes element by element."""
    w = _Text(size)
    fits = w.t(f"icmp sge i64 %m, {wide}")
    last = w.t(f"sub i64 %m, {wide}")
    lines = ["%of"]
    for _ in range(n - 1):
        lines.append(w.at(lines[-1], "%stride"))
    w.line(f"br i1 {fits}, label %whole, label %few")
    w.label("few")
    w.line(f"br i1 {w.t('icmp sgt i64 %m, 0')}, label %single, label %end")
    w.label("single")
    w.line("%k0 = phi i64 [ 0, %few ], [ %k1, %single ]")
    at = w.t(f"mul i64 %k0, {n}")
    for c, x in enumerate(lines):
        one = w.t(f"load {w.elem}, ptr {w.at(x, '%k0')}, align {size}")
        w.line(f"store {w.elem} {one}, ptr {w.at('%to', w.t(f'add i64 {at}, {c}'))}, align {size}")
    w.line("%k1 = add i64 %k0, 1")
    w.line(f"br i1 {w.t('icmp slt i64 %k1, %m')}, label %single, label %end")
    w.label("whole")
    w.line("%r0 = phi i64 [ 0, %entry ], [ %r1, %whole ]")
    r = w.t(f"select i1 {w.t(f'icmp slt i64 %r0, {last}')}, i64 %r0, i64 {last}")
    ty = vector(w.elem, wide)
    parts = [w.t(f"load {ty}, ptr {w.at(x, r)}, align {size}") for x in lines]
    to = w.at("%to", w.t(f"mul i64 {r}, {n}"))
    for k in range(n):
        places = [divmod(k * wide + p, n) for p in range(wide)]
        found = [(x, {p: at for p, (at, of) in enumerate(places) if of == c}) for c, x in enumerate(parts)]
        x = merged(lambda text, _: w.t(text), w.elem, wide, found)
        w.line(f"store {ty} {x}, ptr {w.at(to, str(k * wide))}, align {size}")
    w.line(f"%r1 = add i64 %r0, {wide}")
    w.line(f"br i1 {w.t('icmp slt i64 %r1, %m')}, label %whole, label %end")
    w.label("end")
    w.line("ret void")
    head = f"define internal void @{name}(ptr noalias %to, ptr noalias %of, i64 %stride, i64 %m)"
    return "\n".join([f"{head} noinline nounwind {{", "entry:", *w.lines, "}"])


class _Text:
    def __init__(self, size: int):
        self.elem = f"i{8 * size}"
        self.size = size
        self.lines: list[str] = []
        self.count = 0

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def t(self, text: str) -> str:
        self.count += 1
        self.line(f"%x{self.count} = {text}")
        return f"%x{self.count}"

    def at(self, base: str, index: str) -> str:
        return self.t(f"getelementptr inbounds {self.elem}, ptr {base}, i64 {index}")

    def loops(self, name: str, high: int, wide: int) -> None:
        """Loops over lines and along them in blocks, of which the last begin where they are whole."""
        self.label(name)
        self.line(f"br label %{name}.c")
        self.label(f"{name}.c")
        self.line(f"%{name}.c0 = phi i64 [ 0, %{name} ], [ %{name}.c1, %{name}.cn ]")
        last = self.t(f"sub i64 %n, {wide}")
        c = self.t(f"select i1 {self.t(f'icmp slt i64 %{name}.c0, {last}')}, i64 %{name}.c0, i64 {last}")
        of, to = self.at("%of", self.t(f"mul i64 {c}, %stride")), self.at("%to", c)
        lines = [of]
        for _ in range(wide - 1):
            lines.append(self.at(lines[-1], "%stride"))
        end = self.t(f"sub i64 %m, {high}")
        self.line(f"br label %{name}.r")
        self.label(f"{name}.r")
        self.line(f"%{name}.r0 = phi i64 [ 0, %{name}.c ], [ %{name}.r1, %{name}.r ]")
        r = self.t(f"select i1 {self.t(f'icmp slt i64 %{name}.r0, {end}')}, i64 %{name}.r0, i64 {end}")
        self.block([self.at(x, r) for x in lines], self.at(to, self.t(f"mul i64 {r}, %pitch")), high)
        self.line(f"%{name}.r1 = add i64 %{name}.r0, {high}")
        self.line(f"br i1 {self.t(f'icmp slt i64 %{name}.r1, %m')}, label %{name}.r, label %{name}.cn")
        self.label(f"{name}.cn")
        self.line(f"%{name}.c1 = add i64 %{name}.c0, {wide}")
        self.line(f"br i1 {self.t(f'icmp slt i64 %{name}.c1, %n')}, label %{name}.c, label %end")

    def pairs(self, wide: int) -> None:
        """Two lines that are to be side by side, element by element; goes to `try0` if it is another tile."""
        two = self.t(f"and i1 {self.t('icmp eq i64 %n, 2')}, {self.t('icmp eq i64 %pitch, 2')}")
        fits = self.t(f"and i1 {two}, {self.t(f'icmp sge i64 %m, {wide}')}")
        last = self.t(f"sub i64 %m, {wide}")
        other = self.at("%of", "%stride")
        self.line(f"br i1 {fits}, label %pairs, label %try0")
        self.label("pairs")
        self.line("%pairs.r0 = phi i64 [ 0, %entry ], [ %pairs.r1, %pairs ]")
        r = self.t(f"select i1 {self.t(f'icmp slt i64 %pairs.r0, {last}')}, i64 %pairs.r0, i64 {last}")
        part, whole = vector(self.elem, wide), vector(self.elem, 2 * wide)
        a, b = (self.t(f"load {part}, ptr {self.at(x, r)}, align {self.size}") for x in ("%of", other))
        order = ", ".join(f"i32 {k + wide * odd}" for k in range(wide) for odd in (0, 1))
        both = self.t(f"shufflevector {part} {a}, {part} {b}, <{2 * wide} x i32> <{order}>")
        self.line(f"store {whole} {both}, ptr {self.at('%to', self.t(f'shl i64 {r}, 1'))}, align {self.size}")
        self.line(f"%pairs.r1 = add i64 %pairs.r0, {wide}")
        self.line(f"br i1 {self.t('icmp slt i64 %pairs.r1, %m')}, label %pairs, label %end")

    def block(self, lines: list[str], to: str, high: int) -> None:
        """Turn `high` elements of each line."""
        wide = len(lines)
        piece = min(PIECE // self.size, high, wide)
        whole, part = vector(self.elem, wide), vector(self.elem, piece)
        regs = []
        for c in range(high // piece):
            starts = [self.at(x, str(c * piece)) for x in lines]
            for line in range(piece):
                pieces = [self.t(f"load {part}, ptr {p}, align {self.size}") for p in starts[line::piece]]
                regs.append(self.joined(pieces, piece))
        step = piece // 2
        while step:
            for a in range(high):
                if not a & step:
                    low, top = regs[a], regs[a + step]
                    regs[a], regs[a + step] = (self.interleaved(low, top, wide, piece, half) for half in (0, 1))
            step //= 2
        for k, x in enumerate(regs):
            if k:
                to = self.at(to, "%pitch")
            self.line(f"store {whole} {x}, ptr {to}, align {self.size}")

    def joined(self, pieces: list[str], piece: int) -> str:
        """Vectors one behind the other."""
        if piece == 1 < len(pieces):
            whole, ty = "poison", vector(self.elem, len(pieces))
            for k, x in enumerate(pieces):
                whole = self.t(f"insertelement {ty} {whole}, {self.elem} {x}, i64 {k}")
            return whole
        while len(pieces) > 1:
            ty = vector(self.elem, piece)
            order = ", ".join(f"i32 {k}" for k in range(2 * piece))
            pairs = zip(pieces[::2], pieces[1::2], strict=True)
            pieces = [self.t(f"shufflevector {ty} {a}, {ty} {b}, <{2 * piece} x i32> <{order}>") for a, b in pairs]
            piece *= 2
        return pieces[0]

    def interleaved(self, a: str, b: str, wide: int, piece: int, half: int) -> str:
        """The lower or upper halves of all pieces of two registers, their elements in turns."""
        order = []
        for start in range(half * piece // 2, wide, piece):
            for k in range(start, start + piece // 2):
                order += [k, wide + k]
        ty = vector(self.elem, wide)
        return self.t(f"shufflevector {ty} {a}, {ty} {b}, <{wide} x i32> <{', '.join(f'i32 {k}' for k in order)}>")
