"""Results that are views of an argument whose elements share memory: gradients are those of the views."""

from __future__ import annotations

import pytest
import torch

import fusewright


def _expanded(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x * 2, x.expand(x.shape[0], *x.shape)


def _reshaped(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x * 2, x.reshape(-1, 2, 2).transpose(0, 1)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("fn", [_expanded, _reshaped])
@pytest.mark.parametrize(
    "strides",
    [
        pytest.param([(0, 1)], id="expanded"),
        pytest.param([(1, 1)], id="unfolded"),
        pytest.param([(8, 1), (3, 1)], id="rows that lie apart, then not"),  # one program: the strides are symbols
    ],
)
def test_gradients(fn, strides, fused):
    with fusewright.options(fallback=False):
        ours = fusewright.fuse(fn) if fused else torch.compile(fn, backend="fusewright", dynamic=True)
        for stride in strides:
            x = torch.randn(64).as_strided((6, 4), stride).detach().requires_grad_()
            want, got = fn(x), ours(x)
            given = [torch.randn(t.shape) for t in want]
            (g,), (w,) = torch.autograd.grad(got, x, given), torch.autograd.grad(want, x, given)
            assert all(a.stride() == b.stride() for a, b in zip(got, want, strict=True))
            torch.testing.assert_close(g, w)
