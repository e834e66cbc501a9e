"""Markdown tables from the JSON of `fusewright bench --json FILE`: `python benchmarks/markdown.py FILE`."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

UNITS = {
    "cpu": ("µs", 1e6, 0),
    "small": ("µs", 1e6, 1),
    "overhead": ("µs", 1e6, 2),
    "gpu": ("µs on the device", 1e6, 0),
    "gpu-train": ("µs on the device", 1e6, 0),
    "gpu-odd": ("µs on the device", 1e6, 0),
    "gpu-more": ("µs on the device", 1e6, 0),
    "gpu-sizes": ("µs on the device", 1e6, 0),
    "gpu-scatter": ("µs on the device", 1e6, 0),
}
ROOFED = ("cpu", "gpu", "gpu-train", "gpu-odd", "gpu-more", "gpu-sizes")


def table(run: dict[str, Any], suite: str) -> list[str]:
    """One suite of one run: time and share of the roof per implementation, then ratios."""
    rows = [r for r in run["rows"] if r["suite"] == suite]
    names = list(rows[0]["seconds"])
    unit, scale, digits = UNITS[suite]
    peers = [n for n in names if n != "fusewright"] if suite != "overhead" else []
    out = [f"| case, {unit} | {' | '.join(names)} |" + "".join(f" × {p} |" for p in peers)]
    out.append("| --- |" + " --- |" * (len(names) + len(peers)))
    for r in rows:
        cells = []
        for n in names:
            share = f" ({r['share'][n]:.2f})" if n in r["share"] and suite in ROOFED else ""
            cells.append(f"{r['seconds'][n] * scale:,.{digits}f}{share}")
        ratios = [f"{r['seconds'][p] / r['seconds']['fusewright']:.2f}" for p in peers]
        out.append(f"| {r['case']} | {' | '.join([*cells, *ratios])} |")
    if peers:
        means = []
        for p in peers:
            logs = [math.log(r["seconds"][p] / r["seconds"]["fusewright"]) for r in rows]
            means.append(f"**{math.exp(sum(logs) / len(logs)):.2f}**")
        shares = [""] * len(names)
        if suite == "gpu":
            shares = [f" ({_mean([r['share'][n] for r in rows]):.2f})" for n in names]
        out.append(f"| **geometric mean** |{' |'.join(shares)} | {' | '.join(means)} |")
    return out


def first_calls(run: dict[str, Any], suite: str) -> str:
    """Mean seconds of the first call of each implementation of a suite."""
    rows = [r for r in run["rows"] if r["suite"] == suite]
    names = [n for n in rows[0]["first_call_s"] if n != "eager"]
    means = (f"{n} {sum(r['first_call_s'][n] for r in rows) / len(rows):.2f} s" for n in names)
    return f"First call of a new function, mean: {', '.join(means)}."


def _mean(xs: list[float]) -> float:
    return math.exp(sum(map(math.log, xs)) / len(xs))


def main(path: str) -> None:
    """Print every table of the file."""
    for run in json.loads(Path(path).read_text())["runs"]:
        m = run["machine"]
        gpu = any(r["suite"].startswith("gpu") for r in run["rows"])
        print("### GPU\n" if gpu else f"### Allocator: {run['allocator']}\n")
        machine = m["gpu"] if gpu else f"{m['cpu']}, {m['cores']} cores, {m['cpu_capability']}"
        versions = f"torch {m['torch']}, llvmlite {m['llvmlite']}, commit {m['commit'][:12]}"
        roof = f"{run['copy_roof_bytes_per_s'] * 1e-9:.1f} GB/s"
        print(f"Copy roof {roof}; {machine}; {versions}; load {m['load'][0]:.1f}.\n")
        for suite in UNITS:
            if any(r["suite"] == suite for r in run["rows"]):
                print("\n".join(table(run, suite)) + "\n")
                if suite == "gpu":
                    print(first_calls(run, suite) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
