"""Edited kernels: they run, they are named, and what is wrong with them is said."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import fusewright
from fusewright.build import nvrtc
from fusewright.build.store import default_store
from fusewright.core.errors import CompilerError, FusewrightWarning, UserError
from fusewright.debug import record, sources
from fusewright.emit.cuda_types import CudaTarget
from fusewright.run import kernels
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import EmulatedDriver, emulated_gpu
from tests.processes import python
from tests.support import same_bits

_CALL = """
declare i32 @no_such_function(i32)
define i32 @g() {
  %a = call i32 @no_such_function(i32 1)
  ret i32 %a
}
"""
HALF, ONE = "0x3FE0000000000000", "0x3FF0000000000000"


def f(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (x * 0.5 + w).clamp(min=-3.0)


X, W = torch.randn(37, 130), torch.randn(130)
EDITED = (X + W).clamp(min=-3.0)  # what it computes with 0.5 replaced by 1


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    torch._dynamo.reset()
    sources.forget()
    monkeypatch.setattr(kernels, "_kernels", {})
    with fusewright.options(cache_dir=tmp_path / "cache"):
        yield
    sources.forget()
    torch._dynamo.reset()


def run() -> tuple[torch.Tensor, record.GroupRecord]:
    torch._dynamo.reset()
    with record.recording() as graphs:
        out = torch.compile(f, backend="fusewright")(X, W)
    (group,) = graphs[0].groups
    return out, group


def saved(folder: Path) -> tuple[Path, Any]:
    (k,) = fusewright.explain(f, X, W).kernels
    (path,) = fusewright.save_sources([k], folder)
    return path, k


def said(seen: list[warnings.WarningMessage]) -> list[str]:
    return [str(w.message) for w in seen if issubclass(w.category, FusewrightWarning)]


def test_an_edited_kernel_runs(tmp_path: Path) -> None:
    path, k = saved(tmp_path / "src")
    assert path.name == f"{k.name}.ll" and k.hash in path.read_text().splitlines()[0]
    path.write_text(path.read_text().replace(HALF, ONE))
    path = path.rename(path.with_name(f"{k.hash}.ll"))
    with fusewright.options(external_source=path.parent):
        with pytest.warns(FusewrightWarning) as seen:
            out, group = run()
        assert said(list(seen)) == [f"{group.name} ({k.hash}) runs from the edited source {path}"]
        assert same_bits(out, EDITED)
        assert group.origin == "external" and group.plan.compiled is not None
        assert group.plan.compiled.source == path.read_text()
    out, group = run()
    assert same_bits(out, f(X, W)) and group.origin != "external"


@pytest.mark.parametrize("by", ["key", "hash", "name"])
def test_by_key_hash_or_name(tmp_path: Path, by: str) -> None:
    path, k = saved(tmp_path / "src")
    path.write_text(path.read_text().replace(HALF, ONE))
    serial = int(k.name.removeprefix("inference").partition(".")[0])
    name = {"key": k.plan.compiled.key, "hash": k.hash, "name": f"inference{serial + 1}.g0"}[by]
    path.rename(path.with_name(f"{name}.ll"))
    with fusewright.options(external_source=path.parent), pytest.warns(FusewrightWarning, match="runs from"):
        assert same_bits(run()[0], EDITED)


def test_neither_cache_keeps_it(tmp_path: Path) -> None:
    path, k = saved(tmp_path / "src")
    path.write_text(path.read_text().replace(HALF, ONE))
    path.rename(path.with_name(f"{k.hash}.ll"))
    default_store().clear()
    kernels._kernels.clear()
    with fusewright.options(external_source=path.parent), pytest.warns(FusewrightWarning):
        run()
    assert default_store().entries() == [] and kernels._kernels == {}
    assert same_bits(run()[0], f(X, W))


def _broken(text: str) -> str:
    return text.replace("getelementptr", "getelephant", 1)


def _other_parameters(text: str) -> str:
    return text.replace("(ptr %in0, ", "(float %more, ptr %in0, ", 1)


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (_broken, "(?s)LLVM rejected the kernel: .*getelephant"),
        (lambda t: t.replace("define i32 @pointwise", "define i32 @other"), "it does not define @pointwise"),
        (_other_parameters, r"@pointwise\w* is i32 \(float, .*, but must be i32 \(ptr, "),
        (
            lambda t: t.replace("define i32 @pointwise", "define i64 @pointwise").replace("ret i32 %code", "ret i64 0"),
            "must be i32",
        ),
        (lambda t: t.replace("; kernel ", "; kernel 0123456789", 1), None),
        (lambda t: t.replace(t[9:49], "0" * 40, 1), "it was made from kernel 000000000000, but the group needs"),
        (lambda t: "", "it does not define"),
        (
            lambda t: t + _CALL,
            "symbol no_such_function is not in this process",
        ),
    ],
)
def test_what_cannot_be_used_is_said_and_the_generated_kernel_runs(tmp_path: Path, edit: Any, why: str | None) -> None:
    path, k = saved(tmp_path / "src")
    path.write_text(edit(path.read_text().replace(HALF, ONE)))
    path = path.rename(path.with_name(f"{k.hash}.ll"))
    if why is None:  # the line no longer names a kernel: the source is taken at its word
        with fusewright.options(external_source=path.parent), pytest.warns(FusewrightWarning, match="runs from"):
            assert same_bits(run()[0], EDITED)
        return
    with fusewright.options(external_source=path.parent):
        with pytest.warns(FusewrightWarning, match=why) as seen:
            out, group = run()
        (message,) = said(list(seen))
        assert "cannot be used: " in message and message.endswith("; the generated kernel runs")
        assert same_bits(out, f(X, W)) and group.origin != "external"
    with fusewright.options(external_source=path.parent, fallback=False), pytest.raises(Exception, match=why) as error:
        run()
    assert "UserError" in str(error.value) and "the generated kernel runs" not in str(error.value)


def test_bad_directories(tmp_path: Path) -> None:
    with fusewright.options(external_source=tmp_path / "nothing", fallback=False):
        with pytest.raises(Exception, match=r"UserError: FUSEWRIGHT_EXTERNAL_SOURCE: .*nothing is no directory"):
            run()
    with fusewright.options(external_source=tmp_path / "nothing"):
        with pytest.warns(FusewrightWarning, match="nothing is no directory; generated kernels run"):
            assert same_bits(run()[0], f(X, W))
    (tmp_path / "empty").mkdir()
    with fusewright.options(external_source=tmp_path / "empty"), warnings.catch_warnings():
        warnings.simplefilter("error", FusewrightWarning)
        assert same_bits(run()[0], f(X, W))


def test_sources_of_no_kernel_are_listed_when_the_program_ends(tmp_path: Path) -> None:
    """A name that is misspelled would otherwise be an edit without effect."""
    path, k = saved(tmp_path / "src")
    path.rename(path.with_name(f"{k.hash}.ll"))
    (path.parent / "forward7.g0.ll").write_text("whatever")
    code = """
import torch
def f(x, w):
    return (x * 0.5 + w).clamp(min=-3.0)
torch.compile(f, backend="fusewright")(torch.randn(37, 130), torch.randn(130))
"""
    env = {**os.environ, "FUSEWRIGHT_EXTERNAL_SOURCE": str(path.parent), "FUSEWRIGHT_CACHE_DIR": str(tmp_path / "c")}
    done = python("-c", code, env=env)
    assert done.returncode == 0, done.stderr
    assert f"{path.parent}: this program has no kernel for forward7.g0.ll (fusewright explain" in done.stderr
    assert f"runs from the edited source {path.parent / k.hash}.ll" in done.stderr


def test_a_source_that_cannot_be_read(tmp_path: Path) -> None:
    path, k = saved(tmp_path / "src")
    path.rename(path.with_name(f"{k.hash}.ll")).write_bytes(b"\xff\xfe")
    with fusewright.options(external_source=path.parent), pytest.warns(FusewrightWarning, match="cannot be used"):
        assert same_bits(run()[0], f(X, W))


def test_saving(tmp_path: Path) -> None:
    path, k = saved(tmp_path / "src")
    with pytest.raises(UserError, match="exists already"):
        fusewright.save_sources([k], path.parent)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write to"):
        fusewright.save_sources([k], tmp_path / "file" / "src")
    assert fusewright.save_sources(k, tmp_path / "one")[0].read_text() == path.read_text()
    report = fusewright.explain(f, X, W)
    assert len(fusewright.save_sources(report, tmp_path / "all")) == len(report.kernels)
    for bad in (3, ["inference0.g0"], None):
        with pytest.raises(UserError, match="kernels of a report are wanted, not a "):
            fusewright.save_sources(bad, tmp_path / "bad")


def test_the_report_shows_what_runs(tmp_path: Path) -> None:
    path, k = saved(tmp_path / "src")
    path.write_text(path.read_text().replace(HALF, ONE))
    path = path.rename(path.with_name(f"{k.hash}.ll"))
    with fusewright.options(external_source=path.parent), pytest.warns(FusewrightWarning):
        (again,) = fusewright.explain(f, X, W).kernels
    assert again.source == path.read_text() and again.origin == "external"


def test_dumps_show_what_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After the generated source, that which takes its place, with its own machine code."""
    path, k = saved(tmp_path / "src")
    path.write_text(path.read_text().replace(HALF, ONE))
    path.rename(path.with_name(f"{k.hash}.ll"))
    with fusewright.options(external_source=path.parent, dump="llvm,assembly"), pytest.warns(FusewrightWarning):
        run()
    generated, edited = capsys.readouterr().err.split("=== llvm: ")[1:]
    assert HALF in generated and HALF not in edited and ONE in edited
    assert "=== assembly" in generated and "=== assembly" in edited


# --- trying one ----------------------------------------------------------------------------------


def test_trying_a_source(tmp_path: Path) -> None:
    path, k = saved(tmp_path / "src")
    assert fusewright.try_source(k, path).identical
    assert not fusewright.try_source(k, path.read_text().replace(HALF, ONE)).right
    with pytest.raises(CompilerError, match="getelephant"):
        fusewright.try_source(k, _broken(path.read_text()))
    with pytest.raises(UserError, match="cannot read"):
        fusewright.try_source(k, tmp_path / "nothing.ll")
    with pytest.raises(UserError, match="a path or the text of a source is wanted, not 3"):
        fusewright.try_source(k, 3)
    with pytest.raises(UserError, match="must be i32"):
        fusewright.try_source(k, _other_parameters(path.read_text()))


# --- GPU -----------------------------------------------------------------------------------------


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_on_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with emulated_gpu():
        path, k = saved(tmp_path / "src")
        assert path.suffix == ".cu" and path.read_text().startswith("// kernel ")
        text = path.read_text()
        assert text.count("0.5f") >= 1
        path.write_text(text.replace("0.5f", "1.0f"))
        path = path.rename(path.with_name(f"{k.hash}.cu"))
        options = fusewright.options(external_source=path.parent, dump="cuda")
        with options, pytest.warns(FusewrightWarning, match="runs from"):
            out, group = run()
        assert same_bits(out, EDITED) and group.origin == "external"
        assert "1.0f" in (shown := capsys.readouterr().err) and "0.5f" not in shown
        for edit, why in (
            (
                lambda t: t.replace("__global__ void __launch_bounds__(", "__global__ void __launch_bounds__(9"),
                "launch_bounds",
            ),
            (lambda t: t.replace("_0(\n", "_0(int more,\n"), "but must take"),
            (lambda t: t.replace("__global__ void", "__device__ void"), "it does not define"),
            (lambda t: t.replace("return;", "retrun;") if "return;" in t else t + "\nnonsense;", "rejected the kernel"),
        ):
            sources.forget()
            path.write_text(edit(text))  # type: ignore[no-untyped-call]
            with fusewright.options(external_source=path.parent), pytest.warns(FusewrightWarning, match=why):
                assert same_bits(run()[0], f(X, W))
        assert fusewright.try_source(k, text).identical
        assert not fusewright.try_source(k, text.replace("0.5f", "1.0f")).right


def test_types_of_cuda_parameters() -> None:
    text = """
    // extern "C" __global__ void gone(int a)
    extern "C" __global__ void __launch_bounds__(128, 2) a_0(const float* __restrict__ in0, float *out, const int n0) {}
    extern "C"  __global__
    void a_1(const __nv_bfloat16*in0) {}
    """
    found = sources._signatures(text)
    assert found == {"a_0": ("128", ("float *", "float *", "int")), "a_1": (None, ("__nv_bfloat16 *",))}


@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")
@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_what_nvrtc_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulation's driver with the real compiler in front of it."""
    target = CudaTarget(9, 0)

    def compile_text(self: EmulatedDriver, text: str) -> bytes:
        nvrtc.compile(text, target.arch)
        return text.encode()

    monkeypatch.setattr(EmulatedDriver, "compile_text", compile_text)
    with emulated_gpu():
        path, k = saved(tmp_path / "src")
        text = path.read_text()
        assert fusewright.try_source(k, path).identical
        with pytest.raises(CompilerError, match=r"(?s)NVRTC rejected the kernel.*kernel.cu.*undefined_thing"):
            fusewright.try_source(k, text.replace("0.5f", "undefined_thing"))
