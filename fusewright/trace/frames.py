"""Frames that Dynamo leaves alone: plans, nodes and launchers, and what they call.

Where Dynamo cannot compile a function as a whole, it looks at every function called from there, ours included. Ours
run compiled graphs: there is nothing to compile in them, and much to break.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch._dynamo import trace_rules

from .. import run

FILE = "<fusewright"  # begins the file names of generated code


def name(what: str) -> str:
    """The file name of generated code."""
    return f"{FILE} {what}>"


def _leave_alone(rules: Any) -> None:
    """Tell Dynamo; without the private names that takes, it compiles a few of our frames in vain."""
    skipped, again = getattr(rules, "SKIP_DIRS", None), getattr(rules, "_recompile_re", None)
    if skipped is None or again is None:
        return
    ours = [FILE, f"{Path(run.__file__).parent}/"]
    skipped.extend(p for p in ours if p not in skipped)
    again()


_leave_alone(trace_rules)
