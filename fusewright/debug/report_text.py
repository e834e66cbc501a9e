"""A report in a terminal, or as plain text."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from .units import NEVER, duration, of_roof, percent, rate, short_line, size

if TYPE_CHECKING:
    from .report import GraphReport, KernelReport, Report

WIDTH = 140  # columns of plain text
SHOWN = 12  # lines of a list before the rest is only counted


def plain(parts: Iterable[Any]) -> str:
    """Renderables as text without colours."""
    out = io.StringIO()
    console = Console(file=out, width=WIDTH, color_system=None, force_terminal=False, legacy_windows=False)
    for p in parts:
        console.print(p)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def report(r: Report) -> Iterator[Any]:
    """The whole report, without sources."""
    kernels = r.kernels
    fused = sum(len(k.operations) for k in kernels)
    total = sum(len(g.operations) for g in r.graphs)
    yield Text(f"fusewright explains {r.title}", style="bold")
    times = ", ".join(f"{duration(s)} {name}" for name, s in r.seconds.items() if s)
    yield Text(f"{len(r.graphs)} graphs, {total} operations, {fused} of them in {len(kernels)} kernels; {times}")
    measured = [k for k in kernels if k.seconds is not None]
    if measured:
        t = sum(k.seconds or 0 for k in measured)
        floor = sum(min(k.roof_seconds, k.seconds or 0) for k in measured)
        yield Text(f"kernels take {duration(t)} per call, {percent(floor / t if t else None)} of what memory allows")
    yield Text(f"{size(r.saved_bytes)} of intermediate results are never written")
    for d, x in r.roofs.items():
        yield Text(f"the roof is a copy on {d}: {rate(x)} (read and written); what is in the caches is faster")
    yield from breaks(r)
    for g in r.graphs:
        yield from graph(g)


def breaks(r: Report) -> Iterator[Any]:
    if r.breaks:
        yield Text(f"\n{len(r.breaks)} graph breaks", style="bold")
        for b in r.breaks[:SHOWN]:
            yield Text(f"  {b.where or 'unknown line'}\n      {b.reason.splitlines()[0]}")
        yield from more(r.breaks)
    if r.recompilations:
        yield Text(f"\n{len(r.recompilations)} recompilations", style="bold")
        for f in r.recompilations[:SHOWN]:
            yield Text(f"  {f.name} at {f.where}\n      {f.recompiled}")
        yield from more(r.recompilations)
    for f in r.frames:
        if f.failure:
            yield Text(f"\nDynamo gave up on {f.name} at {f.where}: {f.failure.splitlines()[0]}")
    for why in r.missing:
        yield Text(f"not known: {why}")


def more(items: Any) -> Iterator[Any]:
    if len(items) > SHOWN:
        yield Text(f"  … and {len(items) - SHOWN} more")


def graph(g: GraphReport) -> Iterator[Any]:
    if g.kind == "plain":
        yield Text(f"\n{g.name} runs as plain PyTorch: {g.failure}", "bold")
        return
    took = sum(g.stage_seconds.values()) + sum(sum(k.stage_seconds.values()) for k in g.kernels)
    yield Text(
        f"\n{g.name}: {len(g.operations)} operations, {len(g.kernels)} kernels, compiled in {duration(took)}", "bold"
    )
    if g.failure:
        yield Text(f"  runs as traced, because the pipeline failed on it: {g.failure}")
        return
    if g.cuda_graph:
        yield Text(f"  CUDA graph: {g.cuda_graph}", overflow="fold")
    if g.kernels:
        if all(k.why_not_measured == NEVER for k in g.kernels):
            yield Text("  compiled, but not run: Dynamo started again, or nobody called it")
        yield kernels(g)
    claimed = [o for o in g.operations if o.reason.startswith("claimed by executor")]
    yield from tally("run by executors", [(f"{o.target}: {o.reason}", o.where) for o in claimed])
    left = [o for o in g.operations if o.place in ("torch", "unused") and o not in claimed]
    yield from tally("left to torch", [(f"{o.target}: {o.reason}", o.where) for o in left])
    kept = [o for o in g.operations if o.place not in ("torch", "unused") and "executor " in o.reason]
    yield from tally("declined by executors", [(f"{o.target}: {o.reason}", o.where) for o in kept])
    yield from tally("not merged", [(b.reason, f"{b.first} | {b.second}") for b in g.boundaries])


def tally(title: str, items: list[tuple[str, str]]) -> Iterator[Any]:
    """Reasons with how often each occurs, and one place."""
    if not items:
        return
    found: dict[str, list[str]] = {}
    for reason, where in items:
        found.setdefault(reason, []).append(where)
    yield Text(f"  {title}: {len(items)}")
    for reason, places in list(found.items())[:SHOWN]:
        where = next((short_line(p) for p in places if p), "")
        yield Text(f"    {len(places):3d} × {reason}" + (f"   [{where}]" if where else ""), overflow="fold")
    yield from more(list(found))


def kernels(g: GraphReport) -> Table:
    """The kernels in order. Those that are the same, and move as many bytes, share a line with their mean time."""
    table = Table(
        "kernel", "what", "ops", "in + out", "roof", "time", "of roof", "from", "line", box=None, pad_edge=False
    )
    for c in table.columns[2:7]:
        c.justify, c.no_wrap = "right", True
    table.columns[0].no_wrap = table.columns[7].no_wrap = True
    alike: dict[tuple[str, str, int], list[KernelReport]] = {}
    for k in g.kernels:
        alike.setdefault((k.title, k.hash, k.bytes), []).append(k)
    for ks in alike.values():
        k = ks[0]
        times = [x.seconds for x in ks if x.seconds is not None]
        mean = sum(times) / len(times) if times else None
        table.add_row(
            *(k.name, one_line((f"{len(ks)} × " if len(ks) > 1 else "") + k.title), str(len(k.operations))),
            *(f"{size(k.bytes_in)} + {size(k.bytes_out)}", duration(k.roof_seconds), duration(mean)),
            *(of_roof(k.roof_seconds / mean if mean else None), k.origin),
            one_line(short_line(k.lines[0], 50)) if k.lines else "",
        )
    return table


def one_line(text: str) -> Text:
    """A cell of a table that is cut where there is no room; numbers beside it are not."""
    return Text(text, no_wrap=True, overflow="ellipsis")


def kernel(k: KernelReport) -> Iterator[Any]:
    """One kernel, with its source."""
    yield Text(f"{k.name} {k.title}  (structure {k.hash}, {k.origin})", style="bold")
    for line in k.lines:
        yield Text(f"  {line}")
    yield Text(f"  schedule: {k.words}")
    for d in k.directives:
        yield Text(f"    {d}")
    if k.language == "CUDA C++":
        yield Text(f"  sizes: {k.sizes}")
    moved = f"{size(k.bytes_in)} in, {size(k.bytes_out)} out, roof {duration(k.roof_seconds)}"
    if k.seconds is None:
        yield Text(f"  {moved}; not measured: {k.why_not_measured}")
    else:
        yield Text(f"  {moved}; measured {duration(k.seconds)}, {rate(k.bandwidth)}, {percent(k.share)} of the roof")
    if "unavailable" not in k.resources:
        for name, used in k.resources.items():
            yield Text(f"  {name}: " + ", ".join(f"{n} {what}" for what, n in used.items()))
    yield Text(f"  {size(k.saved_bytes)} of intermediate results stay in registers\n")
    yield Text(k.algorithm + "\n")
    yield Syntax(k.source, "llvm" if k.language == "LLVM IR" else "cuda", background_color="default", word_wrap=True)
