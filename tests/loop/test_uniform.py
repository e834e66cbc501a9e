"""Comparisons of uniform random numbers with constants: the integers give what the floats would, for every word."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np
import pytest

from fusewright.core.dtypes import f32, i64
from fusewright.fusion import scalar as sc
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import ZERO, sym
from fusewright.loop import uniform
from fusewright.loop.text import dump
from tests.kernels import check, graph_of, kernel
from tests.kernels_gpu import check_gpu

HOW = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
KINDS = ("uniform", "curand_uniform")
NUMBERS = [0.1, 0.5, 0.25, 1 / 3, 0.9, 1.0, 0.0, -0.0, -1.0, 2.0, math.inf, -math.inf, 1e-30, 1e-9, 2.0**-24]
NUMBERS += [2.0**-33, 2.0**-32, 3 * 2.0**-33, 1 - 2.0**-24, 1 - 2.0**-25, 0.30000001192092896, 12345 * 2.0**-24]
NUMBERS += [(12345 + 2.0**-9) * 2.0**-24]


def drawn(kind: str) -> sc.Expr:
    return sc.random(kind, sc.const(7, i64), ZERO, ZERO, f32)


def words(bound: int) -> list[int]:
    near = [bound + d for d in range(-600, 601, 1)]
    edges = [0, 1, 255, 256, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 257, 2**32 - 256, 2**32 - 129, 2**32 - 128, 2**32 - 1]
    return [w for w in (*near, *edges, *range(0, 2**32, 2**26 + 12345)) if 0 <= w < 2**32]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("turned", [False, True])
def test_every_word_compares_as_its_number(kind: str, how: str, turned: bool) -> None:
    for p in NUMBERS:
        number = np.float32(p)
        const = sc.const(float(number), f32)
        found = uniform.compared(sc.op(how, *((const, drawn(kind)) if turned else (drawn(kind), const))))
        assert found is not None and found[0] is drawn(kind)
        _, by, bound = found
        assert 0 <= bound < 2**32
        for w in words(bound):
            x = uniform.value(kind, w)
            want = HOW[how](number, x) if turned else HOW[how](x, number)
            assert HOW[by](w, bound) == want, (p, w)


def test_what_is_left_as_it_is() -> None:
    x = drawn("uniform")
    assert uniform.compared(sc.op("ge", x, sc.const(math.nan, f32))) is None
    assert uniform.compared(sc.op("eq", x, sc.const(0.5, f32))) is None
    assert uniform.compared(sc.op("ge", x, x)) is None
    assert uniform.compared(sc.op("ge", drawn("normal"), sc.const(0.5, f32))) is None
    assert uniform.compared(sc.op("ge", sc.op("neg", x), sc.const(0.5, f32))) is None


def mask(kind: str) -> Callable[[Builder], Value]:
    shape = (sym("n"), sym("m"))
    return lambda b: b.ge(b.random(b.input(i64, (4,)), 0, shape, kind, f32), b.const(0.3, f32))


@pytest.mark.parametrize("kind", KINDS)
def test_masks_take_no_floats(kind: str) -> None:
    """And are the graph's."""
    given = [np.array([3, 1 << 20, 1024, 0])]
    text = dump(check_gpu(graph_of(mask(kind)), {"n": 5, "m": 128}, given).kernel.func)
    assert "= ge(" in text and "f32" not in text


def test_masks_on_a_cpu() -> None:
    graph = graph_of(mask("uniform"))
    check(graph, {"n": 5, "m": 131}, inputs=[np.array([3, -9, 7, 0])], compiled=kernel(graph))
    assert "f32" not in dump(kernel(graph).kernel.func)


def test_a_number_that_is_used_is_made() -> None:
    """From the words that are compared."""

    def program(b: Builder, also: bool) -> list[Value]:
        x = b.random(b.input(i64, (1,)), 0, (sym("n"), sym("m")), "uniform", f32)
        return [x, b.ge(x, b.const(0.3, f32))] if also else [x]

    both, one = (
        dump(check_gpu(graph_of(lambda b, a=a: program(b, a)), {"n": 3, "m": 64}, [np.array([5])]).kernel.func)
        for a in (True, False)
    )
    assert both.count("philox") == one.count("philox") and both.count("shr(") == one.count("shr(") > 0
