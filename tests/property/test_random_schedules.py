"""Random schedules: what the legality checks let through computes what the graph means, on CPUs and GPUs.

Schedules are drawn at random, axes merged or not, most of them illegal; those that pass are lowered, verified and run
in the Loop IR interpreter, which also reports races and accesses out of bounds. The planner's own must always pass.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusewright.core.errors import Refusal
from fusewright.fusion.collapse import collapse
from fusewright.fusion.ir import Fusion
from fusewright.graph.ir import Graph
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.lower import lower
from fusewright.loop.verify import verify
from fusewright.schedule import gpu, legal, legal_gpu, text
from fusewright.schedule.cpu import Schedule
from fusewright.schedule.forms import Illegal
from fusewright.schedule.gpu_base import GpuSchedule
from fusewright.schedule.legal_gpu import Sizes
from tests.golden.cases import CASES
from tests.kernels import Compiled, check, fusion_of, graph_of, planned
from tests.kernels_gpu import GpuCompiled, check_gpu, hint_of
from tests.property.test_random_fusions import EXAMPLES, Pick, _has_meaning, configured, draw_graph, whole
from tests.property.test_random_gpu_fusions import GPUS

TRIES = 12  # schedules drawn for a fusion, most of which are illegal
few = settings(configured, max_examples=EXAMPLES)
fewer = settings(configured, max_examples=max(5, EXAMPLES // 20))  # for each golden


def _axes(f: Fusion, pick: Pick) -> list[str]:
    """Names of axes in a random order, some neighbours as one."""
    left = list(f.axes)
    order = []
    while left:
        a = pick(left)
        left.remove(a)
        order.append(a)
    if pick([0, 1]):
        _, order = collapse(f, order)
    return [a.name for a in order]


def _cpu(f: Fusion, pick: Pick) -> Schedule:
    names = _axes(f, pick)
    k = pick(range(len(names) + 1))
    rows, cols = tuple(names[:k]), tuple(names[k:])
    vector = pick(["", *names, *cols[-1:], *cols[-1:]])
    split = tuple((c, pick([1, 5, 16, 64, 100])) for c in cols if pick([0, 0, 0, 1]))
    stream = frozenset(s.buffer for s in f.stores() if pick([0, 0, 0, 1]))
    scatter = bool(f.scatters())
    owner = pick([None, 0, *names[:1], *names[-1:]]) if scatter else None
    before, after = ([_cpu(g, pick) for g in part] for part in (f.before, f.after))
    lanes = pick([16, 16, 4, 2, 32]) if vector else 1
    family = "drawn scatter" if scatter else "drawn"
    turn = ""
    if len(cols) > 1 and vector == cols[-1] and pick([0, 1]):  # a tile
        turn, split = cols[-2], tuple((c, pick([5, 16, 40])) for c in cols[-2:])
    if len(cols) == 1 and vector in rows and pick([0, 1]):  # rows in lanes
        turn = cols[0]
    blocks = (pick([0, 0, 2, 4, 8]), pick([0, 0, 2, 4])) if vector in rows and not turn else (0, 0)
    shared = vector in cols and not turn and pick([False, True])
    return Schedule(
        rows, cols, vector, lanes, split, family, stream, owner, turn, tuple(before), tuple(after), *blocks, shared
    )


def _gpu(f: Fusion, pick: Pick) -> GpuSchedule:
    names = _axes(f, pick)
    k = pick(range(len(names) + 1))
    rows, cols = tuple(names[:k]), tuple(names[k:])
    vector = pick(["", *names, *cols[-1:]])
    lanes = pick([1, 2, 4, 8]) if vector else 1
    mode = pick(["persistent", "loop", "split"] if f.reductions() else ["tile", "tile", "staged"])
    across = pick(rows) if mode == "staged" and rows else ""
    s = GpuSchedule(rows, cols, vector, lanes, "drawn", mode, pick([1, 2, 8, 32]), pick([1, 2, 16, 64, 128]))
    s = replace(
        s,
        steps=pick([1, 1, 2, 3, 8]),
        resident=pick([False, True]),
        cluster=pick([1, 1, 2, 4]),
        across=across,
        index=pick([32, 64]),
        keep=pick(["values", "loads"]),
        keep_in=pick(["registers", "shared"]) if mode == "persistent" else "registers",
        ahead=pick([0, 0, 1]) == 1 and mode == "persistent",
    )
    if mode == "staged":
        s = replace(s, col_threads=64 // lanes, steps=1)
    everywhere = frozenset(b.name for b in f.buffers)
    return replace(
        s,
        aligned=everywhere,
        uniform=pick([False, True]),
        steady=pick([False, True]),
        stream=pick([frozenset(), everywhere]),
    )


def attempt_cpu(graph: Graph, pick: Pick, eager: bool = False) -> int:
    """How many of some random schedules were legal. Fails if one of them is wrong."""
    built, chosen = planned(graph, pick([16, 4]), eager=eager)
    assert legal.check(built.original, chosen).text() == built.fusion.text()
    assert text.parse_one(text.dump(chosen, built.hash)).schedule == chosen
    found = 0
    for _ in range(TRIES):
        s = _cpu(built.original, pick)
        try:
            f = legal.check(built.original, s)
        except Illegal:
            continue
        found += 1
        assert text.parse_one(text.dump(s, built.hash, built.original.text())).schedule == s
        k = lower(f, s, "kernel")
        verify(k.func)
        again = fusion_of(graph, eager=eager)
        again.fusion = f
        again.sources = built.sources
        sizes = {"n": pick([5, 1, 2, 17, 32, 0]), "m": pick([3, 1, 16, 37, 70, 0])}
        if _has_meaning(graph, sizes):
            compiled = Compiled(graph, again, s, k)
            check(graph, sizes, pick([1, 2, 3]), whole(graph, sizes, pick(range(3))), compiled, eager=eager)
    return found


def attempt_gpu(graph: Graph, pick: Pick, eager: bool = False) -> int:
    """The same for a GPU."""
    built = fusion_of(graph, eager=eager)
    machine = pick(GPUS)
    alignment = pick([16, 16, 4])
    found = 0
    for _ in range(TRIES):
        sizes = {"n": pick([5, 1, 2, 17, 32, 64, 0]), "m": pick([3, 1, 16, 37, 64, 0])}
        if not _has_meaning(graph, sizes):
            continue
        facts = Sizes(hint_of(sizes), machine, lambda b: alignment)  # type: ignore[arg-type]
        _, chosen, _ = gpu.plan(built.original, facts.hint, machine, facts.alignment)
        assert legal_gpu.settle(built.original, chosen, facts)[1] == chosen
        assert text.parse_one(text.dump(chosen, built.hash)).schedule == chosen
        try:
            f, s, launch = legal_gpu.settle(built.original, _gpu(built.original, pick), facts)
        except Illegal:
            continue
        found += 1
        k = lower_gpu(f, s, "kernel")
        verify(k.func)
        built.fusion = f
        compiled = GpuCompiled(graph, built, s, k, launch)
        check_gpu(graph, sizes, whole(graph, sizes, pick(range(3))), compiled=compiled, eager=eager)
    return found


def attempt(pick: Pick) -> None:
    graph = draw_graph(pick, 6)
    eager = pick([False, True])
    for one in (attempt_cpu, attempt_gpu):
        try:
            one(graph, pick, eager)
        except Refusal:
            continue


@given(st.data())
@few
def test_what_is_legal_is_right(data: st.DataObject) -> None:
    attempt(lambda xs: data.draw(st.sampled_from(list(xs))))


@pytest.mark.every(6)
@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
@fewer
def test_golden_kernels_under_other_schedules(name: str, data: st.DataObject) -> None:
    graph = graph_of(CASES[name].program)
    if CASES[name].fix is None:
        attempt_cpu(graph, lambda xs: data.draw(st.sampled_from(list(xs))))
