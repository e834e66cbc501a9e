"""Random graphs as one GPU kernel: plan, lower, verify, and the interpreted Loop IR against the meaning of the graph.

Rows that are held in registers are also tried with clusters of blocks that share them.
"""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from fusewright.core.errors import Refusal
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.verify import verify
from fusewright.schedule import gpu_anchor
from fusewright.schedule.device import Gpu
from tests.kernels_gpu import GpuCompiled, check_gpu, gpu_kernel
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
        with patch.object(gpu_anchor, "LONG", pick([1, 16])):  # rows of a few vectors are moved, too
            compiled = gpu_kernel(graph, sizes, pick(GPUS), **options)
    except Refusal:
        return False
    check_gpu(graph, sizes, inputs, compiled=compiled, eager=eager)
    if compiled.schedule.mode == "persistent" and not compiled.schedule.resident:
        check_gpu(graph, sizes, inputs, compiled=_shared(compiled, pick([2, 4, 8])), eager=eager)
    return True


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
