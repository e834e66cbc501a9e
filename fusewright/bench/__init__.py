"""`fusewright bench`: eager, TorchInductor and Fusewright side by side on the programs of `cases`.

All implementations of a case run in one process on the same data, in turns, after a check against eager. How glibc
treats large blocks decides much of the time on a CPU, so each setting of the allocator gets a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from fusewright.bench import measure, report
from fusewright.bench.cases import GPU_SUITES, MORE_SUITES, SUITES
from fusewright.bench.runner import EAGER, run_all

KNOWN = (*SUITES, *GPU_SUITES, *MORE_SUITES)

_AGAIN = "import sys; from fusewright.bench import main; sys.exit(main(sys.argv[1:]))"


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="fusewright bench", description=__doc__)
    p.add_argument("--device", default="cpu")
    usual = f"all that are for the device, but {', '.join(MORE_SUITES)}, if not given"
    p.add_argument("--suite", help=f"comma-separated, of {', '.join(KNOWN)}; {usual}")
    p.add_argument("--only", default="", metavar="SUBSTR", help="only cases whose name contains this")
    p.add_argument("--peers", default="eager,inductor", help="backends of torch.compile to compare with, and eager")
    p.add_argument("--backend", default=report.OURS, help="the backend that is measured against the peers")
    p.add_argument("--allocator", choices=("both", *measure.ALLOCATORS), default="both")
    p.add_argument("--memory", action="store_true", help="also the peak memory of training steps (a process for each)")
    p.add_argument("--json", type=Path, metavar="FILE", help="write everything measured, again after each case")
    p.add_argument("--plot", type=Path, metavar="FILE", help="draw the shares of the roof (needs matplotlib)")
    p.add_argument("--quick", action="store_true", help="tiny sizes and few repetitions: tries the program, not speed")
    p.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    return p


def _names(args: argparse.Namespace) -> list[str]:
    """Eager first, then the peers, then the backend under test; none twice."""
    return list(dict.fromkeys([EAGER, *filter(None, args.peers.split(",")), args.backend]))


def write(path: Path, names: list[str], runs: list[dict[str, Any]]) -> None:
    """The document of `--json`, in place of what was there; never half of it."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps({"implementations": names, "runs": runs}, indent=1) + "\n")
    new.replace(path)


def _measure(args: argparse.Namespace, suites: list[str], earlier: list[dict[str, Any]]) -> dict[str, Any]:
    """Run in this process, saying on stderr what is going on; `earlier` runs are written beside it."""
    allocator = args.allocator
    console = Console(stderr=True)
    names = _names(args)
    warnings.simplefilter("ignore")  # peers warn about settings that do not matter here
    with console.status(f"allocator {allocator}") as status:

        def say(text: str) -> None:
            status.update(f"allocator {allocator}, {text}")
            if not console.is_terminal:
                console.print(f"allocator {allocator}, {text}", highlight=False)

        def keep(run: dict[str, Any]) -> None:
            if args.json:
                write(args.json, names, [*earlier, run])

        return run_all(suites, args.only, names, args.device, args.quick, allocator, args.memory, say, keep)


def _elsewhere(argv: list[str], allocator: str, earlier: list[dict[str, Any]]) -> dict[str, Any]:
    """Run in a new process whose allocator is set up as asked, and bring back what it measured."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        path.write_text(json.dumps(earlier))
        command = [sys.executable, "-c", _AGAIN, *argv, "--allocator", allocator, "--child", str(path)]
        code = subprocess.run(command, env=measure.allocator_environment(allocator)).returncode
        if code != 0:
            raise SystemExit(f"fusewright bench: the process for allocator '{allocator}' ended with status {code}")
        return json.loads(path.read_text())


def main(argv: list[str]) -> int:
    """The command. Exit status 1 when an implementation under test failed or disagreed with eager."""
    parser = _parser()
    args = parser.parse_args(argv)
    suites = args.suite.split(",") if args.suite else list(GPU_SUITES if args.device.startswith("cuda") else SUITES)
    if unknown := [s for s in suites if s not in KNOWN]:
        parser.error(f"--suite: no suite '{unknown[0]}'; known: {', '.join(KNOWN)}")
    if args.device.startswith("cuda") and not torch.cuda.is_available():
        parser.error(f"--device: PyTorch finds no CUDA device for '{args.device}'")
    for option, path in (("--json", args.json), ("--plot", args.plot)):
        if path is not None and not path.absolute().parent.is_dir():
            parser.error(f"{option}: there is no folder {path.parent}")
    measure.check_names(args.device, _names(args))
    if args.child is not None:
        args.child.write_text(json.dumps(_measure(args, suites, json.loads(args.child.read_text()))))
        return 0
    settings = list(measure.ALLOCATORS) if args.allocator == "both" else [args.allocator]
    if args.device != "cpu" or not sys.platform.startswith("linux"):
        settings = ["default"]  # the variables are glibc's, and a GPU's memory comes from torch's own cache
    runs: list[dict[str, Any]] = []
    for allocator in settings:
        runs.append(_elsewhere(argv, allocator, runs))
    names, console = _names(args), Console()
    if not console.is_terminal:
        console = Console(width=200)
    report.show_machine(console, runs[0]["machine"])
    for run in runs:
        report.show(console, run, names, suites)
    if args.plot and not report.plot(runs, names, args.plot):
        console.print("no plot: matplotlib is not installed (pip install 'fusewright[bench]')", markup=False)
    return 1 if any(args.backend in row["failed"] for run in runs for row in run["rows"]) else 0
