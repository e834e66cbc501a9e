"""Views of views in a plan: one call each, or none."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.run import direct
from fusewright.run import plan as plans
from fusewright.run.launch import restride
from tests.support import no_fallbacks, random_tensor


@pytest.fixture
def sources(monkeypatch):
    """Of all plans that are made, the source and what is called."""
    found = []
    write = plans._Writer.write

    def kept(self):
        found.append((write(self), [x for x in self.scope.values() if callable(x)]))
        return found[-1][0]

    monkeypatch.setattr(plans._Writer, "write", kept)
    return found


def attention(x, w):
    b, t, c = x.shape
    q, k, v = (y.view(b, t, 2, c // 2).transpose(1, 2) for y in F.linear(x, w).split(c, dim=2))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return y.transpose(1, 2).reshape(b, t, c) @ w[:c]


@pytest.mark.parametrize("dynamic", [False, True])
def test_chains(sources, dynamic):
    compiled = torch.compile(attention, backend="fusewright", dynamic=dynamic)
    for n in (5, 9):
        x, w = random_tensor((2, n, 8)).requires_grad_(), random_tensor((24, 8)).requires_grad_()
        with no_fallbacks():
            got, want = compiled(x, w), attention(x, w)
            assert torch.equal(got, want) and got.stride() == want.stride()
            grad = random_tensor(got.shape)
            for a, b in zip(*(torch.autograd.grad(r, (x, w), grad) for r in (got, want)), strict=True):
                torch.testing.assert_close(a, b)
    assert sources
    aten = torch.ops.aten
    views = [direct.call(op, {}) for op in (aten.t.default, aten.transpose.int, aten.split.Tensor)]
    for source, called in sources:
        assert "_view(" in source and not any(x in views for x in called)


def test_a_view_of_the_whole_costs_nothing(sources):
    def twice(x, w):
        return torch.mm(x.t().t(), w.view(8, 6).view(48).view(8, 6))

    x, w = random_tensor((3, 8)), random_tensor((8, 6))
    assert torch.equal(torch.compile(twice, backend="fusewright")(x, w), twice(x, w))
    ((source, _),) = sources
    assert "_view" not in source and source.count("(") - source.count("def call(") <= 2  # clear() and mm()


def test_inputs_anywhere_in_memory():
    def f(x, w):
        return torch.mm(x.t()[1:], w[2:].t()).view(-1, 2), x.t()

    base = random_tensor((200,))
    x, w = base[7:].as_strided((5, 5), (9, 1)), base[70:].as_strided((8, 5), (7, 1))
    with fusewright.options(small_products=False):  # whose sums are in another order than some libraries' kernels have
        got, want = torch.compile(f, backend="fusewright")(x, w), f(x, w)
    assert torch.equal(got[0], want[0])
    assert got[1].stride() == want[1].stride() and got[1].data_ptr() == x.data_ptr()


@torch.library.custom_op("fusewright_tests::turned", mutates_args=())
def turned(x: torch.Tensor) -> torch.Tensor:
    """x + 1, laid out by columns, which its meaning for tracing does not say."""
    return (x + 1).t().contiguous().t()


@turned.register_fake
def _(x):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.custom_op("fusewright_tests::doubled", mutates_args=("x",))
def doubled(x: torch.Tensor) -> None:
    """Doubles x in place."""
    x.mul_(2)


def test_strides_other_than_traced():
    def f(x):
        return torch.mm(turned(x).view(-1, 2)[1:], torch.ones(2, 3))

    x = random_tensor((4, 6))
    assert torch.equal(torch.compile(f, backend="fusewright")(x), torch.mm((x + 1).view(-1, 2)[1:], torch.ones(2, 3)))


def test_strides_of_saved_values_other_than_traced():
    def f(x, w):
        return torch.mm(x, turned(w.detach()).t()).sin()

    x, w = random_tensor((3, 4)).requires_grad_(), random_tensor((5, 4))
    got = torch.autograd.grad(torch.compile(f, backend="fusewright")(x, w).sum(), x)[0]
    want = torch.autograd.grad(torch.mm(x, (w + 1).t()).sin().sum(), x)[0]
    torch.testing.assert_close(got, want)


def test_views_that_are_written_to():
    def f(x):
        y = x * 2 + 1
        doubled(y.t()[1:])
        return y.t().reshape(-1) + 1, y

    x = random_tensor((4, 6))
    for a, b in zip(torch.compile(f, backend="fusewright")(x), f(x), strict=True):
        assert torch.equal(a, b)


def test_other_types_and_complex_numbers():
    def f(x, z):
        return torch.mm(x.view(torch.int32).t().float(), torch.ones(3, 2)), torch.mm(z.conj().t(), z.t().t())

    x, z = random_tensor((3, 4)), torch.randn(3, 4, dtype=torch.complex64)
    for a, b in zip(torch.compile(f, backend="fusewright")(x, z), f(x, z), strict=True):
        assert torch.equal(a, b)


def test_without_the_private_function(monkeypatch):
    monkeypatch.setattr(fusewright.run.internals, "reinterpret", fusewright.run.internals.as_strided)
    x, w = random_tensor((2, 5, 8)), random_tensor((24, 8))
    assert torch.equal(torch.compile(attention, backend="fusewright")(x, w), attention(x, w))


@pytest.mark.parametrize("which", ["weight", "input", "slice"])
def test_a_write_into_what_is_saved_as_a_view_is_noticed(which):
    def f(x, w):
        return torch.mm(x[:4].t(), x[4:]) if which == "slice" else F.linear(x.view(2, 4, 6), w)

    for fn in (f, torch.compile(f, backend="fusewright")):
        x, w = random_tensor((8, 6)).requires_grad_(), random_tensor((5, 6)).requires_grad_()
        y = fn(x, w)
        with torch.no_grad():
            (w if which == "weight" else x).mul_(3)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_a_write_into_a_result_that_is_saved_as_a_view_is_noticed():
    def f(x, w):
        y = torch.mm(x, x.t())
        return torch.bmm(y.view(2, 4, 8), w.expand(2, 8, 3)), y

    for fn in (f, torch.compile(f, backend="fusewright")):
        x, w = random_tensor((8, 6)).requires_grad_(), random_tensor((8, 3)).requires_grad_()
        z, y = fn(x, w)
        with torch.no_grad():
            y.mul_(3)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()


@pytest.mark.parametrize("way", ["compile", "fuse"])
@pytest.mark.parametrize("view", [lambda y: y.t(), lambda y: y[0], lambda y: y.view(-1), lambda y: y[1:, ::2]])
def test_a_write_into_a_view_of_what_is_saved_is_noticed(view, way):
    """The result is a view, the only one, of what the gradient of the sigmoid is computed from."""

    def f(x):
        return view(torch.sigmoid(x * 2 + 1))

    fused = torch.compile(f, backend="fusewright") if way == "compile" else fusewright.fuse(f)
    for fn in (f, fused):
        x = random_tensor((8, 6)).requires_grad_()
        y = fn(x)
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
    x, same = random_tensor((8, 6)).requires_grad_(), random_tensor((8, 6)).requires_grad_()
    fused(x).mul(2).sum().backward()
    f(same).mul(2).sum().backward()
    torch.testing.assert_close(x.grad, same.grad)


@torch.no_grad()
def test_results_on_the_same_memory_count_writes_together():
    def f(x):
        y = torch.mm(x, x.t())
        return y, y[1:], y.t().t(), y.t().view(torch.int32)

    results = torch.compile(f, backend="fusewright")(random_tensor((4, 6)))
    results[1].add_(1)
    assert all(r._is_view() for r in results[1:]) and [r._version for r in results] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "f",
    [
        lambda x, w: x[:, :4].sin() * w[:3].cos(),
        lambda x, w: torch.mm(x.relu().t(), w[:3].exp()),
        lambda x, w: torch.mm(x[:, :4].t()[1:], w[:3]),
        lambda x, w: (x[:, :4].sum(1, keepdim=True).expand(3, 4).sin() * w[:3]).exp(),
    ],
)
def test_hooks_that_give_saved_tensors_back_in_other_layouts(f):
    x, w = random_tensor((3, 6)).requires_grad_(), random_tensor((4, 6)).t().requires_grad_()
    grad = random_tensor(f(x, w).shape)
    want = torch.autograd.grad(f(x, w), (x, w), grad)
    compiled = torch.compile(f, backend="fusewright")
    for _ in range(2):
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t: t.detach().contiguous().numpy().copy(), torch.from_numpy
        ):
            y = compiled(x, w)
        for a, b in zip(torch.autograd.grad(y, (x, w), grad), want, strict=True):
            torch.testing.assert_close(a, b)


def test_an_expanded_layout():
    t = random_tensor((3, 1, 4)).expand(3, 2, 4)
    out = restride(t.contiguous(), t.stride())
    assert torch.equal(out, t) and out.stride() == t.stride()


def test_pieces_that_are_only_saved(sources):
    """Nobody writes to what a backward pass alone is given: the heads of an attention, saved, need no shared count."""

    def f(x, w):
        q, k, v = (y.view(2, 5, 2, 4).transpose(1, 2) for y in F.linear(x, w).split(8, dim=2))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).sum(), q

    x, w = random_tensor((2, 5, 8)).requires_grad_(), random_tensor((24, 8)).requires_grad_()
    for shown in (False, True):
        fn = (lambda *a: f(*a)) if shown else (lambda *a: f(*a)[0])
        sources.clear()
        got = torch.compile(fn, backend="fusewright")(x, w)
        made = [s.strip() for s in sources[0][0].splitlines() if s.strip().startswith("transpose")]
        assert len(made) == 3 and all(("_strided(" in s) is shown for s in made)
        got = got[0] if shown else got
        for a, b in zip(*(torch.autograd.grad(r, (x, w)) for r in (got, f(x, w)[0])), strict=True):
            torch.testing.assert_close(a, b)
