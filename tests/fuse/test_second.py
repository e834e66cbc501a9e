"""Gradients of gradients: penalties, products with Hessians, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import gradcheck, gradgradcheck
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

import fusewright
from fusewright.run.second import Second, twice, with_value
from fusewright.run.steps import Ref, Steps
from fusewright.trace.cuts import Cuts
from fusewright.trace.second import undone
from tests.run.test_native import Emulated, emulated
from tests.support import is_ours, no_fallbacks, random_tensor

__all__ = ["emulated"]  # a fixture
pytestmark = pytest.mark.skipif(not is_ours(), reason="Fusewright's own parts")
REFUSED = "cannot be differentiated twice here"


@pytest.fixture(autouse=True)
def _all_compiled():
    with no_fallbacks():
        yield


def r(*shape, seed=0, dtype=torch.float32):
    return random_tensor(shape, dtype=dtype, seed=seed).requires_grad_()


def gated(x, y):
    return torch.sigmoid(x) * torch.tanh(y) + x


def mlp(x, w, b, v, c):
    return F.linear(torch.tanh(F.linear(x, w, b)), v, c)


def block(x, w, b, n):
    return F.layer_norm(F.gelu(F.linear(x, w, b)) + x, (6,), n).exp()


def standardized(x, w):
    return F.batch_norm(x, None, None, w, None, True)


PROGRAMS = {
    "elementwise": (gated, ((3, 5), (5,))),
    "an argument twice": (lambda x: gated(x, x), ((3, 5),)),
    "a saved result": (lambda x: x.exp(), ((3, 5),)),
    "what is saved of a result": (lambda x: torch.sigmoid(x).exp() * 2, ((3, 5),)),
    "softmax": (lambda x: F.softmax(x, -1), ((3, 5),)),
    "logarithms": (lambda x: F.log_softmax(x, -1), ((3, 5),)),
    "weighted softmax": (lambda x, w: F.softmax(x * w, -1) * x, ((3, 5), (5,))),
    "layer norm": (lambda x, w, b: F.layer_norm(x, (5,), w, b), ((3, 5), (5,), (5,))),
    "group norm": (lambda x, w, b: F.group_norm(x, 2, w, b), ((3, 4, 5), (4,), (4,))),
    "batch norm": (standardized, ((6, 4), (4,))),
    "RMS norm": (lambda x, w: F.rms_norm(x, (5,), w), ((3, 5), (5,))),
    "norm behind a sum": (lambda x, b: F.layer_norm(x + b, (5,)), ((3, 5), (5,))),
    "an unsaved bias": (mlp, ((3, 4), (5, 4), (5,), (2, 5), (2,))),
    "a block": (block, ((4, 6), (6, 6), (6,), (6,))),
    "silu": (lambda x: F.silu(x) * x, ((3, 5),)),
    "mish": (F.mish, ((3, 5),)),
    "several results": (lambda x, y: ((x * y).exp(), x.sin().sum(0), (x * y).t()), ((3, 5), (3, 5))),
    "views": (lambda x: ((x * x).view(-1), x.sin()[1:], x.exp().t()), ((3, 5),)),
    "convolution": (lambda x, w, b: F.softplus(F.conv2d(x, w, b)), ((1, 2, 5, 5), (3, 2, 2, 2), (3,))),
    "pooling": (lambda x: F.max_pool2d(x * 2, 2).exp(), ((1, 2, 4, 4),)),
    "scan": (lambda x: torch.cumsum(x * x, 1).log1p(), ((3, 5),)),
    "running sums": (lambda x: x.cumsum(-1) ** 2, ((3, 5),)),
    "padded and rolled": (lambda x: F.pad(x, (1, 1)).roll(1, 0).flip(1).exp() * 2, ((3, 5),)),
    "gather": (lambda w: torch.softmax(F.embedding(torch.tensor([[0, 5], [2, 2]]), w), -1).square(), ((6, 4),)),
    "pieces": (lambda x: (lambda a, b: a.tanh() * b * b)(*x.chunk(2, -1)), ((3, 6),)),
    "numbers": (lambda x: (x * 0.3 + x.shape[0]).sin() ** 3, ((3, 5),)),
    "extrema": (lambda x: (x.amax(-1) * x.sum(-1)).unsqueeze(-1) * x.sin(), ((3, 5),)),
}


def second(f, args, seed=3):
    """Results, gradients under create_graph, and the gradients of a function of these."""
    out = f(*args)
    outs = out if isinstance(out, tuple) else (out,)
    cts = [r(*o.shape, seed=seed + k, dtype=o.dtype) for k, o in enumerate(outs)]
    first = torch.autograd.grad(outs, args, cts, create_graph=True)
    penalty = sum((g * g).sum() for g in first)
    return [*outs, *first, *torch.autograd.grad(penalty, [*args, *cts], allow_unused=True)]


def same(got, want, **tolerances):
    """What requires no gradient in one way does not in the other."""
    assert [t is None for t in got] == [t is None for t in want]
    pairs = [(a, b) for a, b in zip(got, want, strict=True) if b is not None]
    assert [a.requires_grad for a, _ in pairs] == [b.requires_grad for _, b in pairs]
    torch.testing.assert_close([a for a, _ in pairs], [b for _, b in pairs], **tolerances)


@pytest.mark.every(6)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name):
    fn, shapes = PROGRAMS[name]
    fused = fusewright.fuse(fn)
    for dtype in (torch.float64, torch.float32):
        for step in range(2):
            args = [r(*s, seed=k + step, dtype=dtype) for k, s in enumerate(shapes)]
            got, want = second(fused, args), second(fn, args)
            tol = {"rtol": 1e-9, "atol": 1e-9} if dtype is torch.float64 else {"rtol": 2e-3, "atol": 2e-3}
            same(got, want, **tol)


@pytest.mark.parametrize("name", ["elementwise", "what is saved of a result", "softmax", "layer norm", "block"])
def test_against_differences(name):
    fn, shapes = PROGRAMS.get(name) or PROGRAMS["a block"]
    args = [r(*s, seed=k, dtype=torch.float64) for k, s in enumerate(shapes)]
    fused = fusewright.fuse(fn)
    assert gradcheck(fused, args) and gradgradcheck(fused, args)


def test_first_gradients_come_from_the_compiled_pass():
    fused, x = fusewright.fuse(gated), r(64, 512)
    (want,) = torch.autograd.grad(fused(x, x).sum(), x)
    (got,) = torch.autograd.grad(fused(x, x).sum(), x, create_graph=True)
    assert torch.equal(got, want) and got.requires_grad
    (eager,) = torch.autograd.grad(gated(x, x).sum(), x)
    assert not torch.equal(got, eager)  # another order of operations, within rounding
    torch.testing.assert_close(got, eager)


@pytest.mark.parametrize("name", ["elementwise", "a saved result", "what is saved of a result", "RMS norm"])
def test_third_and_fourth_derivatives(name):
    fn, shapes = PROGRAMS[name]
    args, results = [r(*s, seed=k, dtype=torch.float64) for k, s in enumerate(shapes)], []
    for f in (fusewright.fuse(fn), fn):
        value, found = (f(*args) ** 2).sum(), []
        for _ in range(4):
            grads = torch.autograd.grad(value, args, create_graph=True)
            value = sum((g * g * 0.1).sum() for g in grads)
            found += grads
        results.append(found)
    torch.testing.assert_close(*results)


def test_third_derivatives_of_a_norm():
    """As written out: PyTorch's own formula takes mean and deviation for constants from the third derivative on."""

    def written_out(x, w):
        c = x - x.mean(-1, keepdim=True)
        return c * torch.rsqrt(c.square().mean(-1, keepdim=True) + 1e-5) * w

    args, results = [r(3, 5, dtype=torch.float64), r(5, seed=1, dtype=torch.float64)], []
    for f in (fusewright.fuse(lambda x, w: F.layer_norm(x, (5,), w)), written_out):
        value = (f(*args) ** 2).sum()
        for _ in range(3):
            grads = torch.autograd.grad(value, args, create_graph=True)
            value = sum((g * g * 0.1).sum() for g in grads)
        results.append(grads)
    torch.testing.assert_close(*results)


def test_products_with_hessians_and_whole_ones():
    fn = lambda x, w: F.softplus(torch.tanh(x * w)).sum()
    fused, functional = fusewright.fuse(fn), torch.autograd.functional
    x, w = random_tensor((4,)), random_tensor((4,), seed=1)
    for vectorize in (False, True):
        got, want = (functional.hessian(f, (x, w), vectorize=vectorize) for f in (fused, fn))
        torch.testing.assert_close(got, want)
    v = (random_tensor((4,), seed=2), random_tensor((4,), seed=3))
    torch.testing.assert_close(functional.hvp(fused, (x, w), v), functional.hvp(fn, (x, w), v))
    leaf, results = x.clone().requires_grad_(), []
    for f in (fused, fn):
        (g,) = torch.autograd.grad(f(leaf, w), leaf, create_graph=True)
        results.append(torch.func.vmap(lambda t, g=g: torch.autograd.grad(g, leaf, t)[0])(torch.eye(4)))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("name", ["elementwise", "a saved result", "layer norm", "an unsaved bias"])
def test_batches_of_gradients_that_are_differentiated(name):
    fn, shapes = PROGRAMS[name]
    args, results = [r(*s, seed=k) for k, s in enumerate(shapes)], []
    for f in (fusewright.fuse(fn), fn):
        out = f(*args)
        batch = r(4, *out.shape, seed=5)
        first = torch.autograd.grad(out, args, batch, is_grads_batched=True, create_graph=True)
        penalty = sum((g * g).sum() for g in first)
        results.append([*first, *torch.autograd.grad(penalty, [*args, batch], allow_unused=True)])
    same(*results, rtol=1e-3, atol=1e-4)


def test_dropout_masks_stay():
    fn = lambda x, w: (F.dropout(torch.sin(x) * w, 0.5), F.dropout(x * x * x, 0.5))
    fused = fusewright.fuse(fn)
    x, w = r(8, 16), r(16, seed=1)
    for _ in range(3):
        a, b = fused(x, w)
        state, m, k = torch.get_rng_state(), (a != 0).float() * 2, (b != 0).float() * 2
        assert 80 < m.sum() < 176 and 80 < k.sum() < 176
        first = torch.autograd.grad((a + b).sum(), (x, w), create_graph=True)
        gxx, gxw = torch.autograd.grad(first[0].sum(), (x, w))
        assert torch.equal(state, torch.get_rng_state())
        torch.testing.assert_close(gxx, m * -torch.sin(x) * w + k * 6 * x, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(gxw, (m * torch.cos(x)).sum(0), rtol=1e-4, atol=1e-4)


def attention(x, w, b, v):
    q, k, values = F.linear(x, w, b).chunk(3, -1)
    return F.scaled_dot_product_attention(q, k, values).transpose(1, 2).reshape(x.shape[0], -1) @ v


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 1)
        self.norm = nn.LayerNorm(8)
        self.register_buffer("scale", torch.tensor(0.5))

    def forward(self, x, slope=0.2):
        return self.second(F.leaky_relu(self.norm(self.first(x)), slope)) * self.scale


def test_a_gradient_penalty_trains_as_in_eager():
    """Also between other operations, of several sizes, and around a checkpoint."""
    torch.manual_seed(0)
    net = Critic()
    fused = fusewright.fuse(net)
    for n in (4, 5, 4):
        x = r(n, 6, seed=n)
        results = []
        for f in (net, fused, lambda t: checkpoint(fused, t, use_reentrant=False)):
            net.zero_grad()
            (g,) = torch.autograd.grad(f(x * 2).sum(), x, create_graph=True)
            (f(x).mean() + 10 * (g.norm(dim=1) - 1).square().mean()).backward(inputs=[*net.parameters(), x])
            results.append([p.grad.clone() for p in net.parameters()] + [x.grad.clone()])
            x.grad = None
        for got in results[1:]:
            torch.testing.assert_close(got, results[0], rtol=1e-3, atol=1e-5)


def test_hooks_see_both():
    seen, fused = [], fusewright.fuse(gated)
    results = []
    for f in (fused, gated):
        x, y = r(3, 5), r(5, seed=1)
        h = x * 2
        h.register_hook(lambda g: seen.append(1) or g * 3)
        (g,) = torch.autograd.grad(f(h, y).sum(), x, create_graph=True)
        g.register_hook(lambda g: seen.append(2) or g * 5)
        results.append(torch.autograd.grad(g.square().sum(), (x, y)))
        assert seen == [1, 2, 1]
        seen.clear()
    torch.testing.assert_close(*results)


def test_gradients_that_are_constants():
    """They require no gradient, as in eager; nor does a function without any second derivative."""
    fused, x, y = fusewright.fuse(lambda x, y: x * 2 + y * y), r(4), r(4, seed=1)
    gx, gy = torch.autograd.grad(fused(x, y).sum(), (x, y), create_graph=True)
    assert not gx.requires_grad and gy.requires_grad
    (gx,) = torch.autograd.grad((fused(x, y) * x.detach()).sum(), x, create_graph=True)
    assert torch.equal(gx, 2 * x.detach())


def test_some_arguments_without_gradients():
    fn = lambda x, mask, n, scale=2.0: torch.where(mask, x.exp() * n, x * x) * scale
    fused, x, mask = fusewright.fuse(fn), r(3, 5), random_tensor((3, 5), seed=1) > 0
    for n in (2, 3):
        results = [second(lambda t, f=f, n=n: f(t, mask, n, scale=0.5), [x]) for f in (fused, fn)]
        torch.testing.assert_close(*results)


# --- what has changed in between ---------------------------------------------------------------------------


def test_arguments_that_change_are_noticed():
    for fn in (lambda x, y: x * y * y, lambda x, y: (x * y).exp() * y):
        for when in (0, 1):
            fused, x, y = fusewright.fuse(fn), r(4), random_tensor((4,), seed=1)
            out = fused(x, y)
            if when == 0:
                y.add_(1)
                with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                    torch.autograd.grad(out.sum(), x, create_graph=True)
                continue
            g = torch.autograd.grad(out, x, torch.ones(4, requires_grad=True), create_graph=True)[0]
            y.add_(1)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                g.sum().backward()


def test_parameters_that_change():
    """A bias that is not saved may change, as in eager; a weight of which a view is saved may not."""
    fn, shapes = PROGRAMS["an unsaved bias"]
    fused, results = fusewright.fuse(fn), []
    for f in (fused, fn):
        args = [r(*s, seed=k) for k, s in enumerate(shapes)]
        first = torch.autograd.grad(f(*args).square().sum(), args, create_graph=True)
        with torch.no_grad():
            args[2].mul_(3)
        results.append(torch.autograd.grad(first[0].square().sum(), args[:4]))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-5)
    args = [r(*s, seed=k) for k, s in enumerate(shapes)]
    out = fused(*args)
    with torch.no_grad():
        args[1].mul_(3)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(out.sum(), args, create_graph=True)
    args = [r(*s, seed=k) for k, s in enumerate(shapes)]
    out = fused(*args)
    args[1].data = args[1].data * 3
    first = torch.autograd.grad(out.sum(), args, create_graph=True)
    with pytest.raises(RuntimeError, match=REFUSED):
        first[0].sum().backward()


def test_graphs_that_are_freed():
    fused, x = fusewright.fuse(lambda x: x.exp() * x), r(4)
    out = fused(x)
    (g,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    (first,) = torch.autograd.grad(g.sum(), x, retain_graph=True)
    (again,) = torch.autograd.grad(g.sum(), x)
    assert torch.equal(first, again)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(g.sum(), x)


def test_gradients_written_in_place():
    fn = lambda x, y: x * y + y
    results = []
    for f in (fusewright.fuse(fn), fn):
        x, y = r(4), r(4, seed=1)
        gx, gy = torch.autograd.grad(f(x, y).square().sum(), (x, y), create_graph=True)
        gx.mul_(2)
        results.append(torch.autograd.grad((gx * gy).sum(), (x, y)))
    torch.testing.assert_close(*results)


# --- what is refused ---------------------------------------------------------------------------------------


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return -g


class Doubled(Reversed):
    @staticmethod
    def forward(ctx, x):
        return x * 2


def _without(x):
    with torch.no_grad():
        s = x.exp()
    return s * x


def _inner(x):
    with torch.enable_grad():
        (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=False)
    return g * x


def _hooked(x):
    y = x * 2
    y.register_hook(lambda g: g * 2)
    return y * y


CUT = {
    "detach": (lambda x: x.detach() * x, "detaches something"),
    "detach inside torch": (lambda x: F.gumbel_softmax(x, hard=True) * x, "detaches something"),
    "straight through": (lambda x: (x + (x.round() - x).detach()) ** 2, "detaches something"),
    "data": (lambda x: x.exp().data * x, "detaches something"),
    "no_grad": (_without, "without gradients"),
    "a function of its own": (lambda x: Reversed.apply(x * 2).exp(), "gradients"),
    "one that computes": (lambda x: Doubled.apply(x * 2).exp(), "without gradients"),
    "gradients inside": (_inner, "computes gradients"),
    "a hook": (_hooked, "hook"),
}


@pytest.mark.parametrize("name", CUT)
def test_functions_that_stop_gradients(name):
    """What autograd would know of their values is not in the graphs."""
    fn, why = CUT[name]
    fused, x = fusewright.fuse(fn), r(3, 4)
    torch.manual_seed(1)
    out = fused(x)
    (g,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=rf"{REFUSED} \(.*{why}.*\): call the plain function"):
        (x.sum() + g.square().sum()).backward()


def test_formulas_that_are_not_torch_s_are_seen():
    cuts, x = Cuts(), r(3)
    cuts.history([x.exp() * 2, None, (x * 2).sum()])
    assert not cuts.why
    cuts.history([x, Reversed.apply(x.exp()) * 2])
    assert "formula of its own" in cuts.why


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "fn",
    [
        lambda h: torch.mm(h.tanh(), h.tanh()).exp(),
        lambda h: torch.sigmoid(h).exp() * 2,
        lambda h: (h @ h.cos()).relu() @ h,
        lambda h: F.softmax(h, -1).square(),
        lambda h: F.cross_entropy(h, torch.tensor([0, 3, 1, 2])),
        lambda h: h.amax(-1) * h.sum(-1),
        lambda h: F.scaled_dot_product_attention(h, h * 2, h.sin()),
    ],
)
def test_arguments_that_are_gone(fn):
    """An intermediate was saved in place of an argument that is no leaf, or its value is needed: never wrong."""
    x = r(4, 4)
    fused, results = fusewright.fuse(fn), []
    for f in (fused, fn):
        (g,) = torch.autograd.grad(f(x * 2).sum(), x, create_graph=True)
        assert g.requires_grad
        try:
            results.append(torch.autograd.grad(x.sum() + g.square().sum(), x))
        except RuntimeError as e:
            assert f is fused and "an argument that is needed for that is not saved): call the plain" in str(e)
            return
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-4)


def test_leaves_and_others():
    """The same function, of a leaf and of what is none: what autograd has of the one it has not of the other."""
    fn = lambda x: torch.mm(x.tanh(), x.tanh()).exp()
    fused, x = fusewright.fuse(fn), r(4, 4)
    torch.testing.assert_close(second(fused, [x]), second(fn, [x]), rtol=1e-4, atol=1e-4)
    with pytest.raises(RuntimeError, match=REFUSED):
        second(lambda x: fused(x * 2), [x])


@pytest.mark.parametrize("recompute", [True, False])
def test_a_second_derivative_is_never_lost(recompute):
    """Where only intermediate results are saved, too, which autograd does not connect with the arguments."""
    with fusewright.options(recompute=recompute):
        for fn in (torch.exp, lambda x: torch.sigmoid(x).exp() * 2, lambda x: torch.mm(x.tanh(), x.tanh()).exp(), mlp):
            shapes = PROGRAMS["an unsaved bias"][1] if fn is mlp else ((4, 4),)
            args, fused = [r(*s, seed=k) for k, s in enumerate(shapes)], fusewright.fuse(fn)
            try:
                got = second(fused, args)
            except RuntimeError as e:
                assert REFUSED in str(e)
            else:
                same(got, second(fn, args), rtol=1e-4, atol=1e-4)
            (g,) = torch.autograd.grad(fused(*args).sum(), args[:1], create_graph=True)
            assert g.requires_grad
            try:
                found = torch.autograd.grad(g.square().sum(), args[0], allow_unused=True)
            except RuntimeError as e:
                assert REFUSED in str(e)
            else:
                assert found[0] is not None


def test_attention_in_a_function():
    """Its operands are saved turned round, and depend on a bias that is not saved."""
    fused = fusewright.fuse(attention)
    for n in (2, 3):
        args = [r(*s, seed=k) for k, s in enumerate(((n, 3, 4), (12, 4), (12,), (12, 2)))]
        torch.testing.assert_close(second(fused, args), second(attention, args), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "views",
    [
        lambda t: t.permute(2, 0, 3, 1),
        lambda t: t.transpose(1, -1).permute(3, 1, 0, 2),
        lambda t: torch.ops.aten._unsafe_view(t.permute(2, 0, 3, 1).contiguous(), [8, 15]).t(),
        lambda t: torch.ops.aten._unsafe_view(t.permute(3, -2, 0, 1).contiguous(), [20, 6]),
    ],
)
def test_views_are_undone(views):
    t = torch.arange(120.0).reshape(2, 3, 4, 5)
    traced = make_fx(views)(t)
    found = []
    for n in traced.graph.nodes:
        if n.op == "call_function" and n.target is not torch.ops.aten.clone.default:
            found.insert(0, undone(n))
    assert None not in found
    assert torch.equal(with_value(None, tuple(found))(torch.zeros_like(t), views(t)), t)


def test_autocast():
    fn = lambda x, w: F.gelu(x @ w) * 2
    fused, args = fusewright.fuse(fn), [r(8, 8), r(8, 8, seed=1)]
    results = []
    for f in (fused, fn):
        with torch.autocast("cpu", torch.bfloat16):
            out = f(*args)
        first = torch.autograd.grad(out.float().sum(), args, create_graph=True)
        results.append([*first, *torch.autograd.grad(sum(g.sum() for g in first), args)])
    torch.testing.assert_close(*results, rtol=0.1, atol=0.3)


def test_large_tensors_are_not_overwritten():
    """The compiled pass may take over memory that only it sees: not that of what is needed again."""
    fn = lambda x, w: F.softmax(x * w, -1) * x
    fused, args = fusewright.fuse(fn), [r(128, 512), r(512, seed=1)]
    for _ in range(3):
        torch.testing.assert_close(second(fused, args), second(fn, args), rtol=1e-3, atol=1e-3)


def test_on_a_gpu(emulated: Emulated):
    for name in ("elementwise", "weighted softmax", "norm behind a sum"):
        fn, shapes = PROGRAMS[name]
        fused, args = fusewright.fuse(fn), [r(*s, seed=k) for k, s in enumerate(shapes)]
        for _ in range(3):
            before = emulated.launched
            same(second(fused, args), second(fn, args), rtol=1e-3, atol=1e-3)
            assert emulated.launched > before
    assert emulated.natively


def test_results_that_autograd_does_not_know():
    """Where a saved result is another object than the one that was given out: refused, not taken for a constant."""
    fused, x = fusewright.fuse(lambda x: x.exp()), r(4)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        out = fused(x)
    (g,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    torch.testing.assert_close(torch.autograd.grad(g.sum(), x)[0], x.exp())
    call, ctx = (
        twice(Second(Steps(1, (), (Ref(0),)), None, (), (), (0,), ()), "", True),
        SimpleNamespace(next_functions=[]),
    )
    (g,) = call(lambda args: [args[0] * 2], [torch.ones(4)], ctx)
    with pytest.raises(RuntimeError, match=REFUSED):
        g.sum().backward()


def test_a_trace_is_for_all_modes():
    """To look for what stops gradients asks nothing in the program's name."""
    fused, x = fusewright.fuse(gated), r(4)
    fused(x, x)
    (plan,) = next(iter(fused._fusewright.plans.values()))
    assert plan.entry.captured.modes is None


def test_batches_that_cannot_be_differentiated_say_so():
    x = r(3, 4)
    out = fusewright.fuse(lambda x: x.detach() * x)(x)
    with pytest.raises(RuntimeError, match=REFUSED):
        torch.autograd.grad(out, x, torch.ones(2, 3, 4), is_grads_batched=True, create_graph=True)


def test_torch_compile_refuses():
    x = r(5)
    (g,) = torch.autograd.grad(torch.compile(torch.sin, backend="fusewright")(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=rf"{REFUSED} \(under torch.compile\)"):
        g.sum().backward()
    torch._dynamo.reset()
