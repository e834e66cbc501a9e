"""`device`: a CUDA device where there is one, else the CPU with emulated GPU kernels."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch

from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu

# Workers of pytest-xdist that each use all cores for what eager does on the CPU wait for each other most of the time.
if workers := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // int(workers)))


@pytest.fixture
def device() -> Iterator[str]:
    if torch.cuda.is_available():
        torch._dynamo.reset()
        yield "cuda"
        torch._dynamo.reset()
        return
    if COMPILER is None:
        pytest.skip(MISSING)
    with emulated_gpu():
        yield "cpu"


@pytest.fixture
def cuda() -> str:
    """A real device, for what an emulation cannot show."""
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    torch._dynamo.reset()
    return "cuda"
