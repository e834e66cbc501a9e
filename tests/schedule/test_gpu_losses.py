"""Losses: rows that are reduced while they are read, and what they leave over all rows; how many threads a row has."""

from __future__ import annotations

import pytest

from fusewright.core.dtypes import f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.schedule.device import H200
from tests.kernels import graph_of
from tests.kernels_gpu import check_gpu, gpu_kernel

N, M = sym("n"), sym("m")


def loss(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    top = b.reduce("max", x, (1,), keepdim=True)
    each = b.log(b.reduce("sum", b.exp(b.sub(x, top)), (1,)))
    return b.reduce("sum", each, (0,))


@pytest.mark.parametrize(
    ("n", "m", "want"),
    [
        (281, 4096, (1, 256)),  # four vectors for each thread
        (300, 1000, (2, 64)),
        (4096, 512, (4, 32)),
        (2048, 8192, (2, 64)),
        (65536, 4096, (4, 32)),  # 32 of them
        (8192, 32768, (1, 256)),
    ],
)
def test_few_rows_have_more_threads_each(n: int, m: int, want: tuple[int, int]) -> None:
    s = gpu_kernel(graph_of(loss), {"n": n, "m": m}, H200).schedule
    assert s.resident and s.mode == "loop" and (s.row_threads, s.col_threads) == want


def test_values() -> None:
    for n, m in ((3, 70), (40, 9)):
        check_gpu(graph_of(loss), {"n": n, "m": m}, gpu=H200)


def entropies(b: Builder) -> Value:
    """Of each row: nothing but numbers are stored."""
    x = b.input(f32, (N, M))
    e = b.exp(b.sub(x, b.reduce("max", x, (1,), keepdim=True)))
    p = b.div(e, b.reduce("sum", e, (1,), keepdim=True))
    return b.reduce("sum", b.mul(p, b.log(p)), (1,))


@pytest.mark.parametrize(
    ("n", "m", "want"),
    [
        (16384, 640, (4, 32, 5)),
        (32768, 300, (8, 16, 5)),
        (8192, 1000, (4, 32, 8)),
        (32768, 384, (8, 16, 6)),
        (8192, 2048, (2, 64, 8)),
    ],
)
def test_few_threads_hold_rows_of_which_only_numbers_are_left(n: int, m: int, want: tuple[int, int, int]) -> None:
    s = gpu_kernel(graph_of(entropies), {"n": n, "m": m}, H200).schedule
    assert s.mode == "persistent" and (s.row_threads, s.col_threads, s.steps) == want
    check_gpu(graph_of(entropies), {"n": 9, "m": 75}, gpu=H200)
