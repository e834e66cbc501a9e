"""Who looks on when kernels are launched: probes, profiles, checks.

A maker looks at a kernel's plan when its graph is compiled and returns a `Watch` (`run/plan.py`) or None. With no watch
the plan's source is as if this file did not exist: looking on costs nothing unless somebody does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..run.plan import GroupPlan, Plan, Watch
from . import check, runs
from .probe import probing
from .profile import metering, ranges

# Consulted in this order for every kernel; the first one is outermost.
MAKERS: list[Callable[[GroupPlan, Plan], Watch | None]] = [
    check.watch_for,
    ranges,
    probing,
    metering,
    runs.watch_for,
]


def install(plan: Plan) -> None:
    """Give every kernel of `plan` the watch that the current options and recording ask for."""
    for p in plan.groups:
        if p.ours:
            found = [w for make in MAKERS if (w := make(p, plan)) is not None]
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
