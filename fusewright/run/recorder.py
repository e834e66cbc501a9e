"""Recording what a plan does on a GPU into a CUDA graph, and the few facts of a device that this takes.

A `Recorder` is what `cuda_graphs.py` needs of torch's CUDA graphs. Tests put another in a device's place.
"""

from __future__ import annotations

import contextlib
import gc
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch

from . import internals

Run = Callable[[list[Any]], list[Any]]
LOW = 4  # a device with less than a quarter of its memory free is low on it


class Graph(Protocol):
    """What was recorded; it may be replayed on any stream of the device."""

    def replay(self) -> None:
        """Start it on the current stream: the same kernels on the same addresses, with new random numbers."""


class Recorder(Protocol):
    """A device on which work can be recorded instead of done."""

    def state(self) -> tuple[Any, ...]:
        """What recorded work depends on besides its arguments, the current stream first; to be compared by `==`."""

    def capturing(self) -> bool:
        """Whether somebody is recording on the current stream."""

    def record(self, run: Run, args: list[Any]) -> tuple[Graph, list[Any]]:
        """What `run(args)` does, without doing it, and its results, whose memory `replay` will fill.

        Raises whatever `run` raises, and RuntimeError when it does what cannot be recorded.
        """

    def may_draw(self) -> bool:
        """Whether work with random numbers may be recorded here: on one stream of a device only."""

    def mark(self) -> Any:
        """The present end of the current stream."""

    def between(self, begin: Any, end: Any) -> float | None:
        """Seconds that the device took from one mark to another; None if it has not come so far."""


class CudaRecorder:
    """See `Recorder`.

    Each graph has its own memory pool: another's intermediate results may be over when this one's are alive. Work is
    recorded on a side stream, one for each stream that it will run on. cuBLAS keeps a workspace for each stream, which
    is taken from it before and after, so that the graph's is in its own memory.
    """

    def __init__(self, device: torch.device):
        assert device.index is not None
        self.device, self.index = device, device.index
        self.sides: dict[int, torch.cuda.Stream] = {}
        self.drawing: int | None = None  # the stream whose graphs draw random numbers
        self.failed: list[Any] = []  # graphs whose recording broke off: the allocators may still know them
        self._stream = torch._C._cuda_getCurrentRawStream
        self._deterministic = torch.are_deterministic_algorithms_enabled
        self._precision = internals.product_precision

    def state(self) -> tuple[Any, ...]:
        return self._stream(self.index), self._deterministic(), self._precision()

    def capturing(self) -> bool:
        return torch.cuda.is_current_stream_capturing()

    def may_draw(self) -> bool:
        # Seed and offset of a replay are in memory that all graphs of a generator share.
        stream = self._stream(self.index)
        if self.drawing is None:
            self.drawing = stream
        return self.drawing == stream

    def record(self, run: Run, args: list[Any]) -> tuple[Graph, list[Any]]:
        with _one_at_a_time, torch.cuda.device(self.index), _no_collection():
            stream = self._stream(self.index)
            side = self.sides.get(stream)
            if side is None:
                side = self.sides[stream] = torch.cuda.Stream(self.device)
            free, total = torch.cuda.mem_get_info(self.index)
            if free < total // LOW:  # what is cached is no use to a new pool
                torch.cuda.synchronize(self.device)
                torch.cuda.empty_cache()
            internals.clear_workspaces()
            try:
                with torch.cuda.stream(side):
                    return self._record(run, args)
            finally:
                internals.clear_workspaces()

    def _record(self, run: Run, args: list[Any]) -> tuple[Graph, list[Any]]:
        graph, pool = torch.cuda.CUDAGraph(), torch.cuda.graph_pool_handle()
        # Other threads may go on using the device; what this one does that would not be in the graph is an error.
        graph.capture_begin(pool=pool, capture_error_mode="thread_local")
        try:
            with torch.no_grad():
                results = run(args)
        except BaseException:
            self._abandon(graph, pool)
            raise
        try:
            graph.capture_end()
        except BaseException:
            self._mend(graph, pool)
            raise
        return graph, results

    def _abandon(self, graph: Any, pool: Any) -> None:
        """End a recording in which an error was raised."""
        try:
            graph.capture_end()
            graph.reset()
        except Exception:
            self._mend(graph, pool)

    def _mend(self, graph: Any, pool: Any) -> None:
        """Put in order what torch leaves behind when a recording turns out to be invalid."""
        self.failed.append(graph)
        with contextlib.suppress(Exception):
            internals.end_pool(self.index, pool)
        # The generator may believe that it is being recorded; the end of a recording that is valid tells it otherwise.
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an empty graph
            empty = torch.cuda.CUDAGraph()
            empty.capture_begin(capture_error_mode="thread_local")
            empty.capture_end()
            empty.reset()

    def mark(self) -> Any:
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, begin: Any, end: Any) -> float | None:
        return float(begin.elapsed_time(end)) * 1e-3 if end.query() else None


_one_at_a_time = threading.Lock()
_lock = threading.Lock()
_recorders: dict[torch.device, CudaRecorder] = {}
_replaced: dict[str, Recorder] = {}


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the garbage collector, which might free other graphs, or events."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def recorder_for(device: torch.device) -> Recorder | None:
    """The recorder of a device; None where nothing can be recorded."""
    if device.type in _replaced:
        return _replaced[device.type]
    if device.type != "cuda" or device.index is None or not torch.cuda.is_available():
        return None
    with _lock:
        return _recorders.get(device) or _recorders.setdefault(device, CudaRecorder(device))


@contextmanager
def use(device_type: str, recorder: Recorder) -> Iterator[None]:
    """Let `recorder` record for all tensors of a device type. For tests; not thread-safe."""
    before = _replaced.get(device_type)
    _replaced[device_type] = recorder
    try:
        yield
    finally:
        if before is None:
            del _replaced[device_type]
        else:
            _replaced[device_type] = before
