"""The examples of docs/aot.md run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import fusewright
from fusewright.cli import main

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "aot.md"


def test_examples(tmp_path: Path, monkeypatch) -> None:
    first, loading, machines, sizes = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    exec(compile(first, "docs/aot.md", "exec"), scope)
    command = [sys.executable, "-c", loading]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    try:
        exec(compile(machines, "docs/aot.md", "exec"), scope)
    except fusewright.UserError as e:
        assert "x86-64-v3" in str(e)  # on another architecture
    exec(compile(sizes, "docs/aot.md", "exec"), scope)
    assert main(["aot", "info", "model.fwp"]) == 0 and main(["aot", "check", "model.fwp"]) == 0
