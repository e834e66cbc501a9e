"""Pinned schedules: texts that people chose in place of the heuristic's, kept on disk.

They lie in the folder `schedules` of the disk cache's directory, in its file format (`store.py`): one file for each
fusion and target, written atomically, with a checksum. They are no cache: nothing evicts them, not even damage, and
`FUSEWRIGHT_DISABLE=disk_cache` does not hide them (`pins` does).

The folder is read once per process. With nothing pinned, a look-up is whether a dictionary is empty.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.options import current
from .store import SUFFIX, Store, default_directory

FOLDER = "schedules"
_NO_LIMIT = 1 << 62  # bytes

_lock = threading.Lock()
_opened: dict[str | None, Pins] = {}  # by the option `cache_dir`


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned schedule: `key` names its file; `hash` is the fusion's; `text` None when the file is damaged.

    `meta`: what it was pinned for: "hash", "group", "family", "target", "lines".
    """

    key: str
    path: Path
    text: str | None
    meta: dict[str, Any]

    @property
    def hash(self) -> str:
        return self.key.partition("-")[0]


class Pins:
    """The pins of one directory."""

    def __init__(self, directory: Path):
        self.store = Store(directory, _NO_LIMIT, keeps_damaged=True)
        try:
            found = [name for name in os.listdir(directory) if name.endswith(SUFFIX)]
        except OSError:
            found = []
        self._texts: dict[str, str | None] = dict.fromkeys(name[: -len(SUFFIX)] for name in found)
        self._loaded: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._texts)

    def find(self, digest: str, facts: str) -> Pin | None:
        """The pin of the fusion with this structure hash for a target, if there is one."""
        key = key_of(digest, facts)
        return self._pin(key, {}) if key in self._texts else None

    def _pin(self, key: str, meta: dict[str, Any]) -> Pin:
        if key not in self._loaded:
            payload = self.store.get(key)
            try:
                self._texts[key] = payload.decode() if payload is not None else None
            except UnicodeDecodeError:
                self._texts[key] = None
            self._loaded.add(key)
        return Pin(key, self.store.directory / (key + SUFFIX), self._texts[key], meta)

    def put(self, digest: str, facts: str, text: str, meta: dict[str, Any]) -> Pin:
        """Pin a schedule, in place of what was pinned. The file is missing afterwards where none could be written."""
        key = key_of(digest, facts)
        self.store.put(key, text.encode(), meta)
        with _lock:
            self._texts = {**self._texts, key: text}
            self._loaded.add(key)
        return Pin(key, self.store.directory / (key + SUFFIX), text, meta)

    def remove(self, digest: str = "", facts: str | None = None) -> int:
        """Remove the pins of a fusion (all: ""), for one target or all; returns how many went."""
        gone = 0
        for pin in self.list():
            if (not digest or pin.hash == digest) and (facts is None or pin.key == key_of(digest, facts)):
                with contextlib.suppress(OSError):
                    pin.path.unlink()
                with _lock:
                    self._texts = {k: v for k, v in self._texts.items() if k != pin.key}
                    self._loaded.discard(pin.key)
                self.store.forget(pin.key)
                gone += 1
        return gone

    def list(self) -> list[Pin]:
        """Every pin, by file; those of other processes included, that have been pinned since."""
        metas = {e.key: e.meta for e in self.store.entries()}
        keys = sorted({*self._texts, *metas})
        return [self._pin(k, metas.get(k, {})) for k in keys]


def key_of(digest: str, facts: str) -> str:
    """The name of a pin's file: the fusion's structure hash, and a digest of the target's facts."""
    return f"{digest}-{hashlib.sha256(facts.encode()).hexdigest()[:8]}"


def pins() -> Pins:
    """The pins in the current disk cache's directory."""
    chosen = current().cache_dir
    found = _opened.get(chosen)
    if found is None:
        with _lock:
            found = _opened.get(chosen)
            if found is None:
                found = _opened[chosen] = Pins(default_directory() / FOLDER)
    return found


def steered() -> bool:
    """Whether there may be a schedule to use in place of the heuristic's: one pinned, or in a file of the user's."""
    o = current()
    return o.schedule is not None or (o.pins and bool(pins()))


def forget() -> None:
    """Read the folders again when they are next asked for (for tests)."""
    _opened.clear()
