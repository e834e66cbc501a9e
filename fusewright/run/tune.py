"""Autotuning: the schedules near the heuristic's are timed on the device, and the fastest is remembered on disk.

A group is tuned when its kernel is first launched for given sizes (option `autotune`), on the tensors of that call;
outputs go to memory of their own meanwhile, so that what is written in place is read unharmed. That takes a second or
so per kernel and set of sizes, mostly compilation, which is done in parallel. The winner has to be clearly faster than
the heuristic's choice, and is kept in the disk cache under the fusion's structure, the sizes, the device and the
version of the code generator: later processes take it from there and time nothing.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..build.store import default_store
from ..core.counters import count
from ..core.errors import FusewrightError
from ..core.log import LOG
from ..core.options import current, using
from ..fusion.structure import structure_hash
from ..index.expr import Ix
from ..schedule import text
from ..schedule.gpu_base import GpuSchedule, Settled
from ..schedule.legal_gpu import Sizes, settle
from ..schedule.variants import variants
from .code import generator_digest
from .gpu import GpuGroup, Prepared, elsewhere

TRIED = 40  # schedules that are timed, at most
FINAL = 6  # of them that are timed again, longer
GAIN = 0.97  # of the heuristic's time: a winner takes less
ROUNDS = (2, 9)  # samples of everything, and of the final ones

Call = Callable[[], None]


class Tuning:
    """Stands in the place of a prepared launch until the first call; then the best one does.

    `group.memo[key]` is replaced by the winner. While a CUDA graph is captured, or where the driver keeps no time, the
    heuristic's kernel is launched and tuning waits for another call.
    """

    __slots__ = ("entry", "group", "key", "lock", "schedule", "sizes")
    waiting = True  # as of `hot.Hot`: there will soon be a decision

    def __init__(self, group: GpuGroup, key: tuple[int, ...], entry: Prepared, sizes: Sizes):
        self.group, self.key, self.entry, self.sizes = group, key, entry, sizes
        self.schedule = group.schedule  # of `entry`
        self.lock = threading.Lock()

    def __call__(self, *pointers: int, hosts: tuple[float, ...] = ()) -> None:
        if not self.lock.acquire(blocking=False):  # another thread is at it
            self.entry(*pointers, hosts=hosts)
            return
        try:
            best = self.group.memo.get(self.key)
            if best is self:
                best = self.tuned(pointers, hosts)
        finally:
            self.lock.release()
        (best or self.entry)(*pointers, hosts=hosts)

    def tuned(self, pointers: tuple[int, ...], hosts: tuple[float, ...]) -> Prepared:
        group = self.group
        if not group.driver.can_time():
            return self.entry
        with using(group.options):
            digest = _digest(group, self.key)
            found = _remembered(group, digest, self.sizes)
            try:
                best = self.prepare(found) if found is not None else self.search(pointers, hosts, digest)
            except Exception as e:  # the heuristic's kernel works
                LOG.warning("autotuning %s failed: %s", self.schedule and self.schedule.family, e)
                best = self.entry
        group.memo[self.key] = best
        return best

    def prepare(self, settled: Settled) -> Prepared:
        env, _ = self.group.sizes_at(self.key)
        return self.group.trial(settled, env)

    def search(self, pointers: tuple[int, ...], hosts: tuple[float, ...], digest: str) -> Prepared:
        group, chosen = self.group, self.schedule
        assert chosen is not None
        f = group.fusion
        settled = list(itertools.islice(variants(f, chosen, self.sizes), TRIED))

        def made(s: Settled) -> Prepared | None:
            try:
                return self.prepare(s)
            except FusewrightError as e:
                LOG.debug("autotuning: %s", e)
                return None

        with ThreadPoolExecutor(min(16, os.cpu_count() or 1)) as pool:
            entries = list(pool.map(made, settled))
        outputs = [k for k, b in enumerate(f.buffers) if b.output]
        memory, there = elsewhere(group, pointers, self.sizes.hint, outputs)
        runs: list[tuple[Settled, Prepared, Call]] = []
        for s, p in zip(settled, entries, strict=True):
            if p is not None:
                runs.append((s, p, lambda p=p: p(*there, hosts=hosts)))  # type: ignore[misc]
        times = group.driver.times([r for _, _, r in runs], ROUNDS[0])
        order = sorted(range(len(runs)), key=times.__getitem__)
        final = dict.fromkeys([0, *order[:FINAL]])  # 0: the heuristic's
        again = group.driver.times([runs[k][2] for k in final], ROUNDS[1])
        by_time = dict(zip(final, again, strict=True))
        best = min(by_time, key=by_time.__getitem__)
        if by_time[best] > GAIN * by_time[0]:
            best = 0
        del memory
        count("kernels_tuned")
        (_, winner, _), entry, _ = runs[best]
        LOG.info("autotuned: %s, %.3g s, the heuristic's %.3g s", winner, by_time[best], by_time[0])
        if current().disk_cache:
            what = {"family": winner.family, "us": by_time[best] * 1e6, "heuristic_us": by_time[0] * 1e6}
            default_store().put(digest, text.dump(winner, structure_hash(f)).encode(), what)
        return entry


def begin(group: GpuGroup, key: tuple[int, ...], entry: Prepared, hint: Callable[[Ix], int], alignment: int) -> Any:
    """What takes the place of a launch that the heuristic prepared."""
    return Tuning(group, key, entry, Sizes(hint, group.driver.gpu, lambda buffer: alignment))


def _digest(group: GpuGroup, key: Sequence[int]) -> str:
    what = (structure_hash(group.fusion), tuple(key), group.driver.versions(), generator_digest("cuda*.py"))
    return "tuned-" + hashlib.sha256(repr((what, group.driver.gpu)).encode()).hexdigest()[:32]


def _remembered(group: GpuGroup, digest: str, sizes: Sizes) -> Settled | None:
    """The winner of an earlier process, if it is still legal."""
    found = default_store().get(digest) if current().disk_cache else None
    if found is None:
        return None
    try:
        s = text.parse_one(found.decode()).schedule
        return settle(group.fusion, s, sizes) if isinstance(s, GpuSchedule) else None
    except (FusewrightError, UnicodeDecodeError):
        return None


__all__ = ["Tuning", "begin"]
