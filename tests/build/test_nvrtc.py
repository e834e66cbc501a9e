"""NVRTC: cubins without a GPU, what it says about mistakes, and what a cubin says about its kernels."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

import fusewright
from fusewright.build import nvrtc
from fusewright.core.errors import CompilerError, UserError

needs_nvrtc = pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")

TWO = """
extern "C" __global__ void __launch_bounds__(256) second(const float* a, float* b, int n) {
  __shared__ float s[300];
  float q[20];
  const int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = a[i];
  __syncthreads();
  for (int j = 0; j < 20; ++j) q[j * n % 20] = a[j];
  if (i < n) b[i] = s[255 - threadIdx.x] + q[n];
}
extern "C" __global__ void first(float* a) { a[0] = 1; }
"""


@needs_nvrtc
def test_a_report_is_what_ptxas_said() -> None:
    for arch in nvrtc.architectures():
        cubin, log = nvrtc.compile(TWO, arch)
        first, second = nvrtc.report(cubin)
        said = {
            m[1]: tuple(map(int, m.groups()[1:]))
            for m in re.finditer(r"function '(\w+)'.*?(\d+) bytes stack frame.*?Used (\d+) registers", log, re.S)
        }
        assert (first.name, second.name) == ("first", "second")
        assert (first.stack, first.registers) == said["first"]
        assert (second.stack, second.registers) == said["second"]
        assert second.stack == 80 and (first.shared, second.shared) == (0, 1200)


@needs_nvrtc
def test_mistakes_are_named() -> None:
    with pytest.raises(CompilerError, match=r'kernel.cu\(1\): error: identifier "y" is undefined') as e:
        nvrtc.compile('extern "C" __global__ void k(float* x) { x[0] = y; }')
    assert e.value.stage == "build"


@needs_nvrtc
def test_a_gpu_that_this_nvrtc_does_not_know() -> None:
    with pytest.raises(UserError, match=r"does not compile for sm_20, only for sm_.*sm_90.*pip install"):
        nvrtc.compile(TWO, "sm_20")


@needs_nvrtc
def test_line_information_is_optional() -> None:
    assert len(nvrtc.compile(TWO, lineinfo=True)[0]) > len(nvrtc.compile(TWO)[0])


@needs_nvrtc
@pytest.mark.skipif(nvrtc.disassembler() is None, reason="nvdisasm is not installed")
def test_machine_code_as_text() -> None:
    """PTX, then what the GPU runs: instructions of both functions, with the source's lines if they were kept."""
    for arch in ("sm_80", "sm_90"):
        ptx, sass = nvrtc.assembly(TWO, arch).split("\n// SASS\n")
        assert f".target {arch}" in ptx and ".entry second(" in ptx
        assert ".text.first" in sass and ".text.second" in sass and "none" not in sass
        first = sass.split(".text.first:")[1].split(".text.second:")[0]
        assert re.search(r"/\*0000\*/ +\S", first) and "STG.E" in first and "EXIT" in first
        assert "BAR.SYNC" not in first and "BAR.SYNC" in sass
    assert "kernel.cu" not in sass


@needs_nvrtc
@pytest.mark.skipif(nvrtc.disassembler() is None, reason="nvdisasm is not installed")
def test_lines_name_a_file_that_has_the_source(tmp_path: Path) -> None:
    """Else a profiler could not show it."""
    with fusewright.options(cache_dir=tmp_path):
        sass = nvrtc.assembly(TWO, lineinfo=True)
    (path,) = (tmp_path / "sources").iterdir()
    assert path.suffix == ".cu" and path.read_text() == TWO
    assert f'File "{path}", line 11' in sass
    (tmp_path / "file").write_text("")
    with fusewright.options(cache_dir=tmp_path / "file"):
        assert re.search(r'File ".*kernel.cu", line 11', nvrtc.assembly(TWO, lineinfo=True))


@needs_nvrtc
def test_without_a_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "disassembler", lambda: None)
    ptx, sass = nvrtc.assembly(TWO).split("\n// SASS\n")
    assert ".entry first(" in ptx and sass == "// none: nvdisasm is not there (pip install nvidia-cuda-nvdisasm)"


@needs_nvrtc
def test_a_disassembler_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvdisasm"
    monkeypatch.setattr(nvrtc, "disassembler", lambda: str(tool))
    assert "does not run (No such file" in nvrtc.assembly(TWO)
    tool.write_text("#!/bin/sh\necho too old >&2\nexit 1\n")
    tool.chmod(0o755)
    assert nvrtc.assembly(TWO).endswith("nvdisasm failed: too old")


def test_where_the_disassembler_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc.sys, "path", ["", str(tmp_path)])
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert nvrtc.disassembler() is None
    for folder in (tmp_path / "nvidia" / "cu13" / "bin", tmp_path / "bin"):  # a package's, then one on the path
        folder.mkdir(parents=True)
        (folder / "nvdisasm").touch(0o644)
        assert nvrtc.disassembler() != str(folder / "nvdisasm"), "it is no program"
        (folder / "nvdisasm").chmod(0o755)
        assert nvrtc.disassembler() == str(folder / "nvdisasm")


@needs_nvrtc
def test_versions_name_the_compiler_and_what_it_is_told() -> None:
    major, minor = nvrtc.version()
    assert nvrtc.versions().startswith(f"nvrtc {major}.{minor}, ") and "-fmad=false" in nvrtc.versions()


def test_without_nvrtc(monkeypatch) -> None:
    monkeypatch.setattr(nvrtc, "_open", lambda: None)
    nvrtc._library.cache_clear()
    try:
        assert not nvrtc.available()
        with pytest.raises(UserError, match="pip install nvidia-cuda-nvrtc"):
            nvrtc.compile(TWO)
    finally:
        nvrtc._library.cache_clear()


def test_an_old_nvrtc(monkeypatch) -> None:
    class Old:
        nvrtcGetErrorString = ctypes.CFUNCTYPE(ctypes.c_int)()

        @staticmethod
        def nvrtcVersion(major, minor) -> None:
            major._obj.value, minor._obj.value = 11, 2

    monkeypatch.setattr(nvrtc, "_open", Old)
    nvrtc._library.cache_clear()
    try:
        with pytest.raises(UserError, match=r"NVRTC 11\.2 is too old, 12\.0 or newer is needed"):
            nvrtc.version()
    finally:
        nvrtc._library.cache_clear()


def test_something_else_is_no_cubin() -> None:
    with pytest.raises(CompilerError, match="not a cubin"):
        nvrtc.report(b"PTX")


def test_the_preferred_cuda_version_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, version in (("cu12", 12), ("cu13", 13)):
        lib = tmp_path / "nvidia" / folder / "lib"
        lib.mkdir(parents=True)
        (lib / f"libnvrtc.so.{version}").touch()
    monkeypatch.setattr(nvrtc.sys, "path", [str(tmp_path)])
    monkeypatch.setattr(nvrtc, "_major", 0)
    assert [p.name for p in nvrtc._candidates()] == ["libnvrtc.so.13", "libnvrtc.so.12"]
    nvrtc.prefer(12)
    assert [p.name for p in nvrtc._candidates()] == ["libnvrtc.so.12", "libnvrtc.so.13"]
