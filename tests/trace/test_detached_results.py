"""Results that share memory with others and have no gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fusewright

Fn = Callable[[torch.Tensor], tuple[torch.Tensor, ...]]
WAYS: dict[str, Callable[[Fn], Fn]] = {
    "fuse": fusewright.fuse,
    "static": lambda f: torch.compile(f, backend="fusewright", dynamic=False),
    "dynamic": lambda f: torch.compile(f, backend="fusewright", dynamic=True),
}


def beside_a_view(x):
    y = x + 0
    return y.detach(), y[1:]


def behind_a_view(x):
    y = x + 0
    return y.unfold(0, 2, 1), y.detach()


def written(x):
    y = x.clone()
    z = y.detach()
    z.add_(1)
    return z[1:], y.view(-1)


def of_a_view(x):
    y = x.sin()
    return y[1:].detach(), y[:2]


def view_of_detached(x):
    y = x.sin()
    return y, y.detach().clone(), y.detach().view(2, -1)


def whole(x):
    y = x.sin()
    return y.detach(), y


def alone(x):
    return x.sin().detach(), x.cos()


PROGRAMS: dict[str, Any] = {
    f.__name__: f for f in (beside_a_view, behind_a_view, written, of_a_view, view_of_detached, whole, alone)
}


def _gradient(out: tuple[torch.Tensor, ...], x: torch.Tensor) -> torch.Tensor:
    (found,) = torch.autograd.grad([t.sum() for t in out if t.requires_grad], x)
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_detached_results(program: str, way: str) -> None:
    torch._dynamo.reset()
    fn = PROGRAMS[program]
    x = torch.randn(4, requires_grad=True)
    made = WAYS[way](fn)
    for _ in range(2):
        got, want = made(x), fn(x)
        assert [t.requires_grad for t in got] == [t.requires_grad for t in want]
        assert [t.grad_fn is None for t in got] == [t.grad_fn is None for t in want]
        torch.testing.assert_close(got, want)
        torch.testing.assert_close(_gradient(got, x), _gradient(want, x))
        places = [[t.untyped_storage().data_ptr() for t in out] for out in (got, want)]
        assert [places[0].index(p) for p in places[0]] == [places[1].index(p) for p in places[1]]
