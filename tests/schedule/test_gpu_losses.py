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
