"""Attributes of tensors, their class, and what is assigned to them: as eager has it, fused or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import fusewright
from fusewright.debug import record
from tests.support import assert_agrees, counted, counters


def marked(t: Tensor, **attributes: Any) -> Tensor:
    for name, value in attributes.items():
        setattr(t, name, value)
    return t


KINDS: dict[str, Callable[[], Tensor]] = {
    "tensor": lambda: torch.arange(3.0) + 1,
    "leaf": lambda: (torch.arange(3.0) + 1).requires_grad_(),
    "parameter": lambda: nn.Parameter(torch.arange(3.0) + 1),
    "buffer": lambda: nn.Buffer(torch.arange(3.0) + 1),
    "frozen": lambda: nn.Parameter(torch.arange(3.0) + 1, requires_grad=False),
    "expert": lambda: marked(nn.Parameter(torch.arange(3.0) + 1), is_expert=True, scale=3.0, scale_dtype=torch.float64),
    "no expert": lambda: marked(nn.Parameter(torch.arange(3.0) + 1), is_expert=False, scale=5.0),
    "one": lambda: marked(torch.arange(3.0) + 1, is_expert=1, scale=3),
    "object": lambda: marked(torch.arange(3.0) + 1, scale=torch.ones(3)),
}


@pytest.mark.parametrize(
    "fn",
    [
        lambda p: p * (2 if isinstance(p, nn.Parameter) else 3),
        lambda p: p * (2 if isinstance(p, nn.Buffer) else 3),
        lambda p: p * (2 if isinstance(p, Tensor) else 3),
        lambda p: p * (2 if getattr(p, "is_expert", False) is True else 3),
        lambda p: p * (2 if hasattr(p, "is_expert") else 3),
        lambda p: p * getattr(p, "scale", 7),
        lambda p: (p * 2).to(getattr(p, "scale_dtype", torch.float32)),
        lambda p: p * (2 if hasattr(p * 2, "is_expert") else 3),
    ],
)
def test_what_is_asked_of_arguments(fn: Any) -> None:
    fused = fusewright.fuse(fn)
    for kind in [*KINDS, *reversed(KINDS), "parameter", "expert", "tensor", "tensor"]:
        x = KINDS[kind]()
        got, want = fused(x), fn(x)
        torch.testing.assert_close(got, want, rtol=0, atol=0)
        assert got.requires_grad == want.requires_grad


def test_attributes_are_conditions_of_few_traces() -> None:
    fused, before = fusewright.fuse(lambda p: p * (2 if getattr(p, "is_expert", False) else 3)), counters()
    for kind in ["parameter", "expert", "no expert"] * 3:
        fused(KINDS[kind]())
    grown = counted(before)
    assert grown["fuse_traces"] == 3 and not grown.get("fuse_declined")


class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
        marked(self.b.weight, is_expert=True)

    def forward(self, x: Tensor) -> Tensor:
        for p in self.parameters():
            x = x * p.sum() * (2 if getattr(p, "is_expert", False) else 3) * (1 if isinstance(p, nn.Parameter) else 5)
        return x


def test_parameters_of_modules() -> None:
    m, x = Experts(), torch.ones(2, 3)
    fused, before = fusewright.fuse(m), counters()
    for _ in range(2):
        assert_agrees(fused(x), m(x))
    assert counted(before)["fuse_traces"] == 1 and not counted(before).get("fuse_declined")
    marked(m.a.weight, is_expert=True)
    assert_agrees(fused(x), m(x))


def set_data(x: Tensor) -> Tensor:
    x.data = x.data * 2
    return x + 1


def times_data(x: Tensor) -> Tensor:
    x.data *= 2
    return x + 1


def set_data_inside(x: Tensor) -> Tensor:
    y = x * 2
    y.data = x.data * 3
    return y


def set_grad(x: Tensor) -> Tensor:
    x.grad = torch.ones(3) * 2
    return x * 2


def no_grad(x: Tensor) -> Tensor:
    x.grad = None
    return x * 2


def delete_grad(x: Tensor) -> Tensor:
    del x.grad
    return x * 2


def set_attribute(x: Tensor) -> Tensor:
    x.seen = True  # type: ignore[attr-defined]
    return x * 2


def set_once(x: Tensor) -> Tensor:
    if not hasattr(x, "calls"):
        x.calls = 1  # type: ignore[attr-defined]
    return x * x.calls * 2


def set_in_dictionary(x: Tensor) -> Tensor:
    vars(x)["seen"] = True
    return x * 2


def set_on_result(x: Tensor) -> Tensor:
    y = x * 2
    y.seen = True  # type: ignore[attr-defined]
    return y


def a_buffer(x: Tensor) -> Tensor:
    return nn.Buffer(x.detach() * 2)


def detached(x: Tensor) -> Tensor:
    x.detach_()
    return x * 2


def retained(x: Tensor) -> Tensor:
    y = x * 2
    if y.requires_grad:
        y.retain_grad()
    return y


def hooked(x: Tensor) -> Tensor:
    if x.is_leaf and x.requires_grad:
        x.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", p.grad * 5))  # type: ignore[operator]
    return x * 2


def exchanged(x: Tensor) -> Tensor:
    y = x.detach() + 5
    torch.utils.swap_tensors(x, y)
    return x * 2


ASSIGN = [set_data, times_data, set_data_inside, set_grad, no_grad, delete_grad, set_attribute, set_once]
ASSIGN += [set_in_dictionary, set_on_result, a_buffer, detached, retained, hooked, exchanged]


def facts(t: Tensor) -> tuple[Any, ...]:
    own = {n: v for n, v in vars(t).items() if not n.startswith("_dynamo")}
    return type(t), t.requires_grad, t.is_leaf, t._version, own, len(t._backward_hooks or ())


@pytest.mark.parametrize("fn", ASSIGN, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_what_is_assigned(fn: Any) -> None:
    fused = fusewright.fuse(fn)
    for kind in ["tensor", "leaf", "parameter", "parameter", "frozen", "tensor", "leaf"]:
        mine, theirs = KINDS[kind](), KINDS[kind]()
        if fn in (no_grad, delete_grad) and mine.requires_grad:
            for t in (mine, theirs):
                t.sum().backward()
        got, want = fused(mine), fn(theirs)
        if want.requires_grad:
            for y in (got, want):
                y.sum().backward()
        assert facts(got) == facts(want) and facts(mine) == facts(theirs)
        torch.testing.assert_close([got, mine, mine.grad, got.grad], [want, theirs, theirs.grad, want.grad])


def test_the_reason_is_reported() -> None:
    with record.recording() as seen:
        fusewright.fuse(set_attribute)(torch.ones(3))
    assert "assigns the attribute seen of x" in str([g.failure for g in seen])
