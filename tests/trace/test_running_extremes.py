"""Running extremes with their positions, and running logarithms of sums: `cummax`, `cummin`, `logcumsumexp`."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch

import fusewright
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu
from tests.support import (
    assert_agrees,
    assert_as_accurate,
    compiled,
    counted,
    counters,
    is_ours,
    same_bits,
    significant_strides,
)

Tensor = torch.Tensor

NAN, INF = math.nan, math.inf
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
WHOLE = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool)
SIZES = ((5, 1), (1, 7), (7, 3, 5), (33, 1000), (2, 4097), (4097, 2), (1000,), (0, 3), (3, 0), ())
WHERE = [
    "cpu",
    pytest.param("gpu", marks=pytest.mark.skipif(COMPILER is None, reason=MISSING)),
]


@contextlib.contextmanager
def place(where: str) -> Iterator[None]:
    """On a CPU or an emulated GPU; a failure to compile is an error."""
    with emulated_gpu() if where == "gpu" else contextlib.nullcontext():
        with fusewright.options(fallback=False) if is_ours() else contextlib.nullcontext():
            yield


def run(fn: Callable, *inputs: Any) -> Any:
    """What `fn`, compiled anew, returns."""
    torch._dynamo.reset()
    before = counters()
    out = compiled(fn, dynamic=False)(*inputs)
    assert not is_ours() or inputs[0].numel() < 2 or counted(before)["groups_formed"] > 0
    return out


def made(shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Few different values, so that many are equal; of floats also NaN, infinities, and zeros of both signs."""
    g = torch.Generator().manual_seed(len(shape) + sum(shape))
    x = torch.randint(
        0 if dtype in (torch.uint8, torch.bool) else -4, 2 if dtype is torch.bool else 5, shape, generator=g
    )
    if not dtype.is_floating_point:
        return x.to(dtype)
    odd = torch.rand(shape, generator=g)
    x = torch.where(odd < 0.4, x.double(), torch.where(odd < 0.7, 0.0, -0.0))
    few = 2 / max(1, *shape) if shape else 0.0
    x = torch.where(torch.rand(shape, generator=g) < few, NAN, x)
    return torch.where(torch.rand(shape, generator=g) < few, x * INF, x).to(dtype)


def same(got: Sequence[Tensor], want: Sequence[Tensor]) -> None:
    for a, b in zip(got, want, strict=True):
        assert same_bits(a, b)
        assert significant_strides(a) == significant_strides(b)


def both(x: Tensor, dim: int) -> list[Tensor]:
    return [*torch.cummax(x, dim), *torch.cummin(x, dim)]


def sole_kernel(fn: Callable, *inputs: Tensor) -> None:
    """All of `fn` is one kernel."""
    torch._dynamo.reset()
    if is_ours():
        report = str(fusewright.explain(fn, *inputs))
        assert " in 1 kernels" in report and "torch" not in report, report


@pytest.mark.every(6)
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("dtype", FLOATS + WHOLE, ids=str)
def test_values_and_positions(dtype: torch.dtype, where: str) -> None:
    with place(where):
        for shape in SIZES:
            x = made(shape, dtype)
            for dim in range(len(shape)) if shape else (0, -1):
                fn = lambda t, dim=dim: both(t.clone().roll(1), dim)
                same(run(fn, x), fn(x))


@pytest.mark.parametrize("where", WHERE)
def test_what_is_equal_is_found_last(where: str) -> None:
    rows = [
        [0.0, -0.0, 0.0, -0.0, -1.0, 0.0, 1.0, 1.0],
        [-0.0, 0.0, -0.0, 0.0, 2.0, 1.0, 2.0, 3.0],
        [1.0, NAN, 2.0, NAN, 3.0, -INF, INF, 0.0],
        [NAN, NAN, 0.0, 0.0, 0.0, 0.0, 0.0, NAN],
        [-INF, -INF, -INF, 1.0, INF, INF, 3.0, INF],
        [INF, INF, -INF, -INF, 0.0, -0.0, NAN, INF],
    ]
    x = torch.tensor(rows)
    with place(where):
        for t, dim in ((x, 1), (x.repeat(1, 50), 1), (x.t().contiguous(), 0), (x.repeat(40, 1), 1)):
            fn = lambda t, dim=dim: both(t * 1, dim)
            same(run(fn, t), fn(t))


@pytest.mark.parametrize("where", WHERE)
def test_operands_with_other_strides(where: str) -> None:
    x = made((6, 10, 14), torch.float32)
    with place(where):
        for t in (x.permute(2, 0, 1), x[:, ::2, 1:], x[:, :1].expand(6, 10, 14), x.flip(2)[..., 3:]):
            for dim in range(3):
                fn = lambda t, dim=dim: [*both(t * 2, dim), torch.logcumsumexp(t.nan_to_num(0, 1, -1) * 2, dim)]
                got, want = run(fn, t), fn(t)
                same(got[:4], want[:4])
                assert_agrees(got[4], want[4])


def around(x: Tensor) -> tuple[Tensor, Tensor]:
    values, indices = torch.cummax(x * 2, 1)
    return values + 1, indices + 1


def values_only(x: Tensor) -> Tensor:
    return torch.cummin(x * 2, 1)[0] + 1


def down(x: Tensor) -> tuple[Tensor, Tensor]:
    values, indices = torch.cummin(x * 2, 0)
    return values + 1, indices + 1


def logarithm(x: Tensor) -> Tensor:
    return torch.logcumsumexp(x * 2, 1) + 1


def logarithm_down(x: Tensor) -> Tensor:
    return torch.logcumsumexp(x * 2, 0) + 1


def followed(x: Tensor) -> Tensor:
    """Scans of a scan, and a sum over a row of them."""
    return (torch.cummax(torch.cumsum(x, 1), 1)[0] * x).sum(1)


FUSED = (around, values_only, down, logarithm, logarithm_down, followed)


@pytest.mark.parametrize("fn", FUSED)
def test_neighbours_share_the_kernel(fn: Callable) -> None:
    sole_kernel(fn, torch.randn(60, 50))


@pytest.mark.parametrize("fn", FUSED)
@pytest.mark.parametrize("where", WHERE)
def test_symbolic_sizes(fn: Callable, where: str) -> None:
    torch._dynamo.reset()
    with place(where):
        for shape in ((6, 40), (300, 5), (3, 4097), (1, 1), (7, 1000)):
            x = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))
            assert_agrees(compiled(fn, dynamic=True)(x), fn(x), rtol=1e-5, atol=1e-5)


def test_positions_that_nobody_reads_are_not_computed() -> None:
    torch._dynamo.reset()
    if is_ours():
        assert "cummax" not in str(fusewright.explain(values_only, torch.randn(60, 50))).split("inference")[-1]
        assert "cumlastmin_isnan_cummax" in str(fusewright.explain(down, torch.randn(60, 50)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_positions_are_those_of_rounded_values(dtype: torch.dtype) -> None:
    """Two products that 16 bits do not tell apart are equal, as they are in eager."""
    x = torch.linspace(1, 2, 4000).to(dtype).reshape(4, 1000).roll(7, 1)
    fn = lambda x: torch.cummax(x * 0.3, 1)
    same(run(fn, x), fn(x))


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("dim", [0, 1])
def test_gradients(dim: int, where: str) -> None:
    def fn(x: Tensor) -> Tensor:
        return (torch.cummax(x * 2, dim)[0] * x).sum() + torch.cummin(x.sin(), dim)[0].square().sum()

    def logs(x: Tensor) -> Tensor:
        return (torch.logcumsumexp(x * 2, dim) * x.sin()).sum()

    for f in (fn, logs):
        with place(where):
            x = torch.randn(13, 70, generator=torch.Generator().manual_seed(1)).round(decimals=1)
            mine, theirs = (x.clone().requires_grad_() for _ in range(2))
            run(f, mine).backward()
            f(theirs).backward()
            assert_agrees(mine.grad, theirs.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.every(2)
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_logarithms_of_sums(dtype: torch.dtype, where: str) -> None:
    """As near to float64 as eager on a CPU, which adds float32 numbers up in float64; on a GPU in float32."""
    with place(where):
        for shape in SIZES:
            x = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).mul(3).to(dtype)
            for dim in range(len(shape)) if shape else (0, -1):
                fn = lambda t, dim=dim: torch.logcumsumexp(t.neg(), dim).neg()
                got, want = run(fn, x), fn(x)
                assert significant_strides(got) == significant_strides(want)
                if x.numel():
                    floor = 16.0 if where == "gpu" and dtype in (torch.float32, torch.float64) else 0.5
                    assert_as_accurate(got, want, fn(x.double()), factor=1.0, floor=floor)


@pytest.mark.parametrize("where", WHERE)
def test_logarithms_of_infinities(where: str) -> None:
    rows = [
        [-INF, -INF, 1.0, 2.0, -INF, INF, INF, 0.0],
        [INF, INF, -INF, 0.0, 1.0, INF, -INF, INF],
        [-INF, NAN, 1.0, INF, -INF, 2.0, 3.0, 4.0],
        [1e30, -1e30, 1e30, -INF, 3e38, 3e38, 0.0, 1.0],
        [0.0, -0.0, 80.0, -200.0, 1000.0, 1000.0, -1000.0, NAN],
    ]
    x = torch.tensor(rows)
    fn = lambda t, dim: torch.logcumsumexp(t * 1, dim) * 1
    with place(where):
        for t, dim in ((x, 1), (x.repeat(1, 30), 1), (x.t().contiguous(), 0)):
            assert_agrees(run(fn, t, dim), fn(t, dim))
