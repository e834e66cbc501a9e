"""Ten training steps of whole models against eager: losses, gradients, weights and buffers.

The yardstick is a float64 run of the same model from the same weights. Rounding errors grow over ten steps (and
Adam divides by gradients that may be nearly zero), so no fixed tolerance fits every model: the compiled run may be
twice as far from float64 as eager's float32 run is.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import pytest
import torch
from torch import nn

from tests.models.zoo import MODELS, Batch
from tests.support import BACKEND, assert_as_accurate, compiled, counters, is_ours, no_fallbacks

STEPS = 10
OPTIMIZERS: dict[str, Callable[[nn.Module], torch.optim.Optimizer]] = {
    "sgd": lambda m: torch.optim.SGD(m.parameters(), lr=0.02, momentum=0.9),
    # Not the default epsilon: 1e-8 makes the first steps +-lr by the sign of gradients that are rounding noise.
    "adamw": lambda m: torch.optim.AdamW(m.parameters(), lr=1e-3, eps=1e-4),
}


@dataclass
class Run:
    """What one training run produced."""

    losses: list[torch.Tensor] = field(default_factory=list)
    first_gradients: dict[str, torch.Tensor] = field(default_factory=dict)
    last_gradients: dict[str, torch.Tensor] = field(default_factory=dict)
    state: dict[str, torch.Tensor] = field(default_factory=dict)


def _gradients(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: p.grad.detach().clone() for name, p in model.named_parameters() if p.grad is not None}


def train(model: nn.Module, batch: Callable[[int], Batch], optimizer: str, call: Callable | None = None) -> Run:
    """Train `model` in its type for `STEPS` steps, called through `call`."""
    dtype = next(model.parameters()).dtype
    call, run = call if call is not None else model, Run()
    step = OPTIMIZERS[optimizer](model)
    for i in range(STEPS):
        inputs = {k: v.to(dtype) if v.is_floating_point() else v for k, v in batch(i).items()}
        loss = call(**inputs)
        loss.backward()
        run.losses.append(loss.detach())
        run.last_gradients = _gradients(model)
        if i == 0:
            run.first_gradients = run.last_gradients
        step.step()
        step.zero_grad()
    run.state = {k: v.detach().clone() for k, v in model.state_dict().items()}
    return run


def build(name: str) -> tuple[nn.Module, Callable[[int], Batch]]:
    if name in ("gpt", "llama", "bert", "vit"):
        pytest.importorskip("transformers")
    torch.manual_seed(0)
    return MODELS[name]()


@dataclass
class Once:
    """A model, and a copy that is compiled when it first runs: once for all optimizers, of which no graph knows."""

    model: nn.Module
    batch: Callable[[int], Batch]
    copy: nn.Module
    call: Callable
    before: dict[str, int]


@lru_cache(1)
def once(name: str) -> Once:
    model, batch = build(name)
    torch._dynamo.reset()
    mine = copy.deepcopy(model).train()
    return Once(model, batch, mine, compiled(mine), counters())


@pytest.fixture(autouse=True, scope="module")
def _forget() -> Iterator[None]:
    yield
    once.cache_clear()


def compare(got: Run, ref32: Run, ref64: Run) -> None:
    """`got` is as near to float64 as eager's float32 is."""
    losses = [torch.stack(r.losses) for r in (got, ref32, ref64)]
    assert_as_accurate(*losses, "losses", floor=8)
    for part in ("first_gradients", "last_gradients", "state"):
        mine, theirs, exact = (getattr(r, part) for r in (got, ref32, ref64))
        assert mine.keys() == theirs.keys()
        # Some gradients vanish but for rounding (a bias before BatchNorm, the bias of attention keys): such noise is
        # measured against the largest gradient of the model, not against itself.
        scale = max(v.abs().max().item() for v in exact.values() if v.is_floating_point() and v.numel())
        for key in mine:
            noise = 1e-6 * scale / max(exact[key].abs().max().item() * torch.finfo(torch.float32).eps, 1e-30)
            assert_as_accurate(mine[key], theirs[key], exact[key], f"{part} of {key}", floor=max(32.0, noise))


@pytest.mark.every(4)
@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
@pytest.mark.parametrize("name", sorted(MODELS))
def test_ten_training_steps(name: str, optimizer: str) -> None:
    of = once(name)
    ref64 = train(copy.deepcopy(of.model).double().train(), of.batch, optimizer)
    ref32 = train(copy.deepcopy(of.model).train(), of.batch, optimizer)
    of.copy.load_state_dict(of.model.state_dict())
    with no_fallbacks():
        got = train(of.copy, of.batch, optimizer, of.call)
        if is_ours(BACKEND):
            assert counters()["groups_formed"] > of.before.get("groups_formed", 0), "nothing was fused"
    compare(got, ref32, ref64)


@pytest.mark.every(6)
@pytest.mark.parametrize("name", sorted(MODELS))
def test_inference_and_new_sizes(name: str) -> None:
    """Evaluation without gradients, then the same model on a smaller batch."""
    model, batch = build(name)
    model.eval()
    call = compiled(model)
    with no_fallbacks(), torch.no_grad():
        for rows in (slice(None), slice(0, 2)):
            inputs = batch(1)
            if name not in ("gnn", "lstm"):
                inputs = {k: v[rows] for k, v in inputs.items()}
            exact = copy.deepcopy(model).double()(
                **{k: v.double() if v.is_floating_point() else v for k, v in inputs.items()}
            )
            assert_as_accurate(call(**inputs), model(**inputs), exact, "loss", floor=16)
