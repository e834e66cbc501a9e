"""Fused functions give what the plain ones give: values, gradients, metadata, over layouts and structures."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.utils._pytree import tree_flatten

import fusewright
from tests.support import (
    LAYOUTS,
    assert_agrees,
    assert_as_accurate,
    clone_like,
    counted,
    counters,
    no_fallbacks,
    random_tensor,
    tensor_with_layout,
)

Pair = namedtuple("Pair", "first second")


def activation(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x + y) * 2 + 1


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def block(x: torch.Tensor, bias: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(torch.tanh(x + bias) + residual, (x.shape[-1],), weight)


def gradients(fn: Callable[..., Any], *args: Any) -> tuple[Any, list[Any]]:
    """Results, and the gradients of all inputs that require one."""
    out = fn(*args)
    results = [t for t in tree_flatten(out)[0] if isinstance(t, torch.Tensor) and t.requires_grad]
    grads = [random_tensor(tuple(t.shape), t.dtype, k) for k, t in enumerate(results)]
    torch.autograd.backward(results, grads)
    return out, [t.grad for t in tree_flatten(args)[0] if isinstance(t, torch.Tensor)]


def check(fn: Callable[..., Any], *args: Any, **tolerances: float) -> None:
    """Fused and plain agree, without gradients and (if an input requires one) with."""
    fused = fusewright.fuse(fn)
    with no_fallbacks():
        before = counters()
        with torch.no_grad():
            assert_agrees(fused(*clone_like(args)), fn(*clone_like(args)), **tolerances)
        if any(isinstance(t, torch.Tensor) and t.requires_grad for t in tree_flatten(args)[0]):
            got, mine = gradients(fused, *clone_like(args))
            want, theirs = gradients(fn, *clone_like(args))
            assert_agrees(got, want, **tolerances)
            assert_agrees(mine, theirs, **tolerances)
        assert counted(before)["fuse_declined"] == 0 and counted(before)["fuse_traces"] > 0


@pytest.mark.every(4)
@pytest.mark.parametrize("shape", [(4, 8), (1, 8), (4, 1), (1, 1), (0, 8), (3, 0), (5, 7), (2, 3, 5), (7,), ()])
def test_elementwise_is_bitwise_at_every_shape(shape):
    x, y = random_tensor(shape).requires_grad_(), random_tensor(shape, seed=1).requires_grad_()
    check(activation, x, y, rtol=0, atol=0)


@pytest.mark.every(6)
@pytest.mark.parametrize("mine", sorted(LAYOUTS))
@pytest.mark.parametrize("theirs", sorted(LAYOUTS))
def test_layouts(mine, theirs):
    x = tensor_with_layout(mine, (4, 6, 5)).requires_grad_()
    check(activation, x, tensor_with_layout(theirs, (4, 6, 5), seed=1), rtol=0, atol=0)


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_a_trace_serves_other_sizes_of_a_layout(layout):
    fused = fusewright.fuse(activation)
    fused(tensor_with_layout(layout, (4, 6)), torch.ones(4, 6))
    before = counters()
    for shape in ((3, 5), (6, 4), (17, 33), (2, 2)):
        x, y = tensor_with_layout(layout, shape), random_tensor(shape, seed=3)
        assert_agrees(fused(x, y), activation(x, y), rtol=0, atol=0)
    # a transposed square is ambiguous: which extent its stride is can differ; nothing here is square but (2, 2)
    assert counted(before)["fuse_traces"] <= 1
    assert counted(before)["kernels_compiled"] == 0


@pytest.mark.every(2)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_norms_and_gradients_are_as_accurate_as_eager(dtype):
    args = [random_tensor(s, dtype, k).requires_grad_() for k, s in enumerate([(6, 5, 33), (33,), (6, 5, 33), (33,)])]
    wide = [a.detach().double().requires_grad_() for a in args]
    fused = fusewright.fuse(block)
    got, mine = gradients(fused, *clone_like(args))
    want, theirs = gradients(block, *clone_like(args))
    exact, reference = gradients(block, *wide)
    assert_as_accurate(got, want, exact)
    for a, b, c in zip(mine, theirs, reference, strict=True):
        assert_as_accurate(a, b, c)


def test_special_values():
    x = torch.tensor([0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1e-45, 3e38])
    check(activation, x.requires_grad_(), x.flip(0).detach(), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_integers(dtype):
    check(lambda x, y: (x + y, x > y, (x * y).sum(0)), random_tensor((5, 3), dtype), random_tensor((5, 3), dtype, 1))


def test_mixed_types_promote():
    check(lambda x, y, z: x * y + z, random_tensor((4, 3), torch.float16), random_tensor((4, 3)), torch.tensor(2))


def test_default_arguments_and_keywords():
    fused = fusewright.fuse(rms_norm)
    x, w = random_tensor((4, 9)), random_tensor((9,), seed=1)
    assert_agrees(fused(x, weight=w), rms_norm(x, w))
    assert_agrees(fused(weight=w, x=x, eps=0.5), rms_norm(x, w, 0.5))
    assert_agrees(fused(x, w, 0.25), rms_norm(x, w, eps=0.25))


def test_all_kinds_of_parameters():
    def f(a, /, b, *rest, c=2.0, d, **more):
        return sum(rest, a * b) * c + d + sum(more.values())

    fused = fusewright.fuse(f)
    t = [random_tensor((4,), seed=k) for k in range(6)]
    assert_agrees(fused(t[0], t[1], d=t[2]), f(t[0], t[1], d=t[2]))
    assert_agrees(fused(t[0], t[1], t[2], t[3], d=t[4], e=t[5]), f(t[0], t[1], t[2], t[3], d=t[4], e=t[5]))
    assert_agrees(fused(t[0], b=t[1], d=t[2], c=0.5, e=t[5]), f(t[0], b=t[1], d=t[2], c=0.5, e=t[5]))


def test_nested_containers():
    def f(args, options):
        x, (y, z) = args["x"], args["rest"]
        return {"sum": x + y.first * options["scale"], "pair": Pair(y.second + z[0], [z[1] * 2, None, "text", 3])}

    args = {"x": random_tensor((3, 4)).requires_grad_()}
    args["rest"] = (Pair(random_tensor((3, 4), seed=1), random_tensor((4,), seed=2)), [torch.ones(4), torch.ones(2, 1)])
    check(f, args, {"scale": 3.0})


def test_the_same_tensor_twice():
    x = random_tensor((4, 5)).requires_grad_()
    check(activation, x, x, rtol=0, atol=0)
    fused = fusewright.fuse(activation)
    fused(x, x).sum().backward()
    mine, x.grad = x.grad, None
    activation(x, x).sum().backward()
    assert torch.equal(mine, x.grad)


def test_results_of_all_kinds():
    def f(x, n):
        y = x * 2
        return y, None, x.shape, x.shape[0] * n, y, "text", x.dtype, x, 3.5, (x.size(1), [y + 1])

    check(f, random_tensor((4, 6)).requires_grad_(), 5)
    fused = fusewright.fuse(f)
    x = random_tensor((4, 6))
    out = fused(x, 5)
    assert out[7] is x and out[0] is out[4] and type(out[2]) is torch.Size
    assert fused(random_tensor((3, 9)), 7)[2:4] == (torch.Size((3, 9)), 21)


def test_results_that_are_views():
    def f(x, y):
        z = x + y
        return x.t(), x[1:], z.view(-1), z, z[0]

    check(f, random_tensor((4, 6)).requires_grad_(), random_tensor((4, 6), seed=1))
    fused = fusewright.fuse(f)
    x = random_tensor((4, 6))
    out = fused(x, x)
    out[0].zero_()
    assert not x.any(), "a view of the argument"
    out[2].fill_(7)
    assert bool((out[3] == 7).all()), "a view of a result"


def test_a_single_view_of_an_intermediate_result():
    check(lambda x: (x * 2).view(-1), random_tensor((4, 6)).requires_grad_(), rtol=0, atol=0)
    fused = fusewright.fuse(lambda x: (x * 2).t())
    x = random_tensor((4, 6)).requires_grad_()
    out = fused(x)
    out.add_(1)  # in place on a view: autograd must allow it
    out.sum().backward()
    assert torch.equal(x.grad, torch.full((4, 6), 2.0))


def test_results_without_gradients_among_others():
    def f(x):
        return x * 2, (x > 0), x.detach() + 1, x.argmax(-1)

    check(f, random_tensor((4, 6)).requires_grad_())


def test_unused_and_gradientless_inputs():
    def f(x, y, z):
        return x * 2 + z.detach()

    x, y, z = (random_tensor((4,), seed=k).requires_grad_() for k in range(3))
    check(f, x, y, z)


def test_undefined_gradients_of_some_results():
    def f(x):
        return x * 2, x.exp()

    x = random_tensor((4, 6)).requires_grad_()
    fusewright.fuse(f)(x)[1].sum().backward()
    assert_agrees(x.grad, x.detach().exp())


def test_mutated_arguments_are_written_back():
    def f(x, state, n):
        state.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return x - state, state

    fused = fusewright.fuse(f)
    for needs in (False, True):
        for shape in ((4, 6), (3, 5)):
            x = random_tensor(shape).requires_grad_(needs)
            mine, theirs = random_tensor(shape[1:], seed=1), random_tensor(shape[1:], seed=1)
            if needs:
                mine_out, theirs_out = fused(x.detach().clone(), mine, 2), f(x.detach().clone(), theirs, 2)
            else:
                mine_out, theirs_out = fused(x, mine, 2), f(x, theirs, 2)
            assert_agrees(mine_out, theirs_out)
            assert_agrees(mine, theirs)
            assert mine_out[1] is mine


def test_a_mutated_argument_that_gets_a_gradient():
    def f(x, out):
        out.copy_(x * 2)
        return x + 1

    x, mine = random_tensor((4,)).requires_grad_(), torch.zeros(4)
    fusewright.fuse(f)(x, mine)
    (mine * torch.arange(4.0)).sum().backward()
    assert torch.equal(x.grad, 2 * torch.arange(4.0))


def test_mutated_arguments_that_share_memory():
    def f(x, y):
        x.add_(1)
        return y * 2

    fused = fusewright.fuse(f)
    for _ in range(2):
        a, b = torch.zeros(4), torch.zeros(4)
        assert torch.equal(fused(a, b), torch.zeros(4)) and bool((a == 1).all())
        a = torch.zeros(4)
        assert torch.equal(fused(a, a), torch.full((4,), 2.0))
        a = torch.zeros(4)
        assert torch.equal(fused(a, a.view(4)), torch.full((4,), 2.0))


def test_mutating_an_argument_that_requires_a_gradient():
    def f(x, y):
        return x.mul_(y) + 1

    fused = fusewright.fuse(f)
    y = random_tensor((4,), seed=1).requires_grad_()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        fused(torch.ones(4, requires_grad=True), y)
    leaf, twin = (torch.ones(4, requires_grad=True) for _ in range(2))
    fused(leaf * 3, y).sum().backward()
    mine, y.grad = y.grad, None
    f(twin * 3, y).sum().backward()
    assert torch.equal(mine, y.grad) and torch.equal(leaf.grad, twin.grad)


def test_dropout_follows_the_seed_and_matches_its_backward():
    fused = fusewright.fuse(lambda x: F.dropout(x, 0.5) * 2)
    x = torch.ones(64, 64, requires_grad=True)
    torch.manual_seed(0)
    first = fused(x)
    first.sum().backward()
    assert torch.equal(x.grad, first.detach()), "the mask of the backward pass is that of the forward pass"
    torch.manual_seed(0)
    assert torch.equal(fused(x), first)
    assert not torch.equal(fused(x), first)


def test_eager_random_numbers():
    fused = fusewright.fuse(lambda x: F.dropout(x, 0.5) * 2, rng="eager")
    x = torch.ones(64, 64, requires_grad=True)
    torch.manual_seed(0)
    mine = fused(x)
    torch.manual_seed(0)
    assert torch.equal(mine, F.dropout(x, 0.5) * 2)


@pytest.mark.parametrize("rng", ["eager", "philox"])
@pytest.mark.parametrize("needs", [False, True])
def test_dropout_of_everything_draws_nothing(rng, needs):
    """And multiplies by zero, which what is not finite shows."""

    def f(x):
        return F.dropout(x, 1.0, True) * 2 + torch.randn_like(x) * 0, torch.rand_like(x)

    x = torch.tensor([1.0, -1.0, torch.inf, torch.nan], requires_grad=needs)
    results = []
    for g in (f, fusewright.fuse(f, rng=rng), torch.compile(f, backend="fusewright", options={"rng": rng})):
        torch.manual_seed(0)
        y, drawn = g(x)
        grad = torch.autograd.grad(y[:2].sum(), x)[0] if needs else x
        results.append((y.detach(), grad, drawn, torch.get_rng_state()))
    for r in results[1:]:
        for k in range(4 if rng == "eager" else 2):
            torch.testing.assert_close(r[k], results[0][k], rtol=0, atol=0, equal_nan=True)


def test_precision_option():
    def f(x):
        return (x * 1.1 + 0.3) * x

    x = random_tensor((64, 33), torch.bfloat16)
    assert torch.equal(fusewright.fuse(f, precision="eager")(x), f(x))
    plain = fusewright.fuse(f)
    with fusewright.options(precision="eager"):
        inside = plain(x)
    assert torch.equal(inside, f(x)), "options in force at the call count"
    assert not torch.equal(plain(x), f(x)), "and only there"


def test_training_a_batch_norm():
    def make():
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())

    mine, theirs = make(), make()
    fused = fusewright.fuse(mine)
    for step in range(3):
        x = random_tensor((2 + step, 3, 8, 8), seed=step)
        a, b = fused(x), theirs(x)
        assert_agrees(a, b, rtol=1e-5, atol=1e-5)
        a.square().sum().backward()
        b.square().sum().backward()
    for (name, p), q in zip(mine.named_parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(p.grad, q.grad, rtol=1e-4, atol=1e-4, msg=name)
    for (name, p), q in zip(mine.named_buffers(), theirs.buffers(), strict=True):
        torch.testing.assert_close(p, q, msg=name)
    fused.eval()
    theirs.eval()
    assert_agrees(fused(x), theirs(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("k", [7, 8, -3, -4, -5])
def test_quotients_of_negative_integers_are_floored(k):
    """Arguments may be negative, unlike sizes; kernels divide unsigned numbers."""

    def quotients(x, k):
        n = x.size(0)
        return (k // 2) * (1 - x), (k % 3) * x + 1, x + (2 * k + 1) // 4, x[k // 2 :] + 1, x[k % n] + x * (n // k)

    fused, x = fusewright.fuse(quotients), torch.arange(12)
    for _ in range(2):
        assert_agrees(fused(x, k), quotients(x, k))


FLOATS_OF_SIZES = {
    "scale": lambda x: (x + 1) / torch.sym_sqrt(x.size(1)) * (1 / x.size(0)),
    "shift": lambda x: 1 / x.size(0) - x * 2 + 3 / x.size(1),
    "clamp": lambda x: (x * 2).clamp(-1 / x.size(0), 1 / x.size(0)),
    "fill": lambda x: (x * 2).masked_fill(x > 1 / x.size(0), 1 / x.size(1)),
    "slope": lambda x: F.leaky_relu(x - 0.5, 1 / x.size(0)) + 1,
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", FLOATS_OF_SIZES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_floats_made_of_sizes_are_arguments_of_kernels(name, dtype):
    fn = FLOATS_OF_SIZES[name]
    fused = fusewright.fuse(fn, precision="eager")
    before = counters()
    for shape in ((3, 7), (5, 9), (2, 33)):
        x = random_tensor(shape, dtype)
        assert_agrees(fused(x), fn(x), rtol=0, atol=0)
        leaf = x.clone().requires_grad_()
        (got,) = torch.autograd.grad(fused(leaf).sum(), leaf)
        (want,) = torch.autograd.grad(fn(leaf).sum(), leaf)
        torch.testing.assert_close(got, want)
    after = counted(before)
    assert after["fuse_traces"] == 2 and after["opaque_calls"] == 0 and after["fallbacks"] == 0


def test_where_a_rule_needs_a_number_a_float_made_of_sizes_is_left_to_torch():
    fn = lambda x: F.layer_norm(x * 2, (x.size(1),), eps=1 / x.size(0)) + 1
    fused, x = fusewright.fuse(fn), random_tensor((3, 7))
    with no_fallbacks():
        torch.testing.assert_close(fused(x), fn(x))
