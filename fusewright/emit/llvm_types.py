"""LLVM IR spellings of types and constants."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from ..core.dtypes import DType, rounded
from ..core.float8 import FORMATS

_SCALAR = {
    "f64": "double",
    "f32": "float",
    "i64": "i64",
    "i32": "i32",
    "i16": "i16",
    "i8": "i8",
    "u8": "i8",
    "u32": "i32",
    "bool": "i1",
}
_STORED = {**_SCALAR, "bool": "i8", "bf16": "i16", "f16": "half", **dict.fromkeys(FORMATS, "i8")}
_SUFFIX = {"double": "f64", "float": "f32", "half": "f16"}


def scalar(d: DType) -> str:
    """The type of a register element."""
    return _SCALAR[d.name]


def stored(d: DType) -> str:
    """The type of a memory element."""
    return _STORED[d.name]


def vector(elem: str, lanes: int) -> str:
    return elem if lanes == 1 else f"<{lanes} x {elem}>"


def splat(elem: str, x: int | float | str, lanes: int) -> str:
    """The same constant in all lanes."""
    return str(x) if lanes == 1 else f"splat ({elem} {x})"


def mangle(elem: str, lanes: int) -> str:
    """The suffix of an overloaded intrinsic: `v16f32`."""
    s = _SUFFIX.get(elem, elem)
    return s if lanes == 1 else f"v{lanes}{s}"


def literal(value: Any, d: DType) -> str:
    """A constant's text, without its type."""
    if d.name == "bool":
        return "true" if value else "false"
    if d.kind in "iu":
        return str(int(value))
    v = float(value)
    if d.name == "f32":
        with np.errstate(over="ignore"):
            v = float(np.float32(v))
    if d.is_reduced and d.name != "f16":
        v = float(rounded(np.asarray(v, np.float32), d))
    if math.isnan(v):
        return "0x7FF8000000000000"
    return "0x" + struct.pack(">d", v).hex().upper()
