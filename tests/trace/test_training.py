"""Steps of training with what surrounds a model there: graphs that are kept, optimizers, scaled and clipped gradients,
checkpoints, autocast, hooks. Both ways in give what eager gives."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

import fusewright
from tests.support import compiled, eager_random, is_ours

WAYS: dict[str, Callable[[Any], Any]] = {"compile": compiled}
if is_ours():
    WAYS["fuse"] = fusewright.fuse


class Net(nn.Module):
    """Statistics that are written, norms, and what fuses between them."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.norm = nn.Linear(8, 16), nn.LayerNorm(16)
        self.statistics, self.b = nn.BatchNorm1d(16, affine=False), nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(F.gelu(self.statistics(self.norm(self.a(x)))))  # type: ignore[no-any-return]


class Checkpointed(Net):
    def forward(self, x: Tensor) -> Tensor:
        return self.b(checkpoint(self.inner, x, use_reentrant=False))  # type: ignore[no-any-return]

    def inner(self, x: Tensor) -> Tensor:
        return F.dropout(F.gelu(self.norm(self.a(x))), 0.5)


KINDS = ("kept", "accumulated", "scaled", "clipped", "autocast", "hooks", "frozen", "checkpoint")


def steps(kind: str, way: Callable[[Any], Any]) -> list[Tensor]:
    torch.manual_seed(0)
    m = Checkpointed() if kind == "checkpoint" else Net()
    call, g, out = way(m), torch.Generator().manual_seed(1), list[Tensor]()
    optimizer = torch.optim.SGD(m.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2, enabled=kind == "scaled")
    if kind == "hooks":
        m.a.register_forward_hook(lambda _, args, y: y * 1.5)
        m.a.weight.register_hook(lambda grad: grad * 0.5)
        m.norm.register_full_backward_hook(lambda _, grads, given: (grads[0] * 2,))
        m.statistics.register_forward_pre_hook(lambda _, args: (args[0] + args[0].sin(),))
    for k, n in enumerate((6, 6, 9, 6)):
        x, target = torch.randn(n, 8, generator=g), torch.randn(n, 4, generator=g)
        autocast = torch.autocast("cpu", torch.bfloat16) if kind == "autocast" else contextlib.nullcontext()
        for part in range(3 if kind == "accumulated" else 1):
            with autocast:
                loss = F.mse_loss(call(x + part).float(), target)
            scaler.scale(loss).backward(retain_graph=kind == "kept")
            if kind == "kept":
                loss.backward()
            out.append(loss.detach())
        scaler.unscale_(optimizer)
        if kind == "clipped":
            out.append(nn.utils.clip_grad_norm_(m.parameters(), 0.1))
        out += [p.grad.clone() for p in m.parameters() if p.grad is not None]
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=k % 2 == 0)
        if kind == "frozen":
            m.a.requires_grad_(k == 1)
    return [*out, *m.state_dict().values()]


@pytest.mark.every(6)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_steps_with_what_is_around_them(kind: str, way: str) -> None:
    torch._dynamo.reset()
    with eager_random():
        got = steps(kind, WAYS[way])
    tolerance = {"rtol": 3e-2, "atol": 1e-2} if kind == "autocast" else {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(got, steps(kind, lambda m: m), **tolerance)


OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True, eps=1e-3),
    "Adam, one by one": lambda p: torch.optim.Adam(p, lr=torch.tensor(0.01), foreach=False, eps=1e-3),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01, eps=1e-3),
    "Adamax": lambda p: torch.optim.Adamax(p, lr=0.01, eps=1e-3),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=0.01, eps=1e-3),
    "RAdam": lambda p: torch.optim.RAdam(p, lr=0.01, eps=1e-3),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01, eps=1e-3),
    "Adadelta": lambda p: torch.optim.Adadelta(p, lr=0.1, eps=1e-3),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.9, centered=True, eps=1e-3),
    "Rprop": lambda p: torch.optim.Rprop(p, lr=0.01),
    "ASGD": lambda p: torch.optim.ASGD(p, lr=0.01),
    "Adafactor": lambda p: torch.optim.Adafactor(p, lr=0.01),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_compiled_steps_of_optimizers(name: str) -> None:
    """With a schedule of learning rates; parameters and states after five steps."""

    def train(way: Callable[[Any], Any]) -> list[Any]:
        torch.manual_seed(0)
        p = [nn.Parameter(torch.randn(n, 4)) for n in (3, 5, 1)]
        optimizer = OPTIMIZERS[name](p)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
        step = way(optimizer.step)
        for k in range(5):
            sum(((t - k) ** 2).sum() for t in p).backward()  # type: ignore[union-attr]
            step()
            schedule.step()
            optimizer.zero_grad()
        return [*p, *(v for t in p for v in optimizer.state[t].values() if isinstance(v, Tensor))]

    torch._dynamo.reset()
    torch.testing.assert_close(train(compiled), train(lambda f: f), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("p", [0.0, 0.2])
def test_checkpointed_attention(p):
    """A checkpoint's operators that draw give their results within a result, beside the generator's state."""

    def attention(x, w):
        q = (x @ w).view(2, 5, 2, 8).transpose(1, 2)
        out = torch.nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=p)
        return out.transpose(1, 2).reshape(2, 5, 16).tanh() * 2

    def fn(x, w):
        return checkpoint(attention, x, w, use_reentrant=False).sin()

    x, w = torch.randn(2, 5, 16, requires_grad=True), torch.randn(16, 16, requires_grad=True)
    found = []
    with fusewright.options(fallback=False, rng="eager"):
        for f in (fn, torch.compile(fn, backend="fusewright")):
            torch.manual_seed(0)
            out = f(x, w)
            found.append((out.detach(), *torch.autograd.grad(out.square().sum(), (x, w))))
    for want, got in zip(*found, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
