"""Rare arguments and ways to differentiate."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import fusewright
from tests.support import counted, counters, random_tensor


@fusewright.fuse
def gated(x, y):
    return torch.sigmoid(x) * torch.tanh(y) + x


plain = gated.__wrapped__


def test_batches_of_gradients_are_refused():
    x, eye = random_tensor((3,)).requires_grad_(), torch.eye(3)
    with pytest.raises(RuntimeError, match=r"cannot be batched .* call the plain function"):
        torch.autograd.grad(gated(x, x), x, eye, is_grads_batched=True)
    out = gated(x, x)
    with pytest.raises(RuntimeError, match=r"cannot be batched .* call the plain function"):
        torch.func.vmap(lambda g: torch.autograd.grad(out, x, g)[0])(eye)
    with pytest.raises(RuntimeError, match=r"cannot be batched .* call the plain function"):
        torch.autograd.functional.jacobian(lambda x: gated(x, x), x, vectorize=True)
    mine, theirs = (torch.autograd.functional.jacobian(lambda x, f=f: f(x, x), x) for f in (gated, plain))
    torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
@pytest.mark.filterwarnings("ignore")
def test_nested_tensors(layout):
    fused = fusewright.fuse(lambda x: x * 2)
    x = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=layout)
    for mine, theirs in zip(fused(x).unbind(), x.unbind(), strict=True):
        assert torch.equal(mine, theirs * 2)


def test_lazy_modules():
    with pytest.raises(fusewright.UserError, match="LazyLinear are not made yet"):
        fusewright.fuse(nn.LazyLinear(3))
    m = nn.Sequential(nn.LazyLinear(3), nn.Tanh())
    fused, x, before = fusewright.fuse(m), random_tensor((2, 4)), counters()
    for _ in range(3):
        torch.testing.assert_close(fused(x), m(x))
    assert type(m[0]) is nn.Linear and counted(before)["fuse_traces"] == 1
