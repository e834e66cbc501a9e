"""Measuring: interleaved timing, the copy roof, first calls, memory of a step, and what machine this is."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib.metadata
import os
import platform
import statistics
import subprocess
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.backends.registry import lookup_backend
from torch._dynamo.exc import InvalidBackend

import fusewright
from fusewright.core.errors import UserError

Step = Callable[[], Any]


def check_names(device: str, backends: Iterable[str]) -> None:
    """Raises UserError unless there is such a device, and such backends of torch.compile."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as e:
        raise UserError(f"--device {device}: {str(e).splitlines()[0]}") from None
    for name in backends:
        try:
            lookup_backend(name)
        except InvalidBackend as e:
            raise UserError(f"no backend of torch.compile is named '{name}'") from e


def synchronize(device: str) -> None:
    """Wait for the device's queued work; the CPU has none."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


@contextlib.contextmanager
def deterministic(on: bool = True) -> Iterator[None]:
    """With PyTorch's deterministic algorithms, or without them."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(on)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


def private_copy(fn: Callable, tag: str) -> Callable:
    """The same function with a code object of its own.

    Dynamo keeps compiled code per code object; two backends on one object would make each call search both.
    """
    if not isinstance(fn, types.FunctionType):
        return fn
    code = fn.__code__.replace(co_name=f"{fn.__name__.strip('<>')}_{tag.replace('-', '_')}")
    copy = types.FunctionType(code, fn.__globals__, code.co_name, fn.__defaults__, fn.__closure__)
    copy.__kwdefaults__ = fn.__kwdefaults__
    return copy


def seconds(fn: Step, device: str = "cpu") -> float:
    """Wall time of one call."""
    synchronize(device)
    began = time.perf_counter()
    fn()
    synchronize(device)
    return time.perf_counter() - began


def interleaved(steps: Mapping[str, Step], device: str, budget_s: float, least: int = 5, most: int = 200) -> dict:
    """Median seconds of every step. All take turns, round by round, so that a noisy moment hits them alike.

    A step shorter than half a millisecond is repeated within its turn. The number of rounds fits `budget_s` for each
    step, between `least` and `most`.
    """
    repeats, total = {}, 0.0
    for name, step in steps.items():
        step()
        once = min(seconds(step, device), seconds(step, device))
        repeats[name] = max(1, min(1000, int(5e-4 / max(once, 1e-7))))
        total += once * repeats[name]
    rounds = int(max(least, min(most, budget_s * len(steps) / max(total, 1e-9))))
    times: dict[str, list[float]] = {name: [] for name in steps}
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, step in steps.items():
                n = repeats[name]
                synchronize(device)
                began = time.perf_counter()
                for _ in range(n):
                    step()
                synchronize(device)
                times[name].append((time.perf_counter() - began) / n)
    finally:
        if enabled:
            gc.enable()
    return {name: statistics.median(t) for name, t in times.items()}


WARM = 64  # calls before anything is measured on a GPU
FLUSH = 256 << 20  # bytes written between two measurements on a GPU: more than its L2 cache holds


def on_device(
    steps: Mapping[str, Step], budget_s: float, least: int = 10, most: int = 100, hot: bool = True
) -> dict[str, float]:
    """Median seconds that every step keeps the current CUDA device busy, in turns, from a cold L2 cache.

    Between a step's events the device is kept busy long enough for the host to queue the whole step, so that what is
    measured is the device, not the host. Before that steps run often enough for what is compiled in the background,
    where `hot`.
    """
    flush = torch.empty(FLUSH, dtype=torch.int8, device="cuda")
    for calls, pause in (*(((WARM, 0.25), (WARM, 0.25)) if hot else ()), (2, 0.0)):
        for _ in range(calls):
            for step in steps.values():
                step()
        torch.cuda.synchronize()
        time.sleep(pause)
    total = 0.0
    for step in steps.values():
        step()
        total += seconds(step, "cuda")
    rounds = int(max(least, min(most, budget_s * len(steps) / max(total, 1e-9))))
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.zero_()
            torch.cuda._sleep(5_000_000)  # cycles: some three milliseconds
            begin.record()
            step()
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end) * 1e-3)
    return {name: statistics.median(t) for name, t in times.items()}


def copy_roof(device: str, quick: bool = False) -> float:
    """Bytes per second that `copy_` moves (read + written) between two tensors that exist already.

    The faster quarter counts: a roof that is low because of a noisy moment would flatter every row.
    """
    source = torch.ones((1 << 22) if quick else (1 << 26) * (8 if device.startswith("cuda") else 1), device=device)
    target = torch.empty_like(source).copy_(source)
    if device.startswith("cuda"):
        took = on_device({"copy": lambda: target.copy_(source)}, 0.5)["copy"]
        return 2 * source.numel() * source.element_size() / took
    times = sorted(seconds(lambda: target.copy_(source), device) for _ in range(16))
    return 2 * source.numel() * source.element_size() / times[len(times) // 4]


# ---- memory ----------------------------------------------------------------------------------------


def _status(field: str) -> int | None:
    """A field of /proc/self/status in bytes; None where there is no such file."""
    try:
        text = Path("/proc/self/status").read_text()
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return None


def settle() -> int | None:
    """Collect garbage, give free memory back to the system, and return the resident size (or None)."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        pass
    return _status("VmRSS")


def peak_during(fn: Step, device: str, baseline: int | None) -> int | None:
    """Bytes by which memory during `fn` exceeds `baseline` at its highest; None where it cannot be measured."""
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
        fn()
        synchronize(device)
        return torch.cuda.max_memory_allocated() - (baseline or 0)
    try:
        Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
    except OSError:
        return None
    fn()
    high = _status("VmHWM")
    return None if high is None or baseline is None else high - baseline


# ---- allocator -------------------------------------------------------------------------------------

ALLOCATORS = ("reuse", "default")
# Large blocks come from the heap and stay there when freed, instead of being mapped and unmapped each time.
_REUSE = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 33),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 35),
    "MALLOC_TOP_PAD_": str(1 << 26),
}


def allocator_environment(setting: str) -> dict[str, str]:
    """The process environment under which glibc's allocator behaves as `setting` says."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_") or k == "MALLOC_ARENA_MAX"}
    return {**env, **_REUSE} if setting == "reuse" else env


# ---- description of the machine --------------------------------------------------------------------


def _cpuinfo(key: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.split(":")[0].strip() == key), "")


def _cache_sizes() -> Iterator[int]:
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        unit = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:], 1)
        yield int(text.rstrip("KM")) * unit


def last_level_cache() -> int:
    """Bytes of the largest cache of one core, 32 MiB when the system does not tell."""
    try:
        return max(_cache_sizes(), default=32 << 20)
    except (OSError, ValueError):
        return 32 << 20


def _commit() -> str:
    try:
        result = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def machine(device: str) -> dict[str, Any]:
    """What the numbers depend on: processor, its vector instructions, caches, versions, and the commit."""
    interesting = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_tile", "fma", "asimd", "sve")
    flags = (_cpuinfo("flags") or _cpuinfo("Features")).split()
    described: dict[str, Any] = {
        "cpu": _cpuinfo("model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "flags": [f for f in interesting if f in flags],
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "last_level_cache": last_level_cache(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "fusewright": getattr(fusewright, "__version__", ""),
        "llvmlite": importlib.metadata.version("llvmlite"),
        "commit": _commit(),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else [],
        "date": time.strftime("%Y-%m-%d %H:%M"),
    }
    if device.startswith("cuda"):
        described["gpu"] = torch.cuda.get_device_name()
    return described
