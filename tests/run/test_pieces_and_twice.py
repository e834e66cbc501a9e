"""Pieces of an argument (`split`, `chunk`, `unbind`) are views to autograd; second derivatives are there, or raise."""

from __future__ import annotations

import pytest
import torch

import fusewright


def last(x):
    return x.contiguous().chunk(2, -1)[-1]


def beside(x):
    return x.split(2)[0], x * x


def compiled(f, how):
    return fusewright.fuse(f) if how == "fuse" else torch.compile(f, backend="fusewright", dynamic=how == "dynamic")


@pytest.mark.parametrize("f", [last, beside])
@pytest.mark.parametrize("how", ["fuse", "dynamic", "static"])
def test_pieces_are_views(f, how):
    torch._dynamo.reset()
    x = torch.ones(4, 4, requires_grad=True) * 1
    out = compiled(f, how)(x)
    piece = out[0] if isinstance(out, tuple) else out
    assert piece._is_view()
    with pytest.raises(RuntimeError, match="is a view"):
        piece.mul_(5)  # else x's gradient would miss it


@pytest.mark.parametrize("f", [lambda x: (x.sin(), x[1:]), lambda x: ((t := x.sin()), t[1:])])
@pytest.mark.parametrize("source", [lambda b: b, lambda b: b * 1, lambda b: b.view(4)])
@pytest.mark.parametrize("how", ["fuse", "dynamic"])
def test_second_derivatives_beside_views_are_not_lost(f, source, how):
    torch._dynamo.reset()
    leaf = torch.arange(4.0).requires_grad_()
    out = compiled(f, how)(source(leaf))
    (g,) = torch.autograd.grad(sum(t.sum() for t in out), leaf, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiated twice"):
        torch.autograd.grad((g * g + leaf).sum(), leaf, allow_unused=True)


def test_linear_functions_beside_views_have_no_second_derivative():
    leaf = torch.arange(4.0).requires_grad_()
    out = fusewright.fuse(lambda x: (x * 2, x[1:]))(leaf * 1)
    (g,) = torch.autograd.grad(sum(t.sum() for t in out), leaf, create_graph=True)
    (second,) = torch.autograd.grad((g * g + leaf * leaf).sum(), leaf)
    assert torch.equal(second, 2 * leaf)
