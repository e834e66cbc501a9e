"""Object code -> a callable address, through llvmlite's JITLink. No compiler is involved, and nothing of Loop IR.

The external symbols of a kernel are SLEEF's functions in torch's CPU library, its OpenMP runtime, and libm. What this
CPU can do is asked here, too, because code is for some CPUs only.
"""

from __future__ import annotations

import ctypes
import itertools
import platform
import re
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from ..core.errors import RuntimeFault

lock = threading.RLock()  # LLVM is entered by one thread at a time
_NOLOAD = 4  # dlopen flag: only if the library is in the process already
_keep: list[Any] = []
_linked = itertools.count()

# LLVM may introduce calls of these
_RUNTIME = ("memset", "memcpy", "memmove", "fmod", "fmodf", "fma", "fmaf", "__truncsfhf2", "__extendhfsf2")

_CTYPES: dict[str, Any] = {
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "i64": ctypes.c_int64,
    "i32": ctypes.c_int32,
}


@cache
def initialise() -> Any:
    """LLVM, ready for this machine. Loading the library takes tens of milliseconds: only what links waits for that."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


# --- this CPU ----------------------------------------------------------------------------------------


def architecture() -> str:
    """What object code is for: "x86_64", "aarch64"."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


@cache
def features() -> dict[str, bool]:
    """LLVM's names of what CPUs can do -> whether this one can."""
    return dict(initialise().get_host_cpu_features())


# --- symbols -----------------------------------------------------------------------------------------


def loaded(*names: str) -> ctypes.CDLL | None:
    """A shared library that the process has already loaded, else None."""
    for name in names:
        try:
            if sys.platform.startswith("linux"):
                return ctypes.CDLL(name, mode=_NOLOAD)
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@cache
def _libraries() -> tuple[ctypes.CDLL | None, ctypes.CDLL | None]:
    """(torch's CPU library, its OpenMP runtime)."""
    return loaded("libtorch_cpu.so", "libtorch_cpu.dylib"), loaded("libgomp.so.1")


@cache
def _libm() -> ctypes.CDLL:
    """The process itself: libm and the C library are part of it."""
    return ctypes.CDLL(None)


def _address(lib: ctypes.CDLL | None, name: str) -> int | None:
    if lib is None:
        return None
    try:
        return ctypes.cast(getattr(lib, name), ctypes.c_void_p).value
    except AttributeError:
        return None


def symbol(name: str) -> int | None:
    """The address of a function that kernels call; None if this process has none."""
    torch_cpu, gomp = _libraries()
    if name.startswith(("GOMP_", "omp_")):
        return _address(gomp, name) or _address(_libm(), name)
    return _address(torch_cpu, name) or _address(_libm(), name)


def in_torch(names: Iterable[str]) -> frozenset[str]:
    """Those of `names` that torch's CPU library exports."""
    torch_cpu, _ = _libraries()
    return frozenset(n for n in names if _address(torch_cpu, n) is not None)


def has_openmp() -> bool:
    """Whether torch's OpenMP runtime can be called."""
    return _address(_libraries()[1], "GOMP_parallel") is not None


def externals(text: str) -> list[str]:
    """Symbols that a module of LLVM IR declares and does not define, without LLVM's own."""
    return [n for n in re.findall(r"^declare .*?@([\w.]+)\(", text, re.M) if not n.startswith("llvm.")]


# --- linking -----------------------------------------------------------------------------------------


@cache
def _jit() -> Any:
    # LLVM's older linker places code and constants apart, and ends the process when memory is so full that they come to
    # lie over two gigabytes from each other; JITLink gives an object one piece of memory
    llvm = initialise()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        opt=0, jit=True, reloc="pic", codemodel="small"
    )
    jit = llvm.create_lljit_compiler(machine, use_jit_link=True)
    _keep.append(jit)
    return jit


def load(obj: bytes, entry: str, symbols: Sequence[str]) -> int:
    """Link object code into the process; returns the address of `entry`. Raises RuntimeFault."""
    with lock:
        llvm = initialise()
        builder = llvm.JITLibraryBuilder().add_object_img(obj).export_symbol(entry)
        for name in dict.fromkeys([*symbols, *_RUNTIME]):
            at = symbol(name)
            if at is not None:
                builder = builder.import_symbol(name, at)
            elif name not in _RUNTIME:
                raise RuntimeFault(f"symbol {name} is not in this process")
        try:
            # a name is never given twice, not even after a failure: LLVM would end the process
            tracker = builder.link(_jit(), f"fw{next(_linked)}")
            _keep.append(tracker)
            return int(tracker[entry])
        except RuntimeError as e:
            raise RuntimeFault(f"the loader rejected a kernel: {e}") from e


def function(address: int, buffers: int, hosts: Sequence[str]) -> Callable[..., int]:
    """The kernel at an address, of pointers to buffers and sizes, host scalars ("float", "i64", ...), and scratch."""
    types = [_CTYPES[h] for h in hosts]
    proto = ctypes.CFUNCTYPE(ctypes.c_int32, *([ctypes.c_void_p] * (buffers + 1)), *types, ctypes.c_void_p)
    return proto(address)
