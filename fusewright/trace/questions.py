"""What a traced function asks about its surroundings and arguments beside values, and what becomes of it.

The grad mode and the inference mode are answered, and such a trace is for calls in the same modes only. Where a tensor
lies in memory and what autograd noted about an argument are no part of a signature, and the text of a size or a tensor
is another one in each call: the plain function runs. A symbolic number is an instance of `int`, `float` or `bool` to
code that is not torch's. Whether two arguments are one tensor (`x is y`), and the `type` of something, nobody can
notice being asked.
"""

from __future__ import annotations

import abc
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch._subclasses.functional_tensor import FunctionalTensor

from ..core.errors import Refusal
from . import numbers
from .failures import PACKAGE, TORCH

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
MARKS = {_T.requires_grad_, _T.requires_grad.__set__, _T.retain_grad, _T.register_hook}  # tell autograd


def modes() -> Modes:
    """The grad mode and the inference mode of this thread."""
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled()


_NUMBERS = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}
_TRACING = os.path.join(TORCH, "_subclasses", "")  # the tensors that a trace is made with, which `vmap` may wrap anew
_LIBRARY = os.path.dirname(abc.__file__)  # Python's own modules, whose callers count


def _users(frame: FrameType | None) -> bool:
    """Whether this code, or what called it by way of Python's own modules, is neither torch's nor ours."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_LIBRARY, "<frozen ")) or name.startswith((TORCH, PACKAGE)) or "-packages" in name:
            return not name.startswith((TORCH, PACKAGE))
        frame = frame.f_back
    return False


class _Asked:
    """What answers code that asks for a mode, or for the text or the class of a number, while there are traces.

    `plain`: (owner, name, what is here in its place, what was there). `traces`: by thread, whom to tell that a mode was
    asked for and the inference mode that is to be seen.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.traces: dict[int, list[tuple[Callable[[], None], bool]]] = {}
        self.plain: list[tuple[Any, str, Any, Any]] = []

    def begin(self, asked: Callable[[], None], inference: bool, namespaces: Sequence[dict[str, Any]]) -> None:
        with self.lock:
            if not self.traces:
                for f in (self.is_grad_enabled, self.is_inference_mode_enabled):
                    self.replace(torch, f.__name__, f)
                for t in (*_NUMBERS, FunctionalTensor):
                    self.replace(t, "__repr__", self.text(vars(t)["__repr__"]))
                for t, number in _NUMBERS.items():
                    self.replace(t, "__getattribute__", self.attribute(number))
                for owner, name, f in numbers.replacements():
                    self.replace(owner, name, f)
            for names in namespaces:
                for name, f in numbers.imported(names).items():
                    self.replace(names, name, f)
            self.traces.setdefault(threading.get_ident(), []).append((asked, inference))

    def replace(self, owner: Any, name: str, f: Any) -> None:
        """`owner`: a class, a module, or a module's namespace."""
        if isinstance(owner, dict):
            self.plain.append((owner, name, f, owner[name]))
            owner[name] = f
        else:
            self.plain.append((owner, name, f, vars(owner).get(name)))
            setattr(owner, name, f)

    def end(self) -> None:
        with self.lock:
            mine = self.traces[threading.get_ident()]
            mine.pop()
            if not mine:
                del self.traces[threading.get_ident()]
            if not self.traces:
                for owner, name, ours, f in self.plain:
                    if isinstance(owner, dict):
                        if owner.get(name) is ours:  # the program may have assigned another one
                            owner[name] = f
                    elif f is None:
                        delattr(owner, name)
                    else:
                        setattr(owner, name, f)
                self.plain.clear()

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
        return _plain_grad_enabled()

    def is_inference_mode_enabled(self) -> bool:
        return bool(self.seen()) or _plain_inference_enabled()

    def text(self, plain: Callable[[Any], str]) -> Callable[[Any], str]:
        def __repr__(x: Any) -> str:
            if threading.get_ident() in self.traces and _users(sys._getframe(1)):
                what = "a tensor" if isinstance(x, torch.Tensor) else "a size or a number"
                raise Refusal("argument", f"it turns {what} into text, which a trace does not know")
            return plain(x)

        return __repr__

    def attribute(self, number: type) -> Callable[[Any, str], Any]:
        def __getattribute__(x: Any, name: str) -> Any:
            if name == "__class__" and threading.get_ident() in self.traces and _users(sys._getframe(1)):
                return number  # this is what isinstance looks at if the type is another one
            return _plain_attribute(x, name)

        return __getattribute__


_plain_attribute = object.__getattribute__
_plain_grad_enabled, _plain_inference_enabled = torch.is_grad_enabled, torch.is_inference_mode_enabled
_asked = _Asked()


@contextmanager
def answered(inference: bool, asked: Callable[[], None], namespaces: Sequence[dict[str, Any]] = ()) -> Iterator[None]:
    """Call `asked` whenever code that is not torch's asks for a mode. `inference`: the mode that is to be seen.

    `namespaces`: of modules that have functions of `math` by name (`numbers.py`).
    """
    _asked.begin(asked, inference, namespaces)
    try:
        yield
    finally:
        _asked.end()


def check(func: Any, args: Sequence[Any], arguments: Sequence[Any]) -> None:
    """Raises Refusal if this call asks what no trace knows. `arguments`: those of the traced function."""
    if func is _T.__format__:
        raise Refusal("argument", "it turns a tensor into text, which a trace does not know")
    name = _MEMORY.get(func)
    if name is None and func in _HISTORY and any(args[0] is t for t in arguments):
        name = _HISTORY[func]
    if func in MARKS and any(args[0] is t for t in arguments):
        raise Refusal("argument", f"it calls {func.__name__} of an argument, which has to reach the argument itself")
    if name is not None and not sys._getframe(2).f_code.co_filename.startswith(_TRACING):
        raise Refusal("argument", f"it asks for {name} of a tensor, which a trace does not know")


__all__ = ["MARKS", "Modes", "answered", "check", "modes"]
