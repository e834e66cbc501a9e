"""Rows of elementwise GPU kernels that are walked as one, whatever their length, interpreted and emulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fusewright.core.dtypes import BY_NAME, bf16, f16, f32
from fusewright.emit.cuda import emit_cuda
from fusewright.emit.cuda_types import CudaTarget
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import ix, sym
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.text import dump, parse
from fusewright.schedule.device import H200
from fusewright.schedule.legal_gpu import Sizes, settle
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.kernels import fusion_of, graph_of
from tests.kernels_gpu import GpuCompiled, check_gpu, gpu_kernel, hint_of
from tests.loop import test_gpu_moved as moved

N, M = sym("n"), sym("m")
Program = Callable[[Builder], "Value | list[Value]"]


def scaled(b: Builder) -> Value:
    """An operand of every column, one of every row, and one number."""
    x, w, s, a = b.input(bf16, (N, M)), b.input(bf16, (M,)), b.input(f32, (N, 1)), b.input(f32, (1, 1))
    y = b.mul(b.add(b.mul(b.cast(x, f32), b.cast(w, f32)), s), a)
    return b.cast(y, bf16)


def several_axes(b: Builder) -> Value:
    """Operands that lack the first, the middle, or the last axis."""
    shapes = [(N, ix(5), M), (ix(5), M), (N, ix(1), M), (N, ix(5), ix(1))]
    x, *others = (b.cast(b.input(f16, s), f32) for s in shapes)
    for y in others:
        x = b.add(b.mul(x, b.const(0.5, f32)), y)
    return b.cast(x, f16)


def mixed(b: Builder) -> list[Value]:
    x, y, z = b.input(f32, (N, M)), b.input(bf16, (N, M)), b.input(BY_NAME["u8"], (N, M))
    s = b.add(b.mul(b.mul(x, b.cast(y, f32)), b.input(f32, (M,))), b.cast(z, f32))
    return [s, b.lt(s, x), b.cast(s, bf16)]


PROGRAMS: dict[str, Program] = {
    "bias": moved.bias_relu,
    "scaled": scaled,
    "several axes": several_axes,
    "mixed": mixed,
}


def as_one(program: Program, n: int, m: int, **kwargs: object) -> GpuCompiled | None:
    """The kernel, if its rows are walked as one."""
    c = gpu_kernel(graph_of(program), {"n": n, "m": m}, H200, **kwargs)
    return c if len(c.schedule.cols) == 1 and not c.schedule.rows and c.schedule.lanes > 1 else None


@pytest.mark.every(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_length(name: str) -> None:
    """Rows of 0 to 37 columns, and of 333, fewer of them than a vector has lanes, and more than a block has points."""
    program, graph = PROGRAMS[name], graph_of(PROGRAMS[name])
    seen = 0
    for m in (*range(20), 31, 37, 333):
        for n in (0, 1, 2, 7, 90):
            check_gpu(graph, {"n": n, "m": m}, gpu=H200)
            seen += as_one(program, n, m) is not None
    assert seen > 12, f"only {seen} are walked as one"


def framed(b: Builder) -> Value:
    """A border of another value, one element wide, around what is inside."""
    x, y, w = b.input(bf16, (N, M)), b.input(bf16, (N, M)), b.input(bf16, (M,))
    inside = b.slice(b.slice(y, 0, 1, 1, N - 2), 1, 1, 1, M - 2)
    return b.add(b.mul(b.pad(inside, [1, 1], [1, 1], b.const(2.0, bf16)), w), x)


def moved_down(b: Builder) -> Value:
    """Elements beside those eight rows above, or 0."""
    x, w = b.input(bf16, (N, M)), b.input(bf16, (M,))
    above = b.pad(b.slice(x, 0, 0, 1, N - 8), [8, 0], [0, 0], b.const(0.0, bf16))
    return b.add(b.mul(above, w), x)


def thirds(b: Builder) -> Value:
    """The pieces of a cat have lanes of their own."""
    x, w = b.input(bf16, (N, M, ix(3))), b.input(bf16, (M, ix(3)))
    return b.mul(b.cat([b.slice(x, 2, 0, 1, 1), b.neg(b.slice(x, 2, 1, 1, 2))], 2), w)


@pytest.mark.parametrize("program", [framed, moved_down, thirds])
def test_conditions_on_positions(program: Program) -> None:
    for n, m in ((60, 3), (41, 13), (9, 31)):
        c = as_one(program, n, m)
        assert c is not None
        check_gpu(c.graph, {"n": n, "m": m}, compiled=c)


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
@pytest.mark.parametrize("name", PROGRAMS)
def test_in_the_emulation(name: str) -> None:
    for n, m in ((30, 13), (41, 3), (7, 333)):
        c = as_one(PROGRAMS[name], n, m)
        assert c is not None
        check_gpu(c.graph, {"n": n, "m": m}, compiled=c, machine=run_emulated)


def test_when_rows_are_walked_as_one() -> None:
    assert as_one(scaled, 10_000, 13) and as_one(scaled, 10_000, 1153)
    assert as_one(scaled, 10_000, 10) and not as_one(scaled, 10_000, 12)  # vectors are half as wide; they are wide
    assert not as_one(moved.apart, 10_000, 13)  # there are gaps between rows
    assert not as_one(scaled, 10_000, 13, alignment=8)
    assert as_one(gelu, 10_000, 131) and not as_one(gelu, 10_000, 1153)  # much arithmetic besides that of positions


def gelu(b: Builder) -> Value:
    x, bias = b.input(bf16, (N, M)), b.input(bf16, (M,))
    x = b.add(b.cast(x, f32), b.cast(bias, f32))
    return b.cast(b.mul(x, b.erf(b.mul(x, b.erf(x)))), bf16)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_lane_is_divided(name: str) -> None:
    """Its row is found by a multiplication: a division takes twenty instructions."""
    c = as_one(PROGRAMS[name], 90, 13)
    assert c is not None
    text = emit_cuda(c.kernel.func, CudaTarget(9, 0))
    assert "_inverse" in text and "fw_udiv(" not in text


@pytest.mark.parametrize("name", ["bias", "scaled", "several axes", "mixed"])
def test_schedules_can_be_written_down(name: str) -> None:
    """What is walked as one is named after its axes: a schedule means the same when it is read again."""
    sizes = {"n": 9, "m": 13}
    c = as_one(PROGRAMS[name], **sizes)
    assert c is not None
    fusion = fusion_of(c.graph).fusion
    for change in ({}, {"index": 64}, {"steps": 4, "col_threads": 64}, {"lanes": 2, "aligned": frozenset()}):
        f, s, launch = settle(fusion, replace(c.schedule, **change), Sizes(hint_of(sizes), H200))
        assert launch == {} and s.cols == c.schedule.cols
        kernel = lower_gpu(f, s, "kernel")
        assert dump(parse(dump(kernel.func))) == dump(kernel.func)
        built = replace(c.built, fusion=f)
        check_gpu(c.graph, sizes, compiled=replace(c, built=built, schedule=s, kernel=kernel))
