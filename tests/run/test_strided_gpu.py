"""How wide vectors are where neighbours in a GPU's threads are no neighbours in memory."""

from __future__ import annotations

from collections.abc import Callable
from unittest import mock

import pytest
import torch

from fusewright.run import gpu
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)


def odd_rows(x: torch.Tensor) -> torch.Tensor:
    """Rows that start at no multiple of a vector."""
    return x.flatten()[: 24 * 767].view(24, 767)


@pytest.mark.parametrize(
    ("view", "dtype", "lanes"),
    [
        (lambda x: x, torch.float32, 4),
        (lambda x: x[:, ::2], torch.float32, 4),  # out of two whole vectors
        (lambda x: x[:, ::2], torch.bfloat16, 8),
        (lambda x: x[:, 5:709:2], torch.bfloat16, 4),  # eight would be in three
        (lambda x: odd_rows(x)[:, ::2], torch.bfloat16, 2),  # 8 bytes apart, as neighbouring threads may be
        (lambda x: odd_rows(x)[:, ::2], torch.float32, 1),
        (lambda x: x[:, ::3], torch.bfloat16, 1),
        (lambda x: x[:, ::16], torch.float32, 4),  # a sector for each element, however many a thread has
        (lambda x: x.flip(1), torch.float32, 4),
    ],
)
def test_lanes(view: Callable[[torch.Tensor], torch.Tensor], dtype: torch.dtype, lanes: int) -> None:
    made: list[gpu.GpuSchedule] = []
    lower = gpu.GpuGroup.lowering

    def lowering(group: gpu.GpuGroup, f: gpu.Fusion, s: gpu.GpuSchedule) -> gpu.Kernel:
        made.append(s)
        return lower(group, f, s)

    x = torch.randn(24, 768).to(dtype)
    with emulated_gpu(), mock.patch.object(gpu.GpuGroup, "lowering", lowering):
        got = torch.compile(lambda x: view(x).relu() * 2, backend="fusewright", dynamic=False)(x)
    torch.testing.assert_close(got, view(x).relu() * 2)
    assert made[-1].lanes == lanes
