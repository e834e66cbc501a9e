"""What a launch needs: operands with the strides of the trace, size parameters, threads, scratch memory."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

import torch

from ..emit.llvm import scratch_bytes
from ..fusion.ir import Fusion
from ..loop.ir import Imm
from ..loop.lower import Kernel

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


class SizeTable:
    """The size parameters of one kernel, computed once per set of sizes and remembered.

    `memo[threads, *symbols]` (or `memo[threads]` without symbols) is (address of the i64 array, scratch bytes).
    """

    def __init__(self, kernel: Kernel, fusion: Fusion, symbols: Any):
        self.kernel = kernel
        self.fusion = fusion
        self.memo: dict[Any, tuple[int, int]] = {}
        self.keep: list[Any] = []
        used: set[str] = set()
        for e in [*kernel.sizes, *(b.numel for b in fusion.buffers)]:
            used |= {a.name for a in e.atoms() if a.kind == "sym"}
        self.symbols = sorted(used - {"threads"})

    def make(self, nt: int, *values: int) -> tuple[int, int]:
        """Compute and remember the entry for `nt` threads and these values of `self.symbols`."""
        env: dict[str, int] = dict(zip(self.symbols, values, strict=True))
        work = max((int(b.numel.evaluate(env)) for b in self.fusion.buffers), default=1)
        env["threads"] = nt if work >= SERIAL_BELOW else 1
        numbers = self.kernel.evaluate(env)
        array = (ctypes.c_int64 * max(len(numbers), 1))(*numbers)
        by_name = dict(zip((r.name for r in self.kernel.func.sizes), numbers, strict=True))
        counts = [
            int(a.count.value) if isinstance(a.count, Imm) else by_name[a.count.name] for a in self.kernel.func.allocs
        ]
        entry = (ctypes.addressof(array), scratch_bytes(self.kernel.func.allocs, counts, env["threads"]))
        if len(self.memo) >= MEMO_LIMIT:
            self.memo.clear()
        self.keep.append(array)
        self.memo[(nt, *values) if values else nt] = entry
        return entry


def restride(t: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """`t` itself if only the strides of extents <= 1 differ, else a copy with the wanted strides."""
    if t.numel() == 0 or all(n == 1 or a == b for n, a, b in zip(t.shape, t.stride(), strides, strict=True)):
        return t
    out = torch.empty_strided(t.shape, strides, dtype=t.dtype, device=t.device)
    return out.copy_(t)
