"""Transforms of `torch.func` inside of fused functions."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap

import fusewright
from tests.support import assert_agrees, clone_like, counted, counters, no_fallbacks, random_tensor


def r(*shape, seed=0):
    return random_tensor(shape, seed=seed)


LINEAR = torch.nn.Linear(4, 4)

# (function, arguments for a size, whether one trace serves all sizes)
PROGRAMS = {
    "a reduction and a number": (lambda x: vmap(lambda t: (t * 2).sum() + 1)(x), lambda n: (r(n, 4),), True),
    "of integers": (
        lambda x: vmap(lambda t: (t * 2).sum() + 1.5)(x),
        lambda n: (torch.arange(4 * n).view(n, 4),),
        True,
    ),
    "of 16 bits": (lambda x: vmap(lambda t: (t * 2).sum() - 1)(x), lambda n: (r(n, 4).bfloat16(),), True),
    "results along another dimension": (
        lambda x: vmap(lambda t: t.sin() / 3, out_dims=1)(x),
        lambda n: (r(n, 4),),
        True,
    ),
    "one operand": (
        lambda x, y: vmap(lambda a, b: torch.softmax(a * b, -1), in_dims=(0, None))(x, y),
        lambda n: (r(n, 4), r(4, seed=1)),
        True,
    ),
    "nested": (
        lambda x, y: vmap(vmap(lambda a, b: a * b + 2, (None, 0)), (0, None))(x, y),
        lambda n: (r(n), r(n + 1, seed=1)),
        True,
    ),
    "score": (
        lambda x: vmap(grad(lambda t: -0.5 * (t**2).sum() + torch.log1p(t.exp()).sum()))(x),
        lambda n: (r(n, 3),),
        True,
    ),
    "gradients of each sample": (
        lambda w, b, x: vmap(grad(lambda w, b, t: F.linear(t, w, b).square().sum()), (None, None, 0))(w, b, x),
        lambda n: (r(3, 4), r(3, seed=1), r(n, 4, seed=2)),
        True,
    ),
    "gradient": (lambda x: grad(lambda t: t[0] ** 2 + 3 * t.sum() / 2 + 1)(x), lambda n: (r(n),), True),
    "gradient and value": (lambda x: grad_and_value(lambda t: (t * t).sum())(x), lambda n: (r(n, 4),), True),
    "products with Jacobians": (
        lambda x, y: (vjp(lambda t: t.exp() * 2, x)[1](y)[0], *jvp(lambda t: t.sin() * 2 + 1, (x,), (y,))),
        lambda n: (r(n, 4), r(n, 4, seed=1)),
        False,
    ),
    "Jacobians": (
        lambda x: (jacrev(lambda t: t.sin() * 2)(x), jacfwd(lambda t: t.sin() * 2 + 1)(x)),
        lambda n: (r(n),),
        False,
    ),
    "Hessian": (lambda x: hessian(lambda t: (t**3).sum() + 1)(x), lambda n: (r(n),), False),
    "a step inside": (
        lambda w, x, y: ((x @ (w - 0.1 * grad(lambda w: ((x @ w - y) ** 2).mean())(w)) - y) ** 2).mean(),
        lambda n: (r(4, 2), r(n, 4, seed=1), r(n, 2, seed=2)),
        True,
    ),
    "other parameters": (
        lambda w, b, x: functional_call(LINEAR, {"weight": w, "bias": b}, (x,)).relu() * 2,
        lambda n: (r(4, 4), r(4, seed=1), r(n, 4, seed=2)),
        True,
    ),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize(("f", "make", "one"), PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*")
def test_transforms_inside(f, make, one, gradients):
    fused = fusewright.fuse(f)
    before = counters()
    with no_fallbacks():
        for n in (5, 7):
            mine = make(n)
            for t in mine:
                t.requires_grad_(gradients and t.is_floating_point())
            theirs = clone_like(list(mine))
            got, want = fused(*mine), f(*theirs)
            wide = {"rtol": 1e-5, "atol": 1e-5} if mine[0].dtype is torch.float32 else {}
            assert_agrees(got, want, **wide)
            pair = [[t for t in torch.utils._pytree.tree_leaves(y) if t.requires_grad] for y in (got, want)]
            assert len(pair[0]) == len(pair[1])
            if pair[1]:
                for ts in pair:
                    sum(t.sum() for t in ts).backward()
                assert_agrees([t.grad for t in mine], [t.grad for t in theirs], **wide)
    assert counted(before)["fuse_declined"] == 0
    assert not one or counted(before)["fuse_traces"] == 1
