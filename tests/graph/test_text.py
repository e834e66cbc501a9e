"""Graph text and the graph verifier."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusewright.core.dtypes import bf16, f32, i32, i64
from fusewright.core.errors import VerifyError
from fusewright.core.lexer import ParseError
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Eqn, Graph, Unit, Value
from fusewright.graph.text import dump, parse, parse_ix
from fusewright.graph.verify import verify, verify_groups
from fusewright.index.expr import Ix, ix, sym

TEXT = """\
graph {
  in %1: f32[s0, 4]
  in %2: i64[2]
  unit 0 fused "add" "aten.add.Tensor" "model.py:3" reads (%1) gives (%4)
  %3: f32[] = const 1.5() @0
  %4: f32[s0, 4] = map add(%1, %3) @0
  unit 1 torch "mm" "aten.mm.default" "model.py:4" reads (%4) gives (%5: bf16[s0, s0]) because "opaque: a matmul"
  unit 2 fused "all of them" "" "say \\"hi\\"" reads (%5) gives (%19)
  %6: f32[s0, s0] = cast f32 round(%5) @2
  %7: f32[2 * s0 + 3, ((s0) // (2))] = affine [$0 + $1 * 2, s0 - 1 + $1 * (-1)](%6) @2
  %8: f32[s0 * s0] = reshape(%6) @2
  %9: f32[] = scalar "alpha"() @2
  %10: i64[] = scalar 2 * s0 + 1() @2
  %11: f32[s0 * s0 + 2] = pad [1](%8, %9) @2
  %12: f32[2 * s0 * s0 + 2] = cat 0(%11, %8) @2
  %13: i64[3, s0] = iota 1() @2
  %14: f32[3, s0] = gather [at 0 ($0, $1), $1](%6, %13) @2
  %15: f32[3, 1] = reduce sum [1](%14) @2
  %16: f32[3, s0] = scan sum 1(%14) @2
  %17: f32[s0] = random uniform 1(%2) @2
  %18: bool[3, s0] = map lt(%14, %16) @2
  %20: f32[3, s0] = scatter max masked [$0, at 0 ($0, $1)](%14, %16, %18, %13) @2
  %21: f32[3, s0] = scatter set [$0, $1](%20, %16) @2
  %19: i64[1, s0] = reduce argmax [0](%14) @2
  unit 3 host "size" "sym_size" ""
  out (%19, %1)
}
"""


def test_round_trip() -> None:
    g = parse(TEXT)
    verify(g)
    assert dump(g) == TEXT


def test_parsed_parts() -> None:
    g = parse(TEXT)
    s0 = sym("s0")
    eqn = {e.out.id: e for e in g.eqns}
    assert g.inputs[0].shape == (s0, ix(4))
    assert eqn[7].params == (((ix(0), ((0, ix(1)), (1, ix(2)))), (s0 - 1, ((1, ix(-1)),))),)
    assert eqn[7].out.shape[1] is s0 // 2
    assert eqn[6].params == (f32, True)
    assert eqn[14].params == ((("at", 0, (0, 1)), ("dim", 1)),)
    assert eqn[10].params == (2 * s0 + 1,)
    assert eqn[9].params == ("alpha",)
    unit = g.units[1]
    assert (unit.kind, unit.reason, unit.where) == ("torch", "opaque: a matmul", "model.py:4")
    assert unit.reads == (eqn[4].out,) and unit.results == eqn[6].inputs
    assert g.units[2].where == 'say "hi"'
    assert g.outputs == [eqn[19].out, g.inputs[0]]


def test_round_trip_of_a_built_graph() -> None:
    g = Graph()
    b = Builder(g)
    n = sym("n")
    x = b.input(f32, (n, 8, ix(16)))
    g.units.append(Unit(0, "f", "aten.f", "a.py:1", "fused", (x,)))
    with b.transaction(0):
        y = b.flip(b.permute(x, (2, 0, 1)), [1])
        z = b.reshape(y, (16, n * 8))
        w = b.slice(b.reduce("max", b.map("exp", z), [1], True), 0, 1, 3, 5)
        r = b.cast(b.map("mul", w, b.const(float("-inf"), f32)), bf16, True)
    g.units[0].results = (r,)
    g.outputs.append(r)
    verify(g)
    text = dump(g)
    again = parse(text)
    assert dump(again) == text
    verify(again)
    for e, f in zip(g.eqns, again.eqns, strict=True):
        assert (e.op, e.params, e.unit, e.out.id, e.out.dtype, e.out.shape) == (
            f.op,
            f.params,
            f.unit,
            f.out.id,
            f.out.dtype,
            f.out.shape,
        )
        assert [v.id for v in e.inputs] == [v.id for v in f.inputs]


ATOMS = st.sampled_from(["a", "b", "c"]).map(sym)
IXS = st.recursive(
    st.one_of(ATOMS, st.integers(-9, 9).map(ix)),
    lambda x: st.one_of(
        st.tuples(x, x).map(lambda p: p[0] + p[1]),
        st.tuples(x, x).map(lambda p: p[0] * p[1]),
        st.tuples(x, st.one_of(ATOMS, st.integers(1, 9).map(ix))).map(lambda p: p[0] // p[1]),
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(IXS)
def test_index_expressions_round_trip(e: Ix) -> None:
    env = {"a": 5, "b": 3, "c": 7}
    again = parse_ix(str(e))
    assert again.evaluate(env) == e.evaluate(env)
    assert parse_ix(str(again)).evaluate(env) == e.evaluate(env)


def test_division_binds_like_multiplication() -> None:
    n = sym("n")
    assert parse_ix("2 + n // 4 * 2 - (n + 1) // 2") is 2 + (n // 4) * 2 - (n + 1) // 2
    assert parse_ix("-n // 2") is -(n // 2)


@pytest.mark.parametrize(
    "text, message",
    [
        ("graph {", "1:8: expected an equation, 'unit' or 'out', found the end"),
        ("graph {\n  in 1: f32[]", "2:6: expected a value like '%1', found '1'"),
        ("graph {\n  in %1: float[]", "2:10: unknown element type 'float'"),
        ("graph {\n  in %1: f32[]\n  in %1: f32[]", "3:6: value %1 is defined twice"),
        ("graph {\n  %1: f32[] = frob()", "2:15: expected an operation, found 'frob'"),
        ("graph {\n  %1: f32[] = map frob()", "2:19: expected a primitive, found 'frob'"),
        ("graph {\n  %1: f32[] = scatter any", "2:23: expected a way to scatter, found 'any'"),
        ("graph {\n  %1: f32[] = map neg(%2) @0", "2:23: value %2 is not defined here"),
        ("graph {\n  %1: f32[] = const 1.0()\n", "3:1: expected a unit like '@0', found the end"),
        (
            "graph {\n  %1: f32[n // 0] = iota 0() @0",
            "2:13: division by 0: the divisor of an index expression must be >= 1",
        ),
        ("graph {\n  %1: f32[n +] = iota 0() @0", "2:14: expected an index expression, found ']'"),
        ("graph {\n  unit 0 fast", "2:10: expected a unit's kind, found 'fast'"),
        ('graph {\n  unit 0 fused "a" "b"\n', "3:1: expected a source line, found the end"),
        ('graph {\n unit 0 fused "" "" "" reads (%7)\n out () }', "2:31: value %7 is not defined here"),
        ("graph {\n  out (%1) }", "2:8: value %1 is not defined here"),
        ("graph {\n  out () } out", "2:12: expected the end, found 'out'"),
        ("graph {\n  %1: f32[] = affine [$x]() @0", "2:23: unexpected character '$'"),
    ],
)
def test_parse_errors(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert str(caught.value) == message


def graph(body: str) -> Graph:
    return parse(
        'graph {\n in %1: f32[n, 4]\n in %2: i64[4]\n in %3: f32[]\n unit 0 fused "f" "t" "a.py:1"\n'
        + body
        + " @0\n out ()\n}"
    )


@pytest.mark.parametrize(
    "body, expected",
    [
        ("%4: f32[n, 4] = map add(%1, %2)", "add takes operands of one type, got f32, i64"),
        ("%4: f32[n, 4] = map add(%1)", "add takes 2 operands, got 1"),
        ("%4: bool[n, 4] = map add(%1, %3)", "the result is f32, not bool"),
        ("%4: f32[4, n] = map neg(%1)", "the shape is [n, 4], not [4, n]"),
        ("%4: f32[4] = map add(%1, %1)", "the shape is [n, 4], not [4]"),
        ("%4: bool[n, 4] = cast bool(%1)", "cast cannot give bool: compare with 0 instead"),
        ("%4: f32[n, 4] = cast f32(%1, %1)", "cast takes 1 operands, got 2"),
        ("%4: i64[] = const 1.5()", "constant 1.5 is not a i64"),
        ("%4: bool[] = const 1()", "constant 1 is not a bool"),
        ("%4: f32[4] = const 1.5()", "the shape is [], not [4]"),
        ("%4: f32[n] = affine [$0](%1)", "affine lists 1 dimensions of an operand that has 2"),
        ("%4: f32[n] = affine [$0, $1](%1)", "affine names dimension 1 of 1"),
        ("%4: f32[n] = reshape(%1)", "%1:f32[n, 4] has another number of elements"),
        ("%4: f32[n, 4] = pad [0](%1, %3)", "pad lists 1 dimensions of an operand that has 2"),
        ("%4: f32[n, 4] = pad [0, 0](%1, %1)", "the padding must be a 0-d f32"),
        ("%4: f32[n, 8] = cat 2(%1, %1)", "cat names dimension 2 of 2"),
        ("%4: f32[n, 8] = cat 1(%1, %2)", "cat takes operands of one type and rank"),
        ("%4: f32[n, 9] = cat 1(%1, %1)", "the shape is [n, 8], not [n, 9]"),
        ("%4: f32[4, 4] = gather [at 1 ($0), $1](%1, %2)", "gather has no index operand 1"),
        ("%4: f32[4, 5] = gather [at 0 ($0), $1](%1, %2)", "gather keeps dimension 1 whole, but its extent changes"),
        ("%4: f32[5, 4] = gather [at 0 ($0), $1](%1, %2)", "index operand 0 has extent 4 where the result has 5"),
        ("%4: f32[n, 4] = gather [at 0 ($0), $1](%1, %1)", "index operand 0 must be of an integer type, not f32"),
        ("%4: f32[n, 4] = scatter sum [at 0 ($0), $1](%1)", "scatter takes at least 2 operands, got 1"),
        ("%4: f32[n, 4] = scatter sum masked [at 0 ($0), $1](%1, %1)", "scatter takes at least 3 operands, got 2"),
        ("%4: f32[4, n] = scatter sum [at 0 ($1), $0](%1, %1, %2)", "the source may be larger than dimension 1"),
        ("%4: f32[n, 4] = scatter sum [$1, $1](%1, %1)", "the source may be larger than dimension 0"),
        ("%4: f32[n, 4] = scatter sum [$0, $0](%1, %1)", "scatter uses dimension 0 of the source twice"),
        ("%4: f32[n, 4] = scatter sum [at 0 ($0), $1](%1, %2, %2)", "scatter of i64 into f32"),
        ("%4: f32[n, 4] = scatter set masked [$0, $1](%1, %1, %1)", "the mask must be bool with 2 dimensions"),
        (
            "%4: f32[n, 4] = scatter set [at 0 ($0), $1](%1, %1, %2)",
            "index operand 0 has extent 4 where the source has n",
        ),
        ("%4: f32[4, 4] = scatter set [$0, $1](%1, %1)", "the shape is [n, 4], not [4, 4]"),
        ("%4: f32[n, 4] = scatter set [$0](%1, %1)", "scatter lists 1 dimensions of an operand that has 2"),
        ("%4: f32[n, 4] = reduce sum [1](%1)", "the shape is [n, 1], not [n, 4]"),
        ("%4: f32[n, 1] = reduce sum [2](%1)", "reduce names dimension 2 of 2"),
        ("%4: f32[n, 1] = reduce any [1](%1)", "any does not take f32"),
        ("%4: f32[n, 1] = reduce argmax [1](%1)", "the result is i64, not f32"),
        ("%4: f32[n, 4] = scan sum 2(%1)", "scan names dimension 2 of 2"),
        ("%4: f32[4] = iota 0()", "the result is i64, not f32"),
        ("%4: f32[4] = random uniform 0(%3)", "the seeds must be a one-dimensional i64 tensor"),
    ],
)
def test_illegal_equations(body: str, expected: str) -> None:
    with pytest.raises(VerifyError) as caught:
        verify(graph(body))
    text = str(caught.value)
    assert text.startswith(expected + ", in '%4: ")
    assert text.endswith("in pass 'verify graph', at a.py:1")


def broken(change: str) -> Graph:
    g = parse(TEXT)
    match change:
        case "twice":
            g.eqns.append(g.eqns[-1])
        case "order":
            g.eqns.append(Eqn("const", (), (1.0,), Value(50, f32, ()), 0))
        case "late":
            g.eqns[0], g.eqns[1] = g.eqns[1], g.eqns[0]
        case "unit":
            g.units.pop()
            g.units.pop()
        case "index":
            g.units[3].index = 7
        case "kind":
            g.units[0].kind = "torch"
        case "output":
            g.outputs.append(Value(99, i32, ()))
        case "reads":
            g.units[1].reads = (g.eqns[-1].out,)
        case "gives":
            g.units[2].results = (Value(98, i64, ()),)
    return g


@pytest.mark.parametrize(
    "change, expected",
    [
        ("twice", "value %19 is defined twice, in '%19"),
        ("order", "an equation of unit 0 comes after those of unit 2, in '%50"),
        ("late", "value %3 is not defined before it is used, in '%4"),
        ("unit", "there is no unit 2, in '%6"),
        ("index", "unit 3 has index 7"),
        ("kind", "unit 0 is of kind 'torch', which has no equations, in '%3"),
        ("output", "output %99 is not defined"),
        ("reads", "unit 1 reads %19, which is not defined before it"),
        ("gives", "unit 2 names %98, which is not defined"),
    ],
)
def test_illegal_graphs(change: str, expected: str) -> None:
    with pytest.raises(VerifyError) as caught:
        verify(broken(change))
    assert str(caught.value).startswith(expected)


def test_groups_are_made_of_whole_units() -> None:
    g = parse(TEXT)
    first = [e for e in g.eqns if e.unit == 0]
    rest = [e for e in g.eqns if e.unit == 2]
    verify_groups(g, [first, rest])
    with pytest.raises(VerifyError, match="group 0 has 1 of the 2 equations of unit 0 'add'"):
        verify_groups(g, [first[:1]])
    with pytest.raises(VerifyError, match="unit 0 'add' is in groups 0 and 1"):
        verify_groups(g, [first, [*first, *rest]])
    g.units[0].kind = "view"
    verify_groups(g, [first, [*first, *rest]])
    with pytest.raises(VerifyError, match="group 0 has an equation that is not in the graph"):
        verify_groups(g, [parse(TEXT).eqns])
