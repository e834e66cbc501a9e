"""Values of rows, or of channels, that are reduced to one number, on a GPU: which kernels there are, and that what runs
is eager's.

The kernels are emulated on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.debug import record
from fusewright.schedule import apart
from fusewright.schedule.device import Gpu
from fusewright.schedule.gpu_base import GpuSchedule
from tests.emulate.cuda import COMPILER
from tests.emulate.driver import SMALL, emulated_gpu
from tests.support import clone_like

pytestmark = pytest.mark.skipif(not COMPILER, reason="no C++ compiler")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small tensors are cut as large ones are."""
    monkeypatch.setattr(apart, "LEAST", 1)
    monkeypatch.setattr(apart, "SCATTERED", 1)
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.float()


def entropy(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    logs = torch.log_softmax(wide(x), dim)
    return -(logs.exp() * logs).sum(dim).mean()


def divergence(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x, y = (F.log_softmax(wide(v), -1) for v in (x, y))
    return F.kl_div(x, y, reduction="batchmean", log_target=True)


def channel_norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    mean = x.mean(1, keepdim=True)
    scale = ((x - mean).square().mean(1, keepdim=True) + 1e-5).rsqrt()
    return (x - mean) * scale * w[:, None, None]


def drawn(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def ran(fn: Callable[..., Any], *inputs: tuple[torch.Tensor, ...], gpu: Gpu = SMALL) -> tuple[Any, list[GpuSchedule]]:
    """The results for some inputs, and the schedules of the kernels."""
    with emulated_gpu(gpu), fusewright.options(disk_cache=False, fallback=False):
        with record.recording() as graphs, torch.no_grad():
            compiled = torch.compile(fn, backend="fusewright")
            out = torch.stack([compiled(*clone_like(args)) for args in inputs])
    plans = [g.plan.gpu for graph in graphs for g in graph.groups]
    return out, [p.schedule for p in plans if p is not None and p.schedule is not None]


def close(fn: Callable[..., Any], got: torch.Tensor, *inputs: tuple[torch.Tensor, ...]) -> None:
    """No further from float64 than eager is, by mean squares: a single number may be right by chance."""
    want = torch.stack([fn(*args) for args in inputs])
    exact = torch.stack([fn(*(a.double() for a in args)) for args in inputs])
    assert got.dtype == want.dtype and got.shape == want.shape
    error, theirs = (float((t.double() - exact).square().mean().sqrt()) for t in (got, want))
    assert error <= 1.5 * theirs + torch.finfo(want.dtype).eps * float(exact.square().mean().sqrt()), (error, theirs)


def several(fn: Callable[..., Any], *shape: int, dtype: torch.dtype = torch.float32) -> list[tuple[torch.Tensor, ...]]:
    both = [(drawn(*shape, dtype=dtype, seed=k), 3 * drawn(*shape, dtype=dtype, seed=k + 99)) for k in range(8)]
    return [x[:1] for x in both] if fn is entropy else list(both)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(9, 40), (300, 7), (1, 64), (70, 129), (5, 3000)])
@pytest.mark.parametrize("fn", [entropy, divergence])
def test_rows_have_blocks_of_their_own(fn: Callable[..., Any], shape: tuple[int, int], dtype: torch.dtype) -> None:
    inputs = several(fn, *shape, dtype=dtype)
    got, schedules = ran(fn, *inputs)
    close(fn, got, *inputs)
    if shape[1] > 100:  # shorter ones have too little for a block
        assert [(s.mode, s.resident) for s in schedules] == [("persistent", False)]


def test_not_numbers() -> None:
    x = drawn(20, 33)
    for value in (float("nan"), float("inf"), float("-inf")):
        x[3, 5] = value
        got, _ = ran(entropy, (x,))
        torch.testing.assert_close(got[0], entropy(x), equal_nan=True)


def test_other_sizes_of_a_traced_program() -> None:
    """Rows of other lengths, few and none, through one graph."""
    with emulated_gpu(SMALL), fusewright.options(disk_cache=False, fallback=False), torch.no_grad():
        fn = torch.compile(divergence, backend="fusewright", dynamic=True)
        for shape in ((12, 50), (3, 2000), (700, 4), (40, 129), (2, 20_000)):
            inputs = several(divergence, *shape)
            close(divergence, torch.stack([fn(*args) for args in inputs]), *inputs)


@pytest.mark.parametrize("shape", [(3, 19, 8, 12), (2, 70, 5, 7), (40, 64)])
def test_values_of_channels_are_reduced_by_another_kernel(shape: tuple[int, ...]) -> None:
    """Threads are side by side along what is contiguous in both."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        return entropy(x, x.dim() // 4)

    inputs = several(entropy, *shape)
    got, schedules = ran(fn, *inputs)
    close(fn, got, *inputs)
    assert len(schedules) == 2 and schedules[0].vector in schedules[0].rows and not schedules[0].resident


def test_little_is_one_kernel_of_known_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another launch costs more than reading single elements; of sizes that change, others may be larger."""
    monkeypatch.setattr(apart, "SCATTERED", 1 << 20)
    x = drawn(3, 19, 8, 12)
    assert len(ran(lambda x: entropy(x, 1), (x,))[1]) == 1
    torch._dynamo.reset()
    with emulated_gpu(SMALL), fusewright.options(disk_cache=False, fallback=False), record.recording() as graphs:
        with torch.no_grad():
            torch.compile(lambda x: entropy(x, 1), backend="fusewright", dynamic=True)(x)
    assert len(graphs[0].groups) == 2


def test_gradients_of_a_norm_over_channels() -> None:
    def gradients(x: torch.Tensor, w: torch.Tensor, g: torch.Tensor) -> tuple[torch.Tensor, ...]:
        with torch.enable_grad():
            x, w = x.requires_grad_(), w.requires_grad_()
            return torch.autograd.grad(channel_norm(x, w), (x, w), g)

    x, w, g = drawn(3, 24, 6, 10), drawn(24), drawn(3, 24, 6, 10).flip(0)
    with emulated_gpu(SMALL), fusewright.options(disk_cache=False, fallback=False), record.recording() as graphs:
        got = torch.compile(gradients, backend="fusewright")(*clone_like((x, w, g)))
    for k, result in enumerate(got):
        close(lambda *args, k=k: gradients(*clone_like(args))[k], result[None], (x, w, g))
    for graph in graphs:
        for p in graph.groups:
            s = p.plan.gpu.schedule if p.plan.gpu is not None else None
            assert s is None or s.vector, "no kernel reads single elements"


@pytest.mark.parametrize("fn", [entropy, divergence])
def test_few_long_rows_are_cut_over_blocks(fn: Callable[..., Any]) -> None:
    """Statistics of rows, then what is made of them: one block for each row would leave most of a GPU idle."""
    inputs = several(fn, 2, 300_000)[:3]
    got, schedules = ran(fn, *inputs, gpu=replace(SMALL, sms=16))
    close(fn, got, *inputs)
    assert [s.mode for s in schedules[:2]] == ["split", "split"] and len(schedules) == (3 if fn is entropy else 2)
