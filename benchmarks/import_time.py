"""Seconds that `import fusewright` adds to `import torch`, each measured in fresh processes, the least of several."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

SCRIPT = "import time; import torch; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"


def added(module: str, runs: int) -> float:
    """The least time over `runs` processes; the first one may have to write byte code."""
    times = []
    for _ in range(runs + 1):
        command = [sys.executable, "-c", SCRIPT.format(module=module)]
        times.append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return min(times[1:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    modules = ("fusewright", "fusewright.backend", "torch._dynamo")
    result = {}
    for module in modules:
        try:
            result[module] = added(module, args.runs)
            print(f"import {module:28} after torch: {result[module]:.3f} s")
        except subprocess.CalledProcessError as e:
            print(f"import {module:28} failed: {e.stderr.splitlines()[-1]}")
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0 if "fusewright" in result else 1


if __name__ == "__main__":
    sys.exit(main())
