"""Times scatters on a CUDA device: eager, eager with deterministic algorithms, TorchInductor, ours, launch by launch.

    python benchmarks/scatters.py [--peers eager,deterministic,inductor] [--budget S] [--json FILE] [part of a name ...]

Every scatter is run by our kernels, also where `schedule/gpu_scatter.py` would leave it to PyTorch (`decide`): that is
what is to be decided with these numbers. Each result is compared with eager's in float64; "sorted" are our kernels with
deterministic algorithms, and must have the same bits in another run. Microseconds are medians from a cold L2 cache. Of
our launches, where there are four, the first two sort, the third combines pieces of rows, the last one rows; where
there are two, the second one stores points. Without a CUDA device the kernels are emulated in tiny sizes, to try the
program.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import fusewright
from fusewright.bench import measure
from fusewright.bench.cases import Case
from fusewright.bench.cases_scatter import SCATTER_CASES
from fusewright.bench.runner import disagreement
from fusewright.run import devices

OURS = ("ours", "sorted")
ROUNDS = 12  # of the launches one by one


def step_of(case: Case, name: str) -> Callable[..., torch.Tensor]:
    """The case's program as `name` runs it."""
    fn = case.fn
    if name not in ("eager", "deterministic"):
        backend = "fusewright" if name in OURS else name
        fn = torch.compile(measure.private_copy(fn, name), backend=backend, dynamic=False)
    if name not in ("deterministic", "sorted"):
        return fn

    def ordered(*inputs: torch.Tensor) -> torch.Tensor:
        with measure.deterministic():
            return fn(*inputs)

    return ordered


def launches(case: Case, inputs: tuple[torch.Tensor, ...]) -> list[float]:
    """Median seconds of each of our launches in a step, in order: made by Python, one after the other."""
    device = inputs[0].device
    driver: Any = devices.driver_for(device)
    plain, marks = driver.launch, []

    def marked(*args: Any) -> None:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        plain(*args)
        end.record()
        marks.append((begin, end))

    flush = torch.empty(measure.FLUSH, dtype=torch.int8, device=device)
    times: list[list[float]] = []
    driver.launch = marked
    try:
        with fusewright.options(native_launch=False, dependent_launch=False):
            step = torch.compile(measure.private_copy(case.fn, "launches"), backend="fusewright", dynamic=False)
            step(*inputs)
            for _ in range(ROUNDS):
                flush.zero_()
                torch.cuda._sleep(5_000_000)
                marks.clear()
                step(*inputs)
                torch.cuda.synchronize()
                times.append([a.elapsed_time(b) * 1e-3 for a, b in marks])
    finally:
        driver.launch = plain
    return [statistics.median(t) for t in zip(*times, strict=True)]


def measured(case: Case, names: list[str], device: str, budget: float, roof: float) -> dict[str, Any]:
    """What there is to say of a case; what failed says why."""
    torch._dynamo.reset()
    inputs = case.inputs(device, not device.startswith("cuda"))
    row: dict[str, Any] = {"case": case.name, "bytes": case.traffic(inputs), "us": {}, "failed": {}, "first_call_s": {}}
    wide = tuple(t.double() if t.is_floating_point() else t for t in inputs)
    want, exact = [case.fn(*inputs)], [case.fn(*wide).double()]
    steps: dict[str, Callable[[], Any]] = {}
    for name in names:
        fn = step_of(case, name)
        try:
            began = time.perf_counter()
            got = fn(*inputs)
            measure.synchronize(device)
            row["first_call_s"][name] = time.perf_counter() - began
            wrong = disagreement([got], want, exact)
            if name == "sorted" and not wrong and not torch.equal(got, fn(*inputs)):
                wrong = "another run gives other bits"
            if wrong:
                raise AssertionError(wrong)
            steps[name] = lambda fn=fn: fn(*inputs)  # type: ignore[misc]
        except Exception as e:  # what one implementation cannot do is no reason to skip the others
            row["failed"][name] = f"{type(e).__name__}: {e}"[:300]
    if not device.startswith("cuda"):
        return row
    row["us"] = {n: t * 1e6 for n, t in measure.on_device(steps, budget).items()}
    row["roof_us"] = row["bytes"] / roof * 1e6
    if "ours" in steps:
        row["launches_us"] = [t * 1e6 for t in launches(case, inputs)]
    return row


def line(row: dict[str, Any], names: list[str]) -> str:
    us = row["us"]
    out = f"{row['case']:52}" + "".join(f"{us[n]:14.1f}" if n in us else f"{'-':>14}" for n in names)
    if "ours" in us:
        best = min((us[n] for n in us if n not in OURS), default=us["ours"])
        out += f"{row['roof_us'] / us['ours']:7.2f}{best / us['ours']:7.2f}  "
        out += " ".join(f"{t:.1f}" for t in row["launches_us"])
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="eager,deterministic,inductor,sorted")
    parser.add_argument("--budget", type=float, default=0.15, help="seconds for each implementation of a case")
    parser.add_argument("--json", type=Path)
    parser.add_argument("only", nargs="*", help="parts of cases' names")
    args = parser.parse_args()
    names = [*filter(None, args.peers.split(",")), "ours"]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    began, rows, bad = time.perf_counter(), [], 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        stack.enter_context(fusewright.options(single_op_groups=True, fallback=False, disk_cache=False))
        if device == "cpu":
            from tests.emulate.driver import emulated_gpu  # there is no device: in a checkout only

            stack.enter_context(emulated_gpu())
            names = [n for n in names if n != "inductor"]
        roof = measure.copy_roof(device) if device == "cuda" else 1.0
        print(f"microseconds; copy roof {roof / 1e9:.0f} GB/s")
        print(f"{'':52}" + "".join(f"{n:>14}" for n in names) + "   roof   best  our launches")
        for case in SCATTER_CASES:
            if args.only and not any(part in case.name for part in args.only):
                continue
            row = measured(case, names, device, args.budget, roof)
            rows.append(row)
            bad += any(name in row["failed"] for name in OURS)
            print(line(row, names), flush=True)
            for name, why in row["failed"].items():
                print(f"    {name}: {why}")
            if device == "cuda":
                torch.cuda.empty_cache()
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{len(rows)} cases in {time.perf_counter() - began:.0f} s; {bad} of ours failed")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
