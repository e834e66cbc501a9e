"""Functions that change the grad mode themselves: what requires a gradient, and what is written."""

from __future__ import annotations

import contextlib

import pytest
import torch

import fusewright
from tests.support import assert_agrees, clone_like, counted, counters, no_fallbacks, random_tensor


@torch.no_grad()
def decorated(x, w):
    return torch.softmax(x * w, -1) + 1


@torch.enable_grad()
def enabled(x, w):
    return torch.softmax(x * w, -1) + 1


def in_part(x, w):
    a = (x * w).sin()
    with torch.no_grad():
        b = (x * w).cos() * a
    return a, b, a + b


def nested(x, w):
    with torch.no_grad():
        b = x * w
        with torch.enable_grad():
            c = (x * w + b).sin()
        d = c + 1
    return b, c, d


def switched(x, w):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    b = (x * w).cos()
    torch.set_grad_enabled(before)
    return b * x


def both(x, w):
    with torch.set_grad_enabled(False):
        b = (x * w).cos()
    with torch.set_grad_enabled(True):
        c = b * w
    return b, c


def inferring(x, w):
    with torch.inference_mode():
        b = (x * w).cos() + 1
    return x * 2, b


MODES = {"grad": contextlib.nullcontext, "no_grad": torch.no_grad}


@pytest.mark.every(6)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gradients", [(True, True), (False, True), (False, False)])
@pytest.mark.parametrize("f", [decorated, enabled, in_part, nested, switched, both, inferring])
def test_results_require_gradients_as_eagers_do(f, gradients, mode):
    fused = fusewright.fuse(f)
    before = counters()
    with no_fallbacks():
        for n in (5, 7):
            mine = [random_tensor((n, 4), seed=n + k).requires_grad_(g) for k, g in enumerate(gradients)]
            theirs = clone_like(mine)
            with MODES[mode]():
                got, want = fused(*mine), f(*theirs)
            assert_agrees(got, want)
            pairs = [tuple(y if isinstance(y, tuple) else (y,) for y in (got, want))]
            for a, b in pairs:
                assert [t.requires_grad for t in a] == [t.requires_grad for t in b]
                assert [t.is_leaf for t in a] == [t.is_leaf for t in b]
                if any(t.requires_grad for t in b):
                    for ts in (a, b):
                        sum(t.sum() for t in ts if t.requires_grad).backward()
            assert_agrees([t.grad for t in mine], [t.grad for t in theirs])
    assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0


def test_a_mode_that_is_left_changed_is_so_in_each_call():
    def f(x):
        y = x * 2
        torch.set_grad_enabled(False)
        return y + 1

    fused = fusewright.fuse(f)
    for n in (3, 3, 4):
        try:
            y = fused(torch.ones(n, requires_grad=True))
            assert not torch.is_grad_enabled() and not y.requires_grad
        finally:
            torch.set_grad_enabled(True)


@torch.no_grad()
def step(w, g, momentum):
    momentum.mul_(0.9).add_(g)
    w.add_(momentum, alpha=-0.1)


@torch.no_grad()
def step_of_lists(w, g, momentum):
    torch._foreach_mul_([momentum], 0.9)
    torch._foreach_add_([momentum, w], [g, g * 2])
    return w


def clipped(w, g, momentum):
    with torch.no_grad():
        w.clamp_(-1, 1)
    return (g * w).sin()


def normalized(w, g, momentum):
    with torch.no_grad():
        n = w.norm(dim=1, keepdim=True)
        w.div_(n)
    return torch.softmax(g @ w.t(), -1), n


def a_part(w, g, momentum):
    with torch.no_grad():
        w.t()[0].add_(1)
    return w + g


@pytest.mark.every(4)
@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("f", [step, step_of_lists, clipped, normalized, a_part])
def test_parameters_are_written_under_no_grad(f, leaf):
    fused = fusewright.fuse(f)
    before = counters()
    with no_fallbacks():
        for n in (4, 7, 7):
            w = random_tensor((n, 5), seed=n).requires_grad_()
            mine = [w, random_tensor((n, 5), seed=1), random_tensor((n, 5), seed=2)]
            theirs = clone_like(mine)
            given = [mine, theirs] if leaf else [[x[0] * 1, *x[1:]] for x in (mine, theirs)]
            got, want = fused(*given[0]), f(*given[1])
            assert_agrees(got, want)
            assert_agrees(*given)
            assert given[0][0]._version > 0 and given[0][0].is_leaf == leaf
            assert (got is given[0][0]) == (want is given[1][0])
            results = [y if isinstance(y, tuple) else (y,) for y in (got, want)]
            if want is not None:
                for ts in results:
                    sum(t.sum() for t in ts if t.requires_grad).backward()
            assert_agrees(mine[0].grad, theirs[0].grad)
    assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0


def test_parameters_that_autograd_sees_written_are_eagers_error():
    def f(w):
        w.mul_(2)
        return w + 1

    fused = fusewright.fuse(f)
    for g in (f, fused):
        with pytest.raises(
            RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"
        ):
            g(torch.ones(3, requires_grad=True))


def test_a_step_of_an_optimizer_over_parameters_of_a_model():
    @torch.no_grad()
    def adam(params, grads, first, second, lr):
        for p, g, m, v in zip(params, grads, first, second, strict=True):
            m.lerp_(g, 0.1)
            v.mul_(0.99).addcmul_(g, g, value=0.01)
            p.addcdiv_(m, v.sqrt().add_(1e-8), value=-lr)

    def state():
        torch.manual_seed(0)
        params = [torch.nn.Parameter(torch.randn(4, 3)), torch.nn.Parameter(torch.randn(3))]
        return params, [[torch.zeros_like(p) for p in params] for _ in range(2)]

    fused = fusewright.fuse(adam)
    before = counters()
    (mine, moments), (theirs, their_moments) = state(), state()
    for k in range(3):
        grads = [random_tensor(tuple(p.shape), seed=k) for p in mine]
        fused(mine, grads, *moments, 0.01)
        adam(theirs, grads, *their_moments, 0.01)
    assert_agrees(mine, theirs)
    assert_agrees(moments, their_moments)
    assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0
