"""Programs on a GPU, saved and loaded in a process without a compiler; without a device, emulated."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim, export

import fusewright
from fusewright.run import cuda_graphs
from tests.aot.programs import GPT
from tests.support import counted, counters, no_fallbacks

ROOT = Path(__file__).parent.parent.parent

CHILD = """
import json, sys, torch
import fusewright
program = fusewright.aot_load(sys.argv[1])
inputs = torch.load(sys.argv[2])
out = [tuple(t.clone() for t in program(*x)) for x in inputs]  # one result is a buffer, which changes
torch.cuda.synchronize()
torch.save((out, program.state_dict()), sys.argv[3])
from fusewright.run.prepared import Prepared
by_python, run = [], Prepared.run
Prepared.run = lambda self, *a, **k: by_python.append(self) or run(self, *a, **k)
again = [tuple(t.clone() for t in program(*x)) for x in inputs]
torch.cuda.synchronize()
same = all(torch.equal(a, b) for old, new in zip(out, again) for a, b in zip(old[:4], new[:4]))
heavy = [m for m in sys.modules if m.startswith(("fusewright.emit", "fusewright.loop", "fusewright.schedule",
         "fusewright.graph", "fusewright.trace", "fusewright.build.nvrtc", "fusewright.build.llvm_jit",
         "torch._dynamo"))]
print(json.dumps({"heavy": heavy, "counters": fusewright.counters(), "by_python": len(by_python), "same": same}))
"""


class Counted(nn.Module):
    """A model that counts its calls."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, tokens: Tensor) -> Tensor:
        self.calls.add_(1)
        out: Tensor = self.model(tokens)
        return out


class Mixed(nn.Module):
    """Rows, column sums, a transpose, a buffer that is written, half precision."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.weight = nn.Parameter(torch.randn(96))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        self.calls.add_(1)
        h = F.layer_norm(x, (96,), self.weight)
        return torch.softmax(h * 2, -1), (h * x).sum(0), (x.t() + 1).contiguous(), F.gelu(x.half()) * 2, self.calls


def _save(tmp_path: Path, device: str, **options: object) -> tuple[nn.Module, object, Path]:
    torch.manual_seed(0)
    module = Mixed().to(device)
    x = torch.randn(32, 96, device=device)
    with torch.no_grad():
        exported = export(copy.deepcopy(module), (x,), dynamic_shapes={"x": {0: Dim("n", max=1 << 20)}})
    program = fusewright.aot_compile(exported)
    fusewright.aot_save(program, tmp_path / "p.fwp", **options)  # type: ignore[arg-type]
    return module, program, tmp_path / "p.fwp"


SIZES = (1, 7, 32, 100, 4096, 50001, 0)


def test_loaded_programs_give_eagers_results(cuda: str, tmp_path: Path) -> None:
    with no_fallbacks():
        module, program, path = _save(tmp_path, cuda)
    loaded = fusewright.aot_load(path)
    before = counters()
    for n in SIZES:
        x = torch.randn(n, 96, device=cuda)
        with torch.no_grad():
            want = module(x)
        got = loaded(x)
        torch.testing.assert_close(got[0], want[0])
        torch.testing.assert_close(got[1], want[1], rtol=1e-4, atol=1e-3)
        torch.testing.assert_close(got[2:], want[2:])
        torch.testing.assert_close(got, program(x), rtol=1e-4, atol=1e-3)
    off = torch.randn(96 * 9 + 1, device=cuda)[1:].view(9, 96)  # not aligned
    torch.testing.assert_close(loaded(off)[0], torch.softmax(F.layer_norm(off, (96,), module.weight) * 2, -1).detach())
    assert counted(before)["sizes_without_kernel"] == 0


def test_in_a_process_without_a_compiler(cuda: str, tmp_path: Path) -> None:
    _, program, path = _save(tmp_path, cuda)
    inputs = [(torch.randn(n, 96, device=cuda),) for n in SIZES]
    torch.save(inputs, tmp_path / "inputs")
    command = [sys.executable, "-c", CHILD, str(path), str(tmp_path / "inputs"), str(tmp_path / "outputs")]
    done = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["heavy"] == []
    assert report["same"] and report["by_python"] == 0  # what was launched once is launched by machine code
    assert report["counters"]["programs_loaded"] == 1 and report["counters"]["kernels_compiled"] == 0
    out, state = torch.load(tmp_path / "outputs")
    for got, x in zip(out, inputs, strict=True):
        torch.testing.assert_close(got, program(*x), rtol=1e-4, atol=1e-3)  # type: ignore[operator]
    assert state["calls"].item() == len(SIZES)


def test_launched_by_python_the_same(cuda: str, tmp_path: Path) -> None:
    _, _, path = _save(tmp_path, cuda)
    programs = [fusewright.aot_load(path)]
    with fusewright.options(native_launch=False):
        programs.append(fusewright.aot_load(path))
    off = torch.randn(96 * 9 + 1, device=cuda)[1:].view(9, 96)  # not aligned
    for x in (*(torch.randn(n, 96, device=cuda) for n in SIZES), off):
        for _ in range(2):
            for a, b in zip(*(p(x)[:4] for p in programs), strict=True):
                assert torch.equal(a, b)


def test_from_cuda_graphs(cuda: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the option a loaded program is recorded; the same numbers, also of a parameter that is written, a buffer
    that the program writes, and arguments that are elsewhere at each call."""
    monkeypatch.setattr(cuda_graphs, "SLOWER", 1e9)
    torch.manual_seed(0)
    model = Counted(GPT(layers=2, width=64)).to(cuda).eval()
    tokens = torch.randint(0, 40, (2, 17), device=cuda)
    with torch.no_grad():
        shapes = {"tokens": {0: Dim("b", max=64), 1: Dim("t", max=64)}}
        fusewright.aot_save(export(model, (tokens,), dynamic_shapes=shapes), tmp_path / "graphed.fwp")
    plain = fusewright.aot_load(tmp_path / "graphed.fwp")
    before = counters()
    with fusewright.options(cuda_graphs=True):
        graphed = fusewright.aot_load(tmp_path / "graphed.fwp")
    kept = []
    with torch.no_grad():
        for step in range(60):
            tokens = torch.randint(0, 40, ((2, 17), (5, 33))[step % 2], device=cuda)
            kept.append((tokens, got := graphed(tokens)))
            torch.testing.assert_close(got, plain(tokens), rtol=1e-4, atol=1e-4)
            assert graphed.calls.item() == plain.calls.item() == step + 1
            if step == 40:
                for p, q in zip(graphed.parameters(), plain.parameters(), strict=True):
                    p.mul_(1.01)
                    q.mul_(1.01)
            del kept[:-2]
    print(cuda_graphs.status()["graphed.fwp"])
    assert counted(before)["cuda_graphs_captured"] >= 2


def test_the_same_bits_for_the_sizes_of_the_export(cuda: str, tmp_path: Path) -> None:
    _, program, path = _save(tmp_path, cuda)
    loaded = fusewright.aot_load(path)
    x = torch.randn(32, 96, device=cuda)
    for a, b in zip(loaded(x)[:4], program(x)[:4], strict=True):  # type: ignore[operator]
        assert torch.equal(a, b)


def test_other_architectures(cuda: str, tmp_path: Path) -> None:
    major, minor = torch.cuda.get_device_capability()
    here = f"sm_{major}{minor}"
    module, _, path = _save(tmp_path, cuda, architectures=["sm_80", "sm_120", here])
    x = torch.randn(32, 96, device=cuda)
    with torch.no_grad():
        torch.testing.assert_close(fusewright.aot_load(path)(x)[0], module(x)[0])
    _, _, path = _save(tmp_path, cuda, architectures=["sm_120" if major != 12 else "sm_80"])
    with pytest.raises(fusewright.UserError, match=f"is {here}, which does not run code for"):
        fusewright.aot_load(path)


def test_cuda_graphs_and_streams(cuda: str, tmp_path: Path) -> None:
    module, _, path = _save(tmp_path, cuda)
    program = fusewright.aot_load(path)
    x = torch.randn(64, 96, device=cuda)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        program(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            out = program(x)[0]
    torch.cuda.current_stream().wait_stream(stream)
    x.copy_(torch.randn(64, 96, device=cuda))
    graph.replay()
    with torch.no_grad():
        torch.testing.assert_close(out, module(x)[0])


def test_random_numbers_are_eagers_with_the_option(cuda: str, tmp_path: Path) -> None:
    class Dropping(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return F.dropout(x * 2, 0.3, True) + 1

    x = torch.randn(64, 128, device=cuda)
    program = fusewright.aot_compile(Dropping(), (x,), dynamic_shapes={"x": {0: Dim("n")}}, rng="eager")
    fusewright.aot_save(program, tmp_path / "p.fwp")
    loaded = fusewright.aot_load(tmp_path / "p.fwp")
    for y in (x, torch.randn(100, 128, device=cuda)):
        torch.manual_seed(5)
        want = Dropping()(y)
        torch.manual_seed(5)
        assert torch.equal(loaded(y), want)


def test_gpt(cuda: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = GPT(layers=3, width=64).to(cuda).eval()
    tokens = torch.randint(0, 40, (2, 17), device=cuda)
    shapes = {"tokens": {0: Dim("b", max=64), 1: Dim("t", max=64)}}
    with torch.no_grad():
        fusewright.aot_save(export(model, (tokens,), dynamic_shapes=shapes), tmp_path / "gpt.fwp")
        program = fusewright.aot_load(tmp_path / "gpt.fwp")
        before = counters()
        for b, t in ((2, 17), (1, 1), (64, 64), (5, 33)):
            tokens = torch.randint(0, 40, (b, t), device=cuda)
            torch.testing.assert_close(program(tokens), model(tokens), rtol=2e-3, atol=2e-3)
        assert counted(before)["sizes_without_kernel"] == 0
