"""Indices that a running sum computes: positions of tokens behind padding, offsets of what was packed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
import torch

import fusewright
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu
from tests.support import assert_agrees, compiled, counted, counters

Tensor = torch.Tensor


def positions(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    mask = (x != 1).int()
    at = (torch.cumsum(mask, 1).int() * mask).long()
    return at, torch.gather(t, 1, at)


def rows(x: Tensor, t: Tensor) -> Tensor:
    return t[0][torch.cumsum(x, 1)] + 1


def scanned_again(x: Tensor, t: Tensor) -> Tensor:
    return torch.cumsum(torch.gather(t, 1, torch.cumsum(x, 1)), 1)


def reduced(x: Tensor, t: Tensor) -> Tensor:
    return torch.gather(t, 1, torch.cumsum(x, 1) - x).amax(1)


def down(x: Tensor, t: Tensor) -> Tensor:
    return torch.gather(t.t(), 0, torch.cumsum(x.t(), 0)) * 2


PROGRAMS: dict[str, Callable[[Tensor, Tensor], object]] = {
    "positions": positions,
    "rows": rows,
    "scanned_again": scanned_again,
    "reduced": reduced,
    "down": down,
}
WHERE = [
    "cpu",
    pytest.param("gpu", marks=pytest.mark.skipif(COMPILER is None, reason=MISSING)),
]


def place(where: str) -> contextlib.AbstractContextManager[object]:
    return emulated_gpu() if where == "gpu" else contextlib.nullcontext()


@pytest.mark.every(2)
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str, where: str) -> None:
    fn = PROGRAMS[name]
    torch._dynamo.reset()
    with place(where), fusewright.options(fallback=False):
        before = counters()
        for n, m in ((2, 16), (1, 1), (40, 13), (3, 700)):
            g = torch.Generator().manual_seed(n)
            x = torch.randint(0, 2, (n, m), generator=g)
            t = torch.randint(-50, 50, (n, m + 1), generator=g).float()
            assert_agrees(compiled(fn, dynamic=True)(x, t), fn(x, t))
        grew = counted(before)
        assert not grew or grew["kernels_compiled"] > 0


@pytest.mark.parametrize("where", WHERE)
def test_an_index_out_of_range(where: str) -> None:
    torch._dynamo.reset()
    x, t = torch.ones(2, 16, dtype=torch.int64), torch.zeros(2, 16)
    with place(where), pytest.raises(IndexError, match="out of"):
        compiled(rows)(x, t)
    torch._dynamo.reset()
