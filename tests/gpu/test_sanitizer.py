"""compute-sanitizer finds nothing in a kernel of every kind (`sanitized.py`): memory, races, barriers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

SANITIZER = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or not Path(SANITIZER).exists(), reason="needs a GPU and compute-sanitizer"
)


@pytest.mark.parametrize("tool", ["memcheck", "racecheck", "synccheck"])
def test_nothing_is_found(tool: str) -> None:
    # calls of the driver that fail are answers to questions, such as which functions it has
    how = ["--report-api-errors", "no"] if tool == "memcheck" else []
    command = [SANITIZER, "--tool", tool, *how, "--error-exitcode", "9", sys.executable, "-m", "tests.gpu.sanitized"]
    # the allocator hands out parts of large blocks, in which memcheck sees no bounds
    env = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env, timeout=550)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "0 errors" in done.stdout or "0 hazards" in done.stdout, done.stdout[-2000:]
