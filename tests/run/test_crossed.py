"""On a CPU, rows that are read along one axis and written along another are reduced by a kernel of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.debug import record

PROGRAMS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], tuple[int, ...]]] = {
    "columns as rows": (lambda x: x.t().softmax(0).contiguous(), (160, 300)),
    "rows as columns": (lambda x: x.softmax(1).t().contiguous(), (257, 200)),
    "layer norm": (lambda x: F.layer_norm(x, x.shape[1:]).t().contiguous(), (130, 301)),
    "of channels": (lambda x: F.layer_norm(x.permute(0, 2, 3, 1), (x.shape[1],)).permute(0, 3, 1, 2), (2, 96, 20, 31)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_two_kernels(name: str, dynamic: bool, dtype: torch.dtype) -> None:
    fn, shape = PROGRAMS[name]
    torch._dynamo.reset()
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)
    with record.recording() as graphs, fusewright.options(fallback=False), torch.no_grad():
        got = torch.compile(fn, backend="fusewright", dynamic=dynamic)(x)
    want, exact = fn(x), fn(x.double())
    assert got.stride() == want.stride() and got.dtype == want.dtype
    error, theirs = (float((t.double() - exact).square().mean()) for t in (got, want))
    assert error <= 1.5 * theirs + 1e-12
    first, second = (g.plan.group for g in graphs[0].groups)
    assert all(v.numel.evaluate({}) <= x.numel() // 30 for v in first.outputs if not v.numel.atoms())
    assert second.again or name != "columns as rows"


def test_not_numbers_and_empty_rows() -> None:
    fn, shape = PROGRAMS["columns as rows"]
    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="fusewright", dynamic=True)
    x = torch.randn(shape)
    x[3, 5], x[7, 9], x[:, 11] = float("nan"), float("inf"), float("-inf")
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), fn(x), equal_nan=True)
        for other in ((1, 300), (160, 1), (5, 0), (2, 70_000)):
            y = torch.randn(other)
            torch.testing.assert_close(compiled(y), fn(y))


def test_little_is_one_kernel() -> None:
    fn, _ = PROGRAMS["columns as rows"]
    torch._dynamo.reset()
    x = torch.randn(40, 50)
    with record.recording() as graphs, torch.no_grad():
        torch.testing.assert_close(torch.compile(fn, backend="fusewright")(x), fn(x))
    assert len(graphs[0].groups) == 1


@pytest.mark.parametrize("dim", [0, 1])
def test_a_sum_and_a_transpose(dim: int) -> None:
    def fn(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (x + 1).sum(dim), (x * 2).t().contiguous()

    for shape, kernels in (((600, 300), 2), ((60, 30), 1)):
        torch._dynamo.reset()
        x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
        with record.recording() as graphs, torch.no_grad():
            total, turned = torch.compile(fn, backend="fusewright")(x)
        torch.testing.assert_close(total, fn(x)[0], rtol=1e-5, atol=1e-4)
        assert torch.equal(turned, fn(x)[1]) and turned.is_contiguous() and len(graphs[0].groups) == kernels
