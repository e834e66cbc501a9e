"""A picture of the GPU table: `python benchmarks/roofline.py run.json docs/gpu.svg`.

Each case is a dot: to the right the bytes that it has to move (inputs and outputs once), upwards its effective
bandwidth, both logarithmic. The line is the copy speed measured in the same process.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 860, 420, 70, 50, 30
COLOURS = {"eager": "#999999", "inductor": "#d9822b", "fusewright": "#1f6fb2"}


def picture(run: dict[str, Any]) -> str:
    """The SVG of a run with GPU rows."""
    rows = [r for r in run["rows"] if r["suite"] == "gpu"]
    roof = run["copy_roof_bytes_per_s"]
    sizes = [r["bytes"] for r in rows]
    lo, hi = math.log(min(sizes) / 1.3), math.log(max(sizes) * 1.3)
    low, high = math.log(roof / 25), math.log(roof * 1.25)

    def x(n: float) -> float:
        return LEFT + (math.log(n) - lo) / (hi - lo) * (WIDTH - LEFT - 150)

    def y(bandwidth: float) -> float:
        at = (math.log(max(bandwidth, math.exp(low))) - low) / (high - low)
        return HEIGHT - BOTTOM - at * (HEIGHT - BOTTOM - TOP)

    view = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" {view}>']
    out.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
    for share in (1.0, 0.5, 0.25, 0.1, 0.05):
        at = y(roof * share)
        dash = "" if share == 1.0 else ' stroke-dasharray="3 4"'
        out.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - 150}" stroke="#444"{dash}/>')
        out.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{share:.2f}</text>')
    out.append(f'<text x="{LEFT}" y="18">share of the copy speed ({roof / 1e12:.2f} TB/s)</text>')
    for mb in (50, 100, 200, 500, 1000):
        if lo < math.log(mb * 1e6) < hi:
            out.append(f'<text x="{x(mb * 1e6):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{mb}</text>')
    out.append(f'<text x="{LEFT}" y="{HEIGHT - 8}">MB read and written at least</text>')
    for k, (name, colour) in enumerate(COLOURS.items()):
        for r in rows:
            if name in r["seconds"]:
                at = x(r["bytes"]), y(r["bytes"] / r["seconds"][name])
                title = f"{r['case']}: {r['share'][name]:.2f}"
                out.append(
                    f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="4.5" fill="{colour}" fill-opacity="0.75">'
                    f"<title>{title}</title></circle>"
                )
        out.append(f'<circle cx="{WIDTH - 125}" cy="{TOP + 30 + 22 * k}" r="5" fill="{colour}"/>')
        out.append(f'<text x="{WIDTH - 112}" y="{TOP + 34 + 22 * k}">{name}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main(source: str, target: str) -> None:
    for run in json.loads(Path(source).read_text())["runs"]:
        if any(r["suite"] == "gpu" for r in run["rows"]):
            Path(target).write_text(picture(run))
            return
    raise SystemExit(f"{source} has no GPU rows")


if __name__ == "__main__":
    main(*sys.argv[1:3])
