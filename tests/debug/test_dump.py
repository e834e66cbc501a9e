"""Dumps: every stage, filters, numbered files, directories that cannot be written; logging."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import fusewright
from fusewright.build import nvrtc
from fusewright.core.errors import FusewrightWarning
from fusewright.core.switches import RUN_STAGES, STAGES
from fusewright.debug import dump, runs, stages
from tests.emulate.driver import emulated_gpu

X, W = torch.randn(7, 12), torch.randn(12, 5)
ON_GPU = {"cuda"}


def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    z = torch.softmax(x * 2, -1) @ w
    return torch.tanh(z) * z + 3


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    dump.forget()
    yield
    torch._dynamo.reset()
    dump.forget()


def run(times: int = 1, **options: object) -> None:
    with fusewright.options(**options):
        call = torch.compile(fn, backend="fusewright")
        for _ in range(times):
            call(X, W)


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


# --- stages ------------------------------------------------------------------------------------------------------


def test_every_stage_of_a_cpu(tmp_path: Path) -> None:
    run(dump=f"all:{tmp_path}")
    found = {n.split("-", 2)[2].split(".")[0] for n in names(tmp_path)}
    assert found == set(STAGES) - ON_GPU
    for path in tmp_path.iterdir():
        assert "not available" not in path.read_text(), path.name


def text(folder: Path, stage: str, group: str = "") -> str:
    (found,) = [p for p in folder.iterdir() if re.fullmatch(rf"\d+-\w+{group}-{stage}\.\w+", p.name)]
    return found.read_text()


def test_what_the_stages_say(tmp_path: Path) -> None:
    run(2, dump=f"all:{tmp_path}", disk_cache=False)
    assert "torch.ops.aten.mm" in text(tmp_path, "torch")
    assert re.search(r"^\w+\.g0 \([0-9a-f]{12}\): .*aten.exp", text(tmp_path, "groups"), re.M)
    assert "has no lowering rule" in text(tmp_path, "groups")
    assert text(tmp_path, "fusion", r"\.g0").startswith("fusion over")
    schedule = text(tmp_path, "schedule", r"\.g0")
    assert schedule.startswith("family: inner persistent\n") and "Machine(" in schedule and "i1=12" in schedule
    assert text(tmp_path, "loop", r"\.g0").startswith("func ")
    assert "define i32 @" in text(tmp_path, "llvm", r"\.g0")
    assert ".text" in text(tmp_path, "assembly", r"\.g0") and "define" not in text(tmp_path, "assembly", r"\.g0")
    assert "def call(args):" in text(tmp_path, "plan")
    assert text(tmp_path, "launch", r"\.g0").count("1 threads") == 2, "one line for each of two runs"
    arguments = text(tmp_path, "arguments", r"\.g0")
    assert "in in0: float32[7, 12] strides [12, 1] on cpu" in arguments and "parameter n0 = 1\n" in arguments
    bandwidth = text(tmp_path, "bandwidth", r"\.g1").splitlines()
    assert len(bandwidth) == 2 and all(re.fullmatch(r"[\d.]+ µs, 280 bytes, [\d.]+ GB/s", b) for b in bandwidth)
    timeline = (text(tmp_path, "timeline"), text(tmp_path, "timeline", r"\.g1"))
    assert all(s in timeline[0] for s in ("translate", "group", "lower", "compile", "plan")) and "launch" in timeline[1]
    assert re.fullmatch(
        r"hit in memory, key \w+\n|miss: compiled in [\d.]+ ms, key \w+\n", text(tmp_path, "cache", r"\.g0")
    )


def test_the_second_kernel_of_a_kind_is_a_hit(tmp_path: Path) -> None:
    run(dump=f"cache:{tmp_path / 'a'}")
    torch._dynamo.reset()
    run(dump=f"cache:{tmp_path / 'b'}")
    assert "hit in memory" in text(tmp_path / "b", "cache", r"\.g0")


def test_files_are_numbered_in_the_order_of_the_pipeline(tmp_path: Path) -> None:
    run(dump=f"llvm,graph,loop,fusion,plan:{tmp_path}")
    found = [n.split("-", 2)[2].split(".")[0] for n in names(tmp_path)]
    assert found == ["graph", "fusion", "loop", "llvm", "fusion", "loop", "llvm", "plan"]
    assert [int(n[:4]) for n in names(tmp_path)] == list(range(8))


def test_numbers_go_on(tmp_path: Path) -> None:
    (tmp_path / "0041-old-graph.txt").write_text("kept")
    run(dump=f"graph:{tmp_path}")
    assert [n[:4] for n in names(tmp_path)] == ["0041", "0042"]
    (tmp_path / "0043-another-process.txt").write_text("kept")
    torch._dynamo.reset()
    run(dump=f"graph:{tmp_path}")
    assert (tmp_path / "0041-old-graph.txt").read_text() == "kept" and len(names(tmp_path)) == 4


def test_every_stage_of_a_gpu(tmp_path: Path) -> None:
    with emulated_gpu():
        run(dump=f"all:{tmp_path}")
    found = {n.split("-", 2)[2].split(".")[0] for n in names(tmp_path)}
    assert found == set(STAGES) - {"llvm"}
    assert "__global__" in text(tmp_path, "cuda", r"\.g0")
    assert "blocks of" in text(tmp_path, "launch", r"\.g0")
    assert "Gpu(" in text(tmp_path, "schedule", r"\.g0")
    if nvrtc.available():
        assert ".target sm_90" in text(tmp_path, "assembly", r"\.g0")
    else:
        assert "NVRTC" in text(tmp_path, "assembly", r"\.g0"), "says what is missing"


# --- where to, and of what ---------------------------------------------------------------------------------------


def test_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    run(dump="fusion")
    said = capsys.readouterr().err
    assert said.count("=== fusion: ") == 2 and re.search(r"=== fusion: \w+\.g1 \([0-9a-f]{12}\) ===\nfusion over", said)


def test_filters(capsys: pytest.CaptureFixture[str]) -> None:
    run(dump="loop@tanh")
    said = capsys.readouterr().err
    assert said.count("=== loop") == 1 and "tanh" in said and ".g1 " in said
    digest = re.search(r"\(([0-9a-f]{12})\)", said)
    assert digest is not None
    torch._dynamo.reset()
    run(dump=f"loop@{digest[1]}")
    assert capsys.readouterr().err.count("=== loop") == 1
    torch._dynamo.reset()
    run(dump="loop@g1,bandwidth@g0,fusion@backward*")
    said = capsys.readouterr().err
    assert said.count("=== loop") == 1 and said.count("=== bandwidth") == 1 and "=== fusion" not in said


def test_nothing_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    run()
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_a_directory_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = tmp_path / "file"
    taken.write_text("not a directory")
    with pytest.warns(FusewrightWarning, match="cannot write dumps to .*file") as caught:
        run(dump=f"fusion:{taken}")
    assert len([w for w in caught if "dumps" in str(w.message)]) == 1, "once"
    assert capsys.readouterr().err.count("=== fusion") == 2, "stderr gets it instead"


def test_a_text_that_cannot_be_made_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def planted(*args: object) -> str:
        raise RuntimeError("planted")

    monkeypatch.setattr(stages, "dump_loop", planted)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FusewrightWarning)
        run(dump="loop", fallback=False)
    assert "(not available: RuntimeError: planted)" in capsys.readouterr().err


# --- cost --------------------------------------------------------------------------------------------------------


def test_off_leaves_no_trace_in_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is looked up per call: a plan without dumps calls its kernels directly, one with them a watch."""
    run(dump="plan")
    plain = capsys.readouterr().err
    assert "_w" not in plain and "_k" in plain
    torch._dynamo.reset()
    run(dump="plan,arguments")
    assert re.search(r"_w\d+\(_k\d+, ", capsys.readouterr().err)


def test_bytes_of_expanded_tensors() -> None:
    assert runs.bytes_of(torch.zeros(1, 5).expand(9, 5)) == 20
    assert runs.bytes_of(torch.zeros(0, 5)) == 0 and runs.bytes_of(torch.tensor(1.0)) == 4
    assert {*RUN_STAGES} == {*runs.STAGES}


# --- logging -----------------------------------------------------------------------------------------------------


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "fusewright"):
        run()
    (record,) = [r for r in caplog.records if r.name == "fusewright"]
    assert re.fullmatch(r"\w+: 2 kernels, 1 operations left to PyTorch, [\d.]+ ms", record.getMessage())


def test_logging_of_one_stage(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "fusewright.stage.fusion"):
        run()
    found = [r for r in caplog.records if r.name.startswith("fusewright.stage")]
    assert len(found) == 2 and all("fusion over" in r.getMessage() for r in found)


PROGRAM = """
import torch
f = torch.compile(lambda x: x.sin() * 2 + 1, backend="fusewright")
f(torch.ones(8))
"""


@pytest.mark.parametrize(("setting", "debug"), [("fusewright", False), ("+fusewright", True)])
def test_torch_logs(setting: str, debug: bool) -> None:
    env = {**os.environ, "TORCH_LOGS": setting}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "1 kernels, 0 operations left to PyTorch" in done.stderr
    assert ("fusion over" in done.stderr) is debug


def test_a_warning_is_printed_once_by_default() -> None:
    """A fallback is both a Python warning and a log record; unless logging is set up, the warning is all that shows."""
    code = PROGRAM.replace("import torch", "import torch\nfrom fusewright import compile as c\nc.lower = None")
    env = {**os.environ, "FUSEWRIGHT_DISABLE": "disk_cache,repro"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.count("could not compile a group") == 1, done.stderr
