"""An output of a launch that may take over the memory of an input."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Chance:
    """Line `at` allocates `out`; if the launch is the last to read one of `inputs`, `out` may take over its memory.

    `inputs`: the likeliest to be free first; `before`, `after`: source around the list of the input that takes part.
    """

    at: int
    out: str
    inputs: list[str]
    before: str
    after: str
