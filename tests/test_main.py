"""`python -m fusewright` is the command line."""

from __future__ import annotations

import subprocess
import sys


def test_the_package_can_be_run() -> None:
    done = subprocess.run([sys.executable, "-m", "fusewright", "--help"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "demo" in done.stdout
