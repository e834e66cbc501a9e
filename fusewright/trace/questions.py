"""What a traced function asks about its surroundings and arguments beside values, and what becomes of it.

The grad mode and the inference mode are answered, and such a trace is for calls in the same modes only. Where a tensor
lies in memory and what autograd noted about an argument are no part of a signature: the plain function runs.
Whether two arguments are one tensor (`x is y`) nobody can notice being asked.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ..core.errors import Refusal
from .failures import TORCH

Modes = tuple[bool, bool]
_T: Any = torch.Tensor
# Asked of any tensor, as it may be a view of an argument; and of arguments.
_MEMORY = {
    **{f: f.__name__ for f in (_T.storage_offset, _T.untyped_storage, _T.storage, _T.data_ptr, _T._is_view)},
    _T._base.__get__: "_base",
}
_HISTORY = {
    **{getattr(_T, name).__get__: name for name in ("grad", "grad_fn", "is_leaf", "_version")},
    _T.is_inference: "is_inference",
}


def modes() -> Modes:
    """The grad mode and the inference mode of this thread."""
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled()


class _Asked:
    """The functions of torch that ask for a mode, while there are traces: they tell the trace of their thread.

    `plain`: torch's own, by name. `traces`: by thread, whom to tell and the inference mode that is to be seen.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.traces: dict[int, list[tuple[Callable[[], None], bool]]] = {}
        self.plain: dict[str, Callable[[], bool]] = {}

    def begin(self, asked: Callable[[], None], inference: bool) -> None:
        module: Any = torch
        with self.lock:
            if not self.traces:
                for f in (self.is_grad_enabled, self.is_inference_mode_enabled):
                    self.plain[f.__name__] = getattr(module, f.__name__)
                    setattr(module, f.__name__, f)
            self.traces.setdefault(threading.get_ident(), []).append((asked, inference))

    def end(self) -> None:
        with self.lock:
            mine = self.traces[threading.get_ident()]
            mine.pop()
            if not mine:
                del self.traces[threading.get_ident()]
            if not self.traces:
                for name, f in self.plain.items():
                    setattr(torch, name, f)

    def seen(self) -> bool | None:
        """The inference mode that code sees which is not torch's, in a thread that traces; else None."""
        mine = self.traces.get(threading.get_ident())
        if not mine or sys._getframe(2).f_code.co_filename.startswith(TORCH):
            return None
        asked, inference = mine[-1]
        asked()
        return inference

    def is_grad_enabled(self) -> bool:
        self.seen()
        return self.plain["is_grad_enabled"]()

    def is_inference_mode_enabled(self) -> bool:
        return bool(self.seen()) or self.plain["is_inference_mode_enabled"]()


_asked = _Asked()


@contextmanager
def answered(inference: bool, asked: Callable[[], None]) -> Iterator[None]:
    """Call `asked` whenever code that is not torch's asks for a mode. `inference`: the mode that is to be seen."""
    _asked.begin(asked, inference)
    try:
        yield
    finally:
        _asked.end()


def check(func: Any, args: Sequence[Any], arguments: Sequence[Any]) -> None:
    """Raises Refusal if this call asks what no trace knows. `arguments`: those of the traced function."""
    name = _MEMORY.get(func)
    if name is None and func in _HISTORY and any(args[0] is t for t in arguments):
        name = _HISTORY[func]
    if name is not None:
        raise Refusal("argument", f"it asks for {name} of a tensor, which a trace does not know")


__all__ = ["Modes", "answered", "check", "modes"]
