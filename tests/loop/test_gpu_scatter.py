"""Scatters as GPU kernels, without torch: interpreted Loop IR and emulated CUDA C++ against what graphs mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fusewright.core.dtypes import bf16, bool_, f32, f64, i32, i64
from fusewright.core.errors import Refusal
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import ix, sym
from fusewright.interp.loop import run as run_loop
from fusewright.interp.values import InterpError
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from fusewright.schedule.device import H200
from fusewright.schedule.forms import Illegal
from fusewright.schedule.gpu_scatter import TILE
from fusewright.schedule.legal_gpu import Sizes, settle
from fusewright.schedule.variants import variants
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.kernels import extent, graph_of, random_inputs
from tests.kernels_gpu import SMALL, GpuCompiled, check_gpu, gpu_kernel, hint_of, memory_of, run_gpu
from tests.loop.test_scatter import PROGRAMS, ROW

N, M, V = sym("n"), sym("m"), sym("v")
Program = Callable[[Builder], Any]
REDUCED = ("norm", "row_sums")  # programs that reduce what they scatter
COLLECTED = {name: p for name, p in PROGRAMS.items() if name not in REDUCED}


def inputs_of(graph: Graph, sizes: dict[str, int], often: float = 0.0, low: int = 0) -> list[np.ndarray]:
    """Random inputs; indices are from `low` to v, and the middle one as often as `often` says."""
    inputs, rng = random_inputs(graph, sizes), np.random.default_rng(sizes["n"])
    for x, value in zip(inputs, graph.inputs, strict=True):
        if value.dtype is i64 and value.shape[0] is not V:
            x[...] = rng.integers(low, max(sizes["v"], low + 1), x.shape)
            x[rng.random(x.shape) < often] = sizes["v"] // 2
    return inputs


def of(name: str) -> Graph:
    if name == "rows i64":  # its values are no indices
        name = "rows i32"
    return graph_of(EVERY[name])


def rows_i32(b: Builder) -> Value:
    x, s, at = b.input(i32, (V, M)), b.input(i32, (N, M)), b.input(i64, (N,))
    return b.scatter(x, b.mul(s, b.const(2, i32)), [at], ROW, "sum")


def scaled(b: Builder) -> list[Value]:
    """What becomes of the sums is part of the kernel: two results, one of them of 16 bits."""
    s, at = b.input(f32, (N, M)), b.input(i64, (N,))
    total = b.scatter(b.full((V, M), 0.0, f32), s, [at], ROW, "sum")
    return [total, b.cast(b.mul(total, b.const(0.5, f32)), bf16)]


def embedding_backward(b: Builder) -> Value:
    """Of 16 bits, but for the rows of index 1, and scaled."""
    grad, at = b.input(bf16, (N, M)), b.input(i64, (N,))
    counts = b.unsqueeze(b.ne(at, b.const(1, i64)), 1)
    rows = b.scatter(b.full((ix(7), M), 0.0, bf16), grad, [at], ROW, "sum", counts)
    return b.cast(b.mul(b.cast(rows, f32), b.const(0.5, f32)), bf16)


def index_copy(b: Builder) -> Value:
    """The last of several rows for one place stays."""
    x, s, at = b.input(f32, (ix(9), M)), b.input(f32, (N, M)), b.input(i64, (N,))
    return b.max(b.scatter(x, s, [at], ROW, "set"), b.const(0.0, f32))


def on_top(b: Builder) -> Value:
    """The result is added to another tensor, along a dimension that is broadcast."""
    s, at, y = b.input(f32, (N, M)), b.input(i64, (N,)), b.input(f32, (M,))
    return b.exp(b.add(b.scatter(b.full((V, M), 1.0, f32), s, [at], ROW, "max"), y))


def turned(b: Builder) -> Value:
    """The result is stored across."""
    s, at = b.input(f32, (N, M)), b.input(i64, (N,))
    return b.permute(b.scatter(b.full((V, M), 0.0, f32), s, [at], ROW, "sum"), [1, 0])


def fetched(b: Builder) -> Value:
    """Messages along edges: rows of a tensor, by another index, scaled, and summed."""
    x, w = b.input(f32, (V, M)), b.input(f32, (N, 1))
    source, target = b.input(i64, (N,)), b.input(i64, (N,))
    rows = b.mul(b.gather(x, [source], (N, M), ROW), w)
    return b.scatter(b.full((V, M), 0.0, f32), rows, [target], ROW, "sum")


def fresh(how: str) -> Program:
    """Only what is scattered counts, where something is."""

    def program(b: Builder) -> Value:
        x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
        none = {"sum": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}[how]
        cleared = b.scatter(x, b.full((N, M), none, f32), [at], ROW, "set")
        return b.scatter(cleared, s, [at], ROW, how)

    return program


def ones(b: Builder) -> Value:
    at = b.input(i64, (N,))
    return b.scatter(b.full((V,), 0.0, f32), b.full((N,), 1.0, f32), [at], [("at", 0, (0,))], "sum")


def smaller(b: Builder) -> Value:
    """The points span a part of the target's columns."""
    x, s, at = b.input(f32, (V, M + 3)), b.input(f32, (N, M)), b.input(i64, (N, M))
    return b.scatter(x, s, [at], [("at", 0, (0, 1)), ("dim", 1)], "sum")


def last(b: Builder) -> Value:
    """The target's last dimension is indexed, alike in all rows."""
    x, s, at = b.input(f32, (M, V)), b.input(f32, (M, N)), b.input(i64, (N,))
    return b.scatter(x, s, [at], [("dim", 0), ("at", 0, (1,))], "sum")


def flags(b: Builder) -> Value:
    x, s, at = b.input(bool_, (V, M)), b.input(bool_, (N, M)), b.input(i64, (N,))
    return b.scatter(x, s, [at], ROW, "max")


def one_index(b: Builder) -> Value:
    """All points go to one row."""
    x, s, at = b.input(f64, (V, M)), b.input(f64, (N, M)), b.input(i64, (1,))
    return b.scatter(x, s, [at], ROW, "prod")


def random_values(b: Builder) -> Value:
    x, at, seeds = b.input(f32, (V, M)), b.input(i64, (N,)), b.input(i64, (2,))
    return b.scatter(x, b.random(seeds, 1, (N, M), "uniform", f32), [at], ROW, "sum")


MORE: dict[str, Program] = {
    "rows i32": rows_i32,
    **{f.__name__: f for f in (scaled, on_top, turned, fetched, ones, smaller, last, flags, one_index)},
    **{f"fresh {how}": fresh(how) for how in ("sum", "prod", "max", "min")},
}
EVERY = {**COLLECTED, **MORE}
INEXACT = ("scaled", "on_top")  # relaxed, or functions that NumPy computes in another way
BY_COLUMN = ("masked_points", "two_indices", "batch", "columns", "transposed", "reshaped")  # n * m points, or 3 * n
PIECE = 32  # the least points of a piece


def exactness(name: str, n: int, m: int) -> dict[str, float]:
    """Bit for bit what the graph means, one point after the other, unless a row may be cut into pieces."""
    points = n * max(m, 3) if name in BY_COLUMN else n
    return {"tolerance": 0} if points < PIECE and name not in INEXACT else {}


SIZES = [(1, 1, 1), (30, 8, 3), (5, 12, 70), (30, 1, 70), (7, 33, 5), (0, 8, 3), (5, 0, 3), (5, 300, 3)]


@pytest.mark.every(6)
@pytest.mark.parametrize("name", EVERY)
def test_values(name: str) -> None:
    for n, m, v in SIZES:
        graph, sizes = of(name), {"n": n, "m": m, "v": v}
        if name == "one_index" and n == 0:
            continue
        compiled = gpu_kernel(graph, sizes)
        compiled.kernel.func = parse(dump(compiled.kernel.func))
        verify(compiled.kernel.func)
        check_gpu(graph, sizes, inputs_of(graph, sizes, low=-v), compiled=compiled, **exactness(name, n, m))


LARGE = [
    ("rows sum", 2 * TILE, 4, 3, 0.0),  # a bucket has more points than a block can sort: of one row,
    ("rows sum", 2 * TILE, 3, 900, 0.8),  # and of several, one of which has most
    ("rows set", 900, 3, 700, 0.5),
    ("rows bf16", 900, 8, 50, 0.3),
    ("masked", 900, 5, 400, 0.5),
    ("points", TILE + 5, 1, 3000, 0.6),
    ("columns", 30, 40, 33, 0.5),
    ("batch", 40, 30, 50, 0.5),
    ("fresh prod", 300, 4, 5, 0.0),
    ("fetched", 900, 8, 40, 0.5),
    ("ones", 4000, 1, 8, 0.0),
]


def check_emulated(c: GpuCompiled, inputs: Any, sizes: dict[str, int]) -> None:
    """The kernel as C++ has the bits of the interpreter."""
    if COMPILER is None:
        pytest.skip(MISSING)
    mine, emulated = run_gpu(c, inputs, sizes), run_gpu(c, inputs, sizes, run_emulated)
    for value, result in mine.items():
        np.testing.assert_array_equal(emulated[value], result)


@pytest.mark.every(4)
@pytest.mark.parametrize(("name", "n", "m", "v", "often"), LARGE, ids=[f"{c[0]}-{c[1]}-{c[3]}" for c in LARGE])
def test_many_points(name: str, n: int, m: int, v: int, often: float) -> None:
    """Several tiles, chunks of a bucket, and rows long enough for pieces."""
    graph, sizes = of(name), {"n": n, "m": m, "v": v}
    inputs = inputs_of(graph, sizes, often)
    check_emulated(check_gpu(graph, sizes, inputs), inputs, sizes)


CROWDS = [  # blocks share crowded buckets:
    ("rows sum", 4 * TILE + 100, 2, 900, 0.9),  # of several rows,
    ("rows sum", 4 * TILE - 100, 2, 3, 0.0),  # of a single row, all of them,
    ("masked", 5 * TILE, 2, 700, 0.8),
    ("rows max", 5 * TILE, 1, 3000, 0.5),  # and among others that are not crowded
]


@pytest.mark.parametrize(("name", "n", "m", "v", "often"), CROWDS, ids=[f"{c[0]}-{c[1]}-{c[3]}" for c in CROWDS])
def test_crowded_buckets(name: str, n: int, m: int, v: int, often: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fusewright.schedule.gpu_scatter.CROWDED", TILE)  # of fewer points than else
    graph, sizes = of(name), {"n": n, "m": m, "v": v}
    inputs = inputs_of(graph, sizes, often)
    c = check_gpu(graph, sizes, inputs)
    assert (c.launch["crowds"], c.launch["crowd"], c.launch["run"]) == (1, TILE, 16 if n > 4 * TILE else n)
    check_emulated(c, inputs, sizes)


@pytest.mark.every(6)
@pytest.mark.skipif(COMPILER is None, reason=MISSING)
@pytest.mark.parametrize("name", [n for n in EVERY if n not in INEXACT])
def test_emulated(name: str) -> None:
    graph, sizes = of(name), {"n": 90, "m": 24, "v": 30}
    inputs = inputs_of(graph, sizes, 0.2, low=-30)
    check_gpu(graph, sizes, inputs, machine=run_emulated)


def test_random_values_are_those_of_their_elements() -> None:
    graph = graph_of(random_values)
    for n, m, v in ((5, 64, 3), (40, 33, 3), (7, 1, 9)):
        sizes = {"n": n, "m": m, "v": v}
        inputs = inputs_of(graph, sizes)
        inputs[-1][:] = (7, 8)
        check_gpu(graph, sizes, inputs, tolerance=0)


def test_64_bit_indices() -> None:
    for name in ("rows sum", "batch", "points", "rows set"):
        graph, sizes = of(name), {"n": 90, "m": 12, "v": 600}
        c = gpu_kernel(graph, sizes)
        c.schedule = replace(c.schedule, index=64)
        c.kernel = lower_gpu(c.built.fusion, c.schedule, "kernel")
        verify(c.kernel.func)
        check_gpu(graph, sizes, inputs_of(graph, sizes), compiled=c)


@pytest.mark.parametrize("alignment", [8, 4, 2])
def test_addresses_that_are_not_multiples_of_16(alignment: int) -> None:
    for name in ("rows sum", "rows bf16", "rows set"):
        graph, sizes = of(name), {"n": 40, "m": 64, "v": 9}
        c = check_gpu(graph, sizes, inputs_of(graph, sizes), alignment=alignment)
        assert c.schedule.lanes * min(b.dtype.itemsize for b in c.built.fusion.buffers) <= max(alignment, 4)


# ---- the schedule -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sizes", "nest"),
    [  # rows, columns, vector, lanes, threads of a row, steps
        ("rows sum", (65536, 768, 50257), (("i0",), ("i1",), "i1", 4, 32, 3)),
        ("rows sum", (1000, 64, 100), (("i0",), ("i1",), "i1", 4, 16, 1)),
        ("rows bf16", (65536, 4096, 128256), (("i0",), ("i1",), "i1", 8, 32, 4)),
        ("points", (1000, 1, 100), (("i0",), (), "", 1, 1, 1)),
        ("batch", (100, 50, 70), (("i0i1",), (), "", 1, 1, 1)),
        ("columns", (100, 50, 70), (("i0i1",), (), "", 1, 1, 1)),
        ("middle", (100, 64, 70), (("i1",), ("i0", "i2"), "i2", 4, 32, 2)),
        ("transposed", (100, 64, 70), (("i0",), ("i1",), "i1", 4, 32, 1)),
        ("last", (100, 64, 70), (("i1",), ("i0",), "", 1, 1, 4)),  # neighbouring rows are neighbours in memory
        ("reshaped", (100, 64, 70), (("i0",), ("i1",), "i1", 4, 16, 1)),
    ],
)
def test_nest(name: str, sizes: tuple[int, int, int], nest: Any) -> None:
    c = gpu_kernel(of(name), dict(zip("nmv", sizes, strict=True)), H200)
    s = c.schedule
    assert (s.family, s.mode) == ("scatter", "collect")
    assert (s.rows, s.cols, s.vector, s.lanes, s.col_threads, s.steps) == nest


@pytest.mark.parametrize(
    ("n", "v", "launch"),
    [
        (1, 1, (1, 1, 0, 1, 32, 1, 0, TILE)),
        (8192, 50257, (256, 4, 4, 2, 32, 8192, 0, TILE)),
        (65536, 50257, (256, 4, 4, 5, 64, 16, 0, TILE)),
        (1000000, 100000, (256, 5, 4, 9, 256, 64, 1, TILE)),
        (1000000, 1 << 20, (2048, 5, 6, 9, 256, 64, 0, TILE)),  # 508 buckets would be 257, of more rows
        (1 << 24, 256, (1, 5, 0, 13, 256, 64, 1, 130561)),  # no bucket is more crowded than others
        (1 << 24, 1 << 20, (2048, 5, 6, 13, 256, 64, 0, 65408)),
    ],
)
def test_sizes_of_the_launch(n: int, v: int, launch: tuple[int, ...]) -> None:
    """They are no part of the kernel: the buckets, the digits to sort by, and how long pieces are."""
    assert tuple(gpu_kernel(of("points"), {"n": n, "m": 1, "v": v}, H200).launch.values()) == launch


def test_one_kernel_for_all_sizes() -> None:
    texts = {
        dump(gpu_kernel(of("rows sum"), {"n": n, "m": 768, "v": v}, H200).kernel.func)
        for n, v in ((5, 9), (70000, 5000))
    }
    assert len(texts) == 1


def test_directives() -> None:
    assert gpu_kernel(of("rows sum"), {"n": 8192, "m": 768, "v": 50257}, H200).schedule.directives() == [
        "mode(collect)",
        "bind(i0, grid)",
        "bind(i1, threads)",
        "bind(i1, vector, 4)",
        "threads(rows, 4)",
        "threads(columns, 32)",
        "unroll(columns, 3)",
        "cluster(columns, 1)",
        "index(32)",
        *(f"hint({name}, aligned)" for name in ("in1", "in2", "out3")),
        "keep(values, registers)",
        "unroll(rows, 1)",
    ]


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["rows sum", "points", "last", "rows set"])
def test_other_schedules_compute_the_same(name: str) -> None:
    """What an autotuner tries: other threads, and vectors of each."""
    graph, sizes = of(name), {"n": 70, "m": 40, "v": 20}
    c, inputs = gpu_kernel(graph, sizes), inputs_of(graph, sizes, 0.5)
    facts = Sizes(hint_of(sizes), SMALL)  # type: ignore[arg-type]
    want = run_gpu(c, inputs, sizes)
    tried = list(variants(c.built.original, c.schedule, facts))
    assert len(tried) > 10 and tried[0][1] == c.schedule
    for f, s, launch in tried[1::9]:
        kernel = lower_gpu(f, s, "kernel")
        verify(kernel.func)
        for v, got in run_gpu(replace(c, schedule=s, kernel=kernel, launch=launch), inputs, sizes).items():
            np.testing.assert_array_equal(got, want[v])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"mode": "tile"}, "'mode' is not to be chosen"),
        ({"lanes": 2}, "'lanes' is not to be chosen"),
        ({"col_threads": 3}, "powers of two up to 1024"),
        ({"row_threads": 64, "col_threads": 32}, "2048 threads"),
        ({"steps": 9}, "up to 8"),
        ({"aligned": frozenset()}, "'aligned' is not to be chosen"),
    ],
)
def test_what_cannot_be_chosen(change: dict[str, Any], why: str) -> None:
    sizes = {"n": 70, "m": 40, "v": 20}
    c = gpu_kernel(of("rows sum"), sizes)
    with pytest.raises(Illegal, match=why):
        settle(c.built.original, replace(c.schedule, **change), Sizes(hint_of(sizes), SMALL))  # type: ignore[arg-type]


# ---- what is refused ------------------------------------------------------------------------------------------


def _two_targets(b: Builder) -> list[Value]:
    x, y, s, at = b.input(f32, (V, M)), b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    return [b.scatter(x, s, [at], ROW, "sum"), b.scatter(y, s, [at], ROW, "sum")]


def _chain(b: Builder) -> Value:
    x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    return b.scatter(b.scatter(x, s, [at], ROW, "sum"), b.exp(s), [at], ROW, "sum")


def _cleared_elsewhere(b: Builder) -> Value:
    x, s = b.input(f32, (V, M)), b.input(f32, (N, M))
    at, other = b.input(i64, (N,)), b.input(i64, (N,))
    return b.scatter(b.scatter(x, b.full((N, M), 0.0, f32), [other], ROW, "set"), s, [at], ROW, "sum")


def _also_stores_the_source(b: Builder) -> list[Value]:
    x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    y = b.neg(s)
    return [b.scatter(x, y, [at], ROW, "sum"), y]


def _reduced_after(b: Builder) -> Value:
    x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    return b.reduce("sum", b.scatter(x, s, [at], ROW, "sum"), [1])


def _read_elsewhere(b: Builder) -> Value:
    x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    y = b.scatter(x, s, [at], ROW, "sum")
    return b.add(y, b.flip(y, [0]))


def _stored_larger(b: Builder) -> Value:
    x, s, at, y = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,)), b.input(f32, (ix(3), V, M))
    return b.mul(b.scatter(x, s, [at], ROW, "sum"), y)


def _scanned_source(b: Builder) -> Value:
    x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    return b.scatter(x, b.scan("sum", s, 0), [at], ROW, "sum")


def _index_from_a_reduction(b: Builder) -> Value:
    x, s = b.input(f32, (V, M)), b.input(f32, (N, M))
    return b.scatter(x, s, [b.reduce("argmax", s, [1])], ROW, "sum")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (PROGRAMS["norm"], "a reduce feeds a scatter"),
        (_scanned_source, "a scan feeds a scatter"),
        (_index_from_a_reduction, "a reduce feeds a scatter"),
        (_two_targets, "two scatters in one kernel"),
        (_chain, "two scatters in one kernel"),
        (_cleared_elsewhere, "two scatters in one kernel"),
        (_also_stores_the_source, "other elements than the target"),
        (_reduced_after, "a reduce beside a scatter"),
        (_read_elsewhere, "is read at"),
        (_stored_larger, "other elements than the target"),
    ],
)
def test_refusals(program: Program, reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        gpu_kernel(graph_of(program), {"n": 40, "m": 8, "v": 9})


def test_too_many_rows() -> None:
    with pytest.raises(Refusal, match="rows"):
        gpu_kernel(of("points"), {"n": 40, "m": 8, "v": 1 << 30})


# ---- memory --------------------------------------------------------------------------------------------------


def failed(c: GpuCompiled, inputs: list[np.ndarray], sizes: dict[str, int]) -> bool:
    env = {**sizes, **c.launch}
    numbers = {r.name: n for r, n in zip(c.kernel.func.sizes, c.kernel.evaluate(env), strict=True)}
    return run_loop(c.kernel.func, memory_of(c, inputs, sizes), numbers)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["rows sum", "points", "batch", "columns", "rows set"])
def test_an_index_out_of_range_is_reported_and_writes_nothing(name: str) -> None:
    """The interpreter would say if anything were written outside of a buffer."""
    graph, sizes = of(name), {"n": 40, "m": 20, "v": 9}
    c, inputs = gpu_kernel(graph, sizes), inputs_of(graph, sizes)
    index = next(k for k, x in enumerate(graph.inputs) if x.dtype is i64)
    for at, wrong in ((8, False), (-9, False), (9, True), (-10, True), (1 << 40, True), (-(1 << 62), True)):
        inputs[index][...] = at
        assert failed(c, inputs, sizes) is wrong


def test_what_the_mask_leaves_out_is_not_checked() -> None:
    def program(b: Builder) -> Value:
        s, at = b.input(f32, (N, M)), b.input(i64, (N,))
        counts = b.lt(at, b.const(5, i64))
        return b.scatter(b.full((ix(5), M), 0, f32), s, [at], ROW, "sum", b.unsqueeze(counts, 1))

    graph, sizes = graph_of(program), {"n": 4, "m": 3}
    inputs = random_inputs(graph, sizes)
    inputs[1][:] = (0, 5, 1 << 50, 4)
    (got,) = run_gpu(gpu_kernel(graph, sizes), inputs, sizes).values()
    want = np.zeros(extent(graph.outputs[0].shape, sizes), np.float32)
    want[0], want[4] = inputs[0][0], inputs[0][3]
    np.testing.assert_array_equal(got, want)


def test_races_would_be_found() -> None:
    """Without the barrier after the items are written, threads read what others have not."""
    graph, sizes = of("rows sum"), {"n": 900, "m": 4, "v": 2000}
    c = gpu_kernel(graph, sizes)
    text = dump(c.kernel.func)
    for reason in ("the tile's points are there", "the bucket's points are there", "where each row goes on is known"):
        assert f'barrier "{reason}"' in text
        c.kernel.func = parse(text.replace(f'barrier "{reason}"', ""))
        with pytest.raises(InterpError, match=r"race|before it is written"):
            run_gpu(c, inputs_of(graph, sizes), sizes)
