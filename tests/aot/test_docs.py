"""The examples of docs/aot.md run."""

from __future__ import annotations

import re
from pathlib import Path

import fusewright
from fusewright.cli import main
from tests.processes import python

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "aot.md"


def test_examples(tmp_path: Path, monkeypatch) -> None:
    first, loading, machines, sizes = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    exec(compile(first, "docs/aot.md", "exec"), scope)
    done = python("-c", loading, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    try:
        exec(compile(machines, "docs/aot.md", "exec"), scope)
    except fusewright.UserError as e:
        assert "x86-64-v3" in str(e)  # on another architecture
    exec(compile(sizes, "docs/aot.md", "exec"), scope)
    assert main(["aot", "info", "model.fwp"]) == 0 and main(["aot", "check", "model.fwp"]) == 0
