"""Edited kernels: sources that people put in the place of generated ones, and where to get something to edit.

    FUSEWRIGHT_EXTERNAL_SOURCE=DIR        DIR/<group>.ll, DIR/<structure hash>.ll or DIR/<kernel key>.ll (GPU: .cu)

`save_sources` writes such files; their first line names the kernel they were made from. An edited source is checked
before it runs: it must be of that very kernel (a group may have others for other schedules or sizes, whose arguments
mean something else), its functions must have the generated ones' names and parameters, and it must compile. If not,
that is said and the generated kernel runs; with fallback=False it is raised. Every kernel that runs from an edited
source is named in a warning. Edited kernels enter neither the disk cache nor the kernels that groups share.
"""

from __future__ import annotations

import atexit
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..build import llvm_jit
from ..core.errors import FusewrightError, FusewrightWarning, UserError
from ..core.log import LOG
from ..core.options import current, using
from ..core.warn import warn
from ..emit.cuda import emit_cuda, launches
from ..emit.cuda_types import CudaTarget
from ..emit.llvm import emit
from ..loop.ir import Func
from ..run import gpu, kernels
from ..run.devices import Driver
from ..run.gpu import GpuKernel
from ..run.kernels import CompiledKernel, target
from .dump import About
from .fuel import bisecting

_MADE_FROM = re.compile(r"^\s*(?:;|//) kernel ([0-9a-f]{40})\b", re.MULTILINE)
_GLOBAL = re.compile(
    r'extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\(\s*(\d+)[^)]*\)\s*)?(\w+)\s*\(([^)]*)\)'
)
_lock = threading.Lock()
_said: set[str] = set()
_used: dict[Path, set[str]] = {}  # by directory: names of the files that were found to belong to a kernel


# --- running them --------------------------------------------------------------------------------


def kernel_for(func: Func, about: About) -> CompiledKernel:
    """The kernel of a group on a CPU: from an edited source, if there is one, else the generated one."""
    if current().external_source is None:
        return kernels.kernel_for(func)
    made = _edited(about, ".ll", lambda: kernels.key_of(func), lambda text, key: cpu_kernel(func, text, key))
    return made or kernels.kernel_for(func)


def gpu_compiler(about: About) -> Callable[[Func, Driver], GpuKernel]:
    """What makes the kernels of a group on a GPU."""
    options = current()
    if options.external_source is None:
        return gpu.kernel_for

    def compiler(func: Func, driver: Driver) -> GpuKernel:
        with using(options):
            made = _edited(
                about, ".cu", lambda: gpu.key_of(func, driver), lambda text, key: gpu_kernel(func, text, driver, key)
            )
            return made or gpu.kernel_for(func, driver)

    return compiler


def cpu_kernel(func: Func, text: str, key: str = "") -> CompiledKernel:
    """A kernel from LLVM IR in place of what is generated for `func` (whose key is `key`).

    Raises UserError when it is not a kernel like that, CompilerError when LLVM rejects it, RuntimeFault when it cannot
    be loaded.
    """
    _same_kernel(text, key or kernels.key_of(func))
    want = llvm_jit.signature(emit(func, target()), func.name)
    got = llvm_jit.signature(text, func.name)
    if got is None:
        raise UserError(f"it does not define @{func.name}, as the generated source does: {want}")
    if got != want:
        raise UserError(f"@{func.name} is {got}, but must be {want}")
    return kernels.from_source(func, text)


def gpu_kernel(func: Func, text: str, driver: Driver, key: str = "") -> GpuKernel:
    """The same for CUDA C++."""
    _same_kernel(text, key or gpu.key_of(func, driver))
    want, got = _signatures(emit_cuda(func, CudaTarget(*driver.gpu.capability))), _signatures(text)
    for launch in launches(func):
        mine, theirs = want[launch.name], got.get(launch.name)
        if theirs is None:
            raise UserError(
                f'it does not define extern "C" __global__ void {launch.name}, as the generated source does'
            )
        if theirs[1] != mine[1]:
            raise UserError(f"{launch.name} takes ({', '.join(theirs[1])}), but must take ({', '.join(mine[1])})")
        if theirs[0] not in (None, mine[0]):
            raise UserError(f"{launch.name} has __launch_bounds__({theirs[0]}), but is launched with {mine[0]} threads")
    return gpu.from_source(func, text, driver)


def _same_kernel(text: str, key: str) -> None:
    made = _MADE_FROM.search(text[:2000])
    if made and made.group(1) != key:
        raise UserError(
            f"it was made from kernel {made.group(1)[:12]}, but the group needs {key[:12]} (another schedule, other "
            "sizes, another machine or version); save the source again, or delete that line to run it all the same"
        )


def _signatures(text: str) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    """Of every kernel: (threads it is bounded to, types of its parameters)."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    return {name: (bound or None, tuple(map(_type, _params(params)))) for bound, name, params in _GLOBAL.findall(text)}


def _params(text: str) -> list[str]:
    return [p for p in text.split(",") if p.strip()]


def _type(param: str) -> str:
    """The type of a parameter: without its name, and what does not matter to a caller."""
    words = re.sub(r"\b(?:const|__restrict__|__restrict|volatile)\b", " ", param).replace("*", " * ").split()
    return " ".join(words[:-1] if len(words) > 1 and words[-1] != "*" else words)


def _edited(about: About, suffix: str, key: Callable[[], str], make: Callable[[str, str], Any]) -> Any:
    """The kernel that `make` makes of the edited source of a group; None if there is none, or it cannot be used."""
    folder = Path(current().external_source or "").expanduser()
    if not folder.is_dir():
        _say(f"FUSEWRIGHT_EXTERNAL_SOURCE: {folder} is no directory", "generated kernels run", None)
        return None
    mine = key()
    with _lock:
        if not _used and not bisecting():
            atexit.register(_unused)
        used = _used.setdefault(folder, set())
    path = next((p for n in (about.group, about.hash, mine) if (p := folder / f"{n}{suffix}").is_file()), None)
    if path is None:
        return None
    used.add(path.name)
    try:
        made = make(path.read_text(encoding="utf-8"), mine)
    except (FusewrightError, OSError, UnicodeDecodeError) as e:
        _say(f"{about}: the edited source {path} cannot be used: {e}", "the generated kernel runs", e)
        return None
    _say_once(f"{about} runs from the edited source {path}")
    return made


def _unused() -> None:
    """At exit: the edited sources that belong to no kernel of the program."""
    for folder, used in _used.items():
        left = sorted(p.name for p in folder.glob("*") if p.suffix in (".ll", ".cu") and p.name not in used)
        if left:
            warnings.warn(
                f"FUSEWRIGHT_EXTERNAL_SOURCE: {folder}: this program has no kernel for {', '.join(left)} "
                "(fusewright explain lists kernels with their names and hashes)",
                FusewrightWarning,
                stacklevel=1,
            )


def _say(message: str, instead: str, error: Exception | None) -> None:
    """A mistake: what is done instead, unless that is an error."""
    if not current().fallback:
        raise UserError(message) from error
    _say_once(f"{message}; {instead}")


def _say_once(message: str) -> None:
    with _lock:
        if message in _said:
            return
        _said.add(message)
    LOG.warning(message)
    warn(message)


def forget() -> None:
    """Repeat warnings (for tests)."""
    _said.clear()
    _used.clear()


# --- something to edit ---------------------------------------------------------------------------


def save_sources(kernels_: Any, directory: str | os.PathLike[str]) -> list[Path]:
    """Write the generated source of each kernel to `<group>.ll` or `<group>.cu`.

    `kernels_`: a report, some of its kernels (or groups of a recording), or one.

    A GPU's group has a kernel for each schedule that its sizes asked for: further ones are called by their key. An
    existing file is not overwritten. Returns the paths. Raises UserError when a file cannot be written.
    """
    found = getattr(kernels_, "kernels", kernels_)
    chosen = [found] if hasattr(found, "plan") else list(found) if isinstance(found, Iterable) else [found]
    for k in chosen:
        if not hasattr(k, "plan"):
            raise UserError(f"save_sources: kernels of a report are wanted, not a {type(k).__name__}")
    folder = Path(directory).expanduser()
    out = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for k in chosen:
            for name, text in _sources(k):
                path = folder / name
                if path.exists():
                    raise UserError(f"{path} exists already; edit that, or save elsewhere")
                path.write_text(text, encoding="utf-8")
                out.append(path)
    except OSError as e:
        raise UserError(f"cannot write to {folder}: {e.strerror or e}") from e
    return out


def _sources(k: Any) -> list[tuple[str, str]]:
    """(file, text) of a kernel's sources."""
    plan = k.plan
    options = getattr(getattr(k, "within", None), "options", None) or current()
    with using(options):
        if plan.gpu is None:
            func = plan.kernel.func
            head = f"; kernel {kernels.key_of(func)} of {k.name} ({k.hash})\n"
            return [(f"{k.name}.ll", head + emit(func, target()))]
        driver = plan.gpu.driver
        out: list[tuple[str, str]] = []
        for lowered, _ in reversed(plan.gpu.kernels.values()):
            key = gpu.key_of(lowered.func, driver)
            head = f"// kernel {key} of {k.name} ({k.hash})\n"
            text = emit_cuda(lowered.func, CudaTarget(*driver.gpu.capability))
            out.append((f"{key if out else k.name}.cu", head + text))
        return out
