"""What a program compiles by itself, with `torch.compile`, while it is traced: it runs as the plain function.

Dynamo would refuse the frames, which it sees under a mode of ours, and remember that: what is called there would never
be compiled again, and with `fullgraph=True` every later call of it would raise. So would operators of control flow that
compile themselves (`torch.cond`, `while_loop`, `flex_attention`). `torch.compiler.set_stance` says the same to all
threads; this is for one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from torch._dynamo import eval_frame

NAME = "_callback_from_stance"  # of torch's function that says what a compiled function does with frames

_TRACING: ContextVar[bool] = ContextVar("fusewright_tracing", default=False)


class _Aware:
    """Torch's answer, or that frames are left alone, in a thread that traces."""

    def __init__(self, answer: Callable[[Any], Any]):
        self.answer = answer

    def __call__(self, callback: Any) -> Any:
        return None if _TRACING.get() else self.answer(callback)


@contextlib.contextmanager
def inline() -> Iterator[None]:
    """Compiled functions run as they were written, in this thread."""
    answer = getattr(eval_frame, NAME, None)
    if answer is not None and not isinstance(answer, _Aware):
        setattr(eval_frame, NAME, _Aware(answer))
    # how many frames a function with `fullgraph=True` has compiled: from 0 on, such a call is within another's, which
    # is the one that asks (torch before 2.13 does not count)
    count = getattr(eval_frame, "set_fullgraph_compiled_frame_count", None)
    before = None if count is None else count(0)
    token = _TRACING.set(True)
    try:
        yield
    finally:
        _TRACING.reset(token)
        if count is not None:
            count(before)


__all__ = ["inline"]
