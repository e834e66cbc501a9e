"""Kernels of one schedule that are timed beside each other on the tensors of a call, of which the fastest stays.

One is the general one, the other the one for these sizes (`special.py`), and that with its registers bounded where it
takes many. That holds up the host and the device for some dozens of launches, so that nothing is timed before a kernel
has moved a number of bytes (`STAKE` of `hot.py`, `SOON`).
"""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ..core.log import LOG
from ..index.expr import Ix
from ..loop.ir import For, Func, If, Let, Store, walk
from ..schedule.gpu_base import reach
from .gpu import Found, GpuGroup, Prepared, elsewhere, sizes_of
from .special import Kind, Special, adopted, for_sizes, kind_of, launch_of, made, pattern, tightened
from .specialize import worker

LAUNCHES = 16  # how many there are at least before something is compiled or timed
SOON = 1 << 30  # bytes that are moved before what is compiled is timed, which takes less than to compile it has taken
POLL = 64  # launches after which one asks again whether something has been compiled
ROUNDS = 5  # samples, twice
GAIN = 0.97  # of the general kernel's time: what is adopted takes less


def traffic(group: GpuGroup, size: Callable[[Ix], int]) -> int:
    """Bytes of all tensors of a launch."""
    return sum(size(b.numel) * b.dtype.itemsize for b in group.fusion.buffers)


def weight(func: Func) -> int:
    """Divisions, conditions, masks and loops: what sizes as numbers may spare a kernel."""
    n = 0
    for s in walk(func.body):
        if isinstance(s, Let):
            n += s.op in ("udiv", "min", "max", "lanemask") or (s.buf is not None and len(s.args) > 1)
        elif isinstance(s, Store):
            n += s.mask is not None
        else:
            n += isinstance(s, (If, For))
    return n


class Hot:
    """Launches a general kernel until it is known whether a special one is faster. That is asked when it has moved
    `stake` bytes, `moved` in each launch.

    `until`: the number of the launch in which something is to be done. First special kernels are asked for; when they
    are there (`specials`), a call that can be timed compares them and leaves the best in `group.memo[key]`.
    """

    __slots__ = ("calls", "entry", "found", "group", "key", "lock", "pattern", "specials", "until")

    def __init__(self, group: GpuGroup, key: tuple[int, ...], found: Found, entry: Prepared, moved: int, stake: int):
        self.group, self.key, self.found, self.entry = group, key, found, entry
        self.lock = threading.Lock()
        self.specials: list[Special] = []
        self.pattern = pattern(found[0].func, found[2], found[0].func)  # of size parameters that are judged with these
        self.calls, self.until = 0, max(LAUNCHES, stake // moved if moved else 0)

    def __call__(self, *pointers: int, hosts: tuple[float, ...] = ()) -> None:
        self.calls += 1
        if self.calls < self.until:
            self.entry(*pointers, hosts=hosts)
        else:
            self.decide(pointers, hosts)(*pointers, hosts=hosts)

    def lend(self) -> int:
        """How many launches of `entry` somebody else may make before calling again; they count as made."""
        if self.until == sys.maxsize:
            return POLL
        n = max(0, self.until - 1 - self.calls)
        self.calls += n
        return n

    @property
    def waiting(self) -> bool:
        """Whether there will soon be a decision."""
        return bool(self.specials) or self.until == sys.maxsize

    def decide(self, pointers: tuple[int, ...], hosts: tuple[float, ...]) -> Any:
        """What to launch this time."""
        if not self.lock.acquire(blocking=False):  # another thread is at it
            return self.entry
        try:
            now = self.group.memo.get(self.key)
            if now is not self:
                return now or self.entry
            if not self.specials:
                self.ask()
                return self.entry
            return self.compared(pointers, hosts) if self.group.driver.can_time() else self.entry
        finally:
            self.lock.release()

    def ask(self) -> None:
        """Have the special kernel compiled in the background, unless it is known what comes of it."""
        known, special = self.kind.find(self.found[2])
        if known or self.kind.closed():
            self.settle(special)
            return
        self.until = sys.maxsize
        worker().submit(contextvars.copy_context().run, self.make)

    @property
    def kind(self) -> Kind:
        return kind_of(self.group, self.found[1].key)

    def make(self) -> None:
        kernel, code, numbers = self.found
        group = self.group
        try:
            func = for_sizes(self.kind, self.found)
            self.pattern = pattern(kernel.func, numbers, func)
            if weight(func) == weight(kernel.func):
                self.lose("there is nothing to fold")
                return
            found = [made(group, func)]
            tight = tightened(found[0], code, group.driver.gpu)
            if tight is not None:
                found.append(made(group, tight))
            self.specials = found
            self.until = 0
        except Exception as e:  # the general kernel works
            self.lose(str(e))

    def compared(self, pointers: tuple[int, ...], hosts: tuple[float, ...]) -> Prepared:
        """Times the kernels on the tensors of a call."""
        group = self.group
        known, before = self.kind.find(self.found[2])
        if known:  # by another group
            return self.settle(before)
        try:
            launches = [self.entry, *(launch_of(group, s, self.entry.sizes) for s in self.specials)]
            memory, there = _apart(group, self.key, pointers)
            runs: list[Callable[[], None]] = [lambda p=p: p(*there, hosts=hosts) for p in launches]  # type: ignore[misc]
            times = group.driver.times(runs * 2, ROUNDS)
            del memory
        except Exception as e:
            return self.lose(str(e))
        general, *mine = map(min, zip(times[: len(runs)], times[len(runs) :], strict=True))
        least = min(range(len(mine)), key=mine.__getitem__)
        special = self.specials[least]
        special.ratio = mine[least] / general if general > 0 else 1.0
        LOG.info("%s for its sizes: %.3g s, general %.3g s", special.func.name, mine[least], general)
        if special.ratio > GAIN:
            return self.lose("")
        self.kind.judge(self.pattern, special)
        return self.settle(special)

    def lose(self, why: str) -> Prepared:
        if why:
            LOG.info("no kernel for one set of sizes of %s: %s", self.found[0].func.name, why)
        self.kind.judge(self.pattern, None)
        return self.settle(None)

    def settle(self, special: Special | None) -> Prepared:
        """From now on launch this one, or the general kernel."""
        launch = self.entry if special is None else adopted(self.group, self.key, special, self.entry)
        self.group.memo[self.key] = launch
        self.kind.forget(self.found[2])
        return launch


def _apart(group: GpuGroup, key: Sequence[int], pointers: Sequence[int]) -> tuple[Any, list[int]]:
    """(memory, pointers): those of a call, with other memory for outputs that share theirs with what the kernel reads.

    The other outputs are about to be written anyway, and as often as one likes with the same values.
    """
    size: Callable[[Ix], int] = sizes_of(group.sizes_at(key)[0])
    buffers = group.fusion.buffers
    spans = [(p, p + (1 + reach(b, size)) * b.dtype.itemsize) for p, b in zip(pointers, buffers, strict=True)]
    read = [span for span, b in zip(spans, buffers, strict=True) if not b.output]
    shared = [
        k for k, (x, y) in enumerate(spans) if buffers[k].output and any(x < end and begin < y for begin, end in read)
    ]
    return elsewhere(group, pointers, size, shared)


__all__ = ["Hot", "traffic"]
