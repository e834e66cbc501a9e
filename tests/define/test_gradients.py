"""Definitions whose gradients the user defines: by a function, or by another definition."""

from __future__ import annotations

import pickle

import pytest
import torch

from fusewright import UserError, define

BACKENDS = ("eager", "aot_eager", "fusewright", "inductor")


def gated(definition: bool):
    """x * tanh(scale * x) + bias, its gradients by hand."""
    d = define("gated")
    x, b, s = d.tensor("x", "n, m", "f32"), d.tensor("b", "m", "f32"), d.scalar("s", float)
    gate = d.tanh(x * s)
    d.output(x * gate + b)
    d.output(gate > 0.5)
    if not definition:

        @d.backward
        def gradients(grads, inputs, outputs):
            (g, _), (x, _, s) = grads, inputs
            gate = torch.tanh(x * s)
            return g * (gate + x * s * (1 - gate * gate)), g.sum(0)

        return d
    e = define("gated_backward")
    g, _ = e.tensor("g", "n, m", "f32"), e.tensor("none", "n, m", "bool")
    x, b, s = e.tensor("x", "n, m", "f32"), e.tensor("b", "m", "f32"), e.scalar("s", float)
    e.tensor("out", "n, m", "f32"), e.tensor("large", "n, m", "bool")
    gate = e.tanh(x * s)
    e.output(g * (gate + x * s * (1.0 - gate * gate)))
    e.output(g.sum(0))
    assert d.backward(e) is e
    return d


def in_torch(x, b, s):
    gate = torch.tanh(x * s)
    return x * gate + b, gate > 0.5


def both(f, x, b, s):
    x, b = x.clone().requires_grad_(), b.clone().requires_grad_()
    out, large = f(x, b, s)
    assert out.requires_grad and not large.requires_grad
    return out.detach(), large, *torch.autograd.grad((out * torch.arange(out.shape[1])).sum(), (x, b))


@pytest.mark.parametrize("definition", (False, True))
def test_gradients(definition):
    d = gated(definition)
    for n, m in ((3, 4), (5, 2), (1, 1)):
        x, b = torch.randn(n, m), torch.randn(m)
        for got, want in zip(both(d, x, b, 1.5), both(in_torch, x, b, 1.5), strict=True):
            torch.testing.assert_close(got, want)
        assert not d(x, b, 0.5)[0].requires_grad
        with torch.no_grad():
            assert not d(x.requires_grad_(), b, 0.5)[0].requires_grad
        assert torch.autograd.grad(d(x, b, 0.5)[0].sum(), x)[0].shape == x.shape  # b needs none


@pytest.mark.parametrize("definition", (False, True))
@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_inside_torch_compile(backend, definition):
    torch._dynamo.reset()
    d = gated(definition)
    f = torch.compile(lambda x, b, s: d(x * 2, b, s), backend=backend, fullgraph=True)
    g = lambda x, b, s: in_torch(x * 2, b, s)
    for n, m in ((3, 4), (5, 4)):
        x, b = torch.randn(n, m), torch.randn(m)
        for got, want in zip(both(f, x, b, 1.5), both(g, x, b, 1.5), strict=True):
            torch.testing.assert_close(got, want)


def test_a_backward_that_comes_later_is_noticed_and_two_are_told_apart():
    torch._dynamo.reset()
    made = []
    for _ in range(2):
        d = define("twice")
        d.output(d.tensor("x", "n", "f32") * 2)
        made.append(d)
    f = torch.compile(lambda x: made[0](x), backend="aot_eager")
    x = torch.ones(3)
    f(x)
    for d, k in zip(made, (2.0, 3.0), strict=True):
        d.backward(lambda grads, inputs, outputs, k=k: [grads[0] * k])
    x.requires_grad_()
    for fn, k in ((f, 2.0), (made[0], 2.0), (made[1], 3.0)):
        (got,) = torch.autograd.grad(fn(x).sum(), x)
        assert torch.equal(got, torch.full((3,), k))


def test_second_derivatives_are_right_or_refused():
    x, b = torch.randn(3, 4, requires_grad=True), torch.randn(4)
    (first,) = torch.autograd.grad(gated(False)(x, b, 1.5)[0].sum(), x, create_graph=True)
    (want,) = torch.autograd.grad(in_torch(x, b, 1.5)[0].sum(), x, create_graph=True)
    torch.testing.assert_close(torch.autograd.grad(first.sum(), x), torch.autograd.grad(want.sum(), x))
    with pytest.raises(UserError, match="definitions are not differentiated"):
        torch.autograd.grad(gated(True)(x, b, 1.5)[0].sum(), x, create_graph=True)


def test_second_derivatives_of_twins_are_told_apart():
    x = torch.randn(3, requires_grad=True)
    for k in (2.0, 3.0):
        d, e = define("square"), define("square_backward")
        y = d.tensor("x", "n", "f32")
        d.output(y * y)
        grad, y, _ = (e.tensor(name, "n", "f32") for name in ("grad", "x", "y"))
        e.output(grad * y * 2)
        e.backward(lambda grads, inputs, outputs, k=k: (None, grads[0] * inputs[0] * k, None))
        d.backward(e)
        (first,) = torch.autograd.grad(d(x).sum(), x, create_graph=True)
        assert torch.equal(torch.autograd.grad(first.sum(), x)[0], torch.full((3,), k))


def test_pickles():
    kept = pickle.dumps(gated(True))
    assert b"fusewright.index" not in kept  # text: sizes are interned, and nothing else would be the same
    d = pickle.loads(kept)
    x, b = torch.randn(3, 4), torch.randn(4)
    for got, want in zip(both(d, x, b, 1.5), both(in_torch, x, b, 1.5), strict=True):
        torch.testing.assert_close(got, want)


def test_what_is_wrong():
    d = define("into")
    x = d.tensor("x", "n", "f32")
    d.output(x * 2, into=x)
    with pytest.raises(UserError, match="writes into arguments has no gradients"):
        d.backward(lambda *a: a)
    d, x = gated(False), torch.randn(2, 3, requires_grad=True)
    with pytest.raises(UserError, match="must be a function or a definition"):
        d.backward(3)
    torch.autograd.grad(d(x, torch.ones(3), 1.0)[0].sum(), x)  # by the one that it had
    e = define("one")
    e.output(e.tensor("x", "n", "f32") * 2)
    with pytest.raises(UserError, match="must take 7 arguments, not 1"):
        gated(False).backward(e)
    with pytest.raises(UserError, match="must take 3 arguments"):
        e.backward(e)
    d = gated(False)
    d.backward(lambda grads, inputs, outputs: grads[0])
    x = torch.ones(2, 3, requires_grad=True)
    with pytest.raises(UserError, match="gives 1 gradients, for 2 tensors"):
        d(x, torch.ones(3), 1.0)[0].sum().backward()
