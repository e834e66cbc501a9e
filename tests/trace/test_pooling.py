"""Average pooling as elementwise operations: eager's results, strides and errors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.run import devices

pytestmark = pytest.mark.usefixtures("either")

LAST = torch.channels_last


def compare(x: torch.Tensor, *args: Any, apart: bool = True, **kwargs: Any) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(F.avg_pool2d(torch.cos(x), *args, **kwargs))

    def both(fn: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = x.detach().requires_grad_()
        out = fn(x)
        return out, torch.autograd.grad(out.float().square().sum(), x)[0]

    x = x.clone().requires_grad_()
    report = fusewright.explain(torch.compile(f, backend="fusewright"), x)
    left = [o.target for g in report.graphs for o in g.operations if o.place == "torch"]
    assert (not any("avg_pool2d.default" in t for t in left)) == apart
    torch._dynamo.reset()
    for got, want, exact in zip(
        both(torch.compile(f, backend="fusewright"), x), both(f, x), both(f, x.double()), strict=True
    ):
        assert got.dtype == want.dtype and got.stride() == want.stride()
        mine, theirs = ((y.double() - exact).square().mean().sqrt() for y in (got, want))
        assert mine <= 1.5 * theirs + 1e-6, (mine, theirs)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_windows_side_by_side(last: bool, dtype: torch.dtype) -> None:
    x = torch.randn(2, 5, 7, 6, dtype=dtype)
    compare(x.contiguous(memory_format=LAST) if last else x, 2)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_size": (1, 3)},
        {"kernel_size": 3, "stride": 1},
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": (2, 3), "stride": (1, 2), "padding": (1, 0)},
        {"kernel_size": 2, "divisor_override": 3},
        {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False},
        {"kernel_size": (2, 3), "stride": 1, "padding": (1, 1), "count_include_pad": False},
        {"kernel_size": 2, "stride": 4},
    ],
)
def test_windows_of_all_kinds(arguments: dict[str, Any]) -> None:
    compare(torch.randn(2, 3, 8, 9), **arguments)


def test_what_stays_whole() -> None:
    compare(torch.randn(2, 3, 7, 9), 6, apart=False)


def gradients(rank: int, x: torch.Tensor, *how: Any, apart: bool = True, forward: bool = True) -> None:
    """Of an average pooling: eager's, bit for bit, and no operation is left to torch."""
    pool = getattr(F, f"avg_pool{rank}d")

    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(pool(x * 2, *how) * 2)

    torch._dynamo.reset()
    x = x.detach().requires_grad_()
    report = fusewright.explain(torch.compile(f, backend="fusewright"), x)
    left = [o.target for g in report.graphs for o in g.operations if o.place == "torch"]
    assert (not any(f"avg_pool{rank}d_backward" in t for t in left)) == apart
    assert (not any(f"avg_pool{rank}d.default" in t for t in left)) == forward
    torch._dynamo.reset()
    got, want = torch.compile(f, backend="fusewright")(x), f(x)
    assert got.stride() == want.stride() and torch.equal(got, want)
    grad = torch.randn_like(want)
    mine, theirs = (torch.autograd.grad(y, x, grad)[0] for y in (got, want))
    assert mine.dtype == theirs.dtype and mine.stride() == theirs.stride()
    if x.dtype is torch.bfloat16:
        exact = torch.autograd.grad(f(x.double()), x, grad.double())[0]
        assert (mine - exact).square().mean() <= 1.5 * (theirs - exact).square().mean()
    else:
        assert torch.equal(mine, theirs)


# kernel, stride, padding, whether the last windows may reach over the end, whether padding counts, divisor
GRADIENTS = [
    (2, 2, 0, False, True, None),
    (3, 2, 1, False, True, None),
    (3, 2, 1, False, False, None),
    (3, 1, 1, False, False, None),
    ((2, 3), (1, 2), (1, 0), False, True, None),
    ((3, 2), (2, 1), (1, 1), False, False, None),
    (2, 2, 1, False, True, 3),
    ((1, 5), (3, 2), (0, 2), False, True, None),
    (2, 4, 0, False, True, None),
    (2, 2, 0, True, True, None),
    (3, 2, 1, True, True, None),
    (3, 2, 1, True, False, None),
    ((3, 2), (2, 3), (1, 0), True, False, 5),
]


def on_a_gpu(x: torch.Tensor) -> bool:
    return devices.driver_for(x.device) is not None


@pytest.mark.every(4)
@pytest.mark.parametrize("how", GRADIENTS)
def test_gradients_of_windows_of_all_kinds(how: tuple[Any, ...]) -> None:
    kernel, stride = ((n, n) if isinstance(n, int) else n for n in how[:2])
    for shape, dtype in (((2, 3, 8, 9), torch.float32), ((3, 11, 6), torch.float64)):
        x = torch.randn(shape, dtype=dtype)
        divides = stride[1] > 2 or kernel[1] > stride[1] > 1
        gradients(2, x, *how, apart=on_a_gpu(x) or not divides)
    gradients(2, torch.randn(2, 16, 8, 9).contiguous(memory_format=LAST), *how)


def test_gradients_of_many_windows_stay_whole_on_cpus() -> None:
    x = torch.randn(2, 16, 8, 9).contiguous(memory_format=LAST)
    gradients(2, x, 5, 2, apart=on_a_gpu(x))


def test_gradients_of_large_windows_side_by_side() -> None:
    """Of which the forward pass is PyTorch's."""
    x = torch.randn(2, 3, 13, 14)
    gradients(2, x, 6, apart=on_a_gpu(x), forward=False)
    gradients(2, x.contiguous(memory_format=LAST), 6, forward=False)


def test_gradients_of_16_bits_are_rounded_once() -> None:
    gradients(2, torch.randn(2, 3, 8, 9, dtype=torch.bfloat16), 3, 1, 1)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "how",
    [
        (2, 2, 0, False, True, None),
        (3, 1, 1, False, False, None),
        ((2, 3, 1), (1, 2, 1), (1, 1, 0), True, False, None),
        ((3, 2, 2), 2, 0, True, True, None),
        ((2, 1, 2), (2, 2, 1), 0, False, True, 7),
    ],
)
def test_gradients_of_volumes(how: tuple[Any, ...]) -> None:
    for x in (torch.randn(2, 3, 5, 6, 7), torch.randn(2, 6, 4, 5)):
        gradients(3, x, *how)
    gradients(3, torch.randn(2, 3, 5, 6, 7).contiguous(memory_format=torch.channels_last_3d), *how)


def test_windows_that_reach_over_the_end() -> None:
    for window in ((2, 2, 0), (3, 2, 1), ((2, 3), (3, 2), (1, 0))):
        how: dict[str, Any] = dict(zip(("kernel_size", "stride", "padding"), window, strict=True))
        torch._dynamo.reset()
        compare(torch.randn(2, 3, 7, 9), **how, ceil_mode=True)
        torch._dynamo.reset()
        compare(torch.randn(2, 3, 8, 8, dtype=torch.bfloat16), **how, ceil_mode=True, count_include_pad=False)


def test_without_a_batch() -> None:
    compare(torch.randn(3, 4, 6), 2)


def test_special_values() -> None:
    x = torch.randn(1, 1, 4, 6)
    x[0, 0, 0, 0], x[0, 0, 3, 3], x[0, 0, 0, 4] = torch.inf, -torch.inf, torch.nan
    f = torch.compile(lambda x: F.avg_pool2d(x, 2) + 1, backend="fusewright")
    torch.testing.assert_close(f(x), F.avg_pool2d(x, 2) + 1, equal_nan=True)


@pytest.mark.parametrize("arguments", [(2, 2, 2), (9,), (0,)])
def test_errors_are_eagers(arguments: tuple[int, ...]) -> None:
    x = torch.randn(1, 1, 4, 4)
    with pytest.raises(RuntimeError) as want:
        F.avg_pool2d(x, *arguments)
    with pytest.raises(Exception) as got:
        torch.compile(lambda x: F.avg_pool2d(x + 1, *arguments), backend="fusewright")(x)
    if arguments != (0,):  # torch 2.11 says something else while tracing
        assert str(want.value).split("\n")[0][:40] in str(got.value)


@pytest.mark.parametrize("arguments", [{"kernel_size": 3, "padding": 1}, {"kernel_size": (1, 4)}, {"kernel_size": 2}])
def test_gradients_of_windows_one_apart(arguments: dict[str, Any]) -> None:
    x = torch.randn(2, 3, 8, 9).requires_grad_()
    report = fusewright.explain(lambda x: torch.sin(F.avg_pool2d(torch.cos(x), stride=1, **arguments)), x)
    assert not [o.target for g in report.graphs for o in g.operations if "avg_pool" in o.target]
    compare(x.detach(), stride=1, **arguments)


def test_windows_of_volumes() -> None:
    x = torch.randn(2, 3, 6, 7, 8)
    for arguments in ({"kernel_size": 2}, {"kernel_size": (3, 1, 1), "stride": 1, "padding": (1, 0, 0)}):
        torch._dynamo.reset()
        f = torch.compile(lambda x, a=arguments: F.avg_pool3d(x * 2, **a) + 1, backend="fusewright")
        torch.testing.assert_close(f(x), F.avg_pool3d(x * 2, **arguments) + 1)
    torch._dynamo.reset()
    y = torch.randn(2, 7, 5, 5)
    g = torch.compile(lambda y: F.local_response_norm(y * 2, 3), backend="fusewright")
    torch.testing.assert_close(g(y), F.local_response_norm(y * 2, 3))


def test_adaptive_windows() -> None:
    for size in ((4, 3), (2, 9), (8, 9), (3, 4), (1, 1), (1, 3)):
        torch._dynamo.reset()
        x = torch.randn(2, 3, 8, 9).requires_grad_()
        f = torch.compile(lambda x, n=size: F.adaptive_avg_pool2d(x * 2, n) + 1, backend="fusewright")
        got, want = f(x), F.adaptive_avg_pool2d(x * 2, size) + 1
        torch.testing.assert_close(got, want)
        grad = torch.randn_like(want)
        torch.testing.assert_close(*(torch.autograd.grad(y, x, grad)[0] for y in (got, want)))


@pytest.mark.parametrize("last", [False, True])
def test_gradients_of_adaptive_windows(last: bool) -> None:
    """Of one size: eager's bits."""
    for rank, shape, size in ((2, (2, 16, 8, 6), (4, 2)), (3, (2, 16, 4, 6, 4), (2, 2, 2)), (2, (2, 16, 6, 3), (2, 3))):
        x = torch.randn(shape)
        if last:
            x = x.contiguous(memory_format=LAST if rank == 2 else torch.channels_last_3d)
        x.requires_grad_()
        pool = getattr(F, f"adaptive_avg_pool{rank}d")

        def f(x: torch.Tensor, pool: Any = pool, size: Any = size) -> torch.Tensor:
            return torch.relu(pool(x * 2, size) * 2)

        torch._dynamo.reset()
        report = fusewright.explain(torch.compile(f, backend="fusewright"), x)
        assert not [o.target for g in report.graphs for o in g.operations if "avg_pool" in o.target]
        torch._dynamo.reset()
        got, want = torch.compile(f, backend="fusewright")(x), f(x)
        assert torch.equal(got, want) and got.stride() == want.stride()
        grad = torch.randn_like(want)
        mine, theirs = (torch.autograd.grad(y, x, grad)[0] for y in (got, want))
        assert torch.equal(mine, theirs) and mine.stride() == theirs.stride()


def test_a_batch_that_varies() -> None:
    f = torch.compile(lambda x: torch.sin(F.avg_pool2d(x, 3, 1, 1, count_include_pad=False)), backend="fusewright")
    for n in (4, 2, 7):
        x = torch.randn(n, 3, 6, 7)
        torch._dynamo.mark_dynamic(x, 0)
        x.requires_grad_()
        got, want = f(x), torch.sin(F.avg_pool2d(x, 3, 1, 1, count_include_pad=False))
        torch.testing.assert_close(got, want)
        torch.testing.assert_close(*(torch.autograd.grad(y.sum(), x)[0] for y in (got, want)))
