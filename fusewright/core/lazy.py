"""Modules that are imported when something in them is first used.

    if TYPE_CHECKING:
        from . import cuda
    else:
        cuda = lazy_import("fusewright.run.cuda")

The first call of a process is mostly imports. A program on a CPU that nobody looks at needs neither what is for GPUs
nor what checks, explains or steers: modules of that kind are imported so, and no others. `tests/test_layout.py` has the
list; the order of the layers holds as for any import.
"""

from __future__ import annotations

import importlib
from typing import Any


class _Module:
    """Stands for a module, which is imported when the first of its attributes is asked for."""

    __slots__ = ("_name",)

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # somebody inspects names (`__wrapped__`, `__file__`): no use of the module
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)

    def __repr__(self) -> str:
        return f"<lazy module '{self._name}'>"


def lazy_import(name: str) -> Any:
    """A stand-in for the module with this full name."""
    return _Module(name)
