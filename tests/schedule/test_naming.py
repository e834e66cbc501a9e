"""Kernels are named after what they compute: by structure alone, as identifiers of bounded length."""

from __future__ import annotations

import pytest

from fusewright.core.dtypes import f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph
from fusewright.index.expr import sym
from fusewright.schedule.naming import LONGEST, kernel_name
from tests.golden.cases import CASES
from tests.kernels import graph_of, planned

NAMES = {
    "broadcast": "pointwise_mul_add_max",
    "inner_sum": "inner_reduction_mul_sum",
    "argmax": "inner_reduction_argmax",
    "softmax": "inner_persistent_max_exp_sum_div",
    "layer_norm": "inner_persistent_sum_div_rsqrt",
    "full_sum": "full_reduction_sub_mul_sum",
    "outer_max": "outer_reduction_abs_max",
    "outer_softmax": "outer_persistent_max_exp_sum_div",
    "cumulative": "scan_mul_cumsum",
    "transpose": "transpose_where",
    "embedding": "pointwise_lt_add_where_ge_and_gather_mul",
    "scatter_add": "scatter_scatter_sum",
}


def name_of(program) -> str:
    built, schedule = planned(graph_of(program))
    return kernel_name(built.fusion, schedule.family)


@pytest.mark.parametrize("case", NAMES)
def test_names(case):
    assert name_of(CASES[case].program) == NAMES[case]


@pytest.mark.parametrize("case", CASES)
def test_names_are_identifiers_and_stable(case):
    name = name_of(CASES[case].program)
    assert name.isidentifier() and name.isascii() and len(name) <= LONGEST
    assert name == name_of(CASES[case].program)


def test_long_names_end_with_a_whole_word():
    prims = ("exp", "sin", "cos", "tanh", "sqrt", "erf", "log", "atan", "sinh", "cosh", "asinh", "ceil", "floor")

    def program(b: Builder):
        x = b.input(f32, (sym("n"),))
        for p in prims:
            x = getattr(b, p)(x)
        return x

    words = name_of(program).removeprefix("pointwise_").split("_")
    assert words == list(prims[: len(words)]) and len(words) > 5


def test_a_copy_has_a_name():
    assert name_of(lambda b: b.permute(b.input(f32, (sym("n"), sym("m"))), [1, 0])) == "transpose_copy"


def test_graphs_of_the_same_structure_have_the_same_name():
    def program(n: str):
        return lambda b: b.exp(b.input(f32, (sym(n), 3)))

    assert isinstance(graph_of(program("n")), Graph)
    assert name_of(program("n")) == name_of(program("k")) == "pointwise_exp"
