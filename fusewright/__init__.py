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
    from fusewright.compiling import compile
    from fusewright.debug.sources import save_sources
    from fusewright.debug.trial import pin, schedule_of, try_schedule, try_source, unpin
    from fusewright.defining import Definition, define
    from fusewright.explaining import explain
    from fusewright.exporting import aot_compile
    from fusewright.fusing import fuse, memory_efficient_fusion
    from fusewright.run.saved import aot_load
    from fusewright.saving import aot_save
    from fusewright.scripting import fuser

__version__ = "0.1.0"

__all__ = [
    "CompilerError",
    "Definition",
    "FusewrightError",
    "FusewrightWarning",
    "RuntimeFault",
    "UserError",
    "VerifyError",
    "__version__",
    "aot_compile",
    "aot_load",
    "aot_save",
    "compile",
    "counters",
    "define",
    "explain",
    "fuse",
    "fuser",
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
    "aot_compile": "fusewright.exporting",
    "aot_load": "fusewright.run.saved",
    "aot_save": "fusewright.saving",
    "explain": "fusewright.explaining",
    **dict.fromkeys(("Definition", "define"), "fusewright.defining"),
    "compile": "fusewright.compiling",
    "fuser": "fusewright.scripting",
    "save_sources": "fusewright.debug.sources",
    **dict.fromkeys(("fuse", "memory_efficient_fusion"), "fusewright.fusing"),
    **dict.fromkeys(("pin", "schedule_of", "try_schedule", "try_source", "unpin"), "fusewright.debug.trial"),
}


def __getattr__(name: str) -> Any:
    if name == "executors":  # a module
        return importlib.import_module("fusewright.executors")
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'fusewright' has no attribute '{name}'")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, "executors"})
