"""Where debugging writes files of its own: repro files and the inputs of failed checks. Few, and never a failure."""

from __future__ import annotations

import re
from pathlib import Path

from ..build.store import default_directory
from ..core.options import current

MOST = 100  # files of a kind in a directory; the oldest go


def directory(kind: str) -> Path:
    """The directory for "repro" or "check" files: the option's, else a folder of the disk cache's."""
    chosen = current().repro_dir if kind == "repro" else current().check_dir
    return Path(chosen).expanduser() if chosen is not None else default_directory() / kind


def place(kind: str, name: str) -> Path:
    """A path that can be written to. Makes room for it. Raises OSError, which `because` puts in words."""
    folder = directory(kind)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"fusewright-{re.sub(r'[^A-Za-z0-9_.-]', '_', name)}"
    mine = sorted(folder.glob("fusewright-*.py"), key=lambda p: p.stat().st_mtime)
    for old in mine[: max(0, len(mine) + 1 - MOST)]:
        if old != path:
            old.unlink(missing_ok=True)
            old.with_name(old.name + ".pt").unlink(missing_ok=True)
    path.touch()
    return path


def because(folder: Path, e: Exception) -> str:
    """Why nothing can be written to a folder: "cannot write to FOLDER: Permission denied"."""
    why = "it is not a directory" if isinstance(e, (FileExistsError, NotADirectoryError)) else ""
    return f"cannot write to {folder}: {why or getattr(e, 'strerror', None) or e}"
