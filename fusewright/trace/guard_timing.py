"""Frames that are compiled with our backend do without Dynamo's timing of their guards.

When Dynamo has compiled a frame it runs the frame's guards once by the clock, for its logs (`guard_latency_us`). For
that number to mean something it first pushes 32 MB through the processor's caches, which takes 20 to 40 ms: as much as
all else that is done for a small function. Frames of other backends are timed as ever, ours with the option
`guard_timing` or where Dynamo's log of guards is on.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import torch._dynamo.guards as guards

from ..core.options import current

_NAME = "profile_guard_manager"  # what `guards` calls to time them; if a torch has no such name, nothing is changed

_lock = threading.Lock()


class _Here(threading.local):
    """Whether the frame that this thread is compiling is not to be timed."""

    ours = False


_here = _Here()


def skip_timing() -> None:
    """Leave the guards of the frame that this thread is compiling untimed, unless somebody wants to know."""
    if current().guard_timing or guards.guards_log.isEnabledFor(logging.DEBUG):
        return
    with _lock:
        found = getattr(guards, _NAME, None)
        if found is None:
            return
        if not isinstance(found, _Timing):
            setattr(guards, _NAME, _Timing(found))
    _here.ours = True


class _Timing:
    """Stands in for the function that times guards."""

    def __init__(self, time_guards: Callable[..., float]):
        self.time_guards = time_guards

    def __call__(self, *args: Any) -> float:
        if _here.ours:
            _here.ours = False
            return 0.0
        return self.time_guards(*args)


__all__ = ["skip_timing"]
