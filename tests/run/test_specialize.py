"""GPU kernels for new sizes: what is there runs at once, and sizes that come again get their own kernel (emulated)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

import fusewright
from fusewright.run import gpu as run_gpu
from fusewright.run import specialize
from fusewright.run.gpu import GpuGroup
from fusewright.run.specialize import HOT, worker
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu
from tests.support import counted, counters, no_fallbacks

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

FIRST, OTHER = (2, 4096), (9, 256)  # rows of a block; rows of a warp or two, which a block can have as well


@pytest.fixture(autouse=True)
def gpu() -> Iterator[None]:
    torch._dynamo.reset()
    with emulated_gpu(), no_fallbacks(), torch.no_grad():
        yield


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x.sin() * 2, -1)


def compiled_at(f: object, size: tuple[int, int], calls: int = 1) -> int:
    """Kernels that `calls` calls at a size compile."""
    before = counters()
    x = torch.randn(size)
    for _ in range(calls):
        torch.testing.assert_close(f(x), softmax(x))  # type: ignore[operator]
    return counted(before)["kernels_compiled"] + counted(before)["disk_hits"]


@pytest.mark.parametrize(
    ("how", "first", "at_once", "later"),
    [("hot", 1, 0, 1), ("never", 1, 0, 0), ("always", 2, 2, 0)],  # "always": one for these sizes only as well
)
def test_new_sizes(how: str, first: int, at_once: int, later: int) -> None:
    with fusewright.options(specialize=how, kernel_reuse=False, disk_cache=False):
        f = torch.compile(softmax, backend="fusewright", dynamic=True)
        assert compiled_at(f, FIRST) == first
        assert compiled_at(f, OTHER) == at_once
        before = counters()
        compiled_at(f, OTHER, HOT)
        worker().submit(lambda: None).result()  # what was asked for is done
        assert counted(before)["kernels_compiled"] == later
        assert compiled_at(f, OTHER, 3) == 0


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each time the scheduler runs."""
    plans: list[object] = []
    plan = run_gpu.plan

    def counting(*args: Any) -> Any:
        plans.append(args)
        return plan(*args)

    monkeypatch.setattr(run_gpu, "plan", counting)
    return plans


@pytest.mark.parametrize("how", ["hot", "never", "always"])
def test_new_sizes_are_planned_once(how: str, planned: list[object]) -> None:
    """What was decided at the first call is what is compiled when the sizes have come again; both leave a rule."""
    with fusewright.options(specialize=how, kernel_reuse=False, disk_cache=False):
        f = torch.compile(softmax, backend="fusewright", dynamic=True)
        compiled_at(f, FIRST)
        planned.clear()
        compiled_at(f, OTHER)
        assert len(planned) == 1
        compiled_at(f, OTHER, HOT)
        worker().submit(lambda: None).result()
        compiled_at(f, OTHER, 2)
        assert len(planned) == 1
        compiled_at(f, (OTHER[0] + 1, OTHER[1]))
        assert len(planned) == 1


def test_new_sizes_whose_kernel_is_there_are_planned_once(
    planned: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GpuGroup, "known", lambda self, values, alignment: None)  # no rules
    with fusewright.options(specialize="hot", kernel_reuse=False, disk_cache=False):
        f = torch.compile(softmax, backend="fusewright", dynamic=True)
        compiled_at(f, FIRST)
        planned.clear()
        assert compiled_at(f, (FIRST[0] + 1, FIRST[1])) == 0
        assert len(planned) == 1


def test_more_sizes_that_want_the_same_kernel_are_not_planned(planned: list[object]) -> None:
    """Each has it compiled, or finds it compiled, when it has come a few times."""
    with fusewright.options(kernel_reuse=False, disk_cache=False):
        f = torch.compile(softmax, backend="fusewright", dynamic=True)
        compiled_at(f, FIRST)
        planned.clear()
        sizes = [OTHER, *((OTHER[0] + n, OTHER[1]) for n in range(1, 4))]
        assert [compiled_at(f, size) for size in sizes] == [0] * 4 and len(planned) == 1
        before = counters()
        for size in sizes:
            compiled_at(f, size, HOT)
        worker().submit(lambda: None).result()
        assert counted(before)["kernels_compiled"] == 1 and len(planned) == 1


def test_what_is_right_but_of_another_kind_does_not_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few threads that each add up much are right for any number of elements, but their rounding errors are larger."""
    monkeypatch.setattr(specialize, "FEW", 0)
    total = lambda x: (x.sin() * 2).sum(-1)
    with fusewright.options(kernel_reuse=False, disk_cache=False):
        f = torch.compile(total, backend="fusewright", dynamic=True)
        f(torch.randn(9, 15))
        x = torch.rand(2, 1 << 17)
        before = counters()
        got = f(x)
        assert counted(before)["kernels_compiled"] == 1, "a kernel of its own"
    exact = total(x.double())
    assert (got - exact).abs().max() <= 2 * (total(x) - exact).abs().max() + 1e-7 * exact.abs().max()


def test_results_do_not_depend_on_the_compiler_where_they_must_not() -> None:
    """Neither new sizes nor such as others have found a kernel for have one that another takes the place of."""
    with fusewright.options(kernel_reuse=False, disk_cache=False):
        f = torch.compile(softmax, backend="fusewright", dynamic=True)
        compiled_at(f, FIRST)
        compiled_at(f, OTHER)
        torch.use_deterministic_algorithms(True)
        try:
            assert compiled_at(f, (OTHER[0] + 1, OTHER[1])) == 1
            assert compiled_at(f, (9, 255)) == 1
        finally:
            torch.use_deterministic_algorithms(False)


def test_a_kernel_that_does_not_fit_is_not_used() -> None:
    """Rows of odd length are no rows of whole vectors, and rows that are too long no rows of these registers."""
    with fusewright.options(specialize="never", kernel_reuse=False, disk_cache=False):
        f = torch.compile(softmax, backend="fusewright", dynamic=True)
        assert compiled_at(f, FIRST) == 1
        assert compiled_at(f, (9, 255)) == 1
        assert compiled_at(f, (2, 8192)) == 1


def test_a_failure_in_the_background_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with fusewright.options(kernel_reuse=False, disk_cache=False):
        f = torch.compile(softmax, backend="fusewright", dynamic=True)
        compiled_at(f, FIRST)

        def broken(*args: object) -> None:
            raise RuntimeError("no compiler")

        monkeypatch.setattr(GpuGroup, "new", broken)
        assert compiled_at(f, OTHER, HOT + 2) == 0
        worker().submit(lambda: None).result()
        assert compiled_at(f, OTHER, 2) == 0
