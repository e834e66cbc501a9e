"""Runs emitted CUDA C++ on a CPU: compiled with g++ against `cuda_emulation.h`.

    run_emulated(func, buffers, sizes, hosts)      on NumPy arrays, like the interpreters' `run`
    EmulatedKernel(func).launch(pointers, ...)     on raw addresses, as a GPU launch has them

Objects are kept by a hash of their source for as long as the process lives.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fusewright.core import float8
from fusewright.core.dtypes import BY_NAME, DType, i32, numpy_type
from fusewright.core.errors import CompilerError
from fusewright.emit.cuda import CudaTarget, emit_cuda, launches, parameters
from fusewright.emit.cuda_types import stored_type, value_type
from fusewright.loop.ir import Arg, Func, Imm

COMPILER = shutil.which("g++") or shutil.which("c++")
MISSING = "no C++ compiler to emulate CUDA with"  # the reason to skip tests where COMPILER is None
H100 = CudaTarget(9, 0)

_HEADER = Path(__file__).with_name("cuda_emulation.h")
_CODE = _HEADER.with_suffix(".cc")
_PARTS = (_HEADER, _CODE, *(_HEADER.with_name(f"cuda_emulation_{part}.h") for part in ("cluster", "copies", "memory")))
_OPTIONS = ("-O1", "-std=c++17", "-shared", "-fPIC", "-w", "-ffp-contract=off", "-fno-strict-aliasing")
_CTYPES = {
    **{"f64": ctypes.c_double, "f32": ctypes.c_float, "i64": ctypes.c_int64, "i32": ctypes.c_int32},
    **{"i16": ctypes.c_int16, "i8": ctypes.c_int8, "u8": ctypes.c_uint8, "u32": ctypes.c_uint32, "bool": ctypes.c_bool},
}
_lock, _once = threading.Lock(), threading.Lock()


class EmulationError(Exception):
    """A kernel did what would hang or break on a GPU: a barrier that not all threads reach, a misaligned access."""


@cache
def _folder() -> Path:
    path = tempfile.mkdtemp(prefix="fusewright-emulation-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


@cache
def _prefix() -> str:
    return "".join(p.read_text() for p in _PARTS)


@cache
def _ahead(arch: int) -> tuple[Path, Path]:
    """The emulation, compiled ahead, which takes longer than a kernel: its header, and the object to link."""
    folder = _folder() / f"sm_{arch}"
    folder.mkdir()
    for p in _PARTS:
        shutil.copy(p, folder)
    header, code = folder / _HEADER.name, folder / "emulation.o"
    command = [str(COMPILER), *_options(arch), "-c", "-o", str(code), str(folder / _CODE.name)]
    subprocess.run(command, capture_output=True, check=True)
    command = [str(COMPILER), *_options(arch), "-x", "c++-header", "-o", f"{header}.gch", str(header)]
    subprocess.run(command, capture_output=True, check=False)  # without it the header is read as it is
    return header, code


def _options(arch: int) -> tuple[str, ...]:
    return (*_OPTIONS, f"-DEMU_ARCH={arch}")


def build(source: str, target: CudaTarget = H100) -> ctypes.CDLL:
    """The shared object of a C++ source that includes the emulation."""
    return _built(source, target.major * 10 + target.minor)


@cache
def _built(source: str, arch: int) -> ctypes.CDLL:
    if COMPILER is None:
        raise RuntimeError(MISSING)
    digest = hashlib.sha256(f"{arch} {_prefix()}{source}".encode()).hexdigest()[:24]
    with _once:  # kernels are compiled in threads, and a cache lets two of them compute the same
        out, text = _folder() / f"{digest}.so", _folder() / f"{digest}.cc"
        header, code = _ahead(arch)
    text.write_text(source)
    command = [COMPILER, *_options(arch), "-include", str(header), "-o", str(out), str(text), str(code)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CompilerError(f"the C++ compiler rejected the kernel:\n{done.stderr[:4000]}", "emulation")
    return ctypes.CDLL(str(out))


POINTERS = ("buffer", "scratch", "counters")  # kinds of parameters


class EmulatedKernel:
    """A CUDA func, emitted, compiled for the CPU and ready to be launched."""

    def __init__(
        self, func: Func, target: CudaTarget = H100, aliases: Iterable[tuple[str, str]] = (), source: str = ""
    ):
        """`source`: CUDA C++ to be used instead of what is emitted for `func`."""
        self.func = func
        self.params = parameters(func)
        self.launches = launches(func)
        self.source = source or emit_cuda(func, target, aliases)
        dynamic = "uint4* const fw_shared = reinterpret_cast<uint4*>(emu_dynamic);"
        text = self.source.replace("extern __shared__ uint4 fw_shared[];", dynamic)
        self.library = build(text + self._entries(), target)

    def _entries(self) -> str:
        """One C function for each launch: `int emu_<k>(void** args, long long blocks)`."""
        lines = [""]
        fibers = int(
            any(word in self.source for word in ("__syncthreads()", "__shfl", "fw_cluster", "fw_copy", "fw_group"))
        )
        for k, launch in enumerate(self.launches):
            args = []
            for j, p in enumerate(self.params):
                d = BY_NAME[p.dtype]
                t = f"{stored_type(d)}*" if p.kind in POINTERS else value_type(d)
                args.append(f"*({t}*)emu_args[{j}]")
            how = f"{launch.threads}, {launch.cluster}, {launch.shared}, {fibers}"
            lines += [
                f"static void emu_body_{k}() {{ {launch.name}({', '.join(args)}); }}",
                f'extern "C" int emu_launch_{k}(void** args, long long blocks) {{',
                f"  return emu_launch(args, emu_body_{k}, blocks, {how});\n}}",
            ]
        lines.append('extern "C" const char* emu_message() { return emu_error; }')
        lines.append('extern "C" int emu_take_failure() { const int f = emu_failed; emu_failed = 0; return f; }')
        return "\n".join(lines) + "\n"

    def launch(
        self,
        pointers: Sequence[int],
        sizes: Sequence[int],
        hosts: Sequence[Any] = (),
        scratch_pointers: Sequence[int] = (),
        blocks_per_grid: Sequence[int] | None = None,
    ) -> bool:
        """Run all launches; arguments in the order of the func's parameters. Returns whether a `fail` was reached.

        `blocks_per_grid`: by default what the func says. Raises EmulationError.
        """
        values: list[Any] = []
        given = iter((*pointers, *sizes, *hosts, *scratch_pointers))
        for p in self.params:
            kind = ctypes.c_void_p if p.kind in POINTERS else _CTYPES[value_name(BY_NAME[p.dtype])]
            values.append(kind(next(given)))
        args = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values))
        if blocks_per_grid is None:
            named = {r.name: n for r, n in zip(self.func.sizes, sizes, strict=True)}
            blocks_per_grid = [number(x.blocks, named) for x in self.launches]
        self.library.emu_message.restype = ctypes.c_char_p
        with _lock:
            self.library.emu_take_failure()
            for k, blocks in enumerate(blocks_per_grid):
                if self.library[f"emu_launch_{k}"](args, ctypes.c_longlong(blocks)):
                    message = self.library.emu_message().decode()
                    raise EmulationError(f"{message}, in {self.launches[k].name}")
            return bool(self.library.emu_take_failure())


def number(a: Arg, sizes: dict[str, int]) -> int:
    return int(a.value) if isinstance(a, Imm) else sizes[a.name]


def value_name(d: DType) -> str:
    return "f32" if d.is_reduced else d.name


# --- on NumPy arrays ---------------------------------------------------------------------------------

_PAD = 256  # bytes on either side of a buffer that nothing may write to


class Memory:
    """A buffer as a GPU has it: elements as stored, 256-byte aligned (`offset` elements off it), guarded."""

    def __init__(self, d: DType, count: int, values: np.ndarray | None = None, offset: int = 0):
        self.dtype, self.count = d, count
        size = max(1, count * d.itemsize)
        self.bytes = np.full(size + 3 * _PAD + offset * d.itemsize, 0xFF, np.uint8)
        self.at = -self.bytes.ctypes.data % _PAD + _PAD + offset * d.itemsize
        self.size = size
        if values is not None:
            self.bytes[self.at : self.at + count * d.itemsize] = to_stored(values, d).view(np.uint8)

    @property
    def pointer(self) -> int:
        return int(self.bytes.ctypes.data) + self.at

    def values(self) -> np.ndarray:
        """The elements, as the interpreters hold them. Raises EmulationError if a guard was written to."""
        used = self.count * self.dtype.itemsize
        if (self.bytes[: self.at] != 0xFF).any() or (self.bytes[self.at + used :] != 0xFF).any():
            raise EmulationError("a kernel wrote outside its buffer")
        raw = self.bytes[self.at : self.at + used].copy()
        return from_stored(raw, self.dtype)


def to_stored(values: np.ndarray, d: DType) -> np.ndarray:
    """What memory holds for values of the interpreters' type."""
    if d.name == "bf16":
        return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if d.is_float8:
        return float8.encode(values, d.name)
    return np.ascontiguousarray(values, numpy_type(d))


def from_stored(raw: np.ndarray, d: DType) -> np.ndarray:
    if d.name == "bf16":
        return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    if d.is_float8:
        return float8.decode(raw.view(np.uint8), d.name)
    return raw.view(numpy_type(d))


_kernels: dict[tuple[str, CudaTarget], EmulatedKernel] = {}


def run_emulated(
    func: Func,
    buffers: dict[str, np.ndarray],
    sizes: dict[str, int] | None = None,
    hosts: dict[str, Any] | None = None,
    target: CudaTarget = H100,
    offsets: dict[str, int] | None = None,
) -> bool:
    """Emit, compile and run a CUDA kernel on flat arrays, in place. Returns whether it reported failure.

    Arrays are as for the interpreters; the same array under two names is one memory. `offsets`: elements by which
    buffers lie off their alignment. Raises EmulationError.
    """
    sizes, hosts, offsets = sizes or {}, hosts or {}, offsets or {}
    shared: dict[tuple[int, int, str], list[str]] = {}
    for b in func.bufs:
        a = buffers[b.name]
        key = (a.__array_interface__["data"][0], a.size, b.dtype.name) if a.size else (id(b), 0, "")
        shared.setdefault(key, []).append(b.name)
    pairs = [(names[0], n) for names in shared.values() for n in names[1:]]
    kernel = EmulatedKernel(func, target, pairs)
    memory: dict[str, Memory] = {}
    types = {b.name: b.dtype for b in func.bufs}
    for names in shared.values():
        n = names[0]
        made = Memory(types[n], buffers[n].size, buffers[n], offsets.get(n, 0))
        memory.update(dict.fromkeys(names, made))
    scratch = [Memory(a.buf.dtype, number(a.count, sizes)) for a in func.allocs if a.scope == "grid"]
    counters = [number(a.count, sizes) for a in func.allocs if a.scope == "counters"]
    scratch += [Memory(i32, n, np.zeros(n, np.int32)) for n in counters]
    failed = kernel.launch(
        [memory[b.name].pointer for b in func.bufs],
        [sizes[r.name] for r in func.sizes],
        [hosts[r.name] for r in func.hosts],
        [m.pointer for m in scratch],
    )
    for m in scratch:
        left = m.values()
        if counters and m is scratch[-1] and left.any():
            raise EmulationError(f"counters {np.flatnonzero(left)} are not zero when the kernel ends")
    for b in func.bufs:
        buffers[b.name][...] = memory[b.name].values()
    return failed


__all__ = ["COMPILER", "MISSING", "EmulatedKernel", "EmulationError", "Memory", "run_emulated"]
