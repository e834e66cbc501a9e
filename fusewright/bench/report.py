"""Tables, summaries and a plot of what the runner measured."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

OURS = "fusewright"
PEER = "inductor"
Run = dict[str, Any]


def geometric_mean(values: Iterable[float]) -> float:
    """NaN for no values."""
    logs = [math.log(v) for v in values if v > 0]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def duration(seconds: float) -> str:
    """Microseconds with as many digits as mean something."""
    micro = seconds * 1e6
    return f"{micro:.2f}" if micro < 100 else f"{micro:,.0f}"


def _ratio(row: dict[str, Any], slow: str, fast: str) -> float | None:
    times = row["seconds"]
    return times[slow] / times[fast] if slow in times and fast in times else None


def subject(names: list[str]) -> str:
    """The implementation that ratios are about: ours, or without it the last one."""
    return OURS if OURS in names else names[-1]


def table(run: Run, names: list[str], suite: str) -> Table | None:
    """The rows of one suite as a table; None when it has none."""
    rows = [r for r in run["rows"] if r["suite"] == suite]
    if not rows:
        return None
    ours = subject(names)
    columns = list(names)
    if suite == "overhead":
        columns = list(dict.fromkeys(n for r in rows for n in (*r["seconds"], *r["failed"])))
    words = {"reuse": "memory reused by the allocator", "default": "default allocator"}
    gbs = run["copy_roof_bytes_per_s"] / 1e9
    out = Table(title=f"{suite}, {run['device']}, {words[run['allocator']]}: median µs (share of {gbs:.1f} GB/s)")
    out.add_column("case", no_wrap=True)
    for name in columns:
        out.add_column(name, justify="right", no_wrap=True)
    others = [n for n in names if n != ours] if suite != "overhead" else []
    for name in others:
        out.add_column(f"× {name}", justify="right")
    if suite != "overhead":
        out.add_column(f"first call s, {ours}", justify="right")
    peaks = any("peak_bytes" in r for r in rows)
    if peaks:
        out.add_column("peak MB", justify="right")
    for row in rows:
        cells = [row["case"]]
        for name in columns:
            if name in row["failed"]:
                cells.append("[red]failed[/red]")
            elif name in row["seconds"]:
                share = f" ({row['share'][name]:.2f})" if name in row["share"] else ""
                cells.append(duration(row["seconds"][name]) + share)
            else:
                cells.append("–")
        for name in others:
            ratio = _ratio(row, name, ours)
            style = "green" if ratio and ratio >= 1 else "red"
            cells.append(f"[{style}]{ratio:.2f}[/{style}]" if ratio else "–")
        if suite != "overhead":
            first = row["first_call_s"].get(ours)
            cells.append(f"{first:.2f}" if first is not None else "–")
        if peaks:
            peak = row.get("peak_bytes") or {}
            cells.append(
                " / ".join(f"{peak[n] / 1e6:.0f}" if peak.get(n) is not None else "–" for n in names if n in peak)
            )
        out.add_row(*cells)
    return out


def summary(run: Run, names: list[str]) -> list[tuple[str, float, str]]:
    """(what, value, wish) for the means and worst cases that the project's targets speak of."""
    ours = subject(names)
    rows = [r for r in run["rows"] if r["suite"] == "cpu"]
    found: list[tuple[str, float, str]] = []
    peer_target = {"reuse": "≥ 1.5", "default": "≥ 2.5"}[run["allocator"]]
    for name in names:
        ratios = {r["case"]: x for r in rows if name != ours and (x := _ratio(r, name, ours)) is not None}
        if ratios:
            target = peer_target if name == PEER else ""
            found.append(
                (f"{ours} against {name}, geometric mean of {len(ratios)}", geometric_mean(ratios.values()), target)
            )
            worst = min(ratios, key=ratios.__getitem__)
            found.append((f"… the least: {worst}", ratios[worst], "≥ 1" if name in ("eager", PEER) else ""))
    for row in rows:
        if row["dropout"] and (x := _ratio(row, "eager", ours)) is not None and ours != "eager":
            found.append(("forward + backward with dropout, against eager", x, "≥ 3"))
    cache = run["machine"]["last_level_cache"]
    shares = [r["share"][ours] for r in rows if ours in r["share"] and r["bytes"] > cache]
    if shares:
        found.append(
            (
                f"share of the copy roof, geometric mean of {len(shares)} larger than the cache",
                geometric_mean(shares),
                "≥ 0.85",
            )
        )
    for row in run["rows"]:
        if row["suite"] == "overhead" and not row["backward"] and {ours, "hand-written"} <= row["seconds"].keys():
            extra = (row["seconds"][ours] - row["seconds"]["hand-written"]) * 1e6
            found.append(("call overhead over a hand-written boxed function, µs", extra, "≤ 2"))
    return found


def _met(value: float, wish: str) -> str:
    if not wish:
        return ""
    sign, number = wish.split()
    return (
        "[green]yes[/green]" if (value >= float(number) if sign == "≥" else value <= float(number)) else "[red]no[/red]"
    )


def show(console: Console, run: Run, names: list[str], suites: list[str]) -> None:
    """Print one run: its tables, then the summary with the targets, then what failed."""
    for suite in suites:
        made = table(run, names, suite)
        if made is not None:
            console.print(made)
    lines = summary(run, names)
    if lines:
        out = Table(title=f"summary, allocator: {run['allocator']}")
        out.add_column("what")
        out.add_column("value", justify="right")
        out.add_column("target", justify="right")
        out.add_column("met")
        for what, value, wish in lines:
            out.add_row(what, f"{value:.2f}", wish, _met(value, wish))
        console.print(out)
    for row in run["rows"]:
        for name, why in row["failed"].items():
            console.print(f"[red]failed[/red] {row['case']}, {name}: {why}", markup=True, highlight=False)


def show_machine(console: Console, machine: dict[str, Any]) -> None:
    """One paragraph that says where the numbers are from."""
    flags = " ".join(machine["flags"])
    console.print(
        f"{machine['cpu']}, {machine['cores']} cores, {machine['threads']} threads, "
        f"{machine['cpu_capability']} ({flags}); "
        f"torch {machine['torch']}, fusewright {machine['fusewright']}"
        + (f", commit {machine['commit'][:12]}" if machine["commit"] else "")
        + (f", {machine['gpu']}" if "gpu" in machine else ""),
        highlight=False,
    )


def plot(runs: list[Run], names: list[str], path: Path) -> bool:
    """Bars of the share of the copy roof, one panel for each run; False when matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(len(runs), 1, figsize=(12, 5 * len(runs)), squeeze=False)
    for run, panel in zip(runs, panels[:, 0], strict=True):
        rows = [r for r in run["rows"] if r["share"]]
        width = 0.8 / len(names)
        for k, name in enumerate(names):
            places = [i + k * width for i in range(len(rows))]
            panel.bar(places, [r["share"].get(name, 0) for r in rows], width, label=name)
        panel.axhline(1.0, color="black", linewidth=0.8)
        panel.set_xticks([i + 0.4 - width / 2 for i in range(len(rows))])
        panel.set_xticklabels([r["case"] for r in rows], rotation=35, ha="right", fontsize=7)
        panel.set_ylabel("share of the copy roof")
        panel.set_title(f"{run['device']}, allocator: {run['allocator']}")
        panel.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return True
