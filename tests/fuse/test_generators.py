"""Generators of random numbers that a function makes, seeds, saves or draws with: numbers are eager's.

A trace would do such a thing once, and its draws are made elsewhere: the plain function runs.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import fusewright
from fusewright.debug import record

OWN = torch.Generator()


def seeded(x: Tensor) -> Tensor:
    torch.manual_seed(3)
    return F.dropout(x, 0.5)


def seeded_directly(x: Tensor) -> Tensor:
    torch.default_generator.manual_seed(4)
    return torch.randn(4) + x


def seed_asked(x: Tensor) -> Tensor:
    return x * (torch.initial_seed() % 7)


def forked(x: Tensor) -> Tensor:
    with torch.random.fork_rng():
        torch.manual_seed(5)
        y = torch.randn(4) + x
    return y + torch.randn(4)


def forked_unseeded(x: Tensor) -> Tensor:
    with torch.random.fork_rng():
        y = torch.randn(4) + x
    return y - torch.randn(4)


def saved(x: Tensor) -> Tensor:
    state = torch.get_rng_state()
    y = F.dropout(x, 0.5)
    torch.set_rng_state(state)
    return y - F.dropout(x, 0.5)


def given(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.rand(4, generator=g) + x


def given_in_place(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.empty_like(x).uniform_(generator=g) + x


def held(x: Tensor) -> Tensor:
    return torch.bernoulli(x / 4, generator=OWN) + x


def made(x: Tensor) -> Tensor:
    return torch.rand(4, generator=torch.Generator().manual_seed(7)) + x


def held_and_seeded(x: Tensor) -> Tensor:
    OWN.manual_seed(9)
    return torch.randn(4, generator=OWN) + x


def the_default_one(x: Tensor) -> Tensor:
    return torch.rand(4, generator=torch.default_generator) + x


def of_python(x: Tensor) -> Tensor:
    return x * random.random()


def of_numpy(x: Tensor) -> Tensor:
    return x * float(np.random.randn())


FUNCTIONS = [seeded, seeded_directly, seed_asked, forked, forked_unseeded, saved, given, given_in_place, held, made]
FUNCTIONS += [held_and_seeded, the_default_one, of_python, of_numpy]


@contextmanager
def another_thread(work: Callable[[], object], pause: float) -> Iterator[None]:
    """Another thread does `work` all the time, but for pauses of so many seconds."""
    done = threading.Event()

    def run() -> None:
        while not done.wait(pause):
            work()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda f: f.__name__)
def test_numbers_are_those_of_eager(fn: Callable[..., Tensor], threads: bool) -> None:
    def numbers(f: Callable[..., Tensor]) -> list[Any]:
        random.seed(0)
        np.random.seed(0)
        torch.manual_seed(0)
        OWN.manual_seed(1)
        g = torch.Generator().manual_seed(2)
        args = (g,) if fn.__name__.startswith("given") else ()
        out: list[Any] = [f(torch.arange(4.0), *args) for _ in range(4)]
        return [*out, torch.rand(3), torch.rand(3, generator=g), torch.rand(3, generator=OWN), random.random()]

    idle = another_thread(lambda: None, 9) if threads else nullcontext()
    with idle, record.recording() as seen:
        got = numbers(fusewright.fuse(fn))
    torch.testing.assert_close(got, numbers(fn), rtol=0, atol=0)
    assert any(g.kind == "plain" for g in seen)


@pytest.mark.parametrize("draw", [lambda: torch.rand(1), random.random], ids=["torch", "random"])
def test_what_other_threads_draw_is_no_reason_and_theirs(draw: Callable[[], Any]) -> None:
    drawn: list[Any] = []

    def both(x: Tensor) -> Tensor:
        time.sleep(0.02)  # the other thread draws
        return F.gelu(x) * 2

    with another_thread(lambda: drawn.append(float(draw())), 0.001), record.recording() as seen:
        fused = fusewright.fuse(both)
        x = torch.ones(4)
        torch.testing.assert_close(fused(x), F.gelu(x) * 2)
    assert not any(g.kind == "plain" for g in seen)
    assert len(drawn) > 9
    if draw is random.random:  # AOTAutograd has torch's state at its beginning come again
        assert len(set(drawn)) == len(drawn), "no number comes twice"


def test_what_is_drawn_inside_is_no_reason() -> None:
    with record.recording() as seen, fusewright.options(rng="eager"):
        fused = fusewright.fuse(lambda x: F.dropout(x, 0.5) + torch.randn(4))
        torch.manual_seed(0)
        got = fused(torch.ones(4))
        torch.manual_seed(0)
        want = F.dropout(torch.ones(4), 0.5) + torch.randn(4)
    torch.testing.assert_close(got, want, rtol=0, atol=0)
    assert not any(g.kind == "plain" for g in seen)
    assert type(torch.random.default_generator) is torch.Generator, "torch's own"


def test_an_operator_whose_name_is_a_keyword():
    """`random_(low, high)` is `aten.random.from`, which no source of a graph can have."""

    def f(x):
        return x + torch.empty(5, 17).random_(0, 10).sum()

    x, results = torch.ones(3), []
    for how in (f, fusewright.fuse(f, rng="eager")):
        torch.manual_seed(0)
        results += [how(x), torch.rand(1)]
    assert torch.equal(results[0], results[2]) and torch.equal(results[1], results[3])
