"""Huge pages for large blocks: one page fault in place of 512."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

HUGE_FROM = 4 << 20  # bytes; from here on, ask for huge pages
_HUGE_PAGE = 2 << 20
_MADV_HUGEPAGE = 14


def _load_madvise() -> Callable[[int, int, int], int] | None:
    """The C library's `madvise`, where it can turn huge pages on."""
    try:
        with open("/sys/kernel/mm/transparent_hugepage/enabled", encoding="ascii") as file:
            if "[madvise]" not in file.read():
                return None  # "always" needs no advice and "never" takes none
        function = ctypes.CDLL(None).madvise
    except (OSError, AttributeError):
        return None
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    function.restype = ctypes.c_int
    return function


_madvise = _load_madvise()


def advise_huge(data: int, nbytes: int) -> None:
    """Ask for huge pages in the whole 2 MiB pages inside [data, data + nbytes), before they are first touched.

    The edges stay on small pages, so that no memory outside the block becomes resident. A refusal is ignored.
    """
    start = -(-data // _HUGE_PAGE) * _HUGE_PAGE
    length = (data + nbytes) // _HUGE_PAGE * _HUGE_PAGE - start
    if _madvise is not None and length > 0:
        _madvise(start, length, _MADV_HUGEPAGE)
