"""Indices that are inside a tensor whatever the data is: read without a check, at the same places as eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.debug import record
from fusewright.fusion.ir import Fusion
from tests.support import no_fallbacks

CONST = torch.arange(24).view(4, 6).float()


def clamped(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    return x.cos()[:, i.clamp(0, 5)] * 2


def of_floats(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    """NaN and infinities become integers before they are clamped."""
    at = (i.float() * torch.tensor([1.5, float("nan"), float("inf"), -float("inf"), 0.1])).floor().to(torch.int64)
    return x.cos()[:, at.clamp(0, 5)] * 2


def mirrored(x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return F.pad(x.cos()[None], (2, 3), mode="reflect")[0] * 2


def interpolated(x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return F.interpolate(x.cos()[None, None], scale_factor=2, mode="bilinear")[0, 0] * 2


def checks_of(fn: Callable[..., Any], *args: torch.Tensor, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, int]:
    """(what the compiled function gives, the checks of its kernels)."""
    found: list[Fusion] = []
    init = Fusion.__init__

    def made(self: Fusion, *a: Any, **k: Any) -> None:
        init(self, *a, **k)
        found.append(self)

    monkeypatch.setattr(Fusion, "__init__", made)
    with no_fallbacks(), record.recording():
        out = torch.compile(fn, backend="fusewright")(*args)
    return out, sum(len(f.checks) for f in found)


@pytest.mark.parametrize("fn", [clamped, of_floats, mirrored, interpolated])
def test_what_is_inside_is_not_checked(fn: Callable[..., Any], either: None, monkeypatch: pytest.MonkeyPatch) -> None:
    i = torch.tensor([-3, 0, 5, 6, 1 << 40])
    out, checks = checks_of(fn, CONST, i, monkeypatch=monkeypatch)
    torch.testing.assert_close(out, fn(CONST, i))
    assert checks == 0


def test_what_may_be_outside_is(either: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fn(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return x.cos()[:, i.clamp(-2, 5)] * 2

    i = torch.tensor([-3, 0, 5, 6, 1 << 40])
    out, checks = checks_of(fn, CONST, i, monkeypatch=monkeypatch)
    torch.testing.assert_close(out, fn(CONST, i))
    assert checks > 0


@pytest.mark.parametrize("first", [True, False])
def test_groups_that_are_alike_but_for_what_is_known(first: bool) -> None:
    """Two gathers with the same equations, of indices that another kernel has clamped, and of others."""

    def fn(x: torch.Tensor, y: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> tuple[torch.Tensor, ...]:
        pairs = ((i.clamp(0, 5), x), (j.clamp(-7, 9), y))
        a, b = (torch.mm(x[:, at].cos(), torch.eye(at.shape[0])).sin() for at, x in (pairs if first else pairs[::-1]))
        return a, b, pairs[0][0].sum(), pairs[1][0].sum()

    x, i, j = CONST, torch.arange(30) % 9, torch.arange(30) % 6
    with no_fallbacks():
        compiled = torch.compile(fn, backend="fusewright")
        torch.testing.assert_close(compiled(x, x + 1, i, j), fn(x, x + 1, i, j))
    j[7] = 6
    with pytest.raises((IndexError, RuntimeError), match=r"out of (range|bounds)"), fusewright.options(fallback=True):
        compiled(x, x + 1, i, j)
