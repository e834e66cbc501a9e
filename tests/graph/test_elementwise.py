"""Merges the scheduler is not asked about at every step: how often it is, and what becomes of a wrong guess."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusewright.core.errors import Refusal
from fusewright.graph.groups import Group
from fusewright.graph.ir import Value
from tests.graph.test_grouping import M, N, Program

CHAIN = ("neg", "exp", "sin", "cos", "tanh", "abs", "sqrt", "erf", "log1p", "floor", "ceil", "trunc")


def softmax_and_more(p: Program) -> Value:
    """A reduction, and a long chain of elementwise operations behind it."""
    y = p.map("exp", p.input(N, M))
    y = p.map("div", y, p.sum(y, 1))
    for prim in CHAIN:
        y = p.map(prim, y)
    return y


class Asked:
    """A scheduler that says yes, but to what `no` is about, and remembers how often it was asked."""

    def __init__(self, p: Program, no: Callable[[set[str]], bool]):
        self.p, self.no, self.times = p, no, 0

    def __call__(self, g: Group) -> None:
        self.times += 1
        if self.no({self.p.graph.units[u].name for u in g.units}):
            raise Refusal("test", "no")


def test_a_chain_is_asked_about_once() -> None:
    p = Program()
    asked = Asked(p, lambda names: False)
    got = p.group(softmax_and_more(p), accepts=asked)
    assert p.names(got) == ["+".join(("exp", "sum", "div", *CHAIN))]
    assert asked.times <= 4


@pytest.mark.parametrize("pair", [("sum", "neg"), ("sum", "trunc"), ("div", "tanh"), ("exp", "log1p"), ("sqrt", "erf")])
def test_a_wrong_guess_is_as_if_nobody_had_guessed(pair: tuple[str, str]) -> None:
    """A scheduler that never has two operations and the sum in one kernel: it is asked step by step then."""

    def no(names: set[str]) -> bool:
        return "sum" in names and names >= set(pair)

    p = Program()
    got = p.group(softmax_and_more(p), accepts=Asked(p, no))
    groups = [set(name.split("+")) for name in p.names(got)]
    assert not any(no(g) for g in groups)
    every = ("exp", "sum", "div", *CHAIN)
    k = every.index(pair[1])
    assert groups == [set(every[:k]), set(every[k:])]
    assert [r.reason for r in got.refused] == ["test: no"]


def test_what_is_read_through_a_view_is_asked_about() -> None:
    p = Program()
    y = p.map("exp", p.input(N, N))
    y = p.map("div", y, p.sum(y, 1))
    turned = p.unit("t", lambda a: p.b.permute(a, [1, 0]), y, kind="view")
    asked = Asked(p, lambda names: "neg" in names and "div" in names)
    got = p.group(p.map("neg", turned), accepts=asked)
    assert p.names(got) == ["exp+sum+div", "neg"]
    assert "test: no" in [r.reason for r in got.refused]


def test_what_has_another_shape_is_asked_about() -> None:
    p = Program()
    x = p.input(N, M)
    total = p.sum(p.map("exp", x), 1)
    asked = Asked(p, lambda names: "neg" in names)
    got = p.group(p.map("neg", total), accepts=asked)
    assert p.names(got) == ["exp+sum", "neg"]
