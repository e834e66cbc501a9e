"""Gradients of results of which elements share memory, as those of windows do: each is counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import fusewright
from tests.support import same_bits

RESULTS: dict[str, Callable[[Tensor], Any]] = {
    "windows": lambda x: x.abs().unfold(0, 2, 1),
    "windows, merged": lambda x: x.abs().unfold(0, 2, 1).flatten(0, 1),
    "windows, turned": lambda x: x.abs().unfold(1, 3, 2).permute(2, 0, 1),
    "one of two": lambda x: (x * 3, x.abs().unfold(0, 2, 1)),
    "also used": lambda x: ((y := x.abs().unfold(0, 2, 1)), (y * 2).sum()),
    "other strides": lambda x: x.abs().as_strided((3, 3), (1, 1)),
    "repeated": lambda x: ((y := (x * 2).unsqueeze(0).expand(3, *x.shape)), (y * 3).sum()),
    "gaps": lambda x: (x.abs()[:, 1:], x.abs()[::2], x.abs().diagonal(), x.abs().t()),
}


@pytest.mark.parametrize("how", ["static", "dynamic", "fuse"])
@pytest.mark.parametrize("f", RESULTS.values(), ids=RESULTS)
def test_gradients(f: Callable[[Tensor], Any], how: str) -> None:
    torch._dynamo.reset()
    fused = fusewright.fuse(f) if how == "fuse" else torch.compile(f, backend="fusewright", dynamic=how == "dynamic")
    with fusewright.options(fallback=False):
        for shape in ((5, 7), (6, 9)):
            x = torch.randint(-4, 5, shape).float().requires_grad_()
            got, want = fused(x), f(x)
            got, want = ((r,) if isinstance(r, Tensor) else r for r in (got, want))
            seeds = [torch.randint(-3, 4, r.shape).float() for r in want]
            assert all(same_bits(a, b) and a.stride() == b.stride() for a, b in zip(got, want, strict=True))
            assert same_bits(*(torch.autograd.grad(r, x, seeds)[0] for r in (got, want)))
