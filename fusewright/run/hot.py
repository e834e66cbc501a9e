"""Kernels for one set of sizes, where they are faster than the general one (option `specialize`).

A GPU kernel takes its sizes as arguments. There may be a second one, of the same schedule, in which they are numbers
(`loop/constants.py`). With "hot" it is compiled together with the general one, at the same time, for the sizes that a
program is first called with, and for all sizes of a program that was traced for one set of them; it is launched unless
its registers let clearly fewer blocks run at once. For sizes that come later nobody waits: when they have kept the
device busy for long, it is compiled in the background and then timed beside the general one, on the tensors of a call;
it stays only if it is clearly faster. With "always" it is compiled before the first launch, and nothing is timed; with
"never" there is none.

Total time is what counts, so little is tried. A kernel that moves little is never looked at. A later one is looked at
when it has moved as much as takes longer than compiling it, which holds up what runs meanwhile. What came out is known
for all groups that run the same kernel, and for sizes to come: a kernel that did not gain a few times is left alone,
and none is made for more than a few sizes.
"""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from ..build import nvrtc
from ..core.counters import count
from ..core.errors import CompilerError
from ..core.log import LOG
from ..core.options import current, using
from ..index.expr import Ix
from ..loop.constants import specialised
from ..loop.ir import WARP, For, Func, Grid, If, Let, Stmt, Store, walk
from ..loop.lower import Kernel
from ..schedule.device import Gpu
from ..schedule.gpu_base import reach
from .gpu import Found, GpuGroup, GpuKernel, Prepared, elsewhere, kernel_for, key_of, sizes_of
from .specialize import worker

SMALL = 4 << 20  # bytes of a launch that takes longer to begin than to run
STAKE = 1 << 40  # bytes that are moved before more is compiled: a quarter of a second's worth
LAUNCHES = 16  # how many there are at least before that
POLL = 64  # launches after which one asks again whether that has been compiled
FEWER = 0.8  # of the blocks that run at once of the general kernel; with fewer a special one is not launched untimed
ROUNDS = 5  # samples, twice
GAIN = 0.97  # of the general kernel's time: what is adopted takes less
LOST = 2  # kernels in a row that were no faster, after which there are no more of their kind
SIZES = 8  # for which a kernel is specialised at most


@dataclass(slots=True)
class Special:
    """A kernel whose sizes are numbers. `ratio`: its time over the general one's; None where that was not measured.

    How many blocks it has may still be a parameter: it then serves batches of all sizes.
    """

    func: Func
    code: GpuKernel
    ratio: float | None = None


@dataclass(slots=True)
class Kind:
    """What is known of the special kernels of a general one. `judged`: by size parameters; None did not gain.

    A parameter that does not matter is None. `ahead`: those that are compiled before the first launch, or being so.
    """

    judged: dict[tuple[int | None, ...], Special | None] = field(default_factory=dict)
    lost: int = 0  # in a row
    ahead: dict[tuple[int, ...], Func | None] = field(default_factory=dict)

    def find(self, numbers: Sequence[int]) -> tuple[bool, Special | None]:
        """(whether kernels for these size parameters have been judged, the one that gained)."""
        for pattern, special in list(self.judged.items()):
            if all(p is None or p == n for p, n in zip(pattern, numbers, strict=True)):
                return True, special
        return False, None

    def closed(self) -> bool:
        return self.lost >= LOST or len(self.judged) >= SIZES

    def wants(self, group: GpuGroup) -> bool:
        """Whether the group's next sizes get a kernel at once: its only ones, or the first of all."""
        return not self.closed() and not (group.symbols and self.judged)

    def judge(self, pattern: tuple[int | None, ...], special: Special | None) -> None:
        with _lock:
            if pattern not in self.judged:
                self.judged[pattern] = special
                self.lost = 0 if special is not None else self.lost + 1


_lock = threading.Lock()
_kinds: WeakKeyDictionary[Any, dict[str, Kind]] = WeakKeyDictionary()  # by driver, and key of the general kernel


def kind_of(group: GpuGroup, key: str) -> Kind:
    """What is known of the general kernel of this key."""
    with _lock:
        return _kinds.setdefault(group.driver, {}).setdefault(key, Kind())


def ahead(group: GpuGroup, kernel: Kernel, numbers: list[int], moved: int) -> None:
    """Compile the special kernel that the first launch will want, if any; while others compile the general one.

    `moved`: bytes of that launch.
    """
    o = current()
    always = o.specialize == "always"
    if o.specialize == "never" or o.autotune or o.external_source is not None or (moved < SMALL and not always):
        return
    kind = kind_of(group, key_of(kernel.func, group.driver))
    with _lock:
        if tuple(numbers) in kind.ahead or not (always or kind.wants(group)):
            return
        kind.ahead[tuple(numbers)] = None
    func = specialised(kernel.func, numbers)
    kernel_for(func, group.driver)
    kind.ahead[tuple(numbers)] = func


def begin(group: GpuGroup, key: tuple[int, ...], found: Found, entry: Prepared) -> Any:
    """What takes the place of `entry`, the launch of a general kernel: itself, a special one's, or a `Hot`."""
    kernel, code, numbers = found
    how = group.options.specialize
    if how == "never" or group.options.external_source is not None:  # people edit general kernels
        return entry
    kind = kind_of(group, code.key)
    if how == "always":
        special = at_once(group, kind, found)
        return entry if special is None else adopted(group, key, special, entry)
    known, special = kind.find(numbers)
    if not known:
        moved = traffic(group, sizes_of(group.sizes_at(key)[0]))
        if kind.closed() or moved < SMALL:
            return entry
        if not kind.wants(group):
            return Hot(group, key, found, entry, max(LAUNCHES, STAKE // moved if moved else 0))
        tried = special = at_once(group, kind, found)
        if special is not None and crowded(special.code, code, group.driver.gpu):
            special = None
        kind.judge(pattern(kernel.func, numbers, tried.func if tried else kernel.func), special)
    return entry if special is None else adopted(group, key, special, entry)


def traffic(group: GpuGroup, size: Callable[[Ix], int]) -> int:
    """Bytes of all tensors of a launch."""
    return sum(size(b.numel) * b.dtype.itemsize for b in group.fusion.buffers)


def at_once(group: GpuGroup, kind: Kind, found: Found) -> Special | None:
    """The special kernel for these sizes; None if something failed."""
    kernel, _, numbers = found
    try:
        func = kind.ahead.pop(tuple(numbers), None) or specialised(kernel.func, numbers)
        return made(group, func)
    except Exception as e:  # the general one is there
        LOG.info("no kernel for one set of sizes of %s: %s", kernel.func.name, e)
        return None


def pattern(general: Func, numbers: Sequence[int], special: Func) -> tuple[int | None, ...]:
    """For which size parameters of a general kernel a verdict on a special one, made for these, holds."""
    free = () if special is general else special.sizes
    return tuple(None if r in free else n for r, n in zip(general.sizes, numbers, strict=True))


def crowded(special: GpuKernel, general: GpuKernel, gpu: Gpu) -> bool:
    """Whether the registers of a special kernel let clearly fewer blocks run at once than those of the general one."""
    mine, theirs = _blocks(special, gpu), _blocks(general, gpu)
    return any(mine.get(name, n) < FEWER * n for name, n in theirs.items())


def made(group: GpuGroup, func: Func) -> Special:
    """A special kernel, compiled. Raises CompilerError or RuntimeFault."""
    with using(group.options):
        special = Special(func, group.compile(func, group.driver))
        count("kernels_specialized")
        group.made_special(special)
    return special


def tightened(special: Special, general: GpuKernel, gpu: Gpu) -> Func | None:
    """The special kernel with its registers bounded so that as many blocks run beside each other as of the general one.

    None if as many do anyway. Loads that no condition holds up are all asked for at once, which takes registers.
    """
    mine, theirs = (_blocks(k, gpu) for k in (special.code, general))
    body: list[Stmt] = []
    for g, launch in zip(special.func.body, special.code.takes.launches, strict=True):
        assert isinstance(g, Grid)
        wanted = theirs.get(launch.name, 0)
        fewer = g.beside == 1 and 0 < mine.get(launch.name, 0) < wanted
        body.append(replace(g, beside=wanted) if fewer else g)
    return replace(special.func, body=body) if body != special.func.body else None


def _blocks(kernel: GpuKernel, gpu: Gpu) -> dict[str, int]:
    """How many blocks of each launch the registers of a multiprocessor suffice for; of none without machine code."""
    try:
        reports = {r.name: r.registers for r in nvrtc.report(kernel.code)}
    except CompilerError:
        return {}
    out = {}
    for x in kernel.takes.launches:
        if registers := reports.get(x.name, 0):
            warps = -(-x.threads // WARP)
            out[x.name] = min(gpu.threads // x.threads, gpu.registers // (-(-registers // 8) * 8 * WARP * warps))
    return out


def launch_of(group: GpuGroup, special: Special, entry: Prepared) -> Prepared:
    """A special kernel's launch in place of the general one's."""
    code = special.code
    numbers = [entry.sizes[r.name] for r in special.func.sizes]
    launch = Prepared(group.driver, code.takes, code.handles, numbers, list(group.fusion.hosts))
    launch.sizes = entry.sizes  # for people
    return launch


def adopted(group: GpuGroup, key: tuple[int, ...], special: Special, entry: Prepared) -> Prepared:
    """The special kernel's launch, which is to take the place of the general one's."""
    launch = launch_of(group, special, entry)
    group.special[key] = special
    count("kernels_adopted")
    return launch


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
    """Launches a general kernel until it is known whether a special one is faster.

    `until`: the number of the launch in which something is to be done. First special kernels are asked for; when they
    are there (`specials`), a call that can be timed compares them and leaves the best in `group.memo[key]`.
    """

    __slots__ = ("calls", "entry", "found", "group", "key", "lock", "pattern", "specials", "until")

    def __init__(self, group: GpuGroup, key: tuple[int, ...], found: Found, entry: Prepared, launches: int):
        self.group, self.key, self.found, self.entry = group, key, found, entry
        self.lock = threading.Lock()
        self.specials: list[Special] = []
        self.pattern = pattern(found[0].func, found[2], found[0].func)  # of size parameters that are judged with these
        self.calls, self.until = 0, launches

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
            func = specialised(kernel.func, numbers)
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
            launches = [self.entry, *(launch_of(group, s, self.entry) for s in self.specials)]
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


__all__ = ["Hot", "Special", "ahead", "begin"]
