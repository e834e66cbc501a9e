"""What `FUSEWRIGHT_DUMP=graph,loop,...` prints: each stage's text, as it is compiled, to standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ..core.options import current


def show(stage: str, title: str, text: Callable[[], str]) -> None:
    """Print `text()` under a heading if the option `dump` asks for `stage`."""
    if stage in current().dump:
        print(f"# --- {stage}: {title}\n{text()}\n", file=sys.stderr, flush=True)
