"""Kernels by content: in memory, on disk, or compiled now.

A kernel's key is a digest of its Loop IR text (structure only: sizes are parameters), the target's facts and the
toolchain's versions. Two groups with the same structure, in one program or in different processes, share one kernel.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ..build import llvm_jit
from ..core.counters import count
from ..core.options import current
from ..emit.llvm import Target, emit
from ..emit.llvm_rules import SLEEF
from ..emit.llvm_types import scalar
from ..loop.ir import Func
from ..loop.text import dump
from ..loop.verify import verify
from .code import code_for, generator_digest

_SLEEF_NAMES = tuple(f"Sleef_{n}{w}_{s}" for n, s in SLEEF.items() for w in ("f16", "f8", "f4", "d8", "d4", "d2"))
_CTYPES: dict[str, Any] = {
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "i64": ctypes.c_int64,
    "i32": ctypes.c_int32,
}

_lock = threading.Lock()
_kernels: dict[str, CompiledKernel] = {}


@dataclass(slots=True)
class CompiledKernel:
    """A kernel in this process. `fn(bufs..., sizes, hosts..., scratch)` returns 0, or 1 for an index out of range."""

    key: str
    fn: Callable[..., int]
    func: Func
    origin: str  # "compiled", "disk", "external"
    seconds: float
    made: float = field(default_factory=time.perf_counter)  # when
    source: str = ""  # what it was made from, if people edited that


def target() -> Target:
    """The facts of this machine under the current options."""
    o = current()
    return llvm_jit.host_target(_SLEEF_NAMES, o.sleef, o.openmp, o.precision != "eager")


@cache
def _target_key(t: Target) -> str:
    facts = (t.bits, t.openmp, t.inline_math, sorted(t.sleef), t.triple, t.cpu, t.features)
    return f"{llvm_jit.versions()} {generator_digest('llvm*.py')} {facts}"


def key_of(func: Func) -> str:
    """The key of a kernel: its Loop IR text, this machine and the toolchain."""
    return hashlib.sha256((dump(func) + _target_key(target())).encode()).hexdigest()[:40]


def kernel_for(func: Func) -> CompiledKernel:
    """The compiled form of `func`; compiles at most once per content. Raises CompilerError or RuntimeFault."""
    t = target()
    key = key_of(func)
    if not current().kernel_reuse:
        with _lock:
            return _make(key, func, t)
    found = _kernels.get(key)
    if found is not None:
        count("kernels_reused")
        return found
    with _lock:
        found = _kernels.get(key)
        if found is None:
            found = _kernels[key] = _make(key, func, t)
        else:
            count("kernels_reused")
        return found


def _make(key: str, func: Func, t: Target) -> CompiledKernel:
    start = time.perf_counter()

    def make() -> bytes:
        """Object code behind a line that lists the symbols it needs."""
        verify(func)
        text = emit(func, t)
        return json.dumps(llvm_jit.externals(text)).encode() + b"\n" + llvm_jit.compile_ir(text, t)

    code, origin = code_for(key, len(func.bufs), make)
    head, _, obj = code.partition(b"\n")
    return _bound(key, func, obj, json.loads(head), t, origin, start)


def from_source(func: Func, text: str) -> CompiledKernel:
    """A kernel from LLVM IR that somebody has edited, in place of what is generated for `func`; kept nowhere.

    Raises CompilerError or RuntimeFault.
    """
    start = time.perf_counter()
    t = target()
    obj = llvm_jit.compile_ir(text, t)
    made = _bound(f"external-{key_of(func)}", func, obj, llvm_jit.externals(text), t, "external", start)
    made.source = text
    return made


def _bound(
    key: str, func: Func, obj: bytes, symbols: list[str], t: Target, origin: str, start: float
) -> CompiledKernel:
    """Object code, loaded."""
    address = llvm_jit.load(obj, func.name, symbols, t)
    hosts = [_CTYPES[scalar(h.dtype)] for h in func.hosts]
    proto = ctypes.CFUNCTYPE(ctypes.c_int32, *([ctypes.c_void_p] * (len(func.bufs) + 1)), *hosts, ctypes.c_void_p)
    return CompiledKernel(key, proto(address), func, origin, time.perf_counter() - start)


def _forget() -> None:
    """In a forked child the lock may be held by a thread that no longer exists."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
