"""Triton kernels that a fused function launches become operations of its trace, as under Dynamo.

PyTorch has the operation, and `torch.library.wrap_triton` to make a launch one. In a trace every launch is.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

_lock = threading.Lock()
_tracing: dict[int, int] = {}  # thread -> traces in it
_launch: Any = None  # Triton's own `kernel[grid]`, while there are any


@contextmanager
def launches_traced() -> Iterator[None]:
    """In this thread, `kernel[grid]` of a Triton kernel is what a trace can follow."""
    runtime: Any = sys.modules.get("triton.runtime")
    interface = getattr(runtime, "KernelInterface", None)
    if interface is None:  # nobody has made a kernel
        yield
        return
    thread = threading.get_ident()
    with _lock:
        if not _tracing:
            _install(interface, (runtime.JITFunction, runtime.Autotuner))
        _tracing[thread] = _tracing.get(thread, 0) + 1
    try:
        yield
    finally:
        with _lock:
            _tracing[thread] -= 1
            if not _tracing[thread]:
                del _tracing[thread]
            if not _tracing:
                interface.__getitem__ = _launch


def _install(interface: Any, kinds: tuple[type, ...]) -> None:
    global _launch
    launch = _launch = interface.__getitem__
    wrapped: Any = torch.library.wrap_triton

    def traced(kernel: Any, grid: Any) -> Any:
        if threading.get_ident() not in _tracing or not isinstance(kernel, kinds):
            return launch(kernel, grid)
        return wrapped(kernel)[grid]

    interface.__getitem__ = traced


__all__ = ["launches_traced"]
