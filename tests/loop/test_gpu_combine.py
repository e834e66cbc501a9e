"""Partial results that another launch, or the last block, combines: how they are read, and that all of them are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fusewright.core.dtypes import f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import Ix, sym
from fusewright.loop import gpu_outer
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.ir import For, Grid, Let, Set, walk
from fusewright.loop.verify import verify
from fusewright.schedule.device import H200, Gpu
from tests.golden import cases
from tests.kernels import graph_of
from tests.kernels_gpu import GpuCompiled, check_gpu, gpu_kernel
from tests.loop import test_gpu_lowering as programs

N, M = sym("n"), sym("m")
FEW = Gpu((9, 0), 8, 1 << 20, 227 << 10)


def columns(gpu: Gpu, rows: int, cols: int, **changes: int) -> GpuCompiled:
    """A kernel whose column sums another launch combines."""
    sizes = {"n": rows, "m": cols}
    c = gpu_kernel(graph_of(cases.rms_norm_backward), sizes, gpu)
    c.schedule = replace(c.schedule, finish=False, **changes)
    c.kernel = lower_gpu(c.built.fusion, c.schedule, "kernel")
    verify(c.kernel.func)
    return c


def launches(c: GpuCompiled) -> list[Grid]:
    return [g for g in c.kernel.func.body if isinstance(g, Grid)]


@pytest.mark.parametrize("cols", [64, 256, 1024, 8192])
def test_many_blocks_combine(cols: int) -> None:
    """Tiles are a sector wide, and wider only where there are many of them."""
    c = columns(H200, 1 << 16, cols)
    g = launches(c)[1]
    numbers = dict(
        zip(
            (r.name for r in c.kernel.func.sizes), c.kernel.evaluate({"n": 1 << 16, "m": cols, **c.launch}), strict=True
        )
    )
    blocks = numbers[g.blocks.name]  # type: ignore[union-attr]
    assert blocks == min(cols // 8, 256)
    assert g.beside == 2


def test_all_loads_of_a_batch_come_first() -> None:
    """They are aligned vectors, and none is waited for before all are asked for."""
    (loop,) = [s for s in walk(launches(columns(H200, 1 << 16, 1024))[1].body) if isinstance(s, For)]
    loads = [k for k, s in enumerate(loop.body) if isinstance(s, Let) and s.op == "load"]
    adds = [k for k, s in enumerate(loop.body) if isinstance(s, Set)]
    assert len(loads) == len(adds) == 8 and max(loads) < min(adds)
    assert all(loop.body[k].attr == "aligned" and loop.body[k].dst.lanes == 4 for k in loads)  # type: ignore[union-attr]


@pytest.mark.parametrize("blocks", [1, 16, 129, 300])
def test_every_part_counts_once(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_outer, "THREADS", 32)  # shares of the parts: 16, in batches of 8
    sizes = {"n": 700, "m": 32}
    c = columns(H200, 700, 32, row_threads=2)
    c.launch = {"blocks": blocks}
    inputs = [np.random.default_rng(k).integers(-2, 3, s).astype(np.float32) for k, s in enumerate(_shapes(c, sizes))]
    check_gpu(c.graph, sizes, inputs, compiled=c)


def _shapes(c: GpuCompiled, sizes: dict[str, int]) -> list[tuple[int, ...]]:
    return [tuple(int(n.evaluate(sizes)) for n in v.shape) for v in c.graph.inputs]


@pytest.mark.parametrize("program", [programs.column_moments, cases.outer_max])
@pytest.mark.parametrize("finish", [True, False])
def test_chunks_of_rows(program, finish: bool) -> None:
    """More chunks than a thread asks for at a time, whose last ones have no points."""
    sizes = {"n": 4000, "m": 24}
    c = gpu_kernel(graph_of(program), sizes, FEW)
    assert c.schedule.mode == "split"
    c.schedule = replace(c.schedule, finish=finish)
    c.kernel = lower_gpu(c.built.fusion, c.schedule, "kernel")
    verify(c.kernel.func)
    for splits in (1, 37, 150):
        c.launch = {"splits": splits}
        check_gpu(c.graph, sizes, compiled=c)


@pytest.mark.parametrize("shape", [(), (M,)])
def test_nothing_to_combine(shape: tuple[Ix, ...]) -> None:
    """What does not depend on rows is stored by the launch that combines parts, also where there are none."""

    def program(b: Builder) -> list[Value]:
        x, y = b.input(f32, (N, M)), b.input(f32, shape)
        return [b.scan("sum", x, 1), b.neg(y)]

    check_gpu(graph_of(program), {"n": 5, "m": 40})
