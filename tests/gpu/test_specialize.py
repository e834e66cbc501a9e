"""Kernels for one set of sizes on a real device: the decision is made on its clock, and numbers stay the same bits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import wait

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.run import hot, special, timed
from fusewright.run.first import Waiting
from fusewright.run.gpu import GpuGroup
from fusewright.run.specialize import worker
from fusewright.run.timed import Hot
from tests.support import counted, counters, no_fallbacks


def rope(q: torch.Tensor, c: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    h = q.shape[-1] // 2
    turned = torch.cat((-q[..., h:], q[..., :h]), -1)
    return (q * c + turned * s).to(q.dtype)


def norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(torch.sin(x) * 2, x.shape[-1:], w)


def dropped(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.softmax(F.dropout(x, 0.25) + w, -1)


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[GpuGroup]:
    """Groups that have launched, of which every kernel is tried after a few launches."""
    monkeypatch.setattr(hot, "SMALL", 0)
    monkeypatch.setattr(hot, "STAKE", 0)
    monkeypatch.setattr(timed, "LAUNCHES", 4)
    monkeypatch.setattr(timed, "POLL", 0)  # it is asked every time whether the special kernel is there
    monkeypatch.setattr(special.Kind, "wants", lambda kind, group: False)  # as if others had come before
    special._kinds.clear()
    return launched(monkeypatch)


def launched(monkeypatch: pytest.MonkeyPatch) -> list[GpuGroup]:
    """Groups that have launched."""
    found: list[GpuGroup] = []
    make = GpuGroup.make

    def noted(self: GpuGroup, *key: int) -> object:
        if self not in found:
            found.append(self)
        return make(self, *key)

    monkeypatch.setattr(GpuGroup, "make", noted)
    return found


def decided(groups: list[GpuGroup]) -> bool:
    return all(not isinstance(e, Hot) for g in groups for e in g.memo.values())


def test_the_first_sizes(cuda: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel for them stays, and is launched by machine code; others run the general one."""
    special._kinds.clear()
    groups = launched(monkeypatch)
    with torch.no_grad(), no_fallbacks(), fusewright.options(disk_cache=False):
        torch._dynamo.reset()
        f = torch.compile(norm, backend="fusewright", dynamic=True)
        for adopted, shape in ((1, (2048, 4096)), (0, (2048, 4088)), (0, (1000, 4080))):
            x, w = torch.randn(shape, device=cuda), torch.randn(shape[1:], device=cuda)
            before = counters()
            for _ in range(3):
                torch.testing.assert_close(f(x, w), norm(x, w), rtol=1e-5, atol=1e-5)
                wait([e.other for g in groups for e in g.memo.values() if isinstance(e, Waiting)])
            assert counted(before)["kernels_adopted"] == adopted
            assert adopted or not counted(before)["kernels_specialized"]


PROGRAMS: dict[str, tuple[Callable[..., torch.Tensor], list[tuple[int, ...]]]] = {
    "rope": (rope, [(4, 8, 512, 128), (512, 128), (512, 128)]),
    "norm": (norm, [(4096, 1024), (1024,)]),
    "norm of odd sizes": (norm, [(1001, 1023), (1023,)]),
    "dropout and softmax": (dropped, [(2048, 4096), (4096,)]),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("how", ["hot", "always"])
def test_the_same_bits(name: str, how: str, cuda: str, groups: list[GpuGroup]) -> None:
    program, shapes = PROGRAMS[name]
    args = [
        torch.randn(s, device=cuda, dtype=torch.bfloat16 if k == 0 else torch.float32) for k, s in enumerate(shapes)
    ]
    outs, before = [], counters()
    with torch.no_grad(), no_fallbacks():
        for option in ("never", how):
            torch._dynamo.reset()
            with fusewright.options(specialize=option, disk_cache=False):
                f = torch.compile(program, backend="fusewright")
                for _ in range(8):
                    torch.manual_seed(0)
                    outs.append(f(*args))
                worker().submit(lambda: None).result()
                for _ in range(2):
                    torch.manual_seed(0)
                    outs.append(f(*args))
    assert all(torch.equal(outs[0], out) for out in outs)
    assert decided(groups)
    if how == "always" or "odd" not in name:  # of odd rows as much may be left to test, which "hot" looks at
        assert counted(before)["kernels_specialized"] >= len(groups) // 2
    if how == "always":
        assert counted(before)["kernels_adopted"] == len(groups) // 2


def test_captured_meanwhile(cuda: str, groups: list[GpuGroup]) -> None:
    """A capture in this thread neither times anything nor is disturbed by a kernel that the background loads."""
    x, w = torch.randn(2048, 4096, device=cuda), torch.randn(4096, device=cuda)
    with torch.no_grad(), fusewright.options(disk_cache=False):
        f = torch.compile(norm, backend="fusewright")
        want = f(x, w)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            f(x, w)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(4):
                out = f(x, w)  # the last of them asks for the special kernel
            worker().submit(lambda: None).result()
            out = f(x, w)
        assert not decided(groups)
        out.zero_()
        graph.replay()
        torch.testing.assert_close(out, want, rtol=0, atol=0)
        assert torch.equal(f(x, w), want) and decided(groups)
        assert torch.equal(f(x, w), want)
        out.zero_()
        graph.replay()
        assert torch.equal(out, want)


def test_threads(cuda: str, groups: list[GpuGroup]) -> None:
    x, w = torch.randn(512, 1024, device=cuda), torch.randn(1024, device=cuda)
    with torch.no_grad():
        f = torch.compile(norm, backend="fusewright")
        want, wrong = f(x, w), []

        def run() -> None:
            with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(50):
                    out = f(x, w)
                    torch.cuda.current_stream().synchronize()
                    if not torch.equal(out, want):
                        wrong.append(out)

        threads = [threading.Thread(target=run) for _ in range(4)]
        torch.cuda.synchronize()
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        worker().submit(lambda: None).result()
        f(x, w)
    assert not wrong and decided(groups)
