"""Functions beside their peers: what programs that time lists of them share."""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from fusewright.bench import measure


def beside(
    fn: Callable[..., Any], inputs: Sequence[torch.Tensor], device: str
) -> tuple[dict[str, Any], dict[str, float]]:
    """Results, and medians of seconds in turns, of eager, TorchInductor and Fusewright, without gradients."""
    torch._dynamo.reset()
    calls: dict[str, Callable[..., Any]] = {"eager": fn}
    for backend in ("inductor", "fusewright"):
        calls[backend] = torch.compile(measure.private_copy(fn, backend), backend=backend, fullgraph=True)
    with torch.no_grad():
        results = {k: f(*inputs) for k, f in calls.items()}
        run = {k: (lambda f=f: f(*inputs)) for k, f in calls.items()}
        if device == "cuda":
            return results, measure.on_device(run, 0.02, 15, 15, False)
        return results, measure.interleaved(run, "cpu", 0.5)


def print_row(name: str, times: dict[str, float]) -> None:
    """Seconds of each implementation, as microseconds, and ours against the peers."""
    shown = ", ".join(f"{k} {t * 1e6:.1f}" for k, t in times.items())
    ratios = ", ".join(f"{times[k] / times['fusewright']:.2f} of {k}" for k in ("eager", "inductor"))
    print(f"{name}: {shown} us | {ratios}", flush=True)


def print_means(rows: dict[str, dict[str, float]]) -> None:
    """Geometric means over all rows of what `print_row` says against the peers."""
    for k in ("eager", "inductor"):
        logs = [math.log(t[k] / t["fusewright"]) for t in rows.values()]
        print(f"geometric mean {math.exp(sum(logs) / max(len(logs), 1)):.2f} of {k}, {len(logs)} programs")


def parser(doc: str) -> argparse.ArgumentParser:
    """The arguments that all of these programs have."""
    found = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    found.add_argument("--json", type=Path)
    return found


def all_beside(
    doc: str, cases: Callable[[str], Sequence[tuple[str, Callable[..., Any], Sequence[torch.Tensor]]]]
) -> None:
    """A program's main: times all of its cases (names, functions, operands) of the device that was asked for."""
    warnings.filterwarnings("ignore")
    given = parser(doc)
    given.add_argument("--only", default="", help="part of a name")
    args = given.parse_args()
    print(f"copy roof {measure.copy_roof(args.device) / 1e9:.0f} GB/s")
    found: dict[str, dict[str, float]] = {}
    for name, fn, inputs in cases(args.device):
        if args.only not in name:
            continue
        results, times = beside(fn, inputs, args.device)
        torch.testing.assert_close(results["fusewright"].float(), results["eager"].float(), rtol=1e-2, atol=1e-1)
        found[name] = times
        print_row(name, times)
    print_means(found)
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))
