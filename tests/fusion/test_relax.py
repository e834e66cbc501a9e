"""Which values may be computed in a cheaper way, and what becomes of them; mostly: which may not."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from fusewright.core.dtypes import DType, bf16, f16, f32, f64, i64, round_bf16
from fusewright.fusion import collect
from fusewright.fusion.bounds import Bounds
from fusewright.fusion.online import online
from fusewright.fusion.relax import relax
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import Ix, sym
from tests.kernels import fusion_of, graph_of
from tests.kernels_gpu import check_gpu, gpu_kernel, run_gpu

N, M = sym("n"), sym("m")
CHEAP = re.compile(r"\b(fast_\w+|fma|fused|exp2)\b")


def wide(b: Builder, dtype: DType = bf16, name: Ix = N) -> Value:
    return b.cast(b.input(dtype, (name, M)), f32)


def one(b: Builder, v: Value, value: float = 1.0) -> Value:
    return b.const(value, v.dtype)


def logistic(b: Builder, v: Value) -> Value:
    return b.reciprocal(b.add(one(b, v), b.exp(b.neg(v))))


def text(program: Callable[[Builder], object], eager: bool = False, without: Sequence[str] = ()) -> str:
    """The relaxed fusion of a program, without its head."""
    f = relax(fusion_of(graph_of(program), eager=eager, without=without, make=collect.build).fusion)  # type: ignore[arg-type]
    return "\n".join(line for line in f.text().splitlines() if line.strip().startswith(("store", "reduce", "let")))


def cheap(program: Callable[[Builder], object]) -> list[str]:
    return sorted(set(CHEAP.findall(text(program))))


# --- what ends in a 16-bit number ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bf16, f16])
def test_logistic(dtype: DType) -> None:
    got = text(lambda b: b.cast(logistic(b, wide(b)), dtype))
    inverse = "fast_reciprocal(add(fast_exp2(fma(in0[i0 * m + i1], -1.4426950216293335, -2.0)), 0.25))"
    assert got.endswith(f"= mul({inverse}, 0.25)")


@pytest.mark.parametrize("dtype", [f32, f64])
def test_what_is_stored_in_full_is_exact(dtype: DType) -> None:
    assert cheap(lambda b: b.cast(logistic(b, wide(b)), dtype)) == []


def test_what_is_exact_stays() -> None:
    program = lambda b: b.cast(logistic(b, wide(b)), bf16)
    built = fusion_of(graph_of(program), eager=True)
    assert built.fusion.exact and relax(built.fusion) is built.fusion
    built = fusion_of(graph_of(program))
    built.fusion.without = frozenset(("relaxed",))
    assert relax(built.fusion) is built.fusion


def test_a_strict_use_is_enough() -> None:
    def program(b: Builder) -> list[Value]:
        y = logistic(b, wide(b))
        return [b.cast(y, bf16), y]

    assert cheap(program) == []


def test_a_strict_use_of_one_part() -> None:
    """The exponential is stored; its sum is relaxed, but made of the exact one."""

    def program(b: Builder) -> list[Value]:
        e = b.exp(wide(b))
        return [b.cast(b.sqrt(e), bf16), e]

    assert cheap(program) == ["fast_sqrt"] and "exp(in0" in text(program)


@pytest.mark.parametrize("how", ["compare", "cast", "floor", "round", "rounded, compare", "condition", "remainder"])
def test_what_decides_is_exact(how: str) -> None:
    def program(b: Builder) -> Value:
        x = wide(b)
        y = b.exp(x)
        if how == "compare":
            return b.cast(b.where(b.gt(y, one(b, y)), x, b.neg(x)), bf16)
        if how == "cast":
            return b.cast(b.cast(b.cast(y, i64), f32), bf16)
        if how == "rounded, compare":
            y = b.cast(b.cast(y, bf16, round=True), f32)
            return b.cast(b.where(b.gt(y, one(b, y)), x, b.neg(x)), bf16)
        if how == "condition":  # of itself
            return b.cast(b.where(b.gt(y, one(b, y)), y, b.neg(y)), bf16)
        if how == "remainder":
            return b.cast(b.remainder(y, one(b, y)), bf16)
        return b.cast(getattr(b, how)(y), bf16)

    assert cheap(program) == []


def test_branches_of_a_condition_are_relaxed() -> None:
    def program(b: Builder) -> Value:
        x = wide(b)
        return b.cast(b.where(b.gt(x, one(b, x)), b.sqrt(x), x), bf16)

    assert cheap(program) == ["fast_sqrt"]


def test_what_is_rounded_is_relaxed_whatever_becomes_of_it() -> None:
    def program(b: Builder) -> Value:
        return b.cast(b.cast(b.sqrt(wide(b)), bf16, round=True), f32)

    assert cheap(program) == ["fast_sqrt"]


# --- what the program rounds, and we do not ------------------------------------------------------------------------


def half_logistic(b: Builder) -> Value:
    """Of 16-bit numbers in every step, and then in float32: as an activation's gradient in front of a float32 sum."""
    return b.cast(logistic(b, b.input(bf16, (N, M))), f32)


def test_what_only_the_program_rounds() -> None:
    for program in (lambda b: b.exp(half_logistic(b)), lambda b: b.reduce("sum", half_logistic(b), [0])):
        assert cheap(program) == ["fast_exp2", "fast_reciprocal", "fma"]
        assert "round" not in text(program)
        for exact in (text(program, without=["relaxed"]), text(program, eager=True)):
            assert not CHEAP.search(exact) and "round_f32" not in exact
    assert "fma" not in cheap(half_logistic) and "round" in text(half_logistic)  # what leaves the kernel


def test_sums_of_what_only_the_program_rounds() -> None:
    """As near to the sum of what float64 has as float32 sums are; eager's has three digits."""
    program = graph_of(lambda b: b.reduce("sum", half_logistic(b), [0]))
    sizes = {"n": 400, "m": 24}
    rng = np.random.default_rng(0)
    x = round_bf16(rng.standard_normal((400, 24)).astype(np.float32) * 4)
    (got,) = run_gpu(gpu_kernel(program, sizes), [x], sizes).values()
    np.testing.assert_allclose(got, (1 / (1 + np.exp(-x.astype(np.float64)))).sum(0), rtol=1e-6)


def test_the_same_value_in_float32_is_exact() -> None:
    """The program has it twice, and sees all digits of one."""

    def program(b: Builder) -> list[Value]:
        x = b.input(bf16, (N, M))
        return [b.reduce("sum", b.cast(b.sqrt(x), f32), [0]), b.sqrt(b.cast(x, f32))]

    assert cheap(program) == []


def test_what_decides_is_exact_though_the_program_rounds_it() -> None:
    def program(b: Builder) -> Value:
        return b.cast(b.lt(half_logistic(b), one(b, wide(b), 0.5)), f32)

    assert cheap(program) == []


def test_products_join_sums_of_two_though_the_program_rounds_them() -> None:
    """As if the program had said nothing of 16 bits on the way: `x y + z` is one operation."""

    def program(b: Builder) -> Value:
        x, y = b.input(bf16, (N, M)), b.input(bf16, (N, M))
        return b.cast(b.add(b.cast(b.mul(x, y), f32), wide(b)), bf16)

    assert cheap(program) == ["fma"]


def test_an_index_may_be_what_the_program_rounds() -> None:
    """Nothing of the mark is left in what is looked up."""

    def program(b: Builder) -> Value:
        x = b.input(bf16, (N,))
        at = b.cast(b.cast(b.mul(x, x), f32), i64)
        return b.cast(b.gather(b.input(f32, (M,)), [at], (N,), [("at", 0, (0,))]), bf16)

    graph = graph_of(program)
    x = np.arange(5, dtype=np.float32) / 2
    check_gpu(graph, {"n": 5, "m": 7}, [x, np.arange(7, dtype=np.float32)])


def test_products_and_exponentials_join_sums_though_the_program_rounds_them() -> None:
    def squares(b: Builder) -> Value:
        x = b.input(bf16, (N, M))
        return b.reduce("sum", b.cast(b.mul(x, x), f32), [1])

    def exponentials(b: Builder) -> Value:
        x = b.input(bf16, (N, M))
        e = b.exp(b.sub(x, b.reduce("max", x, [1], True)))
        return b.reduce("sum", b.cast(e, f32), [1])

    assert cheap(squares) == ["fused"]
    assert cheap(exponentials) == ["fast_exp2"]
    f = fusion_of(graph_of(exponentials), make=collect.build).fusion
    assert [o.kind for o in online(f, set(f.reductions()[0].raxes)).values()] == ["rescaled"]


@pytest.mark.parametrize("name", ["sin", "log", "acos", "atanh", "log1p", "lgamma"])
def test_functions_that_magnify_errors_have_exact_operands(name: str) -> None:
    got = text(
        lambda b: b.cast(getattr(b, name)(logistic(b, wide(b)) if name != "log1p" else b.neg(b.sqrt(wide(b)))), bf16)
    )
    assert "fast_reciprocal" not in got and "fast_sqrt" not in got


def test_log1p_of_what_is_positive() -> None:
    assert cheap(lambda b: b.cast(b.log1p(b.exp(wide(b))), bf16)) == ["exp2", "fast_log1p"]


def test_positions_of_extremes_are_exact() -> None:
    def program(b: Builder) -> list[Value]:
        y = b.sqrt(wide(b))
        return [b.reduce("argmax", y, [1]), b.cast(y, bf16)]

    assert cheap(program) == []


def test_float64_is_exact() -> None:
    program = lambda b: b.cast(b.sqrt(b.cast(b.sqrt(wide(b)), f64)), bf16)
    assert cheap(program) == []


def test_through_stages() -> None:
    """The sum goes into a 16-bit number, so its terms are relaxed; not if it is stored in full as well."""

    def program(b: Builder, also: bool) -> list[Value]:
        total = b.reduce("sum", b.sqrt(b.abs(wide(b))), [1], True)
        return [b.cast(b.sqrt(total), bf16), *([total] if also else [])]

    assert text(lambda b: program(b, False)).count("fast_sqrt") == 2
    assert text(lambda b: program(b, True)).count("fast_sqrt") == 1


def test_a_check_is_exact() -> None:
    """An index that is computed from floats."""

    def program(b: Builder) -> Value:
        x, table = b.input(bf16, (N,)), b.input(bf16, (sym("k"),))
        i = b.cast(b.exp(b.cast(x, f32)), i64)
        return b.gather(table, [i], (N,), [("at", 0, (0,))])

    assert cheap(program) == []


# --- sums of exponentials ------------------------------------------------------------------------------------------


def log_sum_exp(b: Builder, guarded: bool, keep: bool = False) -> list[Value]:
    x = wide(b)
    top = b.reduce("max", x, [1], True)
    if guarded:
        top = b.where(b.eq(b.abs(top), one(b, x, math.inf)), one(b, x, 0.0), top)
    e = b.exp(b.sub(x, top))
    out = b.add(b.log(b.reduce("sum", e, [1], True)), top)
    return [out, e] if keep else [out]


@pytest.mark.parametrize("guarded", [False, True])
def test_exponentials_that_are_only_summed(guarded: bool) -> None:
    """In float32 as well: the sum is at least 1, and the largest term is exact."""
    assert cheap(lambda b: log_sum_exp(b, guarded)) == ["fast_exp2"]
    assert cheap(lambda b: log_sum_exp(b, guarded, True)) == []


def test_exponentials_of_something_else() -> None:
    def program(b: Builder) -> Value:
        x = wide(b)
        return b.reduce("sum", b.exp(b.sub(x, b.reduce("max", b.neg(x), [1], True))), [1])

    assert cheap(program) == []


# --- ranges --------------------------------------------------------------------------------------------------------


def test_ranges() -> None:
    def range_of(make: Callable[[Builder, Value], Value]) -> tuple[float, float]:
        f = fusion_of(graph_of(lambda b: b.cast(make(b, wide(b)), bf16))).fusion
        return Bounds(f)(f.stages[-1].body)

    assert range_of(lambda b, x: x)[0] < -3e38
    assert range_of(lambda b, x: b.mul(x, x))[0] == 0
    assert range_of(lambda b, x: b.mul(x, b.neg(x)))[0] < -3e38
    assert range_of(lambda b, x: b.sqrt(b.add(b.exp(x), one(b, x, 4.0))))[0] == 2
    assert range_of(lambda b, x: b.sub(one(b, x), b.abs(x)))[1] == 1
    assert range_of(lambda b, x: b.neg(b.max(x, one(b, x, 3.0))))[1] == -3
    assert range_of(lambda b, x: b.where(b.gt(x, one(b, x)), b.abs(x), one(b, x, -2.0)))[0] == -2
    assert range_of(lambda b, x: b.div(b.abs(x), one(b, x, 5.0)))[0] == 0
    assert range_of(lambda b, x: b.const(math.inf, f32))[1] > 3e38
