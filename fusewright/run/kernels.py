"""Kernels by content: in memory, on disk, or compiled now.

A kernel's key is a digest of its Loop IR text (structure only: sizes are parameters), the target's facts and the
toolchain's versions. Two groups with the same structure, in one program or in different processes, share one kernel.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache

from ..build import llvm_jit, objects
from ..build.cpus import Cpu
from ..core.counters import count
from ..core.errors import RuntimeFault
from ..core.options import current
from ..emit.llvm import Target, emit
from ..emit.llvm_rules import SLEEF
from ..emit.llvm_types import scalar
from ..fusion.ir import Fusion
from ..loop.ir import Func, Imm
from ..loop.lower import Kernel
from ..loop.text import dump
from ..loop.verify import verify
from .code import code_for, generator_digest
from .launch import Scratch, SizeTable

_SLEEF_NAMES = tuple(f"Sleef_{n}{w}_{s}" for n, s in SLEEF.items() for w in ("f16", "f8", "f4", "d8", "d4", "d2"))

_lock = threading.Lock()
_kernels: dict[str, CompiledKernel] = {}
_elsewhere: ContextVar[Cpu | None] = ContextVar("fusewright_cpu", default=None)


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
    """The facts of the machine that kernels are for, under the current options: this one, but in `compiling_for`."""
    o = current()
    host = llvm_jit.host_target(_SLEEF_NAMES, o.sleef, o.openmp, o.precision != "eager")
    cpu = _elsewhere.get()
    return replace(host, bits=cpu.bits, cpu=cpu.llvm, features="") if cpu is not None else host


@contextmanager
def compiling_for(cpu: Cpu) -> Iterator[None]:
    """Make kernels for another CPU of this architecture for a block. They are compiled, and cannot be called."""
    token = _elsewhere.set(cpu if cpu.llvm else None)
    try:
        yield
    finally:
        _elsewhere.reset(token)


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
    symbols, obj, origin = _object(key, func, t)
    return _bound(key, func, obj, symbols, t, origin, start)


def _object(key: str, func: Func, t: Target) -> tuple[list[str], bytes, str]:
    """(the symbols that it needs, object code, where it is from)."""

    def make() -> bytes:
        """Object code behind a line that lists the symbols."""
        verify(func)
        text = emit(func, t)
        return json.dumps(objects.externals(text)).encode() + b"\n" + llvm_jit.compile_ir(text, t)

    code, origin = code_for(key, func, t.cpu, make)
    head, _, obj = code.partition(b"\n")
    return json.loads(head), obj, origin


def object_of(kernel: CompiledKernel) -> tuple[list[str], bytes]:
    """(the symbols that it needs, object code) of a kernel, for the machine that `target` says; from the disk cache if
    it is there. Raises CompilerError."""
    t = target()
    if kernel.source:
        return objects.externals(kernel.source), llvm_jit.compile_ir(kernel.source, t)
    symbols, obj, _ = _object(key_of(kernel.func), kernel.func, t)
    return symbols, obj


def host_types(func: Func) -> list[str]:
    """The types of a kernel's host scalars, as `objects.function` has them."""
    return [scalar(h.dtype) for h in func.hosts]


def from_source(func: Func, text: str) -> CompiledKernel:
    """A kernel from LLVM IR that somebody has edited, in place of what is generated for `func`; kept nowhere.

    Raises CompilerError or RuntimeFault.
    """
    start = time.perf_counter()
    t = target()
    obj = llvm_jit.compile_ir(text, t)
    made = _bound(f"external-{key_of(func)}", func, obj, objects.externals(text), t, "external", start)
    made.source = text
    return made


def _bound(
    key: str, func: Func, obj: bytes, symbols: list[str], t: Target, origin: str, start: float
) -> CompiledKernel:
    """Object code, loaded; for another machine only kept in mind."""
    if _elsewhere.get() is not None:
        return CompiledKernel(key, _not_here, func, origin, time.perf_counter() - start)
    address = llvm_jit.load(obj, func.name, symbols, t)
    fn = objects.function(address, len(func.bufs), host_types(func))
    return CompiledKernel(key, fn, func, origin, time.perf_counter() - start)


def size_table(kernel: Kernel, fusion: Fusion) -> SizeTable:
    """The size parameters of a kernel, by values of the symbols that they depend on."""
    buffers = [b.numel for b in fusion.buffers]
    used = {a.name for e in [*kernel.sizes, *buffers] for a in e.atoms() if a.kind == "sym"}
    scratch = []
    for a in kernel.func.allocs:
        n = int(a.count.value) if isinstance(a.count, Imm) else a.count.name
        scratch.append(Scratch(a.buf.dtype.itemsize, n, a.scope == "thread"))
    return SizeTable(
        sorted(used - {"threads"}),
        [r.name for r in kernel.func.sizes],
        kernel.evaluate,
        lambda env: max((int(n.evaluate(env)) for n in buffers), default=1),
        scratch,
    )


def _not_here(*args: object) -> int:
    raise RuntimeFault("a kernel for another machine was called")


def _forget() -> None:
    """In a forked child the lock may be held by a thread that no longer exists."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
