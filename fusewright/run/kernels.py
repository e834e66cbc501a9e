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
from pathlib import Path
from typing import Any

from ..build import llvm_jit
from ..build.store import default_store
from ..core.counters import count
from ..core.options import current
from ..emit import llvm as llvm_emitter
from ..emit.llvm import Target, emit
from ..emit.llvm_rules import SLEEF
from ..emit.llvm_types import scalar
from ..loop.ir import Func
from ..loop.text import dump
from ..loop.verify import verify

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
    return f"{llvm_jit.versions()} {generator_digest()} {facts}"


@cache
def generator_digest() -> str:
    """A digest of the code that turns Loop IR into LLVM IR: another generator, another kernel."""
    folder = Path(llvm_emitter.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


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
    store = default_store() if current().disk_cache else None
    blob = store.get(key) if store is not None else None
    origin = "disk"
    if blob is not None:
        count("disk_hits")
        head, _, obj = blob.partition(b"\n")
        symbols = json.loads(head)
    else:
        if store is not None:
            count("disk_misses")
        verify(func)
        text = emit(func, t)
        symbols = llvm_jit.externals(text)
        obj = llvm_jit.compile_ir(text, t)
        count("kernels_compiled")
        origin = "compiled"
        if store is not None:
            store.put(key, json.dumps(symbols).encode() + b"\n" + obj, {"bufs": len(func.bufs), "bytes": len(obj)})
    return _bound(key, func, obj, symbols, t, origin, start)


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
