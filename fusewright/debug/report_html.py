"""A report as one HTML page that needs nothing else: no network, no files beside it.

The graphs are drawn here, as SVG; `html_page.py` has the style and the script, which only shows, hides and marks. What
the page says travels as JSON and is put into it as text, never as markup.
"""

from __future__ import annotations

import hashlib
import json
import re
from html import escape
from typing import TYPE_CHECKING, Any

from .html_layout import CELL_H, CELL_W, TITLE, Box, Drawing, Item, arrange
from .html_page import CSS, SCRIPT
from .units import duration, percent, rate, short_line, size

if TYPE_CHECKING:
    from .report import GraphReport, KernelReport, Report

SOURCES = 3 << 20  # characters of kernel source in a page; what is beyond is left out, quickest kernels first
ITEM_W, ITEM_H = CELL_W - 12, CELL_H - 6  # an operation without the gap around it
COLLAPSED = frozenset(("view", "host", "item", "unused"))
_WHERE = re.compile(r"(?P<file>.*?):(?P<line>\d+)(?: \((?P<code>.*)\))?\Z", re.DOTALL)


def page(r: Report) -> str:
    """The page."""
    lines: dict[str, int] = {}
    graphs = [_graph(g, lines) for g in r.graphs]
    sources, which = _sources(r.kernels)
    total = sum(k.seconds or 0.0 for k in r.kernels)
    data = {
        "title": r.title,
        "facts": _facts(r, total),
        "breaks": [{"where": b.where, "reason": b.reason} for b in r.breaks],
        "recompilations": [{"where": f"{f.name} at {f.where}", "reason": f.recompiled} for f in r.recompilations],
        "missing": list(r.missing),
        "lines": [_line(w) for w in lines],
        "graphs": [d for d, _ in graphs],
        "kernels": [_kernel(k, which[k.name], lines, total) for k in r.kernels],
        "sources": sources,
    }
    drawings = "\n".join(
        f'<svg class="graph" id="g{n}" width="{d.width:.0f}" height="{d.height:.0f}" hidden>{_svg(g, d, n)}</svg>'
        for n, (g, (_, d)) in enumerate(zip(r.graphs, graphs, strict=True))
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<link rel="icon" href="data:,">\n'
        f"<title>fusewright: {escape(r.title)}</title>\n<style>{CSS}</style></head>\n<body>\n"
        f'<header><h1>{escape(r.title)}</h1><div id="facts"></div></header>\n'
        '<main><nav id="lines"></nav><section id="middle"><div id="tabs"></div>'
        f'<div id="drawing">{drawings}</div></section><aside id="details"></aside></main>\n'
        f'<script type="application/json" id="data">{_json(data)}</script>\n<script>{SCRIPT}</script>\n</body></html>\n'
    )


def _json(data: Any) -> str:
    """JSON that may stand in a script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for c in "<>&\u2028\u2029":
        text = text.replace(c, f"\\u{ord(c):04x}")
    return text


def _facts(r: Report, total: float) -> list[str]:
    ops = sum(len(g.operations) for g in r.graphs)
    fused = sum(len(k.operations) for k in r.kernels)
    floor = sum(min(k.roof_seconds, k.seconds) for k in r.kernels if k.seconds is not None)
    out = [f"{len(r.graphs)} graphs", f"{ops} operations, {fused} of them in {len(r.kernels)} kernels"]
    if total:
        out.append(f"kernels take {duration(total)}, {percent(floor / total)} of what memory allows")
    out.append(f"{size(r.saved_bytes)} of intermediate results never written")
    out += [f"copy on {d}: {rate(x)}" for d, x in r.roofs.items()]
    return out + [f"{name}: {duration(s)}" for name, s in r.seconds.items() if s]


def _line(where: str) -> dict[str, Any]:
    found = _WHERE.match(where)
    if found is None:
        return {"file": "", "line": 0, "code": where}
    return {"file": found["file"], "line": int(found["line"]), "code": found["code"] or ""}


def _graph(g: GraphReport, lines: dict[str, int]) -> tuple[dict[str, Any], Drawing]:
    """What the page knows of a graph, and its drawing. `lines` collects the user's lines."""
    ops = [
        {
            "name": o.name,
            "target": o.target,
            "line": lines.setdefault(o.where, len(lines)) if o.where else -1,
            "place": o.place,
            "kernels": list(o.kernels),
            "reason": o.reason,
            "prims": list(o.primitives),
            "result": o.result,
        }
        for o in g.operations
    ]
    data = {
        "name": g.name,
        "failure": g.failure,
        "ops": ops,
        "boundaries": [[b.first, b.second, b.kind, b.reason] for b in g.boundaries],
        "plan": g.plan,
        "cuda_graph": g.cuda_graph,
    }
    return data, _arrange(g)


def _arrange(g: GraphReport) -> Drawing:
    by_name = {o.name: o for o in g.operations}
    through: dict[str, list[int]] = {}
    for o in g.operations:  # what each operation comes down to when what is not drawn is looked through
        if o.place in COLLAPSED:
            through[o.name] = list(dict.fromkeys(k for n in o.reads for k in through.get(n, ())))
        else:
            through[o.name] = [o.index]
    box_of = {k.name: n for n, k in enumerate(g.kernels)}
    boxes = [Box(titled=True) for _ in g.kernels]
    items = []
    for o in g.operations:
        if o.place in COLLAPSED:
            continue
        home = o.kernels[0] if o.place in ("kernel", "inline", "dropped") and o.kernels else ""
        if home not in box_of or o.place == "dropped":
            box_of[home := f"op {o.index}"] = len(boxes)
            boxes.append(Box())
        n = box_of[home]
        boxes[n].items.append(o.index)
        reads = [k for name in o.reads if name in by_name for k in through[name]]
        items.append(Item(o.index, list(dict.fromkeys(reads)), n))
    return arrange(items, boxes)


def _svg(g: GraphReport, d: Drawing, number: int) -> str:
    """The drawing. Elements carry what they stand for in data attributes."""
    out = []
    longest = max((k.seconds or 0.0 for k in g.kernels), default=0.0)
    for n, k in enumerate(g.kernels):
        b, hue = d.boxes[n], (n * 47) % 360
        style = f"fill:hsl({hue} 65% 90%);stroke:hsl({hue} 45% 55%)"
        out.append(f'<g class="kernel" data-kernel="{escape(k.name)}">')
        out.append(f'<rect {_at(b.x, b.y, b.width, b.height)} rx="6" style="{style}"/>')
        if k.seconds and longest:
            out.append(f'<rect class="heat" {_at(b.x, b.y, b.width * k.seconds / longest, 4)}/>')
        room = max(8, int(b.width / 6.2))
        name = f"{k.name.rpartition('.')[2]} {k.title}" + (f" {duration(k.seconds)}" if k.seconds else "")
        out.append(f'<text x="{b.x + 6:.0f}" y="{b.y + TITLE - 2:.0f}">{escape(_cut(name, room))}</text></g>')
    for start, end in d.edges:
        p, q = d.items[start], d.items[end]
        x1, y1, x2, y2 = p.x + ITEM_W / 2, p.y + ITEM_H, q.x + ITEM_W / 2, q.y
        bend = max(10.0, min(60.0, abs(y2 - y1) / 2))
        out.append(
            f'<path d="M{x1:.0f} {y1:.0f}C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}"/>'
        )
    for o in g.operations:
        i = d.items.get(o.index)
        if i is None:
            continue
        out.append(f'<g class="op in-{o.place}" data-op="{number}:{o.index}">')
        out.append(f'<rect {_at(i.x, i.y, ITEM_W, ITEM_H)} rx="4"/>')
        out.append(f'<text x="{i.x + 5:.0f}" y="{i.y + 14:.0f}">{escape(_cut(o.name, 18))}</text>')
        out.append(f"<title>{escape(o.target)} {escape(o.result)}\n{escape(short_line(o.where))}</title></g>")
    return "".join(out)


def _at(x: float, y: float, width: float, height: float) -> str:
    return f'x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}"'


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _sources(kernels: list[KernelReport]) -> tuple[list[str], dict[str, int]]:
    """Distinct sources, and which one each kernel has (-1: left out)."""
    texts: list[str] = []
    found: dict[str, int] = {}
    which: dict[str, int] = {}
    used = 0
    for k in sorted(kernels, key=lambda k: -(k.seconds or 0.0)):
        digest = hashlib.sha256(k.source.encode()).hexdigest()
        if digest not in found:
            used += len(k.source)
            found[digest] = len(texts) if used <= SOURCES else -1
            if used <= SOURCES:
                texts.append(k.source)
        which[k.name] = found[digest]
    return texts, which


def _kernel(k: KernelReport, source: int, lines: dict[str, int], total: float) -> dict[str, Any]:
    timing = [["in", size(k.bytes_in)], ["out", size(k.bytes_out)], ["roof", duration(k.roof_seconds)]]
    if k.seconds is None:
        timing.append(["measured", f"no: {k.why_not_measured}"])
    else:
        timing += [
            ["measured", duration(k.seconds)],
            ["bandwidth", f"{rate(k.bandwidth)}, {percent(k.share)} of the roof"],
        ]
        timing.append(["of all kernels", percent(k.seconds / total if total else None)])
    if k.language == "CUDA C++":
        timing.append(["sizes", k.sizes])
    timing.append(["not written", size(k.saved_bytes)])
    timing += [[f"{stage} took", duration(s)] for stage, s in k.stage_seconds.items()]
    for name, used in k.resources.items():
        text = ", ".join(f"{n} {what}" for what, n in used.items()) if isinstance(used, dict) else str(used)
        timing.append([name if isinstance(used, dict) else "resources", text])
    return {
        "name": k.name,
        "title": k.title,
        "hash": k.hash,
        "graph": k.graph,
        "origin": k.origin,
        "words": k.words,
        "directives": list(k.directives),
        "buffers": [list(b) for b in k.buffers],
        "timing": timing,
        "us": None if k.seconds is None else round(k.seconds * 1e6, 2),
        "ops": list(k.operations),
        "lines": [lines[w] for w in k.lines if w in lines],
        "algorithm": _cut(k.algorithm, 100_000),
        "language": k.language,
        "source": source,
    }
