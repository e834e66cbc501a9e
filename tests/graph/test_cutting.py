"""Groups that are cut behind their reductions: which units are in which part, what is kept and computed again."""

from __future__ import annotations

from typing import Any

from fusewright.core.dtypes import BY_NAME, f32
from fusewright.core.errors import Refusal
from fusewright.graph.grouping import group
from fusewright.graph.groups import Group, Grouping
from fusewright.graph.ir import Value
from fusewright.graph.verify import verify, verify_groups
from fusewright.index.expr import ix
from tests.graph.test_grouping import M, N, Program

I64 = BY_NAME["i64"]


class Cut(Program):
    def cut(self, *outputs: Value, better: Any = lambda g, between: not between) -> Grouping:
        self.graph.outputs = list(outputs)
        verify(self.graph)
        out = group(self.graph, self.schedulable, {}, self.size, better_cut=better)
        again = {u for g in out.groups for u in g.again}
        verify_groups(self.graph, [g.eqns for g in out.groups if g.kernel], again)
        return out

    def size(self, v: Value) -> int:
        return int(v.numel.evaluate({"n": 100, "m": 1000})) * v.dtype.itemsize


def test_what_reads_the_results_is_the_second() -> None:
    p = Cut()
    x = p.input(N, M)
    mean = p.sum(x, 1)
    scale = p.map("rsqrt", mean)
    y = p.map("mul", p.map("sub", x, mean), scale)
    got = p.cut(y)
    assert p.names(got) == ["sum+rsqrt", "sub+mul"]
    first, second = (g for g in got.groups if g.kernel)
    assert set(first.outputs) == {mean, scale}
    assert second.outputs == [y]
    assert {v for e in second.eqns for v in e.inputs} - {e.out for e in second.eqns} == {x, mean, scale}


def test_large_values_are_computed_again() -> None:
    """A softmax of scaled scores: neither the scores nor their exponentials are stored."""
    p = Cut()
    x = p.input(N, M)
    scores = p.map("mul", x, x)
    top = p.map("neg", p.sum(scores, 1))
    e = p.map("exp", p.map("add", scores, top))
    total = p.sum(e, 1)
    got = p.cut(p.map("div", e, total))
    first, second = (g for g in got.groups if g.kernel)
    assert set(first.outputs) == {top, total}
    assert [p.graph.units[u].name for u in sorted(second.again)] == ["mul", "add", "exp"]
    assert [k.params[0] for k in second.eqns if k.op == "map"] == ["mul", "add", "exp", "div"]
    assert {v for k in second.eqns for v in k.inputs} - {k.out for k in second.eqns} == {x, top, total}


def test_what_others_read_is_stored_by_the_first() -> None:
    p = Cut()
    x = p.input(N, M)
    square = p.map("mul", x, x)
    total = p.sum(square, 1)
    y = p.map("div", square, total)
    got = p.cut(y, square, total)
    first, second = (g for g in got.groups if g.kernel)
    assert set(first.outputs) == {square, total} and second.outputs == [y]
    assert not second.again and {v for e in second.eqns for v in e.inputs} == {square, total}


def test_both_parts_have_all_groups_before_them() -> None:
    p = Cut()
    x = p.input(N, M)
    y = p.map("mul", p.opaque("mm", x), p.sum(x, 1))
    got = p.cut(p.opaque("mm", p.map("add", y, x)))
    order = [k for g in got.groups for k in g.units]
    assert [p.graph.units[u].name for u in order].index("mul") > [p.graph.units[u].name for u in order].index("mm")
    assert [g.order for g in got.groups] == sorted(g.order for g in got.groups)


def test_nothing_is_cut_that_is_not_better_so() -> None:
    p = Cut()
    x = p.input(N, M)
    y = p.map("div", x, p.sum(x, 1))
    asked: list[Group] = []
    got = p.cut(y, better=lambda g, between: bool(asked.append(g)))
    assert p.names(got) == ["sum+div"] and len(asked) == 1 and asked[0].outputs == [y]


def test_between_reductions_that_large_values_need_and_others() -> None:
    """A loss of softmaxes: the statistics of rows, sums of rows, their mean."""
    p = Cut()
    x = p.input(N, M)
    scores = p.map("mul", x, x)
    total = p.sum(p.map("exp", scores), 1)
    each = p.sum(p.map("mul", p.map("div", scores, total), x), 1)
    asked: list[tuple[int, bool]] = []
    got = p.cut(
        p.map("neg", p.sum(each, 0)), better=lambda g, between: asked.append((len(g.units), between)) or between
    )
    assert p.names(got) == ["mul+exp+sum", "div+mul+sum", "sum+neg"]
    first, second, third = (g for g in got.groups if g.kernel)
    assert set(first.outputs) == {total} and set(second.outputs) == {each}
    assert [p.graph.units[u].name for u in second.again] == ["mul"] and not third.again
    assert asked == [(8, True), (5, True)]  # and never about one unit, or with nothing behind its reductions


def test_groups_that_cannot_be_cut() -> None:
    p = Cut()
    x = p.input(N, M)
    assert p.names(p.cut(p.map("exp", p.map("neg", x)))) == ["neg+exp"]  # nothing is reduced
    p = Cut()
    x = p.input(N, M)
    assert p.names(p.cut(p.map("exp", p.sum(p.map("neg", x), 1)))) == ["neg+sum+exp"]  # all of it is the first
    p = Cut()
    x = p.input(N, M)
    got = p.cut(p.map("div", x, p.sum(x, 1)), better=lambda g, between: between)
    assert p.names(got) == ["sum+div"]  # there is one reduction


def test_random_numbers_are_not_drawn_again() -> None:
    """They would be the same: but a seed is used up for each of them."""
    p = Cut()
    x = p.input(N, M)
    drawn = p.unit("rand", lambda seeds: p.b.random(seeds, 0, (N, M), "uniform", f32), p.b.input(I64, (1,)))
    noisy = p.map("add", x, drawn)
    got = p.cut(p.map("div", noisy, p.sum(noisy, 1)))
    assert len([g for g in got.groups if g.kernel]) == 1


class Picky(Cut):
    """A scheduler that has no kernel for two of these results together, but where something is reduced."""

    def never(self, *values: Value) -> None:
        def accepts(g: Group) -> None:
            if not any(e.op == "reduce" for e in g.eqns) and sum(v in values for v in g.outputs) > 1:
                raise Refusal("test", "these are written along different axes")

        self.schedulable = accepts  # type: ignore[method-assign]


def parts_of(p: Cut, got: Grouping) -> list[tuple[list[str], set[Value]]]:
    return [([p.graph.units[u].name for u in g.units], set(g.outputs)) for g in got.groups if g.kernel]


def test_what_needs_nothing_reduced_is_the_firsts_if_the_second_has_no_kernel_with_it() -> None:
    for refused in (False, True):
        p = Picky()
        x = p.input(N, M)
        total = p.sum(x, 1)
        y, z = p.map("exp", x), p.map("div", x, total)
        if refused:
            p.never(y, z)
        got = parts_of(p, p.cut(y, z))
        if refused:
            assert got == [(["sum", "exp"], {total, y}), (["div"], {z})]
        else:
            assert got == [(["sum"], {total}), (["exp", "div"], {y, z})]


def test_what_is_behind_the_reductions_is_two_if_it_has_no_kernel() -> None:
    p = Picky()
    x = p.input(N, M)
    total = p.sum(x, 1)
    both = p.map("sub", x, total)
    y, z = p.map("exp", both), p.map("neg", both)
    p.never(y, z)
    got = p.cut(y, z)
    assert parts_of(p, got) == [(["sum"], {total}), (["sub", "exp"], {y}), (["neg"], {z})]
    assert [p.graph.units[u].name for u in got.groups[-1].again] == ["sub"]


def test_what_the_first_computes_is_computed_again_by_the_part_that_wants_it() -> None:
    p = Picky()
    x = p.input(N, M)
    e = p.map("exp", x)
    total = p.sum(e, 1)
    y, z = p.map("sub", x, total), p.map("div", e, total)
    p.never(y, z)
    got = p.cut(y, z)
    assert parts_of(p, got) == [(["exp", "sum"], {total}), (["sub"], {y}), (["div"], {z})]
    assert [[p.graph.units[u].name for u in g.again] for g in got.groups if g.kernel] == [[], [], ["exp"]]


def test_of_two_results_the_second_reads_the_first() -> None:
    p = Picky()
    x = p.input(N, M)
    y = p.map("sub", x, p.sum(x, 1))
    z = p.map("neg", y)
    p.never(y, z)
    got = p.cut(y, z)
    assert [g[0] for g in parts_of(p, got)] == [["sum"], ["sub"], ["neg"]] and not got.groups[-1].again


def test_a_large_result_is_a_kernel_of_its_own_where_what_is_reduced_is_large() -> None:
    """The sums are a quarter of what is summed: they are not stored for another kernel."""
    for better in (True, False):
        p = Cut()
        x = p.input(ix(4), N, M)
        y = p.map("div", x, p.sum(x, 0))
        z = p.map("neg", y)
        crossed = lambda g, between, z=z: not between and (z in g.outputs or not better)
        got = parts_of(p, p.cut(z, better=crossed))
        assert got == ([(["sum", "div"], {y}), (["neg"], {z})] if better else [(["sum", "div", "neg"], {z})])
