"""A watch that times each kernel once, on the inputs of its first launch.

The kernel is run again on copies of all its buffers, so that neither what the program sees nor an output that takes
over an input's memory is touched. Copies live for the time of one measurement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..run.plan import GroupPlan, Plan, Watch
from . import record
from .traffic import copies, launch_seconds, moved_by
from .units import NEVER


class Probe:
    """What was seen of one kernel: `calls`, and of the first one `seconds` (None with `why` if it was not measured),
    `bytes` (read, written), `layouts` ((type, shape, strides) of each buffer) and `sizes`."""

    def __init__(self, p: GroupPlan, plan: Plan):
        self.plan = p
        self.hint = plan.traced.symbols.hint
        self.calls = 0
        self.seconds: float | None = None
        self.why = NEVER
        self.bytes: tuple[int, int] | None = None
        self.layouts: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = []
        self.sizes: dict[str, int] = {}

    def __call__(
        self, kernel: Callable[..., Any], arguments: tuple[Any, ...], tensors: tuple[torch.Tensor, ...], sizes: dict
    ) -> Any:
        self.calls += 1
        if self.calls > 1:
            return kernel(*arguments)
        self.sizes = dict(sizes)
        self.layouts = [(str(t.dtype).removeprefix("torch."), tuple(t.shape), tuple(t.stride())) for t in tensors]
        self.bytes = moved_by(self.plan, sizes, self.hint)
        mine: list[torch.Tensor] = []
        try:
            mine = copies(tensors)  # before the launch, which may write into an input's memory
            self.why = ""
        except (RuntimeError, MemoryError) as e:  # memory: the program itself goes on
            self.why = f"no memory for copies of its inputs ({type(e).__name__})"
        result = kernel(*arguments)
        if mine:
            rest = arguments[len(mine) :]
            pointers = [t.data_ptr() for t in mine]
            if kernel(*pointers, *rest):
                self.why = "an index is out of range, so that torch runs it instead"
            else:
                self.seconds = launch_seconds(lambda: kernel(*pointers, *rest), tensors[0].device.type)
        return result


def probing(p: GroupPlan, plan: Plan) -> Watch | None:
    """A probe, if somebody records and wants kernels measured."""
    recording = record.current()
    if recording is None or not recording.measure:
        return None
    return recording.probes.setdefault(p.name, Probe(p, plan))
