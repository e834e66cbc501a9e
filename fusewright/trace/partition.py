"""What the min-cut partitioner may compute again in the backward pass.

It asks a function of its own module for the lists of such operators; there is no public way to add to them. A torch
without that function partitions by its own lists: more is saved for the backward pass, and results are the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from torch._functorch import partitioners

_operator_lists: Callable[[], Any] | None = getattr(partitioners, "get_default_op_list", None)
_lock = threading.Lock()


@cache
def _lists_with(operators: frozenset[Any]) -> Any:
    assert _operator_lists is not None
    lists = _operator_lists()
    for name in ("recomputable_ops", "fusible_ops"):
        getattr(lists, name, set()).update(operators)
    return lists


@contextmanager
def recomputing(operators: frozenset[Any]) -> Iterator[None]:
    """While open, the min-cut partitioner takes `operators` (overload packets) for fusible and cheap to compute again.

    The partitioner asks a function of its module for its lists. Every thread sees that function replaced, so one
    waits for another.
    """
    if _operator_lists is None:
        yield
        return
    with _lock:
        partitioners.get_default_op_list = lambda: _lists_with(operators)
        try:
            yield
        finally:
            partitioners.get_default_op_list = _operator_lists
