"""What explaining costs: a transformer of twelve layers, compiled and run once, and explained; each in a new process.

    OMP_NUM_THREADS=1 python benchmarks/explain.py

Forward and backward pass, without the disk cache. The processes take turns; seconds are medians, from before the first
compilation to after the first run, without imports. The ratio of processor times means more on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

import fusewright


def model(layers: int) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.1, activation="gelu", batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False), torch.randn(2, 64, 256)


def once(what: str, layers: int) -> dict[str, Any]:
    """Seconds of one process, and of a report its sizes."""
    m, x = model(layers)
    with fusewright.options(disk_cache=False):
        began, busy = time.perf_counter(), time.process_time()
        if what == "compile":
            torch.compile(m, backend="fusewright")(x).sum().backward()
        else:
            report = fusewright.explain(m, x)
        taken: dict[str, Any] = {what: time.perf_counter() - began, f"{what}_cpu": time.process_time() - busy}
        if what == "compile":
            return taken
    began = time.perf_counter()
    text = str(report)
    taken["print"] = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        page = report.to_html(Path(folder) / "report.html")
        taken["html"] = time.perf_counter() - began
        taken["html_bytes"] = page.stat().st_size
    return {**taken, "lines": len(text.splitlines()), "kernels": len(report.kernels)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--once", choices=("compile", "explain"), help="(what each process does)")
    a = parser.parse_args()
    if a.once:
        print(json.dumps(once(a.once, a.layers)))
        return 0
    found: dict[str, list[float]] = {}
    for _ in range(a.rounds):
        for what in ("compile", "explain"):
            command = [sys.executable, __file__, "--once", what, "--layers", str(a.layers)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            for name, value in json.loads(done.stdout.splitlines()[-1]).items():
                found.setdefault(name, []).append(value)
    middle = {name: statistics.median(values) for name, values in found.items()}
    print(f"compile and run {middle['compile']:.2f} s, explain {middle['explain']:.2f} s", end="")
    print(f": {middle['explain'] / middle['compile']:.2f} times as long, ", end="")
    print(f"{middle['explain_cpu'] / middle['compile_cpu']:.2f} of processor time; {middle['kernels']:.0f} kernels")
    print(f"print {middle['print']:.2f} s ({middle['lines']:.0f} lines), ", end="")
    print(f"write the page {middle['html']:.2f} s ({middle['html_bytes'] / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
