"""Common types of operands, by PyTorch's rules, without PyTorch.

Operands have a level: 2 for tensors with dimensions, 1 for 0-d tensors, 0 for numbers (Python's, and scalars and sizes
that are given when a definition is executed). A lower level decides the type only if its kind of number (bool, integer,
float) is a higher one than that of all levels above it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..core.dtypes import BY_NAME, DType, bool_, f32, f64, i64


def promote(a: DType, b: DType) -> DType:
    """The type that holds both, as `torch.promote_types`."""
    if a is b or b.is_bool:
        return a
    if a.is_bool:
        return b
    if a.is_float != b.is_float:
        return a if a.is_float else b
    if a.is_float:
        if a.itemsize == b.itemsize:  # float16 and bfloat16
            return f32
        return a if a.itemsize > b.itemsize else b
    signed, other = (a, b) if a.kind == "i" else (b, a)
    if a.kind == b.kind or signed.itemsize > other.itemsize:
        return a if a.itemsize > b.itemsize else b
    return BY_NAME[f"i{16 * other.itemsize}"]


def number_type(x: bool | int | float) -> DType:
    """The type of a Python number by itself."""
    return bool_ if isinstance(x, bool) else i64 if isinstance(x, int) else f64


def common(operands: Iterable[tuple[DType, int]]) -> DType:
    """The common type of operands, each (type, level). Floats of level 0 are f32 among integers of higher levels."""
    slots: list[DType | None] = [None, None, None]
    for dtype, level in operands:
        have = slots[level]
        slots[level] = dtype if have is None else promote(have, dtype)
    numbers, zero_d, tensors = slots
    if numbers is not None and numbers.is_float and (zero_d or tensors):
        numbers = f32
    out = _combine(tensors, _combine(zero_d, numbers))
    if out is None:
        raise TypeError("no operands")
    return out


def _combine(higher: DType | None, lower: DType | None) -> DType | None:
    if higher is None or lower is None:
        return higher or lower
    if higher.is_float or (not higher.is_bool and not lower.is_float):
        return higher
    return promote(higher, lower)
