"""Operands at the edges of their types' ranges and of eager's rules, end to end: the values eager has, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests.support import BACKEND, compiled, counted, counters, is_ours, no_fallbacks, same_bits

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo"),
    pytest.mark.skipif(not is_ours(BACKEND), reason="options of our own backend"),
]

Fn = Callable[..., torch.Tensor]


def ours(fn: Fn, *args: torch.Tensor) -> torch.Tensor:
    """`fn` in kernels, even if it is one operation."""
    with no_fallbacks(), fusewright.options(single_op_groups=True):
        got: torch.Tensor = compiled(fn)(*args)
        return got


def assert_as_eager(fn: Fn, *args: torch.Tensor) -> None:
    got, want = ours(fn, *args), fn(*args)
    assert same_bits(got, want), f"{got}, eager gives {want}"


DIVISIONS: dict[str, Fn] = {
    "floor": lambda x: x // -1,
    "truncated": lambda x: torch.div(x, -1, rounding_mode="trunc"),
    "remainder": lambda x: x % -1,
    "fmod": lambda x: torch.fmod(x, -1),
}


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("name", DIVISIONS)
def test_integers_divided_by_minus_one(name: str, dtype: torch.dtype) -> None:
    """-1 is 255 to uint8; the most negative integer of a signed type wraps."""
    info = torch.iinfo(dtype)
    x = torch.tensor([0, 1, 2, 127, info.max - 1, info.max, info.min, info.min + 1], dtype=dtype)
    fn = DIVISIONS[name]
    if dtype.is_signed and name in ("floor", "truncated"):  # eager traps or wraps at the lowest, by machine
        x = x[x != info.min]
    assert_as_eager(fn, x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["asinh", "acosh"])
def test_inverse_hyperbolic_functions_of_large_numbers(name: str, dtype: torch.dtype) -> None:
    """Finite as far as the type goes, although the square is not, and as accurate as eager's."""
    info = torch.finfo(dtype)
    some = torch.logspace(0, math.log10(info.max) - 0.01, 20001, dtype=torch.float64).to(dtype)
    x = torch.cat([some, torch.tensor([0.0, 2.0**63, 2.0**64, info.max, math.inf, math.nan], dtype=dtype)])
    x = torch.cat([x, -x])
    fn = getattr(torch, name)
    got, want = ours(fn, x), fn(x)
    exact = fn(x.double())
    assert torch.equal(got.isfinite(), want.isfinite())
    assert torch.equal(got.nan_to_num().signbit(), want.nan_to_num().signbit())
    there = exact.isfinite()
    error, theirs = ((t.double() - exact)[there].abs() / exact[there].abs().clamp_min(1e-30) for t in (got, want))
    assert error.max() <= max(theirs.max().item(), info.eps)


def refuse_alike(fn: Fn, *args: torch.Tensor) -> None:
    """Eager raises an error, and so do we: of the same type, and with the same words."""
    with pytest.raises((RuntimeError, IndexError, TypeError, NotImplementedError)) as theirs:
        fn(*args)
    with pytest.raises(theirs.type) as mine:
        compiled(fn)(*args)
    assert str(theirs.value).splitlines()[0] in str(mine.value)


EXTREMES: dict[str, Fn] = {
    "max": lambda x: (x * 2).max() + 1,
    "min": lambda x: (x * 2).min() + 1,
    "max of rows": lambda x: (x * 2).max(-1).values + 1,
    "min of rows": lambda x: (x * 2).min(-1, keepdim=True).values + 1,
    "where the max is": lambda x: (x * 2).max(-1).indices + 1,
}


@pytest.mark.parametrize("shape", [(3, 0), (0, 0), (0,)], ids=str)
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_of_nothing(name: str, shape: tuple[int, ...]) -> None:
    refuse_alike(EXTREMES[name], torch.ones(shape))


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_of_what_may_be_nothing(name: str) -> None:
    """An extent of a slice, and one that depends on data: 0 in some calls."""
    chosen = lambda x: EXTREMES[name](x[x > 0])
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        assert_as_eager(chosen, torch.tensor([1.0, -2.0, 3.0]))
        refuse_alike(chosen, -torch.ones(5))
    sliced = lambda x: EXTREMES[name](x[2:])
    call = compiled(sliced, dynamic=True)
    for n in (7, 3, 2, 9):
        x = torch.arange(n) - 4.5
        if n > 2:
            assert same_bits(call(x), sliced(x))
        else:
            with pytest.raises((RuntimeError, IndexError), match="Expected reduction dim"):
                call(x)


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_over_a_dynamic_extent_are_compiled(name: str) -> None:
    before = counters()
    compiled(EXTREMES[name], dynamic=True)(torch.randn(5, 6))
    assert counted(before)["groups_formed"] and not counted(before).get("opaque_calls", 0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("power", [0.5, -0.5])
@pytest.mark.parametrize("size", [5, 100])
def test_roots_of_negative_zero_and_infinity(size: int, power: float, dtype: torch.dtype) -> None:
    """Eager calls pow for float16, and takes the root of other types."""
    x = torch.tensor([-0.0, -math.inf, math.inf, 0.0, -1.0, 4.0, math.nan] * 15, dtype=dtype)[:size]
    assert_as_eager(lambda x: x**power, x)


ROUNDED_DIVISIONS: dict[str, Fn] = {
    "floor": lambda x, y: x // y,
    "rounded to the floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "truncated": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "remainder": lambda x, y: x % y,
    "fmod": lambda x, y: torch.fmod(x, y),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ROUNDED_DIVISIONS)
def test_integers_are_rounded_to_16_bits_before_a_division_decides(name: str, dtype: torch.dtype) -> None:
    i = torch.tensor([2049, 4099, 1000, -257, 255, -13], dtype=torch.int32)
    h = torch.tensor([1.0, 0.1, -7.0, 1.1, 2.0, -0.3]).to(dtype)
    fn = ROUNDED_DIVISIONS[name]
    assert_as_eager(fn, i, h)
    assert_as_eager(fn, h, i)


@pytest.mark.parametrize("divisor", [2049, 0.1, [2049], [0.1]], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["floor", "truncated"])
def test_one_divisor_for_16_bit_numbers_is_not_rounded(name: str, dtype: torch.dtype, divisor: object) -> None:
    x = torch.tensor([2048.0, 0.1, 3.0, -7.0, 0.3, 1.1, 1000.0, -77.0] * 9).to(dtype)
    assert_as_eager(ROUNDED_DIVISIONS[name], x, torch.tensor(divisor))


def gradient(fn: Fn, x: torch.Tensor) -> torch.Tensor:
    x = x.detach().requires_grad_(True)
    (got,) = torch.autograd.grad(fn(x), x, torch.ones_like(x))
    return got


BOUNDS: dict[str, Fn] = {
    "threshold": lambda x: F.threshold(x, 0.2, -3.0),
    "threshold between": lambda x: F.threshold(x, 0.3, 0.7),
    "hardtanh": lambda x: F.hardtanh(x, -0.7, 0.3),
    "hardshrink": lambda x: F.hardshrink(x, 0.2),
    "relu6": F.relu6,
}


@pytest.mark.every(6)
@pytest.mark.parametrize("size", [5, 100])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", BOUNDS)
def test_numbers_at_the_bounds(name: str, dtype: torch.dtype, size: int) -> None:
    """A bound that the type does not have exactly: which side of it the nearest number is on."""
    x = torch.tensor([0.2, -0.7, 0.3, 6.0, -0.2] * 20, dtype=dtype)[:size]
    fn = BOUNDS[name]
    assert_as_eager(fn, x)
    with fusewright.options(single_op_groups=True):
        assert same_bits(gradient(compiled(fn), x), gradient(fn, x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["hardtanh", "relu6", "elu", "celu", "selu", "hardswish"])
def test_derivatives_at_nan(name: str, dtype: torch.dtype) -> None:
    """What eager's vector kernels give: there are no last elements."""
    x = torch.full((128,), math.nan, dtype=dtype)
    fn = getattr(F, name)
    with fusewright.options(single_op_groups=True):
        assert same_bits(gradient(compiled(fn), x), gradient(fn, x))


def test_shrinking_derivative_at_nan() -> None:
    x = torch.full((128,), math.nan)
    for op in (torch.ops.aten.hardshrink_backward, torch.ops.aten.softshrink_backward):
        assert_as_eager(lambda g, x, op=op: op(g, x, 0.5), torch.ones(128), x)


B, N = torch.tensor([True, False, True]), torch.tensor([1, 2, 3])
X, H, AT = torch.ones(3), torch.ones(3, dtype=torch.float16), torch.tensor([0, 1, 0])
REFUSED: dict[str, tuple[Fn, tuple[torch.Tensor, ...]]] = {
    **{
        op.__name__: (lambda b, op=op: op(~b), (B,))
        for op in (torch.abs, torch.floor, torch.ceil, torch.trunc, torch.round, torch.relu, torch.argmax, torch.argmin)
    },
    "clamp by tensors": (lambda b: torch.clamp(~b, b, b), (B,)),
    "clamp": (lambda b: torch.clamp(~b, False, True), (B,)),
    "threshold": (lambda b: torch.threshold(~b, 0, 1), (B,)),
    "minus a bool": (lambda x, b: x * 2 - b, (X, B)),
    "1 minus a bool": (lambda b: 1 - (~b), (B,)),
    "a bool minus 1": (lambda b: (~b) - 1, (B,)),
    "a bool minus a bool": (lambda b: (~b) - b, (B,)),
    "minus True": (lambda x: (x * 2) - True, (X,)),
    "rsub": (lambda x, b: torch.rsub(b, x * 2), (X, B)),
    "softmax": (lambda i: (i * 2).softmax(0), (N,)),
    "softmax of bools": (lambda b: (~b).softmax(0), (B,)),
    "log_softmax": (lambda i: (i * 2).log_softmax(0), (N,)),
    "glu": (lambda i: F.glu(i[:2] * 2), (N,)),
    "prelu": (lambda i: F.prelu(i * 2, i[:1]), (N,)),
    "gelu": (lambda i: F.gelu(i * 2), (N,)),
    "lerp": (lambda i: torch.lerp(i * 2, i, 0.5), (N,)),
    "var": (lambda i: (i * 2).var(), (N,)),
    "addcmul": (lambda b: torch.addcmul(~b, b, b), (B,)),
    "bits of floats": (lambda x: (x * 2) & x, (X,)),
    "index_add": (lambda x, h, at: (x * 2).index_add(0, at, h), (X, H, AT)),
    "index_copy": (lambda x, h, at: (x * 2).index_copy(0, at, h), (X, H, AT)),
    "index_put": (lambda x, h, at: (x * 2).index_put((at,), h), (X, H, AT)),
    "index_put accumulate": (lambda x, h, at: (x * 2).index_put((at,), h, accumulate=True), (X, H, AT)),
    "index_reduce": (lambda x, h, at: (x * 2).index_reduce(0, at, h, "prod"), (X, H, AT)),
    "put": (lambda x, h, at: (x * 2).put(at, h), (X, H, AT)),
    "heaviside": (lambda x, h: torch.heaviside(x * 2, h), (X, H)),
    "add, alpha True": (lambda x: torch.add(x * 2, 1, alpha=True), (X,)),
    "sub, alpha True": (lambda x: torch.sub(x * 2, 1, alpha=True), (X,)),
}


@pytest.mark.every(6)
@pytest.mark.filterwarnings("error::fusewright.core.errors.FusewrightWarning")
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_what_eager_refuses(name: str, single: bool) -> None:
    """Types that eager has no kernel for, and arguments that it takes for other types."""
    fn, args = REFUSED[name]
    with no_fallbacks(), fusewright.options(single_op_groups=single):
        refuse_alike(fn, *args)


NUMBERS: dict[str, Callable[[torch.Tensor, float], torch.Tensor]] = {
    "masked_fill": lambda x, n: x.masked_fill(x > 0, n),
    "full_like": lambda x, n: torch.full_like(x, n) + x,
    "clamp": lambda x, n: x.clamp(-n, n),
    "clamp_min": lambda x, n: x.clamp_min(-n),
    "hardtanh": lambda x, n: F.hardtanh(x, -n, n),
    "threshold": lambda x, n: F.threshold(x, 0, n),
    "pad": lambda x, n: F.pad(x, (1, 1), value=n),
    "scatter": lambda x, n: x.scatter(0, torch.tensor([0]), n),
    "pow": lambda x, n: x.pow(n) if x.dtype != torch.float32 else x.masked_fill(x > 0, n),
}
FACTORS: dict[str, Callable[[torch.Tensor, float], torch.Tensor]] = {
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "softplus": F.softplus,
    "lerp": lambda x, n: torch.lerp(x, x * 2, n),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("name", [*NUMBERS, *FACTORS])
def test_numbers_that_their_type_cannot_hold(name: str, dtype: torch.dtype) -> None:
    """Eager raises where a kernel would make infinities of them. The largest of a type, and infinities, are taken."""
    x = torch.tensor([0.5, -1.0, 2.0], dtype=dtype)
    if name in FACTORS:  # in float32, whatever the operand's type
        fn, largest = FACTORS[name], torch.finfo(torch.float32).max
    else:
        fn, largest = NUMBERS[name], torch.finfo(dtype).max
    for number in (largest * (1 + 2**-12), 1e39):
        for f in (fn, lambda x, n: fn(x * 2, n) + 1):
            with pytest.raises(RuntimeError, match="without overflow"):
                f(x, number)
            with pytest.raises(RuntimeError, match="without overflow"):
                ours(lambda x: f(x, number), x)
    if name in NUMBERS and name != "pow":
        assert_as_eager(lambda x: fn(x, largest), x)
        assert_as_eager(lambda x: fn(x, math.inf), x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_numbers_that_become_infinities(dtype: torch.dtype) -> None:
    """Arithmetic and comparisons take any number: it is a tensor of no dimensions there, and rounded."""
    x = torch.tensor([0.5, -1.0, math.inf, -math.inf, math.nan], dtype=dtype)
    for fn in (torch.lt, torch.ge, torch.eq, torch.add, torch.sub, torch.fmod):
        assert_as_eager(lambda x: fn(x, 1e39), x)
        assert_as_eager(lambda x: fn(x * 2, -1e39).to(torch.int8) * 2, x)


@pytest.mark.parametrize("p", [2.0, -0.5, math.nan])
def test_probabilities_that_are_none(p: float) -> None:
    """Eager looks at them, as numbers and in a tensor."""
    x = torch.rand(4, 6)
    for fn in (lambda x: torch.bernoulli(x, p) * 2 + x, lambda x: torch.bernoulli(x.clamp(p, p)) * 2 + x):
        for f in (fn, compiled(fn)):
            with pytest.raises(RuntimeError, match=r"p_in >= 0|expects p to be in"):
                f(x)
    drawn = compiled(lambda x: torch.bernoulli(x.clamp(0.25, 0.25)) * 2)(torch.rand(10000))
    assert set(drawn.unique().tolist()) == {0.0, 2.0} and 0.4 < drawn.mean() < 0.6


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("power", [False, True, 0, 1, 2])
def test_powers_of_booleans(power: int, single: bool) -> None:
    """torch traces int64 where eager has booleans."""

    def fn(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x**power
        return y, y * 2, y * 2.5, torch.sort(y)[0]

    x = torch.tensor([True, False, True])
    with fusewright.options(single_op_groups=single):
        for f in (fn, lambda x: (x.pow(power),)):
            for got, want in zip(compiled(f)(x), f(x), strict=True):
                assert got.dtype == want.dtype and torch.equal(got, want)


@pytest.mark.every(6)
@pytest.mark.parametrize("moment", [torch.std, torch.std_mean, torch.var, torch.var_mean])
@pytest.mark.parametrize("scale, mean", [(1e-25, 0.0), (1e-20, 0.0), (1e25, 0.0), (1.0, 1e6), (1.0, -3e4)])
def test_moments_of_extreme_numbers(moment: Callable, scale: float, mean: float) -> None:
    """In float32 their squares are 0 or infinite, or the mean's rounding is more than the deviations are."""
    x = torch.randn(6, 300) * scale + mean
    for dim in (0, 1, None):
        expected = moment(x.double(), dim)  # of a whole tensor eager's float32 is off, too
        actual = compiled(lambda x, dim=dim: moment(x * 1, dim))(x)
        if isinstance(actual, torch.Tensor):
            actual, expected = (actual,), (expected,)
        for a, e in zip(actual, expected, strict=True):
            torch.testing.assert_close(a, e.float(), rtol=1e-6, atol=1e-44)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("bounds", [{"min"}, {"max"}, {"min", "max"}])
def test_zeros_that_are_clamped_by_tensors(bounds: set[str], dtype: torch.dtype) -> None:
    """Of two zeros the bound, where a number as bound leaves x."""
    x = torch.tensor([0.0, -0.0] * 32, dtype=dtype)
    assert_as_eager(lambda x, y: torch.clamp(x * 1, **dict.fromkeys(bounds, y)), x, -x)  # type: ignore[arg-type]
    assert_as_eager(lambda x: torch.clamp(x * 1, **dict.fromkeys(bounds, 0.0)), x)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [3000000001.0, 4294967301.0, -2147483649.0, 300.7, -5.0, math.inf, math.nan])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_numbers_to_bytes(dtype: torch.dtype, value: float) -> None:
    """From float64 by way of 64 bits, else of 32."""
    assert_as_eager(lambda x: (x + 0).to(torch.uint8) + 0, torch.full((40,), value, dtype=dtype))


@pytest.mark.parametrize("reduce", ["prod", "amax", "amin"])
def test_index_reduce_of_booleans(reduce: str) -> None:
    x, index = torch.zeros(4, dtype=torch.bool), torch.tensor([0, 1, 1])
    source = torch.tensor([True, False, True])

    def f(x: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        return x.index_reduce(0, index, source, reduce, include_self=False)

    with pytest.raises(NotImplementedError):
        f(x, source)
    with pytest.raises(NotImplementedError):
        compiled(f)(x, source)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("to", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8], ids=str)
def test_comparisons_of_what_no_integer_holds(to: torch.dtype, dtype: torch.dtype) -> None:
    """They are made of the integers, which eager's conversion gives, not of the numbers before it."""
    far = [math.inf, -math.inf, math.nan, 1e30, -1e30, 3e9, 200.5, -200.7, 5.5, 0.0]
    x, y = torch.tensor(far * 4, dtype=dtype), torch.linspace(-3, 3, 40)
    assert_as_eager(lambda x, y: x.to(to) > y, x, y)
    assert_as_eager(lambda x, y: (x.to(to) <= y) & (x.to(to).float() * 2 != y), x, y)
