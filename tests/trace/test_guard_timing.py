"""Frames compiled with our backend are not timed by Dynamo; others are, and ours where somebody wants to know."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
import torch
import torch._dynamo.guards as guards

import fusewright


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for each frame whose guards Dynamo times."""
    calls: list[int] = []

    def time_guards(root: object, values: object, rounds: int) -> float:
        calls.append(rounds)
        return 1.0

    monkeypatch.setattr(guards, "profile_guard_manager", time_guards)
    return calls


def compiled(backend: str | Callable[..., object]) -> None:
    torch._dynamo.reset()
    x = torch.randn(8)
    torch.testing.assert_close(torch.compile(lambda x: x.sin() + 1, backend=backend)(x), x.sin() + 1)


def test_ours_are_not_timed(timed: list[int]) -> None:
    compiled("fusewright")
    compiled("fusewright")
    assert not timed
    compiled("eager")
    assert len(timed) == 1
    compiled("fusewright")
    assert len(timed) == 1


def test_a_frame_that_fails_leaves_others_alone(timed: list[int]) -> None:
    compiled("fusewright")

    def broken(gm: torch.fx.GraphModule, inputs: object) -> object:
        raise ValueError("no")

    with pytest.raises(Exception, match="no"):
        compiled(broken)
    compiled("eager")
    assert len(timed) == 1


def test_ours_are_timed_where_asked_for(timed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    with fusewright.options(guard_timing=True):
        compiled("fusewright")
    assert len(timed) == 1
    monkeypatch.setattr(guards.guards_log, "isEnabledFor", lambda level: level == logging.DEBUG)
    compiled("fusewright")
    assert len(timed) == 2
