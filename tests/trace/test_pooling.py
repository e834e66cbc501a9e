"""Average pooling as elementwise operations: eager's results, strides and errors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright

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
        mine, theirs = ((y.double() - exact).abs().max() for y in (got, want))
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


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_size": 2, "ceil_mode": True},
        {"kernel_size": 6},
    ],
)
def test_what_stays_whole(arguments: dict[str, Any]) -> None:
    compare(torch.randn(2, 3, 7, 9), **arguments, apart=False)


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
