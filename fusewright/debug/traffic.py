"""How many bytes a kernel must move, how fast memory moves them at best, and how long a launch takes.

*Bytes* are those of distinct elements: a tensor read by three stages counts once (it is in registers or caches the
other times), an expanded dimension counts nothing, and of a tensor that is read at run-time indices no more elements
count than there are points that read it. The *roof time* is these bytes over the bandwidth of a plain copy between two
large tensors, which is measured once per process and device.
"""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..index.expr import Ix
from ..run.plan import GroupPlan

COPY = 1 << 27  # bytes of each tensor of the copy that measures a CPU's roof; a GPU's are eight times as large
BUDGET = 4e-3  # seconds to spend on measuring one kernel
LEAST, MOST = 5, 50  # samples of one kernel
SAMPLE = 5e-5  # seconds a sample should last: shorter launches are repeated within it

_lock = threading.Lock()
_roofs: dict[str, float] = {}


def moved(f: Fusion, size: Callable[[Ix], int]) -> tuple[int, int]:
    """(bytes read, bytes written) by a kernel of `f`; `size` evaluates expressions over size symbols."""
    points: dict[str, int] = {}
    for g in _parts(f):
        roots = [s.body for s in g.stages] + [c for c, _ in g.checks]
        roots += [e for s in g.stages for e in s.others()]
        around = {a for s in g.stages for a in (*s.axes, *s.raxes)}
        for e in sc.walk(roots):
            if e.kind == "load":
                n = math.prod(size(a.extent) for a in e.axes & around if a.extent is not None)
                points[e.data[0]] = points.get(e.data[0], 0) + n
    scattered = set()
    for g in _parts(f):
        for s in g.scatters():
            scattered.add(s.buffer)
            n = math.prod(size(a.extent) for a in s.axes if a.extent is not None)
            points[s.buffer] = points.get(s.buffer, 0) + n
    read = written = 0
    for b in f.buffers:
        distinct = math.prod(size(n) for n, s in zip(b.shape, b.strides, strict=True) if s.as_int() != 0)
        if b.output:
            written += distinct * b.dtype.itemsize
        if not b.output or b.name in scattered:  # a scatter reads what it adds to
            read += min(distinct, points.get(b.name, 0)) * b.dtype.itemsize
    return read, written


def _parts(f: Fusion) -> list[Fusion]:
    return [*f.before, f, *f.after]


def sized(sizes: Mapping[str, int], hint: Callable[[Ix], int]) -> Callable[[Ix], int]:
    """Evaluates expressions with the sizes of a call, and with `hint` where they do not say."""

    def size(e: Ix) -> int:
        try:
            return max(0, int(e.evaluate(sizes)))
        except (KeyError, ValueError):
            return max(0, hint(e))

    return size


def moved_by(p: GroupPlan, sizes: Mapping[str, int], hint: Callable[[Ix], int]) -> tuple[int, int]:
    """(bytes read, bytes written) by a launch of a group's kernel."""
    assert p.built is not None
    return moved(p.built.fusion, sized(sizes, hint))


def roof(device: str) -> float:
    """Bytes per second, read and written, that `copy_` moves on `device`. Measured once (0.5 s on a CPU)."""
    with _lock:
        found = _roofs.get(device)
        if found is None:
            found = _roofs[device] = _copy(device)
        return found


def _copy(device: str) -> float:
    n = COPY * 8 if device.startswith("cuda") else COPY
    source = torch.ones(n // 4, device=device)
    target = torch.empty_like(source)
    times = sorted(_launches(lambda: target.copy_(source), device, 1) for _ in range(12))
    return 2 * n / times[len(times) // 4]


def launch_seconds(launch: Callable[[], Any], device: str) -> float:
    """Median seconds of a launch, the call from Python (some microseconds on a CPU) included. GPU: of the device."""
    launch()
    once = max(_launches(launch, device, 1), 1e-7)
    repeats = max(1, int(SAMPLE / once))
    rounds = int(max(LEAST, min(MOST, BUDGET / (once * repeats))))
    return statistics.median(_launches(launch, device, repeats) for _ in range(rounds))


def _launches(launch: Callable[[], Any], device: str, repeats: int) -> float:
    """Seconds of one of `repeats` launches in a row."""
    if device.startswith("cuda"):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(repeats):
            launch()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / repeats
    began = time.perf_counter()
    for _ in range(repeats):
        launch()
    return (time.perf_counter() - began) / repeats


def copies(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Tensors with the same values and strides, in memory of their own; what shares an element still does.

    Returned as flat tensors whose first element is the first of the original: kernels take addresses.
    """
    out = []
    for t in tensors:
        span = 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True)) if t.numel() else 1
        out.append(t.as_strided((span,), (1,)).clone() if t.numel() else t.new_empty(1))
    return out
