"""The autotuner, on emulated GPU kernels and a clock that says what a test wants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

import fusewright
from fusewright.run import devices, tune
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import SMALL, EmulatedDriver
from tests.support import counted, counters, no_fallbacks

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)


class Timed(EmulatedDriver):
    """Runs everything once and says that the `best`-th of what it is asked to time is the fastest."""

    def __init__(self, best: int, busy: bool = False):
        super().__init__(SMALL)
        self.best, self.busy = best, busy
        self.asked: list[int] = []

    def can_time(self) -> bool:
        return not self.busy

    def times(self, runs: Sequence[Callable[[], None]], rounds: int) -> list[float]:
        for r in runs:
            r()
        self.asked.append(len(runs))
        best = (
            self.best if len(self.asked) % 2 else min(self.best, 1)
        )  # the second time, it comes after the heuristic's
        return [0.5 if k == best else 1.0 for k in range(len(runs))]


def norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x * 2, x.shape[-1:], w)


def run(driver: EmulatedDriver, cache: Path, calls: int = 2) -> tuple[list[torch.Tensor], dict[str, int]]:
    torch._dynamo.reset()
    before = counters()
    x, w = torch.randn(9, 256), torch.randn(256)
    with devices.use("cpu", driver), fusewright.options(autotune=True, cache_dir=str(cache)), no_fallbacks():
        f = torch.compile(norm, backend="fusewright")
        outs = [f(x, w) for _ in range(calls)]
    for out in outs:
        torch.testing.assert_close(out, norm(x, w), rtol=1e-5, atol=1e-5)
    return outs, counted(before)


def test_the_fastest_is_used_and_remembered(tmp_path: Path) -> None:
    driver = Timed(best=3)
    _, counts = run(driver, tmp_path)
    assert counts["kernels_tuned"] == 1
    tried, final = driver.asked
    assert 8 < tried <= tune.TRIED and final <= tune.FINAL + 1
    again = Timed(best=3)
    _, counts = run(again, tmp_path)
    assert counts["kernels_tuned"] == 0 and again.asked == []


def test_the_heuristic_stays_unless_something_is_faster(tmp_path: Path) -> None:
    driver = Timed(best=0)
    _, counts = run(driver, tmp_path, calls=3)
    assert counts["kernels_tuned"] == 1 and len(driver.asked) == 2


def test_nothing_is_timed_while_launches_are_captured(tmp_path: Path) -> None:
    driver = Timed(best=3, busy=True)
    _, counts = run(driver, tmp_path)
    assert counts["kernels_tuned"] == 0 and driver.asked == []


def test_every_size_is_tuned_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune, "TRIED", 8)
    torch._dynamo.reset()
    driver, before = Timed(best=2), counters()
    with devices.use("cpu", driver), fusewright.options(autotune=True, cache_dir=str(tmp_path)), no_fallbacks():
        f = torch.compile(norm, backend="fusewright", dynamic=True)
        for m in (512, 64, 512):
            x, w = torch.randn(9, m), torch.randn(m)
            torch.testing.assert_close(f(x, w), norm(x, w), rtol=1e-5, atol=1e-5)
    assert counted(before)["kernels_tuned"] == 2 and len(driver.asked) == 4


def test_inputs_written_in_place_are_read_unharmed(tmp_path: Path) -> None:
    torch._dynamo.reset()
    driver = Timed(best=2)

    def step(p: torch.Tensor, g: torch.Tensor) -> None:
        p.mul_(0.9).add_(g)

    p, g = torch.randn(64, 33), torch.randn(64, 33)
    want = p.clone()
    for _ in range(3):
        step(want, g)
    with devices.use("cpu", driver), fusewright.options(autotune=True, cache_dir=str(tmp_path)), no_fallbacks():
        f = torch.compile(step, backend="fusewright")
        for _ in range(3):
            f(p, g)
    assert driver.asked
    torch.testing.assert_close(p, want)


def test_a_search_that_fails_leaves_the_heuristic(tmp_path: Path) -> None:
    class Broken(Timed):
        def times(self, runs: Sequence[Callable[[], None]], rounds: int) -> list[float]:
            raise RuntimeError("no clock")

    run(Broken(best=1), tmp_path)
