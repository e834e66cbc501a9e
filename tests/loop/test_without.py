"""Kernels without the passes that can be switched off: another nest, the same values."""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.core.dtypes import f32
from fusewright.core.switches import FUSION_PASSES
from fusewright.fusion.collapse import collapse, merged
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.loop.text import dump
from fusewright.schedule.device import Gpu
from fusewright.schedule.legal import conform
from tests.golden.cases import CASES, M, N
from tests.kernels import check, fusion_of, graph_of, kernel, planned, random_inputs
from tests.kernels_gpu import check_gpu, gpu_kernel
from tests.loop.test_gpu_lowering import log_sum_exp

SIZES = ((5, 7), (3, 70), (1, 129), (0, 5))
ON_GPUS = [name for name, case in CASES.items() if case.family != "scatter"]


@pytest.mark.parametrize("without", [("collapse",), ("keep",), FUSION_PASSES], ids="+".join)
@pytest.mark.parametrize("name", CASES)
def test_values_on_a_cpu(name: str, without: tuple[str, ...]) -> None:
    case = CASES[name]
    graph = graph_of(case.program)
    compiled = kernel(graph, without=without)
    for n, m in SIZES:
        sizes = {"n": n, "m": m, "threads": 2}
        inputs = random_inputs(graph, sizes)
        if case.fix is not None:
            case.fix(inputs, sizes)
        check(graph, sizes, 2, inputs, compiled, tolerance=case.tolerance)


@pytest.mark.every(6)
@pytest.mark.parametrize("without", [("collapse",), ("keep",), ("online",), FUSION_PASSES], ids="+".join)
@pytest.mark.parametrize("name", ON_GPUS)
def test_values_on_a_gpu(name: str, without: tuple[str, ...]) -> None:
    case = CASES[name]
    graph = graph_of(case.program)
    for n, m in ((5, 70), (300, 33), (2, 5000)):
        sizes = {"n": n, "m": m}
        inputs = random_inputs(graph, sizes)
        if case.fix is not None:
            case.fix(inputs, sizes)
        check_gpu(graph, sizes, inputs, case.tolerance, without=without)


def dear(b: Builder) -> Value:
    """A normalised power, which costs more to compute than to keep."""
    x = b.input(f32, (N, M))
    y = b.pow(b.abs(x), b.abs(b.sin(x)))
    return b.sub(y, b.reduce("sum", y, [1], keepdim=True))


def double(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    return b.add(x, x)


def test_collapse_makes_one_loop_of_two() -> None:
    graph = graph_of(double)
    assert [a.name for a in planned(graph)[0].fusion.axes] == ["i0i1"]
    built, schedule = planned(graph, without=("collapse",))
    assert [a.name for a in built.fusion.axes] == ["i0", "i1"] and schedule.rows == ("i0",)
    assert len(gpu_kernel(graph, {"n": 50, "m": 60}).built.fusion.axes) == 1
    assert len(gpu_kernel(graph, {"n": 50, "m": 60}, without=("collapse",)).built.fusion.axes) == 2


def test_a_schedule_may_still_name_axes_as_one() -> None:
    """It says which loops there are; the switch is for what the planner does by itself."""
    _, one_loop = planned(graph_of(double))
    f = fusion_of(graph_of(double), without=("collapse",)).fusion
    assert collapse(f, list(f.axes))[0] is f and len(merged(f, list(f.axes))[1]) == 1
    assert [a.name for a in conform(f, one_loop).axes] == ["i0i1"]


def test_keep() -> None:
    with_, alone = (dump(kernel(graph_of(dear), without=w).kernel.func) for w in ((), ("keep",)))
    assert "kept" in with_ and "kept" not in alone


def test_online() -> None:
    """One walk over a row that fits nowhere, or two."""
    sizes = {"n": 20, "m": 400000}
    graph = graph_of(log_sum_exp)
    once, twice = (gpu_kernel(graph, sizes, Gpu((8, 0), 2, 1 << 20, 163 << 10), without=w) for w in ((), ("online",)))
    assert once.schedule.mode == twice.schedule.mode == "loop"
    assert dump(once.kernel.func).count("load(in0") < dump(twice.kernel.func).count("load(in0")
    x = np.random.default_rng(0).standard_normal((3, 5000)).astype(np.float32)
    for w in ((), ("online",)):
        check_gpu(graph, {"n": 3, "m": 5000}, [x], without=w)
