"""Random scatters as one GPU kernel: built, planned, lowered, verified, and interpreted against the graph's meaning.

Which dimensions of the target are indexed, by what along which dimensions of the source, in which order those come,
masks, indices that are negative or frequent, what the target has before and what becomes of it afterwards: all drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fusewright.core.dtypes import bf16, bool_, f32, f64, i32, i64
from fusewright.core.errors import Refusal
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.prims.table import MONOIDS
from fusewright.schedule import gpu_scatter
from tests.kernels import graph_of, random_inputs
from tests.kernels_gpu import check_gpu, gpu_kernel, run_sized
from tests.property.test_random_fusions import EXAMPLES, Pick, configured

few = settings(configured, max_examples=EXAMPLES)  # each is interpreted twice
EXTENTS = (1, 2, 3, 5, 8, 16, 17)
SUMS = ("sum", "prod", "max", "min", "set")


def draw(pick: Pick) -> tuple[Any, list[int]]:
    """(a program, the extents of the dimensions that are indexed, in the order of the indices)."""
    rank = pick((1, 2, 3))
    shape = [pick(EXTENTS) for _ in range(rank)]
    indexed = [d for d in range(rank) if pick((False, False, True))] or [pick(range(rank))]
    # the source's dimensions: those kept of the target (maybe a part of them), and some of its own, in any order
    dims: list[tuple[str, int]] = [("kept", d) for d in range(rank) if d not in indexed]
    dims += [("own", k) for k in range(pick((1, 2)))]
    dims = sorted(dims, key=lambda _: pick(range(9)))
    smaller = lambda d: pick([n for n in EXTENTS if n <= shape[d]] + 9 * [shape[d]])
    extents = [smaller(d) if kind == "kept" else pick(EXTENTS) for kind, d in dims]
    lie = []
    for _ in indexed:
        chosen = tuple(k for k in range(len(dims)) if dims[k][0] == "own" or pick((False, False, False, True)))
        lie.append((chosen, tuple(1 if pick(range(5)) == 0 else extents[k] for k in chosen)))
    spec: list[Any] = []
    for d in range(rank):
        if d in indexed:
            k = indexed.index(d)
            spec.append(("at", k, lie[k][0]))
        else:
            spec.append(("dim", dims.index(("kept", d))))
    dtype, how = pick((f32, f32, f64, bf16, i32, bool_)), pick(SUMS)
    if dtype is bool_ and how in ("sum", "prod"):
        how = "max"
    fresh = how != "set" and pick((False, False, True))
    masked, scaled, zero, after = (pick((False, True)) for _ in range(4))

    def program(b: Builder) -> list[Value]:
        base = b.full(shape, 0, dtype) if zero else b.input(dtype, shape)
        source = b.input(dtype, extents)
        if scaled and dtype.is_float:
            source = b.mul(source, b.const(0.5, dtype))
        at = [b.input(i64, size) for _, size in lie]
        mask = b.input(bool_, [n if dims[k][0] == "own" else 1 for k, n in enumerate(extents)]) if masked else None
        if fresh:
            none = b.const(MONOIDS[how].identity(dtype), dtype)
            base = b.scatter(base, b.expand(none, source.shape), at, spec, "set", mask)
        out = b.scatter(base, source, at, spec, how, mask)
        return [out, b.neg(out)] if after and not dtype.is_bool else [out]

    return program, [shape[d] for d in indexed]


def attempt(pick: Pick) -> bool:
    """One random kernel; whether it was accepted. Fails if it is wrong."""
    program, limits = draw(pick)
    graph = graph_of(program)
    inputs, rng = random_inputs(graph, {}), np.random.default_rng(pick(range(99)))
    left = iter(limits)
    for x, v in zip(inputs, graph.inputs, strict=True):
        if v.dtype is i64:
            n = next(left)
            x[...] = rng.integers(-n, n, x.shape)
            x[rng.random(x.shape) < pick((0.0, 0.5))] = n // 2
    try:
        compiled = gpu_kernel(graph, {}, alignment=pick((16, 16, 4)))
    except Refusal:
        return False
    check_gpu(graph, {}, inputs, compiled=compiled)
    check_gpu(graph, {}, inputs, compiled=compiled, machine=run_sized)
    st = gpu_scatter.collected(compiled.built.fusion)
    if st is not None and st.monoid != "set" and gpu_scatter.orderless(compiled.built.fusion, st):
        check_gpu(graph, {}, inputs, compiled=gpu_kernel(graph, {}, apart=True))
    return True


@given(st.data())
@few
def test_one_kernel(data: st.DataObject) -> None:
    attempt(lambda xs: data.draw(st.sampled_from(list(xs))))


def test_most_are_accepted() -> None:
    rng = np.random.default_rng(0)
    accepted = [attempt(lambda xs: list(xs)[rng.integers(len(list(xs)))]) for _ in range(25)]
    assert sum(accepted) > 20
