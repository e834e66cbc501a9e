"""Executors in programs that are compiled ahead of time, saved, and loaded where nothing is registered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch
from torch.export import Dim, export

import fusewright
from fusewright import FusewrightWarning, UserError, aot, define, executors
from tests.executors import kernels_for_saving as mine

aten = torch.ops.aten
ROOT = Path(__file__).parent.parent.parent
BATCH = Dim("batch", max=64)


@pytest.fixture(autouse=True)
def _clean():
    torch.manual_seed(0)
    mine.CALLS.clear()
    assert executors.unregister() == 0
    yield
    executors.unregister()


class Gelu(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.gelu(x * 2) + 1


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(8))

    def forward(self, x):
        y = x.exp()
        return (self.weight * (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6))).sin() + x.shape[0]


def exported(module):
    with torch.no_grad():
        return export(module, (torch.randn(4, 8),), dynamic_shapes={"x": {0: BATCH}})


def rms_pattern():
    d = define("rms")
    n, m = d.sizes("n m")
    x, w, eps = d.tensor("x", (n, m), "f32"), d.tensor("w", (m,), "f32"), d.scalar("eps", float)
    d.output(x * d.rsqrt((x * x).mean(-1, keepdim=True) + eps) * w)
    return d


SIZES = ((4, 8), (1, 8), (7, 8), (0, 8))


def assert_same(program, other):
    for shape in SIZES:
        x = torch.randn(shape)
        torch.testing.assert_close(program(x), other(x))


def rewritten(path, change):
    """Change the manifest of a saved program."""
    with zipfile.ZipFile(path) as z:
        members = {i.filename: z.read(i) for i in z.infolist()}
    manifest = json.loads(members["manifest.json"])
    for v in manifest["variants"]:
        for x in v["scope"].values():
            if "executor" in x:
                change(x["executor"])
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as z:
        for name, content in members.items():
            z.writestr(name, content)


# --- compiled ------------------------------------------------------------------------------------------


def test_a_compiled_program_calls_the_executor():
    model = Gelu()
    with executors.register("mine", aten.gelu.default, mine.gelu):
        program = fusewright.aot_compile(exported(model))
    assert_same(program, model)
    assert mine.CALLS == ["gelu"] * len(SIZES)
    fusewright.aot_compile(exported(model))(torch.randn(4, 8))
    assert len(mine.CALLS) == len(SIZES)  # nothing is registered any more


def test_a_compiled_program_calls_executors_of_patterns_and_composite_operators():
    model = Norm()
    with executors.register("norms", rms_pattern(), mine.rms):
        program = fusewright.aot_compile(exported(model))
    assert_same(program, model)
    assert mine.CALLS == ["rms"] * len(SIZES)
    calls = []

    def softmax(x, dim, half_to_float):
        calls.append(x)
        return torch.softmax(x, dim)

    class Softmax(torch.nn.Module):
        def forward(self, x):
            return torch.softmax(x * 2, -1) + 1

    with executors.register("mine", aten._softmax.default, softmax):
        program = fusewright.aot_compile(exported(Softmax()))
    assert_same(program, Softmax())
    assert len(calls) == len(SIZES)


def test_a_compiled_program_falls_back_when_the_executor_fails():
    model = Norm()
    with executors.register("failing", rms_pattern(), mine.broken):
        program = fusewright.aot_compile(exported(model))
    with pytest.warns(FusewrightWarning, match="executor failing failed on rms at .*test_saved.py.*no such kernel"):
        assert_same(program, model)


# --- saved ---------------------------------------------------------------------------------------------

CHILD = """
import json, sys, torch, fusewright
path, calls = sys.argv[1:]
program = fusewright.aot_load(path)
out = [program(x) for x in torch.load(calls)]
torch.save(out, path + ".results")
import tests.executors.kernels_for_saving as mine
print(json.dumps([mine.CALLS, [m for m in sys.modules if m.startswith(("fusewright.trace", "fusewright.executors"))]]))
"""


@pytest.mark.parametrize("what", ["operator", "pattern"])
def test_a_saved_program_calls_the_executor_in_another_process(what, tmp_path):
    module = Gelu() if what == "operator" else Norm()
    target, fn = (aten.gelu.default, mine.gelu) if what == "operator" else (rms_pattern(), mine.rms)
    with executors.register("mine", target, fn):
        program = fusewright.aot_compile(exported(module))
    path = tmp_path / "model.fwp"
    fusewright.aot_save(program, path)  # the claims are those of aot_compile
    inputs = [torch.randn(s) for s in SIZES]
    torch.save(inputs, tmp_path / "calls")
    command = [sys.executable, "-c", CHILD, str(path), str(tmp_path / "calls")]
    env = {**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    calls, compilers = json.loads(done.stdout.splitlines()[-1])
    assert calls == [fn.__name__] * len(SIZES) and compilers == []
    for x, y in zip(inputs, torch.load(f"{path}.results"), strict=True):
        assert torch.equal(program(x), y)


def test_the_same_program_gives_the_same_bytes(tmp_path):
    for k in range(2):
        with executors.register("mine", [aten.gelu.default, rms_pattern()], "tests.executors.kernels_for_saving:gelu"):
            fusewright.aot_save(exported(Gelu()), tmp_path / f"{k}.fwp")
    assert (tmp_path / "0.fwp").read_bytes() == (tmp_path / "1.fwp").read_bytes()


@pytest.mark.parametrize(
    ("fn", "calls"),
    [
        (mine.Kernels.gelu, "Kernels.gelu"),
        ("tests.executors.kernels_for_saving:Kernels.gelu", "Kernels.gelu"),
        ("tests.executors.kernels_for_saving:OBJECT", "an object"),
        (torch.nn.functional.gelu, None),
        (aten.gelu.default, None),
    ],
)
def test_what_is_found_again(fn, calls, tmp_path):
    model = Gelu()
    with executors.register("mine", aten.gelu.default, fn):
        fusewright.aot_save(exported(model), tmp_path / "model.fwp")
    mine.CALLS.clear()
    assert_same(fusewright.aot_load(tmp_path / "model.fwp"), model)
    assert mine.CALLS == ([calls] * len(SIZES) if calls else [])


@pytest.mark.parametrize(
    ("fn", "why"),
    [
        (lambda x, *, approximate="none": torch.nn.functional.gelu(x), "has no <lambda> at its top"),
        (mine.OBJECT, "has no name of its own"),
        (mine.OBJECT.__call__, "has no name of its own"),
    ],
)
def test_what_cannot_be_found_again_is_not_saved(fn, why, tmp_path):
    model, path = Gelu(), tmp_path / "model.fwp"
    with executors.register("mine", aten.gelu.default, fn):
        program = fusewright.aot_compile(exported(model))
    with pytest.raises(UserError, match=f"cannot be saved: executor mine, for aten.gelu.default, .*{why}"):
        fusewright.aot_save(program, path)
    assert not path.exists()


def test_a_function_of_the_program_that_runs_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(mine.gelu, "__module__", "__main__")
    with (
        executors.register("mine", aten.gelu.default, mine.gelu),
        pytest.raises(UserError, match="gelu is in the program that runs"),
    ):
        fusewright.aot_save(exported(Gelu()), tmp_path / "model.fwp")


def test_loading_says_what_is_missing_or_changed(tmp_path, monkeypatch):
    path = tmp_path / "model.fwp"
    with executors.register("mine", aten.gelu.default, mine.gelu):
        fusewright.aot_save(exported(Gelu()), path)
    where = "calls the executor mine for aten.gelu.default, which is not here as it was: "

    with monkeypatch.context() as m:
        m.delattr(mine, "gelu")
        with pytest.raises(
            UserError, match=f"model.fwp {where}the module tests.executors.kernels_for_saving has no gelu"
        ):
            fusewright.aot_load(path)
    with monkeypatch.context() as m:
        m.setattr(mine, "gelu", lambda x, approximate: x)
        with pytest.raises(UserError, match=f"{where}.*has other parameters than when the program was saved"):
            fusewright.aot_load(path)
    with monkeypatch.context() as m:
        m.setattr(mine, "gelu", 3)
        with pytest.raises(UserError, match=f"{where}gelu of the module .* is a int, no function"):
            fusewright.aot_load(path)
    with monkeypatch.context() as m:
        m.setitem(sys.modules, mine.__name__, None)
        with pytest.raises(UserError, match=f"{where}the module tests.executors.kernels_for_saving cannot be imported"):
            fusewright.aot_load(path)
    fusewright.aot_load(path)(torch.randn(3, 8))
    assert mine.CALLS == ["gelu"]


@pytest.mark.parametrize("what", ["operator", "pattern"])
def test_a_loaded_program_falls_back_when_the_executor_fails(what, tmp_path):
    model, path = (Gelu() if what == "operator" else Norm()), tmp_path / "model.fwp"
    target = aten.gelu.default if what == "operator" else rms_pattern()
    with executors.register("fails", target, mine.broken):
        fusewright.aot_save(exported(model), path)
        with fusewright.options(fallback=False):
            fusewright.aot_save(exported(model), tmp_path / "strict.fwp")
    with pytest.warns(FusewrightWarning, match="executor fails failed on"):
        assert_same(fusewright.aot_load(path), model)
    with pytest.raises(fusewright.RuntimeFault, match=r"executor fails failed on .* no such kernel"):
        fusewright.aot_load(tmp_path / "strict.fwp")(torch.randn(4, 8))


def test_a_damaged_reference_is_an_error(tmp_path):
    path = tmp_path / "model.fwp"
    with executors.register("mine", aten.gelu.default, mine.gelu):
        fusewright.aot_save(exported(Gelu()), path)
    rewritten(path, lambda x: x["calls"].update(reference="gelu"))
    with pytest.raises(UserError, match="'gelu' is not of the form module:name"):
        fusewright.aot_load(path)
    rewritten(path, lambda x: x.pop("results"))
    with pytest.raises(UserError, match=r"damaged|not of the form"):
        fusewright.aot_load(path)


def test_info_lists_executors(tmp_path, capsys):
    path = tmp_path / "model.fwp"
    with executors.register("mine", aten.gelu.default, mine.gelu):
        fusewright.aot_save(exported(Gelu()), path)
    assert aot.main(["info", str(path)]) == 0
    assert (
        "format 2" in (said := capsys.readouterr().out)
        and "executor mine for aten.gelu.default: tests.executors.kernels_for_saving:gelu" in said
    )
    fusewright.aot_save(exported(Gelu()), path)
    assert aot.main(["info", str(path)]) == 0 and "format 1" in capsys.readouterr().out


def test_a_reference_that_is_none_is_not_registered():
    for given, why in (
        ("nowhere_at_all:gelu", "the module nowhere_at_all cannot be imported"),
        ("tests.executors.kernels_for_saving:nothing", "has no nothing"),
        ("gelu", "not of the form module:name"),
        ("tests.executors.kernels_for_saving:CALLS", "is a list, no function"),
    ):
        with pytest.raises(UserError, match=f"register: executor mine: .*{why}"):
            executors.register("mine", aten.gelu.default, given)
    assert [n for n, _, _ in executors.registered()] == ["kernels", "torch"]
