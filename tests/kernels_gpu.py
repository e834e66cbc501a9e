"""As `kernels.py`, for GPU schedules: plan for given sizes, lower, verify, interpret, compare with the meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fusewright.core.dtypes import numpy_type
from fusewright.fusion import collect
from fusewright.fusion.build import Built
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import Ix
from fusewright.interp.graph import evaluate
from fusewright.interp.loop import run as run_loop
from fusewright.loop.constants import specialised
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.lower import Kernel
from fusewright.loop.verify import verify as verify_loop
from fusewright.prims import philox
from fusewright.schedule import gpu_scatter
from fusewright.schedule.device import H200, Gpu
from fusewright.schedule.gpu import plan
from fusewright.schedule.gpu_base import GpuSchedule

from .kernels import Sizes, _window, compare, extent, fusion_of, random_inputs, seen

SMALL = Gpu((9, 0), 2, 1 << 20, 227 << 10)  # few processors: small sizes fill it, so that every mode is reached


@dataclass(slots=True)
class GpuCompiled:
    graph: Graph
    built: Built
    schedule: GpuSchedule
    kernel: Kernel
    launch: dict[str, int]


def hint_of(sizes: Sizes) -> object:
    return lambda e: int(e.evaluate({**dict.fromkeys((a.name for a in e.atoms() if a.kind == "sym"), 64), **sizes}))


def gpu_kernel(
    graph: Graph,
    sizes: Sizes,
    gpu: Gpu = SMALL,
    name: str = "kernel",
    alignment: int = 16,
    apart: bool = False,
    **kwargs,
) -> GpuCompiled:
    """The verified Loop IR of a whole graph, scheduled for these sizes. `apart`: the points of a scatter are."""
    built = fusion_of(graph, make=collect.build, **kwargs)
    if apart:
        gpu_scatter.leave_apart(built.fusion)
    built.fusion, schedule, launch = plan(built.fusion, hint_of(sizes), gpu, lambda b: alignment)
    lowered = lower_gpu(built.fusion, schedule, name)
    verify_loop(lowered.func)
    return GpuCompiled(graph, built, schedule, lowered, launch)


def memory_of(c: GpuCompiled, inputs: Sequence[np.ndarray], sizes: Sizes) -> dict[str, np.ndarray]:
    given = dict(zip(c.graph.inputs, inputs, strict=True))
    memory: dict[str, np.ndarray] = {}
    for b in c.built.fusion.buffers:
        shape, strides = extent(b.shape, sizes), extent(b.strides, sizes)
        span = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        flat = np.zeros(span, numpy_type(b.dtype))
        if not b.output:
            _window(flat, shape, strides)[...] = seen(c.built, b.name, given)
        memory[b.name] = flat
    return memory


def run_gpu(c: GpuCompiled, inputs: Sequence[np.ndarray], sizes: Sizes, machine=run_loop) -> dict[Value, np.ndarray]:
    """The outputs of the Loop IR in the interpreter (or another `machine` with its signature)."""
    memory = memory_of(c, inputs, sizes)
    env = {**sizes, **c.launch}
    func = c.kernel.func
    numbers = {r.name: n for r, n in zip(func.sizes, c.kernel.evaluate(env), strict=True)}
    failed = machine(func, memory, numbers, {h.name: sizes[h.name] for h in func.hosts})
    assert not failed, "the kernel reported failure"
    return {
        c.built.sources[b.name]: _window(memory[b.name], extent(b.shape, sizes), extent(b.strides, sizes))
        for b in c.built.fusion.buffers
        if b.output
    }


def run_sized(func, memory, numbers, hosts) -> bool:
    """The interpreter, of the kernel that is made for these sizes only."""
    sized = specialised(func, [numbers[r.name] for r in func.sizes])
    verify_loop(sized)
    return run_loop(sized, memory, {r.name: numbers[r.name] for r in sized.sizes}, hosts)


def check_gpu(
    graph: Graph,
    sizes: Sizes,
    inputs: Sequence[np.ndarray] | None = None,
    tolerance: float | None = None,
    machine=run_loop,
    compiled: GpuCompiled | None = None,
    **kwargs,
) -> GpuCompiled:
    """Fail unless the graph's GPU kernel computes what the graph means; returns the kernel."""
    c = compiled or gpu_kernel(graph, sizes, **kwargs)
    inputs = random_inputs(graph, sizes) if inputs is None else inputs
    got = run_gpu(c, inputs, sizes, machine)
    want = evaluate(graph, inputs, sizes, round_every_op=kwargs.get("eager", False), layout=philox.quads)
    for n, v in enumerate(graph.outputs):
        compare(got[v], want[v], v.dtype, f"output {n} ({v}) at {dict(sizes)}", tolerance)
    return c


__all__ = ["H200", "SMALL", "Ix", "check_gpu", "gpu_kernel", "run_gpu", "run_sized"]
