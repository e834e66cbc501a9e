"""Who looks on when kernels are launched: probes, profiles, checks.

A maker looks at a kernel's plan when its graph is compiled and returns a `Watch` (`run/plan.py`) or None. With no watch
the plan's source is as if this file did not exist: looking on costs nothing unless somebody does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from ..core.lazy import lazy_import
from ..core.options import current
from ..run.plan import GroupPlan, Plan, Watch
from . import record

if TYPE_CHECKING:
    from . import check, probe, profile, runs
else:  # each for those who ask for it
    check = lazy_import("fusewright.debug.check")
    probe = lazy_import("fusewright.debug.probe")
    profile = lazy_import("fusewright.debug.profile")
    runs = lazy_import("fusewright.debug.runs")


def _makers() -> Iterator[Callable[[GroupPlan, Plan], Watch | None]]:
    """Those who may look on, with the current options and recording. The first one is outermost."""
    o = current()
    if o.check:
        yield check.watch_for
    if o.profile:
        yield profile.ranges
    if record.current() is not None:
        yield probe.probing
        yield profile.metering
    if o.dump:
        yield runs.watch_for


def install(plan: Plan) -> None:
    """Give every kernel of `plan` the watch that the current options and recording ask for."""
    makers = list(_makers())
    if current().check:
        check.of_claims(plan)
    for p in plan.groups:
        if p.ours:
            found = [w for make in makers if (w := make(p, plan)) is not None]
            p.watch = _nested(found) if found else None


def _nested(watches: list[Watch]) -> Watch:
    if len(watches) == 1:
        return watches[0]
    outer, inner = watches[0], _nested(watches[1:])

    def both(
        kernel: Callable[..., Any], arguments: tuple[Any, ...], tensors: tuple[torch.Tensor, ...], sizes: dict[str, int]
    ) -> Any:
        return outer(lambda *a: inner(kernel, a, tensors, sizes), arguments, tensors, sizes)

    return both
