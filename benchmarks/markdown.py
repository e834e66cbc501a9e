"""Markdown tables from the JSON of `fusewright bench --json FILE`: `python benchmarks/markdown.py FILE`."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

UNITS = {"cpu": ("µs", 1e6, 0), "small": ("µs", 1e6, 1), "overhead": ("µs", 1e6, 2)}


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
            share = f" ({r['share'][n]:.2f})" if n in r["share"] and suite == "cpu" else ""
            cells.append(f"{r['seconds'][n] * scale:,.{digits}f}{share}")
        ratios = [f"{r['seconds'][p] / r['seconds']['fusewright']:.2f}" for p in peers]
        out.append(f"| {r['case']} | {' | '.join([*cells, *ratios])} |")
    if peers:
        means = []
        for p in peers:
            logs = [math.log(r["seconds"][p] / r["seconds"]["fusewright"]) for r in rows]
            means.append(f"**{math.exp(sum(logs) / len(logs)):.2f}**")
        out.append(f"| **geometric mean** |{' |' * len(names)} {' | '.join(means)} |")
    return out


def main(path: str) -> None:
    """Print every table of the file."""
    for run in json.loads(Path(path).read_text())["runs"]:
        m = run["machine"]
        print(f"### Allocator: {run['allocator']}\n")
        machine = f"{m['cpu']}, {m['cores']} cores, {m['cpu_capability']}"
        versions = f"torch {m['torch']}, llvmlite {m['llvmlite']}, commit {m['commit'][:12]}"
        roof = f"{run['copy_roof_bytes_per_s'] * 1e-9:.1f} GB/s"
        print(f"Copy roof {roof}; {machine}; {versions}; load {m['load'][0]:.1f}.\n")
        for suite in ("cpu", "small", "overhead"):
            if any(r["suite"] == suite for r in run["rows"]):
                print("\n".join(table(run, suite)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
