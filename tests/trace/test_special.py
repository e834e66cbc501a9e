"""Special functions and the parts of floats: eager's values, or nearer ones, in fused kernels, with gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, special

import fusewright
from tests.emulate.driver import emulated_gpu
from tests.support import counted, counters, same_bits

pytestmark = pytest.mark.usefixtures("device")

INF, NAN = math.inf, math.nan
REDUCED = (torch.bfloat16, torch.float16)
NOT_REDUCED = ("ndtri", "erfcx", "log_ndtr")


@pytest.fixture(params=["cpu", "emulated"])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    with ExitStack() as stack:
        if request.param == "emulated":
            stack.enter_context(emulated_gpu())
        stack.enter_context(fusewright.options(fallback=False, disk_cache=False, single_op_groups=True))
        yield request.param


def fused(f: Callable[..., Any], *args: Tensor, **options: Any) -> Any:
    """f's result, of which nothing is left to torch."""
    before = counters()
    out = torch.compile(f, backend="fusewright", fullgraph=True, **options)(*args)
    grown = counted(before)
    assert grown["units_fused"] and not grown["opaque_calls"] and not grown["fallbacks"]
    return out


def left(f: Callable[..., Any], *args: Tensor) -> list[str]:
    """The operators that torch runs."""
    report = fusewright.explain(torch.compile(f, backend="fusewright"), *args)
    return [o.target for g in report.graphs for o in g.operations if o.place == "torch"]


@dataclass(frozen=True)
class Case:
    """A function, intervals to test it in, how small results count for their last place, mpmath's name for it."""

    f: Callable[[Tensor], Tensor]
    intervals: tuple[tuple[float, float], ...]
    least: float = 0.0
    exact: Callable[[Any, Any], Any] | None = None


def trigamma(x: Tensor) -> Tensor:
    return torch.polygamma(1, x)


CASES = {
    "erfinv": Case(torch.erfinv, ((-1, 1), (-0.02, 0.02), (0.99, 1)), 0, lambda mp, x: mp.erfinv(x)),
    "ndtri": Case(special.ndtri, ((0, 1), (0, 1e-2), (0, 1e-7), (0, 1e-30), (0.999, 1)), 1e-2, None),
    "erfcx": Case(special.erfcx, ((-9, 9), (-0.1, 0.1), (9, 50)), 0, lambda mp, x: mp.exp(x * x) * mp.erfc(x)),
    "log_ndtr": Case(
        special.log_ndtr, ((-5, 2), (-30, 0), (-3000, 0)), 0, lambda mp, x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)
    ),
    "digamma": Case(torch.digamma, ((0, 3), (3, 40), (0, 1e-3), (40, 1e9), (-20, 0)), 2.0, lambda mp, x: mp.digamma(x)),
    "polygamma 0": Case(lambda x: torch.polygamma(0, x), ((0, 9),), 2.0, lambda mp, x: mp.digamma(x)),
    "trigamma": Case(trigamma, ((0, 3), (3, 40), (40, 1e9), (-20, 0)), 0, lambda mp, x: mp.psi(1, x)),
    "i0": Case(special.i0, ((-10, 10), (10, 85), (-85, -10)), 0, lambda mp, x: mp.besseli(0, x)),
    "i0e": Case(special.i0e, ((-10, 10), (10, 100), (100, 1e6)), 0, lambda mp, x: mp.besseli(0, x) * mp.exp(-abs(x))),
    "i1": Case(special.i1, ((-10, 10), (-1e-3, 1e-3), (10, 85)), 0, lambda mp, x: mp.besseli(1, x)),
    "i1e": Case(
        special.i1e, ((-10, 10), (-1e-3, 1e-3), (10, 100)), 0, lambda mp, x: mp.besseli(1, x) * mp.exp(-abs(x))
    ),
}
EDGES = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, -2.5, INF, -INF, NAN, 1e-40, -1e-40, 1e-45, 3e38, -3e38, 1e300),
    *(88.0, 89.0, -91.0, 710.0, 100.0, 1 - 2**-24, 2**-24 - 1, 10.0, 8.0, -8.0, 7.0, 11.0, 6.5, 0.375, 0.875, -0.75),
    *(0.25, 0.075, 0.925, 0.85, -0.85, 1e-20, -1e-20, 9.25, -9.25, 26.0, -26.0, -26.7, 8388607.5, -9e6, 1e-310),
)


def within(case: Case, n: int = 20_000) -> Tensor:
    x = torch.cat([torch.rand(n, dtype=torch.float64) * (high - low) + low for low, high in case.intervals])
    return x[(x != x.round()) | (x > 0)]


def units(got: Tensor, exact: Tensor, dtype: torch.dtype, least: float = 0.0) -> Tensor:
    """Errors in units in the last place of `dtype`, of what it holds."""
    info = torch.finfo(dtype)
    size = exact.abs().clamp(min=max(least, info.tiny))
    unit = torch.ldexp(torch.ones_like(size), torch.frexp(size)[1] - 1) * info.eps
    held = exact.isfinite() & (exact.abs() < info.max)
    return ((got.double() - exact).abs() / unit)[held].nan_to_num(INF)


@pytest.mark.parametrize("name", CASES)
def test_near_the_function(name: str) -> None:
    """About as near as eager, which rounds only the result of erfinv."""
    case = CASES[name]
    x = within(case).float()
    exact = case.f(x.double())
    ours, eagers = (units(y, exact, torch.float32, case.least) for y in (fused(case.f, x), case.f(x)))
    assert ours.max() <= max(1.5 * eagers.max().item(), 3.0)
    assert ours.mean() <= max(1.5 * eagers.mean().item(), 0.5)


def _quantile(mp: Any, p: Any, near: Any) -> Any:
    """Newton's steps from a value that is almost the normal distribution's quantile."""
    for _ in range(3):
        near -= (mp.erfc(-near / mp.sqrt(2)) / 2 - p) / (mp.exp(-near * near / 2) / mp.sqrt(2 * mp.pi))
    return near


@pytest.mark.parametrize("name", CASES)
def test_near_the_function_in_double_precision(name: str) -> None:
    case, mp = CASES[name], pytest.importorskip("mpmath")
    x = within(case, 40)
    got = fused(case.f, x)
    assert got.dtype == torch.float64
    with mp.workdps(40):
        for v, y in zip(x.tolist(), got.tolist(), strict=True):
            exact = case.exact(mp, mp.mpf(v)) if case.exact else _quantile(mp, mp.mpf(v), mp.mpf(y))
            assert abs(y - exact) <= 8 * 2.0**-52 * max(abs(exact), case.least), v


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, *REDUCED, torch.int64, torch.bool], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_zeros_poles_and_infinities(name: str, dtype: torch.dtype) -> None:
    if dtype in REDUCED and name in NOT_REDUCED:
        pytest.skip("eager does not have it")
    f = CASES[name].f
    x = torch.tensor(EDGES, dtype=torch.float64)
    x = x.to(dtype) if dtype.is_floating_point else torch.arange(-30, 120).abs().to(dtype)
    if dtype is torch.int64:
        x[0] = -3
    if name == "trigamma":  # eager divides by rounding errors at and near poles
        x = x[(x > -0.9) | x.isnan() | (x == -INF)]
    # eager's kernels have steps in 16 bits
    want = f(x.float()).to(dtype) if dtype in REDUCED else f(x)
    got = fused(f, x)
    assert got.dtype == want.dtype
    info = torch.finfo(want.dtype)
    least = max(CASES[name].least * info.eps, info.tiny if want.dtype is torch.float64 else 0)
    rtol = {torch.float32: 3e-6, torch.float64: 2e-8 if name == "trigamma" else 2e-9, torch.bfloat16: 8e-3}
    torch.testing.assert_close(got, want, rtol=rtol.get(want.dtype, 1e-3), atol=least, equal_nan=True)
    assert torch.equal(got.signbit() & ~got.isnan(), want.signbit() & ~want.isnan())


@pytest.mark.parametrize("dtype", REDUCED, ids=str)
@pytest.mark.parametrize("name", [n for n in CASES if n not in NOT_REDUCED])
def test_of_16_bits(name: str, dtype: torch.dtype) -> None:
    """What float32 has, rounded."""
    case = CASES[name]
    x = within(case, 4000).to(dtype)
    x = x[(x != x.round()) | (x > 0)]
    got = fused(case.f, x)
    assert got.dtype == dtype
    assert units(got, case.f(x.double()), dtype, max(case.least, 2.0**-10)).max() <= 0.52


@pytest.mark.parametrize("name", NOT_REDUCED)
def test_eagers_errors(name: str) -> None:
    for dtype in REDUCED:
        with pytest.raises(RuntimeError, match="not implemented"):
            torch.compile(CASES[name].f, backend="fusewright")(torch.rand(9, dtype=dtype))
    with pytest.raises(RuntimeError, match="not implemented"):
        torch.compile(torch.ldexp, backend="fusewright")(torch.rand(9), torch.rand(9) > 0.5)


def test_poles_of_trigamma() -> None:
    x = torch.tensor([0.0, -0.0, -1.0, -2.0, -77.0, -1e7, -INF])
    assert same_bits(fused(trigamma, x), torch.tensor([INF] * 6 + [NAN]))


def test_other_orders_are_torchs() -> None:
    f = lambda x: torch.polygamma(2, x * 2).sin()
    assert left(f, torch.rand(50)) == ["aten.polygamma.default"]


GRADIENTS = {
    **{n: c.f for n, c in CASES.items() if n != "trigamma"},
    "lgamma": torch.lgamma,
    "ndtr": special.ndtr,
    "angle": torch.angle,
    "frexp": lambda x: torch.frexp(x)[0],
    "ldexp": lambda x: torch.ldexp(x, x * 3),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    """Forwards and backwards nothing is left to torch."""
    f = lambda x: (GRADIENTS[name](x * 0.9) * 2).sin()
    x = (torch.rand(3, 70, dtype=torch.float64) * 0.9 + 0.05).requires_grad_()
    before = counters()
    torch.compile(f, backend="fusewright", fullgraph=True)(x).sum().backward()
    grown = counted(before)
    assert grown["units_fused"] and not grown["opaque_calls"]
    got, x.grad = x.grad, None
    f(x).sum().backward()
    torch.testing.assert_close(got, x.grad, rtol=1e-7, atol=1e-9)  # eager's trigamma has nine digits


@pytest.mark.parametrize("name", CASES)
def test_joins_its_neighbours(name: str) -> None:
    f = lambda x, y: (CASES[name].f(x * 0.5 + y) * y).sum(-1)
    x, y = torch.rand(7, 33) * 0.5, torch.rand(33) * 0.5
    report = fusewright.explain(torch.compile(f, backend="fusewright"), x, y)
    assert len(report.graphs[0].kernels) == 1 and not left(f, x, y)
    torch.testing.assert_close(fused(f, x, y), f(x, y), rtol=3e-5, atol=1e-5)


def everything(x: Tensor, e: Tensor) -> list[Tensor]:
    some = [c.f(x) for c in CASES.values()]
    return [*some, torch.angle(x), *torch.frexp(x), torch.ldexp(x, e), torch.nextafter(x, e.to(x.dtype))]


def test_sizes_that_vary() -> None:
    compiled = torch.compile(everything, backend="fusewright", dynamic=True)
    for shape in ((5, 7), (3, 40), (17, 2), (2, 0)):
        x, e = torch.rand(shape) * 0.9 + 0.05, torch.randint(-9, 9, shape)
        for got, want in zip(compiled(x, e), everything(x, e), strict=True):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (65,)], ids=str)
def test_shapes(shape: tuple[int, ...]) -> None:
    x, e = torch.rand(shape) * 0.9 + 0.05, torch.randint(-9, 9, shape)
    for got, want in zip(fused(everything, x, e), everything(x, e), strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        torch.testing.assert_close(got, want, rtol=1e-5, atol=2e-6)


def test_strided() -> None:
    x, e = (torch.rand(9, 14) * 0.9 + 0.05).t()[::2], torch.randint(-9, 9, (9, 14)).t()[::2]
    for got, want in zip(fused(everything, x, e), everything(x, e), strict=True):
        assert got.stride() == want.stride()
        torch.testing.assert_close(got, want, rtol=1e-5, atol=2e-6)


# --- parts of floats -------------------------------------------------------------------------------

FLOATS = (torch.float32, torch.float64, *REDUCED)


def of_any_size(dtype: torch.dtype) -> Tensor:
    """Floats of every exponent, powers of two among them."""
    bits = {8: torch.int64, 4: torch.int32, 2: torch.int16}[dtype.itemsize]
    info = torch.finfo(dtype)
    some = torch.randint(torch.iinfo(bits).min, torch.iinfo(bits).max, (3000,), dtype=bits).view(dtype)
    powers = torch.tensor([2.0**k for k in range(-1074, 1024)], dtype=torch.float64).to(dtype)
    edges = [0.0, -0.0, INF, -INF, NAN, info.max, -info.max, info.tiny, -info.tiny, info.tiny * (1 - info.eps)]
    return torch.cat([some, powers, -powers, torch.tensor(edges, dtype=torch.float64).to(dtype)])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_mantissas_and_exponents(dtype: torch.dtype) -> None:
    for f in (torch.frexp, lambda x: torch.frexp(x * 1.3)):
        x = of_any_size(dtype)
        got, want = fused(f, x), f(x)
        assert same_bits(got[0], want[0]) and same_bits(got[1], want[1])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_neighbours(dtype: torch.dtype) -> None:
    x = of_any_size(dtype)
    x = torch.cat([x, x[-40:]])
    y = torch.cat([x[torch.randperm(len(x) - 40)], x[-40:]])
    assert same_bits(fused(torch.nextafter, x, y), torch.nextafter(x, y))
    f = lambda x: torch.nextafter(x * 1.3, torch.zeros((), dtype=dtype))
    assert same_bits(fused(f, x), f(x))


POWERS = (torch.uint8, torch.int32, torch.int64, torch.float32, torch.float64, *REDUCED)


@pytest.mark.parametrize("power", POWERS, ids=str)
@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64], ids=str)
def test_times_powers_of_two(dtype: torch.dtype, power: torch.dtype) -> None:
    x = of_any_size(dtype) if dtype.is_floating_point else torch.randint(-99, 99, (500,))
    most = 2200 if dtype is torch.float64 else 300
    if power.is_floating_point:  # the power is a number of its own, which is to be normal
        most = {torch.float64: 8000, torch.float16: 100}.get(power, 1000)
    e = torch.where(torch.rand(len(x)) < 0.5, torch.randint(-most, most, (len(x),)), torch.randint(-9, 9, (len(x),)))
    e = (e / 8 if power.is_floating_point else e).to(power)
    got, want = fused(torch.ldexp, x, e), torch.ldexp(x, e)
    if power.is_floating_point:
        eps = max(torch.finfo(t).eps for t in (power, want.dtype))
        torch.testing.assert_close(got, want, rtol=4 * eps, atol=torch.finfo(want.dtype).tiny, equal_nan=True)
    else:
        assert same_bits(got, want)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.uint8, torch.bool], ids=str)
def test_angles(dtype: torch.dtype) -> None:
    x = of_any_size(dtype) if dtype.is_floating_point else torch.arange(-5, 5).to(dtype)
    assert same_bits(fused(torch.angle, x), torch.angle(x))
