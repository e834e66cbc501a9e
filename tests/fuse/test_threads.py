"""A fused module that one thread traces while others call it, and what it holds, in all ways."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fusewright
from fusewright.trace.stand_in import StandIn
from tests.support import counted, counters

WAITING = threading.local()  # what else a module reads, globals too, would be a condition of its traces


class Pausing(nn.Module):
    """In a thread that has it in `WAITING`, forward waits half way until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)
        self.scale = nn.Parameter(torch.full((4,), 2.0))
        self.register_buffer("shift", torch.ones(4))
        self.reached, self.go = threading.Event(), threading.Event()

    def forward(self, x: Tensor) -> Tensor:
        if getattr(WAITING, "here", False):
            self.reached.set()
            assert self.go.wait(60)
        return F.gelu(self.norm(self.linear(x))) * self.scale + self.shift

    def __deepcopy__(self, memo: Any) -> Pausing:
        out = Pausing()
        memo[id(self)] = out
        out.load_state_dict(self.state_dict())
        return out.train(self.training)


@contextmanager
def traced_meanwhile(m: Pausing, call: Callable[[], Any]) -> Iterator[list[Any]]:
    """Another thread is in the midst of tracing `call`; what it returns, or raises, is in the list at the end."""
    results: list[Any] = []

    def work() -> None:
        WAITING.here = True
        try:
            results.append(call())
        except BaseException as e:
            results.append(e)
        finally:
            WAITING.here = False

    thread = threading.Thread(target=work)
    m.reached.clear()
    m.go.clear()
    thread.start()
    assert m.reached.wait(60)
    try:
        yield results
    finally:
        m.go.set()
        thread.join()


@pytest.mark.parametrize("train", [False, True])
def test_calls_while_another_thread_traces(train: bool) -> None:
    torch.manual_seed(0)
    m = Pausing().train(train)
    twin = copy.deepcopy(m)
    x, y = torch.randn(8, 4), torch.randn(2, 8, 4)[0].double()
    fused = fusewright.fuse(m)
    torch.testing.assert_close(fused(x), twin(x))
    before = counters()
    new = torch.randn(8, 8)[:, ::2]  # a signature of its own
    with traced_meanwhile(m, lambda: fused(new)) as results:
        for _ in range(2):
            torch.testing.assert_close(fused(x), twin(x))  # known
            torch.testing.assert_close(m(x), twin(x))  # eager
            torch.testing.assert_close(m.linear(x), twin.linear(x))
            grads = []
            for call in (fused, twin, m, twin):
                call.zero_grad()
                call(x).square().sum().backward()
                grads.append([call.scale.grad, call.norm.bias.grad, call.norm.weight.grad])
            torch.testing.assert_close(grads[0], grads[1])
            torch.testing.assert_close(grads[2], grads[3])
        assert counted(before)["fuse_traces"] == 0
    torch.testing.assert_close(results[0], twin(new))
    torch.testing.assert_close(dict(m.state_dict()), dict(twin.state_dict()))
    assert all(type(d) is not StandIn for s in m.modules() for d in vars(s).values())
    with pytest.raises(RuntimeError, match="dtype"):
        fused(y)


def test_what_another_thread_does_to_the_module_while_it_is_traced() -> None:
    torch.manual_seed(0)
    m = Pausing().eval()
    fused, x = fusewright.fuse(m), torch.randn(8, 4)
    with traced_meanwhile(m, lambda: fused(x)) as results:
        assert [type(p) for p in m.parameters()] == [nn.Parameter] * 5
        assert {k: type(t) for k, t in m.named_buffers()}["shift"] is Tensor and "linear.weight" in m.state_dict()
        linear = copy.deepcopy(m.linear)
        assert torch.equal(pickle.loads(pickle.dumps(m.linear)).weight, linear.weight)
        assert type(vars(linear)["_parameters"]) is dict and linear.weight is not m.linear.weight
        m.linear.weight = nn.Parameter(torch.eye(4))
        m.norm.register_buffer("more", torch.zeros(2))
        m.scale.data = torch.full((4,), 3.0)
        del m.linear.bias
        m.linear.bias = nn.Parameter(torch.ones(4))
    assert isinstance(results[0], Tensor)
    assert torch.equal(m.linear.weight, torch.eye(4)) and torch.equal(m.linear.bias, torch.ones(4))
    assert "more" in m.norm._buffers and list(m.linear._parameters) == ["weight", "bias"]
    torch.testing.assert_close(fused(x), m(x))


def test_new_signatures_of_two_threads() -> None:
    torch.manual_seed(0)
    m = Pausing().eval()
    twin, fused, before = copy.deepcopy(m), fusewright.fuse(m), counters()
    x, y = torch.randn(8, 4), torch.randn(8, 8)[:, ::2]
    results: list[Tensor] = []
    other = threading.Thread(target=lambda: results.append(fused(y)))
    with traced_meanwhile(m, lambda: fused(x)) as mine:
        other.start()
    other.join()
    torch.testing.assert_close([mine[0], results[0]], [twin(x), twin(y)])
    assert counted(before)["fuse_traces"] == 2


def test_a_fused_module_inside_another() -> None:
    """They share dictionaries of parameters with the modules that they run."""
    torch.manual_seed(0)
    inner = nn.Linear(4, 4)
    outer = nn.Sequential(fusewright.fuse(inner), nn.Tanh())
    fused, x = fusewright.fuse(outer), torch.randn(3, 4)
    fused(x).sum().backward()
    got, inner.weight.grad = inner.weight.grad, None
    torch.tanh(inner(x)).sum().backward()
    torch.testing.assert_close(got, inner.weight.grad)
    assert vars(inner)["_parameters"] is vars(outer[0])["_parameters"]
    assert type(vars(inner)["_parameters"]) is dict


def test_modules_that_are_held_elsewhere_too() -> None:
    class Listed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 4)
            self.layers, self.act = (self.linear,), self.linear.forward
            self.linear.register_buffer("calls", torch.zeros(()))

        def forward(self, x: Tensor) -> Tensor:
            self.linear.calls += 1
            return torch.tanh(self.act(self.layers[0](x)))

    torch.manual_seed(0)
    m = Listed()
    fused, x = fusewright.fuse(m), torch.randn(3, 4)
    want = torch.tanh(m.linear(m.linear(x)))
    for k in range(2):
        torch.testing.assert_close(fused(x), want)
        assert m.linear.calls.item() == k + 1


def test_a_buffer_that_is_registered_in_forward() -> None:
    class Lazy(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            if not hasattr(self, "table"):
                self.register_buffer("table", torch.arange(4.0), persistent=False)
            return x * self.table + self.scale

    m = Lazy()
    m.scale = nn.Parameter(torch.ones(4))
    fused, x, before = fusewright.fuse(m), torch.randn(3, 4), counters()
    for _ in range(3):
        torch.testing.assert_close(fused(x), x * torch.arange(4.0) + 1)
    assert type(m.table) is Tensor and counted(before)["fuse_traces"] == 1
