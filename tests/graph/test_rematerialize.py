"""Values that every reader computes again: when that moves fewer bytes, and what is never computed again."""

from __future__ import annotations

from typing import Any

import pytest

from fusewright.core.dtypes import bf16, f32
from fusewright.core.errors import Refusal
from fusewright.graph.grouping import group
from fusewright.graph.groups import Again, Group, Grouping
from fusewright.graph.ir import Value
from fusewright.graph.verify import verify, verify_groups
from tests.graph.test_grouping import M, N, Program


class Apart(Program):
    """Groups are merged only as long as they have no reduction before them."""

    rows, columns = 1000, 1000

    def apart(self, *outputs: Value, again: Again = "always", after: Any = None, refuse: Any = None) -> Grouping:
        self.graph.outputs = list(outputs)
        verify(self.graph)

        def accepts(g: Group) -> None:
            reduced = [k for k, u in enumerate(g.units) if self.graph.units[u].name == "sum"]
            if reduced and reduced[0] != len(g.units) - 1:
                raise Refusal("test", "what reads a sum is another kernel")
            if refuse is not None and refuse(g):
                raise Refusal("test", "refused")

        out = group(self.graph, accepts, dict(after or {}), self.size, False, again=again)
        units = {u for g in out.groups for u in g.again}
        verify_groups(self.graph, [g.eqns for g in out.groups if g.kernel], units)
        return out

    def size(self, v: Value) -> int:
        return int(v.numel.evaluate({"n": self.rows, "m": self.columns})) * v.dtype.itemsize

    def halves(self, *shape: Any) -> Value:
        return self.b.input(bf16, shape)

    def wide(self, x: Value) -> Value:
        return self.unit("cast", lambda a: self.b.cast(a, f32), x)

    def read(self, g: Group) -> set[Value]:
        return {v for e in g.eqns for v in e.inputs} - {e.out for e in g.eqns}


def centred(p: Apart) -> tuple[Value, Value, Value, Value]:
    """(x, a value of it, its sum, and what is made of both)."""
    x = p.halves(N, M)
    y = p.map("exp", p.map("neg", p.wide(x)))
    total = p.sum(y, 1)
    return x, y, total, p.map("div", y, total)


def test_it_is_not_stored_but_computed_by_both() -> None:
    p = Apart()
    x, _, total, out = centred(p)
    first, second = p.apart(out).groups
    assert first.outputs == [total] and second.outputs == [out]
    assert p.read(first) == {x} and p.read(second) == {x, total}
    assert [p.graph.units[u].name for u in sorted(second.again)] == ["neg", "exp"]


def test_without_the_option_it_is_stored() -> None:
    p = Apart()
    _, y, total, out = centred(p)
    first, second = p.apart(out, again="never").groups
    assert set(first.outputs) == {y, total} and not second.again


def test_small_values_are_stored() -> None:
    p = Apart()
    p.rows = 100
    _, y, total, out = centred(p)
    first, second = p.apart(out).groups
    assert set(first.outputs) == {y, total} and not second.again


def test_what_is_made_of_more_bytes_is_stored() -> None:
    p = Apart()
    x = [p.input(N, M) for _ in range(4)]
    y = p.map("add", p.map("add", x[0], x[1]), p.map("add", x[2], x[3]))
    first, second = p.apart(p.map("div", y, p.sum(y, 1))).groups
    assert y in first.outputs and not second.again


def test_what_the_reader_reads_anyway_costs_nothing() -> None:
    p = Apart()
    x = [p.input(N, M) for _ in range(2)]
    y = p.map("mul", p.map("add", x[0], x[1]), x[0])
    z = p.map("sub", p.map("div", y, p.sum(y, 1)), p.map("div", x[0], x[1]))
    first, second = p.apart(z).groups[0], p.apart(z).groups[-1]
    assert y not in first.outputs and second.again


def test_results_and_operands_of_library_calls_are_stored() -> None:
    for used in (False, True):
        p = Apart()
        _, y, total, out = centred(p)
        more = p.opaque("matmul", y) if used else y
        got = p.apart(out, more)
        assert set(got.groups[0].outputs) == {y, total}
        assert not any(g.again for g in got.groups)


def test_what_an_effect_waits_for_stays_where_it_is() -> None:
    """x is overwritten between the two."""
    p = Apart()
    x, _, _, out = centred(p)
    p.opaque("copy", x)
    readers = [u.index for u in p.graph.units if x in u.reads]
    got = p.apart(out, after={len(p.graph.units) - 1: readers})
    assert not any(g.again for g in got.groups)


@pytest.mark.parametrize("half", ["sum", "div"])
def test_without_a_schedule_it_is_stored(half: str) -> None:
    """The reader cannot compute it, or the first has no schedule without it."""
    p = Apart()
    _, y, total, out = centred(p)

    def refuse(g: Group) -> bool:
        return (half == "div" and bool(g.again)) or (half == "sum" and g.outputs == [total])

    got = p.apart(out, refuse=refuse)
    first = got.groups[0]
    assert set(first.outputs) == {y, total} and not any(g.again for g in got.groups)
    assert any(r.reason.startswith("not computed again") for r in got.refused)


def test_what_nobody_stores_is_in_no_group() -> None:
    """Two sums that are kernels of their own, of the same values."""
    p = Apart()
    x = p.halves(N, M)
    y = p.map("exp", p.map("neg", p.wide(x)))
    a, b = p.sum(y, 0), p.sum(y, 1)
    got = p.apart(a, b, refuse=lambda g: len({e.params[1] for e in g.eqns if e.op == "reduce"}) > 1)
    assert [g.outputs for g in got.groups] == [[a], [b]]
    assert all(p.read(g) == {x} for g in got.groups)


@pytest.mark.parametrize("again", ["never", "moved", "always"])
@pytest.mark.parametrize("shared", [False, True])
def test_what_one_reader_wants_is_moved_to_it(again: Again, shared: bool) -> None:
    """A mean of squared distances from means: nothing is computed twice, unless the first kernel wants it, too."""
    p = Apart()
    x = p.input(N, M)
    y = p.map("mul", *[p.map("sub", x, p.sum(x, 0))] * 2)
    p.graph.outputs = [p.sum(y, 0), *([p.map("exp", y)] if shared else [])]
    verify(p.graph)

    def accepts(g: Group) -> None:
        names = [p.graph.units[u].name for u in g.units]
        if names.count("sum") > 1 or {"sum", "exp"} <= {*names[1:]} or (names[0] != "sum" and "exp" in names):
            raise Refusal("test", "two reductions")

    got = [g for g in group(p.graph, accepts, {}, p.size, False, again=again).groups if g.kernel]
    verify_groups(p.graph, [g.eqns for g in got], {u for g in got for u in g.again})
    moved = again == "always" or (again == "moved" and not shared)
    assert (y in got[0].outputs) != moved
    assert [p.graph.units[u].name for u in sorted(got[-1].again)] == ["sub", "mul"] * moved
    if moved and not shared:
        assert [p.graph.units[u].name for u in got[0].units] == ["sum"]


def alone(g: Group, p: Apart) -> None:
    """One reduction to a kernel."""
    if sum(p.graph.units[u].name == "sum" for u in g.units) > 1:
        raise Refusal("test", "two reductions")


def scaled(p: Apart, *then: str, dims: tuple[int, ...] = (0, 1)) -> tuple[Value, list[Value], Value]:
    """(rows times what is made of their sum, sums of those along `dims`, that factor)"""
    x = p.input(N, M)
    factor = p.map("rsqrt", p.sum(x, 1))
    y = p.map("mul", x, factor)
    for name in then:
        y = p.map(name, y)
    return y, [p.sum(y, d) for d in dims], factor


def regrouped(p: Apart, *outputs: Value) -> Grouping:
    p.graph.outputs = list(outputs)
    verify(p.graph)
    return group(p.graph, lambda g: alone(g, p), {}, p.size, False, again="always")


def test_what_is_made_of_a_reduction_is_stored_rather_than_computed_for_each_point() -> None:
    p = Apart()
    y, sums, factor = scaled(p)
    first, *others = (g for g in regrouped(p, *sums).groups if g.kernel)
    assert first.outputs == [factor] and y not in first.outputs
    assert [[p.graph.units[u].name for u in g.again] for g in others] == [["mul"], ["mul"]]
    assert all(factor in p.read(g) for g in others)


def test_what_takes_longer_to_compute_than_to_read_is_stored() -> None:
    p = Apart()
    y, sums, _ = scaled(p, "exp", "exp")
    first, *others = (g for g in regrouped(p, *sums).groups if g.kernel)
    assert first.outputs == [y] and not any(g.again for g in others)
    p = Apart()
    y, sums, factor = scaled(p, "exp", "exp", dims=(0,))  # one reader: it is computed once either way
    first, second = (g for g in regrouped(p, *sums).groups if g.kernel)
    assert first.outputs == [factor] and len(second.again) == 3
