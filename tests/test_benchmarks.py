"""The scripts in `benchmarks/`: that they start, and that what each uses of the package is still there."""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import fusewright
from fusewright.bench import measure
from fusewright.bench.cases import GPU_SUITES, MORE_SUITES, SUITES, Case
from fusewright.bench.cases_scatter import SCATTER_CASES
from fusewright.bench.null import NullDriver
from fusewright.build import nvrtc
from fusewright.run import devices
from tests.support import is_ours

FOLDER = Path(__file__).parents[1] / "benchmarks"
pytestmark = pytest.mark.skipif(not is_ours(), reason="Fusewright's own parts")


@pytest.fixture(autouse=True)
def beside_each_other(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As when one is run: they import each other."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or ".").parent == FOLDER:
            del sys.modules[name]


def script(name: str) -> Any:
    return importlib.import_module(name)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.stem)
def test_names_of_the_package_are_there(path: Path) -> None:
    """Also those that are looked up in the middle of a run on a GPU."""
    module = script(path.stem)
    missing = []
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            continue
        found, what = vars(module).get(node.id), node.id
        for name in names:
            if not isinstance(found, ModuleType) or not found.__name__.startswith("fusewright"):
                break
            found, what = getattr(found, name, None), f"{what}.{name}"
            if found is None:
                missing.append(what)
    assert not missing


def test_kernels_for_a_gpu_that_is_not_there() -> None:
    """Forward and backward are compiled, and nothing is run."""
    x = torch.randn(64, 1000, requires_grad=True)
    driver, _ = script("registers").compiled(lambda x: (x.sin().softmax(-1) * x).exp(), (x,))
    assert len(driver.kernels) == 2 and all("__global__" in text for text in driver.kernels)
    assert driver.launched == 0


def test_sources_of_a_case(tmp_path: Path) -> None:
    script("gpu_sources").main([str(tmp_path), "--only", "softmax 13x"])
    (path,) = tmp_path.iterdir()
    assert "__global__" in path.read_text()


def test_every_script_is_in_the_table() -> None:
    text = (FOLDER / "README.md").read_text()
    assert [p.name for p in FOLDER.glob("*.py") if f"`{p.name}`" not in text] == []


def run_of(suite: str) -> dict[str, Any]:
    """What `fusewright bench --json` writes, of two cases."""
    rows = []
    for k in (1, 2):
        seconds = {"eager": 4e-6 * k, "inductor": 2e-6 * k, "fusewright": 1e-6 * k}
        row = {"suite": suite, "case": f"case {k}", "seconds": seconds, "bytes": 1000 * k, "first_call_s": seconds}
        rows.append({**row, "share": {n: 1e-6 / t for n, t in seconds.items()}})
    machine = {"gpu": "a GPU", "cpu": "a CPU", "cores": 1, "cpu_capability": "", "torch": "", "llvmlite": ""}
    machine = {**machine, "commit": "0" * 40, "load": [0.0]}
    return {"rows": rows, "machine": machine, "copy_roof_bytes_per_s": 2e9, "allocator": "default"}


@pytest.mark.parametrize("suite", [*SUITES, *GPU_SUITES, *MORE_SUITES])
def test_tables(suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of every suite that can be measured."""
    (tmp_path / "run.json").write_text(json.dumps({"runs": [run_of(suite)]}))
    script("markdown").main(str(tmp_path / "run.json"))
    found = capsys.readouterr().out
    assert ("a GPU" if suite.startswith("gpu") else "a CPU") in found
    assert re.search(r"\| case 2 \| [0-9.]+( \([0-9.]+\))? \|", found)
    assert suite == "overhead" or ("**4.00**" in found and "**2.00**" in found)


def test_picture() -> None:
    found = script("roofline").picture(run_of("gpu"))
    assert found.startswith("<svg") and found.count("<circle") >= 6


SASS = """
.section .text.k_0,"ax",@progbits
        /*0000*/                   LDG.E R2, desc[UR4][R2.64] ;
.L_x_0:
        /*0010*/                   FADD R0, R2, R0 ;
        /*0020*/               @P0 BRA `(.L_x_0) ;
        /*0030*/                   EXIT ;
.L_x_1:
        /*0040*/                   BRA `(.L_x_1);
        /*0050*/                   NOP;
"""


def test_loops_of_machine_code() -> None:
    sass = script("gpu_sass")
    code = sass.instructions(SASS)["k_0"]
    assert [op for _, op, _ in code] == ["LDG.E", "FADD", "BRA", "EXIT", "BRA", "NOP"]
    assert sass.loops(code) == [(0x10, 0x20)]
    assert sass.histogram(code).startswith("5: BRA 2")


def test_what_launches_share_counts_once() -> None:
    """A dependent launch begins early, and waits: that time is not its own."""
    spans = [
        (0.0, 10.0, "sum_0"),
        (4.0, 13.0, "sum_1"),
        (13.0, 14.0, "library"),
        (15.0, 16.0, "sum_0"),
        (15.5, 17.0, "sum_1"),
    ]
    ran = script("models").exclusive(spans)
    assert ran == [("sum_0", 10.0), ("sum_1", 3.0), ("library", 1.0), ("sum_0", 1.0), ("sum_1", 1.0)]
    assert script("traffic").calls(ran, {"sum"}) == [("sum", 13.0), ("sum", 2.0)]
    with pytest.raises(RuntimeError, match="sum_1 was launched behind nothing"):
        script("traffic").calls(ran[1:], {"sum"})


@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")
@pytest.mark.parametrize("backward", [False, True])
def test_kernels_of_a_case(backward: bool) -> None:
    """Planned and compiled, as `gpu_schedules.py` and `gpu_sass.py` do."""
    grads = (0,) if backward else ()
    case = Case("small", "", lambda x: torch.softmax(x.sin(), -1), lambda *_: (torch.randn(4, 100),), 2, grads)
    driver = script("gpu_sass").Keeping()
    driver.made = []
    script("gpu_schedules").run(case, driver, specialize="never")
    assert len(driver.made) == len(driver.launches) == 1 + backward
    assert driver.reports[0].registers > 0


def test_every_launch_of_a_scatter_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Event:
        def __init__(self, enable_timing: bool):
            pass

        def record(self) -> None:
            pass

        def elapsed_time(self, end: Any) -> float:
            return 2.0

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "_sleep", lambda n: None)
    monkeypatch.setattr(measure, "FLUSH", 1)
    case = SCATTER_CASES[0]
    torch._dynamo.reset()
    with devices.use("cpu", NullDriver()), fusewright.options(single_op_groups=True, fallback=False, disk_cache=False):
        found = script("scatters").launches(case, case.inputs("cpu", True))
    assert found == [2e-3] * 4


def test_random_programs() -> None:
    """The same number is the same program, and what is drawn runs; a few of them as they are measured."""
    drawn = script("random_programs")
    for number in range(40):
        p = drawn.program(number, (8, 11))
        assert p == drawn.program(number, (8, 11)) and p.source.startswith("def fn(x")
        assert all(isinstance(t, torch.Tensor) for t in drawn._several(p.function("eager")(*p.inputs("cpu"))))
    p = next(p for p in (drawn.program(n, (8, 11)) for n in range(40)) if p.grad)
    inputs = p.inputs("cpu")
    want = drawn.step(p, p.function("eager"), inputs)()
    assert drawn.differs(want, want) == "" and "differs" in drawn.differs(
        [None if t is None else t + 1 for t in want], want
    )


def test_functions() -> None:
    """Results can be compared: none is NaN, which would equal nothing, or drawn."""
    listed = script("functions").cases("cpu")
    assert len({name for name, _, _ in listed}) == len(listed)
    for name, fn, inputs in listed:
        few = [t[:1, :2] for t in inputs]
        assert torch.equal(fn(*few), fn(*few)), name
