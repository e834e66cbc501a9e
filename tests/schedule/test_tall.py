"""Reductions down tall and narrow tensors take runs of rows as one (`schedule/tall.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

import fusewright
from fusewright.core.dtypes import bf16, bool_, f16, f32, f64, i8, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import IxLike, sym
from fusewright.interp.graph import evaluate
from fusewright.loop.lower import lower
from fusewright.loop.verify import verify
from fusewright.schedule.cpu import Machine
from fusewright.schedule.edit import on_cpu
from fusewright.schedule.forms import Illegal
from tests.kernels import LANES, Compiled, check, compare, fusion_of, graph_of, hint, kernel, random_inputs, run

N = sym("n")
ROWS = N * 1500 + 1  # estimated as 96001
Program = Callable[[Builder, IxLike], "Value | Sequence[Value]"]


def down(monoid: str, dtype=f32) -> Program:
    def program(b: Builder, width: IxLike) -> Value:
        x = b.input(dtype, (ROWS, width))
        return b.reduce(monoid, b.cast(x, f32) if dtype in (bf16, f16) else x, (0,))

    return program


def moments(b: Builder, width: IxLike) -> list[Value]:
    x = b.input(bf16, (ROWS, width))
    y = b.mul(b.cast(x, f32), b.cast(b.input(bf16, (ROWS, width)), f32))
    total, most = b.reduce("sum", y, (0,)), b.reduce("max", b.cast(x, f32), (0,))
    scale = b.input(f32, (width,))
    return [b.cast(b.mul(total, scale), bf16), b.sub(total, most), b.reduce("sum", b.mul(y, y), (0,))]


def counted(b: Builder, width: IxLike) -> list[Value]:
    x = b.input(f32, (ROWS, 2, width))
    above = b.gt(x, b.const(0.5, f32))
    return [b.reduce("sum", b.cast(above, i64), (0,)), b.reduce("any", above, (0,))]


def scaled(b: Builder, width: IxLike) -> list[Value]:
    """Each column has values of its own, one of which is dear."""
    x, w = b.input(bf16, (ROWS, width)), b.input(f32, (width,))
    y = b.add(b.mul(b.cast(x, f32), b.exp(w)), b.cast(b.input(bf16, (width,)), f32))
    here = b.lt(b.iota((ROWS, width), 1), b.const(2, i64))
    return [b.cast(y, bf16), b.where(here, y, b.input(f32, (ROWS, width)))]


def beside(b: Builder, width: IxLike) -> list[Value]:
    """The channels of three images, with a value of each image, and of each channel."""
    x = b.input(bf16, (3, ROWS, width))
    y = b.sub(b.cast(x, f32), b.mul(b.input(f32, (3, 1, 1)), b.input(f32, (width,))))
    total, most = b.reduce("sum", b.mul(y, y), (1,)), b.reduce("max", y, (1,))
    return [b.cast(b.add(total, most), bf16), most]


def apart(b: Builder, width: IxLike) -> list[Value]:
    """Columns less values of their own, reduced."""
    y = b.sub(b.input(f32, (ROWS, width)), b.input(f32, (width,)))
    return [b.reduce("sum", b.mul(y, y), (0,)), b.reduce("max", y, (0,))]


PROGRAMS: dict[str, Program] = {
    "a value of each column": scaled,
    "apart": apart,
    "sum": down("sum"),
    "sum of bfloat16": down("sum", bf16),
    "largest of float16": down("max", f16),
    "smallest of float64": down("min", f64),
    "product of int8": down("prod", i8),
    "all": down("all", bool_),
    "moments": moments,
    "counted": counted,
}


@pytest.mark.every(2)
@pytest.mark.parametrize("width", [2, 3, 7, 16, 33, 100])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_number_of_rows(name: str, width: int) -> None:
    graph = graph_of(lambda b: PROGRAMS[name](b, width))
    compiled = kernel(graph)
    assert compiled.schedule.runs > 1
    for n, threads in ((0, 1), (1, 1), (2, 3)):
        check(graph, {"n": n}, threads, compiled=compiled)


@pytest.mark.parametrize("width", [2, 3, 7, 16])
def test_tensors_beside_each_other(width: int) -> None:
    """Wider ones are rows that are kept."""
    graph = graph_of(lambda b: beside(b, width))
    compiled = kernel(graph)
    assert compiled.schedule.runs > 1
    for n, threads in ((0, 1), (1, 1), (2, 3)):
        check(graph, {"n": n}, threads, compiled=compiled)


def test_what_is_left_to_be_compared_is() -> None:
    """NaN and infinities, in runs and in the rows behind them."""
    graph = graph_of(lambda b: down("max")(b, 3))
    compiled = kernel(graph)
    for row in (0, 1024, 1500):
        for value in (np.nan, np.inf):
            (x,) = random_inputs(graph, {"n": 1})
            x[row, 1] = value
            got, _ = run(compiled, [x], {"n": 1})
            (out,) = graph.outputs
            compare(got[out], evaluate(graph, [x], {"n": 1})[out], f32, f"{value} in row {row}")


def padded(b: Builder, width: IxLike) -> Value:
    x = b.pad(b.input(f32, (ROWS, width)), (1, 0), (2, 1), b.const(2.0, f32))
    return b.reduce("sum", x, (0,))


def weighted(b: Builder, width: IxLike) -> list[Value]:
    """A value of each row, and the number of the row."""
    x = b.mul(b.input(f32, (ROWS, width)), b.input(f32, (ROWS, 1)))
    row = b.cast(b.iota((ROWS, width), 0), f32)
    return [b.reduce("sum", x, (0,)), b.reduce("max", b.mul(x, row), (0,))]


WHERE: dict[str, tuple[Program, int]] = {
    "whole vectors": (lambda b, w: b.reduce("sum", b.input(f32, (ROWS, 64)), (0,)), 32),
    "wide rows": (lambda b, w: b.reduce("sum", b.input(f32, (ROWS, 3000)), (0,)), 1),
    "rows apart": (lambda b, w: b.reduce("sum", b.slice(b.input(f32, (ROWS, 6)), 1, 0, 1, 3), (0,)), 1),
    "not two rows in a run": (lambda b, w: b.reduce("sum", b.input(f32, (N, 129)), (0,)), 1),
    "images beside each other": (lambda b, w: b.reduce("max", b.input(f32, (2, ROWS, 3)), (1,)), 512),
    "many images": (lambda b, w: b.reduce("sum", b.input(f32, (300, N, 3)), (1,)), 0),
    "images of two dims": (lambda b, w: b.reduce("sum", b.input(f32, (2, ROWS, 2, 3)), (1,)), 256),
    "pads": (padded, 1),
    "values of rows": (weighted, 1),
    "few rows": (lambda b, w: b.reduce("sum", b.input(f32, (N, 100)), (0,)), 0),
    "dear": (lambda b, w: b.reduce("sum", b.exp(b.exp(b.exp(b.input(f32, (ROWS, 1100))))), (0,)), 0),
    "stored in whole vectors": (lambda b, w: b.mul(b.input(f32, (ROWS, 64)), b.input(f32, (64,))), 0),
    "values of rows, stored": (
        lambda b, w: b.mul(b.input(f32, (ROWS, 3)), b.mul(b.input(f32, (ROWS, 1)), b.input(f32, (3,)))),
        0,
    ),
    "positions": (lambda b, w: b.reduce("argmax", b.input(f32, (ROWS, 3)), (0,)), 0),
    "along rows": (lambda b, w: b.reduce("sum", b.input(f32, (3, ROWS)), (1,)), 0),
}


@pytest.mark.parametrize("name", WHERE)
def test_where_it_pays(name: str) -> None:
    program, runs = WHERE[name]
    graph = graph_of(lambda b: program(b, 3))
    compiled = kernel(graph)
    assert compiled.schedule.runs == runs
    for n in (0, 1):
        check(graph, {"n": n}, compiled=compiled)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_programs(dtype: torch.dtype) -> None:
    """One kernel for all sizes, tensors that are views among them."""

    def program(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (x + 1).sum(0), x.amax(0), (x > 0).sum(0), x * x[0] + 2, (x - x[1]).square().sum(0)

    compiled = torch.compile(program, backend="fusewright", dynamic=True)
    whole = torch.randn(30000, 5).mul(9).to(dtype)
    with fusewright.options(fallback=False):
        for x in (whole, whole[:29000], whole[7:], whole[1:3], whole[::2], whole.t().contiguous().t()):
            for got, want in zip(compiled(x), program(x.double()), strict=True):
                rtol = 1e-2 if dtype is torch.bfloat16 else 1e-6
                torch.testing.assert_close(got.double(), want.double(), rtol=rtol, atol=1e-2)


@pytest.mark.parametrize("n", [2, 5, 4096])
def test_directives(n: int) -> None:
    """People may choose how many rows are one, or none."""
    graph = graph_of(lambda b: moments(b, 3))
    built = fusion_of(graph)
    edit = on_cpu(built.fusion, hint, Machine(LANES, 1 << 62))
    assert "unroll(runs, 512)" in edit.text()
    built.fusion = edit.fusion
    for changed in (
        edit.unroll(n, "runs"),
        edit.apply(f"unroll(runs, {n})"),
        edit.unroll(1, "runs"),
        edit.unroll(0, "runs"),
    ):
        f = changed.check()
        lowered = lower(f, changed.schedule, "kernel")
        verify(lowered.func)
        built.fusion = f
        check(graph, {"n": 1}, compiled=Compiled(graph, built, changed.schedule, lowered))


def test_not_where_points_are_stored_and_reduced() -> None:
    def program(b: Builder) -> list[Value]:
        x = b.input(f32, (ROWS, 3))
        return [b.neg(x), b.reduce("sum", x, (0,))]

    edit = on_cpu(fusion_of(graph_of(program)).fusion, hint, Machine(LANES, 1 << 62))
    with pytest.raises(Illegal, match="or not all is to reduce them or to compute their points"):
        edit.unroll(8, "runs")


@pytest.mark.parametrize("images", [1, 2, 5])
def test_pixels_of_few_channels(images: int) -> None:
    """Lanes are along pixels and channels, whether or not there is one image for each thread."""

    def program(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (x * 2).mean((2, 3)), x.amax((2, 3)), (x - 1).square().sum((2, 3))

    torch.manual_seed(images)
    x = torch.randn(images, 3, 67, 41).contiguous(memory_format=torch.channels_last)
    compiled = torch.compile(program, backend="fusewright", dynamic=False)
    with fusewright.options(fallback=False):
        for got, want in zip(compiled(x), program(x.double()), strict=True):
            torch.testing.assert_close(got.double(), want, rtol=1e-6, atol=1e-6)
