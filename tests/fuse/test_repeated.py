"""Writing into tensors whose elements are one in memory: as eager, which writes once, or refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fusewright
from tests.support import counted, counters

HOW: dict[str, Callable[[Any], Any]] = {
    "fuse": fusewright.fuse,
    "compile": lambda f: torch.compile(f, backend="fusewright"),
}


def zeroed(a: torch.Tensor) -> torch.Tensor:
    a.expand(2, *a.shape).zero_()
    return a * 1


def set_to(a: torch.Tensor) -> torch.Tensor:
    a.expand(2, *a.shape)[:] = 3.0
    return a * 1


def added(a: torch.Tensor) -> torch.Tensor:
    v = a.expand(2, *a.shape)
    v += 1
    return a * 1


@pytest.mark.parametrize("how", HOW)
@pytest.mark.filterwarnings("ignore:Fusewright")
def test_what_is_written_is_in_the_tensor(how: str) -> None:
    torch._dynamo.reset()
    a = torch.ones(3)
    assert not HOW[how](zeroed)(a).any() and not a.any()


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("program", [set_to, added])
@pytest.mark.filterwarnings("ignore:Fusewright")
def test_what_eager_refuses(how: str, program: Any) -> None:
    torch._dynamo.reset()
    with pytest.raises(RuntimeError, match="single memory location"):
        HOW[how](program)(torch.ones(3))


@pytest.mark.parametrize("how", HOW)
def test_expanded_tensors_that_are_read_and_copies_that_are_written(how: str) -> None:
    def program(a: torch.Tensor) -> torch.Tensor:
        v = a.expand(2, *a.shape).unsqueeze_(0).squeeze_(0) + 1
        v[:, 0] = 5.0
        return v.mul_(2).expand(2, 2, 3)

    torch._dynamo.reset()
    before = counters()
    assert torch.equal(HOW[how](program)(torch.ones(3)), program(torch.ones(3)))
    assert counted(before)["groups_formed"] > 0
