"""What convolutional models have between convolutions, forward and backward: as near to float64 as eager is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests.support import no_fallbacks

Layer = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
LAYERS: dict[str, Layer] = {
    "max pooling": lambda x, w: F.max_pool2d(F.relu(x * w), 3, 2, 1),
    "max pooling, windows side by side": lambda x, w: F.max_pool2d(x, 2) * w,
    "average pooling": lambda x, w: F.silu(F.avg_pool2d(x * w, 2)),
    "upsampling": lambda x, w: F.group_norm(F.interpolate(x, scale_factor=2), 4) * w,
    "group norm": lambda x, w: F.silu(F.group_norm(x, 4, w.flatten(), w.flatten())),
    "depthwise": lambda x, w: F.silu(
        F.conv1d(x.flatten(2), w.view(-1, 1, 1).expand(-1, 1, 4), padding=3, groups=len(w))
    ),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", LAYERS)
def test_forward_and_backward(name: str, dtype: torch.dtype, last: bool, device: str) -> None:
    gen = torch.Generator().manual_seed(0)
    x, w = torch.randn(2, 16, 13, 18, generator=gen).to(dtype), torch.randn(16, 1, 1, generator=gen).to(dtype)
    if last:
        x = x.contiguous(memory_format=torch.channels_last)

    def run(fn: Layer, dtype: torch.dtype) -> list[torch.Tensor]:
        inputs = [t.to(device, dtype).requires_grad_() for t in (x, w)]
        out = fn(*inputs)
        weight = torch.linspace(-1, 1, out.numel(), device=device).to(dtype).view(out.shape)
        return [out, *torch.autograd.grad((out * weight).sum(), inputs)]

    with no_fallbacks(), fusewright.options(disk_cache=False):
        got = run(torch.compile(LAYERS[name], backend="fusewright"), dtype)
    eager = run(LAYERS[name], dtype)
    assert got[0].stride() == eager[0].stride()
    for a, e, exact in zip(got, eager, run(LAYERS[name], torch.float64), strict=True):
        assert a.dtype == e.dtype and a.shape == e.shape
        mine, theirs = ((y.double() - exact).norm() / exact.norm() for y in (a, e))
        assert mine <= 1.5 * theirs + 1e-7, (mine, theirs)
