"""Depthwise convolutions of few taps, separable filters, and blocks of networks that have some, beside eager and
TorchInductor.

    python benchmarks/depthwise.py                       on a GPU
    python benchmarks/depthwise.py --device cpu --only filter

Forward passes; times on a GPU are the device's, from a cold L2 cache. Images are 16x3x512x512 and 64x64x56x56, an
eighth of them on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from beside import all_beside
from torch import Tensor, nn

Case = tuple[str, Callable[..., Tensor], tuple[Tensor, ...]]
BINOMIAL = (0.0625, 0.25, 0.375, 0.25, 0.0625)


def sharpened(x: Tensor, taps: Tensor) -> Tensor:
    """More of what a separable filter takes away."""
    c, k = x.shape[1], taps.numel()
    y = F.conv2d(F.pad(x, (k // 2, k // 2, 0, 0), mode="reflect"), taps.view(1, 1, 1, k).expand(c, 1, 1, k), groups=c)
    y = F.conv2d(F.pad(y, (0, 0, k // 2, k // 2), mode="reflect"), taps.view(1, 1, k, 1).expand(c, 1, k, 1), groups=c)
    return x + 0.5 * (x - y)


def inverted(c: int, device: str) -> nn.Module:
    """A residual block of a network for small devices, as in inference."""
    wide = 6 * c
    inside = [nn.Conv2d(c, wide, 1), nn.BatchNorm2d(wide), nn.ReLU6(), nn.Conv2d(wide, wide, 3, 1, 1, groups=wide)]
    return nn.Sequential(*inside, nn.BatchNorm2d(wide), nn.ReLU6(), nn.Conv2d(wide, c, 1)).to(device).eval()


def cases(device: str) -> list[Case]:
    """Names, programs and operands."""
    part = 1 if device == "cuda" else 8
    taps = torch.tensor(BINOMIAL, device=device)
    found: list[Case] = []
    for shape in ((16 // min(part, 4), 3, 512, 512), (64 // part, 64, 56, 56)):
        x = torch.randn(shape, device=device)
        last = x.contiguous(memory_format=torch.channels_last)
        found += [
            (f"filter {shape}", sharpened, (x, taps)),
            (f"filter, channels last {shape}", sharpened, (last, taps)),
        ]
        for extents in ((1, 5), (1, 21), (21, 1), (3, 3)):

            def conv(x: Tensor, w: Tensor) -> Tensor:
                padding = (w.shape[2] // 2, w.shape[3] // 2)
                return F.relu(F.conv2d(torch.sigmoid(x), w, None, 1, padding, 1, w.shape[0]))

            found.append((f"{extents} {shape}", conv, (x, torch.randn(shape[1], 1, *extents, device=device))))
    for c, size in ((24, 56), (64, 14)):
        block, x = inverted(c, device), torch.randn(64 // part, c, size, size, device=device)
        found.append((f"block of {6 * c} channels, {size}", lambda x, block=block: x + block(x), (x,)))
    return found


if __name__ == "__main__":
    all_beside(__doc__, cases)
