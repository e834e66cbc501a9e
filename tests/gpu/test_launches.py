"""Launches by machine code on a GPU: streams, threads, several devices, graphs, errors."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import fusewright
from fusewright.run import prepared

FOLLOWS = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0), reason="needs compute capability 9.0"
)
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
    broken.launches = [(h, blocks, 4096, shared, False) for h, blocks, _, shared, _ in broken.launches]
    group.driver, group.memo = broken.driver, {(0,): broken}
    n = broken.pointers.stop
    launch = site(group, broken.driver.native, [True] * n, 0, False)
    python = launch.__self__[7].__self__
    python.add(entry_of(broken, broken.driver.native, (0,)))
    with pytest.raises(fusewright.FusewrightError, match="launch a kernel"):
        launch(*[x.data_ptr()] * n)
    assert len(by_python) == first + 1
    same(fused, x, w)


def norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x * 2, (x.shape[-1],), w, b)


def following(entries: list[Any]) -> int:
    """How many launches of prepared ones begin before the launch before them has ended."""
    return sum(follows for e in entries for *_, follows in e.launches)


@FOLLOWS
@pytest.mark.parametrize("native", [True, False])
def test_launches_that_follow_see_what_was_left(by_python: list[Any], native: bool) -> None:
    """Sums over rows, many times back to back in the same memory, on other data each time: nothing old is read."""
    with fusewright.options(native_launch=native, specialize="never"):
        fused = fusewright.fuse(norm)
        rows, n = 8192, 1024
        xs = [torch.randn(rows, n, device="cuda", dtype=torch.float64).float() for _ in range(4)]
        w, b = (torch.randn(n, device="cuda") for _ in range(2))
        grad = torch.randn(rows, n, device="cuda")
        wanted = []
        for k, x in enumerate(xs):
            leaves = [t.double().requires_grad_() for t in (x, w, b)]
            wanted.append(torch.autograd.grad(norm(*leaves), leaves, (grad * (k + 1)).double()))
        got: list[tuple[torch.Tensor, ...]] = []
        for turn in range(50):
            k = turn % 4
            leaves = [t.clone().requires_grad_() for t in (xs[k], w, b)]
            got.append(torch.autograd.grad(fused(*leaves), leaves, grad * (k + 1)))
            if turn >= 4:
                got[turn - 4] = tuple(got[turn - 4][1:])  # gradients of rows are large
        torch.cuda.synchronize()
        assert following(by_python) > 0
        for turn, found in enumerate(got):
            want = wanted[turn % 4]
            for a, e in zip(found, want[3 - len(found) :], strict=True):
                torch.testing.assert_close(a.double(), e, rtol=1e-4, atol=1e-4 * float(e.abs().max()))
        for turn in range(4, 50):  # in a fixed order: the same bits
            for a, e in zip(got[turn][-2:], got[turn % 4][-2:], strict=True):
                assert torch.equal(a, e)


@FOLLOWS
def test_following_into_a_recording(by_python: list[Any]) -> None:
    """Few long rows: two passes, the second of which follows the first; recorded, they are plain launches."""
    fused = fusewright.fuse(lambda x: torch.softmax(x, -1))
    x = torch.randn(2, 1 << 21, device="cuda")
    for _ in range(3):
        torch.testing.assert_close(fused(x), torch.softmax(x, -1), rtol=1e-4, atol=1e-8)
    assert following(by_python) > 0
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = fused(x)
    for _ in range(20):
        x.copy_(torch.randn_like(x))
        graph.replay()
        torch.testing.assert_close(out, torch.softmax(x, -1), rtol=1e-4, atol=1e-8)


@FOLLOWS
def test_following_among_others() -> None:
    """Kernels of torch's before, between and after, on two streams that take turns."""
    fused = fusewright.fuse(lambda x: torch.softmax(x, -1))
    streams = [torch.cuda.Stream() for _ in range(2)]
    xs = [torch.randn(2, 1 << 21, device="cuda") for _ in streams]
    torch.cuda.synchronize()
    found: list[list[torch.Tensor]] = [[], []]
    for turn in range(30):
        for k, s in enumerate(streams):
            with torch.cuda.stream(s):
                found[k].append((fused(xs[k] + turn * 0.01 * xs[k]) * 2).sum(0)[:1000].clone())
    torch.cuda.synchronize()
    for k, x in enumerate(xs):
        for turn, got in enumerate(found[k]):
            want = (torch.softmax(x + turn * 0.01 * x, -1) * 2).sum(0)[:1000]
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-8)
