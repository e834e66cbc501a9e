"""Kernels for one set of sizes that are compiled together with the general ones (emulated)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fusewright
from fusewright.core.errors import CompilerError
from fusewright.run import hot
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
    with on(Timed(), parallel=parallel) as driver:
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
    with on(Timed()):
        f = compiled(True)
        calls(f, (40, 1024), n=1)
        before = counters()
        calls(f, (40, 1020), n=1)
        calls(f, (36, 1024), n=1)
    assert kinds(groups[0]) == ["special", "waiting", "special"], "batches of all sizes share one"
    assert counted(before)["kernels_compiled"] == 0


def test_a_program_traced_again_with_symbolic_sizes_compiles_nothing(groups: list[GpuGroup]) -> None:
    with on(Timed()):
        f = torch.compile(softmax, backend="fusewright")
        calls(f, (9, 256), n=1)
        before = counters()
        for size in ((9, 252), (11, 248), (13, 244)):
            calls(f, size, n=1)
    assert [kinds(g) for g in groups] == [["special"], ["waiting"], ["waiting"] * 2]
    assert counted(before)["kernels_compiled"] == 0


def test_each_static_trace_has_its_own(groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "SIZES", 3)
    before = counters()
    with on(Timed()):
        f = compiled(False)
        for n in range(5):
            calls(f, (9, 256 - 4 * n), n=1)
    assert [k for g in groups for k in kinds(g)] == ["special"] * 3 + ["general"] * 2, "up to a limit"
    assert counted(before)["kernels_compiled"] == 4, "one of them is the general kernel of all"


@pytest.mark.parametrize(("at_once", "kind"), [(7, "general"), (8, "special"), (12, "special")])
def test_not_with_far_fewer_blocks_at_once(
    at_once: int, kind: str, groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    def blocks(kernel: GpuKernel, gpu: Gpu) -> dict[str, int]:
        return {x.name: 10 if "n1" in [r.name for r in kernel.func.sizes] else at_once for x in kernel.takes.launches}

    monkeypatch.setattr(hot, "_blocks", blocks)
    before = counters()
    with on(Timed()):
        calls(compiled(False), n=2)
        torch._dynamo.reset()
        calls(compiled(False), n=2)
    assert kinds(groups[0]) == kinds(groups[1]) == [kind]
    assert counted(before)["kernels_specialized"] == 1, "that is known from then on"


@pytest.mark.parametrize("options", [{"specialize": "never"}, {"autotune": True}])
def test_not_asked_for(options: dict[str, Any], groups: list[GpuGroup], tmp_path: Any) -> None:
    before = counters()
    with on(Timed(busy=True), cache_dir=str(tmp_path), **options):
        calls(compiled(False), n=1)
    assert counted(before)["kernels_compiled"] == 1 and not groups[0].special


def test_small_launches_have_the_general_one(groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "SMALL", 1 << 22)
    before = counters()
    with on(Timed()):
        calls(compiled(False), n=1)
    assert kinds(groups[0]) == ["general"] and counted(before)["kernels_compiled"] == 1


@pytest.mark.parametrize("what", ["specialised", "kernel_for", "made"])
def test_a_failure_leaves_the_general_kernel(
    what: str, groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> Any:
        raise CompilerError("planted", "constants")

    monkeypatch.setattr(hot, what, broken)
    with on(Timed()):
        calls(compiled(False), n=2)
    assert kinds(groups[0]) == ["special" if what == "kernel_for" else "general"]


def test_fuse(groups: list[GpuGroup]) -> None:
    """Traced with symbolic sizes: the first ones are numbers."""
    with on(Timed()):
        f = fusewright.fuse(softmax)
        calls(f, (9, 256), n=2)
        calls(f, (9, 252), n=2)
    found = [k for g in groups for k in kinds(g)]
    assert found[0] == "special" and "special" not in found[1:]


def test_what_stands_in_lends_the_kernel(groups: list[GpuGroup], monkeypatch: pytest.MonkeyPatch) -> None:
    """Others may launch it so often before they ask again."""
    monkeypatch.setattr(hot, "STAKE", 10 * 2 * 9 * 252 * 4)
    monkeypatch.setattr(hot, "LAUNCHES", 1)
    with on(Timed(0.5)) as driver:
        f = compiled(True)
        calls(f, (9, 256), n=1)
        calls(f, (9, 252), n=1)
        waiting = list(groups[0].memo.values())[1]
        assert waiting.lend() == 8 and waiting.lend() == 0, "the tenth one asks for more"
        calls(f, (9, 252), n=1)
        assert waiting.lend() == 0 and waiting.waiting and driver.asked == 0
        calls(f, (9, 252), n=1)
        assert kinds(groups[0]) == ["special", "special"] and driver.asked == 1
