"""LLVM IR text -> machine code -> a callable address, through llvmlite.

Compiling and loading are separate so that object code can be cached on disk, or saved: `compile_ir` needs no process
state, `objects.py` loads, without a compiler.
"""

from __future__ import annotations

import platform
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from ..core.errors import CompilerError
from ..emit.llvm import Target
from . import objects

_lock = objects.lock


@cache
def host_target(names: tuple[str, ...], sleef: bool = True, openmp: bool = True, inline_math: bool = True) -> Target:
    """Facts of this machine. `names`: the SLEEF symbols that kernels may want; absent ones are left out."""
    objects.initialise()
    features = llvm.get_host_cpu_features()
    wide = all(map(features.get, ("avx512f", "avx512vl", "avx512bw")))
    bits = 512 if wide else 256 if features.get("avx2") else 128
    return Target(
        bits=bits,
        openmp=openmp and objects.has_openmp(),
        sleef=objects.in_torch(names) if sleef else frozenset(),
        inline_math=inline_math,
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
        features=features.flatten(),
    )


def versions() -> str:
    """What of the toolchain determines the code: part of every cache key."""
    return f"llvmlite {llvmlite.__version__}, llvm {'.'.join(map(str, llvm.llvm_version_info))}, {platform.machine()}"


def _machine(target: Target) -> Any:
    objects.initialise()
    features = target.features
    if target.bits == 512:
        features = ",".join(filter(None, (features, "-prefer-256-bit")))
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
        objects.initialise()
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


def load(obj: bytes, entry: str, symbols: list[str], target: Target) -> int:
    """Link object code into the process; returns the address of `entry`. Raises RuntimeFault."""
    return objects.load(obj, entry, symbols)
