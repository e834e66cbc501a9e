"""Writes to tensors of no dimensions, whose values torch's own tracing takes for floats of the program in float64."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.support import BACKEND, no_fallbacks


def added(p: Tensor, g: Tensor) -> Tensor:
    p.add_(g, alpha=-0.1)
    return g * 2


def read_again(p: Tensor, g: Tensor) -> Tensor:
    p.add_(g)
    return p * 2


def only_written(p: Tensor, g: Tensor) -> None:
    p.mul_(3)
    g.copy_(p)


def with_gradients(p: Tensor, g: Tensor) -> Tensor:
    with torch.no_grad():
        p.add_(g, alpha=-0.1)
    return g.exp() + g


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.int64])
@pytest.mark.parametrize("f", [added, read_again, only_written, with_gradients])
def test_a_write_is_not_lost(f: Any, dtype: torch.dtype) -> None:
    if dtype is torch.int64 and f in (added, with_gradients):
        pytest.skip("not of integers")
    torch._dynamo.reset()
    results = []
    for run in (f, torch.compile(f, backend=BACKEND)):
        made = []
        for start in (1, 5):
            p, g = torch.tensor(start, dtype=dtype), torch.tensor(2, dtype=dtype)
            if f is with_gradients:
                p.requires_grad_()
                g.requires_grad_()
            with no_fallbacks():
                out = run(p, g)
            made += [t.detach() for t in (p, g, *([] if out is None else [out]))]
        results.append(made)
    assert [t.tolist() for t in results[1]] == [t.tolist() for t in results[0]]


def test_values_and_floats() -> None:
    """Values of tensors and numbers that change are still no constants."""

    def f(x: Tensor, t: Tensor, by: float) -> Tensor:
        t.mul_(by)
        return x * t.item() + by

    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_scalar_outputs=True):  # type: ignore[attr-defined]
        run = torch.compile(f, backend=BACKEND)
        for by in (0.5, 1.5, 2.5, 3.5):
            for start in (1.0, 2.0):
                mine, theirs = (torch.tensor(start, dtype=torch.float64) for _ in range(2))
                x = torch.linspace(0, 1, 8)
                assert torch.equal(run(x, mine, by), f(x, theirs, by))
                assert mine.item() == theirs.item() == start * by


def test_a_float_that_decides() -> None:
    def f(x: Tensor, t: Tensor, by: float) -> Tensor:
        t.add_(1)
        return x * 2 if by > 2 else x.reshape(int(by), -1) * t

    torch._dynamo.reset()
    run = torch.compile(f, backend=BACKEND)
    for by in (1.0, 2.0, 3.0, 1.0):
        mine, theirs = (torch.tensor(4.0, dtype=torch.float64) for _ in range(2))
        x = torch.linspace(0, 1, 8)
        assert torch.equal(run(x, mine, by), f(x, theirs, by))
        assert mine.item() == 5.0
