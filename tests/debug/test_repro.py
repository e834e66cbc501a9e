"""Repro files: they run by themselves, show the same kernel and the same failure, and are written when one happens."""

from __future__ import annotations

import re
import runpy
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import fusewright
from fusewright import cli, fallback, pipeline
from fusewright.core.errors import CompilerError, FusewrightWarning, UserError
from fusewright.debug import files, record, repro
from fusewright.run import kernels
from tests.debug.planted import plant
from tests.emulate.driver import emulated_gpu
from tests.processes import python


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    torch._dynamo.reset()
    monkeypatch.setattr(fallback, "_warned", set())
    monkeypatch.setattr(kernels, "_kernels", {})
    with fusewright.options(disk_cache=False, repro_dir=tmp_path / "repro"):
        yield
    torch._dynamo.reset()


def written(fn: Callable[..., Any], args: tuple[Any, ...], folder: Path, dynamic: bool = False) -> list[Path]:
    """A repro file for every kernel of a function."""
    with record.recording() as graphs:
        torch.compile(fn, backend="fusewright", dynamic=dynamic)(*args)
    out = []
    for graph in graphs:
        for group in graph.groups:
            path = folder / f"{group.name}.py"
            repro.repro((graph, group), path)
            out.append(path)
    torch._dynamo.reset()
    return out


def embedding(i: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.embedding(i, table) * 2 + i.shape[0]


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "softmax": (lambda x: torch.softmax(x * 2, -1), (torch.randn(7, 33),)),
    "norm": (lambda x, w: torch.nn.functional.layer_norm(x, (16,), w) + 1, (torch.randn(5, 16), torch.randn(16))),
    "views": (lambda x: x.t()[::2].flip(0) * 2 + x.sum(), (torch.randn(6, 8),)),
    "expanded": (lambda x, y: (x * y).exp(), (torch.randn(1, 8).expand(5, 8), torch.randn(8, 5).t())),
    "0-d": (lambda x: x.sin() * 2 + 1, (torch.tensor(0.3),)),
    "empty": (lambda x: (x.exp() * x).tanh() + x.sum(), (torch.randn(0, 4),)),
    "gather": (embedding, (torch.tensor([1, 0, 3]), torch.randn(4, 6))),
    "types": (lambda x, m: torch.where(m, x.half(), 2).float() * float("inf"), (torch.randn(9), torch.rand(9) > 0.5)),
    "cat": (lambda x, y: torch.cat([x, y], 1).relu() * 2, (torch.randn(3, 4), torch.randn(3, 5))),
    "integers": (lambda x: (x * 3 + 1).bitwise_and(255), (torch.arange(-20, 20, dtype=torch.int16),)),
    "dropout": (lambda x: torch.nn.functional.dropout(x, 0.3) + 1, (torch.randn(40, 3),)),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_file_runs_the_same_kernel(
    name: str, dynamic: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fn, args = PROGRAMS[name]
    torch.manual_seed(0)
    made = written(fn, args, tmp_path, dynamic)
    assert made
    for path in made:
        assert cli.main(["run", str(path)]) == 0
        said = capsys.readouterr().out
        assert "right: " in said and re.search(r"fused [\d.]+ µs, PyTorch [\d.]+ µs", said)
        if not dynamic:
            assert "; the original's structure" in said, said


def test_a_file_needs_nothing_but_the_package(tmp_path: Path) -> None:
    (path,) = written(*PROGRAMS["softmax"], tmp_path)
    done = python(path, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = path.read_text()
    assert text.startswith("# Fusewright repro: ") and "torch.ops.aten.amax.default" in text
    assert 'repro.tensor((7, 33), (33, 1), "float32", "cpu", seed=0)' in text


def test_inputs_are_as_in_the_original(tmp_path: Path) -> None:
    (path,) = written(*PROGRAMS["expanded"], tmp_path)
    inputs = runpy.run_path(str(path))["INPUTS"]
    assert [(t.shape, t.stride(), t.dtype) for t in inputs] == [
        (t.shape, t.stride(), t.dtype) for t in PROGRAMS["expanded"][1]
    ]
    (path,) = written(*PROGRAMS["gather"], tmp_path)
    index, table = runpy.run_path(str(path))["INPUTS"]
    assert index.dtype is torch.int64 and int(index.min()) >= 0 and int(index.max()) < table.shape[0]


def test_options_are_kept(tmp_path: Path) -> None:
    with fusewright.options(precision="eager", disable=("prim:cos", "group:forward9.g9")):
        (path,) = written(lambda x: x.sin() * 2, (torch.randn(5),), tmp_path)
    assert runpy.run_path(str(path))["OPTIONS"] == {"precision": "eager", "disable": ("prim:cos",)}


def test_values_on_request(tmp_path: Path) -> None:
    few, many = torch.tensor([1.5, float("nan"), -float("inf")]), torch.randn(40, 50)[:, ::2]
    for x, inline in ((few, True), (many, False)):
        with record.recording() as (graphs):
            torch.compile(lambda x: x.sin() * 2, backend="fusewright")(x)
        path = tmp_path / "values.py"
        repro.repro((graphs[0], graphs[0].groups[0]), path, values=[x])
        (got,) = runpy.run_path(str(path))["INPUTS"]
        torch.testing.assert_close(got, x, rtol=0, atol=0, equal_nan=True)
        assert got.stride() == x.stride() and Path(f"{path}.pt").exists() is not inline
        torch._dynamo.reset()
    Path(f"{path}.pt").unlink()
    with pytest.raises(UserError, match="which has the values of the inputs, is not there"):
        runpy.run_path(str(path))


def test_values_that_do_not_fit(tmp_path: Path) -> None:
    with record.recording() as graphs:
        torch.compile(lambda x, y: x.sin() * 2 + y, backend="fusewright")(torch.randn(4, 3), torch.randn(3))
    group = (graphs[0], graphs[0].groups[0])
    for bad in (
        [torch.randn(4, 3)],
        [torch.randn(4, 3), torch.randn(4)],
        [torch.randn(4, 3).double(), torch.randn(3)],
        3,
    ):
        with pytest.raises(
            UserError, match=r"values: .* wanted, in their order: torch.float32\[4, 3\], torch.float32\[3\]"
        ):
            repro.repro(group, tmp_path / "values.py", values=bad)
    repro.repro(group, tmp_path / "values.py", values=[torch.ones(4, 3), torch.ones(3)])
    assert not list(tmp_path.glob("*.pt"))


def test_a_wrong_kernel_shows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = written(lambda x: x.sin() * 2, (torch.randn(5, 3),), tmp_path)
    plant(monkeypatch, "sin", "cos")
    assert cli.main(["run", str(path)]) == 1
    assert "wrong: output 0 at [0, 0]" in capsys.readouterr().out


def test_on_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with emulated_gpu():
        (path,) = written(*PROGRAMS["softmax"], tmp_path)
        assert cli.main(["run", str(path)]) == 0
    assert "the original's structure" in capsys.readouterr().out


# --- a failure writes one ----------------------------------------------------------------------------------------


def fn(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x.sin(), -1) * 2  # the line


def failing(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, **options: Any) -> list[str]:
    """The warnings of a function while stage `name` fails."""

    def planted(*args: Any, **kwargs: Any) -> Any:
        raise CompilerError("planted here", "some stage")

    with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as caught, fusewright.options(**options):
        warnings.simplefilter("always")
        patch.setattr(where, name, planted)
        x = torch.randn(3, 5)
        torch.testing.assert_close(torch.compile(fn, backend="fusewright")(x), fn(x))
    return [str(w.message) for w in caught if issubclass(w.category, FusewrightWarning)]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("where", "name"),
    [(pipeline, "lower"), (pipeline, "plan"), (pipeline, "build"), (pipeline, "translate"), (kernels, "emit")],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_the_warning_names_a_file(
    where: Any, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (said,) = failing(monkeypatch, where, name)
    found = re.search(r"To see it alone: fusewright run (\S+)$", said)
    assert found is not None and "FUSEWRIGHT_DISABLE=fallback" in said, said
    path = Path(found[1])
    assert path.parent == tmp_path / "repro" and "planted here" in path.read_text()
    assert cli.main(["run", str(path)]) == 0, "nothing fails any more"
    torch._dynamo.reset()

    def planted(*args: Any, **kwargs: Any) -> Any:
        raise CompilerError("planted here", "some stage")

    monkeypatch.setattr(where, name, planted)
    monkeypatch.setattr(kernels, "_kernels", {})
    capsys.readouterr()
    assert cli.main(["run", str(path)]) == 1
    assert "Fusewright fails: CompilerError: planted here" in capsys.readouterr().out


def test_one_file_for_one_cause(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failing(monkeypatch, pipeline, "lower")
    torch._dynamo.reset()
    assert failing(monkeypatch, pipeline, "lower") == []
    assert len(list((tmp_path / "repro").glob("*.py"))) == 1


def test_no_file_where_none_is_wanted_or_can_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (said,) = failing(monkeypatch, pipeline, "lower", repro=False)
    assert "fusewright run" not in said and not (tmp_path / "repro").exists()
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(fallback, "_warned", set())
    torch._dynamo.reset()
    (said,) = failing(monkeypatch, pipeline, "lower", repro_dir=tmp_path / "file")
    assert "planted here" in said and "fusewright run" not in said
    assert said.endswith(f"There is no repro file: cannot write to {tmp_path / 'file'}: it is not a directory")


def test_few_files_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "MOST", 3)
    made = []
    for k in range(5):
        path = files.place("repro", f"group{k}.py")
        path.write_text(str(k))
        path.with_name(path.name + ".pt").write_text("values")
        made.append(path)
    left = sorted(p.name for p in (tmp_path / "repro").iterdir())
    assert len([n for n in left if n.endswith(".py")]) == 3 and len(left) == 6, left
    (tmp_path / "repro" / "mine.py").write_text("the user's own")
    files.place("repro", "one more.py")
    assert (tmp_path / "repro" / "mine.py").exists()


# --- mistakes ----------------------------------------------------------------------------------------------------


def test_run_takes_repro_files_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.py"
    other.write_text("raise SystemError")
    assert cli.main(["run", str(other)]) == 2
    assert "is not a repro file" in capsys.readouterr().err
    assert cli.main(["run", str(tmp_path / "missing.py")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_values_that_are_not_known(tmp_path: Path) -> None:
    with record.recording() as graphs:
        torch.compile(fn, backend="fusewright")(torch.randn(3, 5))
    graph = graphs[0]
    with pytest.raises(UserError, match="give its tensors, or run with check=True"):
        repro.repro((graph, graph.groups[0]), tmp_path / "x.py", values=True)
    with pytest.raises(UserError, match="cannot write a repro file to"):
        repro.repro((graph, graph.groups[0]), tmp_path / "no" / "such" / "folder.py")
