"""Gradients of functions that write what they have read: the backward pass reads what was there before."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch

import fusewright
from tests.support import compiled, no_fallbacks

Tensor = torch.Tensor
WAYS = {"compile": compiled, "fuse": fusewright.fuse}


def product(b: Tensor, w: Tensor) -> Tensor:
    c = b * 2
    b.add_(1)
    return w * c


def counted(b: Tensor, w: Tensor) -> Tensor:
    b.add_(1)
    return (w * b.double()).float()


def view(b: Tensor, w: Tensor) -> Tensor:
    c = b.t()[1:] * 2
    b[0].zero_()
    return (c * w[1:]).sin()


def exchange(b: Tensor, w: Tensor) -> Tensor:
    c = w * b.exp()
    b.copy_(b.flip(0) + 1)
    return c * w


def by_a_gradient(b: Tensor, w: Tensor) -> Tensor:
    """`b` requires a gradient from here on: AOTAutograd writes it behind the graph."""
    c = b * 2
    b.mul_(w)
    return c.sin() * w


def _run(fn: Callable[..., Tensor], b: Tensor, calls: int) -> list[Tensor]:
    """What is written, and the gradients of some calls, asked for after the last."""
    b = b.clone()
    w = torch.linspace(-1, 1, 16).reshape(4, 4).requires_grad_()
    total = torch.zeros(())
    for k in range(calls):
        total = total + fn(b, w).sum() * (k + 1)
    total.backward()
    assert w.grad is not None
    return [b.detach(), w.grad]


@pytest.mark.parametrize("recompute", [True, False])
@pytest.mark.parametrize("fn", [product, counted, view, exchange, by_a_gradient])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_written_after_it_was_read(way: str, fn: Callable[..., Tensor], recompute: bool) -> None:
    torch._dynamo.reset()
    b = torch.arange(16.0).reshape(4, 4) / 8
    with fusewright.options(recompute=recompute):
        fused = WAYS[way](fn)
        for calls in (1, 2):
            with no_fallbacks():
                got = _run(fused, b, calls)
            torch.testing.assert_close(got, _run(fn, b, calls))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [lambda: torch.arange(32.0).reshape(4, 8)[:, ::2], lambda: torch.randn(4, 4).t()])
def test_memory_that_is_not_contiguous(way: str, make: Callable[[], Tensor]) -> None:
    torch.manual_seed(0)
    a = make()
    b = torch.empty_strided(a.shape, (8, 2) if a.stride() == (8, 2) else (1, 4)).copy_(a)
    fused = WAYS[way](product)
    for _ in range(2):
        w, v = (torch.linspace(0, 1, 16).reshape(4, 4).requires_grad_() for _ in range(2))
        fused(a, w).sum().backward()
        product(b, v).sum().backward()
        torch.testing.assert_close(w.grad, v.grad)
        torch.testing.assert_close(a, b)


class RunningNorm(torch.nn.Module):
    """Normalizes by what it has seen before this batch."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("var", torch.ones(4))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def forward(self, x: Tensor) -> Tensor:
        x = self.inner(x)
        y = (x - self.mean) / torch.sqrt(self.var + 1e-5)
        with torch.no_grad():
            self.mean.lerp_(x.mean(0), 0.3)
            self.var.lerp_(x.var(0), 0.3)
            self.steps += 1
        return y * self.steps


@pytest.mark.parametrize("way", WAYS)
def test_running_statistics(way: str) -> None:
    torch.manual_seed(0)
    plain = RunningNorm()
    other = copy.deepcopy(plain)
    ways: dict[str, Any] = WAYS
    fused = ways[way](other)
    for k in range(3):
        x = torch.randn(6, 4) * (k + 1)
        for m in (plain, fused):
            m(x).square().mean().backward()
        for (name, p), q in zip(plain.named_parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(q.grad, p.grad, msg=lambda text, name=name: f"{name}: {text}")
        torch.testing.assert_close(other.state_dict(), plain.state_dict())
