"""Attributes of modules that a fused function reads: they are conditions of its trace."""

from __future__ import annotations

import copy
import threading
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fusewright
from tests.support import counted, counters


class Settings(nn.Module):
    kind = 2

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.act, self.sizes, self.pair = 2.0, F.relu, [1, 2], (4, 5)
        self.drop, self.norm = nn.Dropout(0.0), nn.LayerNorm(16)

    @property
    def doubled(self) -> float:
        return self.scale * 2

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.act(self.drop(x) * self.doubled)) * self.kind
        return x + sum(self.sizes) + self.pair[1]


def put(m: Any, path: str, value: Any) -> None:
    owner, _, name = path.rpartition(".")
    setattr(m.get_submodule(owner), name, value)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("scale", 3.0),
        ("scale", 2),  # another type
        ("act", torch.tanh),
        ("sizes", [1, 2, 3]),
        ("pair", (4, 6)),
        ("kind", 7),  # was the class's
        ("norm.eps", 0.5),
        ("drop.p", 1.0),
    ],
)
def test_a_change_is_seen(path: str, value: Any) -> None:
    m = Settings()
    plain, fused, x = copy.deepcopy(m), fusewright.fuse(m), torch.randn(8, 16)
    torch.testing.assert_close(fused(x), plain(x))
    put(m, path, value)
    put(plain, path, value)
    before = counters()
    for _ in range(2):
        torch.testing.assert_close(fused(x), plain(x))
    assert counted(before)["fuse_traces"] == 1


def test_what_is_changed_in_place_and_back() -> None:
    m = Settings()
    fused, x = fusewright.fuse(m), torch.randn(8, 16)
    first = fused(x)
    before = counters()
    m.sizes.append(10)
    torch.testing.assert_close(fused(x), first + 10)
    m.sizes.pop()
    m.pair = (4, 5)  # equal, and another object
    torch.testing.assert_close(fused(x), first)
    assert counted(before)["fuse_traces"] == 1


def test_what_is_not_read_is_no_condition() -> None:
    m = Settings()
    fused, x = fusewright.fuse(m), torch.randn(8, 16)
    fused(x)
    before = counters()
    for step in range(5):
        m.step, m.norm.note = step, str(step)  # type: ignore[assignment]
        fused(x)
    assert counted(before)["fuse_traces"] == 0
    assert "__getattribute__" not in vars(nn.Module)


def test_a_module_among_arguments() -> None:
    @fusewright.fuse
    def twice(m: nn.Module, x: Tensor) -> Tensor:
        return m(x) * m.factor  # type: ignore[operator]

    m, x = nn.Dropout(0.0), torch.randn(4)
    m.factor = 2
    assert torch.equal(twice(m, x), x * 2)
    m.factor = 3
    assert torch.equal(twice(m, x), x * 3)


def test_a_thread_notes_what_it_reads_itself() -> None:
    m, other = Settings(), Settings()
    fused, x = fusewright.fuse(m), torch.randn(8, 16)
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            other(x)
            _ = m.unread  # type: ignore[unused-ignore]

    m.unread = 1
    thread = threading.Thread(target=busy)
    thread.start()
    try:
        fused(x)
    finally:
        stop.set()
        thread.join()
    before = counters()
    m.unread = 2
    fused(x)
    assert counted(before)["fuse_traces"] == 0
