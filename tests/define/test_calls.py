"""Calls of definitions: symbols, layouts, views, writing into arguments, empty and 0-d tensors, and bad input."""

from __future__ import annotations

import threading

import pytest
import torch

import fusewright
from fusewright import UserError, define
from fusewright.trace.types import FROM_TORCH
from tests.support import LAYOUTS, counted, counters, same_bits, tensor_with_layout


@pytest.fixture(autouse=True)
def _no_fallbacks():
    torch.manual_seed(0)
    with fusewright.options(fallback=False):
        yield


def norm(**layout):
    d = define("norm")
    n, m = d.sizes("n m")
    x, w = d.tensor("x", (n, m), "f32", **layout), d.tensor("w", (m,), "f32")
    eps = d.scalar("eps", float)
    d.output(x * d.rsqrt((x * x).mean(-1, keepdim=True) + eps) * w)
    return d


def norm_in_torch(x, w, eps):
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, eps)


# --- sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["type", "int", "float"])
def test_arguments_with_names_of_builtins(name):
    d = define("f")
    x, k = d.tensor("x", d.sizes("n"), "f32"), d.scalar(name, float)
    d.output(x * k)
    for n in (4, 4, 3):
        assert torch.equal(d(torch.ones(n), 3.0), torch.full((n,), 3.0))


def test_new_sizes_reuse_the_kernel_and_the_generated_code():
    d = norm()
    d(torch.randn(4, 64), torch.randn(64), 1e-5)
    before = counters()
    for n, m in ((1, 64), (3, 7), (1, 1), (64, 1000), (2, 33)):
        inputs = [torch.randn(n, m), torch.randn(m), 1e-5]
        d.validate(inputs)
        d.validate(inputs, norm_in_torch)
    grown = counted(before)
    assert grown["kernels_compiled"] == grown["graphs_traced"] == grown["definitions_compiled"] == 0
    assert d.source.count("while True") == 1


def test_a_size_that_only_an_expression_shows():
    d = define()
    n = d.size("n")
    x, y = d.tensor("x", (2 * n + 1,), "f32"), d.tensor("y", (n,), "f32")
    d.output(x[: 2 * n : 2] + y)
    z = define("alone")
    z.output(z.tensor("x", "2 * n + 1", "f32")[1 : 2 * z.size("n") : 2] * 2)
    for k in (3, 1, 8):
        a, b = torch.randn(2 * k + 1), torch.randn(k)
        assert torch.equal(d(a, b), a[: 2 * k : 2] + b)
        assert torch.equal(z(a), a[1 : 2 * k : 2] * 2)
    with pytest.raises(UserError, match=r"alone: x has size 4 in dimension 0, declared 2 \* n \+ 1"):
        z(torch.randn(4))
    with pytest.raises(UserError, match=r"x has size 6 in dimension 0"):
        d(torch.randn(6), torch.randn(3))


def test_sizes_in_arithmetic_and_as_arguments():
    d = define("ramp")
    n = d.size_input("n")
    d.output(d.iota((n,)) * n + 1)
    assert torch.equal(d(5), torch.arange(5) * 5 + 1)
    assert torch.equal(d(3), torch.arange(3) * 3 + 1)
    assert d(0).shape == (0,)
    assert d.source.count("while True") == 1
    for bad in (-1, 2.0, True, None):
        with pytest.raises(UserError, match="ramp: n is a size: an integer of at least 0"):
            d(bad)


def test_products_of_sizes_and_fixed_extents():
    d = define()
    n = d.size("n")
    x = d.tensor("x", (n, 4, 3), "f32")
    d.output(x.reshape(n, 12).sum(0))
    d.output(x.reshape(4 * n, 3) + 1)
    t = torch.randn(5, 4, 3)
    a, b = d(t)
    torch.testing.assert_close(a, t.reshape(5, 12).sum(0))
    assert torch.equal(b, t.reshape(20, 3) + 1)
    with pytest.raises(UserError, match=r"x has extent 5 in dimension 1, declared 4"):
        d(torch.randn(2, 5, 3))


def test_what_lies_outside_is_noticed_when_sizes_are_known():
    d = define("cut")
    x = d.tensor("x", "n", "f32")
    d.output(x[2:6] * 2)
    t = torch.arange(8.0)
    assert torch.equal(d(t), t[2:6] * 2)
    assert torch.equal(d(t[:6]), t[2:6] * 2)
    for _ in range(2):
        where = r"at .*test_calls.py:\d+ .*\(n = 5\)"
        with pytest.raises(UserError, match=rf"cut: it reads behind dimension 0 of %1, {where}"):
            d(t[:5])
    e = define("short")
    y = e.tensor("y", "n", "f32")
    e.output(y[3:])
    assert torch.equal(e(t), t[3:]) and e(t[:3]).shape == (0,)
    with pytest.raises(UserError, match=r"short: an extent n - 3 is -1 \(n = 2\)"):
        e(t[:2])


# --- layouts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_any_strides(layout, dtype):
    d = define()
    x, y = (d.tensor(name, "n, m", FROM_TORCH[dtype].name) for name in ("x", "y"))
    d.output(x + y)
    for shape in ((5, 7), (1, 9), (8, 1), (33, 65)):
        a, b = tensor_with_layout(layout, shape, dtype, 1), tensor_with_layout("contiguous", shape, dtype, 2)
        for _ in range(2):
            assert same_bits(d(a, b), a + b)
            assert same_bits(d(b, a), b + a)


def test_each_kind_of_strides_is_compiled_once():
    d = norm()
    w = torch.randn(6)
    for x in (torch.randn(4, 6), torch.randn(6, 4).t(), torch.randn(1, 6).expand(4, 6), torch.randn(4, 12)[:, ::2]):
        d.validate([x, w, 1e-5], norm_in_torch)
    before = counters()
    for x in (torch.randn(9, 6), torch.randn(6, 9).t(), torch.randn(1, 6).expand(2, 6), torch.randn(5, 18)[:, ::3]):
        d.validate([x, w, 1e-5], norm_in_torch)
    assert counted(before)["definitions_compiled"] == counted(before)["kernels_compiled"] == 0


def test_declared_layouts():
    x, w = torch.randn(4, 6), torch.randn(6)
    d = norm(strides="contiguous")
    d.validate([x, w, 1e-5], norm_in_torch)
    with pytest.raises(UserError, match=r"norm: x has strides \(1, 4\), declared order \[0, 1\]: \(6, 1\)"):
        d(torch.randn(6, 4).t(), w, 1e-5)
    d = norm(order=(1, 0))
    d.validate([torch.randn(6, 4).t(), w, 1e-5], norm_in_torch)
    with pytest.raises(UserError, match=r"declared order \[1, 0\]: \(1, 4\)"):
        d(x, w, 1e-5)
    d = norm(strides=(None, 1))
    d.validate([torch.randn(4, 9)[:, :6], w, 1e-5], norm_in_torch)
    d.validate([x, w, 1e-5], norm_in_torch)
    with pytest.raises(UserError, match=r"declared strides \[\*, 1\]"):
        d(torch.randn(6, 4).t(), w, 1e-5)
    d = norm(strides=(0, 1))
    d.validate([w.expand(5, 6), w, 1e-5], norm_in_torch)
    with pytest.raises(UserError, match=r"x has strides \(6, 1\), declared strides \[0, 1\]"):
        d(x, w, 1e-5)
    d(x[:1], w, 1e-5)  # strides of extent 1 do not matter
    d = norm(strides=("s", 1))
    d.validate([torch.randn(4, 9)[:, :6], w, 1e-5], norm_in_torch)


def test_outputs_in_an_order():
    d = define()
    x = d.tensor("x", "n, c, h, w", "f32")
    d.output(x + 1, order=(0, 2, 3, 1))
    d.output(x, order=(3, 2, 1, 0))
    t = torch.randn(2, 3, 4, 5)
    a, b = d(t)
    assert torch.equal(a, t + 1) and a.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(b, t) and b.stride() == (1, 2, 6, 24) and b.data_ptr() != t.data_ptr()


# --- aliases -----------------------------------------------------------------------------------------


def test_views_share_memory_and_everything_else_does_not():
    d = define()
    x = d.tensor("x", "n, m", "f32")
    y = x * 2
    d.output(x.permute(1, 0), "a")
    d.output(x[1:, ::2], "b")
    d.output(x, "c")
    d.output(y, "d")
    d.output(y.permute(1, 0), "e")
    d.output(d.flip(x, 0), "f")
    d.output(x.reshape(-1), "g")
    d.output(x.permute(1, 0).reshape(-1), "h")
    t = torch.randn(4, 6)
    a, b, c, e, f, g, h, i = d(t)
    assert torch.equal(a, t.t()) and a.data_ptr() == t.data_ptr() and a.stride() == (1, 6)
    assert torch.equal(b, t[1:, ::2]) and b.data_ptr() == t[1:].data_ptr()
    assert c.data_ptr() == t.data_ptr() and torch.equal(c, t)
    assert torch.equal(e, t * 2) and torch.equal(f, e.t()) and f.data_ptr() == e.data_ptr()
    assert torch.equal(g, t.flip(0)) and h.data_ptr() == t.data_ptr() and h.shape == (24,)
    assert torch.equal(i, t.t().reshape(-1)) and i.data_ptr() != t.data_ptr()
    u = torch.randn(6, 4).t()  # of a transposed tensor, a flat one is no view
    assert torch.equal(d(u)[6], u.reshape(-1))


def test_results_go_into_arguments():
    d = define("step")
    p, g = d.tensor("p", "n, m", "f32"), d.tensor("g", "n, m", "f32")
    lr = d.scalar("lr", float)
    new = p - g * lr
    d.output(new, "p_new", into=p)
    d.output((new - p).abs().max(), "change")
    for _ in range(2):
        x, y = torch.randn(33, 5), torch.randn(33, 5)
        want, version = x - y * 0.5, x._version
        got, change = d(x, y, 0.5)
        assert got is x and torch.equal(x, want) and x._version > version
        torch.testing.assert_close(change, (y * 0.5).abs().max())
    d.validate([x, y, 0.1], lambda x, y, lr: (x - y * lr, (y * lr).abs().max()))


def test_a_kernel_writes_into_the_argument_itself():
    d = define()
    x = d.tensor("x", "n", "f32")
    d.output(x * 2 + 1, into=x)
    t = torch.randn(1000)
    report = d.explain(t)
    (graph,) = report.graphs
    assert "copy_" not in graph.plan and "_empty" not in graph.plan


@pytest.mark.parametrize(
    "make", [lambda: torch.randn(4, 6), lambda: torch.randn(6, 4).t(), lambda: torch.randn(4, 13)[:, 1::2]]
)
def test_strided_arguments_are_written(make):
    d = define()
    x, y = d.tensor("x", "n, m", "f32"), d.tensor("y", "n, m", "f32")
    d.output(x * 2 + y, into=x)
    for _ in range(2):
        t, u = make(), torch.randn(4, 6)
        want = t * 2 + u
        assert d(t, u) is t and torch.equal(t, want)


def test_arguments_are_read_as_they_were():
    d = define()
    x, y = d.tensor("x", "n, n", "f32"), d.tensor("y", "n, n", "f32")
    d.output(x.permute(1, 0), "turned", into=x)
    d.output(x, "before")
    d.output(x[1:], "below")
    d.output(y + x, "sum", into=y)
    t, u = torch.randn(5, 5), torch.randn(5, 5)
    old, total = t.clone(), t + u
    a, b, c, e = d(t, u)
    assert a is t and torch.equal(t, old.t())
    assert torch.equal(b, old) and torch.equal(c, old[1:]) and e is u and torch.equal(u, total)


def test_swapping():
    d = define()
    x, y = d.tensor("x", "n", "f32"), d.tensor("y", "n", "f32")
    d.output(x, "a", into=y)
    d.output(y, "b", into=x)
    t, u = torch.arange(5.0), torch.arange(5.0) + 10
    d(t, u)
    assert torch.equal(t, torch.arange(5.0) + 10) and torch.equal(u, torch.arange(5.0))


def test_arguments_that_share_memory_with_one_that_is_written():
    d = define("shift")
    x, y = d.tensor("x", "n", "f32"), d.tensor("y", "n", "f32")
    d.output(x + y, into=x)
    t = torch.arange(10.0)
    want = t[1:] + t[:-1]
    d(t[1:], t[:-1])
    assert torch.equal(t[1:], want)
    e = define("both")
    a, b = e.tensor("a", "n", "f32"), e.tensor("b", "n", "f32")
    e.output(a + 1, into=a)
    e.output(b + 1, into=b)
    with pytest.raises(UserError, match=r"both: . and . are both written and share memory"):
        e(t[1:], t[:-1])


def test_what_cannot_be_written():
    d = define("twice")
    x = d.tensor("x", "n, m", "f32")
    d.output(x * 2, into=x)
    with pytest.raises(UserError, match="twice: x is written, but several of its elements are one in memory"):
        d(torch.randn(1, 4).expand(3, 4))
    p = torch.nn.Parameter(torch.randn(3, 4))
    with pytest.raises(UserError, match=r"twice: x requires a gradient and is written: wrap the call in torch.no_grad"):
        d(p)
    with torch.no_grad():
        want = p * 2
        for _ in range(2):
            d(p)
        assert torch.equal(p, want * 2)


# --- special tensors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_empty_tensors(shape):
    d = define()
    x = d.tensor("x", "n, m", "f32")
    d.output(x.sum(-1))
    d.output(x.max(0))
    d.output(x * 2 + d.iota(x.shape, 1))
    d.output(d.cat([x, x.permute(1, 0).reshape(x.shape)]))
    d.output((x > 0).all(0))
    t = torch.empty(shape)
    a, b, c, e, f = d(t)
    assert torch.equal(a, t.sum(-1)) and torch.equal(c, t * 2)
    assert torch.equal(b, torch.full(shape[1:], -torch.inf))
    assert e.shape == (2 * shape[0], shape[1]) and torch.equal(f, torch.ones(shape[1:], dtype=torch.bool))
    d(torch.randn(4, 3))
    assert torch.equal(d(t)[0], t.sum(-1))


def test_empty_results_of_tensors_that_are_not():
    d = define()
    x, i = d.tensor("x", "n", "f32"), d.tensor("i", "k", "i64")
    d.output(d.take(x, i) + 1)
    d.output(x[1:] * 2, "rest")
    assert [t.shape for t in d(torch.ones(1), torch.zeros(0, dtype=torch.int64))] == [(0,), (0,)]
    assert [t.shape for t in d(torch.ones(3), torch.zeros(0, dtype=torch.int64))] == [(0,), (2,)]
    with pytest.raises(IndexError):
        d(torch.ones(1), torch.ones(2, dtype=torch.int64))


def test_zero_dimensions():
    d = define()
    x, y = d.tensor("x", (), "f32"), d.tensor("y", "n", "f32")
    d.output(x + 1)
    d.output(y * x)
    d.output(y.sum() * x)
    a, b, c = d(torch.tensor(2.0), torch.arange(4.0))
    assert a.shape == () and a == 3 and torch.equal(b, torch.arange(4.0) * 2) and c == 12


def test_no_arguments_at_all():
    d = define(device="cpu")
    d.output(d.full((3, 4), 2.5, "f64"))
    assert torch.equal(d(), torch.full((3, 4), 2.5, dtype=torch.float64))
    d.validate([])


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf, 0.0, -0.0])
def test_special_values(value):
    d = define()
    x = d.tensor("x", "n", "f32")
    for f in (d.exp, d.abs, d.sign, d.isnan, d.floor, d.neg, d.rsqrt):
        d.output(f(x))
    d.output(d.max(x, d.constant(1, "f32")))
    d.output(x.max())
    t = torch.tensor([1.0, value, -1.0])
    got = d(t)
    want = [torch.exp(t), t.abs(), t.sign(), t.isnan(), t.floor(), -t, t.rsqrt(), torch.maximum(t, torch.ones(()))]
    for g, w in zip(got, [*want, t.max()], strict=True):
        torch.testing.assert_close(g, w, equal_nan=True)


def test_scalars():
    d = define("scale")
    x = d.tensor("x", "n", "f32")
    a, k, on = d.scalar("a", float), d.scalar("k", int), d.scalar("on", bool)
    d.output(d.where(on, x * a + k, x))
    d.output(x.to("i64") + k)
    d.output(a * 2)
    d.output(k)
    t = torch.arange(5.0)
    for a_, k_, on_ in ((0.5, 3, True), (2, -(1 << 62), False), (torch.pi, 0, True)):
        p, q, r, s = d(t, a_, k_, on_)
        assert torch.equal(p, t * float(a_) + k_ if on_ else t)
        assert torch.equal(q, t.long() + k_)
        assert r.dtype is torch.float64 and r.item() == a_ * 2
        assert s.dtype is torch.int64 and s.item() == k_
    for bad in ((t, "1", 1, True), (t, 1.0, 1.5, True), (t, 1.0, True, True), (t, 1.0, 1, 1), (t, 1.0, 1 << 63, True)):
        with pytest.raises(UserError, match=r"scale: (a must be a Python float|k must be a Python int|on must|k = 9)"):
            d(*bad)


def test_threads_share_a_definition():
    d = norm()
    found, errors = [], []

    def work(seed: int) -> None:
        try:
            g = torch.Generator().manual_seed(seed)
            for k in range(20):
                x, w = torch.randn(3 + k, 8, generator=g), torch.randn(8, generator=g)
                x = x if seed % 2 else x.t().contiguous().t()
                torch.testing.assert_close(d(x, w, 1e-5), norm_in_torch(x, w, 1e-5))
            found.append(seed)
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors and len(found) == 6


def test_inside_torch_compile_and_autocast():
    d = norm()
    x, w = torch.randn(3, 4), torch.randn(4)
    f = torch.compile(lambda x: d(x * 2, w, 1e-5) + 1, backend="fusewright")
    torch.testing.assert_close(f(x), norm_in_torch(x * 2, w, 1e-5) + 1)
    with torch.autocast("cpu"):
        assert d(x, w, 1e-5).dtype is torch.float32


def test_by_name_and_from_lists():
    d = norm()
    x, w = torch.randn(3, 4), torch.randn(4)
    want = d(x, w, 1e-5)
    assert torch.equal(d(w=w, x=x, eps=1e-5), want)
    assert torch.equal(d.execute([x, w, 1e-5])[0], want)
    assert torch.equal(d.execute({"eps": 1e-5, "x": x, "w": w})[0], want)
    with pytest.raises(UserError, match="norm: 2 arguments given, it takes 3: x, w, eps"):
        d.execute([x, w])
    with pytest.raises(UserError, match="norm: no argument eps"):
        d.execute({"x": x, "w": w})
    with pytest.raises(UserError, match="norm: there is no argument e"):
        d.execute({"x": x, "w": w, "eps": 1.0, "e": 1.0})
    with pytest.raises(TypeError, match=r"norm\(\) missing 1 required positional argument: 'eps'"):
        d(x, w)


BAD = {
    "list": ([[1.0]], r"norm: x must be a tensor \(declared f32\[n, m\]\), not \[\[1.0\]\]"),
    "dtype": (torch.zeros(3, 4, dtype=torch.float64), r"norm: x is float64, declared f32\[n, m\]"),
    "rank": (torch.zeros(3), r"norm: x has 1 dimension, declared f32\[n, m\]"),
    "extent": (
        torch.zeros(3, 5),
        r"norm: w has extent 4 in dimension 0, declared m, which is 5 \(m = 5, by dimension 1 of x\)",
    ),
    "meta": (torch.zeros(3, 4, device="meta"), "x must be an ordinary strided tensor, not torch.strided on meta"),
    "sparse": (torch.zeros(3, 4).to_sparse(), "x must be an ordinary strided tensor, not torch.sparse_coo on cpu"),
    "subclass": (torch.zeros(3, 4).as_subclass(type("Mine", (torch.Tensor,), {})), "x must be .* not a subclass"),
    "negative": (torch._neg_view(torch.zeros(3, 4)), "norm: x is computed lazily"),
    "zeros without memory": (torch._efficientzerotensor(3, 4), "norm: x is computed lazily"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(name):
    d = norm()
    bad, message = BAD[name]
    for _ in range(2):
        with pytest.raises(UserError, match=message):
            d(bad, torch.randn(4), 1e-5)
        d(torch.randn(3, 4), torch.randn(4), 1e-5)  # and nothing is broken


@pytest.mark.parametrize("n", [7, 50_000])
def test_an_exception_half_way_leaves_what_would_be_written_as_it_was(n):
    d = define("update")
    p, t, i = d.tensor("p", "n", "f32"), d.tensor("t", "m", "f32"), d.tensor("i", "n", "i64")
    d.output(p * 2 + d.take(t, i, 0), into=p)
    table = torch.arange(10.0)
    for place in (0, n // 2, n - 1):
        index, mine = torch.zeros(n, dtype=torch.int64), torch.ones(n)
        index[place] = 10
        with pytest.raises(IndexError, match="index out of range for dimension 0 of extent 10"):
            d(mine, table, index)
        assert bool((mine == 1).all())
        d(mine, table, torch.full((n,), 3))
        assert bool((mine == 5).all())


def test_bad_devices_and_transforms():
    d = define("here")
    d.output(d.tensor("x", "n", "f32", device="cuda") + 1)
    with pytest.raises(UserError, match="here: x is on cpu, declared on cuda"):
        d(torch.zeros(3))
    e = norm()
    with pytest.raises(UserError, match=r"x is under a transform of torch.func"):
        torch.vmap(lambda x: e(x, torch.ones(4), 1e-5))(torch.randn(2, 3, 4))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.randn(3, 4), torch.randn(3, 4))
        with pytest.raises(UserError, match="x has a forward gradient"):
            e(dual, torch.randn(4), 1e-5)
        e(torch.randn(3, 4), torch.randn(4), 1e-5)
