"""Launches that may begin before the one before them has ended: which ones, how they are made, what kernels do."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import pytest
import torch

import fusewright
from fusewright.build import nvrtc
from fusewright.core.errors import CompilerError, VerifyError
from fusewright.emit.cuda import CudaTarget, emit_cuda
from fusewright.loop.gpu import overlapped
from fusewright.loop.ir import Func, Grid
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from fusewright.run import dependent, devices, gpu
from fusewright.run.cuda_launch import Launcher
from fusewright.run.prepared import Interface, Launch
from fusewright.run.saved_gpu import interface
from fusewright.schedule.device import A100, H200, Gpu
from tests.emulate.driver import EmulatedDriver
from tests.golden import cases
from tests.kernels import graph_of
from tests.kernels_gpu import check_gpu, gpu_kernel
from tests.loop import test_gpu_scatter as scatters

WAIT, LET = "fw_after_launch();", "fw_next_launch();"


def kernels(func: Func) -> list[str]:
    """The text of each launch."""
    return emit_cuda(func, CudaTarget(9, 0)).split('extern "C" __global__ void')[1:]


def three() -> Func:
    """A kernel of several launches, one after the other."""
    c = gpu_kernel(graph_of(scatters.embedding_backward), {"n": 100, "m": 768}, Gpu((9, 0), 8, 1 << 20, 227 << 10))
    assert len(c.kernel.func.body) > 2
    return overlapped(c.kernel.func)


@pytest.mark.parametrize(
    "func", [three(), overlapped(gpu_kernel(graph_of(cases.embedding), {"n": 9, "m": 8}).kernel.func)]
)
def test_waits_first_and_lets_the_next_begin_at_its_end(func: Func) -> None:
    verify(func)
    found = kernels(func)
    for k, text in enumerate(found):
        head, body = text.split(") {\n", 1)
        lines = [line.split("//")[0].strip() for line in body.splitlines()]
        assert lines[: k > 0] == [WAIT] * (k > 0)
        if k + 1 < len(found):
            assert re.search(rf"\n  {re.escape(LET)}[^\n]*\n}}\n", body)  # the last line
        assert text.count(WAIT) == (k > 0) and text.count(LET) == (k + 1 < len(found))
        if k:  # nothing that the compiler may read before the wait, or the processor in another cache
            assert "__restrict__" not in head
            assert not re.search("__ldg|__ldcs|_ldg|_ldcs", body)
        else:
            assert head.count("__restrict__") == head.count("*")


@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")
def test_machine_code_reads_nothing_before_the_wait() -> None:
    if nvrtc.disassembler() is None:
        pytest.skip("nvdisasm is not installed")
    sass = nvrtc.assembly(emit_cuda(three(), CudaTarget(9, 0))).split("// SASS")[1]
    _, *parts = re.split(r"^\.text\.\w+_(\d+):", sass, flags=re.M)
    found = dict(zip(map(int, parts[::2]), parts[1::2], strict=True))
    assert len(found) > 2
    memory = re.compile(r"\s(LDG|STG|LD|ST|RED|ATOMG?|LDGSTS)[. ]")
    for k, text in found.items():
        before, wait, after = text.partition("ACQBULK")
        assert bool(wait) == (k > 0) and ("PREEXIT" in text) == (k + 1 < len(found))
        if k:
            assert not memory.search(before) and ".CONSTANT" not in after and "PREEXIT" not in before


def test_other_gpus_have_none() -> None:
    with pytest.raises(CompilerError, match="sm_80 has no dependent launches"):
        emit_cuda(three(), CudaTarget(8, 0))
    assert not any(word in emit_cuda(three_plain(), CudaTarget(8, 0)) for word in (WAIT, LET))


def three_plain() -> Func:
    func = three()
    func.body = [Grid(s.bid, s.blocks, s.tid, s.threads, s.body, s.what) for s in func.body if isinstance(s, Grid)]
    return func


def test_text_and_verifier() -> None:
    func = three()
    assert dump(parse(dump(func))) == dump(func) != dump(three_plain())
    assert "dependent" in dump(func)
    func.body = func.body[1:]
    with pytest.raises(VerifyError, match="the first launch depends on none"):
        verify(func)


def test_results_are_the_same() -> None:
    """The interpreter takes one launch after the other."""
    c = gpu_kernel(graph_of(cases.rms_norm_backward), {"n": 50, "m": 40})
    overlapped(c.kernel.func)
    check_gpu(c.graph, {"n": 50, "m": 40}, compiled=c)


@pytest.mark.parametrize(("facts", "wanted"), [(H200, True), (H200, False), (A100, True)])
def test_which_launches_are(facts: Gpu, wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but the first of a kernel, where the GPU can and the option is on."""
    found: list[list[bool]] = []
    make = gpu.interface

    def noted(func: Func) -> Interface:
        out = make(func)
        found.append([x.dependent for x in out.launches])
        return out

    monkeypatch.setattr(gpu, "interface", noted)
    driver = Nothing(facts)
    with devices.use("cpu", driver), fusewright.options(disk_cache=False, fallback=False, dependent_launch=wanted):
        torch._dynamo.reset()
        fused = torch.compile(lambda x: torch.softmax(x, -1), backend="fusewright")
        fused(torch.randn(2, 1 << 21))
    torch._dynamo.reset()
    several = [x for x in found if len(x) > 1]
    expected = wanted and facts is H200
    assert several and all(x == [k > 0 and expected for k in range(len(x))] for x in several)


class Nothing(EmulatedDriver):
    def load(self, code: bytes, func: Func) -> list[Any]:
        return [None for _ in func.body]

    def launch(self, handle: Any, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        pass


def test_edited_sources_follow_nothing() -> None:
    """Their waits may be gone."""
    func = three()
    kernel = gpu.GpuKernel("key", func, [], "compiled", 0.0)
    edited = gpu.GpuKernel("key", func, [], "external", 0.0, source="// edited")
    assert any(x.dependent for x in kernel.takes.launches) and not any(x.dependent for x in edited.takes.launches)


# --- the driver ---


def test_structures_are_the_drivers() -> None:
    assert ctypes.sizeof(dependent.Attribute) == 72 and dependent.Attribute.value.offset == 8
    assert ctypes.sizeof(dependent.Config) == 56
    assert (dependent.Config.stream.offset, dependent.Config.attributes.offset, dependent.Config.count.offset) == (
        32,
        40,
        48,
    )


class Fake(Launcher):
    """A launcher without a device."""

    def __init__(self, status: int, recording: bool = False, old: bool = False):
        self.made: list[tuple[Any, ...]] = []
        self.status = status
        self._follow = None if old else self.called
        self._capturing = lambda: recording

    def called(self, config: int, handle: int, args: int, extra: Any) -> int:
        c = dependent.Config.from_address(config)
        self.made.append(("follow", handle, c.x, c.threads, c.shared, args, c.stream))
        return self.status

    def launch(self, *how: Any) -> None:
        self.made.append(("launch", *how))


def test_the_driver_is_told() -> None:
    how = (7, 3, 256, 1024, 0x1000, 0x7F00)
    for launcher, made in [
        (Fake(0), ["follow"]),
        (Fake(0, recording=True), ["launch"]),
        (Fake(0, old=True), ["launch"]),
        (Fake(201), ["follow", "launch"]),  # which says what is wrong, or repairs it
    ]:
        launcher.follow(*how)
        assert launcher.made == [(name, *how) for name in made]


def test_old_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    dependent.function.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert dependent.function() is None
    dependent.function.cache_clear()


def test_saved_kernels() -> None:
    """Files of before do not say it."""
    record = {"buffers": 1, "sizes": [], "hosts": [], "scratch": [], "counters": 0}
    record["launches"] = [["a", 1, 32, 0], ["b", 1, 32, 0, True]]
    assert interface(record).launches == (Launch("a", 1, 32, 0, False), Launch("b", 1, 32, 0, True))
