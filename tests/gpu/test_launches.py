"""Launches by machine code on a GPU: streams, threads, several devices, graphs, errors."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import fusewright
from fusewright.run import prepared

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def block(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x * 2 + 1, -1) * w


@pytest.fixture
def by_python(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The launches that Python makes."""
    made: list[Any] = []
    run = prepared.Prepared.run

    def counted(self: prepared.Prepared, *args: Any, **kwargs: Any) -> None:
        made.append(self)
        run(self, *args, **kwargs)

    monkeypatch.setattr(prepared.Prepared, "run", counted)
    torch._dynamo.reset()
    yield made


def same(fused: Any, *args: torch.Tensor) -> None:
    torch.testing.assert_close(fused(*args), block(*args), rtol=1e-5, atol=1e-6)


def test_python_launches_once(by_python: list[Any]) -> None:
    fused = fusewright.fuse(block)
    x, w = torch.randn(64, 100, device="cuda"), torch.randn(100, device="cuda")
    same(fused, x, w)
    first = len(by_python)
    assert first
    for _ in range(5):
        same(fused, x, w)
    assert len(by_python) == first


def test_gradients(by_python: list[Any]) -> None:
    """The thread of the backward pass may have no context at first."""
    fused = fusewright.fuse(block)
    for _ in range(3):
        x = torch.randn(4096, 100, device="cuda", requires_grad=True)
        w = torch.randn(100, device="cuda", requires_grad=True)
        grads = [torch.autograd.grad(f(x, w).square().sum(), (x, w)) for f in (fused, block)]
        for a, b in zip(*grads, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def test_streams_and_threads(by_python: list[Any]) -> None:
    fused = fusewright.fuse(block)
    w = torch.randn(100, device="cuda")
    same(fused, torch.randn(64, 100, device="cuda"), w)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                for n in range(40, 60):
                    same(fused, torch.randn(n, 100, device="cuda"), w)
        except BaseException as e:
            errors.append(e)

    torch.cuda.synchronize()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


def test_recorded_by_the_user(by_python: list[Any]) -> None:
    fused = fusewright.fuse(block)
    x, w = torch.randn(64, 100, device="cuda"), torch.randn(100, device="cuda")
    for _ in range(3):
        same(fused, x, w)
    first = len(by_python)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = fused(x, w)
    assert len(by_python) == first
    x.copy_(torch.randn_like(x))
    graph.replay()
    torch.testing.assert_close(out, block(x, w), rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_two_devices(by_python: list[Any]) -> None:
    fused = fusewright.fuse(block)
    for _ in range(3):
        for device in ("cuda:1", "cuda:0"):
            same(fused, torch.randn(64, 100, device=device), torch.randn(100, device=device))
            assert torch.cuda.current_device() == 0


def test_a_launch_that_the_driver_refuses(by_python: list[Any]) -> None:
    """Python makes it again, and raises what the driver says."""
    fused = fusewright.fuse(block)
    x, w = torch.randn(64, 100, device="cuda"), torch.randn(100, device="cuda")
    same(fused, x, w)
    same(fused, x, w)
    first = len(by_python)
    from fusewright.run.native import entry_of, site

    class Group:
        symbols: tuple[str, ...] = ()
        memo: dict[Any, Any]
        driver: Any

    group: Any = Group()
    broken = prepared.Prepared.__new__(prepared.Prepared)
    for name in prepared.Prepared.__slots__:
        setattr(broken, name, getattr(by_python[0], name))
    broken.launches = [(h, blocks, 4096, shared) for h, blocks, _, shared in broken.launches]
    group.driver, group.memo = broken.driver, {(0,): broken}
    n = broken.pointers.stop
    launch = site(group, broken.driver.native, [True] * n, 0, False)
    python = launch.__self__[7].__self__
    python.add(entry_of(broken, broken.driver.native, (0,)))
    with pytest.raises(fusewright.FusewrightError, match="launch a kernel"):
        launch(*[x.data_ptr()] * n)
    assert len(by_python) == first + 1
    same(fused, x, w)
