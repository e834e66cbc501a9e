"""Conversions between float32 and 8-bit floats in LLVM IR, by arithmetic on their bits (`core/float8.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.dtypes import DType
from ..core.float8 import FORMATS, INF32, NAN
from .llvm_types import splat, vector

if TYPE_CHECKING:
    from .llvm_ops import Writer

_NAN32 = 0x7FC00000


def widen(w: Writer, dst: str, raw: str, d: DType, lanes: int) -> None:
    """Bytes as float32: by way of float16, of which `f8e5m2` is the upper half, and `f8e4m3` a 256th."""
    i, f = vector("i16", lanes), vector("float", lanes)
    bits = w.put(f"zext {vector('i8', lanes)} {raw} to {i}")
    if d.name == "f8e5m2":
        half = w.put(f"shl {i} {bits}, {splat('i16', 8, lanes)}")
        w.line(f"{dst} = fpext {vector('half', lanes)} {_cast(w, i, half, vector('half', lanes))} to {f}")
        return
    low = w.put(f"and {i} {bits}, {splat('i16', NAN, lanes)}")
    sign = w.put(f"shl {i} {w.put(f'and {i} {bits}, ' + splat('i16', 0x80, lanes))}, {splat('i16', 8, lanes)}")
    half = w.put(f"or {i} {sign}, {w.put(f'shl {i} {low}, ' + splat('i16', 7, lanes))}")
    part = w.put(f"fpext {vector('half', lanes)} {_cast(w, i, half, vector('half', lanes))} to {f}")
    number = w.put(f"fmul {f} {part}, {splat('float', 256.0, lanes)}")
    nan = w.put(f"icmp eq {i} {low}, {splat('i16', NAN, lanes)}")
    j = vector("i32", lanes)
    signed = w.put(f"and {j} {_cast(w, f, number, j)}, {splat('i32', -(1 << 31), lanes)}")
    none = _cast(w, j, w.put(f"or {j} {signed}, {splat('i32', _NAN32, lanes)}"), f)
    w.line(f"{dst} = select {vector('i1', lanes)} {nan}, {f} {none}, {f} {number}")


def narrow(w: Writer, v: str, d: DType, lanes: int) -> str:
    """float32 as bytes, to nearest, ties to even."""
    i, f, m = vector("i32", lanes), vector("float", lanes), vector("i1", lanes)
    format = FORMATS[d.name]

    def const(x: int) -> str:
        return splat("i32", x, lanes)

    def put(op: str, a: str, b: str) -> str:
        return w.put(f"{op} {i} {a}, {b}")

    def choose(where: str, a: str, b: str) -> str:
        return w.put(f"select {m} {where}, {i} {a}, {i} {b}")

    signed = _cast(w, f, v, i)
    bits = put("and", signed, const(0x7FFFFFFF))
    odd = put("and", put("lshr", bits, const(format.shift)), const(1))
    up = put("add", put("add", bits, const((1 << (format.shift - 1)) - 1 - format.rebias)), odd)
    normal = put("lshr", up, const(format.shift))
    moved = w.put(f"fadd {f} {_cast(w, i, bits, f)}, {_cast(w, i, const(format.magic), f)}")
    small = put("sub", _cast(w, f, moved, i), const(format.magic))
    out = choose(w.put(f"icmp ult {i} {bits}, {const(format.normal)}"), small, normal)
    out = choose(w.put(f"icmp uge {i} {bits}, {const(format.too_large)}"), const(format.instead), out)
    out = choose(w.put(f"icmp ugt {i} {bits}, {const(INF32)}"), const(NAN), out)
    out = put("or", out, put("and", put("lshr", signed, const(24)), const(0x80)))
    return w.put(f"trunc {i} {out} to {vector('i8', lanes)}")


def _cast(w: Writer, a: str, x: str, b: str) -> str:
    return w.put(f"bitcast {a} {x} to {b}")


__all__ = ["narrow", "widen"]
