"""`fusewright profile script.py`: a table of kernels and a timeline of compile phases."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .core.errors import UserError
from .debug import dynamo, record
from .debug.profile import Profile, Row, rows, trace
from .debug.report_text import one_line
from .debug.units import duration, of_roof, percent, rate, short_line
from .explaining import add_script, loaded, run_script

BAR = 40  # characters of the longest bar


def table(found: Sequence[Row], wall: float) -> Table:
    """The kernels of a profile."""
    total = sum(r.seconds for r in found)
    share = f"{percent(total / wall)} of {duration(wall)}" if wall else ""
    out = Table(
        *("kernel", "what", "calls", "total", "per call", "bandwidth", "of roof", "share", "line"),
        caption=f"{len(found)} kernels, {sum(r.calls for r in found)} launches, {duration(total)} in kernels ({share})",
        box=None,
    )
    for c in out.columns[2:8]:
        c.justify, c.no_wrap = "right", True
    out.columns[0].no_wrap = True
    for r in found:
        out.add_row(
            *(r.name, one_line(r.title), str(r.calls), duration(r.seconds), duration(r.per_call), rate(r.bandwidth)),
            *(of_roof(r.of_roof), percent(r.share), one_line(short_line(r.where, 50))),
        )
    return out


def phases(profile: Profile, frames: Sequence[dynamo.Frame]) -> Table:
    """Compile phases: of each frame what Dynamo took, of each graph each of our stages."""
    out = Table("compile phase", "of", "time", "", box=None)
    out.columns[2].justify = "right"
    lines: list[tuple[str, str, float]] = []
    for f in frames:
        lines.append(
            ("Dynamo, AOTAutograd, all below", f"{f.name} {f.id}" + (" (again)" if f.recompiled else ""), f.seconds)
        )
    for g in profile:
        stages: dict[str, float] = dict(g.seconds)
        for k in g.groups:
            for stage, s in k.seconds.items():
                stages[stage] = stages.get(stage, 0.0) + s
        lines += [(f"  {stage}", g.name, s) for stage, s in stages.items()]
    longest = max((s for _, _, s in lines), default=0.0)
    for what, of, s in lines:
        out.add_row(what, escape(of), duration(s), "█" * round(BAR * s / longest) if longest else "")
    return out


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        "fusewright profile", description="Run a script and measure every launch of every kernel."
    )
    parser.add_argument("--trace", metavar="PATH", help="write compile phases and launches as a Chrome trace")
    parser.add_argument("--json", metavar="PATH", help="write the table as JSON")
    add_script(parser)
    parsed = parser.parse_args(argv)
    profile = Profile()
    with record.using(profile), dynamo.observing() as facts:
        began = time.perf_counter()
        code = run_script(parsed.script, parsed.arguments)
        wall = time.perf_counter() - began
    found = rows(profile)
    console = Console() if sys.stdout.isatty() else Console(width=180)
    console.print(table(found, wall) if found else "no kernel of Fusewright was launched")
    loaded(console)
    console.print(phases(profile, facts.frames))
    for text in facts.missing:
        console.print(f"not known: {text}")
    try:
        if parsed.trace:
            trace(profile, facts.frames, parsed.trace)
            if profile.dropped:
                console.print(
                    f"the trace holds the first {len(profile.launches)} launches; {profile.dropped} were left out"
                )
        if parsed.json:
            data: list[dict[str, Any]] = [{**asdict(r), "bandwidth": r.bandwidth} for r in found]
            with open(parsed.json, "w", encoding="utf-8") as f:
                json.dump({"kernels": data, "wall_seconds": wall}, f, indent=1)
    except OSError as e:
        raise UserError(f"cannot write {e.filename}: {e.strerror}") from e
    return code


__all__ = ["main"]
