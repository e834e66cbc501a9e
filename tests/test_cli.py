"""The command line: output, exit codes, and what each mistake says."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

import fusewright
from fusewright import cli
from fusewright.build.store import Store
from fusewright.core.errors import UserError
from fusewright.core.options import TABLE, options
from fusewright.run import code


@pytest.fixture
def directory(tmp_path):
    with options(cache_dir=tmp_path / "cache"):
        yield tmp_path / "cache"


@pytest.fixture
def filled(directory):
    store = Store(directory, 1 << 20)
    store.put("k" * 40, b"x" * 5000, {"name": "softmax [rows]", "isa": "avx512"})
    store.put("l" * 40, b"y" * 100)
    return store


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"fusewright {fusewright.__version__}\n"


def test_cache_list(filled, capsys):
    assert cli.main(["cache", "list"]) == 0
    out = capsys.readouterr().out
    assert "k" * 24 in out and "2 kernels" in out and "softmax" in out


def test_cache_list_names_kernels(directory, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    store = Store(directory, 1 << 20)
    monkeypatch.setattr(code, "default_store", lambda: store)
    func = types.SimpleNamespace(name="inner_persistent_max_exp_sum_div", bufs=[1, 2])
    code.code_for("k" * 40, func, "skylake-avx512", lambda: b"code")
    assert cli.main(["cache", "list"]) == 0
    out = capsys.readouterr().out
    assert "inner_persistent_max_exp_sum_div" in out and "skylake-avx512" in out and "kkkk" in out


def test_cache_size(filled, capsys):
    assert cli.main(["cache", "size"]) == 0
    out = capsys.readouterr().out
    assert "512.0 MiB" in out and "KiB" in out


def test_cache_clear(filled, capsys):
    assert cli.main(["cache", "clear"]) == 0
    assert "removed 2 kernels" in capsys.readouterr().out
    assert filled.entries() == []


def test_cache_of_a_fresh_machine(directory, capsys):
    for action in ("list", "size", "clear"):
        assert cli.main(["cache", action]) == 0
    assert "0 kernels" in capsys.readouterr().out
    assert not directory.exists(), "looking does not create it"


def test_cache_dir(directory, capsys):
    assert cli.main(["cache", "dir"]) == 0
    assert capsys.readouterr().out == f"{directory}\n"


def test_options(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.main(["options"]) == 0
    out = capsys.readouterr().out
    for row in TABLE:
        assert row.name in out
    assert "FUSEWRIGHT_DISABLE=pool" in out and "FUSEWRIGHT_RNG=philox|eager" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["cache"], "the following arguments are required: action"),
        (["cache", "shrink"], "invalid choice: 'shrink'"),
        (["options", "extra"], "unrecognized arguments: extra"),
        (["demo", "--device", "abacus"], "fusewright: --device abacus: Expected one of"),
        (["demo", "--backend", "abacus"], "no backend of torch.compile is named 'abacus'"),
        (["bench", "--device", "abacus"], "fusewright: --device abacus: Expected one of"),
        (["bench", "--peers", "abacus"], "no backend of torch.compile is named 'abacus'"),
    ],
)
def test_mistakes(arguments, message, capsys):
    assert cli.main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err and captured.out == ""


@pytest.mark.parametrize("name", ["demo", "bench"])
def test_programs_get_their_arguments_unread(name, monkeypatch):
    seen = []
    program = types.SimpleNamespace(main=lambda argv: seen.append(argv))
    monkeypatch.setitem(sys.modules, f"fusewright.{name}", program)
    assert cli.main([name, "--help", "--peers"]) == 0
    assert seen == [["--help", "--peers"]]
    program.main = lambda argv: 1
    assert cli.main([name]) == 1

    def mistaken(argv):
        raise UserError("no such size")

    program.main = mistaken
    assert cli.main([name]) == 2


def test_a_mistake_in_the_environment_is_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "fusewright.cli", "options"],
        env={"FUSEWRIGHT_DISABLE": "fallbak"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr == "fusewright: FUSEWRIGHT_DISABLE: unknown switch 'fallbak': did you mean 'fallback'?\n"


def test_importing_fusewright_is_light():
    code = (
        "import sys, time, torch\n"
        "before = set(sys.modules); start = time.perf_counter()\n"
        "import fusewright\n"
        "spent = time.perf_counter() - start\n"
        "new = set(sys.modules) - before\n"
        "assert not any(n.split('.')[0] in ('rich', 'llvmlite') or n.startswith('torch') for n in new), new\n"
        "print(spent)\n"
    )
    spent = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert spent < 0.15


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="module 'fusewright' has no attribute 'nothing'"):
        fusewright.nothing  # noqa: B018
    assert set(fusewright.__all__) <= set(dir(fusewright))
