"""Tensors that nobody has written: part of a kernel where one of ours writes over them, torch's memory elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright

pytestmark = pytest.mark.usefixtures("strict")


def left(fn: Callable[..., Any], *inputs: torch.Tensor) -> list[str]:
    report = fusewright.explain(fn, *inputs)
    return [o.target for g in report.graphs for o in g.operations if o.place == "torch"]


def circular(x: torch.Tensor) -> torch.Tensor:
    return F.pad(x * 2, (1, 2, 2, 1), mode="circular") * 2


def halves(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    out[:, ::2] = x[:, ::2] * 2
    out[:, 1::2] = x[:, 1::2] + 1
    return torch.sin(out)


def kind(x: torch.Tensor) -> torch.Tensor:
    out = x.new_empty((3, *x.shape))
    for k in range(3):
        out[k] = x * k
    return out.sum(0) * 2


@pytest.mark.parametrize("fn", [circular, halves, kind])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_written_in_a_kernel(fn: Callable[[torch.Tensor], torch.Tensor], dtype: torch.dtype) -> None:
    x = torch.randn(2, 4, 6, 8, dtype=dtype) if fn is circular else torch.randn(6, 8, dtype=dtype)
    assert not left(fn, x)
    for dynamic in (False, True):
        torch._dynamo.reset()
        got, want = torch.compile(fn, backend="fusewright", dynamic=dynamic)(x), fn(x)
        torch.testing.assert_close(got, want, rtol=1e-2, atol=1e-2)  # bfloat16 is rounded once, in a kernel
        assert got.stride() == want.stride()


def test_returned_memory_stays_torchs() -> None:
    def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2 + 1, torch.empty(3, 5, dtype=torch.int16)

    x = torch.randn(8)
    assert left(f, x) == ["aten.empty.memory_format"]
    a, b = torch.compile(f, backend="fusewright")(x)
    assert torch.equal(a, x * 2 + 1) and b.shape == (3, 5) and b.dtype == torch.int16


@pytest.mark.parametrize("way", ["compile", "fuse"])
def test_memory_that_torch_fills(way: str) -> None:
    """In deterministic mode it does, unless that is switched off; whichever mode a function was called in before."""

    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.empty(3, 4).isnan() & (x > 0)

    torch._dynamo.reset()
    made = fusewright.fuse(f) if way == "fuse" else torch.compile(f, backend="fusewright")
    x = torch.ones(3, 4)
    made(x)
    torch.use_deterministic_algorithms(True)
    try:
        assert made(x).all() and f(x).all()
    finally:
        torch.use_deterministic_algorithms(False)


def test_memory_for_an_operator_of_torchs() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty(8)
        torch.sort(x * 2, out=(out, torch.empty(8, dtype=torch.int64)))
        return out + 1

    x = torch.randn(8)
    assert torch.equal(torch.compile(f, backend="fusewright")(x), f(x))
