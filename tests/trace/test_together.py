"""Compiled optimizers, several compiled functions in one process, and several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.support import TORCH, assert_agrees, clone_like, compiled

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + y) * torch.sigmoid(y) - x


def norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (x.shape[-1],), w, b)


OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adam-foreach": lambda p: torch.optim.Adam(p, lr=0.01, foreach=True, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=torch.tensor(0.01)),
}


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_compiled_optimizer(name: str) -> None:
    params = [nn.Parameter(torch.randn(s)) for s in ((4, 5), (7,), (1,))]
    others = [nn.Parameter(p.detach().clone()) for p in params]
    mine, theirs = OPTIMIZERS[name](params), OPTIMIZERS[name](others)
    step = compiled(mine.step)
    for _ in range(4):
        for p, q in zip(params, others, strict=True):
            p.grad = torch.randn_like(p)
            q.grad = p.grad.clone()
        step()
        theirs.step()
    assert_agrees([p.detach() for p in params], [p.detach() for p in others], rtol=1e-5, atol=1e-6)


def test_several_functions() -> None:
    functions = [lambda x, k=k: torch.sin(x * k).sum(k % 2) + k for k in range(4)]
    calls = [compiled(f) for f in functions]
    for _ in range(2):
        for f, call in zip(functions, calls, strict=True):
            x = torch.randn(5, 6)
            assert_agrees(call(x), f(x), rtol=1e-5, atol=1e-5)


def test_nested_and_graph_break() -> None:
    inner = compiled(lambda x: torch.tanh(x) * 2)

    def fn(x: torch.Tensor) -> torch.Tensor:
        y = inner(x) + 1
        torch._dynamo.graph_break()
        return F.softmax(y, -1) * y

    results = []
    x, seed = torch.randn(4, 6), torch.randn(4, 6)
    for call in (compiled(fn), fn):
        leaf = clone_like(x).requires_grad_()
        out = call(leaf)
        results.append((out, torch.autograd.grad(out, leaf, seed)))
    assert_agrees(*results, rtol=1e-4, atol=1e-5)


def test_threads() -> None:
    """Threads that compile and run at once, some of them the same function; each trains through its own graph.

    Before 2.13, torch takes one thread's tracing for another's and raises, whatever the backend: there, everything
    is compiled before the threads start.
    """
    functions = [chain, lambda x, y: F.softmax(x + y, -1), lambda x, y: norm(x, y[0], y[1])]
    calls = [compiled(f) for f in functions]
    failures: list[BaseException] = []

    def train(seed: int, rounds: int) -> None:
        try:
            gen = torch.Generator().manual_seed(seed)
            for _ in range(rounds):
                for f, call in zip(functions, calls, strict=True):
                    x, y = (torch.randn(16, 32, generator=gen).requires_grad_() for _ in range(2))
                    got, want = call(x, y), f(x, y)
                    assert_agrees(got, want, rtol=1e-4, atol=1e-5)
                    grads = [torch.autograd.grad(o.sin().sum(), (x, y)) for o in (got, want)]
                    assert_agrees(*grads, rtol=1e-4, atol=1e-4)
        except BaseException as e:
            failures.append(e)

    if TORCH < (2, 13):
        train(seed=9, rounds=1)
    threads = [threading.Thread(target=train, args=(i, 5)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]
