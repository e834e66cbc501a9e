"""The style and the script of a report's page. The script builds elements and sets their text; it parses no markup."""

from __future__ import annotations

CSS = """
* { box-sizing: border-box }
body { margin: 0; font: 13px/1.45 system-ui, sans-serif; color: #1c2230; background: #fff; height: 100vh;
  display: flex; flex-direction: column }
header { padding: 6px 12px; border-bottom: 1px solid #d5dae3; background: #f6f8fb }
h1 { font-size: 15px; margin: 0 } h2 { font-size: 14px; margin: 10px 0 4px } h3 { font-size: 13px; margin: 10px 0 2px }
#facts span { margin-right: 16px; color: #4a5568; display: inline-block }
main { flex: 1; display: grid; grid-template-columns: minmax(180px, 24vw) 1fr minmax(260px, 34vw); min-height: 0 }
nav, aside { overflow: auto; padding: 6px 10px } nav { border-right: 1px solid #d5dae3 }
aside { border-left: 1px solid #d5dae3 }
#middle { display: flex; flex-direction: column; min-width: 0; min-height: 0 }
#drawing { overflow: auto; flex: 1 }
#tabs { border-bottom: 1px solid #d5dae3; padding: 4px 8px }
button, .link { font: inherit; border: 0; background: none; color: #1a56c4; cursor: pointer;
  padding: 0 4px; text-align: left }
#tabs button.on { background: #1a56c4; color: #fff; border-radius: 4px }
pre { margin: 2px 0; font: 12px/1.4 ui-monospace, monospace; white-space: pre; overflow: auto;
  background: #f6f8fb; padding: 6px }
.line { font: 12px/1.5 ui-monospace, monospace; white-space: pre; cursor: pointer; overflow: hidden;
  text-overflow: ellipsis }
.line:hover, .row:hover { background: #eef3fb } .line b { color: #7a869a; font-weight: normal }
.line.on, .row.on { background: #ffe9a8 }
table { border-collapse: collapse; width: 100% } td { padding: 1px 6px 1px 0; vertical-align: top }
.row { cursor: pointer }
td.n { text-align: right; white-space: nowrap }
.muted { color: #667085 }
svg[hidden] { display: none }
svg text { font: 11px system-ui, sans-serif; pointer-events: none; fill: #1c2230 }
svg path { fill: none; stroke: #9aa5b8; stroke-width: 1 }
.op rect { fill: #fff; stroke: #7a869a } .op { cursor: pointer } .op.in-torch rect { fill: #e8eaee }
.op.in-inline rect { stroke-dasharray: 3 2 } .kernel { cursor: pointer } .kernel .heat { fill: #d9480f }
.op.on rect { fill: #ffe9a8; stroke: #b7791f; stroke-width: 2 } .kernel.on > rect:first-child { stroke-width: 3 }
"""

SCRIPT = r"""
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const kernels = new Map(data.kernels.map(k => [k.name, k]));
const byId = id => document.getElementById(id);
let shown = -1;

function el(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) {
    if (k === "click") e.addEventListener("click", v);
    else if (k.startsWith("data-")) e.setAttribute(k, v);
    else e[k] = v;
  }
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}
function link(text, go) { return el("button", {className: "link", click: go}, text); }
function list(title, items) { return items.length ? [el("h3", {}, title), ...items.map(i => el("div", {}, i))] : []; }
function code(title, text) { return text ? [el("h3", {}, title), el("pre", {}, text)] : []; }
function base(file) { return file.split(/[\\/]/).pop(); }
function lineText(n) { const l = data.lines[n]; return (l.file ? base(l.file) + ":" + l.line + " " : "") + l.code; }
function lineLink(n) { return link(lineText(n), () => selectLine(n)); }
function kernelLink(name) {
  if (!kernels.has(name)) return el("span", {}, name);
  return link(name + " " + kernels.get(name).title, () => selectKernel(name));
}
function opLink(g, i) { return link(data.graphs[g].ops[i].name, () => selectOp(g, i)); }
function graphOf(kernel) { return data.graphs.findIndex(g => g.name === kernel.graph); }

function show(g) {
  if (g === shown || g < 0) return;
  document.querySelectorAll("svg.graph").forEach((s, n) => s.toggleAttribute("hidden", n !== g));
  document.querySelectorAll("#tabs button[data-graph]").forEach((b, n) => b.classList.toggle("on", n === g));
  shown = g;
}
function mark(ops, names, lines) {
  document.querySelectorAll(".on").forEach(e => { if (!e.closest("#tabs")) e.classList.remove("on"); });
  let first = null;
  for (const o of ops) {
    const e = document.querySelector('[data-op="' + o + '"]');
    if (e) { e.classList.add("on"); if (!e.closest("svg").hasAttribute("hidden")) first = first || e; }
  }
  for (const n of names)
    for (const e of document.querySelectorAll("[data-kernel]"))
      if (e.dataset.kernel === n) { e.classList.add("on"); if (e.closest("svg") && !first) first = e; }
  for (const n of lines) {
    const e = document.querySelector('[data-line="' + n + '"]');
    if (e) { e.classList.add("on"); e.scrollIntoView({block: "nearest"}); }
  }
  if (first) first.scrollIntoView({block: "nearest", inline: "nearest"});
}
function details(...children) { const d = byId("details"); d.replaceChildren(...children.flat()); d.scrollTop = 0; }
function place(hash) { if (location.hash !== hash) history.replaceState(null, "", hash); }

function selectOp(g, i) {
  const o = data.graphs[g].ops[i];
  show(g);
  mark([g + ":" + i], o.kernels, o.line >= 0 ? [o.line] : []);
  place("#op=" + g + ":" + i);
  details(
    el("h2", {}, o.name), el("div", {className: "muted"}, o.target + " → " + o.result),
    el("div", {}, o.place === "kernel" ? "in kernel " : o.place + ": ", o.reason),
    o.kernels.map(n => el("div", {}, kernelLink(n))),
    o.line >= 0 ? list("user line", [lineLink(o.line)]) : [],
    code("primitives", o.prims.join("\n")),
    boundaries(g, new Set([...o.kernels, data.graphs[g].name + "." + o.name])));
}
function boundaries(g, names) {
  const rows = data.graphs[g].boundaries.filter(b => names.has(b[0]) || names.has(b[1]));
  return list("not merged with", rows.map(b => el("div", {},
    kernelLink(names.has(b[0]) ? b[1] : b[0]), el("div", {className: "muted"}, b[2] + ": " + b[3]))));
}
function selectKernel(name) {
  const k = kernels.get(name);
  if (!k) return;
  const g = graphOf(k);
  show(g);
  mark(k.ops.map(i => g + ":" + i), [name], k.lines);
  place("#kernel=" + name);
  const source = k.source >= 0 ? data.sources[k.source]
    : "left out to keep this page small; report.kernel(" + JSON.stringify(name) + ").source has it";
  details(
    el("h2", {}, name + " " + k.title),
    el("div", {className: "muted"}, "structure " + k.hash + ", kernel from: " + k.origin),
    list("user lines", k.lines.map(lineLink)),
    el("h3", {}, "time"), el("table", {id: "timing"}, ...k.timing.map(([a, b]) =>
      el("tr", {}, el("td", {className: "muted"}, a), el("td", {}, b)))),
    el("h3", {}, "schedule"), el("div", {}, k.words), el("pre", {}, k.directives.join("\n")),
    list("operations", [el("span", {}, ...k.ops.map(i => opLink(g, i)))]),
    code("tensors", k.buffers.map(b => b[1] + " " + b[0] + ": " + b[2]).join("\n")),
    boundaries(g, new Set([name])),
    code("algorithm", k.algorithm),
    el("h3", {}, "source (" + k.language + ")"), el("pre", {id: "source"}, source));
}
function selectLine(n) {
  const ops = [], names = new Set();
  data.graphs.forEach((g, gi) => g.ops.forEach((o, i) => {
    if (o.line === n) { ops.push([gi, i]); o.kernels.forEach(k => names.add(k)); }
  }));
  if (ops.length && !ops.some(o => o[0] === shown)) show(ops[0][0]);
  mark(ops.map(o => o[0] + ":" + o[1]), names, [n]);
  place("#line=" + n);
  details(
    el("h2", {}, lineText(n)), el("div", {className: "muted"}, data.lines[n].file),
    list("kernels", [...names].map(kernelLink)),
    list("operations", ops.map(([g, i]) => {
      const o = data.graphs[g].ops[i];
      return el("div", {}, opLink(g, i), el("span", {className: "muted"}, " " + data.graphs[g].name + ", " + o.place
        + (o.reason ? ": " + o.reason : "")));
    })));
}
function overview() {
  mark([], [], []);
  place("#");
  const rows = data.kernels.slice().sort((a, b) => (b.us || 0) - (a.us || 0)).map(k =>
    el("tr", {className: "row", "data-kernel": k.name, click: () => selectKernel(k.name)},
      el("td", {}, k.name), el("td", {}, k.title), el("td", {className: "n"}, k.us === null ? "-" : k.us + " µs")));
  const left = new Map();
  data.graphs.forEach((g, gi) => g.ops.forEach((o, i) => {
    if (o.place !== "torch") return;
    const why = o.target + ": " + o.reason;
    left.set(why, [...(left.get(why) || []), [gi, i]]);
  }));
  const noted = (title, items) => list(title, items.map(b =>
    el("div", {}, el("div", {}, b.where), el("pre", {}, b.reason))));
  details(
    el("h2", {}, "kernels, slowest first"), el("table", {id: "kernels"}, ...rows),
    list("left to torch", [...left].map(([why, at]) => el("div", {}, at.length + " × ", opLink(...at[0]),
      el("span", {className: "muted"}, why)))),
    noted("graph breaks", data.breaks), noted("recompilations", data.recompilations),
    list("not known", data.missing),
    list("CUDA graphs", data.graphs.filter(g => g.cuda_graph).map(g => g.name + ": " + g.cuda_graph)),
    list("what PyTorch runs as a whole", data.graphs.filter(g => g.failure).map(g => g.name + ": " + g.failure)));
}

function start() {
  byId("facts").append(...data.facts.map(f => el("span", {}, f)));
  byId("tabs").append(link("overview", overview), ...data.graphs.map((g, n) =>
    el("button", {"data-graph": n, click: () => show(n)}, g.name)));
  const files = new Map();
  data.lines.forEach((l, n) => files.set(l.file, [...(files.get(l.file) || []), n]));
  for (const [file, numbers] of files) {
    byId("lines").append(el("h3", {title: file}, base(file) || "in modules of libraries"));
    numbers.sort((a, b) => data.lines[a].line - data.lines[b].line);
    for (const n of numbers)
      byId("lines").append(el("div",
        {className: "line", "data-line": n, title: data.lines[n].code, click: () => selectLine(n)},
        el("b", {}, String(data.lines[n].line || "").padStart(4) + " "), data.lines[n].code));
  }
  byId("drawing").addEventListener("click", e => {
    const op = e.target.closest("[data-op]"), kernel = e.target.closest("[data-kernel]");
    if (op) selectOp(...op.dataset.op.split(":").map(Number));
    else if (kernel) selectKernel(kernel.dataset.kernel);
  });
  show(0);
  const [what, which] = location.hash.slice(1).split("=");
  if (what === "kernel" && kernels.has(which)) selectKernel(which);
  else if (what === "op" && /^\d+:\d+$/.test(which || "")) {
    const [g, i] = which.split(":").map(Number);
    if (data.graphs[g] && data.graphs[g].ops[i]) selectOp(g, i); else overview();
  } else if (what === "line" && data.lines[which]) selectLine(Number(which));
  else overview();
  document.body.dataset.ready = "yes";
}
start();
"""
