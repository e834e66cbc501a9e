"""What was compiled, by name: records of graphs and groups, their hashes, stages and origins."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

import pytest
import torch

import fusewright
from fusewright.core.dtypes import f32
from fusewright.debug import record
from fusewright.fusion.build import Built, build
from fusewright.fusion.structure import structure_hash
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph
from fusewright.index.expr import ix, sym
from fusewright.index.layout import row_major
from tests.processes import python

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.softmax(x * 2 + 1, -1)
    return (y @ w).relu() + 1


def recorded(*args, fn=program, **options) -> record.Recording:
    torch._dynamo.reset()
    with fusewright.options(**options), record.recording() as r:
        torch.compile(fn, backend="fusewright")(*args)
    return r


def test_names_units_lines_and_reasons():
    (g,) = recorded(torch.randn(6, 8), torch.randn(8, 8))
    assert (g.kind, record.kind_of(g.name)) == ("inference", "inference")
    assert [k.name for k in g.groups] == [f"{g.name}.g0", f"{g.name}.g1"]
    first, second = g.groups
    assert len(first.units) == 7 and len(second.units) == 2
    assert [w.partition("(")[2] for w in first.lines] == ["y = torch.softmax(x * 2 + 1, -1))"]
    (reason,) = g.torch_units.values()
    assert "mm" in reason and "no lowering rule" in reason
    assert {"translate", "group", "plan"} <= set(g.seconds)
    assert {"schedule", "lower", "compile"} <= set(first.seconds)
    assert all(s >= 0 for s in (*g.seconds.values(), *first.seconds.values()))


def test_names_count_kernels_only():
    (g,) = recorded(torch.randn(6, 6), torch.randn(6, 6), fn=lambda x, w: ((x @ w) @ w).exp() * 2)
    assert [k.name.partition(".")[2] for k in g.groups] == ["g0"]


def test_the_backward_pass_reports_where_the_forward_pass_did():
    """It is compiled when it first runs, long after the block."""
    x = torch.randn(6, 8, requires_grad=True)
    with record.recording() as r:
        out = torch.compile(program, backend="fusewright", dynamic=True)(x, torch.randn(8, 8))
    out.sum().backward()
    assert [g.kind for g in r] == ["forward", "backward"]
    assert record.current() is None


def test_nothing_is_recorded_outside_a_block_and_the_innermost_block_gets_it():
    with record.recording() as outer:
        inner = recorded(torch.randn(6, 8), torch.randn(8, 8))
    assert len(inner) == 1 and not outer
    with record.recording() as other, record.using(None):
        torch._dynamo.reset()
        torch.compile(program, backend="fusewright")(torch.randn(6, 8), torch.randn(8, 8))
    assert not other and not other.spans


def test_origin():
    def unusual(x):
        return (x * 0.8125 - 3).cos() * x

    args = (torch.randn(5, 9),)
    origins = [recorded(*args, fn=unusual)[0].groups[0].origin for _ in range(2)]
    assert origins[0] in ("compiled", "disk") and origins[1] == "memory"
    alone = recorded(*args, fn=lambda x: (x * 0.8125 - 4).cos() * x, disk_cache=False)[0].groups[0]
    assert alone.origin == "compiled"


def test_two_equal_groups_of_one_graph_share_a_kernel():
    def twice(x, w):
        a = ((x * 0.375) - 5).exp() @ w
        return ((a * 0.375) - 5).exp() @ w

    (g,) = recorded(torch.randn(8, 8), torch.randn(8, 8), fn=twice, disk_cache=False)
    assert [k.origin for k in g.groups] == ["compiled", "memory"]
    assert g.groups[0].hash == g.groups[1].hash


def test_a_graph_that_fails_is_recorded(monkeypatch):
    monkeypatch.setattr("fusewright.pipeline.translate", lambda *a, **k: 1 / 0)
    monkeypatch.setattr("fusewright.fallback._warned", set())
    with pytest.warns(fusewright.FusewrightWarning):
        (g,) = recorded(torch.randn(6, 8), torch.randn(8, 8))
    assert "ZeroDivisionError" in g.failure and not g.groups


def _built(scale: float, extent=None) -> Built:
    b = Builder(Graph())
    x = b.input(f32, (sym("n"), ix(extent) if extent else sym("m")))
    y = b.reduce("sum", b.mul(x, b.const(scale, f32)), [1])
    graph = b.graph
    graph.outputs = [y]
    return build(graph.eqns, [y], graph.producers(), set(), lambda v: row_major(v.shape))


def test_the_hash_tells_algorithms_apart_and_nothing_else():
    a, b, c, d = (_built(2.0), _built(2.0), _built(3.0), _built(2.0, 7))
    assert a.hash == b.hash == structure_hash(a.original)
    assert len({a.hash, c.hash, d.hash}) == 3
    assert len(a.hash) == 12 and int(a.hash, 16) >= 0


def test_dropouts_that_draw_with_other_seeds_have_the_same_hash():
    """One schedule, pin or switch is for all layers of a model; two draws in a kernel are not one."""

    def layers(x, w):
        for _ in range(4):
            x = torch.dropout(x.tanh(), 0.5, True) @ w
        return x

    (g,) = recorded(torch.randn(8, 8), torch.randn(8, 8), fn=layers)
    assert len(g.groups) == 4 and len({k.hash for k in g.groups}) == 1

    def twice(x, same):
        first = torch.rand_like(x)
        return x * first + (first if same else torch.rand_like(x)) * 2

    hashes = [recorded(torch.randn(8, 8), fn=partial(twice, same=s))[0].groups[0].hash for s in (True, False)]
    assert hashes[0] != hashes[1]


def test_the_hash_survives_a_schedule():
    """A schedule merges axes: the record still has the hash of what was built."""
    (g,) = recorded(torch.randn(4, 5, 6), fn=lambda x: x.exp() + x)
    built = g.groups[0].plan.built
    assert len(built.fusion.axes) < len(built.original.axes)
    assert g.groups[0].hash == structure_hash(built.original) != structure_hash(built.fusion)


def test_hashing_shared_expressions_takes_linear_time():
    b = Builder(Graph())
    x = b.input(f32, (sym("n"),))
    y = x
    for _ in range(60):  # 2**60 paths
        y = b.add(y, y)
    b.graph.outputs = [y]
    assert len(build(b.graph.eqns, [y], b.graph.producers(), set(), lambda v: row_major(v.shape)).hash) == 12


SCRIPT = """
import torch
from fusewright.debug import record
def f(x, i): return torch.softmax(x[i] + 1, -1).flip(0).reshape(-1, 5).sum(1)
if {warm}:
    torch.compile(lambda x: (x.reshape(-1, 7).t() // 3).cumsum(0), backend="fusewright")(torch.randn(7, 9))
for dynamic in (False, True):
    torch._dynamo.reset()
    with record.recording() as r:
        torch.compile(f, backend="fusewright", dynamic=dynamic)(torch.randn(20, 10), torch.arange(6))
    print(",".join(k.hash for g in r for k in g.groups))
"""


def test_the_hash_is_the_same_in_every_process():
    """Python's own hashes are others in each process: one has those of this seed, one those that it drew."""
    first = python("-c", SCRIPT.format(warm=False))
    command, env = [sys.executable, "-c", SCRIPT.format(warm=True)], {**os.environ, "PYTHONHASHSEED": "2"}
    second = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert first.stdout == second and len(second.split()) == 2, first.stderr
