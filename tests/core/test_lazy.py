"""Modules imported on first use, and what a plain program on a CPU leaves unimported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fusewright.core.lazy import lazy_import


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that counts how often it is imported, and its name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "lazily_imported.py").write_text("import builtins\nbuiltins._lazy_count += 1\nvalue = [1]\n")
    monkeypatch.setattr("builtins._lazy_count", 0, raising=False)
    monkeypatch.delitem(sys.modules, "lazily_imported", raising=False)
    yield "lazily_imported"
    sys.modules.pop("lazily_imported", None)


def test_a_module_is_imported_by_the_first_use_of_a_name(module):
    m = lazy_import(module)
    assert "lazily_imported" in repr(m)
    assert module not in sys.modules
    assert m.value == [1]
    assert m.value is sys.modules[module].value and m.value is lazy_import(module).value
    import builtins

    assert builtins._lazy_count == 1


def test_what_is_patched_in_the_module_is_seen(module, monkeypatch):
    m = lazy_import(module)
    assert m.value == [1]
    monkeypatch.setattr(f"{module}.value", 2)
    assert m.value == 2


def test_looking_at_the_stand_in_imports_nothing(module):
    m = lazy_import(module)
    assert not hasattr(m, "__wrapped__") and not hasattr(m, "__file__")
    assert module not in sys.modules


def test_nothing_is_set_on_the_stand_in(module):
    with pytest.raises(AttributeError):
        lazy_import(module).value = 2
    assert module not in sys.modules


def test_names_and_modules_that_are_not_there(module):
    with pytest.raises(AttributeError, match="absent"):
        lazy_import(module).absent  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match="no_such"):
        lazy_import("fusewright.no_such").anything  # noqa: B018


PROGRAM = """
import sys
import torch
import torch.nn.functional as F

def other(x):
    return torch.relu(x) + 1

torch.compile(other, backend="aot_eager")(torch.randn(4, requires_grad=True)).sum().backward()  # torch's own imports
before = set(sys.modules)

def trained(x, w, i):
    h = F.dropout(F.layer_norm(x * 2 + w, (x.shape[-1],), w, w), 0.5)
    return F.gelu(h) * F.softmax(x, -1) + F.embedding(i, x)

import fusewright
f = torch.compile(trained, backend="fusewright", dynamic=True)
for n in (8, 11):
    x, w = torch.randn(n, 300, requires_grad=True), torch.randn(300, requires_grad=True)
    f(x, w, torch.arange(n)).sum().backward()
with torch.no_grad():
    torch.compile(lambda x: (x.cumsum(0), x.sum(0), x.amax()), backend="fusewright")(x)
c = fusewright.counters()
assert c["kernels_compiled"] >= 3 and not c["fallbacks"], c
print("\\n".join(sorted(set(sys.modules) - before)))
"""

# Beginnings of modules' names. Those that are for GPUs say so; here are the others.
FOR_GPUS = (
    *("fusewright.build.nvrtc", "fusewright.run.specialize", "fusewright.run.tune", "fusewright.schedule.device"),
    *("fusewright.schedule.variants", "fusewright.fusion.relax", "fusewright.index.traced", "fusewright.prims.curand"),
)
FOR_PEOPLE = (
    *(
        "rich",
        "pygments",
        "matplotlib",
        "fusewright.interp",
        "fusewright.bench",
        "fusewright.cli",
        "fusewright.graph.text",
    ),
    *(f"fusewright.debug.{m}" for m in ("check", "dynamo", "precision", "probe", "profile", "program", "reasons")),
    *(f"fusewright.debug.{m}" for m in ("report", "repro", "runs", "sources", "stages", "steer", "traffic", "trial")),
    *("fusewright.schedule.edit", "fusewright.schedule.legal", "fusewright.schedule.text"),
)
OTHERS = ("fusewright.trace.eager_random", "fusewright.trace.capture", "fusewright.fusing")


def test_a_program_on_a_cpu_imports_neither_what_is_for_gpus_nor_what_is_for_people():
    """The first call of a process is mostly imports: what is not needed is to stay out of it."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert "fusewright.pipeline" in loaded and "fusewright.emit.llvm" in loaded
    ours = [m for m in loaded if m.startswith("fusewright")]
    assert [m for m in ours if "gpu" in m or "cuda" in m] == []
    assert [m for m in loaded if m.startswith((*FOR_GPUS, *FOR_PEOPLE, *OTHERS)) or m.partition(".")[0] == "cuda"] == []
