"""The 8-bit floating-point types of the OCP specification (OFP8, revision 1.0) as PyTorch converts them.

`f8e4m3` has 4 bits of exponent and 3 of mantissa, no infinities, and one NaN of either sign: what is beyond 464, half a
step above its largest number, 448, becomes NaN, as in PyTorch 2.11; in `f8e4m3s`, as in 2.13, that number.
`f8e5m2` is the upper half of a float16: with infinities, from 61440 on. Conversions round to nearest, ties to even.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NAN = 0x7F  # the byte
INF32 = 0x7F800000  # the bits of float32's infinity


@dataclass(frozen=True, slots=True)
class Format:
    """Bits of mantissa, the exponent's bias; the bits of the least float32 that is too large, and its byte."""

    mantissa: int
    bias: int
    too_large: int
    instead: int

    @property
    def shift(self) -> int:
        """Bits that float32's mantissa has more."""
        return 23 - self.mantissa

    @property
    def rebias(self) -> int:
        """What is taken off a float32's bits, so that its exponent is the format's."""
        return (127 - self.bias) << 23

    @property
    def normal(self) -> int:
        """The bits of the least float32 that is no subnormal number of the format."""
        return (128 - self.bias) << 23

    @property
    def magic(self) -> int:
        """The bits of a float32 that, added, leaves the multiples of the least number in the lowest bits, rounded."""
        return (127 - self.bias + 24 - self.mantissa) << 23


FORMATS = {
    "f8e4m3": Format(3, 7, 0x43E80001, NAN),  # beyond 464
    "f8e4m3s": Format(3, 7, 0x43E80001, 0x7E),
    "f8e5m2": Format(2, 15, 0x47700000, 0x7C),  # from 61440 on
}


def encode(x: np.ndarray, name: str) -> np.ndarray:
    """float32 numbers as the bytes of the type `name`."""
    f = FORMATS[name]
    bits = np.asarray(x, np.float32).view(np.uint32)
    sign = (bits >> np.uint32(24)) & np.uint32(0x80)
    bits = bits & np.uint32(0x7FFFFFFF)
    shift, magic = np.uint32(f.shift), np.uint32(f.magic)
    odd = (bits >> shift) & np.uint32(1)
    normal = bits - np.uint32(f.rebias) + np.uint32((1 << (f.shift - 1)) - 1) + odd >> shift
    with np.errstate(all="ignore"):
        small = (bits.view(np.float32) + magic.view(np.float32)).view(np.uint32) - magic
    out = np.where(bits < np.uint32(f.normal), small, normal)
    out = np.where(bits >= np.uint32(f.too_large), np.uint32(f.instead), out)
    out = np.where(bits > np.uint32(INF32), np.uint32(NAN), out)
    return (out | sign).astype(np.uint8)


def _numbers(name: str) -> np.ndarray:
    byte = np.arange(256, dtype=np.uint16)
    half = byte << np.uint16(8) if name == "f8e5m2" else (byte & 0x80) << np.uint16(8) | (byte & 0x7F) << np.uint16(7)
    out = half.astype(np.uint16).view(np.float16).astype(np.float32)
    if name != "f8e5m2":
        out = np.where((byte & 0x7F) == NAN, np.float32(np.nan), out * np.float32(256))
    return out.astype(np.float32)


_TABLES = {name: _numbers(name) for name in FORMATS}


def decode(x: np.ndarray, name: str) -> np.ndarray:
    """Bytes of the type `name` as float32 numbers."""
    return _TABLES[name][x]


def rounded(x: np.ndarray, name: str) -> np.ndarray:
    """float32 numbers, each the nearest of the type `name`."""
    return decode(encode(x, name), name)


__all__ = ["FORMATS", "INF32", "NAN", "Format", "decode", "encode", "rounded"]
