"""Remainders and floor division on a CPU: vectors of small quotients, and libm's `fmod` where one of them is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from tests.support import no_fallbacks

FEW = [0.0, -0.0, 1.0, -3.0, 1e-45, 1e-39, 1e-30, 1e30, 3e38, float("inf"), -float("inf"), float("nan")]
Binary = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def pairs(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Of all sizes, multiples and their neighbours, usual numbers, and what has no quotient."""
    g = torch.Generator().manual_seed(0)
    n = 1 << 16
    bits = [torch.randint(-(1 << 31), 1 << 31, (n,), generator=g).to(torch.int32).view(torch.float32) for _ in "ab"]
    by = torch.randn(n, generator=g)
    size = torch.tensor([1, 30, 1e4, 2e6])[torch.randint(0, 4, (n,), generator=g)]
    product = by * (torch.randn(n, generator=g) * size).round()
    near = torch.nextafter(product, product * torch.tensor([0.0, 2.0])[torch.randint(0, 2, (n,), generator=g)])
    few = torch.tensor(FEW)
    a = [bits[0], product, near, torch.randn(n, generator=g) * 100, few.repeat(len(few))]
    b = [bits[1], by, by, by, few.repeat_interleave(len(few))]
    more = [1 + 1e-13, 1 - 1e-12] if dtype is torch.float64 else [1, 1]
    return torch.cat(a).to(dtype) * more[0], torch.cat(b).to(dtype) * more[1]


def fmod(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Eager's vector kernels give NaN where the quotient is beyond the range."""
    with np.errstate(all="ignore"):
        return torch.from_numpy(np.fmod(a.numpy(), b.numpy()))


def remainder(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m = fmod(a, b)
    return torch.where((m != 0) & ((m < 0) != (b < 0)), m + b, m)


CASES: dict[str, tuple[Binary, Binary]] = {
    "fmod": (torch.fmod, fmod),
    "remainder": (torch.remainder, remainder),
    "floor_divide": (torch.floor_divide, torch.floor_divide),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_remainders(name: str, dtype: torch.dtype) -> None:
    fn, reference = CASES[name]
    a, b = pairs(dtype)
    with no_fallbacks():
        got = torch.compile(lambda a, b: fn(a, b) * 1, backend="fusewright")(a, b)
    want = reference(a, b)
    same = (got == want) & (got.signbit() == want.signbit()) | (got.isnan() & want.isnan())
    wrong = (~same).nonzero().flatten()[:4]
    assert same.all(), f"{a[wrong]} by {b[wrong]}: {got[wrong]}, not {want[wrong]}"


@pytest.mark.parametrize("by", [1.7, -0.1, 3.0, 1e-3])
def test_by_a_number(by: float) -> None:
    """Vectors, and what is left of one."""
    x = torch.randn(1003, generator=torch.Generator().manual_seed(1)) * 50
    fn = lambda x: (torch.fmod(x, by) * 1, torch.remainder(x, by) * 1, (x // by) * 1)
    with no_fallbacks():
        got = torch.compile(fn, backend="fusewright")(x)
    for mine, theirs in zip(got, fn(x), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("number", [2049, 257.0, 100000, 2**31, -3.3])
def test_of_a_number(number: float, dtype: torch.dtype) -> None:
    """Which is rounded to 16 bits before it is divided, as in eager: then it may be infinite."""
    x = torch.tensor([3.0, -7.0, 11.0, 0.75, 300.0], dtype=dtype)
    fn = lambda x: (number // x + 0, torch.remainder(number, x) + 0)
    with no_fallbacks():
        got = torch.compile(fn, backend="fusewright")(x)
    near = torch.tensor(number, dtype=dtype)
    assert torch.equal(got[0].isnan(), fn(x)[0].isnan())
    exact = torch.floor_divide(near.double(), x.double()).to(dtype)
    ok = near.isfinite()  # eager rounds every step of the quotient
    assert not ok or torch.equal(got[0], exact)
    torch.testing.assert_close(got[1], fn(x)[1], rtol=0, atol=0, equal_nan=True)
