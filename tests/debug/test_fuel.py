"""Fuel, groups that are disabled by name, and bisection."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import fusewright
from fusewright import cli
from fusewright.core.errors import UserError
from fusewright.debug import bisect, fuel, record
from tests.support import counted, counters

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    fuel.reset()
    yield
    torch._dynamo.reset()
    fuel.reset()


def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    x = (x.sin() * 2) @ w
    x = (x.cos() * 3) @ w
    return x.tanh() + 1


X, W = torch.randn(9, 9), torch.randn(9, 9)


def kernels(**options: object) -> list[str]:
    """The names, without the graph's, of the groups that became kernels; results are eager's."""
    torch._dynamo.reset()
    with fusewright.options(**options), record.recording() as graphs:
        torch.testing.assert_close(torch.compile(fn, backend="fusewright")(X, W), fn(X, W))
    return [g.name.partition(".")[2] for graph in graphs for g in graph.groups]


def reasons(**options: object) -> set[str]:
    torch._dynamo.reset()
    with fusewright.options(**options), record.recording() as graphs:
        torch.compile(fn, backend="fusewright")(X, W)
    return {why for graph in graphs for why in graph.torch_units.values()}


# --- fuel --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(5))
def test_the_first_groups_get_it(n: int) -> None:
    assert kernels(fuel=n) == ["g0", "g1", "g2"][:n]


def test_it_is_the_processs() -> None:
    """Another graph goes on where the first one stopped."""
    assert kernels(fuel=4) == ["g0", "g1", "g2"]
    assert kernels(fuel=4) == ["g0"]
    assert "out of fuel after 4 groups" in reasons(fuel=4)
    assert kernels() == ["g0", "g1", "g2"], "without a limit nothing is short"


def test_units_out_of_fuel_are_no_fallbacks() -> None:
    before = counters()
    kernels(fuel=0)
    got = counted(before)
    assert got["fallbacks"] == 0 and got["groups_formed"] == 0


def test_a_report(tmp_path: Path) -> None:
    kernels(fuel=2, fuel_report=tmp_path / "new")
    entries = [json.loads(line) for line in (tmp_path / "new" / fuel.LIST).read_text().splitlines()]
    assert [e["number"] for e in entries] == [1, 2]
    assert entries[1]["operators"] == ["aten.cos.default", "aten.mul.Tensor"]
    assert "x.cos() * 3" in entries[1]["lines"][0] and len(entries[1]["hash"]) == 12
    assert cli.main(["run", str(tmp_path / "new" / f"1-{entries[0]['name']}.py")]) == 0


# --- groups by name ----------------------------------------------------------------------------------------------


def test_groups_that_are_disabled_keep_their_numbers() -> None:
    assert kernels(disable="group:*.g1") == ["g0", "g2"]
    assert kernels(disable=("group:*.g0", "group:*.g2")) == ["g1"]
    assert "group:*.g1 is disabled" in reasons(disable="group:*.g1")


def test_groups_by_hash() -> None:
    with record.recording() as graphs:
        torch.compile(fn, backend="fusewright")(X, W)
    digest = graphs[0].groups[1].hash
    assert kernels(disable=f"group:{digest}") == ["g0", "g2"]
    assert kernels(disable=f"group:{digest[:6]}") == ["g0", "g2"]


# --- bisection ---------------------------------------------------------------------------------------------------

SCRIPT = """
import json, os, sys
groups, guilty = int(sys.argv[1]), int(sys.argv[2])
fuel, report = os.environ.get("FUSEWRIGHT_FUEL"), os.environ.get("FUSEWRIGHT_FUEL_REPORT")
ran = groups if not fuel else min(groups, int(fuel))
if report:
    with open(os.path.join(report, "groups.jsonl"), "a") as f:
        for n in range(1, ran + 1):
            f.write(json.dumps(dict(number=n, name=f"g{n}", hash="0", lines=[f"line {n}"], operators=["op"])) + chr(10))
print("wrong" if ran >= guilty else "right")
sys.exit(3 if ran >= guilty and "--quiet" not in sys.argv else 0)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def command(script: Path, *args: object) -> list[str]:
    return [sys.executable, "-S", "-E", str(script), *map(str, args)]


@pytest.mark.parametrize(
    ("groups", "guilty"), [(1, 1), (2, 1), (2, 2), (3, 2), (7, 7), (8, 1), (8, 8), (9, 4), (25, 13)]
)
def test_the_guilty_group_is_found_in_few_runs(groups: int, guilty: int, script: Path) -> None:
    found = bisect.bisect(command(script, groups, guilty))
    assert found.group is not None and found.group["number"] == guilty and found.groups == groups
    assert found.runs <= math.log2(groups) + 2
    assert found.message == f"group {guilty} of {groups}, g{guilty} (0), makes it fail" and "wrong" in found.output


@pytest.mark.parametrize(
    ("groups", "guilty", "message"),
    [
        (5, 99, "the script does not fail"),
        (0, 0, "the script fails before Fusewright compiles anything"),
        (5, 0, "the script fails with every group run by PyTorch: no kernel is to blame"),
    ],
)
def test_when_no_group_is_guilty(groups: int, guilty: int, message: str, script: Path) -> None:
    found = bisect.bisect(command(script, groups, guilty))
    assert found.group is None and found.message == message


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_a_check(script: Path) -> None:
    found = bisect.bisect(command(script, 6, 3, "--quiet"), check="grep -q right")
    assert found.group is not None and found.group["number"] == 3
    assert bisect.bisect(command(script, 6, 3, "--quiet")).group is None, "the exit status alone says nothing"


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_a_check_that_cannot_be_run(script: Path) -> None:
    with pytest.raises(UserError, match="--check: there is no command to run in 'no-such-command -q'"):
        bisect.bisect(command(script, 1, 1), check="no-such-command -q")


def test_a_run_without_end_fails(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.replace("print(", "import time\nif ran >= guilty: time.sleep(60)\nprint("))
    found = bisect.bisect(command(path, 2, 2), timeout=2)
    assert found.group is not None and found.group["number"] == 2


def test_mistakes(tmp_path: Path, script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bisect", str(tmp_path / "missing.py")]) == 2
    assert "there is no script" in capsys.readouterr().err
    assert cli.main(["bisect", "--timeout", "0", str(script)]) == 2
    assert "--timeout is a number of seconds above 0, not 0.0" in capsys.readouterr().err
    assert cli.main(["bisect", str(script), "5", "99"]) == 1
    assert "the script does not fail (1 runs)" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_planted_wrong_kernel_in_a_model_of_twelve_layers(tmp_path: Path) -> None:
    out = tmp_path / "found.py"
    env = {"FUSEWRIGHT_CACHE_DIR": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "fusewright.cli", "bisect", "--out", str(out), str(HERE / "bisected.py")],
        env={**bisect.child_environment(**env)},
        cwd=HERE.parent.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    assert "makes it fail (" in said and "h * h.sinh())  # the guilty line" in said and "aten.sinh.default" in said
    groups, runs = int(said.split(" of ")[1].split(",")[0]), said.count("\nrun ") + said.startswith("run ")
    assert groups > 24 and runs <= math.log2(groups) + 2
    assert "torch.ops.aten.sinh.default" in out.read_text()
    assert cli.main(["run", str(out)]) == 0, "here sinh is right"


def test_the_repro_file_cannot_be_written(script: Path, tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    path = tmp_path / "script.py"
    path.write_text(
        SCRIPT.replace("        for n", "        open(os.path.join(report, '1-g1.py'), 'w').close()\n        for n")
    )
    with pytest.raises(UserError, match=r"g1 .0., makes it fail; but cannot write"):
        bisect.bisect(command(path, 1, 1), out=tmp_path / "no" / "folder.py")
