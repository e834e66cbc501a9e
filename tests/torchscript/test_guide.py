"""docs/torchscript.md: its examples run, and its table names what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fusewright
from tests.processes import python

GUIDE = Path(__file__).parent.parent.parent / "docs" / "torchscript.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
ROWS = [line for line in GUIDE.read_text().splitlines() if re.match(r"\| .*(torch|NVFUSER)", line)]


@pytest.mark.every(3)
@pytest.mark.parametrize("k", range(len(EXAMPLES)))
def test_examples_run(k, tmp_path):
    script = tmp_path / "example.py"
    script.write_text(EXAMPLES[k])
    done = python(script)
    assert done.returncode == 0, done.stderr


def test_the_migration_table_names_what_exists():
    """Every `fuser(...)` of the table can be made."""
    calls = [call for row in ROWS for call in re.findall(r"`(?:with )?(fusewright\.fuser\(.*?\)):?`", row)]
    assert len(calls) >= 8
    for call in calls:
        eval(call, {"fusewright": fusewright})
