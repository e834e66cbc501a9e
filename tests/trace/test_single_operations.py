"""Lone operations in kernels of our own (the option single_op_groups), where the OpInfo runs once found failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests.support import BACKEND, TORCH, assert_agrees, compiled, is_ours, same_bits

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo"),
    pytest.mark.skipif(not is_ours(BACKEND), reason="options of our own backend"),
]


def _cube() -> torch.Tensor:
    return torch.randn(5, 6, 7, generator=torch.Generator().manual_seed(3))


CASES: dict[str, tuple[Callable[..., Any], Callable[[], tuple[torch.Tensor, ...]]]] = {
    "argmax of all": (lambda x: x.argmax(), lambda: (_cube(),)),
    "argmax of many": (lambda x: (x.argmax(), x.sum()), lambda: (torch.randn(300, 400),)),
    "argmax along the first dim": (lambda x: x.argmax(0), lambda: (_cube(),)),
    "max and its place along a middle dim": (lambda x: x.max(1), lambda: (_cube(),)),
    "max and its place of a 0-d tensor": (lambda x: x.max(0), lambda: (torch.tensor(2.5),)),
    "argmin along a dim of extent 1": (lambda x: x.argmin(1, keepdim=True), lambda: (torch.randn(4, 1),)),
    "place of an extreme beside a sum over rows": (lambda x: (x.max(0), x.sum(1)), lambda: (torch.randn(64, 32),)),
    "index computed from a reduction": (lambda x: torch.quantile(x, 0.5), lambda: (torch.randn(9),)),
    "index computed from a reduction by row": (lambda x: torch.quantile(x, 0.3, dim=1), lambda: (torch.randn(6, 9),)),
    "multilabel margin": (
        lambda x, t: F.multilabel_margin_loss(x, t),
        lambda: (torch.randn(4, 5), torch.tensor([[0, 3, 1, 4, 2]] * 4)),
    ),
    "gather by a smaller index": (
        lambda x: torch.gather(x * 2, 1, torch.tensor([[[5, 0], [1, 1]]])) + 1,
        lambda: (_cube(),),
    ),
    "roll of the flat tensor": (lambda x: torch.roll(x, 2), lambda: (_cube(),)),
    "roll back": (lambda x: torch.roll(x, -31), lambda: (_cube(),)),
    "difference that leaves nothing": (lambda x: torch.diff(x, 6, 1), lambda: (_cube(),)),
    "repeat no times": (lambda x: (x.repeat(0, 2), x.repeat(2, 0, 1)), lambda: (torch.randn(3, 2),)),
    "repeat of nothing": (lambda x: x.repeat(2, 3), lambda: (torch.randn(0, 2),)),
    "reshape of nothing": (lambda x: (x.reshape(3, 0) + 1).sum(1), lambda: (torch.randn(0, 3),)),
    "padding of nothing": (lambda x: F.pad(x.reshape(3, 0) + 1, (1, 2)), lambda: (torch.randn(0, 3),)),
    "padding that leaves nothing": (lambda x: F.pad(x, (-1, -2, 1, 1), value=2.0), lambda: (torch.randn(5, 3),)),
    "softmax of nothing": (lambda x: torch.softmax(x, -1), lambda: (torch.randn(5, 0, 0),)),
    # numbers that become symbols when traced with dynamic=True
    "norm of an order": (lambda x, p=3: torch.linalg.vector_norm(x, p, 1), lambda: (_cube(),)),
    "slice put at an index from the end": (lambda x, n=-1: x.select_scatter(x[:, 0], 1, n), lambda: (_cube(),)),
    "scaled interpolation": (lambda x: F.interpolate(x, scale_factor=0.6, mode="linear"), lambda: (_cube(),)),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_agrees(name: str, dynamic: bool) -> None:
    if dynamic and name.startswith("index computed") and TORCH < (2, 12):
        pytest.skip("this torch does not trace quantile with symbolic sizes, whatever the backend")
    fn, make = CASES[name]
    args = make()
    with fusewright.options(single_op_groups=True, fallback=False):
        assert_agrees(compiled(fn, dynamic=dynamic)(*args), fn(*args))


def test_symbolic_numbers() -> None:
    """Arguments that are numbers to a rule, but symbols to torch: left to torch, or used as they are."""

    def fn(x: torch.Tensor, t: torch.Tensor, order: int, ignore: int, correction: int) -> tuple[torch.Tensor, ...]:
        x = x * 2
        return (
            torch.linalg.vector_norm(x, order, 1),
            F.nll_loss(x, t, ignore_index=ignore),
            x.std(0, correction=correction),
            x.sum(0) + order,
        )

    x, t = torch.randn(6, 5), torch.tensor([0, 1, 2, 3, 4, 2])
    with fusewright.options(single_op_groups=True, fallback=False):
        call = compiled(fn, dynamic=True)
        for numbers in ((3, 2, 2), (4, 3, 3), (5, -100, 4)):
            assert_agrees(call(x, t, *numbers), fn(x, t, *numbers))


@pytest.mark.parametrize(
    "fn",
    [
        torch.relu,
        F.relu6,
        lambda x: F.hardtanh(x, 0, 2),
        lambda x: x.clamp(0, 6),
        lambda x: x.clamp(-0.0, 0.0),
        lambda x: x.clamp_max(0),
        lambda x: torch.maximum(x, torch.zeros_like(x)),
    ],
    ids=["relu", "relu6", "hardtanh", "clamp", "clamp to zeros", "clamp_max", "maximum"],
)
def test_signs_of_zero(fn: Callable) -> None:
    """Of two zeros, eager's clamp gives the operand and not the bound (in whole vectors: 64 times the length)."""
    x = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.3, -0.3, float("nan"), float("inf"), -float("inf")]).repeat(64)
    with fusewright.options(single_op_groups=True, fallback=False):
        assert same_bits(compiled(fn)(x), fn(x))


SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "one sample": ((7,), ()),
    "samples": ((5, 7), (5,)),
    "pixels": ((2, 7, 3, 4), (2, 3, 4)),
    "none": ((0, 7), (0,)),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_cross_entropy(shape: str, reduction: str, weighted: bool, dynamic: bool) -> None:
    """Values and gradients, with ignored targets; what is saved for the backward pass is statistics, not scores."""
    size, places = SHAPES[shape]
    gen = torch.Generator().manual_seed(1)
    x = torch.randn(size, generator=gen, requires_grad=True)
    target = torch.randint(0, 7, places, generator=gen)
    if target.numel() > 3:
        target.view(-1)[1] = -100
    weight = torch.rand(7, generator=gen) if weighted else None
    saved: list[torch.Tensor] = []

    def fn(x: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None) -> torch.Tensor:
        return F.cross_entropy(x, target, weight, reduction=reduction)

    def pack(t: torch.Tensor) -> torch.Tensor:
        saved.append(t)
        return t

    want = fn(x, target, weight)
    with fusewright.options(single_op_groups=True, fallback=False):
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            got = compiled(fn, dynamic=dynamic)(x, target, weight)
        assert_agrees(got.detach(), want.detach())
        seed = torch.rand(want.shape, generator=gen)
        assert_agrees(torch.autograd.grad(got, x, seed)[0], torch.autograd.grad(want, x, seed)[0])
    if x.dim() > 1 and x.numel():
        large = [t for t in saved if t.shape == x.shape]
        assert len(large) == 1 and large[0].data_ptr() == x.data_ptr(), "scores were saved"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_cross_products_have_eagers_bits(dtype: torch.dtype) -> None:
    """The first product joins the difference unrounded; of 16-bit floats both are rounded under precision="eager"."""
    x, y = torch.randn(500, 3).to(dtype), torch.randn(500, 3).to(dtype)
    precision = "eager" if dtype.itemsize == 2 else "default"
    with fusewright.options(single_op_groups=True, fallback=False, precision=precision):
        assert same_bits(compiled(torch.linalg.cross)(x, y), torch.linalg.cross(x, y))
