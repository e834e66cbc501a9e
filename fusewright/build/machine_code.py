"""Functions in machine code that Python calls, from LLVM IR: object code that is given, the disk cache's, or new.

A loaded program brings the object code of the functions that it wants (`run/saved_native.py`). That of a function whose
text is another one in this version of Fusewright is none of these functions.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ..core.lazy import lazy_import
from ..core.options import current
from . import objects

if TYPE_CHECKING:
    from . import llvm_jit, store
else:  # where nothing is given
    llvm_jit = lazy_import("fusewright.build.llvm_jit")
    store = lazy_import("fusewright.build.store")

_given: dict[str, int] = {}  # addresses, by `digest`


def digest(ir: str) -> str:
    """What tells a function's text from all others."""
    return hashlib.sha256(ir.encode()).hexdigest()


def given(ir: str) -> bool:
    """Whether a function is here without a compiler."""
    return digest(ir) in _given


def give(name: str, ir: str, code: bytes) -> None:
    """Use object code that was compiled elsewhere, of the same text, for such machines. Raises RuntimeFault."""
    if not given(ir):
        _given[digest(ir)] = objects.load(code, name, objects.externals(ir))


def address(name: str, ir: str) -> int:
    """The address of a function: as it was given, else object code from the disk cache, else compiled now."""
    at = _given.get(digest(ir))
    if at is not None:
        return at
    target = llvm_jit.host_target(())
    facts = (llvm_jit.versions(), target.triple, target.cpu, target.features)
    key = f"launcher-{hashlib.sha256(repr((ir, facts)).encode()).hexdigest()[:32]}"
    kept = store.default_store() if current().disk_cache else None
    code = kept.get(key) if kept is not None else None
    if code is None:
        code = llvm_jit.compile_ir(ir, target)
        if kept is not None:
            kept.put(key, code, {"bytes": len(code)})
    return objects.load(code, name, objects.externals(ir))


__all__ = ["address", "digest", "give", "given"]
