"""What `torch.compile(mode=...)` asks for in names that TorchInductor has made known, as options of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import UserError

MODES: dict[str, dict[str, bool]] = {
    "default": {},
    "reduce-overhead": {"cuda_graphs": True},
    "max-autotune": {"autotune": True, "cuda_graphs": True},
    "max-autotune-no-cudagraphs": {"autotune": True},
}


def options_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The options in the arguments that `torch.compile` hands to a backend. Raises UserError for unknown ones."""
    for name in arguments:
        if name not in ("options", "mode"):
            raise UserError(f"torch.compile({name}=...) is not for this backend: use options={{...}} (docs/options.md)")
    mode = arguments.get("mode") or "default"
    if mode not in MODES:
        raise UserError(f"there is no mode {mode!r}: known: {', '.join(MODES)}")
    return {**MODES[mode], **(arguments.get("options") or {})}


__all__ = ["MODES", "options_of"]
