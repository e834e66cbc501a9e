"""Which programs have their backward passes run in the thread that calls them, and what that leaves alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

import fusewright
from fusewright.run import own_thread

enabled = torch._C._is_multithreading_enabled


def in_a_thread(f: Callable[[], Any]) -> Any:
    """What `f` returns in a thread of its own, whose state nobody else has touched."""
    out: list[Any] = []
    thread = threading.Thread(target=lambda: out.append(f()))
    thread.start()
    thread.join()
    assert out, "it raised"
    return out[0]


@pytest.mark.parametrize(
    "count, devices, want", [(1, ["cuda"], True), (1, ["cpu", "cuda"], True), (1, ["cpu"], False), (2, ["cuda"], False)]
)
def test_wanted_where_the_only_gpu_computes(monkeypatch, count, devices, want):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    places = [torch.device(d) for d in devices]
    assert own_thread.wanted(places) is want
    with fusewright.options(own_thread=False):
        assert own_thread.wanted(places) is False
    assert own_thread.wanted([]) is False


@pytest.mark.parametrize("make", [lambda f: torch.compile(f, backend="fusewright"), fusewright.fuse])
def test_a_thread_decides_once(monkeypatch, make):
    monkeypatch.setattr(own_thread, "wanted", lambda places: len(list(places)) == 1)
    torch._dynamo.reset()
    f = lambda x: torch.tanh(x) * x
    call = make(f)
    x = torch.randn(5, 6, requires_grad=True)
    (want,) = torch.autograd.grad(f(x).sum(), x)

    def run():
        with torch.no_grad():
            call(x)
        seen = [enabled()]  # nothing to differentiate, nothing decided
        y = call(x)
        seen.append(enabled())
        threads = []
        y.register_hook(lambda g: threads.append(threading.get_ident()))
        (got,) = torch.autograd.grad(y.sum(), x)
        torch.testing.assert_close(got, want)
        assert threads == [threading.get_ident()]
        torch.autograd.set_multithreading_enabled(True)  # what the program says later holds
        call(x).sum().backward()
        return [*seen, enabled()]

    assert in_a_thread(run) == [True, False, True]
    assert in_a_thread(run) == [True, False, True]  # each thread for itself
    torch._dynamo.reset()


def test_programs_on_a_cpu_decide_nothing():
    f = fusewright.fuse(lambda x: torch.sin(x) + 1)
    x = torch.randn(7, requires_grad=True)

    def run():
        f(x).sum().backward()
        return enabled()

    assert in_a_thread(run) is True
