"""Schedules that people chose, when a group is compiled: from the file of the option `schedule`, or pinned.

The file comes first; in it, a schedule for the group's name before one for its structure hash. What is not legal (any
more) is said once, with line, directive and argument, and the heuristic's choice is used; with fallback=False it is
raised. Nobody pays who neither names a file nor pins: `pins.steered` is asked once per kernel that is compiled, and
this module is imported when it says so.
"""

from __future__ import annotations

import atexit
import os
import threading
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from ..build.pins import pins, steered
from ..core.errors import FusewrightError, FusewrightWarning, UserError
from ..core.log import LOG
from ..core.options import current
from ..core.warn import warn
from ..emit.llvm import Target
from ..fusion.build import Built
from ..fusion.ir import Fusion
from ..index.expr import Ix
from ..run.kernels import target
from ..schedule import legal_gpu
from ..schedule.cpu import Schedule
from ..schedule.device import Gpu
from ..schedule.edit import EDITED
from ..schedule.gpu_base import GpuSchedule
from ..schedule.text import Script, parse
from .dump import About
from .fuel import bisecting

Choose = Callable[[Callable[[Ix], int], int], "tuple[Fusion, GpuSchedule, dict[str, int]] | None"]

_INSTEAD = "the heuristic's is used"
_lock = threading.Lock()
_said: set[str] = set()
_files: dict[str, _File] = {}


@dataclass(slots=True)
class _File:
    """A file of schedules as it was read. `used`: keys that some group of this process had."""

    stamp: tuple[int, int]
    scripts: list[Script]
    error: str
    used: set[str]


def cpu_facts(t: Target) -> str:
    """What of a CPU a pin is for."""
    return f"cpu {t.cpu} {t.bits}"


def gpu_facts(gpu: Gpu) -> str:
    """What of a GPU a pin is for."""
    return f"gpu {gpu}"


def on_cpu(b: Built, s: Schedule, about: About, anywhere: Callable[[], Collection[str]]) -> tuple[Schedule, str]:
    """(the schedule for a group, where it is from: "" is the heuristic's `s`); `b.fusion` gets its axes.

    `anywhere`: names of buffers that may start at any address. Raises Illegal or UserError without fallback.
    """
    for script in _wanted(about, cpu_facts(target()), "cpu"):
        if isinstance(script.schedule, Schedule):
            try:
                f = script.check(b.original, anywhere=anywhere())
            except FusewrightError as e:
                _ignored(script, about, e)
                break
            if replace(script.schedule, family=s.family) != s or f.text() != b.fusion.text():
                s, b.fusion = replace(script.schedule, family=_edited(script.schedule.family)), f
            LOG.info("%s: schedule from %s", about, script.source)
            return s, script.source
    return s, ""


def on_gpu(b: Built, about: About, gpu: Gpu) -> tuple[Choose | None, str]:
    """(a function that gives what is to be used in place of `gpu.plan` for the sizes of a call, where that is from).

    The function gives None where the schedule is not legal; there is none for a group that nobody chose one for.
    """
    if not steered():
        return None, ""
    options = current()
    found = [s for s in _wanted(about, gpu_facts(gpu), "gpu") if isinstance(s.schedule, GpuSchedule)]
    if not found:
        return None, ""
    script = found[0]
    wanted = script.schedule
    assert isinstance(wanted, GpuSchedule)
    LOG.info("%s: schedule from %s", about, script.source)

    def choose(hint: Callable[[Ix], int], alignment: int) -> tuple[Fusion, GpuSchedule, dict[str, int]] | None:
        sizes = legal_gpu.Sizes(hint, gpu, lambda buffer: alignment)
        try:
            f, s, launch = legal_gpu.settle(b.original, wanted, sizes)
            return f, replace(s, family=_edited(s.family)), launch
        except legal_gpu.Illegal as e:
            _ignored(script, about, script.located(e), options.fallback)
            return None

    return choose, script.source


def _edited(family: str) -> str:
    return EDITED + family.removeprefix(EDITED)


def _wanted(about: About, facts: str, kind: str) -> list[Script]:
    """The schedule chosen for a group, if there is one: of the file, else pinned."""
    o = current()
    found = _of_file(o.schedule, about, kind) if o.schedule is not None else []
    if not found and o.pins and pins():
        pin = pins().find(about.hash, facts)
        if pin is not None:
            source = f"the pin {pin.path}"
            try:
                if pin.text is None:
                    raise UserError("the file is damaged")
                scripts = parse(pin.text, source)
                if len(scripts) != 1:
                    raise UserError(f"it holds {len(scripts)} schedules instead of one")
                found = [_for(scripts[0], kind)]
            except FusewrightError as e:
                _ignored(Script(Schedule((), (), "", 1, (), ""), about.hash, 0, source), about, e)
    return found


def _for(script: Script, kind: str) -> Script:
    if script.target != kind:
        raise UserError(f"the schedule is for a {script.target.upper()}, the group runs on a {kind.upper()}")
    return script


def _of_file(path: str, about: About, kind: str) -> list[Script]:
    file = _read(path)
    if file.error:
        _say(f"FUSEWRIGHT_SCHEDULE: {file.error}", "the heuristic's schedules are used", None)
    mine = [s for key in (about.group, about.hash) for s in file.scripts if s.key == key]
    for script in mine[:1]:
        file.used.add(script.key)
        try:
            return [_for(script, kind)]
        except UserError as e:
            _ignored(script, about, e)
    return []


def _read(path: str) -> _File:
    """The schedules of a file, read again when it has changed."""
    path = os.path.expanduser(path)
    try:
        info = os.stat(path)
        stamp = (info.st_mtime_ns, info.st_size)
        with _lock:
            found = _files.get(path)
            if found is None or found.stamp != stamp:
                with open(path, encoding="utf-8") as f:
                    text = f.read()
                found = _File(stamp, [], "", set())
                try:
                    found.scripts = parse(text, path)
                except FusewrightError as e:
                    found.error = f"{path}: {e}"
                if not _files and not bisecting():
                    atexit.register(_unused)
                _files[path] = found
        return found
    except (OSError, UnicodeDecodeError) as e:
        return _File((0, 0), [], f"cannot read {path}: {getattr(e, 'strerror', None) or e}", set())


def _unused() -> None:
    """At exit: the schedules of files that no group was compiled with."""
    for path, file in _files.items():
        left = [f"line {s.line} for '{s.key}'" for s in file.scripts if s.key not in file.used]
        if left:
            warnings.warn(
                f"{path}: no group of this program was compiled with the schedules at {', '.join(left)} "
                "(fusewright explain lists the groups with their names and hashes)",
                FusewrightWarning,
                stacklevel=1,
            )


def _ignored(script: Script, about: About, error: Exception, fallback: bool | None = None) -> None:
    """Say that a schedule is not used, and why; raise `error` where there is to be no fallback."""
    pinned = script.source.startswith("the pin ")
    more = f"; fusewright pins clear {about.hash} removes it" if pinned else ""
    key = f"{script.source} {script.key} {error}"
    _say(f"{about}: the schedule from {script.source} is ignored: {error}{more}", _INSTEAD, error, fallback, key)


def _say(message: str, what: str, error: Exception | None, fallback: bool | None = None, key: str = "") -> None:
    if not (current().fallback if fallback is None else fallback):
        raise UserError(message) from error
    with _lock:
        if (key or message) in _said:
            return
        _said.add(key or message)
    text = f"{message}; {what}"
    LOG.warning(text)
    warn(text)


def forget() -> None:
    """Read files again and repeat warnings (for tests)."""
    _said.clear()
    _files.clear()
