"""How torch's CUDA graphs are driven: in which order its functions are called, above all when something goes wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from fusewright.run import internals
from fusewright.run.recorder import CudaRecorder, recorder_for


class Graph:
    """In place of `torch.cuda.CUDAGraph`. `bad`: what `capture_end` raises for the first one."""

    log: list[str] = []
    bad: Exception | None = None
    made = 0

    def __init__(self) -> None:
        self.name = f"graph{Graph.made}"
        Graph.made += 1

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "") -> None:
        Graph.log.append(f"begin {self.name} {pool} {capture_error_mode}")

    def capture_end(self) -> None:
        Graph.log.append(f"end {self.name}")
        if Graph.bad is not None and self.name == "graph0":
            raise Graph.bad

    def reset(self) -> None:
        Graph.log.append(f"reset {self.name}")


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[CudaRecorder]:
    """A recorder of a device that is not there."""

    @contextlib.contextmanager
    def entered(name: str) -> Iterator[None]:
        Graph.log.append(f"enter {name}")
        try:
            yield
        finally:
            Graph.log.append(f"leave {name}")

    Graph.log, Graph.bad, Graph.made = [], None, 0
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 7))
    monkeypatch.setattr(torch.cuda, "device", lambda index: entered(f"device {index}"))
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: "side")
    monkeypatch.setattr(torch.cuda, "stream", lambda side: entered(f"stream {side}"))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda index: (9, 10))
    monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda index: 5, raising=False)
    monkeypatch.setattr(internals, "clear_workspaces", lambda: Graph.log.append("clear"))
    monkeypatch.setattr(internals, "end_pool", lambda index, pool: Graph.log.append(f"end pool {index} {pool}"))
    yield CudaRecorder(torch.device("cuda", 2))


AROUND = ["enter device 2", "clear", "enter stream side", "begin graph0 (0, 7) thread_local"]
AFTER = ["leave stream side", "clear", "leave device 2"]


def test_recording(cuda: CudaRecorder) -> None:
    graph, results = cuda.record(lambda args: [args[0] + 1, torch.is_grad_enabled()], [torch.zeros(1)])
    assert isinstance(graph, Graph) and float(results[0]) == 1 and results[1] is False
    assert Graph.log == [*AROUND, "end graph0", *AFTER]
    assert cuda.sides == {5: "side"}


def fail(args: list[Any]) -> list[Any]:
    raise ValueError("no")


def test_an_error_while_recording(cuda: CudaRecorder) -> None:
    """The recording is ended, and forgotten; the current stream is what it was."""
    with pytest.raises(ValueError, match="no"):
        cuda.record(fail, [])
    assert Graph.log == [*AROUND, "end graph0", "reset graph0", *AFTER]
    assert not cuda.failed


@pytest.mark.parametrize("run", [fail, lambda args: []])
def test_an_invalid_recording(run: Any, cuda: CudaRecorder) -> None:
    """Torch does not tidy up after one: the memory pool is ended here, the generator freed by an empty recording."""
    Graph.bad = RuntimeError("operation failed due to a previous error during capture")
    with pytest.raises(ValueError if run is fail else RuntimeError):
        cuda.record(run, [])
    mended = ["end pool 2 (0, 7)", "begin graph1 None thread_local", "end graph1", "reset graph1"]
    assert Graph.log == [*AROUND, "end graph0", *mended, *AFTER]
    assert [g.name for g in cuda.failed] == ["graph0"]


def test_random_numbers_on_one_stream(cuda: CudaRecorder) -> None:
    assert cuda.may_draw() and cuda.may_draw()
    cuda._stream = lambda index: 6
    assert not cuda.may_draw()


def test_devices_that_cannot_record() -> None:
    assert recorder_for(torch.device("cpu")) is None
    assert torch.cuda.is_available() or recorder_for(torch.device("cuda", 0)) is None
