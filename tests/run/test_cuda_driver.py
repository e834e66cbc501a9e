"""The CUDA driver's side of compiling, which needs no GPU."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import fusewright
from fusewright.build import nvrtc
from fusewright.emit.cuda_types import CudaTarget
from fusewright.run import cuda_launch
from fusewright.run.cuda import Driver
from fusewright.run.prepared import Launch

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


@pytest.mark.parametrize("shared", [0, 1 << 10, 48 << 10, 100 << 10])
def test_permission_for_shared_memory(shared: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that is not declared is only taken where it and what is declared are more than needs none."""
    asked: list[int] = []

    def attribute(name: str, value: int, kernel: int, device: int) -> tuple[int]:
        if name == "shared":
            asked.append(value)
        return (0,)

    names = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="shared",
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT="l1",
    )
    fake = SimpleNamespace(
        CUresult=SimpleNamespace(CUDA_SUCCESS=0),
        CUfunction_attribute=names,
        CUdevice=int,
        CUfunction=int,
        cuLibraryLoadData=lambda *a: (0, 7),
        cuLibraryGetKernel=lambda library, name: (0, 9),
        cuKernelSetAttribute=attribute,
    )
    monkeypatch.setattr(cuda_launch, "cu", fake)
    monkeypatch.setattr(cuda_launch, "beside_recording", nullcontext)
    monkeypatch.setattr(torch.cuda, "device", lambda index: nullcontext())
    launcher = object.__new__(cuda_launch.Launcher)
    launcher.index = 0
    assert launcher.restore(b"code", [Launch("k", 1, 32, shared)]) == [9]
    assert asked == ([shared] if shared else [])
