"""What a launch needs: operands with the strides of the trace, size parameters, threads, scratch memory."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

SERIAL_BELOW = 32768  # elements of work under which waking other threads costs more than it saves
MEMO_LIMIT = 4096  # size tables remembered per kernel

_forked = False


def threads() -> int:
    """How many threads a kernel may use: torch's setting; one in a forked child, whose OpenMP pool is gone."""
    return 1 if _forked else torch.get_num_threads()


def _after_fork() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@cache
def last_level_cache() -> int:
    """Bytes of the largest CPU cache; 32 MiB when the system does not say."""
    best = 0
    base = "/sys/devices/system/cpu/cpu0/cache"
    try:
        for entry in os.listdir(base):
            if entry.startswith("index"):
                with open(f"{base}/{entry}/size") as f:
                    text = f.read().strip()
                scale = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:], 1)
                best = max(best, int(text.rstrip("KM")) * scale)
    except (OSError, ValueError):
        pass
    return best or 32 << 20


@dataclass(frozen=True, slots=True)
class Scratch:
    """Scratch memory of a kernel: `count` elements of `itemsize` bytes, for each thread or for all.

    `count`: a number, or the name of a size parameter.
    """

    itemsize: int
    count: int | str
    each: bool


def scratch_bytes(scratch: Sequence[Scratch], sizes: Mapping[str, int], threads: int) -> int:
    """Bytes of scratch that a launch needs; the layout is that of `emit/llvm.py`."""
    total = 0
    for a in scratch:
        n = a.count if isinstance(a.count, int) else sizes[a.count]
        block = (n * a.itemsize + 63) & -64
        total += block * (threads if a.each else 1)
    return total


class SizeTable:
    """The size parameters of one kernel, computed once per set of sizes and remembered.

    `symbols`: the size symbols they depend on; `names`: of the parameters; `numbers(env)`: their values, `work(env)`:
    elements of the largest buffer, under values of the symbols (and "threads"). `memo[threads, *symbols]` (or
    `memo[threads]` without symbols) is (address of the i64 array, scratch bytes).
    """

    def __init__(
        self,
        symbols: Sequence[str],
        names: Sequence[str],
        numbers: Callable[[Mapping[str, int]], Sequence[int]],
        work: Callable[[Mapping[str, int]], int],
        scratch: Sequence[Scratch],
    ):
        self.symbols = list(symbols)
        self.names, self.numbers, self.work, self.scratch = names, numbers, work, scratch
        self.memo: dict[object, tuple[int, int]] = {}
        self.keep: list[object] = []

    def make(self, nt: int, *values: int) -> tuple[int, int]:
        """Compute and remember the entry for `nt` threads and these values of `self.symbols`."""
        env: dict[str, int] = dict(zip(self.symbols, values, strict=True))
        env["threads"] = nt if self.work(env) >= SERIAL_BELOW else 1
        numbers = self.numbers(env)
        array = (ctypes.c_int64 * max(len(numbers), 1))(*numbers)
        by_name = dict(zip(self.names, numbers, strict=True))
        entry = (ctypes.addressof(array), scratch_bytes(self.scratch, by_name, env["threads"]))
        if len(self.memo) >= MEMO_LIMIT:
            self.memo.clear()
        self.keep.append(array)
        self.memo[(nt, *values) if values else nt] = entry
        return entry


def number(name: str, kind: str) -> str:
    """Source of a host scalar as a kernel's argument; `kind`: of its element type."""
    return f"{'float' if kind == 'f' else 'int'}({name})"


def watched(watch: str, kernel: str, arguments: list[str], tensors: list[str], symbols: list[str]) -> str:
    """Source of the launch kernel(arguments) as `watch` makes it (`plan.Watch`)."""
    sizes = ", ".join(f"{s!r}: {s}" for s in symbols)
    return f"{watch}({kernel}, ({', '.join(arguments)},), ({', '.join(tensors)},), {{{sizes}}})"


def restride(t: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """`t` itself if only the strides of extents <= 1 differ, else a copy with the wanted strides."""
    if t.numel() == 0 or all(n == 1 or a == b for n, a, b in zip(t.shape, t.stride(), strides, strict=True)):
        return t
    out = torch.empty_strided(t.shape, strides, dtype=t.dtype, device=t.device)
    once = out
    for d, s in enumerate(strides):
        if s == 0:  # expanded
            once, t = once.narrow(d, 0, 1), t.narrow(d, 0, 1)
    once.copy_(t)
    return out


def values(t: torch.Tensor) -> torch.Tensor:
    """`t` with its values in memory, where torch has left them to be computed: zeros, negatives, conjugates."""
    return (t.clone() if t._is_zerotensor() else t).resolve_conj().resolve_neg()


def returned(results: list[torch.Tensor]) -> Any:
    """Results as an operator of torch returns them."""
    return (results[0] if len(results) == 1 else tuple(results)) if results else None


def bump(t: torch.Tensor) -> None:
    """Count the write, as copy_ does, so that autograd notices a saved tensor that was changed."""
    if not t.is_inference():
        torch.autograd.graph.increment_version(t)
