"""Gradients that torch has not computed yet: negative imaginary parts, conjugates, zeros without memory."""

import pytest
import torch

import fusewright
from fusewright.run import handles

MAKERS = {
    "negative": lambda shape: torch._neg_view(torch.randn(shape)),
    "imaginary part": lambda shape: torch.randn(shape, dtype=torch.complex64).conj().imag,
    "zeros": lambda shape: torch._efficientzerotensor(shape),
}
FUNCTIONS = {
    "one result": lambda x, w: (x * w).tanh() * 2,
    "two results": lambda x, w: ((x * w).tanh(), (x + w).exp()),
    "read through views": lambda x, w: torch.nn.functional.linear(x * 2, w).t().sigmoid()[1:].reshape(-1, 2),
    "read by a product": lambda x, w: (x * w).sin() @ w.t(),
    "given back": lambda x, w: x.t() + w.t(),
}


@pytest.fixture(params=["compile", "fuse", "fuse, all at once"])
def compiled(request, monkeypatch):
    """What compiles a function; the last way looks at all gradients together, in machine code."""
    if request.param == "compile":
        return lambda f: torch.compile(f, backend="fusewright")
    if request.param == "fuse, all at once":
        from fusewright.run import plan_head

        assert handles.dense() is not None
        together = plan_head._together
        monkeypatch.setattr(plan_head, "_together", lambda w, given, needed: together(w, given, True))
    return fusewright.fuse


def gradients(f, makers, seed=0):
    torch.manual_seed(seed)
    x, w = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
    out = f(x, w)
    out = out if isinstance(out, tuple) else (out,)
    return torch.autograd.grad(out, (x, w), [make(o.shape) for make, o in zip(makers, out, strict=False)])


@pytest.mark.every(3)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", MAKERS)
def test_gradients_that_are_not_in_memory(compiled, kind, function):
    f = FUNCTIONS[function]
    g = compiled(f)
    before = fusewright.counters()["fallbacks"]
    for makers in ([MAKERS[kind], torch.randn], [torch.randn, MAKERS[kind]], [torch.randn] * 2, [MAKERS[kind]] * 2):
        for got, want in zip(gradients(g, makers), gradients(f, makers), strict=True):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)
    assert fusewright.counters()["fallbacks"] == before


@pytest.mark.parametrize("turn", [torch.conj, lambda z: -z, lambda z: z.conj().conj(), lambda z: torch._neg_view(z)])
def test_gradients_of_complex_results(compiled, turn):
    def f(x, w):
        return torch.view_as_complex((x * w).tanh().view(4, 2, 2))

    g = compiled(f)
    make = lambda shape: turn(torch.randn(shape, dtype=torch.complex64))
    for got, want in zip(gradients(g, [make]), gradients(f, [make]), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)


def test_a_loss_behind_a_conjugate(compiled):
    """Where such gradients come from: `imag` of the conjugate that autograd passes on."""

    def f(x, w):
        return (x * w).tanh(), (x + w).sigmoid()

    def gradient(f):
        torch.manual_seed(0)
        x, w = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
        z = torch.complex(*f(x, w)).conj()
        return torch.autograd.grad(z, (x, w), torch.randn(4, 4, dtype=torch.complex64))

    for got, want in zip(gradient(compiled(f)), gradient(f), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)


def test_arguments_without_memory():
    def f(x, y):
        return (x * 2 + y).sin().sum()

    g = fusewright.fuse(f)
    x = torch.randn(3, 4)
    for y in (torch.randn(3, 4), torch._efficientzerotensor((3, 4)), torch._neg_view(x), torch.randn(3, 4)):
        for _ in range(2):
            torch.testing.assert_close(g(x, y), f(x, y))
            torch.testing.assert_close(g(y, x), f(y, x))
