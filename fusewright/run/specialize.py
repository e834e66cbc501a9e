"""New sizes run at once, on a kernel that is there; sizes that come again get the kernel that is best for them.

A GPU kernel takes its sizes as arguments, so one that was made for other sizes usually is right for new ones, and if
it is of the same kind not much slower than the best. With the option `specialize="hot"` such a kernel is launched until
the same sizes have been seen a few times; the one that the scheduler wants for them is then compiled in the background
and takes over when it is ready. "never" stays with what is there, "always" compiles before the first launch.
"""

from __future__ import annotations

import contextvars
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..core.errors import FusewrightError
from ..core.log import LOG
from ..core.options import using
from ..schedule.gpu_base import GpuSchedule
from ..schedule.legal_gpu import Sizes, settle
from .gpu import GpuGroup, Prepared, sizes_of

FEW = 1 << 16  # points of a tensor that any kernel is fast enough for
HOT = 4  # launches with the same sizes after which they deserve a kernel of their own

_lock = threading.Lock()
_workers: list[ThreadPoolExecutor] = []


def begin(group: GpuGroup, key: tuple[int, ...], env: dict[str, int], alignment: int) -> Any:
    """A launch for new sizes that needs no compilation, or None: then the scheduler's kernel is to be had at once."""
    how = group.options.specialize
    if how == "always" or group.choose is not None or not group.kernels:
        return None
    hint = sizes_of(env)
    wanted = group.wanted(hint, alignment)
    if wanted in group.kernels:
        return None
    sizes = Sizes(hint, group.driver.gpu, lambda buffer: alignment)
    points = math.prod(max(1, hint(a.extent)) for a in group.fusion.axes if a.extent is not None)
    for s in reversed(list(group.kernels)):
        entry = _fitting(group, s, sizes, env) if _alike(s, wanted, points) else None
        if entry is not None:
            return entry if how == "never" else Meanwhile(group, key, env, alignment, entry)
    return None


def _alike(s: GpuSchedule, wanted: GpuSchedule, points: int) -> bool:
    """Whether a schedule is not much worse than the one wanted: as parallel, with sums about as long.

    For few points it only has to be of the same mode: the launch takes longer than the kernel.
    """
    same = (s.mode, s.vector, s.resident) == (wanted.mode, wanted.vector, wanted.resident)
    if points > FEW:
        same = same and s.lanes == wanted.lanes
    return same and 2 * s.col_threads >= wanted.col_threads and 2 * s.threads >= wanted.threads


def _fitting(group: GpuGroup, s: GpuSchedule, sizes: Sizes, env: dict[str, int]) -> Prepared | None:
    """A launch of a schedule's kernel for other sizes than it was made for; None where it is not legal for them."""
    try:
        _, same, extra = settle(group.fusion, s, sizes)
    except FusewrightError:
        return None
    if same != s:
        return None
    kernel, code = group.kernels[s]
    return Prepared(group.driver, kernel, code, kernel.evaluate({**env, **extra}), list(group.fusion.hosts))


class Meanwhile:
    """Launches a kernel that was there until the one that the scheduler wants is compiled."""

    __slots__ = ("alignment", "calls", "entry", "env", "group", "key")

    def __init__(self, group: GpuGroup, key: tuple[int, ...], env: dict[str, int], alignment: int, entry: Prepared):
        self.group, self.key, self.env, self.alignment, self.entry = group, key, env, alignment, entry
        self.calls = 0

    def __call__(self, *pointers: int, hosts: tuple[float, ...] = ()) -> None:
        self.entry(*pointers, hosts=hosts)
        self.calls += 1
        if self.calls == HOT:
            self.specialize()

    def specialize(self) -> None:
        """Have the scheduler's kernel compiled in the background."""
        try:
            with using(self.group.options):
                self.group.lower(sizes_of(self.env), self.alignment)
                worker().submit(contextvars.copy_context().run, self.adopt)
        except Exception as e:  # what is there works
            LOG.info("no kernel for hot sizes %s: %s", self.env, e)

    def adopt(self) -> None:
        group = self.group
        try:
            kernel, code, numbers = group.new(self.env, self.alignment)
            group.memo[self.key] = Prepared(group.driver, kernel, code, numbers, list(group.fusion.hosts))
        except Exception as e:
            LOG.info("no kernel for hot sizes %s: %s", self.env, e)


def worker() -> ThreadPoolExecutor:
    """The thread that compiles in the background."""
    with _lock:
        if not _workers:
            _workers.append(ThreadPoolExecutor(1, "fusewright-specialize"))
        return _workers[0]


__all__ = ["HOT", "Meanwhile", "begin", "worker"]
