"""Saved in one process, loaded in another that has no compiler: the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_flatten

import fusewright
from tests.aot.programs import CASES, RANDOM, Case
from tests.support import clone_like, no_fallbacks

ROOT = Path(__file__).parent.parent.parent

# Loads programs and calls them. What is imported, and what is counted, goes to standard output.
CHILD = """
import json, sys, torch
from torch.utils import _pytree as pytree
before = set(sys.modules)
import fusewright

def flat(x):
    return pytree.tree_flatten(x)[0]

report = {}
for name in sys.argv[2:]:
    folder = f"{sys.argv[1]}/{name}"
    program = fusewright.aot_load(f"{folder}.fwp")
    calls = torch.load(f"{folder}.calls", weights_only=False)
    out = []
    for k, (args, kwargs) in enumerate(calls):
        torch.manual_seed(k)
        out.append((flat(program(*args, **kwargs)), flat((args, kwargs))))
    torch.save((out, program.state_dict()), f"{folder}.results")
report["modules"] = sorted(set(sys.modules) - before)
report["all"] = sorted(sys.modules)
report["counters"] = fusewright.counters()
print(json.dumps(report))
"""

COMPILERS = (
    *("fusewright.index", "fusewright.prims", "fusewright.graph", "fusewright.fusion", "fusewright.schedule"),
    *("fusewright.loop", "fusewright.interp", "fusewright.emit", "fusewright.trace", "fusewright.debug"),
    *("fusewright.pipeline", "fusewright.backend", "fusewright.exporting", "fusewright.saving"),
    *("fusewright.build.llvm_jit", "fusewright.build.nvrtc", "fusewright.build.store", "fusewright.run.plan"),
    *("fusewright.run.kernels", "fusewright.run.gpu", "fusewright.run.cuda"),
)
TRACERS = (
    *("torch._dynamo", "torch._inductor", "torch._functorch.aot_autograd", "torch.export._trace"),
    *("torch._higher_order_ops.triton_kernel_wrap", "sympy"),
)


def run_child(folder: Path, *names: str) -> dict[str, Any]:
    threads = str(torch.get_num_threads())  # the order in which a matrix product adds depends on them
    env = {**os.environ, "OMP_NUM_THREADS": threads, "FUSEWRIGHT_CACHE_DIR": str(folder / "no cache")}
    command = [sys.executable, "-c", CHILD, str(folder), *names]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def save(folder: Path, name: str, case: Case) -> tuple[Any, dict[str, torch.Tensor]]:
    """Save a case; returns what its calls give in this process, and the state afterwards."""
    _, exported = case.export()
    with no_fallbacks():
        program = fusewright.aot_compile(exported)
        fusewright.aot_save(program, folder / f"{name}.fwp")
    calls = case.calls()
    torch.save([clone_like(c) for c in calls], folder / f"{name}.calls")
    out = []
    for k, (args, kwargs) in enumerate(calls):
        torch.manual_seed(k)
        out.append((tree_flatten(program(*args, **kwargs))[0], tree_flatten((args, kwargs))[0]))
    return out, program.state_dict()


def assert_same(a: Any, b: Any) -> None:
    """Equal, tensors bit for bit with their strides and types."""
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        if isinstance(x, (list, tuple)):
            assert_same(x, y)
        elif isinstance(x, torch.Tensor):
            assert x.dtype == y.dtype and x.shape == y.shape and x.stride() == y.stride()
            x, y = (t.detach().contiguous().flatten().view(torch.uint8) for t in (x, y))
            assert torch.equal(x, y)
        else:
            assert type(x) is type(y) and x == y


@pytest.fixture(scope="module")
def ran(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """(where the files are, what calls gave here, the other process's report), of the programs that tests ask for."""
    specs = [getattr(item, "callspec", None) for item in request.session.items if item.path == request.path]
    wanted = {"counting", "random", *(spec.params["name"] for spec in specs if spec is not None)}
    folder, cases = tmp_path_factory.mktemp("programs"), {**CASES, "random": RANDOM}
    here = {name: save(folder, name.replace(" ", "_"), cases[name]) for name in cases if name in wanted}
    return folder, here, run_child(folder, *(name.replace(" ", "_") for name in here))


@pytest.mark.every(6)
@pytest.mark.parametrize("name", [*CASES, "random"])
def test_the_same_bits(name: str, ran: tuple[Path, dict[str, Any], dict[str, Any]]) -> None:
    folder, here, _ = ran
    out, state = torch.load(folder / f"{name.replace(' ', '_')}.results")
    assert_same(out, here[name][0])
    assert list(state) == list(here[name][1])
    assert_same(list(state.values()), list(here[name][1].values()))


def test_no_compiler_was_there(ran: tuple[Path, dict[str, Any], dict[str, Any]]) -> None:
    report = ran[2]
    ours = [m for m in report["modules"] if m.startswith(COMPILERS)]
    assert [m for m in ours if m not in ("fusewright.prims", "fusewright.prims.philox")] == []
    assert not any(m == t or m.startswith(f"{t}.") for m in report["all"] for t in TRACERS)
    worked = {k: n for k, n in report["counters"].items() if n and not k.startswith("pool")}
    assert worked == {"programs_loaded": len(ran[1])}
    assert not (ran[0] / "no cache").exists()


def test_random_numbers_are_those_of_the_generator(ran: tuple[Path, dict[str, Any], dict[str, Any]]) -> None:
    """`manual_seed` reproduces a call, the next call draws others."""
    program = fusewright.aot_load(ran[0] / "random.fwp")
    x = torch.ones(5, 9)
    torch.manual_seed(3)
    first, second = program(x), program(x)
    torch.manual_seed(3)
    assert_same(program(x), first)
    assert not torch.equal(first[1], second[1])
    assert set(first[0].unique().tolist()) <= {0.0, 2 / 0.6} or torch.allclose(first[0].max(), torch.tensor(2 / 0.6))


def test_a_loaded_program_loaded_again_starts_afresh(ran: tuple[Path, dict[str, Any], dict[str, Any]]) -> None:
    path = ran[0] / "counting.fwp"
    one, two = fusewright.aot_load(path), fusewright.aot_load(path)
    before = two.calls.item()
    one(torch.randn(3, 6))
    assert one.calls.item() == before + 1 and two.calls.item() == before
