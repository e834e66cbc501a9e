"""`fusewright bisect script.py`: which group makes a program fail.

The script runs again and again in a process of its own with less fuel (`fuel.py`), at most log2(groups) + 2 times. It
fails if its exit status is not 0 (an assertion, an exception, a crash), or if `--check COMMAND` says so: a shell
command that gets what the script printed on its standard input.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import UserError
from ..core.options import child_environment
from .fuel import LIST

_NOT_RUN = (126, 127)  # a shell's exit statuses where a command cannot be run, or does not exist


@dataclass(slots=True)
class Bisection:
    """What was found. `group`: the entry of the guilty group (number, name, hash, lines, operators), or None.

    `groups`: how many there are; `runs`: how often the script ran; `message`: the result in a line.
    """

    group: dict[str, Any] | None
    groups: int
    runs: int
    message: str
    output: str = ""


@dataclass(slots=True)
class _Script:
    """A script that fails or not, by fuel."""

    command: list[str]
    check: str | None
    timeout: float | None
    runs: int = 0
    output: str = ""
    last: str = ""

    def fails(self, fuel: int | None, report: Path | None = None) -> bool:
        """Run it. What it printed when it last failed is kept in `output`."""
        self.runs += 1
        start = time.perf_counter()
        changes = {"FUSEWRIGHT_FUEL": "" if fuel is None else str(fuel)}
        changes["FUSEWRIGHT_FUEL_REPORT"] = str(report) if report is not None else ""
        failed, text = self._run(child_environment(**changes))
        took = time.perf_counter() - start
        verdict = "fails" if failed else "passes"
        if failed:
            last = (text.strip().splitlines() or [""])[-1]
            if self.runs > 1 and last != self.last:  # perhaps another fault than the one that is looked for
                verdict += f", saying '{last}'"
            self.output, self.last = text, last
        what = "everything" if fuel is None else f"fuel {fuel}"
        print(f"run {self.runs}: {what}: {verdict} ({took:.1f} s)", flush=True)
        return failed

    def _run(self, env: dict[str, str]) -> tuple[bool, str]:
        try:
            done = subprocess.run(
                self.command,
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if self.check is None else None,
                timeout=self.timeout,
                text=True,
                errors="replace",
                check=False,
            )
        except subprocess.TimeoutExpired:
            return True, f"no end after {self.timeout} s"
        if self.check is None:
            return done.returncode != 0, done.stdout
        judged = subprocess.run(self.check, shell=True, input=done.stdout, text=True, check=False)
        if judged.returncode in _NOT_RUN:
            raise UserError(f"--check: there is no command to run in '{self.check}'")
        return judged.returncode != 0, done.stdout


def bisect(
    command: Sequence[str], check: str | None = None, timeout: float | None = None, out: Path | None = None
) -> Bisection:
    """Find the group that makes `command` fail. `out`: where its repro file goes. Raises UserError."""
    script = _Script(list(command), check, timeout)
    with tempfile.TemporaryDirectory(prefix="fusewright-bisect-") as folder:
        report = Path(folder)
        failed = script.fails(None, report)
        groups = _groups(report)
        if not failed:
            return Bisection(None, len(groups), script.runs, "the script does not fail")
        if not groups:
            text = "the script fails before Fusewright compiles anything"
            return Bisection(None, 0, script.runs, text, script.output)
        # Fails with `bad` groups, passes with `good`; with none at all (0) it has not been tried.
        good, bad = -1, len(groups)
        while bad - good > 1:
            middle = (good + bad) // 2
            if script.fails(middle):
                bad = middle
            else:
                good = middle
        if bad == 0:
            text = "the script fails with every group run by PyTorch: no kernel is to blame"
            return Bisection(None, len(groups), script.runs, text, script.output)
        guilty = groups[bad - 1]
        message = f"group {bad} of {len(groups)}, {guilty['name']} ({guilty['hash']}), makes it fail"
        source = report / f"{bad}-{guilty['name']}.py"
        if out is not None and source.exists():
            try:
                shutil.copyfile(source, out)
            except OSError as e:
                raise UserError(f"{message}; but cannot write {out}: {e.strerror or e}") from e
        return Bisection(guilty, len(groups), script.runs, message, script.output)


def _groups(report: Path) -> list[dict[str, Any]]:
    """The groups in the order they were compiled. A script that starts others may have several with one number."""
    try:
        entries = [json.loads(line) for line in (report / LIST).read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        return []
    by_number: dict[int, dict[str, Any]] = {}
    for e in entries:
        by_number.setdefault(e["number"], e)
    return [by_number[n] for n in sorted(by_number)]


def main(argv: Sequence[str]) -> int:
    """`fusewright bisect [options] script.py [arguments of the script]`."""
    parser = argparse.ArgumentParser(
        "fusewright bisect",
        description="Find the group that makes a script fail, by running it with less and less fuel.",
    )
    parser.add_argument("--check", metavar="COMMAND", help="fails if this does, given the script's output on its input")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="a run that takes longer fails")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="where the repro file goes (default: bisect-<group>.py)"
    )
    parser.add_argument("script", help="a Python script; its exit status says whether it fails")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    given = parser.parse_args(argv)
    if not Path(given.script).is_file():
        raise UserError(f"there is no script {given.script}")
    if given.timeout is not None and not given.timeout > 0:
        raise UserError(f"--timeout is a number of seconds above 0, not {given.timeout}")
    with tempfile.TemporaryDirectory(prefix="fusewright-bisect-") as folder:
        place = Path(folder) / "repro.py"
        found = bisect([sys.executable, given.script, *given.arguments], given.check, given.timeout, place)
        print(f"{found.message} ({found.runs} runs)")
        if found.output.strip():
            print("what the script said when it failed:")
            print("\n".join(f"    {line}" for line in found.output.strip().splitlines()[-5:]))
        if found.group is None:
            return 1
        print(f"operators: {', '.join(found.group['operators'])}")
        for line in found.group["lines"]:
            print(f"    {line}")
        out = given.out or Path(f"bisect-{found.group['name']}.py")
        if place.exists():
            try:
                shutil.copyfile(place, out)
                print(f"to see it alone: fusewright run {out}")
            except OSError as e:
                print(f"cannot write {out}: {e.strerror or e}", file=sys.stderr)
    return 0
