"""How far float32 sums of many equal numbers are off, as rounding errors are alike: a thread adds up few at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fusewright.core.dtypes import f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.schedule.device import Gpu
from tests.kernels import graph_of
from tests.kernels_gpu import gpu_kernel, run_gpu
from tests.loop.test_gpu_lowering import moments

N, M = sym("n"), sym("m")
ONE_SM = Gpu((9, 0), 1, 1 << 10, 227 << 10)  # so that threads have many numbers each


def everything(b: Builder) -> Value:
    return b.reduce("sum", b.input(f32, (N, M)), [0, 1])


def rows(b: Builder) -> Value:
    return b.reduce("sum", b.input(f32, (N, M)), [1])


def columns(b: Builder) -> Value:
    return b.reduce("sum", b.input(f32, (N, M)), [0])


def squares(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    return b.reduce("sum", b.mul(x, x), [1])


def beside_rows(b: Builder) -> Value:
    """Rows have a result of their own, before one for all of them can be added up."""
    x = b.input(f32, (N, M))
    return b.reduce("sum", b.mul(x, b.reduce("max", x, [1], keepdim=True)), [0, 1])


CASES = [(everything, 2048, 4099), (rows, 3, 2_000_003), (squares, 2, 2_000_000), (columns, 100_003, 24)]
CASES += [(beside_rows, 200, 12_000), (beside_rows, 5003, 61)]


@pytest.mark.parametrize(("program", "n", "m"), CASES)
def test_errors_of_many_equal_numbers(program: Callable[[Builder], Value], n: int, m: int) -> None:
    sizes = {"n": n, "m": m}
    c = gpu_kernel(graph_of(program), sizes, ONE_SM)
    x = np.full((n, m), 0.1, np.float32)
    (got,) = run_gpu(c, [x], sizes).values()
    assert np.abs(got / program(Exact(x)) - 1).max() < 2e-6


def test_errors_of_a_second_moment() -> None:
    """Of a row that is read once: sums of squares on the fly, about a mean that is exact from the first numbers on."""
    n, m = 1, 2_000_000
    sizes = {"n": n, "m": m}
    x = np.tile(np.float32([1 - 0.1, 1 + 0.1]), (n, m // 2))
    c = gpu_kernel(graph_of(moments), sizes, ONE_SM)
    mean, variance = run_gpu(c, [x], sizes).values()
    assert abs(mean.item() - 1) < 2e-7 and abs(variance.item() / x.var(dtype=np.float64) - 1) < 1e-6


class Exact:
    """A builder that computes in float64."""

    def __init__(self, x: np.ndarray):
        self.x = x.astype(np.float64)

    def input(self, *_: object) -> np.ndarray:
        return self.x

    def mul(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a * b

    def reduce(self, monoid: str, x: np.ndarray, axes: list[int], keepdim: bool = False) -> np.ndarray:
        return getattr(x, monoid)(tuple(axes), keepdims=keepdim)
