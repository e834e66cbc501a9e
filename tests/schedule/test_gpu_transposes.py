"""Transposes: lanes both ways, and threads of a block."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fusewright.core.dtypes import DType, bf16, f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.schedule.device import H200
from fusewright.schedule.forms import Illegal
from fusewright.schedule.legal_gpu import Sizes, settle
from tests.kernels import graph_of
from tests.kernels_gpu import check_gpu, gpu_kernel, hint_of

N, M = sym("n"), sym("m")


def turned(dtype: DType) -> object:
    def program(b: Builder) -> Value:
        return b.permute(b.input(dtype, (N, M)), [1, 0])

    return program


@pytest.mark.parametrize(
    ("dtype", "n", "m", "want"),  # want: lanes of what is written and of what is read, threads
    [
        (bf16, 16384, 8192, (8, 8, 256)),
        (bf16, 9999, 8192, (1, 8, 512)),
        (f32, 8191, 8192, (1, 4, 512)),
        (bf16, 8192, 9999, (8, 1, 256)),
        (bf16, 10007, 9973, (1, 1, 512)),
        (bf16, 10006, 9974, (2, 2, 512)),
        (f32, 8192, 8191, (4, 1, 512)),
        (bf16, 1777, 99, (1, 1, 256)),  # few tiles, which larger blocks would fill less
    ],
)
def test_threads_of_a_tile(dtype: DType, n: int, m: int, want: tuple[int, int, int]) -> None:
    s = gpu_kernel(graph_of(turned(dtype)), {"n": n, "m": m}, H200).schedule  # type: ignore[arg-type]
    assert s.mode == "staged" and (s.lanes, s.turned, s.threads) == want


@pytest.mark.parametrize(("n", "m"), [(199, 256), (256, 199), (133, 131), (134, 130), (1, 300), (0, 300)])
def test_values(n: int, m: int) -> None:
    for dtype in (bf16, f32):
        graph = graph_of(turned(dtype))  # type: ignore[arg-type]
        check_gpu(graph, {"n": n, "m": m}, gpu=H200)


@pytest.mark.parametrize(
    ("n", "m", "lanes", "legal", "wrong", "why"),
    [
        (512, 199, (8, 1), 8, 4, r"32 threads, 1 points each .* do not read 64 by 64 points; legal: 8 to 64"),
        # half of them would have nothing to read, and a loop over their turns no round
        (199, 512, (1, 8), 8, 16, r"1024 threads, 8 points each .*; legal: 1 to 8"),
    ],
)
def test_too_few_or_many_threads_are_refused(
    n: int, m: int, lanes: tuple[int, int], legal: int, wrong: int, why: str
) -> None:
    c = gpu_kernel(graph_of(turned(bf16)), {"n": n, "m": m}, H200)  # type: ignore[arg-type]
    assert (c.schedule.lanes, c.schedule.turned) == lanes
    sizes = Sizes(hint_of({"n": n, "m": m}), H200)
    settle(c.built.fusion, replace(c.schedule, row_threads=legal), sizes)
    with pytest.raises(Illegal, match=why):
        settle(c.built.fusion, replace(c.schedule, row_threads=wrong), sizes)
