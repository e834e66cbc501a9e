"""Files that are damaged, foreign, newer or for other machines; and writing that fails half-way."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import export

import fusewright
from fusewright import UserError
from fusewright.build import objects
from fusewright.core.errors import RuntimeFault
from fusewright.run import archive
from tests.aot.programs import CASES, MLP

X = torch.randn(3, 12)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "mlp.fwp"
    fusewright.aot_save(CASES["mlp"].export()[1], path)
    return path


@pytest.fixture(scope="module")
def want(saved: Path) -> torch.Tensor:
    return fusewright.aot_load(saved)(X)


def changed(path: Path, to: Path, change: Callable[[dict[str, Any]], None], **members: bytes) -> Path:
    """A copy of a file with another manifest."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for i in old.infolist():
            content = old.read(i)
            if i.filename == "manifest.json":
                manifest = json.loads(content)
                change(manifest)
                content = json.dumps(manifest).encode()
            new.writestr(i.filename, content)
    return to


# --- damage ----------------------------------------------------------------------------------------------


def attempt(path: Path, want: torch.Tensor) -> bool:
    """Whether a file loads, and then gives the right result; else it is refused, with its name."""
    try:
        program = fusewright.aot_load(path)
    except UserError as e:
        assert str(path) in str(e)
        return False
    assert torch.equal(program(X), want)
    return True


def test_truncated(saved: Path, want: torch.Tensor, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    path = tmp_path / "short.fwp"
    rng = random.Random(0)
    for n in {0, 1, 3, 4, 5, 22, len(whole) - 1, *(rng.randrange(len(whole)) for _ in range(60))}:
        path.write_bytes(whole[:n])
        assert not attempt(path, want), n


def test_bytes_that_changed(saved: Path, want: torch.Tensor, tmp_path: Path) -> None:
    """Every byte of code, data and manifest is checked; a few of the container's have no meaning."""
    whole = saved.read_bytes()
    path = tmp_path / "changed.fwp"
    rng = random.Random(1)
    loaded = 0
    for _ in range(300):
        at = rng.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << rng.randrange(8))]) + whole[at + 1 :])
        loaded += attempt(path, want)
    assert loaded < 100


def test_any_manifest_loads_or_is_refused(saved: Path, tmp_path: Path) -> None:
    """Entries that are missing or of another type: refused as damage, whatever they are."""
    path = tmp_path / "manifest.fwp"
    rng = random.Random(2)

    def walk(x: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        items = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
        return [p for k, v in items for p in [(*at, k), *walk(v, (*at, k))]]

    places = walk(json.loads(zipfile.ZipFile(saved).read("manifest.json")))
    for at in rng.sample(places, 120):
        what = rng.choice(["drop", None, 7, "x", [], {}])

        def change(m: dict[str, Any], at: tuple[Any, ...] = at, what: Any = what) -> None:
            *path_to, last = at
            for k in path_to:
                m = m[k]
            if what == "drop":
                del m[last]
            else:
                m[last] = what

        changed(saved, path, change)
        try:
            fusewright.aot_load(path)  # not called: what it would do is as good as the manifest
        except UserError as e:
            assert str(path) in str(e)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\x7fELF....", "is not a program that fusewright.aot_save has written"),
        (b"import os", "is not a program that fusewright.aot_save has written"),
        (b"PK\3\4 and then something else", "is damaged"),
    ],
)
def test_foreign_files(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "foreign.fwp"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        fusewright.aot_load(path)
    assert str(path) in str(caught.value)


def test_other_zip_files_and_no_files(tmp_path: Path) -> None:
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("readme", "hello")
    with pytest.raises(UserError, match="is a zip file, but not a program"):
        fusewright.aot_load(path)
    torch.save({"a": torch.ones(2)}, path)
    with pytest.raises(UserError, match="is a zip file, but not a program"):
        fusewright.aot_load(path)
    with pytest.raises(UserError, match=r"cannot read .*missing.fwp: No such file"):
        fusewright.aot_load(tmp_path / "missing.fwp")
    with pytest.raises(UserError, match=r"cannot read .*: Is a directory"):
        fusewright.aot_load(tmp_path)


def test_newer_formats(saved: Path, tmp_path: Path) -> None:
    path = changed(saved, tmp_path / "new.fwp", lambda m: m.update(format=archive.FORMAT + 1))
    why = f"has format {archive.FORMAT + 1}, this version of Fusewright reads up to {archive.FORMAT}: update Fusewright"
    with pytest.raises(UserError, match=why):
        fusewright.aot_load(path)


def test_nothing_is_unpickled(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a pickle was read")

    for module, name in ((pickle, "load"), (pickle, "loads"), (pickle, "Unpickler"), (torch, "load")):
        monkeypatch.setattr(module, name, never)
    fusewright.aot_load(saved)(X)


@pytest.mark.parametrize(
    "line",
    [
        "__import__('os')",
        "open('/etc/passwd')",
        "in0.__class__",
        "torch.load('x')",
        "exec('1')",
        "(lambda: 0)()",
        "in0.share_memory_()",
        "[x for x in ().__class__.__bases__]",
    ],
)
def test_plans_name_nothing_else(line: str, saved: Path, tmp_path: Path) -> None:
    def change(m: dict[str, Any]) -> None:
        v = m["variants"][0]
        v["source"] = v["source"].replace("    args.clear()\n", f"    args.clear()\n    {line}\n")

    path = changed(saved, tmp_path / "evil.fwp", change)
    with pytest.raises(UserError, match="is damaged"):
        fusewright.aot_load(path)


def test_a_plan_is_functions_only(saved: Path, tmp_path: Path) -> None:
    path = changed(
        saved,
        tmp_path / "evil.fwp",
        lambda m: m["variants"][0].update(source="print(1)\n" + m["variants"][0]["source"]),
    )
    with pytest.raises(UserError, match="is damaged"):
        fusewright.aot_load(path)


# --- other machines, other torch ------------------------------------------------------------------------------


def test_other_cpus(saved: Path, tmp_path: Path) -> None:
    def more(m: dict[str, Any]) -> None:
        m["variants"][0]["cpu"]["needs"] += ["avx1024f"]

    with pytest.raises(UserError, match=r"no machine code for this machine \(native: this CPU lacks avx1024f\): save"):
        fusewright.aot_load(changed(saved, tmp_path / "cpu.fwp", more))

    def other(m: dict[str, Any]) -> None:
        m["variants"][0]["cpu"]["architecture"] = "riscv64"

    with pytest.raises(UserError, match=rf"it is for riscv64, this machine is {objects.architecture()}"):
        fusewright.aot_load(changed(saved, tmp_path / "cpu.fwp", other))


@pytest.mark.parametrize("version", ["2.10.1", "2.14.0+cu130", "3.0"])
def test_other_versions_of_torch(version: str, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", version)
    with pytest.raises(UserError, match=r"cannot be loaded with torch .*: this version of Fusewright runs with torch"):
        fusewright.aot_load(saved)


def test_the_versions_are_those_of_the_package() -> None:
    text = (Path(__file__).parent.parent.parent / "pyproject.toml").read_text()
    found = re.search(r"torch>=(\d+)\.(\d+),<(\d+)\.(\d+)", text)
    assert found
    a, b, c, d = map(int, found.groups())
    assert fusewright.run.saved.TORCH == ((a, b), (c, d))


def test_operators_that_changed(saved: Path, tmp_path: Path) -> None:
    def change(m: dict[str, Any]) -> None:
        m["variants"][0]["operators"]["aten::addmm.default"] = "aten::addmm(Tensor other) -> Tensor"
        m["torch"] = "2.11.0"

    path = changed(saved, tmp_path / "op.fwp", change)
    with pytest.raises(UserError, match=r"saved with torch 2.11.0, where the operator aten::addmm.default was"):
        fusewright.aot_load(path)


def test_operators_of_other_packages(tmp_path: Path) -> None:
    class M(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.aot_tests.triple(x.exp() + 1) * 2

    path = tmp_path / "custom.fwp"
    with torch.library._scoped_library("aot_tests", "DEF") as lib:
        lib.define("triple(Tensor x) -> Tensor")
        lib.impl("triple", lambda x: x * 3, "CompositeExplicitAutograd")
        lib.impl("triple", torch.empty_like, "Meta")
        fusewright.aot_save(export(M(), (torch.ones(3),)), path)
        x = torch.randn(3)
        torch.testing.assert_close(fusewright.aot_load(path)(x), (x.exp() + 1) * 6)
    if hasattr(torch.ops.aot_tests, "triple"):
        delattr(torch.ops.aot_tests, "triple")
    with pytest.raises(UserError, match=r"calls the operator aot_tests::triple.default, which is not known here"):
        fusewright.aot_load(path)


def test_symbols_that_are_not_there(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*args: Any) -> int:
        raise RuntimeFault("symbol Sleef_expf16_u10 is not in this process")

    fusewright.run.saved._function.cache_clear()
    monkeypatch.setattr(objects, "load", gone)
    with pytest.raises(UserError, match=r"cannot be loaded here .*Sleef_expf16_u10.*: save the program again"):
        fusewright.aot_load(saved)


# --- writing ---------------------------------------------------------------------------------------------


def test_saving_is_all_or_nothing(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "program.fwp"
    path.write_bytes(b"what was there")
    program = fusewright.aot_compile(CASES["mlp"].export()[1])
    write, calls = zipfile.ZipFile.writestr, []

    def full(self: zipfile.ZipFile, *args: Any, **kwargs: Any) -> None:
        calls.append(args)
        if len(calls) > 2:
            raise OSError(28, "No space left on device")
        write(self, *args, **kwargs)

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(UserError, match=r"cannot write .*program.fwp: No space left on device"):
        fusewright.aot_save(program, path)
    assert os.listdir(tmp_path) == ["program.fwp"] and path.read_bytes() == b"what was there"
    monkeypatch.undo()
    fusewright.aot_save(program, path)
    assert torch.equal(fusewright.aot_load(path)(X), program(X))


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    program = fusewright.aot_compile(CASES["mlp"].export()[1])
    with pytest.raises(UserError, match=r"cannot write .*nowhere/p.fwp: No such file or directory"):
        fusewright.aot_save(program, tmp_path / "nowhere" / "p.fwp")
    with pytest.raises(UserError, match="it is a directory"):
        fusewright.aot_save(program, tmp_path)
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        with pytest.raises(UserError, match="Permission denied"):
            fusewright.aot_save(program, tmp_path / "p.fwp")
        tmp_path.chmod(0o700)


def test_the_same_program_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        fusewright.aot_save(CASES["mlp"].export()[1], tmp_path / name)
    a, b = (zipfile.ZipFile(tmp_path / name) for name in ("a", "b"))
    assert a.namelist() == b.namelist()
    assert [n for n in a.namelist() if a.read(n) != b.read(n)] == []


def test_what_cannot_be_saved(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a module has to be exported first"):
        fusewright.aot_save(MLP(), tmp_path / "p")
    with pytest.raises(UserError, match="an ExportedProgram or a compiled program is needed, not a str"):
        fusewright.aot_save("mlp", tmp_path / "p")
    with pytest.raises(UserError, match=r"the program was loaded from .*: copy that file"):
        fusewright.aot_save(fusewright.aot_load(saved), tmp_path / "p")
    assert os.listdir(tmp_path) == []


# --- weights ---------------------------------------------------------------------------------------------


def test_without_weights(tmp_path: Path) -> None:
    module, exported = CASES["gpt"].export()
    fusewright.aot_save(exported, tmp_path / "gpt.fwp", weights=False)
    assert not [n for n in zipfile.ZipFile(tmp_path / "gpt.fwp").namelist() if n.startswith("data/")]
    with pytest.raises(UserError, match="saved without weights: give weights="):
        fusewright.aot_load(tmp_path / "gpt.fwp")
    program = fusewright.aot_load(tmp_path / "gpt.fwp", weights=module.state_dict())
    (tokens,), _ = CASES["gpt"].args(2, 7)
    with torch.no_grad():
        torch.testing.assert_close(program(tokens), module(tokens))
        module.norm.weight.mul_(3)  # the same memory
        torch.testing.assert_close(program(tokens), module(tokens))


def test_weights_that_are_given_are_checked(saved: Path) -> None:
    state = MLP().state_dict()
    program = fusewright.aot_load(saved, weights={"up.bias": state["up.bias"]})
    assert torch.equal(program.up.bias, state["up.bias"])
    with pytest.raises(UserError, match=r"weights: up.bias is torch.float64 \[32\] on cpu, the program has"):
        fusewright.aot_load(saved, weights={"up.bias": state["up.bias"].double()})
    with pytest.raises(UserError, match="has no parameter or buffer named middle"):
        fusewright.aot_load(saved, weights={"middle": torch.ones(3)})
    turned = torch.randn(12, 32).t()
    program = fusewright.aot_load(saved, weights={"up.weight": turned})
    assert torch.equal(program.up.weight, turned) and program.up.weight.is_contiguous()


def test_buffers_that_are_not_in_the_state_dict_are_saved_all_the_same(tmp_path: Path) -> None:
    module, exported = CASES["counting"].export()
    fusewright.aot_save(exported, tmp_path / "c.fwp", weights=False)
    program = fusewright.aot_load(tmp_path / "c.fwp", weights=copy.deepcopy(module.state_dict()))
    x = torch.randn(4, 6)
    torch.testing.assert_close(program(x), module(x))


def test_mapped_memory(saved: Path, want: torch.Tensor) -> None:
    program = fusewright.aot_load(saved, mmap=True)
    assert torch.equal(program(X), want)
    before = saved.read_bytes()
    with torch.no_grad():
        program.up.weight.zero_()  # private to the process
    assert saved.read_bytes() == before
    assert torch.equal(fusewright.aot_load(saved)(X), want)


def test_memory_lies_where_vectors_want_it(saved: Path) -> None:
    with open(saved, "rb") as file:
        whole = file.read()
    for i in zipfile.ZipFile(io.BytesIO(whole)).infolist():
        if i.filename.startswith("data/"):
            head = whole[i.header_offset : i.header_offset + 30]
            start = i.header_offset + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
            assert start % archive.ALIGN == 0 and i.compress_type == zipfile.ZIP_STORED
