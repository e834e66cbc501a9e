"""CUDA C++ spellings of types, constants and names, and what a GPU's generation decides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.dtypes import DType, compute_type
from ..core.float8 import FORMATS
from ..loop.ir import Arg, Imm


@dataclass(frozen=True, slots=True)
class CudaTarget:
    """What the emitter needs to know of a GPU: its compute capability."""

    major: int
    minor: int = 0

    @property
    def arch(self) -> str:
        """NVRTC's name of it: "sm_90"."""
        return f"sm_{self.major}{self.minor}"

    @property
    def has_bf16(self) -> bool:
        """Whether conversions to bf16, and max and min that propagate NaN, are instructions."""
        return self.major >= 8

    @property
    def has_float8(self) -> bool:
        """Whether conversions to 8-bit floats are instructions."""
        return (self.major, self.minor) >= (8, 9)

    @property
    def has_async_copies(self) -> bool:
        """Whether shared memory can be filled from device memory without passing through registers."""
        return self.major >= 8

    @property
    def has_clusters(self) -> bool:
        """Whether blocks can read each other's shared memory."""
        return self.major >= 9

    @property
    def has_dependent_launches(self) -> bool:
        """Whether a launch can wait for the one before it, which need not have ended when its own blocks begin."""
        return self.major >= 9


_VALUE = {
    "f64": "double",
    "f32": "float",
    "i64": "long long",
    "i32": "int",
    "i16": "short",
    "i8": "signed char",
    "u8": "unsigned char",
    "u32": "unsigned",
    "bool": "bool",
}
_STORED = {
    **_VALUE,
    **{"bool": "unsigned char", "bf16": "unsigned short", "f16": "unsigned short"},
    **dict.fromkeys(FORMATS, "unsigned char"),
}
_UNSIGNED = {"i64": "unsigned long long", "i32": "unsigned", "i16": "unsigned", "i8": "unsigned"}


def value_type(d: DType) -> str:
    """The type of a register element."""
    return _VALUE[compute_type(d).name]


def stored_type(d: DType) -> str:
    """The type of a memory element: floats of 16 and 8 bits are held as their bits."""
    return _STORED[d.name]


def unsigned_type(d: DType) -> str:
    """The type in which arithmetic on signed `d` wraps."""
    return _UNSIGNED[d.name]


# --- constants -----------------------------------------------------------------------------------


def literal(value: Any, d: DType) -> str:
    """A constant's text; it can stand wherever an operand can."""
    if d.is_bool:
        return "true" if value else "false"
    if d.is_int:
        return _integer(int(value), d)
    suffix = "f" if d.name == "f32" else ""
    with np.errstate(over="ignore"):
        v: Any = np.float32(value) if d.name == "f32" else np.float64(value)
    if math.isnan(v):
        return f"fw_nan{suffix}"
    if math.isinf(v):
        return f"fw_inf{suffix}" if v > 0 else f"(-fw_inf{suffix})"
    text = np.format_float_scientific(v, trim="0") if abs(v) >= 1e16 or 0 < abs(v) < 1e-4 else str(v)
    text += suffix
    return f"({text})" if text.startswith("-") else text


def _integer(v: int, d: DType) -> str:
    suffix = {"i64": "ll", "u32": "u"}.get(d.name, "")
    if v == -(1 << (8 * d.itemsize - 1)) and d.itemsize >= 4:
        return f"({v + 1}{suffix} - 1)"  # the number without its sign is no literal of the type
    return f"{v}{suffix}" if v >= 0 else f"({v}{suffix})"


def number(a: Arg) -> int | None:
    """The value of an integer immediate, else None."""
    return int(a.value) if isinstance(a, Imm) else None


# --- names ---------------------------------------------------------------------------------------

_TAKEN = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl concept
    const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do
    double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires return short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    threadIdx blockIdx blockDim gridDim warpSize isnan isinf isfinite signbit major minor linux unix NAN INFINITY
    NULL assert l
    """.split()
)


class Names:
    """C++ names for registers, buffers and functions: the IR's own, unless C++ or the emitter has taken them."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], str] = {}
        self._used: set[str] = set(_TAKEN)

    def __call__(self, text: str, kind: str = "register") -> str:
        """The name of what the IR calls `text`; two things of one kind and name share it."""
        found = self._given.get((kind, text))
        if found is None:
            found = text.replace(".", "_")
            while found in self._used or found.startswith(("fw_", "__")):
                found = f"v{found}" if found.startswith(("fw_", "__")) else f"{found}_"
            self._used.add(found)
            self._given[kind, text] = found
        return found


__all__ = ["CudaTarget", "Names", "literal", "number", "stored_type", "unsigned_type", "value_type"]
