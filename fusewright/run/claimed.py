"""A call that an executor has claimed, in a plan: the executor's function, and what takes over when that fails.

Knows nothing of traces, so that a saved program can have such calls, too. There the function is a *reference*,
"module:name", and its parameters are noted beside it (`reference`, `resolved`).
"""

from __future__ import annotations

import importlib
import inspect
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..core.errors import RuntimeFault, UserError
from ..core.log import LOG
from ..core.warn import warn
from .launch import restride

_told: set[str] = set()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Expected:
    """What a result must be, as traced; shape and strides come with the call."""

    dtype: torch.dtype
    device: torch.device


class Picked:
    """A function of a pattern's arguments, called with the tensors of a match.

    `pick`: for each argument ("tensor", which operand), ("scalar", which operand) or ("", the number itself).
    """

    def __init__(self, fn: Callable[..., Any], pick: Sequence[tuple[str, Any]]):
        self.fn, self.pick = fn, tuple(pick)

    def __call__(self, *given: Any) -> Any:
        return self.fn(*(k if not kind else given[k].item() if kind == "scalar" else given[k] for kind, k in self.pick))


class Claimed:
    """The target of a claimed node: f(layouts, *args, **kwargs), `layouts` being (shape, strides) of each result.

    `call(*args, **kwargs)` is the executor's; `original` does the same by torch, and takes over for good when the
    executor raises, or gives something else than was traced. Results that alias an argument, or have other strides, are
    copied. `executor`: its name; `what`: the operator or pattern; `reference`: of its function,
    if it was registered by that.
    """

    pure = True  # `trace/effects.py` asks

    def __init__(
        self,
        executor: str,
        what: str,
        call: Callable[..., Any],
        original: Callable[..., Any],
        results: Sequence[Expected | None],
        where: str,
        fallback: bool,
        single: bool,
        reference: str = "",
    ):
        self.executor, self.what, self.call, self.original = executor, what, call, original
        self.results, self.where, self.fallback, self.single = tuple(results), where, fallback, single
        self.reference = reference
        self.broken = False
        self.watch: Callable[..., None] | None = None  # check mode: (results, original's arguments)
        self.__name__ = f"{executor}:{what}"

    def __repr__(self) -> str:
        return self.__name__

    def __call__(self, layouts: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        if self.broken:
            return self.original(*args, **kwargs)
        given = [a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)]
        versions = [0 if t.is_inference() else t._version for t in given]
        try:
            out = self.call(*args, **kwargs)
            outs = [out] if self.single else list(out)
            outs = self.checked(outs, layouts, given)
        except torch.OutOfMemoryError:
            raise
        except Exception as e:
            self.failed(e)
            return self.original(*args, **kwargs)
        if versions != [0 if t.is_inference() else t._version for t in given]:
            raise RuntimeFault(f"executor {self.executor} has written into an operand of {self.what}")
        if self.watch is not None:
            self.watch(self, outs, args, kwargs)
        return outs[0] if self.single else tuple(outs)

    def checked(self, outs: list[Any], layouts: Sequence[Any], given: Sequence[torch.Tensor]) -> list[Any]:
        """The results in memory of their own with the traced strides. Raises TypeError for what is not as traced."""
        if len(outs) != len(self.results):
            raise TypeError(f"{len(outs)} results instead of {len(self.results)}")
        theirs = {t.untyped_storage()._cdata for t in given}
        done: list[Any] = []
        for k, (t, want, layout) in enumerate(zip(outs, self.results, layouts, strict=True)):
            if want is None:
                done.append(None)
                continue
            shape, strides = layout
            if not isinstance(t, torch.Tensor):
                raise TypeError(f"result {k} is a {type(t).__name__}, not a tensor")
            if (t.dtype, t.device, tuple(t.shape)) != (want.dtype, want.device, shape):
                is_ = f"{t.dtype} {tuple(t.shape)} on {t.device}"
                raise TypeError(f"result {k} is {is_}, not {want.dtype} {shape} on {want.device}")
            t = t.detach() if t.requires_grad else t
            if t.untyped_storage()._cdata in theirs:
                t = torch.empty_strided(shape, strides, dtype=t.dtype, device=t.device).copy_(t)
            done.append(restride(t, strides))
        return done

    def failed(self, e: Exception) -> None:
        message = f"executor {self.executor} failed on {self.what} at {self.where or 'an unknown line'}"
        message += f" ({type(e).__name__}: {e})"
        if not self.fallback:
            raise RuntimeFault(message) from e
        self.broken = True
        tell(f"{message}; it runs through PyTorch from now on. FUSEWRIGHT_DISABLE=fallback raises the failure.")


def tell(message: str) -> None:
    """One warning for each message."""
    with _lock:
        if message in _told:
            return
        _told.add(message)
    LOG.warning(message)
    warn(f"Fusewright: {message}")


# --- functions by name -----------------------------------------------------------------------------------


def find(reference: str) -> Any:
    """What "module:name" stands for, where the name may have dots. Raises UserError that says what is missing."""
    module, _, name = reference.partition(":")
    if not module or not name:
        raise UserError(f"'{reference}' is not of the form module:name")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as e:
        raise UserError(f"the module {module} cannot be imported ({e})") from e
    for part in name.split("."):
        if not hasattr(found, part):
            raise UserError(f"the module {module} has no {name}")
        found = getattr(found, part)
    if not callable(found):
        raise UserError(f"{name} of the module {module} is a {type(found).__name__}, no function")
    return found


def reference(fn: Callable[..., Any]) -> str:
    """ "module:name" by which another process finds `fn`. Raises UserError where there is none."""
    module, name = getattr(fn, "__module__", None), getattr(fn, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or inspect.ismethod(fn):
        raise UserError(f"{fn!r:.80} has no name of its own in a module")
    if module == "__main__":
        raise UserError(f"{name} is in the program that runs (__main__), which another process cannot import")
    for at in dict.fromkeys((name, name.rpartition(".")[2])):
        try:
            if find(f"{module}:{at}") is fn:
                return f"{module}:{at}"
        except UserError:
            pass
    raise UserError(f"{module} has no {name} at its top that is this function")


def parameters(fn: Callable[..., Any]) -> str | None:
    """The parameters of a function by kind and name; None where Python does not know them."""
    try:
        found = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return None
    return ", ".join(f"{p.kind.description} {p.name}{'' if p.default is p.empty else '='}" for p in found)


def resolved(what: str, noted: str | None) -> Callable[..., Any]:
    """The function of a reference, if its parameters are those that were `noted`. Raises UserError."""
    fn: Callable[..., Any] = find(what)
    have = parameters(fn)
    if noted is not None and have is not None and have != noted:
        raise UserError(f"{what} has other parameters than when the program was saved: now {have}; then {noted}")
    return fn


__all__ = ["Claimed", "Expected", "Picked", "find", "parameters", "reference", "resolved", "tell"]
