"""What only a real device can show: streams, graphs, several devices, memory, large tensors."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests import distributed_training
from tests.support import no_fallbacks


def norm(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(torch.sin(x) + y, x.shape[-1:])


def pair(device: str, n: int = 1000, m: int = 512) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(n, m, device=device), torch.randn(n, m, device=device)


def test_the_current_stream_is_used(cuda: str) -> None:
    compiled = torch.compile(norm, backend="fusewright")
    x, y = pair(cuda)
    compiled(x, y)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)
        x.fill_(1.0)
        out = compiled(x, y)
    side.synchronize()
    torch.testing.assert_close(out, norm(x, y))


@pytest.mark.parametrize("own", [True, False])
def test_the_thread_of_the_backward_pass(cuda: str, own: bool) -> None:
    """The caller's with one GPU, autograd's with several or without the switch; the same gradients in each."""
    x, y = (t.requires_grad_() for t in pair(cuda))
    want = torch.autograd.grad(norm(x, y).square().sum(), (x, y))
    seen: list[int] = []
    got: list[torch.Tensor] = []

    def run() -> None:
        with fusewright.options(own_thread=own):
            out = fusewright.fuse(norm)(x, y)
        seen.append(threading.get_ident())
        out.register_hook(lambda g: seen.append(threading.get_ident()))
        got.extend(torch.autograd.grad(out.square().sum(), (x, y)))

    thread = threading.Thread(target=run)  # its state is its own
    thread.start()
    thread.join()
    torch.testing.assert_close(tuple(got), want, rtol=1e-4, atol=1e-4)
    caller, hook = seen
    assert (hook == caller) is (own and torch.cuda.device_count() == 1)


def test_capture_in_a_graph(cuda: str) -> None:
    compiled = torch.compile(lambda x, y: (norm(x, y), (x * y).sum(0), (x + y).sum()), backend="fusewright")
    plain = lambda x, y: (norm(x, y), (x * y).sum(0), (x + y).sum())
    x, y = pair(cuda)
    with torch.no_grad():
        for _ in range(3):
            compiled(x, y)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = compiled(x, y)
        for _ in range(3):
            x.normal_()
            y.normal_()
            graph.replay()
            for a, b in zip(out, plain(x, y), strict=True):
                torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-3)


def test_graphed_callables(cuda: str) -> None:
    layer = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64)).to(cuda)
    sample = torch.randn(32, 64, device=cuda, requires_grad=True)
    compiled = torch.compile(layer, backend="fusewright")
    graphed = torch.cuda.make_graphed_callables(compiled, (sample,))
    x = torch.randn(32, 64, device=cuda, requires_grad=True)
    graphed(x).sum().backward()
    want = x.grad.clone()
    x.grad = None
    layer(x).sum().backward()
    torch.testing.assert_close(want, x.grad, rtol=1e-4, atol=1e-4)


def sums(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return x.sum(), x.sum(0), (x * 2).sum(1)


def test_last_blocks_of_several_streams(cuda: str) -> None:
    """Blocks count themselves, on each stream and in each recording on their own."""
    compiled = torch.compile(sums, backend="fusewright")
    xs = [torch.randint(0, 9, (40, 40000), device=cuda).float() for _ in range(4)]
    wanted = [sums(x) for x in xs]
    streams = [torch.cuda.Stream() for _ in range(4)]
    compiled(xs[0])
    recorded = []
    for x in xs[:2]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = compiled(x)
        recorded.append((graph, out))
    for _ in range(20):
        got = []
        for stream, x in zip(streams, xs, strict=True):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                got.append(compiled(x))
        for stream, (graph, _) in zip(streams, recorded, strict=False):
            with torch.cuda.stream(stream):
                graph.replay()
        torch.cuda.synchronize()
        for out, want in zip([*got, *(o for _, o in recorded)], [*wanted, *wanted[:2]], strict=True):
            for a, b in zip(out, want, strict=True):
                assert torch.equal(a, b)


def test_several_devices(cuda: str) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two devices")
    compiled = torch.compile(norm, backend="fusewright")
    for device in ("cuda:1", "cuda:0", "cuda:1"):
        x, y = pair(device)
        torch.testing.assert_close(compiled(x, y), norm(x, y))
        assert torch.cuda.current_device() == 0
    apart = torch.compile(lambda x, y: (torch.sin(x) * 2, torch.cos(y) * 2), backend="fusewright")
    x, y = torch.randn(1000, device="cuda:0"), torch.randn(1000, device="cuda:1")
    for got, want in zip(apart(x, y), (torch.sin(x) * 2, torch.cos(y) * 2), strict=True):
        torch.testing.assert_close(got, want)
        assert got.device == want.device
    assert torch.cuda.current_device() == 0


def test_out_of_memory_leaves_a_working_state(cuda: str) -> None:
    f = lambda x: torch.sin(x[:, None] + x[None, :]) * 2
    compiled = torch.compile(f, backend="fusewright", dynamic=True)
    small = torch.randn(100, device=cuda)
    compiled(small)
    with pytest.raises(torch.OutOfMemoryError):
        compiled(torch.randn(400_000, device=cuda))
    torch.testing.assert_close(compiled(small), f(small))


def test_more_than_two_to_the_31_elements(cuda: str) -> None:
    f = lambda x: (x * 2 + 1).to(torch.uint8)
    x = torch.ones((1 << 31) + 12345, dtype=torch.uint8, device=cuda)
    with no_fallbacks():
        out = torch.compile(f, backend="fusewright")(x)
    assert out[-1].item() == 3 and int((out != 3).sum()) == 0


def test_an_index_out_of_range_is_an_error(cuda: str) -> None:
    """As eager's device-side assertion: in a process of its own, because the context is lost."""
    import subprocess
    import sys

    code = (
        "import torch\n"
        "f = torch.compile(lambda w, i: w[i] * 2, backend='fusewright')\n"
        "w = torch.randn(10, 8, device='cuda')\n"
        "f(w, torch.tensor([1, 2], device='cuda'))\n"
        "f(w, torch.tensor([1, 10], device='cuda')); torch.cuda.synchronize()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode != 0 and "CUDA error" in done.stderr


def test_threads(cuda: str) -> None:
    compiled = torch.compile(norm, backend="fusewright")
    x, y = pair(cuda)
    with torch.no_grad():
        compiled(x, y)  # while one thread traces, PyTorch refuses calls of others
    want = norm(x, y)
    wrong: list[object] = []

    def work() -> None:
        try:
            with torch.cuda.stream(torch.cuda.Stream()), torch.no_grad():
                for _ in range(100):
                    if not torch.allclose(compiled(x, y), want, atol=1e-5):
                        wrong.append("other numbers")
        except BaseException as e:
            wrong.append(e)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert not wrong


def test_a_thread_that_has_not_used_the_device(cuda: str) -> None:
    """Autograd's are such threads: they have no context until a call of the CUDA runtime gives them one."""
    compiled = torch.compile(norm, backend="fusewright")
    x, y = pair(cuda)
    want, got = compiled(x, y), []
    for _ in range(2):
        with no_fallbacks():
            worker = threading.Thread(target=lambda: got.append(compiled(x, y)))
            worker.start()
            worker.join()
    assert len(got) == 2 and all(torch.equal(g, want) for g in got)


def test_kernels_come_from_disk_in_another_process(cuda: str) -> None:
    import os
    import subprocess
    import sys

    code = (
        "import torch, fusewright\n"
        "f = torch.compile(lambda x: torch.softmax(x.sin(), -1), backend='fusewright')\n"
        "f(torch.randn(64, 512, device='cuda'))\n"
        "print(fusewright.counters()['kernels_compiled'])\n"
    )
    runs = [subprocess.check_output([sys.executable, "-c", code], env=os.environ, text=True) for _ in range(2)]
    assert int(runs[1].split()[-1]) == 0
    assert fusewright.counters() is not None


@pytest.mark.skipif(torch.cuda.device_count() < distributed_training.WORLD, reason="needs two GPUs")
@pytest.mark.parametrize("way", distributed_training.WAYS)
def test_two_gpus_together(way: str, tmp_path: Path) -> None:
    distributed_training.together(way, tmp_path, "cuda")
