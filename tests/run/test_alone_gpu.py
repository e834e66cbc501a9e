"""Lone operations on a GPU: which are compiled, and which left to PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import fusewright
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)


@pytest.mark.parametrize(
    ("fn", "shape", "ours"),
    [
        (lambda x: x.sum(1), (3, 1000, 35), True),  # 420 KB: torch takes twice as long
        (lambda x: x.amax(0), (2000, 4), True),
        (lambda x: x.sum(), (10, 10), False),  # of a loss, say
        (lambda x: x.relu(), (100, 1000), False),
        (lambda x: x.cumsum(1), (100, 100), True),
    ],
)
def test_what_is_compiled(fn: Callable[[torch.Tensor], torch.Tensor], shape: tuple[int, ...], ours: bool) -> None:
    x = torch.randn(shape)
    with emulated_gpu(), fusewright.options(fallback=False):
        fusewright.reset_counters()
        torch.testing.assert_close(fusewright.fuse(fn)(x), fn(x), rtol=1e-5, atol=1e-4)
        assert (fusewright.counters()["groups_formed"] > 0) == ours


def test_scatters_that_torch_sorts_for_are_compiled() -> None:
    """The gradient of an index adds up what it picks twice, for which eager sorts; `scatter_add` has atomics."""
    i, s = torch.randint(0, 5000, (20000,)), torch.randn(20000)
    programs: list[tuple[Callable[..., torch.Tensor], bool]] = [
        (lambda x, i, s: x.index_put((i,), s, accumulate=True), True),
        (lambda x, i, s: x.scatter_add(0, i, s), False),
        (lambda x, i, s: x.scatter_add(0, i, s).index_put((i,), s, accumulate=True), True),
    ]
    x = torch.randn(5000)
    for fn, ours in programs:
        with emulated_gpu(), fusewright.options(fallback=False):
            fusewright.reset_counters()
            got = torch.compile(fn, backend="fusewright", dynamic=False)(x, i, s)
            torch.testing.assert_close(got, fn(x, i, s), rtol=1e-5, atol=1e-4)
            assert fusewright.counters()["groups_formed"] == ours
