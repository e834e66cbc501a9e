"""Fusewright: a just-in-time fusion compiler for PyTorch.

    torch.compile(model, backend="fusewright")

This module is light: it imports neither torch nor a code generator. What needs them is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

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
    "options",
    "reset_counters",
]

# Attributes that need torch or a code generator: name -> module that defines it.
_LAZY: dict[str, str] = {}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'fusewright' has no attribute '{name}'")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
