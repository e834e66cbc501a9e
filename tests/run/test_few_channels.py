"""Group norms of channels-last images on a CPU, whose groups are a few elements side by side."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import fusewright

SHAPES = [(2, 12, 5, 7), (1, 66, 3, 3), (3, 12, 1, 1), (2, 9, 11), (1, 6, 2, 3, 4), (0, 6, 4, 4)]


@pytest.mark.every(4)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_as_accurate_as_eager(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """Means that are large, and far apart from channel to channel."""
    torch.manual_seed(1)
    x = torch.randn(shape).add_(torch.arange(shape[1]).view(-1, *[1] * (len(shape) - 2)) * 3 + 50).to(dtype)
    x = x.movedim(1, -1).contiguous().movedim(-1, 1)
    w, b = torch.randn(2, shape[1]).to(dtype)

    def f(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.group_norm(x, 3, w, b)

    got, eager, exact = fusewright.fuse(f)(x, w, b), f(x, w, b), f(x.double(), w.double(), b.double())
    assert got.stride() == eager.stride() and got.dtype is dtype
    bound = 2 * (eager.double() - exact).abs().amax() if x.numel() else 0
    torch.testing.assert_close(got.double(), exact, rtol=torch.finfo(dtype).eps, atol=float(bound) + 1e-6)


def test_gradients() -> None:
    torch.manual_seed(2)
    x = torch.randn(2, 12, 6, 5).to(memory_format=torch.channels_last)
    w, b, g = torch.randn(12), torch.randn(12), torch.randn(2, 12, 6, 5)
    f = lambda x, w, b: F.silu(F.group_norm(x, 4, w, b))
    results = []
    for fn in (f, torch.compile(f, backend="fusewright")):
        leaves = [t.clone().requires_grad_() for t in (x, w, b)]
        results.append(torch.autograd.grad(fn(*leaves), leaves, g))
    for got, want in zip(*results, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def test_lanes_go_along_all_channels() -> None:
    x = torch.randn(2, 12, 6, 5).to(memory_format=torch.channels_last)
    text = str(fusewright.explain(lambda x: F.group_norm(x, 4), x))
    assert "outer_persistent_sum" in text and "pointwise_mul_add" in text
