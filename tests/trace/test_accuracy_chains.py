"""Reductions in which one accumulator gets a long chain of additions, whatever axes those are along: errors against
float64 are eager's or less, or some units in the last place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from tests.support import assert_same_tensor_metadata, compiled

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

Tensor = torch.Tensor

# (shape, reduced dimensions): long and short axes outside, in the middle and inside of those that are kept
PATTERNS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((60_000, 5, 3), (0, 2)),
    ((60_000, 5, 3), (0, 1)),
    ((60_000, 5, 3), (0,)),
    ((3, 60_000, 5), (0, 1)),
    ((3, 60_000, 5), (1, 2)),
    ((3, 5, 60_000), (0, 2)),
    ((20, 3000, 4, 7), (1, 3)),
    ((20, 3000, 4, 7), (0, 1, 3)),
    ((3000, 6, 5, 13), (0, 2, 3)),
    ((400, 4, 2, 80), (0, 2, 3)),
    ((9000, 3, 64), (0, 2)),
    ((70, 9000), (1,)),
    ((9000, 70), (0,)),
]

Reduction = Callable[[Tensor, tuple[int, ...]], Any]

PROGRAMS: dict[str, Reduction] = {
    "sum": lambda x, d: (x * x).sum(d) + 1,
    "moments": lambda x, d: tuple(t + 0 for t in torch.var_mean(x, d)),
    "norm": lambda x, d: torch.linalg.vector_norm(x - 1, dim=d) + 1,
    "logsumexp": lambda x, d: torch.logsumexp(x * 0.5, d) + 1,
    "three": lambda x, d: (x.sum(d) + 1, (x.abs() * 2).mean(d), (x - x.mean(d, keepdim=True)).abs().mean(d)),
}


def random(shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(1)).add(0.25).to(dtype)


def exact(t: Any) -> Any:
    return t.double() if isinstance(t, Tensor) and t.dtype.is_floating_point else t


def assert_accurate(fn: Callable[..., Any], *args: Any, ulps: float = 4) -> None:
    """The largest error of each result is twice eager's at most, or so many ulps of the largest element."""

    def results(out: Any) -> list[Tensor]:
        return [out] if isinstance(out, Tensor) else list(out)

    got, want, true = results(compiled(fn)(*args)), results(fn(*args)), results(fn(*map(exact, args)))
    for k, (mine, theirs, best) in enumerate(zip(got, want, true, strict=True)):
        assert_same_tensor_metadata(mine, theirs, f"result {k}")
        error, eager = ((t.double() - best).abs().max().item() for t in (mine, theirs))
        allowed = max(2 * eager, ulps * torch.finfo(mine.dtype).eps / 2 * best.abs().max().item())
        assert error <= allowed, f"result {k}: error {error:.3g}, eager's {eager:.3g}"


@pytest.mark.every(6)
@pytest.mark.parametrize(("shape", "dims"), PATTERNS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_reductions(name: str, shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    assert_accurate(lambda x: PROGRAMS[name](x, dims), random(shape))


@pytest.mark.parametrize(("shape", "dims"), PATTERNS)
def test_errors_do_not_grow_with_the_count(shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    """Eager's do where what it adds up is short along memory: 9e-6 of the sum of the first pattern."""
    x = random(shape)
    got, best = compiled(lambda x: x.sum(dims) * 2)(x), x.double().sum(dims) * 2
    assert ((got - best).abs() / best).max() <= 4e-7


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("shape", "dims"), PATTERNS[::3])
def test_sixteen_bits(shape: tuple[int, ...], dims: tuple[int, ...], dtype: torch.dtype) -> None:
    """Terms of 16 bits, sums in float32: also those that stay so."""

    def fn(x: Tensor) -> tuple[Tensor, Tensor]:
        wide = torch.promote_types(x.dtype, torch.float32)
        return x.to(wide).sum(dims) + 1, x.mean(dims) + 1

    assert_accurate(fn, random(shape, dtype))


@pytest.mark.parametrize("order", [(0, 2, 3, 1), (2, 3, 0, 1), (3, 1, 0, 2), (1, 0, 3, 2)])
@pytest.mark.parametrize("dims", [(0, 2, 3), (1,), (0, 1), (1, 3)])
def test_permuted_memory(order: tuple[int, ...], dims: tuple[int, ...]) -> None:
    sizes = (900, 6, 12, 17)
    back = [order.index(k) for k in range(4)]
    x = random(tuple(sizes[k] for k in order)).permute(back)
    assert tuple(x.shape) == sizes
    assert_accurate(lambda x: (x * x).sum(dims) + 1, x)


@pytest.mark.parametrize("shape", [(20_000, 5, 3), (2000, 8, 4, 5), (64, 3, 40, 41), (30_000, 7)])
def test_batch_norm(shape: tuple[int, ...]) -> None:
    """Statistics and gradients; eager has float64 for the former."""
    c = shape[1]
    x, g, w, b = random(shape), random(shape), random((c,)), random((c,))

    def fn(x: Tensor, g: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        mean, var = torch.zeros_like(w), torch.ones_like(w)
        leaves = [t.detach().requires_grad_() for t in (x, w, b)]
        y = F.batch_norm(leaves[0], mean, var, leaves[1], leaves[2], training=True, momentum=1.0)
        return (y.detach(), mean, var, *torch.autograd.grad(y, leaves, g))

    def ours(x: Tensor, g: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        mean, var = torch.zeros_like(w), torch.ones_like(w)
        leaves = [t.detach().requires_grad_() for t in (x, w, b)]
        call = compiled(lambda x, w, b: F.batch_norm(x, mean, var, w, b, training=True, momentum=1.0))
        y = call(*leaves)
        return (y.detach(), mean, var, *torch.autograd.grad(y, leaves, g))

    got, want, true = ours(x, g, w, b), fn(x, g, w, b), fn(*map(exact, (x, g, w, b)))
    # the largest of the terms that nearly cancel, in the gradients of x and of w (a mean's last bit is in each)
    cancel = {3: (g.max() * w.max() / true[2].min().sqrt()).item(), 4: true[5].max().item()}
    for k, (mine, theirs, best) in enumerate(zip(got, want, true, strict=True)):
        error, eager = ((t.double() - best).abs().max().item() for t in (mine, theirs))
        scale = max(best.abs().max().item(), cancel.get(k, 0))
        assert error <= max(2 * eager, 8 * 2**-24 * scale), f"result {k}: error {error:.3g}, eager's {eager:.3g}"


@pytest.mark.parametrize("shape", [(20_000, 6), (6, 20_000), (3, 20_000, 5)])
def test_running_sums(shape: tuple[int, ...]) -> None:
    dim = shape.index(20_000)
    assert_accurate(lambda x: (torch.cumsum(x, dim) + 1, torch.logcumsumexp(x, dim) + 1), random(shape))


@pytest.mark.parametrize(("shape", "dim"), [((20_000, 6), 0), ((6, 20_000), 1), ((3, 20_000, 5), 1)])
def test_softmax_of_long_rows(shape: tuple[int, ...], dim: int) -> None:
    assert_accurate(lambda x: (torch.softmax(x * 2, dim) * 3, torch.log_softmax(x * 2, dim) + 1), random(shape))


@pytest.mark.parametrize(("rows", "columns"), [(30_000, 7), (20_000, 65), (4, 50_000)])
def test_gradients_of_a_norm(rows: int, columns: int) -> None:
    """Sums over rows beside sums over columns."""
    x, g, w = random((rows, columns)), random((rows, columns)), random((columns,))

    def fn(x: Tensor, g: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        centred = x - x.mean(1, keepdim=True)
        scale = centred.square().mean(1, keepdim=True).add(1e-5).rsqrt()
        normed = centred * scale
        t = g * w
        inner = t - t.mean(1, keepdim=True) - normed * (t * normed).mean(1, keepdim=True)
        return inner * scale, (g * normed.abs()).sum(0), g.sum(0)

    assert_accurate(fn, x, g, w, ulps=16)
