"""Sums that wait for other sums of their row, and are taken apart so that they need not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fusewright.core.dtypes import DType, bf16, f16, f32, round_bf16
from fusewright.fusion import collect
from fusewright.fusion.ir import Stage, expression
from fusewright.fusion.linear import SCALE
from fusewright.fusion.relax import relax
from fusewright.fusion.scalar import walk
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.interp.loop import run as run_loop
from fusewright.loop.text import dump
from tests.emulate.cuda import COMPILER, run_emulated
from tests.kernels import fusion_of, graph_of
from tests.kernels_gpu import check_gpu, gpu_kernel, run_gpu, run_sized

N, M = sym("n"), sym("m")
Program = Callable[[Builder], Value | list[Value]]


def wide(b: Builder, dtype: DType = bf16, columns: bool = True) -> Value:
    return b.cast(b.input(dtype, (N, M if columns else 1)), f32)


def mean(b: Builder, x: Value) -> Value:
    count = b.cast(b.reduce("sum", b.full(x.shape, 1.0, f32), [1], True), f32)
    return b.div(b.reduce("sum", x, [1], True), count)


def norm_backward(b: Builder, dtype: DType = bf16) -> list[Value]:
    """The gradient of (x - mean) / deviation * weight as autograd writes it, and that of the weight's factor."""
    g, weight, centred = wide(b), wide(b), wide(b)
    deviation = b.add(b.abs(wide(b, columns=False)), b.const(0.5, f32))
    gw = b.mul(g, weight)
    lead = b.reduce("sum", b.mul(b.neg(gw), b.div(b.div(centred, deviation), deviation)), [1], True)
    k = b.mul(b.div(lead, b.mul(deviation, b.const(2.0, f32))), b.const(1.0 / 64, f32))
    back = b.mul(k, centred)
    e = b.add(b.add(b.div(gw, deviation), back), back)
    return [b.cast(b.sub(e, mean(b, e)), dtype), b.cast(b.mul(g, b.div(centred, deviation)), bf16)]


def relaxed(program: Program) -> list[Stage]:
    return relax(fusion_of(graph_of(program), make=collect.build).fusion).reductions()  # type: ignore[arg-type]


def waiting(program: Program) -> int:
    """How many reductions wait for another one."""
    return sum(bool(s.body.stages) for s in relaxed(program))


# --- what is taken apart -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bf16, f16])
def test_a_norm_that_is_written_out(dtype: DType) -> None:
    stages = relaxed(lambda b: norm_backward(b, dtype))
    assert waiting(lambda b: norm_backward(b, dtype)) == 0
    assert len(stages) == 4 and sum(expression(s.body).endswith(f", {SCALE})") for s in stages) == 2


def test_what_is_seen_in_full_waits() -> None:
    assert waiting(lambda b: norm_backward(b, f32)) == 1


def test_without_relaxed_arithmetic() -> None:
    f = fusion_of(graph_of(norm_backward), make=collect.build).fusion
    f.without = frozenset(("relaxed",))
    assert relax(f) is f


def test_a_sum_that_is_stored_waits() -> None:
    """Its terms might cancel."""

    def program(b: Builder) -> list[Value]:
        x, y = wide(b), wide(b)
        total = b.reduce("sum", b.add(x, b.mul(y, mean(b, y))), [1], True)
        return [total, b.cast(b.mul(x, total), bf16)]

    assert waiting(program) == 1


def after(make: Callable[[Builder, Value, Value, Value], Value]) -> Program:
    """x times the sum of what is made of x, y and k, which waits for a sum."""

    def program(b: Builder) -> Value:
        x, y = wide(b), wide(b)
        k = mean(b, b.mul(x, y))
        return b.cast(b.mul(x, b.reduce("sum", make(b, x, y, k), [1], True)), bf16)

    return program


LINEAR: dict[str, Callable[[Builder, Value, Value, Value], Value]] = {
    "a difference": lambda b, x, y, k: b.sub(x, b.mul(k, y)),
    "negated": lambda b, x, y, k: b.neg(b.sub(b.mul(y, k), x)),
    "a quotient": lambda b, x, y, k: b.div(b.sub(x, b.mul(k, y)), b.add(b.abs(k), b.const(2.0, f32))),
    "of one value": lambda b, x, y, k: b.sub(b.mul(k, x), b.mul(b.mul(k, k), x)),
    "of a product": lambda b, x, y, k: b.add(b.mul(b.mul(x, y), k), b.exp(x)),
    "once": lambda b, x, y, k: b.mul(x, k),
    "the same twice": lambda b, x, y, k: b.add(x, b.sub(x, b.mul(k, y))),
}

OTHERS: dict[str, Callable[[Builder, Value, Value, Value], Value]] = {
    "an exponential": lambda b, x, y, k: b.exp(b.mul(x, k)),
    "a product": lambda b, x, y, k: b.mul(b.add(x, k), b.add(y, k)),
    "a reciprocal": lambda b, x, y, k: b.div(k, b.add(b.abs(x), b.const(1.0, f32))),
    "a choice": lambda b, x, y, k: b.where(b.gt(x, y), b.mul(x, k), y),
    "a number for each column": lambda b, x, y, k: b.sub(x, k),
    "four values": lambda b, x, y, k: b.add(
        b.add(b.mul(x, k), b.mul(y, k)), b.add(b.mul(b.exp(x), k), b.mul(b.exp(y), k))
    ),
}


@pytest.mark.parametrize("how", LINEAR)
def test_what_is_linear(how: str) -> None:
    assert waiting(after(LINEAR[how])) == 0
    for sizes in ({"n": 5, "m": 37}, {"n": 3, "m": 256}):
        check_gpu(graph_of(after(LINEAR[how])), sizes)


@pytest.mark.parametrize("how", OTHERS)
def test_what_is_not(how: str) -> None:
    assert waiting(after(OTHERS[how])) == 1
    check_gpu(graph_of(after(OTHERS[how])), {"n": 5, "m": 37})


def test_nothing_is_done_where_no_pass_is_saved() -> None:
    """Another sum waits in any case."""

    def program(b: Builder) -> list[Value]:
        x, y = wide(b), wide(b)
        k = mean(b, b.mul(x, y))
        linear = b.reduce("sum", b.sub(x, b.mul(k, y)), [1], True)
        other = b.reduce("sum", b.exp(b.mul(x, b.tanh(k))), [1], True)
        return [b.cast(b.mul(x, linear), bf16), b.cast(b.mul(y, other), bf16)]

    assert waiting(program) == 2


def test_sums_that_wait_one_after_the_other() -> None:
    def program(b: Builder) -> Value:
        x, y = wide(b), wide(b)
        first = mean(b, b.mul(x, y))
        second = mean(b, b.sub(x, b.mul(first, y)))
        third = mean(b, b.add(b.mul(second, y), x))
        return b.cast(b.sub(b.sub(x, second), third), bf16)

    assert waiting(program) == 0
    check_gpu(graph_of(program), {"n": 7, "m": 200})


# --- what they come out as -----------------------------------------------------------------------------------------

SIZES = [(3, 2), (5, 37), (16, 64), (4, 256), (2, 1000), (64, 128), (300, 48), (2, 9000), (1, 40000)]


@pytest.mark.parametrize("machine", [run_loop, run_sized, *([run_emulated] if COMPILER is not None else [])])
@pytest.mark.parametrize("size", SIZES)
def test_results(size: tuple[int, int], machine: Callable[..., bool]) -> None:
    sizes = dict(zip("nm", size, strict=True))
    compiled = check_gpu(graph_of(norm_backward), sizes, machine=machine)
    assert str(SCALE) in dump(compiled.kernel.func)


def test_rows_of_one_element() -> None:
    """What cancels exactly, as the program has it, is nothing beside its terms: not always zero."""
    random = np.random.default_rng(0)
    g, weight, centred, deviation = (random.standard_normal((9, 1)).astype(np.float32) for _ in range(4))
    inputs = [round_bf16(x) for x in (g, weight, centred, deviation)]
    sizes = {"n": 9, "m": 1}
    first, _ = run_gpu(gpu_kernel(graph_of(norm_backward), sizes), inputs, sizes).values()
    assert np.abs(first).max() < 1e-6


def plain(x: np.ndarray, y: np.ndarray, scale: float, dtype: type) -> np.ndarray:
    """x - sum (x + scale * mean(x) * y) of each row, computed in a type."""
    x, y = x.astype(dtype), y.astype(dtype)
    k = np.mean(x, 1, keepdims=True) * dtype(scale)
    return x - np.sum(x + k * y, 1, keepdims=True)


def scaled(scale: float) -> Program:
    def program(b: Builder) -> Value:
        x, y = wide(b), wide(b)
        k = b.mul(mean(b, x), b.const(scale, f32))
        return b.cast(b.sub(x, b.reduce("sum", b.add(x, b.mul(k, y)), [1], True)), bf16)

    return program


@pytest.mark.parametrize("scale", [1e-30, 1e-36, 1.0, 1e30])
def test_large_values_with_small_factors(scale: float) -> None:
    """The sum of what is multiplied by 1e-36 later would be infinite."""
    assert waiting(scaled(scale)) == 0
    random = np.random.default_rng(0)
    x = round_bf16(random.standard_normal((4, 512)).astype(np.float32))
    y = round_bf16(((1.0 + random.random((4, 512))) / scale).astype(np.float32))
    sizes = {"n": 4, "m": 512}
    (got,) = run_gpu(gpu_kernel(graph_of(scaled(scale)), sizes), [x, y], sizes).values()
    want = plain(x, y, scale, np.float64)
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got, want, rtol=2**-8, atol=2**-8 * np.abs(want).mean())


def test_infinities_and_nan() -> None:
    x = np.ones((5, 64), np.float32)
    y = np.ones((5, 64), np.float32)
    x[1, 3], x[2, 3], y[3, 4], y[4, 4] = np.inf, np.nan, -np.inf, np.nan
    sizes = {"n": 5, "m": 64}
    (got,) = run_gpu(gpu_kernel(graph_of(scaled(1.0)), sizes), [x, y], sizes).values()
    with np.errstate(all="ignore"):
        want = plain(x, y, 1.0, np.float32)
    np.testing.assert_array_equal(got, round_bf16(want))


def test_errors_are_below_those_of_16_bits() -> None:
    """Also where the terms of the sum cancel in each column."""
    random = np.random.default_rng(1)
    x = round_bf16((1 + random.random((8, 4096))).astype(np.float32))
    scale = float(-1.0 / np.mean(x[0].astype(np.float64)))
    sizes = {"n": 8, "m": 4096}
    (got,) = run_gpu(gpu_kernel(graph_of(scaled(scale)), sizes), [x, x], sizes).values()
    exact = plain(x, x, float(np.float32(scale)), np.float64)
    rounded = np.abs(round_bf16(exact.astype(np.float32)) - exact).max()
    assert np.abs(got - exact).max() <= 1.05 * rounded


# --- what divides once ---------------------------------------------------------------------------------------------


def spread(b: Builder, dtype: DType = bf16, shared: bool = False) -> list[Value]:
    """sum (g ((x / k) / l)), with x / k a result as well; `shared`: so is (x / k) / l."""
    g, x, k, l = wide(b), wide(b), wide(b, columns=False), wide(b, columns=False)  # noqa: E741
    once = b.div(x, b.add(b.abs(k), b.const(0.5, f32)))
    twice = b.div(once, b.add(b.abs(l), b.const(0.5, f32)))
    total = b.reduce("sum", b.mul(b.neg(g), twice), [1], True)
    return [b.cast(total, dtype), b.cast(once, bf16), *([b.cast(twice, bf16)] if shared else [])]


@pytest.mark.parametrize("dtype", [bf16, f16, f32])
@pytest.mark.parametrize("shared", [False, True])
def test_a_quotient_of_a_quotient_is_divided_after_the_sum(dtype: DType, shared: bool) -> None:
    """Where the sum is relaxed, and nothing else needs what it is of."""
    program = lambda b: spread(b, dtype, shared)
    (stage,) = relaxed(program)
    inverses = {e for e in walk([stage.body]) if e.kind == "op" and e.data in ("fast_reciprocal", "reciprocal")}
    assert len(inverses) == (2 if shared or dtype is f32 else 1)
    for sizes in ({"n": 5, "m": 37}, {"n": 3, "m": 256}):
        check_gpu(graph_of(program), sizes)


def test_what_makes_large_numbers_small_stays_in_the_sum() -> None:
    """The sum of x / k is 64 where the sum of x is infinite."""

    def program(b: Builder) -> Value:
        return b.cast(b.reduce("sum", b.div(wide(b), wide(b, columns=False)), [1], True), bf16)

    x, k = np.full((3, 64), 2.0**127, np.float32), np.full((3, 1), 2.0**127, np.float32)
    sizes = {"n": 3, "m": 64}
    (got,) = run_gpu(gpu_kernel(graph_of(program), sizes), [round_bf16(x), round_bf16(k)], sizes).values()
    assert (got == 64).all()
