"""`fusewright.explain`: what a report says is what happened, and nothing else was disturbed."""

from __future__ import annotations

import json
import re

import pytest
import torch

import fusewright
from fusewright.debug import traffic
from fusewright.debug.report import Report
from tests.emulate.driver import emulated_gpu
from tests.support import same_bits

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.softmax(x * 2 + 1, -1)
    return (y @ w).relu() + 1


def explained(fn, *args, **kwargs) -> Report:
    return fusewright.explain(fn, *args, **kwargs)


def test_a_report():
    r = explained(program, torch.randn(64, 128), torch.randn(128, 32))
    (g,) = r.graphs
    assert (r.title, g.kind, len(r.kernels)) == ("program", "inference", 2)
    softmax, relu = r.kernels
    assert (softmax.title, relu.title) == ("inner_persistent_max_exp_sum_div", "pointwise_max_add")
    assert (softmax.bytes_in, softmax.bytes_out) == (64 * 128 * 4, 64 * 128 * 4)
    assert (relu.bytes_in, relu.bytes_out) == (64 * 32 * 4, 64 * 32 * 4)
    assert softmax.roof_seconds == pytest.approx(softmax.bytes / r.roofs["cpu"])
    for k in r.kernels:
        assert k.seconds is not None and 0 < k.seconds < 0.1 and k.calls == 1
        assert k.bandwidth == pytest.approx(k.bytes / k.seconds)
        assert k.share == pytest.approx(k.roof_seconds / k.seconds)
        assert f"define i32 @{k.title}(" in k.source and k.language == "LLVM IR"
        assert "store" in k.algorithm and any("bind(" in d for d in k.directives) and k.words
        assert r.kernel(k.name) is k and r.kernel(k.hash) is k
    assert [o.target for o in g.operations if o.place == "torch"] == ["aten.mm.default"]
    assert [b.kind for b in g.boundaries] == ["torch between"]
    assert g.inputs[0][1] == "float32[64, 128]" and "def call(args)" in g.plan
    assert 0 < r.seconds["ours"] <= r.seconds["compile"] <= r.seconds["total"]


def test_memory_saved_is_what_eager_writes_and_we_do_not():
    n = 64 * 128 * 4
    assert explained(lambda x: ((x + 1) * 2).exp(), torch.randn(64, 128)).saved_bytes == 2 * n
    # inside a softmax eager writes nothing either
    assert explained(lambda x: torch.softmax(x * 2, -1), torch.randn(64, 128)).saved_bytes == n
    assert explained(lambda x: (x * 2 > 1).float() + 1, torch.randn(64, 128)).saved_bytes == n + n // 4 + n
    # a result that somebody reads elsewhere is written
    assert explained(lambda x: (y := x + 1, (y * 2).exp()), torch.randn(64, 128)).saved_bytes == n


def bytes_of(fn, *args) -> tuple[int, int]:
    with fusewright.options(single_op_groups=True):
        (k,) = explained(fn, *args).kernels
    return k.bytes_in, k.bytes_out


def test_bytes_are_those_of_distinct_elements():
    x = torch.randn(32, 64)
    assert bytes_of(lambda x: x.exp() * x + 1, x) == (8192, 8192)  # read twice, moved once
    assert bytes_of(lambda x, y: x * y, x, torch.randn(64)) == (8192 + 256, 8192)
    assert bytes_of(lambda x, y: x * y, x, torch.randn(32, 1).expand(32, 64)) == (8192 + 128, 8192)
    assert bytes_of(lambda x: x[:, :8] * 2 + 1, x) == (32 * 8 * 4, 32 * 8 * 4)
    at = torch.tensor([1, 5, 5])
    assert bytes_of(lambda t, i: t[i] * 2, torch.randn(1000, 16), at) == (3 * 16 * 4 + 3 * 8, 3 * 16 * 4)
    assert bytes_of(lambda x: x.sum(0), x) == (8192, 256)
    assert bytes_of(lambda x: x.double() + 1, torch.randn(5, dtype=torch.bfloat16)) == (10, 40)


def test_dynamic_sizes_are_those_of_the_call():
    def f(x):
        return x.exp() + x.sum()

    x = torch.randn(10, 7)
    torch._dynamo.mark_dynamic(x, 0)
    (k,) = explained(f, x).kernels
    assert any("s" in shape for _, _, shape in k.buffers)
    assert (k.bytes_in, k.bytes_out) == (280, 280)


def test_gradients_stay_as_they_were():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Linear(8, 8))
    x = torch.randn(4, 8)
    model(x).sum().backward()
    before = [p.grad.clone() for p in model.parameters()]
    held = [p.grad for p in model.parameters()]
    r = explained(model, x)
    assert [g.kind for g in r.graphs] == ["forward", "backward"]
    assert all(p.grad is h and torch.equal(h, b) for p, h, b in zip(model.parameters(), held, before, strict=True))
    fresh = torch.nn.Linear(8, 8)
    explained(fresh, x)
    assert all(p.grad is None for p in fresh.parameters())


def test_backward_is_a_choice():
    x = torch.randn(4, 8, requires_grad=True)
    f = lambda x: x.exp() * 2 + x

    def kinds(backward):
        torch._dynamo.reset()
        r = explained(f, x, backward=backward)
        return [g.kind for g in r.graphs if any(k.calls for k in g.kernels)]

    assert kinds(True) == kinds("auto") == ["forward", "backward"]
    assert kinds(False) == ["forward"]
    assert [g.kind for g in explained(f, x.detach()).graphs] == ["inference"]
    with pytest.raises(fusewright.UserError, match="no result requires grad"):
        explained(f, x.detach(), backward=True)
    with pytest.raises(fusewright.UserError, match="'yes'"):
        explained(f, x, backward="yes")


def test_arguments_that_belong_to_a_graph_of_the_user():
    a = torch.randn(4, 8, requires_grad=True)
    x = a * 2
    r = explained(lambda x: x.exp() + 1, x)
    assert [g.kind for g in r.graphs] == ["forward", "backward"]
    x.sum().backward()  # the user's own graph has not been freed
    assert torch.equal(a.grad, torch.full_like(a, 2))


def test_it_really_runs_and_once():
    calls, state = [], torch.zeros(8)

    @torch._dynamo.disable
    def note():
        calls.append(1)

    def f(x):
        note()
        state.add_(x.sum(0) * 2)
        return x + 1

    x = torch.randn(4, 8)
    explained(f, x)
    assert calls == [1]
    assert torch.equal(state, torch.compile(lambda x: x.sum(0) * 2, backend="fusewright")(x))


def test_measuring_changes_nothing_that_the_program_sees():
    """Kernels run several times: on copies, also where they write into an input or take over its memory."""

    def f(x, s):
        s.add_(x * 2)
        y = (x.exp() + 1) * s
        return y.cos() * y, (y * 3).sum()

    x, s, t = torch.randn(300, 300), torch.zeros(300, 300), torch.zeros(300, 300)
    want = torch.compile(f, backend="fusewright")(x, t)
    out = []
    explained(lambda: out.extend(f(x, s)))
    assert all(same_bits(a, b) for a, b in zip((*out, s), (*want, t), strict=True))


def test_other_compiled_functions_are_not_disturbed():
    def helper(x):
        torch._dynamo.graph_break()
        return x * 3

    def f(x):
        return helper(x.exp()) + 1

    mine = torch.compile(f, backend="fusewright")
    x = torch.randn(4, 8)
    mine(x)
    before = {k: dict(v) for k, v in torch._dynamo.utils.counters.items()}
    for n in (4, 5, 6):
        explained(mine, torch.randn(n, 8))
    assert {k: dict(v) for k, v in torch._dynamo.utils.counters.items()} == before
    graphs = fusewright.counters()["graphs_traced"]
    with torch.compiler.set_stance("fail_on_recompile"):
        mine(x)
    assert fusewright.counters()["graphs_traced"] == graphs
    mine(torch.randn(9, 8))  # the first new size: would Dynamo have seen others, it would ...
    with torch.compiler.set_stance("fail_on_recompile"):
        mine(torch.randn(4, 8))


def test_explaining_often_does_not_reach_the_recompile_limit():
    def f(x):
        torch._dynamo.graph_break()
        return x.exp() + 1

    for _ in range(torch._dynamo.config.recompile_limit + 2):
        assert explained(f, torch.randn(4, 8)).kernels
    torch.compile(f, backend="fusewright", fullgraph=False)(torch.randn(4, 8))


def test_a_compiled_function_and_a_method():
    class Thing:
        def method(self, x):
            return x.exp() + self.one

        one = 1

    compiled = torch.compile(program, backend="fusewright")
    assert explained(compiled, torch.randn(4, 8), torch.randn(8, 8)).title == "program"
    assert len(explained(torch.compile(torch.nn.Softmax(-1)), torch.randn(4, 8) + 0).kernels) in (0, 1)
    assert "method" in explained(Thing().method, torch.randn(4, 8)).title


def test_graph_breaks_with_line_and_reason():
    def f(x):
        y = x.exp() + 1
        print("here", end="")
        return y * 2 + x

    r = explained(f, torch.randn(4, 8))
    assert len(r.graphs) == 2
    (b,) = r.breaks
    assert 'print("here"' in b.where and "test_explain.py:" in b.where and "print" in b.reason
    assert "graph break" in str(r) and 'print("here"' in str(r)


def test_recompilations_with_their_guard():
    def inner(y):
        torch._dynamo.graph_break()
        return y.exp() + 1

    def f(x):
        return [inner(x[:n]) for n in (2, 3)]

    r = explained(f, torch.randn(4, 8))
    again = [frame for frame in r.recompilations if frame.name != "f"]
    assert again and all("size mismatch at index 0. expected 2, actual 3" in frame.recompiled for frame in again)
    assert "recompilations" in str(r)


def test_a_missing_private_structure_is_reported(monkeypatch):
    monkeypatch.delattr("torch._dynamo.utils.graph_break_reasons")
    monkeypatch.delattr("torch._dynamo.utils.get_compilation_metrics")
    r = explained(program, torch.randn(4, 8), torch.randn(8, 8))
    assert len(r.missing) == 2 and len(r.kernels) == 2
    assert "not known: graph breaks" in str(r)


def test_errors_of_the_program_are_its_own():
    with pytest.raises(RuntimeError):
        explained(lambda x: (x @ x) + 1, torch.randn(2, 3))
    assert fusewright.debug.record.current() is None


def test_a_failing_pipeline_is_explained(monkeypatch):
    monkeypatch.setattr("fusewright.pipeline.translate", lambda *a, **k: 1 / 0)
    monkeypatch.setattr("fusewright.fallback._warned", set())
    with pytest.warns(fusewright.FusewrightWarning):
        r = explained(program, torch.randn(4, 8), torch.randn(8, 8))
    assert "ZeroDivisionError" in r.graphs[0].failure and "ZeroDivisionError" in str(r)
    assert json.dumps(r.to_dict())


@pytest.mark.parametrize("args", [(torch.randn(0, 8),), (torch.randn(()),), (torch.tensor([[float("nan")]]),)])
def test_odd_inputs(args):
    r = explained(lambda x: (x.exp() + 1).sum(), *args)
    assert str(r) and json.dumps(r.to_dict())


def test_options_of_torch_compile_hold():
    def f(x):
        return x.exp() * 2 + 1

    class Module(torch.nn.Module):
        def forward(self, x):
            return f(x)

    x = torch.randn(6, 4)
    for fn in (f, Module()):
        call = torch.compile(fn, backend="fusewright", options={"disable": ["prim:exp"]}, dynamic=True)
        (g,) = explained(call, x).graphs
        assert [o.reason for o in g.operations if o.target == "aten.exp.default"] == ["option: prim:exp is disabled"]
        assert any("float32[s" in layout for _, layout in g.inputs), "sizes are symbols"
        for plain in (fn, torch.compile(fn, backend="fusewright"), torch.compile(fn, backend="eager", dynamic=False)):
            (g,) = explained(plain, x).graphs
            assert len(g.kernels) == 1 and len(g.kernels[0].operations) == 3
            assert any("float32[6, 4]" in layout for _, layout in g.inputs)


def test_what_is_no_function():
    for bad in (3, "script.py", torch.nn.Linear):
        with pytest.raises(fusewright.UserError, match="explain: a function or a module is needed, not "):
            explained(bad)


def test_a_kernel_by_the_end_of_its_name():
    r = explained(program, torch.randn(4, 8), torch.randn(8, 8))
    assert r.kernel("g1") is r.kernels[1]
    many = explained(program, torch.randn(4, 8, requires_grad=True), torch.randn(8, 8))
    with pytest.raises(fusewright.UserError, match=r"no kernel 'g0': forward\d+.g0, "):
        many.kernel("g0")


def test_tables_have_a_line_for_each_kernel():
    """Numbers are never folded; names and code are cut."""

    def a_function_with_a_long_name_and_many_operations(x):
        return (torch.softmax(x.sin().cos().exp() * x.sqrt().tanh(), -1).sigmoid() + x.abs().log1p().erf()).sum(-1) * 2

    report = explained(a_function_with_a_long_name_and_many_operations, torch.rand(512, 1024))
    (row,) = [line for line in str(report).splitlines() if line.startswith(report.kernels[0].name)]
    assert re.search(
        r"\d MiB \+ \d\.\d KiB +\d[\d.]* .s +\d[\d.]* .s +(\d+%|cached) +\w+ +test_explain.py:\d+ .*…$", row
    )


def test_nothing_to_compile():
    r = explained(lambda: 3)
    assert r.graphs == () and "0 graphs" in str(r)


def test_to_dict_is_json_and_complete():
    r = explained(program, torch.randn(4, 8, requires_grad=True), torch.randn(8, 8))
    d = json.loads(json.dumps(r.to_dict(), allow_nan=False))
    assert set(d) == {
        *("title", "seconds", "roofs", "saved_bytes", "breaks", "recompilations", "frames", "missing", "graphs")
    }
    k = d["graphs"][0]["kernels"][0]
    assert k["name"].endswith(".g0") and k["source"] and k["bytes_in"] == 4 * 8 * 4 and k["resources"]
    assert {"index", "where", "place", "reason", "primitives"} <= set(d["graphs"][0]["operations"][0])
    assert {"first", "second", "kind", "reason"} <= set(d["graphs"][0]["boundaries"][0])


def test_the_text_of_a_kernel():
    r = explained(program, torch.randn(4, 8), torch.randn(8, 8))
    text = str(r.kernels[0])
    assert "y = torch.softmax(x * 2 + 1, -1)" in text and "bind(i1, vector" in text and "define i32" in text
    with pytest.raises(fusewright.UserError, match=r"no kernel 'nothing': inference\d+\.g0"):
        r.kernel("nothing")


def test_the_same_kernel_many_times_is_one_line():
    def f(x, w):
        for _ in range(12):
            x = ((x * 0.5) - 1).exp() @ w
        return x

    text = str(explained(f, torch.randn(8, 8), torch.randn(8, 8)))
    assert text.count("pointwise_mul_sub_exp") == 1 and "12 ×" in text


def test_a_gpu_kernel():
    with emulated_gpu():
        r = explained(program, torch.randn(64, 128), torch.randn(128, 32))
    k = r.kernels[0]
    assert k.language == "CUDA C++" and "__global__ void" in k.source and k.title in k.source
    assert k.seconds is not None and "threads" in k.words and "grid" in " ".join(k.directives)
    used = k.resources
    assert "unavailable" in used or all(v["registers"] > 0 for v in used.values())


def test_the_roof_is_measured_once(monkeypatch):
    first = traffic.roof("cpu")
    monkeypatch.setattr(traffic, "_copy", lambda device: 1 / 0)
    assert traffic.roof("cpu") == first > 1e8


def test_watching_costs_nothing_unless_somebody_watches():
    """The plan's source is the same as if there were no watches."""
    from fusewright.debug import record

    sources = []
    for measure in (None, False, True):
        torch._dynamo.reset()
        with record.recording(bool(measure)) as r:
            torch.compile(program, backend="fusewright")(torch.randn(4, 8), torch.randn(8, 8))
        sources.append(r[0].plan.source)
    assert sources[0] == sources[1] and "_w" not in sources[0] and "_w" in sources[2]


def test_a_repro_file(tmp_path):
    x, w = torch.randn(4, 8), torch.randn(8, 8)
    k = explained(program, x, w).kernels[0]
    k.repro(tmp_path / "repro.py")
    assert "def group(" in (tmp_path / "repro.py").read_text() and k.hash in (tmp_path / "repro.py").read_text()
    with pytest.raises(fusewright.UserError, match="cannot write a repro file"):
        k.repro(tmp_path / "no" / "where" / "repro.py")


def test_an_edited_source_is_the_one_shown(tmp_path):
    args = torch.randn(4, 8), torch.randn(8, 8)
    k = explained(program, *args).kernels[0]
    (path,) = fusewright.save_sources([k], tmp_path)
    path.write_text(path.read_text() + "\n; edited by hand\n")
    path.rename(tmp_path / f"{k.hash}.ll")
    with fusewright.options(external_source=str(tmp_path)), pytest.warns(fusewright.FusewrightWarning):
        edited = explained(program, *args).kernels[0]
    assert edited.origin == "external" and "; edited by hand" in edited.source


def test_a_graph_that_did_not_run_says_so():
    x = torch.randn(4, 8, requires_grad=True)
    r = explained(lambda x: x.exp() * 2 + x, x, backward=False)
    assert str(r).count("compiled, but not run") == sum(g.kind == "backward" for g in r.graphs)
    assert "compiled, but not run" not in str(explained(program, torch.randn(4, 8), torch.randn(8, 8)))
