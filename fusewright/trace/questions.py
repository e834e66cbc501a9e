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


@contextmanager
def answered(inference: bool, asked: Callable[[], None]) -> Iterator[None]:
    """Call `asked` whenever code that is not torch's asks for a mode. `inference`: the mode that is to be seen."""
    plain, thread = (torch.is_grad_enabled, torch.is_inference_mode_enabled), threading.get_ident()

    def users() -> bool:
        own = threading.get_ident() == thread and not sys._getframe(2).f_code.co_filename.startswith(TORCH)
        if own:
            asked()
        return own

    def is_grad_enabled() -> bool:
        users()
        return plain[0]()

    def is_inference_mode_enabled() -> bool:
        return (users() and inference) or plain[1]()

    module: Any = torch
    module.is_grad_enabled, module.is_inference_mode_enabled = is_grad_enabled, is_inference_mode_enabled
    try:
        yield
    finally:
        module.is_grad_enabled, module.is_inference_mode_enabled = plain


def check(func: Any, args: Sequence[Any], arguments: Sequence[Any]) -> None:
    """Raises Refusal if this call asks what no trace knows. `arguments`: those of the traced function."""
    name = _MEMORY.get(func)
    if name is None and func in _HISTORY and any(args[0] is t for t in arguments):
        name = _HISTORY[func]
    if name is not None:
        raise Refusal("argument", f"it asks for {name} of a tensor, which a trace does not know")


__all__ = ["Modes", "answered", "check", "modes"]
