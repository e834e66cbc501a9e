"""Quotients of positions that views leave behind, where they differ between the lanes of a vector: eager's bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import fusewright
from tests.emulate.driver import emulated_gpu
from tests.support import same_bits

SHAPES = ((6, 17, 23), (1, 1, 2), (2, 3, 9), (5, 16, 33))


@pytest.fixture(params=["cpu", "emulated"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    torch._dynamo.reset()
    with ExitStack() as stack:
        if request.param == "emulated":
            stack.enter_context(emulated_gpu())
        stack.enter_context(fusewright.options(fallback=False))
        yield


def compiled(f: Callable[..., Tensor], how: str) -> Callable[..., Tensor]:
    if how == "fuse":
        return fusewright.fuse(f)
    return torch.compile(f, backend="fusewright", dynamic=how == "dynamic")


def differences(x: Tensor) -> Tensor:
    """Its gradient reads a row's number one place before the row, in a lane that is masked off."""
    return (x[..., :, 1:] - x[..., :, :-1]).abs().flatten(-2).sum(-1)


@pytest.mark.parametrize("how", ["fuse", "dynamic", "static"])
def test_masked_lanes_before_the_first_row(how: str) -> None:
    f = compiled(differences, how)
    for shape in SHAPES:
        x = torch.randint(-9, 9, shape).float().requires_grad_()
        grad = torch.randint(-9, 9, shape[:1]).float()
        for got, want in zip(*(torch.autograd.grad(g(x), x, grad) for g in (f, differences)), strict=True):
            assert same_bits(got, want)


@pytest.mark.every(2)
@pytest.mark.parametrize("shift", [1, 5, 20])
@pytest.mark.parametrize("how", ["fuse", "static"])
def test_rows_that_are_moved(shift: int, how: str) -> None:
    """Several lanes of a vector, or all of them, lie before the first row."""

    def moved(x: Tensor, y: Tensor) -> Tensor:
        rows = x[:, None].expand(-1, y.shape[1] * y.shape[2]).reshape(y.shape)
        return F.pad(rows * y, (shift, 0))[..., : y.shape[2]] + y

    f = compiled(moved, how)
    for shape in SHAPES:
        x, y = torch.randn(shape[0]), torch.randn(shape)
        assert same_bits(f(x, y), moved(x, y))


@pytest.mark.every(3)
@pytest.mark.parametrize("how", ["fuse", "dynamic", "static"])
@pytest.mark.parametrize("width", [2, 3, 8])
def test_of_indices(width: int, how: str) -> None:
    """What an index that is read selects lies in a row that only its quotient tells."""

    def selected(w: Tensor, at: Tensor) -> Tensor:
        return F.pad((w * 2).view(-1, width), (0, 0, 1, 1)).view(-1)[at]

    def summed(w: Tensor, at: Tensor) -> Tensor:
        return selected(w, at) / selected(w, at).abs().amax()

    for program in (selected, summed):
        f = compiled(program, how)
        for rows, n in ((3, 40), (1, 7), (5, 129)):
            w, at = torch.randn(rows * width), torch.randint(0, (rows + 2) * width, (n,))
            at[0] = width  # what is not padding
            assert same_bits(f(w, at), program(w, at))
