"""Outputs of GPU kernels on the memory of inputs that die in the launch."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.run import internals, reuse
from tests.emulate.driver import emulated_gpu
from tests.support import counted, counters, no_fallbacks, random_tensor

pytestmark = pytest.mark.skipif(reuse._PRIVATE is None, reason="references to a tensor do not show here")
ROWS, COLUMNS = 520, 512  # a little more than a megabyte of float32


def matrices():
    return random_tensor((ROWS, 8)).requires_grad_(), random_tensor((8, COLUMNS)).requires_grad_()


def loss(x, w, t):
    return F.cross_entropy(x @ w, t)


def overwritten(before):
    return counted(before)["outputs_over_inputs"]


def gradients(fn, *args):
    return torch.autograd.grad(fn(*args), [a for a in args if a.requires_grad])


def test_the_gradient_of_logits_takes_their_memory():
    (x, w), t = matrices(), torch.randint(COLUMNS, (ROWS,))
    want = gradients(loss, x, w, t)
    with emulated_gpu(), no_fallbacks():
        compiled = torch.compile(loss, backend="fusewright")
        before = counters()
        for k in (1, 2):
            for a, b in zip(gradients(compiled, x, w, t), want, strict=True):
                torch.testing.assert_close(a.float(), b.float())
            assert overwritten(before) == k


def test_in_another_shape():
    """Logits of a head are rows of tokens, their gradient may be rows of rows."""

    x, w = (m.detach().bfloat16().requires_grad_() for m in matrices())
    x = torch.cat([x, x]).detach().requires_grad_()  # as many bytes as in float32
    t = torch.randint(COLUMNS, (2 * ROWS,))

    def twice(x, w, t):
        return F.cross_entropy((x.view(4, -1, 8) @ w).float().flatten(0, 1), t)

    want = gradients(twice, x, w, t)
    with emulated_gpu(), no_fallbacks():
        compiled = torch.compile(twice, backend="fusewright", dynamic=False)
        before = counters()
        for a, b in zip(gradients(compiled, x, w, t), want, strict=True):
            torch.testing.assert_close(a, b, rtol=2e-2, atol=2e-3)
        assert overwritten(before) == 1


def test_not_while_the_graph_is_retained():
    (x, w), t = matrices(), torch.randint(COLUMNS, (ROWS,))
    with emulated_gpu(), no_fallbacks():
        result = torch.compile(loss, backend="fusewright")(x, w, t)
        before = counters()
        first = torch.autograd.grad(result, (x, w), retain_graph=True)
        assert overwritten(before) == 0
        second = torch.autograd.grad(result, (x, w))
        assert overwritten(before) == 1
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_not_what_hooks_hold():
    (x, w), t = matrices(), torch.randint(COLUMNS, (ROWS,))
    held = []
    with emulated_gpu(), no_fallbacks():
        compiled = torch.compile(loss, backend="fusewright")
        with torch.autograd.graph.saved_tensors_hooks(lambda s: (held.append(s), s)[1], lambda s: s):
            result = compiled(x, w, t)
        kept = [h.clone() for h in held]
        before = counters()
        torch.autograd.grad(result, (x, w))
        assert overwritten(before) == 0
    assert all(torch.equal(a, b) for a, b in zip(held, kept, strict=True))


def test_not_what_the_user_has_seen():
    def seen(x, w):
        y = x @ w
        return y, y.sigmoid()

    x, w = matrices()
    with emulated_gpu(), no_fallbacks():
        y, z = torch.compile(seen, backend="fusewright")(x, w)
        kept = y.clone()
        before = counters()
        torch.autograd.grad((y.detach() * z).sum(), (x, w))
        assert overwritten(before) == 0 and torch.equal(y, kept)
        y, z = torch.compile(seen, backend="fusewright")(x, w)
        del y  # its user may have used it on another stream
        torch.autograd.grad(z.sum(), (x, w))
        assert overwritten(before) == 0


def test_results_of_torch_in_the_same_graph():
    def chain(x, w):
        y = torch.mm(x, w)
        return torch.mm(y.sigmoid() * 2 + 1, w.t())

    x, w = (t.detach() for t in matrices())
    with emulated_gpu(), no_fallbacks():
        before = counters()
        torch.testing.assert_close(torch.compile(chain, backend="fusewright")(x, w), chain(x, w))
        assert overwritten(before) == 1


@pytest.mark.parametrize("case", ["two readers", "elsewhere", "read later", "small", "option", "type"])
def test_where_it_would_be_wrong_or_is_not_worth_it(case):
    def chain(x, w):
        y = torch.mm(x, w)
        if case == "two readers":
            return torch.mm(y.sigmoid() * 2, w.t()), torch.mm(y.tanh() + 1, w.t())
        if case == "elsewhere":
            return torch.mm(y.roll(1, 1).sigmoid() * 2 + 1, w.t())
        if case == "read later":
            return torch.mm(y.sigmoid() * 2 + 1, w.t()), torch.mm(y, w.t())
        if case == "type":
            return torch.mm((y.sigmoid() * 2 + 1).double(), w.t().double())
        return torch.mm(y.sigmoid() * 2 + 1, w.t())

    x, w = (t.detach() for t in matrices())
    x = x[:100] if case == "small" else x
    with emulated_gpu(), no_fallbacks(), fusewright.options(overwrite=case != "option"):
        before = counters()
        got, want = torch.compile(chain, backend="fusewright")(x, w), chain(x, w)
        assert overwritten(before) == 0
        for a, b in zip(*((r,) if isinstance(r, torch.Tensor) else r for r in (got, want)), strict=True):
            torch.testing.assert_close(a.float(), b.float())


@torch.library.custom_op("fusewright_tests::sent", mutates_args=())
def sent(x: torch.Tensor) -> torch.Tensor:
    """What an operator of another library may do with `x` on a stream of its own, after it has returned."""
    return x.sum(0)


@sent.register_fake
def _(x):
    return x.new_empty(x.shape[1])


@pytest.mark.parametrize("through", [lambda y: y, lambda y: y.view(-1, COLUMNS)], ids=["itself", "view"])
def test_not_what_another_library_reads(through):
    def chain(x, w):
        y = torch.mm(x, w)
        return sent(through(y)), torch.mm(y.sigmoid() * 2 + 1, w.t())

    x, w = (t.detach() for t in matrices())
    with emulated_gpu(), no_fallbacks():
        before = counters()
        for a, b in zip(torch.compile(chain, backend="fusewright")(x, w), chain(x, w), strict=True):
            torch.testing.assert_close(a, b)
        assert overwritten(before) == 0


def test_memory_that_is_not_torchs():
    numpy = random_tensor((ROWS, COLUMNS)).numpy().copy()
    before = counters()
    args = ((ROWS, COLUMNS), (COLUMNS, 1), torch.float32)
    out = reuse.over_private([torch.from_numpy(numpy)], internals.empty_strided, *args)
    assert out.shape == (ROWS, COLUMNS) and out.data_ptr() != numpy.ctypes.data and overwritten(before) == 0


def test_a_part_of_memory():
    before = counters()
    args = ((ROWS, 8), (8, 1), torch.float32)
    reuse.over_private([torch.ones(2 * ROWS, 8)[:ROWS]], internals.empty_strided, *args)
    assert overwritten(before) == 0
