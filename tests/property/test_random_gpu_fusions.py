"""Random graphs as one GPU kernel: plan, lower, verify, and the interpreted Loop IR against the meaning of the graph.

Rows that are held in registers are also tried with clusters of blocks that share them, and in shared memory; every
kernel with its sizes as numbers.
"""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fusewright.core.errors import Refusal
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.verify import verify
from fusewright.schedule import gpu_anchor, gpu_runs, gpu_tile
from fusewright.schedule.device import Gpu
from fusewright.schedule.forms import Illegal
from fusewright.schedule.gpu_base import GpuSchedule
from fusewright.schedule.legal_gpu import Sizes, check
from tests.kernels_gpu import GpuCompiled, check_gpu, gpu_kernel, hint_of, run_sized
from tests.property.test_random_fusions import WITHOUT, Pick, _has_meaning, configured, draw_graph, whole

WITHOUT = [*WITHOUT, ("online",), ("fma",), ("relaxed",)]
GPUS = [Gpu((9, 0), 1, 1 << 8, 227 << 10), Gpu((7, 0), 3, 1 << 20, 96 << 10), Gpu((9, 0), 132, 50 << 20, 227 << 10)]


def attempt(pick: Pick) -> bool:
    """One random kernel; whether it was accepted. Fails if it is wrong."""
    graph = draw_graph(pick, 6)
    eager = pick([False, True])
    sizes = {"n": pick([5, 1, 2, 17, 32, 0]), "m": pick([3, 1, 16, 37, 64, 0, 29, 51])}
    if not _has_meaning(graph, sizes):
        return False
    inputs = whole(graph, sizes, pick(range(3)))
    options = {"alignment": pick([16, 16, 4]), "eager": eager, "without": pick(WITHOUT)}
    try:
        least = dict.fromkeys(("LONG", "FEWEST", "SHORT", "MANY"), pick([1, 16]))
        # rows of a few vectors are moved, too, and few of them pass through shared memory
        few, others = patch.object(gpu_runs, "FEW", pick([0, 128])), patch.object(gpu_tile, "OTHERS", pick([4, -1]))
        with patch.multiple(gpu_anchor, **least), few, others:
            compiled = gpu_kernel(graph, sizes, pick(GPUS), **options)
    except Refusal:
        return False
    check_gpu(graph, sizes, inputs, compiled=compiled, eager=eager)
    check_gpu(graph, sizes, inputs, compiled=compiled, eager=eager, machine=run_sized)
    if compiled.schedule.mode == "persistent" and not compiled.schedule.resident and not compiled.schedule.runs:
        check_gpu(graph, sizes, inputs, compiled=_shared(compiled, pick([2, 4, 8])), eager=eager)
    _check_in_memory(pick, compiled, sizes, inputs, eager)
    _check_rows(pick, compiled, sizes, inputs, eager)
    return True


def _check_scheduled(
    c: GpuCompiled, s: GpuSchedule, sizes: dict[str, int], inputs: list[np.ndarray], eager: bool
) -> None:
    """The same kernel under another schedule, if that is legal."""
    try:
        check(c.built.fusion, s, Sizes(hint_of(sizes), GPUS[0]))  # type: ignore[arg-type]
    except Illegal:
        return
    kernel = lower_gpu(c.built.fusion, s, "kernel")
    verify(kernel.func)
    check_gpu(c.graph, sizes, inputs, compiled=replace(c, schedule=s, kernel=kernel), eager=eager)


def _check_in_memory(pick: Pick, c: GpuCompiled, sizes: dict[str, int], inputs: list[np.ndarray], eager: bool) -> None:
    """The same kernel with rows in shared memory, where they may be."""
    ahead = pick([0, 1, 2, 3]) if c.schedule.resident else 0
    s = replace(c.schedule, keep=pick(["loads", "values"]), keep_in="shared", ahead=ahead)
    s = replace(s, steps=pick([1, 1, 4]) * s.steps)
    _check_scheduled(c, s, sizes, inputs, eager)


def _check_rows(pick: Pick, c: GpuCompiled, sizes: dict[str, int], inputs: list[np.ndarray], eager: bool) -> None:
    """The same kernel with threads of neighbouring rows side by side, or with them apart, where either may be."""
    s = replace(c.schedule, interleaved=not c.schedule.interleaved, row_threads=pick([4, 1, 32]))
    _check_scheduled(c, s, sizes, inputs, eager)


def _shared(c: GpuCompiled, cluster: int) -> GpuCompiled:
    """The same kernel with rows that several blocks share."""
    schedule = replace(c.schedule, cluster=cluster)
    kernel = lower_gpu(c.built.fusion, schedule, "kernel")
    verify(kernel.func)
    return replace(c, schedule=schedule, kernel=kernel)


@given(st.data())
@configured
def test_one_kernel(data: st.DataObject) -> None:
    attempt(lambda xs: data.draw(st.sampled_from(list(xs))))
