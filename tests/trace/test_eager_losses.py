"""Losses and composite activations of 16-bit floats under precision="eager": eager's bits, results and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests.support import compiled, same_bits

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

Tensor = torch.Tensor

SHAPE = (9, 40)
PLACES = torch.arange(9) * 4

WITH_REDUCTION: dict[str, Callable[[Tensor, Tensor, str], Tensor]] = {
    "mse": lambda x, y, r: F.mse_loss(x, y, reduction=r),
    "l1": lambda x, y, r: F.l1_loss(x, y, reduction=r),
    "smooth_l1": lambda x, y, r: F.smooth_l1_loss(x, y, reduction=r, beta=0.3),
    "huber": lambda x, y, r: F.huber_loss(x, y, reduction=r),
    "bce": lambda x, y, r: F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y), reduction=r),
    "bce, weight": lambda x, y, r: F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y), y.abs(), reduction=r),
    "bce, logits": lambda x, y, r: F.binary_cross_entropy_with_logits(x, torch.sigmoid(y), reduction=r),
    "kl": lambda x, y, r: F.kl_div(x, torch.sigmoid(y), reduction=r),
    "soft_margin": lambda x, y, r: F.soft_margin_loss(x, y.sign(), reduction=r),
    "poisson": lambda x, y, r: F.poisson_nll_loss(x, y.abs(), reduction=r),
    "hinge_embedding": lambda x, y, r: F.hinge_embedding_loss(x, y.sign(), reduction=r),
}

OTHERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cross_entropy": lambda x, y: F.cross_entropy(x, PLACES, reduction="none"),
    "cross_entropy, smooth": lambda x, y: F.cross_entropy(x, PLACES, reduction="none", label_smoothing=0.1),
    "log_softmax": lambda x, y: F.log_softmax(x, -1),
    "log_softmax, down": lambda x, y: F.log_softmax(x, 0),
    "softmax": lambda x, y: F.softmax(x, -1),
    "logsumexp": lambda x, y: torch.logsumexp(x, 1),
    "logsumexp, kept": lambda x, y: torch.logsumexp(x, (0, 1), keepdim=True),
    "sigmoid": lambda x, y: torch.sigmoid(x),
    "tanh": lambda x, y: torch.tanh(x),
    "glu": lambda x, y: F.glu(x, 1),
    "logit": lambda x, y: torch.logit(torch.sigmoid(x), eps=0.01),
    "logit, whole": lambda x, y: torch.logit(torch.sigmoid(x) * 0.5 + 0.25),
    "xlogy": lambda x, y: torch.xlogy(x, y.abs()),
    "silu": lambda x, y: F.silu(x),
    "softplus": lambda x, y: F.softplus(x),
    "logsigmoid": lambda x, y: F.logsigmoid(x),
    "mish": lambda x, y: F.mish(x),
    "elu": lambda x, y: F.elu(x),
}


# What adds up in another order than eager: a sum in float32 may round to the neighbouring number of 16 bits.
SUMS = {"softmax", "log_softmax", "log_softmax, down", "logsumexp", "logsumexp, kept"} | {
    n for n in OTHERS if "cross" in n
}


def none(xs: list[Tensor], y: Tensor) -> list[Tensor]:
    return [f(x, y, "none") for f, x in zip(WITH_REDUCTION.values(), xs, strict=True)]


def mean(xs: list[Tensor], y: Tensor) -> list[Tensor]:
    return [f(x, y, "mean") for f, x in zip(WITH_REDUCTION.values(), xs, strict=True)]


def others(xs: list[Tensor], y: Tensor) -> list[Tensor]:
    return [f(x, y) for f, x in zip(OTHERS.values(), xs, strict=True)]


PROGRAMS: dict[str, tuple[list[str], Any]] = {
    "none": (list(WITH_REDUCTION), none),
    "mean": (list(WITH_REDUCTION), mean),
    "others": (list(OTHERS), others),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("program", PROGRAMS)
def test_bits(program: str, dtype: torch.dtype) -> None:
    """Of numbers where sigmoids are 0 and 1, too, and of zeros."""
    names, fn = PROGRAMS[program]

    def run(fn: Any) -> tuple[list[Tensor], list[Tensor]]:
        gen = torch.Generator().manual_seed(2)
        values = torch.randn(SHAPE, generator=gen) * 2
        values[:, ::7] *= 8
        values[0, :4] = 0
        xs = [values.to(dtype).requires_grad_() for _ in names]
        out = fn(xs, (torch.randn(SHAPE, generator=gen) * 2).to(dtype))
        grads = [torch.randn(t.shape, generator=gen).to(dtype) for t in out]
        return out, list(torch.autograd.grad(out, xs, grads))

    with fusewright.options(precision="eager", single_op_groups=True):
        got = run(compiled(fn))
    want = run(fn)
    for what, mine, theirs in zip(("result", "gradient"), got, want, strict=True):
        for name, a, b in zip(names, mine, theirs, strict=True):
            differ = int((a != b).sum())
            fine = differ <= a.numel() // 50 if name in SUMS else same_bits(a, b)
            assert fine, f"{what} of {name}: {differ} of {a.numel()} differ"
