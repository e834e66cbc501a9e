"""Kernels in which threads would wait for those that have a row are cut behind their reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

import fusewright
from fusewright.core.dtypes import f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.schedule.cpu import Machine, plan
from fusewright.schedule.idle import idle
from tests.kernels import fusion_of, graph_of, hint
from tests.support import counted, counters


def centred(rows: int, columns: int) -> Callable[[Builder], Value]:
    def program(b: Builder) -> Value:
        x = b.input(f32, (rows, columns))
        mean = b.mul(b.reduce("sum", x, (1,)), b.const(1 / columns, f32))
        return b.sub(x, b.expand(b.reshape(mean, (rows, 1)), (rows, columns)))

    return program


@pytest.mark.parametrize(
    ("rows", "columns", "threads", "expected"),
    [
        (1, 1 << 18, 2, True),
        (1, 1 << 18, 1, False),  # nobody waits
        (1, 1 << 17, 2, False),  # short
        (2, 1 << 18, 2, False),
        (3, 1 << 18, 2, True),  # four turns' worth of threads for three
        (5, 1 << 18, 2, False),
        (12, 1 << 18, 16, True),
        (13, 1 << 18, 16, False),
    ],
)
def test_rows_are_too_few(rows: int, columns: int, threads: int, expected: bool) -> None:
    machine = Machine(16, 1 << 62, threads)
    f, schedule = plan(fusion_of(graph_of(centred(rows, columns))).fusion, hint, machine)
    assert idle(f, schedule, hint, machine) == expected


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def rms(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)


@pytest.mark.parametrize(("shape", "kernels"), [((1, 300001), 2), ((2, 300001), 1), ((1, 1001), 1)])
def test_programs(shape: tuple[int, int], kernels: int, two_threads: None) -> None:
    x = torch.randn(shape)
    before = counters()
    torch._dynamo.reset()
    with fusewright.options(fallback=False), torch.no_grad():
        got = torch.compile(rms, backend="fusewright")(x)
    assert counted(before)["groups_formed"] == kernels
    torch.testing.assert_close(got, rms(x.double()).float(), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_sums_of_whole_tensors_are_exact_to_rounding(dtype: torch.dtype, two_threads: None) -> None:
    """Points join sums in float32 within a block, and blocks in float64."""
    x = torch.rand(3_000_001).to(dtype)
    with fusewright.options(fallback=False), torch.no_grad():
        got, _ = torch.compile(lambda x: (x.sum(dtype=torch.float32), x.amin()), backend="fusewright")(x)
    want = x.double().sum()
    assert abs(got.double() - want) <= 1e-7 * want
