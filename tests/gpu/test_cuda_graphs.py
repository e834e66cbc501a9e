"""Plans that run from CUDA graphs, on a GPU: the same numbers as without, over many steps and whatever else happens.

python -m pytest tests/gpu/test_cuda_graphs.py -s      # prints what became of each plan
"""

from __future__ import annotations

import copy
import gc
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fusewright
from fusewright.core.errors import FusewrightWarning
from fusewright.run import cuda_graphs
from fusewright.run.recorder import CudaRecorder
from tests.support import counted, counters, no_fallbacks

STEPS = 24  # enough for forward and backward plans to be recorded, one after the other
ON = {"cuda_graphs": True}
pytestmark = pytest.mark.usefixtures("cuda", "_settled")


@pytest.fixture
def _settled(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is recorded stays: times on a shared machine vary. Afterwards, what became of each plan."""
    monkeypatch.setattr(cuda_graphs, "SLOWER", 1e9)
    yield
    for name, text in cuda_graphs.status().items():
        print(f"\n  {name}: {text}", end="")
    torch._dynamo.reset()
    gc.collect()


class Attention(nn.Module):
    def __init__(self, width: int, dropout: float, inner: float):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dropout, self.inner = dropout, inner

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = (y.view(b, t, 4, c // 4).transpose(1, 2) for y in self.qkv(x).split(c, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.inner)
        return F.dropout(self.out(y.transpose(1, 2).reshape(b, t, c)), self.dropout, self.training)


class Decoder(nn.Module):
    def __init__(self, width: int = 128, layers: int = 1, dropout: float = 0.0, inner: float = 0.0):
        super().__init__()
        self.token = nn.Embedding(97, width)
        self.attention = nn.ModuleList(Attention(width, dropout, inner) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers))
        self.up = nn.ModuleList(nn.Linear(width, 4 * width) for _ in range(layers))
        self.down = nn.ModuleList(nn.Linear(4 * width, width) for _ in range(layers))
        self.head = nn.Linear(width, 97)

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        x = self.token(tokens)
        for k, attention in enumerate(self.attention):
            x = x + attention(self.norms[2 * k](x))
            x = x + self.down[k](F.gelu(self.up[k](self.norms[2 * k + 1](x))))
        return F.cross_entropy(self.head(x).flatten(0, 1).float(), targets.flatten())


def pair(model: nn.Module) -> tuple[list[nn.Module], list[Any]]:
    """Two copies, and what runs them: with graphs and without."""
    both: list[nn.Module] = [model, copy.deepcopy(model)]
    return both, [torch.compile(m, backend="fusewright", options=o) for m, o in zip(both, (ON, {}), strict=True)]


def tokens(batch: int, seed: int) -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    a, b = (torch.randint(97, (batch, 32), generator=g).cuda() for _ in range(2))
    return a, b


def train(batches: Callable[[int], int], steps: int, dtype: torch.dtype, accumulate: int = 1, **kwargs: Any) -> None:
    """Train with graphs, without, and (one layer, without dropout) eagerly, side by side."""
    torch.manual_seed(0)
    (m, n), calls = pair(Decoder(**kwargs).cuda().to(dtype))
    eager = copy.deepcopy(n)
    every: list[tuple[nn.Module, Any]] = [(m, calls[0]), (n, calls[1])]
    if not kwargs:
        every.append((eager, eager))
    optimizers = [torch.optim.AdamW(x.parameters(), lr=1e-3, fused=True) for x, _ in every]
    before = counters()
    losses: list[list[Tensor]] = [[] for _ in every]
    with no_fallbacks():
        for step in range(steps):
            for (_, call), optimizer, into in zip(every, optimizers, losses, strict=True):
                torch.manual_seed(step)
                optimizer.zero_grad()
                for part in range(accumulate):
                    loss = call(*tokens(batches(step), step * accumulate + part))
                    (loss / accumulate).backward()
                    into.append(loss.detach())
                optimizer.step()
    got = [torch.stack(x).float() for x in losses]
    tight = 1e-3 if dtype is torch.float32 else 3e-2
    for other in got[1:]:
        torch.testing.assert_close(got[0], other, rtol=tight, atol=tight)
    assert not torch.equal(got[0][:1], got[0][-1:])
    assert counted(before)["cuda_graphs_captured"] >= (0 if kwargs.get("inner") else 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_training(dtype: torch.dtype) -> None:
    train(lambda step: 4, STEPS, dtype, layers=2 if dtype is torch.bfloat16 else 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_training_with_dropout(dtype: torch.dtype) -> None:
    train(lambda step: 4, STEPS, dtype, dropout=0.2)


def test_attention_with_dropout() -> None:
    """Its seed is on the device only while it is recorded: nothing of it is, or the backward pass could not read it."""
    train(lambda step: 4, STEPS, torch.bfloat16, inner=0.2)


def test_batches_of_changing_size() -> None:
    train(lambda step: 2 + step % 3, 3 * STEPS, torch.float32)


def test_accumulated_gradients() -> None:
    train(lambda step: 4, STEPS, torch.float32, accumulate=3)


def chain(x: Tensor, w: Tensor) -> Tensor:
    for _ in range(8):
        x = torch.relu(x @ w).softmax(-1) + x
    return x


@pytest.mark.parametrize("size", [32, 1024])
def test_results_that_are_kept(size: int) -> None:
    """Small ones, which are copied, and large ones, which are not."""
    f = torch.compile(chain, backend="fusewright", options=ON)
    plain = torch.compile(chain, backend="fusewright", options={})
    w = torch.randn(size, size, device="cuda") / size
    kept, want, results = [], [], counters()
    with torch.no_grad():
        for step in range(2 * STEPS):
            x = torch.randn(size, size, device="cuda", generator=torch.Generator("cuda").manual_seed(step))
            kept.append(f(x, w))
            want.append(plain(x, w))
        for _ in range(STEPS):  # `y` is alive while the next one is computed
            y, z = f(x, w), plain(x, w)
            kept.append(y + 0)
            want.append(z + 0)
    for a, b in zip(kept, want, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    assert counted(results)["cuda_graphs_captured"] >= 1


def test_random_numbers_continue() -> None:
    """Numbers of graphs and of what runs between them are the same as without, and the generator ends in its place."""
    torch.manual_seed(0)
    m = nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.3), nn.GELU()) for _ in range(4))).cuda()
    (m, n), calls = pair(m)  # type: ignore[assignment]
    found = []
    for call, model in zip(calls, (m, n), strict=True):
        torch.manual_seed(3)
        x = torch.ones(16, 64, device="cuda")
        outs = []
        for _ in range(STEPS):
            y = call(x)
            y.sum().backward()
            outs += [y.detach().clone(), torch.rand(2, device="cuda")]
        outs.append(torch.cuda.get_rng_state())
        found.append(outs + [p.grad for p in model.parameters()])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


def test_weights_that_move_and_arguments_in_place() -> None:
    f = torch.compile(chain, backend="fusewright", options=ON)
    w = torch.randn(64, 64, device="cuda") / 8
    x = torch.randn(16, 64, device="cuda")
    kept = []
    with torch.no_grad():
        for step in range(3 * STEPS):
            if step % STEPS == STEPS - 1:
                kept.append(w)
                w = torch.randn(64, 64, device="cuda") / 8
            w.mul_(0.99)
            x.add_(0.01)
            torch.testing.assert_close(f(x, w), chain(x, w), rtol=1e-4, atol=1e-4)


def test_streams_and_recordings_of_the_callers_own() -> None:
    f = torch.compile(chain, backend="fusewright", options=ON)
    w, x = torch.randn(64, 64, device="cuda") / 8, torch.randn(16, 64, device="cuda")
    side = torch.cuda.Stream()
    with torch.no_grad():
        want = chain(x, w)
        for step in range(2 * STEPS):
            with torch.cuda.stream(side if step % 2 else torch.cuda.current_stream()):
                side.wait_stream(torch.cuda.default_stream())
                got = f(x, w)
                torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
        graph, y = torch.cuda.CUDAGraph(), torch.empty_like(want)
        with torch.cuda.graph(graph):
            y.copy_(f(x, w))
        x.add_(1)
        graph.replay()
        torch.testing.assert_close(y, chain(x, w), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("how", ["synchronizes", "raises"])
def test_a_recording_that_fails(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One warning; the plan runs without, and random numbers, memory and later recordings are as before."""
    record = CudaRecorder.record

    def broken(self: CudaRecorder, run: Any, args: list[Any]) -> Any:
        def bad(given: list[Any]) -> list[Any]:
            out = run(given)
            if how == "raises":
                raise ValueError("half-way")
            return [t + t.sum().item() for t in out]

        return record(self, bad, args)

    monkeypatch.setattr(CudaRecorder, "record", broken)
    w, x = torch.randn(64, 64, device="cuda") / 8, torch.randn(16, 64, device="cuda")
    f = torch.compile(lambda x, w: F.dropout(chain(x, w), 0.0), backend="fusewright", options=ON)
    with torch.no_grad(), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(STEPS):
            torch.testing.assert_close(f(x, w), chain(x, w), rtol=1e-4, atol=1e-4)
    assert sum(issubclass(s.category, FusewrightWarning) for s in seen) == 1
    monkeypatch.undo()
    torch.manual_seed(1)
    a = torch.nn.functional.dropout(x, 0.5) + torch.rand_like(x)
    torch.manual_seed(1)
    assert torch.equal(a, torch.nn.functional.dropout(x, 0.5) + torch.rand_like(x))
    before = counters()
    g = torch.compile(lambda x, w: chain(x, w) * 2, backend="fusewright", options=ON)
    with torch.no_grad():
        for _ in range(STEPS):
            torch.testing.assert_close(g(x, w), chain(x, w) * 2, rtol=1e-4, atol=1e-4)
    assert counted(before)["cuda_graphs_captured"] == 1


def test_fused_functions() -> None:
    f = fusewright.fuse(chain, cuda_graphs=True)
    w = (torch.randn(64, 64, device="cuda") / 8).requires_grad_()
    before = counters()
    for step in range(2 * STEPS):
        x = torch.randn(8 + 8 * (step % 2), 64, device="cuda")
        got, want = f(x, w), chain(x, w)
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
        (a,), (b,) = torch.autograd.grad(got.sum(), w), torch.autograd.grad(want.sum(), w)
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)
    assert counted(before)["cuda_graphs_captured"] >= 2
