"""A slice of PyTorch's operator database on a GPU, in three types, every operation in a kernel of ours.

`python -m tests.opinfo.run --device cuda` runs all of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
EVERY = {"float32": 24, "bfloat16": 24, "float16": 24}  # of each operator's samples, one in so many

# Where eager on a GPU is not what it is on a CPU, docs/opinfo.md says how.
EAGER = {"_softmax_backward_data"}

pytest.importorskip("expecttest", reason="PyTorch's operator database imports it")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.mark.parametrize("dtype", EVERY)
def test_operators(dtype: str, tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    command = [sys.executable, "-m", "tests.opinfo.run", "--device", "cuda", "--dtype", dtype, "--no-errors"]
    command += ["--every", str(EVERY[dtype]), "--jobs", str(min(os.cpu_count() or 1, 6)), "--json", str(results)]
    env = {**os.environ, "FUSEWRIGHT_ENABLE": "single_op_groups", "FUSEWRIGHT_DISABLE": "fallback"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert results.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    answers = json.loads(results.read_text())["operators"]
    assert sum(a["passed"] for a in answers) > 300
    wrong = [f"{a['op']}: {f}" for a in answers if a["op"] not in EAGER for f in a["failures"]]
    assert not wrong, "\n".join(wrong)
