"""A driver that launches nothing: what is left is the host's work for a GPU, on a machine without one.

with devices.use("cpu", NullDriver()):
    fusewright.fuse(f)(x)                    # x on the CPU; the results are not written
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from fusewright.loop.ir import Func
from fusewright.run.prepared import Launch
from fusewright.schedule.device import H200, Gpu


class NullDriver:
    """A GPU on which nothing is compiled, and no launch does anything; for CPU tensors (`devices.Driver`)."""

    def __init__(self, gpu: Gpu = H200):
        self.gpu = gpu
        self.launched = 0
        self._scratch = torch.empty(1 << 24, dtype=torch.uint8)

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
        self.launched += 1
