"""The 8-bit floating-point types of the OCP specification (OFP8, revision 1.0) as PyTorch converts them.

`f8e4m3` has 4 bits of exponent and 3 of mantissa, no infinities, and one NaN of either sign: what is beyond 464, half a
step above its largest number, 448, becomes NaN, as in PyTorch 2.11; in `f8e4m3s`, as in 2.13, that number.
`f8e5m2` is the upper half of a float16: with infinities, from 61440 on. Conversions round to nearest, ties to even.
"""

from __future__ import annotations

import numpy as np

_INF = np.uint32(0x7F800000)


def encode(x: np.ndarray, name: str) -> np.ndarray:
    """float32 numbers as the bytes of the type `name`."""
    e5m2 = name == "f8e5m2"
    mantissa, bias = (2, 15) if e5m2 else (3, 7)
    bits = np.asarray(x, np.float32).view(np.uint32)
    sign = (bits >> np.uint32(24)) & np.uint32(0x80)
    bits = bits & np.uint32(0x7FFFFFFF)
    shift = np.uint32(23 - mantissa)
    odd = (bits >> shift) & np.uint32(1)
    normal = (
        bits - np.uint32((127 - bias) << 23) + ((np.uint32(1) << (shift - np.uint32(1))) - np.uint32(1)) + odd >> shift
    )
    # adding this number leaves the multiples of the smallest one in the lowest bits, rounded
    magic = np.uint32((127 - bias + 24 - mantissa) << 23)
    with np.errstate(all="ignore"):
        small = (bits.view(np.float32) + magic.view(np.float32)).view(np.uint32) - magic
    out = np.where(bits < np.uint32((128 - bias) << 23), small, normal)
    if e5m2:
        out = np.where(bits >= np.uint32(143 << 23), np.where(bits > _INF, np.uint32(0x7F), np.uint32(0x7C)), out)
    else:
        out = np.where(bits >= np.uint32(1087 << 20), np.uint32(0x7F), out)
        if name == "f8e4m3s":
            out = np.where((bits <= _INF) & (out == np.uint32(0x7F)), np.uint32(0x7E), out)
    return (out | sign).astype(np.uint8)


def _numbers(name: str) -> np.ndarray:
    byte = np.arange(256, dtype=np.uint16)
    half = byte << np.uint16(8) if name == "f8e5m2" else (byte & 0x80) << np.uint16(8) | (byte & 0x7F) << np.uint16(7)
    out = half.astype(np.uint16).view(np.float16).astype(np.float32)
    if name != "f8e5m2":
        out = np.where((byte & 0x7F) == 0x7F, np.float32(np.nan), out * np.float32(256))
    return out.astype(np.float32)


_TABLES = {name: _numbers(name) for name in ("f8e4m3", "f8e4m3s", "f8e5m2")}


def decode(x: np.ndarray, name: str) -> np.ndarray:
    """Bytes of the type `name` as float32 numbers."""
    return _TABLES[name][x]


def rounded(x: np.ndarray, name: str) -> np.ndarray:
    """float32 numbers, each the nearest of the type `name`."""
    return decode(encode(x, name), name)


__all__ = ["decode", "encode", "rounded"]
