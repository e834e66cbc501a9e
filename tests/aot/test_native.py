"""Loaded programs for GPUs: launched by machine code that is in the file, and from CUDA graphs. The GPU is emulated."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim, export

import fusewright
from fusewright import UserError, saving_gpu
from fusewright.bench.null import NullDriver
from fusewright.build import launcher, llvm_jit, machine_code
from fusewright.core.errors import RuntimeFault
from fusewright.emit.cuda import emit_cuda
from fusewright.run import cuda_graphs, devices, handles, plan_gpu
from fusewright.run.prepared import Calls
from tests.aot.test_gpu import Emulation
from tests.aot.test_save_load import COMPILERS, ROOT, TRACERS
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import SMALL
from tests.emulate.recorder import FakeRecorder
from tests.run.graphed import STEPS, compared, recorder
from tests.run.test_native import LAUNCH

__all__ = ["compared", "recorder"]  # fixtures


class Native(Emulation):
    """The emulation of saved kernels, launched by machine code."""

    def __init__(self) -> None:
        super().__init__(SMALL)
        self.table: list[Any] = []
        self.natively = 0
        self.taken: list[int] = []  # bytes of scratch memory
        self.callback = LAUNCH(self.queue)
        address = ctypes.cast(self.callback, ctypes.c_void_p).value
        assert address
        self.native = Calls(address, self.number, 0, lambda: 0, abs, lambda size, *_: self.scratch(size[0]))

    def number(self, handle: Any) -> int:
        self.table.append(handle)
        return len(self.table) - 1

    def scratch(self, nbytes: int) -> Tensor:
        self.taken.append(nbytes)
        return super().scratch(nbytes)

    def queue(self, handle: int | None, blocks: int, *more: Any) -> int:
        self.natively += 1
        self.launch(self.table[handle or 0], blocks, 0, 0, more[-2], 0)
        return 0


@pytest.fixture
def saving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are saved as CUDA C++."""
    monkeypatch.setattr(saving_gpu.Emitter, "compile", lambda self, func: emit_cuda(func, self.target).encode())
    monkeypatch.setattr(saving_gpu.Emitter, "versions", lambda self: f"emulated {self.arch}")


@pytest.fixture
def gpu(saving: None) -> Iterator[Native]:
    if COMPILER is None:
        pytest.skip(MISSING)
    driver = Native()
    with devices.use("cpu", driver), fusewright.options(disk_cache=False):
        yield driver


@pytest.fixture
def afresh(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Forgets the functions in machine code that this process has; from then on it cannot compile them."""

    def forget() -> None:
        monkeypatch.setattr(machine_code, "_given", {})
        monkeypatch.setattr(launcher, "_method", [])
        monkeypatch.setattr(launcher, "_failed", [])
        monkeypatch.setattr(handles, "view", cache(handles.view.__wrapped__))

        def no(*args: Any) -> bytes:
            raise AssertionError("something was compiled")

        monkeypatch.setattr(llvm_jit, "compile_ir", no)

    return forget


class Rows(nn.Module):
    """Rows in registers, sums down columns, a transpose, elementwise; a product and views between them."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(16, 16) / 4)

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        a = torch.softmax(x * 2 + y, -1)
        b = F.linear(a, self.w).relu() + 1
        return a, (b * y).sum(0), (x.t() + 1).contiguous(), F.gelu(b) * x


SIZES = (8, 1, 33, 8, 1, 33, 70, 70)


def saved(path: Path, **options: Any) -> tuple[nn.Module, Path]:
    torch.manual_seed(0)
    module, d = Rows().eval(), {0: Dim("n", max=4096)}
    with torch.no_grad():
        exported = export(module, (torch.randn(8, 16), torch.randn(8, 16)), dynamic_shapes={"x": d, "y": d})
    fusewright.aot_save(exported, path / "p.fwp", architectures=["sm_90"], **options)
    return module, path / "p.fwp"


def same(program: Any, module: nn.Module, sizes: tuple[int, ...] = SIZES) -> None:
    with torch.no_grad():
        for n in sizes:
            x, y = torch.randn(n, 16), torch.randn(n, 16)
            torch.testing.assert_close(program(x, y), module(x, y), rtol=1e-4, atol=1e-5)


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The file with another manifest."""
    other = path.with_name("changed.fwp")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for i in old.infolist():
            content = old.read(i)
            if i.filename == "manifest.json":
                m = json.loads(content)
                change(m)
                content = json.dumps(m).encode()
            new.writestr(i.filename, content)
    return other


def test_launched_by_machine_code_of_the_file(gpu: Native, tmp_path: Path, afresh: Callable[[], None]) -> None:
    """Every launch but the first of its kind. Nothing is compiled, and views are made by machine code, too."""
    module, path = saved(tmp_path)
    afresh()
    program = fusewright.aot_load(path)
    same(program, module, (8,))
    each = gpu.launched
    assert each >= 3 and not gpu.natively
    same(program, module, (8, 8))
    assert gpu.natively == 2 * each and gpu.launched == 3 * each
    same(program, module)
    off = torch.randn(16 * 8 + 1)[1:].view(8, 16)  # not aligned
    for _ in range(2):
        with torch.no_grad():
            torch.testing.assert_close(program(off, off), module(off, off), rtol=1e-4, atol=1e-5)
    assert program._program.__globals__["_run"].__globals__["_view"] is handles.view()


def test_the_code_is_for_any_machine_of_an_architecture(gpu: Native, tmp_path: Path) -> None:
    _, path = saved(tmp_path)
    with zipfile.ZipFile(path) as z:
        m = json.loads(z.read("manifest.json"))
        assert m["format"] == 3 and len(m["native"]) == 2
        for n in m["native"]:
            assert n["cpu"]["name"] == "generic" and n["cpu"]["needs"] == [] and n["system"] == sys.platform
            assert z.read(n["member"])
    again = fusewright.aot_compile(Rows(), (torch.randn(8, 16), torch.randn(8, 16)))
    fusewright.aot_save(again, tmp_path / "a.fwp", architectures=["sm_90"])
    fusewright.aot_save(again, tmp_path / "b.fwp", architectures=["sm_90"])
    assert (tmp_path / "a.fwp").read_bytes() == (tmp_path / "b.fwp").read_bytes()


def test_without_the_option_python_launches(gpu: Native, tmp_path: Path, afresh: Callable[[], None]) -> None:
    module, path = saved(tmp_path)
    afresh()
    with fusewright.options(native_launch=False):
        program = fusewright.aot_load(path)
    same(program, module)
    assert gpu.launched and not gpu.natively and not machine_code._given


def _all(m: dict[str, Any], **facts: Any) -> None:
    for n in m["native"]:
        for key, x in facts.items():
            (n["cpu"] if key in ("architecture", "needs") else n)[key] = x


OTHERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "text": lambda m: _all(m, text="0" * 64),
    "system": lambda m: _all(m, system="plan9"),
    "architecture": lambda m: _all(m, architecture="z80"),
    "a CPU": lambda m: _all(m, needs=["flux-capacitor"]),
    "another function": lambda m: _all(m, name="fusewright_later"),
    "none": lambda m: m["native"].clear(),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("what", OTHERS)
def test_code_that_is_not_for_this_process(what: str, gpu: Native, tmp_path: Path, afresh: Callable[[], None]) -> None:
    """Of another version's functions, for another machine: Python launches, and nothing is compiled."""
    module, path = saved(tmp_path)
    other = rewritten(path, OTHERS[what])
    afresh()
    same(fusewright.aot_load(other), module)
    assert gpu.launched and not gpu.natively and not machine_code._given


@pytest.mark.every(2)
@pytest.mark.parametrize("what", ["interpreter", "handles", "linker", "no linker"])
def test_where_it_cannot_be_used(
    what: str, gpu: Native, tmp_path: Path, afresh: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, path = saved(tmp_path)
    afresh()
    if what == "interpreter":
        monkeypatch.setattr(launcher, "supported", lambda: False)
    elif what == "handles":
        monkeypatch.setattr(handles, "functions", lambda: None)
    else:

        def no(*args: Any) -> int:
            raise RuntimeFault("the loader rejected a kernel") if what == "linker" else ImportError("llvmlite")

        monkeypatch.setattr(machine_code.objects, "load", no)
    same(fusewright.aot_load(path), module)
    assert gpu.launched and not gpu.natively


def test_damaged_code_is_a_damaged_file(gpu: Native, tmp_path: Path, afresh: Callable[[], None]) -> None:
    _, path = saved(tmp_path)
    other = rewritten(path, lambda m: _all(m, member="native/nothing.o"))
    afresh()
    with pytest.raises(UserError, match="is damaged"):
        fusewright.aot_load(other)


def test_linked_once(gpu: Native, tmp_path: Path, afresh: Callable[[], None]) -> None:
    """A function that is there is not linked again, whichever file brings it; and compiled plans use it."""
    module, path = saved(tmp_path)
    afresh()
    fusewright.aot_load(path)
    known = dict(machine_code._given)
    program = fusewright.aot_load(path)
    assert machine_code._given == known
    assert machine_code.address(launcher.NAME, launcher.text()) in known.values()
    same(program, module)
    assert gpu.natively


def test_files_of_earlier_versions(gpu: Native, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their plans have the lines that launch, by Python."""
    monkeypatch.setattr(plan_gpu, "_native", lambda *args: [])
    module, path = saved(tmp_path)

    def earlier(m: dict[str, Any]) -> None:
        assert m["format"] == 1
        del m["native"]
        for v in m["variants"]:
            del v["graphs"]

    path = rewritten(path, earlier)
    same(fusewright.aot_load(path), module)
    with fusewright.options(cuda_graphs=True):
        same(fusewright.aot_load(path), module)
    assert gpu.launched and not gpu.natively


def test_host_scalars_and_sizes_without_a_kernel(gpu: Native, tmp_path: Path) -> None:
    class Scaled(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return torch.softmax(x * (x.shape[0] / 3), -1) + y.sum().item()

    path = tmp_path / "p.fwp"
    exported = export(Scaled(), (torch.randn(4, 16), torch.ones(3)), dynamic_shapes={"x": {0: Dim("m")}, "y": None})
    fusewright.aot_save(exported, path, architectures=["sm_90"])
    scope = json.loads(zipfile.ZipFile(path).read("manifest.json"))["variants"][0]["scope"].values()
    assert sum(x["launch"]["hosts"] for x in scope if "launch" in x) == 2
    for native in (True, False):
        with fusewright.options(native_launch=native):
            program = fusewright.aot_load(path)
        gpu.natively = 0
        for n, y in ((4, 1.0), (4, 2.5), (9, 2.5), (9, -1.0)):
            x, scale = torch.randn(n, 16), torch.full((3,), y)
            torch.testing.assert_close(program(x, scale), Scaled()(x, scale))
        assert (gpu.natively > 0) == native

    def without(m: dict[str, Any]) -> None:
        for x in m["variants"][0]["scope"].values():
            if "group" in x:
                x["group"]["rules"].clear()

    x, scale = torch.randn(4, 16), torch.ones(3)
    other = rewritten(path, without)
    for native in (True, False):
        with fusewright.options(native_launch=native):
            program = fusewright.aot_load(other)
        with pytest.warns(fusewright.FusewrightWarning, match="has no kernel for"):
            torch.testing.assert_close(program(x, scale), Scaled()(x, scale))
        torch.testing.assert_close(program(x, scale), Scaled()(x, scale))


def test_scratch_memory_is_the_plans(gpu: Native, tmp_path: Path) -> None:
    """Launches that take some take turns in the same, from the second call on."""

    class Sums(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
            a = F.layer_norm(x, (200,)).cos().sum(0)
            b = torch.mm(x.exp() + a, y)
            return a, b, F.layer_norm(b, (200,)).sin().sum(0)

    x, y = torch.randn(200, 200), torch.randn(200, 200)
    fusewright.aot_save(export(Sums(), (x, y)), tmp_path / "p.fwp", architectures=["sm_90"])
    program, runs = fusewright.aot_load(tmp_path / "p.fwp"), []
    for _ in range(3):
        gpu.taken.clear()
        torch.testing.assert_close(program(x, y), Sums()(x, y), rtol=1e-3, atol=1e-3)
        runs.append(len(gpu.taken))
    assert runs[0] > 1 and runs[1:] == [1, 1]
    with fusewright.options(native_launch=False):
        program = fusewright.aot_load(tmp_path / "p.fwp")
    gpu.taken.clear()
    torch.testing.assert_close(program(x, y), Sums()(x, y), rtol=1e-3, atol=1e-3)
    assert len(gpu.taken) == runs[0]


CHILD = """
import ctypes, json, sys, torch
import fusewright
from fusewright.run import devices, internals
from fusewright.run.prepared import Calls, Prepared

class Driver:
    # launches nothing, and counts
    def __init__(self):
        self.natively = self.by_python = 0
        pointer = ctypes.c_void_p
        kind = ctypes.CFUNCTYPE(ctypes.c_int, pointer, *[ctypes.c_uint32] * 7, *[pointer] * 3)  # cuLaunchKernel
        self.callback = kind(self.queue)
        where = ctypes.cast(self.callback, ctypes.c_void_p).value
        self.native = Calls(where, int, 0, lambda: 0, abs, internals.empty_strided)
    def queue(self, *args):
        self.natively += 1
        return 0
    def restore(self, code, launches):
        return [0 for _ in launches]
    def scratch(self, nbytes):
        return torch.empty(nbytes, dtype=torch.uint8)
    def counters(self, count, stream):
        return torch.zeros(count, dtype=torch.int32)
    def enter(self):
        return 0
    def launch(self, *args):
        self.by_python += 1

driver = Driver()
with devices.use("cpu", driver), fusewright.options(cuda_graphs=len(sys.argv) > 2):
    program = fusewright.aot_load(sys.argv[1])
    counts = []
    for _ in range(4):
        program(torch.zeros(8, 16), torch.zeros(8, 16))
        counts.append((driver.natively, driver.by_python))
print(json.dumps({"counts": counts, "all": sorted(sys.modules), "counters": fusewright.counters()}))
"""


@pytest.mark.parametrize("graphs", [False, True])
def test_in_a_process_without_a_compiler(graphs: bool, saving: None, tmp_path: Path) -> None:
    with devices.use("cpu", NullDriver()), fusewright.options(disk_cache=False):
        _, path = saved(tmp_path)
    env = {**os.environ, "FUSEWRIGHT_CACHE_DIR": str(tmp_path / "no cache")}
    command = [sys.executable, "-c", CHILD, str(path), *(["graphs"] if graphs else [])]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout.splitlines()[-1])
    (none, each), *more = report["counts"]
    assert none == 0 and each >= 3 and more == [[k * each, each] for k in (1, 2, 3)]
    assert not [m for m in report["all"] for t in (*COMPILERS, *TRACERS) if m == t or m.startswith(f"{t}.")]
    assert {k for k, n in report["counters"].items() if n and not k.startswith("pool")} == {"programs_loaded"}
    assert not (tmp_path / "no cache").exists()


# --- CUDA graphs --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("compared")
def test_from_cuda_graphs(gpu: Native, recorder: FakeRecorder, tmp_path: Path) -> None:
    """Recorded with the option, per size; parameters that are written in place are seen."""
    _, path = saved(tmp_path)
    with fusewright.options(cuda_graphs=True):
        program = fusewright.aot_load(path)
    plain = fusewright.aot_load(path)
    inputs = [[torch.randn(n, 16) for _ in range(2)] for n in (8, 33)]  # always in the same places

    def compare(times: int) -> None:
        for pair in inputs * times:
            for t in pair:
                t.normal_()
            for a, b in zip(program(*pair), plain(*pair), strict=True):
                assert torch.equal(a, b)

    with torch.no_grad():
        compare(STEPS)
        assert recorder.recorded == 2 and "1 recorded" in cuda_graphs.status()["p.fwp"]
        for p, q in zip(program.parameters(), plain.parameters(), strict=True):
            p.mul_(1.5)
            q.mul_(1.5)
        compare(2)
    assert recorder.recorded == 2


@pytest.mark.usefixtures("compared")
def test_what_is_written_is_written_from_graphs(gpu: Native, recorder: FakeRecorder, tmp_path: Path) -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(16))

        def forward(self, x: Tensor) -> Tensor:
            self.calls.add_(x.sum(0))
            for _ in range(3):
                x = torch.softmax(torch.softmax(x, -1) * self.calls, 0)
            return x @ x.t()

    x = torch.rand(8, 16)
    fusewright.aot_save(export(Counting(), (x,)), tmp_path / "p.fwp", architectures=["sm_90"])
    with fusewright.options(cuda_graphs=True):
        program = fusewright.aot_load(tmp_path / "p.fwp")
    module = Counting()
    for _ in range(STEPS):
        x.uniform_()
        torch.testing.assert_close(program(x), module(x), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(program.calls, module.calls)
    assert recorder.recorded == 1


def test_plans_that_are_not_recorded(
    gpu: Native, recorder: FakeRecorder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Short(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.softmax(x, -1)

    x = torch.randn(8, 16)
    fusewright.aot_save(export(Short(), (x,)), tmp_path / "p.fwp", architectures=["sm_90"])
    m = json.loads(zipfile.ZipFile(tmp_path / "p.fwp").read("manifest.json"))
    why = m["variants"][0]["graphs"]
    assert isinstance(why, str) and "nothing to gain" in why
    with fusewright.options(cuda_graphs=True), caplog.at_level("INFO", "fusewright"):
        program = fusewright.aot_load(tmp_path / "p.fwp")
    assert "nothing to gain" in caplog.text
    for _ in range(STEPS):
        torch.testing.assert_close(program(x), Short()(x))
    assert recorder.recorded == 0


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "change",
    [
        lambda g: g["key"].append("args[0].__class__"),
        lambda g: g["key"].append("open('x')"),
        lambda g: g["constants"].append("nothing"),
        lambda g: g.pop("draws"),
        lambda g: g.update(tensors=["a"]),
    ],
)
def test_damaged_facts(change: Any, gpu: Native, tmp_path: Path) -> None:
    _, path = saved(tmp_path)
    other = rewritten(path, lambda m: [change(v["graphs"]) for v in m["variants"]])
    with fusewright.options(cuda_graphs=True), pytest.raises(UserError, match="is damaged"):
        fusewright.aot_load(other)
