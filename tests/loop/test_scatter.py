"""Kernels that scatter, without torch: what their threads divide, that they compute what the graph means, and races."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fusewright.core.dtypes import DType, bf16, f32, f64, i32, i64
from fusewright.core.errors import Refusal
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import ix, sym
from fusewright.interp.loop import InterpError
from fusewright.loop.lower import lower
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from tests.kernels import Compiled, check, extent, graph_of, kernel, planned, random_inputs, run

N, M, V = sym("n"), sym("m"), sym("v")
Program = Callable[[Builder], Value]
ROW = [("at", 0, (0,)), ("dim", 1)]


def rows(how: str = "sum", dtype: DType = f32, width: Any = M) -> Program:
    """Rows of a source, scaled, by an index."""

    def program(b: Builder) -> Value:
        x, s, at = b.input(dtype, (V, width)), b.input(dtype, (N, width)), b.input(i64, (N,))
        return b.scatter(x, b.mul(s, b.const(2, dtype)), [at], ROW, how)

    return program


def masked(b: Builder) -> Value:
    s, at = b.input(f32, (N, M)), b.input(i64, (N,))
    counts = b.ne(at, b.const(1, i64))
    return b.scatter(b.full((V, M), 0, f32), s, [at], ROW, "sum", b.unsqueeze(counts, 1))


def masked_points(b: Builder) -> Value:
    """The mask depends on the columns too."""
    x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    return b.scatter(x, s, [at], ROW, "set", b.gt(s, b.const(0.0, f32)))


def points(b: Builder) -> Value:
    x, s, at = b.input(f32, (V,)), b.input(f32, (N,)), b.input(i64, (N,))
    return b.scatter(x, s, [at], [("at", 0, (0,))], "sum")


def two_indices(b: Builder) -> Value:
    x, s, i, j = b.input(f32, (V, V)), b.input(f32, (N, M)), b.input(i64, (N, 1)), b.input(i64, (M,))
    return b.scatter(x, s, [i, j], [("at", 0, (0, 1)), ("at", 1, (1,))], "prod")


def batch(b: Builder) -> Value:
    x, s, at = b.input(bf16, (N, V)), b.input(bf16, (N, M)), b.input(i64, (N, M))
    return b.scatter(x, s, [at], [("dim", 0), ("at", 0, (0, 1))], "sum")


def columns(b: Builder) -> Value:
    x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N, M))
    return b.scatter(x, s, [at], [("at", 0, (0, 1)), ("dim", 1)], "set")


def middle(b: Builder) -> Value:
    x, s, at = b.input(i32, (ix(3), V, M)), b.input(i32, (ix(3), N, M)), b.input(i64, (N,))
    return b.scatter(x, s, [at], [("dim", 0), ("at", 0, (1,)), ("dim", 2)], "max")


def transposed(b: Builder) -> Value:
    """The source's rows are the target's columns, and points must keep the source's order."""
    x, s, at = b.input(f32, (V, N)), b.input(f32, (N, M)), b.input(i64, (M,))
    return b.scatter(x, s, [at], [("at", 0, (1,)), ("dim", 0)], "sum")


def norm(b: Builder) -> Value:
    s, at = b.input(f64, (N, M)), b.input(i64, (N,))
    src = b.sub(s, b.reduce("sum", b.mul(s, s), [1], keepdim=True))
    return b.scatter(b.full((V, M), 1, f64), src, [at], ROW, "sum")


def row_sums(b: Builder) -> Value:
    s, at = b.input(f64, (N, M)), b.input(i64, (N,))
    return b.scatter(b.full((V,), 0, f64), b.reduce("sum", s, [1]), [at], [("at", 0, (0,))], "sum")


def reshaped(b: Builder) -> Value:
    """Three loops that merge into two."""
    s, at = b.input(f32, (N, ix(3), M)), b.input(i64, (N, ix(3)))
    base = b.full((V, M), 0, f32)
    return b.scatter(base, s, [at], [("at", 0, (0, 1)), ("dim", 2)], "sum")


PROGRAMS: dict[str, Program] = {
    **{f"rows {how}": rows(how) for how in ("set", "sum", "prod", "max", "min")},
    **{f.__name__: f for f in (masked, masked_points, points, two_indices, batch, columns, middle, transposed)},
    **{f.__name__: f for f in (norm, row_sums, reshaped)},
    "rows bf16": rows("sum", bf16),
    "rows bf16 set": rows("set", bf16),
    "rows i64": rows("sum", i64),
    "wide rows": rows("sum", f32, ix(1100)),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str, threads: int) -> None:
    """Bit for bit what the graph means, whatever the sizes and threads."""
    graph = graph_of(PROGRAMS[name])
    c = kernel(graph)
    c.kernel.func = parse(dump(c.kernel.func))
    verify(c.kernel.func)
    for n, m, v in itertools.product((1, 5, 33, 0), (1, 7, 40, 0), (1, 3, 70)):
        sizes = {"n": n, "m": m, "v": v}
        inputs = random_inputs(graph, sizes)
        rng = np.random.default_rng(n)
        for x, value in zip(inputs, graph.inputs, strict=True):
            if value.dtype is i64 and not (name == "rows i64" and value.rank == 2):
                x[...] = rng.integers(-v, v, x.shape)  # negative ones count from the end
        exact = name not in ("norm", "row_sums")
        check(graph, sizes, threads, inputs, c, tolerance=0 if exact else 1e-12)


def test_scatters_into_one_tensor() -> None:
    def program(b: Builder) -> Value:
        x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
        cleared = b.scatter(x, b.full((N, M), 0, f32), [at], ROW, "set")
        return b.scatter(cleared, b.sub(s, b.reduce("max", s, [1], keepdim=True)), [at], ROW, "sum")

    graph = graph_of(program)
    sizes = {"n": 33, "m": 20, "v": 4}
    inputs = random_inputs(graph, sizes)
    inputs[2] %= 3
    for threads in (1, 3):
        check(graph, sizes, threads, inputs, tolerance=0)


@pytest.mark.parametrize(
    ("name", "loops", "vector", "owner"),
    [
        ("rows sum", (("i0",), ("i1",)), "i1", 0),  # every thread takes rows of the target
        ("wide rows", (("i0",), ("i1",)), "i1", "i1"),  # or columns of it
        ("points", ((), ("i0",)), "", None),  # one thread
        ("batch", (("i0",), ("i1",)), "", "i0"),
        ("columns", (("i0",), ("i1",)), "", "i1"),
        ("middle", (("i0", "i1"), ("i2",)), "i2", 0),
        ("transposed", (("i1",), ("i0",)), "i0", 0),
        ("norm", (("i0",), ("i1",)), "i1", 0),
        ("row_sums", (("i0",), ("i1",)), "i1", 0),
        ("reshaped", (("i0i1",), ("i2",)), "i2", 0),
    ],
)
def test_what_threads_divide(name: str, loops: Any, vector: str, owner: str | int | None) -> None:
    _, s = planned(graph_of(PROGRAMS[name]))
    assert (s.family, (s.rows, s.cols), s.vector, s.owner) == ("scatter", loops, vector, owner)


def test_directives() -> None:
    _, s = planned(graph_of(PROGRAMS["rows sum"]))
    assert s.directives() == [
        "before: split(o0o1, 8192)",
        "before: bind(o0o1, vector, 16)",
        "divide(coordinate 0, parallel)",
        "bind(i0, ordered)",
        "bind(i1, vector, 16)",
    ]


def _reads_itself(b: Builder) -> Value:
    x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    return b.neg(b.scatter(x, s, [at], ROW, "sum"))


def _two_targets(b: Builder) -> list[Value]:
    x, y, s, at = b.input(f32, (V, M)), b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    return [b.scatter(x, s, [at], ROW, "sum"), b.scatter(y, s, [at], ROW, "sum")]


def _also_stores(b: Builder) -> list[Value]:
    x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    y = b.neg(s)
    return [b.scatter(x, y, [at], ROW, "sum"), y]


def _reduced_base(b: Builder) -> Value:
    x, s, at = b.input(f32, (V, M, N)), b.input(f32, (N, M)), b.input(i64, (N,))
    return b.scatter(b.reduce("sum", x, [2]), s, [at], ROW, "sum")


def _scanned_source(b: Builder) -> Value:
    x, s, at = b.input(f32, (V, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    return b.scatter(x, b.scan("sum", s, 0), [at], ROW, "sum")


def _index_from_a_reduction(b: Builder) -> Value:
    x, s = b.input(f32, (V, M)), b.input(f32, (N, M))
    return b.scatter(x, s, [b.reduce("argmax", s, [1])], ROW, "sum")


def _dear_points(b: Builder) -> Value:
    x, s, at = b.input(f32, (V,)), b.input(f32, (N,)), b.input(i64, (N,))
    return b.scatter(x, b.tan(b.lgamma(s)), [at], [("at", 0, (0,))], "sum")


def _backwards(b: Builder) -> Value:
    """Points in the order of a reshape that the loops cannot follow: reversed."""
    x, s, at = b.input(f32, (V,)), b.input(f32, (N, M)), b.input(i64, (N,))
    total = b.flip(b.reduce("sum", s, [1]), [0])
    return b.scatter(x, total, [at], [("at", 0, (0,))], "sum")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (_reads_itself, "its result is read elsewhere"),
        (_two_targets, "two tensors are scattered into"),
        (_also_stores, "stores nothing else"),
        (_reduced_base, "the base of a scatter is the result of a reduction"),
        (_scanned_source, "a scan feeds a scatter"),
        (_index_from_a_reduction, "an index is the result of a reduction"),
        (_dear_points, "dear arithmetic"),
        (_backwards, "not numbered along its loops"),
    ],
)
def test_refusals(program: Any, reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        kernel(graph_of(program))


SIZES = {"n": 40, "m": 20, "v": 9}


def _attempt(change: tuple[str, str], name: str = "rows sum", at: int | None = None) -> bool:
    """Run a kernel whose text was changed; whether it reported failure."""
    graph = graph_of(PROGRAMS[name])
    c = kernel(graph)
    text = dump(c.kernel.func)
    assert change[0] in text
    c.kernel.func = parse(text.replace(*change))
    inputs = random_inputs(graph, SIZES)
    for x, value in zip(inputs, graph.inputs, strict=True):
        if value.dtype is i64:
            x[...] = np.random.default_rng(0).integers(0, 9, x.shape) if at is None else at
    return run(c, inputs, SIZES, threads=3)[1]


def test_a_wrong_owner_is_a_race() -> None:
    """Threads that write what is not theirs are found out: here their range has no lower bound."""
    text = dump(kernel(graph_of(PROGRAMS["rows sum"])).kernel.func)
    low = next(x for x in text.splitlines() if "= ge(" in x and not x.endswith(", 0)"))
    assert not _attempt((low, low))
    with pytest.raises(InterpError, match="race"):
        _attempt((low, f"{low.split('=')[0]}= eq(0, 0)"))


@pytest.mark.parametrize("name", ["rows sum", "points", "batch", "columns", "row_sums"])
def test_an_index_out_of_range_is_reported(name: str) -> None:
    assert not _attempt(("func", "func"), name, at=-9)
    assert _attempt(("func", "func"), name, at=9)
    assert _attempt(("func", "func"), name, at=-10)


def test_what_the_mask_leaves_out_is_not_checked() -> None:
    def program(b: Builder) -> Value:
        s, at = b.input(f32, (N, M)), b.input(i64, (N,))
        counts = b.lt(at, b.const(5, i64))
        return b.scatter(b.full((ix(5), M), 0, f32), s, [at], ROW, "sum", b.unsqueeze(counts, 1))

    graph = graph_of(program)
    inputs = random_inputs(graph, {"n": 4, "m": 3})
    inputs[1][:] = (0, 5, 99, 4)
    got, failed = run(kernel(graph), inputs, {"n": 4, "m": 3})
    want = np.zeros(extent(graph.outputs[0].shape, {"n": 4, "m": 3}), np.float32)
    want[0], want[4] = inputs[0][0], inputs[0][3]
    assert not failed
    np.testing.assert_array_equal(got[graph.outputs[0]], want)


@pytest.mark.parametrize("owner", [0, "i1"])
def test_random_numbers_along_the_lanes_that_threads_divide(owner: str | int) -> None:
    """They are drawn 64 columns at a time: a thread's strip of the target starts at a multiple of that."""

    def program(b: Builder) -> Any:
        x, at, seeds = b.input(f32, (V, M)), b.input(i64, (N,)), b.input(i64, (2,))
        return b.scatter(x, b.random(seeds, 1, (N, M), "uniform", f32), [at], ROW, "sum")

    graph = graph_of(program)
    c = kernel(graph)
    lowered = lower(c.built.fusion, replace(c.schedule, owner=owner), "kernel")
    rng = np.random.default_rng(0)
    for m in (600, 640, 63, 1, 0):
        inputs = [rng.normal(size=(3, m)).astype(np.float32), rng.integers(0, 3, (5,)), np.array([7, 8])]
        check(graph, {"v": 3, "n": 5, "m": m}, 3, inputs, Compiled(graph, c.built, c.schedule, lowered))
