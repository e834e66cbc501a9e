"""Conversions between float32 and 8-bit floats in LLVM IR, by arithmetic on their bits (`core/float8.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.dtypes import DType
from .llvm_types import vector

if TYPE_CHECKING:
    from .llvm_ops import Writer

_INF = 0x7F800000
_NAN = 0x7FC00000
_LAST = 0x43E80000  # 464: what is greater would be NaN


def widen(w: Writer, dst: str, raw: str, d: DType, lanes: int) -> None:
    """Bytes as float32: by way of float16, of which `f8e5m2` is the upper half, and `f8e4m3` a 256th."""
    i, f = vector("i16", lanes), vector("float", lanes)
    bits = w.put(f"zext {vector('i8', lanes)} {raw} to {i}")
    if d.name == "f8e5m2":
        half = w.put(f"shl {i} {bits}, {_splat('i16', 8, lanes)}")
        w.line(f"{dst} = fpext {vector('half', lanes)} {_cast(w, i, half, vector('half', lanes))} to {f}")
        return
    low = w.put(f"and {i} {bits}, {_splat('i16', 0x7F, lanes)}")
    sign = w.put(f"shl {i} {w.put(f'and {i} {bits}, ' + _splat('i16', 0x80, lanes))}, {_splat('i16', 8, lanes)}")
    half = w.put(f"or {i} {sign}, {w.put(f'shl {i} {low}, ' + _splat('i16', 7, lanes))}")
    part = w.put(f"fpext {vector('half', lanes)} {_cast(w, i, half, vector('half', lanes))} to {f}")
    number = w.put(f"fmul {f} {part}, {_splat('float', 256.0, lanes)}")
    nan = w.put(f"icmp eq {i} {low}, {_splat('i16', 0x7F, lanes)}")
    j = vector("i32", lanes)
    signed = w.put(f"and {j} {_cast(w, f, number, j)}, {_splat('i32', -(1 << 31), lanes)}")
    none = _cast(w, j, w.put(f"or {j} {signed}, {_splat('i32', _NAN, lanes)}"), f)
    w.line(f"{dst} = select {vector('i1', lanes)} {nan}, {f} {none}, {f} {number}")


def narrow(w: Writer, v: str, d: DType, lanes: int) -> str:
    """float32 as bytes, to nearest, ties to even."""
    i, f, m = vector("i32", lanes), vector("float", lanes), vector("i1", lanes)
    mantissa, bias = (2, 15) if d.name == "f8e5m2" else (3, 7)
    shift = 23 - mantissa

    def const(x: int) -> str:
        return _splat("i32", x, lanes)

    def put(op: str, a: str, b: str) -> str:
        return w.put(f"{op} {i} {a}, {b}")

    def choose(where: str, a: str, b: str) -> str:
        return w.put(f"select {m} {where}, {i} {a}, {i} {b}")

    signed = _cast(w, f, v, i)
    bits = put("and", signed, const(0x7FFFFFFF))
    odd = put("and", put("lshr", bits, const(shift)), const(1))
    up = put("add", put("add", bits, const((1 << (shift - 1)) - 1 - ((127 - bias) << 23))), odd)
    normal = put("lshr", up, const(shift))
    magic = (127 - bias + 24 - mantissa) << 23
    moved = w.put(f"fadd {f} {_cast(w, i, bits, f)}, {_cast(w, i, const(magic), f)}")
    small = put("sub", _cast(w, f, moved, i), const(magic))
    out = choose(w.put(f"icmp ult {i} {bits}, {const((128 - bias) << 23)}"), small, normal)
    if d.name == "f8e5m2":
        out = choose(w.put(f"icmp uge {i} {bits}, {const(143 << 23)}"), const(0x7C), out)
    elif d.name == "f8e4m3s":
        out = choose(w.put(f"icmp ugt {i} {bits}, {const(_LAST)}"), const(0x7E), out)
    else:
        out = choose(w.put(f"icmp uge {i} {bits}, {const(1087 << 20)}"), const(0x7F), out)
    out = choose(w.put(f"icmp ugt {i} {bits}, {const(_INF)}"), const(0x7F), out)
    out = put("or", out, put("and", put("lshr", signed, const(24)), const(0x80)))
    return w.put(f"trunc {i} {out} to {vector('i8', lanes)}")


def _cast(w: Writer, a: str, x: str, b: str) -> str:
    return w.put(f"bitcast {a} {x} to {b}")


def _splat(elem: str, x: int | float, lanes: int) -> str:
    return str(x) if lanes == 1 else f"splat ({elem} {x})"


__all__ = ["narrow", "widen"]
