"""Which outputs may be stored over which inputs: the rule case by case, and random kernels run that way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fusewright.core.dtypes import bf16, f32, i64, numpy_type
from fusewright.core.errors import Refusal
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import ONE, ix, sym
from fusewright.interp.graph import evaluate
from fusewright.interp.loop import run as run_loop
from fusewright.loop.overwrite import overwritable
from tests.kernels import Compiled, Sizes, compare, extent, graph_of, kernel, random_inputs
from tests.property.test_random_fusions import _has_meaning, configured, draw_graph, whole

N, M = sym("n"), sym("m")


def pairs(c: Compiled) -> list[tuple[str, str]]:
    """(output, input) of one layout where the rule says yes."""
    buffers = {b.name: b for b in c.built.fusion.buffers}
    found = overwritable(c.built.fusion, c.schedule)
    alike = lambda a, b: (buffers[a].shape, buffers[a].strides) == (buffers[b].shape, buffers[b].strides)
    return [(o, i) for o, inputs in found.items() for i in inputs if alike(o, i)]


def run_over(c: Compiled, taken: dict[str, str], inputs: Sequence[np.ndarray], sizes: Sizes, threads: int) -> list[Any]:
    """The outputs of the kernel when output `o` is the memory of input `taken[o]`. Buffers are contiguous."""
    given = dict(zip(c.graph.inputs, inputs, strict=True))
    memory: dict[str, np.ndarray] = {}
    for b in c.built.fusion.buffers:
        if not b.output:
            memory[b.name] = given[c.built.sources[b.name]].astype(numpy_type(b.dtype)).ravel().copy()
    for b in c.built.fusion.buffers:
        if b.output:
            size = int(np.prod(extent(b.shape, sizes)))
            memory[b.name] = memory[taken[b.name]] if b.name in taken else np.zeros(size, numpy_type(b.dtype))
    func = c.kernel.func
    numbers = {r.name: n for r, n in zip(func.sizes, c.kernel.evaluate({**sizes, "threads": threads}), strict=True)}
    assert not run_loop(func, memory, numbers, {h.name: sizes[h.name] for h in func.hosts}, threads)
    names = {c.built.sources[b.name]: b for b in c.built.fusion.buffers if b.output}
    return [memory[names[v].name].reshape(extent(v.shape, sizes)) for v in c.graph.outputs]


def compare_over(c: Compiled, inputs: Sequence[np.ndarray], sizes: Sizes, threads: int, eager: bool = False) -> int:
    """Run every allowed pair, and as many as possible at once; how many pairs there were."""
    allowed = pairs(c)
    together: dict[str, str] = {}
    for o, i in allowed:
        if o not in together and i not in together.values():
            together[o] = i
    want = evaluate(c.graph, inputs, sizes, round_every_op=eager)
    for taken in [*({o: i} for o, i in allowed), *([together] if len(together) > 1 else [])]:
        got = run_over(c, taken, inputs, sizes, threads)
        for n, v in enumerate(c.graph.outputs):
            compare(got[n], want[v], v.dtype, f"output {n} over {taken} at {dict(sizes)}, {threads} threads")
    return len(allowed)


@given(st.data())
@configured
def test_random_kernels_over_their_inputs(data: st.DataObject) -> None:
    pick = lambda xs: data.draw(st.sampled_from(list(xs)))
    graph = draw_graph(pick, 6)
    eager = pick([False, True])
    try:
        c = kernel(graph, lanes=pick([16, 4]), eager=eager)
    except Refusal:
        return
    assume(bool(pairs(c)))
    for _ in range(2):
        sizes = {"n": pick([5, 1, 2, 17, 32, 0]), "m": pick([3, 1, 16, 37, 0])}
        if _has_meaning(graph, sizes):
            compare_over(c, whole(graph, sizes, pick(range(3))), sizes, pick([1, 2, 3]), eager)


# ---- one by one ------------------------------------------------------------------------------------------------


def both(b: Builder) -> tuple[Value, Value]:
    return b.input(f32, (N, M)), b.input(f32, (N, M))


def _chain(b: Builder) -> list[Value]:
    x, y = both(b)
    return [b.add(b.mul(x, y), x), b.sub(x, y)]


def _gradients_of_a_norm(b: Builder) -> list[Value]:
    """Statistics of the row, sums over rows, and the element: all before the element is stored."""
    x, g = both(b)
    w = b.input(f32, (M,))
    dot = b.reduce("sum", b.mul(b.mul(g, w), x), [1], keepdim=True)
    dx = b.sub(b.mul(g, w), b.mul(x, dot))
    return [dx, b.reduce("sum", b.mul(g, x), [0]), b.mul(dx, b.const(1.0, f32))]


def _down_columns(b: Builder) -> list[Value]:
    x, y = both(b)
    return [b.mul(b.sub(x, b.reduce("max", x, [0], keepdim=True)), y)]


def _running_total(b: Builder) -> list[Value]:
    x, y = both(b)
    return [b.add(b.scan("sum", x, 1), y)]


def _transposed_inputs(b: Builder) -> list[Value]:
    """`y` is read at the element that is stored, `x` across."""
    x, y = b.input(f32, (M, N)), b.input(f32, (N, M))
    return [b.add(b.permute(x, [1, 0]), y)]


def _statistic_of_rows(b: Builder) -> list[Value]:
    """A new running mean over the old one: stored once a row."""
    x, old = b.input(f32, (N, M)), b.input(f32, (N, ONE))
    return [b.add(old, b.reduce("sum", x, [1], keepdim=True))]


def _statistic_of_columns(b: Builder) -> list[Value]:
    """The same, stored after all rows."""
    x, old = b.input(f32, (N, M)), b.input(f32, (ONE, M))
    return [b.add(old, b.reduce("sum", x, [0], keepdim=True))]


def _dear_value_kept(b: Builder) -> list[Value]:
    """Two passes that need one dear value, which the first leaves in scratch."""
    x, y = both(b)
    e = b.map("exp", b.map("tanh", b.map("exp", x)))
    return [b.div(e, b.reduce("sum", e, [1], keepdim=True)), b.add(e, y)]


ALLOWED: list[tuple[Callable[[Builder], list[Value]], int]] = [
    (_chain, 4),
    (_gradients_of_a_norm, 4),
    (_down_columns, 2),
    (_running_total, 2),
    (_transposed_inputs, 1),
    (_statistic_of_rows, 1),
    (_statistic_of_columns, 1),
    (_dear_value_kept, 3),
]


@pytest.mark.every(6)
@pytest.mark.parametrize(("program", "count"), ALLOWED, ids=lambda p: getattr(p, "__name__", ""))
@pytest.mark.parametrize("lanes", [16, 4])
def test_allowed(program: Callable[[Builder], list[Value]], count: int, lanes: int) -> None:
    c = kernel(graph_of(program), lanes=lanes)
    for sizes in ({"n": 5, "m": 37}, {"n": 1, "m": 1}, {"n": 67, "m": 16}, {"n": 3, "m": 0}):
        for threads in (1, 3):
            assert compare_over(c, random_inputs(c.graph, sizes), sizes, threads) == count


def _flipped(b: Builder) -> list[Value]:
    x = b.input(f32, (N, M))
    return [b.add(x, b.flip(x, [1]))]


def _another_row(b: Builder) -> list[Value]:
    x = b.input(f32, (N, N))
    return [b.mul(b.permute(x, [1, 0]), b.const(2.0, f32))]


def _read_by_a_later_pass(b: Builder) -> list[Value]:
    """The first output is stored in the pass that sums; the second needs the input and the sum."""
    x = b.input(f32, (N, M))
    total = b.reduce("sum", x, [1], keepdim=True)
    return [b.neg(x), b.mul(x, total)]


def _another_type(b: Builder) -> list[Value]:
    return [b.cast(b.input(f32, (N, M)), bf16)]


def _broadcast(b: Builder) -> list[Value]:
    """Every row reads all of `y`, and the sum over rows is stored in its layout."""
    x, y = b.input(f32, (N, M)), b.input(f32, (ONE, M))
    return [b.reduce("sum", b.mul(x, y), [0], keepdim=True)]


def _row_value_read_everywhere(b: Builder) -> list[Value]:
    x, y = b.input(f32, (N, M)), b.input(f32, (N, ONE))
    return [b.reduce("sum", b.mul(x, y), [1], keepdim=True), b.add(x, y)]


def _scalars(b: Builder) -> list[Value]:
    """What no axis tells apart is loaded by every thread, and stored by one."""
    return [b.neg(b.input(f32, ()))]


def _total_of_one_row(b: Builder) -> list[Value]:
    x, old = b.input(f32, (N,)), b.input(f32, ())
    centred = b.sub(x, b.reduce("max", x, [0], keepdim=True))
    return [b.add(old, b.reduce("sum", centred, [0]))]


def _checked(b: Builder) -> list[Value]:
    """An index may be out of range, and then torch runs the kernel's operations again."""
    x, y, at = b.input(f32, (N, M)), b.input(f32, (N, M)), b.input(i64, (N,))
    return [b.add(b.gather(x, [at], (N, M), [("at", 0, (0,)), ("dim", 1)]), y)]


def _tail_of_a_cat(b: Builder) -> list[Value]:
    x = b.input(f32, (ix(3), N))
    return [b.cat([b.slice(x, 0, 1, 1, 2), b.slice(x, 0, 0, 1, 1)], 0)]


def _allowed_in(program: Callable[[Builder], list[Value]]) -> dict[int, set[int]]:
    """output number -> numbers of the inputs it may overwrite."""
    graph: Graph = graph_of(program)
    c = kernel(graph)
    number = {v: k for k, v in enumerate([*graph.inputs, *graph.outputs])}
    source = {n: number[v] for n, v in c.built.sources.items()}
    out: dict[int, set[int]] = {k: set() for k in range(len(graph.outputs))}
    for o, i in pairs(c):
        out[source[o] - len(graph.inputs)].add(source[i])
    return out


@pytest.mark.parametrize(
    ("program", "want"),
    [
        (_flipped, {0: set()}),
        (_another_row, {0: set()}),
        (_read_by_a_later_pass, {0: set(), 1: {0}}),
        (_another_type, {0: set()}),
        (_broadcast, {0: set()}),
        (_row_value_read_everywhere, {0: set(), 1: {0}}),
        (_scalars, {0: set()}),
        (_total_of_one_row, {0: set()}),
        (_checked, {0: set()}),
        (_tail_of_a_cat, {0: set()}),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_refused(program: Callable[[Builder], list[Value]], want: dict[int, set[int]]) -> None:
    assert _allowed_in(program) == want
