"""A few points that need the same dear values have them computed once, on a CPU."""

from __future__ import annotations

import pytest
import torch

import fusewright
from fusewright.core.dtypes import f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import sym
from fusewright.loop.ir import For, Let, Store, walk
from fusewright.schedule.cpu import Machine, plan
from tests.kernels import check, fusion_of, graph_of, hint, kernel
from tests.support import counted, counters, no_fallbacks

N, M = sym("n"), sym("m")


def colors(b: Builder, powers: int, planes: int = 3) -> Value:
    """Planes of an image, each made of powers of the first ones."""
    x = b.input(f32, (N, planes, M))
    made = [b.map("pow", b.abs(b.select(x, 1, k)), b.const(2.4, f32)) for k in range(powers)]
    total = made[0]
    for y in made[1:]:
        total = b.add(total, y)
    w = b.input(f32, (planes,))
    shape = (N, planes, M)
    return b.mul(b.expand(b.reshape(total, (N, 1, M)), shape), b.expand(b.reshape(w, (1, planes, 1)), shape))


def graph(powers: int, planes: int = 3) -> Graph:
    return graph_of(lambda b: colors(b, powers, planes))


@pytest.mark.parametrize(
    ("powers", "planes", "once"),
    [
        (2, 3, True),
        (3, 8, True),
        (1, 3, False),  # computing is cheaper than walking over the planes for each vector
        (2, 9, False),  # too many planes
    ],
)
def test_planes_one_after_the_other(powers: int, planes: int, once: bool) -> None:
    _, s = plan(fusion_of(graph(powers, planes)).fusion, hint, Machine(16, 1 << 62, 2))
    assert (s.cols == ("i1",) and s.vector in s.rows) == once


def test_powers_are_computed_once_for_all_planes() -> None:
    g = graph(2)
    c = kernel(g)
    loops = [s for s in walk(c.kernel.func.body) if isinstance(s, For) and any(isinstance(x, Store) for x in s.body)]
    assert loops and not any(isinstance(x, Let) and x.op == "pow" for f in loops for x in f.body)
    for n, m in ((1, 1), (2, 7), (3, 40)):
        check(g, {"n": n, "m": m}, compiled=c)


def to_lab(x: torch.Tensor) -> torch.Tensor:
    """As color spaces are written: planes taken apart, and put together."""
    linear = torch.where(x > 0.04045, ((x + 0.055) / 1.055).clamp_min(0).pow(2.4), x / 12.92)
    r, g, b = linear.unbind(1)
    f = [(0.4 * r + 0.3 * g + 0.3 * b * k + 0.01).pow(1 / 3) for k in (0.5, 1.0, 2.0)]
    return torch.stack([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])], 1)


def test_color_spaces_are_one_kernel() -> None:
    torch._dynamo.reset()
    x = torch.rand(2, 3, 21, 37, generator=torch.Generator().manual_seed(0), requires_grad=True)
    before = counters()
    with no_fallbacks(), fusewright.options(fallback=False):
        got = torch.compile(to_lab, backend="fusewright")(x)
        (grad,) = torch.autograd.grad(got.square().sum(), x)
    assert counted(before)["groups_formed"] <= 3
    want = to_lab(x.double())
    (exact,) = torch.autograd.grad(want.square().sum(), x)
    torch.testing.assert_close(got.double(), want, rtol=1e-5, atol=1e-3)
    torch.testing.assert_close(grad.double(), exact.double(), rtol=1e-4, atol=1e-2)
