"""Rows of a GPU kernel that are interleaved in memory: schedules, and kernels interpreted and emulated."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from fusewright.build import nvrtc
from fusewright.core.dtypes import BY_NAME, DType, bf16, f16, f32
from fusewright.emit.cuda import CudaTarget, emit_cuda
from fusewright.fusion.collapse import collapse
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import Ix, sym
from fusewright.index.traced import Trace
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.ir import Let, walk
from fusewright.loop.verify import verify
from fusewright.schedule import gpu_interleave
from fusewright.schedule.device import H200, Gpu
from fusewright.schedule.gpu import plan
from fusewright.schedule.gpu_base import GpuSchedule, Vectors
from fusewright.schedule.legal_gpu import Sizes, settle
from fusewright.schedule.variants import variants
from tests.emulate.cuda import COMPILER, run_emulated
from tests.golden import cases
from tests.kernels import fusion_of, graph_of, random_inputs
from tests.kernels_gpu import SMALL, GpuCompiled, check_gpu, gpu_kernel, hint_of
from tests.loop.test_gpu_clusters import best_of_centred
from tests.loop.test_gpu_lowering import softmax16

N, M = sym("n"), sym("m")
ONE = Gpu((9, 0), 1, 1 << 20, 227 << 10)  # one processor: whole rows are held
NARROW = Gpu((7, 0), 1, 1 << 20, 4 << 10)  # no clusters, and next to no shared memory
MACHINES = ({}, {"machine": run_emulated}) if COMPILER else ({},)


def _size(b: Builder, x: Value, axes: tuple[int, ...]) -> Value:
    return b.cast(b.scalar(math.prod(x.shape[a] for a in axes), BY_NAME["i64"]), f32)


def _norm(b: Builder, x: Value, axes: tuple[int, ...]) -> list[Value]:
    size = _size(b, x, axes)
    d = b.sub(x, b.div(b.reduce("sum", x, axes, keepdim=True), size))
    scale = b.rsqrt(b.add(b.div(b.reduce("sum", b.mul(d, d), axes, keepdim=True), size), b.const(1e-5, f32)))
    return [b.mul(d, scale), scale]


def group_norm(dtype: DType, groups: int, run: int, weights: bool = True):
    """Of (images, pixels, groups, channels of a group), normalised over pixels and channels."""

    def program(b: Builder) -> list[Value]:
        x = b.cast(b.input(dtype, (N, M, groups, run)), f32)
        y, scale = _norm(b, x, (1, 3))
        if weights:
            w, bias = (b.cast(b.input(dtype, (groups, run)), f32) for _ in range(2))
            y = b.add(b.mul(y, w), bias)
        silu = b.div(y, b.add(b.exp(b.neg(y)), b.const(1.0, f32)))
        return [b.cast(silu, dtype), scale]

    return program


def moments(dtype: DType, groups: int, run: int):
    """The mean and variance over dims 1 and 3: one pass, on the fly where rows are not held."""

    def program(b: Builder) -> list[Value]:
        x = b.cast(b.input(dtype, (N, M, groups, run)), f32)
        mean = b.div(b.reduce("sum", x, (1, 3), keepdim=True), _size(b, x, (1, 3)))
        d = b.sub(x, mean)
        return [b.div(b.reduce("sum", b.mul(d, d), (1, 3)), _size(b, x, (1, 3))), b.reshape(mean, (N, groups))]

    return program


def softmax(dtype: DType, groups: int, run: int):
    """Over dims 1 and 3: on the fly where rows are not held."""

    def program(b: Builder) -> list[Value]:
        x = b.cast(b.input(dtype, (N, M, groups, run)), f32)
        e = b.exp(b.sub(x, b.reduce("max", x, (1, 3), keepdim=True)))
        return [b.cast(b.div(e, b.reduce("sum", e, (1, 3), keepdim=True)), dtype)]

    return program


def largest(dtype: DType, groups: int, run: int):
    def program(b: Builder) -> Value:
        return b.reduce("max", b.input(dtype, (N, M, groups, run)), (1, 3))

    return program


# name -> (program, sizes, GPU, what the schedule is like)
CASES = {
    "group norm": (group_norm(bf16, 8, 8), (3, 50), ONE, {"mode": "persistent", "row_threads": 8, "lanes": 8}),
    "in a cluster": (group_norm(bf16, 8, 8), (2, 5000), ONE, {"mode": "persistent", "cluster": 8}),
    "f32": (group_norm(f32, 4, 8), (3, 50), ONE, {"mode": "persistent", "row_threads": 4, "lanes": 4}),
    "odd": (group_norm(f16, 5, 3), (3, 41), ONE, {"mode": "persistent", "row_threads": 8, "lanes": 1}),
    "three vectors": (group_norm(bf16, 3, 24), (5, 33), ONE, {"mode": "persistent", "lanes": 8}),
    "one pixel": (group_norm(f32, 6, 4), (7, 1), ONE, {"mode": "persistent"}),
    "few groups": (group_norm(bf16, 2, 8, False), (3, 77), ONE, {"mode": "persistent"}),
    "split": (group_norm(bf16, 8, 8), (1, 9000), Gpu((8, 0), 16, 1 << 20, 164 << 10), {"mode": "split"}),
    "moments": (moments(bf16, 8, 8), (5, 70), SMALL, {"mode": "persistent", "row_threads": 8}),
    "moments, long": (moments(bf16, 8, 8), (1, 9000), NARROW, {"mode": "loop", "row_threads": 4}),
    "moments, odd": (moments(f32, 5, 7), (1, 2401), NARROW, {"mode": "loop", "row_threads": 2, "lanes": 1}),
    "moments, split": (moments(bf16, 8, 4), (1, 9001), Gpu((9, 0), 16, 1 << 20, 227 << 10), {"mode": "split"}),
    "softmax": (softmax(bf16, 16, 4), (2, 100), ONE, {"mode": "persistent", "row_threads": 16}),
    "softmax, long": (softmax(f32, 4, 4), (1, 40000), Gpu((8, 0), 1, 1 << 20, 4 << 10), {"mode": "loop"}),
    "largest": (largest(bf16, 8, 8), (9, 65), SMALL, {"mode": "loop"}),
    "integers": (largest(BY_NAME["i32"], 8, 4), (3, 31), SMALL, {"mode": "loop"}),
    "bytes": (largest(BY_NAME["u8"], 40, 2), (3, 31), SMALL, {"mode": "loop", "row_threads": 16}),
}


def made(name: str) -> tuple[GpuCompiled, dict[str, int]]:
    program, (n, m), gpu, _ = CASES[name]
    sizes = {"n": n, "m": m}
    return gpu_kernel(graph_of(program), sizes, gpu), sizes


@pytest.mark.every(6)
@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    c, sizes = made(name)
    assert c.schedule.interleaved and c.schedule.row_threads > 1, c.schedule
    got = {k: getattr(c.schedule, k) for k in CASES[name][3]}
    assert got == CASES[name][3]
    for machine in MACHINES:
        check_gpu(c.graph, sizes, compiled=c, **machine)  # type: ignore[arg-type]
    check_gpu(c.graph, {**sizes, "n": 1}, compiled=c)


# --- any schedule ----------------------------------------------------------------------------------------------------


def forced(c: GpuCompiled, **fields: object) -> GpuCompiled:
    s = dataclasses.replace(c.schedule, interleaved=True, **fields)
    lowered = lower_gpu(c.built.fusion, s, "kernel")
    verify(lowered.func)
    return dataclasses.replace(c, schedule=s, kernel=lowered)


@pytest.mark.every(6)
@pytest.mark.parametrize("cluster", [1, 2, 8])
@pytest.mark.parametrize(("rows", "threads"), [(2, 16), (4, 32), (8, 4), (32, 8), (64, 1), (1, 32)])
@pytest.mark.parametrize("place", ["registers", "shared"])
def test_any_threads(place: str, rows: int, threads: int, cluster: int) -> None:
    """Groups of threads within a warp and across, rows that the last block has nothing of, parts of blocks likewise."""
    steps = -(-70 // (threads * cluster))
    fields = {"row_threads": rows, "col_threads": threads, "cluster": cluster, "steps": steps, "keep": "loads"}
    c, _ = made("few groups")
    c = forced(c, keep_in=place, **fields)
    for n, m in ((3, 70), (1, 1), (2, 33)):
        for machine in MACHINES:
            check_gpu(c.graph, {"n": n, "m": m}, compiled=c, **machine)  # type: ignore[arg-type]


@pytest.mark.parametrize("cluster", [1, 4])
def test_positions_of_extremes(cluster: int) -> None:
    """Rows that are not interleaved in memory are right, too; so are positions."""
    c = gpu_kernel(graph_of(best_of_centred), {"n": 5, "m": 64}, ONE)
    fields = {"mode": "persistent", "row_threads": 4, "col_threads": 32, "lanes": 1, "aligned": frozenset()}
    c = forced(c, cluster=cluster, steps=-(-70 // (32 * cluster)), **fields)
    for machine in MACHINES:
        check_gpu(c.graph, {"n": 5, "m": 70}, compiled=c, **machine)  # type: ignore[arg-type]


@pytest.mark.parametrize("rows", [1, 4, 16])
def test_resident_blocks(rows: int) -> None:
    """What is summed over rows is combined over the threads of neighbouring rows."""
    for n in (1, 41):
        c = gpu_kernel(graph_of(cases.rms_norm_backward), {"n": n, "m": 256}, SMALL)
        c = forced(c, row_threads=rows, col_threads=64, steps=1)
        c.launch = {**c.launch, "blocks": 2}
        for machine in MACHINES:
            check_gpu(c.graph, {"n": n, "m": 256}, compiled=c, **machine)  # type: ignore[arg-type]


def test_neighbouring_threads_have_neighbouring_rows() -> None:
    """The groups of what threads combine are as far apart as the block has rows."""
    c, _ = made("in a cluster")
    s = c.schedule
    found = [x.attr for x in walk(c.kernel.func.body) if isinstance(x, Let) and x.op in ("treduce", "creduce")]
    assert found and {x[1:] for x in found} == {(s.col_threads, s.row_threads)}


@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")
@pytest.mark.parametrize("name", ["group norm", "in a cluster", "moments"])
def test_compiles_without_a_stack(name: str) -> None:
    text = emit_cuda(made(name)[0].kernel.func, CudaTarget(9, 0))
    assert all(r.stack == 0 for r in nvrtc.report(nvrtc.compile(text, "sm_90")[0]))


def test_nan_and_infinity_stay_in_their_rows() -> None:
    c, sizes = made("in a cluster")
    inputs = random_inputs(c.graph, sizes)
    inputs[0][0, 4321, 3, 5], inputs[0][1, 0, 7, 7] = np.nan, np.inf
    for machine in MACHINES:
        check_gpu(c.graph, sizes, inputs, compiled=c, **machine)  # type: ignore[arg-type]


# --- which rows, and how many ----------------------------------------------------------------------------------------


def numbers(program, n: int, m: int) -> list[int]:
    f = fusion_of(graph_of(program)).fusion
    hint = hint_of({"n": n, "m": m})
    (r, *_) = f.reductions()
    v = Vectors(f, hint, H200, lambda b: 16)  # type: ignore[arg-type]
    f, rows = collapse(f, v.by_stride(tuple(a for a in f.axes if a not in r.raxes)))
    f, cols = collapse(f, v.by_stride(tuple(a for a in f.axes if a not in rows)))
    return gpu_interleave.several(f, hint, rows, cols, Vectors(f, hint, H200, lambda b: 16).unit)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("program", "want"),
    [
        (moments(bf16, 32, 8), [8, 4, 2]),  # runs of 16 bytes: a line, half of it, a sector
        (moments(f32, 32, 8), [4, 2, 1]),  # of 32
        (moments(f32, 32, 16), [2, 1]),
        (moments(f32, 32, 32), []),  # whole lines
        (moments(bf16, 32, 2), [32, 16, 8]),
        (moments(BY_NAME["f64"], 32, 2), [8, 4, 2]),
        (moments(bf16, 2, 8), [2]),  # no more neighbours
        (moments(bf16, 3, 8), [4, 2]),
        (moments(bf16, 1, 8), []),
        (softmax16, []),  # rows one after the other
    ],
)
def test_as_many_rows_as_fill_a_line(program, want: list[int]) -> None:
    assert numbers(program, 64, 1000) == want


def channels_first(b: Builder) -> list[Value]:
    """A row's columns are far from each other along one axis, but contiguous along the other."""
    x = b.input(f32, (M, N, 4096))
    return _norm(b, x, (0, 2))


def test_rows_with_long_runs_are_taken_one_by_one() -> None:
    assert numbers(channels_first, 64, 50) == []
    assert not gpu_kernel(graph_of(channels_first), {"n": 64, "m": 50}, H200).schedule.interleaved


def schedule_of(program, n: int, m: int, gpu: Gpu = H200) -> GpuSchedule:
    return gpu_kernel(graph_of(program), {"n": n, "m": m}, gpu).schedule


def test_fewer_rows_where_processors_would_be_idle() -> None:
    """Few images of a size: blocks of half a line, of a sector; then rows are cut."""
    program = group_norm(bf16, 32, 8)
    assert [schedule_of(program, n, 4096).row_threads for n in (16, 4, 2)] == [8, 4, 2]
    assert schedule_of(program, 1, 4096).mode == "split"
    assert schedule_of(program, 1, 4096).row_threads == 8


def test_moments_in_narrow_vectors_ask_for_much() -> None:
    """Of groups of fifteen channels, of which no vector is: few rows in a block, which no block could hold."""
    s = schedule_of(moments(bf16, 32, 15), 34, 4096)
    assert (s.mode, s.lanes, s.row_threads, s.col_threads, s.steps) == ("loop", 1, 2, 128, 16)
    s = schedule_of(moments(f32, 32, 10), 8, 4096)
    assert (s.mode, s.lanes) == ("split", 2), "few rows are cut"


def test_vectors_of_rows_are_side_by_side_anyway() -> None:
    """Where the unit-stride axis is a row's, as an instance norm's in channels-last memory."""

    def instance_norm(b: Builder) -> list[Value]:
        return _norm(b, b.input(f32, (N, M, 24)), (1,))

    s = schedule_of(instance_norm, 8, 400)
    assert s.vector in s.rows and not s.interleaved


def test_variants_have_other_numbers_of_rows() -> None:
    f = fusion_of(graph_of(group_norm(bf16, 32, 8))).fusion
    hint = hint_of({"n": 16, "m": 4096})
    f, s, _ = plan(f, hint, H200)  # type: ignore[arg-type]
    sizes = Sizes(hint, H200)  # type: ignore[arg-type]
    assert settle(f, s, sizes)[1] == s
    found = [v[1] for v, _ in zip(variants(f, s, sizes), range(40), strict=False)]
    assert {(v.row_threads, v.cluster, v.keep_in) for v in found} >= {
        (8, 8, "shared"),
        (4, 4, "shared"),
        (4, 8, "registers"),
    }
    assert not all(v.interleaved for v in found) and any(v.mode == "split" for v in found)


def test_rules_do_not_depend_on_strides_of_other_rows() -> None:
    """The scheduler looks at strides between rows only where rows are interleaved."""
    f = fusion_of(graph_of(channels_first)).fusion
    known, trace = hint_of({"n": 64, "m": 50}), Trace(["n", "m"])

    def hint(e: Ix) -> object:
        return trace.number(e.text(), known(e)) if e.as_int() is None else e.as_int()  # type: ignore[operator]

    first, row, unit = f.axes
    assert gpu_interleave.several(f, hint, [row], [first, unit], unit) == []  # type: ignore[arg-type]
    assert trace.lines and not [c for c in trace.conditions if "==" in c]
