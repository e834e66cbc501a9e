"""`fuse` called within a function that torch.compile traces: with any backend, a graph break and no failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fusewright


def called(x: torch.Tensor) -> torch.Tensor:
    return fusewright.fuse(lambda y: y * 2 + 1)(x)


def decorated(x: torch.Tensor) -> torch.Tensor:
    @fusewright.fuse(specialize="k")
    def g(y: torch.Tensor, k: int = 2) -> torch.Tensor:
        return y * k + 1

    return g(x)


def of_functorch(x: torch.Tensor) -> torch.Tensor:
    return fusewright.memory_efficient_fusion(lambda y: y * 2 + 1)(x)


@pytest.mark.parametrize("backend", ["eager", "fusewright"])
@pytest.mark.parametrize("program", [called, decorated, of_functorch])
def test_a_function_that_fuses_another(program: Callable[..., Any], backend: str) -> None:
    torch._dynamo.reset()
    x = torch.arange(4.0)
    assert torch.equal(torch.compile(program, backend=backend)(x), x * 2 + 1)
