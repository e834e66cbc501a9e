"""Floats computed from sizes as arguments of operators: one trace serves all sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests.support import assert_agrees, counted, counters, no_fallbacks, random_tensor

Tensor = torch.Tensor

OPERATORS: dict[str, Callable[[Tensor, Tensor, Any], Tensor]] = {
    "layer_norm": lambda x, w, e: F.layer_norm(x, (x.shape[-1],), w, w, eps=e),
    "layer_norm, two": lambda x, w, e: torch.layer_norm(x, x.shape[-2:], None, None, e),
    "rms_norm": lambda x, w, e: F.rms_norm(x, (x.shape[-1],), w, e),
    "group_norm": lambda x, w, e: F.group_norm(x, 2, eps=e),
    "normalize": lambda x, w, e: F.normalize(x, eps=e),
    "smooth_l1_loss": lambda x, w, e: F.smooth_l1_loss(x, x.detach().sin(), beta=e),
    "huber_loss": lambda x, w, e: F.huber_loss(x, x.detach().sin(), "none", delta=e),
    "pad": lambda x, w, e: F.pad(x, (1, 2), value=e) * 2,
    "lerp": lambda x, w, e: torch.lerp(x, x.sin(), e),
    "add": lambda x, w, e: torch.add(x, x.sin(), alpha=e),
    "addcmul": lambda x, w, e: torch.addcmul(x, x, x.sin(), value=e),
    "clamp": lambda x, w, e: x.clamp(-e, e) + x,
    "leaky_relu": lambda x, w, e: F.leaky_relu(x, e),
    "masked_fill": lambda x, w, e: x.masked_fill(x > e, e),
}


def check(f: Callable[..., Any], calls: list[tuple[Tensor, ...]]) -> None:
    fused = fusewright.fuse(f)
    before = counters()
    with no_fallbacks():
        for given in calls:
            got, want = fused(*given), f(*given)
            assert_agrees(got, want)
            wrt = [t for t in given if t.requires_grad]
            seed = random_tensor(tuple(want.shape), seed=9).to(want.dtype)
            assert_agrees(*(torch.autograd.grad(y, wrt, seed, allow_unused=True) for y in (got, want)))
    assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0


@pytest.mark.every(4)
@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_operators(operator: Callable[[Tensor, Tensor, Any], Tensor]) -> None:
    def given(n: int) -> tuple[Tensor, ...]:
        return random_tensor((3, 4, n), seed=n).requires_grad_(), random_tensor((n,), seed=1).requires_grad_()

    check(lambda x, w: operator(x, w, 1 / x.shape[-1]), [given(n) for n in (5, 8, 12)])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    "scale",
    [lambda n: n**-0.5, lambda n: 1 / n**0.5, lambda n: 2 / n],
    ids=["power", "root", "another"],
)
def test_attention(scale: Callable[[Any], Any], dtype: torch.dtype) -> None:
    def f(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, scale=scale(q.shape[-1]))

    def given(n: int) -> tuple[Tensor, ...]:
        return tuple(random_tensor((2, 3, 8, n), seed=k).to(dtype).requires_grad_() for k in range(3))

    if dtype is torch.bfloat16 and scale(4) == 2 / 4 and scale(16) != 16**-0.5:
        fused = fusewright.fuse(f)  # the query would be rounded once more
        for n in (8, 16):
            assert_agrees(fused(*given(n)), f(*given(n)))
    else:
        check(f, [given(n) for n in (8, 16, 24)])


def test_what_eager_refuses() -> None:
    fused = fusewright.fuse(lambda x, n: F.layer_norm(x, (n,), eps=1 / n))
    for error in (lambda: fused(torch.ones(3, 5), 6), lambda: fused(torch.ones(3, 5, dtype=torch.int64), 5)):
        with pytest.raises(RuntimeError):
            error()
    beta = fusewright.fuse(lambda x, n: F.smooth_l1_loss(x, x, beta=1 / n))
    assert beta(torch.ones(3), 5) == 0
    with pytest.raises(RuntimeError, match="beta"):
        beta(torch.ones(3), -5)


POWERS: dict[str, Callable[[Tensor, Any], Tensor]] = {
    "pow": lambda x, p: torch.pow(x.abs(), p),
    "a root": lambda x, p: x.abs().pow(p).sum(-1) ** (1 / p),
    "of a number": lambda x, p: torch.pow(p, x) + (1 / p) ** x,
}


@pytest.mark.parametrize("power", POWERS.values(), ids=POWERS)
def test_powers_with_gradients(power: Callable[[Tensor, Any], Tensor]) -> None:
    """The gradient asks for the number: each has a trace of its own."""
    fused, before = fusewright.fuse(power), counters()
    with no_fallbacks():
        for p, n in ((3, 8), (4, 8), (3, 12)):
            x = random_tensor((3, n), seed=n).requires_grad_()
            got, want = fused(x, p), power(x, p)
            assert_agrees(got, want)
            seed = random_tensor(tuple(want.shape), seed=9)
            assert_agrees(*(torch.autograd.grad(y, x, seed) for y in (got, want)))
    assert counted(before)["fuse_traces"] == 2 and counted(before)["fuse_declined"] == 0
