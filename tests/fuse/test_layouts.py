"""A trace serves the layouts of memory that it was made for: those of all arguments, in every later call."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch

import fusewright
from tests.support import counted, counters, no_fallbacks

LAYOUTS = {
    "rows": lambda x: x.clone(),
    "columns": lambda x: x.t().contiguous().t(),
    "expanded": lambda x: x[:1].expand(x.shape),
    "every second": lambda x: x.repeat_interleave(2, 1)[:, ::2],
    "within rows": lambda x: torch.cat([x, x], 1)[:, : x.shape[1]],
}


def total(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tanh(a * 2 + b), (a - b).sum(0)


@pytest.mark.parametrize("first", [name for name in LAYOUTS if name != "rows"])
def test_strides_of_every_argument_are_checked(first: str) -> None:
    """Where two arguments were not contiguous, only the last one's strides counted: others' were read elsewhere."""
    g = torch.Generator().manual_seed(0)
    draw = lambda: torch.randn(4, 6, generator=g)
    fused = fusewright.fuse(total)
    fused(LAYOUTS[first](draw()), LAYOUTS[first](draw()))
    for one, other in [*((x, first) for x in LAYOUTS), *((first, x) for x in LAYOUTS)]:
        a, b = LAYOUTS[one](draw()), LAYOUTS[other](draw())
        for got, want in zip(fused(a, b), total(a, b), strict=True):
            torch.testing.assert_close(got, want)
            assert got.stride() == want.stride()


def test_what_is_written_lies_where_the_argument_lies() -> None:
    def add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a.add_(1)
        return b * 2 + a

    fused = fusewright.fuse(add)
    fused(torch.zeros(4, 6).t(), torch.zeros(4, 6).t())
    buffer = torch.zeros(6, 12)
    fused(buffer[:, ::3], torch.zeros(4, 6).t())
    assert buffer[:, ::3].eq(1).all() and buffer.sum() == 24


def test_strides_of_many_arguments() -> None:
    """Heads of attention, cut out of one tensor or of three."""

    def mixed(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.tanh(q + k) * v

    fused = fusewright.fuse(mixed)
    apart = lambda: torch.randn(2, 8, 4, 16).transpose(1, 2)
    fused(apart(), apart(), apart())
    q, k, v = torch.randn(2, 8, 3, 4, 16).unbind(2)
    for given in itertools.product((q, apart().transpose(1, 2)), (k, apart().transpose(1, 2)), (v, v.clone())):
        args = [x.transpose(1, 2) for x in given]
        torch.testing.assert_close(fused(*args), mixed(*args))


def turned(c: torch.Tensor) -> torch.Tensor:
    y = torch.tanh(c)
    c.t_()
    z = c * 3
    c.t_()
    return y + z.t()


def squeezed(c: torch.Tensor) -> torch.Tensor:
    y = torch.tanh(c)
    c.squeeze_()  # nothing to squeeze
    return y + c * 3


def computed_between(c: torch.Tensor) -> torch.Tensor:
    c.unsqueeze_(0)
    y = c * c
    c.squeeze_(0)
    return y


@pytest.mark.parametrize("program", [turned, squeezed, computed_between])
def test_arguments_that_are_turned_and_turned_back(program: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """AOTAutograd does not see it, and took the gradient of what was computed afterwards only."""

    def gradient(fn: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor | str:
        leaf = torch.linspace(-1, 1, 12).view(3, 4).requires_grad_()
        out = fn(leaf * 1)
        try:
            (grad,) = torch.autograd.grad(out.sum(), leaf)
        except RuntimeError as e:
            return str(e)[:60]
        return grad

    with no_fallbacks():
        want, got = gradient(program), gradient(fusewright.fuse(program))
    assert got == want if isinstance(want, str) else torch.equal(got, want)


def test_arguments_without_gradients_that_are_turned_and_turned_back_are_fused() -> None:
    fused, x, before = fusewright.fuse(turned), torch.randn(3, 4), counters()
    with no_fallbacks():
        torch.testing.assert_close(fused(x), turned(x))
    assert counted(before)["fuse_traces"] == 1
