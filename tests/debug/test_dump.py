"""Dumps: every stage, filters, numbered files, directories that cannot be written; logging."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import fusewright
from fusewright.build import nvrtc
from fusewright.core.errors import FusewrightWarning
from fusewright.core.switches import RUN_STAGES, STAGES, Dump
from fusewright.debug import dump, runs, stages
from fusewright.run.kernels import target
from fusewright.schedule.device import Gpu
from tests.emulate.driver import emulated_gpu
from tests.processes import python

X, W = torch.randn(7, 12), torch.randn(12, 5)
ON_GPU = {"horizontal", "cuda", "relaxed", "online"}
TRAINING = {"joint", "detach", "shared_gradients"}
PRODUCTS = {"padding", "convolutions"}  # of matrices, and others, on a GPU


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
    assert found - PRODUCTS == set(STAGES) - ON_GPU - TRAINING - PRODUCTS
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


# --- passes ------------------------------------------------------------------------------------------------------


def parts(body: str) -> tuple[str, str]:
    """An IR before and after a pass."""
    before, after = body.removeprefix("--- before\n").split("--- after\n")
    return before, after


def train(folder: Path) -> None:
    """Dropout, a relu whose result is saved, and a sum whose gradient two inputs share."""
    with fusewright.options(dump=f"passes,joint,torch:{folder}"):
        call = torch.compile(lambda x, y: torch.dropout((x + y).relu(), 0.5, True).sum(), backend="fusewright")
        call(*(torch.randn(300, 300, requires_grad=True) for _ in range(2))).backward()


def test_passes_over_aten(tmp_path: Path) -> None:
    train(tmp_path)
    joint = text(tmp_path, "joint")
    before, after = parts(text(tmp_path, "random"))
    assert before.strip() == joint.strip() and "aten.rand" in before and "aten.detach" in before
    assert "aten.rand" not in after and "fusewright.random" in after
    before, later = parts(text(tmp_path, "detach"))
    assert before.strip() == after.strip() and "aten.detach" not in later and "fusewright.random" in later
    (backward,) = [p for p in tmp_path.iterdir() if re.fullmatch(r"\d+-backward\d+-torch\.py", p.name)]
    before, after = parts(text(tmp_path, "shared_gradients"))
    assert before.strip() == backward.read_text().strip()
    assert after.count("aten.clone") == before.count("aten.clone") + 1


def test_passes_are_in_the_order_of_the_pipeline(tmp_path: Path) -> None:
    train(tmp_path)
    found = [re.sub(r"^\d+-|\..*$|\d", "", n) for n in names(tmp_path)]
    for order in (
        ["joint-joint", "joint-random", "joint-detach", "forward-torch", "forward-grouping", "forward-siblings"],
        ["forward-siblings", "forward", "backward-torch", "backward-shared_gradients", "backward-grouping"],
    ):
        places = [found.index(name) for name in order]
        assert places == sorted(places), found


def test_random_draws_without_a_backward_pass(tmp_path: Path) -> None:
    with fusewright.options(dump=f"random:{tmp_path}"):
        torch.compile(lambda x: torch.dropout(x, 0.5, True) + 1, backend="fusewright")(X)
    (path,) = tmp_path.iterdir()
    before, after = parts(path.read_text())
    assert re.fullmatch(r"0000-inference\d+-random\.txt", path.name)
    assert "fusewright.random" in after and "fusewright.random" not in before


def test_groups_before_and_after(tmp_path: Path) -> None:
    def fn(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (x.sin() * 2).exp() + 1, x.sum(0)

    with fusewright.options(dump=f"grouping,siblings,graph:{tmp_path}"):
        torch.compile(fn, backend="fusewright")(torch.randn(64, 64))
    before, after = parts(text(tmp_path, "grouping"))
    assert len(re.findall(r"^group \d+:", before, re.M)) == 5 and len(re.findall(r"^group \d+:", after, re.M)) == 2
    assert re.search(r"^group 0: 0 aten.sin.default, 1 aten.mul.Tensor, .*\n  %\d+: .* = map sin", after, re.M)
    equations = re.findall(r"^  %\d+: .*", text(tmp_path, "graph"), re.M)
    assert sorted(re.findall(r"^  %\d+: .*", before, re.M)) == sorted(equations)
    assert sorted(re.findall(r"^  %\d+: .*", after, re.M)) == sorted(equations)
    once, together = parts(text(tmp_path, "siblings"))
    assert once.strip() == after.strip() and len(re.findall(r"^group \d+:", together, re.M)) == 1


def test_a_pass_that_is_off_or_has_nothing_to_do(tmp_path: Path) -> None:
    run(dump=f"passes:{tmp_path}", siblings=False)
    assert "siblings" not in {n.split("-", 2)[2].split(".")[0] for n in names(tmp_path)}
    assert text(tmp_path, "collapse", r"\.g0") == "(nothing to change)\n"


def test_passes_over_fusions(tmp_path: Path) -> None:
    run(dump=f"fusion,collapse,walks:{tmp_path}")
    before, after = parts(text(tmp_path, "collapse", r"\.g1"))
    assert before.strip() == text(tmp_path, "fusion", r"\.g1").strip()
    assert before.startswith("fusion over i0<7, i1<5\n") and after.startswith("fusion over i0i1<35\n")
    walks = text(tmp_path, "walks", r"\.g0")
    lanes = "i0" if target().bits < 512 else "i1"  # seven rows fill eight lanes, not sixteen
    assert walks.startswith(f"rows (i0), columns (i1); lanes along {lanes}\nwalk 0: reduce r0\n")
    assert "\n  keeps exp(" in walks and "store out" in walks


def test_the_walks_of_long_rows(capsys: pytest.CaptureFixture[str]) -> None:
    with fusewright.options(dump="walks"):
        torch.compile(lambda x: (x * 2).softmax(1), backend="fusewright")(torch.randn(9, 400))
    said = capsys.readouterr().err
    assert "rows (i0), columns (i1); lanes along i1" in said and " of the next row" in said and "  keeps exp(" in said


def test_the_walks_of_a_scatter(capsys: pytest.CaptureFixture[str]) -> None:
    with fusewright.options(dump="walks,collapse"):
        fn = lambda x, i: torch.zeros(50, 40).index_add(0, i, x * 2)
        torch.compile(fn, backend="fusewright")(torch.randn(9, 40), torch.arange(9))
    said = capsys.readouterr().err
    assert "not available" not in said and said.count("rows (") == 2, "the base is stored, then points are added"


def test_passes_for_a_gpu(tmp_path: Path) -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x.float() * 2, -1).sigmoid().bfloat16()

    no_clusters = Gpu((8, 0), 2, 1 << 20, 163 << 10)  # a row that is too long for a block is read again
    with emulated_gpu(no_clusters), fusewright.options(dump=f"fusion,passes,walks:{tmp_path}"):
        torch.compile(fn, backend="fusewright")(torch.randn(3, 200000).bfloat16())
    before, after = parts(text(tmp_path, "relaxed", r"\.g0"))
    assert "fast_" in after and "fast_" not in before
    before, after = parts(text(tmp_path, "online", r"\.g0"))
    assert before.startswith("reduce r0 ") and re.match(r"r1: rescaled, with the maximum r0, of ", after)
    assert "walk 0: reduce r0, reduce r1 on the fly (rescaled)" in text(tmp_path, "walks", r"\.g0")
    for path in tmp_path.iterdir():
        assert "not available" not in path.read_text(), path.name


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
    assert found - PRODUCTS == set(STAGES) - {"llvm"} - TRAINING - PRODUCTS
    assert "__global__" in text(tmp_path, "cuda", r"\.g0")
    assert "blocks of" in text(tmp_path, "launch", r"\.g0")
    assert "Gpu(" in text(tmp_path, "schedule", r"\.g0")
    if nvrtc.available():
        assembly = text(tmp_path, "assembly", r"\.g0")
        assert ".target sm_90" in assembly and "\n// SASS\n" in assembly
        assert (nvrtc.disassembler() is None) or "EXIT" in assembly
    else:
        assert "NVRTC" in text(tmp_path, "assembly", r"\.g0"), "says what is missing"


@pytest.mark.parametrize("options", [{}, {"autotune": True}, {"specialize": "never"}, {"specialize": "always"}])
def test_runs_on_a_gpu_with_new_sizes(tmp_path: Path, options: dict[str, object]) -> None:
    """What stands in the place of a kernel that is still to be compiled, or tuned, is shown like any other."""
    with emulated_gpu(), fusewright.options(dump=f"launch,arguments:{tmp_path}", **options):
        call = torch.compile(lambda x: torch.softmax(x * 2, -1), backend="fusewright", dynamic=True)
        for n in (8, 90, 90):
            call(torch.randn(n, 32))
    launches = text(tmp_path, "launch", r"\.g0").splitlines()
    shape = re.compile(r"\d+ blocks of \d+ threads, .* scratch memory")
    assert len(launches) == 3 and all(map(shape.fullmatch, launches))
    arguments = text(tmp_path, "arguments", r"\.g0")
    assert arguments.count("in in0: float32[90, 32]") == 2 and arguments.count("size ") == 6
    rows = int(launches[0].split()[0]), int(launches[1].split()[0])
    assert [f"parameter n0 = {n}" in arguments for n in rows] == [True, True] and rows[0] < rows[1]


def test_a_run_whose_text_cannot_be_made_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def planted(*args: object) -> str:
        raise RuntimeError("planted")

    monkeypatch.setattr(runs, "_bandwidth", planted)
    run(dump="bandwidth", fallback=False)
    assert "(not available: RuntimeError: planted)" in capsys.readouterr().err


def test_runs_that_a_cuda_graph_captures(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing runs then, and to wait for the device would be an error."""

    class Tensor:
        device = torch.device("cuda")

    def wrong() -> None:
        raise AssertionError("waited")

    monkeypatch.setattr(torch.cuda, "synchronize", wrong)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    about = dump.About("forward0", "forward0.g0")
    watch = runs._Runs(None, about, {"bandwidth": [Dump("bandwidth")]})  # type: ignore[arg-type]
    assert watch(lambda p: p + 1, (41,), (Tensor(),), {}) == 42  # type: ignore[arg-type]
    assert "(captured, not run)" in capsys.readouterr().err


# --- where to, and of what ---------------------------------------------------------------------------------------


def test_names_that_no_group_has_are_listed_when_the_program_ends(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        'import torch\ntorch.compile(lambda x: x.exp() + 1, backend="fusewright")(torch.randn(8))\n'
    )

    def said(dumped: str, disabled: str, **more: str) -> str:
        env = {**os.environ, "FUSEWRIGHT_DUMP": dumped, "FUSEWRIGHT_DISABLE": disabled, **more}
        done = python(tmp_path / "script.py", env=env)
        assert done.returncode == 0, done.stderr
        return "".join(re.findall(r"no group of this program is meant by (.*) \(FUSEWRIGHT_DUMP=groups", done.stderr))

    assert (
        said("schedule@g7,groups@inference0", "group:inference0.g1") == "disable=group:inference0.g1, dump=schedule@g7"
    )
    assert said("schedule@exp@g7,loop@inference*", "") == ""
    assert said("graph", "group:inference0.g*,group:inference0.g0") == ""
    assert said("graph@backward*", "group:inference0.g1", FUSEWRIGHT_FUEL="0") == "", "left out on purpose"


def test_a_timeline_does_not_take_what_others_record(tmp_path: Path) -> None:
    with fusewright.options(dump=f"timeline:{tmp_path}"):
        report = fusewright.explain(fn, X, W)
    assert len(report.kernels) == 2 and report.seconds["ours"] > 0


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
    with pytest.warns(FusewrightWarning, match="cannot write to .*file: it is not a dir.*; dumps go to std") as caught:
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
    assert re.match(r"fusion of inference\d+\.g0 \([0-9a-f]{12}\)\n", found[0].getMessage()), "torch prints no names"


PROGRAM = """
import torch
f = torch.compile(lambda x: x.sin() * 2 + 1, backend="fusewright")
f(torch.ones(8))
"""


@pytest.mark.parametrize(("setting", "debug"), [("fusewright", False), ("+fusewright", True)])
def test_torch_logs(setting: str, debug: bool) -> None:
    reading = "import torch\ntorch._logging._internal._init_logs()\n"  # which importing torch does
    done = python("-c", reading + PROGRAM, env={**os.environ, "TORCH_LOGS": setting})
    assert done.returncode == 0, done.stderr
    assert "1 kernels, 0 operations left to PyTorch" in done.stderr
    assert ("fusion over" in done.stderr) is debug


def test_a_warning_is_printed_once_by_default() -> None:
    """A fallback is both a Python warning and a log record; unless logging is set up, the warning is all that shows."""
    code = PROGRAM.replace("import torch", "import torch\nfrom fusewright import pipeline as c\nc.lower = None")
    done = python("-c", code, env={**os.environ, "FUSEWRIGHT_DISABLE": "disk_cache,repro"})
    assert done.returncode == 0 and done.stderr.count("could not compile a group") == 1, done.stderr
