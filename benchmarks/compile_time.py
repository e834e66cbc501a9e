"""Seconds of the first call of new functions, tracing included.

torch.compile's own modules are imported before (another backend compiles something): that time is torch's. Measured
are the first function of a process and the mean of later, different ones; then the same in a second process, which
finds the disk cache warm. Every run of this script starts from an empty cache directory.

Most of the first call is importing our modules. An installed package has byte code; where Python is told to write none
(PYTHONDONTWRITEBYTECODE), every process compiles the sources again, and the script says so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PEERS_CACHE = "TORCHINDUCTOR_CACHE_DIR"


def measure(backend: str, backward: bool) -> dict[str, Any]:
    """First calls in this process."""
    import torch
    import torch.nn.functional as F

    def preliminary(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) + 1

    functions = [
        lambda x, w: F.layer_norm(x * 2 + w, (x.shape[-1],), w, w),
        lambda x, w: F.softmax(x + w, -1) * x,
        lambda x, w: F.gelu(x * w) + torch.tanh(x),
        lambda x, w: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w,
        lambda x, w: (torch.sigmoid(x) * w).sum(0),
        lambda x, w: F.log_softmax(x * w, -1).amax(-1),
    ]
    warm = torch.randn(64, 256, requires_grad=True)
    torch.compile(preliminary, backend="aot_eager")(warm).sum().backward()
    times = []
    for i, fn in enumerate(functions):
        x, w = torch.randn(64, 256 + i, requires_grad=backward), torch.randn(256 + i, requires_grad=backward)
        began = time.perf_counter()
        out = torch.compile(fn, backend=backend)(x, w)
        if backward:
            out.sum().backward()
        times.append(time.perf_counter() - began)
    result: dict[str, Any] = {"first": times[0], "later": sum(times[1:]) / len(times[1:]), "all": times}
    if backend == "fusewright":
        import fusewright

        counters = fusewright.counters()
        result |= {k: counters[k] for k in ("kernels_compiled", "disk_hits", "fallbacks")}
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", action="append", help="repeatable; default: fusewright")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--backward", action="store_true", help="forward and backward")
    args = parser.parse_args()
    if args.child:
        print("\n" + json.dumps(measure(args.child, args.backward)))
        return 0
    if sys.dont_write_bytecode:
        print("(Python writes no byte code here: the first call compiles our sources)")
    results = {}
    for backend in args.backend or ["fusewright"]:
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "FUSEWRIGHT_CACHE_DIR": folder, PEERS_CACHE: folder}
            for state in ("cold", "warm"):
                command = [sys.executable, "-W", "ignore", __file__, "--child", backend]
                command += ["--backward"] * args.backward
                out = subprocess.run(command, env=env, capture_output=True, text=True)
                if out.returncode:
                    print(f"{backend}: {out.stderr.splitlines()[-1]}")
                    return 1
                row = json.loads(out.stdout.splitlines()[-1])
                results[f"{backend}, {state} disk cache"] = row
                extra = ", ".join(f"{k} {row[k]}" for k in ("kernels_compiled", "disk_hits") if k in row)
                print(
                    f"{backend:12} {state} disk cache: first {row['first']:.3f} s, later {row['later']:.3f} s  {extra}"
                )
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
