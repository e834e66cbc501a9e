"""Backward passes in the thread that asks for them, where there is one GPU.

Autograd keeps a thread for each GPU, so that several of them get work at once. With one there is nothing to gain, and
a backward pass changes threads twice, which takes as long as the rest of the host's part in it, or longer (measured:
docs/measurements.md). PyTorch's own switch for it is `torch.autograd.set_multithreading_enabled(False)`, which holds
for a thread of the program; what is computed, and in which order, stays the same, and hooks see the caller's thread.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

import torch

from ..core.options import current


class _Here(threading.local):
    """Whether this thread has been asked: once, so that what the program says after that holds."""

    decided = False


here = _Here()


def decide() -> None:
    """Let this thread run its backward passes itself from now on."""
    here.decided = True
    torch.autograd.set_multithreading_enabled(False)


def wanted(places: Iterable[torch.device]) -> bool:
    """Whether a graph's backward pass should run in the caller's thread: one of `places`, where its results are, is the
    only GPU."""
    on_gpu = any(d.type == "cuda" for d in places)
    return on_gpu and current().own_thread and torch.cuda.device_count() == 1
