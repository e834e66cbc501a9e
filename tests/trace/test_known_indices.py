"""Indices that are known while tracing: views and sums in their place, with eager's results and strides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx

import fusewright
from fusewright.debug import record
from fusewright.trace.known_indices import follow_known_indices
from tests.emulate.driver import emulated_gpu

aten = torch.ops.aten
GATHERS = ("aten.index.Tensor", "aten._unsafe_index.Tensor", "aten.index_put.default", "aten._unsafe_index_put.default")


def up(**kwargs: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: torch.tanh(F.interpolate(torch.sin(x), mode="nearest", **kwargs))


def compare(f: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, viewed: bool = True, gpu: bool = True) -> None:
    if gpu:
        with emulated_gpu():
            return compare(f, x, viewed, False)
    torch._dynamo.reset()
    x = x.clone().requires_grad_()
    want = f(x)
    (grad,) = torch.autograd.grad(want.float().square().sum(), x)
    report = fusewright.explain(torch.compile(f, backend="fusewright"), x)
    found = [o.target for g in report.graphs for o in g.operations if o.target in GATHERS]
    assert (not found) == viewed
    torch._dynamo.reset()
    with fusewright.options(fallback=False):
        got = torch.compile(f, backend="fusewright")(x)
        (mine,) = torch.autograd.grad(got.float().square().sum(), x)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(mine, grad)
    assert got.stride() == want.stride()


@pytest.mark.every(6)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("factor", [2, 3, (1, 2)])
def test_upsampling(factor: Any, dtype: torch.dtype, last: bool) -> None:
    x = torch.randn(2, 5, 4, 3, dtype=dtype)
    compare(up(scale_factor=factor), x.contiguous(memory_format=torch.channels_last) if last else x)


@pytest.mark.parametrize("shape", [(2, 3, 7), (1, 2, 3, 1, 2)])
def test_other_ranks(shape: tuple[int, ...]) -> None:
    compare(up(scale_factor=2), torch.randn(shape))


def test_to_a_size() -> None:
    compare(up(size=(8, 15)), torch.randn(1, 2, 4, 3))
    compare(up(size=(7, 6)), torch.randn(1, 2, 4, 3), viewed=False)
    compare(up(size=(2, 3)), torch.randn(1, 2, 4, 3))
    compare(up(size=(3, 3)), torch.randn(1, 2, 8, 3), viewed=False)  # rows 0, 2, 5


def test_many_of_a_window_are_a_reduction() -> None:
    compare(up(scale_factor=5), torch.randn(1, 2, 3, 4))


def test_on_a_cpu() -> None:
    """Channels that are neighbours in memory move in vectors; single elements that are repeated are gathered."""
    x = torch.randn(2, 5, 4, 3)
    compare(up(scale_factor=2), x.contiguous(memory_format=torch.channels_last), gpu=False)
    compare(up(scale_factor=2), x, viewed=False, gpu=False)
    compare(up(scale_factor=(2, 1)), x, gpu=False)


def test_an_index_of_the_programs_own() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(12) // 3
        return torch.sin(x)[:, rows] * 2

    compare(f, torch.randn(3, 4, 5))


@pytest.mark.parametrize(
    "index",
    [
        lambda x: torch.arange(8) % 4,
        lambda x: torch.arange(8) // 4,
        lambda x: torch.arange(8) // 2 - 4,
        lambda x: (torch.arange(8) // 2).clamp(max=2),
        lambda x: (torch.arange(8) // 2) + (x[0, 0, 0] > 1e9),
        lambda x: torch.arange(8).view(4, 2) // 2,
    ],
    ids=["tiled", "in part", "negative", "another operation", "of data", "of two dimensions"],
)
def test_other_indices_stay(index: Callable[[torch.Tensor], torch.Tensor]) -> None:
    compare(lambda x: torch.sin(x)[:, index(x)] * 2, torch.randn(3, 4, 5), viewed=False)


def test_positions_that_are_apart_stay() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        i = torch.arange(8) // 2
        return torch.sin(x)[i, :, i] * 2

    compare(f, torch.randn(4, 3, 4), viewed=False)


def test_what_is_put_into_other_values_stays() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.ones(4, 3).index_put((torch.arange(8) // 2,), torch.sin(x), accumulate=True)

    compare(f, torch.randn(8, 3), viewed=False)


def test_switched_off() -> None:
    with fusewright.options(known_indices=False):
        compare(up(scale_factor=2), torch.randn(1, 2, 3, 4), viewed=False)


def test_sizes_that_vary() -> None:
    with emulated_gpu():
        f = torch.compile(up(scale_factor=2), backend="fusewright", dynamic=True)
        for size in ((3, 4), (5, 2)):
            x = torch.randn(2, 3, *size)
            torch.testing.assert_close(f(x), up(scale_factor=2)(x))


def rows_of(start: int, end: int, step: int) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: x.sin()[:, torch.arange(start, end, step, device=x.device)] * 2


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("step", [1, 2, 3, 7])
def test_every_nth(step: int, last: bool) -> None:
    x = torch.randn(2, 15, 4, 3)
    compare(rows_of(1, 15, step), x.contiguous(memory_format=torch.channels_last) if last else x)
    both = lambda x: x.cos()[:, :, torch.arange(0, 4, 2)[:, None], torch.arange(1, 3)] * 2
    compare(both, x, gpu=False)


def test_what_is_not_every_nth() -> None:
    x = torch.randn(2, 15, 4)
    compare(lambda x: x.sin()[:, torch.arange(5) - 3] * 2, x, viewed=False, gpu=False)  # from the end, in part
    compare(lambda x: x.sin()[:, 14 - torch.arange(5)] * 2, x, viewed=False, gpu=False)
    compare(lambda x: x.sin()[torch.arange(2), torch.arange(2)] * 2, x, viewed=False, gpu=False)  # a diagonal
    compare(lambda x: x.sin()[:, torch.arange(3) * 0] * 2, x, viewed=False, gpu=False)


def test_one_operator_in_the_place_of_another() -> None:
    """The graph's code is made anew, although it has as many operators."""

    def f(g: torch.Tensor) -> torch.Tensor:
        return aten.index_put.default(g.new_zeros(6, 3), [torch.arange(0, 6, 2)], g, True)

    g = torch.randn(3, 3)
    gm = make_fx(f, tracing_mode="fake")(g)
    follow_known_indices(gm)
    assert "index_put" not in gm.code and "zeros" not in gm.code and torch.equal(gm(g), f(g))


def test_a_slice_is_a_copy() -> None:
    """As what an index takes is: writing to it leaves the input alone."""
    f = lambda x: x[torch.arange(0, 4)]
    x = torch.randn(6, 3)
    with fusewright.options(fallback=False):
        got = torch.compile(f, backend="fusewright")(x)
    assert got.untyped_storage().data_ptr() != x.untyped_storage().data_ptr() and torch.equal(got, f(x))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "area", "nearest-exact"])
@pytest.mark.parametrize("factor", [0.5, 0.25, 1 / 3])
def test_smaller_images(mode: str, factor: float) -> None:
    f = lambda x: F.interpolate(x.sin(), scale_factor=factor, mode=mode) * 2
    x = torch.randn(2, 3, 24, 36)
    with fusewright.options(fallback=False):
        got = torch.compile(f, backend="fusewright")(x)
    torch.testing.assert_close(got, f(x))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("channels", [1, 3, 16])
def test_gradients_of_larger_images_with_channels_last(mode: str, channels: int) -> None:
    """Channels are the lanes of what is added up, if there are any."""
    f = lambda x: F.interpolate(x.sin(), scale_factor=2, mode=mode, align_corners=False)
    torch._dynamo.reset()
    x = torch.randn(2, channels, 33, 35).contiguous(memory_format=torch.channels_last).requires_grad_()
    with fusewright.options(fallback=False), record.recording() as graphs:
        got = torch.compile(f, backend="fusewright")(x)
        (mine,) = torch.autograd.grad(got.square().sum(), x)
    want = f(x)
    torch.testing.assert_close(got, want)
    assert got.stride() == want.stride()
    torch.testing.assert_close(mine, torch.autograd.grad(want.square().sum(), x)[0], rtol=1e-4, atol=1e-4)
    scatters = [s for graph in graphs for g in graph.groups if (s := g.plan.schedule).family == "scatter"]
    assert scatters and all(bool(s.vector) == (channels > 1) for s in scatters)
