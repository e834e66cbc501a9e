"""Definitions as text, incomplete and wrong definitions, and what a definition says of itself."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch

import fusewright
from fusewright import CompilerError, Definition, UserError, define
from fusewright.graph import defined as graph_defined


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def sample() -> Definition:
    d = define("sample")
    n, m = d.sizes("n m")
    x = d.tensor("x", (n, 2 * m), "bf16", order=(1, 0), device="cpu")
    w = d.tensor("w", (m,), "f32", strides=(None,))
    i = d.tensor("i", (n,), "i64", strides=("s",))
    k, eps, on = d.size_input("k"), d.scalar("eps", float), d.scalar("on", bool)
    y = (x[:, ::2] * w + eps).sum(-1)
    d.output(d.take(y, i % n), "picked")
    d.output(d.pad(d.where(on, x, x * 2), (1, 0), (0, k), 7), "padded", order=(0, 1))
    d.output(x // 2, "half", into=x)
    d.output(d.random("uniform", (k,)), "drawn")
    return d


def sample_inputs() -> list:
    x = torch.randn(6, 4).bfloat16().t()
    return [x, torch.randn(6)[::2], torch.tensor([5, 0, 3, 0, 1, 0, 2, 0])[::2], 3, 0.5, True]


def test_text_round_trips():
    d = sample()
    text = str(d)
    e = Definition.parse(text)
    assert str(e) == text and repr(e) == repr(d) == "<definition sample(x, w, i, k, eps, on) of 14 operations>"
    torch.manual_seed(0)
    a = d(*sample_inputs_of(0))
    torch.manual_seed(0)
    b = e(*sample_inputs_of(0))
    assert all(torch.equal(p, q) for p, q in zip(a, b, strict=True))
    e.validate(sample_inputs_of(1))


def sample_inputs_of(seed: int) -> list:
    state = torch.get_rng_state()
    torch.manual_seed(seed + 100)
    out = sample_inputs()
    torch.set_rng_state(state)
    return out


def test_pickles_and_copies():
    d = softmax()
    t = torch.randn(3, 4)
    for e in (pickle.loads(pickle.dumps(d)), copy.deepcopy(d)):
        assert str(e) == str(d) and torch.equal(e(t), d(t))


def test_files(tmp_path):
    d = sample()
    path = d.save(tmp_path / "sample.txt")
    assert str(Definition.load(path)) == str(d)
    with pytest.raises(UserError, match=r"cannot read .*nothing.txt: No such file"):
        Definition.load(tmp_path / "nothing.txt")
    path.write_text(str(d).replace("into x", "into z"))
    with pytest.raises(UserError, match=r"sample.txt: not a definition: .*'half' goes into 'z', which is no tensor"):
        Definition.load(path)
    with pytest.raises(UserError, match="cannot write the definition to"):
        d.save(tmp_path / "no" / "where.txt")


GOOD = """definition "double" {
  tensor x %1
  result out0 %3
}
graph {
  in %1: f32[n]
  unit 0 fused "mul" "fusewright.mul" "" reads (%1) gives (%3)
  %2: f32[] = const 2.0() @0
  %3: f32[n] = map mul(%1, %2) @0
  out (%3)
}
"""
WRONG = {
    "no header": (("definition", "defined"), "1:1: expected 'definition', found 'defined'"),
    "unknown type": (("in %1: f32", "in %1: f33"), "6:10: unknown element type 'f33'"),
    "unknown value": (("result out0 %3", "result out0 %4"), "3:15: value %4 is not defined here"),
    "other result": (("result out0 %3", "result out0 %1"), "the results are not the graph's outputs"),
    "no tensor": (("  tensor x %1\n", ""), "the tensors are not the graph's inputs"),
    "bad shape": (("%3: f32[n]", "%3: f32[m]"), r"the shape is \[n\], not \[m\]"),
    "bad name": (("tensor x", "tensor _x"), "argument: the name '_x' is reserved"),
    "reserved": (("tensor x", "tensor args"), "argument: the name 'args' is reserved"),
    "device": (("x %1", "x %1 on mars"), "x: no kind of device 'mars'"),
    "order": (("x %1", "x %1 order [1]"), r"x: \(1,\) is no order of 1 dimensions"),
    "strides": (("x %1", "x %1 strides [1, 2]"), "x: 2 strides for 1 dimensions"),
    "scalar": (("  tensor x %1\n", "  tensor x %1\n  scalar a f32\n"), "a: scalars are f64, i64 or bool, not f32"),
    "unknown scalar": (("const 2.0()", 'scalar "a"()'), "%2 is the scalar 'a', which is no argument of type f32"),
    "opaque": (("fused", "torch"), "unit 0 is of kind 'torch', which has no equations"),
    "size": (("const 2.0()", "scalar k()"), "nothing tells the size k: no argument has such an extent"),
    "size and argument": (("f32[n]", "f32[x]"), "'x' is a size and an argument"),
    "after the end": (("(%3)\n}\n", "(%3)\n}\nend"), "12:1: expected the end, found 'end'"),
}


def test_the_good_text_is_good():
    assert torch.equal(Definition.parse(GOOD)(torch.arange(3.0)), torch.arange(3.0) * 2)
    assert str(Definition.parse(GOOD)) == GOOD


@pytest.mark.parametrize("name", WRONG)
def test_wrong_texts(name):
    (old, new), message = WRONG[name]
    with pytest.raises(UserError, match=message):
        Definition.parse(GOOD.replace(old, new))


def test_opaque_units_are_refused():
    text = GOOD.replace("  out (%3)", '  unit 1 torch "mm" "aten.mm" "" reads (%3) gives (%4: f32[n])\n  out (%3)')
    with pytest.raises(UserError, match="unit 1 'mm' is of kind 'torch': a definition consists of equations"):
        Definition.parse(text)


def test_dangerous_texts_are_harmless():
    """Affine maps outside of their operand, and seeds that are not there, are found before anything runs."""
    text = GOOD.replace("map mul(%1, %2)", "affine [3 + $0](%1)").replace("  %2: f32[] = const 2.0() @0\n", "")
    d = Definition.parse(text)
    with pytest.raises(UserError, match=r"double: it reads behind dimension 0 of %1, at an unknown line \(n = 5\)"):
        d(torch.zeros(5))


# --- definitions that cannot be ---------------------------------------------------------------------------


def test_incomplete_definitions():
    d = define("nothing")
    with pytest.raises(UserError, match="definition 'nothing': it has no outputs"):
        d()
    with pytest.raises(UserError, match="x: an extent is at least 0, not -1"):
        d.tensor("x", ("n", -1), "f32")
    d = define("unbound")
    d.output(d.iota((d.size("k"),)))
    with pytest.raises(CompilerError, match=r"nothing tells the size k: .*\(size_input makes it an argument\)"):
        d.finish()
    d = define("product")
    n, m = d.sizes("n, m")
    d.output(d.tensor("x", (n * m,), "f32") + 1)
    with pytest.raises(CompilerError, match="nothing tells the sizes m, n"):
        d.finish()
    with pytest.raises(UserError, match="no outputs"), define("block") as d:
        d.tensor("x", "n", "f32")


def test_a_used_definition_is_closed():
    d = define("closed")
    x = d.tensor("x", "n", "f32")
    d.output(x + 1)
    d(torch.zeros(2))
    for change in (lambda: x + 1, lambda: d.output(x), lambda: d.tensor("y", "n", "f32"), lambda: d.scalar("s")):
        with pytest.raises(UserError, match="this definition can no longer be changed: it has been used"):
            change()


def test_bad_declarations():
    d = define()
    x = d.tensor("x", "n, m", "f32")
    other = define().tensor("x", "n", "f32")
    cases = {
        "argument: the name 'x' is taken": lambda: d.tensor("x", "n", "f32"),
        "argument: 'a b' is not a name": lambda: d.tensor("a b", "n", "f32"),
        "argument: 'class' is not a name": lambda: d.tensor("class", "n", "f32"),
        "size: the name '_n' is reserved": lambda: d.size("_n"),
        "dtype of y: no element type 'float': known: f64, f32": lambda: d.tensor("y", "n", "float"),
        "dtype of y: no element type 'u32'": lambda: d.tensor("y", "n", "u32"),
        r"shape of y: 'n \+' is not an expression of sizes \(1:4: expected": lambda: d.tensor("y", "n +", "f32"),
        "shape of y must be an int, a size or a text, not 1.5": lambda: d.tensor("y", (1.5,), "f32"),
        "y: give strides or order, not both": lambda: d.tensor("y", "n", "f32", strides=(1,), order=(0,)),
        "y: strides are 'contiguous' or one for each dimension": lambda: d.tensor("y", "n", "f32", strides="dense"),
        r"y: \(0, 0\) is no order of 2 dimensions": lambda: d.tensor("y", "n, m", "f32", order=(0, 0)),
        "y: the device is 'cpu', 'cuda' or ''": lambda: d.tensor("y", "n", "f32", device="xpu"),
        "s: a scalar is float, int or bool, not <class 'complex'>": lambda: d.scalar("s", complex),
        "add: .* belongs to another definition": lambda: x + other,
        r"add: extents m and k do not broadcast": lambda: x + d.tensor("z", "k", "f32"),
        "out0: into must be a tensor argument of this definition": lambda: d.output(x, into=x + 1),
        r"out0: .* does not fit into x": lambda: d.output(x.sum(), into=x),
        "out0: what is written into an argument has its layout": lambda: d.output(x, into=x, order=(0, 1)),
        r"out0: \(0,\) is no order of 2 dimensions": lambda: d.output(x, order=(0,)),
        "output: the name 'args' is reserved": lambda: d.output(x, "args"),
        "the size n is not known while the definition is made": lambda: range(x.shape[0]),
        "sizes are divided by sizes and positive integers, not by 0": lambda: x.shape[0] // 0,
        "there is no dimension 2 of 2": lambda: x.sum(2),
        r"a dimension twice in \(1, 1\)": lambda: x.sum((1, -1)),
        "permute: .* is no order": lambda: d.permute(x, (0, 0)),
        "squeeze: dimension 0 has extent n": lambda: d.squeeze(x, 0),
        "reshape: cannot show that .* have equally many elements": lambda: x.reshape(3, -1),
        "expand: cannot expand m to n": lambda: d.expand(x, (x.shape[0], x.shape[0])),
        "slice: the step must be at least 1": lambda: x[:, ::-1],
        "too many indices for 2 dimensions": lambda: x[0, 0, 0],
        "an index must be of integers, sizes": lambda: x[[0, 1]],
        "pad: 1 and 2 widths for 2 dimensions": lambda: d.pad(x, (1,), (0, 0)),
        "cat takes tensors of one type and rank": lambda: d.cat([x, x[0]]),
        "cat: .* differ in more than dimension 1": lambda: d.cat([x, d.permute(x, (1, 0))], 1),
        "take: indices must be integers, not f32": lambda: d.take(x, x[0]),
        "gather: .* is neither": lambda: d.gather(x, "n", [("at", 1, (0,)), ("dim", 0)], []),
        "reduce: no monoid 'avg'": lambda: d.reduce("avg", x),
        "reduce: any does not take f32": lambda: x.any(),
        "reduce: argmax is over one axis, not 2": lambda: x.argmax(),
        "scan: argmax has no prefixes": lambda: d.scan("argmax", x, 0),
        "random: no kind 'gaussian'": lambda: d.random("gaussian", "n"),
        "random: uniform numbers are floats, not i32": lambda: d.random("uniform", "n", "i32"),
        "random: seeds must be a vector of i64": lambda: d.random("uniform", "n", seeds=x),
        "constant: 300 is not a value of i8": lambda: d.constant(300, "i8"),
        "constant: 1.5 is not a value of i64": lambda: d.constant(1.5, "i64"),
        "pow of i32: cast to a float first": lambda: x.to("i32") ** x.to("i32"),
        "sub does not take bool": lambda: (x > 0) - (x > 1),
        "scatter of f64 into f32": lambda: d.scatter(x, x.to("f64"), [("dim", 0), ("dim", 1)]),
        "a tensor of a definition has no value yet: use where": lambda: bool(x > 0),
    }
    for message, make in cases.items():
        units = len(d.graph.units)
        with pytest.raises(UserError, match=message):
            make()
        made = {v for u in d.graph.units for v in u.results}
        assert all(e.out in made or e.unit < len(d.graph.units) for e in d.graph.eqns), f"{message}: {units}"
    with pytest.raises(TypeError):
        x + "1"
    with pytest.raises(TypeError):
        iter(x)
    d.output(x + 1)
    d(torch.zeros(2, 3), torch.zeros(1))  # none of that has left anything behind


# --- reports, schedules, validation ------------------------------------------------------------------------


def softmax() -> Definition:
    d = define("softmax")
    x = d.tensor("x", "n, m", "f32")
    e = d.exp(x - x.max(-1, keepdim=True))
    d.output(e / e.sum(-1, keepdim=True))
    return d


def test_explain_reports_kernels_with_the_users_lines():
    t = torch.randn(64, 100)
    for report in (softmax().explain(t), fusewright.explain(softmax(), t)):
        (k,) = report.kernels
        assert report.title == "softmax" and k.calls == 1 and any("test_text.py" in line for line in k.lines)
        assert [o.target for o in report.graphs[0].operations][:2] == ["fusewright.max", "fusewright.sub"]
        assert "softmax" in str(report)


def test_schedules_of_a_definition(tmp_path):
    d, t = softmax(), torch.randn(64, 100)
    (k,) = d.explain(t).kernels
    schedule = fusewright.schedule_of(k).bind("i1", "vector", 8)
    trial = fusewright.try_schedule(k, schedule)
    assert trial.right
    before = d(t)
    try:
        fusewright.pin(k, schedule)
        d.reset()
        torch.testing.assert_close(d(t), before)
        assert d.explain(t).kernels[0].plan.chosen
    finally:
        fusewright.unpin(k)


def test_try_schedule_takes_scalars():
    d = define("scaled")
    x, a, k = d.tensor("x", "n, m", "f32"), d.scalar("a", float), d.scalar("k", int)
    d.output((x * a + k).sum(-1))
    (kernel,) = d.explain(torch.randn(50, 60), 0.5, 3).kernels
    assert fusewright.try_schedule(kernel, fusewright.schedule_of(kernel).bind("i1", "vector", 8)).right


def test_check_mode_sees_scalars():
    d = define("scaled")
    x, a, k = d.tensor("x", "n, m", "f32"), d.scalar("a", float), d.scalar("k", int)
    d.output((x * a + k).sum(-1))
    before = fusewright.counters()["checks"]
    with fusewright.options(check=True):
        for n in (50, 7):
            d(torch.randn(n, 60), 0.5 * n, 3 - n)
    assert fusewright.counters()["checks"] == before + 2


def test_validate_finds_what_is_wrong():
    d, t = softmax(), torch.randn(8, 9)
    d.validate([t])
    d.validate([t], lambda x: torch.softmax(x, -1), rtol=1e-5, atol=1e-6)
    with pytest.raises(AssertionError, match="softmax deviates from its reference by more than rounding"):
        d.validate([t], lambda x: torch.softmax(x, -1) * 1.001)
    with pytest.raises(AssertionError, match="softmax, output out0: Tensor-likes are not close"):
        d.validate([t], lambda x: torch.softmax(x, -1) + 1e-3, atol=1e-4)
    with pytest.raises(AssertionError, match="the reference gives 2 results, softmax 1"):
        d.validate([t], lambda x: (x, x))
    with pytest.raises(AssertionError, match=r"the reference's out0 is shape \(8,\), not of shape \(8, 9\)"):
        d.validate([t], lambda x: x.sum(-1))


def test_validate_leaves_its_inputs_alone():
    d = define()
    x = d.tensor("x", "n", "f32")
    d.output(x * 2, into=x)
    t = torch.arange(4.0)
    (got,) = d.validate([t])
    assert torch.equal(t, torch.arange(4.0)) and torch.equal(got, t * 2)


def test_a_failure_runs_through_torch(monkeypatch):
    d, t = softmax(), torch.randn(8, 9)

    def broken(*_, **__):
        raise RuntimeError("planted")

    monkeypatch.setattr("fusewright.pipeline.lower", broken)
    with fusewright.options(fallback=False), pytest.raises(CompilerError, match="planted"):
        d(t)
    with pytest.warns(fusewright.FusewrightWarning, match="planted"):
        torch.testing.assert_close(d(t), torch.softmax(t, -1))
    monkeypatch.setattr("fusewright.defining.compile_traced", broken)
    d.reset()
    torch.testing.assert_close(d(t), torch.softmax(t, -1))


def test_options_and_disabled_primitives():
    d, t = softmax(), torch.randn(8, 9)
    with fusewright.options(disable=("prim:exp",)):
        why = [o.reason for o in d.explain(t).graphs[0].operations if o.target == "fusewright.exp"]
        assert why == ["option: prim:exp is disabled"]
        torch.testing.assert_close(d(t), torch.softmax(t, -1))
    with fusewright.options(grouping=False):
        torch.testing.assert_close(d(t), torch.softmax(t, -1))
        assert not d.explain(t).kernels


def test_names_in_generated_code_do_not_collide():
    d = define("collide")
    p0, s = d.tensor("p0", "x0, v", "f32"), d.tensor("tangents_1", "v", "f32")
    size_x0, nt_ = d.tensor("size_x0", "p1", "f32"), d.scalar("add_0", float)
    d.output(p0 + s * nt_)
    d.output(size_x0 * 2 + size_x0.shape[0])
    a, b, c = torch.randn(3, 4), torch.randn(4), torch.randn(5)
    for _ in range(2):
        p, q = d(a, b, c, 0.5)
        assert torch.equal(p, a + b * 0.5) and torch.equal(q, c * 2 + 5)


def test_the_parser_knows_every_layout():
    d = graph_defined.parse(str(sample()))
    assert [str(a) for a in d.arguments] == [
        "tensor x %1 order [1, 0] on cpu",
        "tensor w %2 strides [*]",
        "tensor i %3 strides [s]",
        "size k",
        "scalar eps f64",
        "scalar on bool",
    ]
