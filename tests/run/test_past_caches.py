"""What is written past the caches, as machine code: a vector that is not aligned would end the process."""

from __future__ import annotations

import pytest
import torch

import fusewright
from fusewright.run.kernels import target
from fusewright.schedule import cpu


@pytest.mark.parametrize("dtype", [torch.int8, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_tiles(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    if target().bits < 512:
        pytest.skip("only with masks for every element")
    monkeypatch.setattr(cpu, "OWN", 0)
    f = fusewright.fuse(lambda x: (x.transpose(-1, -2) * 2).contiguous())
    for shape in ((131, 301), (64, 1030), (515, 257), (2, 7, 70, 131)):
        x = torch.randn(shape).mul(9).to(dtype)
        assert torch.equal(f(x), x.transpose(-1, -2) * 2)
