"""Wrong kernels: the emitted code of one primitive is another's, or adds a little error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fusewright.emit import llvm_rules
from fusewright.run import kernels


def plant(patch: pytest.MonkeyPatch, prim: str, instead: str) -> None:
    """From now on kernels compute primitive `instead` where `prim` is asked for. Kernels made so far are forgotten."""
    rule: Callable[[Any], None] = llvm_rules.RULES[instead]
    patch.setitem(llvm_rules.RULES, prim, rule)
    patch.setattr(kernels, "_kernels", {})
