"""Frames that Dynamo leaves alone: plans, nodes and launchers, and what they call, checks and measurements too.

Where Dynamo cannot compile a function as a whole, it looks at every function called from there, ours included. Ours
run compiled graphs: there is nothing to compile in them, and much to break.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch._dynamo import trace_rules

from .. import run

FILE = "<fusewright"  # begins the file names of generated code
# A global of generated code that stands for the user's: its line -> (file, line, source).
LINES = "__fusewright_lines__"
_LIBRARIES = tuple(os.path.join(os.path.dirname(f), "") for f in (torch.__file__, os.path.dirname(run.__file__)))


def name(what: str) -> str:
    """The file name of generated code."""
    return f"{FILE} {what}>"


def origin(frame: FrameType) -> tuple[str, int, str]:
    """File, line and source ("" if unknown here) of the user's code that a frame runs, or stands for."""
    lines: dict[int, tuple[str, int, str]] = frame.f_globals.get(LINES, {})
    here = frame.f_code.co_filename, frame.f_lineno, ""
    return lines.get(frame.f_lineno, here) if here[0].startswith(FILE) else here


def note(meta: dict[str, Any], frame: FrameType, modules: Mapping[int, str]) -> None:
    """Write down where a call of torch comes from, as Dynamo does and `fx.user_line` reads it: the user's line; where
    nothing but torch is between it and the traced function, the innermost module that is traced.

    `frame`: of the call; `modules`: paths of the traced modules by `id`.
    """
    at: FrameType | None = frame
    while at is not None and at.f_code.co_filename.startswith(_LIBRARIES):
        at = at.f_back
    if at is None:
        return
    file, line, source = origin(at)
    if not file.startswith(FILE):
        here = traceback.FrameSummary(file, line, at.f_code.co_name, line=source or None)
        meta["stack_trace"] = "".join(traceback.format_list([here]))
        return
    meta.pop("stack_trace", None)  # the call of the traced function itself
    meta.pop("nn_module_stack", None)
    inner: FrameType | None = frame
    while inner is not None and inner is not at:
        module = inner.f_locals.get("self")
        if isinstance(module, torch.nn.Module) and id(module) in modules:
            path = modules[id(module)]
            meta["nn_module_stack"] = {path: (path, type(module))}
            return
        inner = inner.f_back


_CALL = getattr(torch.nn.Module, "_call_impl", torch.nn.Module.__call__).__code__


def in_module(frame: FrameType | None, outside: CodeType) -> bool:
    """Whether a frame belongs to a call of a module. `outside`: the code of the frame to look no further than."""
    while frame is not None and frame.f_code is not outside:
        if frame.f_code is _CALL:
            return True
        frame = frame.f_back
    return False


def leave_alone(*places: str) -> None:
    """Tell Dynamo about files or folders; without the private names that takes, it compiles a few frames in vain."""
    skipped, again = getattr(trace_rules, "SKIP_DIRS", None), getattr(trace_rules, "_recompile_re", None)
    if skipped is None or again is None:
        return
    skipped.extend(p for p in places if p not in skipped)
    again()


_PACKAGE = Path(run.__file__).parent.parent
leave_alone(FILE, *(f"{_PACKAGE / part}/" for part in ("core", "debug", "run")), f"{_PACKAGE / 'trace' / 'lean.py'}")
