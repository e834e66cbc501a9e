"""Legal GPU schedules near a given one: other numbers of threads, steps, blocks, lanes, and what a row keeps.

They are what an autotuner tries, in order of how much is expected of them; all compute the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..fusion.ir import Fusion
from .forms import Illegal
from .gpu_base import GpuSchedule, Settled, accesses, power_up
from .gpu_fit import CLUSTERS, COLUMNS, copies_rows, dear_values
from .legal_gpu import Sizes, _steps, settle

MOST_STEPS = 16  # vectors of a row that a thread holds in registers, in what is tried
MOST_SHARED = 56  # and in shared memory
REGISTERS: dict[str, Any] = {"keep": "values", "keep_in": "registers", "ahead": 0, "alone": False}
ALONE = 512  # threads of a block that has a multiprocessor for itself


def variants(f: Fusion, s: GpuSchedule, sizes: Sizes) -> Iterator[Settled]:
    """`s` itself, then other legal schedules for `f` and these sizes, each once."""
    seen: set[GpuSchedule] = set()
    for other in itertools.chain((s,), _near(f, s, sizes)):
        if other in seen:
            continue
        seen.add(other)
        try:
            settled = settle(f, other, sizes)
        except Illegal:
            continue
        if settled[1] == other or settled[1] not in seen:
            seen.add(settled[1])
            yield settled


def _near(f: Fusion, s: GpuSchedule, sizes: Sizes) -> Iterator[GpuSchedule]:
    _, cols = _steps(f, s, sizes)
    match s.mode:
        case "tile":
            yield from _tiles(s, cols)
        case "staged":
            for rt in (4, 8, 16, 32):
                yield replace(s, row_threads=rt)
        case "persistent" | "loop":
            if s.runs:
                yield from _runs(s, cols, bool(f.scans()))
                s = replace(s, runs=frozenset())
            if s.interleaved:
                yield from _interleaved(s, cols)
            yield from _shared(f, s, cols)
            yield from _held(s, cols)
            if s.resident:  # rows of which each has blocks of its own
                apart = replace(s, resident=False, finish=False, **REGISTERS)
                yield from _shared(f, apart, cols)
                yield from _held(apart, cols)
            if s.resident and s.lanes > 2 and not s.anchor:  # narrower vectors: fewer registers for sums of columns
                yield from _held(replace(s, lanes=s.lanes // 2), cols * 2 if s.vector in s.cols else cols)
            if s.resident and s.lanes < 8 and not s.anchor and s.vector in s.cols:  # wider ones, of what is copied
                yield from _shared(f, replace(s, lanes=s.lanes * 2), -(-cols // 2))
            yield from _cut(s)
            yield from _walked(s, cols)
        case "split":
            if s.interleaved:
                yield from _interleaved(s, cols)
            yield from _cut(s)
        case "collect" | "place":
            yield from _collected(s)
    once = frozenset(b for b, o, _ in accesses(f) if o.axes() == set(f.axes))
    if once:
        yield replace(s, stream=once)


def _tiles(s: GpuSchedule, cols: int) -> Iterator[GpuSchedule]:
    for threads, n in itertools.product((128, 256, 512), (1, 2, 4, 8)):
        ct = power_up(cols, threads) if s.rows else threads
        t = replace(s, col_threads=ct, row_threads=max(1, threads // ct) if s.rows else 1)
        if s.repeat:
            yield replace(t, repeats=n)
        yield replace(t, steps=n, repeat="", repeats=1)
    for a in s.rows:
        yield replace(s, steps=1, repeat=a, repeats=4)


def _shared(f: Fusion, s: GpuSchedule, cols: int) -> Iterator[GpuSchedule]:
    """Rows in shared memory: threads of a row, blocks of a row; of resident blocks, also rows that are on their way,
    first where a block has a processor alone."""
    if s.vector in s.rows or not s.rows or not copies_rows(f, s):
        return
    dear = dear_values(f, {a for a in f.axes if a.name in s.cols}) > 0
    kept = ("loads", "values") if dear else ("loads",)
    t = replace(s, mode="persistent", keep_in="shared", row_threads=1, finish=s.resident and s.finish, alone=False)
    for ct, ahead in itertools.product((64, 128, 256, 512) if s.resident else (), (1, 2)):
        steps = -(-cols // ct)
        if COLUMNS < 2 * steps * s.lanes <= 4 * COLUMNS:
            yield replace(
                t, row_threads=ALONE // ct, col_threads=ct, steps=steps, keep="loads", ahead=ahead, alone=True
            )
    for ct, cluster, ahead, keep in itertools.product((512, 256, 1024, 128), CLUSTERS, (1, 0), kept):
        steps = -(-cols // (cluster * ct))
        if steps > (MOST_STEPS if keep == "values" else MOST_SHARED) or 2 * cols <= cluster * ct:
            continue
        if ahead <= s.resident and (cluster == 1 or not s.resident):
            yield replace(t, col_threads=ct, steps=steps, cluster=cluster, ahead=ahead, keep=keep)


def _interleaved(s: GpuSchedule, cols: int) -> Iterator[GpuSchedule]:
    """Neighbouring rows in memory: how many of them a block has, and how it holds them."""
    yield replace(s, interleaved=False)
    t = replace(s, mode="persistent", finish=s.resident and s.finish, ahead=0, once=False)
    for rt, cluster, threads in itertools.product((8, 4, 16, 2), CLUSTERS[::-1], (512, 256)):
        ct = threads // rt
        steps = -(-cols // (cluster * ct))
        if (cluster > 1 and s.resident) or (steps == 1 and 2 * cols <= cluster * ct):
            continue
        t = replace(t, row_threads=rt, col_threads=ct, steps=steps, cluster=cluster)
        if steps <= MOST_SHARED:
            yield replace(t, keep="loads", keep_in="shared")
        if steps <= MOST_STEPS:
            yield replace(t, keep="values", keep_in="registers")
    if not s.resident:
        for rt, threads in itertools.product((8, 4, 16, 2), (256, 512)):
            cut = replace(s, mode="split", cluster=1, finish=True, **REGISTERS)
            yield replace(cut, row_threads=rt, col_threads=threads // rt, steps=4)


def _held(s: GpuSchedule, cols: int) -> Iterator[GpuSchedule]:
    """Rows in registers: threads of a row, blocks of a row, rows of a block."""
    row_vector = s.vector in s.rows
    s = replace(s if s.resident else replace(s, finish=False), **REGISTERS)
    if s.resident:
        yield replace(s, finish=not s.finish)
    for cluster, k in itertools.product(CLUSTERS, range(11)):
        ct = 1 << k
        steps = -(-cols // (cluster * ct))
        if steps > MOST_STEPS or (steps == 1 and 2 * cols <= cluster * ct):
            continue
        if cluster > 1 and ct < 128:
            continue
        for threads, keep in itertools.product((64, 128, 256, 512, 1024), ("values", "loads")):
            rt = max(1, threads // ct)
            if row_vector and rt > 32:
                continue
            if rt * ct == threads and s.rows:
                t = replace(
                    s, mode="persistent", row_threads=rt, col_threads=ct, steps=steps, cluster=cluster, keep=keep
                )
                yield t
                if s.resident and threads == ALONE:
                    yield replace(t, alone=True)
            elif not s.rows and rt == 1:
                yield replace(s, mode="persistent", col_threads=ct, steps=steps, cluster=cluster, keep=keep)


def _walked(s: GpuSchedule, cols: int) -> Iterator[GpuSchedule]:
    """Rows read again by every pass."""
    s = s if s.resident else replace(s, finish=False)
    for threads, steps in itertools.product((128, 256, 512, 1024), (1, 2, 4, 8)):
        for k in range(11):
            ct = 1 << k
            if ct > threads or ct * steps > 2 * cols:
                continue
            rt = threads // ct
            if rt > 1 and not s.rows:
                continue
            if ct * 64 < cols and s.vector in s.cols:
                continue  # too few threads for a row so long
            yield replace(s, mode="loop", row_threads=rt, col_threads=ct, steps=steps, cluster=1, **REGISTERS)


def _runs(s: GpuSchedule, cols: int, scan: bool) -> Iterator[GpuSchedule]:
    """Rows that pass through shared memory: threads of a row, rows of a block."""
    for threads, ct in itertools.product((128, 256, 64) if scan else (), (2, 4, 8, 16, 32)):
        yield replace(s, row_threads=threads // ct, col_threads=ct, steps=-(-cols // ct) | 1)
    for mode, threads, ct in itertools.product(("persistent", "loop"), (128, 256, 64), (1, 2, 4, 8)):
        steps = -(-cols // ct) if mode == "persistent" else max(1, min(4, cols // ct))
        yield replace(s, mode=mode, row_threads=threads // ct, col_threads=ct, steps=steps)


def _cut(s: GpuSchedule) -> Iterator[GpuSchedule]:
    """Rows cut over blocks that combine their parts in another launch."""
    row_vector = s.vector in s.rows
    s = replace(s, mode="split", cluster=1, finish=True, **REGISTERS)
    widths = {s.lanes, max(1, s.lanes // 2)} if row_vector else {s.lanes}
    across = {min(32, s.row_threads), 8} if row_vector else {s.row_threads} if s.interleaved else {1}
    for once, lanes, rt in itertools.product((True, False), sorted(widths), sorted(across, reverse=True)):
        for threads, steps in itertools.product((128, 256, 512), (1, 2, 4, 8)):
            t = replace(s, once=once, lanes=lanes, row_threads=rt, col_threads=threads // rt)
            yield replace(t, steps=steps)


def _collected(s: GpuSchedule) -> Iterator[GpuSchedule]:
    """Threads of a row of a scatter's target, and vectors of each."""
    for threads, ct, steps in itertools.product((64, 128, 256), (1, 8, 16, 32, 64), (1, 2, 3, 4)):
        if s.vector or ct == 1:
            yield replace(s, row_threads=threads // ct if s.rows else 1, col_threads=ct, steps=steps)


__all__ = ["variants"]
