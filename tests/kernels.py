"""Graphs without torch: built by hand, taken through build, plan and lower, and run in the two interpreters.

`kernel(graph)` treats the whole graph as one group. `check(graph, ...)` runs its Loop IR against the meaning of the
graph itself. The scheduler is given the vector width and the size estimates explicitly, so that nothing here depends on
the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fusewright.core.dtypes import DType, bf16, f16, numpy_type, rounded
from fusewright.fusion.build import Built, build
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Unit, Value
from fusewright.graph.verify import verify as verify_graph
from fusewright.index.expr import Ix
from fusewright.index.layout import row_major
from fusewright.interp.graph import evaluate
from fusewright.interp.loop import run as run_loop
from fusewright.loop.lower import Kernel, lower
from fusewright.loop.verify import verify as verify_loop
from fusewright.schedule.cpu import Machine, Schedule, plan

LANES = 16
HINT = 64  # what every size is estimated to be

Sizes = Mapping[str, int]


def graph_of(program: Callable[[Builder], Value | Sequence[Value]]) -> Graph:
    """The graph that `program` builds: one unit, which computes the values that `program` returns."""
    g = Graph()
    b = Builder(g)
    unit = Unit(0, "program", "test", "test.py:1", "fused")
    g.units.append(unit)
    b.unit = 0
    out = program(b)
    g.outputs = [out] if isinstance(out, Value) else list(out)
    unit.reads = tuple(g.inputs)
    unit.results = tuple(g.outputs)
    verify_graph(g)
    return g


def hint(e: Ix) -> int:
    """A size estimate: every symbol is 64."""
    return int(e.evaluate({a.name: HINT for a in e.atoms() if a.kind == "sym"}))


@dataclass(slots=True)
class Compiled:
    """One graph as one kernel."""

    graph: Graph
    built: Built
    schedule: Schedule
    kernel: Kernel


def fusion_of(
    graph: Graph,
    strides: Mapping[Value, tuple[Ix, ...]] | None = None,
    eager: bool = False,
    without: Sequence[str] = (),
    make: Callable[..., Built] = build,
) -> Built:
    """The fusion of a whole graph; values are contiguous unless `strides` says otherwise.

    `without`: passes that are switched off for it; `make`: what builds it, `collect.build` for GPUs.
    """

    def layout(v: Value) -> tuple[Ix, ...]:
        return strides[v] if strides and v in strides else row_major(v.shape)

    return make(graph.eqns, graph.outputs, graph.producers(), set(), layout, eager, frozenset(without))


def planned(graph: Graph, lanes: int = LANES, **kwargs: Any) -> tuple[Built, Schedule]:
    """The fusion as the scheduler wants it, and its schedule."""
    built = fusion_of(graph, **kwargs)
    built.fusion, schedule = plan(built.fusion, hint, Machine(lanes, 1 << 62))
    return built, schedule


def kernel(graph: Graph, name: str = "kernel", lanes: int = LANES, **kwargs: Any) -> Compiled:
    """The verified Loop IR of a whole graph."""
    built, schedule = planned(graph, lanes, **kwargs)
    lowered = lower(built.fusion, schedule, name)
    verify_loop(lowered.func)
    return Compiled(graph, built, schedule, lowered)


# ---- running -------------------------------------------------------------------------------------------------


def extent(shape: Sequence[Ix], sizes: Sizes) -> tuple[int, ...]:
    return tuple(int(n.evaluate(sizes)) for n in shape)


def random_array(dtype: DType, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Values that short chains of arithmetic neither overflow nor lose."""
    if dtype.is_bool:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.is_int:
        return rng.integers(0 if dtype.kind == "u" else -4, 5, shape).astype(numpy_type(dtype))
    x = np.clip(rng.normal(size=shape), -3, 3).astype(np.float32)
    return rounded(x, dtype).astype(numpy_type(dtype))


def random_inputs(graph: Graph, sizes: Sizes, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [random_array(v.dtype, extent(v.shape, sizes), rng) for v in graph.inputs]


def seen(built: Built, name: str, given: Mapping[Value, np.ndarray]) -> np.ndarray:
    """What a kernel sees of a buffer."""
    first, count = built.windows.get(name, (0, 0))
    whole = given[built.sources[name]]
    return whole[first : first + count] if count else whole


def run(
    c: Compiled, inputs: Sequence[np.ndarray], sizes: Sizes, threads: int = 2, stream: bool = False
) -> tuple[dict[Value, np.ndarray], bool]:
    """(the outputs, whether the kernel reported failure) of the Loop IR in the interpreter."""
    given = dict(zip(c.graph.inputs, inputs, strict=True))
    memory: dict[str, np.ndarray] = {}
    for b in c.built.fusion.buffers:
        shape, strides = extent(b.shape, sizes), extent(b.strides, sizes)
        span = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        flat = np.zeros(span, numpy_type(b.dtype))
        if not b.output:
            _window(flat, shape, strides)[...] = seen(c.built, b.name, given)
        memory[b.name] = flat
    env = {**sizes, "threads": threads, "stream": int(stream)}
    func = c.kernel.func
    numbers = {r.name: n for r, n in zip(func.sizes, c.kernel.evaluate(env), strict=True)}
    failed = run_loop(func, memory, numbers, {h.name: sizes[h.name] for h in func.hosts}, threads)
    out = {}
    for b in c.built.fusion.buffers:
        if b.output:
            out[c.built.sources[b.name]] = _window(memory[b.name], extent(b.shape, sizes), extent(b.strides, sizes))
    return out, failed


def _window(flat: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    if 0 in shape:
        return np.zeros(shape, flat.dtype)
    return np.lib.stride_tricks.as_strided(flat, shape, tuple(s * flat.itemsize for s in strides))


TOLERANCE = {"f64": 1e-12, "f32": 2e-5, "bf16": 1e-2, "f16": 2e-3}


def compare(got: np.ndarray, want: np.ndarray, dtype: DType, what: str, tolerance: float | None = None) -> None:
    """Integers and bools are equal; floats differ by rounding, relative to the largest finite value."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    if not dtype.is_float:
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    a, b = got.astype(np.float64), want.astype(np.float64)
    finite = np.abs(b[np.isfinite(b)])
    scale = float(finite.max()) if finite.size else 0.0
    rtol = tolerance if tolerance is not None else TOLERANCE[dtype.name]
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * scale, err_msg=what)


def check(
    graph: Graph,
    sizes: Sizes,
    threads: int = 2,
    inputs: Sequence[np.ndarray] | None = None,
    compiled: Compiled | None = None,
    tolerance: float | None = None,
    stream: bool = False,
    **kwargs: Any,
) -> None:
    """Fail unless the graph's kernel computes what the graph means."""
    c = compiled or kernel(graph, **kwargs)
    inputs = random_inputs(graph, sizes) if inputs is None else inputs
    got, failed = run(c, inputs, sizes, threads, stream)
    assert not failed, "the kernel reported failure"
    want = evaluate(graph, inputs, sizes, round_every_op=kwargs.get("eager", False))
    for n, v in enumerate(graph.outputs):
        compare(got[v], want[v], v.dtype, f"output {n} ({v}) at {dict(sizes)}, {threads} threads", tolerance)


HALF = (bf16, f16)
