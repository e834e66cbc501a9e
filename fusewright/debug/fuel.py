"""Fuel: a process may compile only so many groups (`FUSEWRIGHT_FUEL=n`); torch runs the others.

Groups take fuel in the order in which they are compiled, which is the same in every run of a program that does the same
things. So a wrong result can be pinned on one of them by halving: that is what `fusewright bisect` does.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.lazy import lazy_import
from ..core.log import LOG
from ..core.options import current
from ..graph.groups import Group
from ..trace.fx import Traced
from .dump import About
from .record import user_lines

if TYPE_CHECKING:
    from . import program, repro
else:  # for reports
    program = lazy_import("fusewright.debug.program")
    repro = lazy_import("fusewright.debug.repro")

LIST = "groups.jsonl"

_lock = threading.Lock()
_spent = 0


def bisecting() -> bool:
    """Whether some groups of this process are left out on purpose: what was given for them is then of no use."""
    o = current()
    return o.fuel is not None or o.fuel_report is not None


def take(about: About, traced: Traced, group: Group) -> str:
    """Spend fuel on a group; why there is none left, or ""."""
    global _spent
    o = current()
    with _lock:
        if o.fuel is not None and _spent >= o.fuel:
            return f"out of fuel after {o.fuel} groups"
        _spent += 1
        number = _spent
    if o.fuel_report is not None:
        _report(Path(o.fuel_report), number, about, traced, group)
    return ""


def _report(folder: Path, number: int, about: About, traced: Traced, group: Group) -> None:
    """Describe the group that took unit `number` of fuel: a line in LIST, and a repro file."""
    assert about.built is not None
    lines = user_lines(traced, group)
    file = folder / f"{number}-{about.group}.py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        repro.write(file, program.of_group(about.built, traced, group), about.group, about.hash, lines)
    except Exception as e:
        LOG.info("no repro file of %s: %s", about.group, e)
    entry = {"number": number, "name": about.group, "hash": about.hash, "lines": lines, "operators": about.operators}
    try:
        with _lock, (folder / LIST).open("a", encoding="utf-8") as f:
            f.write(json.dumps(entry) + "\n")
    except OSError as e:
        LOG.warning("cannot describe %s in %s: %s", about.group, folder, e)


def reset() -> None:
    """A full tank, as in a new process. For tests."""
    global _spent
    with _lock:
        _spent = 0
