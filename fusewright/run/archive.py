"""The container of a saved program: a zip file, written in one piece or not at all, and read with every byte checked.

    manifest.json            what the program is; format version, machines, plans (`saved.py` says what is in it)
    kernels/<key>.o          machine code of a kernel for a CPU: an object file
    kernels/<key>.cubin      for a GPU
    native/<name>.o          machine code that launches kernels on GPUs
    data/<k>                 memory of parameters, buffers and constants, from a multiple of 64 bytes on, not compressed
    text/...                 for people: plans, graphs, kernels

Any program for zip files can list and unpack it. The same program gives the same bytes.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import threading
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from ..core.errors import UserError

# The format of a file is the lowest that has what is in it; this version reads all of them.
PLAIN = 1
CLAIMS = 2  # calls of executors
LAUNCHES = 3  # launches of kernels on GPUs as functions, and what these take
PARTS = 4  # writes into parts of tensors
FORMAT = 4
ALIGN = 64  # bytes
_MANIFEST = "manifest.json"
_PAD = 0x4657  # the id of our padding among a zip file's extra fields
_HEADER = 30  # bytes of a member's header before its name
_BIG = 1 << 31  # bytes from which on a member needs the longer form of sizes, 20 bytes more
_CHUNK = 1 << 24
_WHEN = (1980, 1, 1, 0, 0, 0)

DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RecursionError),
    *(KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError, OverflowError),
)


def write(path: str, manifest: Any, members: Mapping[str, bytes], data: Iterable[torch.Tensor]) -> None:
    """Write a file; `data` are tensors of bytes on the CPU, in order. Raises UserError, and `path` is as it was."""
    folder, name = os.path.split(os.path.abspath(path))
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with open(temporary, "xb") as file:
            with zipfile.ZipFile(file, "w") as z:
                _put(z, _MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1).encode(), zipfile.ZIP_DEFLATED)
                for member, content in members.items():
                    text = member.startswith("text/")
                    _put(z, member, content, zipfile.ZIP_DEFLATED if text else zipfile.ZIP_STORED)
                for k, t in enumerate(data):
                    _put_aligned(z, f"data/{k}", _bytes_of(t))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as e:
        raise UserError(f"cannot write {path}: {e.strerror or e}") from e
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _bytes_of(t: torch.Tensor) -> memoryview:
    array: Any = t.numpy()
    return memoryview(array)


def _info(name: str, how: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _WHEN)
    info.compress_type, info.external_attr = how, 0o644 << 16
    return info


def _put(z: zipfile.ZipFile, name: str, content: bytes, how: int) -> None:
    z.writestr(_info(name, how), content)


def _put_aligned(z: zipfile.ZipFile, name: str, content: memoryview) -> None:
    info = _info(name, zipfile.ZIP_STORED)
    big = len(content) >= _BIG
    assert z.fp is not None
    at = z.fp.tell() + _HEADER + len(name) + 4 + (20 if big else 0)
    info.extra = struct.pack("<HH", _PAD, -at % ALIGN) + b"\0" * (-at % ALIGN)
    info.file_size = len(content)
    with z.open(info, "w", force_zip64=big) as out:
        for k in range(0, len(content), _CHUNK):
            out.write(content[k : k + _CHUNK])


class Archive:
    """A file that is read. Errors name it and say what to do."""

    def __init__(self, path: str | os.PathLike[str]):
        """Raises UserError when this is no saved program, or one that this version cannot read."""
        if not isinstance(path, (str, os.PathLike)):
            raise UserError(f"aot_load: path must be a path, not {path!r}")
        self.path = os.fspath(path)
        try:
            with open(self.path, "rb") as file:
                found = file.read(4)
            if found != b"PK\3\4":
                what = "is empty" if not found else "is not a program that fusewright.aot_save has written"
                raise UserError(f"{self.path} {what}")
            self.zip = zipfile.ZipFile(self.path)
        except OSError as e:
            raise UserError(f"cannot read {self.path}: {e.strerror or e}") from e
        except DAMAGE as e:
            raise self.damaged(e) from e
        if _MANIFEST not in self.zip.NameToInfo:
            raise UserError(f"{self.path} is a zip file, but not a program that fusewright.aot_save has written")
        try:
            manifest = json.loads(self.read(_MANIFEST))
            version = manifest["format"]
        except DAMAGE as e:
            raise self.damaged(e) from e
        if type(version) is not int or not 1 <= version <= FORMAT:
            raise UserError(
                f"{self.path} has format {version}, this version of Fusewright reads up to {FORMAT}: update "
                "Fusewright, or save the program with this version"
            )
        self.manifest: dict[str, Any] = manifest

    def damaged(self, why: object = "") -> UserError:
        """The error for a file with contents that cannot be as they were written."""
        detail = f" ({type(why).__name__}: {why})" if isinstance(why, BaseException) else ""
        return UserError(f"{self.path} is damaged{detail}: copy it again, or save the program again")

    def read(self, name: str) -> bytes:
        """A member. Raises UserError if it is not there or not as it was written."""
        try:
            return self.zip.read(name)
        except OSError as e:
            raise UserError(f"cannot read {self.path}: {e.strerror or e}") from e
        except (*DAMAGE, RuntimeError) as e:
            raise self.damaged(e) from e

    def data(self, number: int, nbytes: int, mapped: bool) -> torch.Tensor:
        """A member of `data` as bytes. `mapped`: read when they are looked at, unchecked, private to this process."""
        name = f"data/{number}"
        try:
            info = self.zip.NameToInfo[name]
            if info.file_size != nbytes:
                raise self.damaged()
            if not nbytes:
                return torch.empty(0, dtype=torch.uint8, device="cpu")
            if mapped and info.compress_type == zipfile.ZIP_STORED:
                return self._map(info)
            out = torch.empty(nbytes, dtype=torch.uint8, device="cpu")
            view, at = _bytes_of(out), 0
            with self.zip.open(info) as file:
                while at < nbytes:
                    piece = file.read(min(_CHUNK, nbytes - at))
                    if not piece:
                        raise self.damaged()
                    view[at : at + len(piece)] = piece
                    at += len(piece)
                if file.read(1):  # also has the checksum looked at
                    raise self.damaged()
            return out
        except OSError as e:
            raise UserError(f"cannot read {self.path}: {e.strerror or e}") from e
        except (*DAMAGE, RuntimeError) as e:
            raise self.damaged(e) from e

    def _map(self, info: zipfile.ZipInfo) -> torch.Tensor:
        with open(self.path, "rb") as file:
            file.seek(info.header_offset)
            header = file.read(_HEADER)
            name, extra = struct.unpack("<HH", header[26:30])
            start = info.header_offset + _HEADER + name + extra
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        if start + info.file_size > len(whole):
            raise self.damaged()
        return torch.frombuffer(whole, dtype=torch.uint8, count=info.file_size, offset=start)

    def close(self) -> None:
        self.zip.close()
