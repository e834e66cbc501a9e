"""What `torch.compile` promises, end to end through the backend: shapes, autograd, aliases, mutation, state."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.support import BACKEND, LAYOUTS, assert_agrees, clone_like, compiled, counted, counters, is_ours, same_bits
from tests.support import tensor_with_layout as tensor

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def agree(fn: Callable, *args: Any, backward: bool = False, calls: int = 2, **kwargs: Any) -> Callable:
    """Call `fn` compiled and eager on equal inputs; compare results, the inputs afterwards, and gradients."""
    call = compiled(fn, **kwargs)
    for _ in range(calls):
        mine, theirs = clone_like(args), clone_like(args)
        got, want = call(*mine), fn(*theirs)
        assert_agrees(got, want)
        assert_agrees(mine, theirs)
        if backward:
            leaves = [[x for x in a if isinstance(x, torch.Tensor) and x.requires_grad] for a in (mine, theirs)]
            seed = torch.randn(want.shape, dtype=want.dtype)
            assert_agrees(
                torch.autograd.grad(got, leaves[0], seed),
                torch.autograd.grad(want, leaves[1], seed),
                rtol=1e-4,
                atol=1e-5,
            )
    return call


def chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Several operations that any grouping should put into one kernel."""
    return torch.relu(x * 2 + y) * torch.sigmoid(y) - x


def norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    d = x - mean
    return d / torch.sqrt((d * d).mean(-1, keepdim=True) + 1e-5) * w + b


# ---- shapes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dynamic", [None, True, False])
def test_dynamic_setting(dynamic: bool | None) -> None:
    call = compiled(norm, dynamic=dynamic)
    for rows, cols in ((4, 8), (5, 8), (7, 8), (7, 33), (1, 8), (0, 8), (2, 1)):
        x, w, b = torch.randn(rows, cols), torch.randn(cols), torch.randn(cols)
        assert_agrees(call(x, w, b), norm(x, w, b), rtol=1e-4, atol=1e-5)


def test_new_sizes_compile_no_kernels() -> None:
    call = compiled(norm, dynamic=True)
    w, b = torch.randn(64), torch.randn(64)
    call(torch.randn(8, 64), w, b)
    before = counters()
    for rows in range(9, 29):
        x = torch.randn(rows, 64)
        assert_agrees(call(x, w, b), norm(x, w, b), rtol=1e-4, atol=1e-5)
    if is_ours(BACKEND):
        assert counted(before)["kernels_compiled"] == 0


def test_mark_dynamic() -> None:
    call = compiled(chain, fullgraph=True)
    before = counters()
    for n in (6, 9, 12):
        x, y = torch.randn(n, 5), torch.randn(n, 5)
        torch._dynamo.mark_dynamic(x, 0)
        torch._dynamo.mark_dynamic(y, 0)
        assert_agrees(call(x, y), chain(x, y))
    if is_ours(BACKEND):
        assert counted(before)["graphs_traced"] == 1


def test_integer_inputs_and_outputs() -> None:
    def fn(x: torch.Tensor, n: int) -> tuple[torch.Tensor, int, int]:
        return x[:n] * n + x.shape[0], x.shape[0] * 2 + n, x.numel()

    call = compiled(fn, dynamic=True)
    for rows, n in ((8, 3), (9, 4), (20, 7)):
        x = torch.randn(rows, 4)
        assert_agrees(call(x, n), fn(x, n))


def test_float_inputs() -> None:
    call = compiled(lambda x, s: torch.tanh(x * s) + s, dynamic=True)
    x = torch.randn(7, 3)
    for s in (0.5, 0.25, 3.0, 1.7):
        assert_agrees(call(x, s), torch.tanh(x * s) + s)


def test_sizes_from_shapes() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        rows, cols = x.shape
        return x.reshape(cols, rows) / (rows + cols) + torch.arange(rows) * torch.ones(cols, 1)

    for shape in ((4, 6), (5, 6), (6, 5)):
        agree(fn, torch.randn(shape), dynamic=True)


@pytest.mark.every(6)
@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize("shape", [(3, 5), (1, 7), (0, 4), (17,), (2, 3, 16), ()], ids=str)
def test_layouts(layout: str, shape: tuple[int, ...]) -> None:
    agree(chain, tensor(layout, shape, seed=1), tensor(layout, shape, seed=2))


def test_channels_last() -> None:
    x = torch.randn(2, 5, 4, 3).contiguous(memory_format=torch.channels_last)
    agree(lambda x: torch.relu(x * 2 + 1), x)
    agree(lambda x: F.silu(x).mean((2, 3)), x)


def test_unaligned_input_after_aligned() -> None:
    call = compiled(chain)
    for layout in ("contiguous", "offset", "contiguous"):
        x, y = tensor(layout, (6, 16), seed=1), tensor(layout, (6, 16), seed=2)
        assert_agrees(call(x, y), chain(x, y))


# ---- modes -----------------------------------------------------------------------------------------


def test_autocast_inside_and_outside() -> None:
    lin = nn.Linear(16, 8)

    def inside(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return F.gelu(lin(x)) + 1

    x = torch.randn(4, 16)
    # GELU rounds to bfloat16 once where eager rounds after each operation: one unit in the last place.
    assert_agrees(compiled(inside)(x), inside(x), rtol=2**-7, atol=2**-7)
    call = compiled(lambda x: F.gelu(lin(x)) + 1)
    with torch.autocast("cpu", torch.bfloat16):
        assert_agrees(call(x), F.gelu(lin(x)) + 1, rtol=2**-7, atol=2**-7)
    assert call(x).dtype == torch.float32


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_grad_modes(mode: Callable) -> None:
    call = compiled(chain)
    x, y = torch.randn(5, 6, requires_grad=True), torch.randn(5, 6)
    with mode():
        got, want = call(x, y), chain(x, y)
        assert_agrees(got, want)
        assert got.is_inference() == want.is_inference()
    assert_agrees(call(x, y), chain(x, y))  # the first mode must not stick


def test_no_grad_inside() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            scale = x.abs().amax(-1, keepdim=True)
        return x / (scale + 1) + x.detach().cos()

    agree(fn, torch.randn(3, 9, requires_grad=True), backward=True)


@pytest.mark.parametrize("reentrant", [False])
def test_activation_checkpointing(reentrant: bool) -> None:
    lin = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8))

    def fn(x: torch.Tensor) -> torch.Tensor:
        y = checkpoint(lin, x, use_reentrant=reentrant)
        return checkpoint(lambda t: torch.tanh(lin(t)) * t, y, use_reentrant=reentrant)

    agree(fn, torch.randn(4, 8, requires_grad=True), backward=True)
    agree(
        lambda x: checkpoint(compiled(lin), x, use_reentrant=False),
        torch.randn(4, 8, requires_grad=True),
        backward=True,
    )


# ---- modules and state -----------------------------------------------------------------------------


@pytest.mark.parametrize("momentum", [0.1, None])
def test_batch_norm_buffers(momentum: float | None) -> None:
    model = nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6, momentum=momentum), nn.ReLU())
    other = copy.deepcopy(model)
    call = compiled(model)
    for _ in range(3):
        x = torch.randn(4, 3, 8, 8)
        assert_agrees(call(x), other(x), rtol=1e-4, atol=1e-5)
    assert_agrees(dict(model.state_dict()), dict(other.state_dict()), rtol=1e-4, atol=1e-5)
    model.eval(), other.eval()
    x = torch.randn(4, 3, 8, 8)
    assert_agrees(call(x), other(x), rtol=1e-4, atol=1e-5)


def test_buffer_that_counts() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.seen.add_(x.sum(0))
            return x / (self.seen.abs() + 1)

    model, other = Counter(), Counter()
    call = compiled(model)
    for _ in range(3):
        x = torch.randn(5, 4)
        assert_agrees(call(x), other(x))
    assert_agrees(model.seen, other.seen)


def test_weights_replaced_between_calls() -> None:
    model = nn.Linear(4, 4)
    call = compiled(lambda x: torch.relu(model(x)) * 2)
    x = torch.randn(3, 4)
    call(x)
    with torch.no_grad():
        model.weight.mul_(3)
    assert_agrees(call(x), torch.relu(model(x)) * 2)
    model.weight = nn.Parameter(torch.randn(4, 4))
    assert_agrees(call(x), torch.relu(model(x)) * 2)


# ---- mutation and aliases --------------------------------------------------------------------------


def test_input_mutated() -> None:
    agree(lambda x, y: x.mul_(2).add_(y), torch.randn(4, 5), torch.randn(4, 5))


def test_input_mutated_and_result() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        y = x * 3
        x.add_(1)
        y.relu_()
        return y + x

    agree(fn, torch.randn(6))


@pytest.mark.parametrize("layout", ["transposed", "sliced", "offset"])
def test_view_of_input_mutated(layout: str) -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        x[:, 1:3].mul_(2)
        x[0] = 7
        return x.sum(0)

    agree(fn, tensor(layout, (4, 5)))


def test_slices_assigned() -> None:
    def fn(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.zeros(4, 6)
        out[:, ::2] = x
        out[1] = y
        out[:, 5] += 1
        return out

    agree(fn, torch.randn(4, 3), torch.randn(6))


def test_metadata_mutated() -> None:
    agree(lambda x: x.t_().mul(2), torch.randn(3, 4))
    agree(lambda x: x.unsqueeze_(0) + 1, torch.randn(3, 4))


def test_output_is_an_input() -> None:
    def fn(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x, y * 2

    x, y = torch.randn(3), torch.randn(3)
    got = compiled(fn)(x, y)
    assert got[0] is x
    assert_agrees(got, fn(x, y))


def test_output_views_an_input() -> None:
    call = compiled(lambda x: (x.t(), x[1:], x.relu()))
    x = torch.randn(4, 3)
    t, s, _ = call(x)
    x.add_(1)
    assert same_bits(t, x.t()) and same_bits(s, x[1:])


def test_outputs_alias_each_other() -> None:
    def fn(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x * 2 + 1
        return y, y.view(-1), y.t(), y

    x = torch.randn(3, 4)
    got, want = compiled(fn)(x), fn(x)
    assert_agrees(got, want)
    got[0].zero_()
    want[0].zero_()
    assert_agrees(got, want)


def test_outputs_alias_with_grad() -> None:
    def fn(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.tanh(x)
        return y, y.view(-1)[2:]

    grads = []
    for f in (compiled(fn), fn):
        x = torch.linspace(-1, 1, 12).view(3, 4).requires_grad_()
        y, v = f(x)
        (y.sum() + (v * v).sum()).backward()
        grads.append(x.grad)
    assert_agrees(*grads)


def test_same_input_twice() -> None:
    x = torch.randn(4, 4)
    assert_agrees(compiled(chain)(x, x), chain(x, x))

    def mutate(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a.add_(1)
        return b * 2

    mine, theirs = x.clone(), x.clone()
    assert_agrees(compiled(mutate)(mine, mine), mutate(theirs, theirs))
    assert_agrees(mine, theirs)


def test_inputs_overlap() -> None:
    def fn(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a.mul_(2)
        return a + b

    mine, theirs = torch.arange(8.0), torch.arange(8.0)
    assert_agrees(compiled(fn)(mine[:6], mine[2:]), fn(theirs[:6], theirs[2:]))
    assert_agrees(mine, theirs)


def test_results_survive_the_next_call() -> None:
    """Memory that is reused between calls must not be memory that the user still holds."""
    call = compiled(chain)
    held = []
    for _ in range(6):
        x, y = torch.randn(300, 400), torch.randn(300, 400)
        held.append((call(x, y), chain(x, y)))
        view = call(x, y)[7:]
        held.append((view, chain(x, y)[7:]))
        del view
    for got, want in held:
        assert_agrees(got, want)


# ---- autograd --------------------------------------------------------------------------------------


def test_norm_backward() -> None:
    args = [torch.randn(6, 33, requires_grad=True), *(torch.randn(33, requires_grad=True) for _ in range(2))]
    call, seed = compiled(norm), torch.randn(6, 33)
    got = torch.autograd.grad(call(*args), args, seed)
    assert_agrees(got, torch.autograd.grad(norm(*args), args, seed), rtol=1e-4, atol=1e-5)


def test_retain_graph() -> None:
    x, y = torch.randn(3, 4, requires_grad=True), torch.randn(3, 4, requires_grad=True)
    out, ref = compiled(chain)(x, y), chain(x, y)
    for seed in (torch.ones(3, 4), torch.randn(3, 4)):
        got = torch.autograd.grad(out, (x, y), seed, retain_graph=True)
        assert_agrees(got, torch.autograd.grad(ref, (x, y), seed, retain_graph=True))


def test_backward_twice_raises() -> None:
    x, y = torch.randn(3, 4, requires_grad=True), torch.randn(3, 4)
    loss = (compiled(chain)(x, y) ** 2).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_gradient_accumulation() -> None:
    model = nn.Sequential(nn.Linear(6, 12), nn.LayerNorm(12), nn.GELU(), nn.Linear(12, 1))
    other = copy.deepcopy(model)
    call = compiled(model)
    for _ in range(3):
        x = torch.randn(5, 6)
        call(x).mean().backward()
        other(x).mean().backward()
    grads = [[p.grad for p in m.parameters()] for m in (model, other)]
    assert_agrees(*grads, rtol=1e-4, atol=1e-5)


def test_some_gradients_wanted() -> None:
    for wanted in ((True, False), (False, True)):
        args = [torch.randn(3, 4, requires_grad=w) for w in wanted]
        agree(chain, *args, backward=True)


def test_unused_output_in_backward() -> None:
    def fn(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return torch.sin(x), torch.exp(x) * 2, x.argmax(-1)

    x = torch.randn(3, 4, requires_grad=True)
    got = torch.autograd.grad(compiled(fn)(x)[1].sum(), x)
    assert_agrees(got, torch.autograd.grad(fn(x)[1].sum(), x))


def test_gradient_with_odd_layout() -> None:
    """The gradient that arrives need not be dense: `expand` of a scalar, a transposed tensor."""
    x, y = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4)
    for seed in (torch.tensor(2.0).expand(4, 4), torch.randn(4, 4).t()):
        # AOTAutograd makes the incoming gradient dense, so the result's strides may differ from eager's.
        got = torch.autograd.grad(compiled(chain)(x, y), x, seed)
        torch.testing.assert_close(got, torch.autograd.grad(chain(x, y), x, seed))


def test_backward_through_dropout_uses_the_forward_mask() -> None:
    call = compiled(lambda x: F.dropout(x * 2, 0.25, True))
    x = torch.ones(100, 200, requires_grad=True)
    outs = []
    for _ in range(2):
        out = call(x)
        (grad,) = torch.autograd.grad(out.sum(), x)
        torch.testing.assert_close(grad, out.detach())  # each is 2/(1-p) where kept, else 0
        outs.append(out.detach())
        kept = (out != 0).double().mean().item()
        assert abs(kept - 0.75) < 5 * (0.25 * 0.75 / 20000) ** 0.5
    assert not torch.equal(*outs), "two calls drew the same mask"


def test_manual_seed_reproduces() -> None:
    call = compiled(lambda x: F.dropout(x, 0.5, True) + torch.rand_like(x))
    x, outs = torch.ones(64, 8), []
    for _ in range(2):
        torch.manual_seed(7)
        outs.append((call(x), call(x)))
    assert_agrees(*outs)
    state = torch.get_rng_state()
    first = call(x)
    torch.set_rng_state(state)
    assert_agrees(call(x), first)
