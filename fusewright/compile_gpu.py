"""The part of the pipeline that is for GPUs: from a fusion to the launches of its kernels.

`pipeline.py` imports it when a graph has a group on a GPU, and with it all that only GPUs need. Schedules depend on the
sizes of a call here, so that a group's kernels are made by its `GpuGroup`, now and when it runs.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any
from weakref import WeakSet

import torch

from .build.pins import steered
from .core.errors import Refusal
from .core.options import current
from .debug import record, sources, stages, steer
from .debug.dump import About, shown
from .fusion.build import Built
from .fusion.collect import build
from .fusion.ir import Fusion
from .graph.groups import Group
from .index.expr import Ix, sym
from .loop.lower import Kernel
from .run import first, hot, timed, tune
from .run.devices import Driver
from .run.gpu import Ahead, GpuGroup, kernel_for
from .schedule import gpu, gpu_scatter
from .schedule.apart import SCATTERED, at_odds, better_apart, reads_across, share_little, summed_across
from .schedule.crossed import written_across

Hint = Callable[[Ix], int]

_begun: WeakSet[Future[Any]] = WeakSet()  # kernels that are, or were, compiled ahead


def family(f: Fusion, hint: Hint, driver: Driver, scattered: Collection[str] = ()) -> str:
    """The family of schedules for a fusion at the sizes of `hint`. `scattered`: the operators of its scatters.

    Raises Refusal where there is no schedule.
    """
    if not torch.are_deterministic_algorithms_enabled():
        gpu_scatter.decide(f, hint, scattered, current().single_op_groups)
    return gpu.plan(f, hint, driver.gpu)[1].family


def check_merge(f: Fusion, hint: Hint, parts: Sequence[Group] | None, fusion_of: Callable[[Group], Fusion]) -> None:
    """Raises Refusal where a merge of groups, of which one may have no schedule, would be slower than its parts.
    `parts`: None of a group that has been cut from another one, or computes again what others do."""
    if at_odds(f, hint):
        raise Refusal("profit", "large results that are contiguous along different axes")
    if parts is None:
        return
    if share_little(f):
        raise Refusal("profit", "reductions along different axes that share no large tensor")
    if written_across(f, hint, SCATTERED):
        raise Refusal("profit", "a result is written along another axis than what is reduced is read along")
    if summed_across(f, hint):
        raise Refusal("profit", "reductions over rows that are neighbours in memory, and of each of them")
    if not reads_across(f, hint):
        return
    for part in parts:
        with contextlib.suppress(Refusal):
            if reads_across(fusion_of(part), hint):
                return
    raise Refusal("profit", "a reduction would read large tensors that are contiguous along different axes")


def group(f: Fusion, driver: Driver, notes: list[str], allow: Callable[[str], None]) -> GpuGroup:
    """How a fusion runs on a GPU. `notes`: its operations, for people; `allow`: see `GpuGroup`."""
    made = GpuGroup(f, driver, lambda e: None, notes)
    made.allow = allow
    return made


def compile_ahead(groups: Sequence[Callable[[], GpuGroup]], hint: Hint) -> None:
    """Begin to compile the kernels of groups, all at once: those with sizes as arguments, those with sizes as numbers.

    Whatever fails will fail again in its turn.
    """
    pool = ThreadPoolExecutor(min(2 * len(groups), os.cpu_count() or 1), "fusewright-compile")
    begun: list[GpuGroup] = []
    for make in groups:
        with contextlib.suppress(Exception):
            g = make()
            if g.ahead is None:  # groups that are alike share one
                k, _, launch = g.lower(hint)
                general = pool.submit(contextvars.copy_context().run, kernel_for, k.func, g.driver)
                numbers = k.evaluate({**{s: hint(sym(s)) for s in g.symbols}, **launch})
                g.ahead = Ahead(k, numbers, general, None)
                _begun.add(general)
                begun.append(g)
    for g in begun:  # after what must be there
        with contextlib.suppress(Exception):
            assert g.ahead is not None
            special = hot.ahead(pool, g, g.ahead.kernel, g.ahead.numbers, timed.traffic(g, hint))
            g.ahead = replace(g.ahead, special=special)
            if special is not None:
                _begun.add(special)
    pool.shutdown(wait=False)  # it goes on with what it has been given


def settle() -> None:
    """Wait for all kernels that are being compiled ahead."""
    wait(list(_begun))


def compile_group(
    g: GpuGroup, b: Built, about: About, hint: Hint, failed: Callable[[Exception], None]
) -> tuple[Kernel, str]:
    """(the kernel for the sizes of `hint`; where its schedule is from: "" is the heuristic).

    It is compiled unless somebody does that already: then the first launch waits for it. `failed` is told when a kernel
    cannot be made later.
    """
    g.failed = failed
    g.made = lambda schedule: stages.gpu_kernel(about, g, schedule, hint)
    g.choose, chosen = steer.on_gpu(b, about, g.driver.gpu)
    g.compile = sources.gpu_compiler(about)
    g.meanwhile = first.meanwhile
    g.hot = hot.begin
    g.made_special = lambda special: stages.gpu_special(about, g, special.func, special.code)
    g.tune = tune.begin if current().autotune else None
    looks = shown() or steered() or record.current() is not None or current().external_source is not None
    k, _, _ = g.kernel(hint) if g.ahead is None or looks or g.tune is not None else g.lower(hint)
    return k, chosen


__all__ = ["better_apart", "build", "compile_ahead", "compile_group", "family", "group", "settle"]
