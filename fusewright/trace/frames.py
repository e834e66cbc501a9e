"""Frames that Dynamo leaves alone: plans, nodes and launchers, and what they call.

Where Dynamo cannot compile a function as a whole, it looks at every function called from there, ours included. Ours
run compiled graphs: there is nothing to compile in them, and much to break.
"""

from __future__ import annotations

from pathlib import Path
from types import FrameType

from torch._dynamo import trace_rules

from .. import run

FILE = "<fusewright"  # begins the file names of generated code
# A global of generated code that stands for the user's: its line -> (file, line, source).
LINES = "__fusewright_lines__"


def name(what: str) -> str:
    """The file name of generated code."""
    return f"{FILE} {what}>"


def origin(frame: FrameType) -> tuple[str, int, str]:
    """File, line and source ("" if unknown here) of the user's code that a frame runs, or stands for."""
    lines: dict[int, tuple[str, int, str]] = frame.f_globals.get(LINES, {})
    here = frame.f_code.co_filename, frame.f_lineno, ""
    return lines.get(frame.f_lineno, here) if here[0].startswith(FILE) else here


def leave_alone(*places: str) -> None:
    """Tell Dynamo about files or folders; without the private names that takes, it compiles a few frames in vain."""
    skipped, again = getattr(trace_rules, "SKIP_DIRS", None), getattr(trace_rules, "_recompile_re", None)
    if skipped is None or again is None:
        return
    skipped.extend(p for p in places if p not in skipped)
    again()


leave_alone(FILE, f"{Path(run.__file__).parent}/")
