"""Losses for `drawn_shapes.py` (`--kinds losses`): values of rows, or of the channels of images, that are reduced to
one number; what metric learning, distillation and segmentation are trained with, written out in plain PyTorch."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from draw import Draw, Program, case

from fusewright.bench import cases_more as more
from fusewright.bench.cases import Case, rows


def entropy(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The mean entropy of distributions."""
    logs = torch.log_softmax(x.float(), dim)
    return -(logs.exp() * logs).sum(dim).mean()


def focal(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Lin et al. 2017, of soft targets."""
    logs = torch.log_softmax(x, -1)
    return -((1 - logs.exp()).square() * logs * y).sum(-1).mean()


def normalized_error(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """BYOL's (Grill et al. 2020)."""
    return F.mse_loss(F.normalize(x, dim=-1), F.normalize(y, dim=-1))


def standardized_error(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Of masked autoencoders (He et al. 2021): against patches of zero mean and unit variance."""
    y = (y - y.mean(-1, keepdim=True)) * (y.var(-1, keepdim=True) + 1e-6).rsqrt()
    return (x - y).square().mean(-1).mean()


def cosine(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (1 - F.cosine_similarity(x, y, -1)).mean()


def spread(x: torch.Tensor) -> torch.Tensor:
    """The mean squared distance from the mean of columns."""
    return (x - x.mean(0)).square().mean()


def hinge(x: torch.Tensor) -> torch.Tensor:
    """VICReg's (Bardes et al. 2021): standard deviations of columns below one."""
    return F.relu(1 - (x.var(0) + 1e-4).sqrt()).mean()


def pixel_entropy(x: torch.Tensor) -> torch.Tensor:
    return entropy(x, 1)


def divergence(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Distillation of segmentation: between distributions over channels."""
    return F.kl_div(torch.log_softmax(x, 1), torch.log_softmax(y, 1), reduction="mean", log_target=True)


def dice(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Of each channel of each image (Milletari et al. 2016)."""
    p = torch.sigmoid(x)
    both, one, other = (v.sum((2, 3)) for v in (p * y, p, y))
    return (1 - (2 * both + 1) / (one + other + 1)).mean()


# name, program, tensors
ROWS: tuple[tuple[str, Program, int], ...] = (
    ("entropy", entropy, 1),
    ("KL divergence", more.kl, 2),
    ("focal loss", focal, 2),
    ("normalized error", normalized_error, 2),
    ("standardized error", standardized_error, 2),
    ("cosine distance", cosine, 2),
    ("spread", spread, 1),
    ("hinge of deviations", hinge, 1),
)
CHANNELS: tuple[tuple[str, Program, int], ...] = (
    ("pixel entropy", pixel_entropy, 1),
    ("pixel divergence", divergence, 2),
    ("dice", dice, 2),
)


def losses(draw: Draw) -> Iterator[Case]:
    """One case of each kind forward, and another with gradients of the first tensor."""
    for grads in ((), (0,)):
        for name, fn, count in ROWS:
            (n, m), dtype = draw.matrix(64, 60_000), draw.dtype()
            n = max(2, n // count)
            make = rows((n, m), (4, 8), big=count, dtype=dtype)
            yield case(name, fn, make, dtype, n, m, large=2 * count + 1 if grads else 0, grads=grads)
        for name, fn, count in CHANNELS:
            k, c, side, dtype = draw.extent(1, 64), draw.extent(2, 400), draw.extent(14, 512), draw.dtype()
            k = max(1, min(k, draw.elements(20_000_000, 100_000_000) // (c * side * side * count)))
            make = rows((k, c, side, side), (2, 4, 8, 8), big=count, dtype=dtype)
            yield case(name, fn, make, dtype, k, c, side, side, large=2 * count + 1 if grads else 0, grads=grads)
