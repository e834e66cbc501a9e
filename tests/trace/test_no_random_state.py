"""What AOTAutograd keeps for random operators that it makes functional, which is left out of our traces."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._decomp import decompositions_for_rng

import fusewright
from tests.support import is_ours

pytestmark = pytest.mark.skipif(not is_ours(), reason="Fusewright's own parts")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The states that are made."""
    states: list[Any] = []
    reset = decompositions_for_rng.PhiloxState.reset

    def noted(state: Any) -> None:
        states.append(state)
        reset(state)

    monkeypatch.setattr(decompositions_for_rng.PhiloxState, "reset", noted)
    torch._dynamo.reset()
    return states


def step(f: Any) -> torch.Tensor:
    x = torch.linspace(-1, 1, 4096, requires_grad=True)
    f(x).sum().backward()
    assert x.grad is not None
    return x.grad


@pytest.mark.parametrize("way", ["compile", "fuse"])
def test_no_states(way: str, made: list[Any]) -> None:
    f = lambda x: torch.dropout(torch.sin(x), 0.5, True)
    grad = step(torch.compile(f, backend="fusewright") if way == "compile" else fusewright.fuse(f))
    assert not made
    assert 1500 < int((grad == 0).sum()) < 2600


def test_others_have_theirs(made: list[Any]) -> None:
    step(torch.compile(lambda x: torch.sin(x) * 2, backend="fusewright"))
    assert not made
    step(torch.compile(lambda x: torch.sin(x) * 3, backend="aot_eager"))
    assert made
    assert decompositions_for_rng.PhiloxStateTracker.fwd_state in made
