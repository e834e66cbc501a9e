"""Hooks of all modules, and those of a module whose method is fused: they run in every call, as eager has it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules import module

import fusewright
from tests.support import counted, counters

REGISTER: dict[str, Any] = {
    "forward": module.register_module_forward_hook,
    "forward_pre": module.register_module_forward_pre_hook,
    "backward": module.register_module_full_backward_hook,
    "backward_pre": module.register_module_full_backward_pre_hook,
}


class Hook:
    """Notes the types of the modules that it is called for, whatever the kind of hook."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, m: nn.Module, *args: Any) -> None:
        self.seen.append(type(m).__name__)


@pytest.fixture
def hook() -> Iterator[Hook]:
    yield Hook()
    for hooks in (module._global_forward_hooks, module._global_forward_pre_hooks):
        assert not hooks


@pytest.mark.parametrize("kind", REGISTER)
@pytest.mark.parametrize("early", [False, True])
def test_hooks_of_all_modules(kind: str, early: bool, hook: Hook) -> None:
    m = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    fused, plain = fusewright.fuse(m), copy.deepcopy(m)
    x = torch.randn(2, 3, requires_grad=True)
    if not early:
        fused(x)
    handle = REGISTER[kind](hook)
    try:
        for _ in range(2):
            fused(x).sum().backward()
        mine, hook.seen = hook.seen, []
        for _ in range(2):
            plain(x).sum().backward()
    finally:
        handle.remove()
    assert [s.replace("FusedModule", "Sequential") for s in mine] == hook.seen and len(hook.seen) == 6
    before = counters()
    for _ in range(2):
        fused(x)
    assert len(hook.seen) == 6 and counted(before).get("fuse_traces", 0) == early


@pytest.mark.parametrize("early", [False, True])
def test_hooks_of_all_modules_change_results(early: bool, hook: Hook) -> None:
    """Of modules that are arguments, and that a function knows otherwise."""
    m, act, x = nn.Linear(3, 3), nn.Tanh(), torch.randn(2, 3)
    functions = [fusewright.fuse(f) for f in (lambda m, x: m(x) * 2, lambda m, x: act(x) * 2)]
    plain = [m(x) * 2, act(x) * 2]
    for f, want in zip(functions, plain, strict=True):
        if not early:
            torch.testing.assert_close(f(m, x), want)
        handle = REGISTER["forward"](lambda m, args, out: out + 1)
        try:
            for _ in range(2):
                torch.testing.assert_close(f(m, x), want + 2)
        finally:
            handle.remove()
        torch.testing.assert_close(f(m, x), want)


def test_functions_without_modules_stay_fused(hook: Hook) -> None:
    fused, x = fusewright.fuse(lambda x: torch.tanh(x) * 2), torch.randn(2, 3)
    fused(x)
    handle = REGISTER["forward"](hook)
    try:
        fused._fusewright.scope["_slow"] = None
        torch.testing.assert_close(fused(x), torch.tanh(x) * 2)
    finally:
        handle.remove()
    assert not hook.seen


def test_a_method_that_calls_its_module() -> None:
    class Stepping(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.linear(x)

        @fusewright.fuse
        def step(self, x: Tensor) -> Tensor:
            return self(x) * 2

    m, x = Stepping(), torch.randn(2, 3)
    for _ in range(2):
        torch.testing.assert_close(m.step(x), m(x) * 2)
    handle = m.register_forward_hook(lambda m, args, out: out + 1)
    for _ in range(2):
        torch.testing.assert_close(m.step(x), (m.linear(x) + 1) * 2)
    handle.remove()
    torch.testing.assert_close(m.step(x), m.linear(x) * 2)


def test_hooks_of_a_module_that_is_fused_are_no_obstacle() -> None:
    """They run around the fused forward, whatever its parameter for the module is called."""

    class Forward(nn.Module):
        def forward(this, x: Tensor) -> Tensor:
            return torch.tanh(x) * 2

    m, x, before = Forward(), torch.randn(2, 3), counters()
    m.register_forward_hook(lambda m, args, out: out + 1)
    fused = fusewright.fuse(m)
    for _ in range(2):
        torch.testing.assert_close(fused(x), torch.tanh(x) * 2 + 1)
    assert counted(before)["fuse_traces"] == 1
