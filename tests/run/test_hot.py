"""Kernels for one set of sizes beside general ones (emulated, on a clock that says what a test wants)."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import fusewright
from fusewright.build import nvrtc
from fusewright.emit.cuda import emit_cuda
from fusewright.emit.cuda_types import CudaTarget
from fusewright.loop.ir import Grid
from fusewright.loop.text import parse
from fusewright.run import devices, hot, special, timed
from fusewright.run.cuda_graphs import Graphs
from fusewright.run.gpu import GpuGroup, GpuKernel, kernel_for
from fusewright.run.prepared import Prepared
from fusewright.run.specialize import worker
from fusewright.run.timed import Hot
from fusewright.schedule.device import H200, Gpu
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import SMALL, EmulatedDriver
from tests.loop import cuda_kernels
from tests.support import counted, counters, no_fallbacks

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

LAUNCHES = 4


class Timed(EmulatedDriver):
    """Runs what it is asked to time, and says that special kernels take so much of the general one's time."""

    def __init__(self, *ratios: float, busy: bool = False):
        super().__init__(SMALL)
        self.ratios, self.busy, self.asked = ratios, busy, 0

    def can_time(self) -> bool:
        return not self.busy

    def times(self, runs: Sequence[Callable[[], None]], rounds: int) -> list[float]:
        self.asked += 1
        for r in runs:
            r()
        return [1.0, *self.ratios] * 2 if len(runs) == 2 * len(self.ratios) + 2 else []


@pytest.fixture(autouse=True)
def eager_to_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kernel is worth it after a few launches; sizes are as if others had come before."""
    monkeypatch.setattr(hot, "SMALL", 0)
    monkeypatch.setattr(hot, "STAKE", 0)
    monkeypatch.setattr(timed, "LAUNCHES", LAUNCHES)
    monkeypatch.setattr(special.Kind, "wants", lambda kind, group: False)


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[GpuGroup]:
    """Every group that has made a launch."""
    found: list[GpuGroup] = []
    make = GpuGroup.make

    def noted(self: GpuGroup, *key: int) -> Prepared | None:
        if self not in found:
            found.append(self)
        return make(self, *key)

    monkeypatch.setattr(GpuGroup, "make", noted)
    return found


@contextlib.contextmanager
def on(driver: EmulatedDriver, **options: Any) -> Iterator[EmulatedDriver]:
    torch._dynamo.reset()
    with devices.use("cpu", driver), fusewright.options(disk_cache=False, **options), no_fallbacks(), torch.no_grad():
        yield driver
    torch._dynamo.reset()


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x.sin() * 2, -1)


def done() -> None:
    """What was asked for in the background is there."""
    worker().submit(lambda: None).result()


def calls(f: Callable[..., Any], size: tuple[int, ...] = (9, 256), n: int = LAUNCHES) -> None:
    x = torch.randn(size)
    for _ in range(n):
        torch.testing.assert_close(f(x), softmax(x))
    done()


def compiled() -> Callable[..., Any]:
    return torch.compile(softmax, backend="fusewright", dynamic=True)


def kinds(group: GpuGroup) -> list[str]:
    """What is launched for each key."""
    specials = [s.code.handles for s in group.special.values()]

    def kind(entry: Any) -> str:
        if isinstance(entry, Hot):
            return "waiting"
        handles = [h for h, *_ in entry.launches]
        return "special" if handles in specials else "general"

    return [kind(e) for e in group.memo.values()]


def test_kernels_are_those_of_their_driver() -> None:
    """One that is no more leaves nothing to the next, which may have its address."""
    func = parse(cuda_kernels.POINTWISE)
    addresses = []
    with fusewright.options(disk_cache=False):
        while len(addresses) == len(set(addresses)) < 500:
            before = counters()
            driver = EmulatedDriver(SMALL)
            addresses.append(id(driver))
            kernel_for(func, driver)
            kernel_for(func, driver)
            seen = counted(before)
            assert seen["kernels_compiled"] == seen["kernels_reused"] == 1
            gone = weakref.ref(driver)
            del driver
            assert gone() is None


def test_adopted_where_it_is_faster(groups: list[GpuGroup]) -> None:
    before = counters()
    with on(Timed(0.9)) as driver:
        f = compiled()
        calls(f)
        (group,) = groups
        assert kinds(group) == ["waiting"] and counted(before)["kernels_specialized"] == 1
        calls(f, n=1)
        assert kinds(group) == ["special"] and driver.asked == 1
        (entry,) = group.memo.values()
        assert type(entry) is Prepared, "nothing is counted any more"
        assert entry.sizes["n0"] > 0, "people still see the sizes"
        calls(f, n=3)
    assert driver.asked == 1 and counted(before)["kernels_adopted"] == 1
    (special,) = group.special.values()
    assert [r.name for r in special.func.sizes] == ["n0"], "only how many blocks there are"
    assert special.ratio == 0.9


@pytest.mark.parametrize("ratio", [0.98, 1.3])
def test_dropped_where_it_is_not(ratio: float, groups: list[GpuGroup]) -> None:
    before = counters()
    with on(Timed(ratio)) as driver:
        f = compiled()
        calls(f)
        calls(f, n=3)
    assert kinds(groups[0]) == ["general"] and not groups[0].special
    assert driver.asked == 1 and counted(before)["kernels_adopted"] == 0
    assert type(next(iter(groups[0].memo.values()))) is Prepared


def test_always_and_never(groups: list[GpuGroup]) -> None:
    before = counters()
    with on(Timed(0.5), specialize="always") as driver:
        calls(compiled(), n=1)
    assert kinds(groups[0]) == ["special"] and driver.asked == 0 and counted(before)["kernels_adopted"] == 1
    before = counters()
    with on(Timed(0.5), specialize="never") as driver:
        f = compiled()
        calls(f, n=2 * LAUNCHES)
    assert kinds(groups[1]) == ["general"] and driver.asked == 0 and counted(before)["kernels_specialized"] == 0


def test_small_launches_are_left_alone(groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "SMALL", 2 * 9 * 256 * 4 + 1)
    with on(Timed(0.5)):
        calls(compiled(), n=1)
    assert kinds(groups[0]) == ["general"]
    monkeypatch.setattr(hot, "SMALL", 2 * 9 * 256 * 4)
    with on(Timed(0.5)):
        calls(compiled(), n=1)
    assert kinds(groups[1]) == ["waiting"]


def test_tried_when_enough_has_been_moved(groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "STAKE", 7 * 2 * 9 * 256 * 4)
    before = counters()
    with on(Timed(0.5)):
        f = compiled()
        calls(f, n=6)
        assert counted(before)["kernels_specialized"] == 0
        calls(f, n=1)
        assert counted(before)["kernels_specialized"] == 1


def test_sizes_that_come_later(groups: list[GpuGroup]) -> None:
    """Each has its own kernel, and the general one serves what is new."""
    before = counters()
    with on(Timed(0.8)):
        f = compiled()
        for size in ((9, 256), (5, 256), (9, 128)):  # the last one first gets the schedule that is best for it
            for _ in range(3):
                calls(f, size)
        calls(f, (3, 256), n=1)
        calls(f, (9, 256), n=1)
    assert counted(before)["kernels_adopted"] == 3
    assert kinds(groups[0]) == ["special"] * 3 + ["waiting"]


@pytest.mark.parametrize(("ratio", "kind"), [(0.5, "special"), (1.0, "general")])
def test_batches_of_all_sizes(ratio: float, kind: str, groups: list[GpuGroup]) -> None:
    """Where only the number of blocks differs, what came out for one holds for all."""
    before = counters()
    with on(Timed(ratio)) as driver:
        f = compiled()
        calls(f, (40, 1024))
        calls(f, (40, 1024), n=1)
        for n in (36, 44, 100):
            calls(f, (n, 1024), n=1)
    assert kinds(groups[0]) == [kind] * 4 and driver.asked == 1 and counted(before)["kernels_specialized"] == 1


def test_kernels_that_do_not_gain_are_given_up(groups: list[GpuGroup]) -> None:
    before = counters()
    with on(Timed(1.0)) as driver:
        f = compiled()
        for n in range(7):
            calls(f, (9, 256 - 4 * n))
            calls(f, (9, 256 - 4 * n), n=1)
    assert driver.asked == special.LOST == counted(before)["kernels_specialized"]
    assert kinds(groups[0]) == ["general"] * 7


def test_bounded(groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(special, "SIZES", 3)
    with on(Timed(0.5)) as driver:
        f = compiled()
        for n in range(6):
            calls(f, (9, 256 - 4 * n))
            calls(f, (9, 256 - 4 * n), n=1)
    assert driver.asked == 3 and sorted(kinds(groups[0])) == ["general"] * 3 + ["special"] * 3


def test_what_came_out_is_known_to_other_groups(groups: list[GpuGroup]) -> None:
    """Layers of a model run the same kernel: one of them pays."""
    with on(Timed(0.5)) as driver:
        calls(compiled())
        f = compiled()
        torch._dynamo.reset()
        calls(f)
        first, second = groups
        assert kinds(first) == kinds(second) == ["waiting"]
        calls(f, n=1)
        assert kinds(second) == ["special"] and driver.asked == 1
        torch._dynamo.reset()
        calls(compiled(), n=1)
        assert kinds(groups[2]) == ["special"] and driver.asked == 1


def test_nothing_is_timed_while_launches_are_captured(groups: list[GpuGroup]) -> None:
    driver = Timed(0.5, busy=True)
    with on(driver):
        f = compiled()
        calls(f)
        calls(f, n=3)
        assert kinds(groups[0]) == ["waiting"] and driver.asked == 0
        driver.busy = False
        calls(f, n=1)
    assert kinds(groups[0]) == ["special"] and driver.asked == 1


def test_plans_are_not_recorded_while_there_is_a_decision_to_come(groups: list[GpuGroup]) -> None:
    graphs = object.__new__(Graphs)
    graphs.groups = groups
    driver = Timed(0.5, busy=True)
    with on(driver):
        f = compiled()
        calls(f, n=1)
        assert not graphs.unfinished(), "that may take long"
        calls(f)
        assert graphs.unfinished()
        driver.busy = False
        calls(f, n=1)
    assert not graphs.unfinished()


@pytest.mark.parametrize("what", ["folding", "kernel", "clock"])
def test_a_failure_leaves_the_general_kernel(
    what: str, groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> Any:
        raise RuntimeError("planted")

    with on(Timed(0.5)) as driver:
        f = compiled()
        calls(f, n=1)
        if what == "folding":
            monkeypatch.setattr(special, "specialised", broken)
        elif what == "kernel":
            groups[0].compile = broken
        else:
            monkeypatch.setattr(driver, "times", broken)
        calls(f, n=2 * LAUNCHES)
        calls(f, n=2)
    assert kinds(groups[0]) == ["general"]


@pytest.mark.parametrize("what", ["folding", "kernel"])
def test_always_with_a_failure(what: str, groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> Any:
        raise RuntimeError("planted")

    monkeypatch.setattr(special, "made" if what == "kernel" else "specialised", broken)
    with on(Timed(0.5), specialize="always"):
        calls(compiled(), n=2)
    assert kinds(groups[0]) == ["general"]


def test_inputs_written_in_place_are_read_unharmed(groups: list[GpuGroup]) -> None:
    def step(p: torch.Tensor, g: torch.Tensor) -> None:
        p.mul_(0.9).add_(g)

    p, g = torch.randn(64, 32), torch.randn(64, 32)
    want = p.clone()
    with on(Timed(0.5)) as driver:
        f = torch.compile(step, backend="fusewright", dynamic=True)
        for _ in range(LAUNCHES + 3):
            f(p, g)
            step(want, g)
            done()
    assert driver.asked == 1 and kinds(groups[0]) == ["special"]
    torch.testing.assert_close(p, want)


def test_outputs_are_timed_where_they_are(groups: list[GpuGroup]) -> None:
    """Only what the kernel also reads needs other memory."""
    with on(Timed(0.5)) as driver:
        f = compiled()
        calls(f)
        (group,) = groups
        x, y = torch.randn(9, 256), torch.empty(9, 256)
        memory, there = timed._apart(group, next(iter(group.memo)), [x.data_ptr(), y.data_ptr()])
        assert memory == [] and there == [x.data_ptr(), y.data_ptr()]
        memory, there = timed._apart(group, next(iter(group.memo)), [x.data_ptr(), x.data_ptr() + 64])
        assert [m.numel() for m in memory] == [9 * 256 * 4] and there == [x.data_ptr(), memory[0].data_ptr()]
    assert driver.asked == 0


def test_kernels_with_nothing_to_fold_are_not_compiled(groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed, "weight", lambda func: 1)
    before = counters()
    with on(Timed(0.5)) as driver:
        f = compiled()
        calls(f, n=2 * LAUNCHES)
        calls(f, n=1)
    assert driver.asked == 0 and counted(before)["kernels_specialized"] == 0 and kinds(groups[0]) == ["general"]


@pytest.mark.parametrize(("ratios", "beside"), [((0.9, 0.8), 6), ((0.8, 0.9), 0), ((1.1, 0.96), 6), ((1.1, 1.0), None)])
def test_blocks_beside_each_other(
    ratios: tuple[float, ...], beside: int | None, groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A special kernel that takes more registers is also tried with as few as let the same blocks run at once."""

    def blocks(kernel: GpuKernel, gpu: Gpu) -> dict[str, int]:
        return {x.name: 6 if len(kernel.func.sizes) > 1 else 5 for x in kernel.takes.launches}

    monkeypatch.setattr(special, "_blocks", blocks)
    with on(Timed(*ratios)) as driver:
        f = compiled()
        calls(f)
        calls(f, n=2)
    assert driver.asked == 1
    found = [g.beside for s in groups[0].special.values() for g in s.func.body if isinstance(g, Grid)]
    assert found == ([] if beside is None else [beside])


@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")
def test_how_many_blocks_run_at_once() -> None:
    func = parse("func k cuda i32 (buf x: f32 out) { grid b of 8, t of 96 { store x[t] = 1.0:f32 } }")
    code, _ = nvrtc.compile(emit_cuda(func, CudaTarget(9, 0)), "sm_90")
    kernel = GpuKernel("k", func, [], "compiled", 0.0, code=code)
    (report,) = nvrtc.report(code)
    assert 0 < report.registers <= 16
    assert special._blocks(kernel, H200) == {"k_0": 21}
    few = dataclasses.replace(H200, registers=5 * 96 * (8 if report.registers <= 8 else 16) + 100)
    assert special._blocks(kernel, few) == {"k_0": 5}
    assert special._blocks(GpuKernel("k", func, [], "compiled", 0.0, code=b"emulated"), H200) == {}


def test_threads(groups: list[GpuGroup]) -> None:
    """Several threads that launch at once: one of them decides, all get right numbers."""
    wrong: list[Exception] = []
    with on(Timed(0.5)) as driver:
        f = compiled()
        calls(f, n=1)

        def run() -> None:
            try:
                with torch.no_grad():
                    calls(f, n=20)
            except Exception as e:
                wrong.append(e)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        calls(f, n=1)
    assert not wrong and driver.asked == 1 and kinds(groups[0]) == ["special"]


def test_edited_sources_and_tuning_are_of_general_kernels(groups: list[GpuGroup], tmp_path: Path) -> None:
    for k, options in enumerate(({"external_source": str(tmp_path)}, {"autotune": True, "cache_dir": str(tmp_path)})):
        driver = Timed(0.5, busy="autotune" in options)
        with on(driver, **options):
            f = compiled()
            calls(f, n=2 * LAUNCHES)
            calls(f, n=2)
        assert not groups[k].special and driver.asked == 0


def test_what_people_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with on(Timed(0.5), specialize="always"):
        report = fusewright.explain(softmax, torch.randn(9, 256))
        (k,) = report.kernels
        assert k.sizes == "numbers in a kernel of their own for 1 of 1 that were seen"
        assert "sizes: numbers in a kernel" in str(k) and k.to_dict()["sizes"] == k.sizes
        assert "int n1" not in k.source
    with on(Timed(0.5), dump="loop"):
        f = compiled()
        calls(f)
        calls(f, n=1)
    general, special = capsys.readouterr().err.split("=== loop: ")[1:]
    assert "size n1" in general and "size n1" not in special
    with on(Timed(0.5), specialize="never"):
        report = fusewright.explain(softmax, torch.randn(9, 256))
        (k,) = report.kernels
        assert k.sizes == "arguments of the kernel" and "int n1" in k.source
