"""Sums of what is zero but at one place need no loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fusewright.core.dtypes import bf16, f32, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from tests.kernels import check, fusion_of, graph_of, kernel, random_inputs, run
from tests.kernels_gpu import check_gpu

N, M = sym("n"), sym("m")


def gradient(b: Builder) -> list[Value]:
    """exp(x) * s minus the one-hot of t, where s is the row's sum of the one-hot times w."""
    x, t, w = b.input(f32, (N, M)), b.input(i64, (N, 1)), b.input(f32, (N, 1))
    here = b.and_(b.eq(b.iota((N, M), 1), t), b.ne(t, b.const(3, i64)))
    hot = b.where(here, w, b.const(0.0, f32))
    total = b.reduce("sum", hot, (1,), True)
    return [b.sub(b.mul(b.exp(x), total), hot)]


def rounded(b: Builder) -> list[Value]:
    """The same under autocast: the one-hot is rounded before it is summed up."""
    x, t, w = b.input(f32, (N, M)), b.input(i64, (N, 1)), b.input(f32, (N, 1))
    hot = b.where(b.eq(b.iota((N, M), 1), t), w, b.const(0.0, f32))
    hot = b.cast(b.cast(hot, bf16, round=True), f32)
    return [b.sub(b.mul(b.exp(x), b.reduce("sum", hot, (1,), True)), hot)]


def inputs_for(graph, n: int, m: int) -> list[np.ndarray]:
    x, t, w = random_inputs(graph, {"n": n, "m": m})
    t[:] = np.arange(n)[:, None] % (m + 2) - 1  # some before the row, some after it
    return [x, t, w]


@pytest.mark.parametrize(("n", "m"), [(7, 5), (9, 130)])
def test_rounded_gradient(n: int, m: int) -> None:
    graph = graph_of(rounded)
    f = fusion_of(graph).fusion
    assert [s.kind for s in f.stages] == ["store"] and "round_bf16" in f.text()
    check(graph, {"n": n, "m": m}, inputs=inputs_for(graph, n, m))
    check_gpu(graph, {"n": n, "m": m}, inputs_for(graph, n, m))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 5), (40, 3), (9, 130)])
def test_padded_gradient(n: int, m: int) -> None:
    """As a matrix product wants it: the row is computed in a longer one."""
    graph = graph_of(lambda b: b.pad(gradient(b)[0], [0, 0], [0, 3], b.const(0.0, f32)))
    f = fusion_of(graph).fusion
    assert [s.kind for s in f.stages] == ["store"] and len(f.axes) == 2
    check(graph, {"n": n, "m": m}, inputs=inputs_for(graph, n, m))
    check_gpu(graph, {"n": n, "m": m}, inputs_for(graph, n, m))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 5), (40, 3), (9, 130)])
def test_gradient_of_a_cross_entropy(n: int, m: int) -> None:
    graph = graph_of(gradient)
    assert [s.kind for s in fusion_of(graph).fusion.stages] == ["store"]
    check(graph, {"n": n, "m": m}, inputs=inputs_for(graph, n, m))
    check_gpu(graph, {"n": n, "m": m}, inputs_for(graph, n, m))


def column(b: Builder, what: Callable[[Builder, Value, Value, Value], Value], how: str = "sum") -> Value:
    x, t, w = b.input(f32, (N, M)), b.input(i64, (N, 1)), b.input(f32, (N, 1))
    return b.add(x, b.reduce(how, what(b, x, t, w), (1,), True))


def zero(b: Builder) -> Value:
    return b.const(0.0, f32)


LOOPS = {
    "what is added varies": lambda b, x, t, w: b.where(b.eq(b.iota((N, M), 1), t), x, zero(b)),
    "the place varies": lambda b, x, t, w: b.where(b.eq(b.iota((N, M), 1), b.cast(x, i64)), w, zero(b)),
    "not an equality": lambda b, x, t, w: b.where(b.lt(b.iota((N, M), 1), t), w, zero(b)),
    "another place": lambda b, x, t, w: b.where(b.eq(b.iota((N, M), 0), t), w, zero(b)),
    "one elsewhere": lambda b, x, t, w: b.where(b.eq(b.iota((N, M), 1), t), w, b.const(1.0, f32)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_other_sums_stay(name: str) -> None:
    graph = graph_of(lambda b: column(b, LOOPS[name]))
    assert [s.kind for s in fusion_of(graph).fusion.stages].count("reduce") == 1
    check(graph, {"n": 4, "m": 6}, inputs=inputs_for(graph, 4, 6))


def test_other_reductions_stay() -> None:
    graph = graph_of(lambda b: column(b, lambda b, x, t, w: b.where(b.eq(b.iota((N, M), 1), t), w, zero(b)), "max"))
    assert [s.kind for s in fusion_of(graph).fusion.stages].count("reduce") == 1


def test_special_values() -> None:
    """NaN and infinity count where they are, and nowhere else; a negative zero becomes a sum's."""

    def program(b: Builder) -> Value:
        t, w = b.input(i64, (N, 1)), b.input(f32, (N, 1))
        total = b.reduce("sum", b.where(b.eq(b.iota((N, M), 1), t), w, zero(b)), (1,), True)
        return b.expand(total, (N, M))

    graph = graph_of(program)
    w = np.array([[np.nan], [np.inf], [-0.0], [np.nan], [-np.inf]], np.float32)
    t = np.array([[2], [0], [1], [9], [-1]], np.int64)
    c = kernel(graph)
    assert not [s for s in c.built.fusion.stages if s.kind == "reduce"]
    got, failed = run(c, [t, w], {"n": 5, "m": 4})
    assert not failed
    (out,) = got.values()
    np.testing.assert_array_equal(out[:, 3], [np.nan, np.inf, 0.0, 0.0, 0.0])
    assert not np.signbit(out[2, 3])


@pytest.mark.parametrize("beside", [False, True])
def test_a_sum_that_is_stored_beside_points_keeps_its_loop(beside: bool) -> None:
    def program(b: Builder) -> list[Value]:
        x, t, w = b.input(f32, (N, M)), b.input(i64, (N, 1)), b.input(f32, (N, 1))
        hot = b.where(b.eq(b.iota((N, M), 1), t), w, zero(b))
        total = b.reduce("sum", hot, (1,), True)
        return [total, b.mul(x, total)] if beside else [total]

    graph = graph_of(program)
    f = fusion_of(graph).fusion
    assert [s.kind for s in f.stages].count("reduce") == int(beside) and len(f.axes) == 1 + int(beside)
    inputs = inputs_for(graph, 4, 6) if beside else random_inputs(graph, {"n": 4, "m": 6})
    check(graph, {"n": 4, "m": 6}, inputs=inputs)
