"""Variables of the environment that a traced program reads: conditions of its trace, and no settings of ours."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import CodeType, FrameType

from .unchanged import Unchanged

READING: CodeType = type(os.environ).__getitem__.__code__  # runs whenever a variable is read, with its name as `key`
# What is between a program and that: `os.getenv` (frozen, of another name than its file's), `get`
_BETWEEN = (os.getenv.__code__.co_filename, Mapping.get.__code__.co_filename)


def reader(frame: FrameType) -> FrameType | None:
    """The frame that has asked for the variable which `frame`, of `READING`, looks up."""
    at = frame.f_back
    while at is not None and at.f_code.co_filename.startswith(_BETWEEN):
        at = at.f_back
    return at


def value(name: str) -> str | None:
    """What a variable is; None if it is not set."""
    return os.environ.get(name)


def conditions(out: Unchanged, variables: Mapping[str, str | None]) -> None:
    """Write that variables are what they were."""
    for name, text in variables.items():
        out.lines.append(f"if {out.name(os.environ)}.get({name!r}) != {text!r}: return False")
