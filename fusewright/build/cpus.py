"""CPUs by name, for machine code that is to run elsewhere: what to compile for, and what a machine must have to run it.

native                                   this machine
x86-64-v2, x86-64-v3, x86-64-v4          levels of the x86-64 ABI: SSE4.2, AVX2, AVX-512
generic                                  any machine of this architecture
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.errors import UserError
from ..core.switches import suggest
from . import objects

NATIVE = "native"
GENERIC = "generic"

_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")

# What no compiled kernel can depend on, because LLVM emits such instructions for intrinsics and system code only.
_NEVER_EMITTED = frozenset(
    (
        *("aes", "clflushopt", "cldemote", "clwb", "clzero", "cmpccxadd", "enqcmd", "fsgsbase", "hreset", "invpcid"),
        *("kl", "lwp", "monitor", "movdir64b", "movdiri", "mwaitx", "pclmul", "pconfig", "pku", "prefetchi"),
        *("prefetchwt1", "ptwrite", "raoint", "rdpid", "rdpru", "rdrnd", "rdseed", "rtm", "serialize", "sgx", "sha"),
        *("sha512", "shstk", "sm3", "sm4", "tsxldtrk", "uintr", "usermsr", "vaes", "vpclmulqdq", "waitpkg"),
        *("wbnoinvd", "widekl", "xsave", "xsavec", "xsaveopt", "xsaves"),
        *("amx-avx512", "amx-bf16", "amx-complex", "amx-fp16", "amx-fp8", "amx-int8", "amx-movrs", "amx-tf32"),
        *("amx-tile", "amx-transpose"),
    )
)


@dataclass(frozen=True, slots=True)
class Cpu:
    """A kind of CPU. `name` as above; `llvm`: LLVM's name, "" for this machine's; `bits`: the width of its vectors (0:
    this machine's); `needs`: LLVM's names of what a machine must be able to do."""

    name: str
    architecture: str
    llvm: str
    bits: int
    needs: tuple[str, ...]


def names() -> list[str]:
    """CPUs that code can be made for on this machine."""
    levels = ["x86-64-v2", "x86-64-v3", "x86-64-v4"] if objects.architecture() == "x86_64" else []
    return [NATIVE, *levels, GENERIC]


def named(name: str) -> Cpu:
    """The CPU of this name. Raises UserError for one that code cannot be made for here."""
    here = objects.architecture()
    if name not in names():
        raise UserError(f"no CPU named '{name}' to compile for on {here}: {suggest(name, names())}")
    if name == NATIVE:
        able = sorted(f for f, yes in objects.features().items() if yes and f not in _NEVER_EMITTED)
        return Cpu(name, here, "", 0, tuple(able))
    if name == GENERIC:
        return Cpu(name, here, "x86-64" if here == "x86_64" else "generic", 128, ())
    bits, needs = {"x86-64-v2": (128, _V2), "x86-64-v3": (256, _V3), "x86-64-v4": (512, _V4)}[name]
    return Cpu(name, here, name, bits, needs)


def lacking(cpu: Cpu) -> str:
    """Why this machine cannot run code for `cpu`, or ""."""
    here = objects.architecture()
    if cpu.architecture != here:
        return f"it is for {cpu.architecture}, this machine is {here}"
    have = objects.features() if cpu.needs else {}
    absent = [f for f in cpu.needs if not have.get(f, False)]
    return f"this CPU lacks {', '.join(absent)}" if absent else ""
