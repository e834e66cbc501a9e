"""Between which numbers an integer lies, and what follows for operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.dtypes import DType, numpy_type
from .ir import Imm

Range = tuple[int, int]  # the least and the greatest value that an integer may have, in all lanes


def holds(op: str, x: Range, y: Range) -> bool | None:
    """Whether a comparison holds for all numbers of two ranges (True), for none (False), or neither."""
    if op in ("gt", "le"):
        x, y, op = y, x, {"gt": "lt", "le": "ge"}[op]
    if op in ("lt", "ge"):
        return op == "lt" if x[1] < y[0] else op == "ge" if x[0] >= y[1] else None
    if x[1] < y[0] or y[1] < x[0]:
        return op == "ne"
    return op == "eq" if x[0] == x[1] == y[0] == y[1] else None


def span_of(op: str, r: Sequence[Range], lanes: int) -> Range | None:
    """The range of a result from those of the operands, of mathematical integers."""
    a = r[0]
    if op in ("splat", "cast"):
        return a
    if op == "iota":
        return a[0], a[1] + lanes - 1
    if op == "neg":
        return -a[1], -a[0]
    if len(r) != 2:
        return None
    b = r[1]
    if op == "add":
        return a[0] + b[0], a[1] + b[1]
    if op == "sub":
        return a[0] - b[1], a[1] - b[0]
    if op == "mul":
        ends = [x * y for x in a for y in b]
        return min(ends), max(ends)
    if op == "min":
        return min(a[0], b[0]), min(a[1], b[1])
    if op == "max":
        return max(a[0], b[0]), max(a[1], b[1])
    if op == "either":
        return min(a[0], b[0]), max(a[1], b[1])
    if op == "udiv" and a[0] >= 0 and b[0] >= 1:
        return a[0] // b[1], a[1] // b[0]
    return None


def number(op: str, a: Imm, dtype: DType, lanes: int) -> Imm | None:
    """A number in all lanes, as another type, or with the other sign."""
    if op == "splat":
        return Imm(a.value, dtype, lanes)
    if op == "neg":
        if dtype.is_float:
            return Imm(-a.value, dtype, lanes)
        return None  # `span` knows
    if a.dtype.is_float or dtype.is_bool:
        return None
    if dtype.is_float:
        wide = np.int64(a.value) if a.dtype.kind != "u" else np.uint64(a.value)
        return Imm(float(wide.astype(numpy_type(dtype))), dtype, lanes)
    return None if dtype.is_int and a.dtype.is_int else Imm(int(a.value), dtype, lanes)


__all__ = ["Range", "holds", "number", "span_of"]
