"""Objects that hold tensors among the arguments: dataclasses and the like, and others."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import fusewright
from tests.support import assert_agrees, counted, counters, no_fallbacks, random_tensor

Tensor = torch.Tensor


@dataclasses.dataclass
class Pair:
    a: Tensor
    b: Tensor
    n: Any = 3

    @functools.cached_property
    def twice(self) -> Tensor:
        return self.a * 2


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Tensor
    b: Tensor


@dataclasses.dataclass
class Derived:
    a: Tensor
    b: Tensor
    held: list[Any] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        self.held.append(self.a)


@dataclasses.dataclass(slots=True)
class Slots:
    a: Tensor
    b: Tensor


class Plain:
    def __init__(self, a: Tensor, b: Tensor):
        self.a, self.b = a, b


def namespace(a: Tensor, b: Tensor) -> SimpleNamespace:
    return SimpleNamespace(a=a, b=b)


def total(p: Any) -> Tensor:
    return p.a * 2 + torch.relu(p.b)


@pytest.mark.parametrize("kind", [Pair, Frozen, Derived, namespace])
@pytest.mark.parametrize("gradient", [False, True])
def test_one_trace_serves_all_of_a_type(kind: Callable[..., Any], gradient: bool) -> None:
    fused = fusewright.fuse(total)
    before = counters()
    with no_fallbacks():
        for n in (3, 5):
            a, b = (random_tensor((n,), seed=k).requires_grad_(gradient) for k in range(2))
            got, want = fused(kind(a, b)), total(kind(a, b))
            assert_agrees(got, want)
            if gradient:
                assert_agrees(*(torch.autograd.grad(y.sum(), (a, b)) for y in (got, want)))
    assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0


@pytest.mark.parametrize("kind", [Plain, Slots])
@pytest.mark.parametrize("gradient", [False, True])
def test_others_never_raise(kind: Callable[..., Any], gradient: bool) -> None:
    fused = fusewright.fuse(total)
    for n in (3, 5):
        p = kind(*(random_tensor((n,), seed=k).requires_grad_(gradient) for k in range(2)))
        assert_agrees(fused(p), total(p))


def test_attributes_are_looked_at_in_each_call() -> None:
    fused = fusewright.fuse(lambda p: p.a * p.n)
    p = Pair(torch.ones(3), torch.ones(3))
    for n in (3, 7, 2.5, True, 0):
        p.n = n
        assert torch.equal(fused(p), p.a * n)
    p.a = torch.full((3,), 4.0)
    assert torch.equal(fused(p), torch.zeros(3))
    p.extra = 1  # type: ignore[attr-defined]
    asks = fusewright.fuse(lambda p: p.a * 2 if hasattr(p, "extra") else p.a)
    assert torch.equal(asks(p), p.a * 2)
    del p.extra  # type: ignore[attr-defined]
    assert torch.equal(asks(p), p.a)


def doubled(p: Any) -> Tensor:
    p.a = p.a * 2
    return p.a


def counted_up(p: Any) -> Tensor:
    p.n += 1
    return p.a * p.n


def cached(p: Any) -> Tensor:
    return p.twice + 1


def appended(p: Any) -> Tensor:
    p.n.append(p.a * 3)
    return p.n[-1] + p.b


def written(p: Any) -> Tensor:
    return p.a.mul_(2) + p.b


@pytest.mark.parametrize("f", [doubled, counted_up, cached, appended, written])
@pytest.mark.parametrize("inside", [False, True], ids=["argument", "in a list"])
def test_what_a_function_does_to_them(f: Callable[[Any], Tensor], inside: bool) -> None:
    given = (lambda p: f(p[0])) if inside else f
    fused = fusewright.fuse(given)
    for k in range(3):
        pairs = [Pair(random_tensor((3,), seed=k), torch.ones(3), [] if f is appended else 2) for _ in range(2)]
        assert_agrees(*(g([p] if inside else p) for g, p in zip((fused, given), pairs, strict=True)))
        mine, theirs = (list(vars(p).items()) for p in pairs)
        assert_agrees(mine, theirs)


def test_one_that_holds_itself_or_is_returned() -> None:
    p = Pair(torch.ones(3), torch.ones(3))
    p.n = p
    fused = fusewright.fuse(lambda p: p.n.a * 2)
    assert torch.equal(fused(p), torch.full((3,), 2.0))
    same = fusewright.fuse(lambda p: p)
    assert same(p) is p
