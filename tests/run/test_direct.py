"""Shorter ways to call operators, and results that are allocated in the shape in which they are used."""

from __future__ import annotations

import contextlib

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.run import devices, direct
from fusewright.run import plan as plans
from fusewright.trace.random import SEEDS
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu
from tests.support import no_fallbacks


@pytest.fixture
def sources(monkeypatch):
    """The plans that have been written."""
    found = []
    before = plans.Plan.callable

    def callable_(self):
        fn = before(self)
        found.append(self.source)
        return fn

    monkeypatch.setattr(plans.Plan, "callable", callable_)
    return found


@pytest.fixture(params=["cpu", "gpu"])
def device(request):
    """Kernels for the CPU, or for an emulated GPU."""
    if request.param == "gpu" and COMPILER is None:
        pytest.skip(MISSING)
    with emulated_gpu() if request.param == "gpu" else contextlib.nullcontext():
        yield request.param


def test_they_do_what_the_operators_do():
    a, b, c = torch.randn(3, 4), torch.randn(4, 5), torch.randn(5)
    x, y = torch.randn(2, 3, 4), torch.randn(2, 4, 3)
    arguments = {
        "view.default": (x, [6, 4]),
        "permute.default": (x, [2, 0, 1]),
        "t.default": (a,),
        "transpose.int": (x, 0, -1),
        "mm.default": (a, b),
        "bmm.default": (x, y),
        "addmm.default": (c, a, b),
        "select.int": (x, 1, -2),
        "diagonal.default": (x, 1, 2, 0),
        "copy_.default": (x.clone(), y.transpose(1, 2)),
        "index_copy_.default": (x.clone(), 2, torch.tensor([3, 0]), y[:, :3, :2]),
    }
    for op, fn in direct.CALLS.items():
        if op is not SEEDS:
            args = arguments[str(op).removeprefix("aten.")]
            got, want = fn(*args), op(*args)
            assert torch.equal(got, want) and got.stride() == want.stride()
            same = op.is_view or op._schema.is_mutable
            assert (got.untyped_storage().data_ptr() == args[0].untyped_storage().data_ptr()) == same
    assert direct.call(torch.ops.aten.addmm.default, {"beta": 2}) is torch.ops.aten.addmm.default


def test_seeds_are_those_of_the_operator():
    torch.manual_seed(3)
    want, state = SEEDS(4, torch.device("cpu")), torch.get_rng_state()
    torch.manual_seed(3)
    assert torch.equal(direct.CALLS[SEEDS](4, torch.device("cpu")), want)
    assert torch.equal(torch.get_rng_state(), state)


def test_draws_follow_the_generator(device):
    f = fusewright.fuse(lambda x: F.dropout(x, 0.5))
    x = torch.ones(40, 50)
    torch.manual_seed(0)
    state = torch.get_rng_state()
    first, second = f(x), f(x)
    torch.set_rng_state(state)
    assert torch.equal(f(x), first) and torch.equal(f(x), second) and not torch.equal(first, second)


def block(x, w, b):
    y = x + b
    return y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-5) * w


@pytest.mark.parametrize("size", [(6, 5, 24), (2, 3, 7)])
def test_gradients_of_vectors_are_allocated_as_such(size, device, sources):
    f = fusewright.fuse(block)
    args = [torch.randn(s).requires_grad_() for s in (size, size[-1:], size[-1:])]
    with no_fallbacks():
        out = f(*args)
        grads = torch.autograd.grad(out, args, torch.ones_like(out))
    want = torch.autograd.grad(block(*args), args, torch.ones_like(out))
    for a, b in zip(grads, want, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
        assert a.stride() == b.stride() and (device == "cpu" or a._base is None)
    if device == "gpu":
        body = sources[-1].split("def call")[1]
        lines = [s for s in body.splitlines() if "_eager" not in s]
        assert "[primals" not in "".join(lines[:-1]), "a view is made"


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_so_are_they_when_torch_has_to_compute_them(sources):
    """The launch cannot be made: the group's operations run, and then the view."""
    with emulated_gpu(), fusewright.options(fallback=True):
        f = fusewright.fuse(block)
        args = [torch.randn(s).requires_grad_() for s in ((6, 5, 24), (24,), (24,))]
        f(*args)
        (driver,) = (devices.driver_for(torch.device("cpu")),)
        (plan,) = next(iter(f._fusewright.plans.values()))
        backward = plan.entry.captured.backward
        groups = [g for name, g in backward.__globals__.items() if name.startswith("_g")]
        assert driver is not None and groups
        for g in groups:
            g.make = lambda *key: None
            g.memo.clear()
        out = f(*args)
        grads = torch.autograd.grad(out, args, torch.ones_like(out))
    want = torch.autograd.grad(block(*args), args, torch.ones_like(out))
    for a, b in zip(grads, want, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
        assert a.shape == b.shape


def test_operands_that_are_laid_out_otherwise_are_copied(device):
    """Incoming gradients, of which a contiguous one is expected."""
    f = fusewright.fuse(lambda x: (x * 2).sin())
    for grad in (torch.randn(5, 4).t(), torch.ones(()).expand(4, 5), torch.randn(4, 10)[:, ::2], torch.randn(4, 5)):
        x = torch.randn(4, 5, requires_grad=True)
        (got,) = torch.autograd.grad(f(x), x, grad)
        torch.testing.assert_close(got, (x * 2).cos() * 2 * grad)
    y = torch.randn(1, 5, requires_grad=True)
    (got,) = torch.autograd.grad(f(y), y, torch.randn(5, 1).t().as_strided((1, 5), (99, 1)).fill_(1))
    torch.testing.assert_close(got, (y * 2).cos() * 2)


def test_gradients_are_the_products_themselves(sources):
    """The gradient of a linear layer's weight is turned twice, and a result that is on no other's memory is no view."""

    def f(x, w, b):
        return F.linear(x, w, b).sin()

    x, w, b = torch.randn(5, 8), torch.randn(9, 8).requires_grad_(), torch.randn(9).requires_grad_()
    torch.compile(f, backend="fusewright")(x, w, b).sum().backward()
    want = torch.autograd.grad(f(x, w, b).sum(), w)[0]
    torch.testing.assert_close(w.grad, want)
    assert w.grad.stride() == want.stride() and not w.grad._is_view()
    assert "_view(mm" not in sources[-1] and sources[-1].count(" = _op") == 1
