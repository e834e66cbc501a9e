"""Sizes and integer arguments compared with numbers of other classes; `out=` of another layout."""

import enum
from typing import Any

import pytest
import torch

import fusewright


class Kind(enum.IntEnum):
    ONE = 1
    TWO = 2


class Int(int):
    pass


@pytest.mark.parametrize("two", [Kind.TWO, Int(2), 2 + 0j])
def test_equality(two: Any) -> None:
    def f(x: torch.Tensor, n: int) -> Any:
        y = x.sin() * 2 if n == two else x.cos() * 3
        return y + (x.shape[0] != two), n in (two,), [two].index(n) if n == two else None

    fused = fusewright.fuse(f)
    for x in (torch.randn(2), torch.randn(3)):
        for n in (2, 3, 2):
            got, want = fused(x, n), f(x, n)
            torch.testing.assert_close(got[0], want[0])
            assert got[1:] == want[1:]


def test_out_of_another_layout() -> None:
    def f(x: torch.Tensor, o: torch.Tensor) -> torch.Tensor:
        torch.add(x, 1, out=o)
        return o * 2

    x, o = torch.randn(4, 3), torch.empty(3, 4).t()
    got = fusewright.fuse(f)(x, o)
    assert got.stride() == (1, 4) and torch.equal(got, (x + 1) * 2) and torch.equal(o, x + 1)
