"""When a fused function is traced, and when it is not: counters say so."""

from __future__ import annotations

import functools
import warnings

import pytest
import torch

import fusewright
from fusewright.trace import launcher
from fusewright.trace.launcher import OFTEN
from tests.support import TORCH, assert_agrees, counted, counters, random_tensor


def f(x, y):
    return torch.relu(x + y) * 2 + 1


def traces(before):
    return counted(before)["fuse_traces"]


@pytest.mark.parametrize("needs", [False, True])
def test_twenty_sizes_are_one_trace_and_no_new_kernel(needs):
    fused = fusewright.fuse(lambda x, y, w: torch.nn.functional.layer_norm(x + y, (x.shape[-1],), w).tanh())
    plain = fused.__wrapped__

    def step(n, m):
        args = [random_tensor(s, seed=k).requires_grad_(needs) for k, s in enumerate([(n, m), (m,), (m,)])]
        out = fused(*args)
        if needs:
            out.sum().backward()
        torch.testing.assert_close(out, plain(*args))

    step(5, 9)
    before = counters()
    for k in range(20):
        step(2 + k, 3 + 7 * k % 11)
    grown = counted(before)
    assert grown["fuse_traces"] == grown["kernels_compiled"] == grown["graphs_traced"] == grown["plans_built"] == 0


def _known(fused):
    """Of each entry in the generated code: the sizes that are known, if any are."""
    boxes = [v for k, v in fused._fusewright.scope.items() if k.startswith("_e")]
    return [box[0][1] for box in boxes]


@pytest.mark.parametrize("needs", [False, True])
def test_sizes_that_come_again_and_again_are_known(needs):
    """And others are told from them, whatever it is that differs."""
    fused = fusewright.fuse(f)
    x, y = random_tensor((4, 6), seed=1).requires_grad_(needs), random_tensor((6,), seed=2)
    for _ in range(OFTEN + 2):
        fused(x, y)
    assert _known(fused) == [(4, 6, 6)]
    calls, before = [], counters()
    check, numbers = fused._fusewright.scope[next(k for k in fused._fusewright.scope if k.startswith("_e"))][0]
    assert check(x, y) and numbers == (4, 6, 6)
    wide = random_tensor((4, 12), seed=3).requires_grad_(needs)
    for a, b in (
        (x, y),
        (random_tensor((5, 6)).requires_grad_(needs), y),
        (random_tensor((4, 7)).requires_grad_(needs), random_tensor((7,))),
        (wide[:, ::2], y),
        (x, wide.detach()[0, ::2]),
        (random_tensor((6, 4)).requires_grad_(needs).t(), y),
        (x.detach().requires_grad_(not needs), y),
        (x.double(), y),
    ):
        calls.append(check(a, b))
        assert_agrees(fused(a, b), f(a, b))
    assert calls == [True] + [False] * 7
    assert traces(before) > 0
    with pytest.raises(RuntimeError):
        fused(x, random_tensor((5,)))


def test_sizes_that_change_are_known_ever_more_rarely():
    """A check of other sizes takes longer to make than it saves in a few calls."""
    fused = fusewright.fuse(f)
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launcher, "exact_check", lambda tensors: made.append(1))
        for k in range(50):
            for _ in range(9):
                x = random_tensor((3 + k, 6))
                assert_agrees(fused(x, x), f(x, x))
    assert len(made) <= 6


def test_integers_and_written_arguments_are_looked_at_in_every_call():
    fused = fusewright.fuse(lambda x, n: x.sin() * n)
    x = random_tensor((4, 6))
    for n in [3] * (2 * OFTEN) + [4, 5]:
        assert_agrees(fused(x, n), x.sin() * n)
    writes = fusewright.fuse(lambda x, y: x.add_(y.sin()))
    for _ in range(2 * OFTEN):
        writes(x, x.clone())
    z = x.clone()
    assert_agrees(writes(x, x), z + z.sin())
    assert not _known(fused) and not _known(writes)


def test_what_is_a_signature_of_its_own():
    fused = fusewright.fuse(f)
    x = random_tensor((4, 6))
    before, expected = counters(), 0
    for make in (
        lambda: (x, x),
        lambda: (x.double(), x),
        lambda: (x[0], x),
        lambda: (x[:1], x),
        lambda: (x[:0], x[:0]),
        lambda: (x.t().contiguous().t(), x),
        lambda: (x.clone().requires_grad_(), x),
    ):
        expected += 1
        assert_agrees(fused(*make()), f(*make()))
        assert traces(before) == expected
        assert_agrees(fused(*make()), f(*make()))
        assert traces(before) == expected


def test_what_is_not():
    fused = fusewright.fuse(f)
    x = random_tensor((4, 6))
    before = counters()
    fused(x, x)
    with torch.no_grad():
        fused(x, x)
    with torch.inference_mode():
        assert fused(x, x).is_inference()
        inside = torch.ones(3, 5)
        fused(inside, inside)
    fused(torch.nn.Parameter(x, requires_grad=False), x)
    with torch.no_grad():
        fused(x + 0, x[1:].clone().expand(3, 6)[:1].expand(4, 6).contiguous())
    assert traces(before) == 1


def test_the_grad_mode():
    fused = fusewright.fuse(f)
    x = random_tensor((4, 6)).requires_grad_()
    for _ in range(2):
        with torch.no_grad():
            assert not fused(x, x).requires_grad
        assert fused(x, x).requires_grad
        with torch.inference_mode():
            assert not fused(x, x).requires_grad


def test_sizes_that_must_be_equal_are_checked():
    fused = fusewright.fuse(f)
    before = counters()
    fused(torch.ones(4, 6), torch.ones(4, 6))
    fused(torch.ones(4, 6), torch.ones(1, 6))
    assert traces(before) == 2
    with pytest.raises(RuntimeError, match="must match the size"):
        fused(torch.ones(4, 6), torch.ones(3, 6))
    assert torch.equal(fused(torch.ones(5, 5), torch.ones(5, 5)), torch.full((5, 5), 5.0))
    assert traces(before) == 2


def test_equal_extents_do_not_become_one():
    fused = fusewright.fuse(lambda x, y: x @ y + 1)
    before = counters()
    for n, k, m in ((4, 4, 4), (2, 3, 5), (7, 2, 2)):
        x, y = random_tensor((n, k)), random_tensor((k, m), seed=1)
        torch.testing.assert_close(fused(x, y), x @ y + 1)
    assert traces(before) == 1


def test_branches_on_sizes_are_one_trace_for_each_side():
    @fusewright.fuse
    def g(x):
        return x * 2 if x.shape[0] > 10 else x + 1

    before = counters()
    for n in (4, 20, 5, 30, 10, 11, 2):
        x = random_tensor((n, 3))
        assert torch.equal(g(x), x * 2 if n > 10 else x + 1)
    assert traces(before) == 2


def test_divisibility_is_checked():
    @fusewright.fuse
    def g(x):
        return x.view(x.shape[0], -1, 4).sum(-1) + 1

    before = counters()
    for n, m in ((4, 8), (3, 12), (5, 20)):
        x = random_tensor((n, m))
        torch.testing.assert_close(g(x), x.view(n, -1, 4).sum(-1) + 1)
    assert traces(before) == 1
    with pytest.raises(RuntimeError, match="invalid for input of size"):
        g(torch.ones(3, 7))


def test_integers_are_symbolic_and_other_scalars_are_not():
    @fusewright.fuse
    def g(x, n, scale, flag):
        return (x * n + n if flag else x - n) * scale

    before = counters()
    x = random_tensor((4, 6))
    for n in (5, -3, 1000):
        assert torch.equal(g(x, n, 0.5, True), (x * n + n) * 0.5)
    assert traces(before) == 1
    for n in (0, 1, -1):
        assert torch.equal(g(x, n, 0.5, True), (x * n + n) * 0.5)
    assert traces(before) == 4
    assert torch.equal(g(x, 5, 0.25, False), (x - 5) * 0.25)
    assert torch.equal(g(x, True, 0.5, True), (x * True + True) * 0.5)


@pytest.mark.parametrize("value", [0.0, -0.0, float("inf"), float("nan"), 1e-320, 2])
def test_special_floats_are_told_apart(value):
    fused = fusewright.fuse(lambda x, a: x * a)
    x = torch.tensor([1.0, -1.0, 0.0])
    for a in (1.5, 0.0, -0.0, value, float("nan"), value):
        want = x * a
        assert torch.equal(fused(x, a).view(torch.int32), want.view(torch.int32)) or a != a
        assert torch.equal(fused(x, a).isnan(), want.isnan())


def test_integers_as_dimensions_and_sizes():
    fused = fusewright.fuse(lambda x, dim, n: x.sum(dim).flatten().repeat(n) + 1)
    x = random_tensor((3, 4, 5))
    before = counters()
    for dim in (2, -2, -3):
        for n in (2, 3, 4):
            torch.testing.assert_close(fused(x, dim, n), fused.__wrapped__(x, dim, n))
    assert traces(before) == 3


def test_specialised_arguments():
    @fusewright.fuse(specialize=("n", "y"))
    def g(x, n, y):
        for _ in range(n):
            x = x + 1
        return x * len(range(y.shape[0]))

    before = counters()
    x = random_tensor((4, 6))
    for n, m in ((3, 4), (5, 4), (3, 2), (3, 4)):
        assert torch.equal(g(x, n, torch.ones(m)), g.__wrapped__(x, n, torch.ones(m)))
        assert torch.equal(g(x[:2], n, torch.ones(m)), g.__wrapped__(x[:2], n, torch.ones(m)))
    assert traces(before) == 3


def test_static_shapes():
    g = fusewright.fuse(lambda x: x * 2 + x.shape[0], dynamic=False)
    before = counters()
    for n in (4, 5, 4):
        assert torch.equal(g(torch.ones(n)), torch.full((n,), 2.0 + n))
    assert traces(before) == 2


def test_objects_are_told_apart():
    class Config:
        def __init__(self, scale):
            self.scale = scale

    fused = fusewright.fuse(lambda x, config, op: op(x) * config.scale)
    x = random_tensor((4, 6))
    for _ in range(2):
        for scale in (2.0, 3.0):
            assert torch.equal(fused(x, Config(scale), torch.relu), torch.relu(x) * scale)
            assert torch.equal(fused(x, Config(scale), torch.neg), -x * scale)


def test_many_signatures_still_run(monkeypatch):
    monkeypatch.setattr(fusewright.fused, "TRACES", 20)
    fused = fusewright.fuse(lambda x, a: x * a + 1)
    x = random_tensor((4, 6))
    for k in [*range(24)] * 2:
        assert torch.equal(fused(x, 1.5 + k), x * (1.5 + k) + 1)


def test_structure_of_containers():
    fused = fusewright.fuse(lambda xs: sum(xs.values()) if isinstance(xs, dict) else sum(xs))
    x = random_tensor((4,))
    before = counters()
    for xs in ([x], [x, x], (x, x), {"a": x}, {"b": x}, {"a": x, "b": x}):
        for _ in range(2):
            assert torch.equal(fused(xs), fused.__wrapped__(xs))
    assert traces(before) == 6


def test_the_default_type():
    fused = fusewright.fuse(lambda x: x + torch.ones(3))
    x = torch.ones(3, dtype=torch.int64)
    for dtype in (torch.float32, torch.float64, torch.float32):
        torch.set_default_dtype(dtype)
        try:
            assert fused(x).dtype is dtype
        finally:
            torch.set_default_dtype(torch.float32)


def test_negative_views():
    fused = fusewright.fuse(f)
    z = torch.randn(4, 3, dtype=torch.complex64)
    for x in (z.imag.clone(), z.conj().imag, z.imag.clone(), z.conj().imag):
        assert torch.equal(fused(x, x.clone()), f(x, x.clone()))


def test_methods_slices_and_sizes_as_arguments():
    class Scale:
        def __init__(self, n):
            self.n = n

        def apply(self, x):
            return x * self.n

    fused = fusewright.fuse(lambda x, op, where, size: op(x[where]).expand(size) + 1)
    two, three = Scale(2.0), Scale(3.0)
    before = counters()
    for _ in range(2):
        for scale in (two, three):
            for stop in (2, 3):
                x = random_tensor((1, 6))
                want = scale.apply(x[:, :stop]).expand(5, stop) + 1
                got = fused(x, scale.apply, (slice(None), slice(0, stop)), torch.Size((5, stop)))
                assert torch.equal(got, want)
    assert traces(before) == 4


def test_nothing_keeps_arguments_alive():
    import gc
    import weakref

    def mutate(x, y):
        y.add_(x)
        return y[1:], x * 2

    for body in (f, mutate):
        fused = fusewright.fuse(body)
        x, y = random_tensor((4, 6)), random_tensor((4, 6))
        seen = [weakref.ref(x), weakref.ref(y)]
        fused(x, y)
        del x, y
        gc.collect()
        assert [r() for r in seen] == [None, None]


def test_conditions_that_are_alternatives():
    """What a trace assumed may contain `or`; each condition holds as a whole."""

    def overwritten(x, y):
        b = y * 1
        b.copy_(x)
        return y + b, torch.cat([y[:1], y[1:]]) * 2  # which is another trace where nothing is left of y[1:] but one

    fused = fusewright.fuse(overwritten)
    for n in (2, 3, 5, 2):
        x, y = random_tensor((n, 1)), random_tensor((n, 1), seed=1)
        for a, b in zip(fused(x, y), overwritten(x, y), strict=True):
            assert torch.equal(a, b)
    (plans,) = fused._fusewright.plans.values()
    assert len(plans) == 2
    if TORCH >= (2, 13):  # else it tests nothing
        assert any(" or " in g for p in plans for g in p.entry.captured.guards)


def gates(x, bias, c):
    i, f, g, o = (x + bias).chunk(4, dim=-1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def heads(x, w):
    b, n, d = x.shape
    y = (x * w).view(b, n, 6, d // 6).transpose(1, 2) * 2
    return (y + y.sum(-1, keepdim=True)).transpose(1, 2).reshape(b, n, d) + x


def qkv(x):
    b, n, d = x.shape
    q, k, v = x.chunk(3, -1)
    q, k, v = (t.view(b, n, 2, d // 6) * 2 for t in (q, k, v))
    return q * k + v


MULTIPLES = {
    "gates": (gates, lambda n, m: (random_tensor((n, 4 * m)), random_tensor((4 * m,)), random_tensor((n, m)))),
    "heads": (heads, lambda n, m: (random_tensor((3, n, 6 * m)), random_tensor((6 * m,)))),
    "qkv": (qkv, lambda n, m: (random_tensor((3, n, 6 * m)),)),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", MULTIPLES)
@pytest.mark.parametrize("grad", [False, True])
def test_sizes_that_are_multiples_share_a_trace_in_which_parts_are_equally_large(name, grad):
    fn, make = MULTIPLES[name]
    fused = fusewright.fuse(fn)
    before = counters()
    for n, m in ((4, 5), (7, 2), (2, 33), (5, 8)):
        args = tuple(t.double().requires_grad_(grad) for t in make(n, m))
        got, want = fused(*args), fn(*args)
        assert_agrees(got, want)
        if grad:
            sums = [sum(t.square().sum() for t in (r if isinstance(r, tuple) else (r,))) for r in (got, want)]
            for a, b in zip(*(torch.autograd.grad(s, args) for s in sums), strict=True):
                torch.testing.assert_close(a, b)
    after = counted(before)
    assert after["fuse_traces"] == 1
    assert grad or after["opaque_calls"] == 0
    assert max(f for p in next(iter(fused._fusewright.plans.values())) for f in p.entry.captured.factors) > 1


def test_sizes_that_are_no_multiples_or_the_number_itself():
    fused = fusewright.fuse(gates)
    for n, m in ((4, 5), (4, 1), (1, 3), (4, 2)):
        args = MULTIPLES["gates"][1](n, m)
        assert_agrees(fused(*args), gates(*args))

    def halves(x):
        parts = x.chunk(2, -1)
        return parts[0].sum(-1) * 2 + 1, parts[-1] * 2 + 1, len(parts)

    fused = fusewright.fuse(halves)
    for n in (6, 7, 2, 1, 8, 9):
        x = random_tensor((3, n))
        for _ in range(2):
            assert_agrees(fused(x), halves(x))


def test_a_wrapper_of_what_torch_compile_made_is_fused_itself():
    made = torch.compile(f, backend="eager")

    @functools.wraps(made)  # copies what torch.compile has noted on `made`
    def negated(x, y):
        return -f(x, y)

    x = random_tensor((4, 6))
    before = counters()
    assert_agrees(fusewright.fuse(negated)(x, x), -f(x, x))
    assert traces(before) == 1


def test_a_wrapper_of_a_compiled_function_is_not_that_function():
    """`functools.wraps` copies what `torch.compile` notes about its own functions."""
    compiled = torch.compile(f, backend="eager")

    @functools.wraps(compiled)
    def more(x, y):
        return compiled(x, y) + 1

    args = random_tensor((3, 4)), random_tensor((3, 4), seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it runs as the plain function
        assert_agrees(fusewright.fuse(more)(*args), f(*args) + 1)
    assert_agrees(fusewright.fuse(compiled)(*args), f(*args))
