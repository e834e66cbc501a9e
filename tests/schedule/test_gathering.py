"""Lanes do not gather what lies apart because something is reduced over rows that lie side by side, too."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.core.dtypes import f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.schedule.cpu import Machine, plan
from fusewright.schedule.gathering import gathers
from tests.kernels import fusion_of, graph_of, hint
from tests.support import counted, counters


def largest_share(shape: tuple[int, int, int], dim: int) -> Callable[[Builder], Value]:
    """The largest of shares of sums along one axis."""

    def program(b: Builder) -> Value:
        x = b.input(f32, shape)
        total = b.reshape(b.reduce("sum", x, (dim,)), tuple(1 if d == dim else n for d, n in enumerate(shape)))
        return b.reduce("max", b.reduce("max", b.div(x, b.expand(total, shape)), (dim,)), (0, 1))

    return program


@pytest.mark.parametrize(
    ("shape", "dim", "expected"),
    [
        ((3, 32, 100), 1, True),
        ((3, 32, 100), 2, False),  # lanes along what is reduced, which lies side by side
        ((3, 100, 32), 1, True),
        ((3, 32, 7), 1, False),  # too few rows for the lanes
    ],
)
def test_lanes_would_gather(shape: tuple[int, int, int], dim: int, expected: bool) -> None:
    f, schedule = plan(fusion_of(graph_of(largest_share(shape, dim))).fusion, hint, Machine(16, 1 << 62, 2))
    assert gathers(f, schedule, hint) == expected


def entropy(x: torch.Tensor) -> torch.Tensor:
    return -(x.softmax(1) * x.log_softmax(1)).sum(1).mean()


def normalized(x: torch.Tensor) -> torch.Tensor:
    return (F.normalize(x, dim=1) * 2).mean()


@pytest.mark.parametrize("fn", [entropy, normalized])
@pytest.mark.parametrize(("shape", "kernels"), [((3, 33, 11, 13), 2), ((40, 33), 1), ((3, 33, 5), 1)])
def test_such_programs_are_two_kernels(
    fn: Callable[[torch.Tensor], torch.Tensor], shape: tuple[int, ...], kernels: int
) -> None:
    torch._dynamo.reset()
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    before = counters()
    with fusewright.options(fallback=False, single_op_groups=True), torch.no_grad():
        got = torch.compile(fn, backend="fusewright", fullgraph=True)(x)
    assert counted(before)["groups_formed"] == kernels
    exact = fn(x.double())
    assert abs(got - exact) <= 1.5 * abs(fn(x) - exact) + 4 * torch.finfo(torch.float32).eps * abs(exact)


def test_gradients_of_a_norm_over_channels() -> None:
    """Sums over pixels for each channel beside sums over channels for each pixel."""

    def fn(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        apart = x - x.mean(1, keepdim=True)
        out = apart / torch.sqrt((apart * apart).mean(1, keepdim=True) + 1e-6)
        return out * w[:, None, None] + b[:, None, None]

    gen = torch.Generator().manual_seed(0)
    given = [torch.randn(s, generator=gen) for s in ((3, 33, 11, 13), (33,), (33,))]
    grad = torch.randn(given[0].shape, generator=gen)

    def gradients(f: Callable[..., torch.Tensor], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
        leaves = [t.to(dtype).requires_grad_() for t in given]
        return torch.autograd.grad(f(*leaves), leaves, grad.to(dtype))

    torch._dynamo.reset()
    with fusewright.options(fallback=False):
        got = gradients(torch.compile(fn, backend="fusewright", fullgraph=True), torch.float32)
    for mine, theirs, exact in zip(got, gradients(fn, torch.float32), gradients(fn, torch.float64), strict=True):
        error, eager = ((t - exact).square().mean().sqrt() for t in (mine, theirs))
        assert error <= 1.5 * eager + torch.finfo(torch.float32).eps * exact.square().mean().sqrt()
