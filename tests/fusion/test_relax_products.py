"""Products and quotients of which a part is rounded once less, or computed once; mostly: where they may not be."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from fusewright.core.dtypes import DType, bf16, f32, f64, i64, round_bf16
from fusewright.fusion import collect
from fusewright.fusion.relax import relax
from fusewright.fusion.scalar import walk
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.interp.loop import run as run_loop
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.text import dump
from fusewright.schedule.gpu import plan
from tests.emulate.cuda import COMPILER, run_emulated
from tests.fusion.test_relax import M, N, cheap, logistic, one, text, wide
from tests.kernels import fusion_of, graph_of
from tests.kernels_gpu import SMALL, check_gpu, gpu_kernel, hint_of, run_gpu

# --- products ------------------------------------------------------------------------------------------------------


def test_products_join_sums() -> None:
    def program(b: Builder) -> Value:
        x, y, z = wide(b), wide(b), wide(b)
        return b.cast(b.sub(b.add(b.mul(x, y), z), b.mul(y, z)), bf16)

    assert text(program).endswith(
        "= fma(neg(in1[i0 * m + i1]), in2[i0 * m + i1], fma(in0[i0 * m + i1], in1[i0 * m + i1], in2[i0 * m + i1]))"
    )


def test_without_fused_multiply_adds() -> None:
    """Every product is rounded; the cheaper functions stay."""

    def program(b: Builder) -> list[Value]:
        x, y, z = wide(b), wide(b), wide(b)
        total = b.reduce("sum", b.mul(y, z), [1], True)
        return [b.cast(b.sub(b.add(b.mul(x, y), z), b.mul(logistic(b, y), total)), bf16)]

    built = fusion_of(graph_of(program))
    assert "fma" in relax(built.fusion).text() and "fused" in relax(built.fusion).text()
    built.fusion.without = frozenset(("fma",))
    found = relax(built.fusion).text()
    assert "fma" not in found and "fused" not in found and "fast_reciprocal" in found


def test_a_product_used_twice_is_rounded() -> None:
    """x y - x y is zero, and x y - round(x y) would not be."""

    def program(b: Builder) -> Value:
        x, y = wide(b), wide(b)
        return b.cast(b.sub(b.mul(x, y), b.mul(x, y)), bf16)

    assert cheap(program) == []


def test_a_product_of_the_row_is_made_once() -> None:
    def program(b: Builder) -> Value:
        x = wide(b)
        row = b.reduce("max", x, [1], True)
        return b.cast(b.add(x, b.mul(row, b.neg(row))), bf16)

    assert cheap(program) == []


def added(b: Builder, how: str) -> Value:
    """What gradients of squares add up: a, k x, k x and c; `k` and `c` are made of a sum of the row, or given."""
    x, y, a = wide(b), wide(b), wide(b)
    total = b.reduce("sum", x, [1], True)
    k, c = b.mul(total, b.const(0.5, f32)), b.neg(total)
    if how.startswith("given"):
        k = b.cast(b.input(bf16, (N, 1)), f32)
    back = b.mul(k, x)
    twice = b.add(b.add(b.mul(a, y), back), back)
    out = {
        "given twice": lambda: twice,
        "twice": lambda: twice,
        "twice and c": lambda: b.add(twice, c),
        "once and c": lambda: b.add(b.add(b.mul(a, y), back), c),
        "alone and c": lambda: b.add(c, b.add(back, back)),
        "given and c": lambda: b.add(b.add(b.mul(a, y), back), c),
        "two others": lambda: b.add(b.add(b.add(a, y), back), c),
        "used again": lambda: b.add(twice, b.exp(back)),
    }[how]()
    return b.cast(out, bf16)


TOGETHER = {"given twice": 1, "twice": 1, "twice and c": 2, "once and c": 2, "alone and c": 1}  # additions left
APART = {"given and c": 2, "two others": 3, "used again": 3}


@pytest.mark.parametrize("how", [*TOGETHER, *APART])
def test_products_by_what_the_row_has_are_added_once(how: str) -> None:
    """With what is as uncertain as they are first; what was given may cancel exactly, and is added as it stands."""
    f = relax(fusion_of(graph_of(lambda b: added(b, how)), make=collect.build).fusion)
    (store,) = (s for s in f.stages if s.kind == "store")
    sums = [e for e in walk([store.body]) if e.kind == "op" and e.data in ("add", "fma")]
    assert len(sums) == (TOGETHER | APART)[how], text(lambda b: added(b, how))
    assert (all(e.data == "fma" for e in sums)) == (how in TOGETHER)
    for sizes in ({"n": 5, "m": 37}, {"n": 3, "m": 256}):
        check_gpu(graph_of(lambda b: added(b, how)), sizes)


@pytest.mark.parametrize("dtype", [bf16, f32])
def test_sums_of_products(dtype: DType) -> None:
    """A sum's rounding is not eager's anyway, in float32 either."""

    def program(b: Builder) -> Value:
        x = wide(b)
        return b.cast(b.reduce("sum", b.mul(x, x), [1]), dtype)

    assert cheap(program) == ["fused"]
    compiled = check_gpu(graph_of(program), {"n": 5, "m": 300})
    assert "fma" in dump(compiled.kernel.func)


@pytest.mark.parametrize("how", ["compare", "argmax", "float64", "other", "scan", "off", "eager"])
def test_sums_whose_products_are_rounded(how: str) -> None:
    """What decides something; what is summed in another type, or not summed only; without the option."""

    def program(b: Builder) -> list[Value]:
        x, y = b.input(f32, (N, M)), b.input(f32, (N, M))
        p = b.mul(x, y)
        if how == "float64":
            return [b.reduce("sum", b.cast(p, f64), [1])]
        if how == "scan":
            return [b.scan("sum", p, 1)]
        total = b.reduce("sum", p, [1], True)
        if how == "compare":
            return [b.where(b.gt(total, one(b, total)), x, y)]
        if how == "argmax":
            return [b.reduce("argmax", b.mul(x, total), [1])]
        return [total, p] if how == "other" else [total]

    built = fusion_of(graph_of(program), eager=how == "eager")
    if how == "off":
        built.fusion.without = frozenset(("fma",))
    found = relax(built.fusion).text()
    assert "fused" not in found and "fma" not in found


def summed(x: np.ndarray, y: np.ndarray, fma: bool) -> np.ndarray:
    graph = graph_of(lambda b: b.reduce("sum", b.mul(b.input(f32, (N, M)), b.input(f32, (N, M))), [1]))
    sizes = {"n": len(x), "m": x.shape[1]}
    c = gpu_kernel(graph, sizes)
    if not fma:
        c.built.fusion.without = frozenset(("fma",))
        c.kernel = lower_gpu(c.built.fusion, c.schedule, "k")
    assert ("fma" in dump(c.kernel.func)) is fma
    return next(iter(run_gpu(c, [x, y], sizes).values()))


def test_unrounded_products_are_not_less_exact() -> None:
    random = np.random.default_rng(0)
    x, y = random.standard_normal((2, 200, 300)).astype(np.float32)
    exact = np.sum(x.astype(np.float64) * y, 1)
    off, without = (np.abs(summed(x, y, fma) - exact).mean() for fma in (True, False))
    assert off < without  # of one rounding less
    eager = np.abs(np.sum(x * y, 1) - exact).mean()  # numpy adds pairwise
    assert off < 1.2 * eager


def test_exact_sums_stay_exact() -> None:
    random = np.random.default_rng(0)
    x, y = random.integers(-50, 51, (2, 20, 300)).astype(np.float32)
    np.testing.assert_array_equal(summed(x, y, True), np.sum(x.astype(np.int64) * y.astype(np.int64), 1))


def test_the_variance_of_a_constant_row_is_zero() -> None:
    def program(b: Builder) -> list[Value]:
        x = b.input(f32, (N, M))
        d = b.sub(x, b.div(b.reduce("sum", x, [1], True), b.const(256.0, f32)))
        return [b.reduce("sum", b.mul(d, d), [1]), d]

    assert cheap(program) == ["fused"]
    x = np.broadcast_to(np.float32([[0.1], [3e10], [-3.7]]), (3, 256)).copy()
    c = gpu_kernel(graph_of(program), {"n": 3, "m": 256})
    assert "fma" in dump(c.kernel.func)
    assert not any(v.any() for v in run_gpu(c, [x], {"n": 3, "m": 256}).values())


def test_a_product_that_is_stored_too() -> None:
    def program(b: Builder) -> list[Value]:
        x = wide(b)
        y = b.mul(x, x)
        return [b.cast(b.reduce("sum", y, [1]), bf16), b.cast(y, bf16)]

    assert cheap(program) == []


# --- quotients -----------------------------------------------------------------------------------------------------

BY: dict[str, tuple[Callable[[Builder, Value], Value], str]] = {
    "a number": (lambda b, x: one(b, x, 3.0), "mul(in0[i0 * m + i1], 0.3333333432674408)"),
    "a number whose reciprocal is subnormal": (lambda b, x: one(b, x, 2.0**127), "fast_div"),
    "a sum of exponentials": (
        lambda b, x: b.reduce("sum", b.exp(b.sub(x, b.reduce("max", x, [1], True))), [1], True),
        "fast_reciprocal",
    ),
    "another sum": (lambda b, x: b.reduce("sum", x, [1], True), "fast_reciprocal(mul(r0, where("),
    "a root": (lambda b, x: b.sqrt(b.add(b.mul(x, x), one(b, x, 1e-6))), "fast_reciprocal"),
    "a root that may be tiny": (lambda b, x: b.sqrt(b.abs(x)), "fast_div"),
    "something read": (lambda b, x: wide(b), "fast_div"),
    "something read, at least a number": (lambda b, x: b.max(b.abs(wide(b)), one(b, x, 1e-6)), "fast_div"),
    "between numbers": (
        lambda b, x: b.min(b.max(b.abs(wide(b)), one(b, x, 1e-6)), one(b, x, 1e6)),
        "fast_reciprocal",
    ),
    "a size": (lambda b, x: b.cast(b.reduce("sum", b.full(x.shape, 1, i64), [1], True), f32), "fast_reciprocal"),
}


@pytest.mark.parametrize("by", BY)
def test_quotients(by: str) -> None:
    divisor, found = BY[by]

    def program(b: Builder) -> Value:
        x = wide(b)
        return b.cast(b.div(x, divisor(b, x)), bf16)

    body = text(program).splitlines()[-1]
    assert found in body
    assert ("fast_div" in body) is (found == "fast_div")
    check_gpu(graph_of(program), {"n": 5, "m": 37})


EDGES = [0.0, -0.0, 1.0, -3.0, 1e-30, 2.0**-126, 2.0**-127, 2.0**-133, -(2.0**-133), 2.0**125, 2.0**126, 1.5 * 2.0**126]
EDGES += [2.0**127, -(2.0**127), 3.3e38, math.inf, -math.inf, math.nan, 1e20, 7e-39, 5e37, 0.0078125]


@pytest.mark.parametrize("machine", [run_loop, *([run_emulated] if COMPILER is not None else [])])
def test_quotients_by_any_number_of_a_row(machine: Callable[..., bool]) -> None:
    """Subnormal, infinite, without a normal reciprocal: as the exact quotient, up to the last of 16 bits."""

    def program(b: Builder) -> Value:
        return b.cast(b.div(wide(b), b.cast(b.input(bf16, (N, 1)), f32)), bf16)

    assert "fast_reciprocal" in text(program) and "fast_div" not in text(program)
    some = round_bf16(np.array(EDGES, np.float32))
    x, by = np.broadcast_to(some, (len(some), len(some))).copy(), some[:, None].copy()
    sizes = {"n": len(some), "m": len(some)}
    (got,) = run_gpu(gpu_kernel(graph_of(program), sizes), [x, by], sizes, machine).values()
    with np.errstate(all="ignore"):
        want = round_bf16(x / by)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(want[~np.isnan(want)]))
    apart = np.abs(got.view(np.int32).astype(np.int64) - want.view(np.int32))[~np.isnan(want)] >> 16
    assert apart.max() <= 1


def exact_quotient(b: Builder) -> Value:
    return b.div(b.input(f32, (N, M)), b.input(f32, (N, 1)))


def units_apart(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Units in the last place of float32; NaN and NaN are none, as are zeros of one sign."""
    same = (np.isnan(got) & np.isnan(want)) | (np.signbit(got) == np.signbit(want))
    assert same.all()
    number = [np.where(np.isnan(x), 0, x).astype(np.float32).view(np.int32).astype(np.int64) for x in (got, want)]
    return np.abs(number[0] - number[1])


@pytest.mark.parametrize("times", [2.0, 1e6, 1e-6])
def test_quotients_by_multiples_of_what_is_inverted(times: float) -> None:
    """One reciprocal serves both, where nothing overflows in between that is finite in the end."""

    def program(b: Builder) -> list[Value]:
        x, y = wide(b), b.cast(b.input(bf16, (N, 1)), f32)
        row = b.div(b.reduce("sum", x, [1], True), b.mul(y, one(b, y, times)))
        return [b.cast(b.div(x, y), bf16), b.cast(row, bf16)]

    assert ("fast_div" in text(program)) is (times != 2.0)
    n = 64
    by = round_bf16(np.exp2(np.linspace(-120, 120, n)).astype(np.float32))[:, None]
    top = np.minimum(by.astype(np.float64) * times * 3e38 / max(times, 1.0), 3e38)
    x = round_bf16(np.maximum(top, 2.0**-120).astype(np.float32))
    sizes = {"n": n, "m": 1}
    c = gpu_kernel(graph_of(program), sizes)
    got = run_gpu(c, [x, by], sizes)[c.graph.outputs[1]]
    with np.errstate(all="ignore"):
        want = round_bf16(x / (by * np.float32(times)))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(want))
    finite = np.isfinite(want)
    np.testing.assert_allclose(got[finite], want[finite], rtol=2**-7, atol=2.0**-126)


@pytest.mark.parametrize("machine", [run_loop, *([run_emulated] if COMPILER is not None else [])])
def test_exact_quotients_by_what_a_row_has(machine: Callable[..., bool]) -> None:
    """Rounded to nearest, as a division is; subnormal numbers may be a unit off."""
    assert cheap(exact_quotient) == ["fma"]
    random = np.random.default_rng(0)
    n, m = 300, 400
    by = np.exp2(random.uniform(-120, 120, (n, 1))).astype(np.float32) * random.choice([-1, 1], (n, 1)).astype(
        np.float32
    )
    by[: len(EDGES), 0] = EDGES
    by[50:100, 0] = 2.0 - np.arange(1, 51, dtype=np.float32) * 2.0**-23  # whose reciprocals are worst
    with np.errstate(all="ignore"):
        x = by * random.uniform(0.25, 4, (n, m)).astype(np.float32)
    x[:, :100] = np.exp2(random.uniform(-149, 127, (n, 100)))
    x[:, 100 : 100 + len(EDGES)] = EDGES
    x[50:100, 200:300] = by[50:100] - random.integers(0, 1 << 20, (50, 100)) * np.float32(2.0**-23)
    sizes = {"n": n, "m": m}
    (got,) = run_gpu(gpu_kernel(graph_of(exact_quotient), sizes), [x, by], sizes, machine).values()
    with np.errstate(all="ignore"):
        want = x / by
    off = units_apart(got, want)
    assert off.max() <= 1 and not off[(np.abs(want) >= 2.0**-126) & (np.abs(x) >= 2.0**-100)].any()


@pytest.mark.parametrize("by", [3.0, -0.1, 8.0, -0.5, 1e-20, 1e30, 2.0**-110, 0.0, math.inf])
def test_exact_quotients_by_numbers(by: float) -> None:
    program = lambda b: b.div(b.input(f32, (N, M)), b.const(by, f32))
    assert ("div" in text(program)) is (by in (2.0**-110, 0.0, math.inf))
    random = np.random.default_rng(0)
    x = np.exp2(random.uniform(-90, 90, (40, 500))).astype(np.float32)
    x[0, : len(EDGES)] = EDGES
    sizes = {"n": 40, "m": 500}
    (got,) = run_gpu(gpu_kernel(graph_of(program), sizes), [x], sizes).values()
    with np.errstate(all="ignore"):
        want = x / np.float32(by)
    off = units_apart(got, want)
    assert off.max() <= 1 and not off[1:].any()


def far_divided(b: Builder) -> list[Value]:
    """x / (1 + |y|), 1 / (1 + |y|), x / (-1 - |y|)"""
    x, y = b.input(f32, (N, M)), b.input(f32, (N, M))
    large = b.add(b.const(1.0, f32), b.abs(y))
    return [b.div(x, large), b.reciprocal(large), b.div(x, b.sub(b.const(-1.0, f32), b.abs(y)))]


@pytest.mark.parametrize("machine", [run_loop, *([run_emulated] if COMPILER is not None else [])])
def test_exact_quotients_by_what_is_not_small(machine: Callable[..., bool]) -> None:
    """Rounded to nearest, as a division is; subnormal results, and those of numbers below 2^-100, may be a unit off."""
    assert [text(far_divided).count(f"far_{name}(") for name in ("div", "reciprocal")] == [2, 1]
    random = np.random.default_rng(0)
    n, m = 300, 400
    x = (np.exp2(random.uniform(-149, 127, (n, m))) * random.choice([-1, 1], (n, m))).astype(np.float32)
    y = np.exp2(random.uniform(-30, 127, (n, m))).astype(np.float32)
    x[: len(EDGES)] = np.array(EDGES, np.float32)[:, None]
    y[:, : len(EDGES)] = EDGES
    x[100:], y[100:, 200:] = random.normal(size=(200, m)), random.normal(size=(200, 200))
    sizes = {"n": n, "m": m}
    c = gpu_kernel(graph_of(far_divided), sizes)
    with np.errstate(all="ignore"):
        large = np.float32(1) + np.abs(y)
        want = [x / large, np.float32(1) / large, x / -large]
        for a, b in zip(run_gpu(c, [x, y], sizes, machine).values(), want, strict=True):
            off = units_apart(a, b)
            assert off.max() <= 1 and not off[(np.abs(b) >= 2.0**-126) & (np.abs(x) >= 2.0**-100)].any()


def test_quotients_that_stay() -> None:
    """By what differs from column to column and may be small, in float64, without `fma`, under `precision="eager"`."""
    assert cheap(lambda b: b.div(b.input(f32, (N, M)), b.input(f32, (N, M)))) == []
    assert cheap(lambda b: b.div(b.input(f64, (N, M)), b.input(f64, (N, 1)))) == []
    assert "fma" not in text(exact_quotient, without=("fma",))
    assert "fma" not in text(exact_quotient, eager=True)
    assert "far" not in text(far_divided, without=("fma",)) + text(far_divided, eager=True)


def test_the_reciprocal_of_a_row_is_made_once() -> None:
    """Outside the loop over its columns."""

    def softmax(b: Builder) -> Value:
        x = wide(b)
        e = b.exp(b.sub(x, b.reduce("max", x, [1], True)))
        return b.cast(b.div(e, b.reduce("sum", e, [1], True)), bf16)

    built = fusion_of(graph_of(softmax))
    f, schedule, _ = plan(built.fusion, hint_of({"n": 64, "m": 1024}), SMALL, lambda b: 16)
    lines = dump(lower_gpu(f, schedule, "k").func).splitlines()
    (at,) = [line for line in lines if "fast_reciprocal" in line]
    indent = lambda line: len(line) - len(line.lstrip())
    assert indent(at) == min(indent(line) for line in lines if "treduce" in line)
