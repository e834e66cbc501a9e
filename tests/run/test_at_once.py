"""Kernels for one set of sizes that are compiled together with the general ones (emulated).

Most of these wait for both, as what a CUDA graph records does ("busy").
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pytest
import torch

import fusewright
from fusewright import compile_gpu
from fusewright.core.errors import CompilerError, Refusal
from fusewright.debug import record
from fusewright.loop.ir import Func
from fusewright.run import devices, first, hot, special, timed
from fusewright.run.first import First, Soon, Waiting
from fusewright.run.gpu import GpuGroup, GpuKernel
from fusewright.run.prepared import Prepared
from fusewright.schedule.device import Gpu
from tests.emulate.cuda import COMPILER, MISSING
from tests.run.test_hot import Timed, calls, groups, kinds, on, softmax
from tests.support import counted, counters

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

__all__ = ["groups"]


@pytest.fixture(autouse=True)
def large_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "SMALL", 0)


def compiled(dynamic: bool) -> Callable[..., Any]:
    return torch.compile(softmax, backend="fusewright", dynamic=dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
def test_the_first_call_launches_it(dynamic: bool, parallel: bool, groups: list[GpuGroup]) -> None:
    before = counters()
    with on(Timed(busy=True), parallel=parallel) as driver:
        f = compiled(dynamic)
        calls(f, n=1)
        (group,) = groups
        assert kinds(group) == ["special"]
        assert type(next(iter(group.memo.values()))) is Prepared, "nothing counts"
        seen = counted(before)
        assert seen["kernels_specialized"] == seen["kernels_adopted"] == 1
        assert seen["kernels_compiled"] == 2, "the general one is there, too"
        calls(f, n=3)
    assert driver.asked == 0 and counted(before)["kernels_compiled"] == 2


def test_later_sizes_wait_for_nothing(groups: list[GpuGroup]) -> None:
    with on(Timed(busy=True)):
        f = compiled(True)
        calls(f, (40, 1024), n=1)
        before = counters()
        calls(f, (40, 1020), n=1)
        calls(f, (36, 1024), n=1)
    assert kinds(groups[0]) == ["special", "waiting", "special"], "batches of all sizes share one"
    assert counted(before)["kernels_compiled"] == 0


def test_a_program_traced_again_with_symbolic_sizes_compiles_nothing(groups: list[GpuGroup]) -> None:
    with on(Timed(busy=True)):
        f = torch.compile(softmax, backend="fusewright")
        calls(f, (9, 256), n=1)
        before = counters()
        for size in ((9, 252), (11, 248), (13, 244)):
            calls(f, size, n=1)
    assert [kinds(g) for g in groups] == [["special"], ["waiting"], ["waiting"] * 2]
    assert counted(before)["kernels_compiled"] == 0


def test_each_static_trace_has_its_own(groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(special, "SIZES", 3)
    before = counters()
    with on(Timed(busy=True)):
        f = compiled(False)
        for n in range(5):
            calls(f, (9, 256 - 4 * n), n=1)
    assert [k for g in groups for k in kinds(g)] == ["special"] * 3 + ["general"] * 2, "up to a limit"
    assert counted(before)["kernels_compiled"] == 4, "one of them is the general kernel of all"


def blocks(at_once: int) -> Callable[[GpuKernel, Gpu], dict[str, int]]:
    """How many blocks run at once: of general kernels 10, of special ones so many."""

    def found(kernel: GpuKernel, gpu: Gpu) -> dict[str, int]:
        return {x.name: 10 if "n1" in [r.name for r in kernel.func.sizes] else at_once for x in kernel.takes.launches}

    return found


@pytest.mark.parametrize(("at_once", "kind"), [(7, "waiting"), (8, "special"), (12, "special")])
def test_not_with_far_fewer_blocks_at_once(
    at_once: int, kind: str, groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(special, "_blocks", blocks(at_once))
    before = counters()
    with on(Timed(busy=True)):
        calls(compiled(False), n=2)
        torch._dynamo.reset()
        calls(compiled(False), n=2)
    assert kinds(groups[0]) == kinds(groups[1]) == [kind]
    assert counted(before)["kernels_specialized"] == (1 if kind == "special" else 2), "that is known from then on"


@pytest.mark.parametrize(
    ("ratios", "kind"), [((0.9, 1.1), "special"), ((1.1, 0.9), "special"), ((0.98, 1.0), "general")]
)
def test_far_fewer_blocks_at_once_are_timed(
    ratios: tuple[float, ...], kind: str, groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Soon, with the same kernel in fewer registers; what came out is known to other groups."""

    monkeypatch.setattr(special, "_blocks", blocks(7))
    monkeypatch.setattr(timed, "LAUNCHES", 4)
    monkeypatch.setattr(first, "SOON", 3 * 2 * 9 * 256 * 4)  # three launches' worth
    before = counters()
    with on(Timed(*ratios)) as driver:
        f = compiled(False)
        calls(f, n=1)
        compiled_by_now(groups)
        calls(f, n=3)
        assert kinds(groups[0]) == ["waiting"] and driver.asked == 0
        calls(f, n=3)
        for _ in range(200):  # until the other one is compiled, and timed
            calls(f, n=1)
            if kinds(groups[0]) != ["waiting"]:
                break
            time.sleep(0.05)
        assert kinds(groups[0]) == [kind] and driver.asked == 1
        torch._dynamo.reset()
        calls(compiled(False), n=2)
    assert kinds(groups[1]) == [kind] and driver.asked == 1
    assert counted(before)["kernels_adopted"] == (2 if kind == "special" else 0)


@pytest.mark.parametrize("options", [{"specialize": "never"}, {"autotune": True}])
def test_not_asked_for(options: dict[str, Any], groups: list[GpuGroup], tmp_path: Any) -> None:
    before = counters()
    with on(Timed(busy=True), cache_dir=str(tmp_path), **options):
        calls(compiled(False), n=1)
    assert counted(before)["kernels_compiled"] == 1 and not groups[0].special


def test_small_launches_have_the_general_one(groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "SMALL", 1 << 22)
    before = counters()
    with on(Timed(busy=True)):
        calls(compiled(False), n=1)
    assert kinds(groups[0]) == ["general"] and counted(before)["kernels_compiled"] == 1


@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("what", ["specialised", "kernel_for", "made"])
def test_a_failure_leaves_the_general_kernel(
    what: str, busy: bool, groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> Any:
        raise CompilerError("planted", "constants")

    monkeypatch.setattr(special, what, broken)
    with on(Timed(busy=busy)):
        calls(compiled(False), n=1)
        compiled_by_now(groups)
        calls(compiled(False), n=2)
    assert kinds(groups[0]) == ["general"]


class Slow(Timed):
    """Compiles the special kernel, or the general one, only when it may: `go`."""

    def __init__(self, which: str = "special", busy: bool = False):
        super().__init__(busy=busy)
        self.which, self.go = which, threading.Event()

    def load(self, code: bytes, func: Func) -> list[Any]:
        if (self.which == "general") == any(r.name == "n1" for r in func.sizes):
            assert self.go.wait(60)
        return super().load(code, func)


def compiled_by_now(groups: list[GpuGroup]) -> None:
    """What is being compiled for the groups is there."""
    wait([e.other for g in groups for e in g.memo.values() if isinstance(e, Waiting)])


# Without threads nobody compiles ahead, and with symbolic sizes the first launch waits for the general kernel.
HOW = [("special", True, False), ("special", True, True), ("special", False, False), ("general", True, False)]


@pytest.mark.parametrize(("slow", "parallel", "dynamic"), HOW)
def test_nobody_waits_for_the_other(slow: str, parallel: bool, dynamic: bool, groups: list[GpuGroup]) -> None:
    before = counters()
    with on(Slow(slow), parallel=parallel) as driver:
        f, x = compiled(dynamic), torch.randn(9, 256)
        for _ in range(3):
            torch.testing.assert_close(f(x), softmax(x))
        (entry,) = groups[0].memo.values()
        assert isinstance(entry, Soon if slow == "special" else First) and entry.waiting and not entry.other.done()
        assert len(groups[0].kernels) == (slow == "special") and counted(before)["kernels_adopted"] == 0
        driver.go.set()
        compiled_by_now(groups)
        torch.testing.assert_close(f(x), softmax(x))
        assert kinds(groups[0]) == ["special"] and len(groups[0].kernels) == 1
        assert type(next(iter(groups[0].memo.values()))) is Prepared
    seen = counted(before)
    assert driver.asked == 0 and seen["kernels_compiled"] == 2
    assert seen["kernels_adopted"] == seen["kernels_specialized"] == 1


@pytest.mark.parametrize("slow", ["special", "general"])
def test_other_groups_meanwhile(slow: str, groups: list[GpuGroup]) -> None:
    """They ask for nothing that somebody has asked for."""
    before = counters()
    with on(Slow(slow)) as driver:
        f: Any = torch.compile(lambda x: softmax(x), backend="fusewright", dynamic=slow == "special")
        g, x = compiled(False), torch.randn(9, 256)
        f(x), g(x)
        if slow == "special":
            f(torch.randn(9, 252))
        assert all(isinstance(next(iter(k.memo.values())), Waiting) for k in groups)
        driver.go.set()
        compiled_by_now(groups)
        f(x), g(x)
    assert [kinds(k) for k in groups] == [["special", "waiting"][: len(groups[0].memo)], ["special"]]
    seen = counted(before)
    assert seen["kernels_compiled"] == 2 and seen["kernels_adopted"] == 2


def test_symbolic_sizes_wait_for_the_general_kernel(groups: list[GpuGroup]) -> None:
    """The next sizes, which may come at once, have it."""
    before = counters()
    with on(Slow("general")) as driver:
        f, x, y = compiled(True), torch.randn(9, 256), torch.randn(9, 252)
        threading.Timer(0.2, driver.go.set).start()
        torch.testing.assert_close(f(x), softmax(x))
        assert driver.go.is_set() and len(groups[0].kernels) == 1
        torch.testing.assert_close(f(y), softmax(y))
        compiled_by_now(groups)
        f(x), f(y)
    assert kinds(groups[0]) == ["special", "waiting"] and counted(before)["kernels_compiled"] == 2


def test_the_first_one_is_not_kept_if_crowded(groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(special, "_blocks", blocks(7))
    with on(Slow("general")) as driver:
        f, x = compiled(False), torch.randn(9, 256)
        f(x)
        driver.go.set()
        compiled_by_now(groups)
        torch.testing.assert_close(f(x), softmax(x))
    assert kinds(groups[0]) == ["waiting"]


class Broken(Timed):
    """Does not compile general kernels, or none."""

    def __init__(self, general: bool):
        super().__init__()
        self.general = general

    def compile(self, func: Func) -> bytes:
        if self.general and not any(r.name == "n1" for r in func.sizes):
            return super().compile(func)
        raise CompilerError(f"planted{1 + self.general}", "compile")


@contextlib.contextmanager
def fallbacks(driver: Timed) -> Iterator[None]:
    torch._dynamo.reset()
    quiet = pytest.warns(fusewright.FusewrightWarning, match="planted")
    with devices.use("cpu", driver), fusewright.options(disk_cache=False), torch.no_grad(), quiet:
        yield


def test_symbolic_sizes_without_the_general_kernel(groups: list[GpuGroup]) -> None:
    before = counters()
    with fallbacks(Broken(general=True)):
        f, x, y = compiled(True), torch.randn(9, 256), torch.randn(9, 252)
        for _ in range(3):
            torch.testing.assert_close(f(x), softmax(x))
            torch.testing.assert_close(f(y), softmax(y))
    assert [type(e) for e in groups[0].memo.values()] == [type(None)] * 2
    assert counted(before)["fallbacks"] >= 1


def test_no_kernel_at_all(groups: list[GpuGroup]) -> None:
    before = counters()
    with fallbacks(Broken(general=False)):
        f, x = compiled(False), torch.randn(9, 256)
        for _ in range(3):
            torch.testing.assert_close(f(x), softmax(x))
    assert counted(before)["fallbacks"] == 1


def test_no_kernel_and_no_fallback() -> None:
    torch._dynamo.reset()
    with devices.use("cpu", Broken(general=False)), fusewright.options(disk_cache=False, fallback=False):
        with pytest.raises(Exception, match=r"planted1.*test_hot\.py"):
            compiled(False)(torch.randn(9, 256))


@pytest.mark.parametrize("slow", ["special", "general"])
def test_a_recording_waits(slow: str, groups: list[GpuGroup]) -> None:
    """What it launches is launched for ever."""
    with on(Slow(slow, busy=True)) as driver:
        threading.Timer(0.2, driver.go.set).start()
        compiled(False)(torch.randn(9, 256))
    assert driver.go.is_set() and kinds(groups[0]) == ["special"]


def test_a_report_has_the_general_kernel() -> None:
    """People look at that, so that it is waited for."""
    with on(Slow("general")) as driver:
        threading.Timer(0.2, driver.go.set).start()
        with record.recording() as graphs:
            compiled(False)(torch.randn(9, 256))
    assert driver.go.is_set() and [g.origin for g in graphs[0].groups] == ["compiled"]


@pytest.mark.parametrize("slow", ["special", "general"])
def test_all_that_has_begun_can_be_waited_for(slow: str, groups: list[GpuGroup]) -> None:
    with on(Slow(slow)) as driver:
        compiled(False)(torch.randn(9, 256))
        threading.Timer(0.2, driver.go.set).start()
        compile_gpu.settle()
        assert driver.go.is_set() and next(iter(groups[0].memo.values())).other.done()


@pytest.mark.parametrize("slow", ["special", "general"])
def test_threads_settle_once(slow: str, groups: list[GpuGroup]) -> None:
    before = counters()
    with on(Slow(slow)) as driver:
        f, x = compiled(False), torch.randn(9, 256)
        f(x)
        entry = next(iter(groups[0].memo.values()))
        driver.go.set()
        compiled_by_now(groups)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: entry.decide(), range(8)))
    assert len(set(map(id, found))) == 1 and counted(before)["kernels_adopted"] == 1


def test_fuse(groups: list[GpuGroup]) -> None:
    """Traced with symbolic sizes: the first ones are numbers."""
    with on(Timed(busy=True)):
        f = fusewright.fuse(softmax)
        calls(f, (9, 256), n=2)
        calls(f, (9, 252), n=2)
    found = [k for g in groups for k in kinds(g)]
    assert found[0] == "special" and "special" not in found[1:]


def test_what_stands_in_lends_the_kernel(groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    """Others may launch it so often before they ask again."""
    monkeypatch.setattr(hot, "STAKE", 10 * 2 * 9 * 252 * 4)
    monkeypatch.setattr(timed, "LAUNCHES", 1)
    with on(Timed(0.5)) as driver:
        f = compiled(True)
        calls(f, (9, 256), n=1)
        compiled_by_now(groups)
        calls(f, (9, 256), n=1)
        calls(f, (9, 252), n=1)
        waiting = list(groups[0].memo.values())[1]
        assert waiting.lend() == 8 and waiting.lend() == 0, "the tenth one asks for more"
        calls(f, (9, 252), n=1)
        assert waiting.lend() == 0 and waiting.waiting and driver.asked == 0
        calls(f, (9, 252), n=1)
        assert kinds(groups[0]) == ["special", "special"] and driver.asked == 1


def test_groups_without_a_schedule_are_passed_over() -> None:
    """They are refused in their turn."""

    def refused() -> GpuGroup:
        raise Refusal("profit", "planted")

    compile_gpu.compile_ahead([refused, refused], lambda e: 1)
