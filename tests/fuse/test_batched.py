"""Backward passes of many gradients at once: `is_grads_batched`, `vectorize`, `torch.func.vmap` of a recorded graph."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import fusewright
from fusewright.core.errors import Refusal
from fusewright.run import handles, steps
from fusewright.run.plan import Plan
from tests.run.graphed import recorder
from tests.run.test_native import Emulated, emulated
from tests.support import is_ours, no_fallbacks, random_tensor

__all__ = ["emulated", "recorder"]  # fixtures
pytestmark = pytest.mark.skipif(not is_ours(), reason="Fusewright's own parts")

WAYS = {
    "fuse": fusewright.fuse,
    "compile": lambda f: torch.compile(f, backend="fusewright", fullgraph=True),
    "dynamic": lambda f: torch.compile(f, backend="fusewright", fullgraph=True, dynamic=True),
}


@pytest.fixture(params=WAYS)
def way(request):
    torch._dynamo.reset()
    with no_fallbacks():
        yield WAYS[request.param]
    torch._dynamo.reset()


def r(*shape, seed=0):
    return random_tensor(shape, seed=seed).requires_grad_()


def gated(x, y):
    return torch.sigmoid(x) * torch.tanh(y) + x


def gathered(w, i):
    return torch.softmax(F.embedding(i, w), -1).square()


def one_by_one(outs, inputs, batch):
    """Gradients for each element of a batch in turn."""
    n = batch[0].shape[0]
    each = [torch.autograd.grad(outs, inputs, [b[k] for b in batch], retain_graph=True) for k in range(n)]
    return [torch.stack(g) for g in zip(*each, strict=True)]


PROGRAMS = {
    "elementwise": (gated, lambda: (r(3, 5), r(5, seed=1))),
    "an argument twice": (lambda x: gated(x, x), lambda: (r(3, 5),)),
    "norm": (lambda x, w: F.layer_norm(x, (8,), w).relu(), lambda: (r(4, 8), r(8, seed=1))),
    "product, then a kernel": (lambda x, w: F.gelu(x) @ w, lambda: (r(4, 8), r(8, 6, seed=1))),
    "linear": (lambda x, w, b: F.linear(F.silu(x), w, b), lambda: (r(2, 3, 8), r(6, 8, seed=1), r(6, seed=2))),
    "products alone": (lambda x, w: x @ w, lambda: (r(4, 8), r(8, 6, seed=1))),
    "several results": (
        lambda x, y: (gated(x, y), x.exp().sum(0), (x > 0).to(torch.int64)),
        lambda: (r(3, 5), r(5, seed=1)),
    ),
    "views": (lambda x: ((x * 2).t(), torch.sin(x).view(-1), x.cos()[1:]), lambda: (r(3, 5),)),
    "turned": (lambda x, w: (torch.tanh(x.t()) @ w).t() * 3, lambda: (r(8, 4), r(8, 6, seed=1))),
    "gather": (gathered, lambda: (r(6, 4), torch.tensor([[0, 5, 0], [2, 2, 1]]))),
    "scan": (lambda x: torch.cumsum(x * x, 1).log1p(), lambda: (r(3, 5),)),
    "pieces": (lambda x: (lambda a, b: a.tanh() * b)(*x.chunk(2, -1)), lambda: (r(3, 6),)),
    "convolution": (
        lambda x, w: F.relu(F.conv2d(x, w, padding=1)) * 2,
        lambda: (r(2, 3, 6, 6), r(4, 3, 3, 3, seed=1)),
    ),
    "pooling": (lambda x: F.max_pool2d(x * 2, 2).exp(), lambda: (r(2, 3, 6, 6),)),
    "cross entropy": (F.cross_entropy, lambda: (r(5, 7), torch.tensor([0, 3, 6, 1, 1]))),
    "a result that is a gradient's": (lambda x, y: x + y, lambda: (r(3, 5), r(5, seed=1))),
    "large": (lambda x, y: F.softmax(x * y, -1), lambda: (r(64, 512), r(64, 512, seed=1))),
}


@pytest.mark.every(6)
@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("retained", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_batches_of_gradients(way, name, retained):
    fn, make = PROGRAMS[name]
    args = make()
    wanted = [a for a in args if a.requires_grad]
    fused = way(fn)

    def results(f):
        out = f(*args)
        return [o for o in (out if isinstance(out, tuple) else (out,)) if o.requires_grad]

    for _ in range(2):
        outs, theirs = results(fused), results(fn)
        batch = [random_tensor((4, *o.shape), seed=7 + k) for k, o in enumerate(outs)]
        want = one_by_one(theirs, wanted, batch)
        got = torch.autograd.grad(outs, wanted, batch, is_grads_batched=True, retain_graph=retained)
        torch.testing.assert_close(list(got), want, rtol=1e-4, atol=1e-5)
        if retained:  # what was saved is as it was
            torch.testing.assert_close(one_by_one(outs, wanted, batch), want, rtol=1e-4, atol=1e-5)
            first = [b[0] for b in batch]
            torch.testing.assert_close(
                torch.autograd.grad(outs, wanted, first), tuple(w[0] for w in want), rtol=1e-4, atol=1e-5
            )
        else:  # and with the batch behind the rest: tensors with other strides
            outs, last = results(fused), [b.movedim(0, -1).contiguous() for b in batch]
            got = torch.func.vmap(lambda *gs, o=outs: torch.autograd.grad(o, wanted, gs), in_dims=-1)(*last)
            torch.testing.assert_close(list(got), want, rtol=1e-4, atol=1e-5)


def test_what_was_saved_is_freed(way):
    x = r(3, 5)
    out, batch = way(gated)(x, x), torch.ones(2, 3, 5)
    torch.autograd.grad(out, x, batch, is_grads_batched=True)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(out, x, batch, is_grads_batched=True)


def test_one_result_s_gradient_is_a_batch(way):
    """The others are zeros, or one gradient for all."""
    f = lambda x, w: (F.gelu(x) @ w, x.exp() * 2)
    x, w = r(4, 8), r(8, 6, seed=1)
    fused, batch = way(f), random_tensor((3, 4, 6), seed=2)
    one = random_tensor((4, 8), seed=3)
    for _ in range(2):
        pairs = []
        for run in (fused, f):
            pairs.append(torch.autograd.grad(run(x, w)[0], (x, w), batch, is_grads_batched=True))
            outs = run(x, w)
            pairs.append(torch.func.vmap(lambda g, o=outs: torch.autograd.grad(o, (x, w), (g, one)))(batch))
        torch.testing.assert_close(pairs[:2], pairs[2:], rtol=1e-4, atol=1e-5)


@pytest.mark.every(3)
@pytest.mark.parametrize("p", [0.5, 1.0])
def test_dropout_masks_are_those_of_the_forward_pass(way, p):
    f = lambda x, w: F.dropout(F.gelu(x), p) @ w + F.dropout(x, p).sum(-1, keepdim=True)
    x, w = r(4, 8), r(8, 6, seed=1)
    fused, batch = way(f), random_tensor((3, 4, 6), seed=2)
    for _ in range(3):
        out = fused(x, w)
        state = torch.get_rng_state()
        got = torch.autograd.grad(out, (x, w), batch, is_grads_batched=True, retain_graph=True)
        assert torch.equal(state, torch.get_rng_state())
        torch.testing.assert_close(list(got), one_by_one([out], (x, w), [batch]), rtol=1e-4, atol=1e-5)


def test_jacobians(way):
    x, y = random_tensor((3,)), random_tensor((3,), seed=1)
    fused = way(gated)
    functional = torch.autograd.functional
    want = functional.jacobian(gated, (x, y))
    torch.testing.assert_close(functional.jacobian(fused, (x, y), vectorize=True), want)
    torch.testing.assert_close(functional.jacobian(fused, (x, y)), want)
    batches, leaf, found = torch.stack([torch.eye(3), 2 * torch.eye(3)]), x.clone().requires_grad_(), []
    for f in (fused, gated):  # batches of batches
        out = f(leaf, y)
        of = torch.func.vmap(lambda g, out=out: torch.autograd.grad(out, leaf, g, retain_graph=True)[0])
        found.append(torch.func.vmap(of)(batches))
    torch.testing.assert_close(*found)


def test_an_outer_graph_and_hooks(way):
    """The fused function in the middle of a graph of torch's, whose hooks see the batch."""
    f, seen = way(gated), []
    net = nn.Linear(5, 5)
    x, batch = r(3, 5), random_tensor((4, 3), seed=3)
    results = []
    for run in (f, gated):
        h = net(x)
        h.register_hook(lambda g: seen.append(tuple(g.shape)) or g * 2)
        out = run(h, x).sum(-1)
        results.append(torch.autograd.grad(out, (x, *net.parameters()), batch, is_grads_batched=True))
    torch.testing.assert_close(*results)
    assert seen == [(3, 5)] * 2


def test_under_the_runtime_of_aotautograd(way):
    """Programs that write into arguments: their backward plan is called by PyTorch's own node."""

    def f(x, counter):
        counter.add_(1)
        return gated(x, x) * counter

    x, batch, fused = r(5), random_tensor((3, 5)), way(f)
    for _ in range(2):
        got = torch.autograd.grad(fused(x, torch.ones(())), x, batch, is_grads_batched=True)
        torch.testing.assert_close(got, torch.autograd.grad(f(x, torch.ones(())), x, batch, is_grads_batched=True))


def test_modules_and_checkpoints():
    net = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))
    fused, x, batch = fusewright.fuse(net), r(4, 6), random_tensor((5, 4, 3), seed=1)
    wanted = [x, *net.parameters()]
    want = torch.autograd.grad(net(x), wanted, batch, is_grads_batched=True)
    for out in (fused(x), checkpoint(fused, x, use_reentrant=False), fused(x)):
        got = torch.autograd.grad(out, wanted, batch, is_grads_batched=True)
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_saved_tensors_that_change_are_noticed(way):
    x, y = r(3, 5), random_tensor((3, 5), seed=1)
    out = way(lambda x, y: x * y + torch.sin(y))(x, y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(out, x, torch.ones(2, 3, 5), is_grads_batched=True)


def test_what_depends_on_strides_says_so(way):
    def f(x):
        return torch.as_strided(x * 2, (2, 2), (2, 1)).exp() * 3

    x = r(6)
    out, batch = way(f)(x), torch.ones(3, 2, 2)
    with pytest.raises(RuntimeError, match=r"cannot be batched here .* call the plain function"):
        torch.autograd.grad(out, x, batch, is_grads_batched=True, retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(out, x, batch[0]), torch.autograd.grad(f(x), x, batch[0]))


def test_other_failures_of_a_backward_pass():
    with pytest.raises(RuntimeError, match="what was saved for it is batched"):
        steps.explain(RuntimeError("Cannot access data pointer of Tensor that doesn't have storage"))
    steps.explain(RuntimeError("another one"))


@pytest.mark.parametrize("name", ["elementwise", "product, then a kernel", "linear"])
def test_no_call_is_made_to_find_out(name, monkeypatch):
    """A plan asks where a gradient lies once, as ever, or in place of its strides, or of machine code with these."""
    sources, callable_ = [], Plan.callable

    def noted(self):
        made = callable_(self)
        sources.append(self.source)
        return made

    monkeypatch.setattr(Plan, "callable", noted)
    fn, make = PROGRAMS[name]
    fusewright.fuse(fn)(*make())
    lines = [line.split(": tangents_1 = ")[0] for line in sources[-1].splitlines()]
    usual = [line for line in lines if not line.startswith("        ")]  # not where one has other strides
    calls = sum(line.count(f"tangents_1.{what}()") for line in usual for what in ("data_ptr", "is_contiguous"))
    natively = sum("_dense(" in line for line in usual)
    assert (calls, natively) == {"elementwise": (2, 0), "product, then a kernel": (1, 0), "linear": (0, 1)}[name]


@pytest.mark.parametrize("native", [True, False])
def test_on_a_gpu(native, monkeypatch, emulated: Emulated):
    """Launches by machine code do not read what has no memory, and what was launched is not launched for the batch."""
    if not native:
        monkeypatch.setattr(handles, "dense", lambda: None)
    products = (lambda x, w: torch.tanh(x * 2 + 1) @ w, lambda: (r(4, 8), r(8, 6, seed=1)))
    for fn, make in (PROGRAMS["elementwise"], PROGRAMS["norm"], PROGRAMS["pieces"], products):
        args, fused = make(), fusewright.fuse(fn)
        for _ in range(3):
            out = fused(*args)
            batch, before = random_tensor((4, *out.shape), seed=7), emulated.launched
            got = torch.autograd.grad(out, args, batch, is_grads_batched=True, retain_graph=True)
            assert emulated.launched == before
            again = torch.func.vmap(lambda g, o=out, a=args: torch.autograd.grad(o, a, g, retain_graph=True))(batch)
            torch.testing.assert_close(got, again)
            torch.testing.assert_close(list(got), one_by_one([out], args, [batch]), rtol=1e-4, atol=1e-5)
            assert emulated.launched > before
    assert emulated.natively


def test_beside_cuda_graphs(recorder):
    """A replay is for memory where it was: a batch has none, before and after there is a recording."""
    f = lambda x, w: torch.relu(torch.tanh(x) @ w) * 2
    fused = torch.compile(f, backend="fusewright", options={"cuda_graphs": True})
    x, w = r(4, 8), r(8, 8, seed=1)
    batch = random_tensor((3, 4, 8), seed=2)
    want = one_by_one([f(x, w)], (x, w), [batch])
    for step in range(24):
        got = torch.autograd.grad(fused(x, w), (x, w), batch[0])
        torch.testing.assert_close(got, tuple(t[0] for t in want), rtol=1e-4, atol=1e-5)
        if step % 5 == 0:
            got = torch.autograd.grad(fused(x, w), (x, w), batch, is_grads_batched=True)
            torch.testing.assert_close(list(got), want, rtol=1e-4, atol=1e-5)


def test_machine_code_says_what_has_no_memory():
    dense = handles.dense()
    assert dense is not None

    def ask(x):
        assert dense(x) is False and dense(torch.ones(3), x) is False and steps.bare(torch.ones(3), x)
        return x

    torch.func.vmap(ask)(torch.eye(3))
    assert dense(torch.ones(3)) is True and not steps.bare(torch.ones(3))


def test_steps():
    """Dead values are dropped; what is not a plain function of values is refused."""
    graph = torch.fx.Graph()
    a, b = graph.placeholder("a"), graph.placeholder("b")
    c = graph.call_function(torch.ops.aten.add.Tensor, (a, b), {"alpha": 2})
    d = graph.call_function(torch.ops.aten.cat.default, ([c, c], 0))
    graph.output((d, None, b))
    made = steps.steps_of(torch.fx.GraphModule({}, graph))
    assert made.calls[0][3] == (0,) and made.calls[1][3] == (2,)
    x, none, y = made([torch.ones(2), torch.ones(2)])
    assert none is None and x.tolist() == [3.0] * 4 and y.tolist() == [1.0, 1.0]
    with graph.inserting_before(d):
        graph.call_function(torch.ops.aten.add_.Tensor, (c, b))
    with pytest.raises(Refusal, match="writes into an argument"):
        steps.steps_of(torch.fx.GraphModule({}, graph))
