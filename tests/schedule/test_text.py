"""Schedules as text: exact round trips, and errors that name line, directive and argument."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from fusewright.core.errors import Refusal
from fusewright.core.lexer import ParseError
from fusewright.fusion import collect
from fusewright.schedule import forms, text
from fusewright.schedule.cpu import Schedule
from fusewright.schedule.forms import Illegal
from fusewright.schedule.gpu_base import GpuSchedule
from fusewright.schedule.legal_gpu import Sizes
from tests.golden.cases import CASES
from tests.kernels import fusion_of, graph_of, planned
from tests.kernels_gpu import SMALL, gpu_kernel, hint_of

SIZES = [{"n": 64, "m": 64}, {"n": 5, "m": 333}, {"n": 7, "m": 100000}, {"n": 40000, "m": 40000}]


@pytest.mark.parametrize("name", CASES)
def test_cpu_schedules_come_back(name: str) -> None:
    built, s = planned(graph_of(CASES[name].program))
    script = text.parse_one(text.dump(s, built.hash, built.original.text()))
    assert (script.schedule, script.key, script.target) == (s, built.hash, "cpu")
    # and it is the original fusion that they are for: axes are merged as their names say
    assert script.check(built.original).text() == built.fusion.text()


@pytest.mark.parametrize("name", CASES)
def test_gpu_schedules_come_back(name: str) -> None:
    graph = graph_of(CASES[name].program)
    for sizes in SIZES:
        try:
            c = gpu_kernel(graph, sizes)
        except Refusal:
            continue
        script = text.parse_one(text.dump(c.schedule, "forward0.g3"))
        assert (script.schedule, script.key, script.target) == (c.schedule, "forward0.g3", "gpu")
        facts = Sizes(hint_of(sizes), SMALL)  # type: ignore[arg-type]
        assert script.check(fusion_of(graph, make=collect.build).fusion, facts).text() == c.built.fusion.text()


def test_every_field_has_a_place_in_the_text() -> None:
    """A field that is neither written nor known to be elsewhere would be lost."""
    elsewhere = {"lanes", "family", "before", "after"}  # with `vector`; in the header; as parts
    gpu = {*elsewhere, "keep_in", "turned", "split"}  # with `keep`, `across`
    for kind, unwritten in ((Schedule, elsewhere), (GpuSchedule, gpu)):
        for f in dataclasses.fields(kind):
            assert ("form" in f.metadata) != (f.name in unwritten), f"{kind.__name__}.{f.name}"


def test_a_field_needs_one_line_to_be_printed_and_read() -> None:
    @dataclasses.dataclass(frozen=True)
    class Wider(GpuSchedule):
        cluster: int = forms.number("cluster({n})", 1)
        order: str = forms.word("order({how})", "plain")
        swizzled: bool = forms.flag("swizzle(shared)")

    s = Wider((), ("i0",), "i0", 4, "loop", "loop", cluster=8, order="hilbert", swizzled=True)
    assert {"cluster(8)", "order(hilbert)", "swizzle(shared)"} <= set(forms.render(s))
    state: dict[str, Any] = {}
    c = text.Cursor(" ".join(forms.render(s)))
    while c.token.kind != "end":
        forms.take(Wider, state, forms.read(c))
    assert forms.finish(Wider, state, family="loop") == s


CPU = """
# any comment
schedule cpu "inner persistent" for "0123456789ab"   # and here
  bind(i0, parallel)
  bind(i1, vector, 16)

schedule gpu "loop" for "forward0.g1"
  mode(loop) bind(i0, grid) bind(i1, threads) threads(columns, 32)
"""


def test_several_in_a_file() -> None:
    a, b = text.parse(CPU, "file.txt")
    assert a.schedule == Schedule(("i0",), ("i1",), "i1", 16, (), "inner persistent")
    assert b.schedule == GpuSchedule(("i0",), ("i1",), "", 1, "loop", "loop", col_threads=32)
    assert (a.line, b.line, a.source) == (3, 7, "file.txt")
    assert text.parse("") == []


def test_what_runs_around_a_scatter() -> None:
    built, s = planned(graph_of(CASES["scatter_add"].program))
    body = text.dump(s, built.hash)
    assert body.count('before "pointwise"') == len(s.before) == 1 and body.count('after "pointwise"') == 1
    assert text.parse_one(body).schedule == s
    with pytest.raises(Illegal, match="the kernel has 1 fusions before the scatter, not 0"):
        text.parse_one(body.replace('before "pointwise"', 'after "pointwise"')).check(built.original)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("bnd(i0, parallel)", r"line 2: bnd\(i0, parallel\): no directive is called 'bnd', did you mean 'bind'"),
        ("bind(i0, sideways)", r"line 2: bind\(i0, sideways\): argument 'sideways': .*legal: bind\(axis, parallel\)"),
        ("bind(i1, vector, many)", r"line 2: bind\(i1, vector, many\): argument 'many'"),
        ("bind(i1, vector)", r"line 2: bind\(i1, vector\): not what .*bind\(axis, vector, n\)"),
        ("bind(i0, parallel)\nbind(i0, parallel)", r"line 3: bind\(i0, parallel\): argument 'i0': given twice"),
        ("bind(i1, vector, 8)\nbind(i0, vector, 8)", r"line 3: bind\(i0, vector, 8\): argument 'i0': given twice"),
        ("split(i0, -4)", r"^2:13: expected"),
        ("split(i0", r"^3:1: expected ',' or '\)'"),
        ("cluster(columns, 4)", "no directive is called 'cluster'"),
        ('bind("i0", parallel)', "^2:8: expected an argument of bind"),
        ("bind()", r"bind\(\): .*legal: bind\(axis"),
        ("divide(coordinate x, parallel)", "argument 'coordinate x'"),
    ],
)
def test_bad_directives(body: str, message: str) -> None:
    with pytest.raises((Illegal, ParseError), match=message):
        text.parse(f'schedule cpu "pointwise" for "0123456789ab"\n  {body}\n')


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ('schedule tpu "x" for "y"', "1:10: expected 'cpu' or 'gpu', found 'tpu'"),
        ("schedule cpu pointwise for x", "1:14: expected the family, in quotes"),
        ('schedule cpu "a\\nb" for "x"', "1:14: not a name of a kind of kernel"),
        ('schedule cpu "" for "x"', "not a name of a kind"),
        ('schedule cpu "x" for 0123456789ab', "1:22: expected the structure hash or the group, in quotes"),
        ('schedule cpu "x" "y"', "expected 'for'"),
        ("bind(i0, parallel)", "1:1: expected 'schedule'"),
        ('schedule gpu "x" for "y" before "z"', "expected a directive, found 'before'"),
        ('schedule cpu "x" for "y" $', "unexpected character"),
    ],
)
def test_bad_headers(header: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        text.parse(header)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("bind(i0, parallel) bind(i9, vector, 16)", r"line 2: bind\(i9, vector, 16\): argument 'i9': .*legal: i0, i1"),
        ("bind(i0, parallel)", r"line 1: bind\(i1, serial\): argument 'i1': this axis has no place"),
        (
            "bind(i0, parallel)\nbind(i1, vector, 12)",
            r"line 3: bind\(i1, vector, 12\): argument '12': .*legal: 2, 4, 8",
        ),
        (
            "bind(i0, parallel) bind(i1, vector, 16)\nsplit(i1, 64)",
            r"line 3: split\(i1, 64\): .*a reduction needs the whole",
        ),
        ("bind(i1, parallel) bind(i0, vector, 16)", r"rows \(i0\) and columns \(i1\)"),
        (
            "bind(i0, parallel) bind(i1, vector, 4)\nhint(out1, streaming)",
            r"line 3: hint\(out1, streaming\): argument 'out1': its vectors are no whole cache lines",
        ),
        ("divide(i0, parallel) bind(i0, parallel) bind(i1, vector, 16)", "only the target of a scatter is divided"),
        ("bind(i0i1, vector, 16)", "these axes cannot be one"),
    ],
)
def test_what_a_fusion_does_not_allow(body: str, message: str) -> None:
    """The message names line, directive and argument, and what would be legal."""
    graph = graph_of(CASES["softmax"].program)
    script = text.parse_one(f'schedule cpu "inner persistent" for "x"\n  {body}\n')
    with pytest.raises(Illegal, match=message):
        script.check(fusion_of(graph).fusion)
