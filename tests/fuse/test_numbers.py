"""Sizes and integer arguments as numbers: functions of `math`, indices, what `torch.tensor` is made of."""

from __future__ import annotations

import math
import threading
from math import gcd, log, sqrt

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright import UserError
from tests.support import assert_agrees, clone_like, counted, counters, no_fallbacks, random_tensor


def scaled(x):
    return torch.softmax(x / math.sqrt(x.shape[-1]), -1) * 2


def by_name(x):
    return x / sqrt(x.shape[-1] / 3) + log(x.shape[0])


NUMBERS = {
    "sqrt": lambda n: math.sqrt(n),
    "sqrt of a fraction": lambda n: 1 / math.sqrt(n / 3),
    "log": lambda n: math.log(n),
    "log to a base": lambda n: math.log(n, 2) + math.log(3, n),
    "log2": lambda n: math.log2(n),
    "exp": lambda n: math.exp(-n / 10),
    "pow": lambda n: math.pow(n, 0.3) + math.pow(2.0, -8 / n),
    "periodic": lambda n: math.sin(n) + math.cos(n) * math.tan(n),
    "hyperbolic": lambda n: math.tanh(n / 10) + math.sinh(1 / n) - math.cosh(1 / n),
    "arcs": lambda n: math.atan(n) + math.asin(1 / n) + math.acos(1 / n),
    "angles": lambda n: math.radians(n) + math.degrees(n) + math.fabs(3 - n),
    "whole": lambda n: math.floor(n / 2) + math.ceil(n / 3) + math.trunc(n / 4) + round(n / 5),
    "divmod": lambda n: divmod(n, 3)[0] + divmod(100, n)[1],
    "prod": lambda n: math.prod((n, 2, n)),
    "logarithms": lambda n: math.log10(n) + math.log1p(-1 / n),
    "exponentials": lambda n: math.expm1(1 / n),
    "inverse hyperbolic": lambda n: math.asinh(n) + math.acosh(n) + math.atanh(1 / n),
    "special": lambda n: math.erf(1 / n) + math.erfc(1 / n) + math.gamma(n) + math.lgamma(n),
    "of two": lambda n: math.hypot(n, 3) + math.atan2(n, 2.5) + math.fmod(n, 2) + math.remainder(n, 4),
    "copysign": lambda n: math.copysign(n, -1) * 2,
    "isqrt": lambda n: math.isqrt(n) + math.isqrt(n * n) + math.isqrt(n * n - 1),
    "numpy": lambda n: np.sqrt(n),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("gradient", [False, True])
def test_functions_of_sizes_are_computed_in_each_call(number, gradient):
    def f(x):
        return x * number(x.shape[0]) + 1

    fused = fusewright.fuse(f)
    before = counters()
    with no_fallbacks():
        for n in (5, 8, 21):
            x = random_tensor((n, 3), seed=n).requires_grad_(gradient)
            got, want = fused(x), f(x)
            assert torch.equal(got, want)
            if gradient:
                assert torch.equal(*(torch.autograd.grad(y.sum(), x)[0] for y in (got, want)))
    assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0


OF_VALUES = {
    "gcd": lambda n: math.gcd(n, 6) + math.lcm(4, n),
    "combinatorics": lambda n: math.comb(n, 2) + math.perm(n, 2) + math.factorial(n),
    "sequences": lambda n: math.fsum([n, 0.5]) + math.dist((n,), (3,)),
    "parts": lambda n: math.frexp(n)[0] + math.modf(n / 3)[0] + math.ldexp(1.0, n),
    "kinds": lambda n: 2 if math.isfinite(n) and not math.isnan(n / 3) and math.isclose(n, n + 1e-12) else 3,
    "numpy": lambda n: float(np.log(n)) + float(np.exp(1 / n)),
    "by name": lambda n: gcd(n, 4),
}


@pytest.mark.parametrize("number", OF_VALUES.values(), ids=OF_VALUES)
def test_functions_without_a_symbolic_result_have_a_trace_for_each_value(number):
    def f(x):
        return x * number(x.shape[0]) + 1

    fused = fusewright.fuse(f)
    before = counters()
    with no_fallbacks():
        for n in (5, 8, 5):
            x = random_tensor((n, 3), seed=n)
            assert torch.equal(fused(x), f(x))
    assert counted(before)["fuse_traces"] == 2 and counted(before)["fuse_declined"] == 0


def test_sizes_and_conditions_of_such_numbers():
    def f(x):
        batch, n, channels = x.shape
        side = math.isqrt(n)
        y = x * 2 if math.hypot(n, channels) > 30 else x * 3
        rows = math.ceil(math.log10(n) * 10)
        return y.transpose(1, 2).reshape(batch, channels, side, side), x.new_ones(rows) * 2, math.log10(n), side

    fused = fusewright.fuse(f)
    before = counters()
    with no_fallbacks():
        for n in (4, 5, 7, 9):
            x = random_tensor((2, n * n, 3), seed=n)
            assert_agrees(fused(x), f(x))
    assert counted(before)["fuse_traces"] == 2 and counted(before)["fuse_declined"] == 0


def test_numbers_as_results_whose_sizes_become_conditions_later():
    f = lambda x: (x * 2, math.log10(x.shape[0]), x.shape[0] // 2, math.gcd(x.shape[0], 6))
    fused = fusewright.fuse(f)
    with no_fallbacks():
        for n in (4, 9):
            assert_agrees(fused(torch.ones(n)), f(torch.ones(n)))


def test_floats_of_sizes_are_arguments_of_kernels():
    """Not computed in the kernel, for each element."""
    f = lambda x: torch.relu(x / math.sqrt(x.shape[0]) + math.log10(x.shape[1]))
    text = str(fusewright.explain(fusewright.fuse(f), random_tensor((4, 3))))
    assert "pointwise" in text and "sqrt" not in text.partition("kernel ")[2].partition("(")[0] and "log" not in text


@pytest.mark.parametrize("f", [scaled, by_name])
def test_however_the_function_was_imported(f):
    fused = fusewright.fuse(f)
    before = counters()
    for shape in ((4, 8), (6, 3)):
        x = random_tensor(shape)
        assert_agrees(fused(x), f(x))
    assert counted(before)["fuse_traces"] == 1
    assert globals()["sqrt"] is math.sqrt and type(math.sqrt) is type(len)


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q = torch.nn.Linear(8, 8)

    def forward(self, x):
        return torch.softmax(self.q(x) @ x.transpose(-1, -2) / math.sqrt(x.size(-1)) * sqrt(x.size(1)), -1)


def test_in_modules():
    torch.manual_seed(0)
    m = Attention()
    fused = fusewright.fuse(m)
    before = counters()
    for n in (3, 5):
        x = random_tensor((2, n, 8), seed=n)
        assert_agrees(fused(x), m(x))
    assert counted(before)["fuse_traces"] == 1


def test_other_threads_have_the_plain_functions_in_the_meantime():
    inside, go = threading.Event(), threading.Event()
    seen = []

    def f(x):
        inside.set()
        assert go.wait(20)
        return x / math.sqrt(x.shape[0])

    def other():
        assert inside.wait(20)
        seen.extend([math.sqrt(9), math.log(8, 2), math.pow(2, 3), type(math.exp(0)), math.log2(1 << 2000)])
        with pytest.raises(TypeError):
            math.sqrt("text")
        with pytest.raises(ValueError, match="math domain"):
            math.sqrt(-1)
        go.set()

    t = threading.Thread(target=other)
    t.start()
    assert torch.equal(fusewright.fuse(f)(torch.ones(4)), torch.full((4,), 0.5))
    t.join()
    assert seen == [3.0, 3.0, 8.0, float, 2000.0]


@pytest.mark.parametrize(
    ("f", "values", "error"),
    [
        (lambda x, n: x * math.log(n), (-7, 0), ValueError),
        (lambda x, n: x * math.log(8, n), (-7, 0), ValueError),
        (lambda x, n: x * math.sqrt(n), (-7,), ValueError),
        (lambda x, n: x * math.asin(n / 10), (11, -12), ValueError),
        (lambda x, n: x * math.exp(n), (710, 1000), OverflowError),
        (lambda x, n: x * math.log10(n), (-7, 0), ValueError),
        (lambda x, n: x * math.gamma(n), (-3, 0), ValueError),
        (lambda x, n: x * math.gamma(n), (172,), OverflowError),
        (lambda x, n: x * math.fmod(8, n), (0,), ValueError),
        (lambda x, n: x * math.isqrt(n), (-7,), ValueError),
        (lambda x, n: x * math.factorial(n), (-7,), ValueError),
    ],
)
def test_errors_are_pythons(f, values, error):
    fused = fusewright.fuse(f)
    x = torch.ones(3)
    assert torch.equal(fused(x, 7), f(x, 7))
    for n in values:
        messages = []
        for g in (f, fused):
            with pytest.raises(error) as e:
                g(x, n)
            messages.append(str(e.value))
        assert messages[0] == messages[1]


def test_a_condition_on_such_a_number():
    def f(x):
        return x * 2 if math.log(x.shape[0]) > 2 else x * 3

    fused = fusewright.fuse(f)
    before = counters()
    for n in (3, 5, 9, 12, 4):
        assert torch.equal(fused(torch.ones(n)), f(torch.ones(n)))
    assert counted(before)["fuse_traces"] == 2


def test_such_numbers_as_results():
    def f(x):
        return x + 1, math.sqrt(x.shape[0]), math.log(x.shape[1]), x.shape[0] // 2

    fused = fusewright.fuse(f)
    for shape in ((3, 4), (7, 9)):
        x = random_tensor(shape)
        got, want = fused(x), f(x)
        assert torch.equal(got[0], want[0]) and got[1:] == want[1:]
        assert list(map(type, got)) == list(map(type, want))


def last(x, i):
    return x[x.shape[0] - 1] * 2 + x[i]


def appended(cache, x, position):
    cache[:, position] = x
    cache[..., position - 1, None] = 2.0
    return cache * 2, cache[:, position] + 1


def with_tensors(cache, i, where):
    return cache[i, where] * 2, cache[where, i] + 1, cache[where, ..., i].exp(), cache[i, :, None][where].sin()


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("f", "calls"),
    [
        (last, lambda n: (random_tensor((n, 3)), n - 2)),
        (last, lambda n: (random_tensor((n, 3)), -n + 1)),
        (appended, lambda n: (random_tensor((2, n)), random_tensor((2,), seed=1), n - 2)),
        (appended, lambda n: (random_tensor((2, n)), random_tensor((2,), seed=1), 1 - n)),
        (with_tensors, lambda n: (random_tensor((n, n, n)), n - 3, torch.tensor([1, 0, 2]))),
        (with_tensors, lambda n: (random_tensor((5, 5, n)), 3, torch.tensor([True, False, True, True, False]))),
    ],
)
def test_indices(f, calls):
    if f is with_tensors and calls(5)[2].dtype is torch.bool:
        f = lambda cache, i, where: torch.where(where[:, None], cache[i], cache[:, i]) * 2
    fused = fusewright.fuse(f)
    before = counters()
    with no_fallbacks():
        for n in (5, 7, 9):
            given = calls(n)
            mine, theirs = [clone_like(x) for x in given], [clone_like(x) for x in given]
            assert_agrees(fused(*mine), f(*theirs))
            assert_agrees(mine, theirs)
    assert counted(before)["fuse_traces"] == 1


def test_gradients_of_what_an_index_selects():
    def f(x, i):
        return (x[i] * x[x.shape[0] - 1, :, i, None]).sin()

    fused = fusewright.fuse(f)
    for n in (4, 6):
        x = random_tensor((n, 3, n), seed=n).requires_grad_()
        got, want = fused(x, n - 2), f(x, n - 2)
        assert_agrees(got, want)
        assert_agrees(*(torch.autograd.grad(y.sum(), x)[0] for y in (got, want)))


@pytest.mark.parametrize("i", [5, -6])
def test_indices_out_of_range_are_eagers_error(i):
    fused = fusewright.fuse(lambda x, i: x[i] * 2)
    x = torch.ones(5, 3)
    assert torch.equal(fused(x, 4), torch.full((3,), 2.0))
    with pytest.raises(IndexError, match=f"index {i} is out of bounds for dimension 0 with size 5"):
        fused(x, i)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + torch.tensor(x.shape[0] ** -0.5),
        lambda x: x * torch.tensor([x.shape[0], 2.5, 3]),
        lambda x: x * torch.tensor([x.shape[0], x.shape[1], 2]),
        lambda x: torch.tensor(x.shape) + x.sum().to(torch.int64),
        lambda x: torch.tensor(x.shape[0], dtype=torch.float64) * x,
        lambda x: x + torch.full((3,), math.sqrt(x.shape[0])),
        lambda x: torch.full_like(x, x.shape[0] ** 0.5, dtype=torch.float16) * 2,
    ],
)
def test_tensors_of_sizes(f):
    fused = fusewright.fuse(f)
    before = counters()
    with no_fallbacks():
        for n in (4, 6):
            got, want = fused(x := random_tensor((n, 3))), f(x)
            assert got.dtype is want.dtype and torch.equal(got, want)
    assert counted(before)["fuse_traces"] == 1


def test_a_tensor_filled_with_such_a_number_is_part_of_a_kernel():
    f = lambda x: x + torch.full((3,), math.sqrt(x.shape[0])) * F.relu(x)
    assert "left to torch" not in str(fusewright.explain(fusewright.fuse(f), random_tensor((4, 3))))


@pytest.mark.parametrize(
    ("f", "instead"),
    [
        (lambda x, n: x * len(x), " x.shape[0] in place of len(x) would not."),
        (lambda x, n: x * float(x.shape[0]), ""),
        (lambda x, n: x[0] + sum(range(x.shape[0])), ""),
    ],
)
def test_what_needs_the_number_itself_says_so(f, instead):
    with pytest.raises(UserError) as error:
        fusewright.fuse(f)(torch.ones(3, 4), 5)
    assert str(error.value).partition(" uses ")[2] == (
        f"x.size(0) as a Python number, so that one trace cannot serve all sizes.{instead} "
        'Pass specialize=("x",) or specialize=True to fuse: then each value has a trace of its own.'
    )
    special = fusewright.fuse(f, specialize=("x",))
    for n in (3, 5):
        assert torch.equal(special(torch.ones(n, 4), 5), f(torch.ones(n, 4), 5))
