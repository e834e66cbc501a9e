"""Running totals on GPUs: schedules, and kernels interpreted and emulated."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME, bf16, f32, f64
from fusewright.core.errors import Refusal
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.ir import Let, walk
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from fusewright.schedule import gpu as planner
from fusewright.schedule.device import H200, Gpu
from fusewright.schedule.forms import Illegal
from fusewright.schedule.legal_gpu import Sizes, settle
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.kernels import graph_of, random_inputs
from tests.kernels_gpu import GpuCompiled, check_gpu, gpu_kernel, hint_of, run_gpu

N, M = sym("n"), sym("m")
I64, I32, BOOL = BY_NAME["i64"], BY_NAME["i32"], BY_NAME["bool"]
GPUS = [Gpu((9, 0), 1, 1 << 20, 227 << 10), Gpu((8, 0), 4, 1 << 20, 227 << 10), H200]
SIZES = ((5, 3), (1, 1), (3, 3000), (300, 7), (200, 256), (2, 20001), (70, 24), (1000, 20), (0, 4), (4, 0))


def along(b: Builder) -> Value:
    return b.scan("sum", b.input(f32, (N, M)), 1)


def down(b: Builder) -> Value:
    return b.scan("sum", b.input(f32, (N, M)), 0)


def middle(b: Builder) -> Value:
    return b.scan("sum", b.input(f32, (3, N, M)), 1)


def flat(b: Builder) -> Value:
    return b.scan("sum", b.input(f32, (M,)), 0)


def rounded(b: Builder) -> Value:
    return b.cast(b.scan("sum", b.cast(b.input(bf16, (N, M)), f32), 1), bf16)


def doubles(b: Builder) -> Value:
    return b.scan("sum", b.input(f64, (N, M)), 1)


def products(b: Builder) -> Value:
    return b.scan("prod", b.add(b.mul(b.input(f32, (N, M)), b.const(0.01, f32)), b.const(1.0, f32)), 1)


def counts(b: Builder) -> list[Value]:
    """How many were positive so far, and the sum of integers, which wraps."""
    x, y = b.input(f32, (N, M)), b.input(I64, (N, M))
    positive = b.cast(b.gt(x, b.const(0.0, f32)), I64)
    return [b.scan("sum", positive, 1), b.scan("sum", b.mul(y, b.const(1 << 60, I64)), 1)]


def largest(b: Builder) -> list[Value]:
    """The largest and smallest so far, and whether any was positive."""
    x, y = b.input(f32, (N, M)), b.input(I32, (N, M))
    return [b.scan("max", x, 1), b.scan("min", y, 1), b.scan("any", b.gt(x, b.const(1.0, f32)), 1)]


def shares(b: Builder) -> Value:
    """A share of a row's total so far: the scan waits for a reduction."""
    x = b.exp(b.input(f32, (N, M)))
    return b.scan("sum", b.div(x, b.reduce("sum", x, [1], keepdim=True)), 1)


def peaks(b: Builder) -> list[Value]:
    """Reductions of a scan, beside it, and what has to wait for them."""
    x, w = b.input(f32, (N, M)), b.input(f32, (M,))
    s = b.add(b.scan("sum", x, 1), w)
    top = b.reduce("max", s, [1], keepdim=True)
    return [top, b.reduce("argmin", s, [1]), b.sub(s, top), b.mul(s, x)]


def peaks_down(b: Builder) -> list[Value]:
    x = b.input(f32, (N, M))
    s = b.scan("sum", x, 0)
    return [b.reduce("max", s, [0]), b.mul(s, b.scan("sum", b.mul(x, x), 0))]


def twice(b: Builder) -> list[Value]:
    """Scans of scans, of what is computed from them, and of what a row has once of them."""
    x = b.input(f32, (N, M))
    first = b.scan("sum", x, 1)
    top = b.reduce("max", first, [1], keepdim=True)
    second = b.scan("max", b.mul(first, x), 1)
    bounded = b.mul(x, b.min(second, b.const(1.0, f32)))
    return [second, b.scan("sum", bounded, 1), b.scan("min", b.sub(first, top), 1)]


def latest(b: Builder) -> list[Value]:
    """The last of the largest so far, and where it is."""
    x = b.round(b.input(f32, (N, M)))
    most = b.scan("lastmax", x, 1)
    at = b.where(b.eq(x, most), b.iota((N, M), 1), b.const(0, I64))
    return [most, b.scan("max", at, 1), b.scan("lastmin", b.input(I32, (N, M)), 1)]


def latest_down(b: Builder) -> list[Value]:
    x = b.input(bf16, (N, M))
    return [b.cast(b.scan("lastmin", b.cast(x, f32), 0), bf16), b.scan("lastmax", b.gt(x, b.const(1.5, bf16)), 0)]


def logarithms(b: Builder) -> Value:
    return b.scan("logaddexp", b.input(f32, (N, M)), 1)


def logarithms_down(b: Builder) -> Value:
    return b.scan("logaddexp", b.input(f64, (N, M)), 0)


LOGARITHMS = (logarithms, logarithms_down)
PROGRAMS = (
    *(along, down, middle, flat, rounded, doubles, products, counts, largest, shares, peaks, peaks_down),
    *(twice, latest, latest_down, logarithms, logarithms_down),
)


def kernel(program: object, n: int, m: int, gpu: Gpu) -> GpuCompiled:
    return gpu_kernel(graph_of(program), {"n": n, "m": m}, gpu)  # type: ignore[arg-type]


@pytest.mark.every(6)
@pytest.mark.parametrize("gpu", GPUS, ids=["one", "four", "h200"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_values(program: object, gpu: Gpu) -> None:
    for n, m in SIZES:
        if 0 in (n, m) and program in (peaks, peaks_down, twice):
            continue
        compiled = kernel(program, n, m, gpu)
        check_gpu(compiled.graph, {"n": n, "m": m}, compiled=compiled)
        assert (compiled.schedule.family, compiled.schedule.mode) == ("scan", "loop")
        assert parse(dump(compiled.kernel.func)) == compiled.kernel.func


@pytest.mark.every(4)
@pytest.mark.skipif(COMPILER is None, reason=MISSING)
@pytest.mark.parametrize("program", PROGRAMS)
def test_emulated(program: object) -> None:
    for n, m in SIZES[:-2]:
        compiled = kernel(program, n, m, GPUS[1])
        check_gpu(compiled.graph, {"n": n, "m": m}, compiled=compiled, machine=run_emulated)


@pytest.mark.every(4)
@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize(("rows", "threads", "steps"), [(1, 1024, 2), (2, 64, 1), (8, 8, 4), (64, 1, 2), (4, 32, 1)])
def test_any_division_of_a_block(rows: int, threads: int, steps: int, lanes: int) -> None:
    compiled = kernel(peaks, 5, 64, H200)
    s = dataclasses.replace(
        compiled.schedule, row_threads=rows, col_threads=threads, steps=steps, lanes=lanes, aligned=frozenset()
    )
    lowered = lower_gpu(compiled.built.fusion, s, "kernel")
    verify(lowered.func)
    again = dataclasses.replace(compiled, schedule=s, kernel=lowered)
    for m in (4, 400, 4100):
        for machine in {} if COMPILER is None else {"machine": run_emulated}, {}:
            check_gpu(again.graph, {"n": 5, "m": m}, compiled=again, **machine)


@pytest.mark.parametrize("program", [along, down])
def test_sums_are_as_near_as_float64_can_be_told(program: object) -> None:
    """Eager's on a CPU, which accumulate in float64, are: half a unit in the last place."""
    sizes = {"n": 3, "m": 60000} if program is along else {"n": 60000, "m": 3}
    compiled = kernel(program, sizes["n"], sizes["m"], GPUS[1])
    (x,) = random_inputs(compiled.graph, sizes)
    x += 1
    got = run_gpu(compiled, [x], sizes)[compiled.graph.outputs[0]]
    want = np.cumsum(x.astype(np.float64), 1 if program is along else 0)
    assert (np.abs(got - want) <= 0.50001 * np.spacing(np.abs(want).astype(np.float32))).all()


@pytest.mark.every(4)
@pytest.mark.parametrize("program", [along, down, shares, largest, latest, latest_down, *LOGARITHMS])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(program: object, special: float) -> None:
    sizes = {"n": 300, "m": 300}
    graph = graph_of(program)  # type: ignore[arg-type]
    inputs = random_inputs(graph, sizes)
    inputs[0][5, 7] = inputs[0][8, 298] = special
    inputs[0][6, 100:] = special
    check_gpu(graph, sizes, inputs, gpu=GPUS[1])


@pytest.mark.parametrize(
    ("program", "n", "m", "threads"),  # (of rows, of columns)
    [
        (along, 64, 8192, (1, 512)),  # few rows, of columns too few to be cut: large blocks
        (along, 400, 8192, (1, 256)),
        (along, 2048, 8192, (1, 128)),
        (along, 2048, 8191, (1, 128)),  # single elements
        (along, 10000, 1001, (4, 32)),
        (along, 100000, 4096, (1, 128)),  # rows for all processors
        (along, 100000, 16, (32, 4)),
        (down, 1000, 100000, (256, 1)),  # a thread for each row
        (down, 5000, 3, (4, 64)),  # threads share rows, side by side
        (down, 1000, 16000, (32, 8)),
        (down, 1000, 8000, (16, 16)),  # two sectors of memory
        (flat, 1, 20000, (1, 512)),
    ],
)
def test_schedules(program: object, n: int, m: int, threads: tuple[int, int]) -> None:
    s = kernel(program, n, m, H200).schedule
    assert (s.row_threads, s.col_threads) == threads
    assert s.lanes == (1 if program is down or m % 4 else 4)


@pytest.mark.parametrize(
    ("program", "n", "m", "threads", "splits"),
    [
        (along, 3, 1 << 20, (1, 128), 352),
        (along, 100, 1 << 16, (1, 128), 10),
        (down, 1 << 20, 3, (4, 32), 1024),
        (down, 1 << 14, 1024, (32, 4), 33),  # of which a block has many side by side
        (down, 1024, 64, (32, 4), 64),
        (down, 1 << 20, 16, (16, 8), 1024),
        (flat, 1, 1 << 22, (1, 128), 1024),
        (flat, 1, 1 << 15, (1, 128), 16),  # as many blocks as have something to do
    ],
)
def test_few_long_rows_are_cut_over_blocks(
    program: object, n: int, m: int, threads: tuple[int, int], splits: int
) -> None:
    c = kernel(program, n, m, H200)
    s = c.schedule
    assert (s.family, s.mode) == ("scan, split", "split")
    assert ((s.row_threads, s.col_threads), c.launch) == (threads, {"splits": splits})
    sizes = Sizes(hint_of({"n": n, "m": m}), H200)
    assert settle(c.built.fusion, s, sizes)[1:] == (s, c.launch)


@pytest.mark.every(8)
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p is not twice])
def test_values_of_rows_that_are_cut(program: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where chunks have no columns: more of them than that."""
    monkeypatch.setattr(planner, "CHUNK", 64)
    for n, m in ((3, 1500), (1501, 2), (1, 777), (70, 200), (200, 70), (2, 4001)):
        compiled = kernel(program, n, m, H200)
        if compiled.schedule.mode != "split":
            continue
        check_gpu(compiled.graph, {"n": n, "m": m}, compiled=compiled)
        assert parse(dump(compiled.kernel.func)) == compiled.kernel.func
        many = dataclasses.replace(compiled, launch={"splits": 97})
        machines = ({}, {"machine": run_emulated}) if COMPILER is not None else ({},)
        for machine in machines:
            for other in ({"n": n, "m": m}, {"n": max(1, n // 40), "m": max(1, m // 40 * 8)}):
                check_gpu(many.graph, other, compiled=many, **machine)


def test_few_long_rows_that_are_not_cut() -> None:
    """Of scans of scans two kernels are made, unless they find the last of equal extremes, which is found in order."""
    with pytest.raises(Refusal, match="a scan of a scan"):
        kernel(twice, 3, 1 << 20, H200)
    compiled = kernel(latest, 3, 1 << 20, H200)
    assert compiled.schedule.mode == "loop"
    cut = dataclasses.replace(compiled.schedule, mode="split")
    with pytest.raises(Illegal, match="found in order"):
        settle(compiled.built.fusion, cut, Sizes(hint_of({"n": 3, "m": 1 << 20}), H200))


@pytest.mark.parametrize("program", [down, peaks_down])
def test_chunks_of_vectors_of_rows(program: object) -> None:
    """Nobody plans them, but a schedule may say so: a thread has neighbouring rows in its lanes."""
    compiled = kernel(program, 300, 64, H200)
    s = dataclasses.replace(compiled.schedule, mode="split", row_threads=32, col_threads=1, lanes=4, steps=2)
    f, s, _ = settle(compiled.built.fusion, s, Sizes(hint_of({"n": 300, "m": 64}), H200))
    again = dataclasses.replace(compiled, schedule=s, kernel=lower_gpu(f, s, "kernel"), launch={"splits": 7})
    for machine in {} if COMPILER is None else {"machine": run_emulated}, {}:
        check_gpu(again.graph, {"n": 300, "m": 64}, compiled=again, **machine)


def test_sums_of_cut_rows_are_the_same_in_every_run_and_as_near_as_float64_can_be_told() -> None:
    compiled = kernel(along, 3, 60000, H200)
    assert compiled.schedule.mode == "split"
    sizes = {"n": 3, "m": 60000}
    (x,) = random_inputs(compiled.graph, sizes)
    x += 1
    got, again = (run_gpu(compiled, [x], sizes)[compiled.graph.outputs[0]] for _ in range(2))
    want = np.cumsum(x.astype(np.float64), 1)
    assert (np.abs(got - want) <= 0.50001 * np.spacing(np.abs(want).astype(np.float32))).all()
    assert np.array_equal(got, again)


def test_nan_stays_behind_where_it_is_in_rows_that_are_cut() -> None:
    compiled = kernel(along, 2, 40000, H200)
    sizes = {"n": 2, "m": 40000}
    inputs = random_inputs(compiled.graph, sizes)
    inputs[0][0, 20000] = np.nan
    inputs[0][1, 39999] = np.inf
    check_gpu(compiled.graph, sizes, inputs, compiled=compiled)


def test_a_thread_with_a_row_for_itself_needs_nobody() -> None:
    ops = {s.op for s in walk(kernel(down, 100, 1 << 20, H200).kernel.func.body) if isinstance(s, Let)}
    assert not ops & {"tscan", "hscan", "lane"}


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (
            lambda b: [b.scan("sum", x := b.input(f32, (N, M)), 1), b.scan("sum", x, 0)],
            "scans along different axes",
        ),
        (
            lambda b: [b.scan("sum", x := b.input(f32, (N, M)), 1), b.reduce("sum", x, [0])],
            "a reduction over rows beside a scan",
        ),
    ],
)
def test_what_is_refused(program: object, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        kernel(program, 64, 64, H200)
