"""What each way in shows of itself: `fuse`, modules of libraries, programs compiled ahead of time, executors."""

from __future__ import annotations

import re
import warnings

import pytest
import torch
from torch import nn

import fusewright
from fusewright import cli
from fusewright.debug import dump, record, repro
from fusewright.debug.report import Report
from tests.debug.planted import plant
from tests.emulate.driver import emulated_gpu

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.softmax(x * 2 + 1, -1)
    return (y @ w).relu() + 1


X, W = torch.randn(6, 8), torch.randn(8, 8)


def lines(r: Report) -> set[str]:
    return {o.where for g in r.graphs for o in g.operations if o.where}


# --- lines -----------------------------------------------------------------------------------------------------------


def library() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 8), nn.Sequential(nn.GELU(), nn.LayerNorm(8)))


def test_a_module_of_torch_has_its_path_for_a_line():
    x = torch.randn(4, 8, requires_grad=True)
    found = lines(fusewright.explain(library(), x))
    assert found == {"0 (Linear)", "1.0 (GELU)", "1.1 (LayerNorm)"}, "of the backward pass, too"
    assert lines(fusewright.explain(fusewright.fuse(library()), x)) == found
    module = library()
    assert all("test_ways_in.py" in w for w in lines(fusewright.explain(lambda x: module(x) * 2, x)) if w)


def test_without_explain_the_path_is_the_same():
    with record.recording() as graphs, torch.no_grad():
        torch.compile(library(), backend="fusewright")(torch.randn(4, 8))
    assert {line for g in graphs for k in g.groups for line in k.lines} == {"1.0 (GELU)", "1.1 (LayerNorm)"}


def test_a_line_of_the_user_in_a_module_comes_first():
    class Mine(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.norm(x) * 2  # mine

    model = nn.Sequential(Mine(), nn.GELU())
    for call in (model, fusewright.fuse(model)):
        found = lines(fusewright.explain(call, torch.randn(4, 8)))
        assert "1 (GELU)" in found and any("self.norm(x) * 2" in w for w in found)
        assert not any("explained" in w or "dynamo.py" in w or "<" in w for w in found)


def test_an_exported_program_has_lines_and_paths():
    exported = torch.export.export(library(), (torch.randn(4, 8),))
    assert {"1.0 (GELU)", "1.1 (LayerNorm)"} <= lines(fusewright.explain(exported, torch.randn(4, 8)))


# --- fuse ------------------------------------------------------------------------------------------------------------


def test_what_fuse_made_is_explained_as_fuse_makes_it():
    fused = fusewright.fuse(program)
    fused(X, W)
    before = fused._fusewright.traces
    r = fusewright.explain(fused, X, W)
    assert r.title == "program" and not r.frames, "Dynamo had no part in it"
    (g,) = r.graphs
    assert [k.title for k in r.kernels] == ["inner_persistent_max_exp_sum_div", "pointwise_max_add"]
    assert "i64" not in g.inputs[0][1] and fused._fusewright.traces == before == 1, "nothing is shared with it"
    assert all(k.calls == 1 and k.seconds for k in r.kernels)


def test_a_method_and_gradients_of_fuse():
    class Layer:
        @fusewright.fuse
        def run(self, x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(x * 2, -1) + 1

    x = torch.randn(4, 8, requires_grad=True)
    r = fusewright.explain(Layer().run, x)
    assert [g.kind for g in r.graphs] == ["forward", "backward"] and x.grad is None
    only = fusewright.explain(Layer().run, x, backward=False)
    assert [k.calls for g in only.graphs for k in g.kernels if g.kind == "backward"] in ([], [0])


def test_what_fuse_leaves_plain_has_a_reason(tmp_path):
    @fusewright.fuse
    def writes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return y * 2 + 1

    memory = torch.randn(4, 8)
    r = fusewright.explain(writes, memory, memory[1:])
    (plain,) = [g for g in r.graphs if g.kind == "plain"]
    assert plain.name == "writes" and "writes runs as plain PyTorch: it writes to arguments that share memory" in str(r)
    assert plain.failure in r.to_html(tmp_path / "report.html").read_text("utf-8")


def test_one_reason_is_recorded_once():
    fused = fusewright.fuse(lambda x: x * 2)
    with record.recording() as graphs:
        for _ in range(3):
            fused(torch.eye(4).to_sparse())
    assert [g.kind for g in graphs] == ["plain"] and "torch.sparse_coo tensor" in graphs[0].failure


# --- ahead of time ---------------------------------------------------------------------------------------------------


class Model(nn.Module):
    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return program(x, w)


def test_a_program_compiled_ahead_of_time():
    compiled = fusewright.aot_compile(Model(), (X, W))
    exported = torch.export.export(Model(), (X, W))
    for what in (compiled, exported):
        r = fusewright.explain(what, X, W)
        assert [g.kind for g in r.graphs] == ["export"] and not r.breaks
        assert len(r.kernels) == 2 and all(k.seconds for k in r.kernels)
        assert "aten.mm.default between them runs through torch" in str(r)
    with pytest.raises(fusewright.UserError, match="never require gradients"):
        fusewright.explain(compiled, X, W, backward=True)


def test_stages_of_a_program_compiled_ahead_of_time(tmp_path):
    dump.forget()
    fusewright.aot_compile(Model(), (X, W), dump=f"plan,loop,launch:{tmp_path}")(X, W)
    stages = sorted(p.stem.rpartition("-")[2] for p in tmp_path.iterdir())
    assert stages == ["launch", "launch", "loop", "loop", "plan"]
    dump.forget()


def test_a_loaded_program_says_what_is_not_done(tmp_path):
    path = tmp_path / "model.fwp"
    fusewright.aot_save(fusewright.aot_compile(Model(), (X, W)), path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", fusewright.FusewrightWarning)
        loaded = fusewright.aot_load(path)
    with pytest.raises(fusewright.UserError, match=r"loaded from .*model\.fwp.*explain the exported program"):
        fusewright.explain(loaded, X, W)
    with fusewright.options(check=True, dump="graph,launch"):
        with pytest.warns(fusewright.FusewrightWarning, match=r"so that check, dump=launch do nothing here"):
            fusewright.aot_load(path)


@pytest.mark.parametrize("command", ["profile", "explain"])
def test_commands_say_what_they_do_not_see(command, tmp_path, capsys):
    fusewright.aot_save(fusewright.aot_compile(Model(), (X, W)), tmp_path / "model.fwp")
    call = f"fusewright.aot_load({str(tmp_path / 'model.fwp')!r})(torch.randn(6, 8), torch.randn(8, 8))"
    (tmp_path / "script.py").write_text(f"import torch, fusewright\n{call}\n")
    capsys.readouterr()
    assert cli.main([command, str(tmp_path / "script.py")]) == 0
    said = capsys.readouterr().out
    assert "not seen: the kernels of" in said and "fusewright aot info" in said


# --- definitions -----------------------------------------------------------------------------------------------------


def test_a_wrong_kernel_of_a_definition(monkeypatch, tmp_path, capsys):
    """It is found, and a file repeats it: a definition of its own, whose reference is NumPy."""
    d = fusewright.define("hyper")
    x, c = d.tensor("x", "n, 2 * m", "f32"), d.scalar("c", float)
    d.output(d.sinh(x[:, ::2]) * 2 + c)
    with monkeypatch.context() as m:
        plant(m, "sinh", "cosh")
        with fusewright.options(check=True, check_dir=tmp_path, disk_cache=False):
            with pytest.warns(
                fusewright.FusewrightWarning, match=r"definition\d+\.g0 .* deviates from PyTorch"
            ) as seen:
                d(torch.randn(6, 8), 0.5)
            (message,) = [str(w.message) for w in seen]
        (path,) = tmp_path.glob("*.py")
        assert "test_ways_in.py" in message and str(path) in message
        capsys.readouterr()
        with fusewright.options(disk_cache=False):
            assert repro.main([str(path)]) == 1
        assert "wrong: " in capsys.readouterr().out
    with fusewright.options(disk_cache=False):
        assert repro.main([str(path)]) == 0
    assert "the original's structure\nright: as near to NumPy's" in capsys.readouterr().out


@pytest.mark.parametrize("random", [False, True])
def test_repro_files_of_definitions(tmp_path, capsys, random):
    """Layouts, indices, several outputs, sizes that no tensor of the group tells, random numbers."""
    d = fusewright.define("parts")
    n, k = d.size("n"), d.size_input("k")
    x, i = d.tensor("x", (n, 7), "f32"), d.tensor("i", "j", "i64")
    y = d.take(x, i, 0) + (d.random("uniform", ("j", 7)) if random else 1.0)
    d.output(y.exp())
    d.output(y.sum(1) * d.constant(0.5, "f32"))
    d.output(d.full((k,), 2.0, "f32") + x[0, 0])
    report = fusewright.explain(d, 5, torch.randn(7, 20).t()[:12], torch.tensor([3, 0, 11, 3]))
    assert report.kernels
    for number, kernel in enumerate(report.kernels):
        path = tmp_path / f"{number}.py"
        kernel.repro(path)
        capsys.readouterr()
        assert repro.main([str(path)]) == 0, capsys.readouterr().out
        assert "right: as near to NumPy's" in capsys.readouterr().out


def test_a_definition_that_fails_to_compile(monkeypatch, tmp_path, capsys):
    d = fusewright.define("broken")
    d.output(d.sinh(d.tensor("x", "n, m", "f32")) * 2)

    def broken(*args):
        raise ValueError("planted")

    with monkeypatch.context() as m:
        m.setattr("fusewright.pipeline.lower", broken)
        m.setattr("fusewright.fallback._warned", set())
        m.setenv("FUSEWRIGHT_CACHE_DIR", str(tmp_path))
        with fusewright.options(fallback=True), pytest.warns(fusewright.FusewrightWarning, match="planted") as seen:
            torch.testing.assert_close(d(X), torch.sinh(X) * 2)
    (path,) = re.findall(r"fusewright run (\S+\.py)", " ".join(str(w.message) for w in seen))
    assert repro.main([path]) == 0 and "right: " in capsys.readouterr().out


# --- the rest --------------------------------------------------------------------------------------------------------


def test_a_boundary_at_what_an_executor_runs():
    fusewright.executors.register("ways_in", torch.ops.aten.mm.default, lambda a, b: torch.matmul(a, b))
    try:
        r = fusewright.explain(program, X, W)
    finally:
        fusewright.executors.unregister("ways_in")
    assert [b.reason for b in r.graphs[0].boundaries] == ["aten.mm.default between them is claimed by executor ways_in"]


def test_a_scatter_on_a_gpu(tmp_path):
    """All stages of it: points are sorted first, and are no axes of the nest."""
    dump.forget()
    args = torch.zeros(40, 8), torch.randint(0, 40, (500,)), torch.randn(500, 8)
    call = lambda t, i, v: t.index_add(0, i, v * 2) + 1
    with emulated_gpu(), fusewright.options(single_op_groups=True, dump=f"all:{tmp_path}"):
        r = fusewright.explain(call, *args)
    assert [k.family for k in r.kernels] == ["scatter"] and "__global__" in r.kernels[0].source
    texts = {p.stem.rpartition("-")[2]: p.read_text() for p in tmp_path.iterdir()}
    assert not [stage for stage, text in texts.items() if "not available" in text and stage != "assembly"]
    assert texts["walks"].splitlines()[0].startswith("launch 0: points by bucket")
    dump.forget()
