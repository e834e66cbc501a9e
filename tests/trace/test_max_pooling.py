"""Max pooling as elementwise operations: eager's results to the bit, indices, gradients, strides, errors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import fusewright
from fusewright.debug import record
from fusewright.debug.dynamo import Facts
from fusewright.debug.report import make
from fusewright.run import devices

pytestmark = pytest.mark.usefixtures("either")

LAST = torch.channels_last


def random(*shape: int, dtype: torch.dtype = torch.float32, last: bool = False) -> torch.Tensor:
    """With few different numbers, so that there are equal ones in a window."""
    x = torch.randint(-4, 4, shape, generator=torch.Generator().manual_seed(0)).to(dtype)
    return x.contiguous(memory_format=LAST) if last else x


def left(fn: Any, *args: Any) -> list[str]:
    """What runs as an operation of torch's."""
    with record.recording() as recorded:
        torch.compile(fn, backend="fusewright")(*args)
    torch._dynamo.reset()
    return pools(recorded)


def pools(recorded: record.Recording) -> list[str]:
    return [o.target for g in make("", recorded, Facts(), {}).graphs for o in g.operations if "pool" in o.target]


def compare(x: torch.Tensor, *args: Any, opened: bool = True, pool: Any = F.max_pool2d, **kwargs: Any) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return pool(x * 2, *args, **kwargs) + 1

    def both(fn: Any) -> tuple[torch.Tensor, torch.Tensor]:
        out = fn(x)
        weight = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).view(out.shape).to(out.dtype)
        return out, torch.autograd.grad((out * weight).sum(), x)[0]

    torch._dynamo.reset()
    x = x.clone().requires_grad_()
    with record.recording() as recorded:
        results = both(torch.compile(f, backend="fusewright"))
    stays = [t for t in pools(recorded) if "backward" not in t or devices.driver_for(x.device) is not None]
    assert (stays == []) == opened  # some gradients are torch's scatter on a CPU
    for got, want in zip(results, both(f), strict=True):
        torch.testing.assert_close(got, want, rtol=0, atol=0)
        assert got.stride() == want.stride()


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_size": 2},
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": 3, "stride": 1, "padding": 1},
        {"kernel_size": (2, 3), "stride": (3, 1), "padding": (1, 0)},
        {"kernel_size": 3, "stride": 2, "ceil_mode": True},
        {"kernel_size": 2, "stride": 5},
        {"kernel_size": 1, "stride": 2},
        {"kernel_size": (1, 5), "stride": (1, 4), "padding": (0, 2)},
    ],
)
def test_windows_of_all_kinds(arguments: dict[str, Any]) -> None:
    compare(random(2, 3, 8, 9), **arguments)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_channels_last(dtype: torch.dtype) -> None:
    compare(random(2, 3, 8, 9, dtype=dtype, last=True), 3, 2, 1)
    compare(random(2, 8, 8, 9, dtype=dtype, last=True), 2, 1)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gradients_are_added_up_in_float32(dtype: torch.dtype) -> None:
    """An element that is the largest of several windows: their sum is rounded once."""

    def f(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        return torch.autograd.grad(F.max_pool2d(x, 3, 1, 1), x, g)[0]

    x = torch.zeros(1, 2, 7, 7, dtype=dtype)
    x[:, :, 2, 3] = x[:, :, 5, 5] = 1
    x.requires_grad_()
    g = torch.rand(1, 2, 7, 7, generator=torch.Generator().manual_seed(1)).to(dtype)
    exact = f(x.detach().double().requires_grad_(), g.double()).to(dtype)
    out = torch.compile(lambda x: F.max_pool2d(x + 0, 3, 1, 1), backend="fusewright")(x)
    torch.testing.assert_close(torch.autograd.grad(out, x, g)[0], exact, rtol=0, atol=0)


@pytest.mark.every(2)
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_small_operands(size: int) -> None:
    compare(random(1, 1, size, 1), 3, 2, 1)
    compare(random(1, 2, size, size), 4, 1, 2)


def test_without_a_batch() -> None:
    compare(random(3, 4, 6), 2)


def test_one_and_three_dimensions() -> None:
    compare(random(2, 3, 11), 3, 2, 1, pool=F.max_pool1d)
    compare(random(2, 3, 4, 5, 6), 2, 1, 1, pool=F.max_pool3d)
    compare(random(2, 3, 5, 5, 5), 3, 2, 1, pool=F.max_pool3d)


@pytest.mark.parametrize("arguments", [(6,), (3, 1, 0, 2), (3, 2, 1, 2)])
def test_what_stays_whole(arguments: tuple[int, ...]) -> None:
    """Large windows, and those with holes."""
    compare(random(2, 3, 9, 9), *arguments, opened=False)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_indices(training: bool, last: bool) -> None:
    """As the program gets them, also where nothing asks for a gradient, and with it."""

    def f(x: torch.Tensor) -> Any:
        return F.max_pool2d(x, 3, 2, 1, return_indices=True)

    x = random(2, 3, 8, 9, last=last).requires_grad_(training)
    got, want = torch.compile(f, backend="fusewright")(x), f(x)
    for a, e in zip(got, want, strict=True):
        torch.testing.assert_close(a, e, rtol=0, atol=0)
        assert a.stride() == e.stride()
    if training:
        (a,), (e,) = (torch.autograd.grad(y.square().sum(), x) for y, _ in (got, want))
        torch.testing.assert_close(a, e)


def test_indices_go_back() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        y, at = F.max_pool2d(x.sin(), 2, return_indices=True)
        return F.max_unpool2d(y * 2, at, 2).cos()

    x = torch.randn(2, 3, 8, 6)
    torch.testing.assert_close(torch.compile(f, backend="fusewright")(x), f(x))


@pytest.mark.parametrize("last", [False, True])
def test_special_values(last: bool) -> None:
    """The last NaN of a window wins, minus infinity is found, zeros of both signs are equal."""
    x = random(1, 2, 8, 8, last=last)
    x[0, 0, 1, 1], x[0, 0, 2, 2], x[0, 0, 6, 6] = torch.nan, torch.nan, torch.inf
    x[0, 1, :5, :] = -torch.inf
    x[0, 1, 5:, 4:] = torch.tensor([0.0, -0.0, 0.0, -0.0])

    def f(x: torch.Tensor) -> Any:
        y, at = F.max_pool2d(x, 3, 2, 1, return_indices=True)
        return y + 0, at, y.signbit()

    x.requires_grad_()
    got, want = torch.compile(f, backend="fusewright")(x), f(x)
    for a, e in zip(got, want, strict=True):
        torch.testing.assert_close(a, e, rtol=0, atol=0, equal_nan=True)
    (a,), (e,) = (torch.autograd.grad(y[0].sum(), x) for y in (got, want))
    torch.testing.assert_close(a, e, rtol=0, atol=0)


def test_a_byte_is_saved_for_the_backward_pass() -> None:
    saved: list[torch.Tensor] = []

    def pack(t: torch.Tensor) -> torch.Tensor:
        saved.append(t)
        return t

    f = torch.compile(lambda x: F.max_pool2d(x.exp(), 3, 2, 1).sin(), backend="fusewright")
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(random(2, 3, 8, 8).requires_grad_())
    assert torch.int64 not in {t.dtype for t in saved}
    assert [t.shape for t in saved if t.dtype is torch.int8] == [(2, 3, 4, 4)]


def test_checkpointed() -> None:
    """What is computed again is as the program says."""

    def part(x: torch.Tensor) -> torch.Tensor:
        return F.max_pool2d(x.sin(), 3, 2, 1).cos()

    def f(x: torch.Tensor) -> torch.Tensor:
        return checkpoint(part, x * 2, use_reentrant=False).square()

    x = torch.randn(2, 3, 8, 9, requires_grad=True)
    got, want = (torch.autograd.grad(fn(x).sum(), x)[0] for fn in (torch.compile(f, backend="fusewright"), f))
    torch.testing.assert_close(got, want)


def test_sizes_that_vary() -> None:
    f = torch.compile(lambda x: F.max_pool2d(x * 2, 2) + 1, backend="fusewright", dynamic=True)
    for n in (4, 6, 7):
        x = random(2, 3, n, n + 1)
        torch.testing.assert_close(f(x), F.max_pool2d(x * 2, 2) + 1, rtol=0, atol=0)


@pytest.mark.parametrize("arguments", [(2, 2, 2), (9,), (0,)])
def test_errors_are_eagers(arguments: tuple[int, ...]) -> None:
    x = torch.randn(1, 1, 4, 4)
    with pytest.raises(RuntimeError) as want:
        F.max_pool2d(x, *arguments)
    with pytest.raises(Exception) as got:
        torch.compile(lambda x: F.max_pool2d(x + 1, *arguments), backend="fusewright")(x)
    assert str(want.value).split("\n")[0][:40] in str(got.value)


def test_the_option() -> None:
    x = random(1, 2, 6, 6)
    with fusewright.options(max_pooling=False):
        assert left(lambda x: F.max_pool2d(x * 2, 2) + 1, x) == ["aten.max_pool2d_with_indices.default"]


VOLUMES = torch.channels_last_3d


def adaptive(x: torch.Tensor, size: Any, opened: bool = True) -> None:
    """Values, positions, strides and gradients are eager's, with and without a gradient."""
    rank = len(size)
    pool = getattr(F, f"adaptive_max_pool{rank}d")

    def values(x: torch.Tensor) -> Any:
        return (pool(x * 2, size) * 2,)

    def both(x: torch.Tensor) -> Any:
        y, at = pool(x * 2, size, return_indices=True)
        return y * 2, at

    def run(fn: Any, x: torch.Tensor) -> list[torch.Tensor]:
        out = list(fn(x))
        if x.requires_grad:
            weight = torch.linspace(-1, 1, out[0].numel(), dtype=torch.float64).view(out[0].shape).to(x.dtype)
            out += torch.autograd.grad(out[0], x, weight)
        return out

    for f in (values, both):
        for training in (False, True):
            torch._dynamo.reset()
            operand = x.clone().requires_grad_(training)
            with record.recording() as recorded:
                results = run(torch.compile(f, backend="fusewright"), operand)
            if opened or training:
                assert (pools(recorded) == []) == opened
            for got, want in zip(results, run(f, operand), strict=True):
                torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
                assert got.stride() == want.stride()


@pytest.mark.every(3)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((2, 8, 8, 6), (4, 3)),
        ((2, 8, 3, 3), (1, 1)),
        ((2, 8, 16, 16), (2, 2)),
        ((2, 8, 15, 15), (3, 3)),
        ((2, 8, 16, 12), (1, 1)),
        ((1, 8, 16, 24), (4, 1)),
        ((2, 8, 30, 4), (1, 4)),
        ((2, 8, 4, 4, 6), (2, 2, 3)),
        ((2, 8, 4, 4, 12), (1, 2, 2)),
        ((2, 8, 4, 5, 6), (1, 1, 1)),
    ],
)
def test_adaptive_windows_of_one_size(shape: tuple[int, ...], size: tuple[int, ...], last: bool) -> None:
    """Small ones and large ones."""
    x = random(*shape)
    adaptive(x.contiguous(memory_format=LAST if len(size) == 2 else VOLUMES) if last else x, size)


@pytest.mark.every(2)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_adaptive_windows_of_other_types(dtype: torch.dtype) -> None:
    adaptive(random(2, 8, 16, 16, dtype=dtype), (2, 2))
    adaptive(random(2, 8, 16, 16, dtype=dtype), (8, 8))
    adaptive(random(2, 8, 16, 16, dtype=dtype, last=True), (2, 2))


def test_adaptive_windows_without_a_batch() -> None:
    adaptive(random(3, 8, 12), (4, 4))
    adaptive(random(3, 8, 16), (1, 2))
    adaptive(random(3, 4, 4, 12), (1, 2, 2))


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("size", [(8, 8), (2, 2)])
def test_special_values_of_adaptive_windows(size: tuple[int, int], last: bool) -> None:
    """The last NaN of a window wins, of equal ones the first, minus infinity is found."""
    x = random(2, 8, 16, 16, last=last)
    x[0, 0, 1, 0], x[0, 0, 0, 1], x[0, 0, 1, 1], x[0, 0, 7, 3], x[0, 0, 9, 9] = (
        torch.nan,
        torch.nan,
        9,
        torch.nan,
        torch.inf,
    )
    x[0, 1, :9, :] = -torch.inf
    x[0, 2] = torch.nan
    x[0, 3] = 0
    x[0, 3, ::3, ::2] = -0.0
    adaptive(x, size)


@pytest.mark.every(2)
@pytest.mark.parametrize("last", [1, torch.nan])
@pytest.mark.parametrize("extent", [11, 12, 181, 182])
def test_numbers_of_large_windows(extent: int, last: float) -> None:
    """Of one, two and four bytes."""
    x = torch.zeros(1, 1, extent, extent)
    x[0, 0, -1, -1] = last
    adaptive(x, (1, 1))


def test_one_dimension_of_adaptive_windows() -> None:
    f = torch.compile(lambda x: F.adaptive_max_pool1d(x * 2, 2) + 1, backend="fusewright")
    x = random(2, 3, 80)
    torch.testing.assert_close(f(x), F.adaptive_max_pool1d(x * 2, 2) + 1, rtol=0, atol=0)
    assert left(lambda x: F.adaptive_max_pool1d(x * 2, 2) + 1, x) == []


def test_adaptive_windows_that_stay_whole() -> None:
    """Of several sizes; narrow ones, and those of few channels, whose gradients take longer on a CPU."""
    adaptive(random(2, 3, 8, 9), (3, 4), opened=False)
    adaptive(random(2, 3, 4, 5, 6), (3, 2, 2), opened=False)
    if devices.driver_for(random(1).device) is None:
        adaptive(random(2, 3, 40, 4), (1, 2), opened=False)
        adaptive(random(2, 3, 16, 16, last=True), (2, 2), opened=False)


def test_a_number_of_large_windows_is_saved() -> None:
    """Of two bytes, from which indices and gradient are computed."""
    saved: list[torch.Tensor] = []

    def pack(t: torch.Tensor) -> torch.Tensor:
        saved.append(t)
        return t

    f = torch.compile(lambda x: F.adaptive_max_pool2d(x.exp(), 1).sin(), backend="fusewright")
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(random(2, 3, 16, 16).requires_grad_())
    assert torch.int64 not in {t.dtype for t in saved}
    assert [t.shape for t in saved if t.dtype is torch.int16] == [(2, 3, 1, 1)]


def test_adaptive_windows_of_sizes_that_vary() -> None:
    f = torch.compile(lambda x: F.adaptive_max_pool2d(x * 2, 2) + 1, backend="fusewright", dynamic=True)
    for n in (4, 6, 7, 16):
        x = random(2, 3, n, n + 2)
        torch.testing.assert_close(f(x), F.adaptive_max_pool2d(x * 2, 2) + 1, rtol=0, atol=0)
