"""The approximate functions of `cuda_prelude.py` over the range of float32, against float64.

The emulation puts as large an error on what a GPU approximates as its manual admits, so these bounds are for GPUs.
Those of `docs/numerics.md` are what `python -m tests.emit.test_cuda_fast` prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import torch

from fusewright.core.dtypes import f32, i32
from fusewright.loop.ir import Buf, Func, Grid, Imm, Let, Reg, Stmt, Store
from tests.emulate.cuda import COMPILER, MISSING, run_emulated

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)
Exact = Callable[[np.ndarray], np.ndarray]


def run(op: str, *given: np.ndarray) -> np.ndarray:
    """One operation on all elements."""
    n = len(given[0])
    bid, tid, at, block = (Reg(s, i32) for s in ("bid", "tid", "at", "block"))
    args = [Reg(f"x{k}", f32) for k in range(len(given))]
    bufs = [Buf(f"in{k}", f32) for k in range(len(given))]
    out, y = Buf("out", f32, True), Reg("y", f32)
    body: list[Stmt] = [Let(block, "mul", (bid, Imm(256, i32))), Let(at, "add", (block, tid))]
    body += [Let(a, "load", (at,), b) for a, b in zip(args, bufs, strict=True)]
    body += [Let(y, op, tuple(args)), Store(out, at, y)]
    func = Func(f"only_{op}", [*bufs, out], target="cuda", index=i32)
    func.body.append(Grid(bid, Imm(-(-n // 256), i32), tid, 256, body))
    memory = {f"in{k}": np.pad(x, (0, -n % 256)).astype(np.float32) for k, x in enumerate(given)}
    memory["out"] = np.zeros_like(memory["in0"])
    run_emulated(func, memory)
    return memory["out"][:n]


@cache
def floats(step: int) -> np.ndarray:
    """Every so many of the float32 numbers, both signs, finite and not."""
    bits = np.arange(0, 0x7F800001, step, dtype=np.uint32)
    x = np.concatenate([bits, bits | 0x80000000]).view(np.float32)
    return np.concatenate([x, np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0], np.float32)])


def vec(f: Callable[[float], float]) -> Exact:
    return np.vectorize(f, otypes=[np.float64])


# name -> (exact, largest relative error, absolute error below which that does not matter)
TINY = 2.0**-126
BOUNDS: dict[str, tuple[Exact, float, float]] = {
    "fast_exp2": (np.exp2, 2.0**-21, TINY),
    "fast_reciprocal": (lambda x: 1 / x, 2.0**-22, TINY),
    "fast_sqrt": (np.sqrt, 2.0**-22, 0.0),
    "fast_erfc": (vec(math.erfc), 2.0**-17.3, 1.3e-9),
    "fast_expm1": (np.expm1, 2.0**-17.4, 0.0),
    "fast_log": (np.log, 2.0**-17.9, 0.0),
    "fast_log1p": (np.log1p, 2.0**-17.9, 0.0),
}
SLOW = {"fast_erfc": 40009}  # math.erfc takes its time


def error(name: str, step: int) -> tuple[float, float, float]:
    """(largest relative error of results above the limit, where it is, largest absolute error of the others)."""
    exact, _, small = BOUNDS[name]
    x = floats(step)
    with np.errstate(all="ignore"):
        got, want = run(name, x).astype(np.float64), exact(x.astype(np.float64))
        rounded = want.astype(np.float32)
        if name == "fast_reciprocal":  # what it takes for 0
            got = np.where(np.abs(x) < TINY, want, got)
            rounded = np.where(np.abs(x) < TINY, want, rounded)
        special = ~np.isfinite(rounded) | ~np.isfinite(got)
        near = (np.abs(want) > 3.4028e38) & np.isfinite(want)  # may be infinite
        np.testing.assert_array_equal(got[special & ~near], rounded[special & ~near].astype(np.float64), err_msg=name)
        off = np.abs(got - want)
        large = ~special & ~near & (np.abs(want) > small) & (np.abs(want) >= 2.0**-149)
        relative = np.where(large, off / np.abs(want), 0)
        relative = np.where(np.abs(want) < TINY, np.where(off <= 2.0**-149, 0, relative), relative)
    rest = off[~special & ~near & ~large]
    k = int(relative.argmax())
    return float(relative[k]), float(x[k]), float(rest.max(initial=0))


@pytest.mark.parametrize("name", BOUNDS)
def test_error(name: str) -> None:
    relative, at, absolute = error(name, SLOW.get(name, 10007))
    _, most, small = BOUNDS[name]
    assert relative <= most, f"{name} is off by 2^{math.log2(relative):.2f} at {at}"
    assert absolute <= max(small, 2.0**-149)


@pytest.mark.parametrize("name", ["fast_erfc", "fast_expm1", "fast_log", "fast_log1p"])
def test_error_where_formulas_change(name: str) -> None:
    exact, most, small = BOUNDS[name]
    x = np.linspace(-2, 5, 100001).astype(np.float32)
    x = np.concatenate([x, np.linspace(0.9, 1.1, 100001).astype(np.float32), x / 16])
    with np.errstate(all="ignore"):
        got, want = run(name, x).astype(np.float64), exact(x.astype(np.float64))
    ok = np.isfinite(want)
    assert (np.isfinite(got) == ok).all()
    assert (np.abs(got - want)[ok] <= most * np.abs(want)[ok] + small).all()


def test_quotients() -> None:
    """Of all magnitudes, zeros, infinities and NaN."""
    random = np.random.default_rng(0)
    a, b = (random.integers(0, 1 << 32, 1 << 20, np.uint32).view(np.float32) for _ in range(2))
    few = np.array([0.0, -0.0, 1.0, -3.0, 1e-45, 1e-39, 1e-30, 1e30, 3e38, np.inf, -np.inf, np.nan], np.float32)
    a, b = (np.concatenate([x, y.ravel()]) for x, y in zip((a, b), np.meshgrid(few, few), strict=True))
    with np.errstate(all="ignore"):
        got, want = run("fast_div", a, b).astype(np.float64), a.astype(np.float64) / b.astype(np.float64)
        rounded = want.astype(np.float32)
    special = ~np.isfinite(rounded) | (rounded == 0) | (np.abs(want) > 3.4028e38)
    exact = special & (np.abs(want) <= 3.4028e38) | ~np.isfinite(want)
    np.testing.assert_array_equal(got[exact], rounded[exact])
    got, want = got[~special], want[~special]
    assert (np.abs(got - want) <= np.abs(want) * 2.0**-21 + 2.0**-149).all()


def test_products_are_not_rounded() -> None:
    random = np.random.default_rng(1)
    a, b, c = (
        (random.standard_normal(1 << 16) * 2.0 ** random.integers(-40, 40, 1 << 16)).astype(np.float32)
        for _ in range(3)
    )
    c[::2] = -(a[::2] * b[::2])  # what is left is the rounding error of the product
    got = run("fma", a, b, c)
    exact = a.astype(np.float64) * b + c.astype(np.float64)
    near = np.abs(a.astype(np.float64) * b) < np.abs(c) * 2.0**20  # the sum is exact, or nearly so
    assert (np.abs(got - exact)[near] <= np.abs(exact)[near] * 2.0**-23.9).all()
    assert (got[::2] != 0).mean() > 0.9


if __name__ == "__main__":
    for name in BOUNDS:
        relative, at, absolute = error(name, 4001 if name in SLOW else 251)
        print(f"{name:16} 2^{math.log2(relative):.2f} at {at:.6g}; {absolute:.2g} where it is small")


def test_quotients_by_what_is_not_small() -> None:
    """A unit off at most with any reciprocal that the manual allows. (To nearest with the hardware's: tests/gpu.)"""
    random = np.random.default_rng(0)
    a, b = (random.integers(0, 1 << 32, 1 << 20, np.uint32).view(np.float32) for _ in range(2))
    few = np.array([0.0, -0.0, 1.0, -3.0, 1e-45, 1e-39, 1e-30, 1e30, 3e38, np.inf, -np.inf, np.nan], np.float32)
    near = 2 - np.arange(1, 1 << 12, dtype=np.float32) * 2.0**-23  # whose reciprocals are worst
    a = np.concatenate([a, random.normal(size=1 << 20).astype(np.float32), np.tile(few, len(few)), near[::-1], near])
    large = 1 + np.exp(random.uniform(-20, 80, 1 << 20)).astype(np.float32)
    b = np.concatenate([b, large, np.repeat(few, len(few)), near, near])
    ok = ~(np.abs(b) < 2.0**-100)
    a, b = a[ok], b[ok]
    with np.errstate(all="ignore"):
        for x, got in ((a, run("far_div", a, b)), (np.ones_like(b), run("far_reciprocal", b))):
            want = x / b
            np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
            known = ~np.isnan(want) & ~(np.abs(want) > 3.4028e38)  # may be infinite
            got, want = got[known], want[known]
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
            assert (np.abs(got.astype(np.float64) - want) <= np.abs(want) * 2.0**-23 + 2.0**-149).all()


def test_floor_division() -> None:
    """Eager's, of quotients of all sizes, near integers, and what has no quotient; with any reciprocal allowed."""
    random = np.random.default_rng(0)
    n = 1 << 19
    a, b = (random.integers(0, 1 << 32, n, np.uint32).view(np.float32) for _ in range(2))
    few = np.array([0.0, -0.0, 1.0, -3.0, 1e-45, 1e-39, 1e-30, 1e30, 3e38, np.inf, -np.inf, np.nan], np.float32)
    by = random.normal(size=n).astype(np.float32)
    whole = np.round(random.choice([1, 30, 1e4, 2e6], n) * random.normal(size=n)).astype(np.float32)
    near = np.nextafter(by * whole, random.choice([-np.inf, 0, np.inf], n).astype(np.float32))
    a = np.concatenate([a, near, by * whole, random.normal(size=n).astype(np.float32) * 100, np.tile(few, len(few))])
    b = np.concatenate([b, by, by, by, np.repeat(few, len(few))])
    got = run("floordiv", a, b)
    want = (torch.from_numpy(a) // torch.from_numpy(b)).numpy()
    np.testing.assert_array_equal(got, want)
    zero = want == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))
