"""The functions that a function may call, as far as names tell, and those that a thread does call."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from . import environment, frames
from .failures import PACKAGE, TORCH

_MANY = 4000  # functions that are looked at
_LIBRARY = os.path.dirname(os.__file__)  # Python's own modules
_TORCHS = {
    *("torch", "fusewright", "numpy", "sympy", "mpmath", "networkx", "triton", "optree", "jinja2", "fsspec"),
    *("filelock", "typing_extensions"),
}


def reached(fn: Callable[..., Any], values: Iterable[Any]) -> list[types.FunctionType]:
    """The functions outside torch and this package that `fn(*values)` may call by name, and methods of `values`."""
    found: dict[int, types.FunctionType] = {}
    waiting: list[Any] = [fn, *(f for v in values for f in _methods(v))]
    while waiting and len(found) < _MANY:
        f = waiting.pop()
        while isinstance(f, (functools.partial, types.MethodType)):
            f = f.func if isinstance(f, functools.partial) else f.__func__
        with contextlib.suppress(Exception):  # objects may answer as they like
            waiting.append(f.__wrapped__)
        if (
            not isinstance(f, types.FunctionType)
            or id(f) in found
            or f.__code__.co_filename.startswith((TORCH, PACKAGE))
        ):
            continue
        found[id(f)] = f
        names = names_of(f)
        for cell in f.__closure__ or ():
            try:
                waiting.append(cell.cell_contents)
            except ValueError:  # it is empty
                continue
        called = [f.__globals__[n] for n in names if n in f.__globals__]
        waiting += called
        for x in called:
            if isinstance(x, types.ModuleType) and not x.__name__.startswith("torch"):
                waiting += [vars(x)[n] for n in names if n in vars(x)]
            elif isinstance(x, type):
                waiting += _functions(x)
    return list(found.values())


def names_of(f: types.FunctionType) -> set[str]:
    """The names of globals and attributes in a function, and in those defined inside."""
    return {n for code in _codes(f.__code__) for n in code.co_names}


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from _codes(c)


def _functions(t: type) -> list[Any]:
    """The functions in a class, and in its bases."""
    out: list[Any] = []
    for c in t.__mro__:
        if not c.__module__.startswith(("torch.", "builtins")):
            for f in vars(c).values():
                f = f.fget if isinstance(f, property) else getattr(f, "__func__", f)
                out.append(f)
    return out


def _methods(x: Any, depth: int = 0) -> Iterator[Any]:
    """The functions that an argument brings."""
    if isinstance(x, (list, tuple, dict)):
        if depth < 4:
            for y in x.values() if isinstance(x, dict) else x:
                yield from _methods(y, depth + 1)
    elif isinstance(x, torch.nn.Module):
        for t in {type(m) for m in x.modules()}:
            yield from _functions(t)
        yield from (m.forward for m in x.modules() if "forward" in vars(m))
    else:
        yield x
        yield from _functions(type(x))


def foreign(module: Any) -> bool:
    """Whether a module, given by its name, is ours, Python's own, torch's, or among those that torch traces with."""
    if not isinstance(module, str):
        return True
    top = module.partition(".")[0]
    if top not in sys.stdlib_module_names or top == "__main__":
        return top in _TORCHS
    file = getattr(sys.modules.get(top), "__file__", None)
    return file is None or file.startswith(_LIBRARY)


def of_users(code: types.CodeType, names: dict[str, Any]) -> bool:
    """Whether code with these globals is a program's."""
    file, module = code.co_filename, str(names.get("__name__", ""))
    if file.startswith((TORCH, PACKAGE, frames.FILE, "<frozen ")) or module.startswith("namedtuple_"):
        return False
    return not foreign(module)


@contextlib.contextmanager
def called(
    begins: Callable[[types.CodeType, dict[str, Any]], None],
    variable: Callable[[str], None],
    functions: Iterable[types.FunctionType],
) -> Iterator[None]:
    """Tell `begins` of users' code that this thread begins to run, once each, with its globals, and `variable` of
    variables of the environment that such code reads.

    Where somebody else profiles this thread, of all of `functions`. What the garbage collector calls is no part of it.
    """
    seen: dict[int, types.CodeType] = {}
    collector = [getattr(f, "__code__", None) for f in gc.callbacks]
    inside = 0  # calls of those

    def notice(frame: types.FrameType, event: str, arg: Any) -> None:
        nonlocal inside
        if collector and frame.f_code in collector:
            inside += (event == "call") - (event == "return")
        elif event == "call" and frame.f_code is environment.READING and not inside:
            at = environment.reader(frame)
            if at is not None and of_users(at.f_code, at.f_globals):
                variable(frame.f_locals["key"])
        elif event == "call" and id(frame.f_code) not in seen and not inside:
            seen[id(frame.f_code)] = frame.f_code
            if frame.f_code.co_flags & 1 and of_users(frame.f_code, frame.f_globals):  # of a function, not of a module
                begins(frame.f_code, frame.f_globals)

    if sys.getprofile() is not None:
        for f in functions:
            for code in _codes(f.__code__) if of_users(f.__code__, f.__globals__) else ():
                begins(code, f.__globals__)
        yield
        return
    _NOTICES.add(notice)
    sys.setprofile(notice)
    try:
        yield
    finally:
        sys.setprofile(None)
        _NOTICES.discard(notice)


_NOTICES: set[Any] = set()


def unnoticed(call: Callable[..., Any], args: tuple[Any, ...], given: Any) -> Any:
    """`call(*args)`, a call of torch with the arguments `given`, in which no users' code runs unless it is given any.

    Noticing what runs takes as long as tracing itself.
    """
    notice = sys.getprofile()
    if notice not in _NOTICES or any(isinstance(x, types.FunctionType) for x in given):
        return call(*args)
    sys.setprofile(None)
    try:
        return call(*args)
    finally:
        sys.setprofile(notice)


__all__ = ["called", "foreign", "names_of", "of_users", "reached", "unnoticed"]
