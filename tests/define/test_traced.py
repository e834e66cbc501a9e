"""Definitions in programs that are traced: inside torch.compile without a graph break, in exports; and gradients."""

from __future__ import annotations

import re

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import fusewright
from fusewright import UserError, define
from tests.processes import python

BACKENDS = ("eager", "aot_eager", "inductor", "fusewright")


@pytest.fixture(autouse=True)
def _clean():
    torch.manual_seed(0)
    torch.compiler.reset()
    with fusewright.options(fallback=False):
        yield
    torch.compiler.reset()


def norm():
    d = define("norm")
    n, m = d.sizes("n m")
    x, w = d.tensor("x", (n, m), "f32"), d.tensor("w", (m,), "f32")
    eps = d.scalar("eps", float)
    d.output(x * d.rsqrt((x * x).mean(-1, keepdim=True) + eps) * w)
    return d


def norm_in_torch(x, w, eps):
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, eps)


def updates():
    """Results in arguments, views, several."""
    d = define("updates")
    p, g, lr = d.tensor("p", "n", "f32"), d.tensor("g", "n", "f32"), d.scalar("lr", float)
    new = p - lr * g
    d.output(new, into=p)
    d.output((new - p).abs().max(), "change")
    d.output(p[::2], "evens")
    d.output(g[::2], "view")
    d.output(g, "itself")
    return d


def updates_in_torch(p, g, lr):
    new = p - lr * g
    change, evens = (new - p).abs().max(), p[::2].clone()
    return p.copy_(new), change, evens, g[::2], g


# --- torch.compile -----------------------------------------------------------------------------------


@pytest.mark.every(2)
@pytest.mark.parametrize("backend", BACKENDS)
def test_no_graph_break(backend):
    d = norm()
    calls = lambda norm: lambda x, w: norm(x * 2, w=w, eps=1e-5) + norm(x, w, 0.5)
    f, g = torch.compile(calls(d), backend=backend, fullgraph=True), calls(norm_in_torch)
    for n, m in ((3, 4), (5, 6), (7, 9), (1, 1), (2, 33)):
        x, w = torch.randn(n, m), torch.randn(m)
        torch.testing.assert_close(f(x, w), g(x, w))
        torch.testing.assert_close(f(x.t().contiguous().t(), w), g(x, w))


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_in_arguments_and_views(backend):
    d = updates()
    f = torch.compile(
        lambda p, g, lr: [t * 1 if t is not p else t for t in d(p, g * 2, lr)], backend=backend, fullgraph=True
    )
    for n in (10, 11, 1):
        p, g = torch.randn(n), torch.randn(n)
        q = p.clone()
        got, want = f(p, g, 0.5), updates_in_torch(q, g * 2, 0.5)
        assert got[0] is p
        for a, b in zip(got, want, strict=True):
            torch.testing.assert_close(a, b)
        torch.testing.assert_close(p, q)


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_in_arguments_only(backend):
    d = define("both")
    p, q = d.tensor("p", "n", "f32"), d.tensor("q", "n", "f32")
    d.output(p + q, into=p)
    d.output(p * q, into=q)
    f = torch.compile(lambda p, q: d(p, q)[1] + 0, backend=backend, fullgraph=True)
    for n in (4, 5, 6):
        p, q = torch.randn(n), torch.randn(n)
        want = p + q, p * q
        got = f(p, q)
        assert torch.equal(p, want[0]) and torch.equal(q, want[1]) and torch.equal(got, q)


@pytest.mark.parametrize("backend", ("aot_eager", "fusewright"))
def test_empty_tensors_and_declared_layouts(backend):
    d = define("turned")
    x = d.tensor("x", "n, m", "f32")
    d.output(x.permute(1, 0) + 1, order=(1, 0))
    d.output((x > 0).any(0))
    f = torch.compile(lambda x: d(x), backend=backend, fullgraph=True)
    for shape in ((3, 4), (0, 4), (3, 0), (5, 2), (1, 1)):
        x = torch.randn(shape)
        a, b = f(x)
        assert torch.equal(a, x.t() + 1) and torch.equal(b, (x > 0).any(0))
        assert a.shape[0] < 2 or a.stride(0) == 1 or not a.numel()


@pytest.mark.parametrize("backend", ("eager", "inductor", "fusewright"))
def test_sizes_and_numbers_of_all_kinds(backend):
    d = define("numbers")
    n = d.size_input("n")
    k, b, s = d.scalar("k", int), d.scalar("b", bool), d.scalar("s", float)
    d.output(d.iota((n,)) * k * n)
    d.output(d.where(b, s, s * 2))
    f = torch.compile(lambda t, k, b, s: d(t.shape[0] * 2, k, b, s), backend=backend, fullgraph=True)
    for size, k_, b_, s_ in ((2, 3, True, 0.5), (3, 5, False, 2.5), (4, 7, True, 1.0)):
        got = f(torch.randn(size), k_, b_, s_)
        want = d(size * 2, k_, b_, s_)
        for x, y in zip(got, want, strict=True):
            assert torch.equal(x, y) and x.dtype == y.dtype


@pytest.mark.parametrize("backend", ("aot_eager", "inductor", "fusewright"))
def test_random_numbers_are_drawn_at_every_call(backend):
    d = define("noise")
    x = d.tensor("x", "n", "f32")
    d.output(x + d.random("uniform", x.shape))
    f = torch.compile(lambda x: (d(x), d(x)), backend=backend, fullgraph=True)
    x = torch.zeros(64)
    torch.manual_seed(3)
    (a, b), (c, _) = f(x), f(x)
    assert not torch.equal(a, b) and not torch.equal(a, c)
    torch.manual_seed(3)
    assert torch.equal(f(x)[0], a)
    torch.manual_seed(3)
    assert torch.equal(d(x), a)


def test_another_definition_in_the_same_place_is_noticed():
    def scaled(k):
        d = define("scaled")
        d.output(d.tensor("x", "n", "f32") * k + 1)
        return d

    holder = {"d": scaled(2.0)}
    f = torch.compile(lambda x: holder["d"](x), backend="eager", fullgraph=True)
    x = torch.randn(5)
    assert torch.equal(f(x), x * 2 + 1)
    holder["d"] = scaled(3.0)
    assert torch.equal(f(x), x * 3 + 1)


def test_definitions_that_say_the_same_share_an_operator():
    a, b = norm(), norm()
    assert a.operator == b.operator == fusewright.Definition.parse(str(a)).operator
    assert a.operator.startswith("fusewright::defined_")
    other = define("other")
    other.output(other.tensor("x", "n", "f32") + 1)
    assert other.operator != a.operator


def test_the_operator_keeps_torchs_rules():
    d = norm()
    op = getattr(torch.ops.fusewright, d.operator.partition("::")[2]).default
    torch.library.opcheck(op, (torch.randn(3, 4), torch.randn(4), 1e-5))
    u = updates()
    op = getattr(torch.ops.fusewright, u.operator.partition("::")[2]).default
    torch.library.opcheck(op, (torch.randn(6), torch.randn(6), 0.5))


def test_wrong_arguments_inside_torch_compile():
    d = norm()
    x, w = torch.randn(3, 4), torch.randn(4)
    f = lambda *args: torch.compile(lambda *args: d(*args), backend="eager", fullgraph=True)(*args)
    for bad, why in (
        ((x, torch.randn(5), 1e-5), "norm: w has extent 5 in dimension 0, declared m"),
        ((x, w.double(), 1e-5), r"norm: w is float64, declared f32\[m\]"),
        ((x[0], w, 1e-5), "norm: x has 1 dimension"),
        ((x, w), r"norm\(\) takes 3 arguments, x,w,eps"),
        ((x, w, "much"), "float"),
    ):
        with pytest.raises(Exception, match=why):
            f(*bad)
    with pytest.raises(Exception, match="norm: w has extent 5"):
        torch.compile(lambda x, w: d(x, w, 1e-5), backend="eager")(x, torch.randn(5))


# --- other tracers -----------------------------------------------------------------------------------


class Normed(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        self.d = d
        self.register_buffer("weight", torch.rand(4))

    def forward(self, x):
        return self.d(x * 2, self.weight, 1e-5) + 1


@pytest.mark.parametrize("strict", [False, True])
def test_exported_and_saved(strict, tmp_path):
    module = Normed(norm())
    dynamic = {"x": {0: torch.export.Dim("n", max=64)}}
    program = torch.export.export(module, (torch.randn(3, 4),), dynamic_shapes=dynamic, strict=strict)
    compiled = fusewright.aot_compile(program)
    fusewright.aot_save(compiled, tmp_path / "norm.fwp")
    loaded = fusewright.aot_load(tmp_path / "norm.fwp")
    for n in (3, 1, 0, 17):
        x = torch.randn(n, 4)
        want = norm_in_torch(x * 2, module.weight, 1e-5) + 1
        for run in (module, program.module(), compiled, loaded):
            torch.testing.assert_close(run(x), want)


def test_a_saved_program_says_what_it_needs(tmp_path):
    path = tmp_path / "norm.fwp"
    d = norm()
    fusewright.aot_save(torch.export.export(Normed(d), (torch.randn(3, 4),)), path)
    (tmp_path / "norm.txt").write_text(str(d))
    load = "import fusewright, torch, sys\n"
    program = f"print(fusewright.aot_load({str(path)!r})(torch.ones(3, 4)).shape)"
    missing = f"calls the operator {d.operator}.* which is not known here: it is a definition's: make that"
    for more, want in (
        ("", missing),
        (f"fusewright.Definition.load({str(path)[:-3]!r} + 'txt').operator\n", r"Size\(\[3, 4\]\)"),
    ):
        done = python("-c", load + more + program)
        assert re.search(want, done.stdout + done.stderr), done.stderr[-2000:]


def test_fake_tensors_and_make_fx():
    d = norm()
    with FakeTensorMode():
        y = d(torch.empty(3, 4), torch.empty(4), 1e-5)
        assert y.shape == (3, 4) and y.stride() == (4, 1)
    x, w = torch.randn(3, 4), torch.randn(4)
    gm = make_fx(lambda x, w: d(x, w, 1e-5) + 1, tracing_mode="symbolic")(x, w)
    assert any(d.operator.partition("::")[2] in str(n.target) for n in gm.graph.nodes)
    x = torch.randn(7, 5)
    torch.testing.assert_close(gm(x, w := torch.randn(5)), norm_in_torch(x, w, 1e-5) + 1)
    assert isinstance(d(x, w, 1e-5), torch.Tensor)


# --- gradients ---------------------------------------------------------------------------------------


def test_a_gradient_that_would_be_lost_is_an_error():
    d = norm()
    x, w = torch.randn(3, 4), torch.randn(4)
    want = d(x, w, 1e-5)
    for grown in ({"x": x.clone().requires_grad_()}, {"w": torch.nn.Parameter(w)}):
        args = {"x": x, "w": w, "eps": 1e-5, **grown}
        (name,) = grown
        for _ in range(3):
            why = rf"norm: {name} requires a gradient, .*{name}.detach\(\).*torch.no_grad\(\).*fusewright.fuse"
            with pytest.raises(UserError, match=why):
                d(**args)
            with torch.no_grad():
                assert torch.equal(d(**args), want)
            assert torch.equal(d(**{k: v.detach() if k == name else v for k, v in args.items()}), want)
        d.validate(list(args.values()))
    with torch.inference_mode():
        assert torch.equal(d(x, torch.nn.Parameter(w), 1e-5), want)


def test_what_has_no_gradient_anyway_is_none():
    d = define("places")
    x, i = d.tensor("x", "n, m", "f32"), d.tensor("y", "n, m", "f32")
    d.output(x.argmax(-1))
    d.output((x > 0).any(-1))
    d.output(i + 1)
    t = torch.randn(3, 4, requires_grad=True)
    for _ in range(2):
        a, b, c = d(t, torch.ones(3, 4))
        assert torch.equal(a, t.argmax(-1)) and torch.equal(b, (t > 0).any(-1)) and not c.requires_grad
    with pytest.raises(UserError, match="places: y requires a gradient"):
        d(t, t)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_gradient_that_would_be_lost_inside_torch_compile(backend):
    d = norm()
    f = torch.compile(lambda x, w: d(x * 2, w, 1e-5), backend=backend)
    x, w = torch.randn(3, 4, requires_grad=True), torch.randn(4)
    with pytest.raises(Exception, match="norm: x requires a gradient, and definitions are not differentiated"):
        f(x, w)
    with torch.no_grad():
        torch.testing.assert_close(f(x, w), norm_in_torch(x * 2, w, 1e-5))


@pytest.mark.parametrize("backend", [None, *BACKENDS])
def test_two_definitions_in_an_autograd_function(backend):
    forward, backward = define("forward"), define("backward")
    x = forward.tensor("x", "n", "f32")
    forward.output(x * forward.exp(-(x * x)))
    x, g = backward.tensor("x", "n", "f32"), backward.tensor("g", "n", "f32")
    backward.output(g * (1 - 2 * x * x) * backward.exp(-(x * x)))

    class Bell(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return backward(ctx.saved_tensors[0], g)

    def run(x):
        return (Bell.apply(x * 2) * 3).sum()

    f = run if backend is None else torch.compile(run, backend=backend, fullgraph=True)
    for n in (5, 8, 9):
        x = torch.randn(n, requires_grad=True)
        y = 2 * x
        want = torch.autograd.grad((y * torch.exp(-(y * y)) * 3).sum(), x)[0]
        torch.testing.assert_close(torch.autograd.grad(f(x), x)[0], want)
