"""Programs saved for several kinds of CPUs: the best that the machine can run is loaded."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

import fusewright
from fusewright import UserError
from fusewright.build import cpus, objects
from fusewright.run.archive import Archive
from fusewright.run.saved import Loader
from tests.aot.programs import CASES

X86 = objects.architecture() == "x86_64"
LEVELS = [n for n in cpus.names() if n.startswith("x86")]


def manifest(path: Path) -> dict[str, Any]:
    return dict(json.loads(zipfile.ZipFile(path).read("manifest.json")))


def lanes(path: Path, variant: dict[str, Any]) -> int:
    """The most lanes of float32 in a variant's kernels."""
    z = zipfile.ZipFile(path)
    keys = [x["kernel"] for x in variant["scope"].values() if "kernel" in x]
    texts = [z.read(f"text/kernels/{k}.loop").decode() for k in keys]
    return max(int(n) for t in texts for n in re.findall(r"f32x(\d+)", t))


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("machines") / "mlp.fwp"
    fusewright.aot_save(CASES["mlp"].export()[1], path, architectures=["generic", *LEVELS, "native"])
    return path


@pytest.mark.skipif(not X86, reason="levels are of x86-64")
def test_each_has_its_own_vectors(everywhere: Path) -> None:
    found = {v["name"]: lanes(everywhere, v) for v in manifest(everywhere)["variants"]}
    assert next(iter(found)) == "native"
    assert {k: n for k, n in found.items() if k != "native"} == {
        "x86-64-v4": 16,
        "x86-64-v3": 8,
        "x86-64-v2": 4,
        "generic": 4,
    }


@pytest.mark.every(2)
@pytest.mark.parametrize("name", cpus.names())
def test_each_gives_eagers_results(name: str, tmp_path: Path) -> None:
    if cpus.lacking(cpus.named(name)):
        pytest.skip(f"not on this machine: {cpus.lacking(cpus.named(name))}")
    for case in ("mlp", "gpt", "odd", "empty"):
        module, exported = CASES[case].export()
        path = tmp_path / f"{case}.fwp"
        fusewright.aot_save(exported, path, architectures=name)
        assert [v["name"] for v in manifest(path)["variants"]] == [name]
        program = fusewright.aot_load(path)
        for args, kwargs in CASES[case].calls():
            with torch.no_grad():
                want = module(*args, **kwargs)
            torch.testing.assert_close(program(*args, **kwargs), want, equal_nan=True)


def test_the_first_that_fits_is_loaded(everywhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loader = Loader(Archive(everywhere))
    fitting = [n for n in ("native", *reversed(LEVELS), "generic") if not cpus.lacking(cpus.named(n))]
    assert loader.variant()["name"] == fitting[0]
    able = objects.features()
    for gone, chosen in (("avx512bw", "x86-64-v3"), ("avx2", "x86-64-v2"), ("ssse3", "generic")):
        if X86 and able.get(gone):
            monkeypatch.setattr(objects, "features", lambda gone=gone: {**able, gone: False})
            assert loader.variant()["name"] == chosen


def test_what_a_kernel_may_not_use(everywhere: Path, tmp_path: Path) -> None:
    """No instruction of AVX-512 in code for AVX2, none of AVX in code for SSE: seen in the machine code itself."""
    try:
        subprocess.run(["objdump", "--version"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs objdump")
    z = zipfile.ZipFile(everywhere)
    for v in manifest(everywhere)["variants"]:
        for x in v["scope"].values():
            if "kernel" in x:
                (tmp_path / "k.o").write_bytes(z.read(f"kernels/{x['kernel']}.o"))
                text = subprocess.run(["objdump", "-d", str(tmp_path / "k.o")], capture_output=True, text=True).stdout
                assert ("%zmm" in text) == (v["name"] in ("native", "x86-64-v4") and lanes(everywhere, v) == 16)
                if v["name"] in ("x86-64-v2", "generic"):
                    assert "%ymm" not in text and not re.search(r"\tv[a-z]+ ", text)


def test_names_that_are_none(tmp_path: Path) -> None:
    exported = CASES["mlp"].export()[1]
    for wrong, message in (
        (["x86-64-v5"], "no CPU named 'x86-64-v5'.*did you mean"),
        (["sm_90"], "the program has no tensors on a GPU, sm_90 is of no use"),
        ([], "there is none"),
        (["native", "z80"], "no CPU named 'z80'"),
    ):
        with pytest.raises(UserError, match=message):
            fusewright.aot_save(exported, tmp_path / "p", architectures=wrong)
    assert list(tmp_path.iterdir()) == []


def test_code_for_other_machines_is_not_called() -> None:
    from fusewright.core.errors import RuntimeFault
    from fusewright.run import kernels

    with kernels.compiling_for(cpus.named("generic")):
        program = fusewright.aot_compile(CASES["mlp"].export()[1])
        with pytest.raises(RuntimeFault, match="a kernel for another machine was called"):
            program(torch.randn(3, 12))
    assert kernels.target().bits >= 128


def test_a_program_without_kernels_is_for_any_machine(tmp_path: Path) -> None:
    program = fusewright.aot_compile(CASES["mlp"].export()[1], grouping=False)
    fusewright.aot_save(program, tmp_path / "p.fwp", architectures=["native", "generic"])
    (variant,) = manifest(tmp_path / "p.fwp")["variants"]
    assert variant["cpu"] is None
    x = torch.randn(3, 12)
    assert torch.equal(fusewright.aot_load(tmp_path / "p.fwp")(x), program(x))
