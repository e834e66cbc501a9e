"""Machine code by key on disk, and what of our own sources decides it: the same for every target."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from .. import emit
from ..build.store import default_store
from ..core.counters import count
from ..core.options import current
from ..loop.ir import Func


@cache
def generator_digest(pattern: str) -> str:
    """A digest of the emitters whose files match: another generator, another kernel."""
    digest = hashlib.sha256()
    for path in sorted(Path(emit.__path__[0]).glob(pattern)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def code_for(key: str, func: Func, target: str, make: Callable[[], bytes]) -> tuple[bytes, str]:
    """(the code with this key, "disk" or "compiled"): from the disk cache, else made and kept there.

    `func`, and the `target` it is for, are what `fusewright cache list` shows.
    """
    store = default_store() if current().disk_cache else None
    code = store.get(key) if store is not None else None
    if code is not None:
        count("disk_hits")
        return code, "disk"
    if store is not None:
        count("disk_misses")
    code = make()
    count("kernels_compiled")
    if store is not None:
        store.put(key, code, {"name": func.name, "buffers": len(func.bufs), "for": target})
    return code, "compiled"
