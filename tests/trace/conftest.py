"""What the end-to-end tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import fusewright
from fusewright.run import devices
from tests.emulate.driver import EmulatedDriver
from tests.support import no_fallbacks


@pytest.fixture
def fresh_dynamo() -> Iterator[None]:
    """Start from an empty Dynamo cache and a fixed seed; fail if the compiler gave anything back to torch."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    with no_fallbacks():
        yield
    torch._dynamo.reset()


@pytest.fixture
def strict(fresh_dynamo: None) -> Iterator[None]:
    """The same, and a failure of the compiler is raised."""
    with fusewright.options(fallback=False):
        yield


@pytest.fixture
def emulated() -> Iterator[None]:
    """Kernels for CPU tensors are a GPU's, emulated; nothing is kept, and nothing falls back."""
    torch._dynamo.reset()
    with devices.use("cpu", EmulatedDriver()), fusewright.options(disk_cache=False, fallback=False):
        yield


@pytest.fixture(params=["cpu", "gpu"])
def either(request: pytest.FixtureRequest) -> Iterator[None]:
    """Kernels of a CPU, and the emulated ones of a GPU."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    if request.param == "gpu":
        request.getfixturevalue("emulated")
        yield
        return
    with fusewright.options(disk_cache=False, fallback=False):
        yield
