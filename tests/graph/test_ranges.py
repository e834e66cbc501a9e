"""Between which numbers the elements of a value lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusewright.core.dtypes import bf16, bool_, f16, f32, f64, i32, i64, u8
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.graph.ranges import Ranges, unknown
from fusewright.index.expr import sym
from fusewright.interp.graph import evaluate

TOP = 2**63 - 1


def range_of(make: Callable[[Builder], Value]) -> Any:
    g = Graph()
    v = make(Builder(g))
    return Ranges(g.producers())(v)


def clamped(b: Builder, x: Value, low: int, high: int) -> Value:
    return b.min(b.max(x, b.const(low, x.dtype)), b.const(high, x.dtype))


@pytest.mark.parametrize(
    ("make", "want"),
    [
        (lambda b: b.iota((3, 7), 1), (0, 6)),
        (lambda b: b.iota((0,), 0), (0, 0)),
        (lambda b: b.iota((sym("n"),), 0), (-TOP - 1, TOP)),
        (lambda b: b.flip(b.iota((7,), 0), [0]), (0, 6)),
        (lambda b: b.pad(b.iota((7,), 0), [1], [1], b.const(-2, i64)), (-2, 6)),
        (lambda b: b.cat([b.iota((7,), 0), b.iota((9,), 0)], 0), (0, 8)),
        (lambda b: clamped(b, b.input(i64, (5,)), 0, 6), (0, 6)),
        (lambda b: b.max(b.input(i64, (5,)), b.const(0, i64)), (0, TOP)),
        (lambda b: b.add(b.input(i64, (5,)), b.const(1, i64)), (-TOP - 1, TOP)),  # may wrap around
        (lambda b: b.mul(b.iota((7,), 0), b.const(-3, i64)), (-18, 0)),
        (lambda b: b.sub(b.const(6, i64), b.iota((7,), 0)), (0, 6)),
        (lambda b: b.abs(b.sub(b.iota((7,), 0), b.const(2, i64))), (0, 4)),
        (lambda b: b.input(u8, (5,)), (0, 255)),
        (lambda b: b.cast(b.input(bool_, (5,)), i64), (0, 1)),
        (lambda b: b.cast(b.iota((300,), 0), u8), (0, 255)),  # wraps around
        (lambda b: b.gather(b.iota((7,), 0), [b.input(i64, (5,))], (5,), [("at", 0, (0,))]), (0, 6)),
        (lambda b: b.where(b.input(bool_, (7,)), b.iota((7,), 0), b.const(9, i64)), (0, 9)),
        # floats: of what is read, nothing is known, NaN included
        (lambda b: b.input(f32, (5,)), None),
        (lambda b: clamped(b, b.input(f32, (5,)), 0, 6), None),
        (lambda b: b.cast(clamped(b, b.input(f32, (5,)), 0, 6), i64), (-TOP - 1, TOP)),
        (lambda b: clamped(b, b.cast(b.input(f32, (5,)), i64), 0, 6), (0, 6)),
        (lambda b: b.const(float("inf"), f32), None),
        (lambda b: b.div(b.const(1.0, f32), b.cast(b.iota((7,), 0), f32)), None),
        (lambda b: b.exp(b.cast(b.iota((7,), 0), f32)), None),
        (lambda b: b.mul(b.cast(b.iota((1 << 18,), 0), f16), b.const(2.0, f16)), None),  # may overflow
    ],
)
def test_ranges(make: Callable[[Builder], Value], want: Any) -> None:
    assert range_of(make) == want


def test_places_of_an_interpolation_are_inside() -> None:
    """`(i + 0.5) * scale - 0.5` clamped from below, which is not clamped from above."""

    def make(b: Builder) -> Value:
        half = b.const(0.5, f32)
        x = b.sub(b.mul(b.add(b.cast(b.iota((128,), 0), f32), half), half), half)
        return b.cast(b.max(x, b.const(0.0, f32)), i64)

    assert range_of(make) == (0, 63)


def test_floats_have_room_for_rounding() -> None:
    low, high = range_of(lambda b: b.mul(b.cast(b.iota((11,), 0), f32), b.const(0.1, f32)))
    assert low <= 0 and 1.0 < high < 1.00001
    assert unknown(None) is None  # type: ignore[arg-type]


def test_deep_programs() -> None:
    def make(b: Builder) -> Value:
        x = b.iota((4,), 0)
        for _ in range(5000):
            x = b.neg(x)
        return x

    assert range_of(make) == (0, 3)


UNARY = ("neg", "abs", "floor", "ceil", "trunc")
BINARY = ("add", "sub", "mul", "div", "max", "min")


@given(st.data())
def test_values_lie_inside(data: st.DataObject) -> None:
    """Random arithmetic on positions and constants, interpreted."""
    g = Graph()
    b = Builder(g)
    dtype = data.draw(st.sampled_from([i64, i32, f32, f64, bf16]))
    x = b.cast(b.iota((9,), 0), dtype)
    found = [x]
    for _ in range(data.draw(st.integers(1, 6))):
        a = data.draw(st.sampled_from(found))
        if data.draw(st.booleans()):
            v = getattr(b, data.draw(st.sampled_from(UNARY if dtype.is_float else UNARY[:2])))(a)
        else:
            number = data.draw(st.integers(-5, 5))
            c = data.draw(st.sampled_from([*found, b.const(number / 2 if dtype.is_float else number, dtype)]))
            v = getattr(b, data.draw(st.sampled_from(BINARY if dtype.is_float else ("add", "sub", "mul", "max"))))(a, c)
        found.append(v)
    last = found[-1]
    got = Ranges(g.producers())(last)
    if got is not None:
        g.outputs = [last]
        with np.errstate(all="ignore"):
            values = np.asarray(evaluate(g, [])[last], dtype=np.float64)
        assert np.all((values >= got[0]) & (values <= got[1])), (got, values)
