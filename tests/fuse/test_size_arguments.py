"""Sizes (`torch.Size`) that a fused function is given, and sizes in the results it gives."""

from __future__ import annotations

from typing import Any

import torch

import fusewright
from tests.support import counted, counters


def test_a_size_that_is_given_is_one() -> None:
    def f(x: torch.Tensor, s: Any) -> Any:
        return (x.expand(s) * 2 if isinstance(s, torch.Size) else x * 3), s, s[1:]

    x, fused, before = torch.ones(1, 2), fusewright.fuse(f), counters()
    for n in (3, 4, 5):
        (got, *mine), (want, *theirs) = fused(x, torch.Size([n, 2])), f(x, torch.Size([n, 2]))
        assert torch.equal(got, want) and mine == theirs and list(map(type, mine)) == list(map(type, theirs))
    assert counted(before)["fuse_traces"] == 1


def test_sizes_as_keys_of_results() -> None:
    """Each has a trace of its own, as README says."""

    def f(x: torch.Tensor) -> Any:
        return {x.shape[0]: x * 2, "more": ({x.shape: x + 1},)}

    fused, before = fusewright.fuse(f), counters()
    for n in (3, 4, 3):
        got, want = fused(torch.ones(n)), f(torch.ones(n))
        assert list(got) == list(want) and torch.equal(got[n], want[n])
        assert torch.equal(got["more"][0][torch.Size([n])], want["more"][0][torch.Size([n])])
    assert counted(before)["fuse_traces"] == 2
