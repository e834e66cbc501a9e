"""Joining more tensors than one kernel should, and expressions deeper than functions may call themselves."""

from __future__ import annotations

import pytest
import torch

import fusewright
from fusewright.trace.lowering.views import BESIDE, PARTS
from tests.support import compiled, counted, counters, is_ours, no_fallbacks


def _joins(fn: object, *xs: torch.Tensor) -> bool:
    """Whether all of `fn(*xs)` is in kernels; its values are eager's."""
    before = counters()
    with no_fallbacks():
        got = compiled(fn, dynamic=False)(*xs)  # type: ignore[arg-type]
    assert torch.equal(got, fn(*xs))  # type: ignore[operator]
    return counted(before)["opaque_calls"] == 0


@pytest.mark.skipif(not is_ours(), reason="of counters")
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_as_many_as_a_kernel_joins(dim: int) -> None:
    g = torch.Generator().manual_seed(1)
    for n in (PARTS, PARTS + 1):
        xs = [torch.randn(5, 7, 6, generator=g) for _ in range(n)]
        assert _joins(lambda *xs: torch.cat([x + 1 for x in xs], dim).relu(), *xs) == (n == PARTS)
        beside = dim == -1
        assert _joins(lambda *xs: torch.stack([x + 1 for x in xs], dim).relu(), *xs) == (n == PARTS or beside)


@pytest.mark.skipif(not is_ours(), reason="of counters")
def test_as_many_beside_each_other_as_a_kernel_joins() -> None:
    g = torch.Generator().manual_seed(1)
    for n in (BESIDE, BESIDE + 1):
        xs = [torch.randn(40, generator=g) for _ in range(n)]
        assert _joins(lambda *xs: torch.stack(xs, -1) * 2, *xs) == (n == BESIDE)
        ys = [x[:, None] for x in xs]
        assert _joins(lambda *xs: torch.cat(xs, 1) * 2, *ys) == (n == BESIDE)


@pytest.mark.parametrize("how", ["compile", "fuse"])
def test_a_long_recurrence(how: str) -> None:
    """Written out, whose gradient is as long."""

    def f(x: torch.Tensor) -> torch.Tensor:
        h, out = x[0], []
        for k in range(60):
            h = h * 0.5 + torch.tanh(x[k])
            out.append(h)
        return torch.stack(out)

    x = torch.randn(60, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    with no_fallbacks():
        run = fusewright.fuse(f) if how == "fuse" else compiled(f, dynamic=False)
        y = run(a)
        y.square().sum().backward()
    want = f(b)
    want.square().sum().backward()
    torch.testing.assert_close(y, want)
    torch.testing.assert_close(a.grad, b.grad)
