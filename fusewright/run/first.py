"""The first launches of a group, while its kernels are being compiled.

Two are: the general one, and one for the first sizes only (`special.py`). Whichever is there first is launched, until
the other one is there, too. Then the special one is, unless its registers let clearly fewer blocks run at once: the
general one is launched then until both have been timed (`timed.py`). Where sizes are symbolic, the first launch waits
for the general one: a program that was traced for all sizes is likely to be called with the next ones at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from ..core.log import LOG
from ..core.options import using
from ..loop.ir import Func
from . import special as specials
from . import specialize
from .gpu import Ahead, Decision, Found, GpuGroup, Prepared, sizes_of
from .special import Kind, Special, adopted, at_once, crowded, kind_of, launch_of, pattern
from .timed import SOON, Hot, traffic


def meanwhile(group: GpuGroup, key: tuple[int, ...], decision: Decision) -> Any:
    """A launch for new sizes that does not wait for the general kernel, or None: see `GpuGroup.meanwhile`."""
    return specialize.begin(group, key, decision) if group.kernels else first(group, key, decision)


def first(group: GpuGroup, key: tuple[int, ...], decision: Decision) -> First | None:
    """The first launch of a group, of a special kernel; None to wait for the general one, or if that is there first."""
    a = group.ahead
    if group.symbols or a is None or a.special is None or group.options.specialize != "hot" or group.choose is not None:
        return None
    with using(group.options):
        kernel = group.lowering(decision.fusion, decision.schedule)
    if kernel is not a.kernel or kernel.evaluate({**decision.env, **decision.launch}) != a.numbers:
        return None
    either: list[Future[Any]] = [a.general, a.special]
    wait(either, return_when=FIRST_COMPLETED)
    if a.general.done() or a.special.exception() is not None:
        return None
    try:
        return First(group, key, decision, specials.made(group, a.special.result()), a)
    except Exception as e:
        LOG.info("no kernel for the first sizes of %s: %s", kernel.func.name, e)
        return None


class Waiting:
    """Launches one of the two kernels for the first sizes until the other one is compiled."""

    __slots__ = ("entry", "group", "key", "lock", "other")
    waiting = True  # there will soon be a decision

    def __init__(self, group: GpuGroup, key: tuple[int, ...], entry: Prepared, other: Future[Any]):
        self.group, self.key, self.entry, self.other = group, key, entry, other
        self.lock = threading.Lock()

    def __call__(self, *pointers: int, hosts: tuple[float, ...] = ()) -> None:
        self.decide()(*pointers, hosts=hosts)

    def decide(self) -> Prepared:
        """What to launch this time. What a CUDA graph records stays, so that a recording waits for the best."""
        group = self.group
        if not self.other.done() and group.driver.can_time():
            return self.entry
        with self.lock:
            now: Any = group.memo.get(self.key)
            if now is self:
                now = group.memo[self.key] = self.settled()
        return now if isinstance(now, Prepared) else self.entry

    def settled(self) -> Any:
        """The launch from now on."""
        raise NotImplementedError

    def judged(self, found: Found, entry: Prepared, special: Callable[[Kind], Special | None]) -> Any:
        """The launch from now on: that of the general kernel (`entry`), of the special one, or one that times both.

        The special one is `special` of what is known, if anybody can make it.
        """
        kernel, code, numbers = found
        kind = kind_of(self.group, code.key)
        known, best = kind.find(numbers)
        if not known:
            best = special(kind)
            if best is not None and crowded(best.code, code, self.group.driver.gpu):
                moved = traffic(self.group, sizes_of(self.group.sizes_at(self.key)[0]))
                return Hot(self.group, self.key, found, entry, moved, SOON)
            kind.judge(pattern(kernel.func, numbers, best.func if best else kernel.func), best)
        kind.forget(numbers)
        return entry if best is None else adopted(self.group, self.key, best, entry)


class Soon(Waiting):
    """Launches the general kernel until the special one is there, which takes over if it is not `crowded`."""

    __slots__ = ("found",)

    def __init__(self, group: GpuGroup, key: tuple[int, ...], found: Found, entry: Prepared, special: Future[Func]):
        super().__init__(group, key, entry, special)
        self.found = found

    def settled(self) -> Any:
        return self.judged(self.found, self.entry, lambda kind: at_once(self.group, kind, self.found))


class First(Waiting):
    """Launches the special kernel until the general one is there, which shows whether it was `crowded`.

    It is for these sizes only, so that the group has no kernel for others before that.
    """

    __slots__ = ("decision", "special")

    def __init__(self, group: GpuGroup, key: tuple[int, ...], decision: Decision, special: Special, a: Ahead):
        sizes = dict(zip((r.name for r in a.kernel.func.sizes), a.numbers, strict=True))
        super().__init__(group, key, launch_of(group, special, sizes), a.general)
        self.decision, self.special = decision, special

    def settled(self) -> Any:
        group = self.group
        try:
            found = group.new(self.decision)
        except Exception as e:  # which other sizes will have to do with
            LOG.info("only a kernel for the first sizes: %s", e)
            return self.entry
        return self.judged(found, group.prepared(*found), lambda kind: self.special)


__all__ = ["First", "Soon", "Waiting", "first", "meanwhile"]
