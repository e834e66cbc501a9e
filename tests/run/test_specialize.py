"""GPU kernels for new sizes: what is there runs at once, and sizes that come again get their own kernel (emulated)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import fusewright
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


@pytest.mark.parametrize(("how", "at_once", "later"), [("hot", 0, 1), ("never", 0, 0), ("always", 1, 0)])
def test_new_sizes(how: str, at_once: int, later: int) -> None:
    with fusewright.options(specialize=how, kernel_reuse=False, disk_cache=False):
        f = torch.compile(softmax, backend="fusewright", dynamic=True)
        assert compiled_at(f, FIRST) == 1
        assert compiled_at(f, OTHER) == at_once
        before = counters()
        compiled_at(f, OTHER, HOT)
        worker().submit(lambda: None).result()  # what was asked for is done
        assert counted(before)["kernels_compiled"] == later
        assert compiled_at(f, OTHER, 3) == 0


def test_a_kernel_that_does_not_fit_is_not_used() -> None:
    """Rows of odd length are no rows of whole vectors, and rows that are too long no rows of these registers."""
    with fusewright.options(specialize="never", kernel_reuse=False, disk_cache=False):
        f = torch.compile(softmax, backend="fusewright", dynamic=True)
        assert compiled_at(f, FIRST) == 1
        assert compiled_at(f, (9, 255)) == 1
        assert compiled_at(f, (2, 8192)) == 1


def test_a_failure_in_the_background_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from fusewright.run.gpu import GpuGroup

    with fusewright.options(kernel_reuse=False, disk_cache=False):
        f = torch.compile(softmax, backend="fusewright", dynamic=True)
        compiled_at(f, FIRST)

        def broken(*args: object) -> None:
            raise RuntimeError("no compiler")

        monkeypatch.setattr(GpuGroup, "new", broken)
        assert compiled_at(f, OTHER, HOT + 2) == 0
        worker().submit(lambda: None).result()
        assert compiled_at(f, OTHER, 2) == 0
