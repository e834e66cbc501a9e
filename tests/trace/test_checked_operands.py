"""Operands that eager's kernels check, of operators that are taken apart: its errors, in every way in."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests.support import counted, counters, no_fallbacks

WAYS = {
    "compile": lambda fn: torch.compile(fn, backend="fusewright"),
    "fuse": fusewright.fuse,
}
WRONG = [([0.2, 1.5], [0.0, 1.0], "input"), ([-0.1, 0.5], [0.0, 1.0], "input"), ([math.nan, 0.5], [0.0, 1.0], "input")]
WRONG += [([0.2, 0.5], [0.0, 1.5], "target"), ([0.2, 0.5], [math.nan, 1.0], "target")]


def loss(x: torch.Tensor, y: torch.Tensor, how: str = "mean") -> torch.Tensor:
    return F.binary_cross_entropy(x * 1.0, y * 1.0, reduction=how) * 2


@pytest.mark.parametrize("how", ["mean", "none"])
@pytest.mark.parametrize("way", WAYS)
def test_binary_cross_entropy(way: str, how: str) -> None:
    torch._dynamo.reset()
    fn = WAYS[way](lambda x, y: loss(x, y, how))
    x, y = torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.25])
    before = counters()
    with no_fallbacks():
        assert torch.equal(fn(x, y), loss(x, y, how))
        for a, b, what in WRONG:
            with pytest.raises(RuntimeError, match=f"all elements of {what} should be between 0 and 1"):
                fn(torch.tensor(a), torch.tensor(b))
        assert torch.equal(fn(x, y), loss(x, y, how)), "a call after one that failed"
    assert counted(before)["groups_formed"] == 1 and not counted(before).get("opaque_calls")


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_of_other_types_with_gradients(dtype: torch.dtype) -> None:
    torch._dynamo.reset()
    fn = torch.compile(loss, backend="fusewright")
    gen = torch.Generator().manual_seed(0)
    x, y = (torch.rand(5, 7, generator=gen).to(dtype) for _ in range(2))
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    with no_fallbacks():
        fn(a, y).backward()
    loss(b, y).backward()
    torch.testing.assert_close(a.grad, b.grad)
    with pytest.raises(RuntimeError, match="all elements of input"):
        fn(a + 2, y)


@pytest.mark.filterwarnings("error")
def test_derivatives_of_derivatives() -> None:
    """Of a fused function, whose forward pass is differentiated again."""

    def squared(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return loss(x, y, "none").square().sum()

    gen, found = torch.Generator().manual_seed(0), []
    x, y = (torch.rand(7, generator=gen, dtype=torch.float64) for _ in range(2))
    for fn in (fusewright.fuse(squared), squared):
        a = x.clone().requires_grad_()
        (first,) = torch.autograd.grad(fn(a, y), a, create_graph=True)
        found.append((first.detach(), torch.autograd.grad(first.square().sum(), a)[0]))
    for got, want in zip(*found, strict=True):
        torch.testing.assert_close(got, want)


MIXED: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "product": lambda x, w: (x * 2) @ w[:, None].expand(4, 2),
    "vector": lambda x, w: (x * 2) @ w,
    "linear": lambda x, w: F.linear(x * 2, w[None].bfloat16()),
    "bias": lambda x, w: torch.addmm(w[:3, None], x * 2, w[:, None].float()),
    "layer norm": lambda x, w: F.layer_norm(x * 2, (4,), w) + 1,
    "batch norm": lambda x, w: F.batch_norm(x * 2, None, None, w, training=True) + 1,
    "group norm": lambda x, w: F.group_norm(x * 2, 2, w) + 1,
    "binary cross-entropy": lambda x, w: F.binary_cross_entropy(x * 1, x * w) * 2,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MIXED)
def test_types_that_eager_does_not_mix(name: str, way: str) -> None:
    torch._dynamo.reset()
    fn, x, w = MIXED[name], torch.rand(3, 4), torch.rand(4, dtype=torch.float64)
    for program in (fn, WAYS[way](fn)):
        with pytest.raises(RuntimeError):
            program(x, w)


class Loss(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return loss(x, y)


def test_of_a_saved_program(tmp_path: Path) -> None:
    x, y = torch.rand(4, 3), torch.rand(4, 3)
    program = torch.export.export(Loss(), (x, y), dynamic_shapes={k: {0: torch.export.Dim("n", max=64)} for k in "xy"})
    fusewright.aot_save(program, tmp_path / "loss.fwp")
    loaded: Callable[..., torch.Tensor] = fusewright.aot_load(tmp_path / "loss.fwp")
    torch.testing.assert_close(loaded(x, y), loss(x, y))
    with pytest.raises(RuntimeError, match="all elements of input"):
        loaded(x + 1, y)
