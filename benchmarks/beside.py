"""A function beside its peers: what `float8.py` and `opened.py` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from fusewright.bench import measure


def beside(
    fn: Callable[..., Any], inputs: Sequence[torch.Tensor], device: str
) -> tuple[dict[str, Any], dict[str, float]]:
    """Results, and medians of seconds in turns, of eager, TorchInductor and Fusewright, without gradients."""
    torch._dynamo.reset()
    calls: dict[str, Callable[..., Any]] = {"eager": fn}
    for backend in ("inductor", "fusewright"):
        calls[backend] = torch.compile(measure.private_copy(fn, backend), backend=backend, fullgraph=True)
    with torch.no_grad():
        results = {k: f(*inputs) for k, f in calls.items()}
        run = {k: (lambda f=f: f(*inputs)) for k, f in calls.items()}
        if device == "cuda":
            return results, measure.on_device(run, 0.02, 15, 15, False)
        return results, measure.interleaved(run, "cpu", 0.5)
