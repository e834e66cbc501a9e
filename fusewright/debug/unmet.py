"""Names of groups that options ask for and that no group of the process has: said when it ends."""

from __future__ import annotations

import atexit
import threading
import warnings

from ..core.errors import FusewrightWarning
from ..core.options import current
from ..core.switches import disables_group, names_of

_lock = threading.Lock()
_asked: dict[str, bool] = {}  # what was asked for, as the option says it: whether something had that name


def asked(what: str, met: bool) -> None:
    """Note that `what` was looked for, and whether it was met."""
    if _asked.get(what) or current().fuel is not None or current().fuel_report is not None:
        return  # a bisection leaves groups out on purpose
    with _lock:
        if not _asked:
            atexit.register(_say)
        _asked[what] = met


def disabled(entries: tuple[str, ...], name: str, digest: str) -> str:
    """The entry of the option `disable` that means the group `name` with structure hash `digest`, or ""."""
    found = disables_group(entries, name, digest)
    for entry in names_of(entries, "group"):
        asked(f"disable=group:{entry}", bool(disables_group((f"group:{entry}",), name, digest)))
    return found


def _say() -> None:
    left = sorted(what for what, met in _asked.items() if not met)
    if left:
        warnings.warn(
            f"Fusewright: no group of this program is meant by {', '.join(left)} (FUSEWRIGHT_DUMP=groups prints the "
            "groups with their names, structure hashes and operators)",
            FusewrightWarning,
            stacklevel=1,
        )


def forget() -> None:
    """Start as a new process would (for tests)."""
    _asked.clear()
    atexit.unregister(_say)
