"""docs/executors.md: every program in it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from fusewright import executors

GUIDE = Path(__file__).parent.parent.parent / "docs" / "executors.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_an_example(number):
    scope: dict = {"__name__": __name__}
    exec(compile("import torch\nimport fusewright\nimport fusewright.executors", str(GUIDE), "exec"), scope)
    try:
        exec(compile(BLOCKS[number], str(GUIDE), "exec"), scope)
    finally:
        assert executors.unregister() == 0
        torch.compiler.reset()
