"""Fusewright: a just-in-time fusion compiler for PyTorch.

    torch.compile(model, backend="fusewright")

This module is light: it imports neither torch nor a code generator. What needs them is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fusewright.core.counters import counters, reset_counters
from fusewright.core.errors import (
    CompilerError,
    FusewrightError,
    FusewrightWarning,
    RuntimeFault,
    UserError,
    VerifyError,
)
from fusewright.core.options import options

if TYPE_CHECKING:
    from fusewright.debug.sources import save_sources
    from fusewright.debug.trial import pin, schedule_of, try_schedule, try_source, unpin
    from fusewright.explaining import explain
    from fusewright.fusing import fuse, memory_efficient_fusion

__version__ = "0.1.0"

__all__ = [
    "CompilerError",
    "FusewrightError",
    "FusewrightWarning",
    "RuntimeFault",
    "UserError",
    "VerifyError",
    "__version__",
    "counters",
    "explain",
    "fuse",
    "memory_efficient_fusion",
    "options",
    "pin",
    "reset_counters",
    "save_sources",
    "schedule_of",
    "try_schedule",
    "try_source",
    "unpin",
]

# Attributes that need torch or a code generator: name -> module that defines it.
_LAZY: dict[str, str] = {
    "explain": "fusewright.explaining",
    "save_sources": "fusewright.debug.sources",
    **dict.fromkeys(("fuse", "memory_efficient_fusion"), "fusewright.fusing"),
    **dict.fromkeys(("pin", "schedule_of", "try_schedule", "try_source", "unpin"), "fusewright.debug.trial"),
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'fusewright' has no attribute '{name}'")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
