"""PyTorch's OpInfo database against eager: `python -m tests.opinfo.run --dtype float32`.

Options choose the dtype, operators (exact names or `name*`), a shard, forward or forward and backward; `--json`
keeps the results for `python -m tests.opinfo.report`. Exit status 1 when an operator fails.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch

from tests.opinfo import harness
from tests.opinfo.harness import op_name, operators
from tests.opinfo.pool import Settings, run, serve
from tests.support import BACKEND


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="tests.opinfo.run", description=__doc__)
    p.add_argument("--dtype", default="float32", help="name of a torch dtype")
    p.add_argument("--backend", default=BACKEND)
    p.add_argument("--ops", help="comma-separated names, with * as in a shell")
    p.add_argument("--backward", action="store_true", help="compare gradients too")
    p.add_argument("--dynamic", action="store_true", help="trace with symbolic sizes")
    p.add_argument("--every", type=int, default=1, help="take every k-th sample of each operator")
    p.add_argument("--shard", default="0/1", help="i/n: the i-th of n parts")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    p.add_argument("--timeout", type=float, default=600.0, help="seconds allowed for one operator")
    p.add_argument("--no-errors", action="store_true", help="leave out the inputs that must be refused")
    p.add_argument("--device", default="cpu", help="cpu, cuda, or emulated: GPU kernels for CPU tensors, emulated")
    p.add_argument("--json", type=Path, help="write the results here")
    p.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return p


class Progress:
    """Prints failures as they come, and how far the run is on stderr."""

    def __init__(self, total: int):
        self.total, self.done, self.began = total, 0, time.perf_counter()

    def __call__(self, answer: dict[str, Any]) -> None:
        self.done += 1
        if self.done % 25 == 0:
            print(f"{self.done}/{self.total}, {time.perf_counter() - self.began:.0f} s", file=sys.stderr, flush=True)
        _print(answer)


def _print(answer: dict[str, Any]) -> None:
    if answer["failures"]:
        print(f"{answer['verdict']} {answer['op']}: {answer['passed']}/{answer['samples']}", flush=True)
        for failure in answer["failures"]:
            print(f"    {failure}", flush=True)


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    settings = Settings(
        args.dtype, args.backend, args.backward, args.every, not args.no_errors, args.dynamic, args.timeout, args.device
    )
    if args.device == "cuda":
        harness.DEVICE = "cuda"
    if args.serve:
        serve(settings)
        return 0
    names = [op_name(op) for op in operators(getattr(torch, args.dtype), args.backward)]
    index, count = map(int, args.shard.split("/"))
    numbers = list(range(len(names)))[index::count]
    if args.ops:
        patterns = args.ops.split(",")
        numbers = [n for n in numbers if any(fnmatch.fnmatchcase(names[n], p) for p in patterns)]
    began = time.perf_counter()
    answers = run(numbers, names, settings, args.jobs, Progress(len(numbers)))
    seconds = time.perf_counter() - began
    samples, passed = sum(a["samples"] for a in answers), sum(a["passed"] for a in answers)
    failed = [a["op"] for a in answers if a["failures"]]
    errors = sum(a["errors_checked"] for a in answers)
    what = f"{args.backend} {args.dtype} {args.device}{' backward' * args.backward}"
    print(
        f"{what}: {len(answers)} operators, {passed} of {samples} "
        f"samples agree with eager, {errors} refused inputs, {len(failed)} operators fail, {seconds:.0f} s"
    )
    if args.json:
        head = {"torch": torch.__version__, "backend": args.backend, "dtype": args.dtype, "backward": args.backward}
        switches = {k: os.environ.get(f"FUSEWRIGHT_{k}", "") for k in ("ENABLE", "DISABLE")}
        head |= {"every": args.every, "device": args.device, "dynamic": args.dynamic, **switches}
        head["chosen"] = len(numbers) < len(names)
        args.json.write_text(json.dumps({**head, "operators": answers}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
