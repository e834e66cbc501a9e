"""What is printed at every run of a kernel: launches, arguments, bandwidth, the timeline of the host."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

import torch

from ..run.plan import GroupPlan, Plan, Watch
from ..run.prepared import Prepared
from .dump import About, Dump, made, moment, wanted, write

STAGES = ("timeline", "launch", "arguments", "bandwidth")


class _Runs:
    """The watch of one kernel. `items`: what was asked for when it was compiled, by stage."""

    def __init__(self, p: GroupPlan, about: About, items: dict[str, list[Dump]]):
        self.p = p
        self.about = about
        self.items = items

    def __call__(
        self,
        kernel: Callable[..., Any],
        arguments: tuple[Any, ...],
        tensors: tuple[torch.Tensor, ...],
        sizes: dict[str, int],
    ) -> Any:
        self.put("launch", lambda: self.launch(arguments, len(tensors), sizes))
        self.put("arguments", lambda: self.arguments(arguments, tensors, sizes))
        gpu = any(t.device.type == "cuda" for t in tensors)
        captured = gpu and torch.cuda.is_current_stream_capturing()  # into a CUDA graph: nothing runs now
        waits = gpu and not captured and "bandwidth" in self.items
        if waits:
            torch.cuda.synchronize()
        start = time.perf_counter()
        result = kernel(*arguments)
        launched = time.perf_counter()
        if waits:
            torch.cuda.synchronize()
        end = time.perf_counter()
        self.put("timeline", lambda: moment(start, launched, f"launch {self.p.name}"))
        self.put("bandwidth", lambda: "(captured, not run)" if captured else _bandwidth(tensors, end - start))
        return result

    def put(self, stage: str, text: Callable[[], str]) -> None:
        for item in self.items.get(stage, ()):
            write(item, self.about, made(text))

    def launch(self, arguments: tuple[Any, ...], n: int, sizes: dict[str, int]) -> str:
        if self.p.gpu is None:
            assert self.p.kernel is not None
            (threads,) = ctypes.cast(arguments[n], ctypes.POINTER(ctypes.c_int64))[:1]  # the first size parameter
            return f"{self.p.kernel.func.name}: {threads} threads{', with scratch memory' if arguments[-1] else ''}"
        prepared = self.prepared(arguments[:n], sizes)
        if prepared is None:
            return "not prepared"
        parts = [
            f"{blocks} blocks of {threads} threads, {shared} bytes shared"
            for _, blocks, threads, shared, _ in prepared.launches
        ]
        return f"{'; '.join(parts) or 'nothing to do'}; {prepared.scratch_bytes} bytes of scratch memory"

    def prepared(self, pointers: tuple[int, ...], sizes: dict[str, int]) -> Prepared | None:
        """What is launched on a GPU; what stands in its place for a while (new sizes, autotuning) has it in `entry`."""
        assert self.p.gpu is not None
        low = 0
        for p in pointers:
            low |= p
        found: Any = self.p.gpu.memo.get((*(sizes[s] for s in self.p.gpu.symbols), low & 15))
        return found if found is None or isinstance(found, Prepared) else found.entry

    def arguments(self, arguments: tuple[Any, ...], tensors: tuple[torch.Tensor, ...], sizes: dict[str, int]) -> str:
        assert self.p.built is not None
        lines = []
        for b, t in zip(self.p.built.fusion.buffers, tensors, strict=True):
            dtype = str(t.dtype).removeprefix("torch.")
            lines.append(
                f"{'out' if b.output else 'in'} {b.name}: {dtype}{list(t.shape)} strides {list(t.stride())} "
                f"on {t.device} at {t.data_ptr():#x}"
            )
        lines += [f"size {name} = {value}" for name, value in sizes.items()]
        if self.p.gpu is not None:
            prepared = self.prepared(arguments[: len(tensors)], sizes)
            lines += [f"parameter {name} = {x}" for name, x in (prepared.sizes if prepared is not None else {}).items()]
        elif self.p.kernel is not None:
            n, func = len(tensors), self.p.kernel.func
            numbers = ctypes.cast(arguments[n], ctypes.POINTER(ctypes.c_int64))[: len(func.sizes)]
            lines += [f"parameter {r.name} = {x}" for r, x in zip(func.sizes, numbers, strict=True)]
            lines += [f"host {r.name} = {x}" for r, x in zip(func.hosts, arguments[n + 1 :], strict=False)]
        return "\n".join(lines)


def _bandwidth(tensors: tuple[torch.Tensor, ...], seconds: float) -> str:
    n = sum(map(bytes_of, tensors))
    rate = n / seconds / 1e9 if seconds > 0 else 0.0
    return f"{seconds * 1e6:.1f} µs, {n} bytes, {rate:.2f} GB/s"


def bytes_of(t: torch.Tensor) -> int:
    """Bytes of memory that a tensor's elements take; expanded ones count once."""
    n = t.element_size()
    for extent, stride in zip(t.shape, t.stride(), strict=True):
        n *= extent if stride or not extent else 1
    return n


def watch_for(p: GroupPlan, plan: Plan) -> Watch | None:
    """The watch that the option `dump` asks for. See `watch.py`."""
    units = plan.traced.graph.units
    about = About(plan.name, p.name, tuple(units[u].target for u in p.group.units), p.built)
    items = {stage: found for stage in STAGES if (found := wanted(stage, about))}
    return _Runs(p, about, items) if items else None
