"""What a fused function assigns outside, and what it does not depend on."""

from __future__ import annotations

import functools
import gc
import logging
import math
import threading
import weakref
from collections import Counter
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import fusewright
from tests.support import counted, counters

STEP = 0
CALLS: list[int] = []
COUNTS: Counter[str] = Counter()
LAST: Any = None
TABLE: Any = None
LOGGER = logging.getLogger(__name__)
UNREAD = 0
MEMO: dict[int, float] = {}


class Stats:
    def __init__(self) -> None:
        self.calls, self.unread, self.enabled = 0, 0, True
        self.last: Any = None


class Slots:
    __slots__ = ("calls",)

    def __init__(self) -> None:
        self.calls = 0


STATS, SLOTS = Stats(), Slots()


def test_globals_that_are_assigned() -> None:
    global STEP

    def f(x: Tensor) -> Tensor:
        global STEP
        STEP += 1
        return x * STEP

    STEP = 0
    fused = fusewright.fuse(f)
    for step in range(1, 5):
        assert torch.equal(fused(torch.ones(3)), torch.full((3,), float(step)))
        assert step == STEP


def test_nonlocals_that_are_assigned() -> None:
    step = 0

    @fusewright.fuse
    def f(x: Tensor) -> Tensor:
        nonlocal step
        step += 1
        return x * step

    for k in range(1, 5):
        assert torch.equal(f(torch.ones(3)), torch.full((3,), float(k)))
        assert step == k


@pytest.mark.parametrize("owner", [STATS, SLOTS, Stats])
def test_attributes_that_are_assigned(owner: Any) -> None:
    owner.calls = 0

    @fusewright.fuse
    def f(x: Tensor) -> Tensor:
        owner.calls += 1
        return x * owner.calls

    for k in range(1, 5):
        assert torch.equal(f(torch.ones(3)), torch.full((3,), float(k)))
        assert owner.calls == k
    if owner is Stats:
        del owner.calls


def test_attributes_of_functions_that_are_assigned() -> None:
    def count(x: Tensor) -> Tensor:
        count.calls += 1  # type: ignore[attr-defined]
        return x * 2

    count.calls = 0  # type: ignore[attr-defined]
    fused = fusewright.fuse(lambda x: count(x) + 1)
    for k in range(1, 4):
        fused(torch.ones(3))
        assert count.calls == k  # type: ignore[attr-defined]


def test_containers_that_are_changed() -> None:
    def f(x: Tensor) -> Tensor:
        CALLS.append(len(CALLS))
        COUNTS["calls"] += 1
        return x * COUNTS["calls"]

    CALLS.clear()
    COUNTS.clear()
    fused = fusewright.fuse(f)
    for k in range(1, 5):
        assert torch.equal(fused(torch.ones(3)), torch.full((3,), float(k)))
        assert len(CALLS) == k and COUNTS["calls"] == k


@pytest.mark.parametrize("place", ["global", "attribute", "list"])
def test_results_that_are_kept_outside(place: str) -> None:
    seen: list[Tensor] = []

    def f(x: Tensor) -> Tensor:
        global LAST
        y = torch.sigmoid(x)
        if place == "global":
            LAST = y
        elif place == "attribute":
            STATS.last = y
        else:
            seen.append(y)
        return y * 2

    fused = fusewright.fuse(f)
    for n in (2, 2, 3):
        x = torch.randn(n)
        got = fused(x)
        kept = LAST if place == "global" else STATS.last if place == "attribute" else seen[-1]
        assert type(kept) is Tensor and torch.equal(kept, torch.sigmoid(x)) and torch.equal(got, kept * 2)
    assert len(seen) == (3 if place == "list" else 0)


def test_a_table_in_a_global() -> None:
    global TABLE
    TABLE = None

    def f(x: Tensor) -> Tensor:
        global TABLE
        if TABLE is None:
            TABLE = torch.arange(4.0)
        return x * TABLE

    fused, before = fusewright.fuse(f), counters()
    for shape in ((4,), (4,), (3, 4)):
        assert torch.equal(fused(torch.ones(shape)), torch.ones(shape) * torch.arange(4.0))
    assert type(TABLE) is Tensor and counted(before)["fuse_traces"] == 2 and counted(before)["fuse_declined"] == 0


def test_a_failure_leaves_all_as_it_was() -> None:
    global STEP

    def f(x: Tensor) -> Tensor:
        global STEP
        STEP += 1
        STATS.calls += 1
        CALLS.append(1)
        return x if bool(x.sum() > 0) else -x

    STEP = STATS.calls = 0
    CALLS.clear()
    with pytest.raises(fusewright.UserError):
        fusewright.fuse(f)(torch.ones(3))
    assert (STEP, STATS.calls, CALLS) == (0, 0, [])
    assert not {"__getattribute__", "__setattr__", "__delattr__"} & vars(Stats).keys()
    assert "__getattribute__" not in vars(nn.Module)


def test_what_is_set_up_at_first() -> None:
    """Values that are computed once: the function is fused from the next call on."""
    MEMO.clear()

    def f(x: Tensor) -> Tensor:
        if 3 not in MEMO:
            MEMO[3] = math.sqrt(3)
        return x * MEMO[3]

    fused, before = fusewright.fuse(f), counters()
    for _ in range(4):
        torch.testing.assert_close(fused(torch.ones(3)), torch.full((3,), math.sqrt(3)))
    assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0


@functools.lru_cache
def cached(n: int) -> int:
    return n + 1


def counting(f: Any) -> Any:
    @functools.wraps(f)
    def g(*args: Any) -> Any:
        return f(*args)

    return g


@counting
def recursive(x: Tensor, n: int = 2) -> Tensor:
    return x if n == 0 else recursive(x * 2, n - 1)  # type: ignore[no-any-return]


def unread(x: Tensor) -> Tensor:
    return x * UNREAD


def test_what_does_not_count() -> None:
    """No trace is made for what is not read: other globals and attributes, caches, loggers, what is never called."""
    global UNREAD

    def f(x: Tensor, run: bool = False) -> Tensor:
        LOGGER.debug("called with %s", run)
        if run:
            x = unread(x)
        if STATS.enabled:
            x = x + cached(2)
        return sum(recursive(x) * k for k in (1, 2)) + math.sqrt(4)  # type: ignore[return-value]

    fused, before, x = fusewright.fuse(f), counters(), torch.ones(3)
    for k in range(5):
        UNREAD = STATS.unread = k
        LOGGER.setLevel(logging.INFO + k)
        cached(10 + k)
        MEMO[k] = k
        torch.testing.assert_close(fused(x), f(x))
    assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0


def test_nothing_is_asked_where_nothing_is_read() -> None:
    fused = fusewright.fuse(lambda x: torch.sigmoid(x) * math.pi)
    fused(torch.ones(3))
    (plans,) = fused._fusewright.plans.values()
    assert plans[0].entry.captured.same is None


def test_threads_that_trace_and_assign() -> None:
    """Others read and assign attributes of the same objects while a function is traced: their values stay."""
    mine, stop, failures = Stats(), threading.Event(), []

    def busy() -> None:
        while not stop.is_set():
            mine.unread += 1
            CALLS.append(1)

    def call(k: int) -> None:
        try:
            scale = float(k)
            fused = fusewright.fuse(lambda x: x * scale if mine.enabled else -x)
            for n in range(1, 4):
                assert torch.equal(fused(torch.ones(n, 3)), torch.full((n, 3), scale))
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=call, args=(k,)) for k in range(3)]
    other = threading.Thread(target=busy)
    other.start()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    stop.set()
    other.join()
    assert not failures and mine.unread > 0
    assert "__getattribute__" not in vars(Stats)


def test_objects_are_not_kept_alive() -> None:
    holder = {"stats": Stats()}
    fused = fusewright.fuse(lambda x: x * 2 if holder["stats"].enabled else x)
    fused(torch.ones(3))
    gone = weakref.ref(holder["stats"])
    holder["stats"] = Stats()
    gc.collect()
    assert gone() is None
    holder["stats"].enabled = False
    assert torch.equal(fused(torch.ones(3)), torch.ones(3))


COLLECTIONS = 0


def _collected(phase: str, info: dict[str, int]) -> None:
    global COLLECTIONS
    COLLECTIONS += 1


def test_what_the_garbage_collector_calls_is_not_done_by_the_function() -> None:
    def f(x: Tensor) -> Tensor:
        gc.collect()
        return x * 2

    fused, before = fusewright.fuse(f), counters()
    gc.callbacks.append(_collected)
    try:
        for n in (3, 4):
            assert torch.equal(fused(torch.ones(n)), torch.full((n,), 2.0))
    finally:
        gc.callbacks.remove(_collected)
    grew = counted(before)
    assert COLLECTIONS and grew["fuse_traces"] == 1 and grew["fuse_declined"] == 0
