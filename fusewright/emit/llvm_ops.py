"""Writes Loop IR operations as LLVM IR, and collects the declarations and helper functions they need."""

from __future__ import annotations

from collections.abc import Callable

from ..core.dtypes import DType
from ..core.errors import CompilerError
from ..loop.ir import Let
from . import llvm_float8, llvm_parts
from .llvm_rules import RULES, Op, Writer
from .llvm_special import Special
from .llvm_types import mangle, splat, vector


class Ops(Special):
    """Writes operations; collects the declarations and helper functions they need."""

    def __init__(self, bits: int, sleef: frozenset[str], inline: bool):
        self.bits = bits
        self.inline = inline
        self.sleef = sleef
        self._declared: dict[str, None] = {}
        self._defined: dict[str, str] = {}

    def declare(self, text: str) -> None:
        self._declared[text] = None

    def declarations(self) -> list[str]:
        return list(self._declared)

    def definitions(self) -> list[str]:
        return list(self._defined.values())

    def emit(self, w: Writer, s: Let, dst: str, args: list[str], types: list[tuple[DType, int]]) -> None:
        f = RULES.get(s.op)
        if f is None:
            raise CompilerError(f"no LLVM rule for {s.op}", "emit")
        attr = s.op if s.op in ("shl", "shr") else s.attr
        f(Op(self, w, dst, args, types, s.dst.dtype, s.dst.lanes, attr))

    def helper(self, name: str, define: Callable[[str], str]) -> str:
        """The name of a helper function, defined on first use."""
        if name not in self._defined:
            self._defined[name] = define(name)
        return name

    # --- memory intrinsics ---
    def masked_load(self, elem: str, lanes: int) -> str:
        fn = f"llvm.masked.load.{mangle(elem, lanes)}.p0"
        ty = vector(elem, lanes)
        self.declare(f"declare {ty} @{fn}(ptr, i32 immarg, <{lanes} x i1>, {ty})")
        return fn

    def masked_store(self, elem: str, lanes: int) -> str:
        fn = f"llvm.masked.store.{mangle(elem, lanes)}.p0"
        self.declare(f"declare void @{fn}({vector(elem, lanes)}, ptr, i32 immarg, <{lanes} x i1>)")
        return fn

    def part_load(self, elem: str, size: int, lanes: int) -> str:
        """(ptr, i64 n) -> the first n lanes, of elements of so many bytes."""
        return self.helper(f"fw_load_part_x{lanes}_{elem}", lambda name: llvm_parts.load_bytes(name, elem, size, lanes))

    def part_store(self, elem: str, size: int, lanes: int) -> str:
        """(ptr, vector, i64 n): the first n lanes."""
        if size * lanes not in (8, 16):
            return self.helper(f"fw_store_part_x{lanes}_{elem}", lambda name: llvm_parts.store(name, elem, lanes))
        self.declare("declare i64 @llvm.fshr.i64(i64, i64, i64)")
        return self.helper(
            f"fw_store_part_x{lanes}_{elem}", lambda name: llvm_parts.store_bytes(name, elem, size, lanes)
        )

    def gather(self, elem: str, lanes: int) -> str:
        fn = f"llvm.masked.gather.{mangle(elem, lanes)}.v{lanes}p0"
        ty = vector(elem, lanes)
        self.declare(f"declare {ty} @{fn}(<{lanes} x ptr>, i32 immarg, <{lanes} x i1>, {ty})")
        return fn

    def scatter(self, elem: str, lanes: int) -> str:
        fn = f"llvm.masked.scatter.{mangle(elem, lanes)}.v{lanes}p0"
        self.declare(f"declare void @{fn}({vector(elem, lanes)}, <{lanes} x ptr>, i32 immarg, <{lanes} x i1>)")
        return fn

    # --- storage conversions ---
    def widen(self, w: Writer, dst: str, raw: str, d: DType, lanes: int) -> None:
        """A stored element as a register element (nothing to do unless a float of fewer than 32 bits, or bool)."""
        f = vector("float", lanes)
        if d.is_float8:
            llvm_float8.widen(w, dst, raw, d, lanes)
        elif d.name == "f16":
            w.line(f"{dst} = fpext {vector('half', lanes)} {raw} to {f}")
        elif d.name == "bf16":
            i = vector("i32", lanes)
            wide = w.put(f"zext {vector('i16', lanes)} {raw} to {i}")
            w.line(f"{dst} = bitcast {i} {w.put(f'shl {i} {wide}, {_i32(16, lanes)}')} to {f}")
        elif d.is_bool:
            zero = "0" if lanes == 1 else "zeroinitializer"
            w.line(f"{dst} = icmp ne {vector('i8', lanes)} {raw}, {zero}")

    def narrow(self, w: Writer, v: str, src: DType, d: DType, lanes: int) -> str:
        """A register element as it is stored."""
        if d.is_float8:
            return llvm_float8.narrow(w, v, d, lanes)
        if d.name == "f16":
            out = w.fresh()
            w.line(f"{out} = fptrunc {vector('float', lanes)} {v} to {vector('half', lanes)}")
            return out
        if d.is_bool:
            out = w.fresh()
            w.line(f"{out} = zext {vector('i1', lanes)} {v} to {vector('i8', lanes)}")
            return out
        if d.name != "bf16":
            return v
        i = vector("i32", lanes)
        up, nan = self._up(w, v, lanes)
        up = w.put(f"select {vector('i1', lanes)} {nan}, {i} {_i32(_NAN, lanes)}, {i} {up}")
        if self.bits == 512 and lanes == 16:
            return self._upper_words(w, up)
        top = w.put(f"lshr {i} {up}, {_i32(16, lanes)}")
        return w.put(f"trunc {i} {top} to {vector('i16', lanes)}")

    def through(self, w: Writer, dst: str, v: str, src: DType, d: DType, lanes: int) -> None:
        """A register element as it is after being stored as `d`."""
        if d.name != "bf16":
            self.widen(w, dst, self.narrow(w, v, src, d, lanes), d, lanes)
            return
        i = vector("i32", lanes)
        up, nan = self._up(w, v, lanes)
        bits = w.put(f"and {i} {up}, {_i32(-65536, lanes)}")
        bits = w.put(f"select {vector('i1', lanes)} {nan}, {i} {_i32(_NAN, lanes)}, {i} {bits}")
        w.line(f"{dst} = bitcast {i} {bits} to {vector('float', lanes)}")

    def _up(self, w: Writer, v: str, lanes: int) -> tuple[str, str]:
        """Integers whose upper halves are a float32 rounded to bfloat16, to nearest, ties to even; where that is NaN.

        `vcvtneps2bf16` is not used: it flushes subnormal numbers, which eager keeps; to look for them costs as much.
        """
        i, f, m = vector("i32", lanes), vector("float", lanes), vector("i1", lanes)
        bits = w.put(f"bitcast {f} {v} to {i}")
        nan = w.put(f"fcmp uno {f} {v}, {v}")
        if self.bits == 512:  # an addition under a mask is one instruction
            last = w.put(f"and {i} {bits}, {_i32(65536, lanes)}")
            odd = w.put(f"icmp ne {i} {last}, {_i32(0, lanes)}")
            more = w.put(f"select {m} {odd}, {i} {_i32(0x8000, lanes)}, {i} {_i32(0x7FFF, lanes)}")
            up = w.put(f"add {i} {bits}, {more}")
        else:
            odd = w.put(f"and {i} {w.put(f'lshr {i} {bits}, {_i32(16, lanes)}')}, {_i32(1, lanes)}")
            up = w.put(f"add {i} {w.put(f'add {i} {bits}, {odd}')}, {_i32(0x7FFF, lanes)}")
        return up, nan

    def _upper_words(self, w: Writer, x: str) -> str:
        """The upper halves of sixteen integers by one permutation of AVX-512."""
        words, first = "<32 x i16>", ", ".join(f"i32 {k}" for k in range(16))
        self.declare(f"declare {words} @llvm.x86.avx512.permvar.hi.512({words}, {words})")
        # of a constant that LLVM sees it makes a shift and two permutations
        which = ", ".join(f"i16 {(2 * k + 1) % 32}" for k in range(32))
        upper = w.put(f'call {words} asm "", "=v,0"({words} <{which}>)')
        both = w.put(f"bitcast <16 x i32> {x} to {words}")
        packed = w.put(f"call {words} @llvm.x86.avx512.permvar.hi.512({words} {both}, {words} {upper})")
        return w.put(f"shufflevector {words} {packed}, {words} poison, <16 x i32> <{first}>")


_NAN = 0x7FC00000


def _i32(n: int, lanes: int) -> str:
    return splat("i32", n, lanes)
