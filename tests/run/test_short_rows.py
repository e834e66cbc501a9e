"""Rows of few points, compiled: several rows at a time fill vectors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

import fusewright

FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "mean of squares": lambda x: (x * x).mean(-1),
    "var": lambda x: x.var(-1),
    "argmax": lambda x: (x * 2).argmax(-1),
    "amax": lambda x: (x + 1).amax(-1),
    "softmax": lambda x: (x * 2).softmax(-1),
    "layer norm": lambda x: F.layer_norm(x, x.shape[-1:]) + 1,
    "cumsum": lambda x: x.cumsum(-1) * 2,
}
TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 2e-2, torch.float16: 3e-3}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("shape", [(67, 5), (33, 3, 8), (1029, 31)], ids=str)
def test_against_eager(name: str, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    f = FUNCTIONS[name]
    x = torch.randn(shape).to(dtype)
    got, want = fusewright.fuse(f)(x), f(x.double())
    assert got.shape == want.shape and got.dtype in (dtype, torch.int64)
    torch.testing.assert_close(got.double(), want.double(), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_other_sizes_of_one_kernel() -> None:
    """Which axis has the lanes is decided at the first call."""
    f = torch.compile(lambda x: (x * 2).softmax(-1), backend="fusewright", dynamic=True)
    for rows, cols in ((64, 5), (65, 6), (1000, 3), (9, 300), (2, 2)):
        x = torch.randn(rows, cols)
        torch.testing.assert_close(f(x), (x * 2).softmax(-1))


def test_rows_at_a_distance_from_each_other() -> None:
    f = fusewright.fuse(lambda x: (x * x).sum(-1) * 2)
    for x in (torch.randn(100, 9)[:, 2:7], torch.randn(50, 4, 6)[:, 1], torch.randn(7).expand(40, 7)):
        torch.testing.assert_close(f(x), (x * x).sum(-1) * 2)


def test_rows_are_overwritten_in_place() -> None:
    def step(x: torch.Tensor) -> None:
        x.sub_(x.mean(-1, keepdim=True)).div_(x.abs().amax(-1, keepdim=True) + 1)

    x = torch.randn(203, 6)
    want = x.clone()
    step(want)
    torch.compile(step, backend="fusewright", fullgraph=True)(x)
    torch.testing.assert_close(x, want)


def test_short_rows_of_special_values() -> None:
    x = torch.randn(40, 5)
    x[3, 1], x[4, 4], x[5], x[39, 0] = torch.nan, torch.inf, -torch.inf, torch.nan
    for f in (lambda x: (x + 0).amax(-1), lambda x: (x + 0).argmax(-1), lambda x: (x + 0).softmax(-1)):
        torch.testing.assert_close(fusewright.fuse(f)(x), f(x), equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("cols", [40, 203])
def test_extremes_of_special_values(cols: int, dtype: torch.dtype) -> None:
    """Of rows whose columns fill the lanes: NaN of either sign wins, zeros of one sign keep it."""
    x = torch.randn(40, cols, dtype=dtype)
    x[3, 1], x[4, cols - 1], x[5], x[6, 0], x[7, 2] = torch.nan, -torch.nan, -torch.inf, torch.inf, -torch.inf
    x[8], x[9], x[10], x[11] = x[8].abs() + 1, -x[9].abs() - 1, 0.0, -0.0
    for f in (lambda x: (x * 2).amax(-1), lambda x: (x * 2).amin(-1)):
        got = fusewright.fuse(f)(x)
        torch.testing.assert_close(got, f(x), rtol=0, atol=0, equal_nan=True)
        assert got[10:12].signbit().tolist() == [False, True]


def test_sums_of_short_rows_are_as_exact_as_those_of_eager() -> None:
    torch.manual_seed(0)
    x = torch.rand(20000, 31)
    exact = (x.double() * 2).sum(-1)
    got, eager = fusewright.fuse(lambda x: (x * 2).sum(-1))(x), (x * 2).sum(-1)
    error = lambda y: (y.double() - exact).square().mean().sqrt()
    assert error(got) <= 1.2 * error(eager)
