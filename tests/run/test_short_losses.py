"""On a CPU, rows of few points have lanes of their own, although something is reduced over rows as well."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.debug import record


def entropy(x: torch.Tensor) -> torch.Tensor:
    logs = x.log_softmax(-1)
    return -(logs.exp() * logs).sum(-1).mean()


def normals(x: torch.Tensor) -> torch.Tensor:
    return (1 - (F.normalize(x, dim=-1) * F.normalize(x * x, dim=-1)).sum(-1)).mean()


def centred(x: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:]).abs().mean()


def families(graphs: list[record.GraphRecord]) -> list[str]:
    return [g.plan.schedule.family for graph in graphs for g in graph.groups if g.plan.schedule is not None]


def close(got: torch.Tensor, want: torch.Tensor, exact: torch.Tensor) -> None:
    error, theirs = (float((t.double() - exact).square().mean().sqrt()) for t in (got, want))
    bound = 1.5 * theirs + torch.finfo(want.dtype).eps * float(exact.square().mean().sqrt())
    assert error <= bound and got.dtype == want.dtype, (error, theirs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("columns", [2, 3, 8, 11])
@pytest.mark.parametrize("fn", [entropy, normals, centred])
def test_rows_are_in_lanes(fn: Callable[[torch.Tensor], torch.Tensor], columns: int, dtype: torch.dtype) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="fusewright", dynamic=columns == 8)
    inputs = [
        torch.randn(k, columns, generator=torch.Generator().manual_seed(k)).to(dtype) for k in (1003, 77, 4096, 5)
    ]
    with record.recording() as graphs, fusewright.options(fallback=False), torch.no_grad():
        got = torch.stack([compiled(x) for x in inputs])
    want, exact = (torch.stack([fn(x.to(t)) for x in inputs]) for t in (dtype, torch.float64))
    close(got, want, exact)
    assert "inner+outer reduction" not in families(graphs[:1])  # of 1003 rows; five do not fill lanes


@pytest.mark.parametrize("shape", [(50, 3000), (100, 8)])
def test_long_rows_are_one_kernel_and_few(shape: tuple[int, int]) -> None:
    torch._dynamo.reset()
    x = torch.randn(shape)
    with record.recording() as graphs, torch.no_grad():
        torch.testing.assert_close(torch.compile(entropy, backend="fusewright")(x), entropy(x))
    assert families(graphs) == ["inner+outer reduction"]


@pytest.mark.parametrize("columns", [3, 8])
def test_gradients_of_a_norm(columns: int) -> None:
    torch._dynamo.reset()
    generator = torch.Generator().manual_seed(0)
    x, w, b, g = (torch.randn(s, generator=generator) for s in ((999, columns), (columns,), (columns,), (999, columns)))

    def gradients(fn: Callable[..., torch.Tensor], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
        leaves = [t.detach().to(dtype).requires_grad_() for t in (x, w, b)]
        return torch.autograd.grad(fn(*leaves), leaves, g.to(dtype))

    def norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (columns,), w, b)

    with fusewright.options(fallback=False):
        got = gradients(torch.compile(norm, backend="fusewright"), torch.float32)
    for a, c, e in zip(got, gradients(norm, torch.float32), gradients(norm, torch.float64), strict=True):
        close(a, c, e)
