"""A recorder of CUDA graphs for CPU tensors: replaying runs the recorded function again, on the same addresses.

with faked_graphs() as recorder:
    torch.compile(f, backend="fusewright", options={"cuda_graphs": True})(x)

As on a GPU, recording does nothing: arguments, results' memory and random state are as before, and results are garbage
until the first replay. Graphs keep nothing alive: they have addresses only.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch

from fusewright.run import cuda_graphs, recorder

Run = Callable[[list[Any]], list[Any]]


def alias(t: torch.Tensor) -> torch.Tensor:
    """A tensor on the memory of `t` that does not keep it alive."""
    n = 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True)) if t.numel() else 0
    if n == 0:
        return torch.empty_strided(t.shape, t.stride(), dtype=t.dtype)
    memory = (ctypes.c_char * (n * t.itemsize)).from_address(t.data_ptr())
    return torch.frombuffer(memory, dtype=t.dtype).as_strided(t.shape, t.stride())


def single(t: torch.Tensor) -> torch.Tensor:
    """`t` with one element wherever it repeats one."""
    for d, s in enumerate(t.stride()):
        if s == 0 and t.shape[d] > 1:
            t = t.narrow(d, 0, 1)
    return t


def storage(t: torch.Tensor) -> int:
    return int(t.untyped_storage()._cdata)


class FakeGraph:
    def __init__(self, run: Run, args: list[Any], results: list[Any]):
        self.run = run
        given = {storage(a) for a in args if isinstance(a, torch.Tensor)}
        self.args = [alias(a) if isinstance(a, torch.Tensor) else a for a in args]
        fresh = [(j, r) for j, r in enumerate(results) if isinstance(r, torch.Tensor) and storage(r) not in given]
        self.results = [(j, alias(single(r))) for j, r in fresh]
        for _, r in self.results:
            r.fill_(float("nan") if r.is_floating_point() else 77)

    def replay(self) -> None:
        with torch.no_grad():
            results = self.run(list(self.args))
            for j, r in self.results:
                r.copy_(single(results[j]))


class FakeRecorder:
    """See `fusewright.run.recorder.Recorder`. `stream`, `busy`: what is current; `failure`: raised by `record`."""

    def __init__(self) -> None:
        self.stream, self.busy, self.recorded = 0, False, 0
        self.failure: Exception | None = None
        self.drawing: int | None = None

    def state(self) -> tuple[Any, ...]:
        return (self.stream,)

    def capturing(self) -> bool:
        return self.busy

    def may_draw(self) -> bool:
        self.drawing = self.stream if self.drawing is None else self.drawing
        return self.drawing == self.stream

    def record(self, run: Run, args: list[Any]) -> tuple[FakeGraph, list[Any]]:
        if self.failure is not None:
            raise self.failure
        before = [single(a.detach()).clone() if isinstance(a, torch.Tensor) else None for a in args]
        random = torch.get_rng_state()
        with torch.no_grad():
            results = run(list(args))
            for a, b in zip(args, before, strict=True):
                if b is not None and not torch.equal(single(a), b):
                    alias(single(a)).copy_(b)
        torch.set_rng_state(random)
        self.recorded += 1
        return FakeGraph(run, args, results), results

    def mark(self) -> float:
        return 0.0

    def between(self, begin: float, end: float) -> float | None:
        return end - begin


@contextmanager
def faked_graphs() -> Iterator[FakeRecorder]:
    """Plans for CPU tensors are recorded by a `FakeRecorder`, and never found to be slower."""
    fake = FakeRecorder()
    torch._dynamo.reset()
    with recorder.use("cpu", fake), mock.patch.object(cuda_graphs, "SLOWER", 1e9):
        yield fake
    torch._dynamo.reset()
