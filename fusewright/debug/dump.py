"""Dumps: the text of every stage, for what the option `dump` asks, to stderr or to numbered files; and to the log.

Nothing here stops a program: a stage whose text cannot be made says why instead, and a directory that cannot be
written costs one warning, whereupon stderr gets what was meant for it.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.log import LOG
from ..core.options import current
from ..core.switches import RUN_STAGES, STAGES, Dump, dumps
from ..core.warn import warn
from ..fusion.build import Built
from . import files, record, unmet

_SUFFIX = {"torch": ".py", "joint": ".py", "llvm": ".ll", "cuda": ".cu", "assembly": ".s", "plan": ".py"}
_LOGGERS = {stage: LOG.getChild(f"stage.{stage}") for stage in STAGES if stage not in RUN_STAGES}
_BEGAN = time.perf_counter()  # the timeline's zero

_lock = threading.Lock()
_directories: dict[str, _Directory] = {}


@dataclass(frozen=True, slots=True)
class About:
    """What a dump is about: a graph or one of its groups, what was built for that, and its operators."""

    graph: str
    group: str = ""
    operators: tuple[str, ...] = ()
    built: Built | None = None

    @property
    def hash(self) -> str:
        """The hash of the group's structure; "" of a graph."""
        return self.built.hash if self.built is not None else ""

    def __str__(self) -> str:
        return f"{self.group or self.graph}{f' ({self.hash})' if self.hash else ''}"


def wanted(stage: str, about: About) -> list[Dump]:
    """The items of the option `dump` that ask for a stage of this graph or group."""
    found = []
    for d in dumps(current().dump).get(stage, ()):
        wants = d.wants(about.graph, about.group, about.hash, about.operators)
        if d.filters:
            unmet.asked(f"dump={d.stage}{''.join(f'@{f}' for f in d.filters)}", wants)
        if wants:
            found.append(d)
    return found


def shown() -> bool:
    """Whether somebody asked for the text of any stage."""
    return bool(current().dump) or any(logger.isEnabledFor(logging.DEBUG) for logger in _LOGGERS.values())


def _asked(stage: str, about: About) -> tuple[list[Dump], logging.Logger | None]:
    """Who wants a stage of this graph or group: items of the option `dump`, and the log."""
    items = wanted(stage, about) if current().dump else []
    logger = _LOGGERS.get(stage)
    return items, logger if logger is not None and logger.isEnabledFor(logging.DEBUG) else None


def show(stage: str, about: About, text: Callable[[], str]) -> None:
    """Print the text of a stage, which is made only if somebody asked for it."""
    items, logger = _asked(stage, about)
    if not items and logger is None:
        return
    body = made(text)
    for item in items:
        write(item, about, body)
    if logger is not None:
        logger.debug("%s of %s\n%s", stage, about, body)


def made(text: Callable[[], str]) -> str:
    """A stage's text, or why it cannot be had."""
    try:
        return text().rstrip("\n")
    except Exception as e:  # a dump is no reason for a program to fail
        return f"(not available: {type(e).__name__}: {e})"


@contextmanager
def around(stage: str, about: About, text: Callable[[], str]) -> Iterator[None]:
    """Show an IR before and after the block, which is a pass that changes it in place."""
    items, logger = _asked(stage, about)
    if not items and logger is None:
        yield
        return
    before = made(text)
    yield
    show(stage, about, lambda: compared(before, text()))


def readable(gm: Any) -> str:
    """An FX graph as Python."""
    return str(gm.print_readable(print_output=False))


def compared(before: str, after: str) -> str:
    """An IR before and after a pass."""
    before, after = before.rstrip("\n"), after.rstrip("\n")
    return "(nothing to change)" if before == after else f"--- before\n{before}\n--- after\n{after}"


def write(item: Dump, about: About, body: str) -> None:
    """Put the text of a stage where `item` says."""
    if item.directory is not None and _directory(item.directory).write(item.stage, about, body):
        return
    print(f"=== {item.stage}: {about} ===\n{body}", file=sys.stderr)


@contextmanager
def timeline(about: About) -> Iterator[None]:
    """Print the stages of compiling that a block goes through, if the option `dump` asks for it."""
    items = wanted("timeline", about) if current().dump else []
    if not items:
        yield
        return
    began = time.perf_counter()
    now = record.current()
    r = record.Recording() if now is None else now  # one that is still empty is false
    with record.using(r):
        first = len(r.spans)
        try:
            yield
        finally:
            spans = [(s.start, s.end, f"{s.stage} {s.group or s.graph}") for s in r.spans[first:]]
            spans.append((began, time.perf_counter(), f"everything {about.graph}"))
            for item in items:
                write(item, about, "\n".join(moment(*s) for s in sorted(spans)))


def moment(start: float, end: float, what: str) -> str:
    """A line of the timeline: milliseconds since the start, how long, what."""
    return f"{(start - _BEGAN) * 1e3:12.3f} ms  +{(end - start) * 1e3:9.3f} ms  {what}"


class _Directory:
    """Where numbered files go. Numbers go on from those that are there; another process may write here, too."""

    def __init__(self, path: Path):
        self.path = path
        self.lock = threading.Lock()
        self.broken = ""
        self.runs: dict[tuple[str, str], Path] = {}
        self.next = 0
        try:
            path.mkdir(parents=True, exist_ok=True)
            numbers = [int(m[0]) for p in path.iterdir() if (m := re.match(r"\d+", p.name))]
            self.next = max(numbers, default=-1) + 1
        except OSError as e:
            self._fail(e)

    def write(self, stage: str, about: About, body: str) -> bool:
        """Whether it is written. What happens at every run goes into one file for each group and stage."""
        if self.broken:
            return False
        key = (about.group or about.graph, stage)
        try:
            with self.lock:
                if stage in RUN_STAGES and key in self.runs:
                    with self.runs[key].open("a", encoding="utf-8") as f:
                        f.write(body + "\n")
                    return True
                while True:
                    name = f"{self.next:04}-{key[0]}-{stage}{_SUFFIX.get(stage, '.txt')}"
                    self.next += 1
                    try:
                        with (self.path / name).open("x", encoding="utf-8") as f:
                            f.write(body + "\n")
                    except FileExistsError:
                        continue
                    self.runs[key] = self.path / name
                    return True
        except OSError as e:
            self._fail(e)
            return False

    def _fail(self, e: OSError) -> None:
        self.broken = f"{files.because(self.path, e)}; dumps go to stderr instead"
        LOG.warning(self.broken)
        warn(f"Fusewright {self.broken}")


def _directory(text: str) -> _Directory:
    path = os.path.abspath(os.path.expanduser(text))
    with _lock:
        found = _directories.get(path)
        if found is None:
            found = _directories[path] = _Directory(Path(path))
        return found


def forget() -> None:
    """Start as a new process would: in tests, and in a forked child, where another thread may have held a lock."""
    global _lock
    _lock = threading.Lock()
    _directories.clear()
    unmet.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget)
