"""What looking on costs a call: a plan with all switches off, the bare plan, and one switch on at a time.

    OMP_NUM_THREADS=1 python benchmarks/switches.py               # on a CPU
    OMP_NUM_THREADS=1 python benchmarks/switches.py --device null # the host's work for a GPU, with no launch

*bare* is the plan's source compiled without anything of `fusewright.debug` having seen it, *off* what the compiler
makes with its default options. All take turns, many times; ns per call are medians, and the last column is the median
of the differences to *bare* in the same turn, with the middle half of them. `bare again` is a second copy of *bare*: as
much as that differs is noise.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

import fusewright
from fusewright.bench.null import NullDriver
from fusewright.debug import record
from fusewright.debug.profile import Profile
from fusewright.pipeline import compile_graph
from fusewright.run import devices
from fusewright.run.plan import Plan

Call = Callable[[], Any]


def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Two kernels, with a product of matrices between them."""
    return (torch.softmax(x * 2 + 1, -1) @ w).relu() + 1


def plans(args: tuple[torch.Tensor, ...], folder: str) -> dict[str, Callable[[list[Any]], list[Any]]]:
    """Boxed functions of `program`'s plan, by what was switched on when it was compiled."""
    with record.recording() as graphs:
        torch.compile(program, backend="fusewright")(*args)
    (graph,) = graphs
    traced = graph.traced
    assert traced is not None

    def made(**options: Any) -> Plan:
        with fusewright.options(**options):
            return compile_graph(traced, graph.name)

    off = made()
    out = {"bare": _bare(off), "bare again": _bare(off), "off": off.callable()}
    if off.source != _source(off):
        raise SystemExit("with all switches off, the source of the plan is not that of the bare one")
    for name, options in (
        ("profile", {"profile": True}),
        ("dump=timeline", {"dump": f"timeline:{folder}"}),
        ("dump=launch,arguments", {"dump": f"launch,arguments:{folder}"}),
        ("dump=bandwidth", {"dump": f"bandwidth:{folder}"}),
        ("check", {"check": True}),
    ):
        if name == "check" and devices._replaced:  # nothing is computed that could be compared
            continue
        out[name] = made(**options).callable()
    with record.using(Profile()):
        out["fusewright profile"] = made().callable()
    return out


def _without(plan: Plan) -> Plan:
    return Plan(plan.traced, [replace(p, watch=None) for p in plan.groups], plan.refused, plan.name)


def _bare(plan: Plan) -> Callable[[list[Any]], list[Any]]:
    return _without(plan).callable()


def _source(plan: Plan) -> str:
    bare = _without(plan)
    bare.callable()
    return bare.source


def measure(calls: dict[str, Call], rounds: int, number: int) -> dict[str, list[float]]:
    """Nanoseconds per call, of each turn."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    gc.disable()
    try:
        for k in range(rounds):
            for name in names[k % len(names) :] + names[: k % len(names)]:  # no one is always the first
                call = calls[name]
                began = time.perf_counter_ns()
                for _ in range(number):
                    call()
                taken[name].append((time.perf_counter_ns() - began) / number)
    finally:
        gc.enable()
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "null"), default="cpu")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--number", type=int, default=200, help="calls of a turn")
    a = parser.parse_args()
    null = devices.use("cpu", NullDriver()) if a.device == "null" else contextlib.nullcontext()
    args = torch.randn(4, 8), torch.randn(8, 8)
    with null, fusewright.options(disk_cache=False), tempfile.TemporaryDirectory() as folder, torch.no_grad():
        fns = plans(args, folder)
        quick: dict[str, Call] = {n: lambda f=f: f(list(args)) for n, f in fns.items()}  # type: ignore[misc]
        for call in quick.values():
            call()
        off = {n: quick.pop(n) for n in ("bare", "bare again", "off")}
        taken = measure(off, a.rounds, a.number)
        slow = measure(quick, 5, max(1, a.number // 20))
    print("| plan | ns per call | more than bare |\n| --- | --- | --- |")
    for name, t in taken.items():
        differences = [x - y for x, y in zip(t, taken["bare"], strict=True)]
        low, middle, high = statistics.quantiles(differences, n=4)
        more = "" if name == "bare" else f"{middle:+.0f} ({low:+.0f} to {high:+.0f})"
        print(f"| {name} | {statistics.median(t):,.0f} | {more} |")
    base = statistics.median(taken["bare"])
    for name, t in slow.items():
        print(f"| {name} | {statistics.median(t):,.0f} | {statistics.median(t) - base:+,.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
