"""Windows of images as columns, and columns as images: eager's results, strides, gradients and errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.run import devices
from fusewright.trace.unfolding import fold
from tests.support import counted, counters

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
    if x.dtype is torch.bfloat16:  # eager's kernel rounds each sum
        exact = x.detach().double().requires_grad_()
        torch.autograd.backward(fn(exact), grad.double())
        errors = [(t.grad.double() - exact.grad).square().mean() for t in (a, b)]  # type: ignore[union-attr, operator]
        assert errors[0] <= 1.5 * errors[1]
    else:
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


FOLDS: list[dict[str, Any]] = [
    {"kernel_size": 3, "padding": 1},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": (2, 3), "stride": (2, 1), "padding": (1, 0)},
    {"kernel_size": 4, "stride": 2, "padding": 1},
    {"kernel_size": (3, 5), "stride": (2, 3), "padding": (0, 2)},
    {"kernel_size": 2, "dilation": (3, 2), "padding": (3, 0)},
    {"kernel_size": 3, "dilation": 2, "stride": (2, 3), "padding": 2},
    {"kernel_size": 3, "dilation": (1, 3), "stride": (3, 2), "padding": 3},
    {"kernel_size": 2, "stride": 3},
    {"kernel_size": (1, 2), "stride": (1, 2), "padding": (0, 1)},
    {"kernel_size": 1, "padding": 2},
]


def compare(x: torch.Tensor, size: tuple[int, int], **arguments: Any) -> None:
    """Bit for bit, and no operation is left to torch, except on CPUs where lanes would divide."""

    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(F.fold(x * 2, size, **arguments) * 2)

    torch._dynamo.reset()
    report = fusewright.explain(torch.compile(f, backend="fusewright"), x)
    left = [o.target for g in report.graphs for o in g.operations if o.place == "torch"]
    stride = arguments.get("stride", 1)
    divides = devices.driver_for(x.device) is None and (stride if isinstance(stride, int) else stride[1]) > 1
    assert any("col2im" in t for t in left) == divides
    got, want = torch.compile(f, backend="fusewright")(x), f(x)
    assert got.dtype == want.dtype and got.stride() == want.stride()
    if x.dtype is torch.bfloat16:  # whose sums eager rounds again and again
        exact = f(x.double())
        mine, theirs = ((y.double() - exact).square().mean() for y in (got, want))
        assert mine <= 1.5 * theirs
    else:
        assert torch.equal(got, want)


@pytest.mark.usefixtures("either")
@pytest.mark.every(3)
@pytest.mark.parametrize("arguments", FOLDS)
def test_folds_that_overlap(arguments: dict[str, Any]) -> None:
    for size, dtype in (((9, 12), torch.float32), ((14, 7), torch.float64), ((8, 10), torch.bfloat16)):
        x = F.unfold(torch.randn(2, 3, *size), **arguments).to(dtype)
        compare(torch.randn_like(x), size, **arguments)


@pytest.mark.usefixtures("either")
def test_folds_without_a_batch_and_of_other_layouts() -> None:
    columns = torch.randn(2, 27, 63)
    compare(columns[0], (7, 9), kernel_size=3, padding=1)
    compare(columns.transpose(1, 2).contiguous().transpose(1, 2), (7, 9), kernel_size=3, padding=1)


@pytest.mark.usefixtures("either")
def test_gradients_of_windows_that_overlap() -> None:
    for arguments in ({"kernel_size": 3, "padding": 1}, {"kernel_size": (2, 4), "dilation": (2, 1), "stride": (3, 1)}):

        def f(x: torch.Tensor, a: Any = arguments) -> torch.Tensor:
            return torch.sin(F.unfold(torch.cos(x), **a))

        for memory_format in (torch.contiguous_format, torch.channels_last):
            torch._dynamo.reset()
            x = torch.randn(2, 3, 8, 9).contiguous(memory_format=memory_format).requires_grad_()
            report = fusewright.explain(torch.compile(f, backend="fusewright"), x)
            assert not [o.target for g in report.graphs for o in g.operations if "col" in o.target]
            got, want = torch.compile(f, backend="fusewright")(x), f(x)
            grad = torch.randn_like(want)
            mine, theirs = (torch.autograd.grad(y, x, grad)[0] for y in (got, want))
            assert mine.stride() == theirs.stride()
            torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("either")
def test_fold_of_special_values() -> None:
    x = torch.randn(1, 9, 20)
    x[0, 4, 7], x[0, 0, 0], x[0, 3, 8], x[0, 5, 8] = torch.nan, torch.inf, torch.inf, -torch.inf
    f = torch.compile(lambda x: F.fold(x + 1, (4, 5), 3, padding=1) + 1, backend="fusewright")
    torch.testing.assert_close(f(x), F.fold(x + 1, (4, 5), 3, padding=1) + 1, equal_nan=True)


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("arguments", [(3, 1, 1), (3, 1, 1, 2), (2, 2, 0, 3)])
def test_sizes_that_vary(arguments: tuple[int, ...]) -> None:
    """One program for all of them, whose gradient is taken apart, too."""

    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(F.unfold(torch.cos(x), *arguments))

    compiled = torch.compile(f, backend="fusewright", dynamic=True)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for shape in ((2, 3, 9, 12), (3, 4, 13, 10), (5, 2, 8, 8)):
            x = torch.randn(shape).requires_grad_()
            got, want = compiled(x), f(x)
            grad = torch.randn_like(want)
            torch.testing.assert_close(got, want)
            torch.testing.assert_close(*(torch.autograd.grad(y, x, grad)[0] for y in (got, want)), rtol=1e-5, atol=1e-5)
    report = fusewright.explain(compiled, x)
    assert not [o.target for g in report.graphs for o in g.operations if "col" in o.target]


def test_rounding_as_eager_does() -> None:
    """Under `precision="eager"`: on a CPU after each sum."""
    x = torch.randn(2, 27, 63, dtype=torch.bfloat16)
    f = torch.compile(
        lambda x: F.fold(x, (7, 9), 3, padding=1) * 2, backend="fusewright", options={"precision": "eager"}
    )
    assert torch.equal(f(x), F.fold(x, (7, 9), 3, padding=1) * 2)


def test_the_order_of_windows() -> None:
    """Where GPUs add up in it, to which eager's kernels here cannot be compared."""
    x = torch.randn(4, 3, 3, 7, 9)
    got = fold(x, (3, 3), (8, 10), (1, 1), (1, 2), (1, 1), windows=True)
    assert fold(x, (3, 3), (8, 10), (1, 1), (1, 2), (1, 1)).ne(got).any()
    want = torch.zeros(4, 8 + 2, 10 + 4)
    for h, w in itertools.product(range(7), range(9)):
        want[:, h : h + 3, w : w + 3] += x[..., h, w]
    assert torch.equal(got, want[:, 1:9, 2:12])


def test_results_are_tensors_of_their_own() -> None:
    """Also where nothing moves."""
    for fn, shape in (
        (lambda x: F.unfold(x, 1), (2, 3, 4, 5)),
        (lambda x: F.unfold(x, (4, 5)), (2, 3, 4, 5)),
        (lambda x: F.fold(x, (4, 5), 1), (2, 3, 20)),
        (lambda x: F.fold(x, (4, 5), (4, 1), stride=(4, 1)), (2, 12, 5)),
    ):
        torch._dynamo.reset()
        x = torch.randn(shape)
        got = torch.compile(fn, backend="fusewright")(x)
        assert torch.equal(got, fn(x)) and got.data_ptr() != x.data_ptr()


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
        lambda x: F.fold(x[0], (4, 5), (1, 2), padding=1),
    ],
    ids=["larger", "stride", "padding", "columns", "windows"],
)
def test_what_eager_refuses_is_refused(fn: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """With what torch says while tracing, which is not what eager says."""
    x = torch.randn(1, 3, 4, 5)
    with pytest.raises(RuntimeError):
        fn(x)
    with pytest.raises(Exception, match=r"RuntimeError|padding"):
        torch.compile(lambda x: fn(x + 1), backend="fusewright")(x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(("size", "step"), [(4, 1), (3, 3), (4, 2), (5, 2), (2, 3), (1, 1), (7, 4)])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gradients_of_windows_of_a_tensor(dim: int, size: int, step: int, dtype: torch.dtype, either: None) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(torch.cos(x).unfold(dim, size, step))

    left = step > 1 and dim == -1 and devices.driver_for(torch.device("cpu")) is None
    x = torch.randn(9, 8, 11).to(dtype)
    a, b = (x.clone().requires_grad_() for _ in range(2))
    before = counters()
    got, want = torch.compile(f, backend="fusewright")(a), f(b)
    grad = torch.randn_like(want)
    got.backward(grad)
    want.backward(grad)
    assert (counted(before)["opaque_calls"] > 0) == left
    assert a.grad is not None and b.grad is not None and a.grad.stride() == b.grad.stride()
    if dtype is torch.bfloat16:  # eager's kernel rounds each sum
        exact = x.double().requires_grad_()
        f(exact).backward(grad.double())
        mine, theirs = ((t.grad - exact.grad).square().mean() for t in (a, b))  # type: ignore[operator]
        assert mine <= 1.5 * theirs  # some luck with roundings
    else:
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-6, atol=1e-6)


def test_gradients_of_windows_of_varying_sizes(either: None) -> None:
    f = lambda x: torch.sin(torch.cos(x).unfold(0, 3, 1))
    compiled = torch.compile(f, backend="fusewright", dynamic=True)
    for n in (9, 5, 3):
        x, y = (torch.ones(n, 4).requires_grad_() for _ in range(2))
        compiled(x).sum().backward()
        f(y).sum().backward()
        torch.testing.assert_close(x.grad, y.grad)
