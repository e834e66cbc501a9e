"""Which units end up in one kernel, in which order the groups run, and the reasons for what is declined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fusewright.core.dtypes import f32
from fusewright.core.errors import Refusal
from fusewright.graph.builder import Builder
from fusewright.graph.grouping import MAX_UNITS, group
from fusewright.graph.groups import Group, Grouping
from fusewright.graph.ir import Graph, Unit, Value
from fusewright.graph.verify import verify, verify_groups
from fusewright.index.expr import sym
from tests.kernels import planned

N, M = sym("n"), sym("m")


class Program:
    """A graph written unit by unit, as the tracer does."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.b = Builder(self.graph)

    def input(self, *shape: Any) -> Value:
        return self.b.input(f32, shape)

    def unit(self, name: str, make: Callable[..., Value], *reads: Value, kind: str = "fused") -> Value:
        index = len(self.graph.units)
        u = Unit(index, name, f"test.{name}", f"test.py:{index}", kind, reads)
        self.graph.units.append(u)
        with self.b.transaction(index):
            out = make(*reads)
        u.results = (out,)
        return out

    def map(self, prim: str, *xs: Value) -> Value:
        return self.unit(prim, lambda *a: self.b.map(prim, *a), *xs)

    def sum(self, x: Value, dim: int, keepdim: bool = True) -> Value:
        return self.unit("sum", lambda a: self.b.reduce("sum", a, [dim], keepdim), x)

    def opaque(self, name: str, *reads: Value, shape: tuple[Any, ...] = (N, M)) -> Value:
        out = self.b.value(f32, shape)
        u = Unit(len(self.graph.units), name, f"test.{name}", "", "torch", reads, (out,), "opaque")
        self.graph.units.append(u)
        return out

    def group(self, *outputs: Value, accepts: Any = None, after: Mapping[int, list[int]] | None = None) -> Grouping:
        self.graph.outputs = list(outputs)
        verify(self.graph)
        out = group(self.graph, accepts or self.schedulable, dict(after or {}), lambda v: 64 * 64 * 4)
        verify_groups(self.graph, [g.eqns for g in out.groups if g.kernel])
        return out

    def schedulable(self, g: Group) -> None:
        part = Graph(self.graph.inputs, g.eqns, g.outputs, self.graph.units)
        planned(part)

    def names(self, got: Grouping) -> list[str]:
        return ["+".join(self.graph.units[u].name for u in g.units) for g in got.groups]


def test_a_chain_is_one_group() -> None:
    p = Program()
    x = p.input(N, M)
    y = p.map("exp", p.map("neg", x))
    total = p.sum(y, 1)
    got = p.group(p.map("div", y, total))
    assert p.names(got) == ["neg+exp+sum+div"]
    assert got.groups[0].outputs == p.graph.outputs and got.groups[0].kernel and not got.refused


def test_an_opaque_call_divides() -> None:
    p = Program()
    x = p.input(N, M)
    a = p.map("neg", x)
    b = p.opaque("matmul", a)
    got = p.group(p.map("add", p.map("exp", b), a))
    assert p.names(got) == ["neg", "matmul", "exp+add"]
    assert [g.kernel for g in got.groups] == [True, False, True]


def test_no_group_waits_for_itself() -> None:
    """neg feeds add directly and through the opaque call: merging them would make a cycle."""
    p = Program()
    x = p.input(N, M)
    a = p.map("neg", x)
    got = p.group(p.map("add", a, p.opaque("matmul", a)))
    assert p.names(got) == ["neg", "matmul", "add"]
    (r,) = got.refused
    assert (p.graph.units[r.first].name, p.graph.units[r.second].name) == ("neg", "add")
    assert r.reason == "another operation lies between them"


def test_siblings_that_read_the_same_tensor() -> None:
    p = Program()
    x = p.input(N, M)
    got = p.group(p.sum(x, 1), p.map("exp", x))
    assert p.names(got) == ["sum+exp"]


def test_unrelated_units_stay_apart() -> None:
    p = Program()
    got = p.group(p.map("exp", p.input(N, M)), p.map("neg", p.input(N, M)))
    assert p.names(got) == ["exp", "neg"]


def test_the_scheduler_refuses() -> None:
    """Rows that need sums over columns that need sums over rows: two kernels, and the reason is kept."""
    p = Program()
    x = p.input(N, M)
    y = p.map("div", x, p.sum(x, 1))
    got = p.group(p.map("div", y, p.sum(y, 0)))
    assert len(got.groups) >= 2 and sorted(u for g in got.groups for u in g.units) == [0, 1, 2, 3]
    assert got.refused and all(r.reason.startswith(("schedule: ", "domain: ", "another")) for r in got.refused)


def test_the_reason_is_what_accepts_said() -> None:
    p = Program()
    x = p.input(N, M)

    def never(g: Group) -> None:
        raise Refusal("option", "not today")

    got = p.group(p.sum(p.map("neg", x), 1), accepts=never)
    assert p.names(got) == ["neg", "sum"] and [r.reason for r in got.refused] == ["option: not today"]


def test_views_and_constants_join_every_reader() -> None:
    """They are units of no group: each kernel computes or addresses them for itself."""
    p = Program()
    x, w = p.input(N, M), p.input(M, N)
    t = p.unit("t", lambda a: p.b.permute(a, [1, 0]), w, kind="view")
    one = p.unit("full", lambda: p.b.full((N, M), 1.0, f32))
    a = p.map("add", p.map("add", x, t), one)
    b = p.map("mul", p.opaque("matmul", a), one)
    got = p.group(b)
    assert p.names(got) == ["add+add", "matmul", "mul"]
    assert {e.unit for e in got.groups[0].eqns} == {0, 1, 2, 3}
    assert got.groups[2].eqns[0].unit == 1


def test_an_intermediate_that_others_read_is_an_output() -> None:
    p = Program()
    x = p.input(N, M)
    a = p.map("neg", x)
    b = p.map("exp", a)
    p.opaque("save", a)
    got = p.group(b)
    (kernel,) = [g for g in got.groups if g.kernel]
    assert kernel.outputs == [a, b]


def test_effects_keep_their_order() -> None:
    """Unit 2 must run after unit 1 although no value says so."""
    p = Program()
    x = p.input(N, M)
    a = p.map("neg", x)
    b = p.map("exp", x)
    p.opaque("copy_", a)
    got = p.group(b, after={2: [1]})
    order = [u for g in got.groups for u in g.units]
    assert order.index(1) < order.index(2) and order.index(0) < order.index(2)


def test_groups_have_a_largest_size() -> None:
    p = Program()
    v = p.input(N, M)
    for _ in range(MAX_UNITS + 10):
        v = p.map("neg", v)
    got = p.group(v)
    assert max(len(g.units) for g in got.groups) <= MAX_UNITS
    assert [u for g in got.groups for u in g.units] == list(range(MAX_UNITS + 10))
    assert any("more than" in r.reason for r in got.refused)


def test_views_of_views_that_read_each_other_twice_are_looked_through_once() -> None:
    """There are 2^80 ways from the last to the first."""
    p = Program()
    x, y = (p.input(N, N) for _ in range(2))
    a, b = x, y
    for k in range(80):
        turn = lambda first, second: p.b.permute(first, (1, 0))
        a, b = p.unit(f"a{k}", turn, a, b), p.unit(f"b{k}", turn, b, a)
    z = p.map("exp", a)
    got = p.group(z)
    assert "exp" in p.names(got)[-1]
