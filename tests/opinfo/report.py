"""Write docs/opinfo.md from the results of full runs: `python -m tests.opinfo.report RESULTS.json… > docs/opinfo.md`.

The first file gives the list by operator; the others add a line each to the summary.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def _title(run: dict[str, Any]) -> str:
    title = run["dtype"] + (", forward and backward" if run["backward"] else ", forward")
    title += ", symbolic sizes" if run.get("dynamic") else ""
    title += {"cuda": ", on a GPU", "emulated": ", GPU kernels emulated"}.get(run.get("device", "cpu"), "")
    return title + (", all in kernels" if "single_op_groups" in run.get("ENABLE", "") else "")


def _summary(runs: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| run | operators | samples | agree with eager | refused inputs "
        "| fused | partly | opaque | free | excluded | fail |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for run in runs:
        ops = run["operators"]
        kinds = {k: sum(o["kind"] == k for o in ops) for k in ("fused", "partly", "opaque", "free")}
        cells = [
            _title(run) + ("" if run["every"] == 1 else f" (every {run['every']}th sample)"),
            len(ops),
            sum(o["samples"] for o in ops),
            sum(o["passed"] for o in ops),
            sum(o["errors_checked"] for o in ops),
            *kinds.values(),
            sum(o["verdict"] == "excluded" for o in ops),
            sum(o["verdict"] == "FAIL" for o in ops),
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def _names(ops: list[dict[str, Any]]) -> str:
    return ", ".join(f"`{o['op']}` ({o['passed']})" for o in ops) or "none"


def _clean(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def render(runs: list[dict[str, Any]]) -> str:
    """The page for these runs, as markdown."""
    first = runs[0]
    ops = first["operators"]
    out = [
        "# PyTorch's operator database against eager",
        "",
        "Every sample of PyTorch's own operator database (`torch.testing._internal.common_methods_invocations.op_db`)",
        f"is run in eager mode and under `torch.compile(backend={first['backend']!r})` on the CPU, with torch "
        f"{first['torch']}.",
        "Values (the database's tolerances; where a sample is beyond them, at most twice as far from the float64",
        "result as eager is), dtype, shape, strides and in-place effects must agree, and inputs that eager refuses",
        'must be refused. Random operators draw eager\'s own numbers (`fusewright.options(rng="eager")`).',
        "",
        "Made by `python -m tests.opinfo.run --json RESULTS.json` and",
        "`python -m tests.opinfo.report RESULTS.json > docs/opinfo.md`, with `FUSEWRIGHT_DISABLE=fallback`: a failure",
        "of the compiler is a failure of the sample. Runs marked *all in kernels* compile even lone operations, which",
        "are otherwise left to torch where torch is as good (`FUSEWRIGHT_ENABLE=single_op_groups`).",
        "",
        *_summary(runs),
        "",
        f"## By operator: {_title(first)}",
        "",
        "In parentheses, the number of samples that agree. *Fused*: every sample ran in compiled kernels only;",
        "*partly*: some samples, or a part of their graph, ran as torch calls; *opaque*: torch calls only; *free*:",
        "nothing to compute (views).",
    ]
    for kind in ("fused", "partly", "opaque", "free"):
        chosen = [o for o in ops if o["kind"] == kind]
        if chosen:
            out += ["", f"### {kind.capitalize()}: {len(chosen)}", "", _names(chosen)]
    unknown = [o for o in ops if not o["kind"] and o["verdict"] == "pass"]
    if unknown:
        out += ["", f"### Not classified: {len(unknown)}", "", _names(unknown)]
    excluded = [o for o in ops if o["excluded"]]
    out += ["", f"### Excluded: {len(excluded)}", ""]
    out += [f"- `{o['op']}`: {_clean(o['excluded'])}" for o in excluded] or ["none"]
    for run in runs:
        failing = [o for o in run["operators"] if o["failures"]]
        out += ["", f"### Failing, {_title(run)}: {len(failing)}", ""]
        for o in failing:
            out.append(f"- `{o['op']}`: {o['passed']} of {o['samples']} agree; {_clean(o['failures'][0])}")
        if not failing:
            out.append("none")
    return "\n".join(out) + "\n"


def main(argv: list[str]) -> int:
    if not argv:
        print(__doc__, file=sys.stderr)
        return 2
    print(render([json.loads(Path(name).read_text()) for name in argv]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
