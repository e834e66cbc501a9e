"""Launches that may begin before the one before them in the stream has ended (CUDA's programmatic dependent launch).

Such a launch waits for that itself, before it does anything else (`emit/cuda.py`): its blocks are there already when
the last ones of the launch before leave. Only what waits so is launched in this way, and only behind a launch of the
same kernel, which lets it begin early. Launched like any other, by an older driver or into a recording, it does the
same.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

_SERIALIZATION = 6  # CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION


class Attribute(ctypes.Structure):
    """CUlaunchAttribute, with a value that is an int."""

    _fields_ = (
        ("id", ctypes.c_uint),
        ("pad", ctypes.c_char * 4),
        ("value", ctypes.c_int),
        ("rest", ctypes.c_char * 60),
    )


class Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        *((name, ctypes.c_uint) for name in ("x", "y", "z", "threads", "threads_y", "threads_z", "shared")),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    )


_attribute = Attribute(_SERIALIZATION, b"", 1)
ATTRIBUTES = ctypes.addressof(_attribute)  # of such a launch; there is one


@cache
def function() -> Callable[..., int] | None:
    """The driver's `cuLaunchKernelEx`; None if it is too old to have it."""
    try:
        found: Any = ctypes.CDLL("libcuda.so.1").cuLaunchKernelEx
    except (OSError, AttributeError):
        return None
    found.restype = ctypes.c_int
    found.argtypes = (ctypes.c_void_p,) * 4
    return found  # type: ignore[no-any-return]


def launch(
    call: Callable[..., int], handle: int, blocks: int, threads: int, shared: int, args: int, stream: int
) -> int:
    """Launch a kernel with `call`, a `function`; returns its status."""
    config = Config(blocks, 1, 1, threads, 1, 1, shared, stream, ATTRIBUTES, 1)
    return call(ctypes.addressof(config), handle, args, None)


__all__ = ["ATTRIBUTES", "Attribute", "Config", "function", "launch"]
