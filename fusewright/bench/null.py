"""A driver that launches nothing: what is left is the host's work for a GPU, on a machine without one.

with devices.use("cpu", NullDriver()):
    fusewright.fuse(f)(x)                    # x on the CPU; the results are not written
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import torch

from fusewright.build import llvm_jit, objects
from fusewright.loop.ir import Func
from fusewright.run import internals
from fusewright.run.prepared import Calls, Launch
from fusewright.schedule.device import H200, Gpu


def _nothing(count: int) -> int:
    """The address of a function in the place of `cuLaunchKernel` (or `..Ex`) that counts calls in a word of memory."""
    text = f"""define i32 @fusewright_nothing() {{
  %at = inttoptr i64 {count} to ptr
  %one = atomicrmw add ptr %at, i64 1 monotonic
  ret i32 0
}}
"""
    return objects.load(llvm_jit.compile_ir(text, llvm_jit.host_target(())), "fusewright_nothing", [])


class NullDriver:
    """A GPU on which nothing is compiled, and no launch does anything; for CPU tensors (`devices.Driver`)."""

    def __init__(self, gpu: Gpu = H200):
        self.gpu = gpu
        self._scratch = torch.empty(1 << 24, dtype=torch.uint8)
        self._count = ctypes.c_int64()
        self._empty = internals.empty_strided

    @property
    def launched(self) -> int:
        return self._count.value

    @launched.setter
    def launched(self, n: int) -> None:
        self._count.value = n

    @cached_property
    def native(self) -> Calls:
        nothing = _nothing(ctypes.addressof(self._count))
        return Calls(nothing, int, 0, lambda: 0, abs, self._empty, bool, nothing)

    def versions(self) -> str:
        return "null"

    def compile(self, func: Func) -> bytes:
        return b"null"

    def compile_text(self, text: str) -> bytes:
        return b"null"

    def load(self, code: bytes, func: Func) -> list[Any]:
        return [0 for _ in func.body]

    def restore(self, code: bytes, launches: Sequence[Launch]) -> list[Any]:
        return [0 for _ in launches]

    def scratch(self, nbytes: int) -> torch.Tensor:
        return self._scratch[:nbytes]

    def counters(self, count: int, stream: int) -> torch.Tensor:
        return self._scratch

    def enter(self) -> int:
        return 0

    def can_time(self) -> bool:
        return False

    def times(self, runs: Sequence[Callable[[], None]], rounds: int) -> list[float]:
        return [0.0 for _ in runs]

    def launch(self, handle: Any, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        self._count.value += 1

    follow = launch
