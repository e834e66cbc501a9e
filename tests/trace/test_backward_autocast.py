"""A backward pass that is called under autocast, of what was computed without: types are those of the forward pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import fusewright
from tests.support import BACKEND, is_ours


def _product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return ((x @ w).sin() @ w).cos()


def _aliased(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = (x @ w).sin()
    return (y.view(-1) * 2).view(y.shape), y.t()  # type: ignore[return-value]


def _viewed(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """One that AOTAutograd's own runtime runs: a result is a view of an argument."""
    return torch.tanh((x * 2) @ w), x.t()  # type: ignore[return-value]


WAYS: dict[str, Callable] = {"compile": lambda fn: torch.compile(fn, backend=BACKEND)}
if is_ours():
    WAYS["fuse"] = fusewright.fuse


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("fn", [_product, _aliased, _viewed], ids=["plain", "aliases", "views"])
@pytest.mark.parametrize("how", WAYS)
def test_gradients_do_not_depend_on_autocast(how: str, fn: Callable, create_graph: bool) -> None:
    if how == "compile" and create_graph:
        pytest.skip("torch.compile has no second derivatives")
    torch._dynamo.reset()
    g = torch.Generator().manual_seed(0)
    x, w = (torch.randn(64, 64, generator=g).requires_grad_() for _ in range(2))
    out = WAYS[how](fn)(x, w)
    out = out[0] if isinstance(out, tuple) else out
    want = torch.autograd.grad(out.sum(), (x, w), retain_graph=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = torch.autograd.grad(out.sum(), (x, w), create_graph=create_graph)
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b)
