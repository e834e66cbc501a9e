"""The page of a report: what it holds, how it is drawn, and that it works in a real browser, offline."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

import fusewright
from fusewright.debug import report_html
from fusewright.debug.html_layout import Box, Item, arrange
from fusewright.debug.report import Report

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium: install the package chromium to test pages in it")


def dom(path: Path, *, script: str = "", anchor: str = "") -> str:
    """The document of a page after its script, and then `script`, ran in headless Chromium without a network."""
    if script:
        path = path.with_suffix(".test.html")
        original = path.with_name(path.name.replace(".test.html", ".html")).read_text("utf-8")
        # the page allows scripts of its own only as they stand in it: this one stands in the copy
        path.write_text(original.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
    command = [
        *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
        *(
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={path.parent / 'browser'}",
            "--window-size=1400,900",
        ),
        *("--dump-dom", f"{path.as_uri()}{anchor}"),  # after load, in real time
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def answer(path: Path, script: str, **kwargs) -> dict:
    """What `script` leaves in `result` in the page, or what it throws, as an error."""
    wrapped = (
        "{const result = {}; try {" + script + "} catch (e) { result.error = String(e && e.stack || e) }"
        "const out = document.createElement('pre'); out.id = 'answer'; out.textContent = JSON.stringify(result);"
        "document.body.append(out);}"
    )
    found = re.search(r'<pre id="answer">(.*?)</pre>', dom(path, script=wrapped, **kwargs), re.DOTALL)
    assert found, "the script did not run"
    text = found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    out = json.loads(text)
    assert "error" not in out, out["error"]
    return out


def program(x, w):
    y = torch.softmax(x * 2 + 1, -1)
    return (y @ w).relu() + 1, torch.sort(x)[0]


@pytest.fixture(scope="module")
def report() -> Report:
    torch._dynamo.reset()
    return fusewright.explain(program, torch.randn(64, 128, requires_grad=True), torch.randn(128, 32))


@pytest.fixture
def page(report, tmp_path) -> Path:
    return report.to_html(tmp_path / "report.html")


class _Elements(HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def data_of(text: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_the_page_needs_nothing_else(page):
    text = page.read_text("utf-8")
    for tag, attributes in _Elements(text).tags:
        assert not {"src", "onclick", "srcset"} & set(attributes), (tag, attributes)
        assert tag not in ("iframe", "img", "object", "embed", "base")
        if tag == "link":
            assert attributes["href"].startswith("data:")
    assert "default-src 'none'" in text and "@import" not in text and "url(" not in text


def test_the_page_has_everything(report, page):
    data = data_of(page.read_text("utf-8"))
    assert [g["name"] for g in data["graphs"]] == [g.name for g in report.graphs]
    assert [k["name"] for k in data["kernels"]] == [k.name for k in report.kernels]
    for k, shown in zip(report.kernels, data["kernels"], strict=True):
        assert data["sources"][shown["source"]] == k.source and shown["algorithm"] == k.algorithm
    assert any(line["code"] == "y = torch.softmax(x * 2 + 1, -1)" for line in data["lines"])


def test_text_that_looks_like_markup(tmp_path):
    def f(x):
        return (x.exp() + 1) * 2 if "</script><script>alert(1)</script>" and "<!--" and "&amp;" else x

    f.__qualname__ = "</title></script><script>alert(2)</script>"
    r = fusewright.explain(f, torch.randn(4, 8))
    text = r.to_html(tmp_path / "r.html").read_text("utf-8")
    scripts = [a for tag, a in _Elements(text).tags if tag == "script"]
    assert len(scripts) == 2  # the data and the page's own
    data = data_of(text)
    assert data["title"] == f.__qualname__
    assert any("</script><script>alert(1)" in line["code"] for line in data["lines"])
    if BROWSER is not None:
        got = answer(
            tmp_path / "r.html",
            "result.title = document.title; result.ready = document.body.dataset.ready;"
            "result.lines = document.querySelector('#lines .line').textContent;"
            "result.scripts = document.scripts.length",
        )
        assert got["title"] == f"fusewright: {f.__qualname__}" and got["ready"] == "yes" and got["scripts"] == 3
        assert "</script><script>alert(1)" in got["lines"]


def test_a_page_that_cannot_be_written(report, tmp_path):
    with pytest.raises(fusewright.UserError, match=r"cannot write the report to .*nowhere"):
        report.to_html(tmp_path / "nowhere" / "r.html")


def test_sources_are_shared_and_bounded(report, monkeypatch):
    texts, which = report_html._sources([*report.kernels, *report.kernels])
    assert len(texts) == len(set(texts)) == len({k.source for k in report.kernels})
    monkeypatch.setattr(report_html, "SOURCES", 10)
    texts, which = report_html._sources(report.kernels)
    assert texts == [] and set(which.values()) == {-1}


# --- drawing -------------------------------------------------------------------------------------------


def overlapping(rectangles: list[tuple[float, float, float, float]]) -> bool:
    return any(
        a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]
        for i, a in enumerate(rectangles)
        for b in rectangles[i + 1 :]
    )


def random_graph(n: int, seed: int) -> tuple[list[Item], list[Box]]:
    gen = torch.Generator().manual_seed(seed)
    draw = lambda high: int(torch.randint(high, (1,), generator=gen))
    boxes: list[Box] = []
    items = []
    for k in range(n):
        if not boxes or draw(3) == 0:
            boxes.append(Box(titled=draw(2) == 0))
        reads = sorted({draw(k) for _ in range(draw(3))} if k else set())
        boxes[-1].items.append(k)
        items.append(Item(k, reads, len(boxes) - 1))
    return items, boxes


@pytest.mark.parametrize("seed", range(8))
def test_nothing_overlaps_and_what_is_read_lies_above(seed):
    items, boxes = random_graph(90, seed)
    d = arrange(items, boxes)
    assert not overlapping([(b.x, b.y, b.width, b.height) for b in d.boxes])
    assert not overlapping([(i.x, i.y, 120, 20) for i in d.items.values()])
    for i in d.items.values():
        b = d.boxes[i.box]
        assert b.x <= i.x and i.x + 120 <= b.x + b.width and b.y <= i.y and i.y + 20 <= b.y + b.height
        assert all(d.items[r].y < i.y for r in i.reads)
    assert all(0 <= b.x and b.x + b.width <= d.width and b.y + b.height <= d.height for b in d.boxes)
    assert sorted(d.edges) == sorted((r, i.key) for i in items for r in i.reads)


def test_a_drawing_of_cycles_of_boxes():
    """An operation that two kernels compute is drawn in one of them, which may close a cycle."""
    items = [Item(0, [], 0), Item(1, [0], 1), Item(2, [1], 0)]
    d = arrange(items, [Box([0, 2], True), Box([1], True)])
    assert not overlapping([(b.x, b.y, b.width, b.height) for b in d.boxes])


def test_drawings_of_nothing_and_of_much():
    d = arrange([], [])
    assert d.edges == [] and d.width >= 0
    items, boxes = random_graph(3000, 1)
    assert len(arrange(items, boxes).items) == 3000
    chain = [Item(k, [k - 1] if k else [], k) for k in range(3000)]  # no recursion
    assert arrange(chain, [Box([k]) for k in range(3000)]).height > 3000 * 20


# --- in the browser ------------------------------------------------------------------------------------


@browser
def test_from_line_to_operation_to_kernel_to_source_and_back(report, page):
    k = report.kernels[0]
    got = answer(
        page,
        """
        const q = s => document.querySelector(s), all = s => [...document.querySelectorAll(s)];
        const marked = () => all("svg:not([hidden]) .op.on").map(e => e.querySelector("text").textContent);
        result.ready = document.body.dataset.ready;
        const line = all("#lines .line").find(e => e.textContent.includes("torch.softmax"));
        line.click();
        result.ops = marked();
        result.lineOn = line.classList.contains("on");
        result.kernelOn = all("svg:not([hidden]) .kernel.on").map(e => e.dataset.kernel);
        all("#details .link").find(e => e.textContent === "exp").click();
        result.opTitle = q("#details h2").textContent;
        result.prims = q("#details pre").textContent;
        all("#details .link").find(e => e.textContent.startsWith(NAME)).click();
        result.kernelTitle = q("#details h2").textContent;
        result.source = q("#source").textContent;
        result.timing = q("#timing").textContent;
        result.opsOfKernel = marked().length;
        result.hash = location.hash;
        all("#details .link").find(e => e.textContent.includes("torch.softmax")).click();
        result.back = q("#details h2").textContent;
        q('svg:not([hidden]) .kernel').dispatchEvent(new MouseEvent("click", {bubbles: true}));
        result.clicked = q("#details h2").textContent;
        all("#tabs button").find(e => e.textContent.startsWith("backward")).click();
        result.shown = all("svg:not([hidden])").map(e => e.id);
        result.visible = getComputedStyle(q("svg[hidden]")).display;
        """.replace("NAME", json.dumps(k.name)),
    )
    assert got["ready"] == "yes" and got["lineOn"]
    assert got["ops"] == ["mul", "add", "amax", "sub", "exp", "sum_1", "div"]
    assert got["kernelOn"] == [k.name]
    assert got["opTitle"] == "exp" and "map exp(" in got["prims"]
    assert got["kernelTitle"] == f"{k.name} {k.title}" and got["source"] == k.source
    assert "of the roof" in got["timing"] and "measured" in got["timing"]
    assert got["opsOfKernel"] == len(k.operations) and got["hash"] == f"#kernel={k.name}"
    assert "torch.softmax" in got["back"] and got["clicked"].startswith(k.name)
    assert got["shown"] == ["g1"] and got["visible"] == "none"


@pytest.mark.every(3)
@browser
@pytest.mark.parametrize("anchor", ["#kernel={0}", "#op=0:3", "#line=0", "#kernel=nonsense", "#op=99:1", "#%"])
def test_addresses_within_the_page(report, page, anchor):
    text = dom(page, anchor=anchor.format(report.kernels[0].name))
    wanted = {"#kernel={0}": "define i32", "#op=0:3": "primitives", "#line=0": "operations"}.get(
        anchor, "slowest first"
    )
    assert wanted in text.partition('<aside id="details">')[2].partition("</aside>")[0]
    assert 'data-ready="yes"' in text


@browser
def test_reasons_are_on_the_page(page):
    text = dom(page)
    assert "aten.sort.default has no lowering rule" in text.partition('<aside id="details">')[2]


@pytest.mark.thorough
@browser
def test_a_twelve_layer_transformer(tmp_path):
    """At most 5 MB, and open within two seconds."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_layer=12, n_embd=64, n_head=4, vocab_size=300, n_positions=64, use_cache=False)
    model = GPT2LMHeadModel(config).train()
    ids = torch.randint(0, 300, (2, 32))
    r = fusewright.explain(lambda ids: model(input_ids=ids, labels=ids).loss, ids)
    path = r.to_html(tmp_path / "gpt.html")
    assert path.stat().st_size <= 5_000_000
    assert len(r.kernels) > 60 and len({k.graph for k in r.kernels}) >= 2
    got = answer(
        path,
        """
        const t = performance.getEntriesByType("navigation")[0];
        result.ms = performance.now();
        document.body.getBoundingClientRect();  // lays the page out
        result.laid = performance.now();
        result.ops = document.querySelectorAll("[data-op]").length;
        result.kernels = document.querySelectorAll("svg [data-kernel]").length;
        """,
    )
    assert got["laid"] <= 2000, got
    assert got["kernels"] == len(r.kernels) and got["ops"] > 1000
