"""Graphs of torch.compile that run under our own node, those that do not, and Dynamo beside them."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import forward_ad

import fusewright
from fusewright.run.node import NodeShape, source
from fusewright.trace import lean
from tests.support import is_ours, no_fallbacks

pytestmark = pytest.mark.skipif(not is_ours(), reason="Fusewright's own parts")


@pytest.fixture
def kinds(monkeypatch):
    """For each graph, whether its callable is ours."""
    found = []
    before = lean.Parts.callable

    def callable_(self, whole, inputs, name):
        fn = before(self, whole, inputs, name)
        found.append(fn is not whole)
        return fn

    monkeypatch.setattr(lean.Parts, "callable", callable_)
    torch._dynamo.reset()
    yield found
    torch._dynamo.reset()


def gradients(fn, args, create_graph=False):
    out = fn(*args)
    out = out if isinstance(out, tuple) else (out,)
    wanted = [t for t in args if isinstance(t, torch.Tensor) and t.requires_grad]
    loss = sum(t.sum() for t in out if isinstance(t, torch.Tensor) and t.requires_grad)
    return [*out, *torch.autograd.grad(loss, wanted, create_graph=create_graph, allow_unused=True)]


def same(got, want):
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        if isinstance(b, torch.Tensor):
            assert (a.requires_grad, a.shape, a.dtype) == (b.requires_grad, b.shape, b.dtype)
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
        else:
            assert a == b


LEAN = {
    "one result": lambda x, y, n: torch.relu(x + y) * n,
    "several": lambda x, y, n: (x * n, (x * y).sum(0), y.detach() + 1),
    "unused": lambda x, y, n: torch.softmax(x, -1) + 0 * n,
    "integers": lambda x, y, n: ((x > 0).to(torch.int64) + 1, x * y.shape[0]),
    "matrix product": lambda x, y, n: F.gelu(x @ y.t() + n),
    "saved view": lambda x, y, n: torch.sin(x.t()) * y.t(),
}
WHOLE = {
    "mutation": lambda x, y, n: (y.detach().add_(n).sum(), x * y),
    "alias": lambda x, y, n: (x[1:], x * y),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", [*LEAN, *WHOLE])
def test_results_and_gradients(name, dynamic, kinds):
    fn = {**LEAN, **WHOLE}[name]
    compiled = torch.compile(fn, backend="fusewright", dynamic=dynamic)
    with no_fallbacks():
        for size, n in [((5, 6), 3), ((7, 4), 5), ((5, 6), 3)]:
            args = [torch.randn(size, requires_grad=True), torch.randn(size, requires_grad=True), n]
            twin = [t.detach().clone().requires_grad_() if isinstance(t, torch.Tensor) else t for t in args]
            same(gradients(compiled, args), gradients(fn, twin))
    assert kinds and set(kinds) == {name in LEAN}


def test_without_gradients(kinds):
    fn = LEAN["several"]
    compiled = torch.compile(fn, backend="fusewright")
    x, y = torch.randn(5, 6, requires_grad=True), torch.randn(5, 6)
    for context in (torch.no_grad(), torch.inference_mode()):
        with context:
            got, want = compiled(x, y, 2), fn(x, y, 2)
            for a, b in zip(got, want, strict=True):
                torch.testing.assert_close(a, b)
                assert (a.requires_grad, a.is_inference()) == (b.requires_grad, b.is_inference())
    assert all(kinds)


UNRECORDED = {
    "matrix product": lambda x: torch.mm(x, x),
    "clone": lambda x: x.clone(),
    "sort": lambda x: torch.sort(x)[0],
    "behind a kernel": lambda x: torch.mm(torch.relu(x * 2) + 1, x),
}


@pytest.mark.parametrize("detached", [False, True], ids=["no_grad", "detach"])
@pytest.mark.parametrize("name", UNRECORDED)
@pytest.mark.parametrize("way", ["compile", "fuse"])
def test_what_is_not_to_be_differentiated(way, name, detached, kinds):
    """Operations that torch runs are not recorded either, where the whole graph has no gradients."""

    def fn(x):
        with torch.no_grad():
            return UNRECORDED[name](x.detach() if detached else x)

    x = torch.randn(5, 5, requires_grad=True)
    ours = torch.compile(fn, backend="fusewright", fullgraph=True) if way == "compile" else fusewright.fuse(fn)
    with no_fallbacks():
        for _ in range(2):
            y = ours(x)
            same([y, torch.is_grad_enabled()], [fn(x), True])
            (y * x).sum().backward()
            torch.testing.assert_close(x.grad, y)
            x.grad = None
    assert kinds == [True] * (way == "compile")


@pytest.mark.parametrize("way", ["compile", "fuse"])
def test_an_error_without_gradients_leaves_the_mode_alone(way):
    fn = lambda x: torch.linalg.cholesky(x.detach())
    ours = torch.compile(fn, backend="fusewright") if way == "compile" else fusewright.fuse(fn)
    assert not ours(torch.eye(3, requires_grad=True)).requires_grad
    with pytest.raises(RuntimeError, match="positive-definite"):
        ours((-torch.eye(3)).requires_grad_())
    assert torch.is_grad_enabled()
    torch._dynamo.reset()


def test_a_module_with_shared_and_frozen_parameters(kinds):
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.LayerNorm(8), torch.nn.Linear(8, 8))
    net[3].weight = net[0].weight
    net[2].bias.requires_grad_(False)
    compiled = torch.compile(net, backend="fusewright")
    for n in (4, 5, 6):
        x = torch.randn(n, 8)
        results = []
        for f in (compiled, net):
            net.zero_grad()
            f(x).square().sum().backward()
            results.append([p.grad.clone() if p.grad is not None else None for p in net.parameters()])
        for a, b in zip(*results, strict=True):
            assert (a is None) == (b is None)
            assert a is None or torch.allclose(a, b, rtol=1e-4, atol=1e-5)
    assert all(kinds)


def test_retained_and_repeated_backward(kinds):
    compiled = torch.compile(lambda x, y: torch.sin(x) * y, backend="fusewright")
    x, y = (torch.randn(5, 6, requires_grad=True) for _ in range(2))
    out = compiled(x, y)
    first = torch.autograd.grad(out.sum(), (x, y), retain_graph=True)
    again = torch.autograd.grad(out.sum(), (x, y))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(out.sum(), (x, y))


def test_a_changed_operand_is_noticed():
    compiled = torch.compile(lambda x, y: torch.sin(x) * y, backend="fusewright")
    x, y = torch.randn(5, 6, requires_grad=True), torch.randn(5, 6)
    out = compiled(x, y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_twice_differentiated_raises():
    compiled = torch.compile(lambda x: torch.sin(x) * 2, backend="fusewright")
    x = torch.randn(5, requires_grad=True)
    (grad,) = torch.autograd.grad(compiled(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="cannot be differentiated twice"):
        grad.sum().backward()


def test_autocast(kinds):
    fn = lambda x, w: F.gelu(x @ w) * 2
    compiled = torch.compile(fn, backend="fusewright")
    x, w = torch.randn(8, 8), torch.randn(8, 8, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        got, want = gradients(compiled, [x, w]), gradients(fn, [x, w])
    assert not any(kinds)
    for a, b in zip(got, want, strict=True):
        assert a.dtype is b.dtype
        torch.testing.assert_close(a, b, rtol=5e-2, atol=5e-2)


def test_what_varies_in_a_result_stays_dynamic(kinds):
    """A second graph that reads the result is not traced again for each size."""
    first = torch.compile(lambda x: torch.sin(x) * 2, backend="fusewright", dynamic=True)
    frames = []

    def counting(gm, inputs):
        frames.append(gm)
        return gm.forward

    second = torch.compile(lambda x: torch.cos(x) + 1, backend=counting)
    for n in (5, 6, 7, 8):
        second(first(torch.randn(n, 3)))
    assert len(frames) == 1 and all(kinds)


def test_beside_frames_that_dynamo_gave_up(monkeypatch):
    """Dynamo looks at what such a frame calls: plans, nodes and fused functions are nothing for it."""

    def f(x, y):
        return torch.relu(x + y) * 2 + torch.softmax(x, -1)

    for make in (lambda: torch.compile(f, backend="fusewright"), lambda: fusewright.fuse(f)):
        torch._dynamo.reset()
        inner, seen = make(), []

        def backend(gm, inputs, seen=seen):
            seen.append(gm)
            return gm.forward

        def train(x, y, inner=inner):
            for _ in range(2):
                torch._dynamo.graph_break()
                inner(x, y).sum().backward()
            return y.grad

        for n in (4, 5):
            x, y = (torch.randn(n, 8, requires_grad=True) for _ in range(2))
            got = torch.compile(train, backend=backend)(x, y)
            want = torch.autograd.grad(f(x, y).sum(), y)[0] * 2
            torch.testing.assert_close(got, want)
        text = "".join(gm.print_readable(print_output=False) for gm in seen)
        assert "backward" not in text and "empty_strided" not in text
    torch._dynamo.reset()


@pytest.mark.parametrize("make", [lambda f: torch.compile(f, backend="fusewright"), fusewright.fuse])
def test_compiled_autograd(make):
    """Where PyTorch compiles the backward pass as a whole, ours is called in it."""
    f = lambda x, y: torch.relu(x + y) * 2 + torch.softmax(x, -1)
    call = make(f)
    for n in (5, 6):
        x, y = (torch.randn(n, 6, requires_grad=True) for _ in range(2))
        want = torch.autograd.grad(f(x, y).sum(), (x, y))
        with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
            call(x, y).sum().backward()
        torch.testing.assert_close((x.grad, y.grad), want)
    torch._dynamo.reset()


def test_the_node_s_source():
    """Integers apart from tensors, in any order."""
    text = source(NodeShape((True, False, True, False), 1, ("tensor", "number"), (), (), (0,)))
    assert "def forward(ctx, n, a0, a2):" in text and "compiled([a0, n[0], a2, n[1]])" in text
    assert "return (None, r[0], r[2])" in text and "args = [*ctx.numbers, *ctx.saved_tensors, g[0]]" in text
    text = source(NodeShape((False, False, True), 2, ("tensor",), (), (1,), (0,)))
    assert "compiled([*n, a2])" in text and "return (None, r[2])" in text


def _without_grad(x, y):
    with torch.no_grad():
        return x * 3


@pytest.mark.parametrize("way", ["fuse", "compile"])
@pytest.mark.parametrize(
    "fn",
    [
        _without_grad,
        lambda x, y: x.detach() * 3,
        lambda x, y: (y * 2 + 1, x.detach() * 3, x > 0),
        lambda x, y: x.detach() @ y.t(),
        lambda x, y: torch.sort(x.detach())[0],
        lambda x, y: (y + 1).exp() * torch.sort(x.detach() + 1)[0].detach(),
    ],
)
def test_results_that_need_no_gradient_have_none(fn, way):
    """Even if PyTorch runs an operation of the graph, on an argument that requires one."""
    torch._dynamo.reset()
    call = fusewright.fuse(fn) if way == "fuse" else torch.compile(fn, backend="fusewright")
    x, y = torch.randn(4, 5, requires_grad=True), torch.randn(4, 5)
    for _ in range(2):
        out, want = call(x, y), fn(x, y)
        for a, b in zip(*(t if isinstance(t, tuple) else (t,) for t in (out, want)), strict=True):
            assert not a.requires_grad and not b.requires_grad and a.is_leaf
            torch.testing.assert_close(a, b)
        assert torch.is_grad_enabled()


def _enables(x):
    with torch.enable_grad():
        y = x.sin() * 3
    return x * 2, y


def _enables_across_a_break(x):
    with torch.enable_grad():
        y = x.sin() * 3
        torch._dynamo.graph_break()
        z = y.exp()
    return x * 2, y, z


def _disables_across_a_break(x):
    y = x.sin()
    with torch.no_grad():
        z = y.exp() * 3
        torch._dynamo.graph_break()
        w = z * z
    return y, z, w * 2


@pytest.mark.parametrize("fn", [_enables, _enables_across_a_break, _disables_across_a_break])
def test_a_program_that_turns_gradients_on_or_off(fn):
    """Whatever the mode is that it is called in: what it computes under `enable_grad` has gradients."""
    torch._dynamo.reset()
    f = torch.compile(fn, backend="fusewright")
    x = torch.randn(5, 7, requires_grad=True)
    for mode in (True, False, True):
        with torch.set_grad_enabled(mode), no_fallbacks():
            got, want = f(x), fn(x)
        recorded = [[t for t in r if t.requires_grad] for r in (got, want)]
        grads = [torch.autograd.grad(sum(t.sum() for t in r), x) if r else () for r in recorded]
        same([*got, *grads[0]], [*want, *grads[1]])


@pytest.mark.parametrize("name", ["one result", "several", "matrix product"])
@pytest.mark.parametrize("gradients", [False, True])
def test_forward_mode_differentiation(name, gradients):
    """AOTAutograd's graphs know of no tangents: those of results would be missing, without a word."""
    fn = LEAN[name]
    compiled = torch.compile(fn, backend="fusewright")
    x, y, t = (torch.randn(4, 5) for _ in range(3))
    x.requires_grad_(gradients)

    def tangents(f, x):
        out = f(x, y, 2)
        return [forward_ad.unpack_dual(o).tangent for o in (out if isinstance(out, tuple) else (out,))]

    for _ in range(2):
        compiled(x, y, 2)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, t)
            want, got = tangents(fn, dual), tangents(compiled, dual)
            assert want[0] is not None
            same(got, want)
            assert set(tangents(compiled, x)) == {None}, "none of its arguments has one"
