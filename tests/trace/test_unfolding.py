"""Windows of images as columns, and columns as images: eager's results, strides, gradients and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright

pytestmark = pytest.mark.usefixtures("strict")


def check(fn: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, operator: str, apart: bool = True) -> None:
    report = fusewright.explain(fn, x)
    left = [o.target for g in report.graphs for o in g.operations if o.place == "torch"]
    assert (not any(operator in t for t in left)) == apart
    torch._dynamo.reset()
    a, b = (x.detach().clone(memory_format=torch.preserve_format).requires_grad_() for _ in range(2))
    got, want = torch.compile(fn, backend="fusewright")(a), fn(b)
    assert got.stride() == want.stride() and got.dtype == want.dtype
    torch.testing.assert_close(got, want, rtol=1e-6, atol=1e-6)
    grad = torch.randn_like(want)
    torch.autograd.backward(got, grad)
    torch.autograd.backward(want, grad)
    torch.testing.assert_close(a.grad, b.grad, rtol=1e-5, atol=1e-5)


WINDOWS: list[dict[str, Any]] = [
    {"kernel_size": 3},
    {"kernel_size": 3, "padding": 1},
    {"kernel_size": (2, 3), "stride": (1, 2), "padding": (1, 0)},
    {"kernel_size": 2, "dilation": 2},
    {"kernel_size": (3, 2), "dilation": (1, 3), "padding": 2, "stride": 2},
    {"kernel_size": 4, "stride": 4},
    {"kernel_size": 1},
]


@pytest.mark.parametrize("arguments", WINDOWS)
def test_unfold(arguments: dict[str, Any]) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(F.unfold(torch.cos(x), **arguments))

    check(f, torch.randn(2, 3, 8, 12), "im2col")
    check(f, torch.randn(3, 8, 11), "im2col")


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_unfold_of_other_types_and_layouts(dtype: torch.dtype) -> None:
    x = torch.randn(2, 3, 8, 9, dtype=dtype)
    for y in (x, x.contiguous(memory_format=torch.channels_last), x.transpose(2, 3)):
        check(lambda x: F.unfold(x * 2, 3, padding=1) * 2, y, "im2col")


@pytest.mark.usefixtures("emulated")
def test_on_a_gpu() -> None:
    check(lambda x: F.unfold(x * 2, 3, padding=1) * 2, torch.randn(2, 3, 8, 9), "im2col")
    check(lambda x: F.fold(x * 2, (8, 12), (2, 3), stride=(2, 3)) * 2, torch.randn(2, 18, 16), "col2im")


@pytest.mark.usefixtures("emulated")
def test_fold_side_by_side() -> None:
    check(lambda x: F.fold(x * 2, (8, 12), (2, 3), stride=(2, 3)) * 2, torch.randn(2, 18, 16), "col2im")
    check(lambda x: F.fold(x * 2, (8, 8), 4, stride=4) * 2, torch.randn(32, 4), "col2im")


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("arguments", [{"stride": 1}, {"stride": 2, "padding": 1}, {"stride": 3}, {"dilation": 2}])
def test_other_folds_stay_whole(arguments: dict[str, int]) -> None:
    size = {"kernel_size": 2, "output_size": (8, 8), **arguments}
    x = F.unfold(torch.randn(2, 3, 8, 8), 2, **arguments)
    check(lambda x: F.fold(x * 2, **size) * 2, x, "col2im", apart=False)


def test_there_and_back() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return F.fold(torch.tanh(F.unfold(x, 4, stride=4)), (16, 16), 4, stride=4)

    x = torch.randn(2, 3, 16, 16)
    torch.testing.assert_close(torch.compile(f, backend="fusewright")(x), torch.tanh(x))


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: F.unfold(x, 9),
        lambda x: F.unfold(x, 2, stride=0),
        lambda x: F.unfold(x, 2, padding=-1),
        lambda x: F.fold(x[0], (4, 4), 2, stride=2),
    ],
    ids=["larger", "stride", "padding", "columns"],
)
def test_what_eager_refuses_is_refused(fn: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """With what torch says while tracing, which is not what eager says."""
    x = torch.randn(1, 3, 4, 5)
    with pytest.raises(RuntimeError):
        fn(x)
    with pytest.raises(Exception, match=r"RuntimeError|padding"):
        torch.compile(lambda x: fn(x + 1), backend="fusewright")(x)
