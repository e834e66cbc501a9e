"""Training from CUDA graphs, faked on the CPU: forward and backward plans, gradients, random numbers, writes.

A graph that is replayed where it must not be gives wrong numbers here as on a GPU: it reads and writes the addresses
that it was recorded with.
"""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from fusewright.run import cuda_graphs
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu
from tests.emulate.recorder import FakeRecorder, faked_graphs
from tests.run.graphed import ON, STEPS, Model, both, chain, models, recorder, same_gradients, status_of
from tests.support import no_fallbacks

__all__ = ["recorder"]


@pytest.mark.parametrize("none", [True, False])
def test_training(none: bool, recorder: FakeRecorder) -> None:
    (m, n), calls = models()
    steps = [torch.optim.AdamW(x.parameters(), lr=1e-2) for x in (m, n)]
    losses: list[list[Tensor]] = [[], []]
    for _ in range(2 * STEPS):
        x = torch.randn(8, 24)
        for call, step, into in zip(calls, steps, losses, strict=True):
            step.zero_grad(set_to_none=none)
            loss = call(x).square().mean()
            loss.backward()
            step.step()
            into.append(loss)
        same_gradients(m, n)
    assert torch.equal(torch.stack(losses[0]), torch.stack(losses[1]))
    assert recorder.recorded >= 2
    assert "recorded," in status_of("forward") and "recorded," in status_of("backward")


def test_losses_that_are_kept(recorder: FakeRecorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are copied from the beginning, however many parameters the forward pass hands to the backward pass."""
    monkeypatch.setattr(cuda_graphs, "FEW", 2)
    m = Model(width=8, layers=4)
    n = copy.deepcopy(m)
    calls = [
        torch.compile(lambda x, f=f: f(x).square().mean(), backend="fusewright", options=o)
        for f, o in ((m, ON), (n, {}))
    ]
    losses: list[list[Tensor]] = [[], []]
    x = torch.randn(4, 8)
    for _ in range(2 * STEPS):
        for call, model, into in zip(calls, (m, n), losses, strict=True):
            model.zero_grad()
            loss = call(x)
            loss.backward()
            into.append(loss)
        same_gradients(m, n)
    assert torch.equal(torch.stack(losses[0]), torch.stack(losses[1]))
    latest = max((g for g in cuda_graphs._all if g.name.startswith("forward")), key=lambda g: int(g.name[7:]))
    assert latest.tries == 1 and latest.status().startswith("1 recorded")


def test_accumulated_gradients(recorder: FakeRecorder) -> None:
    """The first gradients are the parameters' `.grad` and stay there while more are added."""
    (m, n), calls = models()
    for _ in range(STEPS):
        for _ in range(3):
            x = torch.randn(8, 24)
            for call in calls:
                call(x).square().sum().backward()
            same_gradients(m, n)
        m.zero_grad()
        n.zero_grad()
    assert recorder.recorded >= 3


def test_two_forward_passes_before_their_backward(recorder: FakeRecorder) -> None:
    (m, n), calls = models(width=96)
    for _ in range(2 * STEPS):
        x, y = torch.randn(64, 96), torch.randn(64, 96)
        for call in calls:
            (call(x) * call(y)).sum().backward()
        same_gradients(m, n)
        m.zero_grad()
        n.zero_grad()
    assert recorder.recorded >= 2


def test_a_retained_graph(recorder: FakeRecorder) -> None:
    (m, n), calls = models()
    for step in range(STEPS):
        x, outs = torch.randn(8, 24), []
        for call in calls:
            out = call(x)
            out.sum().backward(retain_graph=True)
            if step % 2:
                call(x + 1)  # must not write over what `out` has saved
            out.square().sum().backward()
            outs.append(out)
        assert torch.equal(*outs)
        same_gradients(m, n)
        if step % 4 == 3:
            m.zero_grad()
            n.zero_grad()
    assert recorder.recorded >= 2


def test_gradients_that_are_kept_and_inputs_that_need_them(recorder: FakeRecorder) -> None:
    (m, n), calls = models()
    kept: list[list[Tensor]] = [[], []]
    for _ in range(2 * STEPS):
        data = torch.randn(8, 24)
        for call, model, into in zip(calls, (m, n), kept, strict=True):
            x = data.clone().requires_grad_()
            into.extend(torch.autograd.grad(call(x).exp().sum(), [x, *model.parameters()]))
    assert all(map(torch.equal, *kept))
    assert recorder.recorded


def test_a_saved_result_that_is_changed(recorder: FakeRecorder) -> None:
    """Autograd notices as it does without graphs."""
    f, _ = both(lambda x, w: chain(x, w).exp())
    w = torch.randn(16, 16, requires_grad=True)
    for _ in range(STEPS):
        f(torch.randn(4, 16) / 64, w / 64).sum().backward()
        y = f(torch.randn(4, 16) / 64, w / 64)
        with torch.no_grad():
            y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
    assert recorder.recorded


def test_random_numbers(recorder: FakeRecorder) -> None:
    """The same seeds, in the same order, and the generator is left in the same place."""
    (m, n), calls = models(dropout=0.3)
    state = []
    for call, model in zip(calls, (m, n), strict=True):
        torch.manual_seed(5)
        x = torch.randn(8, 24)
        total = torch.zeros(())
        for _ in range(STEPS):
            y = call(x).square().sum()
            y.backward()
            total += y.detach() + torch.rand(())
        state.append((total, torch.get_rng_state(), [p.grad for p in model.parameters()]))
    assert torch.equal(state[0][0], state[1][0]) and torch.equal(state[0][1], state[1][1])
    assert all(map(torch.equal, state[0][2], state[1][2]))
    assert recorder.recorded >= 2


def test_mutated_buffers(recorder: FakeRecorder) -> None:
    """Written once for each call, in place, and autograd is told."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.linear = nn.BatchNorm1d(16), nn.Linear(16, 16)
            self.register_buffer("calls", torch.zeros(3))

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            return self.linear(torch.tanh(self.linear(self.norm(x)))) @ self.linear.weight

    torch.manual_seed(0)
    m = Net()
    n = copy.deepcopy(m)
    f, g = (torch.compile(x, backend="fusewright", options=o) for x, o in ((m, ON), (n, {})))
    with torch.no_grad():
        for _ in range(STEPS):
            x, version = torch.randn(8, 16), m.calls._version
            assert torch.equal(f(x), g(x))
            assert m.calls._version > version  # type: ignore[operator]
            for a, b in zip(m.buffers(), n.buffers(), strict=True):
                assert torch.equal(a, b)
    assert recorder.recorded == 1 and float(m.calls[0]) == STEPS  # type: ignore[index]


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_gpu_kernels() -> None:
    """With the launches of GPU kernels, emulated."""
    with emulated_gpu(), faked_graphs() as recorder, no_fallbacks():
        (m, n), calls = models(dropout=0.2)
        for seed in range(STEPS):
            for call in calls:
                torch.manual_seed(seed)
                call(torch.randn(8, 24)).square().mean().backward()
            same_gradients(m, n)
        assert recorder.recorded >= 2
