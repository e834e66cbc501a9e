"""docs/definitions.md: every program in it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fusewright

GUIDE = Path(__file__).parent.parent.parent / "docs" / "definitions.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_an_example(number):
    scope: dict = {}
    exec(compile(BLOCKS[0].split("\nd = ")[0], str(GUIDE), "exec"), scope)  # imports
    with fusewright.options(fallback=False):
        exec(compile(BLOCKS[number], str(GUIDE), "exec"), scope)


def test_all_operations_are_mentioned():
    text = GUIDE.read_text("utf-8")
    public = [n for n in vars(fusewright.graph.operations.Operations) if not n.startswith("_")]
    assert [n for n in public if f"`{n}" not in text and f"{n}(" not in text] == []
