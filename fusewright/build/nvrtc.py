"""CUDA C++ text -> a cubin, through NVRTC. Needs no GPU, no CUDA toolkit and no header files.

NVRTC is one shared library, called through ctypes: a handful of functions, the same in every version, and one
dependency less. It comes with PyTorch's CUDA builds, with the PyPI package `nvidia-cuda-nvrtc`, or with a toolkit.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..core.errors import CompilerError, UserError
from .store import default_directory

OLDEST = (12, 0)
OPTIONS = ("-fmad=false", "--std=c++17", "-default-device", "--ptxas-options=-v")
MINIMAL = (12, 4)  # knows `--minimal`: no textures and no device runtime; the same code, a few milliseconds earlier
LINEINFO = "-lineinfo"
NAME = "kernel.cu"  # of a source that is in no file
_FOLDERS = ("nvidia/cu*/lib", "nvidia/cuda_nvrtc/lib", "nvidia/cu*/bin", "nvidia/cuda_nvrtc/bin")
_INSTALL = "install it with `pip install nvidia-cuda-nvrtc` (PyTorch's CUDA builds bring it along)"


@dataclass(frozen=True, slots=True)
class KernelReport:
    """What a kernel takes on the GPU: registers of a thread; bytes of its stack in local memory (arrays that are not
    in registers, and spilled registers); bytes of static shared memory of a block."""

    name: str
    registers: int
    stack: int
    shared: int


# --- the library ---------------------------------------------------------------------------------


_major = 0  # of the CUDA version that is wanted; 0: any


def prefer(major: int) -> None:
    """Choose an NVRTC of this major CUDA version where there are several: a driver loads no code of a newer one.

    To be called before anything else here: the library is opened once.
    """
    global _major
    _major = major


def _candidates() -> list[Path]:
    """Libraries beside Python's packages: the preferred CUDA version first, then the newest."""
    found: list[Path] = []
    for entry in sys.path:
        for pattern in _FOLDERS:
            if entry:
                found += Path(entry).glob(f"{pattern}/libnvrtc.so.*")
                found += Path(entry).glob(f"{pattern}/nvrtc64_*.dll")
    usable = [p for p in found if ".alt." not in p.name]
    return sorted(usable, key=lambda p: (_version_key(p)[:1] == (_major,), _version_key(p)), reverse=True)


def _version_key(p: Path) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", p.name.replace("nvrtc64_", "")))


def _open() -> ctypes.CDLL | None:
    for path in _candidates():
        try:
            # NVRTC looks its built-in functions up by name; it finds them when they are in the process already
            for builtins in sorted(path.parent.glob("libnvrtc-builtins.so.*")):
                if ".alt." not in builtins.name:
                    ctypes.CDLL(str(builtins))
            return ctypes.CDLL(str(path))
        except OSError:
            continue
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"):  # where the loader looks: a toolkit
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@cache
def _library() -> ctypes.CDLL:
    lib = _open()
    if lib is None:
        raise UserError(f"NVRTC, CUDA's run-time compiler, is not there: {_INSTALL}")
    lib.nvrtcGetErrorString.restype = ctypes.c_char_p
    found = _version_of(lib)
    if found < OLDEST:
        want, have = (".".join(map(str, v)) for v in (OLDEST, found))
        raise UserError(f"NVRTC {have} is too old, {want} or newer is needed: {_INSTALL}")
    return lib


def _version_of(lib: ctypes.CDLL) -> tuple[int, int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def available() -> bool:
    """Whether kernels can be compiled."""
    try:
        _library()
    except UserError:
        return False
    return True


def version() -> tuple[int, int]:
    """NVRTC's CUDA version, as (13, 0). Raises UserError, saying what to install, when there is none."""
    return _version_of(_library())


def versions() -> str:
    """What of the toolchain determines the code: part of every cache key."""
    return f"nvrtc {'.'.join(map(str, version()))}, {' '.join(OPTIONS)}"


@cache
def architectures() -> tuple[str, ...]:
    """The GPUs that this NVRTC compiles for: ("sm_75", ..., "sm_90", ...)."""
    lib = _library()
    count = ctypes.c_int()
    _check(lib, lib.nvrtcGetNumSupportedArchs(ctypes.byref(count)), "")
    numbers = (ctypes.c_int * count.value)()
    _check(lib, lib.nvrtcGetSupportedArchs(numbers), "")
    return tuple(f"sm_{n}" for n in numbers)


# --- compiling -----------------------------------------------------------------------------------


def compile(source: str, arch: str = "sm_90", lineinfo: bool = False) -> tuple[bytes, str]:
    """(cubin, log) of a CUDA C++ source for the GPU `arch`; the log is ptxas's account of each kernel.

    `lineinfo` keeps the source's lines for profilers, and the source in a file where they find it (in the folder
    `sources` of the disk cache's directory). Raises CompilerError with the compiler's first errors, and
    UserError when there is no NVRTC or it is too old.
    """
    more = [LINEINFO] * lineinfo + ["--minimal"] * (version() >= MINIMAL)
    return _compile(source, arch, [f"-arch={arch}", *OPTIONS, *more], "CUBIN", _kept(source) if lineinfo else NAME)


def _kept(source: str) -> str:
    """A file with the source; a mere name where none can be written."""
    path = default_directory() / "sources" / f"{hashlib.sha256(source.encode()).hexdigest()[:16]}.cu"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(source, encoding="utf-8")
    except OSError:
        return NAME
    return str(path)


def disassembler() -> str | None:
    """The program `nvdisasm`: of a toolkit on the path, or of the PyPI package nvidia-cuda-nvdisasm."""
    found = shutil.which("nvdisasm")
    if found is not None:
        return found
    patterns = [f"nvidia/{folder}/bin/nvdisasm{end}" for folder in ("cu*", "cuda_nvdisasm") for end in ("", ".exe")]
    beside = (p for entry in sys.path if entry for pattern in patterns for p in sorted(Path(entry).glob(pattern)))
    return next((str(p) for p in beside if os.access(p, os.X_OK)), None)


def assembly(source: str, arch: str = "sm_90", lineinfo: bool = False) -> str:
    """PTX of a CUDA C++ source, then SASS, or why there is none. `lineinfo`: with the source's lines.

    Raises as `compile` does.
    """
    lines = [LINEINFO] if lineinfo else []
    options = [f"-arch={arch.replace('sm_', 'compute_')}", *OPTIONS, *lines]
    ptx = _compile(source, arch, options, "PTX")[0].rstrip(b"\0").decode()
    return f"{ptx}\n// SASS\n{_sass(compile(source, arch, lineinfo)[0], lineinfo)}"


def _sass(cubin: bytes, lineinfo: bool) -> str:
    tool = disassembler()
    if tool is None:
        return "// none: nvdisasm is not there (pip install nvidia-cuda-nvdisasm)"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        command = [tool, *(["--print-line-info"] if lineinfo else []), str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as e:
            return f"// none: {tool} does not run ({e.strerror or e})"
    said = done.stdout if done.returncode == 0 else f"// none: {tool} failed: {done.stderr.strip()}"
    return said.rstrip()


def _compile(source: str, arch: str, options: list[str], what: str, name: str = NAME) -> tuple[bytes, str]:
    """(what NVRTC makes of a source, its log). `name`: of the source, in messages and for profilers."""
    lib = _library()
    args = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    program = ctypes.c_void_p()
    # several threads may compile at once, each its own program
    _check(lib, lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None), "")
    try:
        status = lib.nvrtcCompileProgram(program, len(options), args)
        log = _text(lib, program, "ProgramLog")
        _check(lib, status, log, arch)
        return _bytes(lib, program, what), log
    finally:
        lib.nvrtcDestroyProgram(ctypes.byref(program))


def _bytes(lib: Any, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(lib, getattr(lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size)), "")
    buffer = ctypes.create_string_buffer(max(1, size.value))
    _check(lib, getattr(lib, f"nvrtcGet{what}")(program, buffer), "")
    return buffer.raw[: size.value]


def _text(lib: Any, program: ctypes.c_void_p, what: str) -> str:
    return _bytes(lib, program, what).rstrip(b"\0").decode(errors="replace").strip()


def _check(lib: Any, status: int, log: str, arch: str = "") -> None:
    if status == 0:
        return
    name = lib.nvrtcGetErrorString(status).decode()
    if arch and "arch" in log and arch not in architectures():
        have = ", ".join(architectures())
        raise UserError(
            f"NVRTC {'.'.join(map(str, version()))} does not compile for {arch}, only for {have}: {_INSTALL}"
        )
    errors = [line for line in log.splitlines() if "error" in line.lower()][:5] or log.splitlines()[:5]
    raise CompilerError("\n".join([f"NVRTC rejected the kernel ({name})", *errors]), "build")


# --- what a cubin says about its kernels ----------------------------------------------------------------

_STACK, _REGISTERS = 0x11, 0x2F  # EIATTR_FRAME_SIZE, EIATTR_REGCOUNT: each (symbol, number)
_RESERVED = 1024  # bytes of shared memory that the system takes of every block, counted in, since sm_90
_PAIR = 0x04  # the form of an attribute: 16 bits of size, then so many bytes
_BARE = (0x01, 0x02, 0x03)  # two bytes instead


def report(cubin: bytes) -> list[KernelReport]:
    """Registers, stack and shared memory of every kernel in a cubin (an ELF file), in order of name."""
    if cubin[:4] != b"\x7fELF" or cubin[4] != 2:
        raise CompilerError("not a cubin", "build")
    sections = _sections(cubin)
    symbols = _symbols(sections)
    found: dict[str, dict[int, int]] = {}
    for symbol, attribute, value in _attributes(sections.get(".nv.info", b"")):
        found.setdefault(symbols.get(symbol, ""), {})[attribute] = value
    reserved = _RESERVED if ".nv.shared.reserved.0" in sections else 0
    names = sorted(n.removeprefix(".text.") for n in sections if n.startswith(".text."))
    return [
        KernelReport(
            n,
            found.get(n, {}).get(_REGISTERS, 0),
            found.get(n, {}).get(_STACK, 0),
            max(0, sections.sizes.get(f".nv.shared.{n}", 0) - reserved),
        )
        for n in names
    ]


class _Sections(dict[str, bytes]):
    """The sections' contents, and their sizes (which those without contents have, too)."""

    sizes: dict[str, int]


def _sections(elf: bytes) -> _Sections:
    (at,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, strings = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, at + k * size) for k in range(count)]
    table = elf[headers[strings][4] :]
    out = _Sections()
    out.sizes = {}
    for name, kind, _, _, offset, length in headers:
        text = table[name : table.index(b"\0", name)].decode()
        out.sizes[text] = length
        out[text] = elf[offset : offset + length] if kind != 8 else b""  # 8: takes no room in the file
    return out


def _symbols(sections: _Sections) -> dict[int, str]:
    table, names = sections.get(".symtab", b""), sections.get(".strtab", b"")
    out = {}
    for k in range(len(table) // 24):
        (at,) = struct.unpack_from("<I", table, 24 * k)
        out[k] = names[at : names.index(b"\0", at)].decode()
    return out


def _attributes(info: bytes) -> list[tuple[int, int, int]]:
    """(symbol, attribute, number) of the attributes that concern one symbol."""
    out, at = [], 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == _PAIR:
            if size == 8:
                symbol, value = struct.unpack_from("<II", info, at)
                out.append((symbol, attribute, value))
            at += size
        elif form not in _BARE:
            break
    return out


__all__ = ["KernelReport", "architectures", "assembly", "available", "compile", "report", "version", "versions"]
