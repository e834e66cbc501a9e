"""Gradients are None where eager has None: for what only results lead to that a backward pass does not start from."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

import fusewright
from fusewright.trace import absent

FORMS = ("fuse", "compile")


def made(f: Any, form: str) -> Any:
    return fusewright.fuse(f) if form == "fuse" else torch.compile(f, backend="fusewright", fullgraph=True)


def same(got: Any, expected: Any) -> None:
    """The same gradients, None where the other has None."""
    assert [g is None for g in got] == [e is None for e in expected]
    for g, e in zip(got, expected, strict=True):
        if e is not None:
            torch.testing.assert_close(g, e)


def leaves(*values: Tensor) -> list[Tensor]:
    return [v.clone().requires_grad_() for v in values]


def each_subset(f: Callable[..., Any], form: str, *values: Tensor) -> None:
    """Gradients of a sum over each set of results, against eager's."""
    run = made(f, form)
    count = len(f(*leaves(*values)))
    for bits in [*range(1, 1 << count), 1]:
        grads = []
        for g in (f, run):
            xs = leaves(*values)
            out = g(*xs)
            sum(o.sin().sum() for k, o in enumerate(out) if bits >> k & 1).backward()  # type: ignore[union-attr]
            grads.append([x.grad for x in xs])
        same(grads[1], grads[0])


def aliased(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    t = (y * 2).exp()
    return x.view(-1), t.t(), t[0]


@pytest.mark.parametrize("form", FORMS)
def test_sizes_that_only_shapes_are_made_of(form: str) -> None:
    def f(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        u = (x[:, : x.shape[1] // 2] + w).exp()
        return u.sum(), u.sin()

    run = fusewright.fuse(f) if form == "fuse" else torch.compile(f, backend="fusewright", dynamic=True)
    for shape in ((3, 8), (4, 11)):
        x, grads = torch.randn(shape), []
        for g in (f, run):
            (w,) = leaves(torch.tensor([0.5]))
            g(x, w)[0].backward()
            grads.append(w.grad)
        same(grads[1:], grads[:1])


class TwoHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(8, 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = torch.tanh(self.trunk(x))
        return torch.sigmoid(self.first(h)) * 2, (self.second(h) + 1).exp()


def own_and_shared(x: Tensor, y: Tensor, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return (x * y).tanh(), (y + 1).exp() * z, torch.softmax(z, -1) * x


def of_views(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    a, b = x.unbind(0)
    return (a * 2).exp(), torch.cat([b, y]).sin() + 1


def written_inside(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    t = x * 1
    t[0] = y[0].exp()
    return t.sin() * 2, (y * 3).cos()


def of_zeros(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return (x * 2).sin(), y.round() * x


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("f", "shapes"),
    [
        (own_and_shared, [(3, 4), (3, 4), (3, 4)]),
        (of_views, [(2, 5), (3,)]),
        (written_inside, [(3, 4), (3, 4)]),
        (of_zeros, [(3, 4), (3, 4)]),
    ],
)
def test_each_set_of_results(form: str, f: Any, shapes: list[tuple[int, ...]]) -> None:
    torch.manual_seed(0)
    each_subset(f, form, *(torch.randn(s) for s in shapes))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("used", [0, 1])
def test_an_optimizer_leaves_the_other_head_alone(form: str, used: int) -> None:
    torch.manual_seed(0)
    models = [TwoHeads(), TwoHeads()]
    models[1].load_state_dict(models[0].state_dict())
    runs = [models[0], made(models[1], form)]
    x = torch.randn(6, 4)
    for m, run in zip(models, runs, strict=True):
        opt = torch.optim.SGD(m.parameters(), 0.1, momentum=0.9, weight_decay=0.1)
        for step in range(4):
            opt.zero_grad()
            out = run(x)
            (out[used] if step else out[0] + out[1].sum()).square().mean().backward()  # both at first: momentum
            opt.step()
    same([p.grad for p in models[1].parameters()], [p.grad for p in models[0].parameters()])
    for p, q in zip(models[1].parameters(), models[0].parameters(), strict=True):
        torch.testing.assert_close(p, q)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_added_to_other_gradients(form: str) -> None:
    """Zero times the infinite slope of a square root is not a number; eager never computes it."""

    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        return (x * 2).tanh(), x.sqrt() * 3

    x = torch.zeros(4, requires_grad=True)
    made(f, form)(x)[0].sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0] * 4


@pytest.mark.parametrize("form", FORMS)
def test_zeros_that_are_put_together_with_others_are_zeros(form: str) -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        a, b = x.unbind(0)
        return (b * 2).tanh(), a.sqrt() * 3

    x = torch.zeros(2, 4, requires_grad=True)
    made(f, form)(x)[0].sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0.0] * 4, [2.0] * 4]


class Affine(torch.autograd.Function):
    """Its gradients are no multiples of those it is given."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:  # type: ignore[override]
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, g: Tensor, h: Tensor) -> Any:  # type: ignore[override]
        return (g + 1) * 2 + (h + 5) * 3


@pytest.mark.parametrize("form", FORMS)
def test_gradients_that_are_no_multiples(form: str) -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        a, b = Affine.apply(x.sin())  # type: ignore[misc]
        return a.exp(), b.exp()

    each_subset(f, form, torch.randn(3, 4, dtype=torch.float64))


@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_there_goes_on_through_a_chain(form: str) -> None:
    """Also through a function of one result: it gets no gradient at all."""

    def first(x: Tensor, w: Tensor) -> Tensor:
        return torch.tanh(x * w)

    def second(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        return a.exp() + 1, b.sin() * 2

    f, g = made(first, form), made(second, form)
    x, v, w = leaves(*torch.randn(3, 4))
    g(f(x, v), f(x, w))[1].sum().backward()
    assert v.grad is None
    expected = torch.autograd.grad(second(x, first(x, w))[1].sum(), (x, w))
    same([x.grad, w.grad], expected)


@pytest.mark.parametrize("form", FORMS)
def test_unused_is_an_error_as_in_eager(form: str) -> None:
    f = made(own_and_shared, form)
    x, y, z = leaves(*torch.randn(3, 2, 4))
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(f(x, y, z)[1].sum(), (x, y, z))
    got = torch.autograd.grad(f(x, y, z)[1].sum(), (x, y, z), allow_unused=True)
    same(got, torch.autograd.grad(own_and_shared(x, y, z)[1].sum(), (x, y, z), allow_unused=True))
    got = torch.autograd.grad(f(x, y, z)[1].sum(), (x, y, z), materialize_grads=True)
    assert not got[0].any()


@pytest.mark.parametrize("form", FORMS)
def test_a_retained_graph_serves_each_result(form: str) -> None:
    values = torch.randn(3, 2, 4)
    x, y, z = leaves(*values)
    out = made(own_and_shared, form)(x, y, z)
    expected = own_and_shared(x, y, z)
    for k in (0, 1, 2, 1):
        got = torch.autograd.grad(out[k].sum(), (x, y, z), retain_graph=True, allow_unused=True)
        same(got, torch.autograd.grad(expected[k].sum(), (x, y, z), retain_graph=True, allow_unused=True))
    torch.autograd.grad(out[2].sum(), (x, z))
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(out[2].sum(), (x, z))


@pytest.mark.parametrize("form", FORMS)
def test_hooks(form: str) -> None:
    """Of results and of what has a gradient, as in eager; a leaf with a hook gets zeros in place of None."""
    seen: dict[str, list[Any]] = {}
    for name, f in (("eager", own_and_shared), ("ours", made(own_and_shared, form))):
        torch.manual_seed(1)
        x, y, z = leaves(*torch.randn(3, 2, 4))
        log = seen[name] = []
        out = f(x, y, z)
        for k, t in enumerate((x, y, out[0])):
            t.register_hook(lambda g, k=k, log=log: log.append((k, g.sum().item())))
        z.register_hook(lambda g: g * 2)
        (out[0] * 2).sum().backward()
        log.sort()
        assert (z.grad is None) if name == "eager" else not z.grad.any()  # type: ignore[union-attr]
    assert [k for k, _ in seen["ours"]] == [k for k, _ in seen["eager"]]
    for a, b in zip(seen["ours"], seen["eager"], strict=True):
        assert a[1] == pytest.approx(b[1], rel=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_hooks_after_accumulation(form: str) -> None:
    x, y, z = leaves(*torch.randn(3, 2, 4))
    z.register_post_accumulate_grad_hook(lambda t: print(t.grad.neg_()))
    made(own_and_shared, form)(x, y, z)[0].sum().backward()
    assert z.grad is not None
    assert not z.grad.any()


@pytest.mark.parametrize("k", [0, 1, 2])
def test_derivatives_of_derivatives(k: int) -> None:
    results = []
    for f in (own_and_shared, fusewright.fuse(own_and_shared)):
        torch.manual_seed(2)
        xs = leaves(*torch.randn(3, 2, 4))
        first = torch.autograd.grad(f(*xs)[k].sin().sum(), xs, create_graph=True, allow_unused=True)
        total = sum(g.square().sum() for g in first if g is not None)
        second = torch.autograd.grad(total, xs, allow_unused=True)  # type: ignore[arg-type]
        results.append((first, second))
    same(results[1][0], results[0][0])
    for g, e in zip(results[1][1], results[0][1], strict=True):
        torch.testing.assert_close(torch.zeros(2, 4) if g is None else g, torch.zeros(2, 4) if e is None else e)


@pytest.mark.parametrize("form", FORMS)
def test_batches_of_gradients(form: str) -> None:
    x, y, z = leaves(*torch.randn(3, 2, 4))
    f = made(own_and_shared, form)
    batch = torch.randn(5, 2, 4)
    many: Any = {"is_grads_batched": True, "allow_unused": True}
    got = torch.autograd.grad(f(x, y, z)[0], (x, y, z), batch, **many)
    same(got, torch.autograd.grad(own_and_shared(x, y, z)[0], (x, y, z), batch, **many))


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("form", FORMS)
def test_in_a_checkpoint_and_in_anomaly_mode(form: str) -> None:
    f = made(own_and_shared, form)
    x, y, z = leaves(*torch.randn(3, 2, 4))
    expected = torch.autograd.grad(own_and_shared(x, y, z)[1].sum(), (x, y, z), allow_unused=True)
    out: Any = checkpoint(f, x, y, z, use_reentrant=False)
    same(torch.autograd.grad(out[1].sum(), (x, y, z), allow_unused=True), expected)
    with torch.autograd.detect_anomaly(check_nan=True):
        got = torch.autograd.grad(f(x, y, z)[1].sum(), (x, y, z), allow_unused=True)
    same(got, expected)


def test_in_compiled_autograd() -> None:
    f = made(own_and_shared, "compile")
    x, y, z = leaves(*torch.randn(3, 2, 4))
    expected = torch.autograd.grad(own_and_shared(x, y, z)[1].sum(), (x, y, z), allow_unused=True)
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
        f(x, y, z)[1].sum().backward()
    same([x.grad, y.grad, z.grad], expected)


def test_sizes_change() -> None:
    for run in (fusewright.fuse(own_and_shared), torch.compile(own_and_shared, backend="fusewright", dynamic=True)):
        for n in (3, 5, 8):
            x, y, z = leaves(*torch.randn(3, n, 2 * n))
            got = torch.autograd.grad(run(x, y, z)[1].sum(), (x, y, z), allow_unused=True)
            same(got, torch.autograd.grad(own_and_shared(x, y, z)[1].sum(), (x, y, z), allow_unused=True))


def test_kernels_are_made_once_for_a_set_of_results() -> None:
    f = fusewright.fuse(own_and_shared)
    counts = []
    for _ in range(3):
        x, y, z = leaves(*torch.randn(3, 2, 4))
        f(x, y, z)[1].sum().backward()
        counts.append(fusewright.counters()["graphs_traced"])
    assert counts[1] == counts[2]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("f", [own_and_shared, aliased])
def test_many_sets_of_results(f: Any, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From some number on they share a backward pass."""
    monkeypatch.setattr(absent, "LIMIT", 1)
    each_subset(f, form, *torch.randn(len(inspect.signature(f).parameters), 3, 4))


def test_saved_memory_is_let_go() -> None:
    f = fusewright.fuse(own_and_shared)
    x, y, z = leaves(*torch.randn(3, 2, 4))
    out = f(x, y, z)
    node = out[0].grad_fn
    out[0].sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        node.saved_tensors  # noqa: B018


# Under AOTAutograd's own node: results that are views, inputs that are written.


def one_of_each(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return (x * 2).sin().view(-1), y.t()


def written_argument(x: Tensor, y: Tensor, buffer: Tensor) -> tuple[Tensor, Tensor]:
    buffer.mul_(x)
    return (x * 2).sin(), y.exp() * 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("f", [aliased, one_of_each])
def test_results_that_are_views(form: str, f: Any) -> None:
    torch.manual_seed(0)
    each_subset(f, form, torch.randn(3, 4), torch.randn(3, 4))


@pytest.mark.parametrize("used", ["buffer", 0, 1])
def test_inputs_that_are_written(used: Any) -> None:
    grads = []
    for f in (written_argument, made(written_argument, "compile")):
        torch.manual_seed(0)
        x, y, b = leaves(*torch.randn(3, 2, 4))
        buffer = b * 1
        out = f(x, y, buffer)
        (buffer if used == "buffer" else out[used]).sum().backward()
        grads.append([x.grad, y.grad, b.grad])
    same(grads[1], grads[0])


@pytest.mark.parametrize("form", FORMS)
def test_a_buffer_is_written(form: str) -> None:
    class Norms(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.BatchNorm1d(4), nn.BatchNorm1d(4)

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            return self.a(x).relu(), self.b(x * 2).exp()

    torch.manual_seed(0)
    models = [Norms(), Norms()]
    x = torch.randn(6, 4)
    for m, run in zip(models, (models[0], made(models[1], form)), strict=True):
        for _ in range(2):
            run(x)[1].sin().sum().backward()
        assert m.a.num_batches_tracked == 2
    same([p.grad for p in models[1].parameters()], [p.grad for p in models[0].parameters()])
