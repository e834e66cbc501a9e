"""Generators of random numbers that a function uses by itself: a trace would draw or seed once for many calls.

    random.random()                         with Python's
    numpy.random.rand()                     with NumPy's
    torch.default_generator.manual_seed(3)  seeded

That is noticed by the state of the generator after the function has run on its traced arguments, and undone: the plain
function does it. These generators are shared by all threads, and what others draw meanwhile is theirs: where there are
other threads the function is run again, with an eye on what this one calls.
"""

from __future__ import annotations

import functools
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Any

import numpy
import torch

from ..core.errors import Refusal


class Unclear(Exception):
    """A state has changed, which another thread may have done. `states`: those there were before."""

    def __init__(self, states: list[Any]):
        super().__init__("a generator's state has changed")
        self.states = states


@contextmanager
def undrawn(earlier: list[Any] | None) -> Iterator[None]:
    """Raise Refusal if what is run inside draws numbers with Python's or NumPy's generator, or seeds torch's.

    `earlier`: the states before it was run for the first time, if this time each call is looked at, which takes time.
    Raises Unclear if that is needed.
    """
    before = _states()
    others = len(sys._current_frames()) > 1
    called: set[int] = set()  # ids of objects whose methods this thread has called
    try:
        with nullcontext() if earlier is None else _watching(called):
            yield
    finally:
        changed = [k for k, now in enumerate(_states()) if not _alike(now, before[k])]
        if changed and earlier is None and (others or len(sys._current_frames()) > 1):
            raise Unclear(before)
        drawn = [k for k in changed if earlier is None or id(_GENERATORS[k][1]) in called]
        for k in drawn:  # what another thread draws must not come again
            _GENERATORS[k][3]((earlier or before)[k])
    # Functions that a program has imported from NumPy by name are not seen.
    drawn = drawn or [k for k in changed if k == _NUMPY]
    if drawn:
        raise Refusal("state", f"it changes the state of {_GENERATORS[drawn[0]][0]}, which a trace would not do again")


@contextmanager
def _watching(called: set[int]) -> Iterator[None]:
    """Note the objects whose methods, written in C, this thread calls; NumPy's are asked by functions of its module."""
    thread, names = threading.get_ident(), vars(numpy.random)
    bound = {name: f for name, f in names.items() if getattr(f, "__self__", None) is _NUMPY_GENERATOR}

    def event(frame: FrameType, what: str, f: Any) -> None:
        if what == "c_call":
            called.add(id(getattr(f, "__self__", None)))

    def noting(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def call(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == thread:
                called.add(id(_NUMPY_GENERATOR))
            return f(*args, **kwargs)

        return call

    plain = sys.getprofile()
    names.update({name: noting(f) for name, f in bound.items()})
    sys.setprofile(event)
    try:
        yield
    finally:
        sys.setprofile(plain)
        names.update(bound)


def _set_torch(state: Any) -> None:
    with torch._C._DisableTorchDispatch():
        torch.default_generator.set_state(torch.from_numpy(state))


_NUMPY_GENERATOR = numpy.random.get_state.__self__  # type: ignore[attr-defined]
_NUMPY = 1
# Name, the object whose methods change it, its state, and how to set that.
_GENERATORS: tuple[tuple[str, Any, Callable[[], Any], Callable[[Any], Any]], ...] = (
    ("Python's random", random._inst, random.getstate, random.setstate),  # type: ignore[attr-defined]
    ("numpy.random", _NUMPY_GENERATOR, numpy.random.get_state, numpy.random.set_state),
    ("torch's generator", torch.default_generator, lambda: torch.default_generator.get_state().numpy(), _set_torch),
)


def _states() -> list[Any]:
    with torch._C._DisableTorchDispatch():  # torch's own is a tensor, which is to have values
        return [get() for _, _, get, _ in _GENERATORS]


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, numpy.ndarray):
        return a.tobytes() == b.tobytes()
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_alike, a, b))
    return bool(a == b)


__all__ = ["Unclear", "undrawn"]
