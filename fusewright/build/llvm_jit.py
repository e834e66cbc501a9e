"""LLVM IR text -> machine code -> a callable address, through llvmlite.

Compiling and loading are separate so that object code can be cached on disk: `compile_ir` needs no process state,
`load` resolves the external symbols (SLEEF in torch's library, its OpenMP runtime, libm) in this process.
"""

from __future__ import annotations

import ctypes
import itertools
import platform
import re
import sys
import threading
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from ..core.errors import CompilerError, RuntimeFault
from ..emit.llvm import Target

_lock = threading.RLock()
_NOLOAD = 4  # dlopen flag: only if the library is in the process already
_keep: list[Any] = []


@cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _loaded(*names: str) -> ctypes.CDLL | None:
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
    return _loaded("libtorch_cpu.so", "libtorch_cpu.dylib"), _loaded("libgomp.so.1")


def _address(lib: ctypes.CDLL | None, name: str) -> int | None:
    if lib is None:
        return None
    try:
        return ctypes.cast(getattr(lib, name), ctypes.c_void_p).value
    except AttributeError:
        return None


@cache
def host_target(names: tuple[str, ...], sleef: bool = True, openmp: bool = True, inline_math: bool = True) -> Target:
    """Facts of this machine. `names`: the SLEEF symbols that kernels may want; absent ones are left out."""
    _initialise()
    features = llvm.get_host_cpu_features()
    bits = 512 if features.get("avx512f") and features.get("avx512vl") else 256 if features.get("avx2") else 128
    torch_cpu, gomp = _libraries()
    present = frozenset(n for n in names if sleef and _address(torch_cpu, n) is not None)
    return Target(
        bits=bits,
        openmp=openmp and _address(gomp, "GOMP_parallel") is not None,
        sleef=present,
        inline_math=inline_math,
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
        features=features.flatten(),
    )


def versions() -> str:
    """What of the toolchain determines the code: part of every cache key."""
    return f"llvmlite {llvmlite.__version__}, llvm {'.'.join(map(str, llvm.llvm_version_info))}, {platform.machine()}"


def _machine(target: Target) -> Any:
    _initialise()
    features = target.features
    if target.bits == 512:
        features += ",-prefer-256-bit"
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=features, opt=2, jit=True, reloc="pic", codemodel="small"
    )


@cache
def _compiler(target: Target) -> tuple[Any, Any]:
    """(target machine, pass builder); compilation is serialised by `_lock`."""
    tm = _machine(target)
    return tm, llvm.create_pass_builder(tm, llvm.create_pipeline_tuning_options(speed_level=1))


def _passes() -> Any:
    pm = llvm.create_new_module_pass_manager()
    pm.add_always_inliner_pass()
    pm.add_sroa_pass()
    pm.add_instruction_combine_pass()
    pm.add_simplify_cfg_pass()
    return pm


def optimise(text: str, target: Target) -> Any:
    """Parse, verify and optimise; returns llvmlite's module."""
    with _lock:
        try:
            module = llvm.parse_assembly(text)
            module.verify()
        except RuntimeError as e:
            raise CompilerError(f"LLVM rejected the kernel: {e}", "build") from e
        _, builder = _compiler(target)
        pm = _passes()
        pm.run(module, builder)
        return module


def signature(text: str, name: str) -> str | None:
    """The type of a function that a module defines ("i32 (ptr, float)"); None if it does not. Raises CompilerError."""
    with _lock:
        _initialise()
        try:
            module = llvm.parse_assembly(text)
            function = module.get_function(name)
        except RuntimeError as e:
            raise CompilerError(f"LLVM rejected the kernel: {e}", "build") from e
        except NameError:
            return None
        if function.is_declaration:
            return None
        return str(function.global_value_type)


def compile_ir(text: str, target: Target) -> bytes:
    """Object code of an LLVM IR module."""
    with _lock:
        module = optimise(text, target)
        return _compiler(target)[0].emit_object(module)


def assembly(text: str, target: Target) -> str:
    """The machine code of an LLVM IR module, as assembly."""
    with _lock:
        return str(_compiler(target)[0].emit_assembly(optimise(text, target)))


_libraries_linked = itertools.count()


@cache
def _jit(target: Target) -> Any:
    # LLVM's older linker places code and constants apart, and ends the process when memory is so full that they come to
    # lie over two gigabytes from each other; JITLink gives an object one piece of memory
    jit = llvm.create_lljit_compiler(_machine(target), use_jit_link=True)
    _keep.append(jit)
    return jit


def externals(text: str) -> list[str]:
    """Symbols a module's text declares and does not define, without LLVM's own."""
    return [n for n in re.findall(r"^declare .*?@([\w.]+)\(", text, re.M) if not n.startswith("llvm.")]


# LLVM may introduce calls of these
_RUNTIME = ("memset", "memcpy", "memmove", "fmod", "fmodf", "__truncsfhf2", "__extendhfsf2")


def load(obj: bytes, entry: str, symbols: list[str], target: Target) -> int:
    """Link object code into the process; returns the address of `entry`. Raises RuntimeFault."""
    torch_cpu, gomp = _libraries()
    with _lock:
        builder = llvm.JITLibraryBuilder().add_object_img(obj).export_symbol(entry)
        for name in dict.fromkeys([*symbols, *_RUNTIME]):
            at = _address(gomp if name.startswith(("GOMP_", "omp_")) else torch_cpu, name) or _address(_libm(), name)
            if at is not None:
                builder = builder.import_symbol(name, at)
            elif name not in _RUNTIME:
                raise RuntimeFault(f"symbol {name} is not in this process")
        try:
            # a name is never given twice, not even after a failure: LLVM would end the process
            tracker = builder.link(_jit(target), f"fw{next(_libraries_linked)}")
            _keep.append(tracker)
            return int(tracker[entry])
        except RuntimeError as e:
            raise RuntimeFault(f"the loader rejected a kernel: {e}") from e


@cache
def _libm() -> ctypes.CDLL:
    """The process itself: libm and the C library are part of it."""
    return ctypes.CDLL(None)
