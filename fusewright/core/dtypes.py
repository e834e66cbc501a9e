"""Element types: the ones Fusewright claims, and how each is stored and computed.

A value of `bf16` or `f16` is *stored* in 16 bits and *computed* in `f32`, and one of the 8-bit floats (`float8.py`) in
8 bits; `bool` is stored as one byte (0 or 1) and computed as a one-bit predicate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import float8

CACHE_LINE = 64  # bytes that a CPU's caches and memory exchange at once


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """An element type. There is one object of each: equal means identical.

    `name` is the spelling used in every text format; `kind` is one of `f` (floating), `i` (signed),
    `u` (unsigned), `b` (boolean); `itemsize` is the stored size in bytes.
    """

    name: str
    kind: str
    itemsize: int

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    def __reduce__(self) -> tuple[Callable[[str], DType], tuple[str]]:
        return _by_name, (self.name,)

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_int(self) -> bool:
        return self.kind in "iu"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"

    @property
    def is_reduced(self) -> bool:
        """Whether values are stored with fewer bits than they are computed with."""
        return self.kind == "f" and self.itemsize <= 2

    @property
    def is_float8(self) -> bool:
        return self.kind == "f" and self.itemsize == 1


f64 = DType("f64", "f", 8)
f32 = DType("f32", "f", 4)
f16 = DType("f16", "f", 2)
bf16 = DType("bf16", "f", 2)
f8e4m3 = DType("f8e4m3", "f", 1)
f8e4m3s = DType("f8e4m3s", "f", 1)  # the same, conversions to which saturate
f8e5m2 = DType("f8e5m2", "f", 1)
i64 = DType("i64", "i", 8)
i32 = DType("i32", "i", 4)
i16 = DType("i16", "i", 2)
i8 = DType("i8", "i", 1)
u8 = DType("u8", "u", 1)
u32 = DType("u32", "u", 4)  # internal: random bits
bool_ = DType("bool", "b", 1)

ALL = (f64, f32, f16, bf16, f8e4m3, f8e4m3s, f8e5m2, i64, i32, i16, i8, u8, u32, bool_)
BY_NAME = {d.name: d for d in ALL}


def _by_name(name: str) -> DType:
    return BY_NAME[name]


def compute_type(d: DType) -> DType:
    """The type a value of `d` has inside a kernel (16-bit and 8-bit floats are computed in `f32`)."""
    return f32 if d.is_reduced else d


_NUMPY = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": np.float32,  # NumPy has no bfloat16: held as float32 values that are exact in bfloat16
    **dict.fromkeys(float8.FORMATS, np.float32),  # so are these
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "u8": np.uint8,
    "u32": np.uint32,
    "bool": np.bool_,
}


def numpy_type(d: DType) -> type:
    """The NumPy scalar type the interpreters hold values of `d` in."""
    return _NUMPY[d.name]


def round_bf16(x: np.ndarray) -> np.ndarray:
    """Round float32 to the nearest bfloat16, ties to even, NaN kept; returned as float32."""
    x = np.asarray(x, np.float32)
    bits = x.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), np.float32(np.nan), rounded.view(np.float32)).astype(np.float32)


def rounded(x: np.ndarray, d: DType) -> np.ndarray:
    """float32 numbers rounded to a type of fewer bits, returned as float32; of other types, as they are."""
    if d is bf16:
        return round_bf16(x)
    if d is f16:
        with np.errstate(over="ignore"):
            return np.asarray(x).astype(np.float16).astype(np.float32)
    return float8.rounded(x, d.name) if d.is_float8 else x
