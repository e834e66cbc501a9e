"""The CUDA driver's side of compiling, which needs no GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

import fusewright
from fusewright.build import nvrtc
from fusewright.emit.cuda_types import CudaTarget
from fusewright.run.cuda import Driver

SOURCE = 'extern "C" __global__ void k(float* x) {\n  x[threadIdx.x] += 1;\n}\n'


@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")
def test_line_information(tmp_path: Path) -> None:
    """A kernel with the source's lines is another kernel, and its key says so."""
    driver = object.__new__(Driver)
    driver.target = CudaTarget(9, 0)
    plain, key = driver.compile_text(SOURCE), driver.versions()
    with fusewright.options(lineinfo=True, cache_dir=tmp_path):
        assert driver.versions() != key
        assert b".debug_line" in driver.compile_text(SOURCE) and b".debug_line" not in plain
    assert driver.versions() == key
