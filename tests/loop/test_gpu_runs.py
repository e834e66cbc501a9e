"""Short rows that pass through shared memory as one run of memory, interpreted and emulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME, bf16, f16, f32, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import ix, sym
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from fusewright.schedule import gpu_runs
from fusewright.schedule.device import H200
from fusewright.schedule.forms import Illegal
from fusewright.schedule.legal_gpu import Sizes, settle
from fusewright.schedule.variants import variants
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.golden import cases
from tests.kernels import graph_of, random_inputs
from tests.kernels_gpu import GpuCompiled, check_gpu, gpu_kernel, hint_of
from tests.loop import test_gpu_lowering as programs
from tests.loop import test_gpu_moved as moved
from tests.loop import test_gpu_scans as scans

N, M = sym("n"), sym("m")
NEEDS_COMPILER = pytest.mark.skipif(COMPILER is None, reason=MISSING)
Program = Callable[[Builder], "Value | list[Value]"]


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_runs, "FEW", 0)


def weighted(b: Builder) -> Value:
    """An operand of every column, and one of every row, which are read where they are."""
    x, w, s = b.input(f16, (N, M)), b.input(f32, (M,)), b.input(f32, (N, 1))
    return b.cast(b.sub(b.mul(b.mul(b.cast(x, f32), w), s), b.reduce("max", b.cast(x, f32), [1], keepdim=True)), f16)


def doubles(b: Builder) -> list[Value]:
    x, z = b.input(BY_NAME["f64"], (N, M)), b.input(i64, (N, M))
    return [b.reduce("sum", x, [1]), b.reduce("max", z, [1]), b.add(z, b.const(1, i64))]


def several_axes(b: Builder) -> Value:
    """Rows of two axes, one of which an operand lacks, and columns of two."""
    x, y = b.input(bf16, (N, ix(3), M, ix(2))), b.input(f32, (ix(3), M, 1))
    x = b.mul(b.cast(x, f32), y)
    return b.cast(b.div(x, b.reduce("sum", b.abs(x), [2, 3], keepdim=True)), bf16)


def shifted(b: Builder) -> list[Value]:
    """Rows from the second element of a tensor on, which is no multiple of 16 bytes, and another's from its first."""
    x, y = b.input(bf16, (N * M + 1,)), b.input(bf16, (N, M))
    x = b.reshape(b.slice(x, 0, 1, 1, N * M), (N, M))
    return [b.reduce("sum", b.cast(x, f32), [1]), b.reduce("sum", b.cast(y, f32), [1])]


def beside(b: Builder, later: bool) -> Value:
    """An element, and the one before it in its row or 0, which is read on a condition, where it is."""
    x = b.input(f32, (N, M))
    before = b.pad(b.slice(x, 1, 0, 1, M - 1), [0, 1], [0, 0], b.const(0.0, f32))
    pair = (before, b.add(x, b.const(1.0, f32)))
    return b.reduce("sum", b.mul(*(pair if later else pair[::-1])), [1])


PASSING: dict[str, Program] = {
    "softmax": programs.softmax16,
    "norm": moved.norm16,
    "sums": moved.sums16,
    "extremes": moved.extremes,
    "argmax": cases.argmax,
    "log_sum_exp": programs.log_sum_exp,
    "moments": programs.moments,
    "mixed": lambda b: [*moved.mixed(b), b.reduce("sum", b.input(f32, (N, M)), [1])],
    "small": moved.small,
    "doubles": doubles,
    "weighted": weighted,
    "cumsum": scans.along,
    "several axes": several_axes,
    "before": lambda b: beside(b, False),
    "after": lambda b: beside(b, True),
}


def passing(graph: Graph, n: int, m: int, **kwargs: object) -> GpuCompiled:
    c = gpu_kernel(graph, {"n": n, "m": m}, H200, **kwargs)
    assert c.schedule.runs, f"{n}x{m} does not pass through shared memory"
    return c


@pytest.mark.every(4)
@pytest.mark.parametrize("name", PASSING)
def test_every_length(name: str) -> None:
    """Rows of 1 to 40 columns, as many as leave the last run whole, partial, or shorter than a vector."""
    graph = graph_of(PASSING[name])
    seen = 0
    for m in (*range(1, 24), 31, 37, 54, 61):
        sizes = {"n": (1, 16, 300, 129)[m % 4], "m": m}
        c = check_gpu(graph, sizes, gpu=H200)
        seen += bool(c.schedule.runs)
    assert seen > 10, f"only {seen} lengths passed through shared memory"


@pytest.mark.parametrize("name", ["sums", "softmax", "moments", "cumsum", "several axes"])
@pytest.mark.parametrize(("n", "m"), [(0, 13), (300, 0), (0, 0)])
def test_nothing(name: str, n: int, m: int) -> None:
    """No rows, or rows without columns."""
    check_gpu(graph_of(PASSING[name]), {"n": n, "m": m}, gpu=H200)


@pytest.mark.every(4)
@NEEDS_COMPILER
@pytest.mark.parametrize("name", PASSING)
def test_in_the_emulation(name: str) -> None:
    graph = graph_of(PASSING[name])
    for n, m in ((20, 3), (300, 7)):
        sizes = {"n": n, "m": m}
        check_gpu(graph, sizes, compiled=passing(graph, n, m), machine=run_emulated)


@pytest.mark.parametrize(
    ("columns", "vector", "size", "threads", "words"),
    [(64, 4, 4, 1, 32), (65, 4, 4, 1, 1), (63, 2, 2, 16, 2), (130, 4, 2, 8, 4), (130, 4, 2, 16, 2), (8, 16, 2, 1, 4)],
)
def test_words_that_meet_in_a_bank(columns: int, vector: int, size: int, threads: int, words: int) -> None:
    assert gpu_runs.meetings(columns, vector, size, threads) == words


@pytest.mark.parametrize(
    ("m", "rows", "threads"), [(63, 16, 16), (75, 16, 8), (106, 16, 8), (130, 8, 16), (190, 8, 16)]
)
def test_threads_that_meet_in_few_banks(m: int, rows: int, threads: int) -> None:
    """Rows whose threads would wait for each other's banks are shared by more of them."""
    graph = graph_of(moved.norm16)
    c = passing(graph, 200, m)
    assert (c.schedule.row_threads, c.schedule.col_threads) == (rows, threads)
    check_gpu(graph, {"n": 200, "m": m}, compiled=c)


@pytest.mark.parametrize("name", PASSING)
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_several_rounds(name: str, rounds: int) -> None:
    """A block has more rows than threads for them."""
    graph = graph_of(PASSING[name])
    for n, m in ((150, 1), (700, 1), (700, 3)):
        c = passing(graph, n, m)
        columns = 2 * m if name == "several axes" else m
        if rounds * c.schedule.row_threads * columns <= gpu_runs.room(c.built.fusion, c.schedule):
            c.launch = {"rounds": rounds}
            check_gpu(graph, {"n": n, "m": m}, compiled=c)
        else:
            assert m > 1


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("program", [programs.moments, programs.softmax16, moved.norm16, scans.along])
def test_infinities_and_nans(program: Program, special: float) -> None:
    graph, sizes = graph_of(program), {"n": 40, "m": 11}
    inputs = random_inputs(graph, sizes)
    inputs[0][3, 4] = special
    inputs[0][20] = special
    inputs[0][39, 10] = special
    check_gpu(graph, sizes, inputs, compiled=passing(graph, **sizes))


def test_when_rows_pass_through_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where vectors along them would be narrow, they follow each other in memory, and there are many."""
    monkeypatch.undo()

    def runs(program: Program, n: int, m: int, **kwargs: object) -> frozenset[str]:
        return gpu_kernel(graph_of(program), {"n": n, "m": m}, H200, **kwargs).schedule.runs

    assert runs(moved.sums16, 1_000_000, 3) == {"in0"}
    assert runs(programs.softmax16, 1_000_000, 13) == {"in0", "out1"}
    assert runs(scans.along, 1_000_000, 7) == {"in0", "out1"}
    assert not runs(moved.sums16, 1_000_000, 16)  # whole vectors
    assert not runs(moved.sums16, 1_000, 13)  # few rows
    assert not runs(moved.sums16, 100_000, 999)  # long ones
    assert not runs(moved.off_by_one, 1_000_000, 13)  # with gaps between them
    assert not runs(moved.sums16, 1_000_000, 13, alignment=8)
    assert runs(shifted, 1_000_000, 13) in (frozenset(), {"in1"})


def test_a_run_is_no_longer_than_its_room() -> None:
    """Whatever a schedule's threads, rows and rounds: shared memory has an end."""
    for program in (moved.sums16, programs.softmax16, doubles, several_axes, moved.mixed):
        for m in (1, 2, 3, 5, 7, 13, 15, 31, 61, 97):
            c = gpu_kernel(graph_of(program), {"n": 2_000_000, "m": m}, H200)
            if c.schedule.runs:
                columns = {several_axes: 2 * m}.get(program, m)
                rows = c.schedule.row_threads * c.launch["rounds"]
                assert rows * columns <= gpu_runs.room(c.built.fusion, c.schedule), (m, c.schedule)


def test_what_is_legal() -> None:
    c = passing(graph_of(programs.softmax16), 300, 7)
    sizes = Sizes(hint_of({"n": 300, "m": 7}), H200)
    f, s, launch = settle(c.built.fusion, c.schedule, sizes)
    assert launch == {"rounds": 1} and s == c.schedule
    for wrong, why in (
        ({"row_threads": 4, "col_threads": 32}, "multiple of 8 rows"),
        ({"cluster": 2}, "whole rows of their own"),
        ({"interleaved": True}, "follow each other"),
        ({"keep_in": "shared", "keep": "loads"}, "follow each other"),
    ):
        with pytest.raises(Illegal, match=why):
            settle(f, replace(s, **wrong), sizes)
    with pytest.raises(Illegal, match="no more than"):
        settle(f, replace(s, steps=40), Sizes(hint_of({"n": 300, "m": 40}), H200))
    apart = gpu_kernel(graph_of(moved.off_by_one), {"n": 300, "m": 7}, H200)
    other = replace(apart.schedule, runs=frozenset({"in0"}), mode="loop", row_threads=128, col_threads=1, anchor="")
    assert not settle(apart.built.fusion, other, Sizes(hint_of({"n": 300, "m": 7}), H200))[1].runs


def test_variants_with_and_without() -> None:
    graph, sizes = graph_of(programs.softmax16), {"n": 300, "m": 14}
    c = passing(graph, **sizes)
    given = random_inputs(graph, sizes)
    found = list(variants(c.built.fusion, c.schedule, Sizes(hint_of(sizes), H200)))
    assert {bool(s.runs) for _, s, _ in found} == {True, False}
    for f, s, launch in found[:40]:
        kernel = lower_gpu(f, s, "kernel")
        verify(kernel.func)
        assert dump(parse(dump(kernel.func))) == dump(kernel.func)
        check_gpu(graph, sizes, given, compiled=replace(c, schedule=s, kernel=kernel, launch=launch))
