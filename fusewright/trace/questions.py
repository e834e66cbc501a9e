"""What a traced function asks about its surroundings and arguments beside values, and what becomes of it.

The grad mode and the inference mode are answered, and such a trace is for calls in the same modes only; so are
attributes that programs give tensors (`attributes.py`). The text of a size or a number is that of its value, which is a
condition of the trace then: programs write it into messages of checks, but may look something up by it. Where a tensor
lies in memory and what autograd noted about an argument are no part of a signature, and the text of a tensor is another
one in each call: the plain function runs. So it does for what autograd or a tensor is told and no graph says, a
gradient or other memory that is assigned, and where a generator of random numbers is looked at or set.
`torch.compiler.is_compiling()` is true in a trace, as it is in those of `torch.compile` and `torch.export`: programs
leave out then what no trace can do, as checks of values.
A symbolic number is an instance of `int`, `float` or `bool` to code that is not torch's, and a tensor in a trace has
the class that it would have outside (`classes.py`); code that looks at all attributes of a tensor runs as it is.
Whether two arguments are one tensor (`x is y`) nobody can notice being asked.
"""

from __future__ import annotations

import abc
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch._subclasses.functional_tensor import FunctionalTensor

from ..core.errors import Refusal
from . import classes, known_values, numbers
from .attributes import MISSING, Attributes
from .failures import PACKAGE, TORCH
from .repeated import WHY, repeated, writes

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
_OF_ARGUMENTS = {*MARKS, _T.register_post_accumulate_grad_hook, _T.detach_, torch.detach_}
_ASSIGNED = {  # of any tensor: what a traced one has been told is lost
    **{getattr(_T, name).__set__: name for name in ("data", "grad", "_backward_hooks")},
    **{getattr(_T, name).__delete__: name for name in ("grad",)},
}


def modes() -> Modes:
    """The grad mode and the inference mode of this thread."""
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled()


_NUMBERS = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}
_TRACING = os.path.join(TORCH, "_subclasses", "")  # the tensors that a trace is made with, which `vmap` may wrap anew
_LIBRARY = os.path.dirname(abc.__file__)  # Python's own modules, whose callers count


_OF_GENERATORS = (f"{TORCH}/random.py", f"{TORCH}/cuda/random.py", contextlib.__file__)


def _users(frame: FrameType | None) -> bool:
    """Whether this code, or what called it by way of Python's own modules, is neither torch's nor ours."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_LIBRARY, "<frozen ")) or name.startswith((TORCH, PACKAGE)) or "-packages" in name:
            return not name.startswith((TORCH, PACKAGE))
        frame = frame.f_back
    return False


def _checkpoint(frame: FrameType | None, attributes: Attributes | None) -> bool:
    """Whether `torch.utils.checkpoint` calls torch's functions for generators; `attributes` are told."""
    while frame is not None and frame.f_code.co_filename in _OF_GENERATORS:
        frame = frame.f_back
    if frame is None or attributes is None or frame.f_code.co_filename != f"{TORCH}/utils/checkpoint.py":
        return False
    attributes.checkpoint = True
    return True


class _Generator:
    """Stands for a default generator where torch's own functions look for it; a trace has none to look at or to set.

    `torch.utils.checkpoint` does both, which matters only if random numbers are drawn.
    """

    def __init__(self, plain: Any, traces: Mapping[int, Any]):
        self.plain, self.traces = plain, traces

    def __getattr__(self, name: str) -> Any:
        mine = self.traces.get(threading.get_ident())
        if mine and not _checkpoint(sys._getframe(1), mine[-1][2]):
            raise Refusal("random", f"it calls {name} of torch's generator, which a trace would not do again")
        return getattr(self.plain, name)


class _Asked:
    """What answers code that asks for a mode, or for the text or the class of a number, while there are traces.

    `plain`: (owner, name, what is here in its place, what was there). `traces`: by thread, whom to tell that a mode was
    asked for, the inference mode that is to be seen, and the attributes of arguments.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.traces: dict[int, list[tuple[Callable[[], None], bool, Attributes | None]]] = {}
        self.plain: list[tuple[Any, str, Any, Any]] = []
        self.type = classes.stand_in(self.type_of)

    def begin(
        self,
        asked: Callable[[], None],
        inference: bool,
        attributes: Attributes | None,
        namespaces: Sequence[dict[str, Any]],
        typed: Sequence[dict[str, Any]],
    ) -> None:
        with self.lock:
            if not self.traces:
                for f in (self.is_grad_enabled, self.is_inference_mode_enabled):
                    self.replace(torch, f.__name__, f)
                self.replace(torch.compiler, "is_compiling", self.is_compiling)
                for t in _NUMBERS:
                    self.replace(t, "__repr__", self.spelled(vars(t)["__repr__"]))
                    self.replace(t, "__format__", self.formatted)
                self.replace(FunctionalTensor, "__repr__", self.text(vars(FunctionalTensor)["__repr__"]))
                self.replace(FunctionalTensor, "tolist", self.listed)
                self.replace(FunctionalTensor, "__getattr__", self.missing)
                self.replace(FunctionalTensor, "__getattribute__", self.of_tensors)
                self.replace(FunctionalTensor, "__dir__", self.names_of)
                self.replace(torch.random, "default_generator", _Generator(torch.default_generator, self.traces))
                gpus = tuple(_Generator(g, self.traces) for g in torch.cuda.default_generators)
                self.replace(torch.cuda, "default_generators", gpus)
                for t, number in _NUMBERS.items():
                    self.replace(t, "__getattribute__", self.attribute(number))
                for owner, name, f in numbers.replacements():
                    self.replace(owner, name, f)
            for names in namespaces:
                for name, f in numbers.imported(names).items():
                    self.replace(names, name, f)
            for names in typed:
                if "type" not in names:
                    self.replace(names, "type", self.type)
            self.traces.setdefault(threading.get_ident(), []).append((asked, inference, attributes))

    def replace(self, owner: Any, name: str, f: Any) -> None:
        """`owner`: a class, a module, or a module's namespace."""
        if isinstance(owner, dict):
            self.plain.append((owner, name, f, owner.get(name)))
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
                        if owner.get(name) is not ours:  # the program may have assigned another one
                            continue
                        if f is None:
                            del owner[name]
                        else:
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
        asked, inference, _ = mine[-1]
        asked()
        return inference

    def is_grad_enabled(self) -> bool:
        self.seen()
        return _plain_grad_enabled()

    def is_inference_mode_enabled(self) -> bool:
        return bool(self.seen()) or _plain_inference_enabled()

    def is_compiling(self) -> bool:
        return threading.get_ident() in self.traces or _plain_is_compiling()

    def program(self, frame: FrameType) -> bool:
        """Whether it is a program that is traced in this thread that calls from here."""
        return threading.get_ident() in self.traces and _users(frame)

    def text(self, plain: Callable[[Any], str]) -> Callable[[Any], str]:
        def __repr__(x: Any) -> str:
            if self.program(sys._getframe(1)):
                raise Refusal("argument", "it turns a tensor into text, which a trace does not know")
            return plain(x)

        return __repr__

    def spelled(self, plain: Callable[[Any], str]) -> Callable[[Any], str]:
        def __repr__(x: Any) -> str:
            if self.program(sys._getframe(1)):
                return repr(numbers.value(x))
            return plain(x)

        return __repr__

    @property
    def formatted(self) -> Callable[[Any, str], str]:
        def __format__(x: Any, how: str) -> str:
            if self.program(sys._getframe(1)):
                return format(numbers.value(x), how)
            return object.__format__(x, how)

        return __format__

    @property
    def listed(self) -> Callable[[Any], Any]:
        def tolist(x: Any) -> Any:
            mine = threading.get_ident() in self.traces and all(type(n) is int for n in x.shape)
            return known_values.listed(x) if mine else _plain_list(x)

        return tolist

    @property
    def missing(self) -> Callable[[Any, str], Any]:
        def __getattr__(x: Any, name: str) -> Any:
            mine = self.traces.get(threading.get_ident())
            attributes = mine[-1][2] if mine else None
            value = MISSING if attributes is None else attributes.get(x, name, _users, sys._getframe(1))
            if value is MISSING:
                raise AttributeError(f"'Tensor' object has no attribute '{name}'", name=name, obj=x)
            return value

        return __getattr__

    def type_of(self, x: Any) -> type:
        """The type of an object to a program."""
        mine = self.traces.get(threading.get_ident())
        if not mine or not isinstance(x, (FunctionalTensor, *_NUMBERS)):
            return type(x)
        return self.of_tensor(x) if isinstance(x, FunctionalTensor) else _NUMBERS[type(x)]

    def of_tensor(self, x: Any) -> type:
        """The same of a tensor in a trace."""
        attributes = self.traces[threading.get_ident()][-1][2]
        return torch.Tensor if attributes is None else attributes.type_of(x)

    @property
    def of_tensors(self) -> Callable[[Any, str], Any]:
        def __getattribute__(x: Any, name: str) -> Any:
            if name == "__class__" and self.program(sys._getframe(1)):
                return self.of_tensor(x)
            if name == "__dict__":
                self.not_looked_at(sys._getframe(1))
            return _attribute_of_tensor(x, name)

        return __getattribute__

    def not_looked_at(self, frame: FrameType) -> None:
        """Raises Refusal if it is a program that looks at all attributes of a tensor."""
        if self.program(frame):
            raise Refusal("argument", "it looks at all attributes of a tensor, which a trace does not know")

    @property
    def names_of(self) -> Callable[[Any], Any]:
        def __dir__(x: Any) -> Any:
            self.not_looked_at(sys._getframe(1))
            return torch.Tensor.__dir__(x)

        return __dir__

    def attribute(self, number: type) -> Callable[[Any, str], Any]:
        def __getattribute__(x: Any, name: str) -> Any:
            if name == "__class__" and self.program(sys._getframe(1)):
                return number  # this is what isinstance looks at if the type is another one
            return _plain_attribute(x, name)

        return __getattribute__


_plain_attribute = object.__getattribute__
_plain_list = FunctionalTensor.tolist
_attribute_of_tensor = _T.__getattribute__
_plain_grad_enabled, _plain_inference_enabled = torch.is_grad_enabled, torch.is_inference_mode_enabled
_plain_is_compiling = torch.compiler.is_compiling
_asked = _Asked()


@contextmanager
def answered(
    inference: bool,
    asked: Callable[[], None],
    attributes: Attributes | None = None,
    namespaces: Sequence[dict[str, Any]] = (),
    typed: Sequence[dict[str, Any]] = (),
) -> Iterator[None]:
    """Call `asked` whenever code that is not torch's asks for a mode. `inference`: the mode that is to be seen.

    `namespaces`: of modules that have functions of `math` by name (`numbers.py`). `typed`: of modules that ask for the
    `type` of something (`classes.py`).
    """
    _asked.begin(asked, inference, attributes, namespaces, typed)
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
    if func in _ASSIGNED:
        raise Refusal("argument", f"it assigns {_ASSIGNED[func]} of a tensor, which a trace would lose")
    if func is _T.retain_grad or (func in _OF_ARGUMENTS and any(args[0] is t for t in arguments)):
        raise Refusal("argument", f"it calls {func.__name__} of an argument, which has to reach the argument itself")
    if args and writes(func) and repeated(args[0]):
        raise Refusal("mutation", f"{WHY}, which a trace would lose")
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    if name is not None and not (frame and frame.f_code.co_filename.startswith(_TRACING)):
        raise Refusal("argument", f"it asks for {name} of a tensor, which a trace does not know")


__all__ = ["MARKS", "Modes", "answered", "check", "modes"]
