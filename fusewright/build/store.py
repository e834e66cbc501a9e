"""The disk cache: compiled kernels by content key, one file each.

File format, all integers little-endian:

    magic     8 bytes   b"FUSEWRT\\x01", the last byte is the version of this format
    lengths   2 x u32   bytes of metadata, bytes of payload
    digest    32 bytes  SHA-256 of (key, metadata, payload)
    metadata  JSON      what `fusewright cache list` shows; readable without the payload
    payload   bytes     the compiled kernel

What keeps it right:
- a file is written under a temporary name in the same directory and renamed, so that a reader sees all of it or
  nothing, whoever dies, and two processes that write the same key both succeed;
- a file that does not verify (truncated, corrupt, of another program, version or key) is as good as absent: deleted
  if possible, and compiled again;
- a directory that cannot be created or written costs one warning per process; kernels then live in memory only.

A file's modification time is the time of its last use: the least recently used go first when the limit is exceeded.
Payloads are code that will be run, so directories are 0700 and files 0600, and a directory that others may write to
is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import stat
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fusewright.core.counters import count
from fusewright.core.options import PLATFORM_CACHE, current
from fusewright.core.warn import warn

MAGIC = b"FUSEWRT\x01"
SUFFIX = ".fwk"
HEADER = struct.Struct("<8sII32s")
CHECK_EVERY = 32  # puts of a process between two looks at the size of the directory, which reads all of it
STALE_AFTER = 3600.0  # seconds after which a temporary file has no writer any more

_KEY = re.compile(r"[A-Za-z0-9_.-]{1,200}\Z")
_serial = itertools.count()
_puts = itertools.count(os.getpid() % CHECK_EVERY)  # so that processes that put few kernels look now and then
_warned = threading.Event()


def default_directory() -> Path:
    """`FUSEWRIGHT_CACHE_DIR` (or the option), else `fusewright` in the platform's cache directory."""
    chosen = current().cache_dir
    return Path(chosen).expanduser() if chosen is not None else Path(PLATFORM_CACHE) / "fusewright"


def _warn_once(directory: Path, why: object) -> None:
    if _warned.is_set():
        return
    _warned.set()
    warn(
        f"the disk cache '{directory}' cannot be used ({why}); compiled kernels are kept in memory only. "
        "Set FUSEWRIGHT_CACHE_DIR to a writable directory, or FUSEWRIGHT_DISABLE=disk_cache to say that this is meant."
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the store, as listed."""

    key: str
    path: Path
    size: int  # bytes on disk
    used: float  # time of last use, seconds since the epoch
    meta: dict[str, Any]


def _digest(key: str, meta: bytes, payload: bytes) -> bytes:
    digest = hashlib.sha256(key.encode() + b"\0" + meta)
    digest.update(payload)
    return digest.digest()


def _decode(key: str, blob: bytes) -> bytes | None:
    """The payload of a file's bytes, or None if they are not what we wrote for `key`."""
    if len(blob) < HEADER.size:
        return None
    magic, meta_len, payload_len, digest = HEADER.unpack_from(blob)
    if magic != MAGIC or len(blob) != HEADER.size + meta_len + payload_len:
        return None
    meta_end = HEADER.size + meta_len
    payload = blob[meta_end:]
    return payload if _digest(key, blob[HEADER.size : meta_end], payload) == digest else None


class Store:
    """Kernels in one directory. Safe with any number of threads and processes; never raises for the disk's sake.

    `keeps_damaged`: files that do not verify stay, for people to look at; else they are removed when they are read.
    """

    def __init__(self, directory: str | os.PathLike[str], limit_bytes: int, keeps_damaged: bool = False):
        self.directory = Path(directory)
        self.limit_bytes = limit_bytes
        self.keeps_damaged = keeps_damaged
        self._prefix = os.path.join(os.fspath(self.directory), "")
        self._lock = threading.Lock()
        self._memory: dict[str, bytes] = {}  # only what could not be written
        self._writable: bool | None = None  # None: not tried yet
        self._readable: bool | None = None

    # -- one kernel -----------------------------------------------------------------------------------------------

    def _path(self, key: str) -> str:
        if not _KEY.match(key) or key.startswith("."):
            raise ValueError(f"not a store key: {key!r}")
        return f"{self._prefix}{key}{SUFFIX}"

    def get(self, key: str) -> bytes | None:
        """The payload stored under `key`, marked as just used; None if there is none that verifies."""
        path = self._path(key)
        if self._memory:
            payload = self._memory.get(key)
            if payload is not None:
                return payload
        if self._readable is None:
            self._readable = self._trusted()
        if not self._readable:
            return None
        try:
            with open(path, "rb", buffering=0) as file:
                blob = file.read()
        except OSError:
            return None
        payload = _decode(key, blob)
        if payload is None:
            if not self.keeps_damaged:
                _unlink(path)
            return None
        with contextlib.suppress(OSError):  # a read-only cache still serves
            os.utime(path)
        return payload

    def put(self, key: str, payload: bytes, meta: dict[str, Any] | None = None) -> None:
        """Store `payload` under `key`, in place of what is there. `meta` is any JSON object."""
        path = self._path(key)
        if self._writable is None:
            self._writable = self._prepare()
        if self._writable:
            try:
                self._write(path, key, payload, meta or {})
            except OSError as error:
                # Full, read-only or gone: the same for the next kernel, so do not try again.
                self._writable = False
                _warn_once(self.directory, error.strerror or error)
            else:
                if next(_puts) % CHECK_EVERY == 0:
                    self.evict()
                return
        with self._lock:
            self._memory[key] = bytes(payload)

    def forget(self, key: str) -> None:
        """Drop what is kept in memory because it could not be written."""
        with self._lock:
            self._memory.pop(key, None)

    def _write(self, path: str, key: str, payload: bytes, meta: dict[str, Any]) -> None:
        text = json.dumps(meta, sort_keys=True).encode()
        temporary = f"{path}.{os.getpid()}.{threading.get_ident()}.{next(_serial)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(HEADER.pack(MAGIC, len(text), len(payload), _digest(key, text, payload)))
                file.write(text)
                file.write(payload)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    # -- the directory --------------------------------------------------------------------------------------------

    def _prepare(self) -> bool:
        """Make the directory; whether it may be written."""
        try:
            self.directory.parent.mkdir(parents=True, exist_ok=True)
            self.directory.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            _warn_once(self.directory, error.strerror or error)
            return False
        self._readable = self._trusted()
        return self._readable

    def _trusted(self) -> bool:
        """Whether only this user (or root) can have put files here: they are code, and will be run."""
        try:
            info = os.stat(self.directory)
        except OSError:
            return True  # nothing to read; writing will find out why
        if not stat.S_ISDIR(info.st_mode) or not hasattr(os, "geteuid"):
            return True
        foreign = os.geteuid() != 0 and info.st_uid not in (0, os.geteuid())
        if foreign or info.st_mode & stat.S_IWOTH:
            _warn_once(self.directory, "other users may write to it")
            return False
        return True

    def _files(self, suffix: str = SUFFIX) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
        try:
            with os.scandir(self.directory) as found:
                for item in found:
                    if item.name.endswith(suffix):
                        with contextlib.suppress(OSError):  # removed by another process just now
                            yield item, item.stat(follow_symlinks=False)
        except OSError:
            return

    def entries(self) -> list[Entry]:
        """Every file whose header is ours, most recently used first; payloads are not read."""
        listed = []
        for item, info in self._files():
            try:
                with open(item.path, "rb") as file:
                    magic, meta_len, payload_len, _ = HEADER.unpack(file.read(HEADER.size))
                    if magic != MAGIC or info.st_size != HEADER.size + meta_len + payload_len:
                        continue
                    meta = json.loads(file.read(meta_len))
            except (OSError, ValueError, struct.error):
                continue
            key = item.name[: -len(SUFFIX)]
            listed.append(
                Entry(key, Path(item.path), info.st_size, info.st_mtime, meta if isinstance(meta, dict) else {})
            )
        return sorted(listed, key=lambda entry: -entry.used)

    def size(self) -> int:
        """Bytes on disk."""
        return sum(info.st_size for _, info in self._files())

    def clear(self) -> int:
        """Remove every kernel and every temporary file; returns how many kernels went."""
        with self._lock:
            self._memory.clear()
        self._remove_temporaries(0.0)
        return sum(_unlink(item.path) for item, _ in self._files())

    def evict(self) -> int:
        """Remove the least recently used kernels until the store is within its limit; returns how many went."""
        self._remove_temporaries(STALE_AFTER)
        files = sorted(((info.st_mtime, info.st_size, item.path) for item, info in self._files()))
        total = sum(size for _, size, _ in files)
        removed = 0
        for _, size, path in files:
            if total <= self.limit_bytes:
                break
            total -= size  # gone either way, unless the directory is read-only, and then nothing helps
            removed += _unlink(path)
        if removed:
            count("disk_evictions", removed)
        return removed

    def _remove_temporaries(self, older_than: float) -> None:
        """What killed writers left behind."""
        now = time.time()
        for item, info in self._files(".tmp"):
            if SUFFIX in item.name and now - info.st_mtime >= older_than:
                _unlink(item.path)


def _unlink(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def default_store() -> Store:
    """The store that the current options describe."""
    return Store(default_directory(), current().cache_limit_mb << 20)
