"""Rows that are scanned in shared memory by threads which share them, interpreted and emulated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fusewright.core.dtypes import bf16, f32
from fusewright.loop.ir import Let, walk
from fusewright.schedule import gpu_runs
from fusewright.schedule.device import H200
from fusewright.schedule.forms import Illegal
from fusewright.schedule.legal_gpu import Sizes, settle
from fusewright.schedule.variants import variants
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.kernels import graph_of, random_inputs
from tests.kernels_gpu import GpuCompiled, check_gpu, gpu_kernel, hint_of, run_gpu
from tests.loop import test_gpu_scans as scans
from tests.loop.test_gpu_runs import Program

PROGRAMS = (scans.along, scans.rounded, scans.products, scans.counts, scans.largest, scans.shares, scans.peaks)


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_runs, "FEW", 0)


def shared(program: Program, n: int, m: int) -> GpuCompiled:
    c = gpu_kernel(graph_of(program), {"n": n, "m": m}, H200)
    assert gpu_runs.shared_scan(c.built.fusion, c.schedule), f"{n}x{m}: {c.schedule}"
    return c


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("n", "m"), [(70, 33), (9, 142), (130, 77), (5, 255), (3, 301)])
def test_values(program: Program, n: int, m: int) -> None:
    c = gpu_kernel(graph_of(program), {"n": n, "m": m}, H200)
    check_gpu(c.graph, {"n": n, "m": m}, compiled=c)


@pytest.mark.parametrize(("n", "m"), [(7, 678), (11, 999), (9, 767)])
def test_rows_longer_than_a_run_is_otherwise(n: int, m: int) -> None:
    for program in (scans.rounded, *([scans.along] if m < 768 else [])):
        c = shared(program, n, m)
        width = 2 if program is scans.rounded else 4
        assert c.schedule.row_threads * m * width > gpu_runs.RUN
        check_gpu(c.graph, {"n": n, "m": m}, compiled=c)


def test_other_sizes_of_a_kernel() -> None:
    """Rows as long as the threads take at once, and shorter ones, down to none; longer ones are refused."""
    c = shared(scans.rounded, 50, 301)
    most = c.schedule.col_threads * c.schedule.steps
    for n, m in ((50, most), (20, 299), (40, 17), (33, 1), (0, 301), (7, 0)):
        sizes = {"n": n, "m": m}
        _, s, launch = settle(c.built.fusion, c.schedule, Sizes(hint_of(sizes), H200))
        assert s == c.schedule
        check_gpu(c.graph, sizes, compiled=replace(c, launch=launch))
    with pytest.raises(Illegal, match=f"do not scan the {most + 1} vectors of a row at once"):
        settle(c.built.fusion, c.schedule, Sizes(hint_of({"n": 50, "m": most + 1}), H200))
    with pytest.raises(Illegal, match="bytes of shared memory"):
        settle(c.built.fusion, replace(c.schedule, row_threads=16, steps=63), Sizes(hint_of({"n": 50, "m": 301}), H200))


def test_any_number_of_threads() -> None:
    sizes = {"n": 40, "m": 90}
    c = shared(scans.rounded, **sizes)
    found = {}
    for f, s, launch in variants(c.built.fusion, c.schedule, Sizes(hint_of(sizes), H200)):
        if gpu_runs.shared_scan(f, s):
            found[s.col_threads] = s
            check_gpu(c.graph, sizes, compiled=replace(c, schedule=s, launch=launch))
    assert set(found) == {2, 4, 8, 16, 32}


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
@pytest.mark.parametrize("program", [scans.along, scans.rounded, scans.peaks])
def test_emulated(program: Program) -> None:
    for n, m in ((70, 33), (5, 255)):
        c = gpu_kernel(graph_of(program), {"n": n, "m": m}, H200)
        check_gpu(c.graph, {"n": n, "m": m}, compiled=c, machine=run_emulated)


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_infinities_and_nans(special: float) -> None:
    sizes = {"n": 20, "m": 77}
    for program in (scans.along, scans.rounded, scans.largest):
        graph = graph_of(program)
        inputs = random_inputs(graph, sizes)
        inputs[0][3, 4] = inputs[0][19, 76] = special
        inputs[0][6, 40:] = special
        check_gpu(graph, sizes, inputs, compiled=gpu_kernel(graph, sizes, H200))


def test_in_float32_where_totals_are_rounded() -> None:
    """Totals of 16 bits are accumulated in float32, what is seen in full or decides something in float64."""

    def types(program: Program, n: int, m: int) -> set[str]:
        body = gpu_kernel(graph_of(program), {"n": n, "m": m}, H200).kernel.func.body
        return {str(s.dst.dtype) for s in walk(body) if isinstance(s, Let) and s.op == "tscan"}

    def decides(b: object) -> object:
        total = b.scan("sum", b.cast(b.input(bf16, (scans.N, scans.M)), f32), 1)  # type: ignore[attr-defined]
        return [b.cast(total, bf16), b.gt(total, b.const(0.0, f32))]  # type: ignore[attr-defined]

    for n, m in ((100, 77), (100, 4096), (3, 5000)):
        assert types(scans.rounded, n, m) == {"f32"}
        assert types(scans.along, n, m) == types(decides, n, m) == {"f64"}  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "m"), [(6, 301), (3, 20000)])
def test_rounded_totals_are_as_near_as_their_type_can_tell(n: int, m: int) -> None:
    graph, sizes = graph_of(scans.rounded), {"n": n, "m": m}
    c = gpu_kernel(graph, sizes, H200)
    random = np.random.default_rng(0)
    x = np.ldexp(random.integers(128, 256, (n, m)), random.integers(-24, 0, (n, m))).astype(np.float32)
    got = run_gpu(c, [x], sizes)[c.graph.outputs[0]].astype(np.float64)
    want = np.cumsum(x.astype(np.float64), 1)
    step = 2.0 ** (np.floor(np.log2(np.abs(want))) - 7)
    assert (np.abs(got - want) <= 0.51 * step).all()
