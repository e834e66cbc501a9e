"""Functions behind wrappers that look at which arguments are given."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import fusewright
from tests.support import assert_agrees, counted, counters


def sets_scale(f: Callable[..., Any]) -> Callable[..., Any]:
    """Gives `scale` by name unless the caller has given it."""

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("scale") is None:
            kwargs["scale"] = 3.0
        return f(*args, **kwargs)

    return wrapper


@sets_scale
def scaled(x: Tensor, bias: Tensor | None = None, *, scale: float | None = None) -> Tensor:
    return x * scale if bias is None else x * scale + bias


@sets_scale
def by_place(x: Tensor, bias: Tensor | None = None, scale: float | None = None, shift: float = 0.0) -> Tensor:
    return x * scale + (shift if bias is None else bias + shift)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    @sets_scale
    def forward(self, x: Tensor, bias: Tensor | None = None, scale: float | None = None, shift: float = 0.0) -> Tensor:
        return self.linear(x) * scale + shift if bias is None else self.linear(x) * scale + bias


X, B = torch.randn(3, 4), torch.randn(4)
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((X,), {}),
    ((X, B), {}),
    ((X,), {"bias": B}),
    ((X,), {"scale": 2.0}),
    ((X,), {"bias": B, "scale": 2.0}),
    ((X, None), {"scale": 2.0}),
]


@pytest.mark.parametrize("make", [lambda: scaled, lambda: by_place, Block])
def test_the_wrapper_sees_what_is_given(make: Callable[[], Any]) -> None:
    plain = make()
    fused = fusewright.fuse(plain)
    before = counters()
    for args, kwargs in CALLS:
        x = args[0].clone().requires_grad_()
        got, want = (f(x, *args[1:], **kwargs) for f in (fused, plain))
        assert_agrees(got, want)
        assert_agrees(*(torch.autograd.grad(y.square().sum(), x)[0] for y in (got, want)))
    assert counted(before)["fallbacks"] == 0 and counted(before)["fuse_declined"] == 0


def test_shift_by_name_and_extra_arguments() -> None:
    assert_agrees(fusewright.fuse(by_place)(X, shift=1.0), by_place(X, shift=1.0))

    @functools.wraps(lambda x, *rest, k=1, **more: None)
    def collects(*args: Any, **kwargs: Any) -> Tensor:
        return sum(args) * len(args) + sum(kwargs.values())

    fused = fusewright.fuse(collects)
    for args, kwargs in (((X,), {}), ((X, B, B), {}), ((X, B), {"k": 2, "other": 5}), ((X,), {"other": B})):
        assert_agrees(fused(*args, **kwargs), collects(*args, **kwargs))
