"""Warnings at the line of the program that led to them, not at one of ours or of torch."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from types import FrameType

from .errors import FusewrightWarning

_HERE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


def warn(message: str) -> None:
    """Warn, with the innermost line of the program that is being run; where there is none, with the caller's."""
    caller = sys._getframe(1)
    torch = getattr(sys.modules.get("torch"), "__file__", None)
    libraries = (_HERE, "<", contextlib.__file__, *([os.path.join(os.path.dirname(torch), "")] if torch else []))
    frame: FrameType | None = caller
    while frame is not None and frame.f_code.co_filename.startswith(libraries):
        frame = frame.f_back
    at = frame or caller
    names = at.f_globals
    warnings.warn_explicit(
        message,
        FusewrightWarning,
        at.f_code.co_filename,
        at.f_lineno,
        names.get("__name__") or "<unknown>",
        names.setdefault("__warningregistry__", {}),
    )


__all__ = ["warn"]
