"""Kernels by content: sizes, functions and processes share them; a bad cache directory costs time, never a result."""

from __future__ import annotations

import json
import os
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.build import store
from fusewright.core.errors import FusewrightWarning
from fusewright.run import kernels
from tests.processes import Running
from tests.support import assert_agrees, counted, counters

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache directory, and a process that has compiled nothing."""
    torch._dynamo.reset()
    monkeypatch.setattr(kernels, "_kernels", {})
    monkeypatch.setattr(store, "_warned", type(store._warned)())
    with fusewright.options(cache_dir=tmp_path / "cache"):
        yield tmp_path / "cache"
    torch._dynamo.reset()


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a new process would start: kernels on disk only."""
    torch._dynamo.reset()
    monkeypatch.setattr(kernels, "_kernels", {})


def norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(F.gelu(x) * w, (x.shape[-1],)).softmax(-1)


def args(n: int = 6, m: int = 40) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(n, m), torch.randn(m)


def run(n: int = 6, m: int = 40, **kwargs: object) -> dict[str, int]:
    """How much the counters grow when `norm` is compiled afresh and run; its result is compared to eager's."""
    before = counters()
    x, w = args(n, m)
    assert_agrees(torch.compile(norm, backend="fusewright", **kwargs)(x, w), norm(x, w), rtol=1e-4, atol=1e-6)  # type: ignore[call-overload]
    return counted(before)


# ---- sizes and functions -----------------------------------------------------------------------------------------


def test_new_sizes_compile_nothing(directory: Path) -> None:
    call = torch.compile(norm, backend="fusewright", dynamic=True)
    x, w = args()
    call(x, w)
    before = counters()
    for k in range(20):
        x, w = args(3 + 5 * k, 17 + 13 * k)
        assert_agrees(call(x, w), norm(x, w), rtol=1e-4, atol=1e-6)
    grew = counted(before)
    assert grew["kernels_compiled"] == grew["disk_hits"] == grew["fallbacks"] == grew["graphs_traced"] == 0


def test_new_sizes_compile_nothing_backward(directory: Path) -> None:
    call = torch.compile(norm, backend="fusewright", dynamic=True)

    def step(n: int, m: int) -> None:
        x, w = args(n, m)
        x2, w2 = x.clone().requires_grad_(), w.clone().requires_grad_()
        x.requires_grad_(), w.requires_grad_()
        g = torch.randn(n, m)
        call(x, w).backward(g)
        norm(x2, w2).backward(g)
        torch.testing.assert_close(x.grad, x2.grad, rtol=1e-3, atol=1e-5)
        torch.testing.assert_close(w.grad, w2.grad, rtol=1e-3, atol=1e-5)

    step(4, 33)
    before = counters()
    for k in range(20):
        step(2 + 7 * k, 10 + 11 * k)
    grew = counted(before)
    assert grew["kernels_compiled"] == grew["fallbacks"] == grew["graphs_traced"] == 0


def test_static_means_share_kernels(directory: Path) -> None:
    """Traced again for each shape, but the kernels differ in their size parameters only."""
    assert run(6, 140, dynamic=False)["kernels_compiled"] > 0
    torch._dynamo.reset()
    grew = run(9, 172, dynamic=False)
    assert grew["graphs_traced"] == 1 and grew["kernels_compiled"] == 0 and grew["kernels_reused"] > 0


def test_static_shapes_share_kernels(directory: Path) -> None:
    for n, m in ((5, 106), (9, 133), (70, 102)):
        torch._dynamo.reset()
        x, before = torch.randn(n, m), counters()
        fn = lambda x: torch.relu(x) - x.amax(-1, keepdim=True)
        assert_agrees(torch.compile(fn, backend="fusewright", dynamic=False)(x), fn(x))
        grew = counted(before)
        assert grew["graphs_traced"] == 1 and grew["kernels_compiled"] == (1 if n == 5 else 0)


def test_functions_share_kernels(directory: Path) -> None:
    x, y = torch.randn(8, 9), torch.randn(8, 9)
    first = torch.compile(lambda a, b: torch.relu(a * b) + a, backend="fusewright")
    second = torch.compile(lambda p, q: torch.relu(p * q) + p, backend="fusewright")
    first(x, y)
    before = counters()
    assert_agrees(second(x, y), torch.relu(x * y) + x)
    grew = counted(before)
    assert grew["graphs_traced"] == 1 and grew["kernels_compiled"] == 0 and grew["kernels_reused"] == 1


def test_options_that_change_code_do_not_share(directory: Path) -> None:
    run()
    torch._dynamo.reset()
    with fusewright.options(openmp=False):
        assert run()["kernels_compiled"] > 0


# ---- processes ---------------------------------------------------------------------------------------------------

SCRIPT = """
import json, sys, torch, torch.nn.functional as F, fusewright
torch.manual_seed(0)
def norm(x, w):
    return F.layer_norm(F.gelu(x) * w, (x.shape[-1],)).softmax(-1)
x, w = torch.randn(6, 40, requires_grad=True), torch.randn(40)
out = torch.compile(norm, backend="fusewright")(x, w)
torch.testing.assert_close(out, norm(x, w), rtol=1e-4, atol=1e-6)
out.sum().backward()
print(json.dumps(fusewright.counters()))
"""


def start(directory: Path) -> Running:
    return Running("-c", SCRIPT, cwd=ROOT, env={**os.environ, "FUSEWRIGHT_CACHE_DIR": str(directory)})


def finish(process: Running) -> tuple[dict[str, int], str]:
    """(counters, what it said)"""
    done = process.wait()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_two_processes_at_once_then_a_third(tmp_path: Path) -> None:
    """Both compile the same kernels and both succeed; the third finds all of them and generates no code."""
    directory = tmp_path / "cache"
    both = [start(directory), start(directory)]
    for process in both:
        grew, said = finish(process)
        assert grew["fallbacks"] == 0 and "FusewrightWarning" not in said
        assert grew["kernels_compiled"] + grew["disk_hits"] > 0
    files = list(directory.glob("*.fwk"))
    assert files and not list(directory.glob("*.tmp"))
    warm, said = finish(start(directory))
    assert warm["kernels_compiled"] == 0 and warm["disk_hits"] == len(files) and warm["disk_misses"] == 0
    assert "FusewrightWarning" not in said


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    """A file stands in the way: in memory only, with one warning."""
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    grew, said = finish(start(blocked / "cache"))
    assert grew["kernels_compiled"] > 0 and grew["fallbacks"] == 0
    assert said.count("FusewrightWarning") == 1 and "cannot be used" in said


# ---- bad directories ---------------------------------------------------------------------------------------------


def _spoil_truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _spoil_flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100] ^= 0x55
    path.write_bytes(bytes(data))


def _spoil_empty(path: Path) -> None:
    path.write_bytes(b"")


def _spoil_foreign(path: Path) -> None:
    path.write_bytes(b"\x7fELF" + bytes(4000))


SPOILERS = {f.__name__[7:]: f for f in (_spoil_truncate, _spoil_flip, _spoil_empty, _spoil_foreign)}


@pytest.mark.parametrize("how", SPOILERS)
def test_spoiled_files_are_compiled_again(how: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run()["kernels_compiled"]
    assert made == len(list(directory.glob("*.fwk"))) > 0
    for path in directory.glob("*.fwk"):
        SPOILERS[how](path)
    forget(monkeypatch)
    grew = run()
    assert grew["kernels_compiled"] == made and grew["disk_hits"] == 0 and grew["fallbacks"] == 0
    forget(monkeypatch)
    assert run()["kernels_compiled"] == 0, "written again"


def test_files_of_other_kernels_under_our_names(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A valid file that was renamed is not taken for another kernel."""
    x = torch.randn(5, 6)
    torch.compile(lambda a: torch.relu(a) * 2 + 1, backend="fusewright")(x)
    torch.compile(lambda a: torch.sigmoid(a) - a.abs(), backend="fusewright")(x)
    first, second = sorted(directory.glob("*.fwk"))[:2]
    one, two = first.read_bytes(), second.read_bytes()
    first.write_bytes(two)
    second.write_bytes(one)
    forget(monkeypatch)
    before = counters()
    assert_agrees(torch.compile(lambda a: torch.relu(a) * 2 + 1, backend="fusewright")(x), torch.relu(x) * 2 + 1)
    assert counted(before)["kernels_compiled"] == 1 and counted(before)["disk_hits"] == 0


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory.mkdir(mode=0o500)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert run()["fallbacks"] == 0
    assert len([w for w in caught if issubclass(w.category, FusewrightWarning)]) == 1


def test_a_disk_that_refuses_writes(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a read-only or a full one does: one warning, kernels in memory."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(store.Store, "_write", refuse)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grew = run()
        torch._dynamo.reset()
        again = run()
    assert grew["fallbacks"] == 0 and grew["kernels_compiled"] > 0 and again["kernels_compiled"] == 0
    (said,) = [str(w.message) for w in caught if issubclass(w.category, FusewrightWarning)]
    assert "Read-only file system" in said and "FUSEWRIGHT_CACHE_DIR" in said


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX permissions")
def test_a_directory_that_others_may_write_to_is_not_used(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are code: nothing is read from it and nothing is written to it."""
    run()
    files = set(directory.glob("*.fwk"))
    directory.chmod(directory.stat().st_mode | stat.S_IWOTH)
    forget(monkeypatch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grew = run()
    assert grew["disk_hits"] == 0 and grew["kernels_compiled"] > 0
    assert set(directory.glob("*.fwk")) == files
    assert len([w for w in caught if issubclass(w.category, FusewrightWarning)]) == 1


def test_without_a_disk_cache(directory: Path) -> None:
    with fusewright.options(disk_cache=False):
        grew = run()
    assert grew["kernels_compiled"] > 0 and grew["disk_misses"] == 0 and not directory.exists()
