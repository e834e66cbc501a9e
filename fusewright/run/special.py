"""Kernels whose sizes are numbers, each made of a general one, and what is known of them.

Verdicts belong to the general kernel, for all groups that run it. Two in a row that did not gain end the attempts, and
none is made for more than a few sizes.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from ..build import nvrtc
from ..core.counters import count
from ..core.errors import CompilerError
from ..core.log import LOG
from ..core.options import using
from ..loop.constants import specialised
from ..loop.ir import WARP, Func, Grid, Stmt
from ..loop.lower import Kernel
from ..schedule.device import Gpu
from .gpu import Found, GpuGroup, GpuKernel, Prepared, kernel_for

FEWER = 0.8  # of the blocks that run at once of the general kernel; with fewer a special one is not launched untimed
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

    A parameter that does not matter is None. `ahead`: those that somebody compiles already.
    """

    judged: dict[tuple[int | None, ...], Special | None] = field(default_factory=dict)
    lost: int = 0  # in a row
    ahead: dict[tuple[int, ...], Future[Func]] = field(default_factory=dict)

    def find(self, numbers: Sequence[int]) -> tuple[bool, Special | None]:
        """(whether kernels for these size parameters have been judged, the one that gained)."""
        for pattern, special in list(self.judged.items()):
            if all(p is None or p == n for p, n in zip(pattern, numbers, strict=True)):
                return True, special
        return False, None

    def forget(self, numbers: Sequence[int]) -> None:
        """Nobody waits for the compilation for these numbers any more."""
        with _lock:
            self.ahead.pop(tuple(numbers), None)

    def closed(self) -> bool:
        return self.lost >= LOST or len(self.judged) >= SIZES

    def wants(self, group: GpuGroup) -> bool:
        """Whether the group's next sizes get a kernel at once: its only ones, or the first of all."""
        return not self.closed() and not (group.symbols and (self.judged or self.ahead))

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


def asked(pool: Executor, kind: Kind, group: GpuGroup, kernel: Kernel, numbers: Sequence[int]) -> Future[Func]:
    """The special kernel for these numbers, which `pool` compiles unless somebody has been asked before."""

    def make() -> Func:
        if not threading.main_thread().is_alive():  # the program has ended, and would wait for this
            raise CompilerError("nobody wants it any more", "constants")
        func = specialised(kernel.func, list(numbers))
        kernel_for(func, group.driver)
        return func

    with _lock:
        found = kind.ahead.get(tuple(numbers))
        if found is None:
            with using(group.options):
                found = kind.ahead[tuple(numbers)] = pool.submit(contextvars.copy_context().run, make)
    return found


def at_once(group: GpuGroup, kind: Kind, found: Found) -> Special | None:
    """The special kernel for these sizes; None if something failed."""
    try:
        return made(group, for_sizes(kind, found))
    except Exception as e:  # the general one is there
        LOG.info("no kernel for one set of sizes of %s: %s", found[0].func.name, e)
        return None


def for_sizes(kind: Kind, found: Found) -> Func:
    """The general kernel with its sizes as numbers; what somebody compiles already, if anybody does."""
    kernel, _, numbers = found
    asked_for = kind.ahead.get(tuple(numbers))
    return asked_for.result() if asked_for is not None else specialised(kernel.func, numbers)


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
        fewer = not g.beside and 0 < mine.get(launch.name, 0) < wanted
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


def launch_of(group: GpuGroup, special: Special, sizes: dict[str, int]) -> Prepared:
    """A special kernel's launch in place of the general one's, whose size parameters are `sizes`."""
    code = special.code
    numbers = [sizes[r.name] for r in special.func.sizes]
    launch = Prepared(group.driver, code.takes, code.handles, numbers, list(group.fusion.hosts))
    launch.sizes = sizes  # for people
    return launch


def adopted(group: GpuGroup, key: tuple[int, ...], special: Special, entry: Prepared) -> Prepared:
    """The special kernel's launch, which is to take the place of the general one's."""
    launch = launch_of(group, special, entry.sizes)
    group.special[key] = special
    count("kernels_adopted")
    return launch


__all__ = [
    *("Kind", "Special", "adopted", "asked", "at_once", "crowded", "for_sizes", "kind_of", "launch_of", "made"),
    *("pattern", "tightened"),
]
